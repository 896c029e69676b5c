/* SPDX-License-Identifier: MIT */
/* Native fences and logs where the driver runs out of memory, once, at each of its calls in turn:
 * the call of the program's that it was in says so and changes nothing, or what is lost is an entry
 * of a log, and counted. The device is never lost. */
#include "support/fixture.h"

/* Once more: it succeeds. */
#define RETRY(call_)                                                                               \
    do {                                                                                           \
        VkResult r_ = (call_);                                                                     \
        if (r_ == VK_ERROR_OUT_OF_HOST_MEMORY)                                                     \
            r_ = (call_);                                                                          \
        assert_success(r_);                                                                        \
    } while (0)

static uint64_t oom_points(struct fixture *f)
{
    struct belfry_icd_counters counters;
    f->icd.get_counters(&counters);
    return counters.oom_points;
}

static uint64_t value_in_memory(BfFence fence)
{
    return __atomic_load_n(word_of(fence), __ATOMIC_ACQUIRE);
}

/* What is there by now, in all; the last entry may need a batch, which is only now submitted. */
static uint64_t read_or_lost(BfFenceLogReader reader, BfCommandQueue queue)
{
    uint64_t all = 0;
    for (int i = 0; i < 2; i++) {
        BfFenceLogRecord records[64];
        uint32_t count = 0;
        uint64_t lost = 0;
        RETRY(bfReadFenceLog(reader, 64, records, &count, &lost));
        all += count + lost;
        RETRY(bfQueueWaitIdle(queue));
    }
    return all;
}

/* Returns at which calls of the driver it began and ended. */
static void run_program(uint64_t fail_at, uint64_t *first, uint64_t *last)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "OOM_AT=%llu", (unsigned long long)fail_at);
    const struct fixture_options options = {.environment = fail_at ? environment : NULL,
                                            .family = UINT32_MAX};
    enum { STEPS = 4 };
    struct fixture f;
    fixture_open(&f, &options);
    BfCommandQueue a = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence gate = make_fence(&f, 0), there, back, local, progress;
    VkCommandBuffer to[STEPS], fro[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        to[i] = write_word(&f, a, i, i + 1);
        fro[i] = copy_word(&f, b, i, STEPS + i);
    }
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = 0};
    const BfNativeFenceCreateInfo own = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                         .type = BF_NATIVE_FENCE_TYPE_INTRA_GPU};
    const BfFenceLogReaderCreateInfo of_waits = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = b,
                                                 .type = BF_FENCE_LOG_TYPE_WAITS};
    const BfFenceLogReaderCreateInfo of_signals = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                                   .queue = a, .type = BF_FENCE_LOG_TYPE_SIGNALS};
    BfFenceLogReader waits, signals;
    *first = oom_points(&f) + 1;
    RETRY(bfCreateNativeFence(f.bf, &info, &there));
    RETRY(bfCreateNativeFence(f.bf, &info, &back));
    RETRY(bfCreateNativeFence(f.bf, &own, &local));
    RETRY(bfGetCommandQueueProgressFence(a, &progress));
    RETRY(bfQueueSignal(a, there, 1));
    RETRY(bfCreateFenceLogReader(f.bf, &of_waits, &waits));
    RETRY(bfCreateFenceLogReader(f.bf, &of_signals, &signals));
    RETRY(bfQueueWait(a, gate, 1)); /* the first steps are packets */
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) {
            const uint64_t half = BIG + i;
            RETRY(bfSignalFence(gate, 1));
            RETRY(bfWaitFences(1, &back, &half, BF_FENCE_WAIT_ALL, UINT64_MAX));
            RETRY(bfSetFenceLogEntries(signals, 90));
        }
        RETRY(bfQueueExecute(a, 1, &to[i]));
        RETRY(bfQueueSignal(a, there, BIG + i + 1));
        RETRY(bfQueueWait(b, there, BIG + i + 1));
        RETRY(bfQueueExecute(b, 1, &fro[i]));
        RETRY(bfQueueSignal(b, back, BIG + i + 1));
        RETRY(bfQueueSignal(b, local, i + 1));
    }
    RETRY(bfQueueWaitIdle(a));
    RETRY(bfQueueWaitIdle(b));
    assert_int_equal(read_or_lost(waits, b), STEPS);
    assert_int_equal(read_or_lost(signals, a), 2 * STEPS); /* of the progress fence, too */
    RETRY(bfSignalFence(there, 5));
    *last = oom_points(&f);
    assert_value(there, 5);
    assert_int_equal(value_in_memory(there), 5);
    assert_value(back, BIG + STEPS);
    assert_int_equal(value_in_memory(back), BIG + STEPS);
    assert_value(progress, STEPS);
    assert_int_equal(value_in_memory(progress), STEPS);
    for (uint32_t i = 0; i < STEPS; i++)
        assert_int_equal(read_word(&f, STEPS + i), i + 1);
    while (oom_points(&f) < fail_at) /* this run has made fewer: not in fixture_close */
        vkDeviceWaitIdle(f.device);
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
    bfDestroyFence(there);
    bfDestroyFence(back);
    bfDestroyFence(local);
    fixture_close(&f);
}

TEST(native_fences_and_logs_lose_nothing_without_memory_at_any_call)
{
    uint64_t first, last, again, end;
    run_program(0, &first, &last);
    assert_true(first <= last);
    for (uint64_t n = first; n <= last; n++)
        run_program(n, &again, &end);
    print_message("without memory at each of %u calls\n", (uint32_t)(last - first + 1));
}
