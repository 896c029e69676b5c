/* SPDX-License-Identifier: MIT */
/* Behaviours 41 to 51: fences that are set back while work is pending. */
#include "support/fixture.h"

#include <belfry/native_fence.h>

/* ------------------------------------------------------ 41 to 44: a signal that is under way -- */

/* How a queue's signal is kept from landing. */
enum pending {
    HELD,    /* the queue waits for another fence: Belfry has its work */
    RUNNING, /* the queue's work lasts: the driver has it */
};

/* A fence that reads 9, with a queue's signal of 10 pending. */
struct scene {
    struct fixture f;
    enum pending how;
    BfCommandQueue first, second;
    BfFence fence, gate, later;
    BfEvent event; /* when 'later' reaches 1 */
    VkEvent stall;
};

static void scene_open(struct scene *s, enum pending how, BfCommandListType second)
{
    fixture_open(&s->f, NULL);
    s->how = how;
    s->first = make_queue(&s->f, BF_COMMAND_LIST_TYPE_DIRECT);
    s->second = make_queue(&s->f, second);
    s->fence = make_fence(&s->f, 0);
    s->gate = make_fence(&s->f, 0);
    s->later = make_fence(&s->f, 0);
    s->event = make_event(&s->f);
    execute(s->first, write_word(&s->f, s->first, 0, 9));
    queue_signal(s->first, s->fence, 9);
    await_fence(s->fence, 9);
    assert_value(s->fence, 9);
    if (how == HELD)
        queue_wait(s->first, s->gate, 1);
    else
        s->stall = stall_begin(&s->f, s->first);
    execute(s->first, write_word(&s->f, s->first, 0, 10));
    queue_signal(s->first, s->fence, 10);
    set_event_on(s->later, 1, s->event);
}

static void scene_release(struct scene *s)
{
    if (s->how == HELD)
        cpu_signal(s->gate, 1);
    else
        stall_end(&s->f, s->stall);
}

TEST(behaviour_41_cpu_signal_reads_at_once_with_a_queue_signal_pending)
{
    for (enum pending how = HELD; how <= RUNNING; how++) {
        struct scene s;
        scene_open(&s, how, BF_COMMAND_LIST_TYPE_COMPUTE);
        static const uint64_t values[] = {0, 3, BIG, 9, 10, 0};
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            cpu_signal(s.fence, values[i]);
            assert_value(s.fence, values[i]);
            fixture_settle(&s.f);
            assert_value(s.fence, values[i]);
        }
        scene_release(&s);
        await_idle(s.first);
        fixture_close(&s.f);
    }
}

TEST(behaviour_42_a_wait_after_the_rewind_is_satisfied_by_the_pending_signal_alone)
{
    static const BfCommandListType seconds[] = {
        BF_COMMAND_LIST_TYPE_DIRECT, BF_COMMAND_LIST_TYPE_COMPUTE, BF_COMMAND_LIST_TYPE_COPY};
    for (enum pending how = HELD; how <= RUNNING; how++) {
        for (size_t i = 0; i < 3; i++) {
            struct scene s;
            scene_open(&s, how, seconds[i]);
            cpu_signal(s.fence, 0);
            queue_wait(s.second, s.fence, 9);
            execute(s.second, copy_word(&s.f, s.second, 0, 1));
            queue_signal(s.second, s.later, 1);
            fixture_settle(&s.f);
            assert_value(s.later, 0);
            assert_false(take_event(s.event));
            scene_release(&s);
            await_event(s.event);
            assert_int_equal(read_word(&s.f, 1), 10);
            fixture_close(&s.f);
        }
    }
}

TEST(behaviour_43_the_pending_signal_still_lands_after_the_rewind)
{
    for (enum pending how = HELD; how <= RUNNING; how++) {
        struct scene s;
        scene_open(&s, how, BF_COMMAND_LIST_TYPE_COMPUTE);
        cpu_signal(s.fence, 0);
        queue_wait(s.second, s.fence, 9);
        queue_signal(s.second, s.later, 1);
        fixture_settle(&s.f);
        assert_value(s.fence, 0);
        assert_value(s.later, 0);
        scene_release(&s);
        await_fence(s.later, 1);
        assert_value(s.fence, 10);
        fixture_close(&s.f);
    }
}

