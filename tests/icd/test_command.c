/* SPDX-License-Identifier: MIT */
/* What command buffers do: transfers, queries and clocks, secondary buffers, memory, sparse binds.
 */
#include "support/world.h"

static void run(struct device *f, VkCommandBuffer commands)
{
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(f->queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

DEVICE_TEST(test_transfers, NULL, WORLD_ALL)
{
    VkCommandBuffer commands = device_begin(w, 0, 0);
    const char text[] = "a text, not aligned to anything";
    vkCmdFillBuffer(commands, w->buffer, 0, VK_WHOLE_SIZE, 0xabcdef01);
    vkCmdUpdateBuffer(commands, w->buffer, 64, sizeof(text), text);
    VkBufferCopy copies[2] = {{.srcOffset = 65, .dstOffset = 131, .size = 9},
                              {.srcOffset = 64, .dstOffset = 1024, .size = sizeof(text)}};
    vkCmdCopyBuffer(commands, w->buffer, w->buffer, 2, copies);
    run(w, commands);
    const char *bytes = (const char *)w->words;
    assert_int_equal(w->words[0], 0xabcdef01);
    assert_int_equal(w->words[WORLD_WORDS - 1], 0xabcdef01);
    assert_memory_equal(bytes + 64, text, sizeof(text));
    assert_memory_equal(bytes + 131, text + 1, 9);
    assert_memory_equal(bytes + 1024, text, sizeof(text));
    assert_int_equal((unsigned char)bytes[140], 0x01);
}

DEVICE_TEST(test_secondary, NULL, WORLD_ALL)
{
    VkCommandBuffer secondary;
    const VkCommandBufferAllocateInfo allocate = {
        VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = w->pools[0],
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY, .commandBufferCount = 1};
    const VkCommandBufferInheritanceInfo inheritance = {VK_TYPE(COMMAND_BUFFER_INHERITANCE_INFO)};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO),
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                            .pInheritanceInfo = &inheritance};
    assert_success(vkAllocateCommandBuffers(w->device, &allocate, &secondary));
    assert_success(vkBeginCommandBuffer(secondary, &begin));
    VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 4, .size = 4};
    vkCmdCopyBuffer(secondary, w->buffer, w->buffer, 1, &copy);
    assert_success(vkEndCommandBuffer(secondary));

    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdFillBuffer(commands, w->buffer, 0, 4, 5);
    vkCmdExecuteCommands(commands, 1, &secondary);
    vkCmdFillBuffer(commands, w->buffer, 0, 4, 6);
    run(w, commands);
    assert_int_equal(w->words[0], 6);
    assert_int_equal(w->words[1], 5);
}

static VkQueryPool query_pool(struct device *f, uint32_t count)
{
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = count};
    VkQueryPool pool;
    assert_success(vkCreateQueryPool(f->device, &info, NULL, &pool));
    vkResetQueryPool(f->device, pool, 0, count);
    return pool;
}

