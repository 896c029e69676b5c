/* SPDX-License-Identifier: MIT */
/* Vulkan's queues, semaphores, fences and swapchains as queues and fences of the model. */
#include "access/vulkan.h"

#include <stdlib.h>

#include "access/model.h"

/* A VkSemaphore in the model. */
struct semaphore {
    bool timeline;
    bool external;
    /* Of a timeline semaphore, for good; of a binary one, while it carries a signal. */
    struct bf_access_fence *fence;
};

static uint64_t queue_key(VkQueue queue)
{
    return (uint64_t)(uintptr_t)queue;
}

/* ---------------------------------------------------------------------- One signal at a time -- */

/* A fence without a handle lives as long as there are references to it. */
static struct bf_access_fence *signal_once(struct bf_access_queue *queue)
{
    struct bf_access_fence *fence = bf_model_fence_add(queue->access, 0);
    if (fence && !queue->access->info.layer)
        bf_model_fence_external(fence);
    if (fence)
        bf_model_queue_signal(queue, fence, 1);
    return fence;
}

/* -------------------------------------------------------------------------------- Semaphores -- */

void bf_access_semaphore_add(struct bf_access *access, VkSemaphore handle, bool timeline,
                             uint64_t value)
{
    if (!bf_access_enter(access))
        return;
    struct semaphore *sem = calloc(1, sizeof(*sem));
    if (sem && bf_map_insert(&access->semaphores, (uint64_t)handle, sem)) {
        sem->timeline = timeline;
        if (timeline)
            sem->fence = bf_model_fence_add(access, value);
    } else {
        free(sem);
        access->clocks.failed = true;
    }
    bf_access_leave(access);
}

void bf_access_semaphore_remove(struct bf_access *access, VkSemaphore handle)
{
    if (!handle || !bf_access_enter(access))
        return;
    struct semaphore *sem = bf_map_remove(&access->semaphores, (uint64_t)handle);
    if (sem)
        bf_model_fence_release(sem->fence);
    free(sem);
    bf_access_leave(access);
}

void bf_access_semaphore_external(struct bf_access *access, VkSemaphore handle)
{
    if (!bf_access_enter(access))
        return;
    struct semaphore *sem = bf_map_find(&access->semaphores, (uint64_t)handle);
    if (sem) {
        sem->external = true;
        if (sem->fence)
            bf_model_fence_external(sem->fence);
    }
    bf_access_leave(access);
}

/* The fence of a timeline semaphore. NULL: it is no known timeline semaphore. The lock is held. */
static struct bf_access_fence *timeline_of(struct bf_access *access, VkSemaphore handle)
{
    struct semaphore *sem = bf_map_find(&access->semaphores, (uint64_t)handle);
    return sem && sem->timeline ? sem->fence : NULL;
}

void bf_access_semaphore_signal(struct bf_access *access, VkSemaphore handle, uint64_t value)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_fence *fence = timeline_of(access, handle);
    if (fence)
        bf_model_fence_signal(fence, value);
    bf_access_leave(access);
}

static void semaphore_see(struct bf_access *access, VkSemaphore handle, uint64_t value,
                          enum bf_access_match match)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_fence *fence = timeline_of(access, handle);
    if (fence)
        bf_model_fence_see(fence, value, match);
    bf_access_leave(access);
}

void bf_access_semaphore_reached(struct bf_access *access, VkSemaphore handle, uint64_t value)
{
    semaphore_see(access, handle, value, BF_ACCESS_AT_LEAST);
}

void bf_access_semaphore_read(struct bf_access *access, VkSemaphore handle, uint64_t value)
{
    semaphore_see(access, handle, value, BF_ACCESS_EXACTLY);
}

