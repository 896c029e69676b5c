/* SPDX-License-Identifier: MIT */
/*
 * A device's background processing, as background.c and worker_pool.c share it. Private to
 * runtime/background.
 */
#ifndef BELFRY_BACKGROUND_INTERNAL_H
#define BELFRY_BACKGROUND_INTERNAL_H

#include "background/worker_pool.h"
#include "fence/event.h"

/* The inbox is one word: the address of the newest task, whose 'next' is the one pushed before it,
 * and these flags. */
#define BF_INBOX_CLOSED ((uintptr_t)1) /* background work is disabled */
#define BF_INBOX_GONE   ((uintptr_t)2) /* the device is being destroyed */
#define BF_INBOX_FLAGS  (BF_INBOX_CLOSED | BF_INBOX_GONE)

struct bf_commit {
    struct bf_commit *next;
    uint64_t upto; /* the number of the last item in its set */
    uint64_t id;
    struct bf_event *event; /* referenced; NULL: none */
};

struct bf_driver {
    struct bf_driver *next;
    BfBackgroundDriver functions;
    _Atomic bool prepared;
};

/* A cancelled item, for the trace: the dispatcher writes it, since a worker takes no lock
 * (BG-7). */
struct bf_deferred_event {
    struct bf_deferred_event *next;
    uint64_t task, time_ns;
};

struct bf_background {
    struct bf_background *next; /* in the pool's list */
    struct bf_background_info info;
    uint32_t generation;
    _Atomic uintptr_t inbox;
    _Atomic bool frozen;
    _Atomic(struct bf_driver *) drivers; /* newest first */
    _Atomic(struct bf_deferred_event *) deferred;

    /* Under the process's lock. */
    struct bf_task *first, *last; /* in order */
    uint64_t last_number;
    uint64_t hastened; /* items up to this number are run by the boost */
    struct bf_commit *commits, *last_commit;
    uint32_t running; /* slots assigned to it, and others that keep it alive */
    bool unprepared, preparing;
    bool orphaned;           /* destroyed: whoever lowers 'running' to 0 frees it */
    struct bf_signpost rest; /* announced when 'running' falls */

    /* For changes of the mode. */
    struct bf_lock mode_lock;
    _Atomic uintptr_t changer; /* the thread that holds it; 0: none */
    uint64_t epoch, commit_count;
    uint32_t
        rounds; /* that began with nothing outstanding, and ended with a driver asking for more */
    bool round_is_clean;
    uint64_t asked_number; /* last_number when the program last asked whether to go on */
};

/* Moves the inbox's items to the list, and sets and clears flags in the same atomic step. The lock
 * is held. Returns whether there was an item. */
bool bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear);

/* Removes the first item from the list. The lock is held. */
struct bf_task *bf_background_take(struct bf_background *b);

/* Removes the commits that are done from the list. The lock is held. */
struct bf_commit *bf_background_done_commits(struct bf_background *b,
                                             const struct bf_worker_pool *pool);
/* Sets their events and frees them. No lock is held. */
void bf_background_finish_commits(struct bf_background *b, struct bf_commit *commits);

/* Calls pfnPrepare of each driver, on a worker of the boost. No lock is held. */
void bf_background_prepare(struct bf_background *b);
/* Is any driver still to be prepared? The lock is held. */
bool bf_background_is_unprepared(struct bf_background *b);

/* Lowers 'running'. The lock is held. The device may be freed thereafter. */
void bf_background_leave(struct bf_background *b);

#endif
