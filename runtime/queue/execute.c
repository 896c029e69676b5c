/* SPDX-License-Identifier: MIT */
/* bfQueueExecute, and every other submission of a command queue: in the call if possible, else by a
 * packet. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "fence/fence.h"
#include "fence/native.h"
#include "fence/shared.h"
#include "gpu/command_buffer.h"
#include "gpu/write.h"
#include "log/log.h"
#include "queue/command_queue.h"
#include "scheduler/acceptance.h"
#include "scheduler/driver.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/observer.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"

/* Command buffers that the direct path keeps on the stack; a call with more goes by a packet. */
#define DIRECT_BUFFERS 16

static void execution_trace(struct bf_command_queue *queue, struct bf_packet *packet,
                            const struct bf_execution *what)
{
    bf_trace_packet_queued_with(
        queue->base.scheduler->gpu.trace, &packet->trace, queue->base.trace_id,
        what->write && !what->count ? BF_TRACE_SIGNAL : BF_TRACE_EXECUTE,
        &(struct bf_trace_contents){.count = what->count, .buffers = what->buffers});
    if (what->update && !what->counted)
        bf_command_queue_trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL,
                                     (uintptr_t)what->update->fence, what->update->value);
    if (what->wait)
        bf_command_queue_trace_fence(queue, &packet->trace, BF_TRACE_FENCE_WAIT,
                                     (uintptr_t)what->fence, what->value);
    if (what->signal && !what->signals_peers)
        bf_command_queue_trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL,
                                     (uint64_t)what->signal->handle, what->value);
}

VkResult bf_command_queue_submit_packet(struct bf_command_queue *queue,
                                        const struct bf_execution *what, const char *call)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_packet *packet = bf_packet_from_execution(&queue->base, what);
    if (!packet) {
        bf_command_queue_drop_signal(queue->base.engine, what->write, what->update);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (what->fence) {
        bf_lock_acquire(&scheduler->pending.lock);
        bf_fence_reference(what->fence);
        bf_lock_release(&scheduler->pending.lock);
    }
    execution_trace(queue, packet, what);
    bf_queue_append(&queue->base, packet);
    return bf_command_queue_retire_if_crowded(scheduler, call);
}

/* The driver has refused the execution: its signal is withdrawn. */
static void execution_withdraw(struct bf_engine *engine, struct bf_packet *packet)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    if (packet->announced)
        bf_pending_withdraw(pending, packet);
    bf_lock_release(&pending->lock);
    bf_command_queue_drop_signal(engine, packet->write, packet->update);
}

/* The uncontended case with nothing held: no allocation, no copy, no lock but the engine's and the
 * pending lock. (Hot: else gcc fills small structs by string instructions, which take long to
 * start; for the large one see CMakeLists.txt.) */
