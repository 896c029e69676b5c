/* SPDX-License-Identifier: MIT */
/* Fences that are open several times in one process, on one device and on two: values, waits, ends
 * of objects, wake-ups, and descriptors that lead to no fence. (Between processes: shared_peers.c.)
 */
#include "shared_peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "support/asleep.h"
#include "support/lines.h"

/* ------------------------------------------------------------------------------------ Values -- */

/* Behaviour 58. */
FIXTURE_TEST(objects_of_one_fence_see_the_same_value)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence one = make_shared(f, 99, 0), two = open_again(f, one), three = open_again(f, two);
    assert_value(one, 99);
    assert_value(two, 99);
    assert_value(three, 99);
    cpu_signal(one, BIG);
    assert_value(two, BIG);
    assert_value(three, BIG);
    cpu_signal(two, 3);
    assert_value(one, 3);
    queue_signal(queue, three, 7);
    assert_value(one, 7);
    cpu_signal(three, UINT64_MAX);
    assert_value(two, UINT64_MAX);
    queue_signal(queue, two, 0);
    assert_value(one, 0);
    assert_value(three, 0);
    drop_fence(f, one); /* the global fence lives on */
    cpu_signal(two, 5);
    assert_value(three, 5);
    BfFence four = open_again(f, three);
    assert_value(four, 5);
}

/* In D3D12's numbers, whoever asked for the fence how, and of every object of it. */
FIXTURE_TEST(creation_flags_are_told_back)
{
    static const struct {
        BfFenceFlags d3d12;
        BfSyncObjectFlags ddi;
        BfFenceFlags told;
    } rows[] = {
        {0, 0, 0},
        {0, BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_NO_WAIT_BIT, 0},
        {BF_FENCE_SHARED_BIT, BF_SYNC_OBJECT_NO_WAIT_BIT, BF_FENCE_SHARED_BIT},
        {0, BF_SYNC_OBJECT_SHARED_BIT, BF_FENCE_SHARED_BIT},
        {BF_FENCE_SHARED_BIT, BF_SYNC_OBJECT_CROSS_ADAPTER_BIT,
         BF_FENCE_SHARED_BIT | BF_FENCE_SHARED_CROSS_ADAPTER_BIT},
        {BF_FENCE_SHARED_CROSS_ADAPTER_BIT, 0, BF_FENCE_SHARED_CROSS_ADAPTER_BIT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = rows[i].d3d12,
                                        .pNext = BF_SYNC_OBJECT(rows[i].ddi)};
        BfFence fence = NULL;
        assert_success(bfCreateFence(f->bf, &info, &fence));
        assert_int_equal(bfGetFenceCreationFlags(fence), rows[i].told);
        if (rows[i].told)
            assert_int_equal(bfGetFenceCreationFlags(open_again(f, fence)), rows[i].told);
        bfDestroyFence(fence);
    }
    assert_int_equal(bfGetFenceCreationFlags(NULL), BF_FENCE_FLAGS_NONE);
}

/* FD-1: stdin is closed, and nothing of Belfry's gets its number. */
FIXTURE_TEST(no_descriptor_of_a_fence_is_stdin)
{
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    BfFence one = make_shared(f, 1, 0), two = open_again(f, one);
    set_event_on(two, 2, make_event(f));
    char link[64] = "";
    if (readlink("/proc/self/fd/0", link, sizeof(link) - 1) > 0)
        assert_non_null(strstr(link, "belfry-test-")); /* the driver's own */
    int fd = export_fence(one);
    assert_true(fd > STDERR_FILENO);
    close(fd);
    if (kept >= 0 && !link[0])
        dup2(kept, STDIN_FILENO);
    close(kept);
}

