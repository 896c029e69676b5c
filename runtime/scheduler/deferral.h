/* SPDX-License-Identifier: MIT */
/*
 * What is deferred: packets that could go to the driver, and that their calls have left to somebody
 * else when they returned. By submit=doorbell, packets of the program's VkQueues, which the
 * engine's doorbell thread hands over (doorbell/thread.c).
 *
 *  DF-1  A packet is deferred only while nobody outside of the device can tell: it has no
 *        semaphore, fence or memory that others may look at (bf_scheduler.seen_outside).
 *  DF-2  When that ends (bf_deferral_end), what is deferred is handed over before the call returns
 *        that ends it, unless a wait holds it. Who appends and means to leave it at that looks at
 *        bf_deferral_may once more behind the append; who ends it sets seen_outside and looks at
 *        the engines then; all of these are seq_cst. So one of the two hands the packet over.
 *  DF-3  Where a call rests on what the program has submitted before, all of that is handed over
 *        first, unless a wait holds it (bf_deferral_flush): sparse binds, submissions that can't be
 *        copied, and commands for a VkQueue that Belfry only passes on. Of a present, and of an
 *        export of a pending signal, what they depend on is (OW-5, scheduler/outside.h). Who waits
 *        for idleness waits for what is deferred as for what is held, and lends a hand
 *        (bf_deferral_hand_over).
 *  DF-4  Else what is deferred is what is held, to everybody: fences are deferred with it
 *        (scheduler/vkfence.h), queues have a backlog, labels and logs belong to the packets, waits
 *        on the CPU end by it. It only needs nobody to be set free.
 *  DF-5  Whoever defers sees to it that the packet is handed over by a thread that waits for no
 *        call of the program's. Where there can be no such thread, nothing is deferred.
 *  DF-6  What is deferred is bounded: who is too far ahead of the driver hands over himself.
 *
 * Proven by tests/layer (acceptance.c) and tests/random (programs of all kinds with
 * submit=doorbell).
 *
 * Whatever holds packets back in a pump asks bf_deferral_may there, under the engine's lock: during
 * a flush it is false, so that the pump of who flushes lets everything go that Rule M lets go.
 */
#ifndef BELFRY_SCHEDULER_DEFERRAL_H
#define BELFRY_SCHEDULER_DEFERRAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "scheduler/scheduler.h"

/* May packets of the device be deferred now (DF-1)? */
static inline bool bf_deferral_may(struct bf_scheduler *scheduler)
{
    return !atomic_load(&scheduler->seen_outside) && atomic_load(&scheduler->flushes) == 0;
}

/* To be called before a packet is deferred for the first time: from then on the functions below do
 * something. Thread-safety: safe. */
static inline void bf_deferral_begin(struct bf_scheduler *scheduler)
{
    if (!atomic_load_explicit(&scheduler->defers, memory_order_relaxed))
        atomic_store(&scheduler->defers, true);
}

/* Returns when what has been deferred by now has been handed over, or a wait holds it. It takes
 * over pumps, and so may wait for an engine that is in a call of the driver's. The caller holds no
 * lock but bf_queue.calls_lock. Thread-safety: safe. */
void bf_deferral_flush(struct bf_scheduler *scheduler);

/* Hands over what it finds, but for what is some other thread's to hand over now: it waits for
 * nobody. The caller holds no lock but bf_queue.calls_lock. Thread-safety: safe. */
void bf_deferral_hand_over(struct bf_scheduler *scheduler);

/* Others may look at something of the device from now on (DF-2): semaphores or fences that are
 * exportable, exported or imported, memory that is. The caller as above. */
void bf_deferral_end(struct bf_scheduler *scheduler);

#endif
