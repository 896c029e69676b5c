/* SPDX-License-Identifier: MIT */
/* What windows would hold, and a higher queue waits for (scheduler/inherit.h), on one VkQueue of
 * the test driver. */
#include "flood.h"
#include "support/asleep.h"

#include <belfry/preemption.h>

/* What a high queue waits for: held already when it comes to wait, or appended later; through a
 * queue that waits itself. Packets behind that stay held. */
FIXTURE_TEST(what_a_high_queue_waits_for_is_as_urgent)
{
    for (int late = 0; late < 2; late++) {
        for (int through = 0; through < 2; through++) {
            BfCommandQueue high = high_of(f), low = low_of(f), between = low_of(f);
            BfFence first = make_fence(f, 0), second = make_fence(f, 0);
            BfFence last = through ? second : first;
            f->icd.pause();
            if (through) {
                queue_wait(between, first, 1);
                execute(between, write_word(f, between, FLOOD, 1));
                queue_signal(between, second, 1);
            }
            for (int turn = 0; turn < 2; turn++) {
                if (turn == late) {
                    flood(f, low, 3);
                    queue_signal(low, first, 1);
                } else {
                    queue_wait(high, last, 1);
                    execute(high, write_word(f, high, FLOOD + 1, 1));
                }
            }
            flood(f, low, 5);
            assert_depth(f, 3 + through + 1);
            drain(f, 5);
            for (uint32_t i = f->queue_count; i-- > 0;)
                drop_queue(f, f->made_queues[i]);
        }
    }
}

/* It waits for what the progress fence will have, of executions that aren't handed over yet. */
FIXTURE_TEST(what_a_high_queue_waits_for_is_counted)
{
    BfCommandQueue high = high_of(f), low = low_of(f);
    BfFence progress;
    assert_success(bfGetCommandQueueProgressFence(low, &progress));
    f->icd.pause();
    flood(f, low, FLOOD);
    assert_depth(f, 1);
    queue_wait(high, progress, 4);
    execute(high, write_word(f, high, FLOOD, FLOOD + 1));
    assert_depth(f, 4 + 1);
    drain(f, FLOOD + 1);
}

/* The wait comes first, then the levels: who waits is raised; who is waited for is lowered. */
FIXTURE_TEST(what_is_waited_for_is_as_urgent_when_levels_change)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        BfCommandQueue waits = lowered ? high_of(f) : low_of(f),
                       low = lowered ? high_of(f) : low_of(f);
        BfFence gate = make_fence(f, 0), fence = make_fence(f, 0);
        f->icd.pause();
        queue_wait(low, gate, 1);
        flood(f, low, 3);
        queue_signal(low, fence, 1);
        flood(f, low, 5);
        queue_wait(waits, fence, 1);
        execute(waits, write_word(f, waits, FLOOD, 1));
        if (lowered)
            assert_success(bfSetCommandQueuePriority(low, BF_COMMAND_QUEUE_PRIORITY_NORMAL));
        else
            assert_success(bfSetCommandQueuePriority(waits, BF_COMMAND_QUEUE_PRIORITY_HIGH));
        cpu_signal(gate, 1);
        assert_depth(f, 3 + 1 + 1); /* one more of them, by the window */
        drain(f, 5);
        for (uint32_t i = f->queue_count; i-- > 0;)
            drop_queue(f, f->made_queues[i]);
    }
}

/* Of three levels, whoever comes last: a VkQueue waits for a semaphore that a fence was exported
 * to, whose signal waits for that of a lower queue, which windows hold for both. */
