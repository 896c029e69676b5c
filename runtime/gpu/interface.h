/*
 * The part of the layer's interface (interface/interface.h) that is gpu/'s: command buffers,
 * memory and what the driver can do.
 */
#ifndef BELFRY_GPU_INTERFACE_H
#define BELFRY_GPU_INTERFACE_H

#include "gpu/command_buffer.h"
#include "gpu/commands.h"
#include "gpu/dispatch.h"
#include "gpu/memory.h"
#include "gpu/sharing.h"
#include "gpu/upper_layers.h"

/* clang-format off: it takes these for expressions */
#define BF_GPU_INTERFACE(F)                                                                        \
    F(bool, bf_command_buffer_find,                                                                \
      (struct bf_device * device, VkCommandBuffer handle, uint32_t * family,                       \
       VkCommandBufferLevel * level),                                                              \
      (device, handle, family, level))                                                             \
    F(void, bf_command_buffer_forget, (struct bf_device * device, VkCommandBuffer handle),         \
      (device, handle))                                                                            \
    F(VkResult, bf_command_buffer_register,                                                        \
      (struct bf_device * device, VkCommandBuffer handle, uint32_t family,                         \
       VkCommandBufferLevel level),                                                                \
      (device, handle, family, level))                                                             \
    F(VkResult, bf_commands_allocate,                                                              \
      (struct bf_device * device, VkCommandPool pool, uint32_t count, VkCommandBuffer * commands), \
      (device, pool, count, commands))                                                             \
    F(void, bf_commands_put_barrier,                                                               \
      (struct bf_device * device, VkCommandBuffer commands, VkPipelineStageFlags2 from,            \
       VkPipelineStageFlags2 to),                                                                  \
      (device, commands, from, to))                                                                \
    F(void, bf_dispatch_load,                                                                      \
      (struct VolkDeviceTable * table, VkDevice device, PFN_vkGetDeviceProcAddr get_proc_addr),    \
      (table, device, get_proc_addr))                                                              \
    F(VkResult, bf_buffer_create,                                                                  \
      (struct bf_device * device, VkDeviceSize size, enum bf_buffer_place place,                   \
       struct bf_buffer * buffer),                                                                 \
      (device, size, place, buffer))                                                               \
    F(void, bf_buffer_destroy, (struct bf_device * device, struct bf_buffer * buffer),             \
      (device, buffer))                                                                            \
    F(void, bf_sharing_ask,                                                                        \
      (PFN_vkGetInstanceProcAddr get_proc_addr, VkInstance instance, VkPhysicalDevice physical,    \
       struct bf_sharing * sharing),                                                               \
      (get_proc_addr, instance, physical, sharing))                                                \
    F(bool, bf_upper_layers_hear,                                                                  \
      (struct bf_device * device, VkObjectType type, uint64_t handle, const void *result),         \
      (device, type, handle, result))                                                              \
    F(bool, bf_upper_layers_hear_signal, (struct bf_device * device, VkSemaphore semaphore),       \
      (device, semaphore))
/* clang-format on */

#endif
