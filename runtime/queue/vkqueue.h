/* SPDX-License-Identifier: MIT */
/*
 * The program's VkQueues: the implementation of Vulkan's commands on them, for the layer.
 */
#ifndef BELFRY_QUEUE_VKQUEUE_H
#define BELFRY_QUEUE_VKQUEUE_H

#include <vulkan/vulkan.h>

#include "scheduler/queue.h"

/*
 * vkQueueSubmit2, vkQueueBindSparse. What may go to the driver at once goes on the caller's thread;
 * the rest is held. 'fence' may be VK_NULL_HANDLE. Errors: VK_ERROR_OUT_OF_HOST_MEMORY and
 * VK_ERROR_OUT_OF_DEVICE_MEMORY (nothing was submitted), VK_ERROR_DEVICE_LOST. Thread-safety: as
 * the Vulkan commands; concurrent calls on one queue are allowed, too, and take effect in either
 * order (VK_KHR_internally_synchronized_queues).
 */
VkResult bf_queue_submit(struct bf_queue *queue, uint32_t count, const VkSubmitInfo2 *infos,
                         VkFence fence);
VkResult bf_queue_bind_sparse(struct bf_queue *queue, uint32_t count, const VkBindSparseInfo *infos,
                              VkFence fence);

/*
 * A submission that can't be copied: it is handed to the driver as the program made it, under the
 * engine's lock, once everything before it in the queue has gone and its waits are ready. If they
 * are not, it still goes if every queue of the device has an engine to itself (the driver then
 * waits as it would without Belfry); otherwise it is refused, since waiting could deadlock its
 * caller. 'waits' and 'signals' are its operations, in order (bf_raw_submit_wait,
 * bf_raw_submit_signal); their targets are filled in. Errors: those of the command;
 * VK_ERROR_UNKNOWN when refused (one line says why).
 */
/* Add an operation on a semaphore, which need not be registered; the arrays have room for it. A
 * wait for a signal of an earlier batch of the same call is left out: the driver has the signal by
 * then. */
void bf_raw_submit_wait(const struct bf_queue *queue, struct bf_raw_submit *raw, VkSemaphore handle,
                        uint64_t value);
void bf_raw_submit_signal(const struct bf_queue *queue, struct bf_raw_submit *raw,
                          VkSemaphore handle, uint64_t value);
VkResult bf_queue_submit_raw(struct bf_queue *queue, struct bf_raw_submit *raw);

/* vkQueuePresentKHR: never deferred. Hands over what the presented images wait for, then presents.
 * Errors: those of the Vulkan command. Thread-safety: as the Vulkan command. */
VkResult bf_queue_present(struct bf_queue *queue, const VkPresentInfoKHR *info);

/* vkQueueWaitIdle: this queue's own work, not its neighbours'. Errors: VK_ERROR_DEVICE_LOST, out of
 * memory from the driver. Thread-safety: as the Vulkan command. */
VkResult bf_queue_wait_idle(struct bf_queue *queue);

/* Calls 'call' with the driver's queue under the engine's lock: for commands that Belfry only
 * passes on (labels, checkpoints, performance configurations). */
VkResult bf_queue_call(struct bf_queue *queue, VkResult (*call)(VkQueue handle, void *context),
                       void *context);

#endif
