/* SPDX-License-Identifier: MIT */
/*
 * An engine: one real VkQueue, and the queues that the scheduler runs on it.
 *
 * Rule M: a packet goes to the driver only when each of its waits is satisfied, or will be by work
 * that the driver has already accepted (its submit call has returned).
 *
 *  Q-1  Acceptance is a total order in which every wait follows its signal (Rule M). Each engine
 *       runs a subsequence of it. By induction on that order every packet ends, provided its
 *       command buffers do: no legal order of calls deadlocks, on one VkQueue or many.
 *  Q-2  Packets of one queue are accepted in the order in which they were submitted.
 *  Q-3  No append is lost. A thread that appends publishes the packet, sets 'dirty' and then tries
 *       the lock; the lock's holder releases it and then reads 'dirty'; all four are seq_cst. So
 *       either the try succeeds, or the holder sees 'dirty' and pumps again.
 *  Q-4  No caller pumps for ever, and some thread is responsible for what is left when a pump
 *       stops. A pump stops early, at its bound, only if there are takers: threads that wait for
 *       their packets (AC-1, scheduler/acceptance.h), or for the lock because they need the VkQueue
 *       for a call of their own. It sets 'dirty', releases the lock, wakes those who wait, and goes
 *       on after all if 'takers' has become 0. A taker pumps, or counts itself down and then looks
 *       at 'dirty'; all of these are seq_cst, so one of the two goes on.
 *  Q-5  A packet released by work on another engine is pumped by the thread that released it or, if
 *       its engine's lock is taken, by that lock's holder. No engine's lock is held while
 *       another's is tried. So a pump that has set packets free on other engines lets its own lock
 *       go before its next call, which may block; takers may go on there meanwhile.
 *  Q-6  Only this engine's lock is held over calls on its VkQueue, and no two such calls overlap,
 *       but for presents that Q-8 is about.
 *  Q-7  The driver never sees a submission that the program didn't ask for, but where the end of
 *       what it has been given has no other sign: who waits for a shared VkQueue to be idle, a
 *       request for preemption, or a present before one, behind such work (PE-2, PE-4), and the
 *       mark of a log that begins at work.
 *  Q-8  Over a present on a VkQueue whose driver synchronizes calls on it (VK_KHR_
 *       internally_synchronized_queues), no lock is held: neighbours' submissions reach the driver
 *       meanwhile, as far as it lets them. What the lock is for holds all the same. A present is no
 *       submission: acceptance, epochs and completion signals are those of what is submitted, under
 *       the lock; what the present waits for has been accepted before it begins; and what it
 *       consumes counts as free for the next signal once it has returned, which comes to that
 *       engine's queues by their semaphores, as what other engines accept. Who would change the
 *       labels on the VkQueue, for those of the present would be others then, waits until it has
 *       returned, under the lock; so do calls that the extension says nothing of, and
 *       vkDeviceWaitIdle. A present in the driver waits for no lock of Belfry's.
 *
 * A VkQueue's submission has an epoch where its completion may have to be known and no object of
 * the program's tells it: on engines that several queues share (scheduler/last_submission.h); and
 * under a trace, every submission has one.
 *
 * are proven by tests/random (and the checks of the test driver), Q-3 to Q-5
 * by the same programs with several threads, and by deliberately broken schedulers that
 * tests/random must catch, Q-8 by tests/layer (beside_present.c).
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
#include "scheduler/outside.h"
#include "scheduler/preempt.h"
#include "scheduler/queue.h"
#include "scheduler/window.h"

/* The largest number of batches in one vkQueueSubmit2. */
#define BF_ENGINE_BATCH 32

struct bf_engine {
    struct bf_gpu_engine base; /* first */
    struct bf_scheduler *scheduler;

    struct bf_lock lock;
    _Atomic uint64_t kept; /* calls of bfLockVkQueue and bfUnlockVkQueue: odd between the two */
    _Atomic uint32_t dirty;
    _Atomic uint32_t takers;
    _Atomic uint64_t released; /* bf_scheduler.released when this engine's packets were set free */
    _Atomic uint32_t pumping;  /* a pump is between its look at 'dirty' and its last call */
    struct bf_signpost progress; /* packets have been handed over, or a queue has been blocked */

