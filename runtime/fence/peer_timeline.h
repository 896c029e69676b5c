/* SPDX-License-Identifier: MIT */
/*
 * Peer timelines: how, between trusted processes on one device, GPUs wait for each other's signals
 * of a shared fence without the CPU (BF_SHARE_TRUSTED_BIT).
 *
 * A fence may be rewound, and a semaphore can't. So the owner creates a few peer timelines:
 * timeline semaphores, which only grow, and which all trusted objects of the fence have, as opaque
 * descriptors of the driver, together with the peer memory (fence/peer_memory.h). A queue's signal
 * that can't be settled at once becomes a submission of its own, which signals the next point of a
 * peer timeline; once the driver has accepted it, the peer memory says which value that point
 * brings. Another process's queue that reaches a wait for such a value gives the wait to its
 * driver, and continues. The value itself travels as always: through the page, from the CPU of the
 * process that signals.
 *
 *  SH-17 A point is published when the driver call with its signal has returned, and is above all
 *        earlier points of its peer timeline; a peer timeline has the signals of a single queue, so
 *        they are in order. So Rule M holds across all processes: acceptance is a total order
 *        in which every wait follows its signal.
 *  SH-18 If the process, or the device, that promised a point ends before it has applied it, the
 *        lock on the peer timeline ends too (SH-14), and processes whose GPUs wait for it notice
 *        within some tens of milliseconds. They signal the peer timeline up to that point from the
 *        CPU, so that the GPU continues; and unless the fence has reached the value that was waited
 *        for, their object of the fence is orphaned, as by the owner's death (SH-9). No two
 *        processes signal one peer timeline at the same time.
 *  SH-19 No descriptor of the driver's leaves the process except in a peer handle that was asked
 *        for with the flag, and none is taken out of a peer handle without the flag, or for another
 *        device or driver. A peer handle contains the plain descriptor: who doesn't trust uses only
 *        that.
 *
 * Guarded by the pending lock, except where it says otherwise. Proven by tests/fence
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
    struct bf_semaphore *sem; /* the VkSemaphore is Belfry's own, too */
    /* While it is claimed: */
    const struct bf_command_queue *queue; /* which signals it; only compared, never read */
    uint64_t point;                       /* the last one used */
    uint32_t outstanding;                 /* signals on it that have not been applied */
    bool spent;                           /* it has no points left */
};

/* The peer timelines of a fence's object. Created before other threads know of them, and freed with
 * the object. */
struct bf_peer_timelines {
    struct bf_scheduler *scheduler;
    struct bf_peer_memory_view memory;
    int far;                   /* the peer handle, for exports; -1 */
    struct bf_lock claim_lock; /* held while claiming; taken before the pending lock */
    struct bf_peer_timeline timelines[BF_PEER_MEMORY_TIMELINES];
    struct bf_peer_timelines *next; /* of those to be freed */
};

/* Creates them, without a peer memory; NULL: out of memory. */
struct bf_peer_timelines *bf_peer_timelines_create(struct bf_scheduler *scheduler);

/* Leaves them for bf_peer_timelines_sweep to free: the GPU has finished with them, or the device is
 * lost. NULL is allowed. Any lock may be held. */
void bf_peer_timelines_free(struct bf_peer_timelines *peer_timelines);

/* Frees them. No lock is held. */
void bf_peer_timelines_sweep(struct bf_scheduler *scheduler);

/* The device is about to be lost: its promised points won't come. */
void bf_peer_timelines_lose(struct bf_peer_timelines *peer_timelines);

/* Gives a queue's signal, the update of 'what', a peer timeline if one can be had: then the signal
 * is a submission. Neither an engine's lock nor the pending lock is held. */
void bf_peer_timelines_take(struct bf_command_queue *queue, struct bf_execution *what);

/* An update that has a peer timeline: its submission is put together with this one's signal first;
 * has been accepted; applies; has been applied; goes. */
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
