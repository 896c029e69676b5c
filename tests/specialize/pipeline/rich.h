/* SPDX-License-Identifier: MIT */
/* A graphics pipeline with much to it. */
#ifndef SPECIALIZE_RICH_H
#define SPECIALIZE_RICH_H

#include "fake.h"

/* Everything it points to lies in it. */
struct rich {
    struct info_graphics g; /* the fragment stage first */
    VkSpecializationMapEntry entry;
    uint32_t constant;
    VkSpecializationInfo constants;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup;
    VkVertexInputBindingDescription bindings[2];
    VkVertexInputAttributeDescription attributes[2];
    VkVertexInputBindingDivisorDescriptionEXT divisor;
    VkPipelineVertexInputDivisorStateCreateInfoEXT divisors;
    VkPipelineViewportDepthClipControlCreateInfoEXT clip_control;
    VkPipelineRasterizationLineStateCreateInfoEXT line;
    VkPipelineRasterizationDepthClipStateCreateInfoEXT depth_clip;
    VkSampleMask mask;
    VkSampleLocationEXT location;
    VkPipelineSampleLocationsStateCreateInfoEXT locations;
    VkBool32 write;
    VkPipelineColorWriteCreateInfoEXT writes;
    VkDynamicState dynamic[2];
    VkPipelineRobustnessCreateInfoEXT robustness;
};

static inline struct rich *rich(VkShaderModule vertex, VkShaderModule fragment,
                                VkPipelineLayout layout, VkRenderPass pass)
{
    struct rich *r = malloc(sizeof(*r));
    assert_non_null(r);
    *r = (struct rich){
        .entry = {3, 0, 4},
        .constant = 99,
        .constants = {1, &r->entry, 4, &r->constant},
        .subgroup = {VK_TYPE(PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO), NULL, 8},
        .bindings = {{0, 16, VK_VERTEX_INPUT_RATE_VERTEX}, {3, 4, VK_VERTEX_INPUT_RATE_INSTANCE}},
        .attributes = {{0, 0, VK_FORMAT_R32_SFLOAT, 4}, {1, 3, VK_FORMAT_R8_UNORM, 1}},
        .divisor = {3, 7},
        .divisors = {VK_TYPE(PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT), NULL, 1,
                     &r->divisor},
        .clip_control = {VK_TYPE(PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT), NULL,
                         VK_TRUE},
        .line = {VK_TYPE(PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT), &r->depth_clip,
                 VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT, VK_TRUE, 3, 0x5555},
        .depth_clip = {VK_TYPE(PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT), NULL, 0,
                       VK_TRUE},
        .mask = 0xf0f0f0f0,
        .location = {0.25f, 0.75f},
        .locations = {VK_TYPE(PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT),
                      .sampleLocationsEnable = VK_TRUE,
                      .sampleLocationsInfo = {VK_TYPE(SAMPLE_LOCATIONS_INFO_EXT),
                                              NULL,
                                              VK_SAMPLE_COUNT_1_BIT,
                                              {1, 1},
                                              1,
                                              &r->location}},
        .write = VK_TRUE,
        .writes = {VK_TYPE(PIPELINE_COLOR_WRITE_CREATE_INFO_EXT), NULL, 1, &r->write},
        .dynamic = {VK_DYNAMIC_STATE_LINE_WIDTH, VK_DYNAMIC_STATE_BLEND_CONSTANTS},
        .robustness = {VK_TYPE(PIPELINE_ROBUSTNESS_CREATE_INFO_EXT),
                       .storageBuffers =
                           VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_EXT},
    };
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    struct info_graphics *g = &r->g;
    info_graphics(g, 4, vertex, fragment, layout, pass, 1, &format);
    g->stages[0] = info_stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment, &r->constants);
    g->stages[0].pNext = &r->subgroup;
    g->stages[1] = info_stage(VK_SHADER_STAGE_VERTEX_BIT, vertex, NULL);
    g->vertices.pNext = &r->divisors;
    g->vertices.vertexBindingDescriptionCount = g->vertices.vertexAttributeDescriptionCount = 2;
    g->vertices.pVertexBindingDescriptions = r->bindings;
    g->vertices.pVertexAttributeDescriptions = r->attributes;
    g->assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    g->assembly.primitiveRestartEnable = VK_TRUE;
    g->viewport = (VkViewport){1, 2, 3, 4, 0, 1};
    g->scissor = (VkRect2D){{5, 6}, {7, 8}};
    g->viewports.pNext = &r->clip_control;
    g->raster.pNext = &r->line;
    g->raster.cullMode = VK_CULL_MODE_BACK_BIT;
    g->raster.lineWidth = 2;
    g->samples.pNext = &r->locations;
    g->samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    g->samples.minSampleShading = 0.5f;
    g->samples.pSampleMask = &r->mask;
    g->samples.alphaToOneEnable = VK_TRUE;
    g->depth.depthTestEnable = VK_TRUE;
    g->depth.maxDepthBounds = 0.125f;
    g->blends[0] =
        (VkPipelineColorBlendAttachmentState){.blendEnable = VK_TRUE, .colorWriteMask = 7};
    g->blend.pNext = &r->writes;
    g->blend.logicOpEnable = VK_TRUE;
    g->blend.logicOp = VK_LOGIC_OP_XOR;
    for (int i = 0; i < 4; i++)
        g->blend.blendConstants[i] = (float)i + 1;
    g->dynamic.dynamicStateCount = 2;
    g->dynamic.pDynamicStates = r->dynamic;
    g->rendering.pNext = &r->robustness;
    g->rendering.viewMask = 5;
    g->rendering.depthAttachmentFormat = VK_FORMAT_D32_SFLOAT;
    g->info.pNext = pass ? (const void *)&r->robustness : &g->rendering;
    g->info.pTessellationState = (const void *)8; /* ignored */
    g->info.pDepthStencilState = &g->depth;
    g->info.pDynamicState = &g->dynamic;
    return r;
}

/* Builds it as it was; returns what the driver was told, to be freed. */
static inline char *dump_of_build(VkPipeline pipeline)
{
    struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
    assert_non_null(p);
    assert_string_equal(bf_reason_code(p->excluded), "none");
    VkPipeline built;
    memset(fake.dump, 0, sizeof(fake.dump));
    assert_int_equal(bf_pipeline_copy_build(p->copy, NULL, NULL, VK_NULL_HANDLE, &built),
                     VK_SUCCESS);
    fake.vk.vkDestroyPipeline(VK_NULL_HANDLE, built, NULL);
    return strdup(fake.dump);
}

#endif
