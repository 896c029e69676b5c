/* SPDX-License-Identifier: MIT */
/* What a present, or an export, needs in spite of waits for outside goes to the driver now, in an
 * order in which no VkQueue stands still (OW-5). */
#include <stdlib.h>

#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/outside.h"
#include "scheduler/scheduler.h"

static bool packet_brings(const struct bf_packet *packet, const struct bf_semaphore *sem,
                          uint64_t least, uint64_t *value)
{
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        const struct bf_sync *s = &packet->signals[i];
        if (s->sem == sem && bf_sync_signalled(s) >= least) {
            *value = bf_sync_signalled(s);
            return true;
        }
    }
    return false;
}

/* Which packet of a queue is looked for. */
struct sought {
    const struct bf_vkfence *fence; /* or */
    struct bf_semaphore *sem;
    uint64_t value;
};

static bool packet_is_sought(const struct bf_packet *packet, const struct sought *sought)
{
    uint64_t value;
    return sought->fence ? packet->fence == sought->fence
                         : packet_brings(packet, sought->sem, sought->value, &value) &&
                               value == sought->value;
}

/* NULL: the queue has none. Its lock is held. */
static struct bf_packet *queue_find_sought(struct bf_queue *queue, const struct sought *sought)
{
    struct bf_packet *packet = queue->head;
    while (packet && !packet_is_sought(packet, sought))
        packet = packet->next;
    return packet;
}

/* Of the packets from that one on: the least signal of the semaphore that is at least 'target', if
 * it is less than what was found before. */
static void packets_look(const struct bf_packet *packet, const struct bf_semaphore *sem,
                         uint64_t target, bool *any, uint64_t *least)
{
    for (; packet; packet = packet->next) {
        uint64_t value;
        if (packet_brings(packet, sem, target, &value) && (!*any || value < *least)) {
            *least = value;
            *any = true;
        }
    }
}

/* The least held signal of the semaphore that is at least 'target'; false: none is held. */
static bool scheduler_held_signal(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                  uint64_t target, uint64_t *least)
{
    bool any = false;
    for (uint32_t i = 0; i < scheduler->queue_count; i++) {
        struct bf_queue *queue = &scheduler->queues[i];
        bf_lock_acquire(&queue->lock);
        packets_look(queue->head, sem, target, &any, least);
        bf_lock_release(&queue->lock);
    }
    return any;
}

/* The same of what is accepted and not grounded. What left its queue before the held ones were
 * looked at is in its engine's list by now, or grounded: all of that is under one hold of the batch
 * lock. */
static bool scheduler_listed_signal(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                    uint64_t target, uint64_t *least)
{
    bool any = false;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        bf_lock_acquire(&engine->batch_lock);
        packets_look(engine->outside.first, sem, target, &any, least);
        bf_lock_release(&engine->batch_lock);
    }
    return any;
}

/* The least signal from here that is at least 'target', and whether it is held; false: there is
 * none. One that is accepted may bring the semaphore there, though it isn't grounded: held ones
 * behind it have no part in that. */
static bool scheduler_signal_to_come(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                     uint64_t target, uint64_t *value, bool *held)
{
    uint64_t listed = 0;
    *held = scheduler_held_signal(scheduler, sem, target, value);
    if (scheduler_listed_signal(scheduler, sem, target, &listed) && !(*held && *value < listed)) {
        *held = false;
        *value = listed;
        return true;
    }
    return *held;
}

bool bf_outside_signal_is_held(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                               uint64_t target)
{
    uint64_t value;
    bool held;
    return atomic_load(&sem->reached[BF_FOR_WAIT]) < target &&
           scheduler_signal_to_come(scheduler, sem, target, &value, &held) && held;
}

/* What something waits for, directly or because what signals that does. */
struct chain {
    struct bf_sync *waits; /* their semaphores are referenced */
    uint32_t count, room;
    const struct bf_queue *queue; /* of the packet that waits; NULL: it is none */
    uint64_t place;               /* it is not behind itself */
    bool held;                    /* one of them is, or may be, signalled by who is held, */
    bool marked;                  /* and that hadn't been marked */
    /* Can all of them be reached before the semaphore reaches this? Then it is followed through
     * held packets, too, but only as far as is certain, and none is marked. NULL: that isn't
     * asked. */
    const struct bf_semaphore *aim;
    uint64_t aim_value;
    bool met; /* not all of them */
};

static void chain_free(struct chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        bf_semaphore_release(chain->waits[i].sem);
    free(chain->waits);
}

static bool chain_has_room(struct chain *chain)
{
    if (chain->count < chain->room)
        return true;
    const uint32_t room = chain->room ? 2 * chain->room : 16;
    struct bf_sync *waits = realloc(chain->waits, room * sizeof *waits);
    if (!waits)
        return false;
    chain->waits = waits;
    chain->room = room;
    return true;
}

