/* SPDX-License-Identifier: MIT */
/* Behaviours 28 to 31: threads that block on a fence, or poll it. */
#include "support/fixture.h"

struct waiter {
    BfFence fence;
    BfEvent event;
    uint64_t value, seen;
    VkResult result;
};

static void wait_by_event(void *argument)
{
    struct waiter *w = argument;
    w->result = bfSetEventOnFenceCompletion(w->fence, w->value, w->event);
    if (w->result == VK_SUCCESS)
        w->result = bfWaitForEvents(1, &w->event, VK_FALSE, UINT64_MAX, NULL);
    w->seen = bfGetFenceCompletedValue(w->fence);
}

static void wait_without_event(void *argument)
{
    struct waiter *w = argument;
    w->result = bfWaitFences(1, &w->fence, &w->value, BF_FENCE_WAIT_ALL, UINT64_MAX);
    w->seen = bfGetFenceCompletedValue(w->fence);
}

static void poll_value(void *argument)
{
    struct waiter *w = argument;
    while ((w->seen = bfGetFenceCompletedValue(w->fence)) < w->value)
        sched_yield();
    w->result = bfWaitForEvents(1, &w->event, VK_FALSE, 0, NULL); /* set with the value (F-4) */
}

/* One thread waits in that way, another (this one) lets the fence reach the value: 'type' is the
 * queue's that signals, or -1 for the CPU. */
static void release(void (*wait)(void *argument), int type, bool stalled)
{
    struct fixture f;
    fixture_open(&f, NULL);
    BfFence fence = make_fence(&f, 0);
    BfCommandQueue queue = type < 0 ? NULL : make_queue(&f, (BfCommandListType)type);
    for (uint64_t v = 1; v <= 20; v++) {
        struct waiter w = {
            .fence = fence, .event = make_event(&f), .value = v, .result = VK_RESULT_MAX_ENUM};
        struct thread thread;
        VkEvent stall = VK_NULL_HANDLE;
        if (queue && stalled) { /* the signal is under way before the thread begins */
            stall = stall_begin(&f, queue);
            queue_signal(queue, fence, v);
        }
        if (wait == poll_value)
            set_event_on(fence, v, w.event);
        thread_start(&thread, wait, &w);
        if (wait != poll_value && v % 4) /* most likely blocked otherwise, too */
            thread_await_sleep(&thread);
        assert_false(thread.finished);
        if (stall)
            stall_end(&f, stall);
        else if (queue) {
            if (v % 2)
                execute(queue, write_word(&f, queue, 0, (uint32_t)v));
            queue_signal(queue, fence, v);
        } else
            cpu_signal(fence, v);
        thread_join(&thread);
        assert_success(w.result);
        assert_int_equal(w.seen, v);
    }
    fixture_close(&f);
}

TEST(behaviour_28_thread_on_its_event_is_released_by_cpu_signal)
{
    release(wait_by_event, -1, false);
}

TEST(behaviour_28_thread_in_a_fence_wait_is_released_by_cpu_signal)
{
    release(wait_without_event, -1, false);
}

TEST(behaviour_29_polling_thread_sees_cpu_signal)
{
    release(poll_value, -1, false);
}

TEST(behaviour_30_thread_on_its_event_is_released_by_queue_signal)
{
    release(wait_by_event, BF_COMMAND_LIST_TYPE_DIRECT, false);
    release(wait_by_event, BF_COMMAND_LIST_TYPE_COMPUTE, true);
    release(wait_by_event, BF_COMMAND_LIST_TYPE_COPY, false);
}

TEST(behaviour_30_thread_in_a_fence_wait_is_released_by_queue_signal)
{
    release(wait_without_event, BF_COMMAND_LIST_TYPE_DIRECT, true);
    release(wait_without_event, BF_COMMAND_LIST_TYPE_COMPUTE, false);
    release(wait_without_event, BF_COMMAND_LIST_TYPE_COPY, false);
}

TEST(behaviour_31_polling_thread_sees_queue_signal)
{
    release(poll_value, BF_COMMAND_LIST_TYPE_DIRECT, true);
    release(poll_value, BF_COMMAND_LIST_TYPE_DIRECT, false);
    release(poll_value, BF_COMMAND_LIST_TYPE_COPY, false);
}

/* Sixteen threads on values of one fence, which a queue and the CPU reach by turns. */
FIXTURE_TEST(behaviour_30_threads_are_released_each_at_its_value)
{
    enum { THREADS = 16 };
    BfFence fence = make_fence(f, 0);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    struct waiter waiters[THREADS];
    struct thread threads[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        waiters[i] = (struct waiter){
            .fence = fence, .event = make_event(f), .value = i + 1, .result = VK_RESULT_MAX_ENUM};
        thread_start(&threads[i], i % 2 ? wait_by_event : wait_without_event, &waiters[i]);
    }
    for (uint64_t i = 0; i < THREADS; i++)
        thread_await_sleep(&threads[i]);
    for (uint64_t i = 0; i < THREADS; i++) {
        assert_false(threads[i].finished);
        if (i % 3)
            execute(queue, write_word(f, queue, 0, 1));
        if (i % 3 == 1)
            await_idle(queue);
        if (i % 3)
            queue_signal(queue, fence, i + 1);
        else
            cpu_signal(fence, i + 1);
        thread_join(&threads[i]);
        assert_success(waiters[i].result);
        assert_int_equal(waiters[i].seen, i + 1);
    }
}

/* Waits that end by their time, under a fence that is reached only later. */
FIXTURE_TEST(behaviour_28_a_wait_may_end_by_its_time)
{
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    const uint64_t value = 1;
    static const uint64_t times[] = {0, 1, 1000000};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, times[i]), VK_TIMEOUT);
        assert_int_equal(bfWaitForEvents(1, &event, VK_FALSE, times[i], NULL), VK_TIMEOUT);
    }
    set_event_on(fence, 1, event);
    cpu_signal(fence, 1);
    for (size_t i = 0; i < 3; i++)
        assert_success(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, times[i]));
    assert_true(take_event(event));
}
