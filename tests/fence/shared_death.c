/* SPDX-License-Identifier: MIT */
/* Peers that die, and one that writes anything into the page: nobody hangs, crashes, or keeps
 * anything. Processes are killed at random points of their work; those who wait are released. */
#include "shared_peer.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "doorbell/user_mode.h"
#include "support/lines.h"

#define ORPHANED VK_ERROR_INVALID_EXTERNAL_HANDLE

struct waiter {
    BfFence fences[2];
    uint64_t values[2];
    uint32_t count;
    BfFenceWaitFlags flags;
    VkResult result;
};

static void block(void *argument)
{
    struct waiter *b = argument;
    b->result = bfWaitFences(b->count, b->fences, b->values, b->flags, UINT64_MAX);
}

/* What is true of an object whose owner has ended, once that is known here. */
static void assert_orphaned(struct fixture *f, BfCommandQueue queue, BfFence fence, int fd)
{
    const uint64_t values[2] = {1, UINT64_MAX};
    BfEvent event = make_event(f);
    BfFence after = make_fence(f, 0), none = NULL;
    int out = -1;
    char line[256];
    assert_value(fence, UINT64_MAX);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bfWaitFences(1, &fence, &values[i], BF_FENCE_WAIT_ALL, UINT64_MAX),
                         ORPHANED);
        set_event_on(fence, values[i], event);
        assert_true(take_event(event));
    }
    queue_wait(queue, fence, UINT64_MAX);
    queue_signal(queue, after, 1);
    await_fence(after, 1);
    assert_int_equal(bfSignalFence(fence, 1), ORPHANED);
    assert_int_equal(bfQueueSignal(queue, fence, 1), ORPHANED);
    assert_int_equal(bfExportFenceFd(fence, 0, &out), ORPHANED);
    assert_value(fence, UINT64_MAX);
    lines_begin();
    assert_int_equal(bfOpenFenceFd(f->bf, fd, 0, &none), ORPHANED);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_null(none);
    drop_event(f, event);
    drop_fence(f, after);
}

FIXTURE_TEST(the_owners_death_releases_whoever_waits)
{
    struct peer owner;
    peer_start(&owner);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = peer_take(&owner, f, 3, 0), plain = make_fence(f, 0), after = make_fence(f, 0);
    BfEvent event = make_event(f), any = make_event(f), all = make_event(f);
    int fd = export_fence(fence);
    const BfFence both[2] = {fence, plain};
    const uint64_t values[2] = {9, 1};
    struct waiter one = {.fences = {fence}, .values = {9}, .count = 1},
                  either = {.fences = {plain, fence},
                            .values = {9, 9},
                            .count = 2,
                            .flags = BF_FENCE_WAIT_ANY_BIT},
                  two = {.fences = {fence, plain}, .values = {9, 1}, .count = 2};
    struct thread threads[3];
    set_event_on(fence, 9, event);
    assert_success(
        bfSetEventOnMultipleFenceCompletion(2, both, values, BF_FENCE_WAIT_ANY_BIT, any));
    assert_success(bfSetEventOnMultipleFenceCompletion(2, both, values, BF_FENCE_WAIT_ALL, all));
    queue_wait(queue, fence, 9);
    queue_signal(queue, after, 1);
    thread_start(&threads[0], block, &one);
    thread_start(&threads[1], block, &either);
    thread_start(&threads[2], block, &two);
    for (int i = 0; i < 3; i++)
        thread_await_sleep(&threads[i]);
    peer_kill(&owner);
    thread_join(&threads[0]);
    thread_join(&threads[1]);
    assert_int_equal(one.result, ORPHANED);
    assert_int_equal(either.result, ORPHANED);
    assert_true(take_event(event));
    assert_true(take_event(any));
    assert_false(take_event(all));
    await_fence(after, 1);
    cpu_signal(plain, 1);
    thread_join(&threads[2]);
    assert_int_equal(two.result, ORPHANED);
    assert_true(take_event(all));
    assert_orphaned(f, queue, fence, fd);
    close(fd);
}

/* User-mode submission: entries of rings that wait are released, one that was read before the
 * death, and one that is read after it; one that would signal the fence ends its queue. */
