/* SPDX-License-Identifier: MIT */
/*
 * Native fences: the current value lies in memory to which the GPU writes, and the monitored value
 * in memory that the GPU may read (gpu/value_memory.h).
 *
 *  NF-1  The GPU writes the current value behind the work that its signal follows (gpu/write.h),
 *        and behind a barrier that lets that work's writes reach the host: who polls the value may
 *        use them. The CPU writes it where the CPU signals.
 *  NF-2  Whenever no signal of the fence is pending, the value in memory is the fence's value.
 *        Signals that are ordered among each other write in that order. Signals that race (the
 *        CPU's with a queue's, or those of queues that don't wait for each other) may be written in
 *        another order than the pending signals apply in. From then on the fence is watched; when
 *        the last of them has been applied, under the pending lock and with no GPU write of the
 *        fence left on any engine, the memory is set to the fence's value. (Memory that the CPU
 *        can't access keeps the last written value.)
 *  NF-3  The monitored value in memory follows 'monitored' (F-3): it is written when a CPU waiter
 *        comes or goes; then the current value is read again and satisfied waiters are released, so
 *        that a signal which the new monitored value was too late for is found. That reading is
 *        done by bf_pending_retire and bf_fence_arm, in the order: monitored value, engines'
 *        counters.
 *  NF-4  Both values of a fence of type INTRA_GPU are in memory of the device's own, where it has
 *        such apart from the host's; those of the default type are where the CPU reads them.
 *  NF-5  A fence that the program writes has new values where the memory isn't what was found or
 *        stored there last. If it is shared, each object's memory also takes what others set, and
 *        of a value that is stored here and one that others set at the same time the greater one
 *        counts last: the lesser is one that everybody who waits for it finds satisfied.
 *
 *  NF-6  What the CPU writes to the current value (its own signals, those of other adapters and of
 *        software queues, the last value of a race, a loss) is there before anybody is told of that
 *        value.
 *
 * Guarded by the pending lock. Proven by tests/fence (native.c, native_told.c, native_races.c,
 * native_memory.c, adapters.c) and tests/interface (members.c).
 */
#ifndef BELFRY_FENCE_NATIVE_H
#define BELFRY_FENCE_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "belfry/native_fence.h"
#include "fence/fence.h"
#include "gpu/value_memory.h"

struct bf_command_queue;

struct bf_native {
    BfNativeFenceType type;
    struct bf_value_memory current, monitored;
    /* Its monitored value stays 0: others have to be told of every signal. */
    bool always_interrupts;
    bool raced;      /* NF-2; never for a fence that the program writes */
    uint64_t stored; /* NF-5 */
};

/* Can the device have native fences? */
bool bf_native_is_supported(const struct bf_scheduler *scheduler);

/* A native fence with one reference, its handle. Errors: bfCreateNativeFence's. */
VkResult bf_native_create(struct bf_scheduler *scheduler, const BfNativeFenceCreateInfo *info,
                          struct bf_fence **fence);

/* One that tells how far a queue is, which alone signals it. Errors: the same, and
 * VK_ERROR_FEATURE_NOT_PRESENT, with a line that names the call. */
VkResult bf_native_create_progress(struct bf_scheduler *scheduler, const char *call,
                                   struct bf_fence **fence);

/* Makes a new fence, not yet known to the program, a native one; if it is shared, its memory has
 * pages of its own and follows the values that others set. Errors: bfCreateNativeFence's. */
VkResult bf_native_attach(struct bf_fence *fence, BfNativeFenceType type);

/* With the pending lock held, for native fences. */

/* Takes in the value in memory of a fence that the program writes. */
void bf_native_sample(struct bf_fence *fence, struct bf_effects *effects);

static inline bool bf_native_is_program_written(const struct bf_fence *fence)
{
    return fence->flags & BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
}

/* It has taken a value of the CPU's. */
void bf_native_signalled(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
/* A queue's signal is about to become a pending update, behind the fence's others. */
void bf_native_update_begins(struct bf_fence *fence, const struct bf_command_queue *queue,
                             struct bf_effects *effects);
/* It has taken the value of a signal of the queue's, if it could. */
void bf_native_update_applied(struct bf_fence *fence, const struct bf_command_queue *queue,
                              uint64_t value);
/* No signal is pending: sets the memory to the fence's value. */
void bf_native_settled(struct bf_fence *fence);
/* 'monitored' has changed: writes the monitored value. */
void bf_native_monitored(struct bf_fence *fence);

/* Takes in that value, and those that others have set; for callers that hold no lock. */
void bf_native_look(struct bf_fence *fence);

/* Frees it; calls no driver. */
void bf_native_free(struct bf_fence *fence);

#endif