FIXTURE_TEST(a_wait_on_one_object_is_satisfied_by_another)
{
    BfCommandQueue signals = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   waits = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one), after = make_fence(f, 0);
    BfEvent event = make_event(f);
    for (uint64_t round = 0; round < 4; round++) {
        uint64_t value = 10 * round + 5;
        set_event_on(two, value, event);
        queue_wait(waits, two, value);
        queue_signal(waits, after, round + 1);
        cpu_signal(one, value - 1);
        assert_value(two, value - 1);
        assert_false(take_event(event));
        assert_value(after, round);
        if (round % 2) {
            cpu_signal(one, value);
        } else {
            execute(signals, write_word(f, signals, 0, 1));
            queue_signal(signals, one, value);
        }
        await_event(event);
        await_fence(after, round + 1);
        assert_value(two, value);
    }
    await_idle(signals);
}

FIXTURE_TEST(a_blocked_thread_is_released_by_another_object)
{
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one);
    struct blocked b = {.fence = two, .value = 2};
    struct thread thread;
    thread_start(&thread, block_on, &b);
    thread_await_sleep(&thread);
    cpu_signal(one, 1);
    assert_false(thread.finished);
    cpu_signal(one, 2);
    thread_join(&thread);
    assert_success(b.result);
    const uint64_t far = 3;
    assert_int_equal(bfWaitFences(1, &two, &far, BF_FENCE_WAIT_ALL, 0), VK_TIMEOUT);
}

/* Behaviours 39 and 47, on one thread: whatever the other object does between two looks here. */
FIXTURE_TEST(a_value_that_has_gone_satisfies_the_waits_before_it_alone)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one), after = make_fence(f, 0);
    BfEvent before = make_event(f), above = make_event(f), later = make_event(f);
    for (uint64_t round = 1; round <= TIMES(1000); round++) {
        set_event_on(two, 5, before);
        set_event_on(two, 9, above);
        queue_wait(queue, two, 5);
        queue_signal(queue, after, round);
        cpu_signal(one, 8);
        cpu_signal(one, 0);
        set_event_on(two, 5, later);
        await_event(before);
        await_fence(after, round);
        assert_false(take_event(later));
        assert_false(take_event(above));
        cpu_signal(one, 9);
        await_event(above);
        await_event(later);
        cpu_signal(one, 0);
        assert_value(two, 0);
    }
}

FIXTURE_TEST(an_exported_semaphore_follows_what_others_set)
{
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one);
    VkSemaphore semaphore = make_timeline(f, 0);
    assert_success(bfExportFenceToSemaphore(two, semaphore));
    cpu_signal(one, 4);
    cpu_signal(one, 1);
    vulkan_wait(f->device, semaphore, 4);
    cpu_signal(one, 6);
    vulkan_wait(f->device, semaphore, 6);
    assert_int_equal(vulkan_value(f->device, semaphore), 6);
}

/* ------------------------------------------------------------------------------- Two devices -- */

