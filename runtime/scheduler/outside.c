/* SPDX-License-Identifier: MIT */
/* Waits for outside: what engines have accepted behind them, and what a present needs in spite of
 * them. */
#include "scheduler/outside.h"

#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/scheduler.h"

/* The length from which a list is watched though nobody is blocked. */
#define LONG_LIST 64

enum bf_wait_rule bf_outside_rule(const struct bf_queue *queue, const struct bf_packet *packet)
{
    if (queue->is_command_queue)
        return BF_WAIT_GROUNDED;
    return !atomic_load(&queue->engine->shared) || atomic_load(&packet->passes_outside)
               ? BF_WAIT_NATIVE
               : BF_WAIT_GROUNDED;
}

static bool wait_is_grounded(struct bf_scheduler *scheduler, const struct bf_sync *wait,
                             uint64_t *engines)
{
    struct bf_semaphore *sem = wait->sem;
    if (!sem || atomic_load(&sem->reached[BF_FOR_WAIT]) >= wait->target)
        return true;
    if (!bf_semaphore_ready(scheduler, sem, BF_FOR_WAIT, wait->target, BF_WAIT_GROUNDED))
        return atomic_load(&sem->destroyed); /* while its value was asked for */
    if (!atomic_load(&sem->destroyed))
        *engines |= bf_semaphore_reach(sem, wait->target);
    return true;
}

/* The wait because of which the list's first packet isn't grounded, or NULL. */
static struct bf_sync *list_obstacle(struct bf_engine *engine, uint64_t *engines)
{
    struct bf_packet *packet = engine->outside.first;
    for (uint32_t i = 0; packet && i < packet->wait_count; i++) {
        if (!wait_is_grounded(engine->scheduler, &packet->waits[i], engines))
            return &packet->waits[i];
    }
    return NULL;
}

static uint64_t list_remove_first(struct bf_engine *engine)
{
    struct bf_outside *outside = &engine->outside;
    struct bf_packet *packet = outside->first;
    outside->first = packet->next;
    if (!outside->first)
        outside->last = NULL;
    uint64_t engines = bf_packet_grounded(packet);
    bf_packet_free(packet);
    if (atomic_fetch_sub(&outside->count, 1) == 1)
        atomic_store(&outside->watched, false);
    return engines;
}

/* The batch lock is held. */
static uint64_t list_settle(struct bf_engine *engine)
{
    struct bf_outside *outside = &engine->outside;
    struct bf_sync *obstacle;
    uint64_t engines = 0;
    while (outside->first) {
        obstacle = list_obstacle(engine, &engines);
        if (!obstacle)
            engines |= list_remove_first(engine);
        else if (!atomic_load(&outside->watched) || atomic_load(&outside->blocked) ||
                 bf_semaphore_block_engine(engine->scheduler, obstacle->sem, obstacle->target,
                                           engine, &engines))
            break;
    }
    return engines;
}

uint64_t bf_outside_settle(struct bf_engine *engine)
{
    if (atomic_load(&engine->outside.count) == 0)
        return 0;
    bf_lock_acquire(&engine->batch_lock);
    uint64_t engines = list_settle(engine);
    bf_lock_release(&engine->batch_lock);
    return engines;
}

bool bf_outside_list(struct bf_engine *engine, struct bf_packet *packet, uint64_t *engines)
{
    struct bf_outside *outside = &engine->outside;
    bool wanted = false;
    if (!packet->ungrounded && (!outside->first || packet->signal_count == 0))
        return false;
    packet->next = NULL;
    if (outside->last)
        outside->last->next = packet;
    else
        outside->first = packet;
    outside->last = packet;
    uint32_t count = atomic_fetch_add(&outside->count, 1) + 1; /* OW-3: before 'ahead' */
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_sync *s = &packet->signals[i];
        if (!s->sem)
            continue;
        *engines |= bf_semaphore_accept(s->sem, bf_sync_signalled(s));
        wanted = wanted || atomic_load(&s->sem->waiter_count) > 0;
    }
    if (wanted || count >= LONG_LIST) {
        atomic_store(&outside->watched, true);
        atomic_store(&engine->dirty, 1);
        *engines |= bf_engine_bit(engine);
    }
    return true;
}

bool bf_outside_may_go(struct bf_engine *engine, struct bf_queue *queue, uint64_t *engines)
{
    struct bf_sync *obstacle;
    if (engine->outside.in_batch)
        return false;
    while (engine->outside.first) {
        obstacle = list_obstacle(engine, engines);
        if (!obstacle)
            *engines |= list_remove_first(engine);
        else if (bf_semaphore_block(engine->scheduler, obstacle->sem, BF_FOR_WAIT, obstacle->target,
                                    BF_WAIT_GROUNDED, queue, engines))
            return false;
    }
    return true;
}

