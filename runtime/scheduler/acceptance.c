/* SPDX-License-Identifier: MIT */
/* The waits of calls that submit and of calls that set packets free, until the driver has these. */
#include "scheduler/acceptance.h"

#include "base/clock.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"

static bool queue_is_settled(struct bf_queue *queue, uint64_t target)
{
    return atomic_load(&queue->finished) >= target || atomic_load(&queue->blocked) ||
           atomic_load(&queue->windowed) || atomic_load(&queue->preempted) ||
           bf_queue_is_stopped(queue) || bf_scheduler_is_lost(queue->scheduler);
}

void bf_queue_wait_accepted(struct bf_queue *queue, uint64_t target)
{
    struct bf_engine *engine = queue->engine;
    if (queue_is_settled(queue, target))
        return;
    /* Without spinning first: on few cores that keeps the driver's own threads from running. */
    atomic_fetch_add(&engine->takers, 1);
    uint32_t ticket = bf_signpost_enter(&engine->progress);
    bool timed_out = false;
    while (!queue_is_settled(queue, target)) {
        if (atomic_load(&engine->dirty) && bf_engine_pump_if_free(engine))
            continue;
        const struct timespec until = bf_timespec(bf_now_ns() + BF_SCHEDULER_LOOK_NS);
        timed_out = false;
        ticket = bf_signpost_sleep(&engine->progress, ticket, &until, &timed_out);
        if (timed_out) /* L-5: the call that is waited for may be stuck */
            bf_scheduler_ask_lost(engine->scheduler);
    }
    bf_signpost_leave(&engine->progress);
    atomic_fetch_sub(&engine->takers, 1);
    bf_engine_recheck(engine, 0); /* a pump may have counted on this taker */
}

/* Is a pump at work on the engine, or needed? 'dirty' is read first: a pump sets 'pumping' before
 * it clears 'dirty'. */
static bool engine_is_at_work(struct bf_engine *engine)
{
    return atomic_load(&engine->dirty) || atomic_load(&engine->pumping);
}

/* On the engines of the mask whatever has been set free, and on the others since 'before'. */
static void scheduler_hand_over(struct bf_scheduler *scheduler, uint64_t engines, uint64_t before)
{
    /* What had been set free when 'released' was read is on an engine that is at work then, or has
     * been handed over. Once that engine's lock has been had and released, it has been, and what it
     * has set free in turn has been counted. */
    uint64_t released;
    bool left;
    do {
        left = false;
        released = atomic_load(&scheduler->released);
        for (uint32_t i = 0; i < scheduler->engine_count; i++) {
            struct bf_engine *engine = &scheduler->engines[i];
            if (!(engines & bf_engine_bit(engine)) && atomic_load(&engine->released) <= before)
                continue;
            if (engine_is_at_work(engine) && !bf_engine_pump_taking_over(engine))
                left = true;
        }
    } while ((left || atomic_load(&scheduler->released) != released) &&
             !bf_scheduler_is_lost(scheduler));
}

void bf_scheduler_wait_released(struct bf_scheduler *scheduler, uint64_t before)
{
    const bool told = atomic_load_explicit(&scheduler->seen_outside, memory_order_relaxed) ||
                      atomic_load_explicit(&scheduler->names_fences, memory_order_relaxed);
    if (told && atomic_load(&scheduler->released) != before)
        scheduler_hand_over(scheduler, 0, before);
}

void bf_scheduler_hand_over_released(struct bf_scheduler *scheduler, uint64_t engines)
{
    scheduler_hand_over(scheduler, engines, atomic_load(&scheduler->released));
}
