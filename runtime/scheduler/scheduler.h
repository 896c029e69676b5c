/* SPDX-License-Identifier: MIT */
/*
 * The scheduler of a device: its engines, the queues on them, and what is known of its semaphores and
 * fences.
 *
 *  L-1  The program is told of a lost device only when nothing is held any more: from then on it may
 *       destroy what the held packets referred to. Proven by tests/layer (devices lost at every
 *       submission of a program).
 *  L-2  By then every fence reads UINT64_MAX and every event registered with one is set. Proven by
 *       tests/fence (loss_midway.c).
 */
#ifndef BELFRY_SCHEDULER_SCHEDULER_H
#define BELFRY_SCHEDULER_SCHEDULER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "base/map.h"
#include "belfry/belfry.h"
#include "gpu/gpu.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/pending.h"
#include "scheduler/queue.h"

struct bf_execute_observer;
struct bf_fence_extension;
struct bf_fences;
struct bf_observer;
struct bf_peer_extension;
struct bf_watcher;

struct bf_scheduler {
    struct bf_gpu gpu; /* first */
    struct bf_label_calls label_calls;

    uint32_t engine_count, queue_count;
    struct bf_engine *engines;
    struct bf_queue *queues; /* the program's VkQueues */
    _Atomic bool shared;     /* some engine has several queues */

    struct bf_map semaphores, vkfences;
    _Atomic bool external_fences;     /* there has been one */
    _Atomic uint32_t deferred_fences; /* fences that held packets carry */
    struct bf_signpost progress;      /* announced when held packets go, or the device is lost */
    _Atomic bool lost;
    _Atomic bool loss_told; /* to the fences and all who wait for them */

    struct bf_lock *submit_lock; /* triage: one lock over all submits; NULL: none */
    struct bf_lock submit_lock_storage;

    struct bf_lock watch_lock; /* leaf lock: the list of watchers */
    struct bf_watcher *watchers;

    struct bf_observer *observer; /* NULL: nobody observes; not owned */
    /* NULL: nobody. Set while the program has no queue yet. */
    const struct bf_execute_observer *execute_observer;

    struct bf_pending pending;                         /* signals of fences that are on their way */
    const struct bf_fence_extension *fence_extension;  /* scheduler/fence.h; NULL: none */
    const struct bf_peer_extension *peer_extension;    /* scheduler/peer_wait.h; NULL: none */
    struct bf_fences *fences;                          /* fence/ owns it */
    _Atomic uint32_t command_queues_made, fences_made; /* for their names */
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

struct bf_scheduler_info {
    struct bf_gpu_info gpu;
    uint32_t engine_count, queue_count;
    const struct bf_engine_info *engines;
    const struct bf_queue_info *queues;
    bool serialize_submits;
    bool layer;                   /* it is the layer's, whose VkQueue handles are Belfry's queues */
    struct bf_observer *observer; /* NULL: none; stays until the device is destroyed */
    const struct bf_fence_extension *fence_extension;
    const struct bf_peer_extension *peer_extension;
};

/* The struct is zeroed; after an error, too, bf_scheduler_finish is to be called. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is missing),
 * and those of vkCreateSemaphore, vkCreateQueryPool and vkCreateCommandPool. */
VkResult bf_scheduler_init(struct bf_scheduler *scheduler, const struct bf_scheduler_info *info);

/* The program has waited for everything, as vkDestroyDevice asks. The first ends and joins all threads;
 * between the two, who keeps something for the device's fences lets go of it. */
void bf_scheduler_stop(struct bf_scheduler *scheduler);
void bf_scheduler_finish(struct bf_scheduler *scheduler);

/* The scheduler of a live device, else NULL and one line that names the call. */
struct bf_scheduler *bf_scheduler_of(BfDevice handle, const char *call);

/* The queue that the program knows by these, or NULL. */
struct bf_queue *bf_scheduler_find_queue(struct bf_scheduler *scheduler, uint32_t family,
                                         uint32_t index, VkDeviceQueueCreateFlags flags);

/* The first of the program's queues on the driver's queue, or NULL. */
struct bf_queue *bf_scheduler_queue_on(const struct bf_scheduler *scheduler, VkQueue handle);

/* The queue behind the program's handle, wrapped by the layer, or the driver's own; else NULL and
 * one line that names the call. */
struct bf_queue *bf_scheduler_vkqueue(BfDevice handle, VkQueue queue, const char *call);

/* While the program has no queue yet, or none any more. NULL: nobody any more. */
void bf_scheduler_observe_executes(struct bf_scheduler *scheduler,
                                   const struct bf_execute_observer *observer);

/* vkDeviceWaitIdle. Errors: VK_ERROR_DEVICE_LOST, out of memory from the driver. */
VkResult bf_scheduler_wait_idle(struct bf_scheduler *scheduler);

/* vkGetQueryPoolResults: with VK_QUERY_RESULT_WAIT_BIT it may wait for work that is still held,
 * which the driver must not be asked to do. */
VkResult bf_scheduler_query_results(struct bf_scheduler *scheduler, VkQueryPool pool,
                                    uint32_t first, uint32_t count, size_t size, void *data,
                                    VkDeviceSize stride, VkQueryResultFlags flags);

/* Once: says where, marks every engine so that the next pump drops what is held, and wakes every
 * waiter. Returns VK_ERROR_DEVICE_LOST. Callers that hold no engine's lock use bf_scheduler_lost,
 * which pumps as well. */
VkResult bf_scheduler_lose(struct bf_scheduler *scheduler, const char *where);
VkResult bf_scheduler_lost(struct bf_scheduler *scheduler, const char *where);

/* For every place that tells the program of the loss (L-1, L-2); the caller holds no engine's lock.
 * Returns VK_ERROR_DEVICE_LOST. */
VkResult bf_scheduler_settle(struct bf_scheduler *scheduler);

/* The engines that want pumping, as a mask. */
uint64_t bf_scheduler_dirty_engines(struct bf_scheduler *scheduler);

static inline bool bf_scheduler_is_lost(struct bf_scheduler *scheduler)
{
    return atomic_load(&scheduler->lost);
}

/* Any packet held or under way to the driver? */
bool bf_scheduler_has_backlog(struct bf_scheduler *scheduler);

#endif
