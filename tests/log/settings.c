/* SPDX-License-Identifier: MIT */
/* Logs without times, by the setting or on engines that have none or few bits of them. */
#include "log/read.h"

static void open_with(struct fixture *f, const char *setting)
{
    setenv("VK_BELFRY_MULTI_ENGINE_LOG", setting, 1);
    fixture_open(f, NULL);
    unsetenv("VK_BELFRY_MULTI_ENGINE_LOG");
}

static void log_signals_and_waits(struct fixture *f, BfCommandQueue queue, struct records *w,
                                  struct records *s)
{
    BfFence fence = make_native_fence(f, 0), gate = make_fence(f, 0);
    BfFenceLogReader waits = make_reader(f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
    BfFenceLogReader signals = make_reader(f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        execute(queue, write_word(f, queue, 0, 1));
        queue_wait(queue, gate, i);
        queue_signal(queue, fence, i);
        cpu_signal(gate, i);
        if (i % 5 == 0)
            await_fence(fence, i);
    }
    read_all(waits, w);
    read_all(signals, s);
    assert_int_equal(w->count, 20);
    assert_int_equal(s->count, 20);
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
}

static void has_no_times(const struct records *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        assert_int_equal(r->at[i].entry.reserved0, BF_FENCE_LOG_UNTIMED_BIT);
        assert_int_equal(r->at[i].entry.fenceObservedGpuTimestamp, 0);
        assert_int_equal(r->at[i].entry.fenceEndGpuTimestamp, 0);
    }
}

static void times_never_go_back(const struct records *r)
{
    uint64_t end = 0, observed = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const BfFenceLogEntry *e = &r->at[i].entry;
        assert_true(e->fenceEndGpuTimestamp > 0 && e->fenceEndGpuTimestamp >= end);
        assert_true(e->fenceObservedGpuTimestamp <= e->fenceEndGpuTimestamp);
        assert_true(e->fenceObservedGpuTimestamp == 0 || e->fenceObservedGpuTimestamp >= observed);
        end = e->fenceEndGpuTimestamp;
        observed = e->fenceObservedGpuTimestamp ? e->fenceObservedGpuTimestamp : observed;
    }
}

TEST(the_setting_leaves_times_or_logs_away)
{
    struct records w, s;
    struct fixture f;
    open_with(&f, "untimed");
    for (int t = 0; t < 3; t++) {
        log_signals_and_waits(&f, make_queue(&f, queue_types[t]), &w, &s);
        has_no_times(&w);
        has_no_times(&s);
    }
    fixture_close(&f);

    open_with(&f, "off");
    BfFenceLogReader reader;
    BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                       .queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                                       .type = BF_FENCE_LOG_TYPE_WAITS};
    assert_int_equal(bfCreateFenceLogReader(f.bf, &info, &reader), VK_ERROR_FEATURE_NOT_PRESENT);
    fixture_close(&f);

    fixture_open(&f, NULL);
    const BfCommandQueueCreateInfo software = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                               .type = BF_COMMAND_LIST_TYPE_DIRECT,
                                               .flags = BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT};
    assert_success(bfCreateCommandQueue(f.bf, &software, &info.queue));
    assert_int_equal(bfCreateFenceLogReader(f.bf, &info, &reader), VK_ERROR_FEATURE_NOT_PRESENT);
    uint32_t family;
    info.vkQueue = any_queue(&f, &family);
    assert_bad_input(bfCreateFenceLogReader(f.bf, &info, &reader)); /* two queues */
    bfDestroyCommandQueue(info.queue);
    info.queue = NULL;
    info.type = (BfFenceLogType)3;
    assert_bad_input(bfCreateFenceLogReader(f.bf, &info, &reader));
    info.type = BF_FENCE_LOG_TYPE_SIGNALS;
    info.entries = 65537;
    assert_bad_input(bfCreateFenceLogReader(f.bf, &info, &reader));
    fixture_close(&f);
}

