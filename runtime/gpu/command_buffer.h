/* SPDX-License-Identifier: MIT */
/*
 * What a command buffer is: the family of its pool, as shown to the program, and its level. Told by
 * whoever sees command buffers allocated and freed (the layer); on devices where nobody does, none
 * is ever found.
 *
 *  K-1  What is found is true: a command buffer is registered after the driver has made it and
 *       forgotten before the driver frees it, so a handle that the driver gives out again is never
 *       found with what its predecessor was. Proven by tests/layer/command_buffers.c.
 *
 * Thread-safety: bf_command_buffer_find is lock-free, for command buffers that live (M-1, M-2 in
 * base/map.h); the others lock internally.
 */
#ifndef BELFRY_GPU_COMMAND_BUFFER_H
#define BELFRY_GPU_COMMAND_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_gpu;

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; the command buffer is then not known. */
VkResult bf_command_buffer_register(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t family,
                                    VkCommandBufferLevel level);

/* One that isn't known is left alone. */
void bf_command_buffer_forget(struct bf_gpu *gpu, VkCommandBuffer handle);

/* False: never heard of; *family and *level are untouched. */
bool bf_command_buffer_find(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t *family,
                            VkCommandBufferLevel *level);

#endif