uint64_t bf_outside_watch(struct bf_scheduler *scheduler)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        if (atomic_load(&engine->outside.count) == 0 ||
            atomic_exchange(&engine->outside.watched, true))
            continue;
        atomic_store(&engine->dirty, 1);
        engines |= bf_engine_bit(engine);
    }
    return engines;
}

void bf_outside_wait_over(struct bf_engine *engine)
{
    if (atomic_load(&engine->outside.count) > 0)
        bf_engine_wait_by_fence(engine);
}

uint64_t bf_outside_drop(struct bf_engine *engine)
{
    uint64_t engines = 0;
    while (engine->outside.first)
        engines |= list_remove_first(engine);
    return engines;
}

/* Keys: the queue's index, and one, above the packet's number. */
#define KEY_SHIFT 48

uint64_t bf_outside_key(const struct bf_queue *queue, uint64_t number)
{
    return (uint64_t)(queue - queue->scheduler->queues + 1) << KEY_SHIFT |
           (number & ((UINT64_C(1) << KEY_SHIFT) - 1));
}

bool bf_outside_has_passed(struct bf_scheduler *scheduler, uint64_t key)
{
    const struct bf_queue *queue = &scheduler->queues[(key >> KEY_SHIFT) - 1];
    return atomic_load(&queue->passed) >= (key & ((UINT64_C(1) << KEY_SHIFT) - 1));
}

uint64_t bf_outside_passed(struct bf_queue *queue, struct bf_packet *packet)
{
    uint64_t engines = 0;
    atomic_store(&queue->passed, atomic_load(&queue->finished) + 1);
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        if (packet->signals[i].sem)
            engines |= bf_semaphore_look_again(packet->signals[i].sem);
    }
    return engines;
}

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

/* Marks the queue's packets up to the one that is sought. Returns its key; 0: it has none like that. */
static uint64_t queue_mark(struct bf_queue *queue, const struct sought *sought)
{
    uint64_t key = 0;
    bf_lock_acquire(&queue->lock);
    struct bf_packet *last = queue_find_sought(queue, sought);
    if (last)
        key = bf_outside_key(queue, queue_number(queue, last));
    for (struct bf_packet *p = queue->head; last; p = p->next) {
        p->marked = true;
        if (p == last)
            break;
    }
    bf_lock_release(&queue->lock);
    return key;
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

/* Returns the key of the held packet that signals it; 0: none does. */
static uint64_t scheduler_mark(struct bf_scheduler *scheduler, const struct sought *sought)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < scheduler->queue_count && !key; i++)
        key = queue_mark(&scheduler->queues[i], sought);
    return key;
}

/* What a held signal is behind: signals that are held, too. Those that don't fit aren't looked at. */
#define SIGNALS_BEFORE 64

struct before {
    const struct bf_semaphore *sem; /* has it reached 'target' before? */
    uint64_t target;
    uint32_t count;
    struct sought signals[SIGNALS_BEFORE]; /* the first is that of 'sem' itself */
};

/* Adds the signal by which a semaphore of this device alone reaches the value: the least that is to come,
 * since values grow. */
static void before_add(struct before *before, const struct bf_sync *wait)
{
    const struct sought sought = {.sem = wait->sem, .value = wait->target};
    if (!wait->sem || atomic_load(&wait->sem->reached[BF_FOR_WAIT]) >= wait->target ||
        bf_semaphore_is_outside(wait->sem) || atomic_load(&wait->sem->fences))
        return;
    for (uint32_t i = 0; i < before->count; i++) {
        if (before->signals[i].sem == sought.sem && before->signals[i].value == sought.value)
            return;
    }
    if (before->count == SIGNALS_BEFORE)
        return;
    bf_semaphore_reference(wait->sem);
    before->signals[before->count++] = sought;
}

/* Looks at what the queue's packets wait for, up to the one that is sought: is the semaphore there
 * before that? */
static bool queue_waits_before(struct bf_queue *queue, const struct sought *sought,
                               struct before *before)
{
    bool waits = false;
    bf_lock_acquire(&queue->lock);
    struct bf_packet *last = queue_find_sought(queue, sought);
    for (struct bf_packet *p = queue->head; last; p = p->next) {
        for (uint32_t i = 0; i < p->wait_count; i++) {
            const struct bf_sync *wait = &p->waits[i];
            waits = waits || (wait->sem == before->sem && wait->target >= before->target);
            before_add(before, wait);
        }
        if (p == last)
            break;
    }
    bf_lock_release(&queue->lock);
    return waits;
}

