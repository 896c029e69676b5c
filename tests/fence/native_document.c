/* SPDX-License-Identifier: MIT */
/* What "Native GPU fence object" (Windows driver documentation, WDDM 3.2) shows by example, and
 * what of it no other test has. */
#include "shared_peer.h"

#include <belfry/native_fence.h>
#include <belfry/preemption.h>

#include "support/lines.h"

/* Without imported host memory the program's mapping is the GPU's own, so the test can play it. */
static const struct fixture_options writable = {.environment = "HOST_MEMORY=0",
                                                .family = UINT32_MAX};

static BfFence make_flagged(struct fixture *f, BfSyncObjectFlags flags, uint64_t value)
{
    BfFence fence;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = value,
                                          .flags = flags};
    assert_success(bfCreateNativeFence(f->bf, &info, &fence));
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

static uint64_t word(BfFence fence)
{
    return __atomic_load_n(mapping_of(fence).pCurrentValue, __ATOMIC_ACQUIRE);
}

static void await_word(BfFence fence, uint64_t value)
{
    while (word(fence) != value)
        sched_yield();
}

/* As the GPU sees it. */
static uint64_t monitored_of(struct fixture *f, BfCommandQueue queue, BfFence fence)
{
    const BfNativeFenceMapping m = mapping_of(fence);
    VkCommandBuffer commands = commands_begin(f, queue);
    const VkBufferCopy copy = {m.monitoredValueOffset, 64, sizeof(uint64_t)};
    vkCmdCopyBuffer(commands, m.monitoredValueBuffer, f->buffer, 1, &copy);
    commands_end(commands);
    execute(queue, commands);
    await_idle(queue);
    return (uint64_t)read_word(f, 17) << 32 | read_word(f, 16);
}

static BfFenceLogReader make_reader(struct fixture *f, BfCommandQueue queue, uint32_t entries)
{
    BfFenceLogReader reader;
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .type = BF_FENCE_LOG_TYPE_SIGNALS, .entries = entries};
    assert_success(bfCreateFenceLogReader(f->bf, &info, &reader));
    return reader;
}

/* -------------------------------------------------------------------------------- Monitoring -- */

/* Waiters for 42 and 43: at 41 the CPU is left alone, at 42 the first is let go, and the other
 * one's value is what is monitored. */
FIXTURE_TEST(the_example_of_41_and_42)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_flagged(f, 0, 40);
    BfEvent on_42 = make_event(f), on_43 = make_event(f);
    set_event_on(fence, 43, on_43);
    assert_int_equal(monitored_of(f, queue, fence), 42);
    set_event_on(fence, 42, on_42);
    assert_int_equal(monitored_of(f, queue, fence), 41);
    fixture_settle(f);
    uint64_t before = counters_of(f).sleeperWakeups;
    queue_signal(queue, fence, 41);
    await_word(fence, 41);
    assert_int_equal(counters_of(f).sleeperWakeups, before);
    assert_int_equal(monitored_of(f, queue, fence), 41);
    assert_false(take_event(on_42));
    queue_signal(queue, fence, 42);
    await_event(on_42);
    assert_false(take_event(on_43));
    assert_int_equal(word(fence), 42);
    assert_int_equal(monitored_of(f, queue, fence), 42);
}

/* The GPU stands still, and has both queues' work all the same: nobody's CPU is in between. */
FIXTURE_TEST(a_queue_waits_for_another_without_the_cpu)
{
    if (!fixture_is_icd())
        return;
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    const BfSyncObjectFlags flags[] = {0, BF_SYNC_OBJECT_SHARED_BIT,
                                       BF_SYNC_OBJECT_CROSS_ADAPTER_BIT};
    for (uint32_t i = 0; i < 3; i++) {
        BfFence fence = make_flagged(f, flags[i], 0);
        VkCommandBuffer first = write_word(f, a, 3, i + 1), second = copy_word(f, b, 3, 4);
        uint64_t before = counters_of(f).submissions;
        f->icd.pause();
        execute(a, first);
        queue_signal(a, fence, 10);
        queue_wait(b, fence, 10);
        execute(b, second);
        assert_int_equal(counters_of(f).submissions, before + 3);
        assert_value(fence, 0);
        f->icd.resume();
        await_idle(b);
        assert_int_equal(read_word(f, 4), i + 1);
    }
    assert_int_equal(counters_of(f).blockedWaits, 0);
}

