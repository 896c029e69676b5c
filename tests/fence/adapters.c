/* SPDX-License-Identifier: MIT */
/* Fences that several adapters have: who waits, who signals, and who has native fences, cell by
 * cell of the tables in "Native GPU fence object", section 9. */
#include "support/fixture.h"

#include <belfry/native_fence.h>

#include "fence/native.h"
#include "scheduler/scheduler.h"

/* The document's two adapters, and the fence as each has it. */
struct adapters {
    struct fixture dgpu, igpu;
    BfCommandQueue dgpu_queue, igpu_queue;
    BfFence on_dgpu, on_igpu;
};

static const struct fixture_options second = {.second = true, .family = UINT32_MAX};
static const struct fixture_options without = {
    .no_native_fences = true, .second = true, .family = UINT32_MAX};

/* The driver and the device of an adapter. */
struct identity {
    uint8_t uuids[2 * VK_UUID_SIZE];
};

static struct identity identity_of(const struct fixture *f)
{
    VkPhysicalDeviceIDProperties id = {VK_TYPE(PHYSICAL_DEVICE_ID_PROPERTIES)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &id};
    struct identity identity;
    vkGetPhysicalDeviceProperties2(f->physical, &properties);
    memcpy(identity.uuids, id.driverUUID, VK_UUID_SIZE);
    memcpy(identity.uuids + VK_UUID_SIZE, id.deviceUUID, VK_UUID_SIZE);
    return identity;
}

static bool are_two(const struct fixture *one, const struct fixture *other)
{
    const struct identity a = identity_of(one), b = identity_of(other);
    return memcmp(&a, &b, sizeof(a)) != 0;
}

/* Elsewhere one device plays both. */
static bool two_are_wanted(void)
{
    return getenv("BELFRY_TEST_TWO_ADAPTERS");
}

static bool is_native(BfFence fence)
{
    BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    return bfGetNativeFenceMapping(fence, &mapping) == VK_SUCCESS;
}

static uint64_t value_of(const volatile uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static BfFence keep(struct fixture *f, BfFence fence)
{
    assert_true(f->fence_count < FIXTURE_OBJECTS);
    return f->made_fences[f->fence_count++] = fence;
}

static BfFence open_on(struct fixture *f, BfFence fence)
{
    int fd;
    BfFence opened;
    assert_success(bfExportFenceFd(fence, 0, &fd));
    assert_success(bfOpenFenceFd(f->bf, fd, 0, &opened));
    close(fd);
    return keep(f, opened);
}

static BfFence create_on(struct fixture *f, bool native, BfSyncObjectFlags written)
{
    BfFence fence;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                          .flags = BF_SYNC_OBJECT_CROSS_ADAPTER_BIT | written};
    const BfFenceCreateInfo monitored = {BF_TYPE(FENCE_CREATE_INFO),
                                         .flags = BF_FENCE_SHARED_CROSS_ADAPTER_BIT};
    assert_success(native ? bfCreateNativeFence(f->bf, &info, &fence)
                          : bfCreateFence(f->bf, &monitored, &fence));
    return keep(f, fence);
}

/* The integrated one has native fences or not; the fence is made on it, or on the other; 'written':
 * BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT or nothing. */
static void adapters_open(struct adapters *a, bool igpu_native, bool made_on_igpu,
                          BfSyncObjectFlags written)
{
    fixture_open(&a->dgpu, &fixture_plain);
    fixture_open(&a->igpu, igpu_native ? &second : &without);
    if (two_are_wanted())
        assert_true(are_two(&a->dgpu, &a->igpu));
    a->dgpu_queue = make_queue(&a->dgpu, BF_COMMAND_LIST_TYPE_DIRECT);
    a->igpu_queue = make_queue(&a->igpu, BF_COMMAND_LIST_TYPE_DIRECT);
    if (made_on_igpu) {
        a->on_igpu = create_on(&a->igpu, igpu_native, written);
        a->on_dgpu = open_on(&a->dgpu, a->on_igpu);
    } else {
        a->on_dgpu = create_on(&a->dgpu, true, written);
        a->on_igpu = open_on(&a->igpu, a->on_dgpu);
    }
    /* Native where the adapter has such, whatever it was made as. */
    assert_true(is_native(a->on_dgpu));
    assert_int_equal(is_native(a->on_igpu), igpu_native);
}

