/* SPDX-License-Identifier: MIT */
/* Translates packets into the operations of log/log.h, and creates and replaces the logs of
 * queues. */
#include "scheduler/queue_log.h"

#include <stdlib.h>

#include "log/writer.h"
#include "scheduler/command_queue.h"
#include "scheduler/driver.h"
#include "scheduler/engine.h"
#include "scheduler/last_submission.h"
#include "scheduler/packet.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

/* Entries of a log that only the trace reads: more than the 4 KiB of the WDDM document hold, so
 * that none is overwritten between two readings. */
#define TRACED_ENTRIES 512

bool bf_queue_log_is_possible(const struct bf_queue *queue)
{
    const struct bf_command_queue *commands =
        queue->is_command_queue ? (const struct bf_command_queue *)queue : NULL;
    return bf_log_is_possible(&queue->engine->base) &&
           !(commands && (commands->flags & BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT));
}

bool bf_queue_log_is_idle(const struct bf_queue *queue)
{
    const struct bf_log *log = queue->log;
    return !bf_queue_is_occupied(queue) && log && bf_log_is_last_batch_over(log);
}

/* May the driver still be working on what the queue was given? Under the engine's lock, or beside a
 * present, what isn't so doesn't become so. */
static bool queue_may_be_at_work(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    const struct bf_log *log = queue->log;
    if (log && log->writer)
        return !bf_gpu_engine_is_over(&queue->engine->base, atomic_load(&log->last_epoch));
    if (queue->is_command_queue) {
        const struct bf_command_queue *commands = bf_command_queue_of(queue);
        bf_lock_acquire(&scheduler->pending.lock);
        uint64_t epoch = commands->frontier[queue->engine->base.number];
        bf_lock_release(&scheduler->pending.lock);
        return !bf_gpu_engine_is_over(&queue->engine->base, epoch);
    }
    if (bf_signless_is(&queue->submitted) || bf_signless_is(&queue->presented))
        return true;
    if (scheduler->gpu.trace &&
        atomic_load(&queue->issued) == 0) /* with a trace all of it has epochs */
        return false;
    return !atomic_load(&queue->engine->shared) || !bf_last_submission_is_reached(queue);
}

enum bf_engine_entry bf_queue_log_enter(struct bf_queue *queue)
{
    const enum bf_engine_entry entry = bf_engine_enter_beside(queue->engine);
    if (entry != BF_ENGINE_BESIDE_PRESENT || !queue_may_be_at_work(queue))
        return entry;
    bf_engine_leave_beside(queue->engine, entry);
    return bf_engine_enter(queue->engine) ? BF_ENGINE_LOCKED : BF_ENGINE_LOST;
}

VkResult bf_queue_log_set(struct bf_queue *queue, uint32_t entries, bool is_read)
{
    struct bf_engine *engine = queue->engine;
    struct bf_log *log = queue->log;
    struct bf_log_change change;
    VkResult result = VK_SUCCESS;
    if (entries && !log) {
        log = bf_log_create(&engine->base, &engine->logs, queue->trace_id);
        if (!log)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        atomic_store(&queue->log, log);
    }
    if (!log)
        return VK_SUCCESS;
    if (entries && !engine->base.epoch)
        result = bf_gpu_engine_create_epoch(&engine->base);
    if (result == VK_SUCCESS)
        result =
            bf_log_prepare(log, entries, is_read, entries && queue_may_be_at_work(queue), &change);
    if (result != VK_SUCCESS)
        return result;
    if (change.mark)
        result = bf_engine_mark(engine, change.mark, "fence log", &change.epoch);
    if (result == VK_SUCCESS)
        bf_log_commit(log, &change);
    else
        bf_log_abandon(&change);
    return result;
}

void bf_queue_log_unread(struct bf_queue *queue)
{
    /* If this fails, the log stays as it was. */
    if (!queue->log->trace || queue->scheduler->gpu.fence_log == BF_FENCE_LOG_TIMED)
        bf_queue_log_set(queue, queue->log->trace ? TRACED_ENTRIES : 0, false);
}

/* --- Batches -----------------------------------------------------------------------------------*/

static void packet_log_operation(const void *operations, enum bf_log_side side, uint32_t i,
                                 struct bf_log_sync *sync)
{
    const struct bf_packet *packet = operations;
    const struct bf_sync *s = side == BF_LOG_WAITS ? &packet->waits[i] : &packet->signals[i];
    bool known = s->sem && s->sem->timeline;
    *sync = (struct bf_log_sync){
        .semaphore = known ? s->sem->handle : VK_NULL_HANDLE,
        .handle = known ? s->sem->log_handle : 0,
        .value = s->target,
    };
}

void bf_queue_log_describe_update(struct bf_log_batch *batch, const struct bf_update *update)
{
    if (!update)
        return;
    batch->signals_fence = true;
    batch->fence_handle = update->fence->log_handle;
    batch->fence_key = (uintptr_t)update->fence;
    batch->fence_value = update->value;
}

static struct bf_log_batch packet_log_batch(struct bf_packet *packet)
{
    struct bf_log_batch batch = {
        .submit = packet->kind == BF_PACKET_EXECUTE ? &packet->submit : NULL,
        .barrier = packet->barrier,
        .was_held = packet->was_held,
        .when = (enum bf_log_when)packet->log_when,
        .called_ns = packet->called_ns,
        .wait_count = packet->wait_count,
        .signal_count = packet->signal_count,
        .operation = packet_log_operation,
        .operations = packet,
        .imported = (uintptr_t)packet->imported,
    };
    bf_queue_log_describe_update(&batch, packet->update);
    return batch;
}

