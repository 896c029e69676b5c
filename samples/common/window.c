/* SPDX-License-Identifier: MIT */
/* A window and its swapchain. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "memory.h"
#include "report.h"

/* GLFW reports a window's size by a callback, which finds the struct through the window. */
static void framebuffer_resized(GLFWwindow *handle, int width, int height)
{
    struct sample_window *window = glfwGetWindowUserPointer(handle);
    (void)width;
    (void)height;
    window->stale = true;
}

static void key_pressed(GLFWwindow *handle, int key, int scancode, int action, int modifiers)
{
    (void)scancode;
    (void)modifiers;
    if (key == GLFW_KEY_ESCAPE && action == GLFW_PRESS)
        glfwSetWindowShouldClose(handle, GLFW_TRUE);
}

static const char *glfw_reason(void)
{
    const char *reason = NULL;
    glfwGetError(&reason);
    return reason ? reason : "no reason given";
}

bool sample_display_present(void)
{
    const char *x11 = getenv("DISPLAY");
    const char *wayland = getenv("WAYLAND_DISPLAY");
    return (x11 && *x11) || (wayland && *wayland);
}

bool sample_window_open(struct sample_window *window, const char *title, uint32_t width,
                        uint32_t height)
{
    memset(window, 0, sizeof *window);
    if (!glfwInit()) {
        sample_complain("no window: %s", glfw_reason());
        return false;
    }
    if (!glfwVulkanSupported()) {
        sample_complain("no window: GLFW finds no Vulkan that can present");
        goto fail;
    }
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    window->handle = glfwCreateWindow((int)width, (int)height, title, NULL, NULL);
    if (!window->handle) {
        sample_complain("no window: %s", glfw_reason());
        goto fail;
    }
    glfwSetWindowUserPointer(window->handle, window);
    glfwSetFramebufferSizeCallback(window->handle, framebuffer_resized);
    glfwSetKeyCallback(window->handle, key_pressed);
    return true;

fail:
    glfwTerminate();
    return false;
}

const char **sample_window_extensions(uint32_t *count)
{
    return glfwGetRequiredInstanceExtensions(count);
}

VkResult sample_window_surface(struct sample_window *window, const struct sample_device *device)
{
    return sample_check(
        glfwCreateWindowSurface(device->instance, window->handle, NULL, &window->surface),
        "glfwCreateWindowSurface");
}

VkResult sample_window_format(struct sample_window *window, const struct sample_device *device)
{
    VkSurfaceFormatKHR formats[64];
    uint32_t count = sizeof formats / sizeof *formats;

    VkResult result =
        vkGetPhysicalDeviceSurfaceFormatsKHR(device->gpu, window->surface, &count, formats);
    if (sample_check(result, "vkGetPhysicalDeviceSurfaceFormatsKHR") < 0)
        return result;
    if (!count)
        return sample_check(VK_ERROR_FORMAT_NOT_SUPPORTED, "choosing a surface format");

    /* The shaders encode sRGB, which a PNG needs too; a UNORM format shows the values as they
     * are. */
    window->format = formats[0];
    for (uint32_t i = 0; i < count; ++i) {
        if ((formats[i].format == VK_FORMAT_B8G8R8A8_UNORM ||
             formats[i].format == VK_FORMAT_R8G8B8A8_UNORM) &&
            formats[i].colorSpace == VK_COLOR_SPACE_SRGB_NONLINEAR_KHR) {
            window->format = formats[i];
            break;
        }
    }
    return VK_SUCCESS;
}

static void backbuffers_destroy(struct sample_window *window, const struct sample_device *device)
{
    for (uint32_t i = 0; i < window->backbuffer_count; ++i) {
        vkDestroyImageView(device->handle, window->backbuffers[i].view, NULL);
        vkDestroySemaphore(device->handle, window->backbuffers[i].rendered, NULL);
    }
    free(window->backbuffers);
    window->backbuffers = NULL;
    window->backbuffer_count = 0;
}

static VkResult backbuffers_create(struct sample_window *window, const struct sample_device *device)
{
    uint32_t count = 0;
    VkResult result = vkGetSwapchainImagesKHR(device->handle, window->swapchain, &count, NULL);
    if (sample_check(result, "vkGetSwapchainImagesKHR") < 0)
        return result;

    VkImage *images = calloc(count, sizeof *images);
    window->backbuffers = calloc(count, sizeof *window->backbuffers);
    if (!images || !window->backbuffers) {
        result = sample_check(VK_ERROR_OUT_OF_HOST_MEMORY, "creating the backbuffers");
        goto done;
    }
    window->backbuffer_count = count;
    result = vkGetSwapchainImagesKHR(device->handle, window->swapchain, &count, images);
    if (sample_check(result, "vkGetSwapchainImagesKHR") < 0)
        goto done;
    for (uint32_t i = 0; i < count && result >= 0; ++i) {
        struct sample_backbuffer *backbuffer = &window->backbuffers[i];
        backbuffer->image = images[i];
        result = sample_view_create(device, images[i], window->format.format, 0, &backbuffer->view);
        if (result < 0)
            break;
        result =
            sample_check(vkCreateSemaphore(device->handle,
                                           &(VkSemaphoreCreateInfo){
                                               .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                           },
                                           NULL, &backbuffer->rendered),
                         "vkCreateSemaphore");
        if (result < 0)
            break;
        sample_name(device, VK_OBJECT_TYPE_IMAGE, (uint64_t)images[i], "backbuffer %u", i);
        sample_name(device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)backbuffer->rendered, "rendered %u",
                    i);
    }

