/* SPDX-License-Identifier: MIT */
/* bfQueueSignal: in the call if nothing is held, by the GPU if it has to write the value, else by a
 * packet. And bfQueueWaitIdle, which signals a fence and waits for it. */
#include "base/clock.h"
#include "base/message.h"
#include "fence/fence.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "log/log.h"
#include "queue/command_queue.h"
#include "scheduler/acceptance.h"
#include "scheduler/engine.h"
#include "scheduler/observer.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"

/* C-1: the signal of a queue with nothing held; it applies at once if the queue is idle. */
static enum bf_outcome queue_signal_now(struct bf_command_queue *queue, struct bf_fence *fence,
                                        uint64_t value, struct bf_effects *effects,
                                        VkResult *result)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_pending *pending = &scheduler->pending;
    enum bf_outcome outcome = BF_OUTCOME_BY_PACKET;
    bool idle = false;
    /* Its last packet may be complete while the driver call with it is about to return on another
     * thread; after that, the queue is idle. */
    if (bf_queue_is_being_issued(&queue->base))
        bf_engine_pump_taking_over(queue->base.engine);
    if (bf_queue_is_occupied(&queue->base))
        return BF_OUTCOME_BY_PACKET;
    bf_lock_acquire(&pending->lock);
    *result = bf_pending_is_idle(pending, queue, &idle);
    if (idle && atomic_load(&fence->pending)) {
        /* It applies after everything that the GPU has signalled by now. */
        bf_lock_release(&pending->lock);
        *result = bf_pending_retire(pending, effects);
        bf_lock_acquire(&pending->lock);
    }
    if (*result != VK_SUCCESS) {
        outcome = BF_OUTCOME_DONE;
        if (*result != VK_ERROR_OUT_OF_HOST_MEMORY && *result != VK_ERROR_OUT_OF_DEVICE_MEMORY)
            *result = VK_ERROR_DEVICE_LOST;
        else
            *result = VK_ERROR_OUT_OF_HOST_MEMORY;
    } else if (!bf_queue_is_occupied(&queue->base)) { /* nor has another thread submitted more */
        outcome = BF_OUTCOME_DONE;
        if (bf_pending_is_complete(pending, queue->frontier)) {
            bf_command_queue_log_signal(queue, fence, value);
            bf_pending_retire_known(pending, effects);
            bf_fence_signal(fence, value, effects);
        } else if (fence->shared && fence->shared->peer_timelines) {
            outcome = BF_OUTCOME_BY_PACKET; /* other processes' GPUs may wait for it */
        } else if (queue->last_update && queue->last_update->packet) {
            /* Another thread is about to hand over an execution with a signal, which the frontier
             * does not contain yet: no update with a smaller frontier may stand behind that one in
             * the queue's list. */
            outcome = BF_OUTCOME_BY_PACKET;
        } else {
            struct bf_update *update = bf_pending_take_update(pending, fence, value);
            if (update) {
                bf_command_queue_log_signal(queue, fence, value);
                bf_pending_accept(pending, queue, update, effects);
            } else {
                *result = VK_ERROR_OUT_OF_HOST_MEMORY;
            }
        }
    }
    bf_lock_release(&pending->lock);
    return outcome;
}

static VkResult queue_signal_by_packet(struct bf_command_queue *queue, struct bf_fence *fence,
                                       uint64_t value)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_pending *pending = &scheduler->pending;
    struct bf_packet *packet = bf_packet_create(&queue->base, BF_PACKET_SIGNAL);
    if (!packet)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_lock_acquire(&pending->lock);
    packet->update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (!packet->update) {
        bf_packet_free(packet);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    packet->fence_sync = (struct bf_trace_sync){(uintptr_t)fence, value};
    if (fence->log_handle) { /* the program's (T-7) */
        bf_trace_packet_queued(scheduler->gpu.trace, &packet->trace, queue->base.trace_id,
                               BF_TRACE_SIGNAL, 0);
        bf_command_queue_trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL, (uintptr_t)fence,
                                     value);
    }
    bf_queue_append(&queue->base, packet);
    return VK_SUCCESS;
}

/* SH-17: a signal for which another process's GPU can wait, if there is a free peer timeline; else
 * nothing is done. */
static enum bf_outcome queue_signal_by_peer_timeline(struct bf_command_queue *queue,
                                                     struct bf_fence *fence, uint64_t value,
                                                     VkResult *result)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    struct bf_execution what = {0};
    bf_lock_acquire(&pending->lock);
    bool can = fence->shared && fence->shared->peer_timelines;
    if (can)
        what.update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (!can)
        return BF_OUTCOME_BY_PACKET;
    if (!what.update) {
        *result = VK_ERROR_OUT_OF_HOST_MEMORY;
        return BF_OUTCOME_DONE;
    }
    bf_peer_timelines_take(queue, &what);
    if (what.signals_peers) {
        *result = bf_command_queue_submit_packet(queue, &what, "bfQueueSignal");
        return BF_OUTCOME_DONE;
    }
    bf_command_queue_drop_signal(queue->base.engine, NULL, what.update);
    return BF_OUTCOME_BY_PACKET;
}

