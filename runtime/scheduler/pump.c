/* SPDX-License-Identifier: MIT */
/*
 * The pump: gathers the packets that may go on an engine, hands them to the driver in one call, and
 * counts which other packets that releases.
 */
#include <stdlib.h>

#include "scheduler/command_queue.h"
#include "scheduler/driver.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/join.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/packet_time.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "scheduler/vkfence.h"
#include "scheduler/watch.h"
#include "trace/stamps.h"

/* Batches that one pump hands over before it looks for another thread to continue. */
#define PUMP_BOUND 16

static void queue_remove_first_packet(struct bf_queue *queue, struct bf_packet *packet)
{
    bf_lock_acquire_short(&queue->lock);
    queue->head = packet->next;
    if (!queue->head)
        queue->tail = NULL;
    bf_lock_release(&queue->lock);
}

static struct bf_packet *queue_first_packet(struct bf_queue *queue)
{
    bf_lock_acquire_short(&queue->lock);
    struct bf_packet *packet = queue->head;
    bf_lock_release(&queue->lock);
    return packet;
}

static struct bf_packet *queue_packet_after(struct bf_queue *queue, struct bf_packet *packet)
{
    bf_lock_acquire_short(&queue->lock);
    packet = packet->next;
    bf_lock_release(&queue->lock);
    return packet;
}

static void packet_trace_handed_over(struct bf_scheduler *scheduler, struct bf_packet *packet);

/* Finishes a signal or wait that is settled before everything in the batch. */
static void queue_settle_packet(struct bf_queue *queue, struct bf_packet *packet)
{
    packet_trace_handed_over(queue->scheduler, packet);
    queue_remove_first_packet(queue, packet);
    queue->held_ns = 0; /* PW-6 is of the one behind it, from now on */
    bf_packet_recycle(queue, packet);
    atomic_fetch_add(&queue->issued, 1);
    atomic_fetch_add(&queue->finished, 1);
}

static void batch_add_packet(struct bf_engine *engine, struct bf_queue *queue,
                             struct bf_packet *packet)
{
    packet->in_hand = true;
    engine->batch[engine->batch_count] = packet;
    engine->batch_queues[engine->batch_count] = queue;
    engine->batch_count++;
}

/* The queue has just been blocked: its callers may return, and what it waits for is urgent. */
static void queue_announce_blocked(struct bf_queue *queue, uint64_t *engines)
{
    if (atomic_load(&queue->scheduler->windows))
        bf_inherit_from(queue->scheduler, queue, engines);
    bf_signpost_announce(&queue->engine->progress);
}

/* The first operation because of which the packet must be held, or NULL; and by which rule. */
static struct bf_sync *packet_find_obstacle(struct bf_queue *queue, struct bf_packet *packet,
                                            enum bf_wait_rule *rule, enum bf_side *side)
{
    *rule = bf_outside_rule(queue, packet);
    struct bf_sync *obstacle = bf_packet_obstacle(queue->scheduler, packet, *rule, side);
    if (obstacle)
        return obstacle;
    obstacle = bf_window_obstacle(queue->engine, queue, packet);
    if (obstacle) {
        *side = BF_FOR_WAIT;
        *rule = BF_WAIT_COMPLETE;
    }
    return obstacle;
}

/* Adds the queue's packets to the batch, from this one, its first that isn't in it, up to one that
 * may not go; returns that if it may go in another batch, or is behind 'limit'. A packet's signals
 * count as accepted only when the driver's call has returned, so a packet that depends on one
 * before it in the batch has to start the next batch. */
