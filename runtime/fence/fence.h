/* SPDX-License-Identifier: MIT */
/*
 * What all kinds of fences have in common beyond the core (scheduler/fence.h), and fence/'s part of
 * a device.
 */
#ifndef BELFRY_FENCE_FENCE_H
#define BELFRY_FENCE_FENCE_H

#include <stdbool.h>

#include "belfry/belfry.h"
#include "scheduler/fence.h"

/* The flags that bfCreateFence takes. */
#define BF_FENCE_FLAGS                                                                             \
    (BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_NO_WAIT_BIT |                                   \
     BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT)

/* May the CPU signal the fence, or wait for it? 'bit' is the flag that forbids it:
 * BF_SYNC_OBJECT_NO_SIGNAL_BIT or BF_SYNC_OBJECT_NO_WAIT_BIT. */
bool bf_fence_cpu_may(const struct bf_fence *fence, BfSyncObjectFlags bit);

/* Destroys a fence, as bfDestroyFence does; also for fences that belong to a queue. */
void bf_fence_destroy(struct bf_fence *fence);

/* Takes in values set by others than this device's queues and API calls: by other processes, or by
 * GPU work of the program's. The pending lock is held. */
void bf_fence_look_outside(struct bf_fence *fence, struct bf_effects *effects);

/* The functions that fence/ gives the scheduler of a device. */
extern const struct bf_fence_extension bf_fence_extension;
extern const struct bf_peer_extension bf_peer_extension;

/* fence/'s part of a device: made before the scheduler's first fence, stopped when the scheduler
 * has stopped, freed when its last fence has gone. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
struct bf_fences {
    struct bf_peer_timelines *_Atomic spent_peer_timelines; /* to be freed without a lock */
    struct bf_shared_watch *shared_watch; /* NULL: none yet (fence/shared_watch.h) */
    uint64_t next_serial;                 /* of the next shared fence */
    struct bf_lock registered_lock;       /* of the semaphores that only fences have registered */
};
VkResult bf_fences_create(struct bf_scheduler *scheduler);
void bf_fences_stop(struct bf_scheduler *scheduler);
void bf_fences_destroy(struct bf_scheduler *scheduler);

#endif
