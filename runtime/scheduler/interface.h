/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is scheduler/'s: semaphores,
 * VkFences, labels, and what a queue's last submission was.
 */
#ifndef BELFRY_SCHEDULER_INTERFACE_H
#define BELFRY_SCHEDULER_INTERFACE_H

#include "scheduler/deferral.h"
#include "scheduler/driver_wait.h"
#include "scheduler/host_call.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/packet.h"
#include "scheduler/scheduler.h"
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
      (struct bf_scheduler * scheduler, uint32_t count, const VkFence *fences),                    \
      (scheduler, count, fences))                                                                  \
    F(void, bf_last_submission_drop_semaphore,                                                     \
      (struct bf_scheduler * scheduler, VkSemaphore semaphore), (scheduler, semaphore))            \
    F(void, bf_deferral_end, (struct bf_scheduler * scheduler), (scheduler))                       \
    F(void, bf_preempt_keep_whole, (struct bf_scheduler * scheduler), (scheduler))                 \
    F(bool, bf_packet_can_copy_bind, (const VkBindSparseInfo *info), (info))                       \
    F(bool, bf_packet_can_copy_submit, (const VkSubmitInfo2 *info), (info))                        \
    F(struct bf_queue *, bf_scheduler_find_queue,                                                  \
      (struct bf_scheduler * scheduler, uint32_t family, uint32_t index,                           \
       VkDeviceQueueCreateFlags flags),                                                            \
      (scheduler, family, index, flags))                                                           \
    F(uint64_t, bf_driver_slice_ns, (const struct bf_scheduler *scheduler, uint64_t deadline_ns),  \
      (scheduler, deadline_ns))                                                                    \
    F(bool, bf_driver_slice_was_last,                                                              \
      (struct bf_scheduler * scheduler, VkResult * result, uint64_t deadline_ns),                  \
      (scheduler, result, deadline_ns))                                                            \
    F(VkResult, bf_driver_wait_semaphores,                                                         \
      (struct bf_scheduler * scheduler, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns),     \
      (scheduler, info, timeout_ns))                                                               \
    F(struct bf_watched_call *, bf_host_call_begin,                                                \
      (struct bf_scheduler * scheduler, enum bf_watched_command command), (scheduler, command))    \
    F(struct bf_watched_call *, bf_host_call_wait_fences,                                          \
      (struct bf_scheduler * scheduler, uint32_t count, const VkFence *fences, VkBool32 all,       \
       uint64_t timeout_ns),                                                                       \
      (scheduler, count, fences, all, timeout_ns))                                                 \
    F(struct bf_watched_call *, bf_host_call_wait_semaphores,                                      \
      (struct bf_scheduler * scheduler, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns),     \
      (scheduler, info, timeout_ns))                                                               \
    F(void, bf_host_call_end, (struct bf_watched_call * call, VkResult result), (call, result))    \
    F(bool, bf_scheduler_keeps,                                                                    \
      (struct bf_scheduler * scheduler, const struct bf_retained *object, bool own_callbacks),     \
      (scheduler, object, own_callbacks))                                                          \
    F(VkResult, bf_scheduler_lost, (struct bf_scheduler * scheduler, const char *where),           \
      (scheduler, where))                                                                          \
    F(void, bf_scheduler_observe_executes,                                                         \
      (struct bf_scheduler * scheduler, const struct bf_execute_observer *observer),               \
      (scheduler, observer))                                                                       \
    F(VkResult, bf_scheduler_query_results,                                                        \
      (struct bf_scheduler * scheduler, VkQueryPool pool, uint32_t first, uint32_t count,          \
       size_t size, void *data, VkDeviceSize stride, VkQueryResultFlags flags),                    \
      (scheduler, pool, first, count, size, data, stride, flags))                                  \
    F(struct bf_queue *, bf_scheduler_queue_on,                                                    \
      (const struct bf_scheduler *scheduler, VkQueue handle), (scheduler, handle))                 \
    F(VkResult, bf_scheduler_settle, (struct bf_scheduler * scheduler), (scheduler))               \
    F(VkResult, bf_scheduler_wait_idle, (struct bf_scheduler * scheduler), (scheduler))            \
    F(VkQueue, bf_queue_handle, (const struct bf_queue *queue), (queue))                           \
    F(uint32_t, bf_queue_trace_id, (const struct bf_queue *queue), (queue))                        \
    F(VkResult, bf_semaphore_signal_driver,                                                        \
      (struct bf_scheduler * scheduler, const VkSemaphoreSignalInfo *info), (scheduler, info))     \
    F(VkResult, bf_semaphore_flush, (struct bf_scheduler * scheduler, VkSemaphore handle),         \
      (scheduler, handle))                                                                         \
    F(const VkAllocationCallbacks *, bf_semaphore_allocator,                                       \
      (struct bf_scheduler * scheduler, bool timeline, const VkAllocationCallbacks *allocator),    \
      (scheduler, timeline, allocator))                                                            \
    F(void, bf_semaphore_destroy,                                                                  \
      (struct bf_scheduler * scheduler, VkSemaphore handle,                                        \
       const VkAllocationCallbacks *allocator),                                                    \
      (scheduler, handle, allocator))                                                              \
    F(void, bf_semaphore_host_signal,                                                              \
      (struct bf_scheduler * scheduler, VkSemaphore handle, uint64_t value),                       \
      (scheduler, handle, value))                                                                  \
    F(void, bf_semaphore_imported, (struct bf_scheduler * scheduler, VkSemaphore handle),          \
      (scheduler, handle))                                                                         \
    F(VkResult, bf_semaphore_register,                                                             \
      (struct bf_scheduler * scheduler, VkSemaphore handle, bool timeline, bool external,          \
       uint64_t initial_value),                                                                    \
      (scheduler, handle, timeline, external, initial_value))                                      \
    F(void, bf_semaphore_set_external, (struct bf_scheduler * scheduler, VkSemaphore handle),      \
      (scheduler, handle))                                                                         \
    F(VkResult, bf_vkfence_flush, (struct bf_scheduler * scheduler, VkFence handle),               \
      (scheduler, handle))                                                                         \
    F(bool, bf_vkfence_forget,                                                                     \
      (struct bf_scheduler * scheduler, VkFence handle, bool own_callbacks),                       \
      (scheduler, handle, own_callbacks))                                                          \
    F(VkResult, bf_vkfence_set_external, (struct bf_scheduler * scheduler, VkFence handle),        \
      (scheduler, handle))                                                                         \
    F(VkResult, bf_vkfence_status, (struct bf_scheduler * scheduler, VkFence handle),              \
      (scheduler, handle))                                                                         \
    F(VkResult, bf_vkfence_wait,                                                                   \
      (struct bf_scheduler * scheduler, uint32_t count, const VkFence *fences, VkBool32 all,       \
       uint64_t timeout_ns),                                                                       \
      (scheduler, count, fences, all, timeout_ns))
/* clang-format on */

#endif
