/* SPDX-License-Identifier: MIT */
/*
 * A Vulkan 1.3 device with the queues that a sample needs.
 *
 * This code doesn't know Belfry: a queue may be the driver's own or one that the layer has added,
 * and it can't tell which.
 */
#ifndef SAMPLE_DEVICE_H
#define SAMPLE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

/* The queues that are created. */
enum sample_queues {
    /* A graphics queue and a compute queue that are not the same queue. */
    SAMPLE_QUEUES_TWO,
    /* A graphics queue, and a queue of each other engine of the GPU: compute without graphics, and
     * copy without either. Belfry's own queues are then placed on these. */
    SAMPLE_QUEUES_ENGINES,
};

struct sample_queue {
    VkQueue handle; /* VK_NULL_HANDLE: the GPU has no such engine */
    uint32_t family;
    uint32_t index;
};

struct sample_device {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    struct sample_queue graphics; /* can present to the surface, if there is one */
    struct sample_queue compute;
    struct sample_queue copy;           /* only with SAMPLE_QUEUES_ENGINES */
    uint32_t families[8], family_count; /* families whose queues share data */
    bool calibrated;                    /* VK_EXT_calibrated_timestamps is enabled, for timelines */
    bool resets_queries;                /* hostQueryReset is enabled, for timelines */
    bool named; /* VK_EXT_debug_utils is there: names and labels reach debuggers and timelines */
};

/* Loads Vulkan and creates the instance with the extensions that a window needs (`extensions`), and
 * with VK_EXT_debug_utils if there is one. Returns an exit code (report.h); errors have been
 * reported. `device` must be zeroed. */
int sample_instance_create(struct sample_device *device, const char *application,
                           const char *const *extensions, uint32_t extension_count);

/* Chooses a GPU and creates the device. `gpu_name` is a part of the GPU's name, in upper or lower
 * case; NULL: the best GPU. `surface` may be VK_NULL_HANDLE. Returns an exit code; errors have been
 * reported. */
int sample_device_create(struct sample_device *device, enum sample_queues queues,
                         const char *gpu_name, VkSurfaceKHR surface);

/* Waits for the device and destroys it and the instance; accepts a partly created one. */
void sample_device_destroy(struct sample_device *device);

/* Adds a family to those that share data. If there are several, buffers and shared images are
 * created CONCURRENT, so no ownership transfers are needed. */
void sample_device_family_add(struct sample_device *device, uint32_t family);

/* Names an object in debuggers and timelines. `handle` is the handle cast to uint64_t. */
void sample_name(const struct sample_device *device, VkObjectType type, uint64_t handle,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Begins and ends a label in a command buffer. */
void sample_label_begin(const struct sample_device *device, VkCommandBuffer commands,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
void sample_label_end(const struct sample_device *device, VkCommandBuffer commands);

#endif
