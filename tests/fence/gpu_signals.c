/* SPDX-License-Identifier: MIT */
/* Behaviours 22 to 27: signals by queues. */
#include "registrations.h"

/* ------------------------------------------------------------------ 22: registrations, again -- */

/* A queue that has nothing to do signals before the call returns. */
static void by_idle_queue(struct signaller *s, BfFence fence, uint64_t value)
{
    queue_signal(s->queue, fence, value);
    await_signals(s->queue);
}

static void by_busy_queue(struct signaller *s, BfFence fence, uint64_t value)
{
    execute(s->queue, write_word(s->f, s->queue, 0, (uint32_t)value));
    queue_signal(s->queue, fence, value);
    await_idle(s->queue);
}

/* The signal is held by Belfry, and let go. */
static void by_held_queue(struct signaller *s, BfFence fence, uint64_t value)
{
    BfFence gate = make_fence(s->f, 0);
    queue_wait(s->queue, gate, 1);
    execute(s->queue, write_word(s->f, s->queue, 0, (uint32_t)value));
    queue_signal(s->queue, fence, value);
    cpu_signal(gate, 1);
    await_idle(s->queue);
}

static void run(void (*body)(struct signaller *s))
{
    struct fixture f;
    fixture_open(&f, NULL);
    for (size_t i = 0; i < 3; i++) {
        struct signaller s = {.f = &f, .queue = make_queue(&f, queue_types[i])};
        s.signal = by_idle_queue;
        body(&s);
        s.signal = by_busy_queue;
        body(&s);
        s.signal = by_held_queue;
        body(&s);
    }
    fixture_close(&f);
}

TEST(behaviour_22_as_06_event_ahead_is_set_once_by_the_signal)
{
    run(registration_is_set_once);
}

TEST(behaviour_22_as_07_overshooting_sets_the_event)
{
    run(registration_is_set_by_overshooting);
}

TEST(behaviour_22_as_08_later_signals_do_not_set_a_fired_event_again)
{
    run(registration_is_consumed);
}

TEST(behaviour_22_as_11_one_event_for_several_values_is_set_at_each)
{
    run(registration_of_several_values);
}

TEST(behaviour_22_as_12_registered_twice_one_set_is_seen)
{
    run(registration_twice_is_one_set);
}

TEST(behaviour_22_as_13_of_two_values_only_the_reached_one_sets_its_event)
{
    run(registration_far_ahead_is_left_alone);
}

TEST(behaviour_22_as_14_a_consumed_registration_stays_so_after_a_rewind)
{
    run(registration_stays_consumed_after_rewind);
}

TEST(behaviour_22_as_15_a_pending_registration_survives_a_rewind)
{
    run(registration_survives_rewind);
}

TEST(behaviour_22_as_16_the_greatest_value_is_an_ordinary_one)
{
    run(registration_of_the_greatest_value);
}

TEST(behaviour_22_as_17_two_events_on_one_value_are_both_set)
{
    run(registration_of_two_events_on_one_value);
}

/* Nobody asks the fence or waits for the queue: the event comes by itself. */
TYPE_TEST(behaviour_22_an_event_is_set_with_nobody_asking)
{
    BfFence fence = make_fence(f, 0), gate = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (uint64_t v = 1; v <= 20; v++) {
        bool before = v % 2, held = v % 3 == 0;
        if (before)
            set_event_on(fence, v, event);
        if (held)
            queue_wait(queue, gate, v);
        execute(queue, write_word(f, queue, 1, (uint32_t)v));
        queue_signal(queue, fence, v);
        if (!before)
            set_event_on(fence, v, event);
        if (held)
            cpu_signal(gate, v);
        await_event(event);
        assert_value(fence, v);
        assert_int_equal(read_word(f, 1), v);
        assert_false(take_event(event));
    }
}

/* -------------------------------------------------------------------------- 23 to 27: values -- */

