/* SPDX-License-Identifier: MIT */
/* Priority inheritance: from a queue that is blocked to the held packets that will set it free, and
 * on to what these wait for. */
#include "scheduler/inherit.h"

#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

/* Waits that are followed at once; those that don't fit, once these have been. */
#define ROOM 64

struct sought {
    const struct bf_semaphore *sem; /* or */
    const struct bf_fence *fence;
    VkSemaphore handle; /* the semaphore's, to which a fence may have been exported */
    uint64_t value;
};

static struct sought sought_semaphore(const struct bf_semaphore *sem, uint64_t value)
{
    return (struct sought){.sem = sem, .handle = sem->handle, .value = value};
}

struct inheritance {
    struct bf_scheduler *scheduler;
    uint8_t level;
    uint64_t engines;
    bool everything; /* is raised: no waits are followed */
    bool left_some;  /* a packet has waits that didn't fit */
    uint32_t count;
    struct sought sought[ROOM];
};

/* Adds the packet's waits from the first of those that are left. Its queue's lock is held. */
static void inheritance_seek_left(struct inheritance *in, struct bf_packet *packet)
{
    const bool for_fence = packet->kind == BF_PACKET_WAIT;
    const uint32_t waits = packet->wait_count + for_fence;
    for (; packet->unsought && in->count < ROOM; packet->unsought--) {
        const uint32_t i = waits - packet->unsought;
        if (i == packet->wait_count) {
            in->sought[in->count++] =
                (struct sought){.fence = packet->wait.fence, .value = packet->wait.node.key};
            continue;
        }
        const struct bf_sync *wait = &packet->waits[i];
        if (wait->sem && atomic_load(&wait->sem->reached[BF_FOR_WAIT]) < wait->target)
            in->sought[in->count++] = sought_semaphore(wait->sem, wait->target);
    }
    in->left_some = in->left_some || packet->unsought;
}

static void inheritance_seek(struct inheritance *in, struct bf_packet *packet)
{
    packet->unsought = packet->wait_count + (packet->kind == BF_PACKET_WAIT);
    inheritance_seek_left(in, packet);
}

/* '*progress': of the queue, before the packet (bf_update_value). */
static bool packet_signals(const struct bf_packet *packet, const struct sought *sought,
                           uint64_t *progress)
{
    const struct bf_update *update = packet->update;
    if (update && bf_update_value(update, packet->counted, progress) >= sought->value &&
        (sought->fence ? update->fence == sought->fence
                       : update->fence->exported == sought->handle))
        return true;
    for (uint32_t i = 0; i < packet->signal_count && sought->sem; i++) {
        const struct bf_sync *s = &packet->signals[i];
        if (s->sem == sought->sem && bf_sync_signalled(s) >= sought->value)
            return true;
    }
    return false;
}

/* The queue's packets up to 'last' have the level; its lock is held. */
static void inheritance_raise(struct inheritance *in, struct bf_queue *queue,
                              const struct bf_packet *last)
{
    bool raised = false;
    for (struct bf_packet *p = queue->head; p; p = p->next) {
        if (atomic_load(&p->level) < in->level) {
            atomic_store(&p->level, in->level);
            if (!in->everything)
                inheritance_seek(in, p);
            raised = true;
        }
        if (p == last)
            break;
    }
    if (!raised)
        return;
    atomic_store(&queue->engine->dirty, 1);
    in->engines |= bf_engine_bit(queue->engine);
}

/* Raises up to the first packet of the queue that signals what is sought. */
static void inheritance_look_in(struct inheritance *in, struct bf_queue *queue,
                                const struct sought *sought)
{
    uint64_t progress = bf_command_queue_progress(queue);
    bf_lock_acquire(&queue->lock);
    const struct bf_packet *last = queue->head;
    while (last && !packet_signals(last, sought, &progress))
        last = last->next;
    if (last)
        inheritance_raise(in, queue, last);
    bf_lock_release(&queue->lock);
}

/* Calls 'visit' for all queues. The list of command queues is the pending lock's, and what a signal
 * will update. */
static void queues_visit(struct bf_scheduler *scheduler,
                         void (*visit)(void *context, struct bf_queue *queue), void *context)
{
    for (uint32_t i = 0; i < scheduler->queue_count; i++)
        visit(context, &scheduler->queues[i]);
    for (struct bf_command_queue *q = scheduler->pending.queues; q; q = q->next)
        visit(context, &q->base);
}

struct look {
    struct inheritance *in;
    struct sought sought;
};

static void look_in(void *context, struct bf_queue *queue)
{
    struct look *look = context;
    if (atomic_load(&queue->level) < look->in->level)
        inheritance_look_in(look->in, queue, &look->sought);
}

static void seek_left_in(void *context, struct bf_queue *queue)
{
    struct inheritance *in = context;
    bf_lock_acquire(&queue->lock);
    for (struct bf_packet *p = queue->head; p; p = p->next)
        inheritance_seek_left(in, p);
    bf_lock_release(&queue->lock);
}

/* The pending lock is held: until it is released, nobody else's packets have waits left. */
static void inheritance_spread(struct inheritance *in)
{
    do {
        while (in->count) {
            struct look look = {in, in->sought[--in->count]};
            queues_visit(in->scheduler, look_in, &look);
        }
        if (!in->left_some)
            return;
        in->left_some = false;
        queues_visit(in->scheduler, seek_left_in, in);
    } while (in->count);
}

/* With what the queue's first packet waits for, if its level is above that one; else false. The
 * pending lock is held. */
