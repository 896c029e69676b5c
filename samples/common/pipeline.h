/*
 * Pipelines and what goes into them, for programs whose pipelines differ in shaders, blending and
 * target format alone.
 */
#ifndef SAMPLE_PIPELINE_H
#define SAMPLE_PIPELINE_H

#include "device.h"

/* SPIR-V words as belfry_add_shaders embeds them. */
struct sample_spirv {
    const uint32_t *words;
    size_t size; /* in bytes */
};
#define SAMPLE_SPIRV(array) ((struct sample_spirv){(array), sizeof(array)})

enum sample_blend {
    SAMPLE_BLEND_NONE,
    SAMPLE_BLEND_ADD,
    SAMPLE_BLEND_FADE, /* the target times the blend constant; the shader's colour is ignored */
};

struct sample_draw {
    struct sample_spirv vertex, fragment;
    VkPrimitiveTopology topology;
    enum sample_blend blend;
    VkFormat target;
    VkPipelineLayout layout;
    const VkSpecializationInfo *specialization; /* of the fragment shader, or NULL */
};

/* Viewport and scissor are dynamic; there are no vertex buffers; shaders' entry is "main". */
VkResult sample_draw_pipeline(const struct sample_device *device, const struct sample_draw *draw,
                              const char *name, VkPipeline *pipeline);

VkResult sample_compute_pipeline(const struct sample_device *device, struct sample_spirv shader,
                                 VkPipelineLayout layout, const char *name, VkPipeline *pipeline);

/* `count` bindings of one type, one descriptor each, numbered from 0. */
VkResult sample_set_layout(const struct sample_device *device, VkDescriptorType type,
                           uint32_t count, VkShaderStageFlags stages,
                           VkDescriptorSetLayout *layout);

/* One set and one range of push constants from 0. */
VkResult sample_pipeline_layout(const struct sample_device *device, VkDescriptorSetLayout set,
                                VkShaderStageFlags push_stages, uint32_t push_size,
                                VkPipelineLayout *layout);

/* Begins and ends rendering to one view, with viewport and scissor set to all of it. */
void sample_rendering_begin(VkCommandBuffer commands, VkImageView target, VkExtent2D extent,
                            VkAttachmentLoadOp load);

/* A command pool with `count` primary command buffers that are reset one by one. */
VkResult sample_command_buffers(const struct sample_device *device, uint32_t family, uint32_t count,
                                const char *name, VkCommandPool *pool, VkCommandBuffer *buffers);

#endif
