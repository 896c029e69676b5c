/* SPDX-License-Identifier: MIT */
/* Fences of several processes, each with a device of its own: what one sets the others see, from
 * CPU and GPU, whatever is overwritten before they look; what they cost; and lost devices. */
#include "shared_peer.h"

#include <signal.h>
#include <sys/wait.h>

/* ------------------------------------------------------------------------------------ Values -- */

PEER_TEST(values_are_read_at_once_on_the_other_side)
{
    BfFence mine = make_shared(f, 5, 0);
    peer_give(peer, mine);
    BfFence theirs = peer_take(peer, f, BIG, 0);
    const BfFence fences[2] = {mine, theirs};
    const uint64_t first[2] = {5, BIG}, values[] = {10, 9, 0, UINT64_MAX, 0, BIG, 1};
    for (uint32_t i = 0; i < 2; i++) {
        assert_value(fences[i], first[i]);
        assert_int_equal(peer_do(peer, PEER_VALUE, i, 0), first[i]);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            cpu_signal(fences[i], values[k]);
            assert_int_equal(peer_do(peer, PEER_VALUE, i, 0), values[k]);
            peer_do(peer, PEER_SIGNAL, i, values[k] + 1);
            assert_value(fences[i], values[k] + 1);
            assert_int_equal(peer_do(peer, PEER_VALUE, i, 0), values[k] + 1);
        }
    }
}

/* Both are the owner once; both wait with events, threads and queues; both signal from CPU and
 * GPU. */
PEER_TEST(waits_are_satisfied_from_the_other_side)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0);
    BfEvent event = make_event(f);
    peer_give(peer, fence);
    uint64_t passes = 0;
    for (uint64_t round = 0; round < 16; round++) {
        bool gpu = round % 2, rewound = round % 4 >= 2;
        uint64_t value = rewound ? 3 : 10 * round + 10;
        cpu_signal(fence, value - 1);
        if (round < 8) { /* this side waits */
            set_event_on(fence, value, event);
            queue_wait(queue, fence, value);
            queue_signal(queue, after, ++passes);
            assert_false(take_event(event));
            peer_do(peer, gpu ? PEER_WORK_SIGNAL : PEER_SIGNAL, 0, value);
            await_fence(fence, value);
            await_event(event);
            await_fence(after, passes);
            peer_do(peer, PEER_IDLE, 0, 0);
        } else {
            peer_arm(peer, 0, value);
            peer_do(peer, PEER_QUEUE_WAIT, 0, value);
            assert_false(peer_took(peer, 0));
            peer_tell(peer, (struct order){.op = PEER_WAIT, .value = value}, -1);
            if (gpu) {
                execute(queue, write_word(f, queue, 0, 1));
                queue_signal(queue, fence, value);
            } else {
                cpu_signal(fence, value);
            }
            assert_success(peer_answer(peer).result);
            peer_await(peer, 0);
            peer_do(peer, PEER_AWAIT_PASSED, 0, round - 7);
            await_idle(queue);
        }
    }
}

/* The peer's program does nothing after its bfQueueSignal: it waits for orders. */
PEER_TEST(a_gpu_signal_comes_without_a_call_of_the_program)
{
    BfFence fence = make_shared(f, 0, 0);
    BfEvent event = make_event(f);
    peer_give(peer, fence);
    set_event_on(fence, 2, event);
    peer_do(peer, PEER_STALL, 0, 0);
    peer_do(peer, PEER_WORK_SIGNAL, 0, 1);
    peer_do(peer, PEER_WORK_SIGNAL, 0, 2);
    assert_value(fence, 0);
    assert_false(take_event(event));
    peer_do(peer, PEER_GO, 0, 0);
    await_event(event);
    assert_value(fence, 2);
    /* Somebody who only reads sees it too. */
    peer_do(peer, PEER_WORK_SIGNAL, 0, 1);
    while (bfGetFenceCompletedValue(fence) != 1)
        sched_yield();
}

/* --------------------------------------------------------------------- What has been rewound -- */

