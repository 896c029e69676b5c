/* SPDX-License-Identifier: MIT */
/*
 * The pages of doorbells. A device has few physical doorbells; a program has as many logical ones
 * as it has queues. A logical doorbell is one page of the program's address space, which is really
 * remapped: onto the page of a physical doorbell while it is connected, else onto the dummy page,
 * which nobody looks at. Nothing here knows of rings, queues or Vulkan's objects.
 *
 * The program rings without a call: it stores its write pointer, stores it to the doorbell too,
 * then loads the doorbell's status; no fence is between the two. It may do so at any time, also
 * while the page is being remapped.
 *
 *  DB-1  From its creation to its destruction a logical doorbell's address has a page that can be
 *        stored to. A remap that the kernel refuses ends with the dummy page, and with ABORT where
 *        that is refused too; the old page is then still there, but where the kernel has run out of
 *        memory in the midst (see below).
 *  DB-2  What was in a ring when its program last loaded CONNECTED is looked at. To disconnect is:
 *        the status is stored; then a barrier in all threads of the process; then the remap; then
 *        the doorbell is marked, for its group to look at the write pointer once more. Whoever
 *        rings either loads the new status after the barrier, or has stored its write pointer
 *        before it.
 *  DB-3  To connect is: the remap; the barrier; the mark; the status. A ring of another thread that
 *        went to the dummy page before the remap, and whose load finds CONNECTED all the same (its
 *        stores were still on their way), is seen when the mark is followed.
 *  DB-4  A ring of a connected doorbell is told to its group, once or more often. A group that
 *        finds it because it held the physical doorbell just before passes it on.
 *  DB-5  Who connects takes a free physical doorbell, else one whose queue is suspended, else one
 *        whose queue is idle; among equals the least recently used.
 *  DB-6  Where there is no such barrier, no doorbell has the status CONNECTED, but
 *        CONNECTED_NOTIFY: its program calls after each ring, or loads a DISCONNECTED status;
 *        either way the write pointer is looked at after that. (Should the kernel refuse the
 *        barrier only when it is first needed, a millisecond is waited for before the mark instead:
 *        no store stays in a processor that long.)
 *  DB-7  ABORT is final.
 *  DB-8  Through the addresses that it is given a program can't write a status, nor make it
 *        writable; nor can it shrink what is mapped.
 *
 * Why a spurious store does no harm: a store under way may reach a physical doorbell that has got
 * another owner meanwhile, and where the dummy page was refused (DB-1) the aborted doorbell may
 * keep its physical page. Such a store is a ring too many: who is told of one looks at its write
 * pointer, and a ring is taken by exchange, so none hides another.
 *
 * Why mmap(MAP_FIXED), and what of it can fail. It checks descriptors, limits, the number of
 * mappings (vm.max_map_count) and filters before it touches the old page, which then stays.
 * Replacing a mapping of one page by another splits none and adds none; physical pages lie apart in
 * their memfd, so that mappings side by side are never merged into one that would have to be split.
 * What is left is that the kernel has no memory for its own bookkeeping after it has removed the
 * old page. The fallback, the dummy page, is tried again with one mapping given back that is held
 * in reserve for this (mremap has the same gap: it unmaps the target first). If that fails too, the
 * doorbell is ABORT, and its address lost. No thread can see the page missing while mmap succeeds:
 * its fault waits for the end of the call.
 *
 * Locks: bf_doorbell_pages.lock is a leaf, held over mmap and membarrier, some tens of
 * microseconds. All functions take it themselves unless they say otherwise. bf_doorbell_group.wake
 * is called under it.
 *
 * Proven by tests/doorbell (page.c, rings.c).
 */
#ifndef BELFRY_DOORBELL_PAGE_H
#define BELFRY_DOORBELL_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

#define BF_DOORBELL_PHYSICAL_MAX 64

/* What a status word says: the numbers of BfDoorbellStatus. */
enum bf_doorbell_state {
    BF_DOORBELL_CONNECTED = 0,
    BF_DOORBELL_CONNECTED_NOTIFY = 1,
    BF_DOORBELL_DISCONNECTED_RETRY = 2,
    BF_DOORBELL_DISCONNECTED_ABORT = 3,
};

/* The system calls by which pages are mapped; tests have some of their own. */
struct bf_doorbell_calls {
    void *(*map)(void *address, size_t size, int protection, int flags, int fd, off_t offset);
    int (*unmap)(void *address, size_t size);
    bool (*barrier)(void); /* bf_membarrier */
};

struct bf_doorbell_words;

/* A device's physical doorbells. */
struct bf_doorbell_pages {
    struct bf_lock lock;
    const struct bf_doorbell_calls *calls;
    bool global;    /* all logical doorbells share one physical one, and none is ever taken away */
    uint32_t count; /* of physical doorbells; 1 in the global model */
    size_t page_size;
    int fd;     /* the dummy page, then the physical ones, each at an even number */
    char *view; /* the runtime's mapping of them */
    void *reserve;
    bool barrier;          /* there is one (DB-6) */
    bool aborted;          /* all of them, for good */
    _Atomic uint64_t uses; /* the clock of DB-5 */
    struct bf_doorbell_page *owners[BF_DOORBELL_PHYSICAL_MAX];
    struct bf_doorbell_group *groups;
    struct bf_doorbell_words *words;
    /* Counted since the beginning. */
    uint64_t connects, victims, refused;
};

/* The doorbells at whose rings one thread looks: those of an engine. */
struct bf_doorbell_group {
    /* Called when doorbells of the group have been marked, by any thread, under the lock: it takes
     * no other lock and does not wait. NULL: the thread never sleeps. */
    void (*wake)(struct bf_doorbell_group *group);