done:
    free(images);
    return result;
}

/* If the surface leaves the extent open, it is the framebuffer's size. A minimised window has a
 * size of 0: then this waits. */
static VkResult extent_await(struct sample_window *window, const struct sample_device *device,
                             VkSurfaceCapabilitiesKHR *capabilities)
{
    for (;;) {
        VkResult result =
            vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device->gpu, window->surface, capabilities);
        if (sample_check(result, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR") < 0)
            return result;
        window->extent = capabilities->currentExtent;
        if (window->extent.width == UINT32_MAX) {
            int width = 0, height = 0;
            glfwGetFramebufferSize(window->handle, &width, &height);
            window->extent.width = (uint32_t)width;
            window->extent.height = (uint32_t)height;
        }
        if (window->extent.width && window->extent.height)
            return VK_SUCCESS;
        glfwWaitEvents();
        if (glfwWindowShouldClose(window->handle))
            return VK_NOT_READY;
    }
}

VkResult sample_window_swapchain(struct sample_window *window, const struct sample_device *device)
{
    VkSurfaceCapabilitiesKHR capabilities;
    VkSwapchainKHR old = window->swapchain;

    VkResult result = extent_await(window, device, &capabilities);
    if (result != VK_SUCCESS)
        return result;

    uint32_t count = capabilities.minImageCount + 1;
    if (capabilities.maxImageCount && count > capabilities.maxImageCount)
        count = capabilities.maxImageCount;
    VkCompositeAlphaFlagBitsKHR alpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    if (!(capabilities.supportedCompositeAlpha & alpha))
        alpha = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;

    backbuffers_destroy(window, device);
    window->swapchain = VK_NULL_HANDLE;
    result = vkCreateSwapchainKHR(device->handle,
                                  &(VkSwapchainCreateInfoKHR){
                                      .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                      .surface = window->surface,
                                      .minImageCount = count,
                                      .imageFormat = window->format.format,
                                      .imageColorSpace = window->format.colorSpace,
                                      .imageExtent = window->extent,
                                      .imageArrayLayers = 1,
                                      .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                      .imageSharingMode = VK_SHARING_MODE_EXCLUSIVE,
                                      .preTransform = capabilities.currentTransform,
                                      .compositeAlpha = alpha,
                                      .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                      .clipped = VK_TRUE,
                                      .oldSwapchain = old,
                                  },
                                  NULL, &window->swapchain);
    vkDestroySwapchainKHR(device->handle, old, NULL);
    if (sample_check(result, "vkCreateSwapchainKHR") < 0)
        return result;
    window->stale = false;
    return backbuffers_create(window, device);
}

VkResult sample_window_acquire(struct sample_window *window, const struct sample_device *device,
                               VkSemaphore acquired, uint32_t *backbuffer)
{
    if (window->stale)
        return VK_ERROR_OUT_OF_DATE_KHR;
    VkResult result = vkAcquireNextImageKHR(device->handle, window->swapchain, UINT64_MAX, acquired,
                                            VK_NULL_HANDLE, backbuffer);
    if (result == VK_ERROR_OUT_OF_DATE_KHR)
        return result;
    /* A suboptimal image is acquired all the same: it is drawn and shown before the swapchain is
     * replaced. */
    if (result == VK_SUBOPTIMAL_KHR)
        window->stale = true;
    return sample_check(result, "vkAcquireNextImageKHR");
}

VkResult sample_window_present(struct sample_window *window, const struct sample_device *device,
                               uint32_t backbuffer)
{
    VkResult result = vkQueuePresentKHR(
        device->graphics.handle, &(VkPresentInfoKHR){
                                     .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                     .waitSemaphoreCount = 1,
                                     .pWaitSemaphores = &window->backbuffers[backbuffer].rendered,
                                     .swapchainCount = 1,
                                     .pSwapchains = &window->swapchain,
                                     .pImageIndices = &backbuffer,
                                 });
    if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) {
        window->stale = true;
        return VK_SUCCESS;
    }
    return sample_check(result, "vkQueuePresentKHR");
}

bool sample_window_poll(struct sample_window *window)
{
    glfwPollEvents();
    return !glfwWindowShouldClose(window->handle);
}

void sample_window_detach(struct sample_window *window, const struct sample_device *device)
{
    if (device->handle) {
        backbuffers_destroy(window, device);
        if (window->swapchain)
            vkDestroySwapchainKHR(device->handle, window->swapchain, NULL);
    }
    if (device->instance && window->surface)
        vkDestroySurfaceKHR(device->instance, window->surface, NULL);
    window->swapchain = VK_NULL_HANDLE;
    window->surface = VK_NULL_HANDLE;
}

void sample_window_close(struct sample_window *window)
{
    if (!window->handle)
        return;
    glfwDestroyWindow(window->handle);
    glfwTerminate();
    window->handle = NULL;
}
