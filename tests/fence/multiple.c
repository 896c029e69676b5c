/* SPDX-License-Identifier: MIT */
/* Behaviours 60 to 69: waits for several fences at once, by an event and by blocking. (63, values
 * left out, is undefined in D3D12; here it is bad input like the rest: bad_input.c.) */
#include "support/fixture.h"

static VkResult with_event(uint32_t count, const BfFence *fences, const uint64_t *values,
                           BfFenceWaitFlags flags, BfEvent event)
{
    return bfSetEventOnMultipleFenceCompletion(count, fences, values, flags, event);
}

static VkResult blocking(uint32_t count, const BfFence *fences, const uint64_t *values,
                         BfFenceWaitFlags flags, BfEvent event)
{
    return bfWaitFences(count, fences, values, flags, UINT64_MAX);
}

typedef VkResult multiple_fn(uint32_t count, const BfFence *fences, const uint64_t *values,
                             BfFenceWaitFlags flags, BfEvent event);
static multiple_fn *const forms[] = {with_event, blocking};

FIXTURE_TEST(behaviour_60_no_fences_and_null_arrays_are_refused)
{
    BfEvent event = make_event(f);
    for (size_t i = 0; i < 2; i++) {
        assert_bad_input(forms[i](0, NULL, NULL, BF_FENCE_WAIT_ALL, event));
        assert_bad_input(forms[i](0, NULL, NULL, BF_FENCE_WAIT_ANY_BIT, event));
    }
    assert_false(take_event(event));
}

FIXTURE_TEST(behaviour_61_no_fences_with_arrays_are_refused)
{
    BfEvent event = make_event(f);
    const BfFence fence = make_fence(f, 1);
    const uint64_t value = 1;
    for (size_t i = 0; i < 2; i++) {
        assert_bad_input(forms[i](0, &fence, &value, BF_FENCE_WAIT_ANY_BIT, event));
        assert_bad_input(forms[i](0, &fence, &value, BF_FENCE_WAIT_ALL, event));
    }
    assert_false(take_event(event));
}

FIXTURE_TEST(behaviour_62_undefined_flags_are_refused)
{
    BfEvent event = make_event(f);
    const BfFence fence = make_fence(f, 1);
    const uint64_t value = 1;
    static const BfFenceWaitFlags flags[] = {0xffffffff, 2, 3, 0x80000000};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 4; k++)
            assert_bad_input(forms[i](1, &fence, &value, flags[k], event));
    assert_false(take_event(event));
}

FIXTURE_TEST(behaviour_64_all_of_one_is_the_single_form)
{
    BfEvent event = make_event(f);
    const BfFence fence = make_fence(f, 0);
    uint64_t value = 2;
    for (BfFenceWaitFlags flags = BF_FENCE_WAIT_ALL; flags <= BF_FENCE_WAIT_ANY_BIT; flags++) {
        cpu_signal(fence, 0);
        assert_success(bfSetEventOnMultipleFenceCompletion(1, &fence, &value, flags, event));
        assert_false(take_event(event));
        cpu_signal(fence, 1);
        assert_false(take_event(event));
        assert_int_equal(bfWaitFences(1, &fence, &value, flags, 0), VK_TIMEOUT);
        cpu_signal(fence, 3);
        assert_true(take_event(event));
        assert_success(bfWaitFences(1, &fence, &value, flags, UINT64_MAX));
        cpu_signal(fence, 4);
        assert_false(take_event(event));
        assert_success(bfSetEventOnMultipleFenceCompletion(1, &fence, &value, flags, event));
        assert_true(take_event(event));
    }
}

