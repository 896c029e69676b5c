/* SPDX-License-Identifier: MIT */
/* Trusted peers that end, or lose their device, at each stage of a signal: before the driver has
 * it, with it on its way, waited for natively or not, and after it was applied. Nobody's GPU is
 * left waiting (SH-18), and who went on in vain is told. */
#include "shared_peer.h"

#include "support/lines.h"

#define ORPHANED VK_ERROR_INVALID_EXTERNAL_HANDLE

static void assert_orphaned(BfCommandQueue queue, BfFence fence)
{
    const uint64_t value = 5;
    assert_value(fence, UINT64_MAX);
    assert_int_equal(bfSignalFence(fence, 1), ORPHANED);
    assert_int_equal(bfQueueSignal(queue, fence, 1), ORPHANED);
    assert_int_equal(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, 0), ORPHANED);
}

/* What waits natively for what the peer has promised goes on, and the object is orphaned. */
static void death_with_a_signal_on_its_way(bool owner)
{
    struct fixture f;
    struct peer peer, third;
    open_trusting(&f);
    peer_start(&peer);
    peer_start(&third);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(&f, 0), fence, other;
    if (owner) {
        fence = peer_take(&peer, &f, 0, 0);
    } else {
        fence = make_shared(&f, 0, 0);
        peer_give(&peer, fence);
    }
    peer_give(&third, fence);
    other = open_again(&f, fence);
    promise(&peer, 0, 5);
    queue_wait(queue, fence, 5);
    execute(queue, write_word(&f, queue, 0, 7));
    queue_signal(queue, after, 1);
    await_native_waits(&f, 1);
    lines_begin();
    peer_kill(&peer);
    await_fence(after, 1);
    assert_int_equal(read_word(&f, 0), 7);
    assert_orphaned(queue, fence);
    lines_end(NULL, 0);
    /* Who hasn't waited natively for it has lost nothing, unless it was the owner's end. */
    if (owner) {
        const uint64_t value = 5;
        assert_int_equal(bfWaitFences(1, &other, &value, BF_FENCE_WAIT_ALL, UINT64_MAX), ORPHANED);
    } else {
        assert_value(other, 0);
        peer_do(&third, PEER_SIGNAL, 0, 6);
        assert_value(other, 6);
        /* Nor is what it had promised waited for any more. */
        cpu_signal(other, 0);
        queue_wait(queue, other, 5);
        queue_signal(queue, after, 2);
        f.icd.quiesce();
        assert_value(after, 1);
        await_native_waits(&f, 1);
        promise(&third, 0, 6);
        await_native_waits(&f, 2);
        peer_do(&third, PEER_GO, 0, 0);
        await_fence(after, 2);
    }
    peer_stop(&third);
    fixture_close(&f);
}

TEST(the_owners_death_lets_the_gpu_go)
{
    death_with_a_signal_on_its_way(true);
}

TEST(anothers_death_lets_the_gpu_go_and_is_told)
{
    death_with_a_signal_on_its_way(false);
}

/* Before its queue came to the signal, and after it was applied: waits are as ever. */
TRUSTING_TEST(death_without_a_signal_on_its_way_leaves_the_fence)
{
    struct peer peer;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0);
    for (uint64_t round = 0; round < 2; round++) {
        BfFence fence = make_shared(f, 0, 0), never = make_shared(f, 0, 0);
        peer_start(&peer);
        peer_give(&peer, fence);
        peer_give(&peer, never);
        if (round == 0) { /* its queue stands at a wait */
            peer_do(&peer, PEER_QUEUE_WAIT, 1, 1);
            peer_do(&peer, PEER_WORK_SIGNAL, 0, 5);
        } else {
            promise(&peer, 0, 4);
            queue_wait(queue, fence, 4);
            await_native_waits(f, 1);
            peer_do(&peer, PEER_GO, 0, 0);
            peer_do(&peer, PEER_IDLE, 0, 0);
            assert_value(fence, 4);
        }
        queue_wait(queue, fence, 5);
        queue_signal(queue, after, round + 1);
        peer_kill(&peer);
        f->icd.quiesce();
        assert_value(after, round);
        cpu_signal(fence, 5);
        await_fence(after, round + 1);
        assert_value(fence, 5);
        cpu_signal(fence, 6);
        await_native_waits(f, round);
        drop_fence(f, fence);
        drop_fence(f, never);
    }
}

/* The value was reached otherwise: then the wait wasn't in vain, and all that goes is the GPU's. */
TRUSTING_TEST(a_value_that_was_reached_otherwise_orphans_nobody)
{
    struct peer peer;
    peer_start(&peer);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0), again = open_again(f, fence);
    peer_give(&peer, fence);
    promise(&peer, 0, 5);
    queue_wait(queue, fence, 5);
    execute(queue, write_word(f, queue, 0, 7));
    queue_signal(queue, after, 1);
    await_native_waits(f, 1);
    cpu_signal(again, 5);
    cpu_signal(again, 1);
    assert_value(after, 0);
    peer_kill(&peer);
    await_fence(after, 1);
    assert_value(fence, 1);
    cpu_signal(fence, 2);
    assert_value(again, 2);
}

