/* SPDX-License-Identifier: MIT */
/*
 * Between fences and the program's own timeline semaphores.
 *
 * An imported fence *is* the semaphore: its value is the counter, its signals and waits on queues
 * are native ones (each in a submission with a barrier of ours, since drivers hang on semaphores
 * without a command buffer), and it can't be rewound. Its CPU waiters have a sleeper of their own.
 *
 * An exported fence is followed by the semaphore, from the CPU: a fence may be rewound and set by
 * several queues in any order, which no chain of native signals could follow. So the semaphore is
 * signalled when an update applies, if that is larger than all before.
 *
 *  X-1  An exported semaphore is signalled with growing values only: under the fence's exported_lock, with the
 *       largest value applied so far.
 *  X-2  Every pending update that is larger than what the exported semaphore has been told is watched by a
 *       sleeper: who waits for the semaphore natively needs no CPU call of the program's to go on.
 *
 * Proven by tests/fence (bridge.c) and tests/random.
 */
#ifndef BELFRY_FENCE_IMPORT_EXPORT_H
#define BELFRY_FENCE_IMPORT_EXPORT_H

#include "fence/fence.h"

/* The fence took the value; the pending lock is held. */
void bf_export_applied(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Does the exported semaphore want the update of that value? The pending lock is held. */
bool bf_export_watches(const struct bf_fence *fence, uint64_t value);

/* Signals the exported semaphore, and drops the reference that bf_export_applied took. No lock is held. */
void bf_export_signal(struct bf_fence *fence);

/* A call of the program's will set the fence to the value: layers above that follow its semaphore are
 * told, before the value can be seen (AB-5, gpu/upper_layers.h). Any fence; no lock is held. */
void bf_fence_announce(struct bf_fence *fence, uint64_t value);

/* For an imported fence; no lock is held. */
uint64_t bf_import_value(struct bf_fence *fence);
VkResult bf_import_signal(struct bf_fence *fence, uint64_t value);
VkResult bf_import_observe(struct bf_fence *fence, struct bf_effects *effects);

/* Is the value larger than the counter and than every signal that Belfry knows to be under way? If
 * so, it counts as one from here on; else one line. No lock is held. */
bool bf_import_may_signal(struct bf_fence *fence, uint64_t value, uint64_t *before,
                          const char *call);

/* It does not after all: there was no memory for it. */
void bf_import_will_not_signal(struct bf_fence *fence, uint64_t value, uint64_t before);

/* Before the CPU waits for an imported fence: it has a sleeper, and its value is of now.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, those of vkGetSemaphoreCounterValue. */
VkResult bf_import_prepare_wait(struct bf_fence *fence, struct bf_effects *effects);

/* An imported fence has been marked destroyed: queues go on without their waits for it. No lock is
 * held. */
void bf_import_release_queues(struct bf_fence *fence, struct bf_effects *effects);

/* The fence goes: nothing of it touches a semaphore of the program's any more, save for work that
 * the driver has. With 'device_stays', what VkQueues hold for the semaphore waits on. No lock is
 * held. */
void bf_import_export_stop(struct bf_fence *fence, bool device_stays);

#endif
