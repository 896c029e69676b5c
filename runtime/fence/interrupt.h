/* SPDX-License-Identifier: MIT */
/*
 * The interrupt path: how the CPU learns that the GPU has signalled fences for which the CPU waits.
 *
 * WDDM's GPU raises an interrupt when a new value exceeds the fence's monitored value. For what
 * Belfry's queues signal nobody has to: a sleeper's wait for an epoch that a watched update needs
 * ends (scheduler/sleeper.h). But whoever knows sooner, or signals fences himself, reports here
 * what may have been signalled: an array of fences; no array, for all native fences; or a queue,
 * whose log is read.
 *
 *  IN-1  Signals of the reported fences from before the call have been applied when the call
 *        returns, and their waiters released.
 *  IN-2  No interrupt is lost. A waiter writes the monitored value, then reads the current one; a
 *        signaller writes the current value, then reads the monitored one. All four are seq_cst or
 *        have a full barrier between them, so one of the two sees the other.
 *  IN-3  The reported fences are examined, and what their signals come after is applied before
 *        (E-3), so waiters of other fences may be released as well. Nothing is looked at for
 *        others' sake: fences that aren't native only where the interrupt says so.
 *  IN-4  A queue stands for the signals that its log names since the queue's last interrupt. Where
 *        the log doesn't tell (there is none, it was not read before, entries were lost, the host
 *        writes it), for all signals of that queue that are pending, and for no other queue's. What
 *        an entry has named stays so until its epoch is reached, which is after the entry. An
 *        engine stands for each of its queues.
 *
 * Proven by tests/fence (interrupt.c).
 */
#ifndef BELFRY_FENCE_INTERRUPT_H
#define BELFRY_FENCE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_scheduler;
struct bf_effects;
struct bf_fence;
struct bf_command_queue;
struct bf_engine;

struct bf_interrupt {
    uint32_t count; /* of 'fences'; 0: all native ones, unless there is a queue */
    struct bf_fence *const *fences;
    struct bf_command_queue *queue; /* its log tells which; NULL: it isn't known */
    struct bf_engine *engine;       /* without a queue, all of this engine; NULL: nor is that */
    bool legacy;                    /* all fences that aren't native as well */
};

/* No lock is held; the caller runs the effects. Errors: those of vkGetSemaphoreCounterValue. */
VkResult bf_interrupt_handle(struct bf_scheduler *scheduler, const struct bf_interrupt *interrupt,
                             struct bf_effects *effects);

#endif
