/* SPDX-License-Identifier: MIT */
/*
 * The peer memory of a shared fence: what trusted processes share of it besides its page
 * (fence/peer_timeline.h), namely which queues' signals are pending, so that another process's GPU
 * can wait for them. It is a sealed memfd that is passed only between processes that exchange the
 * fence with BF_SHARE_TRUSTED_BIT. Nothing here knows of devices.
 *
 * A peer timeline is a timeline semaphore that all of these processes have. For each one, the peer
 * memory says which process signals it, up to which point its signals have been applied, and which
 * values the next points bring the fence.
 *
 *  SH-14 A peer timeline has one signaller at a time: the process that holds the kernel's lock on
 *        the timeline's byte of the memfd, by an open file description of its own. The lock is only
 *        ever tried, and ends with its process. A peer timeline whose signaller did not give it up
 *        in order is never used again: what was promised on it may still come, or never.
 *  SH-15 An entry says 'point p brings the value v'. Its writer stores 'begun' = p before the fence
 *        takes the value, and 'applied' = p after. A reader uses an entry only if p is above
 *        'begun', read after its wait was armed: so the fence takes the value after that and, by
 *        SH-1, satisfies the wait whatever it is set to later. An entry that is overwritten while
 *        it is read is not used; one that has been overwritten costs a wait its short cut, nothing
 *        else.
 *  SH-16 Nothing read from the peer memory is used as an index, a length or a pointer, and every
 *        loop ends whatever the peer memory contains (as SH-4).
 *
 * Proven by tests/fence (peer_memory.c, shared_trusted*.c).
 */
#ifndef BELFRY_FENCE_PEER_MEMORY_H
#define BELFRY_FENCE_PEER_MEMORY_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "fence/shared_page.h"

/* The number of queues, in all processes, whose pending signals other processes' GPUs can wait
 * for. */
#define BF_PEER_MEMORY_TIMELINES 4
/* The number of a peer timeline's points that are known at a time. */
#define BF_PEER_MEMORY_ENTRIES 16
#define BF_PEER_MEMORY_SIZE    8192
#define BF_PEER_MEMORY_MAGIC   UINT64_C(0x6165726166796662) /* "bfyfarea" */
#define BF_PEER_MEMORY_VERSION 1u

struct bf_peer_memory_entry {
    _Atomic uint64_t point; /* 0: none, or being written */
    _Atomic uint64_t value;
};

struct bf_peer_memory_timeline {
    alignas(64) _Atomic uint64_t begun; /* SH-15 */
    _Atomic uint64_t applied;
    _Atomic uint32_t used; /* it has a signaller, or had one that ended without giving it up */
    struct bf_peer_memory_entry entries[BF_PEER_MEMORY_ENTRIES];
};

struct bf_peer_memory_slot {
    /* Least value that a blocked queue of the opener's waits for, minus one; UINT64_MAX: none. */
    _Atomic uint64_t wanted;
    _Atomic uint32_t waits_for_peer; /* the opener waits for an 'applied' */
    uint32_t padding;
};

struct bf_peer_memory {
    alignas(64) _Atomic uint64_t magic;
    _Atomic uint32_t version;
    struct bf_peer_memory_timeline timelines[BF_PEER_MEMORY_TIMELINES];
    struct bf_peer_memory_slot slots[BF_SHARED_SLOTS]; /* by the page's slots */
};

_Static_assert(sizeof(struct bf_peer_memory) <= BF_PEER_MEMORY_SIZE, "it is mapped whole");

/* One opener's view; its owner serialises the calls. */
struct bf_peer_memory_view {
    struct bf_peer_memory *memory;
    int fd;           /* holds the locks; -1 */
    uint32_t claimed; /* peer timelines that are this opener's, as bits */
};

/* A sealed peer memory, as a descriptor the caller owns.
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_peer_memory_create(int *fd);

/* Maps the peer memory behind the descriptor, which stays the caller's.
 * Errors: as bf_shared_page_join's, but for slots. */
VkResult bf_peer_memory_join(struct bf_peer_memory_view *view, int fd, const char *call);

/* Unmaps it and gives up what is claimed. Does nothing the second time. */
void bf_peer_memory_leave(struct bf_peer_memory_view *view);

/* Claims a peer timeline (SH-14). False: another process has it, or it is never used again. */
bool bf_peer_memory_claim(struct bf_peer_memory_view *view, uint32_t peer_timeline);
/* Gives it up in order: all its points have been applied. */
void bf_peer_memory_unclaim(struct bf_peer_memory_view *view, uint32_t peer_timeline);
/* Gives up all that are claimed, as if their signaller had died. */
void bf_peer_memory_abandon(struct bf_peer_memory_view *view);
/* Of a peer timeline whose signaller has ended, one opener at a time releases the waiters. False:
 * another does. */
bool bf_peer_memory_begin_release(const struct bf_peer_memory_view *view, uint32_t peer_timeline);
void bf_peer_memory_end_release(const struct bf_peer_memory_view *view, uint32_t peer_timeline);
/* Has another, living process claimed it? */
bool bf_peer_memory_is_claimed(const struct bf_peer_memory_view *view, uint32_t peer_timeline);

/* The last point used, as far as the peer memory tells. */
uint64_t bf_peer_memory_last_point(const struct bf_peer_memory_view *view, uint32_t peer_timeline);

/* For the signaller: the driver has accepted the point's signal; the fence is about to take its
 * value; it has taken it. Each wakes the openers concerned. Never block. */
void bf_peer_memory_publish(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                            uint32_t peer_timeline, uint64_t point, uint64_t value);
void bf_peer_memory_begin(struct bf_peer_memory_view *view, uint32_t peer_timeline, uint64_t point);
void bf_peer_memory_apply(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                          uint32_t peer_timeline, uint64_t point);

/* Finds another process's pending signal that brings at least the value, of a living signaller: the
 * first one on its peer timeline. */
bool bf_peer_memory_find(const struct bf_peer_memory_view *view, uint64_t value,
                         uint32_t *peer_timeline, uint64_t *point);
/* The largest value that others' pending signals bring; false: there are none. */
bool bf_peer_memory_largest(const struct bf_peer_memory_view *view, uint64_t *value);

static inline bool bf_peer_memory_is_applied(const struct bf_peer_memory_view *view,
                                             uint32_t peer_timeline, uint64_t point)
{
    return atomic_load(&view->memory->timelines[peer_timeline].applied) >= point;
}

/* What wakes the opener's slot of the page; these do nothing once it has no slot. */
void bf_peer_memory_want(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                         uint64_t wanted);
void bf_peer_memory_expect_applied(struct bf_peer_memory_view *view,
                                   const struct bf_shared_view *page, bool waits_for_peer);

#endif
