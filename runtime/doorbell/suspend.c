/* SPDX-License-Identifier: MIT */
/* Suspending and resuming a context: a queue that has a ring, or one that takes its work by calls. */
#include <belfry/user_mode_submission.h>

#include "base/handle.h"
#include "base/message.h"
#include "doorbell/doorbell.h"
#include "doorbell/hw_queue.h"
#include "scheduler/command_queue.h"
#include "scheduler/suspension.h"

VkResult bfSuspendCommandQueue(BfCommandQueue handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    if (queue->hw ? bf_doorbell_thread_suspend(queue->hw, true) : bf_suspension_begin(queue))
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR, "bfSuspendCommandQueue: the queue%s is suspended too often",
               BF_LABEL(queue));
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bfResumeCommandQueue(BfCommandQueue handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    if (queue->hw ? bf_doorbell_thread_suspend(queue->hw, false) : bf_suspension_end(queue))
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR, "bfResumeCommandQueue: the queue%s isn't suspended",
               BF_LABEL(queue));
    return VK_ERROR_VALIDATION_FAILED_EXT;
}
