/* SPDX-License-Identifier: MIT */
/* What waiting costs, counted in wake-ups and never in time: nobody sleeps or wakes where nobody
 * waits, and a waiter wakes Belfry about once, however many signals pass it by. */
#include "support/fixture.h"

#include "scheduler/fence.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

#include <sys/resource.h>

/* Times that threads of this process went to sleep of their own accord: each a wake-up later. */
static long sleeps(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_nvcsw;
}

FIXTURE_TEST(signals_that_nobody_waits_for_wake_nobody)
{
    enum { SIGNALS = TIMES(100000) };
    BfCommandQueue queues[3] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COPY)};
    BfFence fence = make_fence(f, 0);
    for (uint64_t i = 0; i < SIGNALS; i++) {
        BfCommandQueue queue = queues[i % 4 % 3];
        if (i % 128 == 0)
            execute(queue, write_word(f, queue, 0, 1));
        if (i % 4 == 3)
            cpu_signal(fence, i);
        else
            queue_signal(queue, fence, i);
    }
    if (f->icd.library)
        fixture_settle(f); /* elsewhere it waits itself */
    BfDeviceCounters c = counters_of(f);
    assert_int_equal(c.sleeperWakeups, 0);
    assert_int_equal(c.sleeperThreads, 0);
    assert_int_equal(c.eventsSet, 0);
    for (int i = 0; i < 3; i++)
        await_idle(queues[i]);
}

/* So many signals of 1, 2, 3, ... behind work that lasts until all have been called: none of them
 * can apply at once, and nobody waits for any. */
static void signal_unwatched(struct fixture *f, BfCommandQueue queue, BfFence fence,
                             uint64_t signals)
{
    uint64_t before = counters_of(f).sleeperWakeups;
    VkEvent stall = stall_begin(f, queue);
    for (uint64_t i = 1; i <= signals; i++)
        queue_signal(queue, fence, i);
    stall_end(f, stall);
    while (bfGetFenceCompletedValue(fence) < signals)
        sched_yield();
    assert_int_equal(counters_of(f).sleeperWakeups, before);
}

/* F-3 */
FIXTURE_TEST(the_least_that_is_waited_for_is_monitored)
{
    BfFence made = make_fence(f, 0);
    const struct bf_fence *fence = (struct bf_fence *)made;
    BfEvent event = make_event(f);
    assert_int_equal(fence->monitored, UINT64_MAX);
    set_event_on(made, 9, event);
    assert_int_equal(fence->monitored, 8);
    set_event_on(made, 4, event);
    assert_int_equal(fence->monitored, 3);
    cpu_signal(made, 4);
    assert_int_equal(fence->monitored, 8);
    cpu_signal(made, 10);
    assert_int_equal(fence->monitored, UINT64_MAX);
}

/* Below the value that is waited for anybody may signal, and it costs no submission either. */
FIXTURE_TEST(signals_below_what_is_waited_for_wake_nobody)
{
    enum { SIGNALS = TIMES(100000) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    set_event_on(fence, BIG, event);
    for (uint64_t i = 0; i < SIGNALS; i++)
        if (i % 2)
            cpu_signal(fence, i);
        else
            queue_signal(i % 4 ? queue : other, fence, i);
    assert_int_equal(counters_of(f).submissions, 0);
    signal_unwatched(f, queue, fence, SIGNALS / 10);
    BfDeviceCounters c = counters_of(f);
    assert_int_equal(c.sleeperWakeups, 0);
    assert_int_equal(c.submissions, 1); /* the work before them */
    assert_int_equal(c.eventsSet, 0);
    assert_false(take_event(event));
    cpu_signal(fence, BIG);
    assert_true(take_event(event));
    c = counters_of(f);
    assert_int_equal(c.sleeperWakeups, 0); /* it was the CPU itself */
    assert_int_equal(c.eventsSet, 1);
    await_idle(queue);
}

/* Has a sleeper been asked to wait for the fence's last signal, which is under way? */
static bool last_signal_is_watched(BfFence handle)
{
    const struct bf_fence *fence = (struct bf_fence *)handle;
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bool pends = fence->last_update, watched = pends && fence->last_update->need.inserted;
    bf_lock_release(&pending->lock);
    assert_true(pends);
    return watched;
}

/* Nor do those of a native fence, whose value is in memory without anybody's looking: no sleeper is
 * asked to wait for them. */
FIXTURE_TEST(signals_of_a_native_fence_are_watched_above_what_is_monitored)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 0);
    BfEvent event = make_event(f);
    set_event_on(fence, 9, event);
    VkEvent stall = stall_begin(f, queue);
    queue_signal(queue, fence, 8);
    assert_false(last_signal_is_watched(fence));
    queue_signal(queue, fence, 9);
    assert_true(last_signal_is_watched(fence));
    stall_end(f, stall);
    await_event(event);
    assert_value(fence, 9);
}

