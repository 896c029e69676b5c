/* SPDX-License-Identifier: MIT */
/*
 * The pending signals of a device: which signals of fences have been accepted but have not been
 * applied, and when each applies.
 *
 * When a queue reaches a signal, the driver has accepted everything before it in the queue. So it
 * is known what must be complete before the signal applies: a frontier, one epoch per engine, which
 * joins the queue's own last epoch and the frontiers of all waits it has passed. The signal becomes
 * a pending update, which costs the driver nothing. Whoever needs the value (a reader, a sleeper, a
 * signal by the CPU) reads how far the engines are, and retires: applies the updates that are
 * complete.
 *
 *  E-1  A queue's frontier only grows, and contains everything that its next signal comes after: an
 *       accepted execution adds its own epoch; a wait that is passed because of a pending update
 *       adds that update's frontier. (A satisfied wait adds nothing: everything before it is
 *       complete.)
 *  E-2  Updates are numbered in the order of acceptance. An update that another one follows,
 *       through any chain of waits, has the smaller number, and its frontier is contained in the
 *       other's.
 *  E-3  Retirement applies, in the order of their numbers, the updates whose frontier was seen
 *       complete. By E-2 whatever causes an update is applied before it, in whichever order the
 *       engines' counters were read: so rewinding stays legal.
 *  E-4  Where a cause can act unseen, the counters are read until two readings agree: then all of
 *       them were true at one instant. It can through a semaphore of the program's
 *       (fence/import_export.h), which Belfry doesn't see; and through the program itself, which
 *       may have learnt otherwise that work of one queue is complete (vkDeviceWaitIdle, a word that
 *       it polls): while several queues' signals are pending on one fence, or any are and other
 *       processes see fences.
 *  E-5  A signal that goes in one driver call with the work before it is announced before that
 *       call: once any of the call's work can be seen complete, the signal can, too. Until the call
 *       has returned nothing but its own fence relies on it (Rule M), and a call that fails
 *       withdraws it.
 *  E-6  Work of an engine that was seen complete needs neither semaphore nor barrier before the
 *       work of a later vkQueueSubmit2: signalling the epoch made its writes available, and
 *       submitting makes everything available visible (Vulkan, "Availability, Visibility, and
 *       Domain Operations").
 *  E-7  The number of pending updates is bounded by the work in flight: whenever enough of them
 *       have gathered, the thread that accepts one retires.
 *
 * The lock ('the pending lock') is a leaf but for the locks of events; no driver call is made under
 * it.
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
    struct bf_update *next; /* of its queue; or the next spare */
    struct bf_update *next_of_fence, *previous_of_fence;
    bool descends; /* its value is below its predecessor's on the fence */
    bool named;    /* by an entry that an interrupt has read in its queue's log */
    struct bf_command_queue *queue;
    struct bf_fence *fence; /* referenced */
    uint64_t value;
    uint64_t number; /* E-2 */
    struct bf_packet
        *packet; /* announced with this packet (E-5), until the call returns; or NULL */
    /* In the heap of an engine whose sleeper waits for it. */
    struct bf_heap_node need;
    uint32_t need_engine;
    uint32_t peer_timeline; /* its number, plus 1; 0: none (fence/peer_timeline.h) */
    uint64_t point;         /* on that peer timeline */
    uint64_t frontier[];    /* one epoch per engine */
};

/* The value that it has; or 'counted', of a progress fence, will have once the driver is given its
 * execution, where '*progress' is that of its queue before. The pending lock is held. */
static inline uint64_t bf_update_value(const struct bf_update *update, bool counted,
                                       uint64_t *progress)
{
    if (!counted)
        return update->value;
    *progress = update->value ? update->value : *progress + 1;
    return *progress;
}

/* The state of one engine. */
struct bf_pending_engine {
    _Atomic uint64_t completed; /* the epoch up to which it counts as complete; only grows */
    uint64_t seen; /* the epoch that was seen complete; peer waits may hold 'completed' back */
    /* scheduler/peer_wait.h; in order of their epochs */
    struct bf_peer_wait *peer_waits, *last_peer_wait;
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
    struct bf_command_queue *active; /* queues with pending updates */
    struct bf_command_queue *queues; /* all of the device, destroyed ones too */
    struct bf_fence *fences;
    struct bf_update *spares;
    _Atomic bool observes_unseen_causes; /* E-4 */
    _Atomic bool shares;                 /* there are, or were, shared fences */
    _Atomic uint32_t crossed;            /* fences that several queues' signals are pending on */
    _Atomic uint32_t peer_waits;         /* of all engines */
    /* bf_peer_extension.sweep is to be called as soon as no lock is held. */
    _Atomic bool to_sweep;
    bool lost;
    _Atomic bool cpu_waits;      /* the CPU has waited: engines have sleepers */
    struct bf_lock sleeper_lock; /* held while sleepers are created; over pthread_create, too */
};

