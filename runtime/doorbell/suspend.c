/* SPDX-License-Identifier: MIT */
/* Suspending and resuming a context: a queue that has a ring, or one that takes its work by
 * calls. */
#include <belfry/user_mode_submission.h>

#include "base/handle.h"
#include "base/message.h"
#include "doorbell/doorbell.h"
#include "doorbell/hw_queue.h"
#include "scheduler/command_queue.h"
#include "scheduler/suspension.h"

static VkResult context_suspend(BfCommandQueue handle, bool suspend, const char *call)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    if (queue->hw ? bf_doorbell_thread_suspend(queue->hw, suspend)
                  : bf_command_queue_suspend(queue, suspend))
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR, "%s: the queue%s %s", call, BF_LABEL(queue),
               suspend ? "is suspended too often" : "isn't suspended");
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bfSuspendCommandQueue(BfCommandQueue queue)
{
    return context_suspend(queue, true, __func__);
}

VkResult bfResumeCommandQueue(BfCommandQueue queue)
{
    return context_suspend(queue, false, __func__);
}
