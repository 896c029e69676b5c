/* SPDX-License-Identifier: MIT */
/* bfQueueDispatchSliced: what it computes, what the driver gets, and what is refused. */
#include "support/fixture.h"

#include "support/lines.h"

#include "shaders/sliced.comp.h"

#define WORDS  4096
#define SLICES 16

static _Thread_local uint32_t until_none; /* 0: there is memory */

/* Sanitizers stand in for malloc themselves. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include "support/no_memory.h"

static bool has_none(void)
{
    return until_none && --until_none == 0;
}
#define RUNS_SHORT 1
#else
#define RUNS_SHORT 0
#endif

struct sliced {
    struct fixture f;
    BfCommandQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands[SLICES];
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    BfSlicedDispatchInfo info;
    uint32_t bound; /* slices, so far */
};

/* Binds the state of the whole, and tells the shader which slice it is. */
static void bind_slice(VkCommandBuffer commands, const BfDispatchSlice *slice, void *user)
{
    struct sliced *s = user;
    uint32_t push[3][3];
    memcpy(push[0], s->info.baseGroup, sizeof(push[0]));
    memcpy(push[1], s->info.groupCount, sizeof(push[1]));
    memcpy(push[2], slice->groupCount, sizeof(push[2]));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->layout, 0, 1, &s->set, 0,
                            NULL);
    vkCmdPushConstants(commands, s->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
    const uint32_t groups = s->info.groupCount[s->info.axis], each = s->info.groupsPerSlice;
    s->bound = slice->index == s->bound && commands == s->commands[s->bound] &&
                       slice->sliceCount == (groups + each - 1) / each
                   ? s->bound + 1
                   : 1000;
}

static void sliced_open_on(struct sliced *s, const struct fixture_options *options)
{
    static const VkDescriptorType storage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    *s = (struct sliced){0};
    fixture_open(&s->f, options);
    VkDevice device = s->f.device;
    s->queue = make_queue(&s->f, BF_COMMAND_LIST_TYPE_COMPUTE);
    s->pool = vulkan_pool(device, bfGetCommandQueueFamilyIndex(s->queue));
    for (uint32_t i = 0; i < SLICES; i++)
        s->commands[i] = vulkan_commands(device, s->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    s->buffer =
        vulkan_buffer_of(s->f.physical, device, WORDS * sizeof(uint32_t),
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &s->memory, (void **)&s->words);
    s->set_layout = vulkan_set_layout(device, 1, &storage, VK_SHADER_STAGE_COMPUTE_BIT);
    s->set = vulkan_set(device, s->set_layout, 1, &storage, &s->sets);
    vulkan_set_buffer(device, s->set, s->buffer);
    s->layout = vulkan_layout(device, s->set_layout, VK_SHADER_STAGE_COMPUTE_BIT, 36);
    VkShaderModule module = vulkan_module(device, sliced_comp, sizeof(sliced_comp));
    const VkComputePipelineCreateInfo info = {
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO), .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT,
        .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module, .pName = "main"},
        .layout = s->layout};
    assert_success(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &s->pipeline));
    vulkan_destroy(device, module);
    s->info = (BfSlicedDispatchInfo){BF_TYPE(SLICED_DISPATCH_INFO),
                                     .groupCount = {5, 1, 1},
                                     .groupsPerSlice = 2,
                                     .commandBufferCount = SLICES,
                                     .pCommandBuffers = s->commands,
                                     .pfnBind = bind_slice,
                                     .pUserData = s};
}

static void sliced_open(struct sliced *s)
{
    sliced_open_on(s, NULL);
}

static void sliced_close(struct sliced *s)
{
    vkDeviceWaitIdle(s->f.device);
    vkDestroyDescriptorPool(s->f.device, s->sets, NULL);
    vkDestroyDescriptorSetLayout(s->f.device, s->set_layout, NULL);
    vulkan_destroy(s->f.device, s->pipeline, s->layout, s->pool);
    vulkan_destroy(s->f.device, s->buffer, s->memory);
    fixture_close(&s->f);
}

static VkResult dispatch(struct sliced *s)
{
    s->bound = 0;
    return bfQueueDispatchSliced(s->queue, &s->info);
}

