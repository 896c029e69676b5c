/* SPDX-License-Identifier: MIT */
/* What the driver finds wrong with recorded commands: families that can't run them, ranges, queries
 * without reset, and objects that are destroyed or reset under them. */
#include "support/world.h"

/* nvidia's families: 0 universal, 1 copy, 2 compute, 3 decode, 4 encode; copy's 1 and radv's 3 have
 * no timestamps; radv's 2 has sparse binds alone. */
#define QUIET_COPY   "SHAPE=copy QUIET=1"
#define QUIET_NVIDIA "SHAPE=nvidia QUIET=1"
#define QUIET_RADV   "SHAPE=radv QUIET=1"
#define QUIET_Q1     "SHAPE=q1 QUIET=1"

static VkCommandPool pool_of(struct device *f, uint32_t family)
{
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .queueFamilyIndex = family};
    VkCommandPool pool;
    assert_success(vkCreateCommandPool(f->device, &info, NULL, &pool));
    return pool;
}

static VkCommandBuffer begin_in(struct device *f, VkCommandPool pool)
{
    const VkCommandBufferAllocateInfo info = {
        VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(f->device, &info, &commands));
    assert_success(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

static VkQueryPool queries_of(struct device *f, uint32_t count)
{
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = count};
    VkQueryPool pool;
    assert_success(vkCreateQueryPool(f->device, &info, NULL, &pool));
    return pool;
}

static void submit(struct device *f, VkCommandBuffer commands)
{
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(f->queues[0][0], .commands = commands);
}

/* Families ----------------------------------------------------------------------------------- */

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 stages)
{
    const VkMemoryBarrier2 memory = {VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = stages,
                                     .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                     .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                     .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &info);
}

