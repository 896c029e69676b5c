/* SPDX-License-Identifier: MIT */
/* Fences of trusted processes on one device (BF_SHARE_TRUSTED_BIT): queues wait for each other's
 * signals natively, by the same rules of cause as within one process; and what is refused. */
#include "shared_peer.h"

#include <sys/socket.h>

#include "support/asleep.h"
#include "support/lines.h"

#define TIMELINE "belfry-test-timeline" /* the test driver's, outside */

static void await_native_waits_of(struct peer *peer, uint64_t count)
{
    uint64_t seen;
    while ((seen = peer_do(peer, PEER_NATIVE_WAITS, 0, 0)) < count)
        sched_yield();
    assert_int_equal(seen, count);
}

/* Packets that the driver has, on all its queues. */
static uint64_t depth(struct fixture *f)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->family_count; i++)
        for (uint32_t k = 0; k < f->families[i].queueCount; k++)
            n += f->icd.queue_depth(i, k);
    return n;
}

/* ------------------------------------------------------------------------------------- Waits -- */

TRUSTING_PEER_TEST(a_wait_for_a_signal_on_its_way_goes_to_the_driver)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), mine = make_shared(f, 0, 0), theirs;
    peer_give(peer, mine);
    theirs = peer_take(peer, f, 0, 0);
    const BfFence fences[2] = {mine, theirs};
    for (uint32_t i = 0; i < 2; i++) {
        promise(peer, i, 5);
        queue_wait(queue, fences[i], 4);
        execute(queue, write_word(f, queue, i, 7));
        queue_signal(queue, after, i + 1);
        /* The driver has it all, and waits. */
        await_native_waits(f, i + 1);
        f->icd.quiesce();
        assert_true(depth(f) >= 1);
        assert_value(after, i);
        assert_value(fences[i], 0);
        peer_do(peer, PEER_GO, 0, 0);
        await_fence(after, i + 1);
        assert_value(fences[i], 5); /* what comes before is seen before (SH-20) */
        assert_int_equal(read_word(f, i), 7);
    }
}

TRUSTING_PEER_TEST(a_wait_goes_to_the_driver_when_the_signal_is_on_its_way)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0);
    peer_give(peer, fence);
    queue_wait(queue, fence, 3);
    execute(queue, write_word(f, queue, 0, 7));
    queue_signal(queue, after, 1);
    BfDeviceCounters counters = {BF_TYPE(DEVICE_COUNTERS)};
    assert_success(bfGetDeviceCounters(f->bf, &counters));
    assert_int_equal(counters.blockedWaits, 1);
    assert_int_equal(depth(f), 0);
    promise(peer, 0, 2); /* it isn't that for which it waits */
    peer_do(peer, PEER_WORK_SIGNAL, 0, 3);
    await_native_waits(f, 1);
    f->icd.quiesce();
    assert_true(depth(f) >= 1);
    assert_value(after, 0);
    peer_do(peer, PEER_GO, 0, 0);
    await_fence(after, 1);
    assert_int_equal(read_word(f, 0), 7);
    assert_value(fence, 3);
}

TRUSTING_PEER_TEST(the_peer_waits_natively_for_what_is_signalled_here)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence mine = make_shared(f, 0, 0);
    peer_give(peer, mine);
    BfFence theirs = peer_take(peer, f, 0, 0);
    const BfFence fences[2] = {mine, theirs};
    for (uint32_t i = 0; i < 4; i++) {
        VkEvent stall = NULL;
        if (i < 2) {
            stall = stall_begin(f, queue);
            queue_signal(queue, fences[i % 2], i + 1);
        }
        peer_do(peer, PEER_QUEUE_WAIT, i % 2, i + 1);
        if (i >= 2) {
            stall = stall_begin(f, queue);
            queue_signal(queue, fences[i % 2], i + 1);
        }
        await_native_waits_of(peer, i + 1);
        assert_int_equal(peer_do(peer, PEER_PASSED, 0, 0), i);
        stall_end(f, stall);
        peer_do(peer, PEER_AWAIT_PASSED, 0, i + 1);
        assert_int_equal(peer_do(peer, PEER_VALUE, i % 2, 0), i + 1);
        await_idle(queue);
    }
}