TEST(behaviour_44_a_blocking_wait_ends_when_9_is_reached_with_10_pending)
{
    for (enum pending how = HELD; how <= RUNNING; how++) {
        struct fixture f;
        fixture_open(&f, NULL);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfFence fence = make_fence(&f, 0), gate = make_fence(&f, 0);
        BfEvent event = make_event(&f);
        for (uint32_t round = 1; round <= 8; round++) {
            cpu_signal(fence, 0);
            VkEvent stall = VK_NULL_HANDLE;
            execute(queue, write_word(&f, queue, 0, round));
            queue_signal(queue, fence, 9);
            if (how == HELD)
                queue_wait(queue, gate, round);
            else
                stall = stall_begin(&f, queue);
            queue_signal(queue, fence, 10);
            await_fence(fence, 9);
            assert_value(fence, 9);
            assert_int_equal(read_word(&f, 0), round);
            set_event_on(fence, 9, event);
            assert_true(take_event(event));
            if (how == HELD)
                cpu_signal(gate, round);
            else
                stall_end(&f, stall);
            await_fence(fence, 10);
            assert_value(fence, 10);
        }
        fixture_close(&f);
    }
}

/* Rewinds by queues on several engines keep to the order that the queues' waits make: what the CPU
 * sees first decides nothing. */
FIXTURE_TEST(behaviour_43_updates_of_several_queues_land_in_the_order_of_their_waits)
{
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(f, 0), between = make_fence(f, 0);
    for (uint64_t round = 1; round <= (uint64_t)TIMES(320); round++) {
        execute(one, write_word(f, one, 0, 1));
        queue_signal(one, fence, 5);
        queue_signal(one, between, round);
        queue_wait(other, between, round);
        execute(other, write_word(f, other, 1, 1));
        queue_signal(other, fence, 3);
        if (round % 2)
            await_idle(other);
        else {
            await_idle(one);
            await_idle(other);
        }
        assert_value(fence, 3);
    }
}

/* --------------------------------------------------------- 45, 46: an instant is long enough -- */

struct hammer {
    BfFence fence;
    _Atomic bool stop;
    VkResult result;
};

static void hammer_run(void *argument)
{
    struct hammer *h = argument;
    while (!h->stop && h->result == VK_SUCCESS) {
        h->result = bfSignalFence(h->fence, 0);
        sched_yield();
    }
}

static void hammered_ping_pong(uint32_t work_every)
{
    enum { STEPS = TIMES(4096) };
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue queues[2] = {make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    BfFence done = make_fence(&f, 0);
    struct hammer h = {.fence = make_fence(&f, 0), .result = VK_SUCCESS};
    struct thread thread;
    thread_start(&thread, hammer_run, &h);
    f.words[0] = 77;
    uint32_t works = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        /* The wait is armed before the signal is submitted that alone will satisfy it. */
        queue_wait(queues[(i + 1) % 2], h.fence, i + 1);
        if (work_every && i % work_every == 0) {
            execute(queues[i % 2], copy_word(&f, queues[i % 2], works, works + 1));
            works++;
        }
        queue_signal(queues[i % 2], h.fence, i + 1);
    }
    queue_signal(queues[STEPS % 2], done, 1);
    await_fence(done, 1);
    h.stop = true;
    thread_join(&thread);
    assert_success(h.result);
    for (uint32_t i = 0; i <= works; i++)
        assert_int_equal(read_word(&f, i), 77);
    fixture_close(&f);
}

TEST(behaviour_45_ping_pong_under_a_hammer_of_rewinds_ends)
{
    hammered_ping_pong(0);
}

TEST(behaviour_45_ping_pong_of_work_under_a_hammer_of_rewinds_ends)
{
    hammered_ping_pong(3);
}

/* Every wait is queued before its signal; a second fence goes to and fro beside, and is set back to
 * 0 by a queue at the end of each round. The next one begins when it is: a wait that is queued
 * while it still has its last value is satisfied by that one (47), and orders nothing. */
FIXTURE_TEST(behaviour_46_chains_of_waits_before_signals_end_round_after_round)
{
    BfCommandQueue waits = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   signals = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0), side = make_fence(f, 0), rounds = make_fence(f, 0);
    for (uint32_t round = 0; round < TIMES(4096); round++) {
        bool work = round % 32 == 0 && round / 32 < FIXTURE_WORDS - 1;
        for (uint64_t v = 1; v <= 10; v++) {
            queue_wait(waits, fence, v);
            queue_signal(waits, side, v);
        }
        if (work)
            execute(signals, write_word(f, signals, round / 32, round + 1));
        for (uint64_t v = 1; v <= 10; v++) {
            queue_signal(signals, fence, v);
            queue_wait(signals, side, v);
        }
        queue_signal(signals, side, 0);
        queue_signal(signals, rounds, round + 1);
        await_fence(fence, 10);
        if (work)
            assert_int_equal(read_word(f, round / 32), round + 1);
        cpu_signal(fence, 0);
        await_fence(rounds, round + 1);
    }
    await_idle(waits);
    assert_value(fence, 0);
    assert_value(side, 0);
}