static bool inheritance_begin_with(struct inheritance *in, struct bf_queue *queue, uint8_t above)
{
    bf_lock_acquire(&queue->lock);
    struct bf_packet *first = queue->head;
    if (first) {
        uint8_t level = atomic_load(&first->level), own = atomic_load(&queue->level);
        in->level = level > own ? level : own;
        if (in->level > above)
            inheritance_seek(in, first);
    }
    bf_lock_release(&queue->lock);
    return in->level > above;
}

void bf_inherit_from(struct bf_scheduler *scheduler, struct bf_queue *queue, uint64_t *engines)
{
    struct inheritance in = {.scheduler = scheduler};
    bf_lock_acquire(&scheduler->pending.lock);
    if (inheritance_begin_with(&in, queue, BF_LEVEL_NONE))
        inheritance_spread(&in);
    bf_lock_release(&scheduler->pending.lock);
    *engines |= in.engines;
}

struct blocked {
    struct bf_queue *signaller; /* what others wait for may be its; NULL: anybody's */
    uint64_t engines;
};

static void blocked_look_from(void *context, struct bf_queue *queue)
{
    struct blocked *blocked = context;
    struct inheritance in = {.scheduler = queue->scheduler};
    if (queue == blocked->signaller || !atomic_load(&queue->blocked))
        return;
    if (!inheritance_begin_with(&in, queue,
                                blocked->signaller ? atomic_load(&blocked->signaller->level)
                                                   : BF_LEVEL_NONE))
        return;
    inheritance_spread(&in);
    blocked->engines |= in.engines;
}

static uint64_t inherit_from_blocked(struct bf_scheduler *scheduler, struct bf_queue *signaller)
{
    struct blocked blocked = {signaller, 0};
    bf_lock_acquire(&scheduler->pending.lock);
    queues_visit(scheduler, blocked_look_from, &blocked);
    bf_lock_release(&scheduler->pending.lock);
    return blocked.engines;
}

uint64_t bf_inherit_appended(struct bf_queue *queue)
{
    return inherit_from_blocked(queue->scheduler, queue);
}

uint64_t bf_inherit_anew(struct bf_scheduler *scheduler)
{
    return inherit_from_blocked(scheduler, NULL);
}

static void flush_one(void *context, struct bf_queue *queue)
{
    struct inheritance *in = context;
    bf_lock_acquire(&queue->lock);
    /* Before one that passes are such alone: of many sparse binds in a row each looks at one. */
    if (queue->tail && atomic_load(&queue->tail->level) < in->level)
        inheritance_raise(in, queue, NULL);
    bf_lock_release(&queue->lock);
}

/* The pending lock is held. */
static bool packet_signals_named(const struct bf_packet *packet)
{
    const struct bf_update *update = packet->update;
    bool named = update && (update->fence->imported || update->fence->exported);
    for (uint32_t i = 0; i < packet->signal_count && !named; i++)
        named = packet->signals[i].sem && atomic_load(&packet->signals[i].sem->fences);
    return named;
}

static void flush_named(void *context, struct bf_queue *queue)
{
    struct inheritance *in = context;
    const struct bf_packet *last = NULL;
    bf_lock_acquire(&queue->lock);
    for (const struct bf_packet *p = queue->head; p; p = p->next)
        last = packet_signals_named(p) ? p : last;
    if (last)
        inheritance_raise(in, queue, last);
    bf_lock_release(&queue->lock);
}

static void add_engine_that_passes(void *context, struct bf_queue *queue)
{
    struct inheritance *in = context;
    bf_lock_acquire(&queue->lock);
    if (queue->head && atomic_load(&queue->head->level) == BF_LEVEL_PASSES)
        in->engines |= bf_engine_bit(queue->engine);
    bf_lock_release(&queue->lock);
}

/* Of the queue all, or of each what 'visit' raises. 'passing': engines count that have what another
 * thread has raised, too. */
static uint64_t flush(struct bf_scheduler *scheduler, struct bf_queue *queue,
                      void (*visit)(void *context, struct bf_queue *queue), bool passing)
{
    struct inheritance in = {.scheduler = scheduler,
                             .level = BF_LEVEL_PASSES,
                             .everything = !queue && visit == flush_one};
    bf_lock_acquire(&scheduler->pending.lock);
    if (queue)
        flush_one(&in, queue);
    else
        queues_visit(scheduler, visit, &in);
    inheritance_spread(&in);
    if (passing)
        queues_visit(scheduler, add_engine_that_passes, &in);
    bf_lock_release(&scheduler->pending.lock);
    return in.engines;
}

uint64_t bf_inherit_flush(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    return flush(scheduler, queue, flush_one, false);
}

uint64_t bf_inherit_flush_named(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    return flush(scheduler, queue, flush_named, true);
}

bool bf_inherit_names(struct bf_scheduler *scheduler, const struct bf_packet *first)
{
    if (!atomic_load_explicit(&scheduler->names_fences, memory_order_relaxed))
        return false;
    bf_lock_acquire(&scheduler->pending.lock);
    while (first && !packet_signals_named(first))
        first = first->next;
    bf_lock_release(&scheduler->pending.lock);
    return first != NULL;
}

uint64_t bf_inherit_flush_signal(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                 uint64_t target)
{
    struct inheritance in = {.scheduler = scheduler,
                             .level = BF_LEVEL_PASSES,
                             .count = 1,
                             .sought = {sought_semaphore(sem, target)}};
    bf_lock_acquire(&scheduler->pending.lock);
    inheritance_spread(&in);
    bf_lock_release(&scheduler->pending.lock);
    return in.engines;
}