/* ------------------------------------------------------------------------------------- Flags -- */

/* Refused, with a line that names the call. */
static void refuse_native(struct fixture *f, BfNativeFenceType type, BfSyncObjectFlags flags)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .type = type,
                                          .flags = flags};
    BfFence none = NULL;
    char line[256];
    lines_begin();
    const VkResult result = bfCreateNativeFence(f->bf, &info, &none);
    const uint32_t lines = lines_end(line, sizeof(line));
    if (result != VK_ERROR_VALIDATION_FAILED_EXT || none || lines != 1 ||
        !strstr(line, "bfCreateNativeFence"))
        fail_msg("type %d with flags 0x%x: result %d, %u lines", (int)type, flags, result, lines);
}

FIXTURE_TEST(what_flags_mean_nothing_of_a_native_fence_is_refused)
{
    const BfSyncObjectFlags of_shared = BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    const BfSyncObjectFlags of_all = BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_NO_WAIT_BIT;
    const BfSyncObjectFlags of_read = BF_SYNC_OBJECT_SHARED_BIT | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT |
                                      BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT |
                                      BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
    for (BfSyncObjectFlags bit = 1; bit; bit <<= 1) {
        if (!(bit & (of_all | of_read)))
            refuse_native(f, BF_NATIVE_FENCE_TYPE_DEFAULT, bit);
        if (!(bit & of_all)) /* nobody reads its value */
            refuse_native(f, BF_NATIVE_FENCE_TYPE_INTRA_GPU, bit);
    }
    refuse_native(f, BF_NATIVE_FENCE_TYPE_DEFAULT, of_shared | of_all);
    refuse_native(f, (BfNativeFenceType)2, 0);
    refuse_native(f, (BfNativeFenceType)-1, 0);
}

/* Those of shared fences: there are other objects of it, which CPU waiters stay for if they may. */
FIXTURE_TEST(flags_of_a_shared_native_fence_have_their_effect)
{
    const BfSyncObjectFlags lasts = BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    for (int i = 0; i < 4; i++) {
        const BfSyncObjectFlags way =
            i & 1 ? BF_SYNC_OBJECT_CROSS_ADAPTER_BIT : BF_SYNC_OBJECT_SHARED_BIT;
        BfFence one = make_flagged(f, way | (i & 2 ? lasts : 0), 5), two = open_again(f, one);
        BfEvent event = make_event(f);
        assert_int_equal(bfGetFenceCreationFlags(two),
                         i & 1 ? BF_FENCE_SHARED_CROSS_ADAPTER_BIT : BF_FENCE_SHARED_BIT);
        assert_value(two, 5);
        set_event_on(one, 7, event);
        drop_fence(f, one);
        assert_int_equal(take_event(event), !(i & 2));
        cpu_signal(two, 7);
        if (i & 2)
            await_event(event);
    }
    int fd = -1;
    BfFence alone = make_flagged(f, BF_SYNC_OBJECT_FLAGS_NONE, 0);
    assert_bad_input(bfExportFenceFd(alone, 0, &fd));
    assert_int_equal(bfGetFenceCreationFlags(alone), BF_FENCE_FLAGS_NONE);
}

/* ----------------------------------------------------------------------------------- Storage -- */

FIXTURE_TEST(values_of_shared_fences_have_pages_of_their_own)
{
    enum { FENCES = 5 };
    static const BfSyncObjectFlags flags[FENCES] = {0, BF_SYNC_OBJECT_SHARED_BIT,
                                                    BF_SYNC_OBJECT_CROSS_ADAPTER_BIT,
                                                    BF_SYNC_OBJECT_SHARED_BIT, 0};
    BfNativeFenceMapping m[FENCES];
    for (int i = 0; i < FENCES; i++) {
        m[i] = mapping_of(make_flagged(f, flags[i], 0));
        for (int k = 0; k < i; k++) {
            bool together = !flags[i] && !flags[k];
            uintptr_t one = (uintptr_t)m[i].pCurrentValue, other = (uintptr_t)m[k].pCurrentValue;
            assert_int_equal(m[i].currentValueBuffer == m[k].currentValueBuffer, together);
            assert_int_equal(m[i].monitoredValueBuffer == m[k].monitoredValueBuffer, together);
            assert_true(together || one / 4096 != other / 4096);
        }
    }
}

