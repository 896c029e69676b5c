/* SPDX-License-Identifier: MIT */
/*
 * The threads that sleep on account of a device's shared fences.
 *
 *  SH-11 Listeners sleep on the slots of fences that somebody has waited for, as many as the kernel
 *        lets one thread sleep on (127; one before Linux 5.16). Each time round a listener reads a
 *        slot's turn before it takes in what was set, so that no later signal's wake-up is missed
 *        (SH-1). Of a fence that has gone it forgets the slot the next time round, which whoever
 *        takes the fence off brings about; until then it may look at memory that is mapped no more,
 *        which the kernel refuses.
 *  SH-12 One thread per device waits for owners' deaths and last openers (SH-9, SH-10), in epoll,
 *        from the first such fence on. Each event comes once, and is of a serial number, never of an
 *        object that may have gone.
 *        While there are peer waits it looks every 20 ms who has gone (SH-18), and for a second after.
 *  SH-13 All of them are joined before anything else of the pending signals is stopped.
 *
 * Proven by tests/fence (shared.c counts wake-ups; shared_death.c).
 */
#ifndef BELFRY_FENCE_SHARED_WATCH_H
#define BELFRY_FENCE_SHARED_WATCH_H

#include <stdbool.h>

#include <vulkan/vulkan.h>

struct bf_fence;
struct bf_pending;
struct bf_scheduler;
struct bf_shared_watch;

/* The fence's slot has a listener from here on. No lock is held.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_watch_slot(struct bf_fence *fence);

/* Its owner's end, and its last opener's, are noticed from here on. No lock is held.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS. */
VkResult bf_shared_watch_ends(struct bf_fence *fence);

/* Peer waits are there, or may come (scheduler/peer_wait.h): a thread looks now and then who has gone. No lock is
 * held. Errors of the first: as bf_shared_watch_ends. */
VkResult bf_shared_watch_peers(struct bf_pending *pending);
void bf_shared_watch_peer_waits(struct bf_scheduler *scheduler);

/* The fence has lingered and no longer does: it is left, and its handle's reference released. */
void bf_shared_release_ended(struct bf_fence *fence);

/* A lingering fence has no waiter any more: it is ended soon. The lock is held. */
void bf_shared_watch_end_lingering(struct bf_pending *pending);

/* No thread knows the fence's slot or descriptors any more. No lock is held. */
void bf_shared_watch_forget(struct bf_fence *fence);

/* SH-13. */
void bf_shared_watch_stop(struct bf_scheduler *scheduler);

#endif
