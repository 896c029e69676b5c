/* SPDX-License-Identifier: MIT */
/* Waits for outside: what engines have accepted behind them, and who waits for that. */
#include "scheduler/outside.h"

#include "scheduler/engine.h"
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
    atomic_fetch_add(&outside->listed, 1);
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

uint64_t bf_outside_wait_over(struct bf_engine *engine)
{
    const uint64_t listed = atomic_load(&engine->outside.listed);
    if (atomic_load(&engine->outside.count) > 0 && bf_engine_wait_by_fence(engine) != VK_SUCCESS)
        return UINT64_MAX;
    return listed;
}

bool bf_outside_is_over(const struct bf_engine *engine, uint64_t listed)
{
    return atomic_load(&engine->outside.count) == 0 || listed == UINT64_MAX ||
           atomic_load(&engine->outside.listed) == listed;
}

uint64_t bf_outside_drop(struct bf_engine *engine)
{
    uint64_t engines = 0;
    while (engine->outside.first)
        engines |= list_remove_first(engine);
    return engines;
}
