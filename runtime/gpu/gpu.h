/* SPDX-License-Identifier: MIT */
/*
 * The lowest part of a device: the driver's functions and the properties of the VkDevice, for
 * whatever needs no queues. struct bf_gpu is the first member of struct bf_scheduler, which is the
 * first of struct bf_device: a BfDevice handle, the scheduler and the device have one address.
 */
#ifndef BELFRY_GPU_GPU_H
#define BELFRY_GPU_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "base/map.h"
#include "belfry/belfry.h"
#include "gpu/clock.h"
#include "gpu/sharing.h"
#include "gpu/upper_layers.h"
#include "gpu/value_memory.h"
#include "gpu/write.h"
#include "settings/settings.h"
#include "trace/trace.h"

/* Sets of engines are 64-bit masks. */
#define BF_MAX_ENGINES 64

struct bf_background;

/* Running totals (bfGetDeviceCounters). */
struct bf_counters {
    _Atomic uint64_t sleeper_wakeups, sleeper_threads, submissions, driver_calls, blocked_waits,
        semaphore_waits, barriers, counter_queries, events_set, shared_wakeups, peer_waits;
};

struct bf_gpu {
    VkDevice handle;
    /* The functions of the driver, or of the next layer. Commands with two names have the function
     * under both (gpu/dispatch.h). */
    struct VolkDeviceTable vk;
    PFN_vkGetCalibratedTimestampsEXT get_calibrated_timestamps; /* NULL: not enabled */
    VkResult (*set_loader_data)(VkDevice device, void *object); /* NULL: not needed */
    bool attached;        /* bfAttachDevice made it, not the layer */
    uint32_t api_version; /* what the program may use; 0 where it is attached */

    uint32_t driver_bugs; /* enum bf_driver_bug */

    double timestamp_period_ns;
    bool host_query_reset;
    VkPhysicalDeviceMemoryProperties memory;
    bool native_fences; /* the program may create them (fence/native.h) */
    /* Shaders can store 64 bits through an address: bufferDeviceAddress and shaderInt64. */
    bool writes_values;
    VkDeviceSize host_pointer_alignment; /* VK_EXT_external_memory_host; 0: not enabled */
    enum bf_fence_log_mode fence_log;
    struct bf_sharing sharing;
    bool device_fault, checkpoints; /* gpu/fault.h */
    uint32_t family_count;          /* real families of which the device has VkQueues */
    uint32_t families[BF_MAX_ENGINES];

    uint64_t timeline_difference; /* by how much one signal may raise a timeline */

    struct bf_trace *trace;           /* NULL: off; not owned */
    struct bf_background *background; /* NULL: none; background/ owns it */
    struct bf_gpu *next_registered;   /* gpu/registry.h */
    struct bf_upper_layers upper_layers;
    struct bf_map command_buffers; /* gpu/command_buffer.h */
    /* Told of each that is forgotten or reset, or, for NULL, of those whose handles are keys of the
     * map; NULL: nobody is. Set once. */
    void (*_Atomic buffers_end)(struct bf_gpu *gpu, VkCommandBuffer buffer, struct bf_map *buffers);
    struct bf_value_memories value_memories;
    struct bf_gpu_write_pipeline write_pipeline;
    struct bf_gpu_clock gpu_clock;
    _Atomic uint32_t log_handles; /* the last log handle given to a fence or semaphore */
    struct bf_counters counters;
};

/* What the creator of a device (the layer, or bfAttachDevice) tells of it. */
struct bf_gpu_info {
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get_proc_addr; /* of the driver, or the layer below */
    VkResult (*set_loader_data)(VkDevice device, void *object);
    uint32_t api_version; /* with a layer: what the program may use of the device */
    struct bf_trace *trace;
    const VkPhysicalDeviceDriverProperties *driver; /* NULL, or zeros: not known */
    uint32_t driver_version;
    double timestamp_period_ns;
    bool host_query_reset, calibrated_timestamps;
    VkPhysicalDeviceMemoryProperties memory;
    bool native_fences;
    bool buffer_addresses, shader_int64; /* the features are enabled */
    VkDeviceSize host_pointer_alignment; /* VK_EXT_external_memory_host is enabled; else 0 */
    enum bf_fence_log_mode fence_log;
    struct bf_sharing sharing;
    bool device_fault; /* VK_EXT_device_fault and its feature deviceFault are enabled */
    bool checkpoints;  /* VK_NV_device_diagnostic_checkpoints is */
    /* maxTimelineSemaphoreValueDifference; 0: it isn't known, and taken for none. */
    uint64_t timeline_difference;
};

/* The struct is zeroed. Errors: VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is
 * missing). */
VkResult bf_gpu_init(struct bf_gpu *gpu, const struct bf_gpu_info *info);

/* Frees it. The device is idle, and nothing made with these functions is in use any more. */
void bf_gpu_finish(struct bf_gpu *gpu);

/* Adds a real family of which the device has VkQueues: Belfry's own buffers are shared by all
 * families in this list. */
void bf_gpu_add_family(struct bf_gpu *gpu, uint32_t family);

/* A thread may be in vkWaitSemaphores for ever: what is directly below, the driver or a layer, is
 * never unmapped. Thread-safety: safe. */
void bf_gpu_pin_driver(const struct bf_gpu *gpu);

/* What vkWaitSemaphores takes for one timeline. */
static inline VkSemaphoreWaitInfo bf_gpu_timeline_wait(const VkSemaphore *semaphore,
                                                       const uint64_t *value)
{
    return (VkSemaphoreWaitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = semaphore,
        .pValues = value,
    };
}

/* vkWaitSemaphores for one timeline; its results. Thread-safety: safe. */
static inline VkResult bf_gpu_wait_timeline(const struct bf_gpu *gpu, VkSemaphore semaphore,
                                            uint64_t value, uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo info = bf_gpu_timeline_wait(&semaphore, &value);
    return gpu->vk.vkWaitSemaphores(gpu->handle, &info, timeout_ns);
}

#endif
