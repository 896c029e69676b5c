/* SPDX-License-Identifier: MIT */
/*
 * A command queue: what ID3D12CommandQueue is. Its executions, signals and waits go in order, each
 * as soon as it may, on an engine that it shares with the program's VkQueues and with others of its
 * kind.
 *
 *  C-1  Signals and waits that the queue comes to at once (nothing before them is held) are settled
 *       in the call, under the pending lock, and cost no packet. What has to wait is a packet; from
 *       then on all that follow are, until the queue is empty again.
 *  C-2  An execution is put behind everything its queue's frontier holds: another engine's epoch by
 *       a semaphore wait, this engine's by a full barrier before it, unless it was seen complete
 *       (E-6), or an earlier submission on this engine has waited for as much, or a barrier lies
 *       between already. So two executions of one queue don't overlap, nor any execution and what
 *       its queue has waited for.
 *  C-3  A wait is armed in the call (F-2). At the head of its queue it is passed if it is satisfied,
 *       or if an update that reaches it is on its way: then the frontier takes in the update's.
 *  C-4  A destroyed queue lives until its packets have gone, and its signals are applied.
 *
 * Proven by tests/model, tests/fence and tests/random.
 */
#ifndef BELFRY_SCHEDULER_COMMAND_QUEUE_H
#define BELFRY_SCHEDULER_COMMAND_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "belfry/belfry.h"
#include "scheduler/fence.h"
#include "scheduler/queue.h"

struct bf_update;

struct bf_command_queue {
    struct bf_queue base; /* first */
    BfQueueType type;
    BfQueueFlags flags;
    _Atomic uint32_t priority;          /* BfQueuePriority */
    struct bf_observed_queue *observed; /* NULL: nobody observes it */

    /* The GPU's count of executions that are complete: a native fence; NULL until asked for. Set
     * under the engine's lock. */
    struct bf_fence *_Atomic progress;

    /* Under the engine's lock. */
    uint64_t progressed;   /* executions counted by it that the driver has been called with */
    bool leaving;          /* destroyed: the engine drops it once it is empty */
    uint64_t issued_epoch; /* of its last execution that the driver has been called with */
    uint32_t position; /* in the batch being put together: of its last execution, plus 1; 0: none */

    /* Under the pending lock. */
    bool gone;                                              /* the engine has dropped it */
    struct bf_command_queue *next, *previous;               /* of the device */
    struct bf_command_queue *next_active, *previous_active; /* with pending updates */
    struct bf_update *first_update, *last_update;
    uint64_t frontier[]; /* E-1; one epoch per engine */
};

/* The command queue that a queue is part of, or NULL: it is a VkQueue. */
static inline struct bf_command_queue *bf_command_queue_of(struct bf_queue *queue)
{
    return queue->is_command_queue ? (struct bf_command_queue *)queue : NULL;
}

/* Are its packets looked at before those of normal priority? */
bool bf_command_queue_is_preferred(struct bf_queue *queue);

/* The queue has come to a signal. The pending lock is held. */
void bf_command_queue_log_signal(struct bf_command_queue *queue, const struct bf_fence *fence,
                                 uint64_t value);

/* A wait it stood at needs it no longer: it may be scanned again. Returns its engine, as a mask. */
uint64_t bf_command_queue_unblocked(struct bf_command_queue *queue);

/* Frees it if nothing is left of it (C-4); the pending lock is held. */
void bf_command_queue_reap(struct bf_command_queue *queue);

/* For the pump, with the engine's lock held. */

enum bf_passage {
    BF_PASSAGE_DONE,    /* it is settled: take it off the list */
    BF_PASSAGE_BATCHED, /* it goes with the batch, behind an execution that is in it */
    BF_PASSAGE_LATER,   /* look again when the batch has gone */
    BF_PASSAGE_BLOCKED, /* the queue has been put to sleep on it */
    BF_PASSAGE_NATIVE,  /* it has become an execution, which waits natively */
};

/* A signal or a wait at the head of the queue; 'batched' says that executions of the queue are in
 * the batch before it. Engines to pump are added to *engines. */
enum bf_passage bf_command_queue_pass(struct bf_command_queue *queue, struct bf_packet *packet,
                                      bool batched, uint64_t *engines);

/* Takes the native wait for an imported fence out of an execution if the fence has been destroyed
 * (F-5). */
void bf_command_queue_waive(struct bf_command_queue *queue, struct bf_packet *packet);

/* Gives an execution its semaphore waits and its barrier (C-2). */
void bf_command_queue_prepare(struct bf_command_queue *queue, struct bf_packet *packet);

/* The packet goes with the next driver call (E-5). Sleepers to kick are added to *effects, for after
 * the call: the GPU comes first. */
void bf_command_queue_announce(struct bf_command_queue *queue, struct bf_packet *packet,
                               struct bf_effects *effects);

/* The driver accepted the packet, or 'accepted' is false and it never will. */
uint64_t bf_command_queue_finished(struct bf_command_queue *queue, struct bf_packet *packet,
                                   bool accepted);

/* Frees what the program has left behind. */
void bf_command_queues_finish(struct bf_scheduler *scheduler);

/* Anything held or under way to the driver, on any command queue of the device? */
bool bf_command_queues_have_backlog(struct bf_scheduler *scheduler);

#endif