static struct bf_packet *engine_gather_from(struct bf_engine *engine, struct bf_queue *queue,
                                            struct bf_packet *packet, uint64_t limit,
                                            uint64_t *engines)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_command_queue *commands = bf_command_queue_of(queue);
    bool batched = false; /* a packet of this queue is in the batch */
    if (atomic_load(&queue->blocked))
        return NULL;
    if (bf_queue_is_stopped(queue)) {
        if (packet && atomic_load(&queue->suspended)) {
            packet->was_held = true;
            bf_trace_packet_held(scheduler->gpu.trace, &packet->trace, BF_TRACE_SUSPENSION);
        }
        bf_signpost_announce(&engine->progress);
        return NULL;
    }
    if (commands)
        commands->position = 0;
    engine->window.run_ns = 0;
    /* Only a pump removes packets from the list, and pumps of one engine exclude each other. */
    while (packet && engine->batch_count < BF_ENGINE_BATCH) {
        if (packet->order > limit)
            return packet;
        if (packet->kind == BF_PACKET_SIGNAL || packet->kind == BF_PACKET_WAIT) {
            struct bf_packet *next = queue_packet_after(queue, packet);
            enum bf_passage passage = bf_command_queue_pass(commands, packet, batched, engines);
            if (passage == BF_PASSAGE_NATIVE)
                continue; /* it is an execution now */
            if (passage == BF_PASSAGE_DONE)
                queue_settle_packet(queue, packet);
            else if (passage == BF_PASSAGE_BATCHED)
                batch_add_packet(engine, queue, packet);
            else {
                if (passage == BF_PASSAGE_BLOCKED)
                    queue_announce_blocked(queue, engines);
                return NULL;
            }
            /* Appended meanwhile? */
            packet = passage == BF_PASSAGE_DONE ? queue_first_packet(queue) : next;
            continue;
        }
        /* Sparse binds and fences have a driver call of their own. A fence alone may tell the
         * program that everything before it is complete, including the signals of the call
         * before. */
        if (packet->kind != BF_PACKET_EXECUTE && engine->batch_count > 0)
            return packet;
        if (!bf_label_fits(engine, packet))
            return packet;
        enum bf_side side;
        struct bf_sync *obstacle;
        if (commands && !bf_outside_may_go(engine, queue, engines)) {
            packet->was_held = true;
            bf_signpost_announce(&engine->progress);
            return NULL;
        }
        if (commands)
            bf_command_queue_waive(commands, packet);
        enum bf_wait_rule rule;
        while ((obstacle = packet_find_obstacle(queue, packet, &rule, &side)) != NULL) {
            packet->was_held = true;
            /* The obstacle may be a packet in this very batch: then the queue must not block on it;
             * the next round checks again. */
            if (engine->batch_count > 0)
                return packet;
            bf_trace_packet_held(
                scheduler->gpu.trace, &packet->trace,
                (struct bf_trace_sync){(uint64_t)obstacle->sem->handle, obstacle->ordinal});
            if (bf_semaphore_block(scheduler, obstacle->sem, side, obstacle->target, rule, queue,
                                   engines)) {
                queue_announce_blocked(queue, engines);
                return NULL;
            }
        }
        packet = bf_preempt_divide(engine, queue, packet);
        bool preempted = bf_preempt_holds(engine, queue, packet);
        if (preempted || !bf_window_admits(engine, queue, packet)) {
            packet->was_held = true;
            bf_trace_packet_held(scheduler->gpu.trace, &packet->trace,
                                 preempted ? BF_TRACE_PREEMPTION : BF_TRACE_WINDOW);
            bf_signpost_announce(&engine->progress);
            return NULL;
        }
        if (commands)
            bf_command_queue_prepare(commands, packet);
        packet->ungrounded = rule == BF_WAIT_NATIVE &&
                             bf_packet_obstacle(scheduler, packet, BF_WAIT_GROUNDED, &side);
        engine->outside.in_batch = engine->outside.in_batch || packet->ungrounded;
        batch_add_packet(engine, queue, packet);
        batched = true;
        if (packet->fence || packet->kind != BF_PACKET_EXECUTE ||
            bf_window_run_is_over(engine, packet))
            return NULL;
        packet = queue_packet_after(queue, packet);
    }
    return NULL;
}

static bool batch_is_closed(const struct bf_engine *engine)
{
    if (engine->batch_count == 0)
        return false;
    const struct bf_packet *last = engine->batch[engine->batch_count - 1];
    return engine->batch_count == BF_ENGINE_BATCH || last->fence ||
           last->kind == BF_PACKET_BIND_SPARSE || last->kind == BF_PACKET_FENCE;
}

/* PE-5: a queue's sparse bind that is its first packet. */
static void engine_gather_bind(struct bf_engine *engine, uint64_t *engines)
{
    for (uint32_t i = 0; i < engine->queue_count && engine->batch_count == 0; i++) {
        struct bf_queue *queue = engine->queues[i];
        struct bf_packet *first = queue_first_packet(queue);
        if (first && first->kind == BF_PACKET_BIND_SPARSE)
            engine_gather_from(engine, queue, first, UINT64_MAX, engines);
    }
}

/* DT-8. Of what waits for nothing, the packet that was appended first goes first; it is the end of
 * the batch if it doesn't fit in. */