/* The kernel has stopped every thread of it. */
static void freeze(struct peer *peer)
{
    int status;
    assert_int_equal(kill(peer->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(peer->pid, &status, WUNTRACED), peer->pid);
    assert_true(WIFSTOPPED(status));
}

static void thaw(struct peer *peer)
{
    assert_int_equal(kill(peer->pid, SIGCONT), 0);
}

static void signal_by(struct fixture *f, BfCommandQueue queue, BfFence fence, uint64_t value,
                      bool gpu)
{
    if (!gpu) {
        cpu_signal(fence, value);
        return;
    }
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, value);
    await_idle(queue);
    assert_value(fence, value);
}

/* Behaviour 50: 47 for shared fences. The peer sleeps while its fence is set and rewound. */
PEER_TEST(a_wait_keeps_what_was_set_and_rewound_before_its_process_looked)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), gate = make_shared(f, 0, 0);
    peer_give(peer, fence);
    peer_give(peer, gate);
    for (uint64_t round = 0; round < 4; round++) {
        bool gpu = round % 2;
        for (uint64_t i = 1; i <= 4; i++)
            peer_do(peer, PEER_QUEUE_WAIT, 0, i);
        peer_do(peer, PEER_QUEUE_WAIT, 1, round + 1);
        for (uint64_t i = 5; i <= 8; i++)
            peer_do(peer, PEER_QUEUE_WAIT, 0, i);
        peer_arm(peer, 0, 8);
        peer_arm(peer, 1, 9);
        freeze(peer);
        signal_by(f, queue, fence, 8, gpu);
        signal_by(f, queue, fence, 2, !gpu);
        signal_by(f, queue, fence, 0, gpu);
        thaw(peer);
        peer_arm(peer, 2, 1); /* a new wait compares with what there is now */
        peer_await(peer, 0);
        assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), 0);
        assert_false(peer_took(peer, 1));
        assert_false(peer_took(peer, 2));
        /* Its queue has passed the first four, and stands at the other fence (48). */
        peer_do(peer, PEER_AWAIT_PASSED, 0, 9 * round + 4);
        assert_int_equal(peer_do(peer, PEER_PASSED, 0, 0), 9 * round + 4);
        cpu_signal(gate, round + 1); /* and then runs through (49) */
        peer_do(peer, PEER_AWAIT_PASSED, 0, 9 * round + 9);
        assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), 0);
        cpu_signal(fence, 9);
        peer_await(peer, 1);
        peer_await(peer, 2);
        cpu_signal(fence, 0);
    }
}

/* Behaviour 45, with one queue in each process. */
PEER_TEST(queues_of_two_processes_play_ping_pong_while_the_cpu_rewinds)
{
    enum { STEPS = 512 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence ping = make_shared(f, 0, 0), pong = make_shared(f, 0, 0);
    peer_give(peer, ping);
    peer_give(peer, pong);
    for (uint64_t i = 1; i <= STEPS; i++) {
        queue_signal(queue, ping, i);
        queue_wait(queue, pong, i);
        peer_do(peer, PEER_QUEUE_WAIT, 0, i);
        peer_do(peer, PEER_WORK_SIGNAL, 1, i);
        if (i % 3 == 0)
            cpu_signal(ping, 0);
        if (i % 5 == 0)
            cpu_signal(pong, 0);
        if (i % 16 == 0) { /* what is set and rewound meanwhile has satisfied the waits before it */
            cpu_signal(ping, i);
            cpu_signal(pong, i);
        }
    }
    cpu_signal(ping, STEPS);
    cpu_signal(pong, STEPS);
    await_idle(queue);
    peer_do(peer, PEER_IDLE, 0, 0);
}

/* --------------------------------------------------------------------------- Ends, and costs -- */

/* Behaviour 59, with the last object in another process. */
PEER_TEST(waiters_that_linger_hear_of_others_and_of_the_last)
{
    for (uint32_t round = 0; round < 2; round++) {
        const BfSyncObjectFlags flags = BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
        BfFence fence;
        if (round == 0) {
            fence = make_shared(f, 0, flags);
            peer_give(peer, fence);
        } else {
            fence = peer_take(peer, f, 0, flags);
        }
        BfEvent near = make_event(f), never = make_event(f);
        set_event_on(fence, 3, near);
        set_event_on(fence, UINT64_MAX, never);
        drop_fence(f, fence);
        peer_do(peer, PEER_SIGNAL, round, 2);
        assert_false(take_event(near));
        peer_do(peer, PEER_WORK_SIGNAL, round, 3);
        await_event(near);
        assert_false(take_event(never));
        peer_do(peer, PEER_IDLE, 0, 0);
        peer_do(peer, PEER_DESTROY, round, 0);
        await_event(never);
    }
}

PEER_TEST(a_process_is_woken_only_for_what_it_waits_for)
{
    enum { SIGNALS = TIMES(10000) };
    BfFence fence = make_shared(f, 0, 0);
    peer_give(peer, fence);
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(fence, i);
    peer_arm(peer, 0, BIG);
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(fence, i);
    assert_int_equal(peer_do(peer, PEER_WAKEUPS, 0, 0), 0);
    cpu_signal(fence, BIG);
    cpu_signal(fence, 0);
    peer_await(peer, 0);
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(fence, 2 * BIG - i);
    assert_in_range(peer_do(peer, PEER_WAKEUPS, 0, 0), 0, 1);
    assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), 2 * BIG - SIGNALS + 1);
}

