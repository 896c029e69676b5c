/* SPDX-License-Identifier: MIT */
/* The specialiser's functions for submissions, and for commands that tell the program that
 * submissions have finished. */
#include "layer/specialize/recording.h"

#include "layer/chain.h"
#include "specialize/submission.h"

/* NULL: the device isn't specialised. */
static struct bf_submissions *submissions_of(struct layer_device *d)
{
    return d->specializer ? bf_specializer_recorder(d->specializer->model)->submissions : NULL;
}

#define BUFFERS 64 /* command buffers of a batch that are added in one call */

struct pending {
    struct layer_device *device;
    struct bf_submissions *submissions;
    uint64_t call;
    struct bf_batch batch;
    struct bf_recording *recordings[BUFFERS];
    VkSemaphore semaphores[BF_SUBMISSION_SIGNALS];
    uint64_t values[BF_SUBMISSION_SIGNALS];
};

static void begin_call(struct pending *p, struct layer_device *d, const void *queue, VkFence fence)
{
    p->device = d;
    p->submissions = submissions_of(d);
    p->call = bf_submissions_call(p->submissions);
    p->batch = (struct bf_batch){
        .queue = queue,
        .fence = fence,
        .recordings = p->recordings,
        .semaphores = p->semaphores,
        .values = p->values,
    };
}

/* Adds a command buffer of the batch; if there are many they are added in several calls, the
 * signals with the last. */
static void add_buffer(struct pending *p, VkCommandBuffer buffer)
{
    if (p->batch.recording_count == BUFFERS) {
        uint32_t signals = p->batch.signal_count;
        p->batch.signal_count = 0;
        bf_submissions_add(p->submissions, p->call, &p->batch);
        p->batch.signal_count = signals;
        p->batch.recording_count = 0;
    }
    p->recordings[p->batch.recording_count++] =
        bf_map_find(&p->device->specializer->recordings, (uint64_t)(uintptr_t)buffer);
}

/* The value of a binary semaphore has no meaning, and is never looked up. */
static void add_signal(struct pending *p, VkSemaphore semaphore, uint64_t value)
{
    if (p->batch.signal_count == BF_SUBMISSION_SIGNALS)
        return;
    p->semaphores[p->batch.signal_count] = semaphore;
    p->values[p->batch.signal_count++] = value;
}

static void end_batch(struct pending *p)
{
    bf_submissions_add(p->submissions, p->call, &p->batch);
    p->batch.recording_count = p->batch.signal_count = 0;
}

static VkResult end_call(struct pending *p, VkResult result)
{
    if (result != VK_SUCCESS)
        bf_submissions_drop(p->submissions, p->call);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                              const VkSubmitInfo *infos,
                                                              VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->specializer)
        return layer_vkQueueSubmit(queue, count, infos, fence);
    struct pending p;
    begin_call(&p, d, queue, fence);
    for (uint32_t i = 0; i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *t =
            layer_chain_find(infos[i].pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        for (uint32_t s = 0; t && t->pSignalSemaphoreValues && s < infos[i].signalSemaphoreCount &&
                             s < t->signalSemaphoreValueCount;
             s++)
            add_signal(&p, infos[i].pSignalSemaphores[s], t->pSignalSemaphoreValues[s]);
        for (uint32_t b = 0; b < infos[i].commandBufferCount; b++)
            add_buffer(&p, infos[i].pCommandBuffers[b]);
        end_batch(&p);
    }
    if (count == 0)
        end_batch(&p); /* a fence signal without batches */
    return end_call(&p, layer_vkQueueSubmit(queue, count, infos, fence));
}

/* Does the signal wait for all stages? If not, it doesn't tell when the batch has finished. */
static bool waits_for_all(const VkSemaphoreSubmitInfo *signal)
{
    return signal->stageMask &
           (VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                                               const VkSubmitInfo2 *infos,
                                                               VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->specializer)
        return layer_vkQueueSubmit2(queue, count, infos, fence);
    struct pending p;
    begin_call(&p, d, queue, fence);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < infos[i].signalSemaphoreInfoCount; s++) {
            const VkSemaphoreSubmitInfo *signal = &infos[i].pSignalSemaphoreInfos[s];
            if (waits_for_all(signal))
                add_signal(&p, signal->semaphore, signal->value);
        }
        for (uint32_t b = 0; b < infos[i].commandBufferInfoCount; b++)
            add_buffer(&p, infos[i].pCommandBufferInfos[b].commandBuffer);
        end_batch(&p);
    }
    if (count == 0)
        end_batch(&p);
    return end_call(&p, layer_vkQueueSubmit2(queue, count, infos, fence));
}

/* Command queues (bfQueueExecute) are the runtime's: it reports their submissions to an observer.
 * Their end is seen by the state of their command buffers, and by waits for their queues. */

static uint64_t execute_begins(void *context, const void *queue, uint32_t count,
                               const VkCommandBuffer *buffers)
{
    struct pending p;
    begin_call(&p, context, queue, VK_NULL_HANDLE);
    for (uint32_t i = 0; i < count; i++)
        add_buffer(&p, buffers[i]);
    end_batch(&p);
    return p.call;
}

static void execute_failed(void *context, uint64_t call)
{
    bf_submissions_drop(submissions_of(context), call);
}

static void execute_idle(void *context, const void *queue)
{
    bf_submissions_queue_idle(submissions_of(context), queue);
}

void layer_specialize_observe(struct layer_device *d)
{
    struct layer_specializer *s = d->specializer;
    s->observer = (struct bf_execute_observer){
        .context = d,
        .begins = execute_begins,
        .failed = execute_failed,
        .idle = execute_idle,
    };
    bf_scheduler_observe_executes(d->scheduler, &s->observer);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkQueueWaitIdle(VkQueue queue)
{
    struct layer_device *d = layer_device_of(queue);
    VkResult result = layer_vkQueueWaitIdle(queue);
    if (result == VK_SUCCESS && d->specializer)
        bf_submissions_queue_idle(submissions_of(d), queue);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkDeviceWaitIdle(VkDevice device)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkDeviceWaitIdle(device);
    if (result == VK_SUCCESS && d->specializer)
        bf_submissions_queue_idle(submissions_of(d), NULL);
    return result;
}

/* When the program waits for any of several fences, it isn't known which was signalled. */
VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkWaitForFences(VkDevice device, uint32_t count,
                                                                const VkFence *fences, VkBool32 all,
                                                                uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkWaitForFences(device, count, fences, all, timeout);
    if (result == VK_SUCCESS && d->specializer && (all || count == 1))
        bf_submissions_fence_seen(submissions_of(d), count, fences);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkGetFenceStatus(device, fence);
    if (result == VK_SUCCESS && d->specializer)
        bf_submissions_fence_seen(submissions_of(d), 1, &fence);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkWaitSemaphores(VkDevice device,
                                                                 const VkSemaphoreWaitInfo *info,
                                                                 uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkWaitSemaphores(device, info, timeout);
    bool all = !(info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) || info->semaphoreCount == 1;
    for (uint32_t i = 0; result == VK_SUCCESS && d->specializer && all && i < info->semaphoreCount;
         i++)
        bf_submissions_value_seen(submissions_of(d), info->pSemaphores[i], info->pValues[i]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkGetSemaphoreCounterValue(VkDevice device,
                                                                           VkSemaphore semaphore,
                                                                           uint64_t *value)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkGetSemaphoreCounterValue(device, semaphore, value);
    if (result == VK_SUCCESS && d->specializer)
        bf_submissions_value_seen(submissions_of(d), semaphore, *value);
    return result;
}
