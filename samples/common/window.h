/* SPDX-License-Identifier: MIT */
/*
 * A window and its swapchain.
 *
 * GLFW must be called on the main thread, so all of this must be.
 */
#ifndef SAMPLE_WINDOW_H
#define SAMPLE_WINDOW_H

#include "device.h"

struct GLFWwindow;

struct sample_backbuffer {
    VkImage image;
    VkImageView view;
    VkSemaphore rendered; /* signalled when this image may be presented */
};

struct sample_window {
    struct GLFWwindow *handle;
    VkSurfaceKHR surface;
    VkSurfaceFormatKHR format;
    VkSwapchainKHR swapchain;
    VkExtent2D extent; /* the swapchain's, in pixels */
    struct sample_backbuffer *backbuffers;
    uint32_t backbuffer_count;
    bool stale; /* the swapchain no longer fits the window */
};

/* Does the environment name a display? */
bool sample_display_present(void);

/* Opens the window. False: it isn't possible, and the reason has been reported. */
bool sample_window_open(struct sample_window *window, const char *title, uint32_t width,
                        uint32_t height);

/* The instance extensions that the surface needs; static storage. NULL: GLFW finds no Vulkan. */
const char **sample_window_extensions(uint32_t *count);

/* Creates the surface. To be called between sample_instance_create and sample_device_create. */
VkResult sample_window_surface(struct sample_window *window, const struct sample_device *device);

/* Chooses the format. To be called after sample_device_create and before pipelines are created. */
VkResult sample_window_format(struct sample_window *window, const struct sample_device *device);

/* Creates the swapchain, or replaces it after a resize. The queue that draws to its images and
 * presents them must then be idle, since presents have no fence. Waits while the window is
 * minimised. VK_NOT_READY: the user has closed the window. */
VkResult sample_window_swapchain(struct sample_window *window, const struct sample_device *device);

/* Acquires the next image; `acquired` is signalled when it may be drawn to.
 * VK_ERROR_OUT_OF_DATE_KHR: call sample_window_swapchain and try again. */
VkResult sample_window_acquire(struct sample_window *window, const struct sample_device *device,
                               VkSemaphore acquired, uint32_t *backbuffer);

/* Presents on the graphics queue. An outdated swapchain is no error: it is marked stale. */
VkResult sample_window_present(struct sample_window *window, const struct sample_device *device,
                               uint32_t backbuffer);

/* Handles input; false when the window is to be closed (also by Escape). */
bool sample_window_poll(struct sample_window *window);

/* Destroys all but the window itself. To be called before sample_device_destroy, with the device
 * idle. */
void sample_window_detach(struct sample_window *window, const struct sample_device *device);

/* To be called after sample_device_destroy. */
void sample_window_close(struct sample_window *window);

#endif