struct bf_access_fence *bf_access_semaphore_import(struct bf_access *access, VkSemaphore handle)
{
    if (!bf_access_enter(access))
        return NULL;
    struct bf_access_fence *fence = timeline_of(access, handle);
    if (fence) {
        bf_model_fence_reference(fence);
        fence->handles++;
    } else {
        /* Without the layer the check doesn't see semaphores being created. */
        fence = bf_model_fence_add(access, 0);
        if (fence)
            bf_model_fence_external(fence);
    }
    bf_access_leave(access);
    return fence;
}

void bf_access_semaphore_export(struct bf_access *access, VkSemaphore handle,
                                struct bf_access_fence *fence)
{
    if (!fence || !bf_access_enter(access))
        return;
    struct semaphore *sem = bf_map_find(&access->semaphores, (uint64_t)handle);
    if (sem && sem->timeline) {
        bf_model_fence_reference(fence);
        bf_model_fence_release(sem->fence);
        sem->fence = fence;
    } else {
        bf_model_fence_external(fence);
    }
    bf_access_leave(access);
}

/* The lock is held for these two. */
static void wait_semaphore(struct bf_access_queue *queue, VkSemaphore handle, uint64_t value)
{
    struct bf_access *access = queue->access;
    struct semaphore *sem = bf_map_find(&access->semaphores, (uint64_t)handle);
    bool seen = sem && sem->fence && (sem->timeline || !sem->external);
    bf_model_queue_wait(queue, seen ? sem->fence : NULL, seen && !sem->timeline ? 1 : value);
    if (sem && !sem->timeline) {
        bf_model_fence_release(sem->fence);
        sem->fence = NULL;
    }
}

static void signal_semaphore(struct bf_access_queue *queue, VkSemaphore handle, uint64_t value)
{
    struct semaphore *sem = bf_map_find(&queue->access->semaphores, (uint64_t)handle);
    if (!sem) {
        bf_model_fence_release(signal_once(queue));
        return;
    }
    if (sem->timeline) {
        if (sem->fence)
            bf_model_queue_signal(queue, sem->fence, value);
        return;
    }
    bf_model_fence_release(sem->fence);
    sem->fence = signal_once(queue);
}

/* ---------------------------------------------------------------------------------- VkFences -- */

/* The signal that a VkFence carries; that of an external one is an external fence. */
static void drop_vkfence(struct bf_access *access, VkFence handle)
{
    bf_model_fence_release(bf_map_remove(&access->vkfences, (uint64_t)handle));
}

/* Takes over the reference to the fence. */
static void put_vkfence(struct bf_access *access, VkFence handle, struct bf_access_fence *fence)
{
    drop_vkfence(access, handle);
    if (!fence)
        return;
    if (!bf_map_insert(&access->vkfences, (uint64_t)handle, fence)) {
        bf_model_fence_release(fence);
        access->clocks.failed = true;
    }
}

static void signal_vkfence(struct bf_access_queue *queue, VkFence handle)
{
    if (handle)
        put_vkfence(queue->access, handle, signal_once(queue));
}

void bf_access_vkfence_seen(struct bf_access *access, VkFence handle)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_fence *fence = bf_map_find(&access->vkfences, (uint64_t)handle);
    if (fence)
        bf_model_fence_see(fence, 1, BF_ACCESS_AT_LEAST);
    bf_access_leave(access);
}

void bf_access_vkfence_reset(struct bf_access *access, VkFence handle)
{
    if (!handle || !bf_access_enter(access))
        return;
    drop_vkfence(access, handle);
    bf_access_leave(access);
}

void bf_access_vkfence_external(struct bf_access *access, VkFence handle)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_fence *fence = bf_model_fence_add(access, 0);
    if (fence)
        bf_model_fence_external(fence);
    put_vkfence(access, handle, fence);
    bf_access_leave(access);
}

/* ---------------------------------------------------------------------------------- VkQueues -- */

void bf_access_vkqueue_add(struct bf_access *access, VkQueue handle, const char *name,
                           enum bf_access_class type_class)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_queue *queue = bf_model_queue_add(access, name, type_class);
    if (queue && !bf_map_insert(&access->vkqueues, queue_key(handle), queue))
        access->clocks.failed = true;
    bf_access_leave(access);
}

