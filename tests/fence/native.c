/* SPDX-License-Identifier: MIT */
/* Native fences: their values in memory, written by the GPU itself. */
#include "support/fixture.h"

static uint64_t load(const volatile uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* The GPU's own view of a word: copied to the fixture's buffer by a command buffer. */
static uint64_t gpu_reads(struct fixture *f, BfCommandQueue queue, VkBuffer buffer,
                          VkDeviceSize offset)
{
    VkCommandBuffer commands = commands_begin(f, queue);
    const VkBufferCopy copy = {offset, 64, sizeof(uint64_t)};
    vkCmdCopyBuffer(commands, buffer, f->buffer, 1, &copy);
    commands_end(commands);
    execute(queue, commands);
    await_idle(queue);
    return (uint64_t)read_word(f, 17) << 32 | read_word(f, 16);
}

static BfFence make_native_with(struct fixture *f, BfNativeFenceType type, BfSyncObjectFlags flags,
                                uint64_t value)
{
    BfFence fence;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = value,
                                          .type = type, .flags = flags};
    assert_success(bfCreateNativeFence(f->bf, &info, &fence));
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

/* ------------------------------------------------------------------------------------ Values -- */

FIXTURE_TEST(initial_values_are_in_memory)
{
    static const uint64_t values[] = {0, 1, UINT32_MAX, BIG, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        BfFence fence = make_native_fence(f, values[i]);
        assert_int_equal(load(word_of(fence)), values[i]);
        assert_value(fence, values[i]);
        drop_fence(f, fence); /* its place is taken by the next */
    }
}

TYPE_TEST(a_queues_signal_is_stored_by_the_gpu)
{
    BfFence fence = make_native_fence(f, 7);
    const volatile uint64_t *word = word_of(fence);
    for (uint64_t i = 1; i < 100; i++) {
        if (fixture_is_icd())
            f->icd.pause(); /* else the queue may be idle in the call */
        execute(queue, write_word(f, queue, 0, (uint32_t)i));
        queue_signal(queue, fence, BIG + i);
        if (fixture_is_icd())
            f->icd.resume();
        while (load(word) != BIG + i) /* no call of Belfry's: the GPU alone */
            ;
    }
    await_fence(fence, BIG + 99);
}

FIXTURE_TEST(any_64_bits_follow_any_others)
{
    static const uint64_t values[] = {1,
                                      UINT64_C(1) << 63,
                                      0,
                                      UINT64_MAX,
                                      UINT64_C(0x00000000ffffffff),
                                      UINT64_C(0xffffffff00000000),
                                      7,
                                      7,
                                      UINT64_MAX - 1};
    for (int t = 0; t < 3; t++) {
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence fence = make_native_fence(f, 5);
        const volatile uint64_t *word = word_of(fence);
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            queue_signal(queue, fence, values[i]);
            await_idle(queue);
            assert_int_equal(load(word), values[i]);
            assert_value(fence, values[i]);
            cpu_signal(fence, ~values[i]);
            assert_int_equal(load(word), ~values[i]); /* at once */
            assert_value(fence, ~values[i]);
        }
    }
}

/* Returns when the word is there, and the packet that wrote it is held before its signals: those
 * ahead of it are batches of their own. */
static void await_held_word(struct fixture *f, const volatile uint64_t *word, uint64_t value)
{
    uint64_t before = load(word);
    f->icd.quiesce();
    while (load(word) != value) {
        assert_int_equal(load(word), before);
        for (uint32_t family = 0; family < f->family_count; family++)
            for (uint32_t i = 0; i <= FIXTURE_QUEUES; i++) /* and the spare */
                f->icd.step(family, i);
        f->icd.quiesce();
    }
}

/* The moment between a packet's work and the signal of its end, held. */
TYPE_TEST(the_word_leads_the_value)
{
    if (!fixture_is_icd())
        return;
    BfFence fence = make_native_fence(f, 1);
    BfEvent event = make_event(f);
    const volatile uint64_t *word = word_of(fence);
    set_event_on(fence, 9, event);
    f->icd.hold_before_signals(true);
    execute(queue, write_word(f, queue, 3, 33));
    queue_signal(queue, fence, 9);
    await_held_word(f, word, 9);
    assert_int_equal(read_word(f, 3), 33); /* its data is there, too */
    assert_value(fence, 1);
    assert_false(take_event(event));
    f->icd.hold_before_signals(false);
    await_event(event);
    assert_value(fence, 9);
}

