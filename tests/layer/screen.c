/* SPDX-License-Identifier: MIT */
/* A window without a window, and a thread that presents to it. */
#include "screen.h"

void screen_open(struct device *w, struct screen *s, const uint32_t *families, uint32_t count)
{
    const VkHeadlessSurfaceCreateInfoEXT surface = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    assert_success(vkCreateHeadlessSurfaceEXT(w->instance, &surface, NULL, &s->surface));
    for (uint32_t f = 0; f < w->family_count; f++) {
        VkBool32 supported = 7;
        assert_success(
            vkGetPhysicalDeviceSurfaceSupportKHR(w->physical, f, s->surface, &supported));
        assert_true(supported == VK_TRUE); /* appended ones as their hosts */
    }
    const VkSwapchainCreateInfoKHR info = {
        VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
        .surface = s->surface,
        .minImageCount = 3,
        .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
        .imageExtent = {16, 16},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .imageSharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = count,
        .pQueueFamilyIndices = families,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    assert_success(vkCreateSwapchainKHR(w->device, &info, NULL, &s->swapchain));
    s->image_count = 4;
    assert_success(vkGetSwapchainImagesKHR(w->device, s->swapchain, &s->image_count, s->images));
}

void screen_close(struct device *w, struct screen *s)
{
    vkDestroySwapchainKHR(w->device, s->swapchain, NULL);
    vkDestroySurfaceKHR(w->instance, s->surface, NULL);
}

VkResult screen_present(VkQueue queue, struct screen *s, uint32_t image, VkSemaphore wait)
{
    VkResult each = VK_RESULT_MAX_ENUM;
    const VkPresentInfoKHR info = {
        VK_TYPE(PRESENT_INFO_KHR), .waitSemaphoreCount = wait ? 1 : 0, .pWaitSemaphores = &wait,
        .swapchainCount = 1,       .pSwapchains = &s->swapchain,       .pImageIndices = &image,
        .pResults = &each};
    VkResult result = vkQueuePresentKHR(queue, &info);
    if (result == VK_SUCCESS)
        assert_success(each);
    return result;
}

void *screen_run_present(void *argument)
{
    struct presenter *p = argument;
    p->id = gettid();
    p->started = true;
    p->result = screen_present(p->queue, p->screen, p->image, p->wait);
    return NULL;
}

void stuck_begin(struct device *w, struct stuck *s)
{
    static const uint32_t family = 0;
    uint64_t blocked = w->icd.blocked();
    screen_open(w, &s->screen, &family, 1);
    s->presenter = (struct presenter){.screen = &s->screen, .queue = w->queues[0][0]};
    VkFence fence = vulkan_fence(w->device, false);
    assert_success(vkAcquireNextImageKHR(w->device, s->screen.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                         fence, &s->presenter.image));
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    vkDestroyFence(w->device, fence, NULL);
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueuePresentKHR", .first = 1});
    assert_int_equal(pthread_create(&s->thread, NULL, screen_run_present, &s->presenter), 0);
    w->icd.await_blocked(blocked + 1);
}

void stuck_release(struct device *w, struct stuck *s)
{
    w->icd.release(UINT64_MAX);
    pthread_join(s->thread, NULL);
    assert_success(s->presenter.result);
    w->icd.set_block(NULL);
}

void stuck_close(struct device *w, struct stuck *s)
{
    assert_success(vkDeviceWaitIdle(w->device));
    screen_close(w, &s->screen);
}