DEVICE_TEST(test_queries, NULL, WORLD_ALL)
{
    VkQueryPool pool = query_pool(w, 4);
    uint64_t results[4] = {7, 7, 7, 7};
    assert_int_equal(
        vkGetQueryPoolResults(w->device, pool, 0, 1, 16, results, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT),
        VK_NOT_READY);
    assert_int_equal(results[1], 0);

    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdResetQueryPool(commands, pool, 0, 4);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 1);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, pool, 2);
    /* A log's entry: the value alone at 0, value and availability at 16. */
    vkCmdCopyQueryPoolResults(commands, pool, 1, 2, w->buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    vkCmdCopyQueryPoolResults(commands, pool, 1, 1, w->buffer, 16, 8,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    run(w, commands);
    assert_success(vkGetQueryPoolResults(w->device, pool, 1, 2, sizeof(results), results, 8,
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
    assert_true(results[0] && results[0] <= results[1]);
    const uint64_t *copied = (const uint64_t *)w->words;
    assert_int_equal(copied[0], results[0]);
    assert_int_equal(copied[1], results[1]);
    assert_int_equal(copied[2], results[0]);
    assert_int_equal(copied[3], 1);
    vkResetQueryPool(w->device, pool, 1, 1);
    assert_int_equal(
        vkGetQueryPoolResults(w->device, pool, 1, 1, 8, results, 8, VK_QUERY_RESULT_64_BIT),
        VK_NOT_READY);
    vkDestroyQueryPool(w->device, pool, NULL);
}

struct query_waiter {
    struct device *f;
    VkQueryPool pool;
    uint64_t stamp;
    VkResult result;
};

static void *query_wait(void *argument)
{
    struct query_waiter *w = argument;
    w->result =
        vkGetQueryPoolResults(w->f->device, w->pool, 0, 1, sizeof(w->stamp), &w->stamp,
                              sizeof(w->stamp), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    return NULL;
}

/* A thread sleeps for a query that the device has yet to write. */
DEVICE_TEST(test_query_wait, NULL, WORLD_ALL)
{
    struct query_waiter waiter = {.f = w, .pool = query_pool(w, 1)};
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, waiter.pool, 0);
    assert_success(vkEndCommandBuffer(commands));
    w->icd.pause();
    assert_submitted(w->queues[0][0], .commands = commands);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, query_wait, &waiter), 0);
    while (!w->icd.sleepers())
        sched_yield();
    w->icd.resume();
    pthread_join(thread, NULL);
    assert_success(waiter.result);
    assert_true(waiter.stamp != 0);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyQueryPool(w->device, waiter.pool, NULL);
}

static uint64_t device_time(struct device *f, uint64_t *host, uint64_t *deviation)
{
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {VK_TYPE(CALIBRATED_TIMESTAMP_INFO_EXT), .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {VK_TYPE(CALIBRATED_TIMESTAMP_INFO_EXT), .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT},
    };
    uint64_t stamps[2];
    assert_success(vkGetCalibratedTimestampsEXT(f->device, 2, infos, stamps, deviation));
    assert_true(*deviation > 0);
    *host = stamps[1];
    return stamps[0];
}

/* A stamp of the device lies between two calibrations, in every shape's units and width. */
TEST(test_calibrated)
{
    static const struct {
        const char *environment;
        uint32_t bits;
    } devices[] = {{"SHAPE=q1", 64},
                   {"SHAPE=radv", 64},
                   {"SHAPE=intel", 36},
                   {"SHAPE=q1 TIMESTAMP_BITS=40", 40}};
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        struct device f;
        world_open(&f, devices[i].environment, WORLD_ALL);
        uint32_t n = 0;
        assert_success(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(f.physical, &n, NULL));
        assert_int_equal(n, 3);
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(f.physical, &properties);
        double period = (double)properties.limits.timestampPeriod;
        uint64_t mask = devices[i].bits == 64 ? UINT64_MAX : (UINT64_C(1) << devices[i].bits) - 1;
        VkQueryPool pool = query_pool(&f, 1);
        VkCommandBuffer commands = device_begin(&f, 0, 0);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
        uint64_t host_before, host_after, deviation_before, deviation_after, stamp;
        uint64_t before = device_time(&f, &host_before, &deviation_before);
        run(&f, commands);
        uint64_t after = device_time(&f, &host_after, &deviation_after);
        assert_success(
            vkGetQueryPoolResults(f.device, pool, 0, 1, 8, &stamp, 8, VK_QUERY_RESULT_64_BIT));
        assert_int_equal(stamp & ~mask, 0);
        assert_int_equal(before & ~mask, 0);
        uint64_t whole = (after - before) & mask;
        assert_true(((stamp - before) & mask) <= whole);
        /* Both clocks went on by the same time, but for what the driver says it can't tell. */
        double device = (double)whole * period, host = (double)(host_after - host_before);
        double slack = (double)(deviation_before + deviation_after);
        assert_true(device <= host + slack && host <= device + slack);
        /* The device's clock isn't the host's. */
        assert_int_not_equal(before, host_before & mask);
        vkDestroyQueryPool(f.device, pool, NULL);
        world_close(&f);
    }
}

