/* SPDX-License-Identifier: MIT */
/* Behaviours 32 to 40: queues that wait, and don't. */
#include "support/fixture.h"

FIXTURE_TEST(behaviour_32_wait_for_a_reached_value_passes)
{
    for (size_t i = 0; i < 3; i++) {
        BfCommandQueue queue = make_queue(f, queue_types[i]);
        BfFence fence = make_fence(f, 5), drain = make_fence(f, 0);
        static const uint64_t reached[] = {0, 1, 4, 5};
        for (uint32_t k = 0; k < 4; k++) {
            queue_wait(queue, fence, reached[k]);
            execute(queue, write_word(f, queue, k, 1 + k + (uint32_t)i * 4));
            queue_signal(queue, drain, k + 1);
            await_fence(drain, k + 1);
            assert_int_equal(read_word(f, k), 1 + k + i * 4);
        }
        assert_value(fence, 5);
    }
}

/* The queue stands at its wait: neither the work behind it has run nor the signal come. */
static void assert_held(struct fixture *f, BfFence later, uint64_t value, BfEvent event,
                        uint32_t word)
{
    fixture_settle(f);
    assert_value(later, value);
    assert_false(take_event(event));
    assert_int_equal(read_word(f, word), 0);
}

TYPE_TEST(behaviour_33_wait_before_cpu_signal_holds_work_and_signals)
{
    BfFence fence = make_fence(f, 0), later = make_fence(f, 0);
    BfEvent event = make_event(f);
    queue_wait(queue, fence, 1);
    execute(queue, write_word(f, queue, 0, 7));
    queue_signal(queue, later, 3);
    set_event_on(later, 3, event);
    assert_held(f, later, 0, event, 0);
    cpu_signal(fence, 1);
    await_event(event);
    assert_value(later, 3);
    assert_int_equal(read_word(f, 0), 7);
    assert_false(take_event(event));
}

/* A signal alone behind the wait, with nothing to execute. */
FIXTURE_TEST(behaviour_33_wait_before_cpu_signal_holds_a_signal_alone)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0), later = make_fence(f, 0);
    queue_wait(queue, fence, 1);
    queue_signal(queue, later, 3);
    queue_wait(queue, fence, 2);
    queue_signal(queue, later, 4);
    fixture_settle(f);
    assert_value(later, 0);
    cpu_signal(fence, 1);
    if (fixture_has_native_fences())
        await_fence(later, 3);
    assert_value(later, 3); /* the queue was idle but for the wait */
    cpu_signal(fence, 2);
    await_signals(queue);
    assert_value(later, 4);
}

TEST(behaviour_34_wait_before_the_signal_of_another_queue)
{
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct fixture f;
            fixture_open(&f, NULL);
            BfCommandQueue waits = make_queue(&f, queue_types[i]),
                           signals = make_queue(&f, queue_types[k]);
            BfFence fence = make_fence(&f, 0), later = make_fence(&f, 0);
            BfEvent event = make_event(&f);
            queue_wait(waits, fence, 2);
            execute(waits, copy_word(&f, waits, 1, 0));
            queue_signal(waits, later, 3);
            set_event_on(later, 3, event);
            assert_held(&f, later, 0, event, 0);
            execute(signals, write_word(&f, signals, 1, 8));
            queue_signal(signals, fence, 1);
            await_fence(fence, 1);
            assert_held(&f, later, 0, event, 0);
            execute(signals, write_word(&f, signals, 1, 9));
            queue_signal(signals, fence, 2);
            await_event(event);
            assert_value(fence, 2);
            assert_value(later, 3);
            assert_int_equal(read_word(&f, 0), 9); /* released only behind the other's work */
            fixture_close(&f);
        }
    }
}

