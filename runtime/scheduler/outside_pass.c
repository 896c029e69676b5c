/* SPDX-License-Identifier: MIT */
/* What a present, or an export, needs in spite of waits for outside goes to the driver now, in an order
 * in which no VkQueue stands still (OW-5). */
#include <stdlib.h>

#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/outside.h"
#include "scheduler/scheduler.h"

static bool packet_signals(const struct bf_packet *packet, const struct bf_semaphore *sem,
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
                         : packet_signals(packet, sought->sem, sought->value, &value) &&
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

/* The packet's number among those that were appended to its queue, whose lock is held. */
static uint64_t queue_number(struct bf_queue *queue, const struct bf_packet *packet)
{
    uint64_t number = atomic_load(&queue->appended);
    for (const struct bf_packet *p = packet->next; p; p = p->next)
        number--;
    return number;
}

/* Lets the queue's marked packets go. */
static void queue_pass(struct bf_queue *queue)
{
    bool any = false;
    bf_lock_acquire(&queue->lock);
    for (struct bf_packet *p = queue->head; p && p->marked; p = p->next)
        any = !atomic_exchange(&p->passes_outside, true) || any;
    bf_lock_release(&queue->lock);
    if (!any)
        return;
    /* A pump that has blocked the queue before it could see the mark has left the batch lock. */
    bf_lock_acquire(&queue->engine->batch_lock);
    bf_semaphore_unblock(queue);
    bf_lock_release(&queue->engine->batch_lock);
    atomic_store(&queue->engine->dirty, 1);
}

/* Of the packets from that one on: the least signal of the semaphore that is at least 'target', if it is less than
 * what was found before. */
static void packets_look(const struct bf_packet *packet, const struct bf_semaphore *sem,
                         uint64_t target, bool *any, uint64_t *least)
{
    for (; packet; packet = packet->next) {
        uint64_t value;
        if (packet_signals(packet, sem, target, &value) && (!*any || value < *least)) {
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

/* The same of what is accepted and not grounded. What left its queue before the held ones were looked at
 * is in its engine's list by now, or grounded: all of that is under one hold of the batch lock. */
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

/* The held signal that brings the semaphore to 'target'; false: none does. One that is accepted may,
 * though it isn't grounded: held ones behind it have no part in that. */
static bool scheduler_signal_to_come(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                     uint64_t target, uint64_t *value)
{
    uint64_t listed = 0;
    return scheduler_held_signal(scheduler, sem, target, value) &&
           !(scheduler_listed_signal(scheduler, sem, target, &listed) && listed < *value) &&
           atomic_load(&sem->reached[BF_FOR_WAIT]) < target;
}

/* What something waits for, directly or because what signals that does. */
struct chain {
    /* Their semaphores are referenced; 'inside' is the key of who signals, if he is held. */
    struct bf_sync *links;
    uint32_t count, room;
    uint64_t own; /* the key of the packet that waits: it is not behind itself; 0: none */
    /* Is one of them that the semaphore reaches this? Then it is followed as far as is certain. NULL:
     * that isn't asked. */
    const struct bf_semaphore *aim;
    uint64_t aim_value;
    bool met;
};

static void chain_free(struct chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        bf_semaphore_release(chain->links[i].sem);
    free(chain->links);
}

/* For want of memory some aren't followed: then a present may wait for somebody outside. */
static bool chain_has_room(struct chain *chain)
{
    if (chain->count < chain->room)
        return true;
    const uint32_t room = chain->room ? 2 * chain->room : 16;
    struct bf_sync *links = realloc(chain->links, room * sizeof *links);
    if (!links)
        return false;
    chain->links = links;
    chain->room = room;
    return true;
}

static void chain_add(struct chain *chain, struct bf_semaphore *sem, uint64_t target)
{
    if (!sem || atomic_load(&sem->reached[BF_FOR_WAIT]) >= target)
        return;
    chain->met = chain->met || (sem == chain->aim && target >= chain->aim_value);
    for (uint32_t i = 0; i < chain->count; i++) {
        if (chain->links[i].sem == sem && chain->links[i].target == target)
            return;
    }
    if (!chain_has_room(chain))
        return;
    bf_semaphore_reference(sem);
    chain->links[chain->count++] = (struct bf_sync){.sem = sem, .target = target};
}

static void chain_add_waits(struct chain *chain, const struct bf_packet *packet)
{
    for (uint32_t i = 0; i < packet->wait_count; i++)
        chain_add(chain, packet->waits[i].sem, packet->waits[i].target);
}

/* Adds what the queue's packets wait for, up to the one that is sought, and marks them unless there is
 * an aim. Returns its key; 0: the queue has none like that, or only behind the chain's own packet. */
static uint64_t queue_follow(struct bf_queue *queue, const struct sought *sought,
                             struct chain *chain)
{
    uint64_t key = 0;
    bf_lock_acquire(&queue->lock);
    struct bf_packet *last = queue_find_sought(queue, sought);
    if (last)
        key = bf_outside_key(queue, queue_number(queue, last));
    if (bf_outside_key(queue, 0) == bf_outside_queue_key(chain->own) && key >= chain->own)
        key = 0;
    for (struct bf_packet *p = queue->head; key; p = p->next) {
        chain_add_waits(chain, p);
        p->marked = p->marked || !chain->aim;
        if (p == last)
            break;
    }
    bf_lock_release(&queue->lock);
    return key;
}

/* The same of what the engine has accepted that isn't grounded. */
static void engine_follow(struct bf_engine *engine, const struct sought *sought,
                          struct chain *chain)
{
    bf_lock_acquire(&engine->batch_lock);
    const struct bf_packet *last = engine->outside.first;
    while (last && !packet_is_sought(last, sought))
        last = last->next;
    for (const struct bf_packet *p = engine->outside.first; last; p = p->next) {
        chain_add_waits(chain, p);
        if (p == last)
            break;
    }
    bf_lock_release(&engine->batch_lock);
}

static bool signal_is_behind(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target);

/* Is it this signal that brings the semaphore to 'target', the least from here that can? Values grow: one
 * that is equal is. A lesser one from outside may be before a larger one. */
static bool signal_brings_it(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target, uint64_t value, const struct chain *chain)
{
    if (value == target)
        return true;
    if (chain->aim && (bf_semaphore_is_outside(sem) || atomic_load(&sem->fences)))
        return sem == chain->aim && target == chain->aim_value;
    if (!bf_semaphore_is_outside(sem))
        return true;
    /* What has come meanwhile isn't followed any more: that tells nothing. */
    return !signal_is_behind(scheduler, sem, target) &&
           !bf_semaphore_ready(scheduler, sem, BF_FOR_WAIT, target, BF_WAIT_GROUNDED);
}

/* Adds what the one waits for who brings the semaphore to 'target'. Returns his key, if he is held; else
 * 0. */
static uint64_t scheduler_follow(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                                 uint64_t target, struct chain *chain)
{
    struct sought sought = {.sem = sem};
    const bool held = scheduler_signal_to_come(scheduler, sem, target, &sought.value);
    if (!held && !scheduler_listed_signal(scheduler, sem, target, &sought.value))
        return 0;
    /* A lesser one may have come between the looks, and not be there any more. */
    if (atomic_load(&sem->reached[BF_FOR_WAIT]) >= target ||
        !signal_brings_it(scheduler, sem, target, sought.value, chain))
        return 0;
    for (uint32_t i = 0; held && i < scheduler->queue_count; i++) {
        const uint64_t key = queue_follow(&scheduler->queues[i], &sought, chain);
        if (key)
            return key;
    }
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        engine_follow(&scheduler->engines[i], &sought, chain);
    return 0;
}

/* Is the signal from here, the least that is at least 'target', given only once the semaphore has reached
 * that? Then somebody outside is the one who brings it there. */
static bool signal_is_behind(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target)
{
    struct chain chain = {0};
    chain_add(&chain, sem, target);
    chain.aim = sem;
    chain.aim_value = target;
    for (uint32_t i = 0; i < chain.count && !chain.met; i++)
        scheduler_follow(scheduler, chain.links[i].sem, chain.links[i].target, &chain);
    chain_free(&chain);
    return chain.met;
}

/* Follows the chain to its end, and marks who is held. */
static void chain_follow(struct chain *chain, struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        struct bf_semaphore *sem = chain->links[i].sem;
        const uint64_t target = chain->links[i].target;
        if (sem->timeline && atomic_load(&scheduler->windows)) /* command queues may, too */
            bf_inherit_flush_signal(scheduler, sem, target);
        const uint64_t key = scheduler_follow(scheduler, sem, target, chain);
        atomic_store(&chain->links[i].inside, key);
    }
}

/* The next marked packet of the queue's that nobody has followed yet: begins its chain. */
static bool queue_next_chain(struct bf_queue *queue, struct chain *chain)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet *packet = queue->head;
    while (packet && packet->marked && packet->followed)
        packet = packet->next;
    const bool any = packet && packet->marked;
    if (any) {
        packet->followed = true;
        chain->own = bf_outside_key(queue, queue_number(queue, packet));
        chain_add_waits(chain, packet);
    }
    bf_lock_release(&queue->lock);
    return any;
}

/* Keeps those who are held. */
static void chain_keep_held(struct chain *chain)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < chain->count; i++) {
        if (atomic_load(&chain->links[i].inside))
            chain->links[count++] = chain->links[i];
        else
            bf_semaphore_release(chain->links[i].sem);
    }
    chain->count = count;
}

