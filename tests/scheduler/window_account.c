/* SPDX-License-Identifier: MIT */
/* What a priority window counts as in flight (scheduler/window.h), alone: the engine's epochs are the
 * test's own, and nothing is ever pumped. */
#include "support/test.h"

#include "scheduler/cost.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/scheduler.h"
#include "scheduler/waker.h"

static uint64_t completed_epoch;

VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *engine, uint64_t *epoch)
{
    (void)engine;
    *epoch = completed_epoch;
    return VK_SUCCESS;
}

bool bf_gpu_engine_is_over(struct bf_gpu_engine *engine, uint64_t epoch)
{
    (void)engine;
    return epoch <= completed_epoch;
}

bool bf_semaphore_ready(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule)
{
    return true;
}

bool bf_waker_ensure(struct bf_engine *engine)
{
    return false;
}

void bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns)
{
}

uint64_t bf_inherit_flush(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    return 0;
}

bool bf_engine_pump_taking_over(struct bf_engine *engine)
{
    return true;
}

/* More than the account has entries for, as when packets become overdue behind work that doesn't end;
 * of some nothing is known. All of it is taken out again. */
TEST(what_is_complete_is_in_flight_no_more)
{
    static struct bf_scheduler scheduler;
    static struct bf_engine engine = {.scheduler = &scheduler};
    static struct bf_queue queues[2] = {{.scheduler = &scheduler, .level = BF_LEVEL_NORMAL},
                                        {.scheduler = &scheduler, .level = BF_LEVEL_NORMAL}};
    const struct bf_window *window = &engine.window;
    atomic_store(&engine.window.top, BF_LEVEL_HIGH);
    for (uint64_t round = 0; round < 3; round++) {
        const uint64_t packets = BF_WINDOW_ENTRIES / 2 + round * BF_WINDOW_ENTRIES;
        bf_window_look(&engine);
        for (uint64_t i = 1; i <= packets; i++) {
            struct bf_packet packet = {.windowed = true,
                                       .epoch = completed_epoch + i,
                                       .cost_ns = i % 5 ? i : BF_COST_UNKNOWN};
            bf_window_accepted(&engine, &queues[i % 3 == 0], &packet);
        }
        assert_int_equal(window->packets, packets);
        assert_true(window->count <= BF_WINDOW_ENTRIES);
        completed_epoch += packets - 1;
        bf_window_look(&engine);
        assert_true(window->packets >= 1);
        completed_epoch += 1;
        bf_window_look(&engine);
        assert_int_equal(window->packets, 0);
        assert_int_equal(window->unknown, 0);
        assert_int_equal(window->sum_ns, 0);
        assert_int_equal(window->count, 0);
    }
}
