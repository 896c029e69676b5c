/*
 * What trusted processes share of a fence beside its page (fence/shared_carrier.h): which queues'
 * signals are on their way, so that another process's GPU can wait for them. A sealed memfd, of
 * which only those learn who exchange the fence with BF_SHARE_TRUSTED_BIT. Nothing here knows of
 * devices.
 *
 * A carrier is a timeline semaphore that all of them have. Of each the area says who signals it, up
 * to which point that has come about, and which values its next points bring the fence.
 *
 *  SH-14 A carrier has one signaller at a time: who holds the kernel's lock on the carrier's byte of
 *        the memfd, on an open file description of its own. The lock is only ever tried, and goes
 *        with its process. A carrier whose signaller has not left it in order is nobody's any more:
 *        what was promised on it may still come, or never.
 *  SH-15 An entry says 'point p brings the value v'. Its writer stores 'begun' = p before the fence
 *        takes the value, and 'applied' = p after. A reader uses an entry only with p above 'begun',
 *        read after his wait was armed: so the value is taken after that, and satisfies the wait by
 *        SH-1 whatever it is set to later. An entry that is overwritten while it is read is not
 *        used; one that has been overwritten costs a wait its short cut, nothing else.
 *  SH-16 Nothing read from the area is an index, a length or a pointer, and every loop ends whatever
 *        the area does meanwhile (as SH-4).
 *
 * Proven by tests/unit (shared_area.c) and tests/fence (shared_trusted*.c).
 */
#ifndef BELFRY_FENCE_SHARED_AREA_H
#define BELFRY_FENCE_SHARED_AREA_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "fence/shared_page.h"

/* So many queues, in all processes, can have signals on their way that others' GPUs wait for. */
#define BF_AREA_CARRIERS 4
/* Of one carrier that are known at once. */
#define BF_AREA_ENTRIES 16
#define BF_AREA_SIZE    8192
#define BF_AREA_MAGIC   UINT64_C(0x6165726166796662) /* "bfyfarea" */
#define BF_AREA_VERSION 1u

struct bf_area_entry {
    _Atomic uint64_t point; /* 0: none, or being written */
    _Atomic uint64_t value;
};

struct bf_area_carrier {
    alignas(64) _Atomic uint64_t begun; /* SH-15 */
    _Atomic uint64_t applied;
    _Atomic uint32_t used; /* it has a signaller, or had one that didn't leave in order */
    struct bf_area_entry entries[BF_AREA_ENTRIES];
};

struct bf_area_slot {
    /* Least value that a blocked queue of the opener's waits for, less one; UINT64_MAX: none. */
    _Atomic uint64_t wanted;
    _Atomic uint32_t gated; /* the opener waits for an 'applied' */
    uint32_t padding;
};

struct bf_area {
    alignas(64) _Atomic uint64_t magic;
    _Atomic uint32_t version;
    struct bf_area_carrier carriers[BF_AREA_CARRIERS];
    struct bf_area_slot slots[BF_SHARED_SLOTS]; /* by the page's slots */
};

_Static_assert(sizeof(struct bf_area) <= BF_AREA_SIZE, "it is mapped whole");

/* One opener's view; the object that has it serialises the calls. */
struct bf_area_view {
    struct bf_area *area;
    int fd;           /* holds the locks; -1 */
    uint32_t claimed; /* carriers that are this opener's, as bits */
};

/* A sealed area, as a descriptor the caller owns.
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_area_create(int *fd);

/* Maps the area behind the descriptor, which stays the caller's.
 * Errors: as bf_shared_page_join's, but for slots. */
VkResult bf_area_join(struct bf_area_view *view, int fd, const char *call);

/* Unmaps it; lets go of what is claimed. Does nothing the second time. */
void bf_area_leave(struct bf_area_view *view);

/* SH-14. False: somebody has it, or nobody can any more. */
bool bf_area_claim(struct bf_area_view *view, uint32_t carrier);
/* All its points have been applied: another may have it. */
void bf_area_unclaim(struct bf_area_view *view, uint32_t carrier);
/* All that are claimed, as if their signaller had died. */
void bf_area_abandon(struct bf_area_view *view);
/* One opener at a time sees to those who wait for one that has. False: another does. */
bool bf_area_begin_release(const struct bf_area_view *view, uint32_t carrier);
void bf_area_end_release(const struct bf_area_view *view, uint32_t carrier);
/* Has somebody else got it, who is alive? */
bool bf_area_is_claimed(const struct bf_area_view *view, uint32_t carrier);

/* A point for the next signaller to begin above, as far as the area knows. */
uint64_t bf_area_last_point(const struct bf_area_view *view, uint32_t carrier);

/* The signaller's: the point is on its way; the fence is about to take its value; it has. Each wakes
 * those openers whom it concerns. Never block. */
void bf_area_publish(struct bf_area_view *view, const struct bf_shared_view *page, uint32_t carrier,
                     uint64_t point, uint64_t value);
void bf_area_begin(struct bf_area_view *view, uint32_t carrier, uint64_t point);
void bf_area_apply(struct bf_area_view *view, const struct bf_shared_view *page, uint32_t carrier,
                   uint64_t point);

/* Somebody else's signal on its way that brings at least the value, of a signaller who is alive:
 * the first of its carrier. */
bool bf_area_find(const struct bf_area_view *view, uint64_t value, uint32_t *carrier,
                  uint64_t *point);
/* The largest value that others' signals on their way bring; false: there are none. */
bool bf_area_largest(const struct bf_area_view *view, uint64_t *value);

static inline bool bf_area_is_applied(const struct bf_area_view *view, uint32_t carrier,
                                      uint64_t point)
{
    return atomic_load(&view->area->carriers[carrier].applied) >= point;
}

/* What the opener's slot of the page is to be woken for; does nothing once it has none. */
void bf_area_want(struct bf_area_view *view, const struct bf_shared_view *page, uint64_t wanted);
void bf_area_gate(struct bf_area_view *view, const struct bf_shared_view *page, bool gated);

#endif
