/* SPDX-License-Identifier: MIT */
/*
 * The page of memory that all who have a shared fence open look at: its value, and a slot for each
 * of them. It lies in a sealed memfd. Nothing here knows of devices or of fences' objects.
 *
 * There is no lock in it. Others may write anything into it at any time, those too who are not
 * Belfry; what they can bring about is values of the fence and needless or missing wake-ups.
 *
 *  SH-1  Who sets a value stores it, then raises every live slot's 'peak' to it, and then, where it
 *        is above the slot's 'monitored', changes the slot's 'turn' and wakes. Who waits writes
 *        'monitored', then takes the peak, then reads the value. All of it is sequentially
 *        consistent: either the one who sets sees the wait, or the one who waits sees the value.
 *  SH-2  A slot's peak is the largest value set since its opener last took it. So a value that is
 *        overwritten before its opener looks satisfies what it reached: who arms a wait takes the
 *        peak first, on account of the waits before, and once more when the wait is published.
 *  SH-3  The value is one word, and its last store is what everybody reads: of two signals that
 *        race either may come last, but it is the same one for all. Until a signal's call has
 *        returned, a wait that is armed meanwhile may be satisfied by it though another signal has
 *        overwritten it already. Who is killed in the midst of a signal may have told some and not
 *        others: these learn of the value when they next look.
 *  SH-4  Nothing read from the page is an index, a length, a pointer or a process's number; bits
 *        are masked, and every loop ends whatever the page does meanwhile.
 *  SH-5  A slot is its opener's while the kernel holds the lock on the slot's byte of the memfd, on
 *        an open file description that nobody else has. It is only ever tried. A dead opener's is
 *        let go by the kernel, and the next opener takes the slot over.
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

/* Those who may have one fence open at once. */
#define BF_SHARED_SLOTS   126
#define BF_SHARED_SIZE    8192
#define BF_SHARED_MAGIC   UINT64_C(0x65636e6566796662) /* "bfyfence" */
#define BF_SHARED_VERSION 1u

struct bf_shared_slot {
    alignas(64) _Atomic uint64_t peak; /* SH-2; 0: none */
    _Atomic uint64_t monitored;        /* least value waited for, less one; UINT64_MAX: none */
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

/* Sealed memory of that name and size in bytes, all 0, as a descriptor the caller owns.
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_shared_memory_create(const char *name, size_t size, int *fd);

/* Maps such memory, through an open file description of its own, which is the caller's as the
 * mapping is. Errors: bf_shared_page_join's. */
VkResult bf_shared_memory_open(int fd, size_t size, const char *call, int *own, void **memory);

/* A sealed page with that value, as a descriptor the caller owns.
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (descriptors), VK_ERROR_OUT_OF_HOST_MEMORY. */
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

/* The one function that writes the value: stores it and tells the other openers (SH-1). Never
 * blocks. */
void bf_shared_page_set(struct bf_shared_view *view, uint64_t value);

/* The other openers' slots, as far as they claim to live (SH-5), one after the other. */
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

/* Changes the word of another's slot and wakes who sleeps on it. */
void bf_shared_page_wake_slot(const struct bf_shared_view *view, uint32_t slot);

/* The largest value that others have set since the last call; 0: none was. */
uint64_t bf_shared_page_take_peak(struct bf_shared_view *view);

/* From now on the opener is woken for every value that others set. */
void bf_shared_page_follow(struct bf_shared_view *view);

/* What to be woken for (SH-1). */
void bf_shared_page_monitor(struct bf_shared_view *view, uint64_t monitored);

static inline uint64_t bf_shared_page_value(const struct bf_shared_view *view)
{
    return atomic_load(&view->page->value);
}

/* May there be more to see than a value? */
static inline bool bf_shared_page_has_peak(const struct bf_shared_view *view)
{
    return view->slot < BF_SHARED_SLOTS && atomic_load(&view->page->slots[view->slot].peak) != 0;
}

/* The word to sleep on; the view has a slot. */
static inline _Atomic uint32_t *bf_shared_page_turn(const struct bf_shared_view *view)
{
    return &view->page->slots[view->slot].turn;
}

/* Changes the word and wakes who sleeps on it. The view has a slot. */
void bf_shared_page_wake(struct bf_shared_view *view);

#endif