static void engine_gather_in_order(struct bf_engine *engine, uint64_t *engines)
{
    for (uint32_t i = 0; i < engine->queue_count; i++)
        engine->queues[i]->cursor = queue_first_packet(engine->queues[i]);
    while (!batch_is_closed(engine)) {
        struct bf_queue *queue = NULL;
        uint64_t limit = UINT64_MAX; /* of the second */
        for (uint32_t i = 0; i < engine->queue_count; i++) {
            struct bf_queue *other = engine->queues[i];
            if (!other->cursor)
                continue;
            if (!queue || other->cursor->order < queue->cursor->order) {
                limit = queue ? queue->cursor->order : limit;
                queue = other;
            } else if (other->cursor->order < limit) {
                limit = other->cursor->order;
            }
        }
        if (!queue)
            return;
        struct bf_packet *packet = queue->cursor;
        if (queue->is_command_queue) { /* all that it has */
            engine_gather_from(engine, queue, packet, UINT64_MAX, engines);
            queue->cursor = NULL;
            continue;
        }
        queue->cursor = engine_gather_from(engine, queue, packet, limit, engines);
        if (queue->cursor && queue->cursor->order <= limit)
            return;
    }
}

/* The index of the queue that a scan begins with: the one whose turn it is, or AC-4's. */
static uint32_t engine_scan_begin(const struct bf_engine *engine)
{
    for (uint32_t i = 0; engine->foremost && i < engine->queue_count; i++) {
        if (engine->queues[i] == engine->foremost)
            return i;
    }
    return engine->first;
}

/* Gathers a batch: sparse binds first, queues of higher levels first, and queues of one level in
 * turn. */
static void engine_gather(struct bf_engine *engine, uint64_t *engines)
{
    engine->batch_count = 0;
    engine->batch_barrier = 0;
    engine->outside.in_batch = false;
    if (engine->queue_count == 0)
        return;
    bf_lock_acquire(&engine->batch_lock);
    bf_window_look(engine);
    bf_window_release(engine);
    uint8_t top = atomic_load_explicit(&engine->window.top, memory_order_relaxed);
    bool ordered =
        !top && atomic_load_explicit(&engine->scheduler->submits_ring, memory_order_relaxed);
    if (engine->scheduler->preemption && atomic_load_explicit(&engine->binds, memory_order_relaxed))
        engine_gather_bind(engine, engines);
    if (ordered && engine->batch_count == 0)
        engine_gather_in_order(engine, engines);
    struct bf_queue *lower;
    if (top && !batch_is_closed(engine) && (lower = bf_window_first(engine)) != NULL)
        engine_gather_from(engine, lower, queue_first_packet(lower), UINT64_MAX, engines);
    uint32_t begin = engine_scan_begin(engine);
    for (uint32_t i = 0; !ordered && i < engine->queue_count && !batch_is_closed(engine); i++) {
        struct bf_queue *queue = engine->queues[(begin + i) % engine->queue_count];
        if (bf_queue_has_backlog(queue) && (!top || bf_window_is_highest(engine, queue)))
            engine_gather_from(engine, queue, queue_first_packet(queue), UINT64_MAX, engines);
    }
    while (top && !batch_is_closed(engine) && (lower = bf_window_next(engine)) != NULL)
        engine_gather_from(engine, lower, queue_first_packet(lower), UINT64_MAX, engines);
    if (top)
        bf_window_gathered(engine, batch_is_closed(engine));
    engine->first = (engine->first + 1) % engine->queue_count;
    if (engine->batch_count == 0)
        bf_window_arm(engine);
    bf_lock_release(&engine->batch_lock);
}

/* Semaphores that are not registered, as on attached devices, are left out: whether such a
 * semaphore is binary, and when its handle comes to mean another one, isn't known. */
static uint32_t packet_trace_syncs(const struct bf_sync *syncs, uint32_t count,
                                   struct bf_trace_sync *target, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count && n < room; i++) {
        if (syncs[i].sem)
            target[n++] = (struct bf_trace_sync){(uint64_t)syncs[i].sem->handle, syncs[i].ordinal};
    }
    return n;
}

static void packet_trace_handed_over(struct bf_scheduler *scheduler, struct bf_packet *packet)
{
    if (!scheduler->gpu.trace)
        return;
    struct bf_trace_sync waits[16], signals[16];
    if (packet->kind == BF_PACKET_WAIT || packet->kind == BF_PACKET_SIGNAL) {
        bool wait = packet->kind == BF_PACKET_WAIT;
        bf_trace_packet_handed_over(scheduler->gpu.trace, &packet->trace, wait, &packet->fence_sync,
                                    !wait, &packet->fence_sync);
        return;
    }
    uint32_t wait_count = packet_trace_syncs(packet->waits, packet->wait_count, waits, 16);
    uint32_t signal_count =
        packet->signals_peers
            ? 0
            : packet_trace_syncs(packet->signals, packet->signal_count, signals, 15);
    if (packet->waits_for_peer)
        waits[0] = packet->fence_sync;
    else if (packet->fence_sync.semaphore)
        signals[signal_count++] = packet->fence_sync;
    bf_trace_packet_handed_over(scheduler->gpu.trace, &packet->trace, wait_count, waits,
                                signal_count, signals);
}

