/* SPDX-License-Identifier: MIT */
/* Labels in command buffers: they are passed on; the trace shows them at its packets, and the
 * watchdog tells what the GPU is busy with by them. */
#include "layer/layer.h"

#include "layer/access/access.h"

VKAPI_ATTR VkResult VKAPI_CALL layer_vkBeginCommandBuffer(VkCommandBuffer buffer,
                                                          const VkCommandBufferBeginInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_trace_command_buffer_begun(d->trace, buffer);
    bf_standstill_buffer_begun(d->standstill, buffer);
    PFN_vkBeginCommandBuffer next =
        d->access ? layer_access_vkBeginCommandBuffer : d->vk.vkBeginCommandBuffer;
    return next(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdBeginDebugUtilsLabelEXT(VkCommandBuffer buffer,
                                                              const VkDebugUtilsLabelEXT *label)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_trace_command_buffer_label(d->trace, buffer, label->pLabelName);
    bf_standstill_buffer_label(d->standstill, buffer, label->pLabelName);
    d->more.vkCmdBeginDebugUtilsLabelEXT(buffer, label);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdInsertDebugUtilsLabelEXT(VkCommandBuffer buffer,
                                                               const VkDebugUtilsLabelEXT *label)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_trace_command_buffer_label(d->trace, buffer, label->pLabelName);
    bf_standstill_buffer_label(d->standstill, buffer, label->pLabelName);
    d->more.vkCmdInsertDebugUtilsLabelEXT(buffer, label);
}