TEST(what_a_queue_of_a_level_between_waits_for_is_as_urgent)
{
    static const struct fixture_options options = {
        .environment = "REALTIME=1", .realtime = true, .family = UINT32_MAX};
    enum { TOP, BETWEEN, BOTTOM };
    static const int orders[][3] = {{TOP, BETWEEN, BOTTOM}, {TOP, BOTTOM, BETWEEN},
                                    {BETWEEN, TOP, BOTTOM}, {BETWEEN, BOTTOM, TOP},
                                    {BOTTOM, TOP, BETWEEN}, {BOTTOM, BETWEEN, TOP}};
    for (size_t i = 0; i < 6 && fixture_is_layered(); i++) {
        struct fixture fixture, *f = &fixture;
        fixture_open(f, &options);
        BfCommandQueue between = high_of(f), low = low_of(f);
        BfFence first = make_fence(f, 0), second = make_fence(f, 0);
        VkSemaphore timeline = make_timeline(f, 0);
        assert_success(bfExportFenceToSemaphore(second, timeline));
        f->icd.pause();
        for (int turn = 0; turn < 3; turn++) {
            if (orders[i][turn] == TOP) {
                assert_submitted(f->queues[0][0], .wait = timeline, .wait_value = 1,
                                 .commands = write_word_in(f, 0, 0, 1));
            } else if (orders[i][turn] == BETWEEN) {
                queue_wait(between, first, 1);
                execute(between, write_word(f, between, FLOOD, FLOOD + 1));
                queue_signal(between, second, 1);
            } else {
                flood(f, low, 3);
                queue_signal(low, first, 1);
                flood(f, low, 5);
            }
        }
        assert_depth(f, 3 + 1);
        f->icd.resume();
        assert_success(vkQueueWaitIdle(f->queues[0][0]));
        drain(f, 5);
        fixture_close(f);
    }
}

/* A fence that is a semaphore of the program's, too. */
static BfFence named_fence(struct fixture *f, VkSemaphore timeline, bool exported)
{
    BfFence fence = exported ? make_fence(f, 0) : NULL;
    assert_success(exported ? bfExportFenceToSemaphore(fence, timeline)
                            : bfImportFenceFromSemaphore(f->bf, timeline, &fence));
    return fence;
}

/* That is no secret from outside, since the program knows: windows hold. */
FIXTURE_TEST(a_fence_that_is_a_semaphore_ends_no_window)
{
    BfCommandQueue low = low_of(f);
    VkSemaphore timeline = make_timeline(f, 0);
    BfFence fence = named_fence(f, timeline, false);
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    assert_depth(f, 1);
    drain(f, FLOOD);
    bfDestroyFence(fence);
}

/* PW-7: what signals it, and what that depends on, is the driver's when the call returns: the
 * program may give a VkQueue that it has locked, or one that isn't attached, a wait for it. */
FIXTURE_TEST(what_the_program_may_wait_for_itself_is_not_held)
{
    for (int exported = 0; exported < 2 && !f->layered; exported++) {
        BfCommandQueue low = low_of(f), first = low_of(f), second = low_of(f), high = high_of(f);
        VkSemaphore timeline = make_timeline(f, 0);
        BfFence gate = make_fence(f, 0), fence = named_fence(f, timeline, exported);
        f->icd.pause();
        flood(f, low, FLOOD);
        flood(f, first, 3);
        queue_signal(first, gate, 1);
        queue_wait(second, gate, 1);
        execute(second, write_word(f, second, FLOOD, FLOOD + 1));
        assert_depth(f, 1);
        queue_signal(second, fence, 1);
        assert_depth(f, 1 + 3 + 1);
        assert_success(bfLockVkQueue(f->bf, f->queues[0][0]));
        /* (The CPU signals one that was exported to; the test driver blames who waits for that.) */
        assert_submitted(f->queues[0][0], .wait = exported ? VK_NULL_HANDLE : timeline,
                         .wait_value = 1, .commands = write_word_in(f, 0, FLOOD + 1, FLOOD + 2));
        assert_success(bfUnlockVkQueue(f->bf, f->queues[0][0]));
        execute(high, write_word(f, high, FLOOD + 2, FLOOD + 3));
        drain(f, FLOOD + 3);
        if (!exported)
            bfDestroyFence(fence);
        for (uint32_t i = f->queue_count; i-- > 0;)
            drop_queue(f, f->made_queues[i]);
    }
}

