/* SPDX-License-Identifier: MIT */
/* A queue's log: noted operations, the entries of batches, and writers that replace each other. */
#include "log/log.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "log/writer.h"

/* Elements of 'infos' that an engine with logs has from the beginning, so that few submissions need
 * to allocate. */
#define ROOM (4 * BF_LOG_NOTES)

bool bf_log_is_possible(const struct bf_gpu_engine *engine)
{
    return engine->gpu->fence_log != BF_FENCE_LOG_OFF && bf_gpu_write_is_possible(engine);
}

bool bf_log_make_room(struct bf_log_engine *logs, uint32_t room)
{
    if (room <= logs->room)
        return true;
    VkCommandBufferSubmitInfo *infos = realloc(logs->infos, room * sizeof(*logs->infos));
    if (!infos)
        return false;
    logs->infos = infos;
    logs->room = room;
    return true;
}

struct bf_log *bf_log_create(struct bf_gpu_engine *engine, struct bf_log_engine *logs,
                             uint32_t trace_id)
{
    struct bf_log *log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    log->engine = engine;
    log->logs = logs;
    log->trace_id = trace_id;
    return log;
}

/* Destroys replaced writers once none of their entries is in flight and no cursor needs them any
 * more: none in them, and none in the writer before, which will come to them. */
static void log_free_replaced_writers(struct bf_log *log, uint64_t completed)
{
    struct bf_log_writer **link = &log->dying;
    while (*link) {
        struct bf_log_writer *writer = *link, *successor = writer->successor;
        bf_log_writer_collect(writer, completed);
        if (bf_log_writer_is_busy(writer, completed) || writer->cursors) {
            link = &writer->next_dying;
            continue;
        }
        *link = writer->next_dying;
        bf_log_writer_destroy(writer);
        if (successor) {
            successor->cursors--;
            link = &log->dying; /* start again: it may be destroyed now */
        }
    }
}

bool bf_log_is_last_batch_over(const struct bf_log *log)
{
    return bf_gpu_engine_is_over(log->engine, atomic_load(&log->last_epoch));
}

