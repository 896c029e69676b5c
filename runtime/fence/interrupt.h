/* SPDX-License-Identifier: MIT */
/*
 * The interrupt path: how the CPU side learns that the GPU has signalled fences that it waits for.
 *
 * WDDM's GPU raises an interrupt where a new value exceeds the fence's monitored value; Belfry's
 * sleepers (scheduler/sleeper.h) return from the driver's wait for an epoch that a watched update needs,
 * which is the same thing. Either way somebody comes here and says what may have been signalled: an
 * array of fences; none, for all that are waited for; or a queue, whose log tells.
 *
 *  IN-1  Whatever was signalled before the call, and is within what it names, has been applied when
 *        the call returns: waiters are let go.
 *  IN-2  No interrupt is lost. Who waits enters its value in the monitored value, then looks at the
 *        current one; who signals stores the current value, then looks at the monitored one. All
 *        four are seq_cst or have a full barrier between them: one of the two sees the other.
 *  IN-3  What is named is the least that is looked at. Updates apply in the order of their causes,
 *        over all fences of a device (E-3), so others may be let go as well, if they are complete.
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