/* The driver has accepted the packet; or, if 'accepted' is false, the lost device will never get
 * it. It is off its queue's list; the batch lock is held. */
static uint64_t packet_finish(struct bf_engine *engine, struct bf_queue *queue,
                              struct bf_packet *packet, bool accepted)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    if (accepted) {
        packet_trace_handed_over(scheduler, packet);
        bf_label_passed(engine, queue, packet);
        bf_packet_time_accepted(engine, packet);
        if (bf_log_is_enabled(queue->log))
            bf_queue_log_accepted(queue->log, packet, atomic_load(&engine->base.accepted_epoch));
    } else {
        bf_trace_packet_dropped(scheduler->gpu.trace, &packet->trace);
        bf_packet_time_dropped(engine, packet);
    }
    if (accepted)
        bf_packet_signalled_on(packet, engine);
    if (accepted && atomic_load_explicit(&scheduler->windows, memory_order_relaxed))
        bf_window_accepted(engine, queue, packet);
    uint64_t engines = bf_packet_accepted(packet);
    bool listed = accepted && bf_outside_list(engine, packet, &engines);
    if (!listed)
        engines |= bf_packet_grounded(packet);
    if (queue->is_command_queue)
        engines |= bf_command_queue_finished(bf_command_queue_of(queue), packet, accepted);
    if (packet->fence)
        bf_vkfence_handed_over(scheduler, packet->fence);
    if (packet->kind == BF_PACKET_BIND_SPARSE)
        atomic_fetch_sub(&engine->binds, 1);
    const bool counts = !packet->part;
    if (!listed)
        bf_packet_recycle(queue, packet);
    atomic_fetch_add(counts ? &queue->finished : &queue->finished_parts, 1);
    return engines;
}

/* Adds an epoch to the packet's signals, behind the program's own. */
static void packet_add_epoch(struct bf_engine *engine, struct bf_packet *packet, uint64_t value)
{
    packet->epoch = value;
    if (packet->kind == BF_PACKET_EXECUTE) {
        VkSemaphoreSubmitInfo *signals =
            (VkSemaphoreSubmitInfo *)packet->submit.pSignalSemaphoreInfos;
        bf_gpu_engine_epoch_signal(&engine->base, value, &signals[packet->signal_count]);
        packet->submit.signalSemaphoreInfoCount = packet->signal_count + 1;
    } else if (packet->kind == BF_PACKET_BIND_SPARSE) {
        ((VkSemaphore *)packet->bind.pSignalSemaphores)[packet->signal_count] = engine->base.epoch;
        ((uint64_t *)packet->values.pSignalSemaphoreValues)[packet->signal_count] = value;
        packet->values.signalSemaphoreValueCount = packet->signal_count + 1;
        packet->bind.signalSemaphoreCount = packet->signal_count + 1;
    }
}

/* Undoes packet_add_epoch, for a batch that is retried in parts. */
static void packet_drop_epoch(struct bf_packet *packet)
{
    packet->epoch = 0;
    if (packet->kind == BF_PACKET_EXECUTE) {
        packet->submit.signalSemaphoreInfoCount = packet->signal_count;
    } else if (packet->kind == BF_PACKET_BIND_SPARSE) {
        packet->values.signalSemaphoreValueCount = packet->signal_count;
        packet->bind.signalSemaphoreCount = packet->signal_count;
    }
}

/* The packet's fence, unless others may change its payload: then it tells nothing. */
static const struct bf_vkfence *packet_own_fence(const struct bf_packet *packet)
{
    return packet->fence && !atomic_load(&packet->fence->external) ? packet->fence : NULL;
}

static bool packet_lacks_completion_signal(const struct bf_packet *packet)
{
    return !bf_packet_last_submission_signal(packet) &&
           (!packet_own_fence(packet) || packet->signal_count);
}

static bool packet_is_for_driver(const struct bf_packet *packet)
{
    return packet->kind != BF_PACKET_SIGNAL && packet->kind != BF_PACKET_WAIT;
}

/* Is it the last packet of its queue in the part, and another queue's go to the driver behind
 * it? */
static bool batch_leaves_queue(const struct bf_engine *engine, uint32_t i, uint32_t end)
{
    bool others = false;
    for (uint32_t k = i + 1; k < end; k++) {
        if (engine->batch_queues[k] == engine->batch_queues[i])
            return false;
        others = others || packet_is_for_driver(engine->batch[k]);
    }
    return others;
}