/* -------------------------------------------------------------------------------- Interrupts -- */

static VkResult notify(struct fixture *f, uint32_t count, const BfFence *fences,
                       BfCommandQueue queue, BfFenceNotifyFlags flags)
{
    const BfFenceNotification notification = {
        BF_TYPE(FENCE_NOTIFICATION), .signaledFenceCount = count, .pSignaledFences = fences,
        .queue = queue, .flags = flags};
    return bfNotifyFencesSignaled(f->bf, &notification);
}

TEST(an_interrupt_that_names_nothing_known_is_refused)
{
    struct fixture f, other;
    fixture_open(&f, NULL);
    fixture_open(&other, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_flagged(&f, 0, 0), foreign = make_flagged(&other, 0, 0);
    BfFence gone = make_flagged(&f, 0, 0);
    drop_fence(&f, gone);
    const BfFence bad[] = {fence, gone}, mixed[] = {fence, foreign};
    BfFenceNotification chained = {BF_TYPE(FENCE_NOTIFICATION), .pNext = &chained};
    assert_bad_input(notify(&f, 2, bad, NULL, 0));
    assert_bad_input(notify(&f, 2, mixed, NULL, 0));
    assert_bad_input(notify(&f, 1, &fence, queue, 0));
    assert_bad_input(notify(&f, 0, NULL, NULL, 2));
    assert_bad_input(notify(&f, 1, NULL, NULL, 0));
    assert_bad_input(notify(&f, 0, NULL, make_queue(&other, BF_COMMAND_LIST_TYPE_DIRECT), 0));
    assert_bad_input(bfNotifyFencesSignaled(f.bf, &chained));
    assert_bad_input(bfNotifyFencesSignaled(f.bf, NULL));
    assert_success(notify(&f, 1, &fence, NULL, 0));
    assert_success(notify(&f, 0, NULL, queue, 0));
    fixture_close(&other);
    fixture_close(&f);
}

/* The log is all that is read: what no entry names is for an interrupt without a queue. The test
 * plays the GPU. */
TEST(a_queue_stands_for_what_its_log_names_and_no_more)
{
    struct fixture f;
    fixture_open(&f, &writable);
    if (!fixture_is_icd()) {
        fixture_close(&f);
        return;
    }
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence written = make_flagged(&f, BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT, 0);
    BfFence native = make_flagged(&f, 0, 0);
    BfEvent on_written = make_event(&f), on_native = make_event(&f);
    BfFenceLogReader reader = make_reader(&f, queue, 0);
    assert_success(notify(&f, 0, NULL, queue, 0)); /* the first looks at all */
    for (uint64_t n = 1; n <= 3; n++) {
        set_event_on(written, n, on_written);
        set_event_on(native, n, on_native);
        __atomic_store_n((uint64_t *)(uintptr_t)mapping_of(written).pCurrentValue, n,
                         __ATOMIC_SEQ_CST);
        queue_signal(queue, native, n);
        fixture_settle(&f);
        assert_success(notify(&f, 0, NULL, queue, 0));
        await_event(on_native);
        assert_false(take_event(on_written));
        assert_success(notify(&f, 0, NULL, NULL, 0));
        assert_true(take_event(on_written));
    }
    bfDestroyFenceLogReader(reader);
    fixture_close(&f);
}

/* The document's queue A: V1 and V2 to one fence, V3 twice to another, one interrupt at the end. */
FIXTURE_TEST(four_signals_and_one_interrupt)
{
    if (!fixture_is_icd())
        return;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFenceLogReader reader = make_reader(f, queue, 0);
    static const BfFenceNotifyFlags flags[] = {
        0, BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT};
    for (int i = 0; i < 4; i++) {
        BfFence f1 = make_flagged(f, 0, 0), f2 = make_flagged(f, 0, 0), legacy = make_fence(f, 0);
        BfEvent first = make_event(f), second = make_event(f), third = make_event(f);
        set_event_on(f1, 2, first);
        set_event_on(f2, 3, second);
        set_event_on(legacy, 1, third);
        queue_signal(queue, legacy, 1);
        queue_signal(queue, f1, 1);
        queue_signal(queue, f1, 2);
        queue_signal(queue, f2, 3);
        queue_signal(queue, f2, 3);
        f->icd.quiesce();
        assert_success(notify(f, 0, NULL, i < 2 ? queue : NULL, flags[i % 2]));
        assert_true(take_event(first));
        assert_true(take_event(second));
        assert_true(take_event(third));
        BfFenceLogRecord r[8];
        uint32_t count;
        assert_success(bfReadFenceLog(reader, 8, r, &count, NULL));
        assert_int_equal(count, 5);
        static const uint64_t values[] = {1, 1, 2, 3, 3};
        for (uint32_t k = 0; k < 5; k++) {
            BfFence of = k == 0 ? legacy : k < 3 ? f1 : f2;
            assert_int_equal(r[k].entry.fenceValue, values[k]);
            assert_int_equal(r[k].entry.hNativeFence, bfGetFenceLogHandle(of));
        }
    }
    bfDestroyFenceLogReader(reader);
}

/* Queues of three types, each with a VkQueue of its own, have signalled: 'a' and 'b' a native fence
 * each, 'c' one that isn't. All of it is over, and nobody has looked. */
static const struct interrupt_row {
    enum { ARRAY_OF_A, NOTHING, ENGINE_A, QUEUE_A, QUEUE_A_TWICE, QUEUE_B } names;
    BfFenceNotifyFlags flags;
    uint32_t entries; /* of the log of a's signals; 0: there is none */
    uint32_t before;  /* signals of a's before, behind an interrupt that names it */
    bool let_go[3];   /* the waiter for a's, b's and c's fence */
} interrupt_rows[] = {
    {ARRAY_OF_A, 0, 0, 0, {true}},
    {NOTHING, 0, 0, 0, {true, true}},
    {NOTHING, BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT, 0, 0, {true, true, true}},
    {ARRAY_OF_A, BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT, 0, 0, {true, false, true}},
    {QUEUE_A, BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT, 0, 0, {true, false, true}},
    {QUEUE_A, 0, 0, 0, {true}},  /* without a log, all that is the queue's */
    {QUEUE_A, 0, 16, 0, {true}}, /* the log is read for the first time */
    {QUEUE_A, 0, 16, 3, {true}}, /* the log names it */
    {QUEUE_A, 0, 4, 30, {true}}, /* entries were lost */
    {QUEUE_B, 0, 16, 3, {false, true}},
    {QUEUE_A_TWICE, 0, 16, 3, {true}}, /* first before its epoch: what was named stays so (IN-4) */
    {ENGINE_A, 0, 0, 0, {true}},
    {ENGINE_A, 0, 16, 3, {true}},
    {ENGINE_A, BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT, 16, 3, {true, false, true}},
};
/* All on one VkQueue, whose interrupt is about the others, too: 'a' hasn't signalled. */
static const struct interrupt_row shared_rows[] = {
    {ENGINE_A, 0, 16, 3, {false, true, true}},
};

static VkResult notify_of_engine(struct fixture *f, const BfFence *fence, BfCommandQueue named,
                                 BfCommandQueue of, uint32_t beyond, BfFenceNotifyFlags flags)
{
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)};
    assert_success(bfGetPreemptionStatus(of, &status));
    const BfFenceNotificationEngine engine = {BF_TYPE(FENCE_NOTIFICATION_ENGINE),
                                              .nodeOrdinal = status.nodeOrdinal,
                                              .engineOrdinal = status.engineOrdinal + beyond};
    const BfFenceNotification notification = {BF_TYPE(FENCE_NOTIFICATION),
                                              .pNext = &engine,
                                              .queue = named,
                                              .pSignaledFences = fence,
                                              .signaledFenceCount = fence != NULL,
                                              .flags = flags};
    return bfNotifyFencesSignaled(f->bf, &notification);
}

