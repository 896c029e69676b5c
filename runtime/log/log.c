#include "log/log.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "log/writer.h"
#include "base/message.h"
#include "queue/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/packet.h"

/* Command buffers that an engine with logs has room for from the beginning, so that few submissions
 * ever need memory. */
#define ROOM (4 * BF_LOG_NOTES)

bool bf_log_is_possible(const struct bf_queue *queue)
{
    const struct bf_engine *engine = queue->engine;
    const struct bf_command_queue *commands =
        queue->is_command_queue ? (const struct bf_command_queue *)queue : NULL;
    return engine->device->fence_log != BF_FENCE_LOG_OFF && bf_gpu_write_is_possible(engine) &&
           !(commands && (commands->flags & BF_QUEUE_SOFTWARE_FENCES_BIT));
}

/* False: there is no memory for as much. */
static bool make_room(struct bf_engine *engine, uint32_t room)
{
    if (room <= engine->log_room)
        return true;
    VkCommandBufferSubmitInfo *infos =
        realloc(engine->log_infos, room * sizeof(*engine->log_infos));
    if (!infos)
        return false;
    engine->log_infos = infos;
    engine->log_room = room;
    return true;
}

/* Replaced writers go once nothing of theirs is on its way, and nobody has to read them any more:
 * neither a cursor in them, nor one in the writer before, which will come to them. */
static void see_off(struct bf_log *log, uint64_t completed)
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
            link = &log->dying; /* it is in front, if it is in the list */
        }
    }
}

/* The queue's last batch is over. Thread-safety: safe. */
static bool is_over(const struct bf_engine *engine, uint64_t epoch)
{
    uint64_t completed;
    return epoch <= engine->device->pending.engines[engine->number].completed ||
           (bf_engine_completed_epoch((struct bf_engine *)engine, &completed) == VK_SUCCESS &&
            epoch <= completed);
}

bool bf_log_is_queue_idle(const struct bf_queue *queue)
{
    const struct bf_log *log = queue->log;
    return !bf_queue_has_backlog(queue) && log &&
           is_over(queue->engine, atomic_load(&log->last_epoch));
}

/* May the driver still be at what the queue has given it, of which no log knows? */
static bool is_at_work(struct bf_queue *queue)
{
    struct bf_device *device = queue->device;
    if (queue->is_command_queue) {
        const struct bf_command_queue *commands = bf_command_queue_of(queue);
        bf_lock_acquire(&device->pending.lock);
        uint64_t epoch = commands->frontier[queue->engine->number];
        bf_lock_release(&device->pending.lock);
        return !is_over(queue->engine, epoch);
    }
    if (atomic_load(&queue->completion_unknown))
        return true;
    if (device->trace && atomic_load(&queue->issued) == 0) /* all of it is counted there */
        return false;
    return !atomic_load(&queue->engine->shared) || !bf_last_submission_is_reached(queue);
}

/* A submission of the writer's own behind all that the engine has been given, which keeps the time
 * at which that ends: the queue's first wait may have to be told from it. */
static VkResult mark_beginning(struct bf_engine *engine, struct bf_log_writer *writer,
                               uint64_t *epoch)
{
    uint32_t slots = 0;
    VkCommandBuffer end = bf_log_writer_end(writer, &slots);
    if (!end)
        return writer->timed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    *epoch = atomic_load(&engine->accepted_epoch) + 1;
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = end,
    };
    const VkSemaphoreSubmitInfo signal = bf_engine_epoch_signal(engine, *epoch);
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    atomic_store(&engine->issued_epoch, *epoch);
    VkResult result = bf_engine_driver_submit(engine, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        atomic_store(&engine->accepted_epoch, *epoch);
        bf_log_writer_accepted(writer, slots, *epoch);
    } else if (result == VK_ERROR_DEVICE_LOST) {
        bf_device_lose(engine->device, "vkQueueSubmit2");
    }
    return result;
}

