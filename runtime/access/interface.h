/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is access/'s: the check
 * 'access', which is told of everything that is recorded and submitted.
 */
#ifndef BELFRY_ACCESS_INTERFACE_H
#define BELFRY_ACCESS_INTERFACE_H

#include "access/access.h"
#include "access/observe.h"
#include "access/record.h"
#include "access/vulkan.h"

/* clang-format off: it takes these for expressions */
#define BF_ACCESS_INTERFACE(F)                                                                     \
    F(void, bf_access_buffer_add, (struct bf_access * access, VkBuffer buffer, VkDeviceSize size), \
      (access, buffer, size))                                                                      \
    F(void, bf_access_buffer_name, (struct bf_access * access, VkBuffer buffer, const char *name), \
      (access, buffer, name))                                                                      \
    F(void, bf_access_buffer_remove, (struct bf_access * access, VkBuffer buffer),                 \
      (access, buffer))                                                                            \
    F(VkResult, bf_access_create, (const struct bf_access_info *info, struct bf_access **access),  \
      (info, access))                                                                              \
    F(void, bf_access_destroy, (struct bf_access * access), (access))                              \
    F(void, bf_access_idle, (struct bf_access * access), (access))                                 \
    F(void, bf_access_image_add,                                                                   \
      (struct bf_access * access, VkImage image, const struct bf_access_image_info *info),         \
      (access, image, info))                                                                       \
    F(void, bf_access_image_name, (struct bf_access * access, VkImage image, const char *name),    \
      (access, image, name))                                                                       \
    F(void, bf_access_image_remove, (struct bf_access * access, VkImage image), (access, image))   \
    F(bool, bf_access_knows_buffer, (struct bf_access * access, VkBuffer buffer),                  \
      (access, buffer))                                                                            \
    F(void, bf_access_stop, (struct bf_access * access, const char *why), (access, why))           \
    F(struct bf_observer *, bf_access_observer, (struct bf_access * access), (access))             \
    F(bool, bf_access_image_get,                                                                   \
      (struct bf_access * access, VkImage image, struct bf_access_image_info * info),              \
      (access, image, info))                                                                       \
    F(void, bf_access_record_area,                                                                 \
      (struct bf_access_recording * recording, VkImage image, const struct bf_access_area *area,   \
       enum bf_access_use use, const char *what),                                                  \
      (recording, image, area, use, what))                                                         \
    F(void, bf_access_record_blind, (struct bf_access_recording * recording), (recording))         \
    F(void, bf_access_record_bytes,                                                                \
      (struct bf_access_recording * recording, VkBuffer buffer, VkDeviceSize offset,               \
       VkDeviceSize size, enum bf_access_use use, const char *what),                               \
      (recording, buffer, offset, size, use, what))                                                \
    F(void, bf_access_record_secondary,                                                            \
      (struct bf_access_recording * recording, VkCommandBuffer secondary), (recording, secondary)) \
    F(void, bf_access_record_steps,                                                                \
      (struct bf_access_recording * recording, VkBuffer buffer, VkDeviceSize offset,               \
       VkDeviceSize size, VkDeviceSize stride, uint64_t count, enum bf_access_use use,             \
       const char *what),                                                                          \
      (recording, buffer, offset, size, stride, count, use, what))                                 \
    F(void, bf_access_record_transition,                                                           \
      (struct bf_access_recording * recording, VkImage image, const struct bf_access_area *area,   \
       BfResourceState before, BfResourceState after, const char *what),                           \
      (recording, image, area, before, after, what))                                               \
    F(void, bf_access_recording_close, (struct bf_access_recording * recording), (recording))      \
    F(struct bf_access_recording *, bf_access_recording_create,                                    \
      (struct bf_access * access, VkCommandBuffer command_buffer), (access, command_buffer))       \
    F(void, bf_access_recording_destroy, (struct bf_access_recording * recording), (recording))    \
    F(void, bf_access_recording_reset, (struct bf_access_recording * recording), (recording))      \
    F(void, bf_access_acquire,                                                                     \
      (struct bf_access * access, VkSwapchainKHR swapchain, VkSemaphore semaphore, VkFence fence), \
      (access, swapchain, semaphore, fence))                                                       \
    F(void, bf_access_present, (struct bf_access * access, const VkPresentInfoKHR *info),          \
      (access, info))                                                                              \
    F(void, bf_access_semaphore_add,                                                               \
      (struct bf_access * access, VkSemaphore semaphore, bool timeline, uint64_t value),           \
      (access, semaphore, timeline, value))                                                        \
    F(void, bf_access_semaphore_external, (struct bf_access * access, VkSemaphore semaphore),      \
      (access, semaphore))                                                                         \
    F(void, bf_access_semaphore_reached,                                                           \
      (struct bf_access * access, VkSemaphore semaphore, uint64_t value),                          \
      (access, semaphore, value))                                                                  \
    F(void, bf_access_semaphore_read,                                                              \
      (struct bf_access * access, VkSemaphore semaphore, uint64_t value),                          \
      (access, semaphore, value))                                                                  \
    F(void, bf_access_semaphore_remove, (struct bf_access * access, VkSemaphore semaphore),        \
      (access, semaphore))                                                                         \
    F(void, bf_access_semaphore_signal,                                                            \
      (struct bf_access * access, VkSemaphore semaphore, uint64_t value),                          \
      (access, semaphore, value))                                                                  \
    F(void, bf_access_swapchain_remove, (struct bf_access * access, VkSwapchainKHR swapchain),     \
      (access, swapchain))                                                                         \
    F(void, bf_access_vkfence_external, (struct bf_access * access, VkFence fence),                \
      (access, fence))                                                                             \
    F(void, bf_access_vkfence_reset, (struct bf_access * access, VkFence fence), (access, fence))  \
    F(void, bf_access_vkfence_seen, (struct bf_access * access, VkFence fence), (access, fence))   \
    F(void, bf_access_vkqueue_bind,                                                                \
      (struct bf_access * access, VkQueue queue, uint32_t count, const VkBindSparseInfo *infos,    \
       VkFence fence),                                                                             \
      (access, queue, count, infos, fence))                                                        \
    F(void, bf_access_vkqueue_idle, (struct bf_access * access, VkQueue queue), (access, queue))   \
    F(void, bf_access_vkqueue_name, (struct bf_access * access, VkQueue queue, const char *name),  \
      (access, queue, name))                                                                       \
    F(void, bf_access_vkqueue_submit,                                                              \
      (struct bf_access * access, VkQueue queue, uint32_t count, const VkSubmitInfo *infos,        \
       VkFence fence),                                                                             \
      (access, queue, count, infos, fence))                                                        \
    F(void, bf_access_vkqueue_submit2,                                                             \
      (struct bf_access * access, VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,       \
       VkFence fence),                                                                             \
      (access, queue, count, infos, fence))
/* clang-format on */

#endif