/* The driver keeps the sleepers. */
static void interrupt_before_the_sleeper(const struct interrupt_row *row, uint32_t sleepers)
{
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue queues[3], named = NULL;
    BfFence fences[3], old = make_flagged(&f, 0, 0);
    BfEvent events[3];
    BfFenceLogReader reader = NULL;
    for (int i = 0; i < 3; i++) {
        queues[i] = make_queue(&f, queue_types[i]);
        fences[i] = i < 2 ? make_flagged(&f, 0, 0) : make_fence(&f, 0);
        events[i] = make_event(&f);
    }
    VkCommandBuffer work = write_word(&f, queues[2], 0, 1);
    if (row->entries)
        reader = make_reader(&f, queues[0], row->entries);
    if (row->before)
        assert_success(notify(&f, 0, NULL, queues[0], 0));
    for (uint32_t i = 1; i <= row->before; i++)
        queue_signal(queues[0], old, i);
    await_idle(queues[0]);
    f.icd.set_block(
        &(struct belfry_icd_block){.command = "vkWaitSemaphores", .first = 1, .every = 1});
    f.icd.pause();
    execute(queues[2], work);
    /* 'c' first, which needs the work alone: on a VkQueue that all share, its epoch is less than
     * the others', and a lesser one asked for later would start a second thread of the sleeper,
     * which might not be in the driver yet when the device goes on. */
    for (int i = 2; i >= 0; i--) {
        set_event_on(fences[i], 1, events[i]);
        if (sleepers == 3 || i > 0)
            queue_signal(queues[i], fences[i], 1);
    }
    f.icd.await_blocked(sleepers);
    f.icd.hold_before_signals(row->names == QUEUE_A_TWICE);
    f.icd.resume();
    f.icd.quiesce();
    if (row->names == QUEUE_A_TWICE) {
        assert_success(notify(&f, 0, NULL, queues[0], row->flags));
        assert_false(take_event(events[0]));
        f.icd.hold_before_signals(false);
        f.icd.quiesce();
    }
    for (int i = 0; i < 3; i++)
        assert_false(take_event(events[i]));
    if (row->names >= QUEUE_A)
        named = queues[row->names == QUEUE_B];
    const BfFence *array = row->names == ARRAY_OF_A ? fences : NULL;
    assert_success(row->names == ENGINE_A
                       ? notify_of_engine(&f, NULL, NULL, queues[0], 0, row->flags)
                       : notify(&f, array != NULL, array, named, row->flags));
    for (int i = 0; i < 3; i++) {
        bool let_go = take_event(events[i]);
        if (let_go != row->let_go[i])
            fail_msg("%s %d: waiter %d was%s let go", sleepers == 3 ? "row" : "shared row",
                     (int)(row - (sleepers == 3 ? interrupt_rows : shared_rows)), i,
                     let_go ? "" : "n't");
    }
    f.icd.set_block(NULL);
    f.icd.release(UINT64_MAX);
    bfDestroyFenceLogReader(reader);
    fixture_close(&f);
}