void bf_access_vkqueue_name(struct bf_access *access, VkQueue handle, const char *name)
{
    if (access)
        bf_access_queue_name(bf_map_find(&access->vkqueues, queue_key(handle)), name);
}

/* Finds the queue and takes the lock. NULL: there is nothing to do, and the lock isn't held. */
static struct bf_access_queue *enter_queue(struct bf_access *access, VkQueue handle)
{
    if (!bf_access_enter(access))
        return NULL;
    struct bf_access_queue *queue = bf_map_find(&access->vkqueues, queue_key(handle));
    if (!queue)
        bf_access_leave(access);
    return queue;
}

static const void *chain_find(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;
    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

static uint64_t submit_value_at(const uint64_t *values, uint32_t count, uint32_t i)
{
    return values && i < count ? values[i] : 0;
}

/* The VkFence of a call is signalled after everything in the queue so far, together with the call's
 * last batch. */
static void finish_call(struct bf_access_queue *queue, uint32_t count, VkFence fence)
{
    if (fence && !count)
        bf_model_queue_begin(queue);
    else if (count)
        queue->in_batch = true;
    signal_vkfence(queue, fence);
    bf_model_queue_end(queue);
    bf_access_leave(queue->access);
}

void bf_access_vkqueue_submit(struct bf_access *access, VkQueue handle, uint32_t count,
                              const VkSubmitInfo *infos, VkFence fence)
{
    struct bf_access_queue *queue = enter_queue(access, handle);
    if (!queue)
        return;
    const VkTimelineSemaphoreSubmitInfo none = {0}, *values;
    for (uint32_t i = 0; i < count; i++) {
        const VkSubmitInfo *info = &infos[i];
        values = chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        if (!values)
            values = &none;
        bf_model_queue_begin(queue);
        for (uint32_t w = 0; w < info->waitSemaphoreCount; w++)
            wait_semaphore(
                queue, info->pWaitSemaphores[w],
                submit_value_at(values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, w));
        bf_model_queue_execute_buffers(queue, info->commandBufferCount, info->pCommandBuffers);
        for (uint32_t s = 0; s < info->signalSemaphoreCount; s++)
            signal_semaphore(queue, info->pSignalSemaphores[s],
                             submit_value_at(values->pSignalSemaphoreValues,
                                             values->signalSemaphoreValueCount, s));
        bf_model_queue_end(queue);
    }
    finish_call(queue, count, fence);
}

void bf_access_vkqueue_submit2(struct bf_access *access, VkQueue handle, uint32_t count,
                               const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_access_queue *queue = enter_queue(access, handle);
    if (!queue)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const VkSubmitInfo2 *info = &infos[i];
        bf_model_queue_begin(queue);
        for (uint32_t w = 0; w < info->waitSemaphoreInfoCount; w++)
            wait_semaphore(queue, info->pWaitSemaphoreInfos[w].semaphore,
                           info->pWaitSemaphoreInfos[w].value);
        for (uint32_t b = 0; b < info->commandBufferInfoCount; b++)
            bf_model_queue_execute_buffers(queue, 1, &info->pCommandBufferInfos[b].commandBuffer);
        for (uint32_t s = 0; s < info->signalSemaphoreInfoCount; s++)
            signal_semaphore(queue, info->pSignalSemaphoreInfos[s].semaphore,
                             info->pSignalSemaphoreInfos[s].value);
        bf_model_queue_end(queue);
    }
    finish_call(queue, count, fence);
}