/* ------------------------------------------------------------------------- 47 to 49: tickets -- */

/* A queue that waits for 1 to 4 of one fence, then for another fence, then for 5 to 8 of the first;
 * which has been 8 for an instant, when the queue stood at the other, and is 0 again. */
struct tickets {
    struct fixture f;
    BfCommandQueue queue;
    BfFence fence, other, progress;
};

enum signaller_kind {
    BY_CPU,
    BY_IDLE_QUEUE,
    BY_BUSY_QUEUE,
};

static void tickets_open(struct tickets *t, enum signaller_kind by, bool by_queue_back)
{
    fixture_open(&t->f, NULL);
    t->queue = make_queue(&t->f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfCommandQueue second = make_queue(&t->f, BF_COMMAND_LIST_TYPE_DIRECT);
    t->fence = make_fence(&t->f, 0);
    t->other = make_fence(&t->f, 0);
    t->progress = make_fence(&t->f, 0);
    for (uint64_t v = 1; v <= 4; v++)
        queue_wait(t->queue, t->fence, v);
    queue_signal(t->queue, t->progress, 1);
    queue_wait(t->queue, t->other, 1);
    execute(t->queue, write_word(&t->f, t->queue, 0, 1));
    for (uint64_t v = 5; v <= 8; v++)
        queue_wait(t->queue, t->fence, v);
    queue_signal(t->queue, t->progress, 2);
    fixture_settle(&t->f);
    assert_value(t->progress, 0);

    if (by == BY_CPU) {
        cpu_signal(t->fence, 8);
    } else {
        if (by == BY_BUSY_QUEUE)
            execute(second, write_word(&t->f, second, 1, 1));
        queue_signal(second, t->fence, 8);
    }
    await_fence(t->progress, 1);
    assert_value(t->fence, 8);
    if (by_queue_back) {
        execute(second, write_word(&t->f, second, 1, 2));
        queue_signal(second, t->fence, 0);
        await_idle(second);
    } else {
        cpu_signal(t->fence, 0);
    }
    assert_value(t->fence, 0);
}

TEST(behaviour_47_waits_not_yet_come_to_count_as_satisfied)
{
    for (int i = 0; i < 6; i++) {
        struct tickets t;
        tickets_open(&t, (enum signaller_kind)(i % 3), i / 3);
        cpu_signal(t.other, 1);
        await_fence(t.progress, 2);
        fixture_close(&t.f);
    }
}

TEST(behaviour_48_the_queue_stays_blocked_on_the_other_fence)
{
    for (int i = 0; i < 6; i++) {
        struct tickets t;
        tickets_open(&t, (enum signaller_kind)(i % 3), i / 3);
        fixture_settle(&t.f);
        assert_value(t.progress, 1);
        assert_int_equal(read_word(&t.f, 0), 0);
        cpu_signal(t.fence, 100); /* no concern of that fence's */
        cpu_signal(t.fence, 0);
        fixture_settle(&t.f);
        assert_value(t.progress, 1);
        assert_int_equal(read_word(&t.f, 0), 0);
        cpu_signal(t.other, 1);
        await_idle(t.queue);
        fixture_close(&t.f);
    }
}

TEST(behaviour_49_the_queue_runs_through_although_the_fence_reads_0)
{
    for (int i = 0; i < 6; i++) {
        struct tickets t;
        tickets_open(&t, (enum signaller_kind)(i % 3), i / 3);
        cpu_signal(t.other, 1);
        await_idle(t.queue);
        assert_value(t.fence, 0);
        assert_value(t.progress, 2);
        assert_int_equal(read_word(&t.f, 0), 1);
        /* Satisfied were those waits alone: the next compares again. */
        queue_wait(t.queue, t.fence, 8);
        queue_signal(t.queue, t.progress, 3);
        fixture_settle(&t.f);
        assert_value(t.progress, 2);
        cpu_signal(t.fence, 8);
        await_fence(t.progress, 3);
        fixture_close(&t.f);
    }
}

/* 50, the same for fences shared between processes, is in shared_peers.c; a timeline semaphore that
 * follows a fence (import_export.c) leaves rewinds out, since it can't follow them. */

/* --------------------------------------------------------------------------------- 51: races -- */

struct racer {
    struct start_line *line;
    BfFence fence;
    BfCommandQueue queue; /* NULL: by the CPU */
    uint64_t value;
    uint32_t rounds;
    VkResult result;
};

static void race(void *argument)
{
    struct racer *r = argument;
    for (uint32_t i = 0; i < r->rounds; i++) {
        start_line_cross(r->line, 3);
        VkResult result = r->queue ? bfQueueSignal(r->queue, r->fence, r->value)
                                   : bfSignalFence(r->fence, r->value);
        if (result != VK_SUCCESS)
            r->result = result;
        start_line_cross(r->line, 3);
    }
}

/* Two threads, one with a satisfying value and one with a lower one, against every kind of wait. */
static void run_race(bool high_by_queue, bool low_by_queue)
{
    enum { ROUNDS = TIMES(960) };
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue waits = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&f, 0), later = make_fence(&f, 0);
    BfEvent event = make_event(&f);
    struct start_line line = {0};
    struct racer racers[2] = {
        {.line = &line, .fence = fence, .value = 10, .rounds = ROUNDS, .result = VK_SUCCESS},
        {.line = &line, .fence = fence, .value = 1, .rounds = ROUNDS, .result = VK_SUCCESS},
    };
    racers[0].queue = high_by_queue ? make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE) : NULL;
    racers[1].queue = low_by_queue ? make_queue(&f, BF_COMMAND_LIST_TYPE_COPY) : NULL;
    struct thread threads[2];
    for (int i = 0; i < 2; i++)
        thread_start(&threads[i], race, &racers[i]);
    uint32_t stayed = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        cpu_signal(fence, 0);
        queue_wait(waits, fence, 10);
        queue_signal(waits, later, round);
        set_event_on(fence, 10, event);
        start_line_cross(&line, 3); /* they start */
        start_line_cross(&line, 3); /* they have signalled */
        await_event(event);
        await_fence(later, round);
        uint64_t value = bfGetFenceCompletedValue(fence);
        assert_true(value == 1 || value == 10);
        stayed += value == 10;
    }
    for (int i = 0; i < 2; i++) {
        thread_join(&threads[i]);
        assert_success(racers[i].result);
    }
    print_message("the higher value stayed %u times of %u\n", stayed, (unsigned)ROUNDS);
    fixture_close(&f);
}