/* Gives each execution of a command queue an epoch, joined ones together; and the last packet of
 * each VkQueue in the part, if it or one before it in the part is without a completion signal of
 * its own; and the last packet of all for timestamps and logs. With a watchdog, each packet has one
 * (WD-2), and each that signals a binary semaphore while there are windows (PW-4). */
static uint64_t batch_add_epochs(struct bf_engine *engine, uint32_t first, uint32_t count,
                                 uint32_t joined, struct bf_packet *last)
{
    uint64_t epoch = atomic_load(&engine->base.accepted_epoch);
    if (!engine->base.epoch)
        return epoch;
    bool wanted = engine->scheduler->gpu.trace != NULL || engine->logs.enabled > 0;
    bool witnessed = bf_watch_witnesses(engine) || atomic_load(&engine->preempt.numbers); /* PE-2 */
    bool windows = atomic_load(&engine->scheduler->windows);                              /* PW-4 */
    for (uint32_t i = first; i < first + count; i++) {
        struct bf_packet *packet = engine->batch[i];
        if (!packet_is_for_driver(packet))
            continue;
        if (joined & UINT32_C(1) << i)
            packet->epoch = epoch + 1;
        else if (engine->batch_queues[i]->is_command_queue || packet->windowed ||
                 (witnessed && packet->kind != BF_PACKET_FENCE) ||
                 (windows && bf_packet_signals_binary(packet)))
            packet_add_epoch(engine, packet, ++epoch);
        else if (packet_lacks_completion_signal(packet) && atomic_load(&engine->shared)) {
            /* I-1: the wait for one queue is no wait for another. */
            if (packet->kind != BF_PACKET_FENCE && batch_leaves_queue(engine, i, first + count))
                packet_add_epoch(engine, packet, ++epoch);
            else
                wanted = true;
        }
    }
    if (wanted && !last->epoch && last->kind != BF_PACKET_FENCE)
        packet_add_epoch(engine, last, ++epoch);
    return epoch;
}

/* Sets the completion signal of packet i's queue before the driver has the packet: once it does,
 * the program may see the packet's fence or semaphore signalled and destroy it, which must find the
 * completion signal set. Nobody reads the completion signal of a queue with packets on its list. */
static void batch_set_last_submission(struct bf_engine *engine, uint32_t i, uint64_t epoch)
{
    struct bf_queue *queue = engine->batch_queues[i];
    const struct bf_packet *packet = engine->batch[i];
    if (queue->is_command_queue)
        return;
    const struct bf_sync *signal = bf_packet_last_submission_signal(packet);
    const struct bf_vkfence *fence = packet_own_fence(packet);
    if (packet->fence && !fence && packet->kind == BF_PACKET_FENCE) { /* it takes no epoch */
        bf_signless_begin(&queue->submitted);
        return;
    }
    bf_last_submission_set(queue, fence ? fence->handle : VK_NULL_HANDLE,
                           signal ? signal->sem->handle : VK_NULL_HANDLE,
                           signal ? signal->target : 0,
                           !packet_lacks_completion_signal(packet) ? 0
                           : packet->epoch                         ? packet->epoch
                                                                   : epoch);
}

/* E-5: announces the signals that go with the call. */
static void batch_announce(struct bf_engine *engine, uint32_t first, uint32_t count,
                           struct bf_effects *effects)
{
    for (uint32_t i = first; i < first + count; i++) {
        if (engine->batch_queues[i]->is_command_queue)
            bf_command_queue_announce(bf_command_queue_of(engine->batch_queues[i]),
                                      engine->batch[i], effects);
    }
}

static void batch_withdraw(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    for (uint32_t i = first; i < first + count; i++) {
        struct bf_packet *packet = engine->batch[i];
        if (!packet->announced && !packet->waits_for_peer)
            continue;
        bf_lock_acquire(&pending->lock);
        if (packet->announced)
            bf_pending_withdraw(pending, packet);
        if (packet->waits_for_peer && packet->peer_wait) /* else a lost device has dropped it */
            bf_peer_wait_withdraw(pending, packet->peer_wait);
        bf_lock_release(&pending->lock);
    }
}

static void batch_watch(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    uint64_t before = 0;
    for (uint32_t i = first; i < first + count && bf_watch_witnesses(engine); i++) {
        const struct bf_packet *packet = engine->batch[i];
        if (!packet->epoch || packet->epoch == before) /* joined ones have one epoch */
            continue;
        bf_watch_packet(engine, engine->batch_queues[i], packet);
        before = packet->epoch;
    }
}

