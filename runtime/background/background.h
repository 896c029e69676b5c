/* SPDX-License-Identifier: MIT */
/*
 * Background processing of one device: its items, modes and commits. The threads that run the items
 * belong to the process (background/worker_pool.h).
 *
 * BG-1  For each accepted item exactly one of callback and cancel is called. An item is in one
 *       place at a time: the inbox, the device's list, a thread's slot, or on the stack of the
 *       thread that cancels it. It is moved by an atomic exchange of the inbox word, or under the
 *       process's lock.
 * BG-2  Items of a device are given to threads in the order in which their pushes into the inbox
 *       succeeded. (The kernel decides when each thread runs.)
 * BG-3  The word that holds the inbox also says whether it is closed, so accepting an item and
 *       disabling are ordered: an item is either there before the disable, and runs, or the thread
 *       that queues it sees the disable, and cancels it.
 * BG-4  A commit's set is what was accepted before one instant between the return of the drivers'
 *       on_mode and the return of the call, and has not ended then. Where the call disables, the
 *       inbox is closed at that same instant. Items are numbered in order, so the set is done when
 *       the least number that has not ended is beyond it: its event is set then, once.
 * BG-5  The boost takes the items of a commit's set that have not begun, in order. No thread's
 *       priority is raised: the boost has threads of its own. While such items are left, no later
 *       item of that device begins (BG-2).
 * BG-6  No lock is held over a callback, a cancel or a driver's function. Mode changes of one
 *       device are serialised; nothing but another mode change waits for that, and no thread of the
 *       pool may change a mode.
 * BG-7  No SCHED_IDLE thread of the pool takes a lock of Belfry's that another thread takes: items
 *       are accepted without a lock, and a worker leaves its results in its slot for the
 *       dispatcher, whose priority is normal. So no thread waits for a lock whose holder isn't
 *       scheduled. (This doesn't cover what an item's own callback calls, bfDetachDevice for
 *       instance.)
 * BG-8  Destroying a device first closes its inbox for good, then cancels on the destroying thread
 *       the items that have not begun, and waits for those that have. When it returns, all events
 *       of commits are set, and no function of a driver is running.
 * BG-9  While a thread blocks in bfWaitForEvents for a commit's event, the rest of that commit is
 *       boosted, no matter which of the two came first (fence/event.h).
 *
 * Proven by tests/background.
 */
#ifndef BELFRY_BACKGROUND_BACKGROUND_H
#define BELFRY_BACKGROUND_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "belfry/background.h"

struct bf_background;
struct bf_trace;

struct bf_background_info {
    const void *device;     /* its address, for traces and probes */
    uint32_t tasks;         /* setting background_tasks */
    bool developer_mode;    /* setting developer_mode */
    struct bf_trace *trace; /* NULL: off; not owned */
    const char *proc;       /* where meminfo and pressure/ are; NULL: "/proc" */
    uint64_t hang_ns;       /* after how long destroying names the item it waits for; 0: 10 s */
};

/* Creates no thread. NULL: out of memory. */
struct bf_background *bf_background_create(const struct bf_background_info *info);

/* BG-8. NULL is allowed. The caller's thread may be one of the pool's. */
void bf_background_destroy(struct bf_background *background);

/* The functions of belfry/background.h. 'call' is named in messages. */
VkResult bf_background_queue(struct bf_background *background, PFN_bfProcessingWork callback,
                             PFN_bfProcessingWork cancel, void *context);
VkResult bf_background_set_mode(struct bf_background *background, BfBackgroundProcessingMode mode,
                                BfMeasurementsAction action, BfEvent event, VkBool32 *further);
VkResult bf_background_add_driver(struct bf_background *background,
                                  const BfBackgroundDriver *driver);
BfBackgroundProcessingProperties bf_background_properties(struct bf_background *background);

/*
 * May Belfry adapt its behaviour to what it has measured? False under DISABLE_PROFILING_BY_SYSTEM.
 * Every part of Belfry that does so asks here (tests/background/adaptive.sh lists them). NULL:
 * true. Thread-safety: safe, one load.
 */
bool bf_background_may_adapt(const struct bf_background *background);

#endif
