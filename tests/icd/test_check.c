/* SPDX-License-Identifier: MIT */
/* What the driver finds wrong: one test per kind of violation. Each also shows that the driver
 * itself survives it, which is what the address sanitizer's run is for. */
#include "support/world.h"

#include <signal.h>
#include <sys/wait.h>

#define QUIET "SHAPE=q2 QUIET=1"

DEVICE_TEST(test_binary_wait_before_signal, QUIET, WORLD_ALL)
{
    VkSemaphore binary = vulkan_binary(w->device);
    assert_submitted1(w->queues[0][0], .wait = binary);
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 0), 1);
    vulkan_expect(&w->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    assert_submitted1(w->queues[0][1], .signal = binary);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, binary, NULL);
}

static void *wait_idle(void *queue)
{
    vkQueueWaitIdle(queue);
    return NULL;
}

DEVICE_TEST(test_queue_race, QUIET, WORLD_ALL)
{
    w->icd.pause();
    VkFence fence = vulkan_fence(w->device, false);
    assert_success(vkQueueSubmit(w->queues[0][0], 0, NULL, fence));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_idle, w->queues[0][0]), 0);
    while (!vulkan_counters(&w->icd).queue_wait_idles)
        sched_yield();
    /* The other thread is inside and can't leave. */
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    assert_submitted(w->queues[0][1], .signal = a, .signal_value = 1);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_submitted(w->queues[0][0], .signal = b, .signal_value = 1);
    vulkan_expect(&w->icd, BELFRY_ICD_QUEUE_RACE, 1);
    w->icd.resume();
    pthread_join(thread, NULL);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, fence, a, b);
}

DEVICE_TEST(test_empty_info, QUIET, WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    VkFence fence = vulkan_fence(w->device, false);
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 1);
    assert_submitted(w->queues[0][0], .fence = fence);
    assert_int_equal(vulkan_counters(&w->icd).infos_without_command_buffer, 2);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_success(vulkan_submit(w->queues[0][0], (struct vulkan_batch){0}));
    assert_success(vulkan_submit1(w->queues[0][0], (struct vulkan_batch){0}));
    vulkan_expect(&w->icd, BELFRY_ICD_EMPTY_INFO, 2);
    assert_success(vkQueueSubmit2(w->queues[0][0], 0, NULL, VK_NULL_HANDLE));
    assert_int_equal(vulkan_counters(&w->icd).empty_calls, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, fence, a);
}