TEST(an_interrupt_applies_what_it_stands_for_and_no_more)
{
    const char *shape = getenv("BELFRY_ICD_SHAPE");
    if (!fixture_is_icd() || !shape)
        return;
    bool apart = strcmp(shape, "nvidia") == 0; /* a VkQueue, and so a sleeper, for each */
    for (size_t i = 0; apart && i < sizeof(interrupt_rows) / sizeof(interrupt_rows[0]); i++)
        interrupt_before_the_sleeper(&interrupt_rows[i], 3);
    if (strcmp(shape, "q1") == 0)
        interrupt_before_the_sleeper(&shared_rows[0], 1);
}

FIXTURE_TEST(an_engine_that_an_interrupt_names_is_its_queues)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_flagged(f, 0, 0);
    BfPreemptionStatus of_a = {BF_TYPE(PREEMPTION_STATUS)}, of_b = of_a;
    assert_success(bfGetPreemptionStatus(a, &of_a));
    assert_success(bfGetPreemptionStatus(b, &of_b));
    assert_success(notify_of_engine(f, NULL, NULL, a, 0, 0));
    assert_success(notify_of_engine(f, NULL, a, a, 0, 0));
    assert_bad_input(notify_of_engine(f, NULL, NULL, a, 64, 0)); /* there isn't one */
    assert_bad_input(notify_of_engine(f, &fence, NULL, a, 0, 0));
    if (of_a.nodeOrdinal != of_b.nodeOrdinal)
        assert_bad_input(notify_of_engine(f, NULL, a, b, 0, 0));
}

