/* SPDX-License-Identifier: MIT */
/*
 * What a native fence has besides: its current value in a word that the GPU writes, and its
 * monitored value in another that the GPU may read (gpu/value_memory.h).
 *
 *  NF-1  The current value is written by the GPU, behind the work that its signal follows
 *        (gpu/write.h), and by the CPU where the CPU signals.
 *  NF-2  Whenever no signal of the fence is under way, the word is the fence's value. Signals that
 *        others precede get there in order. Those that race (the CPU's beside a queue's, or those of
 *        queues with nothing between them) may be stored in an order that isn't the pending signals': from
 *        then on the fence is watched, and when the last of them has been applied, under the
 *        pending lock and with no store of the fence left in any engine, the word is set to what
 *        the fence has come to. (A word that the CPU can't reach stays as it was stored.)
 *  NF-3  The monitored value follows 'monitored' (F-3): it is written when a CPU waiter comes or
 *        goes, then the current value is looked at again, and whoever it satisfies is let go: a
 *        signal that the new monitored value came too late for is found by that look. The look is
 *        bf_pending_retire's and bf_fence_arm's, in this order: monitored value, engines' counters.
 *
 * The pending lock guards it all. Proven by tests/fence (native.c, native_races.c, native_memory.c).
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
    bool cross_adapter; /* its monitored value is 0 for ever: whoever signals it interrupts */
    bool raced;         /* NF-2; never of one that the program writes: its word is followed */
};

/* Can the device have native fences? */
bool bf_native_is_supported(const struct bf_scheduler *scheduler);

/* A native fence with one reference, its handle. Errors: bfCreateNativeFence's. */
VkResult bf_native_create(struct bf_scheduler *scheduler, const BfNativeFenceCreateInfo *info,
                          struct bf_fence **fence);

/* Makes a fence that the program doesn't know yet a native one; if it is shared, in pages of its
 * own, and following what others set. Errors: bfCreateNativeFence's. */
VkResult bf_native_attach(struct bf_fence *fence, BfNativeFenceType type);

/* With the pending lock held, for native fences. */

/* The word of a fence that the program writes is looked at: the fence takes what is there. */
void bf_native_sample(struct bf_fence *fence, struct bf_effects *effects);

static inline bool bf_native_is_program_written(const struct bf_fence *fence)
{
    return fence->flags & BF_FENCE_PROGRAM_WRITTEN_BIT;
}

/* The CPU has signalled it. */
void bf_native_signalled(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
/* The queue's signal is about to be on its way, behind those that are. */
void bf_native_update_begins(struct bf_fence *fence, const struct bf_command_queue *queue,
                             struct bf_effects *effects);
/* A signal of the queue's has been applied. */
void bf_native_update_applied(struct bf_fence *fence, const struct bf_command_queue *queue,
                              uint64_t value);
/* No signal is under way. */
void bf_native_settled(struct bf_fence *fence);
/* 'monitored' has changed. */
void bf_native_monitored(struct bf_fence *fence);

/* The same as bf_native_sample for who holds no lock. */
void bf_native_look(struct bf_fence *fence);

/* Frees it; calls no driver. */
void bf_native_free(struct bf_fence *fence);

#endif
