/* SPDX-License-Identifier: MIT */
/* bfVkQueueSubmit, bfLockVkQueue and bfUnlockVkQueue. */
#include "base/message.h"
#include "queue/vkqueue.h"
#include "scheduler/engine.h"
#include "scheduler/observer.h"
#include "scheduler/packet.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"

static bool submit_check_semaphores(struct bf_scheduler *scheduler,
                                    const VkSemaphoreSubmitInfo *list, uint32_t count)
{
    for (uint32_t i = 0; i < count && !scheduler->gpu.attached; i++) {
        if (bf_semaphore_find(scheduler, list[i].semaphore))
            continue;
        bf_message(BF_MESSAGE_ERROR, "bfVkQueueSubmit: semaphore 0x%llx is none of this device's%s",
                   (unsigned long long)list[i].semaphore,
                   bf_upper_layers_excuse(&scheduler->gpu, VK_OBJECT_TYPE_SEMAPHORE));
        return false;
    }
    return true;
}

/* For an attached device, or if the program has no vkQueueSubmit2 to call: then the handles have to
 * be those that Belfry knows. */
static VkResult queue_submit_here(struct bf_queue *queue, VkQueue vk_queue, uint32_t count,
                                  const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_observer *observer = queue->scheduler->observer;
    for (uint32_t i = 0; i < count; i++) {
        if (!submit_check_semaphores(queue->scheduler, infos[i].pWaitSemaphoreInfos,
                                     infos[i].waitSemaphoreInfoCount) ||
            !submit_check_semaphores(queue->scheduler, infos[i].pSignalSemaphoreInfos,
                                     infos[i].signalSemaphoreInfoCount))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_observe_vkqueue_submit2(observer, vk_queue, count, infos, fence);
    VkResult result = bf_queue_submit(queue, count, infos, fence);
    if (result != VK_SUCCESS)
        bf_observe_stop(observer, "bfVkQueueSubmit has failed");
    return result;
}

VkResult bfVkQueueSubmit(BfDevice handle, VkQueue vk_queue, uint32_t count,
                         const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_queue *queue = bf_scheduler_vkqueue(handle, vk_queue, __func__);
    if (queue && count && !infos)
        bf_message(BF_MESSAGE_ERROR, "bfVkQueueSubmit: pSubmits is NULL");
    if (!queue || (count && !infos))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_packet_can_copy_submit(&infos[i])) {
            bf_message(BF_MESSAGE_ERROR,
                       "bfVkQueueSubmit: pSubmits[%u] has a struct chained to it that "
                       "can't be copied",
                       i);
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    PFN_vkQueueSubmit2 submit2 = bf_upper_layers_submit2(&queue->scheduler->gpu);
    if (!submit2)
        return queue_submit_here(queue, vk_queue, count, infos, fence);
    if (!bf_scheduler_acquire(queue->scheduler, &queue->calls_lock))
        return bf_scheduler_lost(queue->scheduler, __func__);
    VkResult result = submit2(vk_queue, count, infos, fence);
    bf_lock_release(&queue->calls_lock);
    return result;
}

VkResult bfLockVkQueue(BfDevice handle, VkQueue vk_queue)
{
    struct bf_queue *queue = bf_scheduler_vkqueue(handle, vk_queue, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (queue->scheduler->gpu.attached) {
        if (!bf_engine_enter(queue->engine))
            return bf_scheduler_lost(queue->scheduler, __func__);
        atomic_fetch_add(&queue->engine->kept, 1);
    } else if (!bf_scheduler_acquire(queue->scheduler, &queue->calls_lock)) {
        return bf_scheduler_lost(queue->scheduler, __func__);
    }
    return VK_SUCCESS;
}

VkResult bfUnlockVkQueue(BfDevice handle, VkQueue vk_queue)
{
    struct bf_queue *queue = bf_scheduler_vkqueue(handle, vk_queue, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (queue->scheduler->gpu.attached && atomic_load(&queue->engine->kept) % 2 == 0) {
        bf_message(BF_MESSAGE_ERROR, "bfUnlockVkQueue: the VkQueue isn't locked");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (queue->scheduler->gpu.attached) {
        bf_signless_begin(&queue->presented); /* or submitted */
        queue->engine->unnumbered = true;
        bf_watch_unwitnessed(queue->engine);
        atomic_fetch_add(&queue->engine->kept, 1);
        bf_engine_leave(queue->engine, 0);
        bf_observe_ran(queue->scheduler->observer); /* the program may have waited for the queue */
    } else {
        bf_lock_release(&queue->calls_lock);
    }
    return VK_SUCCESS;
}
