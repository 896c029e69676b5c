/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is queue/'s: what programs
 * do to queues.
 */
#ifndef BELFRY_QUEUE_INTERFACE_H
#define BELFRY_QUEUE_INTERFACE_H

#include "belfry/belfry.h"
#include "queue/command_queue.h"
#include "queue/vkqueue.h"

/* clang-format off: it takes these for expressions */
#define BF_QUEUE_INTERFACE(F)                                                                      \
    F(void, bfDestroyCommandQueue, (BfCommandQueue queue), (queue))                                \
    F(VkResult, bfQueueExecute,                                                                    \
      (BfCommandQueue queue, uint32_t count, const VkCommandBuffer *pCommandBuffers),              \
      (queue, count, pCommandBuffers))                                                             \
    F(VkResult, bfQueueSignal, (BfCommandQueue queue, BfFence fence, uint64_t value),              \
      (queue, fence, value))                                                                       \
    F(VkResult, bfQueueWaitIdle, (BfCommandQueue queue), (queue))                                  \
    F(VkResult, bf_command_queue_create_on,                                                        \
      (struct bf_engine * engine, const BfCommandQueueCreateInfo *info, bool own,                  \
       BfCommandQueue *queue),                                                                     \
      (engine, info, own, queue))                                                                  \
    F(VkResult, bf_queue_bind_sparse,                                                              \
      (struct bf_queue * queue, uint32_t count, const VkBindSparseInfo *infos, VkFence fence),     \
      (queue, count, infos, fence))                                                                \
    F(VkResult, bf_queue_call,                                                                     \
      (struct bf_queue * queue, VkResult(*call)(VkQueue handle, void *context), void *context),    \
      (queue, call, context))                                                                      \
    F(VkResult, bf_queue_present, (struct bf_queue * queue, const VkPresentInfoKHR *info),         \
      (queue, info))                                                                               \
    F(VkResult, bf_queue_submit,                                                                   \
      (struct bf_queue * queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence),        \
      (queue, count, infos, fence))                                                                \
    F(VkResult, bf_queue_submit_raw, (struct bf_queue * queue, struct bf_raw_submit * raw),        \
      (queue, raw))                                                                                \
    F(VkResult, bf_queue_wait_idle, (struct bf_queue * queue), (queue))                            \
    F(void, bf_raw_submit_signal,                                                                  \
      (const struct bf_queue *queue, struct bf_raw_submit *raw, VkSemaphore handle,                \
       uint64_t value),                                                                            \
      (queue, raw, handle, value))                                                                 \
    F(void, bf_raw_submit_wait,                                                                    \
      (const struct bf_queue *queue, struct bf_raw_submit *raw, VkSemaphore handle,                \
       uint64_t value),                                                                            \
      (queue, raw, handle, value))
/* clang-format on */

#endif
