/* SPDX-License-Identifier: MIT */
/*
 * A fence: a 64-bit value that may be set to anything, and those who wait for it.
 *
 * Vulkan has no such object. A queue's signal *means* 'this value, once these epochs are reached'
 * (a frontier, scheduler/pending.h); until then it is a pending update. The CPU's signal applies at
 * once. Nothing of a fence is ever given to the driver, so any value may follow any other.
 *
 *  F-1  Updates apply one at a time, each once, under the pending lock: the values that a fence
 *       takes are a sequence, and bfGetFenceValue reads its last element.
 *  F-2  A wait is armed when it is asked for. It is satisfied for good by the first value from then
 *       on that reaches it: arming looks at the value and enters the heap, applying sets the value
 *       and empties the heap up to it, both under the lock. No later value can undo that.
 *  F-3  'monitored' is the least value that a CPU waiter wants, less one; UINT64_MAX when none does.
 *       An update above it is watched by a sleeper (scheduler/sleeper.h), any other by nobody.
 *  F-4  A value, and what it sets off, are seen together: events are set and threads are told under
 *       the lock that the value is set under, and who reads while an update is being applied waits
 *       for that lock. So whoever reads a value finds its events set, and whoever sees an event
 *       reads its value; and neither ever runs ahead of what caused it.
 *  F-5  Destroying a fence, or losing the device, satisfies whatever waits for it.
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

/* One value of one fence, waited for by a queue (as part of its packet) or by the CPU (as part of a
 * group). Everything is guarded by the pending lock. */
struct bf_wait {
    struct bf_heap_node node;           /* its key is the value */
    struct bf_fence *fence;             /* referenced */
    struct bf_group *group;             /* the CPU's */
    struct bf_observed_fence *observed; /* an event's: the fence, for observers; referenced */
    bool satisfied;                     /* for good (F-2) */
    /* A queue's: it stands blocked at this wait. */
    struct bf_command_queue *blocks;
    struct bf_wait *next_blocked;
};

/* What the CPU waits for in one call: one value, or all or any of several. */
struct bf_group {
    struct bf_group *next_fired;
    struct bf_event *event; /* referenced; NULL: a thread sleeps on 'done' */
    uint32_t missing;       /* waits still to be satisfied before it fires; 0: it has fired */
    uint32_t count;
    bool orphaned; /* what it waited for has lost its owner (SH-9) */
    _Atomic uint32_t done;
    _Atomic uint32_t references; /* a sleeping thread, and who will wake it */
    struct bf_wait waits[];
};

struct bf_fence {
    struct bf_scheduler *scheduler;
    BfFenceFlags flags;
    uint32_t number;                    /* by which traces call it */
    uint32_t log_handle;                /* what logs call it; 0: they don't */
    _Atomic bool always_signaled;       /* it stays as it is (bfUpdateFenceValues) */
    bool queue_owned;                   /* a queue's progress fence */
    struct bf_observed_fence *observed; /* NULL: nobody observes it */
    struct bf_fence *next, *previous;   /* of the device */
    _Atomic uint64_t value;
    _Atomic uint32_t pending; /* pending updates, and one that is being applied */
    struct bf_update *first_update, *last_update; /* these, in order of acceptance */
    uint32_t descents;                            /* of the pending updates, how many descend */
    uint32_t references; /* the handle, and each update, packet and wait that names it */
    bool destroyed;
    uint64_t monitored;         /* F-3 */
    struct bf_heap queue_waits; /* armed, not satisfied */
    struct bf_heap cpu_waits;   /* the same */
    struct bf_wait *blocked;    /* those of queue_waits that a queue stands at */

    /* What it is besides (struct bf_fence_extension); from the first such thing on. */
    bool extended;
    bool orphaned;            /* shared: its owner has gone (SH-9): it takes no value any more */
    struct bf_native *native; /* fence/native.h; NULL: none of that */
    struct bf_shared *shared; /* open elsewhere too, perhaps (fence/shared.h); NULL: it is not */
    struct bf_peer_wait *peer_waits; /* of queues here for other processes' signals of it */
    uint32_t holding_peer_waits;     /* of these, complete on the GPU and not here */

    /* Imported (fence/import_export.h): the value is this semaphore's counter. */
    struct bf_semaphore *imported;
    struct bf_sleeper *sleeper;

    /* Exported: 'exported semaphore' is signalled with each value larger than all before. */
    VkSemaphore exported;
    uint64_t exported_wanted;
    struct bf_lock exported_lock; /* held over vkSignalSemaphore, so that signals only grow */
    uint64_t exported_signalled;
    bool exported_listed; /* somebody is about to signal it */
    struct bf_fence *next_exported;

    /* Imported or exported: what the program calls the semaphore; 0: it is neither. */
    _Atomic uint64_t named;
    struct bf_lock announce_lock; /* held over announcements, so that they only grow; taken first */
    uint64_t announced;

