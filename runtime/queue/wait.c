/* SPDX-License-Identifier: MIT */
/* bfQueueWait: passed in the call if possible, else by a packet. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "fence/fence.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "log/log.h"
#include "queue/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/observer.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"

/* C-1: passes a wait that is satisfied, or that a queue with nothing held can pass at once.
 * 'looked': the fence's value has just been brought up to date. */
static enum bf_outcome queue_wait_now(struct bf_command_queue *queue, struct bf_fence *fence,
                                      uint64_t value, bool looked)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    struct bf_log *log = queue->base.log;
    bool passed = atomic_load(&fence->value) >= value;
    /* With a log, a satisfied wait keeps its place behind what is held. */
    bool in_turn = bf_log_is_enabled(log) && bf_queue_is_occupied(&queue->base);
    if (!atomic_load(&fence->pending)) {
        if (!passed || in_turn)
            return BF_OUTCOME_BY_PACKET;
        bf_queue_log_note_fence(log, BF_LOG_WAITS, fence, value, BF_LOG_AT_NS, 0);
        return BF_OUTCOME_DONE;
    }
    enum bf_outcome outcome = BF_OUTCOME_BY_PACKET;
    bf_lock_acquire(&pending->lock);
    const struct bf_update *update;
    if (!looked && !bf_fence_only_grows(fence)) {
        outcome = BF_OUTCOME_LOOK;
    } else if (in_turn) {
        outcome = BF_OUTCOME_BY_PACKET;
    } else if (atomic_load(&fence->value) >= value) {
        outcome = BF_OUTCOME_DONE;
        bf_queue_log_note_fence(log, BF_LOG_WAITS, fence, value, BF_LOG_AT_NS, 0);
    } else if ((update = bf_fence_update_reaching(fence, value)) != NULL &&
               !bf_queue_is_occupied(&queue->base)) {
        bf_queue_log_note_fence(log, BF_LOG_WAITS, fence, value, bf_command_queue_log_when(queue),
                                bf_now_ns());
        bf_frontier_join(queue->frontier, update->frontier, pending->engine_count);
        outcome = BF_OUTCOME_DONE;
    }
    bf_lock_release(&pending->lock);
    return outcome;
}

static VkResult scheduler_retire(struct bf_scheduler *scheduler)
{
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&scheduler->pending, &effects);
    bf_effects_run(scheduler, &effects);
    return result;
}

static struct bf_packet *queue_create_wait_packet(struct bf_command_queue *queue,
                                                  struct bf_fence *fence)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bool trusted = fence->shared && fence->shared->peer_timelines;
    bf_lock_release(&pending->lock);
    if (!trusted)
        return bf_packet_create(&queue->base, BF_PACKET_WAIT);
    struct bf_peer_wait *peer_wait = calloc(1, sizeof(*peer_wait));
    struct bf_packet *packet = peer_wait ? bf_packet_from_wait(&queue->base, peer_wait) : NULL;
    if (!packet)
        free(peer_wait);
    return packet;
}

VkResult bfQueueWait(BfCommandQueue queue_handle, BfFence fence_handle, uint64_t value)
{
    struct bf_fence *fence;
    struct bf_command_queue *queue = bf_command_queue_check_pair(
        queue_handle, fence_handle, BF_SYNC_OBJECT_NO_WAIT_BIT, &fence, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    return bf_command_queue_wait(queue, fence, value, __func__);
}

VkResult bf_command_queue_wait(struct bf_command_queue *queue, struct bf_fence *fence,
                               uint64_t value, const char *call)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    bf_observe_queue_wait(queue->observed, fence->observed, value);
    if (fence->imported)
        return bf_command_queue_observed_result(
            scheduler,
            bf_command_queue_submit_packet(
                queue,
                &(struct bf_execution){.wait = fence->imported, .value = value, .fence = fence},
                call));
    bf_shared_look(fence);
    if (fence->native && bf_native_is_program_written(fence))
        bf_native_look(fence);
    enum bf_outcome outcome = queue_wait_now(queue, fence, value, false);
    VkResult result = outcome == BF_OUTCOME_LOOK ? scheduler_retire(scheduler) : VK_SUCCESS;
    if (result != VK_SUCCESS)
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, call)
                                              : bf_command_queue_observed_result(scheduler, result);
    if (outcome == BF_OUTCOME_LOOK)
        outcome = queue_wait_now(queue, fence, value, true);
    if (outcome == BF_OUTCOME_DONE) {
        bf_command_queue_trace_settled(queue, BF_TRACE_WAIT, fence, value);
        return VK_SUCCESS;
    }
    result = bf_shared_listen(fence);
    struct bf_packet *packet = result == VK_SUCCESS ? queue_create_wait_packet(queue, fence) : NULL;
    if (!packet)
        return bf_command_queue_observed_result(scheduler, VK_ERROR_OUT_OF_HOST_MEMORY);
    packet->wait = (struct bf_wait){.node.key = value};
    packet->fence_sync = (struct bf_trace_sync){(uintptr_t)fence, value};
    bf_trace_packet_queued(scheduler->gpu.trace, &packet->trace, queue->base.trace_id,
                           BF_TRACE_WAIT, 0);
    bf_command_queue_trace_fence(queue, &packet->trace, BF_TRACE_FENCE_WAIT, (uintptr_t)fence,
                                 value);
    struct bf_effects effects = {0};
    bf_lock_acquire(&scheduler->pending.lock);
    packet->log_when = (uint8_t)bf_command_queue_log_when(queue);
    bf_fence_look_outside(fence, &effects); /* on account of the waits before (SH-2) */
    bool satisfied = bf_fence_arm(fence, &packet->wait);
    bf_fence_look_outside(fence, &effects);
    bf_lock_release(&scheduler->pending.lock);
    if (!satisfied)
        packet->called_ns = bf_now_ns();
    else
        packet->log_when = BF_LOG_AT_NS;
    bf_queue_append(&queue->base, packet);
    bf_effects_run(scheduler, &effects);
    return bf_command_queue_retire_if_crowded(scheduler, call);
}