/* Who has read a value in memory may use what the work before its signal wrote, several cache
 * lines, without a barrier of that work's own to the host. On the test driver the value comes
 * before the data wherever Vulkan allows it, and that moment is held. */
FIXTURE_TEST(data_is_there_before_the_word)
{
    enum { FROM = 1000, WORDS = 400 };
    if (fixture_is_icd())
        f->icd.late_writes(true);
    for (int t = 0; t < 3; t++) {
        BfCommandQueue queue = make_queue(f, queue_types[t]);
        BfFence fence = make_native_fence(f, 0);
        const volatile uint64_t *word = word_of(fence);
        for (uint32_t i = 1; i <= 50; i++) {
            VkCommandBuffer commands = commands_begin(f, queue);
            vkCmdFillBuffer(commands, f->buffer, FROM * sizeof(uint32_t), WORDS * sizeof(uint32_t),
                            (uint32_t)t << 16 | i);
            assert_success(vkEndCommandBuffer(commands));
            if (fixture_is_icd())
                f->icd.hold_before_signals(true);
            execute(queue, commands);
            queue_signal(queue, fence, i);
            if (fixture_is_icd())
                await_held_word(f, word, i);
            while (load(word) != i)
                ;
            /* Atomically: of the fence's memory, which is mapped twice, ThreadSanitizer doesn't
             * know that it is one. */
            for (uint32_t k = FROM; k < FROM + WORDS; k++)
                assert_int_equal(__atomic_load_n(&f->words[k], __ATOMIC_ACQUIRE),
                                 (uint32_t)t << 16 | i);
            if (fixture_is_icd())
                f->icd.hold_before_signals(false);
        }
        await_idle(queue);
    }
    if (fixture_is_icd())
        f->icd.late_writes(false);
}

/* One batch a while, for who polls memory: either value, whole. */
struct poller {
    const volatile uint64_t *word;
    _Atomic bool stop;
    _Atomic uint64_t seen[2], torn;
};

static void poll_word(void *argument)
{
    struct poller *p = argument;
    while (!p->stop) {
        uint64_t value = load(p->word);
        if (value == 0 || value == UINT64_MAX)
            p->seen[value != 0]++;
        else
            p->torn = value;
    }
}

TYPE_TEST(nobody_sees_half_a_value)
{
    BfFence fence = make_native_fence(f, 0);
    struct poller poller = {.word = word_of(fence)};
    struct thread thread;
    thread_start(&thread, poll_word, &poller);
    for (int i = 0; i < TIMES(2000); i++)
        queue_signal(queue, fence, i % 2 ? 0 : UINT64_MAX);
    await_idle(queue);
    while (!poller.seen[0] && !poller.seen[1])
        ;
    poller.stop = true;
    thread_join(&thread);
    assert_int_equal(poller.torn, 0);
}

/* ----------------------------------------------------------------------------------- Mapping -- */

/* The kernel tells: it copies into the mapping, or says EFAULT. */
static bool can_be_written_by_the_process(const volatile uint64_t *word)
{
    const uint64_t bytes = 77;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], &bytes, sizeof(bytes)), sizeof(bytes));
    ssize_t got = read(ends[0], (void *)(uintptr_t)word, sizeof(bytes));
    assert_true(got == sizeof(bytes) || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return got > 0;
}