/* Q-8, before the batch changes the labels on the VkQueue: when it is finished, which may wait for
 * nobody, no present is there either, since the lock is held. */
static bool batch_await_presents(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; atomic_load(&engine->presents_beside) && i < first + count; i++) {
        if ((engine->batch[i]->labels || engine->batch[i]->inserts) &&
            !bf_driver_await_presents(engine))
            return false;
    }
    return true;
}

/* Hands over packets first to first + count - 1 of the batch, in one driver call. Of those that the
 * driver sees, only the last may have a fence or be no execution. */
static VkResult batch_submit_part(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    struct bf_packet *last = NULL;
    for (uint32_t i = first; i < first + count; i++) {
        if (packet_is_for_driver(engine->batch[i]))
            last = engine->batch[i];
    }
    if (last && !batch_await_presents(engine, first, count))
        return VK_ERROR_DEVICE_LOST;
    for (uint32_t i = first; i < first + count; i++)
        atomic_fetch_add(&engine->batch_queues[i]->issued, !engine->batch[i]->part);
    if (!last)
        return VK_SUCCESS;
    bf_label_enter(engine, last->labels);
    VkFence fence = last->fence ? last->fence->handle : VK_NULL_HANDLE;
    uint32_t joined = bf_join_find(engine, first, count);
    uint64_t epoch = batch_add_epochs(engine, first, count, joined, last);
    for (uint32_t i = first; i < first + count && atomic_load(&engine->shared); i++)
        batch_set_last_submission(engine, i, epoch);

    atomic_store(&engine->base.issued_epoch, epoch);
    struct bf_effects effects = {0};
    batch_announce(engine, first, count, &effects);
    batch_watch(engine, first, count);
    VkResult result;
    if (last->kind == BF_PACKET_BIND_SPARSE) {
        result = bf_driver_bind_sparse(engine, &last->bind, fence);
    } else {
        uint32_t infos = bf_join_fill(engine, first, count, joined);
        result = bf_driver_submit(engine, infos, engine->infos, fence);
    }
    bf_effects_run_but_pump(engine->scheduler, &effects);
    if (result == VK_SUCCESS) {
        atomic_store(&engine->base.accepted_epoch, epoch);
        return result;
    }
    batch_withdraw(engine, first, count);
    for (uint32_t i = first; i < first + count; i++) {
        atomic_fetch_sub(&engine->batch_queues[i]->issued, !engine->batch[i]->part);
        if (engine->batch[i]->epoch)
            packet_drop_epoch(engine->batch[i]);
    }
    return result;
}

static uint64_t batch_finish_part(struct bf_engine *engine, uint32_t first, uint32_t count,
                                  bool accepted)
{
    uint64_t engines = 0;
    bf_lock_acquire(&engine->batch_lock);
    for (uint32_t i = first; i < first + count; i++) {
        queue_remove_first_packet(engine->batch_queues[i], engine->batch[i]);
        engines |= packet_finish(engine, engine->batch_queues[i], engine->batch[i], accepted);
    }
    bf_lock_release(&engine->batch_lock);
    return engines;
}

/* A batch that fails is retried packet by packet; a packet that fails alone, once more; then the
 * device is lost, since the program has been told that the packet was submitted. */
static uint64_t engine_submit_batch(struct bf_engine *engine)
{
    uint32_t count = engine->batch_count;
    for (uint32_t i = 0; (engine->base.stamps || engine->scheduler->gpu.trace) && i < count; i++)
        bf_packet_time_put(engine, engine->batch_queues[i], engine->batch[i]);
    if (engine->logs.enabled)
        bf_queue_log_add_batch(engine);
    VkResult result = batch_submit_part(engine, 0, count);
    if (result == VK_SUCCESS)
        return batch_finish_part(engine, 0, count, true);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lose(engine->scheduler, "vkQueueSubmit2");
    uint64_t engines = 0;
    for (uint32_t i = 0; i < count && !bf_scheduler_is_lost(engine->scheduler); i++) {
        result = batch_submit_part(engine, i, 1);
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
            result = batch_submit_part(engine, i, 1);
        if (result == VK_SUCCESS)
            engines |= batch_finish_part(engine, i, 1, true);
        else
            bf_scheduler_lose_by(engine->scheduler, result, "handing over a held packet");
    }
    return engines;
}

static void packet_signal_timelines(struct bf_scheduler *scheduler, struct bf_packet *packet)
{
    for (uint32_t s = packet->signals_peers; s < packet->signal_count; s++) {
        struct bf_sync *sync = &packet->signals[s];
        if (sync->sem && sync->sem->timeline && !atomic_load(&sync->sem->forgotten))
            bf_semaphore_signal_dropped(scheduler, sync);
    }
}