TYPE_TEST(behaviour_23_queue_signal_of_a_lower_value_reads_back)
{
    BfFence fence = make_fence(f, 0);
    static const uint64_t values[] = {10, 0, BIG, 0, 7, 6};
    for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
        execute(queue, write_word(f, queue, 0, 1));
        queue_signal(queue, fence, values[k]);
        await_idle(queue);
        assert_value(fence, values[k]);
    }
}

/* Several signals behind one piece of work: the last stays. */
FIXTURE_TEST(behaviour_23_of_signals_that_land_together_the_last_stays)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    VkEvent stall = stall_begin(f, queue);
    set_event_on(fence, 9, event);
    queue_signal(queue, fence, 3);
    queue_signal(queue, fence, 9);
    queue_signal(queue, fence, 9);
    queue_signal(queue, fence, 2);
    assert_value(fence, 0);
    assert_false(take_event(event));
    stall_end(f, stall);
    await_event(event); /* 9 has been there, if only for an instant */
    await_idle(queue);
    assert_value(fence, 2);
    assert_false(take_event(event));
}

TYPE_TEST(behaviour_24_great_queue_signals_and_zero_read_back)
{
    BfFence fence = make_fence(f, 0);
    static const uint64_t values[] = {BIG, BIG << 1, 0};
    for (size_t k = 0; k < 3; k++) {
        queue_signal(queue, fence, values[k]);
        await_idle(queue);
        assert_value(fence, values[k]);
    }
}

TYPE_TEST(behaviour_25_two_hundred_queue_signals_read_back_after_idle)
{
    BfFence fence = make_fence(f, 0), drain = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (uint64_t k = 0; k < 200; k++) {
        execute(queue, write_word(f, queue, 0, (uint32_t)k));
        queue_signal(queue, fence, BIG + k);
        queue_signal(queue, drain, k + 1);
        switch (k % 3) {
        case 0:
            set_event_on(drain, k + 1, event);
            await_event(event);
            break;
        case 1:
            await_fence(drain, k + 1);
            break;
        default:
            await_idle(queue);
        }
        assert_value(fence, BIG + k);
        assert_int_equal(read_word(f, 0), k);
    }
}

TYPE_TEST(behaviour_26_a_signal_on_an_idle_queue_reads_at_once)
{
    BfFence fence = make_fence(f, 0), other = make_fence(f, 0);
    for (uint64_t v = 1; v <= 100; v++) {
        queue_signal(queue, fence, v);
        await_signals(queue);
        assert_value(fence, v);
    }
    queue_wait(queue, fence, 100); /* reached: the queue is as idle as before */
    queue_signal(queue, other, 5);
    await_signals(queue);
    assert_value(other, 5);
    /* Idle again after work, whoever has found that out. */
    execute(queue, write_word(f, queue, 0, 1));
    await_idle(queue);
    queue_signal(queue, fence, 200);
    await_signals(queue);
    assert_value(fence, 200);
    execute(queue, write_word(f, queue, 0, 2));
    queue_signal(queue, other, 6);
    await_fence(other, 6);
    queue_signal(queue, fence, 201);
    await_signals(queue);
    assert_value(fence, 201);
}

/* The work is through, but nobody has asked: the signal itself has to find out. */
TEST(behaviour_26_a_queue_that_has_become_idle_unseen_signals_at_once)
{
    if (!fixture_is_icd())
        skip(); /* how to know that the work is through without asking */
    struct fixture f;
    fixture_open(&f, NULL);
    for (size_t i = 0; i < 3; i++) {
        BfCommandQueue queue = make_queue(&f, queue_types[i]);
        BfFence fence = make_fence(&f, 0);
        for (uint64_t v = 1; v <= 10; v++) {
            BfEvent event = make_event(&f);
            set_event_on(fence, v, event);
            execute(queue, write_word(&f, queue, 0, 1));
            fixture_settle(&f);
            queue_signal(queue, fence, v);
            await_signals(queue);
            assert_true(take_event(event)); /* asks the fence nothing */
            assert_value(fence, v);
        }
    }
    fixture_close(&f);
}

