/* SPDX-License-Identifier: MIT */
/* Logs of a queue's waits and signals, written by the GPU. */
#include "support/fixture.h"

static BfFenceLogReader make_reader(struct fixture *f, BfCommandQueue queue, BfFenceLogType type)
{
    BfFenceLogReader reader;
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .type = type};
    assert_success(bfCreateFenceLogReader(f->bf, &info, &reader));
    return reader;
}

static bool is_timed(struct fixture *f, BfCommandQueue queue)
{
    return f->families[bfGetCommandQueueFamilyIndex(queue) < f->family_count
                           ? bfGetCommandQueueFamilyIndex(queue)
                           : 0]
               .timestampValidBits > 0;
}

/* 'first': how many the queue has had logged before. */
static void signals_are_logged_in_order(struct fixture *f, BfCommandQueue queue, BfFence fence,
                                        uint64_t first)
{
    BfFenceLogReader reader = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS);
    for (uint64_t i = 1; i <= 60; i++) {
        execute(queue, write_word(f, queue, (uint32_t)i, (uint32_t)i));
        queue_signal(queue, fence, i * i);
    }
    await_fence(fence, 3600);
    BfFenceLogRecord records[100];
    uint32_t count;
    uint64_t lost, before = 0;
    assert_success(bfReadFenceLog(reader, 100, records, &count, &lost));
    assert_int_equal(count, 60);
    assert_int_equal(lost, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].entry.fenceValue, (i + 1) * (i + 1));
        assert_int_equal(records[i].entry.hNativeFence, bfGetFenceLogHandle(fence));
        assert_int_equal(records[i].entry.operationType, BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED);
        assert_int_equal(records[i].sequence, first + i);
        assert_true(records[i].entry.fenceEndGpuTimestamp >= before);
        before = records[i].entry.fenceEndGpuTimestamp;
    }
    if (is_timed(f, queue))
        assert_true(before > 0);
    bfDestroyFenceLogReader(reader);
}

TYPE_TEST(signals_of_every_queue_type_are_logged)
{
    signals_are_logged_in_order(f, queue, make_fence(f, 0), 0);
    signals_are_logged_in_order(f, queue, make_native_fence(f, 0), 60);
}

FIXTURE_TEST(waits_are_logged_when_they_end)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence go = make_native_fence(f, 0), done = make_native_fence(f, 0);
    BfFenceLogReader reader = make_reader(f, b, BF_FENCE_LOG_TYPE_WAITS);
    for (uint64_t i = 1; i <= 40; i++) {
        queue_wait(b, go, i);
        execute(b, write_word(f, b, (uint32_t)i, (uint32_t)i));
        queue_signal(b, done, i);
        execute(a, write_word(f, a, 100, (uint32_t)i));
        queue_signal(a, go, i);
    }
    await_fence(done, 40);
    BfFenceLogRecord records[100];
    uint32_t count;
    uint64_t lost;
    assert_success(bfReadFenceLog(reader, 100, records, &count, &lost));
    assert_int_equal(count, 40);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].entry.fenceValue, i + 1);
        assert_int_equal(records[i].entry.hNativeFence, bfGetFenceLogHandle(go));
        assert_int_equal(records[i].entry.operationType, BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED);
        assert_true(records[i].entry.fenceObservedGpuTimestamp <=
                    records[i].entry.fenceEndGpuTimestamp);
    }
    bfDestroyFenceLogReader(reader);
}

/* Two readers, of which one reads every log as long as it is there, and the other comes late. */
FIXTURE_TEST(readers_follow_a_log_over_several_re_creations)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(f, 0);
    BfFenceLogReader soon = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS);
    BfFenceLogReader late = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS);
    BfFenceLogRecord records[20];
    uint32_t count;
    uint64_t lost, value = 0;
    /* The third log is empty when it is replaced. */
    static const uint32_t signals[] = {3, 2, 0, 4};
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < signals[i]; j++)
            queue_signal(queue, fence, ++value);
        await_fence(fence, value);
        assert_success(bfReadFenceLog(soon, 20, records, &count, &lost));
        assert_int_equal(count, signals[i]);
        assert_int_equal(lost, 0);
        assert_true(!count || records[count - 1].sequence == value - 1);
        if (i < 3)
            assert_success(bfSetFenceLogEntries(late, 100 + i));
    }
    assert_success(bfReadFenceLog(late, 20, records, &count, &lost));
    assert_int_equal(count, value);
    assert_int_equal(lost, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(records[i].sequence, i);
        assert_int_equal(records[i].lostBefore, 0);
        assert_int_equal(records[i].entry.fenceValue, i + 1);
    }
    bfDestroyFenceLogReader(soon);
    bfDestroyFenceLogReader(late);
}

/* Where the host fills in times, it does so when the batch is over. An entry that the GPU has
 * counted before isn't shown without them. */
TEST(entries_are_read_with_their_times_or_later)
{
    if (!fixture_is_icd())
        return; /* the test driver alone holds batches between their work and their signals */
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        fixture_open(&f, &fixture_plain);
        BfCommandQueue queue = make_queue(&f, queue_types[i]);
        BfFence fence = make_native_fence(&f, 0);
        BfFenceLogReader reader = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS);
        BfFenceLogRecord records[4];
        uint32_t before, after;
        f.icd.hold_before_signals(true);
        queue_signal(queue, fence, 1);
        f.icd.quiesce();
        assert_int_equal(f.icd.held(), 1);
        assert_success(bfReadFenceLog(reader, 4, records, &before, NULL));
        f.icd.hold_before_signals(false);
        await_fence(fence, 1);
        assert_success(bfReadFenceLog(reader, 4, records + before, &after, NULL));
        assert_int_equal(before + after, 1);
        assert_int_equal(records[0].entry.fenceValue, 1);
        assert_true(!is_timed(&f, queue) || records[0].entry.fenceEndGpuTimestamp > 0);
        bfDestroyFenceLogReader(reader);
        fixture_close(&f);
    }
}