TEST(a_fence_of_two_devices_orders_their_queues)
{
    enum { STEPS = TIMES(320) };
    struct fixture f, g;
    fixture_open(&f, NULL);
    fixture_open(&g, NULL);
    BfCommandQueue ping = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   pong = make_queue(&g, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence here = make_shared(&f, 0, 0);
    int fd = export_fence(here);
    BfFence there = open_fence(&g, fd);
    close(fd);
    for (uint64_t i = 0; i < STEPS; i++) {
        queue_wait(ping, here, 2 * i);
        execute(ping, write_word(&f, ping, 0, (uint32_t)i));
        queue_signal(ping, here, 2 * i + 1);
        queue_wait(pong, there, 2 * i + 1);
        execute(pong, write_word(&g, pong, 0, (uint32_t)i));
        queue_signal(pong, there, 2 * i + 2);
    }
    await_fence(here, 2 * STEPS);
    assert_value(there, 2 * STEPS);
    await_idle(ping);
    await_idle(pong);
    assert_int_equal(read_word(&f, 0), STEPS - 1);
    assert_int_equal(read_word(&g, 0), STEPS - 1);
    /* An object of another device's is none of this one's. */
    assert_bad_input(bfQueueSignal(ping, there, 1));
    fixture_close(&f); /* the owner goes in order */
    assert_value(there, 2 * STEPS);
    cpu_signal(there, 1);
    assert_value(there, 1);
    fixture_close(&g);
}

struct race {
    BfFence fence, after;
    BfCommandQueue queue;
    uint64_t rounds;
    _Atomic uint64_t round, done;
    VkResult result;
};

static void wait_round_by_round(void *argument)
{
    struct race *r = argument;
    for (uint64_t i = 1; i <= r->rounds && r->result == VK_SUCCESS; i++) {
        for (uint32_t n = 1; atomic_load(&r->round) != i; n++)
            if (n % 4096 == 0) /* mostly they begin together */
                sched_yield();
        if (i % 2) {
            r->result = bfWaitFences(1, &r->fence, &i, BF_FENCE_WAIT_ALL, UINT64_MAX);
        } else {
            r->result = bfQueueWait(r->queue, r->fence, i);
            if (r->result == VK_SUCCESS)
                r->result = bfQueueSignal(r->queue, r->after, i);
            if (r->result == VK_SUCCESS)
                r->result = bfWaitFences(1, &r->after, &i, BF_FENCE_WAIT_ALL, UINT64_MAX);
        }
        atomic_store(&r->done, i);
    }
    atomic_store(&r->done, r->rounds);
}

/* SH-1: on two devices nothing but the page is between them. */
TEST(a_signal_and_a_wait_at_one_time_do_not_miss_each_other)
{
    struct fixture f, g;
    fixture_open(&f, NULL);
    fixture_open(&g, NULL);
    BfFence here = make_shared(&f, 0, 0);
    int fd = export_fence(here);
    struct race r = {.fence = open_fence(&g, fd),
                     .after = make_fence(&g, 0),
                     .queue = make_queue(&g, BF_COMMAND_LIST_TYPE_DIRECT),
                     .rounds = TIMES(20000)};
    struct thread thread;
    close(fd);
    thread_start(&thread, wait_round_by_round, &r);
    for (uint64_t i = 1; i <= r.rounds; i++) {
        atomic_store(&r.round, i);
        for (volatile uint64_t n = i * 7 % 512; n > 0; n--) /* now earlier, now later */
            ;
        cpu_signal(here, i);
        while (atomic_load(&r.done) < i)
            sched_yield();
    }
    thread_join(&thread);
    assert_success(r.result);
    fixture_close(&g);
    fixture_close(&f);
}

/* SH-11: the second value comes as soon as the first has been taken in. */
TEST(a_value_that_follows_at_once_is_not_missed)
{
    struct fixture f, g;
    fixture_open(&f, NULL);
    fixture_open(&g, NULL);
    BfFence here = make_shared(&f, 0, 0);
    int fd = export_fence(here);
    BfFence there = open_fence(&g, fd);
    BfEvent first = make_event(&g), second = make_event(&g);
    close(fd);
    for (uint64_t i = 1; i <= TIMES(1000); i += 2) {
        set_event_on(there, i, first);
        set_event_on(there, i + 1, second);
        cpu_signal(here, i);
        await_event(first);
        cpu_signal(here, i + 1);
        await_event(second);
    }
    fixture_close(&g);
    fixture_close(&f);
}

/* -------------------------------------------------------------------------------------- Ends -- */

FIXTURE_TEST(by_default_waiters_end_with_their_own_object)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one), after = make_fence(f, 0);
    BfEvent of_one = make_event(f), of_two = make_event(f);
    set_event_on(one, 1, of_one);
    set_event_on(two, UINT64_MAX, of_two);
    queue_wait(queue, two, UINT64_MAX);
    queue_signal(queue, after, 1);
    drop_fence(f, two);
    assert_true(take_event(of_two));
    await_fence(after, 1);
    assert_false(take_event(of_one));
    assert_value(one, 0);
    drop_fence(f, one);
    assert_true(take_event(of_one));
}

