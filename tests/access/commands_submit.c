/* SPDX-License-Identifier: MIT */
/* The ways in which one submission waits for another, and a check that ends or is off. */
#include "commands.h"

/* ----------------------------------------------------------------------------- Ways to wait */

static VkSemaphore way_binary;
static VkFence way_fence;

/* Between a write of the copy queue and a read of the graphics queue. */
enum way {
    BY_NOTHING,
    BY_TIMELINE,
    BY_BINARY,
    BY_OLDER_SUBMIT,
    BY_FENCE_WAIT,
    BY_FENCE_STATUS,
    BY_FENCE_RESET, /* before it is waited for: by nothing */
    BY_QUEUE_IDLE,
    BY_DEVICE_IDLE,
    BY_SEMAPHORE_WAIT,
    BY_SEMAPHORE_WAIT_ANY, /* which one isn't told: by nothing */
    BY_COUNTER,
    BY_HOST_SIGNAL, /* of one who knows nothing */
    BY_PRESENTING,
    BY_PRESENTING2,
    BY_EMPTY_SUBMIT, /* one that carries the fence alone */
    BY_SPARSE,
    BY_EXPORT,
    WAYS,
};

static void submit_older(uint32_t queue, VkSemaphore wait, VkCommandBuffer buffer,
                         VkSemaphore signal)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO),
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stages,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                               .pSignalSemaphores = &signal};
    assert_success(FAKE_CALL(vkQueueSubmit, used.queues[queue], 1, &info, VK_NULL_HANDLE));
}

static void present_and_acquire(bool newer, VkSemaphore acquired)
{
    const VkSwapchainCreateInfoKHR info = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR)};
    VkSwapchainKHR swapchain;
    uint32_t index = 0;
    assert_success(FAKE_CALL(vkCreateSwapchainKHR, fake.device, &info, NULL, &swapchain));
    const VkPresentInfoKHR present = {VK_TYPE(PRESENT_INFO_KHR),      .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &way_binary, .swapchainCount = 1,
                                      .pSwapchains = &swapchain,      .pImageIndices = &index};
    FAKE_CALL(vkQueuePresentKHR, used.queues[COPY], &present);
    const VkAcquireNextImageInfoKHR next = {VK_TYPE(ACQUIRE_NEXT_IMAGE_INFO_KHR),
                                            .swapchain = swapchain, .semaphore = acquired};
    if (newer)
        FAKE_CALL(vkAcquireNextImage2KHR, fake.device, &next, &index);
    else
        FAKE_CALL(vkAcquireNextImageKHR, fake.device, swapchain, UINT64_MAX, acquired,
                  VK_NULL_HANDLE, &index);
    FAKE_CALL(vkDestroySwapchainKHR, fake.device, swapchain, NULL);
}