static bool signal_seems_behind(struct bf_scheduler *scheduler, struct before *before)
{
    for (uint32_t i = 0; i < before->count; i++) {
        struct sought sought = before->signals[i];
        if (!scheduler_signal_to_come(scheduler, sought.sem, sought.value, &sought.value))
            continue;
        for (uint32_t q = 0; q < scheduler->queue_count; q++) {
            if (queue_waits_before(&scheduler->queues[q], &sought, before))
                return true;
        }
    }
    return false;
}

/* Is the held signal, the least that is at least 'target', given only once the semaphore has reached
 * that? Then somebody outside is the one who brings it there. */
static bool signal_is_behind(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                             uint64_t target)
{
    struct before before = {
        .sem = sem, .target = target, .count = 1, .signals = {{.sem = sem, .value = target}}};
    bf_semaphore_reference(sem);
    const bool behind = signal_seems_behind(scheduler, &before);
    for (uint32_t i = 0; i < before.count; i++)
        bf_semaphore_release(before.signals[i].sem);
    return behind;
}

/* Marks what signals the semaphore from this device. Returns its key; 0: nobody does, or he would be too
 * late. */
static uint64_t scheduler_mark_signal(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                                      uint64_t target)
{
    struct sought sought = {.sem = sem};
    if (!scheduler_signal_to_come(scheduler, sem, target, &sought.value) ||
        (bf_semaphore_is_outside(sem) && signal_is_behind(scheduler, sem, target)))
        return 0;
    return scheduler_mark(scheduler, &sought);
}

/* The next wait of a marked packet that nobody has followed yet; its semaphore is referenced. */
static bool queue_next_wait(struct bf_queue *queue, struct bf_sync *wait)
{
    bool any = false;
    bf_lock_acquire(&queue->lock);
    for (struct bf_packet *p = queue->head; p && !any && p->marked; p = p->next) {
        while (p->waits_followed < p->wait_count && !any) {
            *wait = p->waits[p->waits_followed++];
            any = wait->sem && atomic_load(&wait->sem->reached[BF_FOR_WAIT]) < wait->target;
        }
    }
    if (any)
        bf_semaphore_reference(wait->sem);
    bf_lock_release(&queue->lock);
    return any;
}

/* The driver may not see the wait before its signal, which comes from this device, by that packet. */
static void queue_mark_inside(struct bf_queue *queue, const struct bf_sync *wait, uint64_t key)
{
    bf_lock_acquire(&queue->lock);
    for (struct bf_packet *p = queue->head; p && p->marked; p = p->next) {
        for (uint32_t i = 0; i < p->wait_count; i++) {
            if (p->waits[i].sem == wait->sem && p->waits[i].target == wait->target)
                atomic_store(&p->waits[i].inside, key);
        }
    }
    bf_lock_release(&queue->lock);
}

/* Marks what the marked packets depend on, until nothing is left to mark, and lets all of it go. */
static void scheduler_pass(struct bf_scheduler *scheduler)
{
    struct bf_sync wait;
    for (uint32_t i = 0; i < scheduler->queue_count;) {
        if (!queue_next_wait(&scheduler->queues[i], &wait)) {
            i++;
            continue;
        }
        if (atomic_load(&scheduler->windows)) /* a command queue may signal it, too */
            bf_inherit_flush_signal(scheduler, wait.sem, wait.target);
        uint64_t key = scheduler_mark_signal(scheduler, wait.sem, wait.target);
        if (key)
            queue_mark_inside(&scheduler->queues[i], &wait, key);
        bf_semaphore_release(wait.sem);
        i = 0; /* it may be held by any queue */
    }
    for (uint32_t i = 0; i < scheduler->queue_count; i++)
        queue_pass(&scheduler->queues[i]);
}

/* One call at a time: what another has marked goes only when all that it waits for has been followed. */
static void scheduler_pass_sought(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                                  uint64_t target, const struct bf_vkfence *fence)
{
    bf_lock_acquire(&scheduler->pass_lock);
    if (fence)
        scheduler_mark(scheduler, &(struct sought){.fence = fence});
    else
        scheduler_mark_signal(scheduler, sem, target);
    scheduler_pass(scheduler);
    bf_lock_release(&scheduler->pass_lock);
    bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
}

void bf_outside_pass_semaphore(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target)
{
    scheduler_pass_sought(scheduler, sem, target, NULL);
}

void bf_outside_pass_fence(struct bf_scheduler *scheduler, const struct bf_vkfence *fence)
{
    scheduler_pass_sought(scheduler, NULL, 0, fence);
}
