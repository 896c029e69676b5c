/* SPDX-License-Identifier: MIT */
/*
 * The VkFences of held packets.
 *
 * While the driver has not been given a fence, the fence may not be touched: vkQueueSubmit needs it
 * externally synchronised, and the driver would answer 'not signalled' for ever. So a fence is
 * 'deferred' from the program's submit until the driver's has returned, and Belfry answers the
 * program's waits and queries meanwhile. For a fence that was never deferred, asking costs one
 * load.
 *
 * V-1  No driver call on a fence overlaps the hand-over of that fence.
 * Proven by tests/random (fences queried and waited for from other threads while held).
 */
#ifndef BELFRY_SCHEDULER_VKFENCE_H
#define BELFRY_SCHEDULER_VKFENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_scheduler;

struct bf_vkfence {
    VkFence handle;
    _Atomic uint32_t deferred;
    _Atomic bool external;       /* others may change its payload: exportable, or imported */
    _Atomic uint32_t references; /* the program's handle, and the packet that has it */
};

/* Others may change its payload from now on (VkExportFenceCreateInfo, vkImportFenceFdKHR). No lock
 * is held. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_vkfence_set_external(struct bf_scheduler *scheduler, VkFence handle);
bool bf_vkfence_is_external(struct bf_scheduler *scheduler, VkFence handle);

/* Makes the fence deferred; creates its record the first time. NULL: out of memory. */
struct bf_vkfence *bf_vkfence_defer(struct bf_scheduler *scheduler, VkFence handle);
void bf_vkfence_handed_over(struct bf_scheduler *scheduler, struct bf_vkfence *fence);
void bf_vkfence_release(struct bf_vkfence *fence); /* NULL is allowed */

/* As the Vulkan commands, including their errors. Thread-safety: as the Vulkan commands. */
VkResult bf_vkfence_wait(struct bf_scheduler *scheduler, uint32_t count, const VkFence *fences,
                         VkBool32 all, uint64_t timeout_ns);
VkResult bf_vkfence_status(struct bf_scheduler *scheduler, VkFence handle);
/* As bf_semaphore_forget. */
bool bf_vkfence_forget(struct bf_scheduler *scheduler, VkFence handle, bool own_callbacks);

/* Blocks until the driver has been handed the fence (export). Errors: VK_ERROR_DEVICE_LOST. */
VkResult bf_vkfence_flush(struct bf_scheduler *scheduler, VkFence handle);

#endif
