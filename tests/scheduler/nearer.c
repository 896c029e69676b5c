/* SPDX-License-Identifier: MIT */
/* A thread of Belfry's waits in the driver, whose waits can't be interrupted, and what comes before
 * is wanted (scheduler/waker.h, scheduler/watcher.h). Time ends no wait here: who is found by the
 * end of a slice alone never is. */
#include "flood.h"
#include "support/asleep.h"

#include <belfry/preemption.h>

static uint32_t engine_of(BfCommandQueue queue)
{
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)};
    assert_success(bfGetPreemptionStatus(queue, &status));
    return status.engineOrdinal;
}

/* Two VkQueues, 'near' and 'far', with a higher queue and lower ones each: what these wait for on
 * the other VkQueue goes to no driver before it is there. */
struct pair {
    BfCommandQueue high[2], low[2], other_low[2];
    uint32_t index[2]; /* of the VkQueues in their family */
};

static void pair_put(BfCommandQueue *queues, BfCommandQueue queue)
{
    const uint32_t engine = engine_of(queue);
    assert_in_range(engine, 0, 1);
    assert_null(queues[engine]);
    queues[engine] = queue;
}

static struct pair pair_make(struct fixture *f)
{
    struct pair p = {0};
    for (int i = 0; i < 2; i++)
        pair_put(p.high, high_of(f));
    for (int i = 0; i < 2; i++)
        pair_put(p.low, low_of(f));
    for (int i = 0; i < 2; i++)
        pair_put(p.other_low, low_of(f));
    f->icd.pause();
    execute(p.high[0], write_word(f, p.high[0], 0, 1));
    p.index[0] = f->icd.queue_depth(0, 1);
    p.index[1] = 1 - p.index[0];
    f->icd.resume();
    await_idle(p.high[0]);
    return p;
}

static uint64_t depth_of(struct fixture *f, const struct pair *p, int engine)
{
    return f->icd.queue_depth(0, p->index[engine]);
}

static void await_depth(struct fixture *f, const struct pair *p, int engine, uint64_t depth)
{
    while (depth_of(f, p, engine) < depth)
        sched_yield();
}

static void step_of(struct fixture *f, const struct pair *p, int engine)
{
    assert_true(f->icd.step(0, p->index[engine]));
    f->icd.quiesce();
}

static void end(struct fixture *f)
{
    f->icd.endless_waits(false);
    drain(f, 0);
}

/* WK-1, three times: for each epoch that is wanted before those that are waited for. */
FIXTURE_TEST(an_earlier_epoch_is_heard_of_beside_a_later_one)
{
    enum { EPOCHS = 3 };
    const struct pair p = pair_make(f);
    BfCommandQueue lows[EPOCHS] = {p.low[1], p.other_low[1]};
    BfFence fence = make_fence(f, 0);
    while (!lows[2] || engine_of(lows[2]) != 1)
        lows[2] = low_of(f);
    f->icd.pause();
    f->icd.endless_waits(true);
    for (uint64_t i = 1; i <= EPOCHS; i++) {
        execute(p.high[0], write_word(f, p.high[0], 0, 1));
        queue_signal(p.high[0], fence, i);
    }
    assert_int_equal(depth_of(f, &p, 0), EPOCHS);
    for (uint32_t i = 0; i < EPOCHS; i++) {
        queue_wait(lows[i], fence, EPOCHS - i);
        execute(lows[i], write_word(f, lows[i], i + 1, i + 2));
        other_threads_await_sleep();
    }
    for (uint32_t i = EPOCHS; i-- > 0;) {
        assert_int_equal(depth_of(f, &p, 1), 0);
        step_of(f, &p, 0);
        await_depth(f, &p, 1, 1);
        step_of(f, &p, 1);
        assert_int_equal(read_word(f, i + 1), i + 2);
    }
    end(f);
}

/* WK-1, PW-6: a packet becomes overdue on a VkQueue of which another one's queue waits for an
 * epoch. */
FIXTURE_TEST(a_deadline_is_heard_of_beside_an_epoch)
{
    const struct pair p = pair_make(f);
    BfFence fence = make_fence(f, 0);
    f->icd.pause();
    f->icd.endless_waits(true);
    execute(p.high[0], write_word(f, p.high[0], 0, 1));
    queue_signal(p.high[0], fence, 1);
    queue_wait(p.low[1], fence, 1);
    execute(p.low[1], write_word(f, p.low[1], 1, 2));
    other_threads_await_sleep();
    flood(f, p.low[0], 2);
    await_depth(f, &p, 0, 3);
    assert_int_equal(depth_of(f, &p, 1), 0);
    end(f);
}

/* PW-4, W-2: the same of the values of a timeline that another VkQueue signals. */
FIXTURE_TEST(a_lesser_value_is_heard_of_beside_a_larger_one)
{
    enum { VALUES = 3 };
    const struct pair p = pair_make(f);
    VkSemaphore timeline = make_timeline(f, 0);
    BfCommandQueue lows[] = {p.low[1], p.other_low[1]};
    BfFence fence;
    if (!f->layered)
        return;
    assert_success(bfImportFenceFromSemaphore(f->bf, timeline, &fence));
    drop_queue(f, p.high[0]); /* nothing is held there */
    f->icd.pause();
    f->icd.endless_waits(true);
    for (uint64_t i = 1; i <= VALUES; i++)
        assert_submitted(f->queues[0][p.index[0]], .commands = write_word_in(f, 0, 0, 1),
                         .signal = timeline, .signal_value = i);
    assert_int_equal(depth_of(f, &p, 0), VALUES);
    assert_submitted(f->queues[0][p.index[1]], .commands = write_word_in(f, 0, VALUES, VALUES + 1),
                     .wait = timeline, .wait_value = VALUES);
    other_threads_await_sleep();
    for (uint32_t i = VALUES - 1; i > 0; i--) {
        queue_wait(lows[i - 1], fence, i);
        execute(lows[i - 1], write_word(f, lows[i - 1], i, i + 1));
        other_threads_await_sleep();
    }
    for (uint32_t i = 1; i <= VALUES; i++) {
        assert_int_equal(depth_of(f, &p, 1), 0);
        step_of(f, &p, 0);
        while (read_word(f, i) != i + 1) { /* a command queue's wait is a packet of its own */
            await_depth(f, &p, 1, 1);
            step_of(f, &p, 1);
        }
    }
    end(f);
    bfDestroyFence(fence);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