TYPE_TEST(behaviour_35_cpu_signal_below_does_not_release_and_cpu_writes_are_seen)
{
    BfFence fence = make_fence(f, 0), later = make_fence(f, 0);
    BfEvent event = make_event(f);
    f->words[1] = 5;
    queue_wait(queue, fence, 5);
    execute(queue, copy_word(f, queue, 1, 0));
    queue_signal(queue, later, 1);
    set_event_on(later, 1, event);
    cpu_signal(fence, 4);
    assert_held(f, later, 0, event, 0);
    f->words[1] = 6; /* behind the call, and between the signals */
    cpu_signal(fence, 5);
    await_event(event);
    assert_int_equal(read_word(f, 0), 6);
}

TYPE_TEST(behaviour_36_a_queue_may_wait_for_its_own_signal)
{
    BfFence fence = make_fence(f, 0), later = make_fence(f, 0);
    queue_signal(queue, fence, 7);
    queue_wait(queue, fence, 7);
    queue_signal(queue, later, 1);
    await_fence(later, 1);
    assert_value(fence, 7);
    /* With work, which makes the wait one for what is under way. */
    for (uint32_t v = 8; v < 40; v++) {
        execute(queue, write_word(f, queue, 1, v));
        queue_signal(queue, fence, v);
        queue_wait(queue, fence, v);
        execute(queue, copy_word(f, queue, 1, v));
    }
    queue_signal(queue, later, 2);
    await_fence(later, 2);
    assert_value(fence, 39);
    for (uint32_t v = 8; v < 40; v++)
        assert_int_equal(read_word(f, v), v);
}

FIXTURE_TEST(behaviour_37_a_fence_used_by_queues_may_be_reset_by_the_cpu)
{
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(f, 0), drain = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (uint64_t round = 1; round <= 5; round++) {
        queue_wait(other, fence, 5);
        queue_signal(other, drain, round);
        execute(one, write_word(f, one, 0, 1));
        queue_signal(one, fence, 5);
        await_fence(drain, round);
        assert_value(fence, 5);
        cpu_signal(fence, 0);
        assert_value(fence, 0);
        set_event_on(fence, 6, event);
        assert_false(take_event(event));
        cpu_signal(fence, 6);
        assert_value(fence, 6);
        assert_true(take_event(event));
        cpu_signal(fence, 0);
    }
}

/* 24 steps, each of which copies what the one before has left: a step that runs too early carries
 * a zero on. */
static void ping_pong(struct fixture *f, BfCommandQueue *queues, uint32_t count, uint32_t steps)
{
    BfFence fences[3], done = make_fence(f, 0);
    uint64_t values[3] = {0};
    for (uint32_t i = 0; i < count; i++)
        fences[i] = make_fence(f, 0);
    f->words[0] = 24;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t self = i % count, before = (i + count - 1) % count;
        if (i)
            queue_wait(queues[self], fences[before], values[before]);
        execute(queues[self], copy_word(f, queues[self], i, i + 1));
        queue_signal(queues[self], fences[self], ++values[self]);
    }
    queue_signal(queues[(steps - 1) % count], done, 1);
    await_fence(done, 1);
    for (uint32_t i = 0; i <= steps; i++)
        assert_int_equal(read_word(f, i), 24);
}

FIXTURE_TEST(behaviour_38_compute_and_graphics_alternate_strictly)
{
    BfCommandQueue queues[] = {make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE),
                               make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT)};
    ping_pong(f, queues, 2, 24);
}

FIXTURE_TEST(behaviour_38_three_queues_alternate_strictly)
{
    BfCommandQueue queues[] = {make_queue(f, BF_COMMAND_LIST_TYPE_COPY),
                               make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE),
                               make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT)};
    ping_pong(f, queues, 3, TIMES(1200));
}