static void chain_add(struct chain *chain, struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                      uint64_t target)
{
    if (!sem)
        return;
    atomic_store(&sem->followed, &scheduler->progress); /* before it is looked at */
    if (atomic_load(&sem->reached[BF_FOR_WAIT]) >= target || atomic_load(&sem->destroyed))
        return;
    chain->met = chain->met || (sem == chain->aim && target >= chain->aim_value);
    for (uint32_t i = 0; i < chain->count; i++) {
        if (chain->waits[i].sem == sem && chain->waits[i].target == target)
            return;
    }
    /* Who isn't followed may be behind anybody. */
    if (!chain_has_room(chain)) {
        chain->held = true;
        return;
    }
    bf_semaphore_reference(sem);
    chain->waits[chain->count++] = (struct bf_sync){.sem = sem, .target = target};
}

static void chain_add_waits(struct chain *chain, struct bf_scheduler *scheduler,
                            const struct bf_packet *packet)
{
    for (uint32_t i = 0; i < packet->wait_count; i++)
        chain_add(chain, scheduler, packet->waits[i].sem, packet->waits[i].target);
}

/* What signals it is held in the queue, and not behind what waits: marks it and those before it,
 * or, with an aim, adds what they wait for. */
static bool queue_follow(struct bf_queue *queue, const struct sought *sought, struct chain *chain)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet *last = queue_find_sought(queue, sought);
    if (last && queue == chain->queue && last->place >= chain->place)
        last = NULL;
    for (struct bf_packet *p = queue->head; last; p = p->next) {
        if (chain->aim)
            chain_add_waits(chain, queue->scheduler, p);
        else {
            chain->marked = chain->marked || !p->marked;
            p->marked = true;
        }
        if (p == last)
            break;
    }
    bf_lock_release(&queue->lock);
    return last != NULL;
}

/* Adds what is waited for by what the engine has accepted, up to who signals it. */
static void engine_follow(struct bf_engine *engine, const struct sought *sought,
                          struct chain *chain)
{
    bf_lock_acquire(&engine->batch_lock);
    const struct bf_packet *last = engine->outside.first;
    while (last && !packet_is_sought(last, sought))
        last = last->next;
    for (const struct bf_packet *p = engine->outside.first; last && !chain->met; p = p->next) {
        chain_add_waits(chain, engine->scheduler, p);
        if (p == last)
            break;
    }
    bf_lock_release(&engine->batch_lock);
}

static bool signal_is_behind(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target);

enum bringer {
    BRINGS,     /* the signal does for certain, */
    BRINGS_NOT, /* or it doesn't, */
    MAY_BRING,  /* or one of outside that nobody here knows */
};

/* Is it this signal that brings the semaphore to 'target', the least from here that can? Values
 * grow: one that is equal is. A lesser one from outside may be before a larger one. */
static enum bringer signal_brings_it(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                                     uint64_t target, uint64_t value, const struct chain *chain)
{
    const bool outside = bf_semaphore_is_outside(sem);
    if (value == target)
        return BRINGS;
    if (chain->aim) {
        const bool aim = sem == chain->aim && target == chain->aim_value;
        return aim || !(outside || atomic_load(&sem->fences)) ? BRINGS : BRINGS_NOT;
    }
    /* What has come meanwhile isn't followed any more: that tells nothing. */
    if ((outside && signal_is_behind(scheduler, sem, target)) ||
        bf_semaphore_ready(scheduler, sem, BF_FOR_WAIT, target, BF_WAIT_GROUNDED))
        return BRINGS_NOT;
    return outside ? MAY_BRING : BRINGS;
}

/* Nobody has submitted what brings the semaphore to 'target': where nobody outside can, a present
 * doesn't depend on it, which has to come behind all that it depends on. */
static void chain_end(struct chain *chain, struct bf_semaphore *sem, uint64_t target)
{
    if (chain->aim && !bf_semaphore_is_outside(sem) && !atomic_load(&sem->fences) &&
        atomic_load(&sem->reached[BF_FOR_WAIT]) < target && !atomic_load(&sem->destroyed))
        chain->met = true;
}

/* Follows who brings the semaphore to 'target'. */
static void chain_follow_wait(struct chain *chain, struct bf_scheduler *scheduler,
                              struct bf_semaphore *sem, uint64_t target)
{
    struct sought sought = {.sem = sem};
    bool held, found = false;
    if (!scheduler_signal_to_come(scheduler, sem, target, &sought.value, &held)) {
        chain_end(chain, sem, target);
        return;
    }
    /* A lesser one may have come between the looks, and not be there any more. */
    if (atomic_load(&sem->reached[BF_FOR_WAIT]) >= target)
        return;
    const enum bringer brings = signal_brings_it(scheduler, sem, target, sought.value, chain);
    /* Who may be the one is neither taken along nor passed: that may be wrong both ways. */
    const bool unsure = brings == MAY_BRING && held;
    chain->held = chain->held || unsure;
    if (brings == BRINGS_NOT || unsure)
        return;
    for (uint32_t i = 0; held && !found && i < scheduler->queue_count; i++)
        found = queue_follow(&scheduler->queues[i], &sought, chain);
    chain->held = chain->held || found;
    for (uint32_t i = 0; !found && i < scheduler->engine_count; i++)
        engine_follow(&scheduler->engines[i], &sought, chain);
}

