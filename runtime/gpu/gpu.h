/* SPDX-License-Identifier: MIT */
/*
 * What can be done with a VkDevice without knowing queues: the driver's functions, and what is known of
 * the device. Everything that Belfry keeps for a device begins with this struct, so that a BfDevice, the
 * scheduler and the device as a whole are one address.
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

/* Engines are bits of 64. */
#define BF_MAX_ENGINES 64

struct bf_background;

/* Running totals (bfGetDeviceCounters). */
struct bf_counters {
    _Atomic uint64_t sleeper_wakeups, sleeper_threads, submissions, driver_calls, blocked_waits,
        semaphore_waits, barriers, counter_queries, events_set, shared_wakeups, peer_waits;
};

struct bf_gpu {
    VkDevice handle;
    struct VolkDeviceTable vk; /* the driver's functions, or the next layer's */
    /* The core or the KHR form, whichever the device has. */
    PFN_vkQueueSubmit2 submit2;
    PFN_vkWaitSemaphores wait_semaphores;
    PFN_vkGetSemaphoreCounterValue counter_value;
    PFN_vkSignalSemaphore signal_semaphore;
    PFN_vkCmdPipelineBarrier2 pipeline_barrier;
    PFN_vkGetCalibratedTimestampsEXT get_calibrated_timestamps; /* NULL: not enabled */
    VkResult (*set_loader_data)(VkDevice device, void *object); /* NULL: not needed */
    bool attached;        /* by the program, not by the layer */
    uint32_t api_version; /* what the program may use; 0 where it is attached */

    double timestamp_period_ns;
    bool host_query_reset;
    VkPhysicalDeviceMemoryProperties memory;
    bool native_fences; /* their feature is enabled (fence/native.h) */
    /* Shaders can store 64 bits through an address: bufferDeviceAddress and shaderInt64. */
    bool writes_values;
    PFN_vkGetBufferDeviceAddress buffer_address;
    VkDeviceSize host_pointer_alignment; /* VK_EXT_external_memory_host; 0: not enabled */
    enum bf_fence_log_mode fence_log;
    struct bf_sharing sharing;
    uint32_t family_count; /* real families of which the device has VkQueues */
    uint32_t families[BF_MAX_ENGINES];

    struct bf_trace *trace;           /* NULL: off; not owned */
    struct bf_background *background; /* NULL: none; background/ owns it */
    struct bf_gpu *next_registered;   /* gpu/registry.h */
    struct bf_upper_layers upper_layers;
    struct bf_map command_buffers; /* gpu/command_buffer.h */
    struct bf_value_memories value_memories;
    struct bf_gpu_write_pipeline write_pipeline;
    struct bf_gpu_clock gpu_clock;
    _Atomic uint32_t log_handles; /* given to fences and semaphores so far */
    struct bf_counters counters;
};

/* What is known of a device when it is created or attached. */
struct bf_gpu_info {
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get_proc_addr; /* of whatever lies below */
    VkResult (*set_loader_data)(VkDevice device, void *object);
    uint32_t api_version; /* with a layer: what the program may use of the device */
    struct bf_trace *trace;
    double timestamp_period_ns;
    bool host_query_reset, calibrated_timestamps;
    VkPhysicalDeviceMemoryProperties memory;
    bool native_fences;
    bool buffer_addresses, shader_int64; /* the features are enabled */
    VkDeviceSize host_pointer_alignment; /* VK_EXT_external_memory_host is enabled; else 0 */
    enum bf_fence_log_mode fence_log;
    struct bf_sharing sharing;
};

/* The struct is zeroed. Errors: VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is
 * missing). */
VkResult bf_gpu_init(struct bf_gpu *gpu, const struct bf_gpu_info *info);

/* The device is idle, and nothing of what it was asked for is used any more. */
void bf_gpu_finish(struct bf_gpu *gpu);

/* The device has VkQueues of the family: buffers of Belfry's own are for all such. */
void bf_gpu_add_family(struct bf_gpu *gpu, uint32_t family);

#endif
