/* SPDX-License-Identifier: MIT */
/* Command buffers that are begun, and labels in them: they are passed on; the trace shows them at
 * its packets, and the watchdog tells what the GPU is busy with by them. */
#include "layer/layer.h"

#include "gpu/command_buffer.h"
#include "layer/access/access.h"

VKAPI_ATTR VkResult VKAPI_CALL layer_vkBeginCommandBuffer(VkCommandBuffer buffer,
                                                          const VkCommandBufferBeginInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    /* It may reset it, and what a stuck call has stays as it is; nor could it be executed. */
    if (layer_keeps_commands(d))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (d->runtime)
        bf_command_buffer_reset(d->gpu, buffer);
    if (atomic_load_explicit(&d->barriers_lost, memory_order_relaxed))
        bf_command_buffer_mark(d->gpu, buffer, false);
    bf_trace_command_buffer_begun(d->trace, buffer);
    bf_standstill_buffer_begun(d->standstill, buffer);
    PFN_vkBeginCommandBuffer next =
        d->access ? layer_access_vkBeginCommandBuffer : d->vk.vkBeginCommandBuffer;
    return next(buffer, info);
}

void layer_rendering_begins(struct layer_device *d, const VkRenderingInfo *info)
{
    if (d->scheduler && info->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT))
        bf_preempt_keep_whole(d->scheduler);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdBeginRendering(VkCommandBuffer buffer,
                                                     const VkRenderingInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    layer_rendering_begins(d, info);
    d->vk.vkCmdBeginRendering(buffer, info);
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