/* Behaviour 59. */
FIXTURE_TEST(with_the_flag_cpu_waiters_end_with_the_last_object)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence one = make_shared(f, 0, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT),
            two = open_again(f, one), three = open_again(f, one), after = make_fence(f, 0);
    BfEvent of_one = make_event(f), of_two = make_event(f), early = make_event(f);
    set_event_on(one, UINT64_MAX, of_one);
    set_event_on(two, UINT64_MAX, of_two);
    set_event_on(two, 7, early);
    queue_wait(queue, two, UINT64_MAX);
    queue_signal(queue, after, 1);
    drop_fence(f, two);
    await_fence(after, 1); /* queues go on */
    assert_false(take_event(of_two));
    drop_fence(f, one);
    assert_false(take_event(of_one));
    assert_false(take_event(early));
    cpu_signal(three, 7);
    await_event(early);
    assert_false(take_event(of_two));
    drop_fence(f, three);
    await_event(of_one);
    await_event(of_two);
}

/* A descriptor can be opened: as long as it is there, so is the fence. */
FIXTURE_TEST(with_the_flag_a_descriptor_keeps_cpu_waiters_waiting)
{
    BfFence one = make_shared(f, 0, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    BfEvent event = make_event(f), other = make_event(f);
    int fd = export_fence(one);
    set_event_on(one, 3, event);
    set_event_on(one, 9, other);
    drop_fence(f, one);
    assert_false(take_event(event));
    BfFence two = open_fence(f, fd);
    cpu_signal(two, 3);
    await_event(event);
    drop_fence(f, two);
    assert_false(take_event(other));
    close(fd);
    await_event(other);
}

TEST(waiters_that_linger_end_with_their_device)
{
    struct fixture f;
    fixture_open(&f, NULL);
    BfFence one = make_shared(&f, 0, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    BfEvent event = NULL;
    assert_success(bfCreateEvent(0, &event));
    int fd = export_fence(one);
    set_event_on(one, 1, event);
    drop_fence(&f, one);
    assert_false(take_event(event));
    fixture_close(&f);
    assert_true(take_event(event));
    bfDestroyEvent(event);
    close(fd);
}

FIXTURE_TEST(a_signal_under_way_comes_though_its_object_has_gone)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one), gate = make_fence(f, 0);
    VkEvent stall = stall_begin(f, queue);
    queue_signal(queue, two, 4);
    queue_wait(queue, gate, 1);
    queue_signal(queue, two, 5);
    drop_fence(f, two);
    assert_value(one, 0);
    stall_end(f, stall);
    await_fence(one, 4);
    cpu_signal(gate, 1);
    await_fence(one, 5);
}

/* What the GPU has done to one object is known to the others, whichever is asked first; and comes
 * before what the CPU sets by them. (Belfry's own threads, which would tell them, are kept
 * away.) */
FIXTURE_TEST(objects_on_one_device_know_what_its_queues_have_signalled)
{
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    for (int i = 0; i < 20; i++) {
        for (int set = 0; set < 2; set++) {
            VkEvent stall = stall_begin(f, queue);
            uint64_t seen = 10;
            if (fixture_is_icd())
                f->icd.set_block(&(struct belfry_icd_block){
                    .command = "vkWaitSemaphores", .first = 1, .every = 1, .late = true});
            queue_signal(queue, one, 10);
            stall_end(f, stall);
            vkDeviceWaitIdle(f->device);
            if (!set)
                seen = bfGetFenceCompletedValue(two);
            cpu_signal(two, 0);
            if (fixture_is_icd()) {
                f->icd.set_block(NULL);
                f->icd.release(UINT64_MAX);
            }
            assert_int_equal(seen, 10);
            await_idle(queue);
            assert_value(one, 0);
        }
    }
}

/* ------------------------------------------------------------------------------------- Costs -- */

