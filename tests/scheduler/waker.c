/* SPDX-License-Identifier: MIT */
/* Who wishes for an epoch that had been reached by then, though not when he looked, is told so
 * (WK-1). */
#include "support/asleep.h"
#include "support/fixture.h"

#include "device/device.h"
#include "queue/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"
#include "scheduler/waker.h"

/* The waker's second thread has seen it, and waits for the next one; time ends no wait. */
TEST_AROUND(who_wishes_for_an_epoch_that_is_over_is_told, struct fixture, f, fixture_open,
            fixture_close, NULL)
{
    enum { EPOCHS = 4 };
    struct bf_scheduler *scheduler = bf_device_scheduler((struct bf_device *)f->bf);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    struct bf_engine *engine = bf_command_queue_from_handle(queue, __func__)->base.engine;
    struct bf_engine *others[3];
    for (uint32_t i = 0, n = 0; n < 3; i++)
        if (&scheduler->engines[i] != engine)
            others[n++] = &scheduler->engines[i];
    f->icd.pause();
    f->icd.endless_waits(true);
    for (uint64_t i = 1; i <= EPOCHS; i++) {
        execute(queue, write_word(f, queue, 0, 1));
        queue_signal(queue, fence, i);
    }
    const uint64_t last = atomic_load(&engine->base.accepted_epoch);
    assert_true(last >= EPOCHS && bf_waker_ensure(engine));
    assert_true(bf_waker_want(engine, last, others[0], UINT64_MAX));
    other_threads_await_sleep();
    assert_true(bf_waker_want(engine, last - 1, others[1], UINT64_MAX));
    other_threads_await_sleep();
    for (uint32_t i = 0; i < EPOCHS - 2; i++) {
        assert_true(f->icd.step(0, engine->base.index));
        f->icd.quiesce();
        other_threads_await_sleep();
    }
    assert_false(bf_waker_want(engine, last - 2, others[2], UINT64_MAX));
    f->icd.endless_waits(false);
    f->icd.resume();
    await_idle(queue);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