/* All that a family with transfers alone can do, and what it can't. */
DEVICE_TEST(test_transfer_families_run_transfers_and_barriers_alone, QUIET_NVIDIA, WORLD_ALL)
{
    VkCommandPool pool = pool_of(w, 1);
    VkQueryPool queries = queries_of(w, 2);
    VkCommandBuffer commands = begin_in(w, pool);
    const uint64_t word = 1;
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 8, .size = 8};
    vkCmdFillBuffer(commands, w->buffer, 0, 4, 0);
    vkCmdUpdateBuffer(commands, w->buffer, 0, 8, &word);
    vkCmdCopyBuffer(commands, w->buffer, w->buffer, 1, &copy);
    barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
    barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT);
    barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);

    vkCmdResetQueryPool(commands, queries, 0, 2);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdCopyQueryPoolResults(commands, queries, 0, 1, w->buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdDispatch(commands, 1, 1, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdDispatchBase(commands, 0, 0, 0, 1, 1, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdDispatchIndirect(commands, w->buffer, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    barrier(commands, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                         0, 0, NULL, 0, NULL, 0, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vulkan_destroy(w->device, queries, pool);
}

DEVICE_TEST(test_compute_families_draw_nothing, QUIET_NVIDIA, WORLD_ALL)
{
    VkCommandPool pool = pool_of(w, 2);
    VkQueryPool queries = queries_of(w, 2);
    VkCommandBuffer commands = begin_in(w, pool);
    vkCmdResetQueryPool(commands, queries, 0, 2);
    vkCmdCopyQueryPoolResults(commands, queries, 0, 1, w->buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    vkCmdDispatch(commands, 1, 1, 1);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE);
    barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, VK_NULL_HANDLE);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vulkan_destroy(w->device, queries, pool);
}

DEVICE_TEST(test_sparse_families_record_nothing, QUIET_RADV, WORLD_ALL)
{
    VkCommandPool pool = pool_of(w, 2);
    VkCommandBuffer commands = begin_in(w, pool);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdFillBuffer(commands, w->buffer, 0, 4, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_FAMILY, 1);
    vkDestroyCommandPool(w->device, pool, NULL);
}

DEVICE_TEST(test_timestamps_need_valid_bits, QUIET_COPY, WORLD_ALL)
{
    VkCommandPool pool = pool_of(w, 1);
    VkQueryPool queries = queries_of(w, 2);
    VkCommandBuffer commands = begin_in(w, pool);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_TIMESTAMP_FAMILY, 1);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_TIMESTAMP_FAMILY, 1);
    VkCommandBuffer universal = device_begin(w, 0, 0);
    vkCmdWriteTimestamp2(universal, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vulkan_destroy(w->device, queries, pool);
}

TEST(test_command_buffers_run_in_their_pool_s_family)
{
    static const char *const environments[] = {QUIET_COPY, QUIET_COPY " FREE=1"};
    for (size_t i = 0; i < 2; i++) {
        struct device f;
        world_open(&f, environments[i], WORLD_ALL);
        VkCommandPool pool = pool_of(&f, 1);
        VkCommandBuffer commands = begin_in(&f, pool);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted(f.queues[1][1], .commands = commands);
        assert_success(vkDeviceWaitIdle(f.device));
        vulkan_expect(&f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
        assert_submitted1(f.queues[0][0], .commands = commands);
        assert_success(vkDeviceWaitIdle(f.device));
        vulkan_expect(&f.icd, BELFRY_ICD_POOL_FAMILY, 1);
        VkCommandBuffer primary = device_begin(&f, 0, 0);
        vkCmdExecuteCommands(primary, 1, &commands);
        vulkan_expect(&f.icd, BELFRY_ICD_POOL_FAMILY, 1);
        vkDestroyCommandPool(f.device, pool, NULL);
        world_close(&f);
    }
}

/* Ranges ------------------------------------------------------------------------------------- */

#define BYTES (WORLD_WORDS * sizeof(uint32_t))

DEVICE_TEST(test_transfers_stay_inside_their_buffers, QUIET_Q1, WORLD_ALL)
{
    static const struct {
        VkDeviceSize from, to, size;
        bool wrong;
    } copies[] = {
        {0, BYTES - 8, 8, false},
        {BYTES - 8, 0, 8, false},
        {0, BYTES - 7, 8, true},
        {BYTES - 7, 0, 8, true},
        {0, BYTES, 1, true},
        {0, UINT64_MAX - 3, 8, true},
        {8, 0, UINT64_MAX - 4, true},
        {0, 8, 0, true},
        {0, 8, 9, true},
        {9, 0, 10, true},
        {0, 8, 8, false},
    };
    VkCommandBuffer commands = device_begin(w, 0, 0);
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        const VkBufferCopy copy = {copies[i].from, copies[i].to, copies[i].size};
        const VkBufferCopy2 copy2 = {VK_TYPE(BUFFER_COPY_2), .srcOffset = copies[i].from,
                                     .dstOffset = copies[i].to, .size = copies[i].size};
        const VkCopyBufferInfo2 info = {VK_TYPE(COPY_BUFFER_INFO_2), .srcBuffer = w->buffer,
                                        .dstBuffer = w->buffer, .regionCount = 1,
                                        .pRegions = &copy2};
        vkCmdCopyBuffer(commands, w->buffer, w->buffer, 1, &copy);
        vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, copies[i].wrong);
        vkCmdCopyBuffer2(commands, &info);
        vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, copies[i].wrong);
    }
    static const uint32_t data[20000] = {0};
    vkCmdUpdateBuffer(commands, w->buffer, BYTES - 8, 8, data);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdUpdateBuffer(commands, w->buffer, BYTES - 4, 8, data);
    vkCmdUpdateBuffer(commands, w->buffer, 2, 8, data);
    vkCmdUpdateBuffer(commands, w->buffer, 0, 6, data);
    vkCmdUpdateBuffer(commands, w->buffer, 0, 65540, data);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 4);
    vkCmdFillBuffer(commands, w->buffer, BYTES - 8, VK_WHOLE_SIZE, 7);
    vkCmdFillBuffer(commands, w->buffer, BYTES - 8, 8, 7);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdFillBuffer(commands, w->buffer, BYTES - 4, 8, 7);
    vkCmdFillBuffer(commands, w->buffer, BYTES, VK_WHOLE_SIZE, 7);
    vkCmdFillBuffer(commands, w->buffer, BYTES + 4, VK_WHOLE_SIZE, 7);
    vkCmdFillBuffer(commands, w->buffer, 1, 4, 7);
    vkCmdFillBuffer(commands, w->buffer, 0, 3, 7);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 5);
    /* What is wrong is left out, what is right runs. */
    submit(w, commands);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->words[WORLD_WORDS - 1], 7);
}

