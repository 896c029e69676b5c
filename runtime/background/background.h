/* SPDX-License-Identifier: MIT */
/*
 * Background processing of one device: its items, modes and commits. The threads that run the items
 * belong to the process (background/worker_pool.h).
 *
 * BG-1  For each accepted item exactly one of its callback and its cancel function is called. An
 *       item is in one place at a time: the inbox, the device's list, a thread's slot, or on the
 *       stack of the thread that cancels it. It is moved by an atomic exchange of the inbox's word,
 *       or under the process's lock.
 * BG-2  Items of a device are given to threads in the order in which they were put into the inbox.
 *       (When each thread runs is the kernel's decision.)
 * BG-3  The word that holds the inbox also tells whether it is closed, so accepting an item and
 *       disabling background processing are ordered: an item is either in the inbox before it is
 *       closed, and runs, or the thread that queues it finds it closed, and cancels the item.
 * BG-4  The set of a commit is the items that were accepted before one instant, which lies between
 *       the return of the drivers' on_mode functions and the return of the call, and that have not
 *       ended by then. If the call disables background processing, the inbox is closed at that same
 *       instant. Items are numbered in order, so all of the set has ended when the smallest number
 *       that has not ended is greater than the set's last: then the commit's event is set, once.
 * BG-5  The boost runs the items of a commit's set that have not begun, in order. No thread's
 *       priority is raised: the boost has threads of its own. While such items are left, no later
 *       item of that device begins (BG-2).
 * BG-6  No lock is held while a callback, a cancel function or a driver's function runs. Mode
 *       changes of one device are serialised; only other mode changes wait for that, and a thread
 *       of the pool may not change a mode.
 * BG-7  No SCHED_IDLE thread of the pool takes a lock of Belfry's that another thread takes: items
 *       are accepted without a lock, and a worker leaves its results in its slot for the
 *       dispatcher, whose priority is normal. So no thread waits for a lock whose holder isn't
 *       scheduled. (This doesn't include what an item's own callback calls, bfDetachDevice for
 *       instance.)
 * BG-8  Destroying a device first closes its inbox for good, then cancels, on the calling thread,
 *       the items that have not begun, and waits for those that have. When it returns, the events
 *       of all commits are set, and no function of a driver is running.
 * BG-9  In developer mode: while a thread is blocked in bfWaitForEvents for a commit's event, the
 *       rest of that commit's set is boosted, whether the commit or the wait came first
 *       (fence/event.h). Elsewhere a wait changes nothing: a boost needs developer mode, and a
 *       program may not have one by waiting for what it committed without.
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
    const void *device;     /* the device's address, for traces and probes */
    uint32_t tasks;         /* the setting background_tasks */
    bool developer_mode;    /* the setting developer_mode */
    struct bf_trace *trace; /* NULL: no trace; not owned */
    const char *proc;       /* the folder with meminfo and pressure/; NULL: "/proc" */
    _Atomic bool *frozen;   /* set while Belfry may not adapt, for parts below this one; or NULL */
    uint64_t hang_ns;       /* destroying names the item it has waited for this long; 0: 10 s */
};

/* Creates no thread. NULL: out of memory. */
struct bf_background *bf_background_create(const struct bf_background_info *info);

/* BG-8. NULL is allowed. The calling thread may be one of the pool's. */
void bf_background_destroy(struct bf_background *background);

/* The functions of belfry/background.h; messages name 'call'. */
VkResult bf_background_queue(struct bf_background *background, PFN_bfProcessingWork callback,
                             PFN_bfProcessingWork cancel, void *context);
VkResult bf_background_set_mode(struct bf_background *background, BfBackgroundProcessingMode mode,
                                BfMeasurementsAction action, BfEvent event, VkBool32 *further);
VkResult bf_background_add_driver(struct bf_background *background,
                                  const BfBackgroundDriver *driver);
BfBackgroundProcessingProperties bf_background_properties(struct bf_background *background);

/*
 * May Belfry adapt its behaviour to what it has measured? False with DISABLE_PROFILING_BY_SYSTEM.
 * Every part of Belfry that adapts calls this (tests/background/adaptive.sh lists them). NULL:
 * true. Thread-safety: safe, one load.
 */
bool bf_background_may_adapt(const struct bf_background *background);

#endif
