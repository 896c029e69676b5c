/*
 * VkFences that travel with held packets.
 *
 * While the driver has not been handed a fence it may not be touched: vkQueueSubmit needs it
 * externally synchronised, and asking the driver would say 'not yet' for ever. So a fence is
 * 'deferred' from the program's submit until the driver's has returned, and its waits and queries
 * stay with us meanwhile. A fence that was never deferred costs one load to ask about.
 *
 * F-1  No driver call on a fence overlaps the hand-over of that fence.
 * F-2  When vkQueueWaitIdle returns, the fences of that queue's submissions are signalled. On an
 * engine that several queues share it waits for the queue's last epoch, which the driver may signal
 *      a moment before the fence of the same call (fences come last in signal operation order);
 *      so it waits for that one fence too. 'fence_guard' keeps the program from resetting or
 *      destroying the fence, which it may as soon as it has seen it signalled, under that wait.
 * Proven by tests/random (fences queried and waited for from other threads while held, and after
 * idle waits).
 */
#ifndef BELFRY_QUEUE_FENCE_H
#define BELFRY_QUEUE_FENCE_H

#include <stdatomic.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "os/export.h"

struct bf_device;
struct bf_queue;

struct bf_fence {
    VkFence handle;
    _Atomic uint32_t deferred;
};

/* The fence's record, made at its first deferral. NULL: out of memory. */
struct bf_fence *bf_fence_defer(struct bf_device *device, VkFence handle);
void bf_fence_handed_over(struct bf_device *device, struct bf_fence *fence);

/* The queue's engine is shared, and the driver has accepted 'handle' with the queue's last epoch.
 */
void bf_fence_remember(struct bf_queue *queue, VkFence handle);

/* The queue's last epoch has been reached: until the fence that came with it is signalled. */
VkResult bf_fence_wait_remembered(struct bf_queue *queue);

/* The program resets or destroys these. Call before the driver does. */
BF_SHARED void bf_fence_drop(struct bf_device *device, uint32_t count, const VkFence *fences);

/* As the Vulkan commands, including their errors. Thread-safety: as the Vulkan commands. */
BF_SHARED VkResult bf_fence_wait(struct bf_device *device, uint32_t count, const VkFence *fences,
                                 VkBool32 all, uint64_t timeout_ns);
BF_SHARED VkResult bf_fence_status(struct bf_device *device, VkFence handle);
BF_SHARED void bf_fence_forget(struct bf_device *device, VkFence handle);

/* Blocks until the driver has been handed the fence (export). Errors: VK_ERROR_DEVICE_LOST. */
BF_SHARED VkResult bf_fence_flush(struct bf_device *device, VkFence handle);

#endif