FIXTURE_TEST(signals_wake_an_object_only_for_what_it_waits_for)
{
    enum { SIGNALS = TIMES(10000) };
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one);
    BfEvent event = make_event(f);
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(one, i);
    set_event_on(two, BIG, event);
    other_threads_await_sleep(); /* else nobody has to be woken */
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(one, i);
    other_threads_await_sleep(); /* who has been woken has counted it */
    assert_int_equal(counters_of(f).sharedWakeups, 0);
    cpu_signal(one, BIG);
    await_event(event);
    cpu_signal(one, 0);
    for (uint64_t i = 0; i < SIGNALS; i++)
        cpu_signal(one, 2 * BIG + i);
    assert_in_range(counters_of(f).sharedWakeups, 0, 1); /* 0: it had not fallen asleep yet */
    assert_int_equal(counters_of(f).eventsSet, 1);
}

/* BfDeviceCounters::sharedWakeups. A thread that was still on its way to sleep isn't woken: that is
 * tried again. */
FIXTURE_TEST(what_wakes_an_object_is_counted)
{
    BfFence one = make_shared(f, 0, 0), two = open_again(f, one);
    BfEvent event = make_event(f);
    for (uint64_t i = 1; i <= 1000 && counters_of(f).sharedWakeups == 0; i++) {
        set_event_on(two, i, event);
        other_threads_await_sleep();
        cpu_signal(one, i);
        await_event(event);
    }
    assert_int_equal(counters_of(f).sharedWakeups, 1);
}

TEST(opening_and_closing_leaves_nothing_behind)
{
    enum { CYCLES = TIMES(10000) };
    struct fixture f;
    fixture_open(&f, NULL);
    BfFence last = make_shared(&f, 0, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT);
    BfEvent event = make_event(&f);
    open_again(&f, last);
    set_event_on(last, BIG, event); /* every thread there will be */
    uint32_t descriptors = open_descriptors(), pages = mapped_pages();
    for (uint64_t i = 1; i <= CYCLES; i++) {
        BfFence one = make_shared(
                    &f, 0, i % 2 ? BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT : 0),
                two = open_again(&f, one);
        if (i % 4 < 2)
            set_event_on(two, i, event);
        cpu_signal(one, i);
        if (i % 4 < 2)
            await_event(event);
        assert_value(two, i);
        drop_fence(&f, i % 8 < 4 ? one : two);
        drop_fence(&f, i % 8 < 4 ? two : one);
    }
    await_freed(descriptors, pages);
    if (!getenv("BELFRY_TEST_OLD_KERNEL")) /* there each fence takes a thread of its own */
        assert_in_range(counters_of(&f).sleeperThreads, 0, 64);
    cpu_signal(last, BIG);
    assert_true(take_event(event));
    fixture_close(&f);
    assert_int_equal(mapped_pages(), 0);
}