DEVICE_TEST(test_query_copies_stay_inside_buffer_and_pool, QUIET_Q1, WORLD_ALL)
{
    static const struct {
        uint32_t first, count;
        VkDeviceSize offset, stride;
        VkQueryResultFlags flags;
        bool wrong;
    } copies[] = {
        {0, 4, BYTES - 32, 8, VK_QUERY_RESULT_64_BIT, false},
        {0, 4, BYTES - 24, 8, VK_QUERY_RESULT_64_BIT, true},
        {0, 4, BYTES - 16, 4, 0, false},
        {0, 4, BYTES - 12, 4, 0, true},
        {3, 1, BYTES - 8, 0, VK_QUERY_RESULT_64_BIT, false},
        {3, 1, BYTES - 8, 0, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT, true},
        {0, 2, 0, UINT64_MAX - 7, VK_QUERY_RESULT_64_BIT, true},
        {0, 1, 4, 8, VK_QUERY_RESULT_64_BIT, true},
        {0, 2, 0, 12, VK_QUERY_RESULT_64_BIT, true},
        {3, 2, 0, 8, VK_QUERY_RESULT_64_BIT, true},
        {4, 1, 0, 8, VK_QUERY_RESULT_64_BIT, true},
        {1, UINT32_MAX, 0, 0, VK_QUERY_RESULT_64_BIT, true},
    };
    VkQueryPool queries = queries_of(w, 4);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        vkCmdCopyQueryPoolResults(commands, queries, copies[i].first, copies[i].count, w->buffer,
                                  copies[i].offset, copies[i].stride, copies[i].flags);
        vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, copies[i].wrong);
    }
    vkCmdResetQueryPool(commands, queries, 4, 1);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 4);
    vkResetQueryPool(w->device, queries, 3, 2);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 3);
    vkDestroyQueryPool(w->device, queries, NULL);
}