/* What shaders wrote is for the host to see. */
static VkCommandBuffer to_host(struct sliced *s)
{
    VkCommandBuffer commands = commands_begin(&s->f, s->queue);
    const VkMemoryBarrier barrier = {VK_TYPE(MEMORY_BARRIER),
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

#define SLICED_TEST(name_) TEST_AROUND(name_, struct sliced, s, sliced_open, sliced_close)

/* On each axis, with and without a base, with a last slice that is smaller, and one slice alone. */
SLICED_TEST(slices_compute_what_one_dispatch_does)
{
    static const struct {
        uint32_t base[3], count[3], per_slice[3];
    } cases[] = {{{0, 0, 0}, {7, 5, 3}, {2, 5, 1}}, {{3, 1, 2}, {8, 4, 6}, {3, 1, 4}}};
    BfFence done = make_fence(&s->f, 0);
    uint64_t value = 0;
    for (uint32_t n = 0; n < 6; n++) {
        uint32_t axis = n % 3, per_slice = cases[n / 3].per_slice[axis];
        const uint32_t *base = cases[n / 3].base, *count = cases[n / 3].count;
        memset(s->words, 0, WORDS * sizeof(uint32_t));
        memcpy(s->info.baseGroup, base, sizeof(s->info.baseGroup));
        memcpy(s->info.groupCount, count, sizeof(s->info.groupCount));
        s->info.axis = axis;
        s->info.groupsPerSlice = per_slice;
        assert_success(dispatch(s));
        assert_int_equal(s->bound, (count[axis] + per_slice - 1) / per_slice);
        execute(s->queue, to_host(s));
        queue_signal(s->queue, done, ++value);
        await_fence(done, value);
        for (uint32_t i = 0; i < WORDS && !fixture_is_icd(); i++) {
            uint32_t x = i % count[0], y = i / count[0] % count[1], z = i / count[0] / count[1];
            uint32_t expected =
                z < count[2] ? 1 + x + base[0] + 100 * (y + base[1]) + 10000 * (z + base[2]) : 0;
            if (s->words[i] != expected)
                fail_msg("case %u, word %u: %u for %u", n, i, s->words[i], expected);
        }
    }
}

/* Straight on, and behind a wait that releases them together; as one execution of the progress
 * fence. */
SLICED_TEST(each_slice_is_a_submission)
{
    BfFence gate = make_fence(&s->f, 0), done = make_fence(&s->f, 0), progress = NULL;
    if (!fixture_is_icd())
        return;
    for (uint32_t held = 0; held < 2; held++) {
        uint64_t before = vulkan_counters(&s->f.icd).submit_infos;
        if (held)
            queue_wait(s->queue, gate, 1);
        assert_success(dispatch(s));
        execute(s->queue, write_word(&s->f, s->queue, 0, 1));
        queue_signal(s->queue, done, held + 1);
        if (held)
            assert_int_equal(vulkan_counters(&s->f.icd).submit_infos, before);
        cpu_signal(gate, held);
        await_fence(done, held + 1);
        assert_int_equal(vulkan_counters(&s->f.icd).submit_infos, before + 4);
    }
    if (bfGetCommandQueueProgressFence(s->queue, &progress) == VK_SUCCESS) {
        assert_success(dispatch(s));
        await_idle(s->queue);
        assert_value(progress, 1);
    }
}

SLICED_TEST(what_cannot_be_sliced_is_refused)
{
    BfSlicedDispatchInfo good = s->info;
    VkCommandBuffer none[3] = {s->commands[0], NULL, s->commands[2]};
    VkCommandBuffer twice[4] = {s->commands[0], s->commands[1], s->commands[0], s->commands[0]};
    BfCommandQueue copies = make_queue(&s->f, BF_COMMAND_LIST_TYPE_COPY);
#define REFUSED(change_)                                                                           \
    s->info = good;                                                                                \
    s->info.change_;                                                                               \
    assert_bad_input(dispatch(s))
    lines_begin();
    REFUSED(sType = 0);
    REFUSED(pNext = &good);
    REFUSED(axis = 3);
    REFUSED(groupsPerSlice = 0);
    REFUSED(groupCount[2] = 0);
    REFUSED(baseGroup[1] = UINT32_MAX);
    REFUSED(pfnBind = NULL);
    REFUSED(commandBufferCount = 2);
    REFUSED(pCommandBuffers = NULL);
    REFUSED(pCommandBuffers = none);
    REFUSED(pCommandBuffers = twice);
    s->info = good;
    assert_bad_input(bfQueueDispatchSliced(copies, &s->info));
    assert_bad_input(bfQueueDispatchSliced(NULL, &s->info));
    assert_bad_input(bfQueueDispatchSliced(s->queue, NULL));
    assert_int_equal(lines_end(NULL, 0), 14);
    assert_int_equal(s->bound, 0);
    twice[2] = s->commands[2]; /* the one that is left over isn't used */
    s->info.pCommandBuffers = twice;
    s->info.commandBufferCount = 4;
    assert_success(dispatch(s));
}

/* All or nothing, wherever memory ends: in Belfry, or in the driver. */
SLICED_TEST(without_memory_nothing_is_submitted)
{
    if (!fixture_is_icd() || fixture_is_validated())
        return;
    BfFence gate = make_fence(&s->f, 0);
    queue_wait(s->queue, gate, 1);
    uint64_t before = vulkan_counters(&s->f.icd).submit_infos;
    static const char *const calls[] = {"vkBeginCommandBuffer", "vkEndCommandBuffer"};
    for (uint32_t i = 0; i < 6; i++) {
        s->f.icd.set_fault(calls[i % 2], 1 + i / 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(dispatch(s), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    s->f.icd.set_fault(NULL, 0, 0);
    uint32_t failures = 0;
    for (;; failures++) {
        until_none = failures + 1;
        VkResult result = dispatch(s);
        until_none = 0;
        if (result == VK_SUCCESS)
            break;
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_true(failures >= 3 || !RUNS_SHORT);
    cpu_signal(gate, 1);
    await_idle(s->queue);
    assert_int_equal(vulkan_counters(&s->f.icd).submit_infos, before + 3);
}

SLICED_TEST(a_lost_device_takes_no_slices)
{
    if (!fixture_is_icd())
        return;
    BfFence gate = make_fence(&s->f, 0);
    queue_wait(s->queue, gate, 1);
    assert_success(dispatch(s));
    s->f.lost = true;
    lines_begin();
    s->f.icd.lose();
    cpu_signal(gate, 1);
    assert_int_equal(bfQueueWaitIdle(s->queue), VK_ERROR_DEVICE_LOST);
    assert_int_equal(dispatch(s), VK_ERROR_DEVICE_LOST);
    assert_int_equal(s->bound, 0);
    assert_int_equal(lines_end(NULL, 0), 1);
}

/* On one VkQueue, where a window lets one slice go at a time: the high queue's work is next. */
TEST_AROUND(work_of_high_priority_comes_between_two_slices, struct sliced, s, sliced_open_on,
            sliced_close, ENVIRONMENT("SHAPE=q1"))
{
    if (!fixture_is_icd())
        return;
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .type = BF_COMMAND_LIST_TYPE_COMPUTE,
                                           .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH};
    BfFence urgent = make_fence(&s->f, 0), done = make_fence(&s->f, 0);
    BfCommandQueue high;
    assert_success(bfCreateCommandQueue(s->f.bf, &info, &high));
    s->info.groupCount[0] = 2 * SLICES;
    uint64_t before = vulkan_counters(&s->f.icd).submit_infos;
    s->f.icd.pause();
    assert_success(dispatch(s));
    queue_signal(s->queue, done, 1);
    assert_int_equal(s->f.icd.queue_depth(0, 0), 1);
    execute(high, write_word(&s->f, high, 0, 5));
    queue_signal(high, urgent, 1);
    assert_int_equal(s->f.icd.queue_depth(0, 0), 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(s->f.icd.step(0, 0));
        s->f.icd.quiesce();
    }
    assert_value(urgent, 1);
    assert_value(done, 0);
    s->f.icd.resume();
    await_fence(done, 1);
    assert_int_equal(vulkan_counters(&s->f.icd).submit_infos, before + SLICES + 1);
    bfDestroyCommandQueue(high);
}
