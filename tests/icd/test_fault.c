/* SPDX-License-Identifier: MIT */
/* Faults: a device lost at the n-th submit, memory out at the n-th call. Whatever fails must fail
 * cleanly and hang nobody. */
#include "support/world.h"

TEST(test_lose_at_submit)
{
    for (uint32_t n = 1; n <= 3; n++) {
        char environment[64];
        snprintf(environment, sizeof(environment), "SHAPE=q2 LOSE_AT_SUBMIT=%u", n);
        struct device f;
        world_open(&f, environment, WORLD_ALL);
        VkSemaphore a = vulkan_timeline(f.device, 0);
        VkFence fence = vulkan_fence(f.device, false);
        for (uint32_t i = 1; i <= 4; i++) {
            VkResult result =
                i % 2 ? vulkan_submit(f.queues[0][0],
                                      (struct vulkan_batch){.signal = a, .signal_value = i})
                      : vulkan_submit1(f.queues[0][1], (struct vulkan_batch){.fence = fence});
            assert_int_equal(result, i < n ? VK_SUCCESS : VK_ERROR_DEVICE_LOST);
        }
        uint64_t value = 100;
        const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                          .pSemaphores = &a, .pValues = &value};
        assert_int_equal(vkWaitSemaphores(f.device, &wait, UINT64_MAX), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkGetSemaphoreCounterValue(f.device, a, &value), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkWaitForFences(f.device, 1, &fence, VK_TRUE, UINT64_MAX),
                         VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkGetFenceStatus(f.device, fence), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkQueueWaitIdle(f.queues[0][0]), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkDeviceWaitIdle(f.device), VK_ERROR_DEVICE_LOST);
        assert_int_equal(vkQueueBindSparse(f.queues[0][0], 0, NULL, VK_NULL_HANDLE),
                         VK_ERROR_DEVICE_LOST);
        f.icd.quiesce(); /* what had been accepted has been let go */
        vulkan_destroy(f.device, a, fence);
        world_close(&f);
    }
}

struct waiter {
    struct device *f;
    VkSemaphore semaphore;
    VkQueue queue;
    VkResult wait, idle;
};

static void *waiter_run(void *argument)
{
    struct waiter *w = argument;
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &w->semaphore, .pValues = &value};
    w->wait = vkWaitSemaphores(w->f->device, &wait, UINT64_MAX);
    w->idle = vkQueueWaitIdle(w->queue);
    return NULL;
}

/* Who waits when the device is lost, thread or queue, is told. */
DEVICE_TEST(test_lose_wakes_waiters, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    VkEvent event;
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    assert_success(vkCreateEvent(w->device, &info, NULL, &event));
    VkCommandBuffer waits = device_begin(w, 0, 0);
    vkCmdWaitEvents(waits, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(waits));
    assert_submitted(w->queues[0][0], .wait = a, .wait_value = 1, .signal = b, .signal_value = 1);
    assert_submitted(w->queues[0][1], .commands = waits);
    w->icd.quiesce();
    w->icd.reset_counters();
    struct waiter waiter = {.f = w, .semaphore = b, .queue = w->queues[0][0]};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, waiter_run, &waiter), 0);
    while (!w->icd.sleepers())
        sched_yield();
    w->icd.lose();
    pthread_join(thread, NULL);
    assert_int_equal(waiter.wait, VK_ERROR_DEVICE_LOST);
    assert_int_equal(waiter.idle, VK_ERROR_DEVICE_LOST);
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 0), 0);
    assert_int_equal(w->icd.queue_depth(0, 1), 0);
    vulkan_destroy(w->device, a, b, event);
}

DEVICE_TEST(test_lose_paused, "SHAPE=q1", WORLD_ALL)
{
    VkFence fence = vulkan_fence(w->device, false);
    w->icd.pause();
    assert_success(vkQueueSubmit(w->queues[0][0], 0, NULL, fence));
    w->icd.lose();
    assert_int_equal(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 0), 0);
    w->icd.resume();
    vkDestroyFence(w->device, fence, NULL);
}