static void adapters_close(struct adapters *a)
{
    fixture_close(&a->igpu);
    fixture_close(&a->dgpu);
}

enum { GPU, CPU };

/* As a user-mode driver does it: a command buffer stores the value, and the interrupt tells of
 * it. */
static void store_on_gpu(struct fixture *f, BfCommandQueue queue, BfFence fence, uint64_t value)
{
    const BfNativeFenceMapping mapping = mapping_of(fence);
    VkCommandBuffer commands = commands_begin(f, queue);
    vkCmdUpdateBuffer(commands, mapping.currentValueBuffer, mapping.currentValueOffset, 8, &value);
    commands_end(commands);
    execute(queue, commands);
    await_idle(queue);
}

static void tell_of(struct fixture *f, BfFence fence)
{
    const BfFenceNotification notification = {BF_TYPE(FENCE_NOTIFICATION), .signaledFenceCount = 1,
                                              .pSignaledFences = &fence};
    assert_success(bfNotifyFencesSignaled(f->bf, &notification));
}

/* One cell: 'waiter' waits for 10, 'signaller' signals it, each from its GPU or its CPU; behind the
 * GPU's wait comes work, before its signal too. 'written': the program itself stores the signals of
 * a native fence. */
static void cell(struct fixture *waiter, BfCommandQueue waits, BfFence waited, int wait_from,
                 struct fixture *signaller, BfCommandQueue signals, BfFence signalled,
                 int signal_from, bool written)
{
    BfFence done = make_fence(waiter, 0);
    BfEvent event = make_event(waiter);
    const BfDeviceCounters before = counters_of(waiter);
    if (wait_from == GPU) {
        queue_wait(waits, waited, 10);
        execute(waits, write_word(waiter, waits, 7, 77));
        queue_signal(waits, done, 1);
        set_event_on(done, 1, event);
    } else {
        set_event_on(waited, 10, event);
    }
    written = written && is_native(signalled);
    if (written)
        store_on_gpu(signaller, signals, signalled, 9), tell_of(signaller, signalled);
    else
        cpu_signal(signalled, 9);
    fixture_settle(waiter);
    assert_false(take_event(event));
    /* It is written once the other adapter has signalled, through another mapping of one page:
     * ThreadSanitizer can't know that these are one. */
    assert_int_equal(__atomic_load_n(&waiter->words[7], __ATOMIC_RELAXED), 0);
    if (signal_from == GPU) {
        execute(signals, write_word(signaller, signals, 8, 88));
        if (written)
            store_on_gpu(signaller, signals, signalled, 10), tell_of(signaller, signalled);
        else
            queue_signal(signals, signalled, 10);
    } else {
        cpu_signal(signalled, 10);
    }
    await_event(event);
    assert_value(waited, 10);
    assert_value(signalled, 10);
    /* The CPU has let the wait go: the driver has seen none. */
    assert_int_equal(counters_of(waiter).semaphoreWaits, before.semaphoreWaits);
    assert_int_equal(counters_of(waiter).peerWaits, before.peerWaits);
    if (wait_from == GPU)
        assert_int_equal(read_word(waiter, 7), 77);
    if (signal_from == GPU)
        assert_int_equal(read_word(signaller, 8), 88);
    if (is_native(waited)) /* all GPUs see the value */
        assert_int_equal(value_of(word_of(waited)), 10);
    if (is_native(signalled))
        assert_int_equal(value_of(word_of(signalled)), 10);
}