void bf_access_vkqueue_bind(struct bf_access *access, VkQueue handle, uint32_t count,
                            const VkBindSparseInfo *infos, VkFence fence)
{
    struct bf_access_queue *queue = enter_queue(access, handle);
    if (!queue)
        return;
    const VkTimelineSemaphoreSubmitInfo none = {0}, *values;
    for (uint32_t i = 0; i < count; i++) {
        const VkBindSparseInfo *info = &infos[i];
        values = chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        if (!values)
            values = &none;
        bf_model_queue_begin(queue);
        for (uint32_t w = 0; w < info->waitSemaphoreCount; w++)
            wait_semaphore(
                queue, info->pWaitSemaphores[w],
                submit_value_at(values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, w));
        for (uint32_t s = 0; s < info->signalSemaphoreCount; s++)
            signal_semaphore(queue, info->pSignalSemaphores[s],
                             submit_value_at(values->pSignalSemaphoreValues,
                                             values->signalSemaphoreValueCount, s));
        bf_model_queue_end(queue);
    }
    finish_call(queue, count, fence);
}

void bf_access_vkqueue_idle(struct bf_access *access, VkQueue handle)
{
    struct bf_access_queue *queue = enter_queue(access, handle);
    if (!queue)
        return;
    bf_model_queue_idle(queue);
    bf_access_leave(access);
}

/* ------------------------------------------------------------------------------ Presentation -- */

/* Finds or creates the swapchain's queue. NULL: out of memory. The lock is held. */
static struct bf_access_queue *swapchain_of(struct bf_access *access, VkSwapchainKHR handle)
{
    struct bf_access_queue *queue = bf_map_find(&access->swapchains, (uint64_t)handle);
    if (queue)
        return queue;
    queue = bf_model_queue_add(access, "presentation", BF_ACCESS_NO_CLASS);
    if (queue && !bf_map_insert(&access->swapchains, (uint64_t)handle, queue)) {
        access->clocks.failed = true;
        return NULL;
    }
    return queue;
}

void bf_access_present(struct bf_access *access, const VkPresentInfoKHR *info)
{
    if (!bf_access_enter(access))
        return;
    for (uint32_t w = 0; w < info->waitSemaphoreCount; w++) {
        /* All swapchains of the call wait for the same signal, which is consumed then. */
        struct semaphore *sem =
            bf_map_find(&access->semaphores, (uint64_t)info->pWaitSemaphores[w]);
        struct bf_access_fence *fence = sem && !sem->timeline ? sem->fence : NULL;
        for (uint32_t s = 0; s < info->swapchainCount; s++) {
            struct bf_access_queue *queue = swapchain_of(access, info->pSwapchains[s]);
            if (queue)
                bf_model_queue_wait(queue, fence, 1);
        }
        if (fence) {
            bf_model_fence_release(fence);
            sem->fence = NULL;
        }
    }
    bf_access_leave(access);
}

void bf_access_acquire(struct bf_access *access, VkSwapchainKHR handle, VkSemaphore semaphore,
                       VkFence fence)
{
    if (!bf_access_enter(access))
        return;
    struct bf_access_queue *queue = swapchain_of(access, handle);
    if (queue && semaphore)
        signal_semaphore(queue, semaphore, 0);
    if (queue)
        signal_vkfence(queue, fence);
    bf_access_leave(access);
}

void bf_access_swapchain_remove(struct bf_access *access, VkSwapchainKHR handle)
{
    if (!handle || !bf_access_enter(access))
        return;
    struct bf_access_queue *queue = bf_map_remove(&access->swapchains, (uint64_t)handle);
    if (queue)
        bf_model_queue_remove(queue);
    bf_access_leave(access);
}

/* ----------------------------------------------------------------------------------- The end -- */

static void semaphore_free(void *value, void *context)
{
    (void)context;
    free(value);
}

/* The model frees its fences and queues. */
void bf_access_vulkan_finish(struct bf_access *access)
{
    bf_map_finish(&access->semaphores, semaphore_free, NULL);
    bf_map_finish(&access->vkqueues, NULL, NULL);
    bf_map_finish(&access->vkfences, NULL, NULL);
    bf_map_finish(&access->swapchains, NULL, NULL);
}
