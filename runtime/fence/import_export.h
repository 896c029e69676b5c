/* SPDX-License-Identifier: MIT */
/*
 * Imported and exported fences: the connection between fences and the program's own timeline
 * semaphores.
 *
 * An imported fence *is* the semaphore: its value is the counter, a queue's signals and waits are
 * semaphore operations (each in a submission with a barrier of Belfry's, since some drivers hang on
 * semaphore operations without a command buffer), and it can't be rewound. Its CPU waiters have a
 * sleeper of their own.
 *
 * An exported fence is followed by the semaphore, which the CPU signals: a fence may be rewound,
 * and set by several queues in any order, which no chain of GPU signals could follow. So the
 * semaphore is signalled when an update applies whose value is larger than all before.
 *
 *  X-1  An exported semaphore is signalled with growing values only: under the fence's
 *       exported_lock, with the largest value applied so far.
 *  X-2  Every pending update that is larger than the value last wanted for the exported semaphore
 *       is watched by a sleeper: whoever waits for the semaphore on the GPU needs no CPU call of
 *       the program's.
 *  X-3  An imported semaphore is signalled by the CPU with growing values, and below what queues
 *       are to signal: compared and signalled under a lock that all fences of the semaphore share
 *       and nobody else takes, since the driver may block.
 *  X-4  What a queue has yet to wait for, or to signal, of an imported fence goes with the fence:
 *       the semaphore is the program's, and may be gone (bf_command_queue_waive).
 *  X-5  One thread exports a fence; others fail, and undo nothing.
 *  X-6  An exported semaphore is raised by no more at a time than the driver's
 *       maxTimelineSemaphoreValueDifference: further in so many steps, and beyond these, where a
 *       value is far away, it stays behind, with a line. No wait for it can be further away than
 *       that: so each ends, also where a lost device has set the fence to UINT64_MAX.
 *
 * Proven by tests/fence (import_export.c) and tests/random.
 */
#ifndef BELFRY_FENCE_IMPORT_EXPORT_H
#define BELFRY_FENCE_IMPORT_EXPORT_H

#include "fence/fence.h"

/* The fence took the value; the pending lock is held. */
void bf_export_applied(struct bf_fence *fence, uint64_t value, struct bf_effects *effects);

/* Does the exported semaphore want the update of that value? The pending lock is held. */
bool bf_export_watches(const struct bf_fence *fence, uint64_t value);

/* Signals the exported semaphore, and drops the reference that bf_export_applied took. No lock is
 * held. */
void bf_export_signal(struct bf_fence *fence);

/* A call of the program's will set the fence to the value: tells upper layers that track its
 * semaphore, before the value can be seen (AB-5, gpu/upper_layers.h). For any fence; no lock is
 * held. */
void bf_fence_announce(struct bf_fence *fence, uint64_t value);

/* Value, signal by the CPU, and taking in the counter, of an imported fence; no lock is held. */
uint64_t bf_import_value(struct bf_fence *fence);
VkResult bf_import_signal(struct bf_fence *fence, uint64_t value);
VkResult bf_import_observe(struct bf_fence *fence, struct bf_effects *effects);

/* VK_SUCCESS: the value is larger than the counter and than all signals that Belfry knows to be
 * pending, and counts as pending from now on. Errors: VK_ERROR_VALIDATION_FAILED_EXT, with one
 * line; VK_ERROR_DEVICE_LOST. No lock is held. */
VkResult bf_import_may_signal(struct bf_fence *fence, uint64_t value, uint64_t *before,
                              const char *call);

/* The signal could not be submitted, for want of memory. */
void bf_import_will_not_signal(struct bf_fence *fence, uint64_t value, uint64_t before);

/* Before the CPU waits for an imported fence: creates its sleeper, and reads its value. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, those of vkGetSemaphoreCounterValue. */
VkResult bf_import_prepare_wait(struct bf_fence *fence, struct bf_effects *effects);

/* An imported fence has been marked destroyed: queues continue without their waits for it. No lock
 * is held. */
void bf_import_release_queues(struct bf_fence *fence, struct bf_effects *effects);

/* The fence is being destroyed: from now on nothing of it uses a semaphore of the program's, except
 * work that the driver already has. With 'device_stays', waits of VkQueues for the semaphore go on.
 * No lock is held. */
void bf_import_export_stop(struct bf_fence *fence, bool device_stays);

#endif