TEST(caps_say_whether_the_mapping_can_be_written)
{
    /* Any memory can be imported; none; none that is mapped twice. */
    static const char *const drivers[] = {NULL, "HOST_MEMORY=0", "HOST_MEMORY=2"};
    for (int without = 0; without < 3; without++) {
        const struct fixture_options options = {.environment = drivers[without],
                                                .family = UINT32_MAX};
        struct fixture f;
        fixture_open(&f, &options);
        BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
        assert_success(bfGetNativeFenceCaps(f.bf, &caps));
        assert_true(caps.supported);
        if (fixture_is_icd())
            assert_int_equal(caps.readOnlyMapping, !without);
        BfFence fence = make_native_fence(&f, 3);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
        assert_int_equal(can_be_written_by_the_process(word_of(fence)), !caps.readOnlyMapping);
        assert_int_equal(load(word_of(fence)), caps.readOnlyMapping ? 3 : 77);
        queue_signal(queue, fence, 4); /* by the other mapping */
        await_fence(fence, 4);
        assert_int_equal(load(word_of(fence)), 4);
        fixture_close(&f);
    }
}

FIXTURE_TEST(values_share_pages_a_stride_apart)
{
    BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
    assert_success(bfGetNativeFenceCaps(f->bf, &caps));
    enum { FENCES = 100 };
    BfNativeFenceMapping mappings[FENCES];
    for (int i = 0; i < FENCES; i++)
        mappings[i] = mapping_of(make_native_fence(f, 0));
    for (int i = 0; i < FENCES; i++) {
        const BfNativeFenceMapping *m = &mappings[i];
        assert_ptr_equal(m->currentValueBuffer, mappings[0].currentValueBuffer);
        assert_ptr_equal(m->monitoredValueBuffer, mappings[0].monitoredValueBuffer);
        assert_ptr_not_equal(m->monitoredValueBuffer, m->currentValueBuffer);
        assert_int_equal(m->currentValueOffset % caps.currentValueStride, 0);
        assert_int_equal(m->monitoredValueOffset % caps.monitoredValueStride, 0);
        assert_int_equal((const char *)m->pCurrentValue - (const char *)mappings[0].pCurrentValue,
                         (int64_t)(m->currentValueOffset - mappings[0].currentValueOffset));
        if (m->currentValueAddress) {
            assert_int_equal(m->currentValueAddress - mappings[0].currentValueAddress,
                             m->currentValueOffset - mappings[0].currentValueOffset);
            assert_in_range(m->currentValueAddress, caps.minimumAddress, caps.maximumAddress);
        }
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(m->currentValueOffset, mappings[k].currentValueOffset);
            assert_int_not_equal(m->monitoredValueOffset, mappings[k].monitoredValueOffset);
        }
    }
}

FIXTURE_TEST(three_thousand_fences_have_a_word_each)
{
    enum { FENCES = TIMES(3000) };
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence *fences = malloc(FENCES * sizeof(*fences));
    for (uint64_t i = 0; i < FENCES; i++) {
        const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = i};
        assert_success(bfCreateNativeFence(f->bf, &info, &fences[i]));
    }
    for (uint64_t i = 0; i < FENCES; i++) {
        assert_int_equal(load(word_of(fences[i])), i);
        queue_signal(queue, fences[i], BIG + i);
    }
    await_idle(queue);
    for (uint64_t i = 0; i < FENCES; i++)
        assert_int_equal(load(word_of(fences[i])), BIG + i);
    for (uint64_t i = 0; i < FENCES; i++)
        bfDestroyFence(fences[i]);
    free(fences);
}

/* -------------------------------------------------------------------------------- Monitoring -- */

struct waiter {
    BfFence fence;
    uint64_t value;
    VkResult result;
};

static void wait_for_value(void *argument)
{
    struct waiter *w = argument;
    w->result = bfWaitFences(1, &w->fence, &w->value, BF_FENCE_WAIT_ALL, UINT64_MAX);
}

FIXTURE_TEST(the_gpu_sees_what_is_monitored)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_fence(f, 0);
    BfEvent event = make_event(f), gone = make_event(f);
    const BfNativeFenceMapping m = mapping_of(fence);