FIXTURE_TEST(the_owners_death_releases_entries_of_rings)
{
    struct peer owner;
    struct user_mode before, after, signals;
    peer_start(&owner);
    BfFence fence = peer_take(&owner, f, 3, 0);
    BfEvent event = make_event(f);
    user_mode_open(f, &before, BF_COMMAND_LIST_TYPE_DIRECT, 64);
    user_mode_open(f, &after, BF_COMMAND_LIST_TYPE_DIRECT, 64);
    user_mode_open(f, &signals, BF_COMMAND_LIST_TYPE_DIRECT, 64);
    set_event_on(fence, 9, event);
    for (int i = 0; i < 2; i++) {
        struct user_mode *u = i ? &after : &before;
        BfRingEntry entry = user_mode_entry(u);
        entry.commandBuffer = register_write(f, u, (uint32_t)i, 7, 0);
        entry.waitFence = register_fence(u, fence);
        entry.waitValue = 9;
        if (i) {
            assert_value(before.progress, 0);
            peer_kill(&owner);
            await_event(event);
        }
        user_mode_submit(u, entry);
        while (__atomic_load_n(&u->ring.pControl->read, __ATOMIC_ACQUIRE) == 0)
            sched_yield();
    }
    user_mode_await(&before);
    user_mode_await(&after);
    assert_int_equal(read_word(f, 0), 7);
    assert_int_equal(read_word(f, 1), 7);
    BfRingEntry entry = user_mode_entry(&signals);
    entry.signalFence = register_fence(&signals, fence);
    entry.signalValue = 10;
    bfSubmitToRing(&signals.writer, &entry);
    assert_aborted(&signals, BF_ABORT_REASON_FENCE, 0);
    user_mode_close(&before);
    user_mode_close(&after);
    user_mode_close(&signals);
}

/* An owner that has destroyed its object, and one that ends in order without. */
FIXTURE_TEST(the_owners_end_matters_only_while_it_has_the_fence)
{
    struct peer owner;
    peer_start(&owner);
    BfFence one = peer_take(&owner, f, 1, 0), two = open_again(f, one),
            lasting =
                peer_take(&owner, f, 1, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT),
            other = open_again(f, lasting), kept = peer_take(&owner, f, 1, 0);
    BfEvent event = make_event(f), lingers = make_event(f), freed = make_event(f);
    set_event_on(one, 5, event);
    set_event_on(lasting, 5, lingers);
    set_event_on(kept, 5, freed);
    drop_fence(f, lasting);
    peer_do(&owner, PEER_DESTROY, 0, 0);
    peer_do(&owner, PEER_DESTROY, 1, 0);
    peer_kill(&owner);
    await_event(freed); /* the deaths have been looked at */
    BfFence three = open_again(f, two);
    assert_value(three, 1);
    assert_value(one, 1);
    assert_false(take_event(event));
    assert_false(take_event(lingers));
    cpu_signal(three, 5);
    cpu_signal(other, 5);
    await_event(event);
    await_event(lingers);
}

FIXTURE_TEST(waiters_that_linger_are_released_by_the_owners_death)
{
    struct peer owner, other;
    peer_start(&owner);
    peer_start(&other);
    BfFence fence = peer_take(&owner, f, 1, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    BfEvent event = make_event(f);
    peer_give(&other, fence);
    set_event_on(fence, 5, event);
    drop_fence(f, fence);
    assert_false(take_event(event));
    peer_kill(&owner);
    await_event(event);
    peer_stop(&other);
}

FIXTURE_TEST(an_owner_may_be_killed_at_any_moment)
{
    enum { ROUNDS = TIMES(32) > 8 ? TIMES(32) : 8 };
    uint64_t random = 4711;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    uint32_t descriptors = 0, pages = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct peer owner;
        peer_start(&owner);
        BfFence fence = peer_take(&owner, f, 0,
                                  round % 2 ? BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT
                                            : 0),
                after = make_fence(f, 0);
        BfEvent event = make_event(f);
        int fd = export_fence(fence);
        struct waiter b = {.fences = {fence}, .values = {UINT64_MAX}, .count = 1};
        struct thread thread;
        set_event_on(fence, UINT64_MAX, event);
        queue_wait(queue, fence, UINT64_MAX);
        queue_signal(queue, after, 1);
        thread_start(&thread, block, &b);
        peer_tell(&owner, (struct order){.op = PEER_WORK_FOR_EVER, .event = round}, -1);
        for (uint64_t i = next_random(&random) % 5000; i > 0; i--) {
            /* It may be gone in the midst of this. */
            if (i % 16)
                assert_true(bfGetFenceCompletedValue(fence) < 1000);
            else
                cpu_signal(fence, i % 1000);
        }
        peer_kill(&owner);
        await_event(event);
        thread_join(&thread);
        assert_int_equal(b.result, ORPHANED);
        await_fence(after, 1);
        assert_orphaned(f, queue, fence, fd);
        close(fd);
        drop_event(f, event);
        drop_fence(f, fence);
        drop_fence(f, after);
        if (round == 0) {
            descriptors = open_descriptors();
            pages = mapped_pages();
        }
    }
    await_freed(descriptors, pages);
}