/* What the GPU executes for the same 20 batches and their waits and signals. */
static uint64_t command_buffers_of(BfCommandListType type, const char *setting, bool read)
{
    struct fixture f;
    struct belfry_icd_counters before, after;
    BfFenceLogReader waits = NULL, signals = NULL;
    open_with(&f, setting);
    BfCommandQueue queue = make_queue(&f, type);
    BfFence fence = make_native_fence(&f, 0), passed = make_fence(&f, 20);
    if (read) {
        waits = make_reader(&f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        signals = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
    }
    f.icd.pause(); /* what of it is seen complete early would need no barrier */
    f.icd.get_counters(&before);
    for (uint64_t i = 1; i <= 20; i++) {
        queue_wait(queue, passed, i);
        execute(queue, write_word(&f, queue, 0, 1));
        queue_signal(queue, fence, i);
    }
    f.icd.resume();
    await_fence(fence, 20);
    f.icd.quiesce();
    f.icd.get_counters(&after);
    if (read) {
        struct records r;
        read_all(waits, &r);
        assert_int_equal(r.count, 20);
        read_all(signals, &r);
        assert_int_equal(r.count, 20);
        bfDestroyFenceLogReader(waits);
        bfDestroyFenceLogReader(signals);
    }
    fixture_close(&f);
    return after.command_buffers - before.command_buffers;
}

TEST(a_log_without_times_costs_the_gpu_nothing)
{
    if (!fixture_is_icd())
        return;
    for (int t = 0; t < 3; t++) {
        uint64_t none = command_buffers_of(queue_types[t], "off", false);
        assert_true(none >= 40);
        assert_int_equal(command_buffers_of(queue_types[t], "untimed", true), none);
        /* Each execution's end, each wait and each signal. */
        assert_int_equal(command_buffers_of(queue_types[t], "timed", true), none + 60);
    }
}

/* LG-6: what isn't over isn't there, what is over is there at the first look. */
TEST(a_log_without_times_is_written_when_it_is_read)
{
    if (!fixture_is_icd())
        return;
    for (int t = 0; t < 3; t++) {
        struct fixture f;
        struct records r;
        open_with(&f, "untimed");
        BfCommandQueue queue = make_queue(&f, queue_types[t]);
        BfFence fence = make_native_fence(&f, 1), passed = make_fence(&f, 5);
        BfFenceLogReader signals = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        BfFenceLogReader waits = make_reader(&f, queue, BF_FENCE_LOG_TYPE_WAITS, 0);
        const BfNativeFenceMapping mapping = mapping_of(fence);
        queue_signal(queue, fence, 8);
        await_fence(fence, 8);
        f.icd.hold_before_signals(true);
        queue_wait(queue, passed, 4);
        queue_signal(queue, fence, 9);
        queue_signal(queue, fence, 10);
        f.icd.quiesce();
        assert_int_equal(__atomic_load_n(mapping.pCurrentValue, __ATOMIC_ACQUIRE), 9);
        read_all(signals, &r);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.at[0].entry.fenceValue, 8);
        BfFenceLogBuffer *log = dump(signals, NULL);
        assert_int_equal(log->header.atomicWraparoundAndEntryIndex, 1);
        for (size_t i = 0; i < sizeof(log->entries[0]); i += 8)
            assert_int_equal(number_at(log, 40 + 48 + i, 8), 0);
        free(log);
        log = dump(waits, NULL);
        assert_int_equal(log->header.atomicWraparoundAndEntryIndex, 0);
        free(log);
        f.icd.hold_before_signals(false);
        await_fence(fence, 10);
        /* Who comes now is too late for it, although nobody has looked. */
        BfFenceLogReader late = make_reader(&f, queue, BF_FENCE_LOG_TYPE_SIGNALS, 0);
        read_all(late, &r);
        assert_int_equal(r.count, 0);
        assert_int_equal(r.lost, 0);
        bfDestroyFenceLogReader(late);
        log = dump(signals, NULL);
        assert_int_equal(log->header.atomicWraparoundAndEntryIndex, 3);
        assert_int_equal(log->entries[2].fenceValue, 10);
        assert_int_equal(log->entries[2].hNativeFence, bfGetFenceLogHandle(fence));
        free(log);
        read_all(signals, &r);
        assert_int_equal(r.count, 2);
        assert_int_equal(r.lost, 0);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(r.at[i].sequence, i + 1);
            assert_int_equal(r.at[i].entry.fenceValue, i + 9);
        }
        has_no_times(&r);
        read_all(waits, &r);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.at[0].entry.fenceValue, 4);
        has_no_times(&r);
        bfDestroyFenceLogReader(signals);
        bfDestroyFenceLogReader(waits);
        fixture_close(&f);
    }
}

TEST(engines_with_few_bits_or_none_are_logged)
{
    if (!fixture_is_icd())
        return;
    static const struct {
        const char *environment;
        bool timed[3]; /* by type */
    } cases[] = {
        {"SHAPE=copy", {true, true, false}},
        {"SHAPE=intel", {true, true, true}}, /* 36 bits of 52 ns */
        {"SHAPE=nvidia TIMESTAMP_BITS=36", {true, true, true}},
        {"SHAPE=nvidia TIMESTAMP_BITS=24", {true, true, true}}, /* round once in 17 ms */
        {"SHAPE=nvidia TIMESTAMP_BITS=0", {false, false, false}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fixture_options options = {.environment = cases[i].environment,
                                                .family = UINT32_MAX};
        struct fixture f;
        fixture_open(&f, &options);
        for (int t = 0; t < 3; t++) {
            struct records w, s;
            log_signals_and_waits(&f, make_queue(&f, queue_types[t]), &w, &s);
            (cases[i].timed[t] ? times_never_go_back : has_no_times)(&w);
            (cases[i].timed[t] ? times_never_go_back : has_no_times)(&s);
        }
        fixture_close(&f);
    }
}