/* Actions for after the lock has been released (bf_effects_run). */
struct bf_effects {
    uint64_t engines;          /* to pump */
    uint64_t sleepers;         /* engines whose sleepers have something earlier to wait for */
    struct bf_group *fired;    /* threads to wake, groups to free */
    struct bf_fence *exported; /* exported semaphores to signal */
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_pending_init(struct bf_pending *pending, struct bf_scheduler *scheduler);
/* Ends the sleepers. No other call may run at the same time or follow. */
void bf_pending_stop(struct bf_pending *pending);
/* Frees the rest, including fences that the program did not destroy. */
void bf_pending_finish(struct bf_pending *pending);

/* The caller holds neither an engine's lock nor the pending lock. */
void bf_effects_run(struct bf_scheduler *scheduler, struct bf_effects *effects);

/* The same without pumping, which the caller does itself: it may hold an engine's lock. */
void bf_effects_run_but_pump(struct bf_scheduler *scheduler, struct bf_effects *effects);

/* Reads how far the engines are, and retires (E-3). No engine's lock is held, nor the pending lock.
 * Errors: VK_ERROR_DEVICE_LOST (the caller declares the device lost), and those of
 * vkGetSemaphoreCounterValue. */
VkResult bf_pending_retire(struct bf_pending *pending, struct bf_effects *effects);

/* Is the update one that the caller asks about? */
typedef bool (*bf_update_choice)(const struct bf_update *update, const void *context);

/*
 * The same for the chosen updates of the queue, or of all (NULL), and what they come after (E-3):
 * the counters of other engines aren't read, and nothing else is retired but what is known to be
 * complete with these. Under E-4 everything is read, as by bf_pending_retire. 'choose' is called
 * with the lock held.
 */
VkResult bf_pending_retire_chosen(struct bf_pending *pending, struct bf_command_queue *queue,
                                  bf_update_choice choose, const void *context,
                                  struct bf_effects *effects);

/* Retires what is already known to be complete; the lock is held. */
void bf_pending_retire_known(struct bf_pending *pending, struct bf_effects *effects);

/* Does anybody have to be woken by the update (F-3, X-2, SH-7)? The lock is held. */
bool bf_pending_is_watched(const struct bf_update *update);

/* The update of the engine's heap with the least epoch, or NULL. The lock is held. */
struct bf_update *bf_pending_least_need(const struct bf_pending_engine *engine);

/* The engine's epoch was seen complete. The lock isn't held. */
void bf_pending_see(struct bf_pending *pending, uint32_t engine, uint64_t epoch);

/* Is everything in the frontier complete? The lock is held. */
bool bf_pending_is_complete(const struct bf_pending *pending, const uint64_t *frontier);

/* Is everything complete that the queue has handed over and waited for? Reads no more engines than
 * it must. The lock is held, and is released while the engines are read. Errors: those of
 * vkGetSemaphoreCounterValue. */
VkResult bf_pending_is_idle(struct bf_pending *pending, struct bf_command_queue *queue, bool *idle);

/* Allocates an update for a signal that will be accepted; NULL: out of memory. The lock is held. */
struct bf_update *bf_pending_take_update(struct bf_pending *pending, struct bf_fence *fence,
                                         uint64_t value);
void bf_pending_drop_update(struct bf_pending *pending, struct bf_update *update);

/* The queue has reached the signal, and the driver has accepted everything before it: the update
 * becomes pending. The lock is held. */
void bf_pending_accept(struct bf_pending *pending, struct bf_command_queue *queue,
                       struct bf_update *update, struct bf_effects *effects);

/* E-5: announces the signal of a packet that goes with the next driver call, after the queue's work
 * up to 'epoch' of its engine. It is confirmed or withdrawn once the call has returned. If the
 * update has been applied meanwhile, the packet no longer refers to it. The lock is held. */
void bf_pending_announce(struct bf_pending *pending, struct bf_command_queue *queue,
                         struct bf_packet *packet, uint64_t epoch, struct bf_effects *effects);
void bf_pending_confirm(struct bf_pending *pending, struct bf_packet *packet,
                        struct bf_effects *effects);
void bf_pending_withdraw(struct bf_pending *pending, struct bf_packet *packet);

/* Are so many updates pending that the caller should retire (E-7)? */
bool bf_pending_is_crowded(struct bf_pending *pending);

/* The fence's 'monitored' has decreased: pending updates above it now need a sleeper. The lock is
 * held. */
void bf_pending_monitor(struct bf_pending *pending, struct bf_fence *fence,
                        struct bf_effects *effects);

/* Joins 'other' to 'frontier'. */
static inline void bf_frontier_join(uint64_t *frontier, const uint64_t *other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (frontier[i] < other[i])
            frontier[i] = other[i];
    }
}

/* The device is lost: every fence reads UINT64_MAX, and all waits are satisfied (F-5). The lock is
 * not held; an engine's lock may be. */
void bf_pending_lose(struct bf_pending *pending);

#endif
