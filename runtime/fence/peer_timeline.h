/* SPDX-License-Identifier: MIT */
/*
 * Between trusted processes on one device: GPUs that wait for each other's signals of a shared
 * fence with no CPU in between (BF_SHARE_TRUSTED_BIT).
 *
 * A fence may be rewound, and no semaphore can. So the owner makes a few peer timelines, timeline
 * semaphores that only grow, which all trusted objects have as opaque descriptors of the driver,
 * beside a peer memory of memory (fence/peer_memory.h). A queue's signal that can't be settled at once is
 * a submission of its own, which signals a peer timeline's next point; once the driver has it, the peer memory
 * says which value that point brings. Another process's queue that comes to a wait for such a value
 * gives the wait to its driver, and goes on. The value itself takes the way it always takes, by the
 * page, from the CPU of whoever signals.
 *
 *  SH-17 A point is published when the driver call with its signal has returned, and is above all
 *        before it on its peer timeline; a peer timeline has the signals of one queue, so they come in order.
 *        So Rule M holds over all processes at once: acceptance is a total order in which
 *        every wait follows its signal.
 *  SH-18 Where the process, or the device, that promised a point goes before it has applied it, the
 *        lock on the peer timeline goes (SH-14), and whoever waits natively finds that out within some
 *        tens of milliseconds: it signals the peer timeline up to that point from the CPU, so that the
 *        GPU goes on, and unless the fence has taken the value that was waited for, its object is
 *        orphaned as by the owner's death (SH-9). No two processes signal one peer timeline at a time.
 *  SH-19 No descriptor of the driver's leaves the process but in a peer handle that was asked for
 *        with the flag, and none is taken out of one without it, or for another device or driver.
 *        A peer handle has the plain descriptor in it: who doesn't trust has just that.
 *
 * Guarded by the pending lock, but where it says otherwise. Proven by tests/fence
 * (shared_trusted.c, shared_trusted_death.c).
 */
#ifndef BELFRY_FENCE_PEER_TIMELINE_H
#define BELFRY_FENCE_PEER_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/peer_wait.h"
#include "fence/peer_memory.h"
#include "base/lock.h"

struct bf_command_queue;
struct bf_scheduler;
struct bf_effects;
struct bf_execution;
struct bf_fence;
struct bf_peer_wait;
struct bf_scheduler;
struct bf_semaphore;
struct bf_update;

struct bf_peer_timeline {
    struct bf_semaphore *sem; /* the semaphore behind it is ours, too */
    /* While it is claimed: */
    const struct bf_command_queue *queue; /* which signals it; only ever compared */
    uint64_t point;                       /* the last that was given out */
    uint32_t outstanding;                 /* signals that have it and aren't applied */
    bool spent;                           /* its points have run out */
};

/* An object's. Made before others know of them, and freed with the object. */
struct bf_peer_timelines {
    struct bf_scheduler *scheduler;
    struct bf_peer_memory_view memory;
    int far;                   /* the peer handle, which is passed on; -1 */
    struct bf_lock claim_lock; /* over claiming; taken before the pending signals' */
    struct bf_peer_timeline timelines[BF_PEER_MEMORY_TIMELINES];
    struct bf_peer_timelines *next; /* of those to be freed */
};

/* Those without a peer memory, or NULL: out of memory. */
struct bf_peer_timelines *bf_peer_timelines_create(struct bf_scheduler *scheduler);

/* Hands them over, to be freed by bf_peer_timelines_sweep: the GPU has done with them, or the device is
 * lost. NULL is allowed. Any lock may be held. */
void bf_peer_timelines_free(struct bf_peer_timelines *peer_timelines);

/* Frees them. No lock is held. */
void bf_peer_timelines_sweep(struct bf_scheduler *scheduler);

/* The device is about to be lost: what it has promised won't come. */
void bf_peer_timelines_lose(struct bf_peer_timelines *peer_timelines);

/* A queue's signal, the update of 'what', gets a peer timeline if there is one to be had: then it is a
 * submission. Neither lock is held. */
void bf_peer_timelines_take(struct bf_command_queue *queue, struct bf_execution *what);

/* An update that has a peer timeline: its submission is put together with this one's signal first; has
 * been accepted; applies; has been applied; goes. */
void bf_peer_timeline_number(struct bf_packet *packet);
void bf_peer_timeline_publish(struct bf_update *update);
void bf_peer_timeline_begin(struct bf_update *update);
void bf_peer_timeline_apply(struct bf_update *update);
void bf_peer_timeline_put(struct bf_update *update);

/* Makes a wait, at the head of its queue and unsatisfied, an execution that waits for another
 * process's signal, where there is one that reaches it. The packet has a peer wait. */
bool bf_peer_timelines_resolve(struct bf_packet *packet);

/* The queue is about to be put to sleep on it: it is woken when there is one. False: there is. */
bool bf_peer_timelines_want(struct bf_packet *packet);

/* Has the other process applied what the wait is for? */
bool bf_peer_timelines_are_applied(const struct bf_peer_wait *peer_wait);

/* Somebody here waits for that of the fence's peer waits, or no longer does (SH-21). */
void bf_peer_timelines_expect(struct bf_fence *fence, bool expected);

/* Others may have pending signals that queues here stand and wait for. */
void bf_peer_timelines_look(struct bf_fence *fence, struct bf_effects *effects);

/* SH-18: looks who has gone. No lock is held. */
void bf_peer_timelines_watch(struct bf_scheduler *scheduler);

#endif