/* Nothing can be added to protected batches, to those with performance queries, and to sparse
 * binds; where entries have no times, their epoch is enough. */
static bool packet_takes_entries(const struct bf_log *log, const struct bf_packet *packet)
{
    if (bf_log_adds_nothing(log))
        return packet->kind == BF_PACKET_EXECUTE || packet->kind == BF_PACKET_BIND_SPARSE;
    return packet->kind == BF_PACKET_EXECUTE && !packet->submit.flags &&
           !bf_packet_counts_performance(packet);
}

static uint32_t packet_log_room(const struct bf_log *log, const struct bf_packet *packet)
{
    return packet->kind == BF_PACKET_EXECUTE
               ? bf_log_room(log, packet->submit.commandBufferInfoCount, packet->wait_count,
                             packet->signal_count)
               : 0;
}

/* Notes a wait or a signal that is behind an execution of its queue in the batch; the queue's next
 * batch contains its entry. */
static void packet_note_passed(struct bf_log *log, struct bf_packet *packet)
{
    packet->log_noted = true;
    if (packet->kind == BF_PACKET_WAIT)
        bf_queue_log_note_fence(log, BF_LOG_WAITS, packet->wait.fence, packet->wait.node.key,
                                (enum bf_log_when)packet->log_when, packet->called_ns);
    else
        bf_queue_log_note_fence(log, BF_LOG_SIGNALS, packet->update->fence, packet->update->value,
                                BF_LOG_AFTER_LAST, 0);
}

void bf_queue_log_add_batch(struct bf_engine *engine)
{
    uint32_t room = 0, used = 0;
    uint64_t seen = atomic_load(&engine->base.seen_epoch);
    for (uint32_t i = 0; i < engine->batch_count; i++) {
        struct bf_log *log = engine->batch_queues[i]->log;
        if (bf_log_is_enabled(log) && packet_takes_entries(log, engine->batch[i]))
            room += packet_log_room(log, engine->batch[i]);
    }
    bf_log_make_room(&engine->logs, room);
    for (uint32_t i = 0; i < engine->batch_count; i++) {
        struct bf_packet *packet = engine->batch[i];
        struct bf_log *log = engine->batch_queues[i]->log;
        if (!bf_log_is_enabled(log))
            continue;
        if (packet->kind == BF_PACKET_SIGNAL || packet->kind == BF_PACKET_WAIT) {
            packet_note_passed(log, packet);
            continue;
        }
        struct bf_log_batch batch = packet_log_batch(packet);
        if (!packet_takes_entries(log, packet) ||
            used + packet_log_room(log, packet) > engine->logs.room) {
            bf_log_note_batch(log, &batch); /* also if there was no memory for its entries */
            continue;
        }
        uint32_t needs = packet_log_room(log, packet);
        bf_log_put(log, &batch, needs ? engine->logs.infos + used : NULL);
        packet->log_slots = batch.slots;
        packet->log_notes = batch.notes;
        used += needs;
    }
    /* Logs without a free slot have read the engine's epoch. */
    if (atomic_load(&engine->base.seen_epoch) > seen)
        bf_pending_see(&engine->scheduler->pending, engine->base.number,
                       atomic_load(&engine->base.seen_epoch));
}

void bf_queue_log_accepted(struct bf_log *log, struct bf_packet *packet, uint64_t epoch)
{
    bf_log_accepted(log, packet->log_slots, packet->log_notes, packet_takes_entries(log, packet),
                    epoch);
}

void bf_queue_logs_finish(struct bf_engine *engine, uint64_t completed)
{
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        bf_log_leave(engine->queues[i]->log);
        engine->queues[i]->log = NULL;
    }
    bf_log_finish(&engine->logs, completed);
}

/* --- Noting, and the trace ---------------------------------------------------------------------*/

void bf_queue_log_note_fence(struct bf_log *log, enum bf_log_side side,
                             const struct bf_fence *fence, uint64_t value, enum bf_log_when when,
                             uint64_t ns)
{
    if (!bf_log_is_enabled(log) || !fence->log_handle)
        return;
    bf_log_note(log, &(struct bf_log_operation){.side = side,
                                                .handle = fence->log_handle,
                                                .key = (uintptr_t)fence,
                                                .value = value,
                                                .when = when,
                                                .ns = ns});
}

void bf_queue_log_trace(struct bf_queue *queue)
{
    struct bf_engine *engine = queue->engine;
    if (!queue->scheduler->gpu.trace || atomic_exchange(&queue->log_asked, true) ||
        !bf_queue_log_is_possible(queue))
        return;
    struct bf_log_trace *trace = bf_log_trace_create();
    if (!trace)
        return; /* the trace then has the packets' own timestamps only */
    const enum bf_engine_entry entry = bf_queue_log_enter(queue);
    if (entry == BF_ENGINE_LOST) {
        free(trace);
        return;
    }
    struct bf_log *log = queue->log;
    bool large = log && log->writer && log->writer->count >= TRACED_ENTRIES;
    if (large || bf_queue_log_set(queue, TRACED_ENTRIES, bf_log_is_read(log)) == VK_SUCCESS)
        bf_log_begin_trace(queue->log, trace);
    else
        free(trace);
    bf_engine_leave_beside(engine, entry);
}
