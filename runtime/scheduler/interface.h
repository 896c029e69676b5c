/*
 * The part of the layer's interface (interface/interface.h) that is scheduler/'s: semaphores,
 * VkFences, labels, and what a queue's last submission was.
 */
#ifndef BELFRY_SCHEDULER_INTERFACE_H
#define BELFRY_SCHEDULER_INTERFACE_H

#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/packet.h"
#include "scheduler/semaphore.h"
#include "scheduler/vkfence.h"

/* clang-format off: it takes these for expressions */
#define BF_SCHEDULER_INTERFACE(F)                                                                  \
    F(void, bf_label_begin, (struct bf_queue * queue, const VkDebugUtilsLabelEXT *label),          \
      (queue, label))                                                                              \
    F(void, bf_label_end, (struct bf_queue * queue), (queue))                                      \
    F(void, bf_label_insert, (struct bf_queue * queue, const VkDebugUtilsLabelEXT *label),         \
      (queue, label))                                                                              \
    F(void, bf_last_submission_drop_fences,                                                        \
      (struct bf_device * device, uint32_t count, const VkFence *fences), (device, count, fences)) \
    F(void, bf_last_submission_drop_semaphore, (struct bf_device * device, VkSemaphore semaphore), \
      (device, semaphore))                                                                         \
    F(bool, bf_packet_can_copy_bind, (const VkBindSparseInfo *info), (info))                       \
    F(bool, bf_packet_can_copy_submit, (const VkSubmitInfo2 *info), (info))                        \
    F(VkResult, bf_semaphore_flush, (struct bf_device * device, VkSemaphore handle),               \
      (device, handle))                                                                            \
    F(void, bf_semaphore_forget, (struct bf_device * device, VkSemaphore handle),                  \
      (device, handle))                                                                            \
    F(void, bf_semaphore_host_signal,                                                              \
      (struct bf_device * device, VkSemaphore handle, uint64_t value), (device, handle, value))    \
    F(void, bf_semaphore_imported, (struct bf_device * device, VkSemaphore handle),                \
      (device, handle))                                                                            \
    F(VkResult, bf_semaphore_register,                                                             \
      (struct bf_device * device, VkSemaphore handle, bool timeline, bool external,                \
       uint64_t initial_value),                                                                    \
      (device, handle, timeline, external, initial_value))                                         \
    F(void, bf_semaphore_set_external, (struct bf_device * device, VkSemaphore handle),            \
      (device, handle))                                                                            \
    F(VkResult, bf_vkfence_flush, (struct bf_device * device, VkFence handle), (device, handle))   \
    F(void, bf_vkfence_forget, (struct bf_device * device, VkFence handle), (device, handle))      \
    F(VkResult, bf_vkfence_set_external, (struct bf_device * device, VkFence handle),              \
      (device, handle))                                                                            \
    F(VkResult, bf_vkfence_status, (struct bf_device * device, VkFence handle), (device, handle))  \
    F(VkResult, bf_vkfence_wait,                                                                   \
      (struct bf_device * device, uint32_t count, const VkFence *fences, VkBool32 all,             \
       uint64_t timeout_ns),                                                                       \
      (device, count, fences, all, timeout_ns))
/* clang-format on */

#endif