    VkSemaphore registered; /* known to the scheduler on this fence's account alone */
};

/*
 * What a fence may be besides its core: native, shared, imported, exported. fence/ gives this table to
 * the scheduler, which calls it for fences that are 'extended', under the pending lock but where
 * it says otherwise.
 */
struct bf_fence_extension {
    /* The fence is about to take the value. False: it takes none any more. */
    bool (*taking)(struct bf_fence *fence, uint64_t value);
    /* It has taken it, or what it reached is satisfied by a value that others have overwritten. */
    void (*applied)(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
    /* The CPU has signalled it. */
    void (*signalled)(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
    /* 'monitored', or what queues wait for, has changed. */
    void (*monitored)(struct bf_fence *fence);
    /* Does anybody beyond this device's waiters want to learn of the value once it applies? */
    bool (*watches)(const struct bf_fence *fence, uint64_t value);
    /* The queue's signal is about to be on its way, behind those that are; has been applied. */
    void (*update_begins)(struct bf_fence *fence, const struct bf_command_queue *queue,
                          struct bf_effects *effects);
    void (*update_applied)(struct bf_fence *fence, const struct bf_command_queue *queue,
                           uint64_t value);
    /* The device is about to be lost; has been, and the fence has its last value. */
    void (*losing)(struct bf_fence *fence);
    void (*lost)(struct bf_fence *fence);
    /* Its last reference has gone. No driver is called. */
    void (*released)(struct bf_fence *fence);

    /* What the CPU waits for has come to pass: sets the group's event, or lets its thread go. Never
     * blocks. */
    void (*tell)(struct bf_scheduler *scheduler, struct bf_group *group);

    /* Without the lock: the group's thread is woken, and the group released; an exported fence's semaphore is
     * signalled, and the reference released; how far is the semaphore of an imported one? (Errors:
     * those of vkGetSemaphoreCounterValue.) */
    void (*fire)(struct bf_group *group);
    void (*signal_exported)(struct bf_fence *fence);
    VkResult (*observe_imported)(struct bf_fence *fence, struct bf_effects *effects);
};

/* A fence with one reference, its handle. Errors: VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_DEVICE_LOST. */
VkResult bf_fence_create(struct bf_scheduler *scheduler, uint64_t value, BfFenceFlags flags,
                         struct bf_fence **fence);

/* The trace calls it by that name and its number; NULL or "": by its number alone. */
void bf_fence_name_in_trace(struct bf_fence *fence, const char *name);

/* The pending lock is held for all of these, up to bf_fence_of. */

/* The fence takes the value, whoever set it: satisfies what it reaches (F-2). Does nothing once the
 * device is lost or the fence destroyed. */
void bf_fence_apply(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* The CPU sets it. */
void bf_fence_signal(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Whatever waits for it is compared with its value anew. */
void bf_fence_look_again(struct bf_fence *fence, struct bf_effects *effects);

/* The device is lost (F-5). */
void bf_fence_lose(struct bf_fence *fence, struct bf_effects *effects);
/* Those who are told by fence/shared.c. The fence takes a value that is set already; and one that was
 * set, and has been overwritten before anybody here has looked: it satisfies what it reaches. */
void bf_fence_set_value(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);
void bf_fence_satisfy_overwritten(struct bf_fence *fence, uint64_t value,
                                  struct bf_effects *effects);

/* Arms a wait whose fence and value are set. Returns true if it is satisfied already; then it is in
 * no heap. */
bool bf_fence_arm(struct bf_fence *fence, struct bf_wait *wait);

/* Takes a wait back: satisfied or not, nothing refers to it any more. */
void bf_fence_disarm(struct bf_wait *wait);

/* A queue's wait stands at the head of its queue and nothing will satisfy it yet. */
void bf_fence_block(struct bf_wait *wait, struct bf_command_queue *queue);

/* Do the values it will take only grow, as things stand? Then it doesn't matter to a new wait which
 * of its updates have come to pass already, unseen: what reaches the value now, or will, stays. Else
 * who arms a wait has to look first (F-2: from then on). */
bool bf_fence_only_grows(const struct bf_fence *fence);

/* The first pending update that reaches the value and may be rested on (E-5), or NULL. */
struct bf_update *bf_fence_update_reaching(const struct bf_fence *fence, uint64_t value);

/* An update of that value has been accepted: queues that stand at a wait it reaches go on. */
void bf_fence_unblock_queues(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Satisfies all that waits, or the queues alone, whatever they wait for (F-5). */
void bf_fence_satisfy_all(struct bf_fence *fence, struct bf_effects *effects);
void bf_fence_satisfy_queues(struct bf_fence *fence, struct bf_effects *effects);

void bf_fence_reference(struct bf_fence *fence);
void bf_fence_release(struct bf_fence *fence);

/* The live fence behind a handle, else NULL and one line that names the call. No lock. */
struct bf_fence *bf_fence_of(BfFence handle, const char *call);

#endif