    uint32_t queue_count;
    struct bf_queue **queues;
    uint32_t first;            /* index of the queue that the next scan begins with */
    struct bf_queue *foremost; /* AC-4: each scan begins with it; under the lock */
    _Atomic uint64_t appended; /* packets, with submit=doorbell */
    uint32_t vkqueues;         /* of these, the program's; fixed */
    _Atomic uint32_t command_queues;
    _Atomic uint32_t preferred; /* of these, those above normal priority */
    _Atomic bool has_presented; /* so that it may block in the driver again */
    bool leaving;               /* destroyed command queues are still here */
    /* The driver has been given something since the last submission with an epoch, which no epoch
     * tells of (PE-2). Under the lock, or beside a present. */
    bool unnumbered;
    /* Several queues, so that each needs a completion signal of its own. Written under the lock; no
     * longer so when the last command queue has left a VkQueue that it shared with one queue. */
    _Atomic bool shared;
    _Atomic bool takes_queues; /* epoch, barrier and waited are there */
    _Atomic uint32_t binds;    /* sparse binds on the queues' lists */
    _Atomic bool unfed; /* command queues' packets are held: it may hang (standstill/tdr.h) */
    /* The epoch from which on it is known what the GPU is busy with (WD-2). */
    _Atomic uint64_t witnessed_from;

    /* For command queues (C-2), under the lock: what all later submissions are already ordered
     * behind, because earlier ones were. */
    uint64_t *waited;      /* epoch of each other engine, by semaphore waits */
    uint64_t fenced_epoch; /* this engine's epoch, by a barrier */
    VkCommandPool barrier_pool;
    VkCommandBuffer barrier; /* from everything to everything; recorded once */

    struct bf_log_engine logs; /* under the lock, or beside a present */

    /* A present may block in the driver for long, under the lock, and nothing that the lock guards
     * is used by it meanwhile. Under this lock, 'presenting' says so. */
    struct bf_lock present_lock;
    _Atomic bool presenting;
    _Atomic uint32_t presents_beside; /* presents in the driver without the lock */

    struct bf_window window;   /* of lower queues; under the lock */
    struct bf_preempt preempt; /* requests (scheduler/preempt.h) */

    struct bf_label *labels; /* open on the VkQueue (scheduler/label.h); under the lock */

    /* Under the lock: the batch that is being gathered. Over gathering and finishing it, but not
     * over the driver's call, the batch lock is held too: with it alone, held packets are dropped
     * while the call is stuck (L-3). It also guards 'queues'. */
    struct bf_lock batch_lock;
    struct bf_outside outside; /* accepted, but not grounded */
    uint32_t batch_count;
    uint32_t batch_barrier; /* position of the last packet in it with a barrier, plus 1; 0: none */
    struct bf_packet *batch[BF_ENGINE_BATCH];
    struct bf_queue *batch_queues[BF_ENGINE_BATCH];
    VkSubmitInfo2 infos[BF_ENGINE_BATCH];
    VkCommandBufferSubmitInfo *joined; /* command buffers of joined executions (C-5) */
    uint32_t joined_room;
};

static inline uint64_t bf_engine_bit(const struct bf_engine *engine)
{
    return UINT64_C(1) << engine->base.number;
}

/* The level below which queues are lower ones; under the lock it is certain. */
static inline uint8_t bf_window_top(const struct bf_engine *engine)
{
    return atomic_load_explicit(&engine->window.top, memory_order_relaxed);
}

/* Is the driver given nothing of the queue now, whatever it has? It is suspended (CS-1); or it is a
 * command queue, and its engine may hang (TD-4). */
static inline bool bf_queue_is_stopped(const struct bf_queue *queue)
{
    return atomic_load(&queue->suspended) ||
           (queue->is_command_queue && atomic_load(&queue->engine->unfed));
}

/* Hands over the packets that may go, on the engines of 'mask' and on those that this releases. The
 * caller holds no lock. */
void bf_engines_pump(struct bf_scheduler *scheduler, uint64_t mask);

/* To be called after releasing the lock: pumps if a packet was appended meanwhile, and pumps
 * 'mask' as well. */
