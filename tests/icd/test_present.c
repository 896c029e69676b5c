/* SPDX-License-Identifier: MIT */
/* Headless presentation: acquiring, presenting in the queue's order, running out of images. */
#include "support/world.h"

static VkSurfaceKHR surface_create(struct device *f)
{
    const VkHeadlessSurfaceCreateInfoEXT info = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    VkSurfaceKHR surface;
    assert_success(vkCreateHeadlessSurfaceEXT(f->instance, &info, NULL, &surface));
    return surface;
}

static VkSwapchainKHR swapchain_create(struct device *f, VkSurfaceKHR surface, VkSwapchainKHR old)
{
    const VkSwapchainCreateInfoKHR info = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
                                           .surface = surface,
                                           .minImageCount = 2,
                                           .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                           .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
                                           .imageExtent = {64, 64},
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                           .oldSwapchain = old};
    VkSwapchainKHR swapchain;
    assert_success(vkCreateSwapchainKHR(f->device, &info, NULL, &swapchain));
    return swapchain;
}

static VkResult present(VkQueue queue, VkSwapchainKHR swapchain, uint32_t image, VkSemaphore wait)
{
    VkResult each = VK_INCOMPLETE;
    const VkPresentInfoKHR info = {VK_TYPE(PRESENT_INFO_KHR), .waitSemaphoreCount = wait ? 1 : 0,
                                   .pWaitSemaphores = &wait,  .swapchainCount = 1,
                                   .pSwapchains = &swapchain, .pImageIndices = &image,
                                   .pResults = &each};
    VkResult result = vkQueuePresentKHR(queue, &info);
    assert_int_equal(each, result);
    return result;
}

DEVICE_TEST(test_surface, "SHAPE=copy", WORLD_ALL)
{
    VkSurfaceKHR surface = surface_create(w);
    VkBool32 supported;
    assert_success(vkGetPhysicalDeviceSurfaceSupportKHR(w->physical, 0, surface, &supported));
    assert_true(supported);
    assert_success(vkGetPhysicalDeviceSurfaceSupportKHR(w->physical, 1, surface, &supported));
    assert_false(supported);
    VkSurfaceCapabilitiesKHR capabilities;
    assert_success(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(w->physical, surface, &capabilities));
    assert_true(capabilities.minImageCount <= 2);
    uint32_t n = 0;
    assert_success(vkGetPhysicalDeviceSurfaceFormatsKHR(w->physical, surface, &n, NULL));
    assert_true(n > 0);
    assert_success(vkGetPhysicalDeviceSurfacePresentModesKHR(w->physical, surface, &n, NULL));
    assert_true(n > 0);
    vkDestroySurfaceKHR(w->instance, surface, NULL);
}

/* An image comes back when the queue has come to its present, and not before. */
DEVICE_TEST(test_order, "SHAPE=q2", WORLD_ALL)
{
    VkSurfaceKHR surface = surface_create(w);
    VkSwapchainKHR swapchain = swapchain_create(w, surface, VK_NULL_HANDLE);
    uint32_t n = 8;
    VkImage images[8];
    assert_success(vkGetSwapchainImagesKHR(w->device, swapchain, &n, images));
    assert_int_equal(n, 2);

    VkSemaphore acquired = vulkan_binary(w->device), rendered = vulkan_binary(w->device);
    VkFence fence = vulkan_fence(w->device, false);
    uint32_t first, second, third;
    assert_success(
        vkAcquireNextImageKHR(w->device, swapchain, UINT64_MAX, acquired, fence, &first));
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    const VkAcquireNextImageInfoKHR acquire = {
        VK_TYPE(ACQUIRE_NEXT_IMAGE_INFO_KHR), .swapchain = swapchain, .timeout = UINT64_MAX,
        .semaphore = vulkan_binary(w->device), .deviceMask = 1};
    assert_success(vkAcquireNextImage2KHR(w->device, &acquire, &second));
    assert_int_not_equal(first, second);
    assert_int_equal(
        vkAcquireNextImageKHR(w->device, swapchain, 0, rendered, VK_NULL_HANDLE, &third),
        VK_NOT_READY);
    assert_int_equal(
        vkAcquireNextImageKHR(w->device, swapchain, 1000, rendered, VK_NULL_HANDLE, &third),
        VK_TIMEOUT);

    w->icd.pause();
    assert_submitted1(w->queues[0][0], .wait = acquired, .signal = rendered);
    assert_success(present(w->queues[0][0], swapchain, first, rendered));
    w->icd.quiesce();
    assert_int_equal(
        vkAcquireNextImageKHR(w->device, swapchain, 0, rendered, VK_NULL_HANDLE, &third),
        VK_NOT_READY);
    w->icd.resume();
    assert_success(
        vkAcquireNextImageKHR(w->device, swapchain, UINT64_MAX, rendered, VK_NULL_HANDLE, &third));
    assert_int_equal(third, first);
    assert_int_equal(vulkan_counters(&w->icd).presents, 1);

    /* A newer swapchain retires the old one. */
    VkSwapchainKHR newer = swapchain_create(w, surface, swapchain);
    assert_int_equal(
        vkAcquireNextImageKHR(w->device, swapchain, 0, acquired, VK_NULL_HANDLE, &third),
        VK_ERROR_OUT_OF_DATE_KHR);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, swapchain, newer, acquire.semaphore, acquired, rendered, fence);
    vkDestroySurfaceKHR(w->instance, surface, NULL);
}

/* A present that waits for what nobody has signalled yet is found, and blocks its queue alone. */
DEVICE_TEST(test_wait_before_signal, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    VkSurfaceKHR surface = surface_create(w);
    VkSwapchainKHR swapchain = swapchain_create(w, surface, VK_NULL_HANDLE);
    VkSemaphore rendered = vulkan_binary(w->device);
    VkFence fence = vulkan_fence(w->device, false);
    uint32_t image;
    assert_success(
        vkAcquireNextImageKHR(w->device, swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &image));
    assert_success(present(w->queues[0][0], swapchain, image, rendered));
    vulkan_expect(&w->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 0), 1);
    assert_submitted1(w->queues[0][1], .signal = rendered);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, swapchain, rendered, fence);
    vkDestroySurfaceKHR(w->instance, surface, NULL);
}

DEVICE_TEST(test_destroy_while_presenting, "SHAPE=q1", WORLD_ALL)
{
    VkSurfaceKHR surface = surface_create(w);
    VkSwapchainKHR swapchain = swapchain_create(w, surface, VK_NULL_HANDLE);
    VkFence fence = vulkan_fence(w->device, false);
    uint32_t image;
    assert_success(
        vkAcquireNextImageKHR(w->device, swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &image));
    w->icd.pause();
    assert_success(present(w->queues[0][0], swapchain, image, VK_NULL_HANDLE));
    vkDestroySwapchainKHR(w->device, swapchain, NULL);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyFence(w->device, fence, NULL);
    vkDestroySurfaceKHR(w->instance, surface, NULL);
}
