/* SPDX-License-Identifier: MIT */
/*
 * A fence that is open in several processes, or several times in one.
 *
 * The global fence is a page (fence/shared_page.h). Each object that bfCreateFence or bfOpenFenceFd
 * makes is a local one: a slot in the page, a mapping, and a fence like any other, whose value
 * follows the page's. It takes in what others have set, under its pending lock, before anything is
 * armed or read, and when a thread that sleeps on the slot is woken (fence/shared_watch.h).
 *
 *  SH-6  A value reaches the page in one place (bf_shared_set), when the fence takes it, and what
 *        others have set is taken in in one place (bf_shared_absorb). In between, the fence's own
 *        value is the page's as it was last taken in: F-1 to F-5 hold for it.
 *  SH-7  Every pending signal to a shared fence is watched by a sleeper: others see it without a
 *        call of this program's (as X-2). Those of a fence that has been destroyed still come.
 *  SH-8  Nobody here waits: then no thread is woken by what others do. Whoever waits for more than
 *        is set isn't either.
 *
 * What is passed between programs is one descriptor: an end of a Unix socket whose other end the
 * owner keeps. In it lies one message, which everybody peeks at and nobody takes: the memfd, and the
 * fence's flags. So the kernel vouches for three things that a page can't tell: what the owner has
 * put in (no holder of the far end can), which process the owner is (SO_PEERPIDFD), and whether it
 * has let go in an orderly way (a second message). A lock on the memfd would tell of a death as
 * well, but only to a thread that nothing but a signal could call back.
 *
 *  SH-9  The owner's process ends while its object lives: every other object of the fence is
 *        orphaned, for good. It reads UINT64_MAX, satisfies whatever waits for it, and tells CPU
 *        waiters so. No other peer can bring that about (before Linux 6.5, one who holds the same
 *        descriptor can).
 *  SH-10 With BF_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT the message carries a pipe too. Each
 *        object that isn't destroyed holds its writing end, as does each descriptor in which the
 *        message lies; once all are gone the kernel tells those whose waiters linger.
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

/* Guarded by the pending lock once the fence is known; what never changes can be read without. */
struct bf_shared {
    struct bf_shared_view view;
    BfFenceFlags flags;
    bool owned;      /* bfCreateFence made it */
    uint64_t serial; /* among the device's shared fences */
    int near;        /* the owner's end of the socket; -1 elsewhere */
    int far;         /* what is passed on */
    int owner;       /* the owner's process, as a pidfd; -1: the owner itself, or it can't be had */
    int watched;     /* SH-9: that, or 'far', or -1: nothing can end */
    int last[2];     /* SH-10: the pipe, else -1 */
    struct bf_peer_timelines *peer_timelines; /* fence/peer_timeline.h; NULL: nobody is trusted */
    bool left;                                /* destroyed: it has no slot any more */
    bool lingering;                           /* destroyed, with CPU waiters that stay */
    struct bf_shared_listener *listener;      /* sleeps on its slot; NULL: nobody has waited yet */
    struct bf_fence *next_listened;
};

/* Flags of bfCreateFence that only shared fences have, or the one that makes one. */
#define BF_FENCE_SHARED_FLAGS                                                                      \
    (BF_FENCE_SHARED_BIT | BF_FENCE_CROSS_ADAPTER_BIT | BF_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT |  \
     BF_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT)

/* It was created as a native one: others open it as such, where they can. Beside these flags, in the
 * message alone. */
#define BF_SHARED_NATIVE (UINT32_C(1) << 31)

/* Makes the fence, which nobody knows yet, a shared one. Errors: VK_ERROR_TOO_MANY_OBJECTS,
 * VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_create(struct bf_fence *fence, BfFenceFlags flags);

/* Those below take any fence, and do nothing for one that isn't shared. With the lock held: */

/* The fence is about to take the value: sets it for all. False: it is orphaned, and takes none. */
bool bf_shared_set(struct bf_fence *fence, uint64_t value);

/* Takes in what others have set. */
void bf_shared_absorb(struct bf_fence *fence, struct bf_effects *effects);

/* What it waits for has changed. */
void bf_shared_publish(struct bf_fence *fence);

/* SH-7. */
static inline bool bf_shared_watches(const struct bf_fence *fence)
{
    return fence->shared != NULL;
}

/* The device is lost; called before that counts for its fences. */
void bf_shared_lose(struct bf_fence *fence);

/* The handle has gone: do CPU waiters keep the object (SH-10)? Then all that ends is what queues
 * wait for; the handle's reference goes on. */
bool bf_shared_linger(struct bf_fence *fence, struct bf_effects *effects);

/* The last reference goes. */
void bf_shared_free(struct bf_shared *shared);

/* Who promised what a queue's native wait is for has gone (SH-18): orphaned. True: as below. */
bool bf_shared_abandoned(struct bf_fence *fence, struct bf_effects *effects);

/* The owner's process has ended (SH-9), nobody has the fence open any more, or its last waiter has
 * gone (SH-10). True: it is to be left, and its handle's reference released, by the caller. */
bool bf_shared_owner_ended(struct bf_fence *fence, struct bf_effects *effects);
bool bf_shared_end_lingering(struct bf_fence *fence, struct bf_effects *effects);

/* Without the lock: */

/* Before anything of it is read: takes in what others have set. */
void bf_shared_look(struct bf_fence *fence);

/* Before a wait for it is armed: a thread sleeps on its slot. Errors: VK_ERROR_OUT_OF_HOST_MEMORY
 * (no memory, or no thread). */
VkResult bf_shared_listen(struct bf_fence *fence);

/* A native one (fence/native.h): its word follows whatever others set. Errors: as bf_shared_listen. */
VkResult bf_shared_follow(struct bf_fence *fence);

/* VK_ERROR_INVALID_EXTERNAL_HANDLE once it is orphaned. */
VkResult bf_shared_check(struct bf_fence *fence);

/* It has been marked destroyed: gives back everything but the page itself (SH-7). The owner's end
 * stays open until the last signal has come. */
void bf_shared_leave(struct bf_fence *fence);

#endif
