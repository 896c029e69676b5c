/* SPDX-License-Identifier: MIT */
/*
 * Command buffers of Belfry's own: barriers, stores, log entries.
 */
#ifndef BELFRY_GPU_COMMANDS_H
#define BELFRY_GPU_COMMANDS_H

#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_gpu;

/* Primary ones, with their dispatch pointers where a layer has to set them. Errors: those of
 * vkAllocateCommandBuffers; then there are none. Thread-safety: the pool externally synchronised. */
VkResult bf_commands_allocate(struct bf_gpu *gpu, VkCommandPool pool, uint32_t count,
                              VkCommandBuffer *commands);

/* What was written in stages 'from' is there, and visible to reads and writes in stages 'to' (to
 * reads alone in the host's). */
void bf_commands_put_barrier(struct bf_gpu *gpu, VkCommandBuffer commands,
                             VkPipelineStageFlags2 from, VkPipelineStageFlags2 to);

#endif
