/* SPDX-License-Identifier: MIT */
/* Members of the public structs that tell what a device has, or that say something of it: what they
 * say is so, and what is said to Belfry has an effect. */
#include "support/fixture.h"

#include <belfry/native_fence.h>
#include <belfry/preemption.h>

/* ------------------------------------------------------------------- Caps of native fences -- */

TEST(caps_are_those_of_the_device)
{
    for (int int64 = 0; int64 < 2; int64++) {
        struct fixture f;
        fixture_open(&f, ENVIRONMENT(int64 ? "INT64=1" : "INT64=0"));
        BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
        assert_success(bfGetNativeFenceCaps(f.bf, &caps));
        assert_true(caps.supported && caps.supportIntraGpuFenceType);
        assert_true(caps.optimizedNativeFenceSignaledInterrupt);
        assert_false(caps.mapToGpuSystemProcess || caps.supportOptimizedDefaultFenceType);
        /* The copy queues' family doesn't compute. */
        assert_int_equal(caps.atomicDirect, int64);
        assert_int_equal(caps.atomicCompute, int64);
        assert_false(caps.atomicCopy);
        const BfNativeFenceMapping m = mapping_of(make_native_fence(&f, 0));
        assert_int_equal(m.readOnly, caps.readOnlyMapping);
        assert_int_equal(m.currentValueAddress != 0, int64);
        assert_int_equal(m.monitoredValueAddress != 0, int64);
        /* Where there are no addresses, there is none between the two. */
        assert_int_equal(caps.minimumAddress, 0);
        assert_true(caps.maximumAddress == (int64 ? UINT64_MAX : 0));
        fixture_close(&f);
    }
}

/* ------------------------------------------------------------------------ Attached devices -- */

/* The memory that each buffer is bound to, and what types both have: of the attached device's
 * calls. */
static struct {
    uint32_t count;
    struct bound {
        VkBuffer buffer;
        VkDeviceMemory memory;
        uint32_t types, type;
    } list[64];
} bound;

/* What host memory is imported is aligned to that. */
static VkDeviceSize alignment = 1;
static uint32_t imported;

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *callbacks,
                                               VkDeviceMemory *memory)
{
    for (const VkBaseInStructure *c = info->pNext; c; c = c->pNext)
        if (c->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) {
            const void *at = ((const VkImportMemoryHostPointerInfoEXT *)c)->pHostPointer;
            imported++;
            assert_true((uintptr_t)at % alignment == 0 && info->allocationSize % alignment == 0);
        }
    const VkResult result = vkAllocateMemory(device, info, callbacks, memory);
    assert_true(bound.count < sizeof(bound.list) / sizeof(bound.list[0]));
    bound.list[bound.count++] = (struct bound){.memory = result == VK_SUCCESS ? *memory : NULL,
                                               .type = info->memoryTypeIndex};
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                           VkDeviceSize offset)
{
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    for (uint32_t i = 0; i < bound.count; i++) {
        if (bound.list[i].memory == memory) {
            bound.list[i].buffer = buffer;
            bound.list[i].types = needs.memoryTypeBits;
        }
    }
    return vkBindBufferMemory(device, buffer, memory, offset);
}