static void table(bool igpu_native, bool igpu_waits, int wait_from, int signal_from)
{
    static const struct {
        bool made_on_igpu, igpu_software, dgpu_software, written;
    } ways[] = {{false, false, false, false}, {true, false, false, false},
                {false, true, false, false},  {true, false, true, false},
                {false, true, true, false},   {false, false, false, true},
                {true, false, false, true},   {false, true, true, true}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        /* Of fences that the program writes: what its GPU signals, and what isn't native there. */
        bool native = igpu_waits || igpu_native;
        if (ways[i].written &&
            ((native && signal_from == CPU) || (ways[i].made_on_igpu && !igpu_native)))
            continue;
        struct adapters a;
        adapters_open(&a, igpu_native, ways[i].made_on_igpu,
                      ways[i].written ? BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT : 0);
        if (ways[i].igpu_software)
            a.igpu_queue = make_software_queue(&a.igpu, BF_COMMAND_LIST_TYPE_DIRECT);
        if (ways[i].dgpu_software)
            a.dgpu_queue = make_software_queue(&a.dgpu, BF_COMMAND_LIST_TYPE_DIRECT);
        if (igpu_waits)
            cell(&a.igpu, a.igpu_queue, a.on_igpu, wait_from, &a.dgpu, a.dgpu_queue, a.on_dgpu,
                 signal_from, ways[i].written);
        else
            cell(&a.dgpu, a.dgpu_queue, a.on_dgpu, wait_from, &a.igpu, a.igpu_queue, a.on_igpu,
                 signal_from, ways[i].written);
        adapters_close(&a);
    }
}

#define CELL(name_, igpu_native_, igpu_waits_, wait_from_, signal_from_)                           \
    TEST(name_)                                                                                    \
    {                                                                                              \
        table(igpu_native_, igpu_waits_, wait_from_, signal_from_);                                \
    }

CELL(scenario_1_wait_from_gpu_signal_from_gpu, true, true, GPU, GPU)
CELL(scenario_1_wait_from_gpu_signal_from_cpu, true, true, GPU, CPU)
CELL(scenario_1_wait_from_cpu_signal_from_gpu, true, true, CPU, GPU)
CELL(scenario_1_wait_from_cpu_signal_from_cpu, true, true, CPU, CPU)
CELL(scenario_2a_wait_from_gpu_signal_from_gpu, false, true, GPU, GPU)
CELL(scenario_2a_wait_from_gpu_signal_from_cpu, false, true, GPU, CPU)
CELL(scenario_2a_wait_from_cpu_signal_from_gpu, false, true, CPU, GPU)
CELL(scenario_2a_wait_from_cpu_signal_from_cpu, false, true, CPU, CPU)
CELL(scenario_2b_wait_from_gpu_signal_from_gpu, false, false, GPU, GPU)
CELL(scenario_2b_wait_from_gpu_signal_from_cpu, false, false, GPU, CPU)
CELL(scenario_2b_wait_from_cpu_signal_from_gpu, false, false, CPU, GPU)
CELL(scenario_2b_wait_from_cpu_signal_from_cpu, false, false, CPU, CPU)

TEST_AROUND(the_word_follows_without_a_call, struct adapters, a, adapters_open, adapters_close,
            true, false, 0)
{
    const volatile uint64_t *there = word_of(a->on_igpu);
    static const uint64_t values[] = {5, 3, 0, BIG, UINT64_MAX, 0, 1};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        queue_signal(a->dgpu_queue, a->on_dgpu, values[i]);
        while (value_of(there) != values[i]) /* nobody waits there, and nobody asks */
            ;
    }
}

/* The monitored value as the adapter's GPU sees it. */
static uint64_t monitored_of(struct fixture *f, BfCommandQueue queue, BfFence fence)
{
    const BfNativeFenceMapping mapping = mapping_of(fence);
    VkCommandBuffer commands = commands_begin(f, queue);
    const VkBufferCopy copy = {.srcOffset = mapping.monitoredValueOffset, .size = 8};
    vkCmdCopyBuffer(commands, mapping.monitoredValueBuffer, f->buffer, 1, &copy);
    commands_end(commands);
    execute(queue, commands);
    await_idle(queue);
    return (uint64_t)f->words[1] << 32 | f->words[0];
}

TEST_AROUND(each_adapters_monitored_value_is_0_for_ever, struct adapters, a, adapters_open,
            adapters_close, true, false, 0)
{
    assert_int_equal(monitored_of(&a->dgpu, a->dgpu_queue, a->on_dgpu), 0);
    BfEvent event = make_event(&a->igpu);
    set_event_on(a->on_igpu, 5, event);
    assert_int_equal(monitored_of(&a->igpu, a->igpu_queue, a->on_igpu), 0);
    queue_signal(a->dgpu_queue, a->on_dgpu, 5);
    await_event(event);
    assert_int_equal(monitored_of(&a->igpu, a->igpu_queue, a->on_igpu), 0);
}

