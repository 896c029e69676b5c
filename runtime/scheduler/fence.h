/* SPDX-License-Identifier: MIT */
/*
 * A fence: a 64-bit value that may be set to any value, and the waits for it.
 *
 * Vulkan has no such object. A queue's signal *means* 'this value, once these epochs are reached'
 * (a frontier, scheduler/pending.h); until then it is a pending update. A signal by the CPU applies
 * at once. The driver is told nothing of a fence, so any value may follow any other.
 *
 *  F-1  Updates apply one at a time, each once, under the pending lock: the values of a fence form
 *       a sequence, and bfGetFenceCompletedValue returns its last element.
 *  F-2  A wait is armed in the call that asks for it, and is satisfied for good by the first value
 *       from then on that reaches it: arming compares the value and inserts the wait into the heap,
 *       applying sets the value and empties the heap up to it, both under the lock. No later value
 *       can undo that.
 *  F-3  'monitored' is the least value that a CPU waiter wants, minus one; UINT64_MAX when there is
 *       none. A pending update above it is watched by a sleeper (scheduler/sleeper.h), any other by
 *       nobody.
 *  F-4  A value and its consequences become visible together: events are set and threads are
 *       released under the lock under which the value is set, and a reader waits for that lock
 *       while an update is being applied. So whoever reads a value finds its events set, and
 *       whoever sees an event reads its value; and neither is ever visible before what caused it.
 *  F-5  Destroying a fence, or losing the device, satisfies all waits for it.
 *
 * Proven by tests/fence (F-1 to F-5 by behaviour), tests/model (F-1, F-2 against the ideal machine)
 * and tests/random.
 */
#ifndef BELFRY_SCHEDULER_FENCE_H
#define BELFRY_SCHEDULER_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "belfry/belfry.h"
#include "base/heap.h"
#include "base/lock.h"
#include "scheduler/observer.h"

struct bf_command_queue;
struct bf_scheduler;
struct bf_effects;
struct bf_event;
struct bf_fence;
struct bf_native;
struct bf_peer_wait;
struct bf_semaphore;
struct bf_shared;
struct bf_sleeper;
struct bf_update;

/* A wait for one value of one fence, by a queue (as part of its packet) or by the CPU (as part of a
 * group). Guarded by the pending lock. */
struct bf_wait {
    struct bf_heap_node node;           /* its key is the value */
    struct bf_fence *fence;             /* referenced */
    struct bf_group *group;             /* the CPU's */
    struct bf_observed_fence *observed; /* with an event: the fence, for the observer; referenced */
    bool satisfied;                     /* for good (F-2) */
    /* The queue that is blocked at this wait, or NULL. */
    struct bf_command_queue *blocks;
    struct bf_wait *next_blocked;
};

/* What the CPU waits for in one call: one value, or all or any of several. */
struct bf_group {
    struct bf_group *next_fired;
    struct bf_event *event; /* referenced; NULL: a thread sleeps on 'done' */
    uint32_t missing;       /* waits still to be satisfied before it fires; 0: it has fired */
    uint32_t count;
    bool orphaned; /* a fence of it has lost its owner (SH-9) */
    _Atomic uint32_t done;
    _Atomic uint32_t references; /* the sleeping thread, and the one that will wake it */
    struct bf_wait waits[];
};

struct bf_fence {
    struct bf_scheduler *scheduler;
    BfSyncObjectFlags flags;
    uint32_t number;                    /* in its name in a trace */
    uint32_t log_handle;                /* in logs; 0: it is not logged */
    _Atomic bool always_signaled;       /* its value is fixed (bfUpdateFenceValues) */
    bool queue_owned;                   /* a queue's progress fence */
    _Atomic bool in_rings;              /* rings name it, or did (scheduler/command_queue.h) */
    struct bf_observed_fence *observed; /* NULL: nobody observes it */
    struct bf_fence *next, *previous;   /* of the device */
    _Atomic uint64_t value;
    _Atomic uint32_t pending; /* pending updates, and one that is being applied */
    struct bf_update *first_update, *last_update; /* in order of acceptance */
    bool crossed;        /* since the first of these, there have been some of several queues */
    uint32_t descents;   /* pending updates that are below their predecessor */
    uint32_t references; /* the handle, and each update, packet and wait of it */
    bool destroyed;
    uint64_t monitored;         /* F-3 */
    struct bf_heap queue_waits; /* armed and not satisfied */
    struct bf_heap cpu_waits;   /* the same */
    struct bf_wait *blocked;    /* those of queue_waits at which a queue is blocked */

    /* Native, shared, imported or exported (struct bf_fence_extension): set when it first becomes
     * one of these. */
    bool extended;
    bool orphaned;            /* shared, and its owner has ended (SH-9): its value is fixed */
    struct bf_native *native; /* fence/native.h; NULL: it is not native */
    struct bf_shared *shared; /* fence/shared.h; NULL: it is not shared */
    struct bf_peer_wait *peer_waits; /* of queues here, for signals by other processes */
    uint32_t holding_peer_waits;     /* of these, those that hold back an engine's epoch */

    /* Imported (fence/import_export.h): the value is this semaphore's counter. */
    struct bf_semaphore *imported;
    struct bf_sleeper *sleeper;

    /* Exported: the semaphore, signalled with each value larger than all before. */
    _Atomic bool exporting; /* a thread exports it, or has */
    VkSemaphore exported;
    uint64_t exported_wanted;
    struct bf_lock exported_lock; /* held over vkSignalSemaphore, so that its values grow */
    uint64_t exported_signalled;
    bool exported_listed; /* a thread is about to signal it */
    struct bf_fence *next_exported;

    /* Imported or exported: the program's handle of the semaphore; 0: neither. */
    _Atomic uint64_t named;
    struct bf_lock announce_lock; /* held over announcements, so that their values grow */
    uint64_t announced;