/* More than the peer memory knows at once; the last of them reach what the first did. */
TRUSTING_PEER_TEST(each_of_many_waits_finds_a_signal_that_reaches_it)
{
    enum { MANY = 40 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0);
    peer_give(peer, fence);
    peer_do(peer, PEER_STALL, 0, 0);
    for (uint64_t i = 1; i <= MANY; i++)
        peer_do(peer, PEER_WORK_SIGNAL, 0, i);
    for (uint64_t i = 1; i <= MANY; i++) {
        queue_wait(queue, fence, i);
        execute(queue, write_word(f, queue, 0, (uint32_t)i));
        queue_signal(queue, after, i);
    }
    await_native_waits(f, MANY);
    queue_wait(queue, fence, MANY + 1); /* none reaches it */
    queue_signal(queue, after, MANY + 1);
    peer_do(peer, PEER_GO, 0, 0);
    await_fence(after, MANY);
    assert_value(after, MANY);
    cpu_signal(fence, MANY + 1);
    await_fence(after, MANY + 1);
    await_native_waits(f, MANY);
}

/* ------------------------------------------------------------------------------------ Causes -- */

/* What follows a native wait is applied after what it waited for, whoever's CPU is the quicker. */
TRUSTING_PEER_TEST(a_rewind_that_follows_a_signal_of_the_others_stays)
{
    enum { ROUNDS = TIMES(64) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
    peer_give(peer, fence);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        promise(peer, 0, 5);
        queue_wait(queue, fence, 5);
        execute(queue, write_word(f, queue, 0, 1));
        queue_signal(queue, fence, 3);
        queue_signal(queue, after, round);
        assert_value(fence, round == 1 ? 0 : 3);
        await_native_waits(f, round);
        peer_do(peer, PEER_GO, 0, 0);
        await_fence(after, round);
        assert_value(fence, 3);
        peer_do(peer, PEER_IDLE, 0, 0);
        assert_value(fence, 3);
        assert_int_equal(peer_do(peer, PEER_VALUE, 0, 0), 3);
    }
}