/* Three hops: who has opened a fence passes it on. */
FIXTURE_TEST(a_fence_is_passed_on_by_who_has_opened_it)
{
    struct peer second, third;
    peer_start(&second);
    peer_start(&third);
    BfFence fence = make_shared(f, 1, 0);
    peer_give(&second, fence);
    peer_tell(&second, (struct order){.op = PEER_EXPORT}, -1);
    struct answer answer = peer_answer(&second);
    assert_success(answer.result);
    drop_fence(f, fence);
    peer_tell(&third, (struct order){.op = PEER_OPEN}, answer.fd); /* the owner has gone in order */
    close(answer.fd);
    assert_success(peer_answer(&third).result);
    assert_int_equal(peer_do(&third, PEER_VALUE, 0, 0), 1);
    peer_arm(&third, 0, 2);
    peer_do(&second, PEER_WORK_SIGNAL, 0, 2);
    peer_await(&third, 0);
    peer_stop(&second);
    peer_do(&third, PEER_SIGNAL, 0, 3);
    assert_int_equal(peer_do(&third, PEER_VALUE, 0, 0), 3);
    peer_stop(&third);
}

/* ------------------------------------------------------------------------------ Lost devices -- */

static void lose_owner(BfSyncObjectFlags flags)
{
    struct fixture f;
    struct peer peer;
    fixture_open(&f, NULL);
    peer_start(&peer);
    BfFence fence = peer_take(&peer, &f, 4, flags);
    BfEvent event = make_event(&f);
    set_event_on(fence, 9, event);
    peer_do(&peer, PEER_LOSE, 0, 0);
    assert_int_equal(peer_do(&peer, PEER_VALUE, 0, 0), flags ? 4 : UINT64_MAX);
    if (flags) {
        assert_value(fence, 4);
        assert_false(take_event(event));
        cpu_signal(fence, 9);
    } else {
        assert_value(fence, UINT64_MAX);
    }
    await_event(event);
    /* Its process lives: nobody is orphaned. */
    cpu_signal(fence, 5);
    assert_value(fence, 5);
    assert_int_equal(peer_do(&peer, PEER_VALUE, 0, 0), flags ? 4 : UINT64_MAX);
    peer_stop(&peer);
    assert_value(fence, 5);
    fixture_close(&f);
}

TEST(the_owners_lost_device_sets_the_fence_for_all)
{
    if (!fixture_is_icd())
        skip();
    lose_owner(0);
}

TEST(with_the_flag_the_owners_lost_device_leaves_the_fence)
{
    if (!fixture_is_icd())
        skip();
    lose_owner(BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT);
}

TEST(anothers_lost_device_leaves_the_fence)
{
    if (!fixture_is_icd())
        skip();
    struct fixture f;
    struct peer peer;
    fixture_open(&f, NULL);
    peer_start(&peer);
    BfFence fence = make_shared(&f, 4, 0);
    peer_give(&peer, fence);
    peer_arm(&peer, 0, 9);
    peer_do(&peer, PEER_LOSE, 0, 0);
    peer_await(&peer, 0);
    assert_int_equal(peer_do(&peer, PEER_VALUE, 0, 0), UINT64_MAX);
    assert_value(fence, 4);
    cpu_signal(fence, 9);
    assert_value(fence, 9);
    peer_stop(&peer);
    fixture_close(&f);
}
