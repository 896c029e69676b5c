/* SPDX-License-Identifier: MIT */
/* What windows learn from the GPU's timestamps (PW-8, scheduler/packet_time.h), on one VkQueue of
 * the test driver, whose GPU takes next to no time for a packet; but as seen from outside each
 * packet takes longer than a window is, since it isn't let go before. */
#include "flood.h"

#include <sched.h>

#include <belfry/background.h>

#include "base/clock.h"
#include "scheduler/window.h"

static void open_with(struct fixture *f, const char *driver)
{
    fixture_open(
        f, OPTIONS(.environment = driver, .settings = "VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE=on"));
}

static void freeze(struct fixture *f, bool frozen)
{
    assert_success(bfSetBackgroundProcessingMode(
        f->bf,
        frozen ? BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM
               : BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
        BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
}

/* How many of a flood's packets are in flight at most, if each ends more than a window's time after
 * it was handed over; or the first number above 'enough'. */
static uint64_t flood_deepest(struct fixture *f, BfCommandQueue queue, uint64_t enough)
{
    uint64_t deepest = 0;
    f->icd.pause();
    BfFence fence = flood(f, queue, FLOOD);
    for (uint64_t over = 0; over < FLOOD && deepest <= enough; over++) {
        uint64_t since = bf_now_ns(), depth;
        while (bf_now_ns() - since <= BF_WINDOW_NS)
            sched_yield();
        depth = f->icd.queue_depth(0, 0);
        deepest = depth > deepest ? depth : deepest;
        assert_true(f->icd.step(0, 0));
        /* Until the window has been opened for the next one, if there is one. */
        while (bfGetFenceCompletedValue(fence) <= over ||
               (over + 1 < FLOOD && f->icd.queue_depth(0, 0) == 0))
            sched_yield();
    }
    drain(f, FLOOD);
    return deepest;
}

static uint64_t command_buffers_of_flood(struct fixture *f, BfCommandQueue queue)
{
    struct belfry_icd_counters before, after;
    f->icd.pause();
    f->icd.get_counters(&before);
    flood(f, queue, FLOOD);
    assert_int_equal(f->icd.queue_depth(0, 0), FLOOD);
    drain(f, FLOOD);
    f->icd.get_counters(&after);
    return after.command_buffers - before.command_buffers;
}

/* By gaps between epochs it would take a window's time. */
TEST_AROUND(the_gpus_own_time_is_what_a_packet_costs, struct fixture, f, open_with, fixture_close,
            "GPU=1")
{
    BfCommandQueue low = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    assert_true(flood_deepest(f, low, 2) > 2);
}

/* Timestamps cost more there than they are worth. */
TEST_AROUND(on_a_cpu_gaps_are_what_is_known, struct fixture, f, open_with, fixture_close, "GPU=0")
{
    BfCommandQueue low = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    assert_int_equal(flood_deepest(f, low, 2), 2);
}

/* One packet of a queue in five to eight has timestamps; none has while nothing is to be learnt,
 * nor of who is no lower queue. */
TEST_AROUND(few_packets_have_timestamps, struct fixture, f, open_with, fixture_close, "GPU=1")
{
    BfCommandQueue low = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    BfCommandQueue high = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    while (flood_deepest(f, low, 2) <= 2 || flood_deepest(f, low, FLOOD - 1) < FLOOD - 2)
        ;
    command_buffers_of_flood(f, low); /* from here on with a barrier before each */
    freeze(f, true);
    uint64_t plain = command_buffers_of_flood(f, low);
    freeze(f, false);
    uint64_t measured = command_buffers_of_flood(f, low);
    assert_true(measured >= plain + 2 * (FLOOD / 8));
    assert_true(measured <= plain + 2 * (FLOOD / 5));
    assert_int_equal(command_buffers_of_flood(f, high), plain);
}

/* A queue that ends while the GPU measures it. */
TEST_AROUND(a_queue_may_go_while_it_is_measured, struct fixture, f, open_with, fixture_close,
            "GPU=1")
{
    make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    BfCommandQueue other = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO)};
    BfCommandQueue low;
    assert_success(bfCreateCommandQueue(f->bf, &info, &low));
    f->icd.pause();
    execute(low, write_word(f, low, FLOOD, 1));
    bfDestroyCommandQueue(low);
    flood(f, other, FLOOD);
    drain(f, FLOOD);
    assert_int_equal(read_word(f, FLOOD), 1);
}

/* Nor is one told that the device takes along. */
TEST_AROUND(a_device_may_go_with_a_queue_that_it_has_measured, struct fixture, f, open_with,
            fixture_close, "GPU=1")
{
    make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_HIGH);
    BfCommandQueue low = make_queue_of(f, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    f->queue_count = 0; /* nobody destroys them */
    execute(low, write_word(f, low, 0, 1));
    f->icd.quiesce(); /* a call of Belfry's might learn of its end */
    assert_int_equal(read_word(f, 0), 1);
}