VkResult bf_log_set(struct bf_queue *queue, uint32_t entries)
{
    struct bf_log *log = queue->log;
    struct bf_log_writer *writer = NULL;
    if (entries && !log) {
        log = calloc(1, sizeof(*log));
        if (!log)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        log->queue = queue;
        log->engine = queue->engine;
        log->trace_id = queue->trace_id;
        atomic_store(&queue->log, log);
    }
    if (!log)
        return VK_SUCCESS;
    uint64_t epoch = log->writer ? atomic_load(&log->last_epoch) : 0;
    if (entries) {
        VkResult result = queue->engine->epoch ? VK_SUCCESS : bf_engine_create_epoch(queue->engine);
        if (result == VK_SUCCESS && !make_room(queue->engine, ROOM))
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        if (result == VK_SUCCESS)
            result = bf_log_writer_create(log, entries, &writer);
        if (result != VK_SUCCESS)
            return result;
        if (log->writer ? !is_over(queue->engine, epoch) : is_at_work(queue))
            result = mark_beginning(queue->engine, writer, &epoch);
        if (result != VK_SUCCESS) {
            bf_log_writer_destroy(writer);
            return result;
        }
    }
    if (log->writer) {
        for (int side = 0; side < BF_LOG_SIDES; side++)
            log->entries[side] += log->writer->next[side];
        log->writer->successor = writer;
        if (writer)
            writer->cursors++; /* those that will come from there */
        log->writer->next_dying = log->dying;
        log->dying = log->writer;
    }
    atomic_store(&log->last_epoch, epoch);
    if (!writer) {
        bf_lock_acquire(&log->lock);
        log->noted = log->taken = 0;
        bf_lock_release(&log->lock);
    }
    queue->engine->logs += (writer != NULL) - (log->writer != NULL);
    log->writer = writer;
    atomic_store(&log->enabled, writer != NULL);
    return VK_SUCCESS;
}

static void destroy(struct bf_log *log)
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
    log->engine->logs -= log->writer != NULL;
    log->queue = NULL;
    log->next = log->engine->left_logs;
    log->engine->left_logs = log;
}

static bool has_some_on_its_way(const struct bf_log *log, uint64_t completed)
{
    bool any = log->writer && bf_log_writer_is_busy(log->writer, completed);
    for (const struct bf_log_writer *w = log->dying; w; w = w->next_dying)
        any = any || bf_log_writer_is_busy(w, completed);
    return any;
}

void bf_log_see_off(struct bf_engine *engine, uint64_t completed)
{
    struct bf_log **link = &engine->left_logs;
    while (*link) {
        struct bf_log *log = *link;
        bf_log_collect(log, completed);
        if (has_some_on_its_way(log, completed)) {
            link = &log->next;
        } else {
            *link = log->next;
            destroy(log);
        }
    }
}

void bf_logs_finish(struct bf_engine *engine, uint64_t completed)
{
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        bf_log_leave(engine->queues[i]->log);
        engine->queues[i]->log = NULL;
    }
    while (engine->left_logs) {
        struct bf_log *next = engine->left_logs->next;
        bf_log_collect(engine->left_logs, completed);
        destroy(engine->left_logs);
        engine->left_logs = next;
    }
    free(engine->log_infos);
}

/* --- Noting -----------------------------------------------------------------------------------*/

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

void bf_log_note_fence(struct bf_log *log, enum bf_log_side side, const struct bf_fence *fence,
                       uint64_t value, enum bf_log_when when, uint64_t ns)
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

bool bf_log_has_notes(struct bf_log *log)
{
    bf_lock_acquire(&log->lock);
    bool any = log->noted > log->taken;
    bf_lock_release(&log->lock);
    return any;
}

/* The first 'count' of those that batches have taken along are logged. */
static void forget_notes(struct bf_log *log, uint32_t count)
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

/* --- What a batch does ------------------------------------------------------------------------*/

static struct bf_log_batch batch_of(struct bf_packet *packet)
{
    return (struct bf_log_batch){
        .submit = packet->kind == BF_PACKET_EXECUTE ? &packet->submit : NULL,
        .barrier = packet->barrier,
        .was_held = packet->was_held,
        .when = (enum bf_log_when)packet->log_when,
        .called_ns = packet->called_ns,
        .wait_count = packet->wait_count,
        .signal_count = packet->signal_count,
        .waits = packet->waits,
        .signals = packet->signals,
        .imported = packet->imported,
        .update = packet->update,
    };
}

void bf_log_flush(struct bf_log *log)
{
    struct bf_engine *engine = log->engine;
    uint64_t completed;
    if (bf_engine_completed_epoch(engine, &completed) != VK_SUCCESS)
        return;
    bf_pending_see(&engine->device->pending, engine->number, completed);
    bf_log_writer_collect(log->writer, completed);
}

/* Had the program's wait been satisfied when it was armed? Only the semaphore itself can tell. */
static bool was_satisfied(struct bf_device *device, const struct bf_log_batch *batch,
                          const struct bf_sync *sync)
{
    uint64_t value;
    return !batch->was_held &&
           device->counter_value(device->handle, sync->sem->handle, &value) == VK_SUCCESS &&
           value >= sync->target;
}