    struct bf_doorbell_group *next;
    struct bf_doorbell_page *pages;
    bool notify;
    uint32_t connected;    /* how many */
    _Atomic uint64_t held; /* the physical doorbells, as bits, that doorbells of the group have */
    _Atomic(struct bf_doorbell_page *) owners[BF_DOORBELL_PHYSICAL_MAX]; /* its own alone */
    _Atomic bool marked;                                                 /* some of its doorbells */
    _Atomic bool told; /* the global doorbell was rung, and another group took that */
    uint64_t turn;     /* how often it was rung; the thread's alone */
};

/* A logical doorbell. It stays where it is from creation to destruction. */
struct bf_doorbell_page {
    /* The program's addresses. */
    uint64_t *doorbell;
    const uint64_t *status;
    uint64_t *last_queued;

    /* What the queue's owner keeps up to date, without a lock (DB-5). */
    _Atomic bool suspended, idle;

    struct bf_doorbell_group *group;
    struct bf_doorbell_page *next, *previous; /* in the group */
    struct bf_doorbell_page *leaving;         /* what is disconnected together with it */
    struct bf_doorbell_words *words;
    uint32_t word;
    int physical;                  /* -1: the dummy page */
    bool gone;                     /* DB-1: aborted, and nothing is mapped at its address */
    _Atomic uint64_t *status_word; /* the runtime's mapping of the status */
    const _Atomic uint64_t *last_queued_word;
    _Atomic uint64_t used;
    _Atomic bool rung;
    uint64_t turn; /* of the group, up to which it was looked at; the group's thread's alone */
};

/*
 * count: of physical doorbells, 1 to BF_DOORBELL_PHYSICAL_MAX. calls: NULL for the system's.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (no memfd), VK_ERROR_TOO_MANY_OBJECTS (descriptors,
 * mappings), VK_ERROR_OUT_OF_HOST_MEMORY.
 */
VkResult bf_doorbell_pages_init(struct bf_doorbell_pages *pages, uint32_t count, bool global,
                                const struct bf_doorbell_calls *calls);
/* All groups have gone. Does nothing for zeroed ones, or after a failed init. */
void bf_doorbell_pages_finish(struct bf_doorbell_pages *pages);

/* Zeroed but for 'wake'. */
void bf_doorbell_group_add(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group);
/* All of its doorbells have gone, and nobody polls it. */
void bf_doorbell_group_remove(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group);

/*
 * Creates a logical doorbell of that group: on the dummy page, RETRY, its last-queued value 0.
 * Errors: VK_ERROR_TOO_MANY_OBJECTS (mappings), VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST
 * (all have been aborted); then there is nothing to destroy.
 */
VkResult bf_doorbell_page_create(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                                 struct bf_doorbell_page *page);
/* Its addresses are gone. What its program wrote before this call is the caller's to look at. The
 * caller keeps the group's thread from polling or taking meanwhile. NULL is allowed. */
void bf_doorbell_page_destroy(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page);

/*
 * Connects it, and takes another's physical doorbell for it where none is free: that one is
 * disconnected with RETRY. Does nothing if it is connected.
 *
 * Errors: VK_ERROR_DEVICE_LOST (ABORT), VK_ERROR_TOO_MANY_OBJECTS (the kernel refuses the remap; it
 * is disconnected as before, or ABORT, as its status says).
 */
VkResult bf_doorbell_page_connect(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page);

/* reason: RETRY or ABORT. One that is disconnected already may get ABORT for RETRY. */
void bf_doorbell_page_disconnect(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page,
                                 enum bf_doorbell_state reason);
/* The same for all of a group, or for all there are, with one barrier. After ABORT for all of them
 * no more are created. */
void bf_doorbell_group_disconnect(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                                  enum bf_doorbell_state reason);
void bf_doorbell_pages_disconnect(struct bf_doorbell_pages *pages, enum bf_doorbell_state reason);

/* Which of the two CONNECTED statuses the group's connected doorbells have, now and when they are
 * connected: true for CONNECTED_NOTIFY. There is no barrier in it, which the caller needs who then
 * looks at the write pointers a last time and sleeps. */
void bf_doorbell_group_notify(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                              bool notify);

/*
 * Has anything been rung or marked since the last call? Then bf_doorbell_page_take says of each of
 * the group's doorbells whether its write pointer is to be looked at. (In the global model: all of
 * them, once somebody has rung.) Each is asked, and whoever is told reads that pointer (acquire)
 * afterwards.
 *
 * Thread-safety: one thread at a time for a group, and no doorbell of the group is destroyed
 * meanwhile. Without the lock, but where groups share a physical doorbell or have just changed one.
 */
bool bf_doorbell_group_poll(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group);
bool bf_doorbell_page_take(struct bf_doorbell_page *page);

/* Has the group look at the doorbell's write pointer once more, and wakes it. Thread-safety: safe,
 * with or without the lock. */
void bf_doorbell_page_mark(struct bf_doorbell_page *page);

/* Thread-safety: safe, without the lock. */
static inline enum bf_doorbell_state bf_doorbell_page_state(const struct bf_doorbell_page *page)
{
    return (enum bf_doorbell_state)atomic_load(page->status_word);
}

/* What the program says it has queued: any value. Thread-safety: safe, without the lock. */
static inline uint64_t bf_doorbell_page_last_queued(const struct bf_doorbell_page *page)
{
    return atomic_load_explicit(page->last_queued_word, memory_order_acquire);
}

#endif
