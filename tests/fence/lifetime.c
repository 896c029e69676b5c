/* SPDX-License-Identifier: MIT */
/* Behaviours 53 to 57: fences destroyed while they are in use. (52 is about COM's reference counts;
 * 58 and 59 about fences opened several times by a shared handle, which Belfry hasn't yet.) */
#include "support/fixture.h"

/* The queue works, and so does the device. */
static void assert_alive(struct fixture *f, BfCommandQueue queue)
{
    BfFence drain = make_fence(f, 0);
    execute(queue, write_word(f, queue, 100, 5));
    queue_signal(queue, drain, 1);
    await_fence(drain, 1);
    assert_int_equal(read_word(f, 100), 5);
    f->words[100] = 0;
}

TYPE_TEST(behaviour_53_a_fence_may_go_with_signals_under_way)
{
    BfFence gate = make_fence(f, 0), fence = make_fence(f, 0), other = make_fence(f, 0);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 1); /* held by Belfry */
    queue_signal(queue, fence, 2);
    queue_signal(queue, other, 1);
    drop_fence(f, fence);
    cpu_signal(gate, 1);
    await_fence(other, 1);
    assert_int_equal(read_word(f, 0), 1);
    if (type != BF_COMMAND_LIST_TYPE_COPY) {
        fence = make_fence(f, 0);
        VkEvent stall = stall_begin(f, queue);
        queue_signal(queue, fence, 1); /* at the driver */
        queue_signal(queue, other, 2);
        drop_fence(f, fence);
        stall_end(f, stall);
        await_fence(other, 2);
    }
    assert_alive(f, queue);
}

/* The memory of a fence that has gone is used by others at once: what was under way for it must not
 * reach them. */
FIXTURE_TEST(behaviour_53_signals_to_a_fence_that_is_gone_change_no_other)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0), drain = make_fence(f, 0), news[32];
    BfEvent event = make_event(f);
    VkEvent stall = stall_begin(f, queue);
    queue_signal(queue, fence, 7);
    queue_signal(queue, drain, 1);
    drop_fence(f, fence);
    for (int i = 0; i < 32; i++) {
        news[i] = make_fence(f, 0);
        set_event_on(news[i], 7, event);
    }
    stall_end(f, stall);
    await_fence(drain, 1);
    for (int i = 0; i < 32; i++)
        assert_value(news[i], 0);
    assert_false(take_event(event));
}

FIXTURE_TEST(behaviour_53_a_fence_may_go_with_waits_and_signals_on_every_queue)
{
    BfCommandQueue queues[6];
    BfFence drain[6];
    for (int i = 0; i < 6; i++) {
        queues[i] = make_queue(f, queue_types[i % 3]);
        drain[i] = make_fence(f, 0);
    }
    BfEvent event = make_event(f);
    for (uint64_t round = 1; round <= (uint64_t)TIMES(320); round++) {
        BfFence fence = make_fence(f, 0);
        set_event_on(fence, 50, event);
        for (uint32_t i = 0; i < 6; i++) {
            if (i % 2)
                queue_wait(queues[i], fence, i + 10 * round % 50);
            if (i % 3 == 0)
                execute(queues[i], write_word(f, queues[i], i, 1));
            queue_signal(queues[i], fence, i);
            queue_signal(queues[i], drain[i], round);
        }
        drop_fence(f, fence);
        for (uint32_t i = 0; i < 6; i++)
            await_fence(drain[i], round);
        assert_true(take_event(event));
    }
}

TYPE_TEST(behaviour_54_destruction_releases_a_queue_that_waits_for_ever)
{
    BfFence fence = make_fence(f, 0), drain = make_fence(f, 0);
    BfEvent event = make_event(f);
    queue_wait(queue, fence, UINT64_MAX);
    execute(queue, write_word(f, queue, 0, 4));
    queue_signal(queue, drain, 1);
    set_event_on(drain, 1, event);
    fixture_settle(f);
    assert_value(drain, 0);
    assert_int_equal(read_word(f, 0), 0);
    drop_fence(f, fence);
    await_event(event);
    assert_int_equal(read_word(f, 0), 4);
}

/* A wait that the queue hasn't come to yet is released as well. */
FIXTURE_TEST(behaviour_54_destruction_releases_waits_not_yet_come_to)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(f, 0), fence = make_fence(f, 0), drain = make_fence(f, 0);
    queue_wait(queue, gate, 1);
    queue_wait(queue, fence, 5);
    queue_wait(queue, fence, UINT64_MAX);
    queue_signal(queue, drain, 1);
    drop_fence(f, fence);
    fixture_settle(f);
    assert_value(drain, 0); /* the gate still holds it */
    cpu_signal(gate, 1);
    await_fence(drain, 1);
}

