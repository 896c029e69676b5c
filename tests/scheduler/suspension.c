/* SPDX-License-Identifier: MIT */
/* Suspended queues that take their work by calls (scheduler/suspension.h): what is queued
 * meanwhile, what it holds up and what it doesn't, and what ends it. */
#include "support/traced.h"

#include <belfry/preemption.h>
#include <belfry/user_mode_submission.h>

static void suspend(BfCommandQueue queue)
{
    assert_success(bfSuspendCommandQueue(queue));
}

static void resume(BfCommandQueue queue)
{
    assert_success(bfResumeCommandQueue(queue));
}

/* So many executions have been handed over since. */
#define assert_handed_over(f_, before_, n_)                                                        \
    assert_int_equal(counters_of(f_).submissions, (before_) + (n_))

FIXTURE_TEST(what_a_suspended_queue_is_given_is_queued)
{
    for (int i = 0; i < 3; i++) {
        BfCommandQueue queue = make_queue(f, queue_types[i]), other = make_queue(f, queue_types[i]);
        BfFence fence = make_fence(f, 0), beside = make_fence(f, 0);
        execute(queue, write_word(f, queue, 0, 1)); /* goes on */
        queue_signal(queue, beside, 1);
        suspend(queue);
        await_fence(beside, 1);
        assert_int_equal(read_word(f, 0), 1);
        uint64_t before = counters_of(f).submissions;
        for (uint32_t k = 2; k <= 4; k++) {
            execute(queue, write_word(f, queue, 0, k));
            queue_signal(queue, fence, k);
        }
        assert_handed_over(f, before, 0);
        before = counters_of(f).submissions;
        execute(other, write_word(f, other, 1, 7));
        queue_signal(other, beside, 2);
        await_fence(beside, 2);
        fixture_settle(f);
        assert_int_equal(read_word(f, 0), 1);
        assert_int_equal(read_word(f, 1), 7);
        assert_value(fence, 0);
        resume(queue);
        await_fence(fence, 4);
        await_idle(queue);
        assert_int_equal(read_word(f, 0), 4);
        assert_true(counters_of(f).submissions > before);
    }
}

/* Without work, too, they apply in their turn: it isn't the queue's. */
FIXTURE_TEST(a_suspended_queue_s_signals_and_waits_are_queued)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   behind = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0), there = make_fence(f, 5), done = make_fence(f, 0);
    BfEvent event = make_event(f);
    await_idle(queue);
    suspend(queue);
    queue_wait(queue, there, 5);
    queue_signal(queue, fence, 3);
    queue_signal(queue, fence, 2);
    set_event_on(fence, 3, event);
    queue_wait(behind, fence, 3);
    execute(behind, write_word(f, behind, 0, 1));
    queue_signal(behind, done, 1);
    cpu_signal(there, 4); /* it has been armed (F-2) */
    fixture_settle(f);
    assert_value(fence, 0);
    assert_value(done, 0);
    assert_false(take_event(event));
    resume(queue);
    await_event(event);
    await_fence(done, 1);
    await_signals(queue);
    assert_value(fence, 2);
    assert_int_equal(read_word(f, 0), 1);
}

/* What a wait had held stays, when nothing holds it any more. */
FIXTURE_TEST(what_was_queued_before_is_held_too)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(f, 0), fence = make_fence(f, 0);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 1);
    suspend(queue);
    cpu_signal(gate, 1);
    fixture_settle(f);
    assert_value(fence, 0);
    execute(queue, write_word(f, queue, 0, 2));
    queue_signal(queue, fence, 2);
    resume(queue);
    await_fence(fence, 2);
    assert_int_equal(read_word(f, 0), 2);
    /* Nor is a resumed queue past its wait. */
    queue_wait(queue, gate, 2);
    queue_signal(queue, fence, 3);
    suspend(queue);
    resume(queue);
    fixture_settle(f);
    assert_value(fence, 2);
    cpu_signal(gate, 2);
    await_fence(fence, 3);
}