static void chain_follow(struct chain *chain, struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < chain->count && !chain->met; i++)
        chain_follow_wait(chain, scheduler, chain->waits[i].sem, chain->waits[i].target);
}

/* Is the signal from here, the least that is at least 'target', given only once the semaphore has
 * reached that, or not by anything that has been submitted? Then somebody outside is the one who
 * brings it there. */
static bool signal_is_behind(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target)
{
    struct chain chain = {0};
    chain_add(&chain, scheduler, sem, target);
    chain.aim = sem;
    chain.aim_value = target;
    chain_follow(&chain, scheduler);
    chain_free(&chain);
    return chain.met;
}

/* What is urgent with a present is so where command queues wait for it, too. */
static void chain_inherit(const struct chain *chain, struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < chain->count && atomic_load(&scheduler->windows); i++) {
        if (chain->waits[i].sem->timeline)
            bf_inherit_flush_signal(scheduler, chain->waits[i].sem, chain->waits[i].target);
    }
}

/* The chain of the queue's first packet that is marked and hasn't been let go yet. */
static bool queue_first_chain(struct bf_queue *queue, struct chain *chain)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet *packet = queue->head;
    while (packet && packet->marked && atomic_load(&packet->passes_outside))
        packet = packet->next;
    const bool any = packet && packet->marked;
    if (any) {
        chain->queue = queue;
        chain->place = packet->place;
        chain_add_waits(chain, queue->scheduler, packet);
    }
    bf_lock_release(&queue->lock);
    return any;
}

/* False: the packet in that place has gone by itself. */
static bool queue_let_go(struct bf_queue *queue, uint64_t place)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet *packet = queue->head;
    while (packet && packet->place < place)
        packet = packet->next;
    const bool there = packet && packet->place == place;
    for (; packet && packet->place == place; packet = packet->next) /* its parts, too (PE-6) */
        atomic_store(&packet->passes_outside, true);
    bf_lock_release(&queue->lock);
    return there;
}

/* Lets the queue's marked packets go, up to one that is behind somebody held; marks him, and what
 * is before him. */
static void queue_pass(struct bf_queue *queue, bool *marked)
{
    bool any = false;
    for (bool held = false; !held;) {
        struct chain chain = {0};
        if (!queue_first_chain(queue, &chain))
            break;
        chain_follow(&chain, queue->scheduler);
        chain_inherit(&chain, queue->scheduler);
        held = chain.held;
        *marked = *marked || chain.marked;
        any = (!held && queue_let_go(queue, chain.place)) || any;
        chain_free(&chain);
    }
    if (!any)
        return;
    /* A pump that has blocked the queue before it could see this has left the batch lock. */
    bf_lock_acquire(&queue->engine->batch_lock);
    bf_semaphore_unblock(queue);
    bf_lock_release(&queue->engine->batch_lock);
    atomic_store(&queue->engine->dirty, 1);
}

/* Lets go what may by now. True: what is sought is behind somebody who is held. */
static bool scheduler_pass(struct bf_scheduler *scheduler, const struct sought *sought)
{
    struct chain chain = {0};
    if (!bf_scheduler_acquire(scheduler, &scheduler->pass_lock))
        return false; /* it is lost */
    for (uint32_t i = 0; sought->fence && i < scheduler->queue_count; i++)
        chain.held = queue_follow(&scheduler->queues[i], sought, &chain) || chain.held;
    chain_add(&chain, scheduler, sought->sem, sought->value);
    chain_follow(&chain, scheduler);
    chain_inherit(&chain, scheduler);
    for (bool marked = true; marked;) {
        marked = false;
        for (uint32_t i = 0; i < scheduler->queue_count; i++)
            queue_pass(&scheduler->queues[i], &marked);
    }
    bf_lock_release(&scheduler->pass_lock);
    bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
    chain_free(&chain);
    return chain.held;
}

static void scheduler_pass_all(struct bf_scheduler *scheduler, const struct sought *sought)
{
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    while (scheduler_pass(scheduler, sought) && !bf_scheduler_is_lost(scheduler))
        ticket = bf_scheduler_sleep(scheduler, ticket, UINT64_MAX, &timed_out); /* L-5 */
    bf_signpost_leave(&scheduler->progress);
}

void bf_outside_pass_semaphore(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target)
{
    scheduler_pass_all(scheduler, &(struct sought){.sem = sem, .value = target});
}

void bf_outside_pass_fence(struct bf_scheduler *scheduler, const struct bf_vkfence *fence)
{
    scheduler_pass_all(scheduler, &(struct sought){.fence = fence});
}