/* The operation on the program's own semaphore; false: it isn't one that logs know. */
static bool describe(struct bf_log *log, const struct bf_log_batch *batch, enum bf_log_side side,
                     uint32_t i, struct bf_log_operation *op)
{
    bool wait = side == BF_LOG_WAITS;
    const struct bf_sync *sync = wait ? &batch->waits[i] : &batch->signals[i];
    if (!sync->sem || !sync->sem->timeline || !sync->sem->log_handle)
        return false;
    *op = (struct bf_log_operation){
        .side = side,
        .handle = sync->sem->log_handle,
        .key = wait && batch->imported ? (uintptr_t)batch->imported : (uint64_t)sync->sem->handle,
        .value = sync->target,
    };
    if (!wait || was_satisfied(log->engine->device, batch, sync))
        return true;
    op->when = batch->when;
    if (batch->goes_at_once)
        op->when =
            is_over(log->engine, atomic_load(&log->last_epoch)) ? BF_LOG_AT_NS : BF_LOG_AFTER_LAST;
    op->ns = batch->called_ns;
    if (batch->submit &&
        batch->submit->pWaitSemaphoreInfos[i].stageMask != VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        op->flags |= BF_FENCE_LOG_LATE_BOUND_BIT;
    return true;
}

/* The signal of the batch's fence; false: there is none that logs know. */
static bool describe_update(const struct bf_log_batch *batch, struct bf_log_operation *op)
{
    if (!batch->update)
        return false;
    *op = (struct bf_log_operation){
        .side = BF_LOG_SIGNALS,
        .handle = batch->update->fence->log_handle,
        .key = (uintptr_t)batch->update->fence,
        .value = batch->update->value,
    };
    return true;
}

/* A packet that nothing can be added to. */
static void note_packet(struct bf_log *log, struct bf_packet *packet)
{
    struct bf_log_operation op;
    const struct bf_log_batch batch = batch_of(packet);
    for (uint32_t i = 0; i < batch.wait_count; i++) {
        if (describe(log, &batch, BF_LOG_WAITS, i, &op))
            bf_log_note(log, &op);
    }
    for (uint32_t i = 0; i < batch.signal_count; i++) {
        if (describe(log, &batch, BF_LOG_SIGNALS, i, &op)) {
            op.when = BF_LOG_WITH_STAMP;
            bf_log_note(log, &op);
        }
    }
    if (packet->update)
        bf_log_note_fence(log, BF_LOG_SIGNALS, packet->update->fence, packet->update->value,
                          BF_LOG_WITH_STAMP, 0);
}

/* --- Adding -----------------------------------------------------------------------------------*/

struct place {
    VkCommandBufferSubmitInfo *infos;
    uint32_t count;
};

static void put(struct place *place, VkCommandBuffer commands)
{
    place->infos[place->count++] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
}

static void lose(struct bf_log *log, struct bf_log_batch *batch, enum bf_log_side side)
{
    log->lost[side]++;
    batch->lost[side]++;
}

static bool add(struct bf_log *log, struct bf_log_batch *batch, struct place *place,
                const struct bf_log_operation *op, bool noted)
{
    if (!bf_log_writer_has_room(log->writer, op->side))
        bf_log_flush(log);
    VkCommandBuffer commands;
    if (!bf_log_writer_add(log->writer, op, noted, &commands)) {
        lose(log, batch, op->side);
        return false;
    }
    if (commands)
        put(place, commands);
    batch->slots++;
    return true;
}

static void add_notes(struct bf_log *log, struct bf_log_batch *batch, struct place *place)
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
        add(log, batch, place, &notes[i], true);
}

/* In front of the program's command buffers its waits, behind them its signals. What its barrier
 * waits for is part of the wait. 'room' is NULL where the host writes: nothing is put in. */
static void add_entries(struct bf_log *log, struct bf_log_batch *batch,
                        VkCommandBufferSubmitInfo *room)
{
    VkSubmitInfo2 *submit = batch->submit;
    const VkCommandBufferSubmitInfo *own = room ? submit->pCommandBufferInfos : NULL;
    uint32_t count = room ? submit->commandBufferInfoCount : 0;
    struct place place = {room, 0};
    struct bf_log_operation op;
    bool signalled = false;

    if (room && batch->barrier)
        place.infos[place.count++] = *own++;
    add_notes(log, batch, &place);
    for (uint32_t i = 0; i < batch->wait_count; i++) {
        if (describe(log, batch, BF_LOG_WAITS, i, &op))
            add(log, batch, &place, &op, false);
    }
    for (uint32_t i = batch->barrier; i < count; i++)
        place.infos[place.count++] = *own++;
    for (uint32_t i = 0; i < batch->signal_count; i++) {
        if (describe(log, batch, BF_LOG_SIGNALS, i, &op))
            signalled = add(log, batch, &place, &op, false);
    }
    if (describe_update(batch, &op))
        signalled = add(log, batch, &place, &op, false);
    if (!room)
        return;
    /* The last signal's stamp is the packet's end, too. */
    VkCommandBuffer end = signalled ? NULL : bf_log_writer_end(log->writer, &batch->slots);
    if (end)
        put(&place, end);
    submit->pCommandBufferInfos = place.infos;
    submit->commandBufferInfoCount = place.count;
}