/* It had the fence open many times, and was at work on it. */
FIXTURE_TEST(anothers_death_leaves_the_fence_and_its_slots)
{
    enum { OBJECTS = 100, ROUNDS = 4 };
    struct peer third;
    peer_start(&third);
    BfFence fence = make_shared(f, 0, 0), objects[OBJECTS];
    int fd = export_fence(fence);
    peer_give(&third, fence);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct peer peer;
        peer_start(&peer);
        for (int i = 0; i < OBJECTS; i++)
            peer_give(&peer, fence);
        peer_tell(&peer, (struct order){.op = PEER_WORK_FOR_EVER, .event = round}, -1);
        for (uint64_t i = 0; i < 1000; i++)
            cpu_signal(fence, i);
        peer_kill(&peer);
        for (int i = 0; i < OBJECTS; i++) /* there is room again */
            assert_success(bfOpenFenceFd(f->bf, fd, 0, &objects[i]));
        uint64_t value = 10000 * round;
        peer_arm(&third, round, value);
        cpu_signal(objects[OBJECTS - 1], value);
        peer_await(&third, round);
        assert_value(fence, value);
        peer_do(&third, PEER_SIGNAL, 0, value + 1);
        assert_value(objects[0], value + 1);
        for (int i = 0; i < OBJECTS; i++)
            bfDestroyFence(objects[i]);
    }
    close(fd);
    peer_stop(&third);
}

FIXTURE_TEST(a_peer_that_scribbles_harms_nobody)
{
    enum { ROUNDS = 8, TURNS = TIMES(2048) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    uint32_t descriptors = 0, pages = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct peer peer;
        peer_start(&peer);
        BfFence fence = make_shared(
                    f, 0, round % 2 ? BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT : 0),
                again = open_again(f, fence), plain = make_fence(f, 0);
        BfEvent event = make_event(f);
        int fd = -1; /* who isn't trusted gets no other */
        assert_success(bfExportFenceFd(fence, 0, &fd));
        peer_tell(&peer, (struct order){.op = PEER_SCRIBBLE, .value = round + 1}, fd);
        assert_success(peer_answer(&peer).result);
        lines_begin();
        for (uint64_t i = 1; i <= TURNS; i++) {
            const uint64_t value = i % 1000;
            BfFence more = NULL;
            cpu_signal(i % 2 ? fence : again, value);
            bfGetFenceCompletedValue(again);
            bfWaitFences(1, &again, &value, BF_FENCE_WAIT_ALL, 0);
            set_event_on(i % 3 ? fence : again, value, event);
            queue_signal(queue, i % 2 ? again : fence, value);
            if (i % 16 == 0) {
                queue_wait(queue, fence, value);
                cpu_signal(fence, UINT64_MAX);
                /* It may have been overwritten, and nobody told: the wait is the fence's own. */
                if (bfOpenFenceFd(f->bf, fd, 0, &more) == VK_SUCCESS)
                    bfSignalFence(more, value);
                bfDestroyFence(more);
            }
            cpu_signal(plain, i);
            assert_value(plain, i); /* other fences are as they were */
        }
        lines_end(NULL, 0);
        if (round % 2) {
            peer_kill(&peer);
            await_idle(queue); /* what another thread has released sets the value, too */
            cpu_signal(fence, 77);
            assert_value(again, 77);
        }
        drop_fence(f, fence);
        drop_fence(f, again);
        close(fd);
        await_idle(queue);
        if (round % 2 == 0)
            peer_kill(&peer);
        drop_fence(f, plain);
        drop_event(f, event);
        if (round == 1) {
            descriptors = open_descriptors();
            pages = mapped_pages();
        }
    }
    await_freed(descriptors, pages);
}

/* Its waiters linger, and its last signal hasn't come: whoever waits for that is told. */
FIXTURE_TEST(an_owner_that_lingers_may_be_killed_before_its_last_signal)
{
    struct peer owner;
    peer_start(&owner);
    BfFence fence = peer_take(&owner, f, 1, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    BfEvent event = make_event(f);
    set_event_on(fence, 5, event);
    peer_do(&owner, PEER_STALL, 0, 0);
    peer_do(&owner, PEER_WORK_SIGNAL, 0, 5);
    peer_arm(&owner, 0, 9);
    peer_do(&owner, PEER_DESTROY, 0, 0);
    peer_kill(&owner);
    await_event(event);
    assert_value(fence, UINT64_MAX);
}

/* Whoever has the descriptor has the pipe that tells of an owner's end, and may fill it, and have
 * writing to it block: the owner's doesn't. */
FIXTURE_TEST(a_peer_that_fills_the_pipe_stops_nobody)
{
    BfFence fence = make_shared(f, 0, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    int fd, fds[3];
    assert_success(bfExportFenceFd(fence, 0, &fd));
    char text[64], junk[4096] = {0};
    _Alignas(struct cmsghdr) char control[256];
    struct iovec part = {text, sizeof(text)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    assert_true(recvmsg(fd, &message, MSG_PEEK) > 0);
    memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
    while (write(fds[2], junk, sizeof(junk)) > 0) {
    }
    while (write(fds[2], junk, 1) > 0) {
    }
    assert_int_equal(fcntl(fds[2], F_SETFL, 0), 0);
    drop_fence(f, fence);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close(fd);
}