#define MONITORED() gpu_reads(f, queue, m.monitoredValueBuffer, m.monitoredValueOffset)
    assert_int_equal(MONITORED(), UINT64_MAX);
    set_event_on(fence, BIG, event);
    assert_int_equal(MONITORED(), BIG - 1);
    set_event_on(fence, 5, gone);
    assert_int_equal(MONITORED(), 4);
    struct waiter waiter = {.fence = fence, .value = 3};
    struct thread thread;
    thread_start(&thread, wait_for_value, &waiter);
    thread_await_sleep(&thread);
    assert_int_equal(MONITORED(), 2);
    queue_signal(queue, fence, 3);
    thread_join(&thread);
    assert_success(waiter.result);
    assert_int_equal(MONITORED(), 4);
    const uint64_t far = 4;
    assert_int_equal(bfWaitFences(1, &fence, &far, BF_FENCE_WAIT_ALL, 0), VK_TIMEOUT);
    assert_int_equal(MONITORED(), 4); /* a waiter that has gone again */
    cpu_signal(fence, 5);
    assert_int_equal(MONITORED(), BIG - 1);
    cpu_signal(fence, UINT64_MAX);
    assert_int_equal(MONITORED(), UINT64_MAX);
    cpu_signal(fence, 0);
    set_event_on(fence, 1, event);
    assert_int_equal(MONITORED(), 0); /* 1 is the least that can be waited for */
#undef MONITORED
}

/* ------------------------------------------------------------------------------------- Types -- */

FIXTURE_TEST(a_fence_of_the_gpus_own_is_no_business_of_the_cpus)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_with(f, BF_NATIVE_FENCE_TYPE_INTRA_GPU, 0, 4);
    BfFence plain = make_fence(f, 0), done = make_fence(f, 0);
    BfEvent event = make_event(f);
    const BfNativeFenceMapping m = mapping_of(fence);
    const uint64_t values[] = {1, 1};
    const BfFence both[] = {plain, fence};
    assert_null(m.pCurrentValue);
    assert_true(m.currentValueBuffer && m.monitoredValueBuffer);
    assert_value(fence, UINT64_MAX);
    assert_bad_input(bfSignalFence(fence, 5));
    assert_bad_input(bfWaitFences(1, &fence, values, BF_FENCE_WAIT_ALL, 0));
    assert_bad_input(bfWaitFences(2, both, values, BF_FENCE_WAIT_ANY_BIT, 0));
    assert_bad_input(bfSetEventOnFenceCompletion(fence, 1, event));
    assert_bad_input(bfUpdateFenceValues(2, both, values, 0));
    assert_value(plain, 0);
    /* Queues alone. */
    queue_wait(b, fence, 4); /* the initial value */
    queue_wait(b, fence, BIG);
    execute(b, copy_word(f, b, 8, 9));
    queue_signal(b, done, 1);
    fixture_settle(f);
    assert_value(done, 0);
    execute(a, write_word(f, a, 8, 88));
    queue_signal(a, fence, BIG);
    await_fence(done, 1);
    assert_int_equal(read_word(f, 9), 88);
    assert_int_equal(gpu_reads(f, b, m.currentValueBuffer, m.currentValueOffset), BIG);
    /* Whose signals the CPU writes can't write there. */
    const BfCommandQueueCreateInfo software = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                               .type = BF_COMMAND_LIST_TYPE_DIRECT,
                                               .flags = BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT};
    BfCommandQueue queue;
    assert_success(bfCreateCommandQueue(f->bf, &software, &queue));
    assert_bad_input(bfQueueSignal(queue, fence, 9));
    assert_success(bfQueueWait(queue, fence, BIG));
    bfDestroyCommandQueue(queue);
}

