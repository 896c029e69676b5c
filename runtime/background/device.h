/*
 * A device's part of the pool, as the crew sees it. Private to runtime/background.
 */
#ifndef BELFRY_BACKGROUND_DEVICE_H
#define BELFRY_BACKGROUND_DEVICE_H

#include "background/crew.h"
#include "fence/event.h"

/* The inbox' word: the newest task pushed, whose 'next' is the one before it, and these. */
#define BF_INBOX_CLOSED ((uintptr_t)1) /* background work is disabled */
#define BF_INBOX_GONE   ((uintptr_t)2) /* the device is being destroyed */
#define BF_INBOX_FLAGS  (BF_INBOX_CLOSED | BF_INBOX_GONE)

struct bf_commit {
    struct bf_commit *next;
    uint64_t upto; /* the last number of its set */
    uint64_t id;
    struct bf_event *event; /* referenced; NULL: none */
};

struct bf_driver {
    struct bf_driver *next;
    BfBackgroundDriver functions;
    _Atomic bool prepared;
};

/* Something a worker has to tell the trace: it takes no lock itself (BG-7). */
struct bf_note {
    struct bf_note *next;
    uint64_t task, time_ns;
};

struct bf_background {
    struct bf_background *next; /* in the pool's list */
    struct bf_background_info info;
    uint32_t generation;
    _Atomic uintptr_t inbox;
    _Atomic bool frozen;
    _Atomic(struct bf_driver *) drivers; /* newest first */
    _Atomic(struct bf_note *) notes;

    /* Under the pool's lock. */
    struct bf_task *first, *last; /* in order */
    uint64_t last_number;
    uint64_t hastened; /* items up to this number are the boost's */
    struct bf_commit *commits, *last_commit;
    uint32_t running; /* slots that name it */
    bool unprepared, preparing;
    bool orphaned;           /* the last slot frees it */
    struct bf_signpost rest; /* announced when 'running' falls */

    /* Whoever has the turn's. */
    struct bf_lock turn;
    _Atomic uintptr_t changer; /* the thread that has it; 0: none */
    uint64_t epoch, commit_count;
    uint32_t rounds; /* that began with nothing outstanding, and ended with a wish for more */
    bool round_is_clean;
    uint64_t asked_number; /* the last number when the program asked */
};

/* The lock is held. Takes what is in the inbox into the list, and sets or clears flags in the same
 * step. Returns whether there was anything. */
bool bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear);

/* The lock is held: the first item is taken off. */
struct bf_task *bf_background_take(struct bf_background *b);

/* The lock is held: the commits that are done, taken off. */
struct bf_commit *bf_background_done_commits(struct bf_background *b, const struct bf_crew *crew);
/* No lock is held. Sets their events and frees them. */
void bf_background_finish_commits(struct bf_background *b, struct bf_commit *commits);

/* No lock is held; a boost's worker. */
void bf_background_prepare(struct bf_background *b);
/* The lock is held: is any driver yet to be prepared? */
bool bf_background_is_unprepared(struct bf_background *b);

/* The lock is held: a slot names it no more. It may be gone thereafter. */
void bf_background_leave(struct bf_background *b);

#endif
