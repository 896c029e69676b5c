/* SPDX-License-Identifier: MIT */
/*
 * VkFences that travel with held packets.
 *
 * While the driver has not been handed a fence it may not be touched: vkQueueSubmit needs it
 * externally synchronised, and asking the driver would say 'not yet' for ever. So a fence is
 * 'deferred' from the program's submit until the driver's has returned, and its waits and queries
 * stay with us meanwhile. A fence that was never deferred costs one load to ask about.
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
    _Atomic bool external;       /* its payload may be changed by others: exportable, or imported */
    _Atomic uint32_t references; /* the program's handle, and the packet that carries it */
};

/* Its payload is or may become another's (VkExportFenceCreateInfo, vkImportFenceFdKHR).
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_vkfence_set_external(struct bf_scheduler *scheduler, VkFence handle);
bool bf_vkfence_is_external(struct bf_scheduler *scheduler, VkFence handle);

/* The fence's record, made at its first deferral. NULL: out of memory. */
struct bf_vkfence *bf_vkfence_defer(struct bf_scheduler *scheduler, VkFence handle);
void bf_vkfence_handed_over(struct bf_scheduler *scheduler, struct bf_vkfence *fence);
void bf_vkfence_release(struct bf_vkfence *fence); /* NULL is allowed */

/* As the Vulkan commands, including their errors. Thread-safety: as the Vulkan commands. */
VkResult bf_vkfence_wait(struct bf_scheduler *scheduler, uint32_t count, const VkFence *fences,
                         VkBool32 all, uint64_t timeout_ns);
VkResult bf_vkfence_status(struct bf_scheduler *scheduler, VkFence handle);
void bf_vkfence_forget(struct bf_scheduler *scheduler, VkFence handle);

/* Blocks until the driver has been handed the fence (export). Errors: VK_ERROR_DEVICE_LOST. */
VkResult bf_vkfence_flush(struct bf_scheduler *scheduler, VkFence handle);

#endif
