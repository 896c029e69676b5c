/* SPDX-License-Identifier: MIT */
/*
 * One Vulkan 1.3 device with the queues that a sample asks for.
 *
 * Nothing here knows Belfry: a queue is the driver's own or one that a layer added, and this code
 * cannot tell which.
 */
#ifndef SAMPLE_DEVICE_H
#define SAMPLE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

/* Which queues are opened. */
enum sample_queues {
    /* A graphics queue and a compute queue that are not the same queue. */
    SAMPLE_QUEUES_TWO,
    /* A graphics queue, and one of each other engine that the GPU has: compute without graphics,
     * and copy without either. Who puts queues of its own on engines needs no more. */
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
    struct sample_queue graphics; /* can present to the surface, where there is one */
    struct sample_queue compute;
    struct sample_queue copy;           /* with SAMPLE_QUEUES_ENGINES alone */
    uint32_t families[8], family_count; /* those whose queues share data */
    bool calibrated;                    /* VK_EXT_calibrated_timestamps is enabled, */
    bool resets_queries;                /* and so is hostQueryReset: timelines have use for them */
    bool named; /* VK_EXT_debug_utils is there: names and labels reach debuggers and timelines */
};

/* Loads Vulkan and creates the instance. `extensions` are those a window needs; debug utils come
 * on top where available. Returns an exit code (report.h), having complained. `device` must be
 * zeroed. */
int sample_instance_create(struct sample_device *device, const char *application,
                           const char *const *extensions, uint32_t extension_count);

/* Chooses a GPU and opens it. `gpu_name` is part of the device's name in any case, or NULL for
 * the best one; `surface` may be VK_NULL_HANDLE. Returns an exit code, having complained. */
int sample_device_create(struct sample_device *device, enum sample_queues queues,
                         const char *gpu_name, VkSurfaceKHR surface);

/* Waits for the device and destroys it and the instance; accepts a half-created one. */
void sample_device_destroy(struct sample_device *device);

/* Adds one of the families that share data. More than one make buffers and shared images
 * concurrent, so that nobody has to hand ownership over. */
void sample_device_family_add(struct sample_device *device, uint32_t family);

/* Names an object for debuggers and timelines. Pass the handle cast to uint64_t. */
void sample_name(const struct sample_device *device, VkObjectType type, uint64_t handle,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A labelled stretch of a command buffer. */
void sample_label_begin(const struct sample_device *device, VkCommandBuffer commands,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
void sample_label_end(const struct sample_device *device, VkCommandBuffer commands);

#endif
