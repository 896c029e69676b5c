/* SPDX-License-Identifier: MIT */
/*
 * Sleepers: threads that wait for the GPU on behalf of CPU waiters.
 *
 * An engine gets a sleeper when the CPU first waits for a fence of the device. It waits for one
 * value of the engine's timeline semaphore: the least epoch that a watched update needs; if none
 * needs one, it is parked on a futex. A driver's wait can't be interrupted; so if an earlier epoch
 * is needed than the one a sleeper waits for (a rare inversion), a second thread waits for epoch
 * after epoch until the earlier one is passed.
 *
 *  Z-1  While a watched update is pending, a thread waits for an epoch no later than one that the
 *       update lacks: whoever adds a need wakes the sleeper after releasing the pending lock, and a
 *       thread decides under that lock what it waits for.
 *  Z-2  A sleeper returns from a wait only for needed epochs, except for inversions: updates that
 *       no CPU waiter and no exported semaphore needs wake no thread.
 *
 * An imported fence (fence/import_export.h) has a sleeper of its own, for the counter of its
 * semaphore.
 *
 * Proven by tests/scheduler (wakeups.c counts them).
 */
#ifndef BELFRY_SCHEDULER_SLEEPER_H
#define BELFRY_SCHEDULER_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_scheduler;
struct bf_fence;
struct bf_sleeper;

/* The CPU is about to wait: creates the sleepers of all engines with command queues. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY (no memory, or no thread). No lock is held. */
VkResult bf_sleepers_ensure(struct bf_scheduler *scheduler);

/* The same for one engine, which gets its first command queue, if the CPU has waited before. */
VkResult bf_sleepers_ensure_engine(struct bf_scheduler *scheduler, uint32_t engine);

/* A sleeper for an imported fence; NULL: out of memory, or no thread. */
struct bf_sleeper *bf_sleeper_create_for(struct bf_fence *fence);

/* An earlier value may be needed: the sleeper decides again. The pending lock is not held. NULL is
 * allowed. */
void bf_sleeper_kick(struct bf_sleeper *sleeper);

/* The same for an imported fence's, with the pending lock held. NULL is allowed. */
void bf_sleeper_kick_locked(struct bf_sleeper *sleeper);

/* Ends and joins its threads, as soon as the value they wait for is reached; for an imported fence,
 * after a slice of time at most. One that stays in the driver is left there (L-7). NULL is
 * allowed. */
void bf_sleeper_destroy(struct bf_sleeper *sleeper);

#endif