/* The packet whose chain it is goes behind them; if it has gone before it was let go by a mark, it didn't
 * have to. */
static void queue_put_chain(struct bf_queue *queue, struct chain *chain)
{
    chain_keep_held(chain);
    bf_lock_acquire(&queue->lock);
    struct bf_packet *packet = queue->head;
    uint64_t key = packet ? bf_outside_key(queue, queue_number(queue, packet)) : 0;
    for (; packet && key < chain->own; key++)
        packet = packet->next;
    if (key != chain->own)
        packet = NULL;
    if (packet) {
        packet->behind = chain->links;
        packet->behind_count = chain->count;
        *chain = (struct chain){0};
    }
    bf_lock_release(&queue->lock);
    chain_free(chain);
}

/* Marks what the marked packets depend on, until nothing is left to mark, and lets all of it go. */
static void scheduler_pass(struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->queue_count;) {
        struct chain chain = {0};
        if (!queue_next_chain(&scheduler->queues[i], &chain)) {
            i++;
            continue;
        }
        chain_follow(&chain, scheduler);
        queue_put_chain(&scheduler->queues[i], &chain);
        i = 0; /* any queue's may have been marked */
    }
    for (uint32_t i = 0; i < scheduler->queue_count; i++)
        queue_pass(&scheduler->queues[i]);
}

