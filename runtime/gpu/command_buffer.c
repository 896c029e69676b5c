/* SPDX-License-Identifier: MIT */
/* The family and level of registered command buffers, and which are incomplete. */
#include "gpu/command_buffer.h"

#include "gpu/gpu.h"

/* The map's value holds the properties themselves, so that nothing is allocated per command buffer:
 * bit 0 is always set (a NULL value means 'not registered'), bit 1 is the level, bit 2 is set while
 * it is incomplete, the bits above are the family. */
#define KNOWN      1u
#define SECONDARY  2u
#define INCOMPLETE 4u
#define FAMILY     3

static uint64_t command_buffer_map_key(VkCommandBuffer handle)
{
    return (uint64_t)(uintptr_t)handle;
}

VkResult bf_command_buffer_register(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t family,
                                    VkCommandBufferLevel level)
{
    uintptr_t value = (uintptr_t)family << FAMILY | KNOWN;
    if (level == VK_COMMAND_BUFFER_LEVEL_SECONDARY)
        value |= SECONDARY;
    return bf_map_insert(&gpu->command_buffers, command_buffer_map_key(handle), (void *)value)
               ? VK_SUCCESS
               : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_command_buffer_forget(struct bf_gpu *gpu, VkCommandBuffer handle)
{
    bf_map_remove(&gpu->command_buffers, command_buffer_map_key(handle));
    bf_command_buffer_reset(gpu, handle);
}

static uintptr_t command_buffer_value(struct bf_gpu *gpu, VkCommandBuffer handle)
{
    return (uintptr_t)bf_map_find(&gpu->command_buffers, command_buffer_map_key(handle));
}

bool bf_command_buffer_mark(struct bf_gpu *gpu, VkCommandBuffer handle, bool incomplete)
{
    uintptr_t value = command_buffer_value(gpu, handle);
    if (!value)
        return false;
    value = incomplete ? value | INCOMPLETE : value & ~(uintptr_t)INCOMPLETE;
    return bf_map_insert(&gpu->command_buffers, command_buffer_map_key(handle), (void *)value);
}

bool bf_command_buffer_is_incomplete(struct bf_gpu *gpu, VkCommandBuffer handle)
{
    return command_buffer_value(gpu, handle) & INCOMPLETE;
}

void bf_command_buffer_reset(struct bf_gpu *gpu, VkCommandBuffer handle)
{
    void (*ends)(struct bf_gpu *, VkCommandBuffer, struct bf_map *) =
        atomic_load(&gpu->buffers_end);
    if (ends)
        ends(gpu, handle, NULL);
}

void bf_command_pool_reset(struct bf_gpu *gpu, struct bf_map *buffers)
{
    void (*ends)(struct bf_gpu *, VkCommandBuffer, struct bf_map *) =
        atomic_load(&gpu->buffers_end);
    if (ends)
        ends(gpu, VK_NULL_HANDLE, buffers);
}

bool bf_command_buffer_find(struct bf_gpu *gpu, VkCommandBuffer handle, uint32_t *family,
                            VkCommandBufferLevel *level)
{
    uintptr_t value = command_buffer_value(gpu, handle);
    if (!value)
        return false;
    *family = (uint32_t)(value >> FAMILY);
    *level =
        value & SECONDARY ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    return true;
}
