/*
 * A device: engines, the queues on them, and what is known of its semaphores and fences.
 */
#ifndef BELFRY_DEVICE_DEVICE_H
#define BELFRY_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "belfry/belfry.h"
#include "gpu/upper_layers.h"
#include "gpu/clock.h"
#include "gpu/sharing.h"
#include "scheduler/pending.h"
#include "scheduler/observer.h"
#include "gpu/write.h"
#include "gpu/value_memory.h"
#include "base/export.h"
#include "base/lock.h"
#include "base/map.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "queue/queue.h"
#include "settings/settings.h"
#include "trace/trace.h"

/* Engines are bits of 64. */
#define BF_MAX_ENGINES 64

struct bf_background;
struct bf_watcher;

/* Running totals (bfGetDeviceCounters). */
struct bf_counters {
    _Atomic uint64_t sleeper_wakeups, sleeper_threads, submissions, driver_calls, blocked_waits,
        semaphore_waits, barriers, counter_queries, events_set, shared_wakeups, peer_waits;
};

struct bf_device {
    VkDevice handle;
    struct VolkDeviceTable vk; /* the driver's functions, or the next layer's */
    /* The core or the KHR form, whichever the device has. */
    PFN_vkQueueSubmit2 submit2;
    PFN_vkWaitSemaphores wait_semaphores;
    PFN_vkGetSemaphoreCounterValue counter_value;
    PFN_vkSignalSemaphore signal_semaphore;
    struct bf_label_calls label_calls;
    PFN_vkGetCalibratedTimestampsEXT get_calibrated_timestamps; /* NULL: not enabled */
    VkResult (*set_loader_data)(VkDevice device, void *object); /* NULL: not needed */
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
    struct bf_device *next_registered;
    bool attached;        /* by the program, not by the layer */
    uint32_t api_version; /* what the program may use; 0 where it is attached */
    struct bf_upper_layers upper_layers;
    bool summary; /* attached: of its trace one is printed at its end */

    uint32_t engine_count, queue_count;
    struct bf_engine *engines;
    struct bf_queue *queues;
    _Atomic bool shared; /* some engine has several queues */

    struct bf_map semaphores, fences;
    struct bf_map command_buffers;    /* gpu/command_buffer.h */
    _Atomic bool external_fences;     /* there has been one */
    _Atomic uint32_t deferred_fences; /* fences that held packets carry */
    struct bf_signpost progress;      /* announced when held packets go, or the device is lost */
    _Atomic bool lost;
    _Atomic bool loss_told; /* to the fences and all who wait for them */

    struct bf_lock *submit_lock; /* triage: one lock over all submits; NULL: none */
    struct bf_lock submit_lock_storage;

    struct bf_lock watch_lock; /* leaf lock: the list of watchers */
    struct bf_watcher *watchers;

    struct bf_trace *trace;       /* NULL: off; not owned */
    struct bf_observer *observer; /* NULL: nobody observes; not owned */
    struct bf_background *background;
    /* NULL: nobody. Set while the program has no queue yet. */
    const struct bf_execute_observer *execute_observer;

    struct bf_pending pending; /* command queues and fences */
    struct bf_value_memories value_memories;
    struct bf_gpu_clock gpu_clock;
    _Atomic uint32_t log_handles; /* given to fences and semaphores so far */
    struct bf_gpu_write_pipeline write_pipeline;
    PFN_vkCmdPipelineBarrier2 pipeline_barrier;
    _Atomic uint32_t command_queues_made, fences_made; /* for their names */
    struct bf_counters counters;
};

struct bf_engine_info {
    VkQueue handle;
    uint32_t family, index; /* real */
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags;
    uint32_t timestamp_bits;
    VkQueueGlobalPriorityKHR global_priority; /* 0: none was asked for */
    bool reserved;                            /* no queue of the program is on it */
};

struct bf_queue_info {
    uint32_t family, index; /* as shown */
    VkQueueFlags family_flags;
    VkDeviceQueueCreateFlags flags;
    uint32_t engine;
};