/* More objects than one thread can sleep for, and than there are slots. */
FIXTURE_TEST(many_objects_wait_and_the_slots_are_counted)
{
    enum { FENCES = 2, SLOTS = 126 };
    BfFence owners[FENCES], all[FENCES][SLOTS];
    BfEvent event = make_event(f);
    int fds[FENCES];
    for (int i = 0; i < FENCES; i++) {
        owners[i] = all[i][0] = make_shared(f, 0, 0);
        fds[i] = export_fence(owners[i]);
        for (int k = 1; k < SLOTS; k++)
            assert_success(bfOpenFenceFd(f->bf, fds[i], 0, &all[i][k]));
    }
    BfFence more = NULL;
    char line[256];
    lines_begin();
    assert_int_equal(bfOpenFenceFd(f->bf, fds[0], 0, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_non_null(strstr(line, "bfOpenFenceFd"));
    for (int i = 0; i < FENCES; i++) {
        const uint64_t value = 1;
        for (int k = 1; k < SLOTS; k++)
            set_event_on(all[i][k], value, event);
        BfEvent everyone = make_event(f);
        uint64_t values[SLOTS];
        for (int k = 0; k < SLOTS; k++)
            values[k] = value;
        assert_success(bfSetEventOnMultipleFenceCompletion(SLOTS, all[i], values, BF_FENCE_WAIT_ALL,
                                                           everyone));
        cpu_signal(owners[i], value);
        await_event(everyone);
        await_event(event);
    }
    for (int i = 0; i < FENCES; i++) {
        for (int k = 1; k < SLOTS; k++)
            bfDestroyFence(all[i][k]);
        assert_value(open_fence(f, fds[i]), 1);
        close(fds[i]);
    }
}

/* --------------------------------------------------------------------------------- Bad input -- */

#define assert_refused(result_, lines_, call_)                                                     \
    do {                                                                                           \
        char line_[512];                                                                           \
        lines_begin();                                                                             \
        VkResult seen_ = (call_);                                                                  \
        uint32_t n_ = lines_end(line_, sizeof(line_));                                             \
        assert_int_equal(seen_, result_);                                                          \
        assert_int_equal(n_, lines_);                                                              \
        if (lines_)                                                                                \
            assert_memory_equal(line_ + 8, #call_, strcspn(#call_, "("));                          \
    } while (0)

/* A socket in which a message lies, as an owner's; 'fds' come with it. */
static int forge(const void *what, size_t size, const int *fds, size_t count)
{
    int ends[2];
    struct iovec part = {(void *)(uintptr_t)what, size};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(8 * sizeof(int))];
    } control = {0};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    if (count) {
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    }
    assert_int_equal(sendmsg(ends[0], &packet, 0), size);
    close(ends[0]);
    return ends[1];
}

static int memory(off_t size, int seals, uint64_t magic, uint32_t version)
{
    int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_not_equal(fd, -1);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
    assert_int_equal(pwrite(fd, &version, sizeof(version), 8), sizeof(version));
    if (seals)
        assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

struct message {
    uint64_t magic;
    uint32_t version, flags;
};

#define MAGIC UINT64_C(0x65636e6566796662)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

FIXTURE_TEST(descriptors_that_lead_to_no_fence_are_refused)
{
    BfFence none = NULL;
    int pipes[2], cloexec = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    uint32_t descriptors = open_descriptors();
    const int plain[] = {-1, 12345, pipes[0], cloexec};
    for (int i = 0; i < 4; i++)
        assert_refused(VK_ERROR_INVALID_EXTERNAL_HANDLE, 1,
                       bfOpenFenceFd(f->bf, plain[i], 0, &none));

    const struct {
        off_t size;
        int seals;
        uint64_t magic;
        uint32_t version;
    } pages[] = {
        {8192, 0, MAGIC, 1},
        {8192, F_SEAL_SHRINK | F_SEAL_GROW, MAGIC, 1},
        {8192, F_SEAL_GROW | F_SEAL_SEAL, MAGIC, 1},
        {8192, SEALS | F_SEAL_WRITE, MAGIC, 1},
        {8192, SEALS | 0x10 /* F_SEAL_FUTURE_WRITE */, MAGIC, 1},
        {4096, SEALS, MAGIC, 1},
        {12288, SEALS, MAGIC, 1},
        {8192, SEALS, MAGIC + 1, 1},
        {8192, SEALS, MAGIC, 2},
    };
    const struct message good = {MAGIC, 1, BF_SYNC_OBJECT_SHARED_BIT};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        int page = memory(pages[i].size, pages[i].seals, pages[i].magic, pages[i].version);
        int fd = forge(&good, sizeof(good), &page, 1);
        assert_refused(VK_ERROR_INVALID_EXTERNAL_HANDLE, 1, bfOpenFenceFd(f->bf, fd, 0, &none));
        close(fd);
        close(page);
    }

    const struct {
        struct message message;
        size_t size, fds;
    } messages[] = {
        {{MAGIC, 1, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good), 0},
        {{MAGIC, 1, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good), 2},
        {{MAGIC, 1, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good), 8},
        {{MAGIC, 1, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good) - 1, 1},
        {{MAGIC ^ 1, 1, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good), 1},
        {{MAGIC, 7, BF_SYNC_OBJECT_SHARED_BIT}, sizeof(good), 1},
        {{MAGIC, 1, 0x40000000}, sizeof(good), 1},
        /* The pipe is missing; and is none. */
        {{MAGIC, 1, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT}, sizeof(good), 1},
        {{MAGIC, 1, BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT}, sizeof(good), 3},
    };
    int page = memory(8192, SEALS, MAGIC, 1), many[8];
    for (int i = 0; i < 8; i++)
        many[i] = page;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        int fd = forge(&messages[i].message, messages[i].size, many, messages[i].fds);
        assert_refused(VK_ERROR_INVALID_EXTERNAL_HANDLE, 1, bfOpenFenceFd(f->bf, fd, 0, &none));
        close(fd);
    }
    close(page);
    assert_null(none);
    assert_int_equal(open_descriptors(), descriptors);

    /* One that somebody has emptied. */
    BfFence fence = make_shared(f, 0, 0);
    int fd = export_fence(fence);
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    assert_refused(VK_ERROR_INVALID_EXTERNAL_HANDLE, 1, bfOpenFenceFd(f->bf, fd, 0, &none));
    cpu_signal(fence, 1);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
    close(cloexec);
}

