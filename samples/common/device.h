/*
 * One Vulkan 1.3 device with a graphics queue and a compute queue that are not the same queue.
 *
 * Nothing here knows Belfry: the second queue is the driver's own or one that a layer added, and
 * this code cannot tell which.
 */
#ifndef SAMPLE_DEVICE_H
#define SAMPLE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

struct sample_queue {
    VkQueue handle;
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
    bool named; /* VK_EXT_debug_utils is there: names and labels reach debuggers and timelines */
};

/* Loads Vulkan and creates the instance. `extensions` are those a window needs; debug utils come
 * on top where available. Returns an exit code (report.h), having complained. `device` must be
 * zeroed. */
int sample_instance_create(struct sample_device *device, const char *application,
                           const char *const *extensions, uint32_t extension_count);

/* Chooses a GPU and opens it. `gpu_name` is part of the device's name in any case, or NULL for
 * the best one; `surface` may be VK_NULL_HANDLE. Returns an exit code, having complained. */
int sample_device_create(struct sample_device *device, const char *gpu_name, VkSurfaceKHR surface);

/* Waits for the device and destroys it and the instance; accepts a half-created one. */
void sample_device_destroy(struct sample_device *device);

/* The families that share data between the two queues, for VkBufferCreateInfo: two different ones
 * make the buffer concurrent, so that nobody has to hand ownership over. */
uint32_t sample_device_families(const struct sample_device *device, uint32_t families[2]);

/* Names an object for debuggers and timelines. Pass the handle cast to uint64_t. */
void sample_name(const struct sample_device *device, VkObjectType type, uint64_t handle,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A labelled stretch of a command buffer. */
void sample_label_begin(const struct sample_device *device, VkCommandBuffer commands,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
void sample_label_end(const struct sample_device *device, VkCommandBuffer commands);

#endif