FIXTURE_TEST(behaviour_27_two_queues_signal_four_fences_and_a_wait_for_all_ends)
{
    BfCommandQueue queues[2] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    BfEvent event = make_event(f);
    for (int repeat = 0; repeat < TIMES(100); repeat++) {
        BfFence fences[4];
        uint64_t values[4] = {0};
        for (int i = 0; i < 4; i++)
            fences[i] = make_fence(f, 0);
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 4; i++) {
                BfCommandQueue queue = queues[i / 2];
                if (round % 5 == i)
                    execute(queue, write_word(f, queue, (uint32_t)i, 1));
                for (int k = 0; k < 3; k++)
                    queue_signal(queue, fences[i], ++values[i]);
            }
            assert_success(
                bfSetEventOnMultipleFenceCompletion(4, fences, values, BF_FENCE_WAIT_ALL, event));
            await_event(event);
            for (int i = 0; i < 4; i++)
                assert_value(fences[i], values[i]);
            assert_false(take_event(event));
        }
        for (int i = 0; i < 4; i++)
            drop_fence(f, fences[i]);
    }
}

struct signalling {
    BfCommandQueue queue;
    BfFence fences[2];
    VkCommandBuffer *commands; /* one a round */
    struct start_line *line;
    uint32_t rounds;
    VkResult result;
};

static void signal_rounds(void *argument)
{
    struct signalling *s = argument;
    for (uint32_t round = 0; round < s->rounds; round++) {
        start_line_cross(s->line, 3);
        VkResult result = bfQueueExecute(s->queue, 1, &s->commands[round]);
        for (uint64_t v = 1; v <= 8; v++) {
            for (int i = 0; i < 2; i++)
                if (result == VK_SUCCESS)
                    result = bfQueueSignal(s->queue, s->fences[i], round * 8 + v);
        }
        if (result != VK_SUCCESS)
            s->result = result;
    }
}

/* The same with each queue fed by a thread of its own, and a third that waits for them all. */
FIXTURE_TEST(behaviour_27_two_threads_signal_four_fences_and_a_wait_for_all_ends)
{
    enum { ROUNDS = TIMES(320) };
    static VkCommandBuffer commands[2][ROUNDS];
    struct start_line line = {0};
    struct signalling s[2];
    struct thread threads[2];
    BfFence fences[4];
    BfEvent event = make_event(f);
    for (int i = 0; i < 2; i++) {
        s[i] = (struct signalling){
            .queue = make_queue(f, i ? BF_COMMAND_LIST_TYPE_COMPUTE : BF_COMMAND_LIST_TYPE_DIRECT),
            .fences = {make_fence(f, 0), make_fence(f, 0)},
            .commands = commands[i],
            .line = &line,
            .rounds = ROUNDS};
        fences[2 * i] = s[i].fences[0];
        fences[2 * i + 1] = s[i].fences[1];
        for (int k = 0; k < ROUNDS; k++)
            commands[i][k] = write_word(f, s[i].queue, (uint32_t)i, (uint32_t)k + 1);
    }
    for (int i = 0; i < 2; i++)
        thread_start(&threads[i], signal_rounds, &s[i]);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t last = (round + 1) * 8, values[4] = {last, last, last, last};
        if (round % 2)
            start_line_cross(&line, 3);
        assert_success(
            bfSetEventOnMultipleFenceCompletion(4, fences, values, BF_FENCE_WAIT_ALL, event));
        if (round % 2 == 0)
            start_line_cross(&line, 3);
        await_event(event);
        for (int i = 0; i < 4; i++)
            assert_value(fences[i], last);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(read_word(f, i), round + 1);
    }
    for (int i = 0; i < 2; i++) {
        thread_join(&threads[i]);
        assert_success(s[i].result);
    }
}