__attribute__((hot)) static enum bf_outcome
command_queue_execute_directly(struct bf_command_queue *queue, const struct bf_execution *what,
                               VkResult *result)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    const uint64_t before = atomic_load(&scheduler->released);
    struct bf_engine *engine = queue->base.engine;
    struct bf_effects effects = {0};
    uint64_t engines = 0;
    uint32_t count = what->count;
    if (scheduler->gpu.trace || count > DIRECT_BUFFERS ||
        atomic_load(&queue->base.level) < bf_window_top(engine) ||
        !bf_lock_try_briefly(&engine->lock))
        return BF_OUTCOME_BY_PACKET;
    const uint8_t top = bf_window_top(engine); /* a higher queue may have come meanwhile */
    /* The loss is checked last: packets that a lost device drops count as accepted. */
    bool done = atomic_load(&queue->base.level) >= top && !bf_queue_is_occupied(&queue->base) &&
                !atomic_load(&engine->unfed) && atomic_load(&engine->preempt.under_way) == 0 &&
                atomic_load(&engine->outside.count) == 0 && !bf_scheduler_is_lost(scheduler);
    if (done) {
        VkSemaphoreSubmitInfo waits[BF_MAX_ENGINES], signal;
        /* An unused element, a barrier, the program's command buffers, a GPU write. */
        VkCommandBufferSubmitInfo infos[DIRECT_BUFFERS + 3];
        struct bf_packet packet = {
            .kind = BF_PACKET_EXECUTE,
            .submit =
                {
                    .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                    .pWaitSemaphoreInfos = waits,
                    .commandBufferInfoCount = count + (what->write != NULL),
                    .pCommandBufferInfos = infos + 2,
                    .signalSemaphoreInfoCount = 1,
                    .pSignalSemaphoreInfos = &signal,
                },
            .command_buffers = infos + 1,
            .write = what->write,
            .update = what->update,
            .counted = what->counted,
            .epoch = atomic_load_explicit(&engine->base.accepted_epoch, memory_order_relaxed) + 1,
        };
        bf_gpu_engine_epoch_signal(&engine->base, packet.epoch, &signal);
        for (uint32_t i = 0; i < packet.submit.commandBufferInfoCount; i++) {
            infos[i + 2] = (VkCommandBufferSubmitInfo){
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                .commandBuffer = i < count ? what->buffers[i] : what->write->commands,
            };
        }
        queue->position = engine->batch_count = engine->batch_barrier = 0;
        bf_command_queue_prepare(queue, &packet);
        struct bf_log *log = bf_log_is_enabled(queue->base.log) ? queue->base.log : NULL;
        struct bf_log_batch batch; /* used if the queue has a log */
        if (log) {
            batch = (struct bf_log_batch){
                .submit = &packet.submit, .goes_at_once = true, .barrier = packet.barrier};
            bf_queue_log_describe_update(&batch, packet.update);
            bf_log_add(log, &batch);
        }
        atomic_store(&engine->base.issued_epoch, packet.epoch);
        if (bf_watch_witnesses(engine)) {
            packet.number = bf_watch_number_at_once(&queue->base);
            packet.buffer_count = count;
            for (uint32_t i = 0; i < 2 && i < count; i++)
                packet.buffers[i] = what->buffers[i];
            bf_watch_packet(engine, &queue->base, &packet);
        }
        bf_command_queue_announce(queue, &packet, &effects);
        bf_label_enter(engine, NULL);
        *result = bf_driver_submit(engine, 1, &packet.submit, VK_NULL_HANDLE);
        if (*result == VK_SUCCESS) {
            atomic_store(&engine->base.accepted_epoch, packet.epoch);
            if (log)
                bf_log_accepted(log, batch.slots, batch.notes, true, packet.epoch);
            engines = bf_command_queue_finished(queue, &packet, true);
            if (top)
                bf_window_note(engine, atomic_load(&queue->base.level));
            atomic_fetch_add_explicit(&scheduler->gpu.counters.driver_calls, 1,
                                      memory_order_relaxed);
        } else {
            bf_lock_acquire(&scheduler->pending.lock);
            queue->progressed -= packet.counted;
            bf_lock_release(&scheduler->pending.lock);
            if (log)
                bf_log_refused(log, &batch);
            execution_withdraw(engine, &packet);
            /* The waits of this submission did not take place. */
            memset(engine->waited, 0, scheduler->engine_count * sizeof(*engine->waited));
        }
    }
    bf_lock_release(&engine->lock);
    bf_effects_run_but_pump(scheduler, &effects);
    bf_engine_recheck(engine, engines | effects.engines);
    if (engines | effects.engines)
        bf_scheduler_wait_released(scheduler, before);
    return done ? BF_OUTCOME_DONE : BF_OUTCOME_BY_PACKET;
}

/* Errors leave nothing behind; 'what' is used up. */
VkResult bf_command_queue_execute(struct bf_command_queue *queue, const struct bf_execution *what,
                                  const char *call)
{
    VkResult result;
    if (what->signals_peers ||
        command_queue_execute_directly(queue, what, &result) == BF_OUTCOME_BY_PACKET)
        return bf_command_queue_submit_packet(queue, what, call);
    if (result == VK_SUCCESS && what->update)
        return bf_command_queue_retire_if_crowded(queue->base.scheduler, call);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(queue->base.scheduler, call) : result;
}

/* Refuses a command buffer of another family or level, where the layer has seen it allocated. */
bool bf_command_queue_takes_buffer(struct bf_command_queue *queue, VkCommandBuffer buffer,
                                   const char *call, uint32_t i)
{
    char argument[32] = "commandBuffer";
    uint32_t family;
    VkCommandBufferLevel level;
    if (buffer && !bf_command_buffer_find(&queue->base.scheduler->gpu, buffer, &family, &level))
        return true;
    if (buffer && level == VK_COMMAND_BUFFER_LEVEL_PRIMARY && family == queue->base.family)
        return true;
    if (i != UINT32_MAX)
        snprintf(argument, sizeof(argument), "pCommandBuffers[%u]", i);
    if (!buffer)
        bf_message(BF_MESSAGE_ERROR, "%s: %s is NULL", call, argument);
    else if (level != VK_COMMAND_BUFFER_LEVEL_PRIMARY)
        bf_message(BF_MESSAGE_ERROR, "%s: %s is a secondary one: no queue consumes it", call,
                   argument);
    else
        bf_message(BF_MESSAGE_ERROR, "%s: %s is of queue family %u, the queue takes those of %u",
                   call, argument, family, queue->base.family);
    return false;
}

