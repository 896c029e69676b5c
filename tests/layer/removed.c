/* SPDX-License-Identifier: MIT */
/* A device that Belfry has declared lost, of which the driver knows nothing: who asks how far the
 * GPU is, or waits for an image, is told, too. (L-5, L-6) */
#include "screen.h"

#include "belfry/belfry.h"

static const uint32_t two[] = {2, WORLD_END};

static VkResult signal_host(struct device *w, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = semaphore,
                                        .value = value};
    return vkSignalSemaphore(w->device, &info);
}

/* What was held is dropped: it neither has run, nor ever will. */
DEVICE_TEST(test_polls_tell_of_the_loss, "SHAPE=q1", two)
{
    BfDevice device;
    VkSemaphore gate = vulkan_timeline(w->device, 0), done = vulkan_timeline(w->device, 0);
    VkFence fence = vulkan_fence(w->device, false);
    const VkEventCreateInfo event_info = {VK_TYPE(EVENT_CREATE_INFO)};
    const VkQueryPoolCreateInfo pool_info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                             .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 1};
    VkEvent event;
    VkQueryPool pool;
    assert_success(bfGetDevice(w->device, &device));
    assert_success(vkCreateEvent(w->device, &event_info, NULL, &event));
    assert_success(vkCreateQueryPool(w->device, &pool_info, NULL, &pool));
    VkCommandBuffer resets = device_begin(w, 0, 0), commands = device_begin(w, 0, 0);
    vkCmdResetQueryPool(resets, pool, 0, 1);
    assert_success(vkEndCommandBuffer(resets));
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
    vkCmdSetEvent(commands, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(w->queues[0][0], .commands = resets);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_submitted(w->queues[0][1], .wait = gate, .wait_value = 1, .commands = commands,
                     .signal = done, .signal_value = 1, .fence = fence);
    uint64_t value, stamp[2];
    assert_success(vkGetSemaphoreCounterValue(w->device, done, &value));
    assert_int_equal(vkGetEventStatus(w->device, event), VK_EVENT_RESET);
    assert_int_equal(vkGetQueryPoolResults(w->device, pool, 0, 1, sizeof(stamp), stamp, 16,
                                           VK_QUERY_RESULT_64_BIT),
                     VK_NOT_READY);
    assert_success(bfRemoveDevice(device));
    assert_int_equal(vkGetSemaphoreCounterValue(w->device, done, &value), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetEventStatus(w->device, event), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetQueryPoolResults(w->device, pool, 0, 1, sizeof(stamp), stamp, 16,
                                           VK_QUERY_RESULT_64_BIT),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetFenceStatus(w->device, fence), VK_ERROR_DEVICE_LOST);
    vkDestroyEvent(w->device, event, NULL);
    vkDestroyQueryPool(w->device, pool, NULL);
    vkDestroyFence(w->device, fence, NULL);
    vkDestroySemaphore(w->device, gate, NULL);
    vkDestroySemaphore(w->device, done, NULL);
}

/* The program hasn't been told yet, and signals what the dropped submission waited for. */
DEVICE_TEST(test_a_signal_below_what_was_dropped, "SHAPE=q1", two)
{
    BfDevice device;
    VkSemaphore timeline = vulkan_timeline(w->device, 0);
    assert_success(bfGetDevice(w->device, &device));
    assert_submitted(w->queues[0][1], .wait = timeline, .wait_value = 3, .signal = timeline,
                     .signal_value = 5);
    assert_success(bfRemoveDevice(device));
    assert_success(signal_host(w, timeline, 3)); /* the driver would have found that wrong */
    assert_success(signal_host(w, timeline, 7));
    vkDestroySemaphore(w->device, timeline, NULL);
}

/* --------------------------------------------------------------------------------- Images --- */

struct acquirer {
    struct device *w;
    struct screen *screen;
    bool second; /* vkAcquireNextImage2KHR */
    VkFence fence;
    VkResult result;
};

static void *run_acquire(void *argument)
{
    struct acquirer *a = argument;
    const VkAcquireNextImageInfoKHR info = {
        VK_TYPE(ACQUIRE_NEXT_IMAGE_INFO_KHR), .swapchain = a->screen->swapchain,
        .timeout = UINT64_MAX, .fence = a->fence, .deviceMask = 1};
    uint32_t image;
    a->result = a->second ? vkAcquireNextImage2KHR(a->w->device, &info, &image)
                          : vkAcquireNextImageKHR(a->w->device, info.swapchain, info.timeout,
                                                  VK_NULL_HANDLE, a->fence, &image);
    return NULL;
}

/* All images are on their way to the screen, behind work that doesn't end. */
static void present_all(struct device *w, struct screen *s, VkFence fence)
{
    for (uint32_t i = 0; i < s->image_count; i++) {
        uint32_t image;
        assert_success(vkAcquireNextImageKHR(w->device, s->swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                             fence, &image));
        assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(w->device, 1, &fence));
        assert_success(screen_present(w->queues[0][0], s, image, VK_NULL_HANDLE));
    }
}

static void acquire_beside_a_removal(bool second)
{
    static const uint32_t family = 0;
    struct device w;
    struct screen s;
    BfDevice device;
    world_open(&w, "SHAPE=q1 GPU=1", two);
    screen_open(&w, &s, &family, 1);
    assert_success(bfGetDevice(w.device, &device));
    VkFence fence = vulkan_fence(w.device, false);
    w.icd.hold_before_signals(true);
    assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 0, 2));
    present_all(&w, &s, fence);
    struct acquirer a = {.w = &w, .screen = &s, .second = second, .fence = fence};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_acquire, &a), 0);
    assert_success(bfRemoveDevice(device));
    assert_int_equal(pthread_join(thread, NULL), 0); /* or never */
    assert_int_equal(a.result, VK_ERROR_DEVICE_LOST);
    w.icd.hold_before_signals(false);
    w.icd.quiesce();
    vkDestroyFence(w.device, fence, NULL);
    screen_close(&w, &s);
    world_close(&w);
}

TEST(test_who_waits_for_an_image_is_told)
{
    acquire_beside_a_removal(false);
}

TEST(test_who_waits_for_an_image_by_the_second_command_is_told)
{
    acquire_beside_a_removal(true);
}