/* NF-1: the GPU writes the value; or LG-3: the GPU logs the signal before it applies. */
static VkResult queue_signal_by_gpu(struct bf_command_queue *queue, struct bf_fence *fence,
                                    uint64_t value)
{
    struct bf_execution what = {0};
    if (fence->always_signaled)
        return VK_SUCCESS;
    VkResult result = bf_command_queue_take_signal(queue, fence, value, &what);
    if (result == VK_SUCCESS)
        bf_peer_timelines_take(queue, &what);
    return result == VK_SUCCESS ? bf_command_queue_execute(queue, &what, "bfQueueSignal") : result;
}

VkResult bfQueueSignal(BfCommandQueue queue_handle, BfFence fence_handle, uint64_t value)
{
    struct bf_fence *fence;
    struct bf_command_queue *queue = bf_command_queue_check_pair(
        queue_handle, fence_handle,
        BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT, &fence, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    return bf_command_queue_signal(queue, fence, value, __func__);
}

VkResult bf_command_queue_signal(struct bf_command_queue *queue, struct bf_fence *fence,
                                 uint64_t value, const char *call)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    const uint64_t released = atomic_load(&scheduler->released);
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    if (fence->imported) {
        uint64_t before;
        VkResult result = bf_import_may_signal(fence, value, &before, call);
        if (result != VK_SUCCESS)
            return result;
        bf_fence_announce(fence, value);
        bf_observe_queue_signal(queue->observed, fence->observed, value);
        result = bf_command_queue_submit_packet(
            queue,
            &(struct bf_execution){.signal = fence->imported, .value = value, .fence = fence},
            call);
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
            bf_import_will_not_signal(fence, value, before);
        return bf_command_queue_observed_result(scheduler, result);
    }
    if (fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU &&
        (queue->flags & BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT)) {
        bf_message(BF_MESSAGE_ERROR,
                   "%s: the CPU writes this queue's signals, and can't write to a fence in the "
                   "GPU's own memory",
                   call);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult owned = bf_shared_check(fence);
    if (owned != VK_SUCCESS)
        return owned;
    bf_fence_announce(fence, value);
    bf_observe_queue_signal(queue->observed, fence->observed, value);
    if ((fence->native && !(queue->flags & BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT)) ||
        (bf_log_is_read(queue->base.log) && fence->log_handle))
        return bf_command_queue_observed_result(scheduler,
                                                queue_signal_by_gpu(queue, fence, value));
    struct bf_effects effects = {0};
    VkResult result;
    enum bf_outcome outcome = queue_signal_now(queue, fence, value, &effects, &result);
    bool settled = outcome == BF_OUTCOME_DONE && result == VK_SUCCESS;
    if (settled) /* before its consequences */
        bf_command_queue_trace_settled(queue, BF_TRACE_SIGNAL, fence, value);
    bf_effects_run(scheduler, &effects);
    bf_scheduler_wait_released(scheduler, released);
    if (outcome == BF_OUTCOME_DONE && result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(scheduler, call);
    if (outcome == BF_OUTCOME_BY_PACKET) {
        if (queue_signal_by_peer_timeline(queue, fence, value, &result) == BF_OUTCOME_DONE)
            return bf_command_queue_observed_result(scheduler, result);
        result = queue_signal_by_packet(queue, fence, value);
    }
    return result == VK_SUCCESS ? bf_command_queue_retire_if_crowded(scheduler, call)
                                : bf_command_queue_observed_result(scheduler, result);
}

VkResult bfQueueWaitIdle(BfCommandQueue handle)
{
    struct bf_command_queue *queue = bf_command_queue_from_handle(handle, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_fence *fence;
    VkResult result = bf_fence_create_own(queue->base.scheduler, &fence);
    if (result != VK_SUCCESS)
        return result;
    BfFence done = (BfFence)fence;
    const uint64_t one = 1;
    result = bfQueueSignal(handle, done, one);
    if (result == VK_SUCCESS)
        result = bfWaitFences(1, &done, &one, BF_FENCE_WAIT_ALL, UINT64_MAX);
    bfDestroyFence(done);
    const struct bf_execute_observer *observer = queue->base.scheduler->execute_observer;
    if (observer && result == VK_SUCCESS)
        observer->idle(observer->context, handle);
    return result;
}