/* The same queued backwards: every wait is there long before its signal. */
FIXTURE_TEST(behaviour_38_queues_alternate_strictly_when_queued_backwards)
{
    enum { QUEUES = 24 };
    BfFence fence = make_fence(f, 0);
    f->words[0] = 24;
    for (uint32_t i = QUEUES; i-- > 0;) {
        BfCommandQueue queue = make_queue(f, queue_types[i % 3]);
        queue_wait(queue, fence, i + 1);
        execute(queue, copy_word(f, queue, i, i + 1));
        queue_signal(queue, fence, i + 2);
    }
    fixture_settle(f);
    assert_value(fence, 0);
    cpu_signal(fence, 1);
    await_fence(fence, QUEUES + 1);
    for (uint32_t i = 0; i <= QUEUES; i++)
        assert_int_equal(read_word(f, i), 24);
}

TEST(behaviour_39_a_new_wait_after_a_rewind_compares_with_the_lower_value)
{
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        fixture_open(&f, NULL);
        BfCommandQueue queue = make_queue(&f, queue_types[i]);
        BfFence fence = make_fence(&f, 0), later = make_fence(&f, 0);
        BfEvent event = make_event(&f);
        cpu_signal(fence, 10);
        queue_wait(queue, fence, 5);
        queue_signal(queue, later, 1);
        await_fence(later, 1);
        if (i % 2) {
            execute(queue, write_word(&f, queue, 1, 1));
            queue_signal(queue, fence, 0);
            await_idle(queue);
        } else {
            cpu_signal(fence, 0);
        }
        queue_wait(queue, fence, 5);
        execute(queue, write_word(&f, queue, 0, 1));
        queue_signal(queue, later, 2);
        set_event_on(later, 2, event);
        assert_held(&f, later, 1, event, 0);
        cpu_signal(fence, 4);
        assert_held(&f, later, 1, event, 0);
        cpu_signal(fence, 5);
        await_event(event);
        assert_int_equal(read_word(&f, 0), 1);
        fixture_close(&f);
    }
}

/* A registration, and a wait of the CPU's, too. */
FIXTURE_TEST(behaviour_39_new_cpu_waits_after_a_rewind_compare_with_the_lower_value)
{
    BfFence fence = make_fence(f, 10);
    BfEvent event = make_event(f);
    const uint64_t value = 5;
    set_event_on(fence, 5, event);
    assert_true(take_event(event));
    cpu_signal(fence, 4);
    set_event_on(fence, 5, event);
    assert_false(take_event(event));
    assert_int_equal(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, 0), VK_TIMEOUT);
    cpu_signal(fence, 5);
    assert_true(take_event(event));
    assert_success(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, 0));
}

TYPE_TEST(behaviour_40_wait_for_zero_always_passes)
{
    BfFence fence = make_fence(f, 0), drain = make_fence(f, 0);
    const uint64_t zero = 0;
    queue_wait(queue, fence, 0);
    queue_signal(queue, drain, 1);
    await_signals(queue);
    assert_value(drain, 1);
    assert_success(bfWaitFences(1, &fence, &zero, BF_FENCE_WAIT_ALL, 0));
    cpu_signal(fence, BIG);
    cpu_signal(fence, 0);
    queue_wait(queue, fence, 0);
    execute(queue, write_word(f, queue, 0, 1));
    queue_wait(queue, fence, 0);
    queue_signal(queue, drain, 2);
    await_fence(drain, 2);
}

/* Work of one call that lies behind a wait, and work of several calls: each behind the other. */
FIXTURE_TEST(behaviour_32_calls_on_one_queue_follow_each_other)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    f->words[0] = 3;
    enum { STEPS = TIMES(640) };
    for (uint32_t i = 0; i < STEPS; i++)
        execute(queue, copy_word(f, queue, i, i + 1));
    await_idle(queue);
    for (uint32_t i = 0; i <= STEPS; i++)
        assert_int_equal(read_word(f, i), 3);
}