TEST(a_notification_alone_makes_waiters_look_again)
{
    if (!fixture_is_icd())
        return;
    struct fixture f;
    fixture_open(&f, &writable);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_flagged(&f, BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT, 0),
            done = make_fence(&f, 0);
    BfEvent event = make_event(&f);
    _Atomic uint64_t *value = (_Atomic uint64_t *)(uintptr_t)mapping_of(fence).pCurrentValue;
    queue_wait(queue, fence, 10);
    queue_signal(queue, done, 1);
    set_event_on(fence, 10, event);
    *value = 10;
    fixture_settle(&f);
    assert_false(take_event(event));
    assert_value(done, 0);
    assert_success(bfUpdateFenceValues(1, &fence, NULL, BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT));
    assert_true(take_event(event));
    await_fence(done, 1);
    assert_int_equal(word(fence), 10);
    fixture_close(&f);
}

/* As a user-mode driver does it: the program's command buffer stores the value, and whoever knows
 * of it raises the interrupt where the value is above what is monitored. */
FIXTURE_TEST(a_command_buffer_of_the_programs_is_a_signal)
{
    for (uint32_t t = 0; t < 3; t++) {
        BfCommandQueue signals = make_queue(f, queue_types[t]),
                       waits = make_queue(f, queue_types[(t + 1) % 3]);
        BfFence fence = make_flagged(f, BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT, 0),
                done = make_fence(f, 0);
        BfEvent event = make_event(f);
        const BfNativeFenceMapping m = mapping_of(fence);
        const uint64_t value = BIG + t;
        VkCommandBuffer commands = commands_begin(f, signals);
        put_word(f, commands, 5, t + 1);
        vkCmdUpdateBuffer(commands, m.currentValueBuffer, m.currentValueOffset, 8, &value);
        commands_end(commands);
        set_event_on(fence, value, event);
        queue_wait(waits, fence, value);
        execute(waits, copy_word(f, waits, 5, 6));
        queue_signal(waits, done, 1);
        execute(signals, commands);
        await_word(fence, value);
        await_idle(signals);
        assert_success(notify(f, 1, &fence, NULL, 0));
        assert_true(take_event(event));
        assert_value(fence, value);
        await_fence(done, 1);
        assert_int_equal(read_word(f, 6), t + 1);
    }
}

/* ------------------------------------------------------------------ Global and local handles -- */

FIXTURE_TEST(a_global_fence_outlives_the_local_one_of_its_maker)
{
    struct peer b, c;
    peer_start(&b);
    peer_start(&c);
    BfFence local = make_flagged(f, BF_SYNC_OBJECT_SHARED_BIT, 7);
    peer_give(&b, local);
    peer_give(&c, local);
    assert_int_equal(peer_do(&b, PEER_VALUE, 0, 0), 7);
    peer_do(&b, PEER_WORK_SIGNAL, 0, 8);
    await_word(local, 8); /* with no call of this process's */
    assert_value(local, 8);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    peer_arm(&b, 0, 9);
    queue_signal(queue, local, 9);
    peer_await(&b, 0);
    await_idle(queue);
    drop_fence(f, local);
    assert_int_equal(peer_do(&c, PEER_VALUE, 0, 0), 9);
    peer_arm(&c, 0, 10);
    peer_do(&b, PEER_WORK_SIGNAL, 0, 10);
    peer_await(&c, 0);
    peer_stop(&b);
    assert_int_equal(peer_do(&c, PEER_VALUE, 0, 0), 10);
    peer_stop(&c);
}