VkResult bf_log_prepare(struct bf_log *log, uint32_t entries, bool is_read, bool is_at_work,
                        struct bf_log_change *change)
{
    *change = (struct bf_log_change){.epoch = log->writer ? atomic_load(&log->last_epoch) : 0};
    if (!entries)
        return VK_SUCCESS;
    if (!bf_log_make_room(log->logs, ROOM))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = bf_log_writer_create(log, entries, is_read, &change->writer);
    if (result != VK_SUCCESS)
        return result;
    if (!is_at_work)
        return VK_SUCCESS;
    change->mark = bf_log_writer_end(change->writer, &change->slots);
    if (change->mark || !change->writer->timed)
        return VK_SUCCESS;
    bf_log_abandon(change);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_log_abandon(struct bf_log_change *change)
{
    bf_log_writer_destroy(change->writer);
    change->writer = NULL;
}

void bf_log_commit(struct bf_log *log, const struct bf_log_change *change)
{
    struct bf_log_writer *writer = change->writer;
    if (change->mark)
        bf_log_writer_accepted(writer, change->slots, change->epoch);
    if (log->writer) {
        for (int side = 0; side < BF_LOG_SIDES; side++)
            log->entries[side] += log->writer->next[side];
        log->writer->successor = writer;
        if (writer)
            writer->cursors++; /* those of the old writer, which will come to this one */
        log->writer->next_dying = log->dying;
        log->dying = log->writer;
    }
    atomic_store(&log->last_epoch, change->epoch);
    if (!writer) {
        bf_lock_acquire(&log->lock);
        log->noted = log->taken = 0;
        bf_lock_release(&log->lock);
    }
    log->logs->enabled += (writer != NULL) - (log->writer != NULL);
    log->writer = writer;
    atomic_store(&log->enabled, writer != NULL);
}

static void log_destroy(struct bf_log *log)
{
    bf_log_end_trace(log);
    if (log->interrupts)
        bf_log_cursor_close(log->interrupts);
    free(log->interrupts);
    while (log->dying) {
        struct bf_log_writer *next = log->dying->next_dying;
        bf_log_writer_destroy(log->dying);
        log->dying = next;
    }
    bf_log_writer_destroy(log->writer);
    free(log);
}

void bf_log_leave(struct bf_log *log)
{
    if (!log)
        return;
    log->logs->enabled -= log->writer != NULL;
    log->next = log->logs->left;
    log->logs->left = log;
}

static bool log_has_slots_in_flight(const struct bf_log *log, uint64_t completed)
{
    bool any = log->writer && bf_log_writer_is_busy(log->writer, completed);
    for (const struct bf_log_writer *w = log->dying; w; w = w->next_dying)
        any = any || bf_log_writer_is_busy(w, completed);
    return any;
}

void bf_log_see_off(struct bf_log_engine *logs, uint64_t completed)
{
    struct bf_log **link = &logs->left;
    while (*link) {
        struct bf_log *log = *link;
        bf_log_collect(log, completed);
        if (log_has_slots_in_flight(log, completed)) {
            link = &log->next;
        } else {
            *link = log->next;
            log_destroy(log);
        }
    }
}

void bf_log_finish(struct bf_log_engine *logs, uint64_t completed)
{
    while (logs->left) {
        struct bf_log *next = logs->left->next;
        bf_log_collect(logs->left, completed);
        log_destroy(logs->left);
        logs->left = next;
    }
    free(logs->infos);
}

/* --- Noting ------------------------------------------------------------------------------------*/

void bf_log_note(struct bf_log *log, const struct bf_log_operation *operation)
{
    bf_lock_acquire(&log->lock);
    uint32_t noted = atomic_load_explicit(&log->noted, memory_order_relaxed);
    if (noted < BF_LOG_NOTES) {
        log->notes[noted] = *operation;
        atomic_store_explicit(&log->noted, noted + 1, memory_order_relaxed);
    } else {
        log->lost[operation->side]++;
    }
    bf_lock_release(&log->lock);
}

bool bf_log_has_notes(struct bf_log *log)
{
    bf_lock_acquire(&log->lock);
    bool any = log->noted > log->taken;
    bf_lock_release(&log->lock);
    return any;
}

/* The first 'count' of the notes in batches have been logged. */
static void log_forget_notes(struct bf_log *log, uint32_t count)
{
    if (!count)
        return;
    bf_lock_acquire(&log->lock);
    uint32_t left = atomic_load_explicit(&log->noted, memory_order_relaxed) - count;
    memmove(log->notes, log->notes + count, left * sizeof(log->notes[0]));
    atomic_store_explicit(&log->noted, left, memory_order_relaxed);
    log->taken -= count;
    bf_lock_release(&log->lock);
}

/* --- What a batch does -------------------------------------------------------------------------*/

void bf_log_flush(struct bf_log *log)
{
    uint64_t completed;
    if (bf_gpu_engine_completed_epoch(log->engine, &completed) == VK_SUCCESS)
        bf_log_writer_collect(log->writer, completed);
}

/* Was the program's wait satisfied when it was armed? Only the semaphore's counter tells. */
static bool log_wait_was_satisfied(const struct bf_gpu *gpu, const struct bf_log_batch *batch,
                                   const struct bf_log_sync *sync)
{
    uint64_t value;
    return !batch->was_held &&
           gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, sync->semaphore, &value) == VK_SUCCESS &&
           value >= sync->value;
}