/* Each dies with a promise that nobody waits for: its peer timeline is nobody's any more. Once
 * there are none left, signals go by the CPU. */
TRUSTING_TEST(the_peer_timelines_of_the_dead_are_spent)
{
    enum { DEAD = 4 };
    struct peer peer;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0);
    int fd = export_fence(fence);
    for (uint64_t i = 1; i <= DEAD + 1; i++) {
        peer_start(&peer);
        peer_give(&peer, fence);
        promise(&peer, 0, 5);
        queue_wait(queue, fence, 5);
        queue_signal(queue, after, i);
        await_native_waits(f, i <= DEAD ? i : DEAD);
        assert_value(after, i - 1);
        if (i <= DEAD) {
            cpu_signal(fence, 5);
            cpu_signal(fence, 0);
            peer_kill(&peer);
        } else {
            peer_do(&peer, PEER_GO, 0, 0);
        }
        await_fence(after, i);
    }
    peer_do(&peer, PEER_IDLE, 0, 0);
    assert_value(fence, 5);
    close(fd);
    peer_stop(&peer);
}

TEST(the_loss_of_anothers_device_lets_the_gpu_go)
{
    for (int owner = 0; owner < 2; owner++) {
        struct fixture f;
        struct peer peer;
        open_trusting(&f);
        peer_start(&peer);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfFence after = make_fence(&f, 0), fence;
        if (owner) {
            fence = peer_take(&peer, &f, 0, 0);
        } else {
            fence = make_shared(&f, 0, 0);
            peer_give(&peer, fence);
        }
        promise(&peer, 0, 5);
        queue_wait(queue, fence, 5);
        execute(queue, write_word(&f, queue, 0, 7));
        queue_signal(queue, after, 1);
        await_native_waits(&f, 1);
        lines_begin();
        peer_do(&peer, PEER_LOSE, 0, 0);
        await_fence(after, 1);
        lines_end(NULL, 0);
        assert_int_equal(read_word(&f, 0), 7);
        assert_value(fence, UINT64_MAX);
        if (owner) /* it was set to that, for all */
            cpu_signal(fence, 3);
        else
            assert_orphaned(queue, fence);
        peer_stop(&peer);
        fixture_close(&f);
    }
}

TRUSTING_PEER_TEST(the_loss_of_the_own_device_ends_all_waits)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0),
            quiet = make_shared(f, 0, BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT);
    peer_give(peer, fence);
    peer_give(peer, quiet);
    /* The peer waits natively for what is promised here, and this one for it. */
    VkEvent stall = stall_begin(f, queue);
    queue_signal(queue, quiet, 9);
    peer_do(peer, PEER_QUEUE_WAIT, 1, 9);
    while (peer_do(peer, PEER_NATIVE_WAITS, 0, 0) < 1)
        sched_yield();
    peer_do(peer, PEER_WORK_SIGNAL, 0, 5);
    queue_wait(queue, fence, 5);
    execute(queue, write_word(f, queue, 0, 7));
    queue_signal(queue, after, 1);
    await_native_waits(f, 1);
    lines_begin();
    f->lost = true;
    f->icd.lose();
    VkCommandBuffer commands = write_word(f, queue, 0, 1);
    assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
    lines_end(NULL, 0);
    assert_value(after, UINT64_MAX);
    assert_value(fence, UINT64_MAX);
    /* The peer's queue goes on, and its object is orphaned: 9 was never reached. Behind that its
     * own signal comes. */
    peer_do(peer, PEER_AWAIT_PASSED, 0, 1);
    assert_int_equal(peer_do(peer, PEER_VALUE, 1, 0), UINT64_MAX);
    peer_do(peer, PEER_IDLE, 0, 0);
    assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), 5);
    stall_end(f, stall);
}

TRUSTING_TEST(a_peer_may_be_killed_at_any_moment)
{
    enum { ROUNDS = TIMES(24) > 6 ? TIMES(24) : 6 };
    uint64_t random = 815;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    uint32_t descriptors = 0, pages = 0;
    lines_begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct peer peer;
        peer_start(&peer);
        BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
        peer_give(&peer, fence);
        peer_tell(&peer, (struct order){.op = PEER_WORK_FOR_EVER, .event = round}, -1);
        uint64_t waits = next_random(&random) % 200;
        for (uint64_t i = 1; i <= waits; i++) {
            queue_wait(queue, fence, next_random(&random) % 900);
            execute(queue, write_word(f, queue, 0, (uint32_t)i));
            queue_signal(queue, after, i);
        }
        peer_kill(&peer);
        /* Whether it was orphaned or not, what is left can be satisfied, and the GPU goes on. */
        while (bfGetFenceCompletedValue(after) < waits) {
            VkResult result = bfSignalFence(fence, 1000);
            assert_true(result == VK_SUCCESS || result == ORPHANED);
            sched_yield();
        }
        await_idle(queue);
        drop_fence(f, fence);
        drop_fence(f, after);
        if (round == 0) {
            descriptors = open_descriptors();
            pages = mapped_pages();
        }
    }
    lines_end(NULL, 0);
    await_freed(descriptors, pages);
}
