/* SPDX-License-Identifier: MIT */
/* A window without a window, and a thread that presents to it. Functions fail the test when
 * something is amiss, unless they return a VkResult. */
#ifndef BELFRY_TEST_LAYER_SCREEN_H
#define BELFRY_TEST_LAYER_SCREEN_H

#include "support/world.h"

#include <pthread.h>

struct screen {
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkImage images[4];
    uint32_t image_count;
};

void screen_open(struct device *w, struct screen *s, const uint32_t *families, uint32_t count);
void screen_close(struct device *w, struct screen *s);

VkResult screen_present(VkQueue queue, struct screen *s, uint32_t image, VkSemaphore wait);

/* For pthread_create: one present. */
struct presenter {
    VkDevice device;
    struct screen *screen;
    VkQueue queue;
    uint32_t image;
    VkSemaphore wait;
    VkResult result;
    _Atomic bool started;
    _Atomic int id;
};

void *screen_run_present(void *presenter);

/* A present on the first queue, which is in the driver until stuck_release. */
struct stuck {
    struct screen screen;
    struct presenter presenter;
    pthread_t thread;
};

void stuck_begin(struct device *w, struct stuck *s);
void stuck_release(struct device *w, struct stuck *s);
void stuck_close(struct device *w, struct stuck *s); /* once it is released */

#endif