/* Describes an operation on a semaphore of the program's. False: it is not logged. */
static bool log_describe_operation(struct bf_log *log, const struct bf_log_batch *batch,
                                   enum bf_log_side side, uint32_t i, struct bf_log_operation *op)
{
    bool wait = side == BF_LOG_WAITS;
    struct bf_log_sync sync;
    batch->operation(batch->operations, side, i, &sync);
    if (!sync.handle)
        return false;
    *op = (struct bf_log_operation){
        .side = side,
        .handle = sync.handle,
        .key = wait && batch->imported ? batch->imported : (uint64_t)sync.semaphore,
        .value = sync.value,
    };
    if (!wait || log_wait_was_satisfied(log->engine->gpu, batch, &sync))
        return true;
    op->when = batch->when;
    if (batch->goes_at_once)
        op->when = bf_log_is_last_batch_over(log) ? BF_LOG_AT_NS : BF_LOG_AFTER_LAST;
    op->ns = batch->called_ns;
    if (batch->submit &&
        batch->submit->pWaitSemaphoreInfos[i].stageMask != VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        op->flags |= BF_FENCE_LOG_LATE_BOUND_BIT;
    return true;
}

/* Describes the signal of the batch's fence. False: the batch signals none. */
static bool log_describe_fence(const struct bf_log_batch *batch, struct bf_log_operation *op)
{
    if (!batch->signals_fence)
        return false;
    *op = (struct bf_log_operation){
        .side = BF_LOG_SIGNALS,
        .handle = batch->fence_handle,
        .key = batch->fence_key,
        .value = batch->fence_value,
    };
    return true;
}

void bf_log_note_batch(struct bf_log *log, const struct bf_log_batch *batch)
{
    struct bf_log_operation op;
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        if (log_describe_operation(log, batch, BF_LOG_WAITS, i, &op))
            bf_log_note(log, &op);
    }
    for (uint32_t i = 0; i < batch->signal_count; i++) {
        if (log_describe_operation(log, batch, BF_LOG_SIGNALS, i, &op)) {
            op.when = BF_LOG_WITH_STAMP;
            bf_log_note(log, &op);
        }
    }
    if (log_describe_fence(batch, &op) && op.handle) {
        op.when = BF_LOG_WITH_STAMP;
        bf_log_note(log, &op);
    }
}

/* --- Adding ------------------------------------------------------------------------------------*/

struct log_placement {
    VkCommandBufferSubmitInfo *infos;
    uint32_t count;
};

static void log_place_commands(struct log_placement *place, VkCommandBuffer commands)
{
    place->infos[place->count++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
}

static void log_count_lost(struct bf_log *log, struct bf_log_batch *batch, enum bf_log_side side)
{
    log->lost[side]++;
    batch->lost[side]++;
}

static bool log_add_operation(struct bf_log *log, struct bf_log_batch *batch,
                              struct log_placement *place, const struct bf_log_operation *op,
                              bool noted)
{
    if (!bf_log_writer_has_room(log->writer, op->side))
        bf_log_flush(log);
    VkCommandBuffer commands;
    if (!bf_log_writer_add(log->writer, op, noted, &commands)) {
        log_count_lost(log, batch, op->side);
        return false;
    }
    if (commands)
        log_place_commands(place, commands);
    batch->slots++;
    return true;
}

static void log_add_notes(struct bf_log *log, struct bf_log_batch *batch,
                          struct log_placement *place)
{
    struct bf_log_operation notes[BF_LOG_NOTES];
    if (atomic_load_explicit(&log->noted, memory_order_relaxed) == log->taken)
        return;
    bf_lock_acquire(&log->lock);
    batch->notes = atomic_load_explicit(&log->noted, memory_order_relaxed) - log->taken;
    memcpy(notes, log->notes + log->taken, batch->notes * sizeof(notes[0]));
    log->taken += batch->notes;
    bf_lock_release(&log->lock);
    for (uint32_t i = 0; i < batch->notes; i++)
        log_add_operation(log, batch, place, &notes[i], true);
}

/* The waits' entries go before the program's command buffers, the signals' behind them. The
 * scheduler's barrier stays first: what it waits for belongs to the wait. */
void bf_log_put(struct bf_log *log, struct bf_log_batch *batch, VkCommandBufferSubmitInfo *infos)
{
    VkSubmitInfo2 *submit = batch->submit;
    const VkCommandBufferSubmitInfo *own = infos ? submit->pCommandBufferInfos : NULL;
    uint32_t count = infos ? submit->commandBufferInfoCount : 0;
    struct log_placement place = {infos, 0};
    struct bf_log_operation op;
    bool signalled = false;

    if (infos && batch->barrier)
        place.infos[place.count++] = *own++;
    log_add_notes(log, batch, &place);
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        if (log_describe_operation(log, batch, BF_LOG_WAITS, i, &op))
            log_add_operation(log, batch, &place, &op, false);
    }
    for (uint32_t i = batch->barrier; i < count; i++)
        place.infos[place.count++] = *own++;
    for (uint32_t i = 0; i < batch->signal_count; i++) {
        if (log_describe_operation(log, batch, BF_LOG_SIGNALS, i, &op))
            signalled = log_add_operation(log, batch, &place, &op, false);
    }
    if (log_describe_fence(batch, &op))
        signalled = log_add_operation(log, batch, &place, &op, false);
    if (!infos)
        return;
    /* The timestamp of the last signal serves as the packet's end, too. */
    VkCommandBuffer end = signalled ? NULL : bf_log_writer_end(log->writer, &batch->slots);
    if (end)
        log_place_commands(&place, end);
    submit->pCommandBufferInfos = place.infos;
    submit->commandBufferInfoCount = place.count;
}

