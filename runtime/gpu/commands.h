/* SPDX-License-Identifier: MIT */
/*
 * Command buffers that Belfry records itself, for barriers, GPU writes and log entries: allocating
 * them, and the barrier that most of them contain.
 */
#ifndef BELFRY_GPU_COMMANDS_H
#define BELFRY_GPU_COMMANDS_H

#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_gpu;

/* Allocates primary command buffers, and sets their dispatch pointers where the layer needs that
 * (vkSetDeviceLoaderData). Errors: those of vkAllocateCommandBuffers; then none is allocated.
 * Thread-safety: access to the pool is externally synchronised. */
VkResult bf_commands_allocate(struct bf_gpu *gpu, VkCommandPool pool, uint32_t count,
                              VkCommandBuffer *commands);

/* Records a full memory barrier: writes made in the stages 'from' are available and visible to
 * reads and writes in the stages 'to' (for the host stage: to reads only). */
void bf_commands_put_barrier(struct bf_gpu *gpu, VkCommandBuffer commands,
                             VkPipelineStageFlags2 from, VkPipelineStageFlags2 to);

#endif
