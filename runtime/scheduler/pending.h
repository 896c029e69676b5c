/* SPDX-License-Identifier: MIT */
/*
 * The pending signals of a device: which signals of fences are on their way, and when each applies.
 *
 * When a queue comes to a signal, everything before it in the queue has been accepted by the
 * driver. What must be complete before the signal applies is then known: a frontier, one epoch per
 * engine, the join of the queue's own last epoch and of the frontiers of all waits it has passed.
 * The signal becomes a pending update; it costs the driver nothing. Whoever asks (a reader, a
 * sleeper, a CPU signal) looks how far the engines are, and retires: applies what is complete.
 *
 *  E-1  A queue's frontier only grows, and holds everything that its next signal comes after: an
 *       accepted execution adds its own epoch, a wait that is passed on account of an update adds
 *       that update's frontier. (A wait that is satisfied adds nothing: all of it is complete.)
 *  E-2  Updates get numbers in the order of acceptance. An update that another one follows, through
 *       any chain of waits, has the smaller number and a frontier contained in the other's.
 *  E-3  Retirement applies, in the order of their numbers, the updates whose frontier lies within
 *       what was seen complete. By E-2, whatever precedes an update in cause is applied before it,
 *       in whichever order the engines' counters were read: rewinding stays legal.
 *  E-4  Where causes can pass unseen, through a semaphore of the program's (fence/import_export.h), the
 *       counters are read until two readings agree: together they were true at one instant.
 *  E-5  A signal that goes in one driver call with the work before it is announced before that call:
 *       once any of the call's work can be seen to be complete, so can the signal. Nothing but its
 *       own fence rests on it until the call has returned (Rule M), and a call that fails takes it
 *       back.
 *  E-6  An engine's work that was seen complete needs neither semaphore nor barrier before the work
 *       of a later vkQueueSubmit2: the epoch's signal made its writes available, and submitting
 *       makes everything available visible (Vulkan, "Availability, Visibility, and Domain
 *       Operations").
 *  E-7  The pending updates are bounded by the work in flight: every so many of them, who
 *       accepts one retires.
 *
 * The lock is a leaf but for the locks of events; no driver call is made under it.
 *
 * Proven by tests/model (E-1 to E-3, E-6 against the ideal machine), tests/fence and tests/random.
 */
#ifndef BELFRY_SCHEDULER_PENDING_H
#define BELFRY_SCHEDULER_PENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/fence.h"
#include "base/heap.h"
#include "base/lock.h"

struct bf_engine;
struct bf_peer_wait;

/* A pending signal. */
struct bf_update {
    struct bf_update *next; /* of its queue, or a spare */
    struct bf_update *next_of_fence, *previous_of_fence;
    bool descends; /* its value is lower than that of the one before */
    struct bf_command_queue *queue;
    struct bf_fence *fence; /* referenced */
    uint64_t value;
    uint64_t number;          /* E-2 */
    struct bf_packet *packet; /* it is announced only (E-5), on behalf of this one; else NULL */
    /* In the heap of the engine that a sleeper waits for on its account. */
    struct bf_heap_node need;
    uint32_t need_engine;
    uint32_t peer_timeline; /* by which other processes' GPUs may wait for it, plus 1; 0: none */
    uint64_t point;         /* of that peer timeline */
    uint64_t frontier[];    /* one epoch per engine */
};

/* What is known of one engine. */
struct bf_pending_engine {
    _Atomic uint64_t completed; /* the epoch it counts as having reached; only grows */
    uint64_t seen; /* the one it was seen to have reached: peer waits may lie between */
    struct bf_peer_wait *peer_waits,
        *last_peer_wait; /* scheduler/peer_wait.h; in order of their epochs */
    struct bf_heap needs;
    struct bf_sleeper *sleeper; /* NULL until the CPU first waits */
};

struct bf_pending {
    struct bf_lock lock;
    struct bf_scheduler *scheduler;
    uint32_t engine_count;
    struct bf_pending_engine *engines;
    uint64_t next_number;
    _Atomic uint32_t count;          /* pending updates */
    _Atomic uint32_t retire_at;      /* E-7 */
    struct bf_command_queue *active; /* queues that have any */
    struct bf_command_queue *queues; /* all of the device, dying ones included */
    struct bf_fence *fences;
    struct bf_update *spares;
    _Atomic bool observes_unseen_causes; /* E-4 */
    _Atomic uint32_t peer_waits;         /* of all engines */
    /* Something is to be done as soon as no lock is held (bf_peer_extension, sweep). */
    _Atomic bool to_sweep;
    bool lost;
    _Atomic bool cpu_waits;      /* there has been one: engines have sleepers */
    struct bf_lock sleeper_lock; /* making sleepers; held over pthread_create */
};