/* 'Always' is for the object that was asked for: the others, and the global fence, may be set
 * on. */
FIXTURE_TEST(a_local_fence_that_is_always_signaled_stays_so)
{
    BfFence one = make_flagged(f, BF_SYNC_OBJECT_SHARED_BIT, 1), other = open_again(f, one);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfEvent event = make_event(f);
    assert_success(bfUpdateFenceValues(1, &one, NULL, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT));
    assert_value(one, UINT64_MAX);
    assert_value(other, UINT64_MAX);
    cpu_signal(other, 5);
    assert_value(other, 5);
    assert_value(one, UINT64_MAX);
    assert_int_equal(word(one), UINT64_MAX);
    queue_signal(queue, other, 6);
    await_idle(queue);
    assert_value(other, 6);
    assert_value(one, UINT64_MAX);
    assert_int_equal(word(one), UINT64_MAX);
    set_event_on(one, UINT64_MAX, event);
    assert_true(take_event(event));
}

FIXTURE_TEST(an_orphan_takes_no_batch)
{
    struct peer peer;
    peer_start(&peer);
    BfFence plain = make_flagged(f, 0, 1);
    BfFence orphan = peer_take(&peer, f, 3, BF_SYNC_OBJECT_CROSS_ADAPTER_BIT);
    const BfFence both[] = {plain, orphan};
    const uint64_t values[] = {7, 8};
    assert_success(bfUpdateFenceValues(2, both, values, 0));
    assert_int_equal(word(orphan), 8);
    peer_kill(&peer);
    await_word(orphan, UINT64_MAX);
    const uint64_t more[] = {9, 10};
    assert_int_equal(bfUpdateFenceValues(2, both, more, 0), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_value(plain, 7);
    assert_value(orphan, UINT64_MAX);
    assert_int_equal(word(orphan), UINT64_MAX);
}

/* -------------------------------------------------------------------------------------- Logs -- */

static uint32_t entries_of(BfFenceLogReader reader)
{
    size_t size = 0;
    assert_success(bfDumpFenceLog(reader, &size, NULL));
    BfFenceLogBuffer *log = malloc(size);
    assert_non_null(log);
    assert_success(bfDumpFenceLog(reader, &size, log));
    uint32_t entries = (uint32_t)log->header.numberOfEntries;
    free(log);
    return entries;
}

static VkQueue own_queue(struct fixture *f)
{
    for (uint32_t i = 0; i < f->family_count; i++)
        if (f->queue_counts[i] && (f->families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            return f->queues[i][0];
    fail_msg("no graphics family");
    return NULL;
}

/* Also where the log was there before the timeline asked for it. */
TEST(the_log_of_a_traced_queue_is_larger)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/belfry-document-%d.pftrace", getpid());
    for (int traced = 0; traced < 2; traced++) {
        struct fixture f;
        if (traced)
            setenv("VK_BELFRY_MULTI_ENGINE_TRACE", path, 1);
        fixture_open(&f, NULL);
        unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
        BfFenceLogReader reader = make_reader(&f, make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT), 0);
        assert_int_equal(entries_of(reader) > BF_FENCE_LOG_DEFAULT_ENTRIES, traced);
        bfDestroyFenceLogReader(reader);
        const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                                 .vkQueue = own_queue(&f),
                                                 .type = BF_FENCE_LOG_TYPE_WAITS};
        assert_success(bfCreateFenceLogReader(f.bf, &info, &reader));
        const VkSubmitInfo2 nothing = {VK_TYPE(SUBMIT_INFO_2)};
        assert_success(f.layered
                           ? vkQueueSubmit2(info.vkQueue, 1, &nothing, VK_NULL_HANDLE)
                           : bfVkQueueSubmit(f.bf, info.vkQueue, 1, &nothing, VK_NULL_HANDLE));
        assert_int_equal(entries_of(reader) > BF_FENCE_LOG_DEFAULT_ENTRIES, traced);
        bfDestroyFenceLogReader(reader);
        fixture_close(&f);
    }
    unlink(path);
}