FIXTURE_TEST(flags_forbid_signals_and_waits)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence mute = make_native_with(f, 0, BF_SYNC_OBJECT_NO_SIGNAL_BIT, 3);
    BfFence deaf = make_native_with(f, 0, BF_SYNC_OBJECT_NO_WAIT_BIT, 3);
    BfEvent event = make_event(f);
    const uint64_t three = 3;
    assert_bad_input(bfQueueSignal(queue, mute, 4));
    assert_bad_input(bfSignalFence(mute, 4));
    assert_bad_input(bfUpdateFenceValues(1, &mute, &three, 0));
    assert_success(bfQueueWait(queue, mute, 3));
    assert_success(bfWaitFences(1, &mute, &three, BF_FENCE_WAIT_ALL, 0));
    assert_bad_input(bfQueueWait(queue, deaf, 3));
    assert_bad_input(bfWaitFences(1, &deaf, &three, BF_FENCE_WAIT_ALL, 0));
    assert_bad_input(bfSetEventOnFenceCompletion(deaf, 3, event));
    queue_signal(queue, deaf, 4);
    await_idle(queue);
    assert_int_equal(load(word_of(deaf)), 4);
    assert_int_equal(load(word_of(mute)), 3);
    BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                    .type = BF_NATIVE_FENCE_TYPE_INTRA_GPU,
                                    .flags = BF_SYNC_OBJECT_SHARED_BIT};
    BfFence none;
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &none));
    info.flags = BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &none));
    info = (BfNativeFenceCreateInfo){BF_TYPE(NATIVE_FENCE_CREATE_INFO), .flags = 1u << 31};
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &none));
    info =
        (BfNativeFenceCreateInfo){BF_TYPE(NATIVE_FENCE_CREATE_INFO), .type = (BfNativeFenceType)2};
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &none));
    info = (BfNativeFenceCreateInfo){BF_TYPE(NATIVE_FENCE_CREATE_INFO), .pNext = &info};
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &none));
    assert_bad_input(bfCreateNativeFence(f->bf, NULL, &none));
    assert_bad_input(bfCreateNativeFence(f->bf, &info, NULL));
    BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    BfFence plain;
    const BfFenceCreateInfo ordinary = {BF_TYPE(FENCE_CREATE_INFO)};
    assert_success(bfCreateFence(f->bf, &ordinary, &plain));
    assert_bad_input(bfGetNativeFenceMapping(plain, &mapping));
    assert_bad_input(bfGetNativeFenceMapping(deaf, NULL));
    bfDestroyFence(plain);
}

/* -------------------------------------------------------------------------------- Enablement -- */

static void open_without_attaching(struct fixture *f)
{
    fixture_open_instance(f, &fixture_plain);
    assert_success(fixture_open_device(f, &fixture_plain));
}

