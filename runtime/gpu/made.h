/* SPDX-License-Identifier: MIT */
/* What a call that makes something leaves behind where it fails: of a handle Vulkan says nothing
 * ("Return Codes"; but of pipelines, command buffers and descriptor sets, which are VK_NULL_HANDLE
 * then), and some drivers leave what was never made. */
#ifndef BELFRY_GPU_MADE_H
#define BELFRY_GPU_MADE_H

#include <string.h>

#include <vulkan/vulkan.h>

/* The call's result; where that is an error '*handle_' is VK_NULL_HANDLE, to be destroyed like
 * any. */
#define BF_MADE(call_, handle_) bf_made(call_, handle_, sizeof(*(handle_)))

static inline VkResult bf_made(VkResult result, void *handle, size_t size)
{
    if (result != VK_SUCCESS)
        memset(handle, 0, size);
    return result;
}

#endif
