/* SPDX-License-Identifier: MIT */
/*
 * Shared fences: fences that are open in several processes, or several times in one.
 *
 * The global fence is a page of memory (fence/shared_page.h). Each object that bfCreateFence or
 * bfOpenFenceFd makes is a local one: a slot in the page, a mapping, and a fence like any other,
 * whose value follows the page's. It takes in values that others have set, under its device's
 * pending lock, before a wait is armed or the value is read, and when a thread that sleeps on the
 * slot is woken (fence/shared_watch.h).
 *
 *  SH-6  A value is written to the page in one place (bf_shared_set), when the fence takes it;
 *        values set by others are taken in in one place (bf_shared_absorb). In between, the fence's
 *        own value is the page's as last taken in: F-1 to F-5 hold for it.
 *  SH-7  Every pending signal of a shared fence is watched by a sleeper, so that others see it
 *        without a call of this program's (as X-2). Signals of a fence that has been destroyed
 *        still come.
 *  SH-8  If nobody here waits, no thread is woken by what others do; nor is a waiter whose value
 *        has not been reached.
 *
 * What is passed between programs is one descriptor: an end of a Unix socket whose other end the
 * owner keeps. In it lies one message, which everybody peeks at and nobody removes: the memfd, and
 * the fence's flags. So the kernel vouches for three things that a page can't tell: what the owner
 * has put in (no holder of the far end can put in anything), which process the owner is
 * (SO_PEERPIDFD), and whether it has released the fence in an orderly way (a second message). A
 * lock on the memfd would tell of a death as well, but only to a blocked thread that could be
 * interrupted by nothing but a signal.
 *
 *  SH-9  If the owner's process ends while its object lives, every other object of the fence is
 *        orphaned, for good: it reads UINT64_MAX, satisfies all waits for it, and tells CPU waiters
 *        the reason. No other process can bring that about while the object lives (before Linux
 *        6.5, one that holds the same descriptor can); but one that holds it can take out of the
 *        socket what is in it, so that an owner which has released the fence, and ends, seems to
 *        have died.
 *  SH-10 With BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT the message also contains a
 *        pipe. Each object that isn't destroyed holds its writing end, as does each descriptor in
 *        which the message lies; once all are closed, the kernel tells those whose waiters linger.
 *        The owner writes to it by an open file of its own: of the one in the message, others may
 *        have writing block.
 *
 * Proven by tests/fence (shared.c, shared_peers.c, shared_death.c, shared_random.c).
 */
#ifndef BELFRY_FENCE_SHARED_H
#define BELFRY_FENCE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/fence.h"
#include "fence/shared_page.h"

struct bf_peer_timelines;
struct bf_shared_listener;

/* Guarded by the pending lock once the fence is known to other threads; what never changes can be
 * read without. */
struct bf_shared {
    struct bf_shared_view view;
    BfSyncObjectFlags flags;
    bool owned;      /* bfCreateFence made it */
    uint64_t serial; /* among the device's shared fences */
    int near;        /* the owner's end of the socket; -1 elsewhere */
    int far;         /* the end that is passed to others */
    int owner;   /* the owner's process, as a pidfd; -1: this object is the owner's, or no pidfd */
    int watched; /* SH-9: 'owner' or 'far', whichever tells of the end; -1: none */
    int last[2]; /* SH-10: the pipe, else -1 */
    struct bf_peer_timelines *peer_timelines; /* fence/peer_timeline.h; NULL: nobody is trusted */
    bool left;                                /* destroyed: it has given its slot back */
    bool lingering;                           /* destroyed, with CPU waiters that still wait */
    struct bf_shared_listener *listener;      /* its thread sleeps on the slot; NULL: none yet */
    struct bf_fence *next_listened;
};

/* Flags of bfCreateFence that only shared fences have, or the one that makes one. */
#define BF_FENCE_SHARED_FLAGS                                                                      \
    (BF_SYNC_OBJECT_SHARED_BIT | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT |                                \
     BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT |                                               \
     BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT)

/* Set for a shared fence that was created native: others open it as native where they can. It is in
 * the message only, beside the flags above. */
#define BF_SHARED_NATIVE (UINT32_C(1) << 31)

/* What is in the message. */
#define BF_SHARED_MESSAGE_FLAGS                                                                    \
    (BF_FENCE_SHARED_FLAGS | BF_SHARED_NATIVE | BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT)

/* Makes a new fence, not yet known to anybody, a shared one. Errors: VK_ERROR_TOO_MANY_OBJECTS,
 * VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_create(struct bf_fence *fence, BfSyncObjectFlags flags);

/* The functions below take any fence, and do nothing for one that isn't shared. With the lock
 * held: */

/* The fence is about to take the value: writes it to the page. False: the fence is orphaned, and
 * takes no value; or the program stored it, and others have set a greater one meanwhile (NF-5). */
bool bf_shared_set(struct bf_fence *fence, uint64_t value);

/* Takes in values that others have set. */
void bf_shared_absorb(struct bf_fence *fence, struct bf_effects *effects);

/* The values that its waiters need have changed: writes them to its slot. */
void bf_shared_publish(struct bf_fence *fence);

/* SH-7. */
static inline bool bf_shared_watches(const struct bf_fence *fence)
{
    return fence->shared != NULL;
}

/* The device is lost; called before its fences get their last value. */
void bf_shared_lose(struct bf_fence *fence);

/* The handle is being destroyed: do CPU waiters keep the object alive (SH-10)? Then only the waits
 * of queues end, and the handle's reference stays. */
bool bf_shared_linger(struct bf_fence *fence, struct bf_effects *effects);

/* A signal of the handle's, perhaps the last one, has been applied. The pending lock is held. */
void bf_shared_update_applied(struct bf_fence *fence);

/* Frees it, with the last reference. */
void bf_shared_free(struct bf_shared *shared);

/* The process that promised a signal to a queue's GPU wait has ended (SH-18): orphans the fence.
 * True: as below. */
bool bf_shared_abandoned(struct bf_fence *fence, struct bf_effects *effects);

/* The owner's process has ended (SH-9); all other objects are closed, or the last waiter has left
 * (SH-10). True: the caller calls bf_shared_leave and releases the handle's reference. */
bool bf_shared_owner_ended(struct bf_fence *fence, struct bf_effects *effects);
bool bf_shared_end_lingering(struct bf_fence *fence, struct bf_effects *effects);

/* Without the lock: */

/* Before its value is read: takes in what others have set. */
void bf_shared_look(struct bf_fence *fence);

/* Before a wait for it is armed: makes a thread sleep on its slot. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY (no memory, or no thread). */
VkResult bf_shared_listen(struct bf_fence *fence);

/* For a native fence: its value in memory follows all values that others set. Errors: as
 * bf_shared_listen. */
VkResult bf_shared_follow(struct bf_fence *fence);

/* VK_ERROR_INVALID_EXTERNAL_HANDLE once it is orphaned. */
VkResult bf_shared_check(struct bf_fence *fence);

/* It has been marked destroyed: gives everything back but the page itself (SH-7). The owner's end
 * of the socket stays open until the last signal has come. */
void bf_shared_leave(struct bf_fence *fence);

#endif
