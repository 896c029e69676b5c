/* SPDX-License-Identifier: MIT */
/* A device to try pipelines on, with the runtime's pipelines beside it, as the layer has them: each
 * gpu_* function calls the driver, and tells the runtime what the layer would. */
#ifndef SPECIALIZE_GPU_H
#define SPECIALIZE_GPU_H

#include "support/infos.h"
#include "support/vulkan.h"

#include <volk.h>

#include "specialize/pipeline/pipeline.h"

#define GPU_WORDS 4096 /* of the buffer that all results go to */
#define GPU_SIDE  32   /* of the picture: 4 words a pixel, as many as the buffer has */

struct gpu {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t complaints; /* the validation layer's */
    VkPhysicalDevice physical;
    VkDevice device;
    struct VolkDeviceTable vk;
    bool pushes_descriptors;
    bool links; /* there are graphics pipeline libraries */
    VkPipeline libraries[4];
    bool told; /* the runtime is told; not where the layer does that */
    struct bf_pipelines pipelines;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkDeviceMemory memory, picture_memory;
    VkBuffer buffer;
    uint32_t *words; /* the buffer's */
    VkImage picture;
    VkImageView view;
    VkDescriptorPool descriptors;
    VkDescriptorSetLayout sets; /* one storage buffer; for the test's own use */
    VkDescriptorSet set;
    VkPipelineLayout layout; /* 'sets' and 12 bytes, likewise */
};

struct gpu_push {
    uint32_t mode, rounds, factor;
};

/* Skips the test (exit 77) where there is no such driver. */
void gpu_open(struct gpu *gpu, bool told);
/* Fails the test if the validation layer, if it is there, has said anything. */
void gpu_close(struct gpu *gpu);
/* A test with one around it. */
#define GPU_TEST(name_, told_)                                                                     \
    static void name_##_on(struct gpu *gpu);                                                       \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct gpu made;                                                                           \
        gpu_open(&made, told_);                                                                    \
        name_##_on(&made);                                                                         \
        gpu_close(&made);                                                                          \
    }                                                                                              \
    static void name_##_on(struct gpu *gpu)

VkShaderModule gpu_module(struct gpu *gpu, const uint32_t *words, size_t bytes);
void gpu_destroy_module(struct gpu *gpu, VkShaderModule module);
VkDescriptorSetLayout gpu_set_layout(struct gpu *gpu);
VkPipelineLayout gpu_layout(struct gpu *gpu, VkDescriptorSetLayout sets);
VkRenderPass gpu_render_pass(struct gpu *gpu);
void gpu_destroy(struct gpu *gpu, VkObjectType type, uint64_t handle);
VkPipeline gpu_compute(struct gpu *gpu, const VkComputePipelineCreateInfo *info);
VkPipeline gpu_graphics(struct gpu *gpu, const VkGraphicsPipelineCreateInfo *info);
/* From a library for each part, or, 'few', of one for both shaders, and the rest in the link
 * itself. The runtime is told that the libraries are gone; in the driver they end with gpu_unlink,
 * since lavapipe looks into them when it draws. */
VkPipeline gpu_linked(struct gpu *gpu, const struct info_graphics *g, bool few, bool optimised);
/* Destroys the pipeline that was linked last, and its libraries. */
void gpu_unlink(struct gpu *gpu, VkPipeline pipeline);
void gpu_destroy_pipeline(struct gpu *gpu, VkPipeline pipeline);

/* Runs it; the results are in gpu->words. Needs gpu->layout or an equal one. */
void gpu_dispatch(struct gpu *gpu, VkPipeline pipeline, struct gpu_push push);
/* In the command buffer: the host sees all that was written, and the recording ends. */
void gpu_end(struct gpu *gpu);
/* The same, of a draw: the pass begins, with the picture cleared (NULL: by dynamic rendering,
 * without framebuffer); it ends, and the picture is copied to where the results are. */
VkFramebuffer gpu_framebuffer(struct gpu *gpu, VkRenderPass pass);
void gpu_begin_picture(struct gpu *gpu, VkRenderPass pass, VkFramebuffer framebuffer,
                       bool secondaries);
void gpu_end_picture(struct gpu *gpu, VkRenderPass pass);
/* A full-screen triangle, into an R32G32B32A32_UINT picture; with NULL by dynamic rendering. */
void gpu_draw(struct gpu *gpu, VkPipeline pipeline, VkRenderPass pass, struct gpu_push push);

/* A full-screen triangle's pipeline. pass NULL: dynamic rendering. */
void gpu_describe(struct info_graphics *g, VkShaderModule vertex, VkShaderModule fragment,
                  VkPipelineLayout layout, VkRenderPass pass);

#endif
