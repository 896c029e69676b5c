/* SPDX-License-Identifier: MIT */
/* Shared fences where the process has no more memory, or no more descriptors: each call says so,
 * has left nothing behind, and does all it is for the next time. The tests' own malloc stands in
 * for the process's. */
#include "shared_peer.h"

#include "support/no_memory.h"

#include <sys/resource.h>

static _Thread_local uint32_t until_none; /* 0: there is memory */

static bool has_none(void)
{
    if (until_none == 0 || --until_none)
        return false;
    errno = ENOMEM;
    return true;
}

static uint32_t failures;

/* Fails at its first allocation, then at its second and so on, until it has them all. What a call
 * has made for the device's life (a thread's epoll) may stay. */
#define SHORT_OF_MEMORY(call_)                                                                     \
    do {                                                                                           \
        uint32_t pages_ = mapped_pages();                                                          \
        for (uint32_t n_ = 1;; n_++) {                                                             \
            until_none = n_;                                                                       \
            VkResult result_ = (call_);                                                            \
            until_none = 0;                                                                        \
            failures += result_ != VK_SUCCESS;                                                     \
            if (result_ == VK_SUCCESS)                                                             \
                break;                                                                             \
            assert_int_equal(result_, VK_ERROR_OUT_OF_HOST_MEMORY);                                \
            assert_int_equal(mapped_pages(), pages_);                                              \
        }                                                                                          \
    } while (0)

FIXTURE_TEST(shared_fences_survive_a_lack_of_memory)
{
    failures = 0;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfEvent event = make_event(f);
    const BfSyncObjectFlags flags = BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = BF_FENCE_SHARED_BIT,
                                    .pNext = BF_SYNC_OBJECT(flags)};
    const uint64_t three = 3;
    BfFence one, two, three_times, after = make_fence(f, 0);
    int fd = -1;
    SHORT_OF_MEMORY(bfCreateFence(f->bf, &info, &one));
    SHORT_OF_MEMORY(bfExportFenceFd(one, *sharing(), &fd));
    SHORT_OF_MEMORY(bfOpenFenceFd(f->bf, fd, *sharing(), &two));
    SHORT_OF_MEMORY(bfOpenFenceFd(f->bf, fd, *sharing(), &three_times));
    close(fd);
    SHORT_OF_MEMORY(bfSetEventOnFenceCompletion(two, 3, event));
    SHORT_OF_MEMORY(bfQueueWait(queue, three_times, 3));
    SHORT_OF_MEMORY(bfQueueSignal(queue, after, 1));
    SHORT_OF_MEMORY(bfSignalFence(one, 3));
    SHORT_OF_MEMORY(bfWaitFences(1, &two, &three, BF_FENCE_WAIT_ALL, UINT64_MAX));
    await_event(event);
    await_fence(after, 1);
    SHORT_OF_MEMORY(bfQueueSignal(queue, two, 1));
    await_idle(queue);
    assert_value(one, 1);
    /* Behind work, and before it is over: by a peer timeline, where there are any. */
    VkEvent stall = stall_begin(f, queue);
    SHORT_OF_MEMORY(bfQueueSignal(queue, two, 4));
    SHORT_OF_MEMORY(bfQueueWait(other, three_times, 4));
    SHORT_OF_MEMORY(bfQueueSignal(other, after, 2));
    BfDeviceCounters counters = {BF_TYPE(DEVICE_COUNTERS)};
    do {
        assert_success(bfGetDeviceCounters(f->bf, &counters));
    } while (*sharing() && counters.peerWaits == 0);
    assert_int_equal(counters.peerWaits, *sharing() ? 1 : 0);
    stall_end(f, stall);
    await_fence(after, 2);
    assert_value(one, 4);
    assert_true(failures > 8);
    bfDestroyFence(one);
    bfDestroyFence(two);
    bfDestroyFence(three_times);
    /* The thread that has handed the last wait over may still have its fence: the GPU can be done
     * before the driver's call returns (E-5). */
    while (mapped_pages())
        sched_yield();
}

/* With none free, then with one, two and so on, until it has enough. */
#define SHORT_OF_DESCRIPTORS(call_)                                                                \
    do {                                                                                           \
        uint32_t before_ = open_descriptors(), pages_ = mapped_pages();                            \
        int lowest_ = dup(0);                                                                      \
        close(lowest_);                                                                            \
        struct rlimit all_, few_;                                                                  \
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &all_), 0);                                      \
        few_ = all_;                                                                               \
        for (few_.rlim_cur = (rlim_t)lowest_;; few_.rlim_cur++) {                                  \
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &few_), 0);                                  \
            VkResult result_ = (call_);                                                            \
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &all_), 0);                                  \
            failures += result_ != VK_SUCCESS;                                                     \
            if (result_ == VK_SUCCESS)                                                             \
                break;                                                                             \
            /* A driver's semaphores are memory. */                                                \
            if (!*sharing() || result_ != VK_ERROR_OUT_OF_HOST_MEMORY)                             \
                assert_int_equal(result_, VK_ERROR_TOO_MANY_OBJECTS);                              \
            assert_in_range(open_descriptors(), before_, before_ + 2);                             \
            assert_int_equal(mapped_pages(), pages_);                                              \
        }                                                                                          \
    } while (0)

FIXTURE_TEST(shared_fences_survive_a_lack_of_descriptors)
{
    failures = 0;
    uint32_t descriptors = 0;
    for (int round = 0; round < 3; round++) {
        const BfSyncObjectFlags flags =
            round ? BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT : 0;
        const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = BF_FENCE_SHARED_BIT,
                                        .pNext = BF_SYNC_OBJECT(flags)};
        BfFence one, two;
        int fd = -1;
        SHORT_OF_DESCRIPTORS(bfCreateFence(f->bf, &info, &one));
        SHORT_OF_DESCRIPTORS(bfExportFenceFd(one, *sharing(), &fd));
        SHORT_OF_DESCRIPTORS(bfOpenFenceFd(f->bf, fd, *sharing(), &two));
        close(fd);
        cpu_signal(one, 2);
        assert_value(two, 2);
        bfDestroyFence(one);
        bfDestroyFence(two);
        if (round == 1)
            descriptors = open_descriptors();
    }
    assert_int_equal(open_descriptors(), descriptors);
    assert_true(failures > 20);
}