/* Protected batches and those that count performance take nothing of ours, nor do sparse binds:
 * where the host writes, their epoch is enough. */
static bool takes_entries(const struct bf_log *log, const struct bf_packet *packet)
{
    if (log->writer->by_host)
        return packet->kind == BF_PACKET_EXECUTE || packet->kind == BF_PACKET_BIND_SPARSE;
    return packet->kind == BF_PACKET_EXECUTE && !packet->submit.flags &&
           !bf_packet_counts_performance(packet);
}

static uint32_t room_for(uint32_t command_buffers, uint32_t waits, uint32_t signals)
{
    return command_buffers + BF_LOG_NOTES + waits + signals + 2;
}

static uint32_t room_for_packet(const struct bf_log *log, const struct bf_packet *packet)
{
    if (log->writer->by_host)
        return 0;
    return room_for(packet->submit.commandBufferInfoCount, packet->wait_count,
                    packet->signal_count);
}

/* A wait or a signal behind an execution of its queue's that is in the batch, and before the next
 * one, which takes it along. */
static void note_passed(struct bf_log *log, struct bf_packet *packet)
{
    packet->log_noted = true;
    if (packet->kind == BF_PACKET_WAIT)
        bf_log_note_fence(log, BF_LOG_WAITS, packet->wait.fence, packet->wait.node.key,
                          (enum bf_log_when)packet->log_when, packet->called_ns);
    else
        bf_log_note_fence(log, BF_LOG_SIGNALS, packet->update->fence, packet->update->value,
                          BF_LOG_AFTER_LAST, 0);
}

void bf_log_add_batch(struct bf_engine *engine)
{
    uint32_t room = 0, used = 0;
    for (uint32_t i = 0; i < engine->batch_count; i++) {
        struct bf_log *log = engine->batch_queues[i]->log;
        if (bf_log_is_enabled(log) && takes_entries(log, engine->batch[i]))
            room += room_for_packet(log, engine->batch[i]);
    }
    make_room(engine, room);
    for (uint32_t i = 0; i < engine->batch_count; i++) {
        struct bf_packet *packet = engine->batch[i];
        struct bf_log *log = engine->batch_queues[i]->log;
        if (!bf_log_is_enabled(log))
            continue;
        if (packet->kind == BF_PACKET_SIGNAL || packet->kind == BF_PACKET_WAIT) {
            note_passed(log, packet);
            continue;
        }
        if (!takes_entries(log, packet) || used + room_for_packet(log, packet) > engine->log_room) {
            note_packet(log, packet); /* or there is no memory for more */
            continue;
        }
        uint32_t needs = room_for_packet(log, packet);
        struct bf_log_batch batch = batch_of(packet);
        add_entries(log, &batch, needs ? engine->log_infos + used : NULL);
        packet->log_slots = batch.slots;
        packet->log_notes = batch.notes;
        used += needs;
    }
}

void bf_log_accepted_packet(struct bf_log *log, struct bf_packet *packet, uint64_t epoch)
{
    atomic_store(&log->last_epoch, epoch);
    forget_notes(log, packet->log_notes);
    if (takes_entries(log, packet))
        bf_log_writer_accepted(log->writer, packet->log_slots, epoch);
}

bool bf_log_add(struct bf_log *log, struct bf_log_batch *batch)
{
    struct bf_engine *engine = log->engine;
    const VkSubmitInfo2 *submit = batch->submit;
    batch->had_end = log->writer->has_end;
    if (log->writer->by_host) {
        add_entries(log, batch, NULL);
        return true;
    }
    if (submit->flags || submit->pNext)
        return false;
    if (!make_room(engine, room_for(submit->commandBufferInfoCount, batch->wait_count,
                                    batch->signal_count))) {
        if (batch->update)
            lose(log, batch, BF_LOG_SIGNALS);
        return false;
    }
    add_entries(log, batch, engine->log_infos);
    return true;
}

void bf_log_accepted(struct bf_log *log, const struct bf_log_batch *batch, uint64_t epoch)
{
    log->last_epoch = epoch;
    forget_notes(log, batch->notes);
    bf_log_writer_accepted(log->writer, batch->slots, epoch);
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
    see_off(log, completed);
}
