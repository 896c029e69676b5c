/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is gpu/'s: command buffers,
 * memory and what the driver can do.
 */
#ifndef BELFRY_GPU_INTERFACE_H
#define BELFRY_GPU_INTERFACE_H

#include "gpu/command_buffer.h"
#include "gpu/commands.h"
#include "gpu/dispatch.h"
#include "gpu/driver_name.h"
#include "gpu/memory.h"
#include "gpu/sharing.h"
#include "gpu/upper_layers.h"

/* clang-format off: it takes these for expressions */
#define BF_GPU_INTERFACE(F)                                                                        \
    F(bool, bf_command_buffer_find,                                                                \
      (struct bf_gpu * gpu, VkCommandBuffer handle, uint32_t * family,                             \
       VkCommandBufferLevel * level),                                                              \
      (gpu, handle, family, level))                                                                \
    F(void, bf_command_buffer_forget, (struct bf_gpu * gpu, VkCommandBuffer handle),               \
      (gpu, handle))                                                                               \
    F(bool, bf_command_buffer_is_incomplete, (struct bf_gpu * gpu, VkCommandBuffer handle),        \
      (gpu, handle))                                                                               \
    F(bool, bf_command_buffer_mark,                                                                \
      (struct bf_gpu * gpu, VkCommandBuffer handle, bool incomplete), (gpu, handle, incomplete))   \
    F(void, bf_command_buffer_reset, (struct bf_gpu * gpu, VkCommandBuffer handle), (gpu, handle)) \
    F(void, bf_command_pool_reset, (struct bf_gpu * gpu, struct bf_map * buffers), (gpu, buffers)) \
    F(VkResult, bf_command_buffer_register,                                                        \
      (struct bf_gpu * gpu, VkCommandBuffer handle, uint32_t family, VkCommandBufferLevel level),  \
      (gpu, handle, family, level))                                                                \
    F(VkResult, bf_commands_allocate,                                                              \
      (struct bf_gpu * gpu, VkCommandPool pool, uint32_t count, VkCommandBuffer * commands),       \
      (gpu, pool, count, commands))                                                                \
    F(void, bf_commands_put_barrier,                                                               \
      (struct bf_gpu * gpu, VkCommandBuffer commands, VkPipelineStageFlags2 from,                  \
       VkPipelineStageFlags2 to),                                                                  \
      (gpu, commands, from, to))                                                                   \
    F(void, bf_dispatch_load,                                                                      \
      (struct VolkDeviceTable * table, VkDevice device, PFN_vkGetDeviceProcAddr get_proc_addr),    \
      (table, device, get_proc_addr))                                                              \
    F(void, bf_driver_describe,                                                                    \
      (const VkPhysicalDeviceProperties *properties,                                               \
       const VkPhysicalDeviceDriverProperties *driver, char *text),                                \
      (properties, driver, text))                                                                  \
    F(VkResult, bf_buffer_create,                                                                  \
      (struct bf_gpu * gpu, VkDeviceSize size, enum bf_buffer_place place,                         \
       struct bf_buffer * buffer),                                                                 \
      (gpu, size, place, buffer))                                                                  \
    F(void, bf_buffer_destroy, (struct bf_gpu * gpu, struct bf_buffer * buffer), (gpu, buffer))    \
    F(void, bf_sharing_ask,                                                                        \
      (PFN_vkGetInstanceProcAddr get_proc_addr, VkInstance instance, VkPhysicalDevice physical,    \
       struct bf_sharing * sharing),                                                               \
      (get_proc_addr, instance, physical, sharing))                                                \
    F(bool, bf_upper_layers_hear,                                                                  \
      (struct bf_gpu * gpu, VkObjectType type, uint64_t handle, const void *result),               \
      (gpu, type, handle, result))                                                                 \
    F(bool, bf_upper_layers_hear_signal, (struct bf_gpu * gpu, VkSemaphore semaphore),             \
      (gpu, semaphore))
/* clang-format on */

#endif