/* Takes the packets off the queue's list, or with 'held' those behind the ones in hand. */
static struct bf_packet *queue_take_packets(struct bf_queue *queue, bool held)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet **link = &queue->head, *last = NULL;
    /* What is left of a packet whose part is in hand stays with that: it alone is counted (L-3). */
    while (held && *link && ((*link)->in_hand || (last && last->part))) {
        last = *link;
        link = &last->next;
    }
    struct bf_packet *taken = *link;
    *link = NULL;
    queue->tail = last;
    bf_lock_release(&queue->lock);
    return taken;
}

/* Drops the packets of a lost device, all or the held ones, and releases whoever waits for them.
 * The batch lock is held. */
static uint64_t engine_drop_packets(struct bf_engine *engine, bool held)
{
    uint64_t engines = 0;
    bool any = false;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        struct bf_packet *packet, *next;
        while ((packet = queue_take_packets(queue, held)) != NULL) {
            if (packet->kind != BF_PACKET_WAIT) /* else it is not blocked by a semaphore */
                bf_semaphore_unblock(queue);
            for (any = true; packet; packet = next) {
                next = packet->next;
                packet_signal_timelines(engine->scheduler, packet);
                atomic_fetch_add(&queue->issued, !packet->part);
                engines |= packet_finish(engine, queue, packet, false);
            }
        }
    }
    engines |= bf_outside_drop(engine);
    if (any) {
        bf_signpost_announce(&engine->scheduler->progress);
        bf_signpost_announce(&engine->progress);
    }
    return engines;
}

static uint64_t engine_drop_backlog(struct bf_engine *engine)
{
    bf_lock_acquire(&engine->batch_lock);
    uint64_t engines = engine_drop_packets(engine, false);
    bf_lock_release(&engine->batch_lock);
    return engines;
}

void bf_engine_drop_held(struct bf_engine *engine)
{
    bf_lock_acquire(&engine->batch_lock);
    engine_drop_packets(engine, true); /* who waited finds the device lost */
    bf_lock_release(&engine->batch_lock);
}

/* (Timestamps that are for windows alone these collect.) */
void bf_engine_collect(struct bf_engine *engine)
{
    uint64_t completed;
    const bool traced = engine->base.stamps && engine->scheduler->gpu.trace;
    if ((!traced && !engine->logs.enabled && !engine->logs.left) ||
        bf_gpu_engine_completed_epoch(&engine->base, &completed) != VK_SUCCESS)
        return;
    if (traced)
        bf_stamps_collect(engine->base.stamps, completed);
    bf_log_see_off(&engine->logs, completed);
    if (!engine->logs.enabled)
        return;
    bf_pending_see(&engine->scheduler->pending, engine->base.number, completed);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i]->log)
            bf_log_collect(engine->queues[i]->log, completed);
    }
}

/* Removes destroyed command queues of which nothing is left on the engine (C-4). */
static void engine_remove_leaving_queues(struct bf_engine *engine)
{
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_command_queue *queue = bf_command_queue_of(engine->queues[i]);
        if (queue && queue->leaving && !bf_queue_has_backlog(&queue->base)) {
            bf_engine_remove_queue(engine, &queue->base);
            i--; /* another queue is at this index now */
        }
    }
    engine->leaving = false;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_command_queue *queue = bf_command_queue_of(engine->queues[i]);
        engine->leaving = engine->leaving || (queue && queue->leaving);
    }
}

/* How a pump has ended. */
enum drained {
    DRAINED_ALL,   /* what is left may not go */
    DRAINED_BATCH, /* a batch has set others free, who go first: 'dirty' is set */
    DRAINED_BOUND, /* at its bound: a taker will continue */
};