DEVICE_TEST(test_oom_at_submit, "SHAPE=q1 OOM_AT_SUBMIT=2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        VkResult result =
            vulkan_submit(w->queues[0][0], (struct vulkan_batch){.signal = a, .signal_value = i});
        assert_int_equal(result, i == 2 ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS);
    }
    vulkan_wait(w->device, a, 3);
    vkDestroySemaphore(w->device, a, NULL);
}

/* A little of everything; the first failure ends it, and what had been made is unmade. */
static VkResult tour(struct device *f)
{
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkQueryPool queries = VK_NULL_HANDLE;
    VkResult result = world_device(f, WORLD_ALL, NULL);
    if (result != VK_SUCCESS)
        return result;

    const VkSemaphoreCreateInfo semaphore_info = {VK_TYPE(SEMAPHORE_CREATE_INFO)};
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    const VkCommandPoolCreateInfo pool_info = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    const VkBufferCreateInfo buffer_info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 4096,
                                            .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkMemoryAllocateInfo memory_info = {VK_TYPE(MEMORY_ALLOCATE_INFO),
                                              .allocationSize = 4096};
    const VkQueryPoolCreateInfo query_info = {
        VK_TYPE(QUERY_POOL_CREATE_INFO), .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo allocate = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                            .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    uint64_t stamp;

#define DO(call_)                                                                                  \
    do {                                                                                           \
        result = (call_);                                                                          \
        if (result != VK_SUCCESS)                                                                  \
            goto end;                                                                              \
    } while (0)
#define MAKE(call_, handle_)                                                                       \
    do {                                                                                           \
        result = (call_);                                                                          \
        if (result != VK_SUCCESS) {                                                                \
            handle_ = VK_NULL_HANDLE; /* it may be anything */                                     \
            goto end;                                                                              \
        }                                                                                          \
    } while (0)
    MAKE(vkCreateSemaphore(f->device, &semaphore_info, NULL, &semaphore), semaphore);
    MAKE(vkCreateFence(f->device, &fence_info, NULL, &fence), fence);
    MAKE(vkCreateCommandPool(f->device, &pool_info, NULL, &pool), pool);
    MAKE(vkCreateBuffer(f->device, &buffer_info, NULL, &buffer), buffer);
    MAKE(vkAllocateMemory(f->device, &memory_info, NULL, &memory), memory);
    DO(vkBindBufferMemory(f->device, buffer, memory, 0));
    MAKE(vkCreateQueryPool(f->device, &query_info, NULL, &queries), queries);
    allocate.commandPool = pool;
    DO(vkAllocateCommandBuffers(f->device, &allocate, &commands));
    DO(vkBeginCommandBuffer(commands, &begin));
    vkCmdResetQueryPool(commands, queries, 0, 2);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 0);
    vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 1);
    DO(vkEndCommandBuffer(commands));
    DO(vulkan_submit(f->queues[0][0],
                     (struct vulkan_batch){.commands = commands, .signal = semaphore}));
    DO(vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = semaphore, .fence = fence}));
    DO(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    DO(vkGetQueryPoolResults(f->device, queries, 0, 1, sizeof(stamp), &stamp, sizeof(stamp),
                             VK_QUERY_RESULT_64_BIT));
    DO(vkQueueWaitIdle(f->queues[0][0]));
    DO(vkDeviceWaitIdle(f->device));
end:
    /* Once only: the second try succeeds. */
    while (vkDeviceWaitIdle(f->device) == VK_ERROR_OUT_OF_HOST_MEMORY)
        ;
    vulkan_destroy(f->device, queries, pool, buffer, memory, semaphore, fence);
    device_close(f);
    return result;
}

/* One call after the other fails, until a tour needs fewer calls than that. The fixture expects its
 * own calls to succeed: the first to fail is the one behind them. */
TEST(test_oom_everywhere)
{
    struct device f;
    assert_success(world_instance(&f, "SHAPE=q1"));
    uint32_t n = (uint32_t)vulkan_counters(&f.icd).oom_points;
    world_close(&f);

    uint32_t failures = 0;
    for (VkResult result = VK_INCOMPLETE; result != VK_SUCCESS;) {
        char environment[64];
        snprintf(environment, sizeof(environment), "SHAPE=q1 OOM_AT=%u", ++n);
        assert_success(world_instance(&f, environment));
        result = tour(&f);
        world_close(&f);
        if (result != VK_SUCCESS) {
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            failures++;
        }
    }
    /* Twenty of the tour's calls can fail. */
    assert_in_range(failures, 18, 30);
}

