/*
 * Background processing, one device's part of it: its items, modes and commits. The threads that run
 * the items belong to the process (background/crew.h).
 *
 * BG-1  For each accepted item exactly one of callback and cancel is called. An item is in one place
 *       at a time: the inbox, the device's list, a thread's slot, or the hands of who cancels it; it
 *       is moved by an exchange of the inbox' only word, or under the pool's lock.
 * BG-2  Items of a device are given to threads in the order in which their pushes into the inbox
 *       succeeded. (When a thread is scheduled is the kernel's affair.)
 * BG-3  The word that holds the inbox also says whether it is closed, so accepting an item and
 *       disabling are ordered: an item is either there before the disable, and runs, or its pusher
 *       sees the disable, and cancels it.
 * BG-4  A commit's set is what was accepted before one instant between the return of the drivers'
 *       on_mode and the return of the call, and has not ended then. Where the call disables, the
 *       inbox is closed at that same instant. Items are numbered in order, so the set is done when
 *       the least number that has not ended is beyond it: its event is set then, once.
 * BG-5  The boost takes the items of a commit's set that have not begun, in order. No thread is
 *       promoted: the boost's are others. While such items are left, no later item of that device
 *       begins (BG-2).
 * BG-6  No lock is held over a callback, a cancel or a driver's function. Mode changes of one device
 *       take turns; nothing but another mode change waits for that, and no thread of the pool may
 *       ask for one.
 * BG-7  No idle thread of the pool takes a lock of Belfry's that anybody else takes: items are
 *       accepted without one, and what a worker has to tell it leaves in its slot, for the keeper,
 *       whose priority is normal. So nobody waits for a lock whose holder isn't scheduled. (What else
 *       an item calls, destroying a device say, is its own affair.)
 * BG-8  Destroying ends: the inbox is closed for good first, what has not begun is cancelled on the
 *       destroying thread, what has begun is waited for. All events of commits are set, and no
 *       function of a driver is running, when it returns.
 * BG-9  Whoever blocks in bfWaitForEvents for a commit's event has the rest of that commit boosted,
 *       whichever of the two came first (fence/event.h).
 *
 * Proven by tests/background.
 */
#ifndef BELFRY_BACKGROUND_BACKGROUND_H
#define BELFRY_BACKGROUND_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "belfry/background.h"
#include "base/export.h"

struct bf_background;
struct bf_trace;

struct bf_background_info {
    const void *device;     /* for the trace's and the probes' reader */
    uint32_t tasks;         /* setting background_tasks */
    bool developer_mode;    /* setting developer_mode */
    struct bf_trace *trace; /* NULL: off; not owned */
    const char *proc;       /* where the kernel tells of memory; NULL: "/proc" */
    uint64_t hang_ns;       /* destroying names an item after so long; 0: ten seconds */
};

/* Creates no thread. NULL: out of memory. */
struct bf_background *bf_background_create(const struct bf_background_info *info);

/* BG-8. NULL is allowed. The caller's thread may be one of the pool's. */
void bf_background_destroy(struct bf_background *background);

/* The functions of belfry/background.h. 'call' is named in messages. */
BF_SHARED VkResult bf_background_queue(struct bf_background *background,
                                       PFN_bfProcessingWork callback, PFN_bfProcessingWork cancel,
                                       void *context);
VkResult bf_background_set_mode(struct bf_background *background, BfBackgroundProcessingMode mode,
                                BfMeasurementsAction action, BfEvent event, VkBool32 *further);
BF_SHARED VkResult bf_background_add_driver(struct bf_background *background,
                                            const BfBackgroundDriver *driver);
BfBackgroundProcessingProperties bf_background_properties(struct bf_background *background);

/*
 * The one place that all parts of Belfry ask which change their behaviour by what they have seen
 * (tests/background/adaptive.sh lists them): false under DISABLE_PROFILING_BY_SYSTEM. NULL is
 * allowed, and forbids nothing. Thread-safety: safe, one load.
 */
BF_SHARED bool bf_background_may_adapt(const struct bf_background *background);

#endif