FIXTURE_TEST(suspensions_are_counted)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    assert_bad_input(bfResumeCommandQueue(queue));
    suspend(queue);
    suspend(queue);
    queue_signal(queue, fence, 1);
    resume(queue);
    assert_value(fence, 0);
    resume(queue);
    await_fence(fence, 1);
    assert_bad_input(bfResumeCommandQueue(queue));
    assert_bad_input(bfSuspendCommandQueue(NULL));
    assert_bad_input(bfResumeCommandQueue((BfCommandQueue)fence));
    queue_signal(queue, fence, 2); /* as ever */
    await_fence(fence, 2);
}

FIXTURE_TEST(destruction_resumes)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    suspend(queue);
    suspend(queue);
    execute(queue, write_word(f, queue, 0, 3));
    queue_signal(queue, fence, 1);
    fixture_settle(f);
    assert_value(fence, 0);
    drop_queue(f, queue);
    await_fence(fence, 1);
    assert_int_equal(read_word(f, 0), 3);
}

/* Who waits for idleness is let go by whoever resumes. */
FIXTURE_TEST(idleness_waits_for_the_resumption)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    suspend(queue);
    execute(queue, write_word(f, queue, 0, 9));
    struct blocked blocked = {.queue = queue};
    struct thread thread;
    thread_start(&thread, block_on, &blocked);
    thread_await_sleep(&thread);
    assert_false(thread.finished);
    resume(queue);
    thread_join(&thread);
    assert_success(blocked.result);
    assert_int_equal(read_word(f, 0), 9);
}

/* Neither a priority window nor a request holds others for the sake of what can't go. */
FIXTURE_TEST(it_holds_up_no_lower_queue)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH};
    BfCommandQueue high = NULL, low = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    assert_success(bfCreateCommandQueue(f->bf, &info, &high));
    f->made_queues[f->queue_count++] = high;
    BfFence fence = make_fence(f, 0), above = make_fence(f, 0);
    suspend(high);
    execute(high, write_word(f, high, 0, 1));
    queue_signal(high, above, 1);
    assert_success(bfRequestPreemption(high, NULL));
    for (uint32_t i = 1; i <= 8; i++) {
        execute(low, write_word(f, low, 1, i));
        queue_signal(low, fence, i);
    }
    await_fence(fence, 8);
    assert_int_equal(read_word(f, 1), 8);
    assert_value(above, 0);
    resume(high);
    await_fence(above, 1);
}

/* How long it was held, and by what, stands in the trace. */
TEST(a_trace_has_suspensions)
{
    struct traced traced;
    struct fixture f;
    traced_open(&traced, &f);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    suspend(queue);
    execute(queue, write_word(&f, queue, 0, 1));
    resume(queue);
    await_idle(queue);
    fixture_close(&f);
    assert_true(traced_has(&traced, "a resumption of its queue"));
    traced_remove(&traced);
}

TEST(a_lost_device_drops_what_is_held)
{
    if (!fixture_is_icd())
        skip();
    struct fixture opened, *f = &opened;
    fixture_open(f, NULL);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    suspend(queue);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 1);
    struct blocked blocked = {.queue = queue};
    struct thread thread;
    thread_start(&thread, block_on, &blocked);
    thread_await_sleep(&thread);
    VkCommandBuffer commands = write_word(f, other, 1, 1);
    f->lost = true;
    f->icd.lose();
    assert_int_equal(bfQueueExecute(other, 1, &commands), VK_ERROR_DEVICE_LOST);
    thread_join(&thread);
    assert_int_equal(blocked.result, VK_ERROR_DEVICE_LOST);
    assert_value(fence, UINT64_MAX);
    assert_success(bfResumeCommandQueue(queue));
    assert_int_equal(bfQueueSignal(queue, fence, 2), VK_ERROR_DEVICE_LOST);
    fixture_close(f);
}