TEST(behaviour_51_a_race_of_two_cpu_signals_satisfies_the_wait)
{
    run_race(false, false);
}

TEST(behaviour_51_a_race_of_queue_and_cpu_satisfies_the_wait)
{
    run_race(true, false);
    run_race(false, true);
}

TEST(behaviour_51_a_race_of_two_queues_satisfies_the_wait)
{
    run_race(true, true);
}

/* ----------------------------------------------------------- What the program sees by itself -- */

static void notice_by_a_signal(struct fixture *f, BfCommandQueue queue, BfFence other)
{
    queue_signal(queue, other, 1);
}

static void notice_by_an_interrupt(struct fixture *f, BfCommandQueue queue, BfFence other)
{
    const BfFenceNotification notification = {BF_TYPE(FENCE_NOTIFICATION), .queue = queue};
    assert_success(bfNotifyFencesSignaled(f->bf, &notification));
}

/* Of two queues' signals on one fence; 'notice' is of the second queue. */
static void complete_in_order(struct fixture *f,
                              void (*notice)(struct fixture *, BfCommandQueue, BfFence))
{
    BfFence fence = make_fence(f, 0), other = make_fence(f, 0);
    BfCommandQueue queues[2] = {make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE)};
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 2; k++) {
            VkEvent stall = stall_begin(f, queues[k]);
            queue_signal(queues[k], fence, k ? 5 : 10);
            stall_end(f, stall);
            vkDeviceWaitIdle(f->device);
        }
        notice(f, queues[1], other);
        assert_value(fence, 5);
        cpu_signal(fence, 0);
    }
}

/* The signal that is complete last is the one that remains, though Belfry is asked of neither until
 * the second queue signals something else: the program knows the order from elsewhere. */
FIXTURE_TEST(what_completes_last_remains)
{
    complete_in_order(f, notice_by_a_signal);
}

/* Or until an interrupt names the second queue alone. */
FIXTURE_TEST(what_completes_last_remains_when_it_is_noticed_first)
{
    complete_in_order(f, notice_by_an_interrupt);
}
