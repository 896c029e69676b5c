/* SPDX-License-Identifier: MIT */
/* The process runs out of memory at each allocation of each call in turn: the call says so, and the
 * same call once more does all of what it is for. The tests' own malloc stands in for the
 * process's.
 */
#include "support/fixture.h"

#include "support/no_memory.h"

static _Thread_local uint32_t until_none; /* 0: there is memory */
static _Thread_local bool was_none;

static bool has_none(void)
{
    if (until_none == 0 || --until_none)
        return false;
    was_none = true;
    errno = ENOMEM;
    return true;
}

/* Fails at its first allocation, then at its second and so on, until it has them all. */
#define SHORT_OF_MEMORY(call_)                                                                     \
    do {                                                                                           \
        for (uint32_t n_ = 1;; n_++) {                                                             \
            was_none = false;                                                                      \
            until_none = n_;                                                                       \
            VkResult result_ = (call_);                                                            \
            until_none = 0;                                                                        \
            failures += result_ != VK_SUCCESS;                                                     \
            if (result_ == VK_SUCCESS)                                                             \
                break;                                                                             \
            assert_true(was_none);                                                                 \
            assert_int_equal(result_, VK_ERROR_OUT_OF_HOST_MEMORY);                                \
        }                                                                                          \
    } while (0)

static uint32_t failures;