/* Prepares the GPU write of a native fence's value and the update, for an execution. */
VkResult bf_command_queue_take_signal(struct bf_command_queue *queue, struct bf_fence *fence,
                                      uint64_t value, struct bf_execution *what)
{
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &engine->scheduler->pending;
    VkResult result = VK_SUCCESS;
    if (fence->native)
        result = bf_gpu_write_take(&engine->base, &fence->native->current, value,
                                   fence->flags & BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT,
                                   &what->write);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&pending->lock);
    what->update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (what->update)
        return VK_SUCCESS;
    if (what->write)
        bf_gpu_write_drop(&engine->base, what->write);
    what->write = NULL;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_command_queue_log(struct bf_command_queue *queue)
{
    return bf_command_queue_submit_packet(queue, &(struct bf_execution){0}, "bfReadFenceLog");
}

/* Each command buffer by a packet of its own, the last of which signals; all or none. */
static VkResult execution_submit_apart(struct bf_command_queue *queue,
                                       const struct bf_execution *what, const char *call)
{
    struct bf_packet *first = NULL, *last = NULL, **link = &first;
    for (uint32_t i = 0; i < what->count; i++) {
        struct bf_execution one = {.count = 1, .buffers = &what->buffers[i], .apart = true};
        if (i + 1 == what->count) {
            one.write = what->write;
            one.update = what->update;
            one.counted = what->counted;
        }
        struct bf_packet *packet = bf_packet_from_execution(&queue->base, &one);
        if (!packet) {
            bf_command_queue_drop_signal(queue->base.engine, what->write, what->update);
            bf_packet_free_chain(first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        packet->next = NULL;
        last = *link = packet;
        link = &packet->next;
    }
    struct bf_execution part = {.count = 1, .buffers = what->buffers, .apart = true};
    for (struct bf_packet *packet = first; packet; packet = packet->next, part.buffers++) {
        part.update = packet->update;
        part.counted = packet->counted;
        execution_trace(queue, packet, &part);
    }
    bf_queue_append_chain(&queue->base, first, last, what->count);
    return bf_command_queue_retire_if_crowded(queue->base.scheduler, call);
}

VkResult bf_command_queue_execute_buffers(struct bf_command_queue *queue, uint32_t count,
                                          const VkCommandBuffer *buffers,
                                          struct bf_fence *signalled, uint64_t value, bool counted,
                                          bool apart, const char *call)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    bf_observe_queue_execute(queue->observed, count, buffers);
    const struct bf_execute_observer *observer = scheduler->execute_observer;
    uint64_t observed =
        observer ? observer->begins(observer->context, (BfCommandQueue)queue, count, buffers) : 0;
    struct bf_execution what = {.count = count, .buffers = buffers, .counted = counted};
    VkResult result = VK_SUCCESS;
    if (signalled)
        result = bf_command_queue_take_signal(queue, signalled, value, &what);
    if (result == VK_SUCCESS)
        result = apart ? execution_submit_apart(queue, &what, call)
                       : bf_command_queue_execute(queue, &what, call);
    if (observer && result != VK_SUCCESS)
        observer->failed(observer->context, observed);
    return bf_command_queue_observed_result(scheduler, result);
}

VkResult bfQueueExecute(BfCommandQueue handle, uint32_t count, const VkCommandBuffer *buffers)
{
    struct bf_command_queue *queue = bf_command_queue_from_handle(handle, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (count == 0 || !buffers) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueExecute: count %u, pCommandBuffers %p", count,
                   (const void *)buffers);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_command_queue_takes_buffer(queue, buffers[i], __func__, i))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_fence *progress = atomic_load(&queue->progress);
    return bf_command_queue_execute_buffers(queue, count, buffers, progress, 0, progress != NULL,
                                            false, __func__);
}