FIXTURE_TEST(behaviour_65_all_is_set_once_when_the_last_has_come)
{
    BfCommandQueue queues[] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                               make_queue(f, BF_COMMAND_LIST_TYPE_COPY)};
    BfEvent event = make_event(f);
    for (int last = 0; last < 4; last++) {
        BfFence fences[4];
        static const uint64_t values[4] = {1, 2, 3, 4};
        for (int i = 0; i < 4; i++)
            fences[i] = make_fence(f, 0);
        assert_success(
            bfSetEventOnMultipleFenceCompletion(4, fences, values, BF_FENCE_WAIT_ALL, event));
        assert_false(take_event(event));
        for (int i = 1; i <= 4; i++) {
            int fence = (last + i) % 4;
            fixture_settle(f);
            assert_false(take_event(event));
            if (fence % 2) {
                execute(queues[fence / 2], write_word(f, queues[fence / 2], 0, 1));
                queue_signal(queues[fence / 2], fences[fence], values[fence]);
            } else {
                cpu_signal(fences[fence], values[fence] + 10);
            }
        }
        await_event(event);
        for (int i = 0; i < 4; i++) {
            assert_true(bfGetFenceCompletedValue(fences[i]) >= values[i]);
            cpu_signal(fences[i], 100);
        }
        assert_false(take_event(event));
    }
}

/* They need not be there at the same time: each is satisfied for good. */
FIXTURE_TEST(behaviour_65_all_does_not_ask_for_the_same_time)
{
    BfEvent event = make_event(f);
    BfFence fences[3] = {make_fence(f, 0), make_fence(f, 7), make_fence(f, 0)};
    static const uint64_t values[3] = {5, 5, 5};
    assert_success(
        bfSetEventOnMultipleFenceCompletion(3, fences, values, BF_FENCE_WAIT_ALL, event));
    cpu_signal(fences[0], 5);
    cpu_signal(fences[0], 0);
    cpu_signal(fences[1], 0);
    assert_false(take_event(event));
    cpu_signal(fences[2], 4);
    assert_false(take_event(event));
    cpu_signal(fences[2], 5);
    assert_true(take_event(event));
    assert_int_equal(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ALL, 0), VK_TIMEOUT);
}

/* One fence several times, with values of its own. */
FIXTURE_TEST(behaviour_65_all_takes_one_fence_several_times)
{
    BfEvent all = make_event(f), any = make_event(f);
    BfFence fence = make_fence(f, 0);
    const BfFence fences[3] = {fence, fence, fence};
    static const uint64_t values[3] = {3, 1, 2};
    assert_success(bfSetEventOnMultipleFenceCompletion(3, fences, values, BF_FENCE_WAIT_ALL, all));
    assert_success(
        bfSetEventOnMultipleFenceCompletion(3, fences, values, BF_FENCE_WAIT_ANY_BIT, any));
    cpu_signal(fence, 1);
    assert_true(take_event(any));
    cpu_signal(fence, 2);
    assert_false(take_event(all));
    cpu_signal(fence, 3);
    assert_true(take_event(all));
    assert_false(take_event(any));
}