    VkSemaphore registered;       /* the semaphore, if only fences registered it */
    struct bf_semaphore *counted; /* the semaphore that counts the fence; referenced */
};

/*
 * What a native, shared, imported or exported fence does beyond the core. fence/ gives this table
 * to the scheduler, which calls it for fences that are 'extended', under the pending lock except
 * where it says otherwise.
 */
struct bf_fence_extension {
    /* The fence is about to take the value. False: it can take no value any more. */
    bool (*taking)(struct bf_fence *fence, uint64_t value);
    /* It has taken the value, and the waits that the value reaches have been satisfied; or these
     * have, though other values have overwritten it. */
    void (*applied)(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
    /* It has taken a value of the CPU's, this process's or another's. Nobody has been told of it
     * yet (NF-6). */
    void (*signalled)(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
    /* 'monitored', or the values that queues wait for, have changed. */
    void (*monitored)(struct bf_fence *fence);
    /* Does anybody besides this device's waiters have to learn of the value when it applies? */
    bool (*watches)(const struct bf_fence *fence, uint64_t value);
    /* A queue's signal is about to become a pending update, behind the fence's others; it is one no
     * more: the fence has taken its value, if it could. Nobody has been told of it yet (NF-6). */
    void (*update_begins)(struct bf_fence *fence, const struct bf_command_queue *queue,
                          struct bf_effects *effects);
    void (*update_applied)(struct bf_fence *fence, const struct bf_command_queue *queue,
                           uint64_t value);
    /* The device is about to be lost; it has been lost, and the fence has its last value, of which
     * nobody has been told yet (NF-6). */
    void (*losing)(struct bf_fence *fence);
    void (*lost)(struct bf_fence *fence);
    /* Its last reference has been released. Must not call the driver. */
    void (*released)(struct bf_fence *fence);

    /* The group is satisfied: sets its event, or releases its thread. Never blocks. */
    void (*tell)(struct bf_scheduler *scheduler, struct bf_group *group);

    /* Without the lock: wakes the group's thread and releases the group; signals an exported
     * fence's semaphore and releases the reference; reads the semaphore of an imported fence
     * (errors: those of vkGetSemaphoreCounterValue). */
    void (*fire)(struct bf_group *group);
    void (*signal_exported)(struct bf_fence *fence);
    VkResult (*observe_imported)(struct bf_fence *fence, struct bf_effects *effects);
};

/* A fence with one reference, its handle. Errors: VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_DEVICE_LOST. */
VkResult bf_fence_create(struct bf_scheduler *scheduler, uint64_t value, BfSyncObjectFlags flags,
                         struct bf_fence **fence);

/* One of Belfry's own, of value 0, which is neither logged nor traced. Errors: as above. */
VkResult bf_fence_create_own(struct bf_scheduler *scheduler, struct bf_fence **fence);

/* Names it in the trace, by the name and its number; NULL or "": by its number alone. */
void bf_fence_name_in_trace(struct bf_fence *fence, const char *name);

/* The pending lock is held for all functions down to bf_fence_of. */

/* Sets the value, from any source, and satisfies the waits that it reaches (F-2). Does nothing once
 * the device is lost or the fence destroyed. */
void bf_fence_apply(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* The same of a pending update of that queue, which is in no list any more. */
void bf_fence_apply_update(struct bf_fence *fence, const struct bf_command_queue *queue,
                           uint64_t value, struct bf_effects *effects);

/* The same of a signal by the CPU of this process. */
void bf_fence_signal(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Compares all waits with the value again. */
void bf_fence_look_again(struct bf_fence *fence, struct bf_effects *effects);

/* The device is lost (F-5). */
void bf_fence_lose(struct bf_fence *fence, struct bf_effects *effects);
/* For fence/shared.c, whose values come from the shared page: sets a value that is already in the
 * page; and satisfies the waits that a value reaches which was in the page and has been
 * overwritten. */
void bf_fence_set_value(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
void bf_fence_satisfy_overwritten(struct bf_fence *fence, uint64_t value,
                                  struct bf_effects *effects);

/* Arms a wait whose value is set. Returns true if it is satisfied already; then it is in no
 * heap. */
bool bf_fence_arm(struct bf_fence *fence, struct bf_wait *wait);

/* Disarms a wait, satisfied or not: nothing refers to it any more. */
void bf_fence_disarm(struct bf_wait *wait);

/* Records that a queue is blocked at this wait, which is at its head and which no pending update
 * satisfies. */
void bf_fence_block(struct bf_wait *wait, struct bf_command_queue *queue);

/* Will its value only grow, considering the current value and the pending updates? Then a new wait
 * needs not know which updates are already complete: whatever reaches its value now or later stays
 * above it. Otherwise who arms a wait has to retire first (F-2: 'from then on'). */
bool bf_fence_only_grows(const struct bf_fence *fence);

/* The first pending update that reaches the value and on which a wait may rely (E-5), or NULL. */
struct bf_update *bf_fence_update_reaching(const struct bf_fence *fence, uint64_t value);

/* An update with that value has been accepted: releases the queues blocked at waits that it
 * reaches. */
void bf_fence_unblock_queues(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Satisfies all waits, or those of queues only, whatever their values (F-5). */
void bf_fence_satisfy_all(struct bf_fence *fence, struct bf_effects *effects);
void bf_fence_satisfy_queues(struct bf_fence *fence, struct bf_effects *effects);

void bf_fence_reference(struct bf_fence *fence);
void bf_fence_release(struct bf_fence *fence);

/* The live fence with that handle; else NULL and one line that names the call. No lock is held. */
struct bf_fence *bf_fence_of(BfFence handle, const char *call);

#endif