static inline void bf_engine_recheck(struct bf_engine *engine, uint64_t mask)
{
    if (atomic_load(&engine->dirty))
        mask |= bf_engine_bit(engine);
    if (mask)
        bf_engines_pump(engine->scheduler, mask);
}

/* Takes the lock for a call other than a pump, as a taker; bf_engine_leave releases it and pumps,
 * also the engines of 'mask'. False: the device is lost, and whoever has the lock may be in a call
 * of the driver's for ever (L-3): the lock isn't held. */
bool bf_engine_enter(struct bf_engine *engine);
void bf_engine_leave(struct bf_engine *engine, uint64_t mask);

/* Waits, outside of the lock, until the VkQueue has finished what it has been given: by the fence
 * of an empty submission. The caller holds no lock. Errors: those of vkCreateFence, vkQueueSubmit2
 * and vkWaitForFences; VK_ERROR_DEVICE_LOST also where the lock isn't to be had (L-3). */
VkResult bf_engine_wait_by_fence(struct bf_engine *engine);

/* Submits a mark of Belfry's own, behind everything that the engine was given: the command
 * buffer (VK_NULL_HANDLE: none), and the next epoch, which it returns. Timelines show it by the
 * label. The lock is held, and the engine has an epoch. Errors: those of vkQueueSubmit2. */
VkResult bf_engine_mark(struct bf_engine *engine, VkCommandBuffer commands, const char *label,
                        uint64_t *epoch);

/* Does the driver synchronize calls on the VkQueue? */
static inline bool bf_engine_synchronizes(const struct bf_engine *engine)
{
    return engine->base.flags & BF_QUEUE_INTERNALLY_SYNCHRONIZED;
}

/* Around the driver's call; the lock is held before. With Q-8 it is released, and *engines
 * pumped. */
void bf_engine_begin_present(struct bf_engine *engine, uint64_t *engines);
void bf_engine_end_present(struct bf_engine *engine);

enum bf_engine_entry {
    BF_ENGINE_LOCKED,
    BF_ENGINE_BESIDE_PRESENT,
    BF_ENGINE_LOST, /* bf_engine_enter's false: nothing that the lock guards may be touched, and
                     * nothing is to be left, though it may be */
};

/* As bf_engine_enter, for what a present neither looks at nor changes (AC-4), as the engine's logs:
 * it returns while the lock's holder is in a present, too. What it returns is for
 * bf_engine_leave_beside. */
enum bf_engine_entry bf_engine_enter_beside(struct bf_engine *engine);
void bf_engine_leave_beside(struct bf_engine *engine, enum bf_engine_entry entry);

/* Waits for the lock as a taker and pumps. False: something may be left, since it stopped at
 * its bound, and another taker goes on, or for what it has set free; or bf_engine_enter
 * returned false. */
bool bf_engine_pump_taking_over(struct bf_engine *engine);

/* Pumps, if the lock is free; false: it isn't. To be called by a taker. */
bool bf_engine_pump_if_free(struct bf_engine *engine);

/* Hands over what may go before a call other than a pump, packets of 'first' before others; the
 * lock is held. The engines to pump once it isn't are added to *engines. */
void bf_engine_hand_over_ready(struct bf_engine *engine, struct bf_queue *first, uint64_t *engines);

/* Collects the timestamps and log entries of submissions that are complete; the lock is held. */
void bf_engine_collect(struct bf_engine *engine);

/* The device is lost: drops the packets that are in no call of the driver's, whoever has the lock
 * (L-3). */
void bf_engine_drop_held(struct bf_engine *engine);

/* Creates what the engine needs for command queues; the lock, or its place beside a present, is
 * held. Errors: those of vkCreateSemaphore, vkCreateCommandPool, vkAllocateCommandBuffers,
 * vkBeginCommandBuffer and vkEndCommandBuffer. */
VkResult bf_engine_take_queues(struct bf_engine *engine);

/* Several queues have it from now on; the lock, or its place beside a present, is held, or nobody
 * else knows the engine yet. */
void bf_engine_share(struct bf_engine *engine);

/* Adds a command queue; the lock, or its place beside a present, is held. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_engine_add_queue(struct bf_engine *engine, struct bf_queue *queue);

/* The lock is held. */
void bf_engine_remove_queue(struct bf_engine *engine, struct bf_queue *queue);

#endif