/* SH-21: the peer's GPU is through, its CPU is late: until that has noticed, nobody here spins. */
TRUSTING_PEER_TEST(nobody_spins_until_a_late_peer_has_noticed)
{
    enum { WAKEUPS = 10 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
    peer_give(peer, fence);
    set_event_on(fence, 5, make_event(f)); /* for which the peer's CPU waits for its GPU */
    promise(peer, 0, 5);
    peer_do(peer, PEER_BE_LATE, 0, 0);
    queue_wait(queue, fence, 5);
    queue_signal(queue, after, 1);
    set_event_on(after, 1, make_event(f)); /* somebody waits here */
    await_native_waits(f, 1);
    peer_do(peer, PEER_GO, 0, 0);
    while (depth(f))
        sched_yield();
    while (counters_of(f).sleeperWakeups <= WAKEUPS && !other_threads_wait())
        sched_yield();
    assert_in_range(counters_of(f).sleeperWakeups, 0, WAKEUPS);
    assert_value(after, 0);
    peer_do(peer, PEER_COME, 0, 0);
    await_fence(after, 1);
    assert_in_range(counters_of(f).sleeperWakeups, 0, WAKEUPS);
}

/* The chain goes to the peer and back, and nothing of it has begun. */
TRUSTING_TEST(a_chain_through_both_processes_is_handed_over_whole)
{
    struct peer peer;
    peer_start(&peer);
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   two = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence there = make_shared(f, 0, 0), back = make_shared(f, 0, 0), after = make_fence(f, 0);
    peer_give(&peer, there);
    peer_give(&peer, back);
    VkEvent stall = stall_begin(f, one);
    queue_signal(one, there, 1);
    peer_do(&peer, PEER_QUEUE_WAIT, 0, 1);
    peer_do(&peer, PEER_WORK_SIGNAL, 1, 1);
    queue_wait(two, back, 1);
    execute(two, write_word(f, two, 0, 9));
    queue_signal(two, there, 0);
    queue_signal(two, after, 1);
    await_native_waits(f, 1);
    await_native_waits_of(&peer, 1);
    assert_value(back, 0);
    stall_end(f, stall);
    await_fence(after, 1);
    assert_value(back, 1);
    assert_value(there, 0);
    assert_int_equal(read_word(f, 0), 9);
    assert_int_equal(peer_do(&peer, PEER_PASSED, 0, 0), 1);
    peer_stop(&peer);
    assert_value(there, 0);
}

/* A long one, while the CPU rewinds: whatever it sets meanwhile, each wait rests on a signal that
 * was on its way, and the last values stay. */
TRUSTING_PEER_TEST(queues_play_ping_pong_with_no_cpu_in_between)
{
    enum { STEPS = TIMES(256) > 40 ? TIMES(256) : 40 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence ping = make_shared(f, 0, 0), pong = make_shared(f, 0, 0), after = make_fence(f, 0);
    peer_give(peer, ping);
    peer_give(peer, pong);
    VkEvent stall = stall_begin(f, queue);
    for (uint64_t i = 1; i <= STEPS; i++) {
        queue_signal(queue, ping, i);
        peer_do(peer, PEER_QUEUE_WAIT, 0, i);
        peer_do(peer, PEER_WORK_SIGNAL, 1, i);
        queue_wait(queue, pong, i);
        execute(queue, write_word(f, queue, 0, (uint32_t)i));
        if (i % 3 == 0)
            cpu_signal(ping, 0);
        if (i % 5 == 0)
            peer_do(peer, PEER_SIGNAL, 1, 0);
    }
    queue_signal(queue, after, 1);
    await_native_waits(f, STEPS);
    await_native_waits_of(peer, STEPS);
    assert_int_equal(peer_do(peer, PEER_PASSED, 0, 0), 0);
    assert_value(ping, 0);
    assert_value(pong, 0);
    stall_end(f, stall);
    await_fence(after, 1);
    assert_value(ping, STEPS);
    assert_value(pong, STEPS);
    assert_int_equal(read_word(f, 0), STEPS);
    assert_int_equal(peer_do(peer, PEER_PASSED, 0, 0), STEPS);
}

/* Behaviours 39 and 42: only what is yet to come counts. */
TRUSTING_PEER_TEST(a_signal_that_has_been_applied_satisfies_no_later_wait)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
    peer_give(peer, fence);
    promise(peer, 0, 9);
    queue_wait(queue, fence, 9);
    queue_signal(queue, after, 1);
    await_native_waits(f, 1);
    cpu_signal(fence, 8);
    cpu_signal(fence, 0); /* what is on its way still comes (43) */
    peer_do(peer, PEER_GO, 0, 0);
    await_fence(after, 1);
    assert_value(fence, 9);
    cpu_signal(fence, 0);
    queue_wait(queue, fence, 9);
    queue_signal(queue, after, 2);
    f->icd.quiesce();
    assert_value(after, 1);
    await_native_waits(f, 1);
    peer_do(peer, PEER_SIGNAL, 0, 9);
    await_fence(after, 2);
}

/* -------------------------------------------------------------------------------------- Ends -- */

/* Five queues signal, and there are peer timelines for four: one goes by the CPU, and comes like
 * all. */
TRUSTING_PEER_TEST(there_may_be_more_queues_than_peer_timelines)
{
    enum { QUEUES = 5 };
    BfCommandQueue queues[QUEUES];
    VkEvent stalls[QUEUES];
    BfFence fence = make_shared(f, 0, 0);
    peer_give(peer, fence);
    /* Two turns: peer timelines go from queue to queue once nothing of theirs is on its way. */
    for (uint64_t turn = 0; turn < 2; turn++) {
        uint64_t base = turn * QUEUES;
        for (uint32_t i = 0; i < QUEUES; i++) {
            queues[i] = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
            stalls[i] = stall_begin(f, queues[i]);
            queue_signal(queues[i], fence, base + i + 1);
        }
        for (uint32_t i = 0; i < QUEUES; i++)
            peer_do(peer, PEER_QUEUE_WAIT, 0, base + i + 1);
        await_native_waits_of(peer, (turn + 1) * (QUEUES - 1));
        for (uint32_t i = 0; i < QUEUES; i++)
            stall_end(f, stalls[i]);
        peer_do(peer, PEER_AWAIT_PASSED, 0, base + QUEUES);
        for (uint32_t i = 0; i < QUEUES; i++) {
            await_idle(queues[i]);
            drop_queue(f, queues[i]);
        }
        cpu_signal(fence, base + QUEUES);
    }
}

TRUSTING_PEER_TEST(objects_end_with_signals_and_waits_under_way)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0), fence = make_shared(f, 0, 0), again = open_again(f, fence);
    peer_give(peer, fence);
    /* The peer's signal comes though its object has gone; the wait's object goes as well. */
    promise(peer, 0, 5);
    peer_do(peer, PEER_DESTROY, 0, 0);
    queue_wait(queue, fence, 5);
    execute(queue, write_word(f, queue, 0, 3));
    queue_signal(queue, after, 1);
    await_native_waits(f, 1);
    drop_fence(f, fence);
    f->icd.quiesce();
    assert_value(after, 0);
    peer_do(peer, PEER_GO, 0, 0);
    await_fence(after, 1);
    assert_int_equal(read_word(f, 0), 3);
    await_fence(again, 5);
}