static bool link_is_over(struct bf_scheduler *scheduler, const struct bf_sync *link)
{
    return atomic_load(&link->sem->reached[BF_FOR_WAIT]) >= link->target ||
           bf_outside_has_passed(scheduler, atomic_load(&link->inside));
}

static bool chain_is_over(const struct chain *chain, struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        if (!link_is_over(scheduler, &chain->links[i]))
            return false;
    }
    return true;
}

static void chain_wait(const struct chain *chain, struct bf_scheduler *scheduler)
{
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    while (!chain_is_over(chain, scheduler) && !bf_scheduler_is_lost(scheduler))
        ticket = bf_scheduler_sleep(scheduler, ticket, UINT64_MAX, &timed_out); /* L-5 */
    bf_signpost_leave(&scheduler->progress);
}

/* pass_lock is held over marking: what another has marked goes only when all that it waits for has been
 * followed. */
void bf_outside_pass_semaphore(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target)
{
    struct chain chain = {0};
    bf_lock_acquire(&scheduler->pass_lock);
    chain_add(&chain, sem, target);
    chain_follow(&chain, scheduler);
    scheduler_pass(scheduler);
    bf_lock_release(&scheduler->pass_lock);
    bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
    chain_keep_held(&chain);
    chain_wait(&chain, scheduler);
    chain_free(&chain);
}

void bf_outside_pass_fence(struct bf_scheduler *scheduler, const struct bf_vkfence *fence)
{
    const struct sought sought = {.fence = fence};
    struct chain chain = {0};
    bf_lock_acquire(&scheduler->pass_lock);
    for (uint32_t i = 0; i < scheduler->queue_count; i++)
        queue_follow(&scheduler->queues[i], &sought, &chain);
    scheduler_pass(scheduler);
    bf_lock_release(&scheduler->pass_lock);
    bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
    chain_free(&chain);
}
