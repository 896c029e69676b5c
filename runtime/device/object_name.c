/* SPDX-License-Identifier: MIT */
/* bfSetObjectName: the names that the program gives to Belfry's objects. */
#include <stdio.h>

#include "base/handle.h"
#include "base/message.h"
#include "device/device.h"
#include "fence/fence.h"
#include "gpu/registry.h"
#include "queue/command_queue.h"
#include "scheduler/observer.h"
#include "trace/trace.h"

static VkResult object_name_device(BfDevice handle, const char *name)
{
    struct bf_gpu *gpu = bf_gpu_of(handle, "bfSetObjectName");
    if (!gpu)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_handle_name(gpu, name))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_trace_name_device(gpu->trace, name);
    return VK_SUCCESS;
}

static VkResult object_name_command_queue(BfCommandQueue handle, const char *name)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, "bfSetObjectName", "object"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    if (!bf_handle_name(queue, name))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_trace_name_queue(queue->base.scheduler->gpu.trace, queue->base.trace_id, name);
    char own[BF_QUEUE_NAME];
    bf_command_queue_name(queue, own);
    bf_observe_queue_name(queue->observed, name && name[0] ? name : own);
    return VK_SUCCESS;
}

static VkResult object_name_fence(BfFence handle, const char *name)
{
    struct bf_fence *fence = bf_fence_of(handle, "bfSetObjectName");
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_handle_name(fence, name))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_fence_name_in_trace(fence, name);
    return VK_SUCCESS;
}

VkResult bfSetObjectName(BfObjectType type, const void *object, const char *pName)
{
    enum bf_handle_kind kind = BF_HANDLE_EVENT;
    switch (type) {
    case BF_OBJECT_TYPE_DEVICE:
        return object_name_device((BfDevice)object, pName);
    case BF_OBJECT_TYPE_COMMAND_QUEUE:
        return object_name_command_queue((BfCommandQueue)object, pName);
    case BF_OBJECT_TYPE_FENCE:
        return object_name_fence((BfFence)object, pName);
    case BF_OBJECT_TYPE_FENCE_LOG_READER:
        kind = BF_HANDLE_LOG_READER;
        break;
    case BF_OBJECT_TYPE_EVENT:
        break;
    default:
        bf_message(BF_MESSAGE_ERROR, "bfSetObjectName: type is none: %d", (int)type);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!bf_handle_check(object, kind, __func__, "object"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    return bf_handle_name(object, pName) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}