FIXTURE_TEST(bad_input_is_told_in_one_line)
{
    BfFence shared = make_shared(f, 0, 0), plain = make_fence(f, 0), none = NULL;
    int fd = export_fence(shared), out = -1;
    const VkResult bad = VK_ERROR_VALIDATION_FAILED_EXT;
    const BfSyncObjectFlags flags[] = {BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT << 1,
                                       BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT,
                                       BF_SYNC_OBJECT_SHARED_BIT | 0x80000000, 0x80000000};
    for (int i = 0; i < 4; i++) {
        const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO),
                                        .pNext = BF_SYNC_OBJECT(flags[i])};
        assert_refused(bad, 1, bfCreateFence(f->bf, &info, &none));
    }
    const BfFenceCreateInfo unmonitored = {BF_TYPE(FENCE_CREATE_INFO),
                                           .flags = BF_FENCE_NON_MONITORED_BIT};
    assert_refused(VK_ERROR_FEATURE_NOT_PRESENT, 1, bfCreateFence(f->bf, &unmonitored, &none));
    /* The DDI's numbers mean nothing where D3D12's are asked for. */
    for (VkFlags bit = BF_FENCE_NON_MONITORED_BIT << 1; bit; bit <<= 1) {
        const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = bit};
        assert_refused(bad, 1, bfCreateFence(f->bf, &info, &none));
    }
    assert_refused(bad, 1, bfExportFenceFd(plain, 0, &out));
    assert_refused(bad, 1, bfExportFenceFd(shared, 0, NULL));
    assert_refused(bad, 1, bfExportFenceFd(shared, 2, &out));
    assert_refused(bad, 1, bfExportFenceFd(NULL, 0, &out));
    assert_refused(bad, 1, bfOpenFenceFd(f->bf, fd, 2, &none));
    assert_refused(bad, 1, bfOpenFenceFd(f->bf, fd, 0, NULL));
    assert_refused(bad, 1, bfOpenFenceFd(NULL, fd, 0, &none));
    BfShareFlags known = BF_SHARE_TRUSTED_BIT;
    assert_refused(bad, 1, bfGetDeviceShareFlags(NULL, &known));
    assert_refused(bad, 1, bfGetDeviceShareFlags(f->bf, NULL));
    assert_success(bfGetDeviceShareFlags(f->bf, &known));
    if (!known) { /* the driver's semaphores stay in their process */
        assert_refused(VK_ERROR_FEATURE_NOT_PRESENT, 1,
                       bfExportFenceFd(shared, BF_SHARE_TRUSTED_BIT, &out));
        assert_refused(VK_ERROR_FEATURE_NOT_PRESENT, 1,
                       bfOpenFenceFd(f->bf, fd, BF_SHARE_TRUSTED_BIT, &none));
    }
    assert_int_equal(out, -1);
    assert_null(none);
    close(fd);
}
