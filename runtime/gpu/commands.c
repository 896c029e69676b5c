/* SPDX-License-Identifier: MIT */
/* Allocating Belfry's own command buffers, and the full memory barrier. */
#include "gpu/commands.h"

#include "gpu/gpu.h"

VkResult bf_commands_allocate(struct bf_gpu *gpu, VkCommandPool pool, uint32_t count,
                              VkCommandBuffer *commands)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = count,
    };
    VkResult result = gpu->vk.vkAllocateCommandBuffers(gpu->handle, &info, commands);
    if (result != VK_SUCCESS)
        return result;
    for (uint32_t i = 0; i < count && gpu->set_loader_data && result == VK_SUCCESS; i++)
        result = gpu->set_loader_data(gpu->handle, commands[i]);
    if (result != VK_SUCCESS)
        gpu->vk.vkFreeCommandBuffers(gpu->handle, pool, count, commands);
    return result;
}

void bf_commands_put_barrier(struct bf_gpu *gpu, VkCommandBuffer commands,
                             VkPipelineStageFlags2 from, VkPipelineStageFlags2 to)
{
    const VkPipelineStageFlags2 transfer = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    const VkPipelineStageFlags2 host = VK_PIPELINE_STAGE_2_HOST_BIT;
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = from,
        .srcAccessMask =
            from == transfer ? VK_ACCESS_2_TRANSFER_WRITE_BIT : VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = to,
        .dstAccessMask = ((to & ~host) == transfer
                              ? VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT
                              : VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT) |
                         (to & host ? VK_ACCESS_2_HOST_READ_BIT : 0),
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    gpu->vk.vkCmdPipelineBarrier2(commands, &info);
}