/* A great many: more than fit any small array. */
FIXTURE_TEST(behaviour_65_all_of_two_hundred)
{
    enum { FENCES = 200 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfEvent all = make_event(f), any = make_event(f);
    BfFence fences[FENCES];
    uint64_t values[FENCES];
    for (int i = 0; i < FENCES; i++) {
        fences[i] = make_fence(f, 0);
        values[i] = (uint64_t)i + 1;
    }
    assert_success(
        bfSetEventOnMultipleFenceCompletion(FENCES, fences, values, BF_FENCE_WAIT_ALL, all));
    assert_success(
        bfSetEventOnMultipleFenceCompletion(FENCES, fences, values, BF_FENCE_WAIT_ANY_BIT, any));
    for (int i = FENCES; i-- > 0;) {
        assert_false(take_event(all));
        queue_signal(queue, fences[i], values[i]);
        await_signals(queue);
        assert_int_equal(take_event(any), i == FENCES - 1);
    }
    assert_true(take_event(all));
}

FIXTURE_TEST(behaviour_66_all_without_event_returns_when_all_are_there)
{
    BfFence fences[3] = {make_fence(f, 1), make_fence(f, 0), make_fence(f, BIG)};
    static const uint64_t values[3] = {1, 0, BIG - 1};
    assert_success(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_success(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ALL, 0));
    /* And when the last of them comes from a queue. */
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    static const uint64_t more[3] = {1, 6, BIG};
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fences[1], 6);
    assert_success(bfWaitFences(3, fences, more, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_value(fences[1], 6);
    assert_int_equal(read_word(f, 0), 1);
}

FIXTURE_TEST(behaviour_67_any_is_set_by_the_first_alone)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfEvent event = make_event(f);
    for (int first = 0; first < 4; first++) {
        BfFence fences[4];
        static const uint64_t values[4] = {1, 2, 3, 4};
        for (int i = 0; i < 4; i++)
            fences[i] = make_fence(f, 0);
        assert_success(
            bfSetEventOnMultipleFenceCompletion(4, fences, values, BF_FENCE_WAIT_ANY_BIT, event));
        for (int i = 0; i < 4; i++)
            if (values[i] > 1)
                cpu_signal(fences[i], values[i] - 1);
        assert_false(take_event(event));
        for (int i = 0; i < 4; i++) {
            int fence = (first + i) % 4;
            if (fence % 2) {
                execute(queue, write_word(f, queue, 0, 1));
                queue_signal(queue, fences[fence], values[fence]);
                await_idle(queue);
            } else {
                cpu_signal(fences[fence], values[fence]);
            }
            fixture_settle(f);
            assert_int_equal(take_event(event), i == 0);
            assert_value(fences[fence], values[fence]);
        }
        assert_false(take_event(event));
    }
}

FIXTURE_TEST(behaviour_68_any_without_event_returns_when_one_is_there)
{
    BfFence fences[3] = {make_fence(f, 0), make_fence(f, 5), make_fence(f, 0)};
    static const uint64_t values[3] = {1, 5, UINT64_MAX};
    assert_success(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ANY_BIT, UINT64_MAX));
    assert_success(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ANY_BIT, 0));
    cpu_signal(fences[1], 4);
    assert_int_equal(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ANY_BIT, 0), VK_TIMEOUT);
    /* And when the first of them comes from a queue. */
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fences[0], 1);
    assert_success(bfWaitFences(3, fences, values, BF_FENCE_WAIT_ANY_BIT, UINT64_MAX));
    assert_value(fences[0], 1);
    assert_int_equal(read_word(f, 0), 1);
}

FIXTURE_TEST(behaviour_69_any_with_event_is_set_at_once_when_one_is_there)
{
    BfEvent event = make_event(f);
    BfFence fences[3] = {make_fence(f, 0), make_fence(f, 0), make_fence(f, 5)};
    static const uint64_t values[3] = {1, 1, 5};
    assert_success(
        bfSetEventOnMultipleFenceCompletion(3, fences, values, BF_FENCE_WAIT_ANY_BIT, event));
    assert_true(take_event(event));
    cpu_signal(fences[0], 1);
    cpu_signal(fences[1], 1);
    cpu_signal(fences[2], 6);
    assert_false(take_event(event)); /* it has had its one */
}

/* Blocked threads, by either rule. */
struct waiter {
    const BfFence *fences;
    const uint64_t *values;
    BfFenceWaitFlags flags;
    VkResult result;
};

static void block(void *argument)
{
    struct waiter *b = argument;
    b->result = bfWaitFences(3, b->fences, b->values, b->flags, UINT64_MAX);
}

FIXTURE_TEST(behaviour_66_and_68_blocked_threads_return_at_the_last_and_at_the_first)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    for (int round = 0; round < 10; round++) {
        BfFence fences[3] = {make_fence(f, 0), make_fence(f, 0), make_fence(f, 0)};
        static const uint64_t values[3] = {1, 2, 3};
        struct waiter b[2] = {
            {fences, values, BF_FENCE_WAIT_ALL, VK_RESULT_MAX_ENUM},
            {fences, values, BF_FENCE_WAIT_ANY_BIT, VK_RESULT_MAX_ENUM},
        };
        struct thread threads[2];
        for (int i = 0; i < 2; i++) {
            thread_start(&threads[i], block, &b[i]);
            thread_await_sleep(&threads[i]);
        }
        cpu_signal(fences[1], 1);
        assert_false(threads[0].finished || threads[1].finished);
        execute(queue, write_word(f, queue, 0, 1));
        queue_signal(queue, fences[2], 3);
        thread_join(&threads[1]);
        assert_success(b[1].result);
        cpu_signal(fences[0], 1);
        cpu_signal(fences[0], 0);
        assert_false(threads[0].finished);
        cpu_signal(fences[1], 2);
        thread_join(&threads[0]);
        assert_success(b[0].result);
    }
}