static bool out_of_memory;

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo2 *infos, VkFence fence)
{
    return out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : vkQueueSubmit2(queue, count, infos, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL look_up(VkDevice device, const char *name)
{
    return !strcmp(name, "vkAllocateMemory")     ? (PFN_vkVoidFunction)allocate
           : !strcmp(name, "vkBindBufferMemory") ? (PFN_vkVoidFunction)bind
           : !strcmp(name, "vkQueueSubmit2")     ? (PFN_vkVoidFunction)submit
                                                 : vkGetDeviceProcAddr(device, name);
}

static VkMemoryPropertyFlags memory_of(struct fixture *f, VkBuffer buffer)
{
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(f->physical, &properties);
    for (uint32_t i = 0; i < bound.count; i++)
        if (bound.list[i].buffer == buffer)
            return properties.memoryTypes[bound.list[i].type].propertyFlags;
    fail_msg("no memory is bound to the buffer");
    return 0;
}

/* Attaches with something else than the fixture does. */
static void open_as(struct fixture *f, const struct fixture_options *options,
                    void (*alter)(BfAttachInfo *info))
{
    static BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    fixture_open_instance(f, options);
    assert_success(fixture_open_device(f, options));
    BfAttachInfo info = fixture_attach_info(f, queues);
    alter(&info);
    assert_success(bfAttachDevice(&info, &f->bf));
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
}

static void open_with(struct fixture *f, const char *environment, void (*alter)(BfAttachInfo *info))
{
    open_as(f, ENVIRONMENT(environment), alter);
}

static void alter_functions(BfAttachInfo *info)
{
    info->pfnGetDeviceProcAddr = look_up;
}

/* NF-4: the values of INTRA_GPU fences are in the GPU's own memory, where it has such; those that
 * the CPU looks at aren't in memory that it can't see. */
TEST(values_are_in_the_memory_of_their_type)
{
    static const char *const drivers[] = {"MEMORY=split", "MEMORY=uncached", "MEMORY=unified",
                                          "MEMORY=split HOST_MEMORY=0"};
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        struct fixture f;
        memset(&bound, 0, sizeof(bound));
        open_with(&f, drivers[i], alter_functions);
        BfFence fence;
        for (int type = BF_NATIVE_FENCE_TYPE_DEFAULT; type <= BF_NATIVE_FENCE_TYPE_INTRA_GPU;
             type++) {
            const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                                  .type = (BfNativeFenceType)type,
                                                  .flags = BF_SYNC_OBJECT_FLAGS_NONE};
            assert_success(bfCreateNativeFence(f.bf, &info, &fence));
            const BfNativeFenceMapping m = mapping_of(fence);
            const VkMemoryPropertyFlags wanted = type == BF_NATIVE_FENCE_TYPE_INTRA_GPU
                                                     ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                                                     : VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
            if (!(memory_of(&f, m.currentValueBuffer) & wanted))
                fail_msg("%s: the current value of type %d is in the wrong memory", drivers[i],
                         type);
            if (!(memory_of(&f, m.monitoredValueBuffer) & wanted))
                fail_msg("%s: the monitored value of type %d is in the wrong memory", drivers[i],
                         type);
            bfDestroyFence(fence);
        }
        fixture_close(&f);
    }
}

TEST(a_device_without_memory_says_why_it_is_lost)
{
    struct fixture f;
    open_with(&f, "", alter_functions);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(&f, 0);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(&f, queue, 0, 1));
    out_of_memory = true;
    bfSignalFence(gate, 1);
    BfDeviceRemovedReason reason = BF_DEVICE_REMOVED_REASON_NONE;
    assert_int_equal(bfGetDeviceRemovedReason(f.bf, &reason), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_OUT_OF_MEMORY);
    out_of_memory = false;
    fixture_close(&f);
}

static uint32_t preferred;
static const BfSetting settings[] = {{.pKey = "native_fences", .pValue = "off"}};

static void alter_priorities(BfAttachInfo *info)
{
    for (uint32_t i = 0; i < info->queueCount; i++) {
        BfAttachQueue *queue = (BfAttachQueue *)&info->pQueues[i];
        queue->queuePriority = queue->queueIndex == preferred ? 0.75f : 0.25f;
    }
    info->settingCount = 1;
    info->pSettings = settings;
    info->nativeFences = VK_FALSE;
}

/* BfAttachQueue::queuePriority */
TEST(command_queues_of_high_priority_go_where_the_driver_prefers_them)
{
    for (preferred = 0; preferred < 2; preferred++) {
        struct fixture f;
        open_with(&f, "", alter_priorities);
        const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                               .type = BF_COMMAND_LIST_TYPE_COPY,
                                               .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH};
        BfCommandQueue queue;
        float priority = 0;
        assert_success(bfCreateCommandQueue(f.bf, &info, &queue));
        assert_success(bfGetCommandQueueDriverPriority(queue, NULL, &priority));
        assert_true(priority == 0.75f);
        BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)}; /* which tells the engine, too */
        assert_success(bfGetPreemptionStatus(queue, &status));
        assert_true(status.nodeOrdinal != 0);
        assert_int_equal(status.nodeOrdinal, bfGetCommandQueueFamilyIndex(queue));
        assert_int_equal(status.engineOrdinal, preferred);
        bfDestroyCommandQueue(queue);
        fixture_close(&f);
    }
}

static VkBool32 said, said_besides;

static void alter_reports(BfAttachInfo *info)
{
    info->deviceFault = said;
    info->diagnosticCheckpoints = said_besides;
}

struct told {
    bool fault, checkpoint;
};

static VKAPI_ATTR void VKAPI_CALL hear(BfMessageSeverity severity, const char *message, void *data)
{
    struct told *told = data;
    (void)severity;
    told->fault = told->fault || strstr(message, "device fault: lost on demand");
    told->checkpoint = told->checkpoint || strstr(message, "checkpoint 0xc0");
}