struct bf_device_info {
    VkDevice handle;
    PFN_vkGetDeviceProcAddr get_proc_addr; /* of whatever lies below */
    VkResult (*set_loader_data)(VkDevice device, void *object);
    uint32_t engine_count, queue_count;
    const struct bf_engine_info *engines;
    const struct bf_queue_info *queues;
    bool serialize_submits;
    uint32_t background_tasks;
    bool developer_mode;
    bool layer;           /* it is the layer's, which sees all of the program's calls */
    uint32_t api_version; /* with a layer: what the program may use of the device */
    struct bf_trace *trace;
    struct bf_observer *observer; /* NULL: none; stays until the device is destroyed */
    double timestamp_period_ns;
    bool host_query_reset, calibrated_timestamps;
    VkPhysicalDeviceMemoryProperties memory;
    bool native_fences;
    bool buffer_addresses, shader_int64; /* the features are enabled */
    VkDeviceSize host_pointer_alignment; /* VK_EXT_external_memory_host is enabled; else 0 */
    enum bf_fence_log_mode fence_log;
    struct bf_sharing sharing;
};

/*
 * The device below must have been made with timelineSemaphore and synchronization2 enabled.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs
 * is missing), and those of vkCreateSemaphore and vkCreateCommandPool.
 */
BF_SHARED VkResult bf_device_create(const struct bf_device_info *info, struct bf_device **device);

/* Makes the device known to bfGetDevice, and to the functions of the C API. */
void bf_device_register(struct bf_device *device);
void bf_device_unregister(struct bf_device *device);

/* The live device that was made of a VkDevice; NULL: none. */
struct bf_device *bf_device_find(VkDevice handle);

/* The queue that the program knows by these, or NULL. */
BF_SHARED struct bf_queue *bf_device_find_queue(struct bf_device *device, uint32_t family,
                                                uint32_t index, VkDeviceQueueCreateFlags flags);

/* The first of the program's queues on the driver's queue, or NULL. */
BF_SHARED struct bf_queue *bf_device_queue_on(const struct bf_device *device, VkQueue handle);

/* While the program has no queue yet, or none any more. NULL: nobody any more. */
BF_SHARED void bf_device_observe_executes(struct bf_device *device,
                                          const struct bf_execute_observer *observer);

/* The live device behind a handle, else NULL and one line that names the call. */
struct bf_device *bf_device_of(BfDevice handle, const char *call);

/* The queue behind the program's handle, wrapped by the layer, or the driver's own; else NULL and
 * one line that names the call. */
struct bf_queue *bf_device_vkqueue(BfDevice handle, VkQueue queue, const char *call);

/* The program has waited for everything, as vkDestroyDevice asks. Ends and joins all threads. */
BF_SHARED void bf_device_destroy(struct bf_device *device);

/* vkDeviceWaitIdle. Errors: VK_ERROR_DEVICE_LOST, out of memory from the driver. */
BF_SHARED VkResult bf_device_wait_idle(struct bf_device *device);

/* vkGetQueryPoolResults: with VK_QUERY_RESULT_WAIT_BIT it may wait for work that is still held,
 * which the driver must not be asked to do. */
BF_SHARED VkResult bf_device_query_results(struct bf_device *device, VkQueryPool pool,
                                           uint32_t first, uint32_t count, size_t size, void *data,
                                           VkDeviceSize stride, VkQueryResultFlags flags);

/* Once: says where, marks every engine so that the next pump drops what is held, and wakes every
 * waiter. Returns VK_ERROR_DEVICE_LOST. Callers that hold no engine's lock use bf_device_lost,
 * which pumps as well. */
VkResult bf_device_lose(struct bf_device *device, const char *where);
BF_SHARED VkResult bf_device_lost(struct bf_device *device, const char *where);

/*
 * For every place that tells the program of the loss; the caller holds no engine's lock. Returns
 * VK_ERROR_DEVICE_LOST.
 *
 *  L-1  The program is told only when nothing is held any more: from then on it may destroy what
 *       the held packets referred to. Proven by tests/layer (devices lost at every submission of a
 *       program).
 *  L-2  By then every fence reads UINT64_MAX and every event registered with one is set. Proven by
 *       tests/fence (loss_midway.c).
 */
BF_SHARED VkResult bf_device_settle(struct bf_device *device);

/* The engines that want pumping, as a mask. */
uint64_t bf_device_dirty_engines(struct bf_device *device);

static inline bool bf_device_is_lost(struct bf_device *device)
{
    return atomic_load(&device->lost);
}

/* Around the driver's submit calls, inside the engine's lock: the setting serialize_submits. */
static inline void bf_device_submit_enter(struct bf_device *device)
{
    if (device->submit_lock)
        bf_lock_acquire(device->submit_lock);
}

static inline void bf_device_submit_leave(struct bf_device *device)
{
    if (device->submit_lock)
        bf_lock_release(device->submit_lock);
}

/* Any packet held or under way to the driver? */
bool bf_device_has_backlog(struct bf_device *device);

#endif