/* Of one that doesn't cross adapters. Queues' signals are refused on either object. */
FIXTURE_TEST(what_is_shared_and_written_by_the_program_always_interrupts)
{
    BfFence fence;
    BfEvent event = make_event(f);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                          .flags = BF_SYNC_OBJECT_SHARED_BIT |
                                                   BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT};
    assert_success(bfCreateNativeFence(f->bf, &info, &fence));
    BfFence opened = open_on(f, keep(f, fence));
    set_event_on(fence, 5, event);
    assert_int_equal(monitored_of(f, queue, fence), 0);
    assert_int_equal(monitored_of(f, queue, opened), 0);
    assert_bad_input(bfQueueSignal(queue, fence, 1));
    assert_bad_input(bfQueueSignal(queue, opened, 1));
    assert_bad_input(bfSignalFence(opened, 1));
    store_on_gpu(f, queue, opened, 5);
    tell_of(f, opened);
    await_event(event);
    assert_value(fence, 5);
}

/* Each of two devices stores a value when it doesn't know of the other's: nobody looks in
 * between. */
static void store_at_once(const BfFence *fences, const uint64_t *values)
{
    for (int i = 0; i < 2; i++)
        bf_lock_acquire(&((struct bf_fence *)fences[i])->scheduler->pending.lock);
    for (int i = 0; i < 2; i++)
        atomic_store(((struct bf_fence *)fences[i])->native->current.value, values[i]);
    for (int i = 2; i-- > 0;)
        bf_lock_release(&((struct bf_fence *)fences[i])->scheduler->pending.lock);
}

/* Whichever is told first, the greater one is everybody's in the end. Later ones are less again. */
TEST_AROUND(of_values_stored_at_once_the_greater_one_counts_last, struct adapters, a, adapters_open,
            adapters_close, true, false, BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT)
{
    static const uint64_t stored[][2] = {{10, 11}, {21, 20}, {5, 6}, {4, 3}};
    struct fixture *const f[] = {&a->dgpu, &a->igpu};
    const BfCommandQueue queues[] = {a->dgpu_queue, a->igpu_queue};
    const BfFence fences[] = {a->on_dgpu, a->on_igpu};
    for (size_t i = 0; i < 2 * sizeof(stored) / sizeof(stored[0]); i++) {
        const uint64_t *values = stored[i / 2];
        uint64_t greater = values[0] > values[1] ? values[0] : values[1];
        int first = (int)(i % 2);
        store_at_once(fences, values);
        tell_of(f[first], fences[first]);
        tell_of(f[!first], fences[!first]);
        for (int n = 0; n < 2; n++) {
            assert_value(fences[n], greater);
            while (value_of(word_of(fences[n])) != greater) /* who sleeps there sets it */
                ;
        }
        store_on_gpu(f[first], queues[first], fences[first], 1);
        tell_of(f[first], fences[first]);
        assert_value(fences[!first], 1);
        while (value_of(word_of(fences[!first])) != 1)
            ;
    }
}

FIXTURE_TEST(only_the_default_type_crosses_adapters)
{
    BfFence fence;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                          .type = BF_NATIVE_FENCE_TYPE_INTRA_GPU,
                                          .flags = BF_SYNC_OBJECT_CROSS_ADAPTER_BIT};
    assert_bad_input(bfCreateNativeFence(f->bf, &info, &fence));
}

int main(int argc, char **argv)
{
    struct fixture one, other;
    if (!two_are_wanted())
        return test_main(argc, argv);
    fixture_open_instance(&one, &fixture_plain);
    fixture_open_instance(&other, &second);
    const bool two = are_two(&one, &other);
    fixture_close(&other);
    fixture_close(&one);
    if (!two) {
        printf("skipped: there is no second adapter: the other driver is the first one's\n");
        return 77;
    }
    return test_main(argc, argv);
}
