/* SPDX-License-Identifier: MIT */
/*
 * The last submission of a queue: its completion signal, that is, the objects which tell that it is
 * complete, for vkQueueWaitIdle on an engine that several queues share. (A queue that has its
 * engine to itself asks the driver.)
 *
 * The submission's own fence tells it, together with the one timeline value that it signals for all
 * stages. A submission without a fence, or with other signals, carries the engine's epoch for the
 * purpose, behind its own signals. (By the letter of Vulkan the signals of one batch are unordered,
 * so each object that the program may destroy afterwards has to be seen signalled, or has to be
 * before the epoch in the list that drivers process in order. The fence cannot stand for the other
 * signals: Vulkan puts it last, but drivers with emulated timelines signal it first.) So an epoch
 * costs nothing where the program's own objects tell. Objects whose payload others may change,
 * exported or imported, are no completion signals.
 *
 *  I-1  When a queue's completion signal is reached, everything that the queue has handed over is
 *       complete, and its fences are signalled: the last submission's is waited for, and those of
 *       earlier calls come before any later call's signals. It promises nothing of the queues
 *       beside it; nor, where the driver itself isn't asked, that the driver has let go of what was
 *       waited for (scheduler/retired.h).
 *  I-2  The program may reset or destroy an object of a completion signal as soon as it has seen it
 *       signalled, even while another thread waits for the queue. The waits for the program's
 *       objects are made in slices under this struct's lock, and resetting or destroying an object
 *       takes the lock first; afterwards there is nothing left to wait for.
 *
 *  I-3  vkQueueWaitIdle of a queue on a shared engine waits under the engine's lock only if the
 *       queue may be presenting, which the driver alone can tell: nothing was submitted to it since
 *       its last present, whose end would be that of the present, too. Where no completion signal
 *       tells whether it is idle, the fence of an empty submission does, and is waited for outside
 *       of the lock.
 *
 *  I-4  A queue that has its engine to itself again, since the last command queue has left, has no
 *       completion signals from then on; its idleness is the driver's. When the engine is shared
 *       once more, what it has submitted meanwhile is signless, whatever completion signal is left
 *       from before.
 *
 *  I-5  Nothing counts as over before it is, while somebody waits for it, either: what ends without
 *       a sign is counted when it begins (struct bf_signless), and a wait ends what had begun when
 *       the wait did.
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

/* The completion signal: everything that is set has to be reached; nothing set means idle. */
struct bf_last_submission {
    struct bf_lock lock; /* leaf lock */
    _Atomic(VkFence) fence;
    _Atomic(VkSemaphore) semaphore;
    uint64_t value; /* of the semaphore */
    uint64_t epoch;
};

/* What ends without a sign: a wait of the driver's for idleness tells. Zeroed: nothing has begun.
 * Thread-safety: safe. */
struct bf_signless {
    _Atomic uint64_t begun; /* so often */
    _Atomic uint64_t over;  /* of these */
};

static inline void bf_signless_begin(struct bf_signless *signless)
{
    atomic_fetch_add(&signless->begun, 1);
}

/* To be given to bf_signless_end when the wait that begins now has ended. */
static inline uint64_t bf_signless_begun(const struct bf_signless *signless)
{
    return atomic_load(&signless->begun);
}

static inline void bf_signless_end(struct bf_signless *signless, uint64_t begun)
{
    uint64_t over = atomic_load(&signless->over);
    while (over < begun && !atomic_compare_exchange_weak(&signless->over, &over, begun))
        ;
}

/* All of it is known to be over. */
static inline void bf_signless_end_all(struct bf_signless *signless)
{
    bf_signless_end(signless, bf_signless_begun(signless));
}

/* May some of it be under way? */
static inline bool bf_signless_is(const struct bf_signless *signless)
{
    const uint64_t over = atomic_load(&signless->over);
    return over != atomic_load(&signless->begun);
}

/* Sets the completion signal of the queue's last submission (VK_NULL_HANDLE, 0: none); before the
 * driver has the submission, or at the latest before the program's call returns. The engine's lock
 * is held. */
void bf_last_submission_set(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore,
                            uint64_t value, uint64_t epoch);

/* Can a timeline value, signalled for these stages, be a completion signal? */
static inline bool bf_last_submission_suits(struct bf_semaphore *sem, VkPipelineStageFlags2 stages)
{
    return sem && sem->timeline && stages == VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT &&
           !atomic_load_explicit(&sem->external, memory_order_relaxed);
}

/* Blocks until the completion signal is reached. Errors: those of the driver's waits. */
VkResult bf_last_submission_wait(struct bf_queue *queue);

/* Is the completion signal reached now? Errors count as no, and so does that somebody waits for it:
 * this waits for nobody. The engine's lock is held. */
bool bf_last_submission_is_reached(struct bf_queue *queue);

/* The program resets or destroys these objects; to be called before the driver does it.
 * Thread-safety: safe. */
void bf_last_submission_drop_fences(struct bf_scheduler *scheduler, uint32_t count,
                                    const VkFence *fences);
void bf_last_submission_drop_semaphore(struct bf_scheduler *scheduler, VkSemaphore semaphore);

#endif