/* The lines it brings. */
static uint32_t run_way(enum way way, char *line, size_t size)
{
    VkCommandBuffer a = begin_commands(COPY), b = begin_commands(GRAPHICS);
    writing(0, 64)(a);
    end_commands(a);
    reading(0, 64)(b);
    end_commands(b);
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    FAKE_CALL(vkCreateFence, fake.device, &fence_info, NULL, &way_fence);
    way_binary = make_semaphore(false);
    VkSemaphore second = make_semaphore(false), other = make_semaphore(true);
    const uint64_t one = 1, values[] = {1, 1};
    const VkSemaphore both[] = {used.timeline, other};
    VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                .pSemaphores = both, .pValues = values};
    bool fenced = way == BY_FENCE_WAIT || way == BY_FENCE_STATUS || way == BY_FENCE_RESET;
    bool binary = way == BY_BINARY || way == BY_PRESENTING || way == BY_PRESENTING2;
    counter_value = 0;
    lines_begin();
    if (way == BY_OLDER_SUBMIT) {
        submit_older(COPY, VK_NULL_HANDLE, a, way_binary);
        submit_older(GRAPHICS, way_binary, b, VK_NULL_HANDLE);
        return lines_end(line, size);
    }
    submit_one(COPY, VK_NULL_HANDLE, 0, a, binary ? way_binary : used.timeline, 1,
               fenced ? way_fence : VK_NULL_HANDLE);
    counter_value = 1;
    VkSemaphore then = VK_NULL_HANDLE;
    const VkSemaphoreSignalInfo signal = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = other,
                                          .value = 1};
    const VkBindSparseInfo sparse = {VK_TYPE(BIND_SPARSE_INFO), .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &second};
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = other,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd;
    switch (way) {
    case BY_TIMELINE:
        then = used.timeline;
        break;
    case BY_BINARY:
        then = way_binary;
        break;
    case BY_FENCE_RESET:
        FAKE_CALL(vkResetFences, fake.device, 1, &way_fence);
        FAKE_CALL(vkWaitForFences, fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_FENCE_WAIT:
        FAKE_CALL(vkWaitForFences, fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_FENCE_STATUS:
        FAKE_CALL(vkGetFenceStatus, fake.device, way_fence);
        break;
    case BY_EMPTY_SUBMIT:
        CALL2(vkQueueSubmit2)(used.queues[COPY], 0, NULL, way_fence);
        FAKE_CALL(vkWaitForFences, fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_QUEUE_IDLE:
        FAKE_CALL(vkQueueWaitIdle, used.queues[COPY]);
        break;
    case BY_DEVICE_IDLE:
        FAKE_CALL(vkDeviceWaitIdle, fake.device);
        break;
    case BY_SEMAPHORE_WAIT:
        CALL2(vkWaitSemaphores)(fake.device, &wait, UINT64_MAX);
        break;
    case BY_SEMAPHORE_WAIT_ANY:
        wait.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
        wait.semaphoreCount = 2;
        CALL2(vkWaitSemaphores)(fake.device, &wait, UINT64_MAX);
        break;
    case BY_COUNTER: {
        uint64_t value;
        CALL2(vkGetSemaphoreCounterValue)(fake.device, used.timeline, &value);
        assert_int_equal(value, one);
        break;
    }
    case BY_HOST_SIGNAL:
        CALL2(vkSignalSemaphore)(fake.device, &signal);
        then = other;
        break;
    case BY_PRESENTING:
    case BY_PRESENTING2:
        present_and_acquire(way == BY_PRESENTING2, second);
        then = second;
        break;
    case BY_SPARSE:
        FAKE_CALL(vkQueueBindSparse, used.queues[COPY], 1, &sparse, VK_NULL_HANDLE);
        then = second;
        break;
    case BY_EXPORT: /* others may have signalled it, whenever */
        FAKE_CALL(vkGetSemaphoreFdKHR, fake.device, &get, &fd);
        CALL2(vkSignalSemaphore)(fake.device, &signal);
        then = other;
        break;
    default:
        break;
    }
    submit_one(GRAPHICS, then, 1, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    return lines_end(line, size);
}

TEST(test_ways_to_wait)
{
    for (enum way way = 0; way < WAYS; way++) {
        bool orders = way != BY_NOTHING && way != BY_FENCE_RESET && way != BY_SEMAPHORE_WAIT_ANY &&
                      way != BY_HOST_SIGNAL;
        char line[1024];
        open_world();
        uint32_t count = run_way(way, line, sizeof(line));
        if (count != !orders)
            fail_msg("way %d: %u lines: %s", (int)way, count, line);
        FAKE_CALL(vkDestroyFence, fake.device, way_fence, NULL);
        FAKE_CALL(vkDestroySemaphore, fake.device, way_binary, NULL);
        close_world();
    }
}

/* A call that fails was told, and hasn't come about: what follows isn't known any more. */
static VkResult VKAPI_CALL failing_submit(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                          VkFence fence)
{
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

TEST(test_a_failed_submission_ends_the_check)
{
    char line[1024];
    open_world();
    fake_close_device();
    OVERRIDE2(vkQueueSubmit2, failing_submit);
    lines_begin();
    fake_open_device((const uint32_t[]){1, 0});
    VkQueue handle;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &handle);
    const VkSubmitInfo2 batch = {VK_TYPE(SUBMIT_INFO_2)};
    assert_int_equal(CALL2(vkQueueSubmit2)(handle, 1, &batch, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(lines_end(line, sizeof(line)), 2);
    assert_string_equal(line, "belfry: access: the check ends: vkQueueSubmit2 has failed\n");
    fake_close();
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
}

/* With the setting off no command is stood in for on its account. */
TEST(test_off_costs_nothing)
{
    static const char *const names[] = {
        "vkCmdDraw",       "vkCmdCopyBuffer",   "vkCmdBeginRenderPass",
        "vkCmdFillBuffer", "vkCreateImageView", "vkCmdBindVertexBuffers"};
    const uint32_t counts[] = {1, 1, 0};
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1);
    for (int on = 0; on < 2; on++) {
        if (on)
            setenv("VK_BELFRY_MULTI_ENGINE_CHECK", "access", 1);
        lines_begin();
        fake_open(&commands_driver, counts);
        lines_end(NULL, 0);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            bool ours = fake_command(names[i]) != fake_stub();
            if (ours != on)
                fail_msg("%s is%s stood in for", names[i], ours ? "" : " not");
        }
        fake_close();
        unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
    }
}
