/* SPDX-License-Identifier: MIT */
/* Keeps timelines that the program has destroyed from a driver that may still look at them. */
#include "scheduler/retired.h"

#include "gpu/driver_bug.h"
#include "scheduler/driver.h"
#include "scheduler/engine.h"
#include "scheduler/last_submission.h"
#include "scheduler/scheduler.h"

static bool scheduler_retires(const struct bf_scheduler *scheduler)
{
    return scheduler->gpu.driver_bugs & BF_DRIVER_BUG_LATE_WAIT_POINTS;
}

bool bf_retired_notes(const struct bf_engine *engine)
{
    return scheduler_retires(engine->scheduler) && atomic_load(&engine->shared);
}

void bf_retired_note(struct bf_engine *engine, VkSemaphore semaphore)
{
    struct bf_semaphore *sem = bf_semaphore_find(engine->scheduler, semaphore);
    if (sem)
        atomic_fetch_or(&sem->used_on, bf_engine_bit(engine));
}

static void semaphore_destroy_retired(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    /* Retired timelines were created without the program's allocator (bf_semaphore_allocator). */
    scheduler->gpu.vk.vkDestroySemaphore(scheduler->gpu.handle, sem->handle, NULL);
    bf_semaphore_release(sem);
}

void bf_retired_add(struct bf_scheduler *scheduler, struct bf_semaphore *sem, uint64_t engines)
{
    struct bf_retired *retired = &scheduler->retired;
    engines &= UINT64_MAX >> (BF_MAX_ENGINES - scheduler->engine_count);
    if (!scheduler_retires(scheduler) || !engines) {
        semaphore_destroy_retired(scheduler, sem);
        return;
    }
    sem->kept_by = engines;
    bf_lock_acquire(&retired->lock);
    sem->next_retired = retired->first;
    retired->first = sem;
    retired->count++;
    bf_lock_release(&retired->lock);
}

struct bf_semaphore *bf_retired_take(struct bf_scheduler *scheduler)
{
    struct bf_retired *retired = &scheduler->retired;
    if (!scheduler_retires(scheduler))
        return NULL;
    bf_lock_acquire(&retired->lock);
    struct bf_semaphore *taken = retired->first;
    retired->first = NULL;
    retired->count = 0;
    bf_lock_release(&retired->lock);
    return taken;
}

void bf_retired_drained(struct bf_scheduler *scheduler, struct bf_semaphore *taken,
                        uint64_t engines)
{
    struct bf_semaphore *next;
    for (; taken; taken = next) {
        next = taken->next_retired;
        bf_retired_add(scheduler, taken, taken->kept_by & ~engines);
    }
}

/* RT-2; the engine's lock is held. Of a queue that has the engine to itself nobody but the driver
 * knows. */
static bool engine_is_through(struct bf_engine *engine)
{
    if (!atomic_load(&engine->shared))
        return false;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (!queue->is_command_queue &&
            (bf_signless_is(&queue->submitted) || bf_signless_is(&queue->presented) ||
             !bf_last_submission_is_reached(queue)))
            return false;
    }
    /* Each execution of a command queue has an epoch. */
    return !engine->base.epoch ||
           bf_gpu_engine_is_over(&engine->base, atomic_load(&engine->base.accepted_epoch));
}

void bf_retired_drain_if_many(struct bf_scheduler *scheduler)
{
    struct bf_retired *retired = &scheduler->retired;
    uint64_t engines = 0;
    bf_lock_acquire(&retired->lock);
    bool many =
        retired->count >= (retired->drain_at ? retired->drain_at : (uint32_t)BF_RETIRED_MANY);
    for (struct bf_semaphore *sem = retired->first; many && sem; sem = sem->next_retired)
        engines |= sem->kept_by;
    bf_lock_release(&retired->lock);
    if (!many)
        return;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        if (!(engines & bf_engine_bit(engine)) || !bf_lock_try(&engine->lock))
            continue;
        if (!atomic_load(&engine->presents_beside) && engine_is_through(engine))
            bf_driver_queue_wait_idle(engine); /* takes the list before it drains (RT-1) */
        bf_lock_release(&engine->lock);
        bf_engine_recheck(engine, 0);
    }
    bf_lock_acquire(&retired->lock);
    retired->drain_at = 2 * retired->count > BF_RETIRED_MANY ? 2 * retired->count : BF_RETIRED_MANY;
    bf_lock_release(&retired->lock);
}

void bf_retired_finish(struct bf_scheduler *scheduler)
{
    if (!scheduler_retires(scheduler))
        return;
    bf_driver_device_wait_idle(scheduler);
    bf_retired_drained(scheduler, bf_retired_take(scheduler), UINT64_MAX); /* the device is lost */
}