DEVICE_TEST(test_binary_resignal, QUIET, WORLD_ALL)
{
    VkSemaphore binary = vulkan_binary(w->device);
    w->icd.pause();
    assert_submitted1(w->queues[0][0], .signal = binary);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_submitted1(w->queues[0][0], .signal = binary);
    vulkan_expect(&w->icd, BELFRY_ICD_BINARY_RESIGNAL, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    /* And once more as the second one runs. */
    vulkan_expect(&w->icd, BELFRY_ICD_BINARY_RESIGNAL, 1);
    vkDestroySemaphore(w->device, binary, NULL);
}

DEVICE_TEST(test_fence_busy, QUIET, WORLD_ALL)
{
    VkFence fence = vulkan_fence(w->device, false);
    w->icd.pause();
    assert_success(vkQueueSubmit(w->queues[0][0], 0, NULL, fence));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_success(vkResetFences(w->device, 1, &fence));
    vulkan_expect(&w->icd, BELFRY_ICD_FENCE_BUSY, 1);
    assert_success(vkQueueSubmit(w->queues[0][1], 0, NULL, fence));
    vulkan_expect(&w->icd, BELFRY_ICD_FENCE_BUSY, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    assert_success(vkQueueSubmit(w->queues[0][0], 0, NULL, fence));
    vulkan_expect(&w->icd, BELFRY_ICD_FENCE_BUSY, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_success(vkResetFences(w->device, 1, &fence));
    vkDestroyFence(w->device, fence, NULL);
}

DEVICE_TEST(test_timeline_not_increasing, QUIET, WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 5);
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 5);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_expect(&w->icd, BELFRY_ICD_TIMELINE_NOT_INCREASING, 1);
    vulkan_signal(w->device, a, 4);
    vulkan_expect(&w->icd, BELFRY_ICD_TIMELINE_NOT_INCREASING, 1);
    assert_int_equal(vulkan_value(w->device, a), 5);
    vkDestroySemaphore(w->device, a, NULL);
}

/* Reachable, so that the leak sanitizer leaves the finding to the driver. */
static VkFence leaked[2];

DEVICE_TEST(test_leak, QUIET, WORLD_ALL)
{
    leaked[0] = vulkan_fence(w->device, false);
    leaked[1] = vulkan_fence(w->device, false);
    assert_ptr_not_equal(leaked[0], leaked[1]);
    device_close(w);
    vulkan_expect(&w->icd, BELFRY_ICD_LEAK, 2);
}

DEVICE_TEST(test_destroy_pending, QUIET, WORLD_ALL)
{
    VkSemaphore signalled = vulkan_timeline(w->device, 0), waited = vulkan_binary(w->device);
    VkFence fence = vulkan_fence(w->device, false);
    VkCommandBuffer commands = device_store(w, 0, 0, 42);
    w->icd.pause();
    assert_submitted1(w->queues[0][0], .signal = waited);
    assert_submitted(w->queues[0][0], .wait = waited, .commands = commands, .signal = signalled,
                     .signal_value = 1, .fence = fence);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkDestroySemaphore(w->device, signalled, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroySemaphore(w->device, waited, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    vkDestroyFence(w->device, fence, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    assert_success(vkResetCommandBuffer(commands, 0));
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->words[0], 42);

    commands = device_store(w, 0, 0, 43);
    w->icd.pause();
    assert_submitted(w->queues[0][0], .commands = commands);
    vkFreeCommandBuffers(w->device, w->pools[0], 1, &commands);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->words[0], 43);
}

/* A device destroyed with work in it doesn't hang, not even over a wait that nothing will end. */
DEVICE_TEST(test_destroy_busy_device, QUIET, WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    assert_submitted(w->queues[0][0], .wait = a, .wait_value = 1);
    w->icd.quiesce();
    w->icd.reset_counters();
    vkDestroySemaphore(w->device, a, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
    device_close(w);
    vulkan_expect(&w->icd, BELFRY_ICD_DESTROY_PENDING, 1);
}

DEVICE_TEST(test_command_buffer_state, QUIET, WORLD_ALL)
{
    VkCommandBuffer once = device_begin(w, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_submitted(w->queues[0][0], .commands = once);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    once = device_begin(w, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_success(vkEndCommandBuffer(once));
    assert_submitted(w->queues[0][0], .commands = once);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_submitted(w->queues[0][0], .commands = once);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);

    VkCommandBuffer single = device_store(w, 0, 0, 1);
    VkCommandBuffer many = device_begin(w, 0, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_success(vkEndCommandBuffer(many));
    w->icd.pause();
    assert_submitted(w->queues[0][0], .commands = single);
    assert_submitted(w->queues[0][0], .commands = many);
    assert_submitted(w->queues[0][1], .commands = many);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_submitted(w->queues[0][1], .commands = single);
    vulkan_expect(&w->icd, BELFRY_ICD_COMMAND_BUFFER_STATE, 1);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
}

DEVICE_TEST(test_unknown_family, QUIET, WORLD_ALL)
{
    VkCommandBuffer commands = device_begin(w, 0, 0);
    VkBufferMemoryBarrier barrier = {
        VK_TYPE(BUFFER_MEMORY_BARRIER), .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .buffer = w->buffer, .size = VK_WHOLE_SIZE};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, NULL, 1, &barrier, 0, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    barrier.srcQueueFamilyIndex = 0;
    barrier.dstQueueFamilyIndex = 1;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, NULL, 1, &barrier, 0, NULL);
    vulkan_expect(&w->icd, BELFRY_ICD_UNKNOWN_FAMILY, 1);
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO), .queueFamilyIndex = 3};
    VkCommandPool pool;
    assert_success(vkCreateCommandPool(w->device, &info, NULL, &pool));
    vulkan_expect(&w->icd, BELFRY_ICD_UNKNOWN_FAMILY, 1);
    vkDestroyCommandPool(w->device, pool, NULL);
}

DEVICE_TEST(test_label_unbalanced, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    const VkDebugUtilsLabelEXT label = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "a"};
    vkQueueBeginDebugUtilsLabelEXT(w->queues[0][0], &label);
    vkQueueEndDebugUtilsLabelEXT(w->queues[0][0]);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkQueueBeginDebugUtilsLabelEXT(w->queues[0][0], &label);
    vkQueueEndDebugUtilsLabelEXT(w->queues[0][1]); /* the other's is none of its business */
    vulkan_expect(&w->icd, BELFRY_ICD_LABEL_UNBALANCED, 1);
    vkQueueEndDebugUtilsLabelEXT(w->queues[0][0]);
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
}

/* First of all, while the process has no thread yet. */
TEST(test_abort)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        fclose(stderr);
        struct device f;
        world_open(&f, "SHAPE=q1 ABORT_ON_VIOLATION=1", WORLD_ALL);
        vulkan_submit(f.queues[0][0], (struct vulkan_batch){0});
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* The bug: what a batch waited for is in use until the next one begins, or an idle wait. */
DEVICE_TEST(test_late_wait, "SHAPE=q2 QUIET=1 BUG=late_wait_points", WORLD_ALL)
{
    enum { FENCE, FENCE_ALONE, NEXT, IDLE, DEVICE_IDLE };
    for (int way = FENCE; way <= DEVICE_IDLE; way++) {
        VkSemaphore timeline = vulkan_timeline(w->device, 1);
        struct vulkan_batch batch = {
            .wait = timeline, .wait_value = 1, .fence = vulkan_fence(w->device, false)};
        assert_success(vulkan_submit(w->queues[0][0], batch));
        assert_success(vkWaitForFences(w->device, 1, &batch.fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(w->device, 1, &batch.fence));
        if (way == FENCE_ALONE || way == NEXT) {
            if (way == NEXT)
                assert_submitted(w->queues[0][0], .fence = batch.fence);
            else
                assert_success(vkQueueSubmit2(w->queues[0][0], 0, NULL, batch.fence));
            assert_success(vkWaitForFences(w->device, 1, &batch.fence, VK_TRUE, UINT64_MAX));
        }
        if (way == IDLE)
            assert_success(vkQueueWaitIdle(w->queues[0][0]));
        if (way == DEVICE_IDLE)
            assert_success(vkDeviceWaitIdle(w->device));
        vkDestroySemaphore(w->device, timeline, NULL);
        vulkan_expect(&w->icd, BELFRY_ICD_LATE_WAIT, way <= FENCE_ALONE);
        vkDestroyFence(w->device, batch.fence, NULL);
    }
}

DEVICE_TEST(test_binary_value, "SHAPE=q1 QUIET=1", WORLD_ALL)
{
    VkSemaphore binary = vulkan_binary(w->device);
    const uint64_t value = 0;
    uint64_t has;
    const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &binary, .pValues = &value};
    assert_success(vkGetSemaphoreCounterValue(w->device, binary, &has));
    vulkan_expect(&w->icd, BELFRY_ICD_BINARY_VALUE, 1);
    assert_success(vkWaitSemaphores(w->device, &wait, 0));
    vulkan_expect(&w->icd, BELFRY_ICD_BINARY_VALUE, 1);
    vkDestroySemaphore(w->device, binary, NULL);
}

DEVICE_TEST(test_timeline_far, "SHAPE=q1 QUIET=1 DIFFERENCE=100", WORLD_ALL)
{
    VkSemaphore timeline = vulkan_timeline(w->device, 7);
    VkPhysicalDeviceTimelineSemaphoreProperties limit = {
        VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2),
                                              .pNext = &limit};
    vkGetPhysicalDeviceProperties2(w->physical, &properties);
    assert_int_equal(limit.maxTimelineSemaphoreValueDifference, 100);
    vulkan_signal(w->device, timeline, 107);
    vulkan_expect(&w->icd, BELFRY_ICD_TIMELINE_FAR, 0);
    vulkan_signal(w->device, timeline, 208);
    vulkan_expect(&w->icd, BELFRY_ICD_TIMELINE_FAR, 1);
    vkDestroySemaphore(w->device, timeline, NULL);
}
