/* SPDX-License-Identifier: MIT */
/* A program with the setting 'specialize' on, whose command buffers use one pipeline with many
 * values, on a real driver: its results are those that it would have without, and validation above
 * or below has nothing to say. (What the hooks do command by command: recording.c.) */
#include "support/world.h"

#include "shaders/recorded.comp.h"

#define BELFRY     "VK_LAYER_BELFRY_multi_engine"
#define VALIDATION "VK_LAYER_KHRONOS_validation"
#define WORDS      64
#define ROUNDS     12

struct push {
    uint32_t mode, times, amount, index;
};

struct program {
    struct device w;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkCommandBuffer primary, secondary;
    uint32_t expected[WORDS];
};

static void begin(VkCommandBuffer buffer)
{
    const VkCommandBufferInheritanceInfo inheritance = {VK_TYPE(COMMAND_BUFFER_INHERITANCE_INFO)};
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO),
                                           .pInheritanceInfo = &inheritance};
    assert_success(vkBeginCommandBuffer(buffer, &info));
}

static void bind(struct program *p, VkCommandBuffer buffer)
{
    vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set, 0,
                            NULL);
}

static void barrier(VkCommandBuffer buffer, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    const VkMemoryBarrier2 memory = {VK_TYPE(MEMORY_BARRIER_2),
                                     .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                     .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                     .dstStageMask = stages, .dstAccessMask = access};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(buffer, &info);
}

/* One word after the other is written, each with what was pushed before and a new index. */
static void dispatch(struct program *p, VkCommandBuffer buffer, struct push *push, bool all)
{
    const uint32_t offset = all ? 0 : offsetof(struct push, index);
    vkCmdPushConstants(buffer, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, offset,
                       (uint32_t)sizeof(*push) - offset, (const char *)push + offset);
    if (push->index % 2)
        vkCmdDispatch(buffer, 1, 1, 1);
    else
        vkCmdDispatchBase(buffer, 0, 0, 0, 1, 1, 1);
    /* Validation sees a buffer that all write, not its words. */
    barrier(buffer, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    uint32_t x = push->index;
    for (uint32_t i = 0; i < push->times; i++)
        x = push->mode == 0 ? x * push->amount : x + push->amount;
    p->expected[push->index++] = x;
}

static void record(struct program *p, uint32_t round)
{
    struct push push = {.mode = round % 2, .times = 5, .amount = 3 + round % 3};
    memset(p->expected, 0, sizeof(p->expected));
    memset(p->words, 0, sizeof(p->expected));
    if (round % 4 == 3)
        assert_success(vkResetCommandPool(p->w.device, p->pool, 0));
    begin(p->secondary);
    bind(p, p->secondary);
    push.index = WORDS / 2;
    for (int i = 0; i < 8; i++)
        dispatch(p, p->secondary, &push, i == 0);
    assert_success(vkEndCommandBuffer(p->secondary));
    begin(p->primary);
    bind(p, p->primary);
    push.index = 0;
    push.times = 7;
    for (int i = 0; i < 8; i++)
        dispatch(p, p->primary, &push, i == 0);
    vkCmdExecuteCommands(p->primary, 1, &p->secondary);
    bind(p, p->primary);
    for (int i = 0; i < 8; i++) {
        push.mode = i / 4;
        dispatch(p, p->primary, &push, i % 4 == 0);
    }
    barrier(p->primary, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_success(vkEndCommandBuffer(p->primary));
}

static void run(const char *layers)
{
    static struct program program;
    struct program *p = &program;
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1);
    memset(p, 0, sizeof(*p));
    world_layers = layers;
    world_open(&p->w, NULL, (uint32_t[]){1, WORLD_END});
    VkDevice device = p->w.device;
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    p->buffer =
        vulkan_buffer_of(p->w.physical, device, WORDS * sizeof(uint32_t),
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &p->memory, (void **)&p->words);
    p->set_layout = vulkan_set_layout(device, 1, &type, VK_SHADER_STAGE_COMPUTE_BIT);
    p->set = vulkan_set(device, p->set_layout, 1, &type, &p->descriptors);
    vulkan_set_buffer(device, p->set, p->buffer);
    p->layout =
        vulkan_layout(device, p->set_layout, VK_SHADER_STAGE_COMPUTE_BIT, sizeof(struct push));
    assert_success(
        vulkan_compute(device, p->layout, recorded_comp, sizeof(recorded_comp), &p->pipeline));
    p->pool = vulkan_pool(device, 0);
    p->primary = vulkan_commands(device, p->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    p->secondary = vulkan_commands(device, p->pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkFence fence = vulkan_fence(p->w.device, false);
    VkSemaphore timeline = vulkan_timeline(p->w.device, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        record(p, round);
        const struct vulkan_batch batch = {.commands = p->primary,
                                           .signal = timeline,
                                           .signal_value = round + 1,
                                           .fence = round % 3 == 0 ? fence : VK_NULL_HANDLE};
        VkQueue queue = p->w.queues[0][0];
        assert_success(round % 2 ? vulkan_submit(queue, batch) : vulkan_submit1(queue, batch));
        if (round % 3 == 0) {
            assert_success(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
            assert_success(vkResetFences(device, 1, &fence));
        } else if (round % 3 == 1) {
            vulkan_wait(p->w.device, timeline, round + 1);
        } else {
            assert_success(vkQueueWaitIdle(queue));
        }
        if (!p->w.icd.library) /* the test driver runs no shaders */
            assert_memory_equal(p->words, p->expected, sizeof(p->expected));
        if (round == ROUNDS / 2) { /* a handle that may come back */
            vkFreeCommandBuffers(device, p->pool, 1, &p->primary);
            p->primary = vulkan_commands(device, p->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        }
    }
    vulkan_destroy(device, timeline, fence, p->pipeline, p->layout);
    vkDestroyDescriptorPool(device, p->descriptors, NULL);
    vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
    vulkan_destroy(device, p->buffer, p->memory, p->pool);
    world_close(&p->w);
}

TEST(test_alone)
{
    run(BELFRY);
}

static void validated(const char *layers)
{
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", 1);
    run(layers);
    unsetenv("VK_LAYER_ENABLES");
}

TEST(test_validation_above)
{
    validated(VALIDATION ":" BELFRY);
}

TEST(test_validation_below)
{
    validated(BELFRY ":" VALIDATION);
}