/* BfAttachInfo::deviceFault, diagnosticCheckpoints */
TEST(of_a_loss_the_driver_is_asked_for_what_the_program_says_it_has_enabled)
{
    static const char *const extensions[] = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
                                             VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME,
                                             NULL};
    const struct fixture_options options = {
        .environment = "REPORTS=1", .family = UINT32_MAX, .extensions = extensions};
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        struct told told = {false, false};
        said = (i & 1) != 0;
        said_besides = (i & 2) != 0;
        open_as(&f, &options, alter_reports);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        VkCommandBuffer commands = write_word(&f, queue, 0, 1);
        assert_success(bfSetMessageCallback(hear, &told));
        f.lost = true;
        f.icd.lose();
        assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
        assert_success(bfSetMessageCallback(NULL, NULL));
        assert_int_equal(told.fault, said);
        assert_int_equal(told.checkpoint, said_besides);
        fixture_close(&f);
    }
}

static void alter_clocks(BfAttachInfo *info)
{
    assert_true(info->calibratedTimestamps);
    info->calibratedTimestamps = said;
}

/* BfAttachInfo::calibratedTimestamps: where it has them, nothing is submitted to know the time. */
TEST(clocks_are_calibrated_by_what_the_program_says_it_has_enabled)
{
    for (said = 0; said < 2; said++) {
        struct fixture f;
        open_with(&f, "", alter_clocks);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        uint64_t gpu = 0, cpu = 0;
        const uint64_t before = vulkan_counters(&f.icd).submit_infos;
        assert_success(bfGetCommandQueueClockCalibration(queue, &gpu, &cpu));
        assert_true(gpu != 0 && cpu != 0);
        assert_int_equal(vulkan_counters(&f.icd).submit_infos > before, !said);
        fixture_close(&f);
    }
}

static void alter_alignment(BfAttachInfo *info)
{
    assert_true(info->hostPointerAlignment != 0);
    info->pfnGetDeviceProcAddr = look_up;
    info->hostPointerAlignment = alignment;
}

/* BfAttachInfo::hostPointerAlignment: above a page, too; 0, though the driver has it */
TEST(host_memory_is_imported_as_the_program_says_it_may_be)
{
    static const VkDeviceSize alignments[] = {1 << 20, 1 << 19, 1 << 16, 4096, 0};
    for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++) {
        struct fixture f;
        imported = bound.count = 0;
        alignment = alignments[i];
        open_with(&f, "", alter_alignment);
        BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
        assert_success(bfGetNativeFenceCaps(f.bf, &caps));
        assert_int_equal(caps.readOnlyMapping, alignment != 0);
        assert_int_equal(*word_of(make_native_fence(&f, 3)), 3);
        assert_int_equal(imported != 0, alignment != 0);
        fixture_close(&f);
    }
    alignment = 1;
}

static void alter_abilities(BfAttachInfo *info)
{
    assert_true(info->bufferDeviceAddress && info->shaderInt64 && info->externalSemaphoreFd);
    info->bufferDeviceAddress = said != 1;
    info->shaderInt64 = said != 2;
    info->externalSemaphoreFd = said != 3;
}

/* BfAttachInfo::bufferDeviceAddress, shaderInt64, externalSemaphoreFd: said not to be enabled,
 * though the driver has them */
TEST(what_the_program_says_it_has_not_enabled_is_not_used)
{
    for (said = 0; said < 4; said++) {
        struct fixture f;
        open_with(&f, "INT64=1 PROCESSES=1", alter_abilities);
        const VkBool32 addresses = said != 1 && said != 2;
        BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
        assert_success(bfGetNativeFenceCaps(f.bf, &caps));
        assert_int_equal(caps.atomicDirect, addresses);
        const BfNativeFenceMapping m = mapping_of(make_native_fence(&f, 0));
        assert_int_equal(m.currentValueAddress != 0, addresses);
        BfShareFlags flags = 0;
        assert_success(bfGetDeviceShareFlags(f.bf, &flags));
        assert_int_equal(flags, said == 3 ? 0 : BF_SHARE_TRUSTED_BIT);
        fixture_close(&f);
    }
}

/* -------------------------------------------------------------------------------- Counters -- */

FIXTURE_TEST(hand_overs_and_questions_are_counted)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(f, 0);
    VkCommandBuffer first = write_word(f, a, 0, 7), second = copy_word(f, b, 0, 1);
    f->icd.pause();
    const BfDeviceCounters before = counters_of(f);
    execute(a, first);
    queue_signal(a, fence, 1);
    queue_wait(b, fence, 1);
    execute(b, second);
    assert_int_equal(counters_of(f).semaphoreWaits, before.semaphoreWaits + 1);
    const uint64_t queries = counters_of(f).counterQueries;
    assert_value(fence, 0); /* its signal is under way: the driver is asked */
    assert_true(counters_of(f).counterQueries > queries);
    f->icd.resume();
    await_idle(b);
    assert_int_equal(read_word(f, 1), 7);
}

