/* SPDX-License-Identifier: MIT */
/* What the C API's calls on command queues share: checking arguments, the log, the trace, retiring
 * afterwards. */
#include "queue/command_queue.h"

#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "fence/fence.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "log/log.h"
#include "scheduler/engine.h"
#include "scheduler/observer.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"

struct bf_command_queue *bf_command_queue_from_handle(BfCommandQueue handle, const char *call)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue"))
        return NULL;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    if (queue->flags & BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT) {
        bf_message(BF_MESSAGE_ERROR, "%s: the queue%s takes its work from a ring, and by no call",
                   call, BF_LABEL(queue));
        return NULL;
    }
    return queue;
}

/* The queue and the fence of a call, or NULL with a line. 'bit' is the fence's flag that forbids
 * the call. */
struct bf_command_queue *bf_command_queue_check_pair(BfCommandQueue queue_handle,
                                                     BfFence fence_handle, BfSyncObjectFlags bit,
                                                     struct bf_fence **fence, const char *call)
{
    struct bf_command_queue *queue = bf_command_queue_from_handle(queue_handle, call);
    *fence = queue ? bf_fence_of(fence_handle, call) : NULL;
    if (!*fence)
        return NULL;
    if ((*fence)->scheduler != queue->base.scheduler) {
        bf_message(BF_MESSAGE_ERROR, "%s: the fence%s belongs to another device", call,
                   BF_LABEL(*fence));
        return NULL;
    }
    if ((*fence)->flags & bit) {
        bf_message(BF_MESSAGE_ERROR, "%s: the fence%s was created with the flag that forbids it",
                   call, BF_LABEL(*fence));
        return NULL;
    }
    return queue;
}

/* For the log: when does the queue reach an operation that is submitted now? */
enum bf_log_when bf_command_queue_log_when(struct bf_command_queue *queue)
{
    return bf_log_is_enabled(queue->base.log) && bf_queue_log_is_idle(&queue->base)
               ? BF_LOG_AT_NS
               : BF_LOG_AFTER_LAST;
}

/* Retires after a call that may have added many pending updates (E-7). */
VkResult bf_command_queue_retire_if_crowded(struct bf_scheduler *scheduler, const char *call)
{
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    if (!bf_pending_is_crowded(&scheduler->pending))
        return VK_SUCCESS;
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&scheduler->pending, &effects);
    bf_effects_run(scheduler, &effects);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, call) : VK_SUCCESS;
}

/* Frees the GPU write and the update of an execution that will not take place. */
void bf_command_queue_drop_signal(struct bf_engine *engine, struct bf_gpu_write *write,
                                  struct bf_update *update)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    if (write)
        bf_gpu_write_drop(&engine->base, write);
    if (!update)
        return;
    bf_lock_acquire(&pending->lock);
    bf_pending_drop_update(pending, update);
    bf_lock_release(&pending->lock);
}

/* For a call that was reported to the observer: if it failed, the observer's picture is wrong from
 * now on. */
VkResult bf_command_queue_observed_result(struct bf_scheduler *scheduler, VkResult result)
{
    if (result != VK_SUCCESS)
        bf_observe_stop(scheduler->observer, "a call on a queue has failed");
    return result;
}

void bf_command_queue_trace_fence(struct bf_command_queue *queue, struct bf_trace_packet *packet,
                                  enum bf_trace_fence_op op, uint64_t fence, uint64_t value)
{
    bf_trace_fence_queued(queue->base.scheduler->gpu.trace, queue->base.trace_id, packet, op,
                          (struct bf_trace_sync){fence, value}, bf_log_is_enabled(queue->base.log));
}

/* Traces a signal or wait that needed no packet in the same way as one that did. */
void bf_command_queue_trace_settled_into(struct bf_trace *trace, struct bf_command_queue *queue,
                                         enum bf_trace_packet_kind kind, struct bf_fence *fence,
                                         uint64_t value)
{
    struct bf_trace_packet packet = {0};
    const struct bf_trace_sync sync = {(uintptr_t)fence, value};
    if (!fence->log_handle) /* Belfry's own (T-7) */
        return;
    bool wait = kind == BF_TRACE_WAIT;
    uint64_t has = atomic_load(&fence->value);
    if (wait) /* perhaps by another process */
        bf_trace_semaphore_value(trace, (uintptr_t)fence, has > value ? has : value);
    bf_trace_packet_queued(trace, &packet, queue->base.trace_id, kind, 0);
    bf_command_queue_trace_fence(queue, &packet, wait ? BF_TRACE_FENCE_WAIT : BF_TRACE_FENCE_SIGNAL,
                                 (uintptr_t)fence, value);
    bf_trace_packet_handed_over(trace, &packet, wait, &sync, !wait, &sync);
}
