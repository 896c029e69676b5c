/* SPDX-License-Identifier: MIT */
/*
 * A command queue: what ID3D12CommandQueue is. Its executions, signals and waits are processed in
 * order, each as early as possible, on an engine that it shares with the program's VkQueues and
 * with other command queues.
 *
 *  C-1  A signal or wait of a queue with nothing held is settled in the call, under the pending
 *       lock, without a packet. An operation that has to wait becomes a packet; then all later
 *       operations become packets too, until the queue is empty again.
 *  C-2  An execution runs after everything in its queue's frontier: after another engine's epoch by
 *       a semaphore wait, after this engine's by a full barrier before it. Neither is needed if the
 *       epoch was seen complete (E-6), if an earlier submission on this engine has already waited
 *       for as much, or if a barrier lies between. So two executions of one queue don't overlap,
 *       and no execution overlaps anything that its queue has waited for.
 *  C-3  A wait is armed in the call (F-2). At the head of its queue it is passed if it is
 *       satisfied, or if a pending update reaches its value: then that update's frontier is joined
 *       to the queue's.
 *  C-4  A destroyed queue lives until its packets have gone and its signals have been applied.
 *  C-5  Executions of a queue that go in one driver call are one batch, with the barrier of C-2
 *       between each two and one epoch behind the last. An execution that signals, or has a signal
 *       behind it, ends such a batch, and one with a semaphore wait begins one; those of a queue
 *       with a log stay apart, and so do slices of a dispatch, each of which has a command buffer
 *       of its own.
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

struct bf_hw_queue;
struct bf_scheduler;
struct bf_update;

/* What doorbell/ is told of; given to the scheduler when the device is created. But for the last,
 * they are called without a lock. */
struct bf_doorbell_extension {
    /* A queue for user-mode submission has been created; it is about to be destroyed. Errors:
     * bfCreateCommandQueue's. */
    VkResult (*queue_begins)(struct bf_command_queue *queue);
    bool (*queue_ends)(struct bf_command_queue *queue); /* false: it stays until the device ends */
    /* The program destroys a fence with 'in_rings'. */
    void (*fence_ends)(struct bf_fence *fence);
    /* Packets have been deferred on the engine, and 'dirty' is set: has a thread hand them over
     * that waits for no other engine. False: there is none, and the caller is to. It makes no
     * system call while that thread is awake, and takes no lock. */
    bool (*ring)(struct bf_engine *engine);
    /* The device has been declared lost: no doorbell is rung any more. An engine's lock may be
     * held. */
    void (*lost)(struct bf_scheduler *scheduler);
};

struct bf_command_queue {
    struct bf_queue base; /* first */
    BfCommandListType type;
    BfCommandQueueFlags flags;
    _Atomic uint32_t priority;          /* BfCommandQueuePriority */
    struct bf_observed_queue *observed; /* NULL: nobody observes it */

    /* The progress fence: a native fence in which the GPU counts complete executions; NULL until
     * asked for. Set under the engine's lock. */
    struct bf_fence *_Atomic progress;
    /* For user-mode submission: its ring's reader, and in place of the above a fence that has the
     * progress values of entries. Constant; NULL otherwise. */
    struct bf_hw_queue *hw;
    struct bf_fence *ring_progress;

    /* Under the engine's lock. */
    uint64_t progressed;   /* executions that it counts and the driver was given; changed under the
                            * pending lock, too */
    bool leaving;          /* destroyed: removed from the engine once it is empty */
    uint64_t issued_epoch; /* of its last execution that the driver has been called with */
    uint32_t position;     /* of its last execution in the engine's batch, plus 1; 0: none */

    /* Under the pending lock. */
    bool gone;                                              /* removed from the engine */
    struct bf_command_queue *next, *previous;               /* of the device */
    struct bf_command_queue *next_active, *previous_active; /* with pending updates */
    struct bf_update *first_update, *last_update;
    uint64_t frontier[]; /* E-1; one epoch per engine */
};

/* The command queue that contains this queue; NULL: the queue is a VkQueue. */
static inline struct bf_command_queue *bf_command_queue_of(struct bf_queue *queue)
{
    return queue->is_command_queue ? (struct bf_command_queue *)queue : NULL;
}

/* The last value that an execution of the queue has of its progress fence. The pending lock is
 * held. */
static inline uint64_t bf_command_queue_progress(struct bf_queue *queue)
{
    return queue->is_command_queue ? bf_command_queue_of(queue)->progressed : 0;
}

/* Are its packets scanned before those of queues with normal priority? */
bool bf_command_queue_is_preferred(struct bf_queue *queue);

/* Notes a signal that the queue has reached in its log. The pending lock is held. */
void bf_command_queue_log_signal(struct bf_command_queue *queue, const struct bf_fence *fence,
                                 uint64_t value);

/* The wait that blocked the queue no longer does: the pump may scan it again. Returns its engine,
 * as a mask. */
uint64_t bf_command_queue_unblocked(struct bf_command_queue *queue);

/* Frees the queue if it is destroyed and nothing of it is left (C-4); the pending lock is held. */
void bf_command_queue_reap(struct bf_command_queue *queue);

/* For the pump, with the engine's lock held. */

enum bf_passage {
    BF_PASSAGE_DONE,    /* it is settled: remove it from the list */
    BF_PASSAGE_BATCHED, /* it goes with the batch, behind an execution in it */
    BF_PASSAGE_LATER,   /* try again once the batch has been submitted */
    BF_PASSAGE_BLOCKED, /* the queue is blocked at it */
    BF_PASSAGE_NATIVE,  /* it has become an execution with a semaphore wait */
};

/* Processes a signal or a wait at the head of the queue; 'batched' says that executions of the
 * queue are before it in the batch. Engines to pump are added to *engines. */
enum bf_passage bf_command_queue_pass(struct bf_command_queue *queue, struct bf_packet *packet,
                                      bool batched, uint64_t *engines);

/* Removes the semaphore wait for an imported fence from an execution if the fence has been
 * destroyed (F-5). */
void bf_command_queue_waive(struct bf_command_queue *queue, struct bf_packet *packet);

/* Gives an execution its semaphore waits and its barrier (C-2). */
void bf_command_queue_prepare(struct bf_command_queue *queue, struct bf_packet *packet);

/* The packet goes with the next driver call (E-5). Sleepers to wake are added to *effects, for
 * after the call: handing work to the GPU comes first. */
void bf_command_queue_announce(struct bf_command_queue *queue, struct bf_packet *packet,
                               struct bf_effects *effects);

/* The driver has accepted the packet; or, if 'accepted' is false, it will never get it. Returns
 * engines to pump. */
uint64_t bf_command_queue_finished(struct bf_command_queue *queue, struct bf_packet *packet,
                                   bool accepted);

/* Frees the queues that the program did not destroy. */
void bf_command_queues_finish(struct bf_scheduler *scheduler);

/* Is a packet of a command queue of the device held, or being handed to the driver? */
bool bf_command_queues_have_backlog(struct bf_scheduler *scheduler);

#endif