/* Hands over what may go. The lock is held; 'batches' counts over all rounds of one pump. */
static enum drained engine_drain(struct bf_engine *engine, uint64_t *engines, uint32_t *batches)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    enum drained drained = DRAINED_ALL;
    bf_engine_collect(engine);
    atomic_store(&engine->pumping, 1); /* AC-2: before 'dirty' is cleared */
    for (;; ++*batches) {
        if (*batches >= PUMP_BOUND && atomic_load(&engine->takers) > 0) {
            drained = DRAINED_BOUND;
            atomic_store(&engine->dirty, 1);
            break;
        }
        atomic_store(&engine->dirty, 0);
        *engines |= bf_outside_settle(engine);
        engine_gather(engine, engines);
        /* Checked after gathering: packets that a lost device drops count as accepted, and must
         * release nothing to a driver that may still run. */
        if (bf_scheduler_is_lost(scheduler)) {
            *engines |= engine_drop_backlog(engine) | bf_scheduler_dirty_engines(scheduler);
            break;
        }
        if (engine->batch_count == 0) {
            bf_signpost_announce(&engine->progress); /* signals and waits may have been settled */
            break;
        }
        if (atomic_load_explicit(&engine->takes_queues, memory_order_relaxed))
            atomic_fetch_add_explicit(&scheduler->gpu.counters.driver_calls, 1,
                                      memory_order_relaxed);
        *engines |= engine_submit_batch(engine);
        bf_signpost_announce(&scheduler->progress);
        bf_signpost_announce(&engine->progress);
        if (*engines & ~bf_engine_bit(engine)) {
            drained = DRAINED_BATCH;
            atomic_store(&engine->dirty, 1);
            *engines |= bf_engine_bit(engine);
            ++*batches;
            break;
        }
    }
    atomic_store(&engine->pumping, 0);
    if (engine->leaving && drained == DRAINED_ALL)
        engine_remove_leaving_queues(engine);
    return drained;
}

/* Releases the lock after a pump; true: there is no more to do for this thread. */
static bool engine_release(struct bf_engine *engine, enum drained drained)
{
    bf_lock_release(&engine->lock);
    if (drained == DRAINED_ALL)
        return false;
    bf_signpost_announce(&engine->progress); /* takers may go on */
    return drained == DRAINED_BOUND && atomic_load(&engine->takers) > 0;
}

/* *engines: which it has set free, and which it has to come back to. */
static enum drained engine_pump(struct bf_engine *engine, uint64_t *engines, uint32_t *batches)
{
    enum drained drained;
    do {
        if (!bf_lock_try(&engine->lock))
            return DRAINED_ALL; /* its holder will look at 'dirty' */
        drained = engine_drain(engine, engines, batches);
        if (engine_release(engine, drained))
            return drained;
    } while (drained != DRAINED_BATCH && atomic_load(&engine->dirty));
    return drained;
}

/* The engines of 'later' when there are no others any more. */
static void engines_pump(struct bf_scheduler *scheduler, uint64_t mask, uint64_t later)
{
    uint32_t batches = 0;
    while (mask | later) {
        uint64_t from = mask ? mask : later, freed = 0;
        struct bf_engine *engine = &scheduler->engines[__builtin_ctzll(from)];
        mask &= ~bf_engine_bit(engine);
        later &= ~bf_engine_bit(engine);
        /* Without the engine's lock, whose holder may be in a call that blocks. */
        mask |= bf_outside_settle(engine);
        if (engine_pump(engine, &freed, &batches) == DRAINED_BATCH) {
            later |= bf_engine_bit(engine);
            freed &= ~bf_engine_bit(engine);
        }
        mask |= freed;
    }
}

void bf_engines_pump(struct bf_scheduler *scheduler, uint64_t mask)
{
    engines_pump(scheduler, mask, 0);
}

/* The lock has just been taken. */
static bool engine_pump_once(struct bf_engine *engine)
{
    uint64_t engines = 0;
    uint32_t batches = 0;
    enum drained drained = engine_drain(engine, &engines, &batches);
    bool handed_on = engine_release(engine, drained);
    bool again = !handed_on && atomic_load(&engine->dirty);
    engines_pump(engine->scheduler, engines & ~bf_engine_bit(engine),
                 again ? bf_engine_bit(engine) : 0);
    return drained == DRAINED_ALL;
}

bool bf_engine_pump_taking_over(struct bf_engine *engine)
{
    return bf_engine_enter(engine) && engine_pump_once(engine);
}

bool bf_engine_pump_if_free(struct bf_engine *engine)
{
    if (!bf_lock_try(&engine->lock))
        return false;
    engine_pump_once(engine);
    return true;
}

void bf_engine_hand_over_ready(struct bf_engine *engine, struct bf_queue *first, uint64_t *engines)
{
    if (!atomic_load(&engine->dirty))
        return;
    uint64_t packets = 0; /* each batch has one at least, or a part of one */
    const uint64_t divided = engine->preempt.divided;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        const struct bf_queue *queue = engine->queues[i];
        packets += atomic_load(&queue->appended) - atomic_load(&queue->finished);
    }
    uint32_t batches = 0;
    uint64_t over = 0;
    engine->foremost = first;
    do {
        over += batches;
        batches = 0;
    } while (engine_drain(engine, engines, &batches) == DRAINED_BOUND &&
             over + batches < packets + (engine->preempt.divided - divided));
    engine->foremost = NULL;
}
