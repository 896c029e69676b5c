/* SPDX-License-Identifier: MIT */
/*
 * The page of a shared fence, mapped by all who have it open: the value, and a slot for each of
 * them. It is a sealed memfd. Nothing here knows of devices or of fences' objects.
 *
 * The page contains no lock. Other processes, also such as don't use Belfry, may write anything to
 * it at any time; all they can bring about is wrong values of the fence and needless or missing
 * wake-ups.
 *
 *  SH-1  Whoever sets a value writes it, then raises every live slot's 'peak' to it and, where it
 *        is above the slot's 'monitored', changes the slot's 'turn' and wakes. Whoever waits writes
 *        'monitored', then takes the peak, then reads the value. All of it is sequentially
 *        consistent, so either the setter sees the wait, or the waiter sees the value.
 *  SH-2  A slot's peak is the largest value set since its opener last took it. So a value that is
 *        overwritten before its opener reads it still satisfies the waits that it reaches: who arms
 *        a wait takes the peak first, for the earlier waits, and again when the wait is published.
 *  SH-3  The value is one 64-bit word, and everybody reads its last store: of two signals that race
 *        either may be the last, but it is the same one for all. Until a signal's call has
 *        returned, a wait that is armed meanwhile may be satisfied by it though another signal has
 *        already overwritten it. A process that is killed during a signal may have told some
 *        openers and not others, which learn of the value when they next read it.
 *  SH-4  Nothing read from the page is used as an index, a length, a pointer or a process number;
 *        bits are masked, and every loop ends whatever the page contains.
 *  SH-5  A slot belongs to its opener while the kernel holds the lock on the slot's byte of the
 *        memfd, by an open file description that nobody else has. The lock is only ever tried. The
 *        kernel releases a dead opener's, and the next opener takes the slot over.
 *
 * Proven by tests/fence (shared_page.c, shared*.c).
 */
#ifndef BELFRY_FENCE_SHARED_PAGE_H
#define BELFRY_FENCE_SHARED_PAGE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* The number of openers that a fence can have at once. */
#define BF_SHARED_SLOTS   126
#define BF_SHARED_SIZE    8192
#define BF_SHARED_MAGIC   UINT64_C(0x65636e6566796662) /* "bfyfence" */
#define BF_SHARED_VERSION 1u

struct bf_shared_slot {
    alignas(64) _Atomic uint64_t peak; /* SH-2; 0: none */
    _Atomic uint64_t monitored;        /* least value waited for, minus one; UINT64_MAX: none */
    _Atomic uint32_t turn;             /* what the opener's thread sleeps on */
    _Atomic uint32_t follows;          /* the opener wants to be woken for every value */
};

struct bf_shared_page {
    alignas(64) _Atomic uint64_t magic;
    _Atomic uint32_t version;
    alignas(64) _Atomic uint64_t value;
    _Atomic uint64_t live[2]; /* which slots to tell: a hint (SH-5) */
    struct bf_shared_slot slots[BF_SHARED_SLOTS];
};

_Static_assert(sizeof(struct bf_shared_page) == BF_SHARED_SIZE, "layout between processes");

/* One opener's view. */
struct bf_shared_view {
    struct bf_shared_page *page;
    uint32_t slot; /* BF_SHARED_SLOTS: it has left */
    int fd;        /* holds the slot's lock; -1 */
};

/* Maps sealed memory (base/sealed_memory.h), by an open file description of its own; both are the
 * caller's. Errors: bf_shared_page_join's. */
VkResult bf_shared_memory_open(int fd, size_t size, const char *call, int *own, void **memory);

/* Creates a sealed page with that value, as a descriptor of the caller's. Errors:
 * VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_page_create(uint64_t value, int *fd);

/*
 * Maps the page behind the descriptor, which stays the caller's, and takes a slot.
 *
 * Errors: VK_ERROR_INVALID_EXTERNAL_HANDLE (size, seals, magic or version are not those of a page;
 * one line that names the call), VK_ERROR_TOO_MANY_OBJECTS (all slots are taken, with a line; no
 * descriptors), VK_ERROR_FEATURE_NOT_PRESENT (no /proc), VK_ERROR_OUT_OF_HOST_MEMORY.
 */
VkResult bf_shared_page_join(struct bf_shared_view *view, int fd, const char *call);

/* Gives the slot back; the page can still be read and written. Does nothing the second time. */
void bf_shared_page_leave(struct bf_shared_view *view);
void bf_shared_page_unmap(struct bf_shared_view *view);

/* Writes the value and tells the other openers (SH-1); no function but these two writes it. Never
 * blocks. */
void bf_shared_page_set(struct bf_shared_view *view, uint64_t value);

/* The same, unless the value isn't 'known' any more but a greater one than this: then false. */
bool bf_shared_page_offer(struct bf_shared_view *view, uint64_t known, uint64_t value);

/* The slots of the other openers that are marked live (SH-5), for iterating over them. */
struct bf_shared_live {
    uint64_t slots[2];
};
struct bf_shared_live bf_shared_page_live(const struct bf_shared_view *view);

static inline bool bf_shared_live_next(struct bf_shared_live *live, uint32_t *slot)
{
    uint32_t word = live->slots[0] ? 0 : 1;
    if (!live->slots[word])
        return false;
    *slot = 64 * word + (uint32_t)__builtin_ctzll(live->slots[word]);
    live->slots[word] &= live->slots[word] - 1;
    return true;
}

/* Changes the 'turn' of another opener's slot and wakes the threads that sleep on it. */
void bf_shared_page_wake_slot(const struct bf_shared_view *view, uint32_t slot);

/* Takes the slot's peak: the largest value that others have set since the last call; 0: none. */
uint64_t bf_shared_page_take_peak(struct bf_shared_view *view);

/* From now on the opener is woken for every value that others set. */
void bf_shared_page_follow(struct bf_shared_view *view);

/* Sets the value above which the opener is woken (SH-1). */
void bf_shared_page_monitor(struct bf_shared_view *view, uint64_t monitored);

static inline uint64_t bf_shared_page_value(const struct bf_shared_view *view)
{
    return atomic_load(&view->page->value);
}

/* Is there a peak to take? */
static inline bool bf_shared_page_has_peak(const struct bf_shared_view *view)
{
    return view->slot < BF_SHARED_SLOTS && atomic_load(&view->page->slots[view->slot].peak) != 0;
}

/* The futex to sleep on; the view has a slot. */
static inline _Atomic uint32_t *bf_shared_page_turn(const struct bf_shared_view *view)
{
    return &view->page->slots[view->slot].turn;
}

/* Changes the opener's own 'turn' and wakes the threads that sleep on it. The view has a slot. */
void bf_shared_page_wake(struct bf_shared_view *view);

#endif