/* What is to be done once the lock has been released, by bf_effects_run. */
struct bf_effects {
    uint64_t engines;          /* to pump */
    uint64_t sleepers;         /* of these engines have something nearer to wait for */
    struct bf_group *fired;    /* threads to wake, groups to free */
    struct bf_fence *exported; /* exported semaphores to signal */
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_pending_init(struct bf_pending *pending, struct bf_scheduler *scheduler);
/* Ends the sleepers. No other call may run or follow. */
void bf_pending_stop(struct bf_pending *pending);
/* Frees the rest, fences that the program has left behind included. */
void bf_pending_finish(struct bf_pending *pending);

/* The caller holds no engine's lock, nor the pending signals'. */
void bf_effects_run(struct bf_scheduler *scheduler, struct bf_effects *effects);

/* The same but for the pumping, which the caller will see to: it may hold an engine's lock. */
void bf_effects_run_but_pump(struct bf_scheduler *scheduler, struct bf_effects *effects);

/* Looks how far the engines are and retires (E-3). Neither lock is held.
 * Errors: VK_ERROR_DEVICE_LOST (the caller tells the device), and those of
 * vkGetSemaphoreCounterValue. */
VkResult bf_pending_retire(struct bf_pending *pending, struct bf_effects *effects);

/* The same for what is known to be complete already; the lock is held. */
void bf_pending_retire_known(struct bf_pending *pending, struct bf_effects *effects);

/* Does anybody want to be woken by the update (F-3, X-2, SH-7)? The lock is held. */
bool bf_pending_is_watched(const struct bf_update *update);

/* The update that an engine's least need is of, or NULL. The lock is held. */
struct bf_update *bf_pending_least_need(const struct bf_pending_engine *engine);

/* An engine was seen to have reached the epoch. The lock isn't held. */
void bf_pending_see(struct bf_pending *pending, uint32_t engine, uint64_t epoch);

/* Within what was seen complete? The lock is held. */
bool bf_pending_is_complete(const struct bf_pending *pending, const uint64_t *frontier);

/* Is everything complete that the queue has handed over and waited for? Looks at no more engines
 * than it must. The lock is held, and is released while it looks. Errors: those of
 * vkGetSemaphoreCounterValue. */
VkResult bf_pending_is_idle(struct bf_pending *pending, struct bf_command_queue *queue, bool *idle);

/* A record for a signal that will be accepted; NULL: out of memory. The lock is held. */
struct bf_update *bf_pending_take_update(struct bf_pending *pending, struct bf_fence *fence,
                                         uint64_t value);
void bf_pending_drop_update(struct bf_pending *pending, struct bf_update *update);

/* The queue has come to the signal, and everything before it has been accepted. The lock is held. */
void bf_pending_accept(struct bf_pending *pending, struct bf_command_queue *queue,
                       struct bf_update *update, struct bf_effects *effects);

/* E-5: the signal of a packet whose call comes next, after the queue's work up to 'epoch' of its
 * engine; confirmed or withdrawn once the call has returned. An update that has been applied
 * meanwhile is no longer the packet's. The lock is held. */
void bf_pending_announce(struct bf_pending *pending, struct bf_command_queue *queue,
                         struct bf_packet *packet, uint64_t epoch, struct bf_effects *effects);
void bf_pending_confirm(struct bf_pending *pending, struct bf_packet *packet,
                        struct bf_effects *effects);
void bf_pending_withdraw(struct bf_pending *pending, struct bf_packet *packet);

/* So many updates are on their way that somebody should retire (E-7). */
bool bf_pending_is_crowded(struct bf_pending *pending);

/* The fence's 'monitored' has sunk: its updates above it want a sleeper. The lock is held. */
void bf_pending_monitor(struct bf_pending *pending, struct bf_fence *fence,
                        struct bf_effects *effects);

/* Adds 'other' to 'frontier'. */
static inline void bf_frontier_join(uint64_t *frontier, const uint64_t *other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (frontier[i] < other[i])
            frontier[i] = other[i];
    }
}

/* Every fence reads UINT64_MAX, all that waits is satisfied (F-5). The lock is not held; an
 * engine's may be. */
void bf_pending_lose(struct bf_pending *pending);

#endif
