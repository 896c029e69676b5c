/* SPDX-License-Identifier: MIT */
/*
 * Pipelines and the objects that they need, for programs whose pipelines differ only in shaders,
 * blending, depth and target format.
 */
#ifndef SAMPLE_PIPELINE_H
#define SAMPLE_PIPELINE_H

#include "device.h"

/* SPIR-V, as belfry_add_shaders embeds it. */
struct sample_spirv {
    const uint32_t *words;
    size_t size; /* in bytes */
};
#define SAMPLE_SPIRV(array) ((struct sample_spirv){(array), sizeof(array)})

enum sample_blend {
    SAMPLE_BLEND_NONE,
    SAMPLE_BLEND_ADD,
    SAMPLE_BLEND_FADE, /* the target times the blend constant, without the shader's colour */
};

enum sample_depth {
    SAMPLE_DEPTH_NONE,
    SAMPLE_DEPTH_WRITE, /* nearer fragments pass, and their depth is written */
    SAMPLE_DEPTH_EQUAL, /* only fragments of equal depth pass */
};

struct sample_draw {
    struct sample_spirv vertex, fragment;
    VkPrimitiveTopology topology;
    enum sample_blend blend;
    VkFormat target;
    VkPipelineLayout layout;
    const VkSpecializationInfo *specialization; /* for the fragment shader; or NULL */
};

/* Viewport and scissor are dynamic, and there are no vertex buffers. The shaders' entry points are
 * called "main". */
VkResult sample_draw_pipeline(const struct sample_device *device, const struct sample_draw *draw,
                              const char *name, VkPipeline *pipeline);

/* The same with a depth attachment, of format D32_SFLOAT. */
VkResult sample_draw_pipeline_depth(const struct sample_device *device,
                                    const struct sample_draw *draw, enum sample_depth depth,
                                    const char *name, VkPipeline *pipeline);

/* The constants of fragment shaders that include develop.glsl: whether they must encode sRGB,
 * because the target format doesn't. Static storage. */
const VkSpecializationInfo *sample_encoding(VkFormat target);

VkResult sample_compute_pipeline(const struct sample_device *device, struct sample_spirv shader,
                                 VkPipelineLayout layout, const char *name, VkPipeline *pipeline);

/* A layout of `count` bindings of one type, numbered from 0, with one descriptor each. */
VkResult sample_set_layout(const struct sample_device *device, VkDescriptorType type,
                           uint32_t count, VkShaderStageFlags stages,
                           VkDescriptorSetLayout *layout);

/* A layout of one set and one push constant range, which begins at 0. */
VkResult sample_pipeline_layout(const struct sample_device *device, VkDescriptorSetLayout set,
                                VkShaderStageFlags push_stages, uint32_t push_size,
                                VkPipelineLayout *layout);

/* Begins rendering to one view, with viewport and scissor set to all of it; and ends it. */
void sample_rendering_begin(VkCommandBuffer commands, VkImageView target, VkExtent2D extent,
                            VkAttachmentLoadOp load);

/* The same with a depth attachment, which is cleared to 1, or loaded. */
void sample_rendering_begin_depth(VkCommandBuffer commands, VkImageView target, VkImageView depth,
                                  VkExtent2D extent, VkAttachmentLoadOp load,
                                  VkAttachmentLoadOp depth_load);

/* A command pool with `count` primary command buffers that are reset one by one. */
VkResult sample_command_buffers(const struct sample_device *device, uint32_t family, uint32_t count,
                                const char *name, VkCommandPool *pool, VkCommandBuffer *buffers);

/* Begins and ends recording into a command buffer that is submitted once each time. */
VkResult sample_commands_begin(VkCommandBuffer commands);
VkResult sample_commands_end(VkCommandBuffer commands);

/* A memory barrier within a command buffer: what `from` wrote is visible to `to`. */
void sample_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkPipelineStageFlags2 to);

#endif
