/* SPDX-License-Identifier: MIT */
/*
 * The threads that wait on behalf of a device's shared fences.
 *
 *  SH-11 Listeners sleep on the slots of fences for which somebody has waited, as many as the
 *        kernel lets one thread sleep on (127; one before Linux 5.16). In each round a listener
 *        reads a slot's turn before it takes in values, so that it misses no later signal's wake-up
 *        (SH-1). When a fence is removed, the listener is woken and forgets the slot in its next
 *        round; until then it may pass an address that is no longer mapped to the kernel, which
 *        refuses it.
 *  SH-12 One thread per device waits in epoll for the end of owners and of last openers (SH-9,
 *        SH-10), from the first such fence on. Each event comes once, and contains a fence's serial
 *        number, never the address of an object that may have been freed. While there are peer
 *        waits, and for a second after, the thread checks every 20 ms for processes that have ended
 *        (SH-18).
 *  SH-13 All of these threads are joined before anything else of the pending signals is stopped.
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

/* Gives the fence's slot a listener. No lock is held. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_watch_slot(struct bf_fence *fence);

/* Watches for the end of its owner and of its last opener. No lock is held. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_TOO_MANY_OBJECTS. */
VkResult bf_shared_watch_ends(struct bf_fence *fence);

/* There may be peer waits (scheduler/peer_wait.h): ensures that the thread runs; there are some: it
 * begins to check for ended processes. No lock is held. Errors of the first: as
 * bf_shared_watch_ends. */
VkResult bf_shared_watch_peers(struct bf_pending *pending);
void bf_shared_watch_peer_waits(struct bf_scheduler *scheduler);

/* The fence lingers no longer: leaves it, and releases its handle's reference. */
void bf_shared_release_ended(struct bf_fence *fence);

/* A lingering fence has no waiter any more: the thread ends it soon. The lock is held. */
void bf_shared_watch_end_lingering(struct bf_pending *pending);

/* After this no thread uses the fence's slot or descriptors. No lock is held. */
void bf_shared_watch_forget(struct bf_fence *fence);

/* SH-13. */
void bf_shared_watch_stop(struct bf_scheduler *scheduler);

#endif
