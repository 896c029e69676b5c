/* SPDX-License-Identifier: MIT */
/*
 * An engine: one real VkQueue, and the scheduler's work on it.
 *
 * Rule M: a packet goes to the driver only when each of its waits is satisfied, or will be by work
 * that the driver has already accepted (the driver's submit call has returned).
 *
 *  Q-1  Acceptance is a total order in which every wait follows its signal (Rule M). Each engine
 *       runs a subsequence of it. By induction on that order every packet ends, provided its
 *       command buffers do: no legal order of calls deadlocks, on one VkQueue or many.
 *  Q-2  Packets of one queue are accepted in the order in which they were submitted.
 *  Q-3  No append is lost. Who appends publishes the packet, sets 'dirty' and then tries the lock;
 *       who holds the lock releases it and then looks at 'dirty'; all four are seq_cst. So either
 *       the try succeeds, or the holder sees 'dirty' and pumps again.
 *  Q-4  No caller pumps for ever, and what is left when a pump stops has an owner. A pump stops
 *       early only if some thread is committed to take the lock and pump ('takers' > 0, counted
 *       down under the lock). Past its bound it is 'tired', and then whoever appends becomes a
 *       taker; so does the submitter of a queue with a long, unblocked backlog, and whoever needs
 *       the VkQueue for a call of its own.
 *  Q-5  A packet set free by work on another engine is pumped by the thread that set it free, or,
 *       where that engine's lock is taken, by its holder. No engine's lock is held while
 *       another's is tried.
 *  Q-6  Only this engine's lock is held over calls on its VkQueue, and no two such calls overlap.
 *  Q-7  The driver never sees a submission that the program didn't ask for.
 *
 * Epochs are counted where somebody may need to know when a queue's own submission is through and nothing
 * else tells: on engines that several queues share (scheduler/last_submission.h), and under a trace, for
 * every submission.
 *
 * are proven by tests/random (and the test driver's own checks), Q-3 to Q-5
 * by the same programs under several threads and by the broken schedulers that tests/random must
 * catch.
 */
#ifndef BELFRY_SCHEDULER_ENGINE_H
#define BELFRY_SCHEDULER_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "gpu/engine.h"
#include "log/log.h"
#include "scheduler/queue.h"

/* Most batches of one vkQueueSubmit2. */
#define BF_ENGINE_BATCH 32

struct bf_engine {
    struct bf_gpu_engine base; /* first */
    struct bf_scheduler *scheduler;

    struct bf_lock lock;
    _Atomic uint32_t dirty;
    _Atomic uint32_t takers;
    _Atomic uint32_t tired; /* the pump is past its bound */

    uint32_t queue_count;
    struct bf_queue **queues;
    uint32_t first; /* the queue that the next scan begins with: each gets its turn */
    _Atomic uint32_t command_queues;
    _Atomic uint32_t preferred; /* of these, above normal priority: they are scanned first */
    bool leaving;               /* some have been destroyed and may be empty */
    _Atomic bool shared; /* several queues, so that each needs a completion signal of its own */
    _Atomic bool takes_queues; /* it has what command queues need: epoch, barrier, waited */

    /* For command queues (C-2), under the lock: what earlier submissions have put all later ones
     * behind. */
    uint64_t *waited;      /* of each other engine, by semaphore waits */
    uint64_t fenced_epoch; /* of this engine, by a barrier */
    VkCommandPool barrier_pool;
    VkCommandBuffer barrier; /* from everything to everything; recorded once */

    struct bf_log_engine logs; /* under the lock */

    struct bf_label *labels; /* open on the VkQueue (scheduler/label.h); under the lock */

    /* Under the lock: the batch being put together. */
    uint32_t batch_count;
    uint32_t batch_barrier; /* position of the last packet in it with a barrier, plus 1; 0: none */
    struct bf_packet *batch[BF_ENGINE_BATCH];
    struct bf_queue *batch_queues[BF_ENGINE_BATCH];
    VkSubmitInfo2 infos[BF_ENGINE_BATCH];
};

static inline uint64_t bf_engine_bit(const struct bf_engine *engine)
{
    return UINT64_C(1) << engine->base.number;
}

/* Hands over whatever may go, on the engines of 'mask' and on those it thereby sets free. The
 * caller holds no lock. */
void bf_engines_pump(struct bf_scheduler *scheduler, uint64_t mask);

/* The caller has just released the lock: looks again, and pumps 'mask' as well. */
static inline void bf_engine_recheck(struct bf_engine *engine, uint64_t mask)
{
    if (atomic_load(&engine->dirty))
        mask |= bf_engine_bit(engine);
    if (mask)
        bf_engines_pump(engine->scheduler, mask);
}

/* The lock for a call that isn't a pump's, as a taker; leaving pumps, with the engines of 'mask'.
 */
void bf_engine_enter(struct bf_engine *engine);
void bf_engine_leave(struct bf_engine *engine, uint64_t mask);

/* Waits for the lock as a taker and pumps. */
void bf_engine_pump_taking_over(struct bf_engine *engine);

/* Makes the engine fit for command queues; the lock is held. Errors: those of vkCreateSemaphore,
 * vkCreateCommandPool, vkAllocateCommandBuffers, vkBeginCommandBuffer and vkEndCommandBuffer. */
VkResult bf_engine_take_queues(struct bf_engine *engine);

/* A command queue comes and goes; the lock is held. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_engine_add_queue(struct bf_engine *engine, struct bf_queue *queue);
void bf_engine_remove_queue(struct bf_engine *engine, struct bf_queue *queue);

#endif
