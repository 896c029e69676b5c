/* SPDX-License-Identifier: MIT */
/*
 * What is known of a command buffer: the queue family of its pool, as shown to the program, its
 * level, and whether something is missing in it. The layer registers command buffers when they are
 * allocated and forgets them when they are freed; on attached devices nobody registers any, and
 * none is found.
 *
 *  K-1  What is found is true: a command buffer is registered after the driver has allocated it and
 *       forgotten before the driver frees it. So if the driver reuses a handle, the old command
 *       buffer's properties are never found for the new one. Proven by
 *       tests/gpu/command_buffer.c.
 *
 * Thread-safety: bf_command_buffer_find is lock-free for command buffers that have not been freed
 * (M-1, M-2 in base/map.h); the other functions lock internally.
 */
#ifndef BELFRY_GPU_COMMAND_BUFFER_H
#define BELFRY_GPU_COMMAND_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_gpu;
struct bf_map;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; the command buffer is then not registered. */
VkResult bf_command_buffer_register(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t family,
                                    VkCommandBufferLevel level);

/* Does nothing for a command buffer that is not registered. */
void bf_command_buffer_forget(struct bf_gpu *gpu, VkCommandBuffer handle);

/* Notes that something which the program has recorded in it is missing, or that nothing is any
 * more. Takes no memory. False: it is not registered. */
bool bf_command_buffer_mark(struct bf_gpu *gpu, VkCommandBuffer handle, bool incomplete);
bool bf_command_buffer_is_incomplete(struct bf_gpu *gpu, VkCommandBuffer handle);

/* What was recorded in it is gone, or is about to be: by vkBeginCommandBuffer, a reset, or its end.
 * It costs a load where there is no queue for user-mode submission. */
void bf_command_buffer_reset(struct bf_gpu *gpu, VkCommandBuffer handle);
/* The same for all command buffers of a pool; 'buffers' has their handles for keys. */
void bf_command_pool_reset(struct bf_gpu *gpu, struct bf_map *buffers);

/* False: it is not registered; *family and *level are unchanged. */
bool bf_command_buffer_find(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t *family,
                            VkCommandBufferLevel *level);

#endif