/* Nothing orders the queues, so work that lasts on one of them holds up no other. */
TEST(engines_run_side_by_side)
{
    if (!fixture_is_icd())
        skip(); /* the device may have one engine */
    struct fixture f;
    fixture_open(&f, ENVIRONMENT("SHAPE=nvidia"));
    BfCommandQueue queues[3]; /* 3D, compute, copy */
    for (uint32_t i = 0; i < 3; i++)
        queues[i] = make_queue(&f, queue_types[i]);
    for (uint32_t i = 0; i < 2; i++) { /* copies end soon */
        VkEvent stall = stall_begin(&f, queues[i]);
        for (uint32_t k = 0; k < 3; k++) {
            if (k != i)
                execute(queues[k], write_word(&f, queues[k], k, 1 + i));
        }
        fixture_settle(&f);
        for (uint32_t k = 0; k < 3; k++) {
            if (k != i)
                assert_int_equal(read_word(&f, k), 1 + i);
        }
        stall_end(&f, stall);
        await_idle(queues[i]);
    }
    fixture_close(&f);
}

/* As many as a call passes on at once, and more. */
TYPE_TEST(an_execution_runs_all_its_command_buffers)
{
    static const uint32_t counts[] = {2, 3, 40};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        VkCommandBuffer commands[40];
        for (uint32_t k = 0; k < counts[i]; k++)
            commands[k] = write_word(f, queue, k, 100 * counts[i] + k);
        assert_success(bfQueueExecute(queue, counts[i], commands));
        await_idle(queue);
        for (uint32_t k = 0; k < counts[i]; k++)
            assert_int_equal(read_word(f, k), 100 * counts[i] + k);
    }
}

/* The first example of the document on multi-engine synchronization, with its fence values:
 * geometry and textures are copied, a pre-pass drawn, light computed, the picture drawn; the copy
 * of the textures may overlap pre-pass and light, which come though it is held up. Each step adds
 * to what the steps before it have left; submitted in the document's order, and backwards. */
TEST(the_first_example_of_the_document)
{
    enum { GEOMETRY, TEXTURES, PREPASS, LIGHT, DRAWN_LIGHT, DRAWN_TEXTURES };
    for (uint32_t backwards = 0; backwards < 2; backwards++) {
        struct fixture f;
        fixture_open(&f, NULL);
        BfCommandQueue copies = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
        BfCommandQueue render = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfCommandQueue compute = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
        BfFence copied = make_fence(&f, 0), rendered = make_fence(&f, 0);
        BfFence computed = make_fence(&f, 0), slow = make_fence(&f, 0), shown = make_fence(&f, 0);
        for (uint32_t engine = 0; engine < 3; engine++) {
            switch (backwards ? 2 - engine : engine) {
            case 0:
                execute(copies, write_word(&f, copies, GEOMETRY, 7));
                queue_signal(copies, copied, 101);
                queue_wait(copies, slow, 1); /* the textures take their time */
                execute(copies, write_word(&f, copies, TEXTURES, 9));
                queue_signal(copies, copied, 102);
                break;
            case 1:
                queue_wait(render, copied, 101);
                execute(render, copy_word(&f, render, GEOMETRY, PREPASS));
                queue_signal(render, rendered, 201);
                queue_wait(render, computed, 301);
                queue_wait(render, copied, 102);
                execute(render, copy_word(&f, render, LIGHT, DRAWN_LIGHT));
                execute(render, copy_word(&f, render, TEXTURES, DRAWN_TEXTURES));
                queue_signal(render, shown, 1);
                break;
            default:
                queue_wait(compute, rendered, 201);
                execute(compute, copy_word(&f, compute, PREPASS, LIGHT));
                queue_signal(compute, computed, 301);
            }
        }
        await_fence(computed, 301);
        fixture_settle(&f);
        assert_value(copied, 101);
        assert_value(shown, 0);
        assert_int_equal(read_word(&f, DRAWN_LIGHT), 0);
        cpu_signal(slow, 1);
        await_fence(shown, 1);
        assert_value(copied, 102);
        assert_value(rendered, 201);
        assert_int_equal(read_word(&f, DRAWN_LIGHT), 7);
        assert_int_equal(read_word(&f, DRAWN_TEXTURES), 9);
        fixture_close(&f);
    }
}
