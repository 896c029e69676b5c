/* SPDX-License-Identifier: MIT */
/*
 * Fences as programs have them: what a fence is beside its core (scheduler/fence.h), for all kinds alike.
 */
#ifndef BELFRY_FENCE_FENCE_H
#define BELFRY_FENCE_FENCE_H

#include <stdbool.h>

#include "belfry/belfry.h"
#include "scheduler/fence.h"

/* The flags that bfCreateFence takes. */
#define BF_FENCE_FLAGS                                                                             \
    (BF_FENCE_NO_SIGNAL_BIT | BF_FENCE_NO_WAIT_BIT | BF_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT)

/* May the program signal it, or wait for it, on the CPU? 'bit' is what forbids it to queues, too:
 * BF_FENCE_NO_SIGNAL_BIT or BF_FENCE_NO_WAIT_BIT. */
bool bf_fence_cpu_may(const struct bf_fence *fence, BfFenceFlags bit);

/* What bfDestroyFence does, for a queue's own as well. */
void bf_fence_destroy(struct bf_fence *fence);

/* The pending lock is held. Takes in what others than this device's queues and calls have set: other processes, or the
 * program's own GPU work. */
void bf_fence_look_outside(struct bf_fence *fence, struct bf_effects *effects);

/* What fence/ gives the scheduler of a device. */
extern const struct bf_fence_extension bf_fence_extension;
extern const struct bf_peer_extension bf_peer_extension;

/* fence/'s part of a device: made before the scheduler's first fence, stopped when the scheduler has
 * stopped, freed when its last fence has gone. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
struct bf_fences {
    struct bf_peer_timelines *_Atomic spent_peer_timelines; /* to be freed */
    struct bf_shared_watch *shared_watch; /* NULL: none yet (fence/shared_watch.h) */
    uint64_t next_serial;                 /* of the next shared fence */
    struct bf_lock registered_lock; /* which semaphores are known on account of fences alone */
};
VkResult bf_fences_create(struct bf_scheduler *scheduler);
void bf_fences_stop(struct bf_scheduler *scheduler);
void bf_fences_destroy(struct bf_scheduler *scheduler);

#endif