TRUSTING_PEER_TEST(opening_and_closing_leaves_nothing_behind)
{
    enum { ROUNDS = 20 };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence after = make_fence(f, 0);
    uint32_t descriptors = 0, pages = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        BfFence theirs = peer_take(peer, f, 0, 0), again = open_again(f, theirs),
                mine = make_shared(f, 0, 0);
        peer_give(peer, mine);
        promise(peer, (uint32_t)(2 * round - 2), 1);
        queue_wait(queue, again, 1);
        queue_signal(queue, mine, 1);
        queue_signal(queue, after, round);
        peer_do(peer, PEER_GO, 0, 0);
        await_fence(after, round);
        assert_value(mine, 1);
        drop_fence(f, theirs);
        drop_fence(f, again);
        drop_fence(f, mine);
        if (round == 2) {
            descriptors = open_descriptors();
            pages = mapped_pages();
        }
    }
    /* A driver that looks at timelines late has the last ones, and their descriptors, kept until it
     * is waited for. */
    const bool late = getenv("BELFRY_ICD_BUG");
    await_freed(late ? UINT32_MAX : descriptors, pages);
    while (!late && mapped(TIMELINE) > 0)
        sched_yield();
}

/* ------------------------------------------------------------------------------------- Trust -- */

TRUSTING_TEST(who_does_not_trust_takes_nothing_of_the_drivers)
{
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   two = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
    *sharing() = 0;
    int plain = export_fence(fence), out = -1;
    assert_int_equal(mapped(TIMELINE), 0);
    *sharing() = BF_SHARE_TRUSTED_BIT;
    int handle = export_fence(fence);
    uint32_t timelines = mapped(TIMELINE), descriptors = open_descriptors();
    assert_true(timelines > 0);
    char line[256];
    const struct {
        int fd;
        BfShareFlags flags;
    } cases[] = {{plain, 0}, {plain, BF_SHARE_TRUSTED_BIT}, {handle, 0}};
    for (uint64_t i = 0; i < 3; i++) {
        BfFence other = NULL;
        assert_success(bfOpenFenceFd(f->bf, cases[i].fd, cases[i].flags, &other));
        assert_int_equal(mapped(TIMELINE), timelines);
        /* The page's way. */
        VkEvent stall = stall_begin(f, one);
        queue_signal(one, fence, i + 1);
        queue_wait(two, other, i + 1);
        queue_signal(two, after, i + 1);
        assert_int_equal(native_waits(f), 0);
        assert_value(after, i);
        stall_end(f, stall);
        await_fence(after, i + 1);
        assert_value(other, i + 1);
        /* It has a plain descriptor to give away, and no other. */
        assert_success(bfExportFenceFd(other, 0, &out));
        char bytes[128];
        assert_int_equal(recv(out, bytes, sizeof(bytes), MSG_PEEK), 16);
        close(out);
        lines_begin();
        assert_int_equal(bfExportFenceFd(other, BF_SHARE_TRUSTED_BIT, &out),
                         VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(lines_end(line, sizeof(line)), 1);
        bfDestroyFence(other);
    }
    assert_int_equal(open_descriptors(), descriptors);
    close(plain);
    close(handle);
}

TEST(a_device_without_such_semaphores_says_so)
{
    struct fixture f;
    const struct fixture_options options = {.environment = "PROCESSES=0", .family = UINT32_MAX};
    fixture_open(&f, &options);
    *sharing() = 0;
    BfShareFlags flags = BF_SHARE_TRUSTED_BIT;
    assert_success(bfGetDeviceShareFlags(f.bf, &flags));
    assert_int_equal(flags, 0);
    BfFence fence = make_shared(&f, 0, 0), none = NULL;
    int fd = export_fence(fence), out = -1;
    char line[256];
    lines_begin();
    assert_int_equal(bfExportFenceFd(fence, BF_SHARE_TRUSTED_BIT, &out),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(bfOpenFenceFd(f.bf, fd, BF_SHARE_TRUSTED_BIT, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(lines_end(line, sizeof(line)), 2);
    assert_int_equal(out, -1);
    assert_null(none);
    close(fd);
    fixture_close(&f);
    open_trusting(&f);
    assert_success(bfGetDeviceShareFlags(f.bf, &flags));
    assert_int_equal(flags, BF_SHARE_TRUSTED_BIT);
    fixture_close(&f);
}

/* ------------------------------------------------------------------------- What others forge -- */

#define PARTS 6 /* the plain descriptor, the peer memory, the peer timelines */

struct message {
    struct {
        uint64_t magic;
        uint32_t version, timelines;
        uint8_t device[VK_UUID_SIZE], driver[VK_UUID_SIZE];
    } header;
    size_t size;
    int fds[PARTS];
    uint32_t count;
};

/* What lies in a peer handle. The descriptors are the caller's. */
static struct message read_message(int fd)
{
    struct message message = {0};
    struct iovec part = {&message.header, sizeof(message.header)};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(PARTS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_LEN(PARTS * sizeof(int))};
    message.size = (size_t)recvmsg(fd, &packet, MSG_PEEK | MSG_CMSG_CLOEXEC);
    assert_int_equal(message.size, sizeof(message.header));
    assert_false(packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    assert_non_null(header);
    message.count = (uint32_t)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(message.fds, CMSG_DATA(header), message.count * sizeof(int));
    assert_int_equal(message.count, PARTS);
    return message;
}

static int post(const struct message *message)
{
    int ends[2];
    struct iovec part = {(void *)(uintptr_t)&message->header, message->size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(PARTS * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    if (message->count) {
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(message->count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(message->count * sizeof(int));
        memcpy(CMSG_DATA(header), message->fds, message->count * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[0], &packet, 0), message->size);
    close(ends[0]);
    return ends[1];
}

TRUSTING_TEST(peer_handles_that_are_none_are_refused)
{
    BfFence fence = make_shared(f, 0, 0), none = NULL;
    int fd = export_fence(fence);
    const struct message good = read_message(fd);
    const uint32_t descriptors = open_descriptors(), timelines = mapped(TIMELINE);
    enum {
        SHORT,
        LONG,
        FEW,
        NO_FDS,
        NO_PLAIN,
        MAGIC,
        VERSION,
        MORE,
        NESTED,
        NO_MEMORY,
        NO_TIMELINE,
        KINDS
    };
    for (int i = 0; i < KINDS; i++) {
        struct message bad = good;
        bad.size -= i == SHORT;
        bad.count -= i == FEW;
        bad.count = i == NO_FDS ? 0 : bad.count;
        bad.header.magic ^= i == MAGIC;
        bad.header.version += i == VERSION;
        bad.header.timelines += i == MORE;
        if (i == LONG) /* it has more descriptors than the header says */
            bad.header.timelines--;
        if (i == NO_PLAIN)
            bad.fds[0] = good.fds[1];
        if (i == NESTED)
            bad.fds[0] = fd;
        if (i == NO_MEMORY)
            bad.fds[1] = good.fds[2];
        if (i == NO_TIMELINE)
            bad.fds[PARTS - 1] = good.fds[1];
        int forged = post(&bad);
        char line[256];
        lines_begin();
        VkResult result = bfOpenFenceFd(f->bf, forged, BF_SHARE_TRUSTED_BIT, &none);
        uint32_t lines = lines_end(line, sizeof(line));
        if (result != VK_ERROR_INVALID_EXTERNAL_HANDLE || lines != 1)
            fail_msg("forgery %d: result %d, %u lines: %s", i, result, lines, line);
        assert_null(none);
        close(forged);
        assert_int_equal(open_descriptors(), descriptors);
        assert_int_equal(mapped(TIMELINE), timelines);
    }
    for (uint32_t i = 0; i < good.count; i++)
        close(good.fds[i]);
    close(fd);
}

/* Of another device or driver: the plain fence in it is as good as any. */
TRUSTING_TEST(a_peer_handle_of_another_driver_is_a_plain_fence)
{
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   two = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), after = make_fence(f, 0);
    int fd = export_fence(fence);
    const struct message good = read_message(fd);
    uint32_t descriptors = open_descriptors(), timelines = mapped(TIMELINE);
    for (uint64_t i = 0; i < 2; i++) {
        struct message other = good;
        other.header.device[3] ^= i == 0;
        other.header.driver[5] ^= i == 1;
        int forged = post(&other);
        BfFence object = NULL;
        assert_success(bfOpenFenceFd(f->bf, forged, BF_SHARE_TRUSTED_BIT, &object));
        close(forged);
        assert_int_equal(mapped(TIMELINE), timelines);
        VkEvent stall = stall_begin(f, one);
        queue_signal(one, fence, i + 1);
        queue_wait(two, object, i + 1);
        queue_signal(two, after, i + 1);
        stall_end(f, stall);
        await_fence(after, i + 1);
        assert_value(object, i + 1);
        assert_int_equal(native_waits(f), 0);
        bfDestroyFence(object);
        assert_int_equal(open_descriptors(), descriptors);
    }
    for (uint32_t i = 0; i < good.count; i++)
        close(good.fds[i]);
    close(fd);
}

/* -------------------------------------------------------------------------------------- Logs -- */

/* They have the fence's wait and signal, and nothing of what carries them. */
TRUSTING_TEST(logs_tell_of_the_fence_alone)
{
    BfCommandQueue one = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   two = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_shared(f, 0, 0), again = open_again(f, fence), after = make_fence(f, 0);
    BfFenceLogReader signals, waits;
    BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = one,
                                       .type = BF_FENCE_LOG_TYPE_SIGNALS};
    assert_success(bfCreateFenceLogReader(f->bf, &info, &signals));
    info = (BfFenceLogReaderCreateInfo){BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = two,
                                        .type = BF_FENCE_LOG_TYPE_WAITS};
    assert_success(bfCreateFenceLogReader(f->bf, &info, &waits));
    VkEvent stall = stall_begin(f, one);
    queue_signal(one, fence, 7);
    queue_wait(two, again, 6);
    execute(two, write_word(f, two, 0, 1));
    queue_signal(two, after, 1);
    await_native_waits(f, 1);
    stall_end(f, stall);
    await_fence(after, 1);
    const struct {
        BfFenceLogReader reader;
        BfFence fence;
        uint64_t value;
    } wanted[2] = {{signals, fence, 7}, {waits, again, 6}};
    for (int i = 0; i < 2; i++) {
        BfFenceLogRecord records[8];
        uint32_t count = 0;
        uint64_t lost;
        assert_success(bfReadFenceLog(wanted[i].reader, 8, records, &count, &lost));
        assert_int_equal(count, 1);
        assert_int_equal(lost, 0);
        assert_int_equal(records[0].entry.fenceValue, wanted[i].value);
        assert_int_equal(records[0].entry.hNativeFence, bfGetFenceLogHandle(wanted[i].fence));
    }
    bfDestroyFenceLogReader(signals);
    bfDestroyFenceLogReader(waits);
}
