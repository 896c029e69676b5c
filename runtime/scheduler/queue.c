/* SPDX-License-Identifier: MIT */
/* A queue's list of packets: appending, freeing, and waiting until they have been handed over. */
#include "scheduler/queue.h"

#include <stdlib.h>

#include "base/clock.h"
#include "scheduler/acceptance.h"
#include "scheduler/command_queue.h"
#include "scheduler/deferral.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/label.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "scheduler/vkfence.h"
#include "scheduler/watch.h"
#include "scheduler/window.h"

/* Puts the packets at the end of the list; returns the number of the last. */
static uint64_t queue_add(struct bf_queue *queue, struct bf_packet *first, struct bf_packet *last,
                          uint32_t count)
{
    bf_lock_acquire_short(&queue->lock);
    bf_label_attach(queue, first);
    uint64_t target = atomic_fetch_add(&queue->appended, count);
    for (struct bf_packet *p = first; p; p = p->next)
        p->place = ++target;
    if (queue->tail)
        queue->tail->next = first;
    else
        queue->head = first;
    queue->tail = last;
    bf_lock_release(&queue->lock);

    atomic_store(&queue->engine->dirty, 1); /* */
    bf_watch_notice(queue->scheduler->watch);
    return target;
}

static void queue_prepare(struct bf_queue *queue, struct bf_packet *first)
{
    bool logged = bf_log_is_enabled(queue->log);
    bool ordered = atomic_load_explicit(&queue->scheduler->submits_ring, memory_order_relaxed);
    for (struct bf_packet *p = first; p; p = p->next) {
        if (ordered)
            p->order = atomic_fetch_add(&queue->engine->appended, 1) + 1;
        bf_packet_take_targets(p);
        if (p->kind == BF_PACKET_BIND_SPARSE)
            atomic_fetch_add(&queue->engine->binds, 1);
        bf_watch_appended(queue, p);
        if (p->kind != BF_PACKET_SIGNAL && p->kind != BF_PACKET_WAIT)
            bf_window_submitted(&queue->engine->window, atomic_load(&queue->level)); /* PW-1 */
        if (p->kind == BF_PACKET_WAIT || !p->wait_count) /* the caller has set these */
            continue;
        /* A log may be created before the packet is handed over; it then knows when the work before
         * the packet ends. */
        bool idle = logged && p == first && bf_queue_log_is_idle(queue);
        p->log_when = (uint8_t)(idle ? BF_LOG_AT_NS : BF_LOG_AFTER_LAST);
        p->called_ns = bf_now_ns();
    }
}

/* May somebody wait for one of the packets? They aren't on the queue's list yet. */
static bool packets_signal(const struct bf_packet *packet)
{
    while (packet && !packet->signal_count && !packet->update)
        packet = packet->next;
    return packet != NULL;
}

/* What a call has submitted, as far as it has to know when that is on the list. */
struct submitted {
    uint64_t before; /* bf_scheduler.released, then */
    bool held; /* by a wait of its own: the call need not wait for a pump that finds the same */
    bool signals;
    bool names; /* a fence that the program may wait for past Belfry (PW-7) */
};

static struct submitted submitted_of(struct bf_queue *queue, const struct bf_packet *first)
{
    return (struct submitted){
        .before = atomic_load(&queue->scheduler->released),
        .signals = packets_signal(first),
        .names = bf_inherit_names(queue->scheduler, first),
    };
}

/* Hands over what may go, and waits as a call that submits has to. */
static void queue_hand_over(struct bf_queue *queue, uint64_t target,
                            const struct submitted *submitted)
{
    uint64_t engines = bf_engine_bit(queue->engine);
    if (submitted->signals && atomic_load(&queue->scheduler->windows))
        engines |= bf_inherit_appended(queue);
    bf_engines_pump(queue->scheduler, engines);
    if (!submitted->held)
        bf_queue_wait_accepted(queue, target);
    if (submitted->names)
        bf_windows_flush_named(queue->scheduler, queue);
    bf_scheduler_wait_released(queue->scheduler, submitted->before);
}

void bf_queue_append_chain(struct bf_queue *queue, struct bf_packet *first, struct bf_packet *last,
                           uint32_t count)
{
    struct submitted submitted = submitted_of(queue, first);
    queue_prepare(queue, first);
    enum bf_side side;
    submitted.held =
        !bf_queue_has_backlog(queue) && /* (AC-1) */
        (first->kind == BF_PACKET_WAIT ||
         bf_packet_obstacle(queue->scheduler, first, bf_outside_rule(queue, first), &side));
    queue_hand_over(queue, queue_add(queue, first, last, count), &submitted);
}

void bf_queue_append_deferred(struct bf_queue *queue, struct bf_packet *first,
                              struct bf_packet *last, uint32_t count)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    const struct submitted submitted = submitted_of(queue, first);
    bf_deferral_begin(scheduler);
    queue_prepare(queue, first);
    uint64_t target = queue_add(queue, first, last, count);
    if (submitted.signals &&
        atomic_load(&scheduler->windows)) /* of its own engine the thread takes care */
        bf_engines_pump(scheduler, bf_inherit_appended(queue) & ~bf_engine_bit(queue->engine));
    bool may = bf_deferral_may(scheduler); /* DF-2 */
    if (!may || !scheduler->doorbell_extension->ring(queue->engine))
        queue_hand_over(queue, target, &submitted);
}

void bf_queue_append(struct bf_queue *queue, struct bf_packet *packet)
{
    packet->next = NULL;
    bf_queue_append_chain(queue, packet, packet, 1);
}

void bf_queue_free_packets(struct bf_queue *queue)
{
    /* Packets are left only if a program destroys its device with work outstanding. */
    while (queue->head) {
        struct bf_packet *next = queue->head->next;
        bf_vkfence_release(queue->head->fence);
        bf_packet_free(queue->head);
        queue->head = next;
    }
    while (queue->spares) {
        struct bf_packet *next = queue->spares->next;
        free(queue->spares);
        queue->spares = next;
    }
    bf_label_release(queue->labels);
    queue->labels = NULL;
}

VkResult bf_queue_wait_handed_over(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    uint64_t target = atomic_load(&queue->appended);
    if (atomic_load(&queue->finished) < target) {
        uint32_t ticket = bf_signpost_enter(&scheduler->progress);
        bool timed_out = false;
        while (atomic_load(&queue->finished) < target && !bf_scheduler_is_lost(scheduler))
            ticket = bf_scheduler_sleep(scheduler, ticket, UINT64_MAX, &timed_out);
        bf_signpost_leave(&scheduler->progress);
    }
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_SUCCESS;
}

VkQueue bf_queue_handle(const struct bf_queue *queue)
{
    return queue->engine->base.handle;
}

uint32_t bf_queue_trace_id(const struct bf_queue *queue)
{
    return queue->trace_id;
}