bool bf_log_is_by_host(const struct bf_log *log)
{
    return log->writer->by_host;
}

bool bf_log_is_for_trace(const struct bf_log *log)
{
    return log->writer->by_host && log->engine->gpu->fence_log == BF_FENCE_LOG_TIMED;
}

bool bf_log_adds_nothing(const struct bf_log *log)
{
    return log->writer->by_host && !log->writer->timed;
}

uint32_t bf_log_room(const struct bf_log *log, uint32_t command_buffers, uint32_t waits,
                     uint32_t signals)
{
    return bf_log_adds_nothing(log) ? 0 : command_buffers + BF_LOG_NOTES + waits + signals + 2;
}

bool bf_log_add(struct bf_log *log, struct bf_log_batch *batch)
{
    const VkSubmitInfo2 *submit = batch->submit;
    batch->had_end = log->writer->has_end;
    if (bf_log_adds_nothing(log)) {
        bf_log_put(log, batch, NULL);
        return true;
    }
    if (submit->flags || submit->pNext)
        return false;
    if (!bf_log_make_room(log->logs, bf_log_room(log, submit->commandBufferInfoCount,
                                                 batch->wait_count, batch->signal_count))) {
        if (batch->signals_fence)
            log_count_lost(log, batch, BF_LOG_SIGNALS);
        return false;
    }
    bf_log_put(log, batch, log->logs->infos);
    return true;
}

void bf_log_accepted(struct bf_log *log, uint32_t slots, uint32_t notes, bool has_entries,
                     uint64_t epoch)
{
    atomic_store(&log->last_epoch, epoch);
    log_forget_notes(log, notes);
    if (has_entries)
        bf_log_writer_accepted(log->writer, slots, epoch);
}

void bf_log_refused(struct bf_log *log, const struct bf_log_batch *batch)
{
    bf_lock_acquire(&log->lock);
    log->taken -= batch->notes;
    bf_lock_release(&log->lock);
    for (int side = 0; side < BF_LOG_SIDES; side++)
        log->lost[side] -= batch->lost[side];
    bf_log_writer_refused(log->writer, batch->had_end);
}

void bf_log_collect(struct bf_log *log, uint64_t completed)
{
    if (log->writer)
        bf_log_writer_collect(log->writer, completed);
    if (log->trace)
        bf_log_report(log);
    log_free_replaced_writers(log, completed);
}