/* BfDeviceCounters::driverCalls, sleeperThreads, sleeperWakeups. A thread that found the work done
 * when it looked has not slept: that is tried again. */
FIXTURE_TEST(calls_and_sleepers_are_counted)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    execute(queue, write_word(f, queue, 0, 1));
    await_idle(queue);
    const BfDeviceCounters before = counters_of(f);
    const uint64_t calls = vulkan_counters(&f->icd).submit_calls;
    for (uint32_t i = 1; i <= 1000; i++) {
        f->icd.pause();
        execute(queue, write_word(f, queue, 0, i));
        queue_signal(queue, fence, i);
        set_event_on(fence, i, event);
        f->icd.resume();
        await_event(event);
        if (counters_of(f).sleeperWakeups > before.sleeperWakeups)
            break;
    }
    await_idle(queue);
    const BfDeviceCounters after = counters_of(f);
    assert_true(after.sleeperWakeups > before.sleeperWakeups);
    assert_true(after.sleeperThreads > 0);
    assert_true(after.driverCalls > before.driverCalls);
    assert_int_equal(after.driverCalls - before.driverCalls,
                     vulkan_counters(&f->icd).submit_calls - calls);
}

/* BfPreemptionStatus: of the last request, the longest, and the sum. The first has to wait for the
 * GPU. */
FIXTURE_TEST(latencies_of_requests_are_told)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)};
    uint64_t sum = 0, greatest = 0, requests = 0;
    for (uint64_t i = 1; i <= 20; i++) {
        BfFence done;
        uint64_t id = 0;
        if (i == 1)
            f->icd.pause();
        execute(queue, write_word(f, queue, 0, (uint32_t)i));
        if (i > 1)
            await_idle(queue);
        assert_success(bfRequestPreemption(queue, &id));
        assert_int_equal(id, i);
        if (i == 1)
            f->icd.resume();
        assert_success(bfGetPreemptionFence(queue, &done));
        await_fence(done, i);
        assert_success(bfGetPreemptionStatus(queue, &status));
        assert_true(status.latencyNs > 0);
        sum += status.latencyNs;
        greatest = greatest > status.latencyNs ? greatest : status.latencyNs;
        requests++;
        assert_int_equal(status.sumOfLatenciesNs, sum);
        assert_int_equal(status.greatestLatencyNs, greatest);
        assert_int_equal(status.requestCount, requests);
    }
}

/* BfDeviceCounters::barriers */
FIXTURE_TEST(order_on_one_engine_is_counted)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkCommandBuffer first = write_word(f, queue, 0, 1), second = write_word(f, queue, 0, 2);
    f->icd.pause();
    const uint64_t before = counters_of(f).barriers;
    execute(queue, first);
    execute(queue, second);
    assert_true(counters_of(f).barriers > before);
    f->icd.resume();
    await_idle(queue);
    assert_int_equal(read_word(f, 0), 2);
}

/* BfDeviceCounters::submissions: what the driver has been given of command queues, and nothing
 * else. */
FIXTURE_TEST(packets_handed_over_are_counted)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0), gate = make_fence(f, 0);
    const uint64_t before = counters_of(f).submissions;
    execute(queue, write_word(f, queue, 0, 1));
    execute(queue, write_word(f, queue, 0, 2));
    assert_int_equal(counters_of(f).submissions, before + 2);
    await_idle(queue);
    queue_signal(queue, fence, 1); /* costs none */
    queue_wait(queue, fence, 1);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 3)); /* held */
    assert_int_equal(counters_of(f).submissions, before + 2);
    cpu_signal(gate, 1);
    await_idle(queue);
    assert_int_equal(counters_of(f).submissions, before + 3);
    assert_int_equal(read_word(f, 0), 3);
}

/* BfDeviceCounters::blockedWaits */
FIXTURE_TEST(waits_that_block_are_counted)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_fence(f, 3), gate = make_fence(f, 0);
    VkCommandBuffer first = write_word(f, a, 0, 7), second = copy_word(f, b, 0, 1);
    f->icd.pause();
    const uint64_t before = counters_of(f).blockedWaits;
    queue_wait(b, fence, 3); /* satisfied */
    execute(a, first);
    queue_signal(a, fence, 4);
    queue_wait(b, fence, 4); /* which is under way */
    execute(b, second);
    assert_int_equal(counters_of(f).blockedWaits, before);
    queue_wait(b, gate, 1);
    assert_int_equal(counters_of(f).blockedWaits, before + 1);
    cpu_signal(gate, 1);
    f->icd.resume();
    await_idle(b);
    assert_int_equal(counters_of(f).blockedWaits, before + 1);
    assert_int_equal(read_word(f, 1), 7);
}