TEST(the_feature_is_asked_for_before_it_is_advertised)
{
    if (fixture_is_layered())
        return; /* the layer does so itself */
    BfFeatureResult result = {BF_TYPE(FEATURE_RESULT)};
    BfNativeFenceInterface interface = {BF_TYPE(NATIVE_FENCE_INTERFACE)};
    BfNativeFenceSystemCaps system = {BF_TYPE(NATIVE_FENCE_SYSTEM_CAPS)};
    struct fixture f;
    open_without_attaching(&f);
    setenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES", "false", 1);
    assert_success(bfIsFeatureEnabled(BF_FEATURE_NATIVE_FENCE, &result));
    assert_false(result.enabled);
    assert_int_equal(result.version, 0);
    assert_int_equal(bfQueryFeatureInterface(BF_FEATURE_NATIVE_FENCE, 1, &interface),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(fixture_attach(&f), VK_ERROR_FEATURE_NOT_PRESENT);
    f.no_native_fences = true;
    assert_success(fixture_attach(&f));
    BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO)};
    BfFence fence;
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    assert_success(bfGetNativeFenceCaps(f.bf, &caps));
    assert_false(caps.supported);
    assert_int_equal(bfCreateNativeFence(f.bf, &info, &fence), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(bfGetCommandQueueProgressFence(queue, &fence), VK_ERROR_FEATURE_NOT_PRESENT);
    drop_queue(&f, queue);
    bfDetachDevice(f.bf);

    unsetenv("VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES");
    assert_success(bfIsFeatureEnabled(BF_FEATURE_NATIVE_FENCE, &result));
    assert_true(result.enabled);
    assert_int_equal(result.version, 1);
    const struct {
        BfFeature feature;
        uint32_t version;
    } unknown[] = {{BF_FEATURE_NATIVE_FENCE, 0}, {BF_FEATURE_NATIVE_FENCE, 2}, {(BfFeature)36, 1}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            bfQueryFeatureInterface(unknown[i].feature, unknown[i].version, &interface),
            VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(interface.pfnGetSystemCaps);
    assert_success(bfQueryFeatureInterface(BF_FEATURE_NATIVE_FENCE, result.version, &interface));
    assert_success(interface.pfnGetSystemCaps(&system));
    assert_true(system.supportIntraGpuFenceType);
    assert_false(system.supportOptimizedDefaultFenceType);
    assert_success(bfIsFeatureEnabled((BfFeature)36, &result));
    assert_false(result.enabled);
    assert_bad_input(bfIsFeatureEnabled(BF_FEATURE_NATIVE_FENCE, NULL));
    /* Enabled, and not asked for by who attaches. */
    assert_success(fixture_attach(&f));
    assert_success(bfGetNativeFenceCaps(f.bf, &caps));
    assert_false(caps.supported);
    bfDetachDevice(f.bf);
    f.no_native_fences = false;
    assert_success(fixture_attach(&f));
    assert_success(bfGetNativeFenceCaps(f.bf, &caps));
    assert_true(caps.supported);
    assert_bad_input(bfGetNativeFenceCaps(f.bf, NULL));
    fixture_close(&f);
}

/* ----------------------------------------------------------------------------------- Batches -- */

FIXTURE_TEST(a_batch_sets_all_or_nothing)
{
    BfFence native = make_native_fence(f, 1), plain = make_fence(f, 1);
    BfFence mute = make_native_with(f, 0, BF_SYNC_OBJECT_NO_SIGNAL_BIT, 1);
    BfEvent event = make_event(f);
    set_event_on(plain, 3, event);
    const BfFence good[] = {native, plain, native}, bad[] = {native, plain, mute};
    const uint64_t values[] = {9, 3, BIG};
    assert_bad_input(bfUpdateFenceValues(3, bad, values, 0));
    assert_bad_input(bfUpdateFenceValues(3, bad, values, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT));
    assert_bad_input(bfUpdateFenceValues(3, good, values, 4));
    assert_bad_input(bfUpdateFenceValues(3, good, NULL, 0));
    assert_bad_input(bfUpdateFenceValues(3, NULL, values, 0));
    assert_bad_input(bfUpdateFenceValues(0, good, values, 0));
    assert_bad_input(bfUpdateFenceValues(1, good, values,
                                         BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT |
                                             BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT));
    assert_value(native, 1);
    assert_value(plain, 1);
    assert_int_equal(load(word_of(native)), 1);
    assert_false(take_event(event));
    assert_success(bfUpdateFenceValues(3, bad, NULL, BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT));
    assert_value(plain, 1);
    assert_success(bfUpdateFenceValues(3, good, values, 0));
    assert_value(native, BIG); /* the last of two */
    assert_int_equal(load(word_of(native)), BIG);
    assert_value(plain, 3);
    assert_true(take_event(event));
}

/* Signals on their way, and signals that a queue still holds: neither changes value or word. */
FIXTURE_TEST(always_signaled_means_always)
{
    BfCommandQueue busy = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   held = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfCommandQueue waits = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_native_fence(f, 0), gate = make_fence(f, 0), done = make_fence(f, 0);
    BfEvent event = make_event(f);
    const volatile uint64_t *word = word_of(fence);
    set_event_on(fence, BIG, event);
    queue_wait(waits, fence, UINT64_MAX);
    queue_signal(waits, done, 1);
    queue_wait(held, gate, 1);
    queue_signal(held, fence, 6);
    queue_signal(held, done, 2);
    VkEvent stall = stall_begin(f, busy);
    queue_signal(busy, fence, 5);
    assert_success(bfUpdateFenceValues(1, &fence, NULL, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT));
    assert_true(take_event(event));
    assert_value(fence, UINT64_MAX);
    assert_success(bfSignalFence(fence, 3));
    assert_value(fence, UINT64_MAX);
    stall_end(f, stall);
    await_fence(done, 1);
    await_idle(busy);
    assert_int_equal(load(word), UINT64_MAX);
    cpu_signal(gate, 1);
    if (f->icd.library) {
        f->icd.quiesce();
        assert_int_equal(load(word), UINT64_MAX); /* with nobody looking how far the GPU is */
    }
    await_fence(done, 2);
    await_idle(held);
    assert_int_equal(load(word), UINT64_MAX);
    queue_signal(busy, fence, 8);
    await_idle(busy);
    assert_int_equal(load(word), UINT64_MAX);
    assert_value(fence, UINT64_MAX);
}

/* ---------------------------------------------------------------------------------- Progress -- */

TEST(a_progress_fence_counts_finished_executions)
{
    /* In one mapping alone, where a sanitizer sees that the word orders what it stands for. */
    const struct fixture_options options = {.environment = "HOST_MEMORY=0", .family = UINT32_MAX};
    struct fixture f;
    fixture_open(&f, &options);
    for (int t = 0; t < 3; t++) {
        BfCommandQueue queue = make_queue(&f, queue_types[t]);
        BfFence progress, again;
        execute(queue, write_word(&f, queue, 0, 1)); /* before it is there: uncounted */
        assert_success(bfGetCommandQueueProgressFence(queue, &progress));
        assert_success(bfGetCommandQueueProgressFence(queue, &again));
        assert_ptr_equal(progress, again);
        const volatile uint64_t *word = word_of(progress);
        for (uint32_t i = 1; i < 20; i++) {
            execute(queue, write_word(&f, queue, i, i));
            while (load(word) != i)
                ;
            assert_int_equal(read_word(&f, i), i);
        }
        await_fence(progress, 19);
        assert_bad_input(bfSignalFence(progress, 50));
        assert_bad_input(bfQueueSignal(queue, progress, 50));
        bfDestroyFence(progress); /* a line, nothing else */
        assert_value(progress, 19);
    }
    fixture_close(&f);
}

enum { THREADS = 4, EXECUTIONS = TIMES(200) };

struct executor {
    BfCommandQueue queue;
    VkCommandBuffer commands[EXECUTIONS];
    uint32_t failures;
};

static void execute_all(void *argument)
{
    struct executor *e = argument;
    for (int i = 0; i < EXECUTIONS; i++)
        e->failures += bfQueueExecute(e->queue, 1, &e->commands[i]) != VK_SUCCESS;
}

FIXTURE_TEST(several_threads_make_progress_on_one_queue)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence progress, gate = make_fence(f, 0);
    assert_success(bfGetCommandQueueProgressFence(queue, &progress));
    static struct executor executors[THREADS];
    struct thread threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        executors[t] = (struct executor){.queue = queue};
        for (int i = 0; i < EXECUTIONS; i++)
            executors[t].commands[i] = write_word(f, queue, (uint32_t)i, 1);
    }
    queue_wait(queue, gate, 1);
    for (int t = 0; t < THREADS; t++)
        thread_start(&threads[t], execute_all, &executors[t]);
    cpu_signal(gate, 1); /* some of them are held, and some are not */
    for (int t = 0; t < THREADS; t++) {
        thread_join(&threads[t]);
        assert_int_equal(executors[t].failures, 0);
    }
    await_fence(progress, THREADS * EXECUTIONS);
    await_idle(queue);
    assert_value(progress, THREADS * EXECUTIONS);
    assert_int_equal(load(word_of(progress)), THREADS * EXECUTIONS);
}

FIXTURE_TEST(a_queue_goes_with_its_progress_fence_and_work_in_flight)
{
    BfCommandQueue other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = make_fence(f, 0), gate = make_fence(f, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfFence progress;
        BfEvent event = make_event(f);
        assert_success(bfGetCommandQueueProgressFence(queue, &progress));
        set_event_on(progress, 50, event);
        if (i % 2)
            queue_wait(queue, gate, i);
        for (uint32_t k = 0; k < 4; k++)
            execute(queue, write_word(f, queue, k, (uint32_t)i));
        queue_signal(queue, done, i);
        drop_queue(f, queue);
        assert_true(take_event(event)); /* who waits for a fence that goes is let go */
        assert_value(progress, UINT64_MAX);
        cpu_signal(gate, i);
        await_fence(done, i);
        assert_int_equal(read_word(f, 3), i);
    }
    await_idle(other);
}