/* Memory that ends before the buffer does, or isn't there at all. */
DEVICE_TEST(test_transfers_stay_inside_the_buffer_s_memory, QUIET_Q1, WORLD_ALL)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 1024,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkMemoryAllocateInfo allocate = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = 1024};
    VkBuffer buffer;
    VkDeviceMemory memory;
    assert_success(vkCreateBuffer(w->device, &info, NULL, &buffer));
    assert_success(vkAllocateMemory(w->device, &allocate, NULL, &memory));
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdFillBuffer(commands, buffer, 0, 4, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 1);
    assert_success(vkBindBufferMemory(w->device, buffer, memory, 256));
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 1);
    vkCmdFillBuffer(commands, buffer, 768 - 4, 4, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdFillBuffer(commands, buffer, 768, 4, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 1);
    void *data;
    assert_int_equal(vkMapMemory(w->device, memory, 1024, VK_WHOLE_SIZE, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(vkMapMemory(w->device, memory, 512, 513, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    vulkan_expect(&w->icd, BELFRY_ICD_OUT_OF_RANGE, 2);
    vulkan_destroy(w->device, buffer, memory);
}

DEVICE_TEST(test_transfers_need_the_buffer_s_usage, QUIET_Q1, WORLD_ALL)
{
    const VkBufferUsageFlags usages[2] = {VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                          VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffers[2];
    for (int i = 0; i < 2; i++) {
        const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 1024,
                                         .usage = usages[i]};
        assert_success(vkCreateBuffer(w->device, &info, NULL, &buffers[i]));
        assert_success(vkBindBufferMemory(w->device, buffers[i], w->memory, 0));
    }
    VkQueryPool queries = queries_of(w, 1);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    const VkBufferCopy copy = {0, 8, 8};
    const uint64_t word = 0;
    vkCmdCopyBuffer(commands, buffers[0], buffers[1], 1, &copy);
    vkCmdUpdateBuffer(commands, buffers[1], 0, 8, &word);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkCmdCopyBuffer(commands, buffers[1], buffers[0], 1, &copy);
    vulkan_expect(&w->icd, BELFRY_ICD_BUFFER_USAGE, 2);
    vkCmdUpdateBuffer(commands, buffers[0], 0, 8, &word);
    vkCmdFillBuffer(commands, buffers[0], 0, 8, 0);
    vkCmdCopyQueryPoolResults(commands, queries, 0, 1, buffers[0], 0, 8, VK_QUERY_RESULT_64_BIT);
    vulkan_expect(&w->icd, BELFRY_ICD_BUFFER_USAGE, 3);
    vkDestroyQueryPool(w->device, queries, NULL);
    for (int i = 0; i < 2; i++)
        vkDestroyBuffer(w->device, buffers[i], NULL);
}

/* Queries ------------------------------------------------------------------------------------ */

DEVICE_TEST(test_queries_are_reset_between_writes, QUIET_Q1, WORLD_ALL)
{
    VkQueryPool queries = queries_of(w, 2);
    uint64_t stamp;

    /* Never reset: neither read nor written. */
    assert_int_equal(
        vkGetQueryPoolResults(w->device, queries, 0, 1, 8, &stamp, 8, VK_QUERY_RESULT_64_BIT),
        VK_NOT_READY);
    vulkan_expect(&w->icd, BELFRY_ICD_QUERY_UNRESET, 1);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdCopyQueryPoolResults(commands, queries, 1, 1, w->buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0); /* it's the running that counts */
    submit(w, commands);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_expect(&w->icd, BELFRY_ICD_QUERY_UNRESET, 2);

    /* By the host, then written twice; by the device, in between. */
    vkResetQueryPool(w->device, queries, 0, 2);
    commands = device_begin(w, 0, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
    vkCmdResetQueryPool(commands, queries, 0, 1);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
    submit(w, commands);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    commands = device_begin(w, 0, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
    submit(w, commands);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_expect(&w->icd, BELFRY_ICD_QUERY_UNRESET, 1);
    vkDestroyQueryPool(w->device, queries, NULL);
}

DEVICE_TEST(test_the_host_resets_no_pending_query, QUIET_Q1, WORLD_ALL)
{
    VkQueryPool queries = queries_of(w, 4);
    vkResetQueryPool(w->device, queries, 0, 4);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
    vkCmdCopyQueryPoolResults(commands, queries, 2, 1, w->buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    w->icd.pause();
    submit(w, commands);
    vkResetQueryPool(w->device, queries, 0, 1);
    vkResetQueryPool(w->device, queries, 3, 1);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkResetQueryPool(w->device, queries, 0, 2);
    vulkan_expect(&w->icd, BELFRY_ICD_QUERY_PENDING, 1);
    vkResetQueryPool(w->device, queries, 2, 2);
    vulkan_expect(&w->icd, BELFRY_ICD_QUERY_PENDING, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    vkResetQueryPool(w->device, queries, 0, 4);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkDestroyQueryPool(w->device, queries, NULL);
}

/* Destroyed under their commands: told, and the commands still find them. */
DEVICE_TEST(test_what_pending_commands_use_is_not_destroyed, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 4096,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkMemoryAllocateInfo allocate = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = 4096};
    const VkEventCreateInfo event_info = {VK_TYPE(EVENT_CREATE_INFO)};
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkEvent event;
    assert_success(vkCreateBuffer(w->device, &info, NULL, &buffer));
    assert_success(vkAllocateMemory(w->device, &allocate, NULL, &memory));
    assert_success(vkBindBufferMemory(w->device, buffer, memory, 0));
    assert_success(vkCreateEvent(w->device, &event_info, NULL, &event));
    VkQueryPool queries = queries_of(w, 1);
    VkCommandBuffer commands = device_begin(w, 0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    vkCmdResetQueryPool(commands, queries, 0, 1);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
    vkCmdCopyQueryPoolResults(commands, queries, 0, 1, buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
    vkCmdSetEvent(commands, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    w->icd.pause();
    submit(w, commands);
    assert_submitted(w->queues[0][1], .commands = commands);
    vkFreeMemory(w->device, memory, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroyBuffer(w->device, buffer, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroyQueryPool(w->device, queries, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroyEvent(w->device, event, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    w->icd.reset_counters(); /* two queues at one query */
}