FIXTURE_TEST(behaviour_55_destruction_sets_the_events_registered)
{
    BfFence fence = make_fence(f, 3), other = make_fence(f, 0);
    BfEvent events[4], all = make_event(f), any = make_event(f), dropped = make_event(f);
    for (uint64_t i = 0; i < 4; i++) {
        events[i] = make_event(f);
        set_event_on(fence, i < 3 ? 4 + i : UINT64_MAX, events[i]);
    }
    const BfFence both[] = {fence, other};
    const uint64_t values[] = {9, 1};
    assert_success(bfSetEventOnMultipleFenceCompletion(2, both, values, BF_FENCE_WAIT_ALL, all));
    assert_success(
        bfSetEventOnMultipleFenceCompletion(2, both, values, BF_FENCE_WAIT_ANY_BIT, any));
    set_event_on(fence, 10, dropped);
    drop_event(f, dropped);
    for (int i = 0; i < 4; i++)
        assert_false(take_event(events[i]));
    drop_fence(f, fence);
    for (int i = 0; i < 4; i++) {
        assert_true(take_event(events[i]));
        assert_false(take_event(events[i]));
    }
    assert_true(take_event(any));
    assert_false(take_event(all));
    cpu_signal(other, 1);
    assert_true(take_event(all));
    assert_false(take_event(any));
}

FIXTURE_TEST(behaviour_55_destruction_releases_blocked_threads)
{
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    struct blocked b[3] = {
        {.fence = fence, .value = UINT64_MAX}, {.event = event}, {.queue = queue}};
    set_event_on(fence, UINT64_MAX, event);
    queue_wait(queue, fence, UINT64_MAX);
    execute(queue, write_word(f, queue, 0, 6));
    struct thread threads[3];
    for (int i = 0; i < 3; i++) {
        b[i].result = VK_RESULT_MAX_ENUM;
        thread_start(&threads[i], block_on, &b[i]);
        thread_await_sleep(&threads[i]); /* or it would use the handle when it is gone */
        assert_false(threads[i].finished);
    }
    drop_fence(f, fence);
    for (int i = 0; i < 3; i++) {
        thread_join(&threads[i]);
        assert_success(b[i].result);
    }
    assert_int_equal(read_word(f, 0), 6);
}

TEST(behaviour_56_fences_stay_0_while_the_work_before_their_signals_runs)
{
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        fixture_open(&f, NULL);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                       behind = make_queue(&f, queue_types[i]);
        BfFence fence = make_fence(&f, 0), other = make_fence(&f, 0);
        BfEvent events[2] = {make_event(&f), make_event(&f)};
        VkEvent stall = stall_begin(&f, queue);
        execute(queue, write_word(&f, queue, 0, 1));
        queue_signal(queue, fence, 1);
        queue_wait(behind, fence, 1);
        queue_signal(behind, other, 1);
        set_event_on(fence, 1, events[0]);
        set_event_on(other, 1, events[1]);
        for (int look = 0; look < 3; look++) {
            fixture_settle(&f);
            assert_value(fence, 0);
            assert_value(other, 0);
            assert_false(take_event(events[0]));
            assert_false(take_event(events[1]));
            assert_int_equal(read_word(&f, 0), 0);
        }
        stall_end(&f, stall);
        await_event(events[1]);
        assert_true(take_event(events[0]));
        assert_value(fence, 1);
        assert_value(other, 1);
        assert_int_equal(read_word(&f, 0), 1);
        fixture_close(&f);
    }
}

TYPE_TEST(behaviour_57_new_work_runs_after_the_unblocking)
{
    for (uint32_t round = 1; round <= 5; round++) {
        BfFence fence = make_fence(f, 0), drain = make_fence(f, 0);
        queue_wait(queue, fence, UINT64_MAX);
        execute(queue, write_word(f, queue, 0, round));
        drop_fence(f, fence);
        execute(queue, write_word(f, queue, 1, round));
        queue_signal(queue, drain, 1);
        await_fence(drain, 1);
        assert_value(drain, 1);
        assert_int_equal(read_word(f, 0), round);
        assert_int_equal(read_word(f, 1), round);
        assert_alive(f, queue);
    }
}

/* A queue that goes has its work done. */
FIXTURE_TEST(behaviour_57_a_queue_that_is_gone_has_its_work_done)
{
    BfFence gate = make_fence(f, 0), drain = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (uint64_t round = 1; round <= 9; round++) {
        BfCommandQueue queue = make_queue(f, queue_types[round % 3]);
        uint32_t word = (uint32_t)round;
        if (round % 2)
            queue_wait(queue, gate, round);
        execute(queue, write_word(f, queue, word, word));
        queue_signal(queue, drain, round);
        set_event_on(drain, round, event);
        drop_queue(f, queue);
        if (round % 2)
            cpu_signal(gate, round);
        await_event(event);
        assert_int_equal(read_word(f, word), word);
    }
}

/* With waits that nothing satisfies: they last until their fence goes. */
FIXTURE_TEST(behaviour_57_a_queue_that_is_gone_waits_until_its_fence_goes)
{
    BfFence gate = make_fence(f, 0), later = make_fence(f, 0), last = make_fence(f, 0);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, later, 1);
    queue_wait(other, later, 1);
    queue_signal(other, gate, 2);
    queue_signal(other, last, 1);
    drop_queue(f, other);
    drop_queue(f, queue);
    fixture_settle(f);
    assert_value(later, 0);
    assert_value(last, 0);
    assert_value(gate, 0);
    assert_int_equal(read_word(f, 0), 0);
    drop_fence(f, gate);
    await_fence(last, 1);
    assert_value(later, 1);
    assert_int_equal(read_word(f, 0), 1);
}
