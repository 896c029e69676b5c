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

/* Destroys them, in that order: vulkan_destroy(device, semaphore, fence, buffer, memory); at most
 * six. VK_NULL_HANDLE is nothing. */
#define vulkan_destroy(device_, ...)                                                               \
    vulkan_destroy_objects(device_,                                                                \
                           (const struct vulkan_object[]){VULKAN_OBJECTS(__VA_ARGS__), {0, 0}})
struct vulkan_object {
    VkObjectType type; /* 0 ends a list */
    uint64_t handle;
};
void vulkan_destroy_objects(VkDevice device, const struct vulkan_object *objects);
#define VULKAN_OBJECT(handle_)                                                                     \
    {                                                                                              \
        _Generic((handle_), VkSemaphore                                                            \
                 : VK_OBJECT_TYPE_SEMAPHORE, VkFence                                               \
                 : VK_OBJECT_TYPE_FENCE, VkEvent                                                   \
                 : VK_OBJECT_TYPE_EVENT, VkBuffer                                                  \
                 : VK_OBJECT_TYPE_BUFFER, VkImage                                                  \
                 : VK_OBJECT_TYPE_IMAGE, VkDeviceMemory                                            \
                 : VK_OBJECT_TYPE_DEVICE_MEMORY, VkQueryPool                                       \
                 : VK_OBJECT_TYPE_QUERY_POOL, VkCommandPool                                        \
                 : VK_OBJECT_TYPE_COMMAND_POOL, VkSwapchainKHR                                     \
                 : VK_OBJECT_TYPE_SWAPCHAIN_KHR, VkPipeline                                        \
                 : VK_OBJECT_TYPE_PIPELINE, VkPipelineLayout                                       \
                 : VK_OBJECT_TYPE_PIPELINE_LAYOUT, VkShaderModule                                  \
                 : VK_OBJECT_TYPE_SHADER_MODULE),                                                  \
            (uint64_t)(handle_)                                                                    \
    }
#define VULKAN_OBJECTS(...)                                                                        \
    VULKAN_OBJECTS_(__VA_ARGS__, VULKAN_6, VULKAN_5, VULKAN_4, VULKAN_3, VULKAN_2, VULKAN_1)       \
    (__VA_ARGS__)
#define VULKAN_OBJECTS_(a_, b_, c_, d_, e_, f_, n_, ...) n_
#define VULKAN_1(a_)                                     VULKAN_OBJECT(a_)
#define VULKAN_2(a_, ...)                                VULKAN_OBJECT(a_), VULKAN_1(__VA_ARGS__)
#define VULKAN_3(a_, ...)                                VULKAN_OBJECT(a_), VULKAN_2(__VA_ARGS__)
#define VULKAN_4(a_, ...)                                VULKAN_OBJECT(a_), VULKAN_3(__VA_ARGS__)
#define VULKAN_5(a_, ...)                                VULKAN_OBJECT(a_), VULKAN_4(__VA_ARGS__)
#define VULKAN_6(a_, ...)                                VULKAN_OBJECT(a_), VULKAN_5(__VA_ARGS__)

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
/* Either, which has to succeed: assert_submitted(queue, .commands = commands, .fence = fence). */
#define assert_submitted(queue_, ...)                                                              \
    assert_success(vulkan_submit(queue_, (struct vulkan_batch){__VA_ARGS__}))
#define assert_submitted1(queue_, ...)                                                             \
    assert_success(vulkan_submit1(queue_, (struct vulkan_batch){__VA_ARGS__}))
/* By vkQueueSubmit; returns when the fence has been signalled, and has reset it. */
void vulkan_run(VkDevice device, VkQueue queue, VkCommandBuffer commands, VkFence fence);

#endif
