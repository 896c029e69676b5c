/* SPDX-License-Identifier: MIT */
/* Hands over what has been deferred, before calls that rest on it. */
#include "scheduler/deferral.h"

#include "scheduler/acceptance.h"

/* Has it packets that no wait holds? */
static bool engine_has_ready(struct bf_engine *engine)
{
    bool found = false;
    bf_lock_acquire(&engine->batch_lock);
    for (uint32_t i = 0; i < engine->queue_count && !found; i++)
        found =
            bf_queue_has_backlog(engine->queues[i]) && !atomic_load(&engine->queues[i]->blocked);
    bf_lock_release(&engine->batch_lock);
    return found;
}

void bf_deferral_flush(struct bf_scheduler *scheduler)
{
    if (!atomic_load(&scheduler->defers) || bf_scheduler_is_lost(scheduler))
        return;
    atomic_fetch_add(&scheduler->flushes, 1);
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        if (engine_has_ready(&scheduler->engines[i]))
            atomic_store(&scheduler->engines[i].dirty, 1);
    }
    bf_scheduler_hand_over_released(scheduler, UINT64_MAX);
    atomic_fetch_sub(&scheduler->flushes, 1);
}

void bf_deferral_hand_over(struct bf_scheduler *scheduler)
{
    if (atomic_load(&scheduler->defers))
        bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
}

void bf_deferral_end(struct bf_scheduler *scheduler)
{
    atomic_store(&scheduler->seen_outside, true);
    /* Also if it was set: another thread's flush may be under way. */
    bf_deferral_flush(scheduler);
    bf_windows_flush(scheduler);
}
