/* SPDX-License-Identifier: MIT */
/*
 * Vulkan's own synchronisation in the check 'access': VkQueues, semaphores, VkFences and
 * presentation, as queues and fences of the model. Each is known by its handle.
 *
 * A binary semaphore or a VkFence carries one signal at a time, so each such signal is a fence of
 * its own in the model. A swapchain is a queue that presents: it waits for what a present waits
 * for, and signals what acquiring an image signals.
 *
 * A handle that was never added counts as external (access.h). Rules for callers as in access.h.
 */
#ifndef BELFRY_ACCESS_VULKAN_H
#define BELFRY_ACCESS_VULKAN_H

#include "access/access.h"

void bf_access_vkqueue_add(struct bf_access *access, VkQueue queue, const char *name,
                           enum bf_access_class type_class);
void bf_access_vkqueue_name(struct bf_access *access, VkQueue queue, const char *name);
/* fence may be VK_NULL_HANDLE in all of these. */
void bf_access_vkqueue_submit(struct bf_access *access, VkQueue queue, uint32_t count,
                              const VkSubmitInfo *infos, VkFence fence);
void bf_access_vkqueue_submit2(struct bf_access *access, VkQueue queue, uint32_t count,
                               const VkSubmitInfo2 *infos, VkFence fence);
void bf_access_vkqueue_bind(struct bf_access *access, VkQueue queue, uint32_t count,
                            const VkBindSparseInfo *infos, VkFence fence);
void bf_access_vkqueue_idle(struct bf_access *access, VkQueue queue);

void bf_access_semaphore_add(struct bf_access *access, VkSemaphore semaphore, bool timeline,
                             uint64_t value);
void bf_access_semaphore_remove(struct bf_access *access, VkSemaphore semaphore);
void bf_access_semaphore_external(struct bf_access *access, VkSemaphore semaphore);
/* The CPU signals the semaphore; has waited for it; has read its counter. */
void bf_access_semaphore_signal(struct bf_access *access, VkSemaphore semaphore, uint64_t value);
void bf_access_semaphore_reached(struct bf_access *access, VkSemaphore semaphore, uint64_t value);
void bf_access_semaphore_read(struct bf_access *access, VkSemaphore semaphore, uint64_t value);

/* For bfImportFenceFromSemaphore: the timeline semaphore's fence, with a reference for
 * bf_access_fence_remove. For bfExportFenceToSemaphore: from now on the semaphore follows the
 * fence. */
struct bf_access_fence *bf_access_semaphore_import(struct bf_access *access, VkSemaphore semaphore);
void bf_access_semaphore_export(struct bf_access *access, VkSemaphore semaphore,
                                struct bf_access_fence *fence);

/* The CPU has seen the fence signalled; resets it; exports or imports it. */
void bf_access_vkfence_seen(struct bf_access *access, VkFence fence);
void bf_access_vkfence_reset(struct bf_access *access, VkFence fence);
void bf_access_vkfence_external(struct bf_access *access, VkFence fence);

void bf_access_present(struct bf_access *access, const VkPresentInfoKHR *info);
/* An image was asked for; semaphore and fence may each be VK_NULL_HANDLE. */
void bf_access_acquire(struct bf_access *access, VkSwapchainKHR swapchain, VkSemaphore semaphore,
                       VkFence fence);
void bf_access_swapchain_remove(struct bf_access *access, VkSwapchainKHR swapchain);

#endif