/* Nor is what has been submitted before a fence is exported. */
FIXTURE_TEST(an_export_hands_over_what_signals_the_fence)
{
    if (f->layered)
        return;
    BfCommandQueue low = low_of(f), other = low_of(f);
    VkSemaphore timeline = make_timeline(f, 0);
    BfFence fence = make_fence(f, 0);
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    flood(f, other, 2);
    queue_signal(other, fence, 1);
    assert_depth(f, 1);
    assert_success(bfExportFenceToSemaphore(fence, timeline));
    assert_depth(f, 1 + 2);
    drain(f, FLOOD);
}

/* What a call rests on that windows and requests let through, where these come after it. */
enum { BIND, QUEUE_IDLE, DEVICE_IDLE, NAMED };

struct idle {
    struct fixture *f;
    int call;
};

static void await_idleness(void *argument)
{
    const struct idle *idle = argument;
    if (idle->call == QUEUE_IDLE)
        vkQueueWaitIdle(idle->f->queues[0][0]);
    else
        vkDeviceWaitIdle(idle->f->device);
}

/* Behind a packet that waits for the timeline. */
static void rest_on_what_waits(struct fixture *f, int call, VkSemaphore timeline)
{
    const VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO)};
    assert_submitted(f->queues[0][0], .wait = timeline, .wait_value = 1,
                     .commands = write_word_in(f, 0, FLOOD, FLOOD + 1));
    if (call == BIND)
        assert_success(vkQueueBindSparse(f->queues[0][0], 1, &bind, VK_NULL_HANDLE));
}

/* PW-7, PE-1: what is held by its wait when somebody comes to rest on it goes, once it waits no
 * more, as if there had been windows then, or a request. */
static void later_ones_let_through(struct fixture *f, int call, bool request)
{
    struct thread waiter = {0};
    struct idle idle = {f, call};
    BfCommandQueue low = low_of(f);
    VkSemaphore timeline = make_timeline(f, 0), other = make_timeline(f, 0);
    BfFence gate = make_fence(f, 0), fence = call == NAMED ? named_fence(f, other, false) : NULL;
    uint64_t number;
    f->icd.pause();
    if (call == NAMED) {
        BfCommandQueue first = low_of(f);
        queue_wait(first, gate, 1);
        execute(first, write_word(f, first, FLOOD, FLOOD + 1));
        queue_signal(first, fence, 1);
    } else {
        rest_on_what_waits(f, call, timeline);
    }
    if (call == QUEUE_IDLE || call == DEVICE_IDLE) {
        thread_start(&waiter, await_idleness, &idle);
        other_threads_await_sleep();
    }
    if (!request)
        high_of(f);
    flood(f, low, request ? 1 : FLOOD);
    if (request)
        assert_success(bfRequestPreemption(low, &number));
    const uint64_t before = depth(f);
    if (call == NAMED)
        cpu_signal(gate, 1);
    else
        vulkan_signal(f->device, timeline, 1);
    assert_in_range(depth(f), before + 1 + (call == BIND), UINT64_MAX);
    f->icd.resume();
    if (call == QUEUE_IDLE || call == DEVICE_IDLE)
        thread_join(&waiter);
    drain(f, request ? 1 : FLOOD);
    assert_int_equal(read_word(f, FLOOD), FLOOD + 1);
    if (call == NAMED)
        bfDestroyFence(fence);
}

static void later_windows_and_requests_let_through(int call)
{
    for (int request = 0; request < 2; request++) {
        struct fixture f;
        fixture_open(&f, NULL);
        if (f.layered == (call != NAMED))
            later_ones_let_through(&f, call, request);
        fixture_close(&f);
    }
}

TEST(later_ones_let_through_what_a_bind_rests_on)
{
    later_windows_and_requests_let_through(BIND);
}

TEST(later_ones_let_through_what_the_wait_for_a_queue_rests_on)
{
    later_windows_and_requests_let_through(QUEUE_IDLE);
}

TEST(later_ones_let_through_what_the_wait_for_the_device_rests_on)
{
    later_windows_and_requests_let_through(DEVICE_IDLE);
}

TEST(later_ones_let_through_what_the_program_may_wait_for_itself)
{
    later_windows_and_requests_let_through(NAMED);
}
