/* SPDX-License-Identifier: MIT */
/*
 * The interrupt path: how the CPU learns that the GPU has signalled fences for which the CPU waits.
 *
 * WDDM's GPU raises an interrupt when a new value exceeds the fence's monitored value. Belfry's
 * equivalent is a sleeper (scheduler/sleeper.h) whose wait for an epoch that a watched update needs
 * has ended. Either way somebody reports here what may have been signalled: an array of fences; no
 * array, for all fences with waiters; or a queue, whose log is read.
 *
 *  IN-1  Signals of the reported fences from before the call have been applied when the call
 *        returns, and their waiters released.
 *  IN-2  No interrupt is lost. A waiter writes the monitored value, then reads the current one; a
 *        signaller writes the current value, then reads the monitored one. All four are seq_cst or
 *        have a full barrier between them, so one of the two sees the other.
 *  IN-3  At least the reported fences are examined. Updates apply in the order of their causes
 *        across all fences of a device (E-3), so waiters of other fences may be released as well,
 *        if their signals are complete.
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
struct bf_queue;

struct bf_interrupt {
    uint32_t count; /* of 'fences'; 0: all that are waited for, unless there is a queue */
    struct bf_fence *const *fences;
    struct bf_queue *queue; /* its log tells which; NULL: it isn't known */
    bool legacy;            /* fences that aren't native as well */
};

/* No lock is held; the caller runs the effects. Errors: those of vkGetSemaphoreCounterValue. */
VkResult bf_interrupt_handle(struct bf_scheduler *scheduler, const struct bf_interrupt *interrupt,
                             struct bf_effects *effects);

#endif