FIXTURE_TEST(queues_fences_and_events_survive_a_lack_of_memory)
{
    failures = 0;
    const BfCommandQueueCreateInfo queue_info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                 .type = BF_COMMAND_LIST_TYPE_DIRECT};
    const BfFenceCreateInfo fence_info = {BF_TYPE(FENCE_CREATE_INFO)};
    BfCommandQueue a, b;
    BfFence gate, there, back;
    BfEvent event, both;
    SHORT_OF_MEMORY(bfCreateCommandQueue(f->bf, &queue_info, &a));
    SHORT_OF_MEMORY(bfCreateCommandQueue(f->bf, &queue_info, &b));
    SHORT_OF_MEMORY(bfCreateFence(f->bf, &fence_info, &gate));
    SHORT_OF_MEMORY(bfCreateFence(f->bf, &fence_info, &there));
    SHORT_OF_MEMORY(bfCreateFence(f->bf, &fence_info, &back));
    SHORT_OF_MEMORY(bfCreateEvent(0, &event));
    SHORT_OF_MEMORY(bfCreateEvent(0, &both));
    VkCommandBuffer to = write_word(f, a, 0, 7), fro = copy_word(f, b, 0, 1);
    const BfFence fences[2] = {there, back};
    const uint64_t values[2] = {1, 2};
    SHORT_OF_MEMORY(bfSetEventOnFenceCompletion(back, 1, event));
    SHORT_OF_MEMORY(
        bfSetEventOnMultipleFenceCompletion(2, fences, values, BF_FENCE_WAIT_ALL, both));
    SHORT_OF_MEMORY(bfQueueWait(a, gate, 1));
    SHORT_OF_MEMORY(bfQueueExecute(a, 1, &to));
    SHORT_OF_MEMORY(bfQueueSignal(a, there, 1));
    SHORT_OF_MEMORY(bfQueueWait(b, there, 1));
    SHORT_OF_MEMORY(bfQueueExecute(b, 1, &fro));
    SHORT_OF_MEMORY(bfQueueSignal(b, back, 1));
    assert_value(there, 0);
    assert_value(back, 0);
    SHORT_OF_MEMORY(bfSignalFence(gate, 1));
    SHORT_OF_MEMORY(bfQueueWaitIdle(b));
    assert_true(take_event(event));
    assert_false(take_event(both));
    SHORT_OF_MEMORY(bfQueueSignal(b, back, 2));
    SHORT_OF_MEMORY(bfWaitFences(2, fences, values, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_true(take_event(both));
    assert_int_equal(read_word(f, 1), 7);
    assert_true(failures > 10);
    bfDestroyCommandQueue(a);
    bfDestroyCommandQueue(b);
    bfDestroyFence(gate);
    bfDestroyFence(there);
    bfDestroyFence(back);
    bfDestroyEvent(event);
    bfDestroyEvent(both);
}

FIXTURE_TEST(imported_and_exported_fences_survive_a_lack_of_memory)
{
    failures = 0;
    VkSemaphore in = make_timeline(f, 0), out = make_timeline(f, 0);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence imported, exported = make_fence(f, 0), gate = make_fence(f, 0);
    SHORT_OF_MEMORY(bfImportFenceFromSemaphore(f->bf, in, &imported));
    SHORT_OF_MEMORY(bfExportFenceToSemaphore(exported, out));
    SHORT_OF_MEMORY(bfQueueSignal(queue, imported, 1));
    SHORT_OF_MEMORY(bfQueueWait(queue, imported, 1));
    SHORT_OF_MEMORY(bfQueueWait(queue, gate, 1));
    SHORT_OF_MEMORY(bfQueueSignal(queue, imported, 3));
    SHORT_OF_MEMORY(bfQueueWait(queue, imported, 3));
    SHORT_OF_MEMORY(bfQueueSignal(queue, exported, 5));
    SHORT_OF_MEMORY(bfSignalFence(gate, 1));
    const uint64_t three = 3;
    SHORT_OF_MEMORY(bfWaitFences(1, &imported, &three, BF_FENCE_WAIT_ALL, UINT64_MAX));
    vulkan_wait(f->device, out, 5);
    assert_int_equal(vulkan_value(f->device, in), 3);
    SHORT_OF_MEMORY(bfSignalFence(imported, 4));
    assert_int_equal(vulkan_value(f->device, in), 4);
    assert_true(failures > 5);
    bfDestroyFence(imported);
}

FIXTURE_TEST(native_fences_and_logs_survive_a_lack_of_memory)
{
    failures = 0;
    const BfNativeFenceCreateInfo native = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = 1};
    const BfNativeFenceCreateInfo local = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                           .type = BF_NATIVE_FENCE_TYPE_INTRA_GPU};
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence gate = make_fence(f, 0), there, back, own, progress;
    BfNativeFenceMapping m = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    SHORT_OF_MEMORY(bfCreateNativeFence(f->bf, &native, &there));
    SHORT_OF_MEMORY(bfCreateNativeFence(f->bf, &native, &back));
    SHORT_OF_MEMORY(bfCreateNativeFence(f->bf, &local, &own));
    SHORT_OF_MEMORY(bfGetCommandQueueProgressFence(a, &progress));
    const BfFenceLogReaderCreateInfo of_signals = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                                   .queue = a, .type = BF_FENCE_LOG_TYPE_SIGNALS};
    const BfFenceLogReaderCreateInfo of_waits = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = b,
                                                 .type = BF_FENCE_LOG_TYPE_WAITS};
    BfFenceLogReader signals, waits;
    BfFenceLogRecord records[16];
    uint32_t count;
    uint64_t lost;
    VkCommandBuffer to = write_word(f, a, 0, 7), fro = copy_word(f, b, 0, 1);
    const BfFence both[] = {there, back};
    const uint64_t values[] = {8, 9};
    SHORT_OF_MEMORY(bfQueueSignal(a, there, 2));
    SHORT_OF_MEMORY(bfCreateFenceLogReader(f->bf, &of_signals, &signals));
    SHORT_OF_MEMORY(bfCreateFenceLogReader(f->bf, &of_waits, &waits));
    SHORT_OF_MEMORY(bfQueueSignal(a, there, 3)); /* by the direct way, as the one before */
    SHORT_OF_MEMORY(bfQueueWait(a, gate, 1));    /* what follows by packets */
    SHORT_OF_MEMORY(bfQueueExecute(a, 1, &to));
    SHORT_OF_MEMORY(bfQueueSignal(a, there, 4));
    SHORT_OF_MEMORY(bfQueueSignal(a, own, 1));
    SHORT_OF_MEMORY(bfSetFenceLogEntries(signals, 100));
    SHORT_OF_MEMORY(bfQueueWait(b, there, 4));
    SHORT_OF_MEMORY(bfQueueWait(b, own, 1));
    SHORT_OF_MEMORY(bfQueueExecute(b, 1, &fro));
    SHORT_OF_MEMORY(bfQueueSignal(b, back, 5));
    SHORT_OF_MEMORY(bfSignalFence(gate, 1));
    await_idle(b);
    assert_value(there, 4);
    assert_value(back, 5);
    assert_value(progress, 1);
    assert_success(bfGetNativeFenceMapping(back, &m));
    assert_int_equal(__atomic_load_n(m.pCurrentValue, __ATOMIC_ACQUIRE), 5);
    assert_int_equal(read_word(f, 1), 7);
    SHORT_OF_MEMORY(bfReadFenceLog(signals, 16, records, &count, &lost));
    assert_int_equal(count + lost, 4); /* the progress fence is signalled, too */
    SHORT_OF_MEMORY(bfReadFenceLog(waits, 16, records, &count, &lost));
    assert_int_equal(count + lost, 2);
    SHORT_OF_MEMORY(bfUpdateFenceValues(2, both, values, 0));
    assert_value(there, 8);
    assert_value(back, 9);
    assert_true(failures > 20);
    bfDestroyFenceLogReader(signals);
    bfDestroyFenceLogReader(waits);
    bfDestroyFence(there);
    bfDestroyFence(back);
    bfDestroyFence(own);
}