/* A thousand signals, each behind work of its own, pass a waiter for the last by. */
FIXTURE_TEST(one_waiter_for_the_last_of_many_signals_wakes_once)
{
    enum { SIGNALS = TIMES(1000) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    set_event_on(fence, SIGNALS, event);
    VkEvent stall = stall_begin(f, queue);
    for (uint32_t i = 1; i <= SIGNALS; i++) {
        execute(queue, write_word(f, queue, 0, i));
        queue_signal(queue, fence, i);
    }
    stall_end(f, stall);
    await_event(event);
    assert_value(fence, SIGNALS);
    assert_int_equal(read_word(f, 0), SIGNALS);
    BfDeviceCounters c = counters_of(f);
    assert_in_range(c.sleeperWakeups, 0, 1); /* 0: the last signal found its work done */
    assert_int_equal(c.eventsSet, 1);
}

/* The same, one by one: each signal has landed, and been seen, before the next may. */
FIXTURE_TEST(one_waiter_sleeps_on_while_signals_land_one_by_one)
{
    enum { SIGNALS = 64 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    VkEvent stalls[SIGNALS];
    set_event_on(fence, SIGNALS, event);
    for (uint64_t i = 0; i < SIGNALS; i++) {
        stalls[i] = stall_begin(f, queue);
        queue_signal(queue, fence, i + 1);
    }
    for (uint64_t i = 0; i < SIGNALS; i++) {
        assert_int_equal(counters_of(f).sleeperWakeups, 0);
        assert_false(take_event(event));
        stall_end(f, stalls[i]);
        while (bfGetFenceCompletedValue(fence) <= i)
            sched_yield();
    }
    await_event(event);
    assert_in_range(counters_of(f).sleeperWakeups, 0, 1); /* 0: this thread was quicker */
}

/* Z-1: the sleeper waits for the later one already. */
FIXTURE_TEST(an_earlier_signal_is_waited_for_beside_a_later_one)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    BfEvent events[2] = {make_event(f), make_event(f)};
    VkEvent stalls[2];
    for (uint64_t i = 0; i < 2; i++) {
        stalls[i] = stall_begin(f, queue);
        queue_signal(queue, fence, i + 1);
    }
    for (uint64_t i = 2; i-- > 0;) {
        set_event_on(fence, i + 1, events[i]);
        while (i && f->icd.library && !f->icd.sleepers())
            sched_yield();
    }
    for (uint64_t i = 0; i < 2; i++) {
        stall_end(f, stalls[i]);
        await_event(events[i]);
        assert_value(fence, i + 1);
    }
}

/* A thousand registrations on as many values, all of which come behind one piece of work. */
FIXTURE_TEST(many_waiters_behind_one_work_wake_once)
{
    enum { WAITERS = TIMES(1000) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0);
    BfEvent events[16];
    for (int i = 0; i < 16; i++)
        events[i] = make_event(f);
    for (uint64_t i = WAITERS; i > 0; i--)
        set_event_on(fence, i, events[i % 16]);
    VkEvent stall = stall_begin(f, queue);
    for (uint64_t i = 1; i <= WAITERS; i++)
        queue_signal(queue, fence, i);
    assert_int_equal(counters_of(f).eventsSet, 0);
    stall_end(f, stall);
    for (int i = 0; i < 16; i++)
        await_event(events[i]);
    await_fence(fence, WAITERS);
    BfDeviceCounters c = counters_of(f);
    assert_in_range(c.sleeperWakeups, 0, 1);
    assert_int_equal(c.eventsSet, WAITERS); /* a fence that is there has set all it had to */
}

/* The same with work before each: at most one wake-up for each value waited for. */
FIXTURE_TEST(waiters_for_every_value_wake_at_most_once_each)
{
    enum { WAITERS = TIMES(1000) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0), gate = make_fence(f, 0);
    BfEvent event = make_event(f);
    queue_wait(queue, gate, 1);
    for (uint32_t i = 1; i <= WAITERS; i++) {
        set_event_on(fence, i, event);
        execute(queue, write_word(f, queue, 0, i));
        queue_signal(queue, fence, i);
    }
    cpu_signal(gate, 1);
    await_fence(fence, WAITERS);
    BfDeviceCounters c = counters_of(f);
    assert_in_range(c.sleeperWakeups, 0, WAITERS);
    assert_int_equal(c.eventsSet, WAITERS);
}

/* A thousand threads in bfWaitFences are woken by one signal, each once or hardly more often: what
 * goes to sleep again has been woken in vain. */
static void wake_blocked_threads(BfCommandQueue (*make)(struct fixture *f))
{
    enum { THREADS = TIMES(1000) };
    static struct thread threads[THREADS];
    static struct blocked b[THREADS];
    struct fixture f;
    fixture_open(&f, NULL);
    BfFence fence = make_fence(&f, 0);
    BfCommandQueue queue = make ? make(&f) : NULL;
    for (int i = 0; i < THREADS; i++) {
        b[i] = (struct blocked){.fence = fence, .value = 7, .result = VK_RESULT_MAX_ENUM};
        thread_start(&threads[i], block_on, &b[i]);
    }
    for (int i = 0; i < THREADS; i++)
        thread_await_sleep(&threads[i]);
    long before = sleeps();
    for (uint64_t v = 1; v < 7; v++) /* nobody wants these */
        cpu_signal(fence, v);
    if (queue) {
        execute(queue, write_word(&f, queue, 0, 1));
        queue_signal(queue, fence, 7);
    } else {
        cpu_signal(fence, 7);
    }
    for (int i = 0; i < THREADS; i++) {
        thread_join(&threads[i]);
        assert_success(b[i].result);
    }
    long during = sleeps() - before;
    assert_in_range(counters_of(&f).sleeperWakeups, 0, queue ? 1 : 0);
    print_message("%ld sleeps of %d threads\n", during, THREADS);
    /* One to join each thread, one more for each to run into another's lock on its way out. */
    assert_in_range(during, 0, 3 * THREADS + 200);
    fixture_close(&f);
}

static BfCommandQueue direct(struct fixture *f)
{
    return make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
}

TEST(a_cpu_signal_wakes_many_threads_once_each)
{
    wake_blocked_threads(NULL);
}

TEST(a_queue_signal_wakes_many_threads_once_each)
{
    wake_blocked_threads(direct);
}

/* Waiters that give up leave nothing behind that would wake anybody. */
FIXTURE_TEST(waiters_that_gave_up_cost_nothing)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    for (uint64_t value = 1; value <= TIMES(1000); value++) {
        assert_int_equal(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, 0), VK_TIMEOUT);
        assert_int_equal(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, 1), VK_TIMEOUT);
    }
    signal_unwatched(f, queue, fence, TIMES(1000));
}