DEVICE_TEST(test_memory, NULL, WORLD_ALL)
{
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(w->physical, &properties);
    assert_int_equal(properties.memoryTypeCount, 2);
    assert_true(properties.memoryTypes[0].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    assert_false(properties.memoryTypes[1].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    assert_true(properties.memoryTypes[1].propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT);

    const VkBufferDeviceAddressInfo address = {VK_TYPE(BUFFER_DEVICE_ADDRESS_INFO),
                                               .buffer = w->buffer};
    assert_true(vkGetBufferDeviceAddress(w->device, &address) != 0);

    VkMemoryAllocateInfo info = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = 4096,
                                 .memoryTypeIndex = 1};
    VkDeviceMemory memory;
    void *data;
    assert_success(vkAllocateMemory(w->device, &info, NULL, &memory));
    assert_success(vkMapMemory(w->device, memory, 0, VK_WHOLE_SIZE, 0, &data));
    const VkMappedMemoryRange range = {VK_TYPE(MAPPED_MEMORY_RANGE), .memory = memory,
                                       .size = VK_WHOLE_SIZE};
    assert_success(vkFlushMappedMemoryRanges(w->device, 1, &range));
    assert_success(vkInvalidateMappedMemoryRanges(w->device, 1, &range));
    assert_int_equal(vulkan_counters(&w->icd).flushes, 1);
    assert_int_equal(vulkan_counters(&w->icd).invalidates, 1);
    vkFreeMemory(w->device, memory, NULL);
    VkPhysicalDeviceVulkan11Properties limits = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)};
    VkPhysicalDeviceProperties2 query = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &limits};
    vkGetPhysicalDeviceProperties2(w->physical, &query);
    info.allocationSize = limits.maxMemoryAllocationSize + 1;
    assert_int_equal(vkAllocateMemory(w->device, &info, NULL, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

/* Binds take effect in the queue's order, behind their waits, and can be undone. */
DEVICE_TEST(test_sparse, "SHAPE=q2", WORLD_ALL)
{
    const VkBufferCreateInfo info = {
        VK_TYPE(BUFFER_CREATE_INFO),
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 2 * 65536,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer sparse;
    assert_success(vkCreateBuffer(w->device, &info, NULL, &sparse));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(w->device, sparse, &requirements);
    const VkMemoryAllocateInfo allocate = {VK_TYPE(MEMORY_ALLOCATE_INFO),
                                           .allocationSize = requirements.size};
    VkDeviceMemory memory;
    assert_success(vkAllocateMemory(w->device, &allocate, NULL, &memory));
    uint32_t *data;
    assert_success(vkMapMemory(w->device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&data));

    /* The halves crossed over. */
    VkSparseMemoryBind binds[2] = {
        {.resourceOffset = 0, .size = 65536, .memory = memory, .memoryOffset = 65536},
        {.resourceOffset = 65536, .size = 65536, .memory = memory, .memoryOffset = 0}};
    const VkSparseBufferMemoryBindInfo buffer_bind = {
        .buffer = sparse, .bindCount = 2, .pBinds = binds};
    VkSemaphore a = vulkan_timeline(w->device, 0);
    const uint64_t one = 1, two = 2;
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &one, .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &two};
    VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO), .pNext = &values,
                             .waitSemaphoreCount = 1,   .pWaitSemaphores = &a,
                             .bufferBindCount = 1,      .pBufferBinds = &buffer_bind,
                             .signalSemaphoreCount = 1, .pSignalSemaphores = &a};
    w->icd.pause();
    assert_submitted(w->queues[0][1], .signal = a, .signal_value = 1);
    assert_success(vkQueueBindSparse(w->queues[0][0], 1, &bind, VK_NULL_HANDLE));
    w->icd.quiesce();
    struct belfry_icd_sparse_bind told[4];
    assert_int_equal(w->icd.sparse_binds(told, 4), 0);
    w->icd.resume();
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdFillBuffer(commands, sparse, 65536 - 8, 16, 9);
    vkCmdFillBuffer(commands, sparse, 0, 4, 1);
    vkCmdFillBuffer(commands, sparse, 65536 + 64, 4, 2);
    run(w, commands);
    assert_int_equal(data[16384], 1);
    assert_int_equal(data[16], 2);
    assert_int_equal(data[2 * 16384 - 1], 9);
    assert_int_equal(data[2 * 16384 - 2], 9);
    assert_int_equal(data[0], 9);
    assert_int_equal(data[1], 9);
    assert_int_equal(vulkan_value(w->device, a), 2);

    assert_int_equal(w->icd.sparse_binds(told, 4), 2);
    assert_int_equal(told[1].resource, (uint64_t)(uintptr_t)sparse);
    assert_int_equal(told[1].offset, 65536);
    assert_int_equal(told[1].memory, (uint64_t)(uintptr_t)memory);

    /* Unbound memory reads as zero. */
    binds[0].memory = VK_NULL_HANDLE;
    bind.pNext = NULL;
    bind.waitSemaphoreCount = bind.signalSemaphoreCount = 0;
    VkFence fence = vulkan_fence(w->device, false);
    assert_success(vkQueueBindSparse(w->queues[0][0], 1, &bind, fence));
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    w->words[0] = w->words[1] = 77;
    commands = device_begin(w, 0, 0);
    VkBufferCopy copies[2] = {{.srcOffset = 0, .dstOffset = 0, .size = 4},
                              {.srcOffset = 65536 + 64, .dstOffset = 4, .size = 4}};
    vkCmdCopyBuffer(commands, sparse, w->buffer, 2, copies);
    run(w, commands);
    assert_int_equal(w->words[0], 0);
    assert_int_equal(w->words[1], 2);
    assert_int_equal(vulkan_counters(&w->icd).bind_sparse_calls, 2);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, fence, a, sparse, memory);
}