static VkResult compute_create(struct device *f, const char *entry)
{
    const VkComputePipelineCreateInfo info = {VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
                                              .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO),
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .pName = entry}};
    VkPipeline pipeline;
    VkResult result =
        vkCreateComputePipelines(f->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline);
    assert_true((result == VK_SUCCESS) == (pipeline != VK_NULL_HANDLE));
    vkDestroyPipeline(f->device, pipeline, NULL);
    return result;
}

static VkResult graphics_create(struct device *f, const char *vertex, const char *fragment)
{
    const VkPipelineShaderStageCreateInfo stages[] = {{.pName = vertex}, {.pName = fragment}};
    const VkGraphicsPipelineCreateInfo info = {VK_TYPE(GRAPHICS_PIPELINE_CREATE_INFO),
                                               .stageCount = 2, .pStages = stages};
    VkPipeline pipeline;
    VkResult result =
        vkCreateGraphicsPipelines(f->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline);
    vkDestroyPipeline(f->device, pipeline, NULL);
    return result;
}

/* Crashes and hangs: tests/specialize/isolate/faults.c. */
TEST(test_pipelines)
{
    struct device f;
    world_open(&f, "PIPELINE=-2:a,-13:b,1000297000:c", WORLD_ALL);
    assert_int_equal(compute_create(&f, "main"), VK_SUCCESS);
    assert_int_equal(compute_create(&f, "a"), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(compute_create(&f, "b"), VK_ERROR_UNKNOWN);
    assert_int_equal(compute_create(&f, "ab"), VK_SUCCESS);
    assert_int_equal(graphics_create(&f, "main", "main"), VK_SUCCESS);
    assert_int_equal(graphics_create(&f, "main", "c"), VK_PIPELINE_COMPILE_REQUIRED);
    world_close(&f);
    world_open(&f, "PIPELINE=-13", WORLD_ALL);
    assert_int_equal(compute_create(&f, "main"), VK_ERROR_UNKNOWN);
    world_close(&f);
    const char *const wrong[] = {"PIPELINE=", "PIPELINE=0", "PIPELINE=fail", "PIPELINE=-13:a,what"};
    for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        world_open(&f, wrong[i], WORLD_ALL);
        assert_int_equal(compute_create(&f, "a"), VK_SUCCESS);
        world_close(&f);
    }
}

/* Asked for by the program, for a command or for all. */
DEVICE_TEST(test_asked, NULL, WORLD_ALL)
{
    const uint64_t live = w->icd.live(NULL), fences = w->icd.live("fence");
    const VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkFence fence;
    w->icd.set_fault("vkCreateFence", 2, VK_ERROR_FRAGMENTATION);
    assert_int_equal(compute_create(w, "main"), VK_SUCCESS);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(vkCreateFence(w->device, &info, NULL, &fence),
                         i == 2 ? VK_ERROR_FRAGMENTATION : VK_SUCCESS);
        assert_int_equal(w->icd.fault_calls(), i);
        assert_int_equal(w->icd.live("fence"), fences + (i != 2));
        assert_int_equal(w->icd.live(NULL), live + (i != 2));
        assert_non_null(fence); /* what nobody has made, where the call failed */
        if (i != 2)
            vkDestroyFence(w->device, fence, NULL);
    }
    w->icd.set_fault(NULL, 3, VK_PIPELINE_COMPILE_REQUIRED);
    assert_success(vkCreateFence(w->device, &info, NULL, &fence));
    assert_int_equal(vkGetFenceStatus(w->device, fence), VK_NOT_READY);
    assert_int_equal(compute_create(w, "main"), VK_PIPELINE_COMPILE_REQUIRED);
    w->icd.set_fault("vkQueueSubmit", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(vkQueueSubmit(w->queues[0][0], 0, NULL, fence), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    w->icd.set_fault("vkQueueSubmit", 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkQueueSubmit(w->queues[0][0], 0, NULL, fence), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkDeviceWaitIdle(w->device), VK_ERROR_DEVICE_LOST);
    w->icd.set_fault(NULL, 0, VK_SUCCESS);
    vkDestroyFence(w->device, fence, NULL);
}
