/* SPDX-License-Identifier: MIT */
/*
 * A window and its swapchain.
 *
 * GLFW wants its calls on the main thread, so everything here belongs there.
 */
#ifndef SAMPLE_WINDOW_H
#define SAMPLE_WINDOW_H

#include "device.h"

struct GLFWwindow;

struct sample_backbuffer {
    VkImage image;
    VkImageView view;
    VkSemaphore rendered; /* what the present of this image waits for */
};

struct sample_window {
    struct GLFWwindow *handle;
    VkSurfaceKHR surface;
    VkSurfaceFormatKHR format;
    VkSwapchainKHR swapchain;
    VkExtent2D extent; /* in pixels, of the swapchain */
    struct sample_backbuffer *backbuffers;
    uint32_t backbuffer_count;
    bool stale; /* the swapchain no longer fits the window */
};

/* Whether the environment says that there is a display at all. */
bool sample_display_present(void);

/* Opens the window. False, having said why, where that is not possible. */
bool sample_window_open(struct sample_window *window, const char *title, uint32_t width,
                        uint32_t height);

/* Instance extensions that the surface needs; static storage, NULL where GLFW finds no Vulkan. */
const char **sample_window_extensions(uint32_t *count);

/* Creates the surface; after sample_instance_create, before sample_device_create. */
VkResult sample_window_surface(struct sample_window *window, const struct sample_device *device);

/* Picks the format; after sample_device_create, before pipelines. */
VkResult sample_window_format(struct sample_window *window, const struct sample_device *device);

/* Creates the swapchain, or replaces it after a resize: then the queue that draws to its images and
 * presents them must be idle, since presents have no fence to ask. Waits while the window is
 * minimised. VK_NOT_READY when the user closes it meanwhile. */
VkResult sample_window_swapchain(struct sample_window *window, const struct sample_device *device);

/* The next image to draw to; `acquired` is signalled when it may be drawn to.
 * VK_ERROR_OUT_OF_DATE_KHR means: call sample_window_swapchain and try again. */
VkResult sample_window_acquire(struct sample_window *window, const struct sample_device *device,
                               VkSemaphore acquired, uint32_t *backbuffer);

/* Presents on the graphics queue; an outdated swapchain is no error, it only becomes stale. */
VkResult sample_window_present(struct sample_window *window, const struct sample_device *device,
                               uint32_t backbuffer);

/* Takes in what the user did; false once the window is to be closed (Escape does that too). */
bool sample_window_poll(struct sample_window *window);

/* Before sample_device_destroy; destroys all but the window itself. The device must be idle. */
void sample_window_detach(struct sample_window *window, const struct sample_device *device);

/* After sample_device_destroy. */
void sample_window_close(struct sample_window *window);

#endif
