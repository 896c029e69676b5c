/* SPDX-License-Identifier: MIT */
/*
 * The completion signal of a queue: what tells that its last submission is through, for vkQueueWaitIdle on an
 * engine that several queues share (alone on its engine, a queue asks the driver).
 *
 * The submission's own fence tells, together with the one timeline value that it signals, for all
 * stages; only a submission with no fence or with other signals carries the engine's epoch for the
 * purpose, behind its own signals. (By the letter of Vulkan the signals of one batch have no order
 * among themselves, so each object that the program may destroy afterwards has to be seen
 * signalled, or to come before the epoch in the list that drivers go through. Nor can the fence
 * stand for the rest: Vulkan puts it last, drivers with emulated timelines signal it first.) So an
 * epoch costs nothing where the program already says when it is done. Objects whose payload others
 * may change, exported or imported, are no completion signals.
 *
 *  I-1  When a queue's completion signal is reached, all it has handed over is complete, and its fences are
 *       signalled: the last submission's is waited for, and an earlier call's precedes any later
 *       call's signals.
 *  I-2  The program may reset or destroy a completion signal as soon as it has seen it signalled, while
 *       another thread waits for the queue. Waits for the program's objects happen in slices under
 *       the completion signal's lock, which resetting and destroying take first; then nothing is left to wait
 *       for.
 *
 * Proven by tests/random (idle waits beside fences and semaphores that are reset and remade) and
 * tests/layer.
 */
#ifndef BELFRY_SCHEDULER_LAST_SUBMISSION_H
#define BELFRY_SCHEDULER_LAST_SUBMISSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "scheduler/semaphore.h"

struct bf_scheduler;
struct bf_queue;

/* All that is set has to be reached; nothing set means idle. */
struct bf_last_submission {
    struct bf_lock lock; /* leaf lock */
    _Atomic(VkFence) fence;
    _Atomic(VkSemaphore) semaphore;
    uint64_t value; /* of the semaphore */
    uint64_t epoch;
};

/* What the queue's last submission comes with (VK_NULL_HANDLE, 0: not); set before the driver has
 * it, or at the latest before the program's call returns. The engine's lock is held. */
void bf_last_submission_set(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore,
                            uint64_t value, uint64_t epoch);

/* Can a timeline's value, signalled for these stages, be a completion signal? */
static inline bool bf_last_submission_suits(struct bf_semaphore *sem, VkPipelineStageFlags2 stages)
{
    return sem && sem->timeline && stages == VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT &&
           !atomic_load_explicit(&sem->external, memory_order_relaxed);
}

/* Blocks until the completion signal is reached. Errors: those of the driver's waits. */
VkResult bf_last_submission_wait(struct bf_queue *queue);

/* Is it, by what the driver says now? Errors count as no. The engine's lock is held. */
bool bf_last_submission_is_reached(struct bf_queue *queue);

/* The program resets or destroys these: call before the driver does. Thread-safety: safe. */
void bf_last_submission_drop_fences(struct bf_scheduler *scheduler, uint32_t count,
                                    const VkFence *fences);
void bf_last_submission_drop_semaphore(struct bf_scheduler *scheduler, VkSemaphore semaphore);

#endif