DEVICE_TEST(test_private_data, NULL, WORLD_ALL)
{
    const VkPrivateDataSlotCreateInfo info = {VK_TYPE(PRIVATE_DATA_SLOT_CREATE_INFO)};
    VkPrivateDataSlot slot;
    uint64_t data = 1;
    assert_success(vkCreatePrivateDataSlot(w->device, &info, NULL, &slot));
    uint64_t queue = (uint64_t)(uintptr_t)w->queues[0][0];
    vkGetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE, queue, slot, &data);
    assert_int_equal(data, 0);
    assert_success(vkSetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE, queue, slot, 99));
    vkGetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE, queue, slot, &data);
    assert_int_equal(data, 99);
    vkDestroyPrivateDataSlot(w->device, slot, NULL);
}

/* Dispatches that take time ----------------------------------------------------------------- */

/* A later batch runs beside them; their own batch has not signalled. */
DEVICE_TEST(test_a_batch_runs_beside_the_dispatches_before_it, "SHAPE=q1 DISPATCH_US=60000000",
            WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    VkCommandBuffer dispatch = device_begin(w, 0, 0);
    vkCmdDispatch(dispatch, 1, 1, 1);
    assert_success(vkEndCommandBuffer(dispatch));
    VkCommandBuffer store = device_begin(w, 0, 0);
    vkCmdFillBuffer(store, w->buffer, 0, 4, 42);
    assert_success(vkEndCommandBuffer(store));
    assert_submitted(w->queues[0][0], .commands = dispatch, .signal = a, .signal_value = 1);
    assert_submitted(w->queues[0][0], .commands = store);
    while (__atomic_load_n(w->words, __ATOMIC_ACQUIRE) != 42)
        ;
    assert_int_equal(vulkan_value(w->device, a), 0);
    w->icd.lose();
    assert_int_equal(vkQueueWaitIdle(w->queues[0][0]), VK_ERROR_DEVICE_LOST);
    w->icd.quiesce(); /* the loss is told at once, while the driver is about to drop the work */
    vkDestroySemaphore(w->device, a, NULL);
}

/* Timestamps are of a dispatch's end and hold up nobody; a waiting copy does, and a barrier. */
DEVICE_TEST(test_copies_of_queries_and_barriers_wait_for_dispatches, "SHAPE=q1 DISPATCH_US=20000",
            WORLD_ALL)
{
    VkQueryPool pool = query_pool(w, 3);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const VkMemoryBarrier barrier = {VK_TYPE(MEMORY_BARRIER)};
        vkCmdDispatch(commands, 1, 1, 1);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, i);
        if (i == 0)
            vkCmdCopyQueryPoolResults(commands, pool, 0, 1, w->buffer, 0, 8,
                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        else
            vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                 VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL, 0,
                                 NULL);
    }
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(w->queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    uint64_t ends[3];
    assert_success(vkGetQueryPoolResults(w->device, pool, 0, 3, sizeof(ends), ends, 8,
                                         VK_QUERY_RESULT_64_BIT));
    assert_true(ends[1] - ends[0] >= 20000000 && ends[2] - ends[1] >= 20000000);
    vkDestroyQueryPool(w->device, pool, NULL);
}
