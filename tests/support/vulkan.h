/* SPDX-License-Identifier: MIT */
/* Vulkan as tests use it, in a line where it takes a page: instances whose driver and layers the
 * environment chooses, memory, images, descriptors, pipelines, semaphores and submissions. What is
 * made is the caller's to destroy. Volk's global functions are used; errors fail the test. */
#ifndef BELFRY_TESTS_SUPPORT_VULKAN_H
#define BELFRY_TESTS_SUPPORT_VULKAN_H

#include "support/test.h"

#include <volk.h>

#include "icd/icd_client.h"

/* ------------------------------------------------------------------------------- Environment -- */

#define ENVIRONMENT_MAX 16

struct environment {
    uint32_t count;
    struct {
        char name[64];
        char *before; /* owned; NULL: it wasn't set */
    } variables[ENVIRONMENT_MAX];
};

/* Sets the variables of "NAME=value NAME=value" (NULL: none) until environment_restore. Names get
 * BELFRY_ICD_ in front, unless they begin with VK_. */
void environment_set(struct environment *saved, const char *text);
void environment_restore(struct environment *saved);

/* --------------------------------------------------------------------- Instances and devices -- */

bool vulkan_has_instance_extension(const char *name);
bool vulkan_has_device_extension(VkPhysicalDevice physical, const char *name);
/* Those of 'wanted' that the device has. */
VkResult vulkan_device_extensions(VkPhysicalDevice physical, const char *const *wanted,
                                  uint32_t count, const char **names, uint32_t *found);

/* Prints what the validation layer warns of, and counts it. */
VkDebugUtilsMessengerCreateInfoEXT vulkan_messenger(uint32_t *messages);

/* The test driver's counters, as they are now; fails unless exactly n violations of that kind have
 * been counted and none of another, and resets them. BELFRY_ICD_VIOLATION_COUNT: none at all. */
struct belfry_icd_counters vulkan_counters(const struct belfry_icd_control *icd);
void vulkan_expect(const struct belfry_icd_control *icd, enum belfry_icd_violation kind,
                   uint64_t n);

/* ---------------------------------------------------------------------------- Memory, images -- */

/* Memory for it with these properties. */
VkDeviceMemory vulkan_memory(VkPhysicalDevice physical, VkDevice device,
                             const VkMemoryRequirements *needs, VkMemoryPropertyFlags wanted,
                             const void *next);
/* A buffer of its own memory. With 'mapped' the host sees it without flushing. */
VkBuffer vulkan_buffer(VkPhysicalDevice physical, VkDevice device, const VkBufferCreateInfo *info,
                       VkDeviceMemory *memory, void **mapped);
/* A buffer for one family. */
VkBuffer vulkan_buffer_of(VkPhysicalDevice physical, VkDevice device, VkDeviceSize size,
                          VkBufferUsageFlags usage, VkDeviceMemory *memory, void **mapped);
/* A square image of its own memory, and a view of it. */
VkImage vulkan_image(VkPhysicalDevice physical, VkDevice device, VkFormat format, uint32_t side,
                     VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkDeviceMemory *memory,
                     VkImageView *view);

/* ------------------------------------------------------------------------ Shaders, pipelines -- */

VkShaderModule vulkan_module(VkDevice device, const uint32_t *words, size_t size);
/* Bindings from 0 on, one descriptor in each. */
VkDescriptorSetLayout vulkan_set_layout(VkDevice device, uint32_t count,
                                        const VkDescriptorType *types, VkShaderStageFlags stages);
/* One set, and push constants of that size from 0 on. */
VkPipelineLayout vulkan_layout(VkDevice device, VkDescriptorSetLayout set,
                               VkShaderStageFlags stages, uint32_t push_size);
/* A set of the layout, from a pool of its own. */
VkDescriptorSet vulkan_set(VkDevice device, VkDescriptorSetLayout layout, uint32_t count,
                           const VkDescriptorType *types, VkDescriptorPool *pool);
/* The whole storage buffer, at binding 0. */
void vulkan_set_buffer(VkDevice device, VkDescriptorSet set, VkBuffer buffer);
VkResult vulkan_compute(VkDevice device, VkPipelineLayout layout, const uint32_t *words,
                        size_t size, VkPipeline *pipeline);

/* A pipeline that covers a square of one color attachment with one triangle. */
struct vulkan_graphics {
    VkPipelineLayout layout;
    VkRenderPass pass;
    uint32_t subpass;
    uint32_t side;
    VkSampleCountFlagBits samples; /* 0: one */
    const uint32_t *vertex, *fragment;
    size_t vertex_size, fragment_size;
};
VkResult vulkan_graphics(VkDevice device, const struct vulkan_graphics *what, VkPipeline *pipeline);

/* --------------------------------------------------------------------------- Synchronization -- */

VkSemaphore vulkan_timeline(VkDevice device, uint64_t value);
VkSemaphore vulkan_binary(VkDevice device);
VkFence vulkan_fence(VkDevice device, bool signalled);
uint64_t vulkan_value(VkDevice device, VkSemaphore semaphore);
void vulkan_signal(VkDevice device, VkSemaphore semaphore, uint64_t value);
/* Without end. */
void vulkan_wait(VkDevice device, VkSemaphore semaphore, uint64_t value);

/* --------------------------------------------------------------------- Commands, submissions -- */

/* Whose command buffers can be reset. */
VkCommandPool vulkan_pool(VkDevice device, uint32_t family);
VkCommandBuffer vulkan_commands(VkDevice device, VkCommandPool pool, VkCommandBufferLevel level);
/* Allocated, and begun. */
VkCommandBuffer vulkan_begin(VkDevice device, VkCommandPool pool, VkCommandBufferLevel level,
                             VkCommandBufferUsageFlags usage);

/* One batch: at most one of everything; VK_NULL_HANDLE leaves a part out. */
struct vulkan_batch {
    VkSemaphore wait;
    uint64_t wait_value;
    VkCommandBuffer commands;
    VkSemaphore signal;
    uint64_t signal_value;
    VkFence fence;
};
/* By vkQueueSubmit2, with nothing left of what was passed when it returns. */
VkResult vulkan_submit(VkQueue queue, struct vulkan_batch batch);
/* By vkQueueSubmit, likewise. */
VkResult vulkan_submit1(VkQueue queue, struct vulkan_batch batch);
/* By vkQueueSubmit; returns when the fence has been signalled, and has reset it. */
void vulkan_run(VkDevice device, VkQueue queue, VkCommandBuffer commands, VkFence fence);

#endif
