#include "log/log.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "log/writer.h"
#include "os/log.h"
#include "queue/command_queue.h"
#include "queue/engine.h"
#include "queue/packet.h"

bool bf_log_is_possible(const struct bf_queue *queue)
{
    const struct bf_engine *engine = queue->engine;
    const struct bf_command_queue *commands =
        queue->is_command_queue ? (const struct bf_command_queue *)queue : NULL;
    return engine->device->fence_log != BF_FENCE_LOG_OFF && bf_engine_can_store(engine) &&
           !(commands && (commands->flags & BF_QUEUE_SOFTWARE_FENCES_BIT));
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
    if (entries) {
        VkResult result = queue->engine->epoch ? VK_SUCCESS : bf_engine_create_epoch(queue->engine);
        if (result == VK_SUCCESS)
            result = bf_log_writer_create(log, entries, &writer);
        if (result != VK_SUCCESS)
            return result;
    }
    if (!log)
        return VK_SUCCESS;
    if (log->writer) {
        for (int side = 0; side < BF_LOG_SIDES; side++)
            log->entries[side] += log->writer->next[side];
        log->writer->successor = writer;
        if (writer)
            writer->cursors++; /* those that will come from there */
        log->writer->next_dying = log->dying;
        log->dying = log->writer;
    }
    if (!log->writer)
        log->last_epoch = atomic_load(&queue->engine->accepted_epoch);
    if (!writer) {
        bf_lock_acquire(&log->lock);
        log->noted = 0;
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
    if (log->noted < BF_LOG_NOTES)
        log->notes[log->noted++] = *operation;
    else
        log->lost[operation->side]++;
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
    bool any = log->noted > 0;
    bf_lock_release(&log->lock);
    return any;
}

/* Had the program's wait been satisfied when it was armed? Only the semaphore itself can tell. */
static bool was_satisfied(struct bf_device *device, const struct bf_packet *packet,
                          const struct bf_sync *sync)
{
    uint64_t value;
    return !packet->was_held &&
           device->counter_value(device->handle, sync->sem->handle, &value) == VK_SUCCESS &&
           value >= sync->target;
}

/* The operation on the program's own semaphore; false: it isn't one that logs know. 'idle': the
 * queue's last batch is over. */
static bool describe(struct bf_log *log, const struct bf_packet *packet, bool idle,
                     enum bf_log_side side, uint32_t i, struct bf_log_operation *op)
{
    bool wait = side == BF_LOG_WAITS;
    const struct bf_sync *sync = wait ? &packet->waits[i] : &packet->signals[i];
    if (!sync->sem || !sync->sem->timeline || !sync->sem->log_handle)
        return false;
    *op = (struct bf_log_operation){
        .side = side,
        .handle = sync->sem->log_handle,
        .key = wait && packet->imported ? (uintptr_t)packet->imported : (uint64_t)sync->sem->handle,
        .value = sync->target,
    };
    if (!wait || was_satisfied(log->engine->device, packet, sync))
        return true;
    op->when = idle ? BF_LOG_AT_NS : BF_LOG_AFTER_LAST;
    op->ns = packet->called_ns;
    if (packet->kind == BF_PACKET_EXECUTE &&
        packet->submit.pWaitSemaphoreInfos[i].stageMask != VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        op->flags |= BF_FENCE_LOG_LATE_BOUND_BIT;
    return true;
}

static bool is_idle(const struct bf_log *log)
{
    const struct bf_engine *engine = log->engine;
    return log->last_epoch <= engine->device->ledger.engines[engine->number].completed;
}

/* A packet that nothing can be added to. */
static void note_packet(struct bf_log *log, const struct bf_packet *packet)
{
    struct bf_log_operation op;
    bool idle = is_idle(log);
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        if (describe(log, packet, idle, BF_LOG_WAITS, i, &op))
            bf_log_note(log, &op);
    }
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        if (describe(log, packet, idle, BF_LOG_SIGNALS, i, &op)) {
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

static bool add(struct bf_log *log, struct bf_packet *packet, struct place *place,
                const struct bf_log_operation *op, bool noted)
{
    VkCommandBuffer commands = bf_log_writer_add(log->writer, op, noted);
    if (commands) {
        put(place, commands);
        packet->log_slots++;
    } else {
        log->lost[op->side]++;
    }
    return commands != NULL;
}

static void add_notes(struct bf_log *log, struct bf_packet *packet, struct place *place)
{
    struct bf_log_operation notes[BF_LOG_NOTES];
    bf_lock_acquire(&log->lock);
    uint32_t count = log->noted;
    memcpy(notes, log->notes, count * sizeof(notes[0]));
    log->noted = 0;
    bf_lock_release(&log->lock);
    for (uint32_t i = 0; i < count; i++)
        add(log, packet, place, &notes[i], true);
}

/* In front of the program's command buffers its waits, behind them its signals. What its barrier
 * waits for is part of the wait. */
static void add_entries(struct bf_log *log, struct bf_packet *packet,
                        VkCommandBufferSubmitInfo *room)
{
    const VkCommandBufferSubmitInfo *own = packet->submit.pCommandBufferInfos;
    uint32_t count = packet->submit.commandBufferInfoCount;
    struct place place = {room, 0};
    struct bf_log_operation op;
    bool signalled = false, idle = is_idle(log);

    if (packet->barrier)
        place.infos[place.count++] = *own++;
    add_notes(log, packet, &place);
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        if (describe(log, packet, idle, BF_LOG_WAITS, i, &op))
            add(log, packet, &place, &op, false);
    }
    for (uint32_t i = packet->barrier; i < count; i++)
        place.infos[place.count++] = *own++;
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        if (describe(log, packet, idle, BF_LOG_SIGNALS, i, &op))
            signalled = add(log, packet, &place, &op, false);
    }
    if (packet->update) {
        op = (struct bf_log_operation){
            .side = BF_LOG_SIGNALS,
            .handle = packet->update->fence->log_handle,
            .key = (uintptr_t)packet->update->fence,
            .value = packet->update->value,
        };
        signalled = add(log, packet, &place, &op, false);
    }
    /* The last signal's stamp is the packet's end, too. */
    VkCommandBuffer end = signalled ? NULL : bf_log_writer_end(log->writer, &packet->log_slots);
    if (end)
        put(&place, end);
    packet->submit.pCommandBufferInfos = place.infos;
    packet->submit.commandBufferInfoCount = place.count;
}

/* Protected batches and those that count performance take nothing of ours. */
static bool takes_entries(const struct bf_packet *packet)
{
    return packet->kind == BF_PACKET_EXECUTE && !packet->submit.flags &&
           !bf_packet_counts_performance(packet);
}

static uint32_t room_for(const struct bf_packet *packet)
{
    return packet->submit.commandBufferInfoCount + BF_LOG_NOTES + packet->wait_count +
           packet->signal_count + 2;
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
        if (bf_log_is_enabled(engine->batch_queues[i]->log) && takes_entries(engine->batch[i]))
            room += room_for(engine->batch[i]);
    }
    if (room > engine->log_room) {
        VkCommandBufferSubmitInfo *infos =
            realloc(engine->log_infos, room * sizeof(*engine->log_infos));
        if (infos) {
            engine->log_infos = infos;
            engine->log_room = room;
        }
    }
    for (uint32_t i = 0; i < engine->batch_count; i++) {
        struct bf_packet *packet = engine->batch[i];
        struct bf_log *log = engine->batch_queues[i]->log;
        if (!bf_log_is_enabled(log))
            continue;
        if (packet->kind == BF_PACKET_SIGNAL || packet->kind == BF_PACKET_WAIT) {
            note_passed(log, packet);
            continue;
        }
        if (!takes_entries(packet) || used + room_for(packet) > engine->log_room) {
            note_packet(log, packet); /* or there is no memory for more */
            continue;
        }
        uint32_t needs = room_for(packet);
        add_entries(log, packet, engine->log_infos + used);
        used += needs;
    }
}

void bf_log_accepted(struct bf_log *log, struct bf_packet *packet, uint64_t epoch)
{
    log->last_epoch = epoch;
    if (takes_entries(packet))
        bf_log_writer_accepted(log->writer, packet->log_slots, epoch);
}

void bf_log_collect(struct bf_log *log, uint64_t completed)
{
    if (log->writer)
        bf_log_writer_collect(log->writer, completed);
    if (log->trace)
        bf_log_report(log);
    see_off(log, completed);
}
