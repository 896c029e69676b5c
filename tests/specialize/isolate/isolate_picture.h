/* SPDX-License-Identifier: MIT */
/*
 * A graphics pipeline with a bit of everything that a request can say, for two of the tests.
 */
#ifndef BELFRY_TEST_ISOLATE_PICTURE_H
#define BELFRY_TEST_ISOLATE_PICTURE_H

#include "specialize/isolate/isolate.h"

struct picture {
    VkPipelineShaderStageCreateInfo stages[2];
    struct bf_build_code code[2];
    VkSpecializationMapEntry entry;
    int32_t mode;
    VkSpecializationInfo specialization;
    VkVertexInputBindingDescription binding;
    VkVertexInputAttributeDescription attribute;
    VkPipelineVertexInputStateCreateInfo vertex;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkViewport viewport;
    VkPipelineViewportStateCreateInfo views; /* the scissor is dynamic */
    VkPipelineRasterizationStateCreateInfo raster;
    VkSampleMask sample_mask;
    VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blend_color;
    VkPipelineColorBlendStateCreateInfo blend;
    VkDynamicState dynamics[2];
    VkPipelineDynamicStateCreateInfo dynamic;
    VkFormat format;
    VkPipelineRenderingCreateInfo rendering;
    VkGraphicsPipelineCreateInfo graphics;

    VkAttachmentDescription2 attachments[3];
    VkAttachmentReference2 color, resolve, depth_to;
    uint32_t preserved;
    VkSubpassDescription2 subpasses[2];
    VkSubpassDependency2 dependency;
    VkRenderPassCreateInfo2 pass;

    VkPushConstantRange range;
    VkPipelineLayoutCreateInfo layout;
    struct bf_build_request request;
};

/* With a render pass, whose second subpass it is for, or for dynamic rendering. */
static inline const struct bf_build_request *
picture(struct picture *p, bool pass, struct bf_build_code vertex, struct bf_build_code fragment)
{
    *p = (struct picture){
        .code = {vertex, fragment},
        .entry = {0, 0, 4},
        .mode = 1,
        .binding = {3, 8, VK_VERTEX_INPUT_RATE_VERTEX},
        .attribute = {0, 3, VK_FORMAT_R32G32_SFLOAT, 0},
        .viewport = {0, 0, 64, 32, 0, 1},
        .sample_mask = 5,
        .blend_color = {.blendEnable = VK_TRUE,
                        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
                        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
                        .colorWriteMask = 15},
        .dynamics = {VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_BLEND_CONSTANTS},
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, 16},
    };
    p->specialization = (VkSpecializationInfo){1, &p->entry, 4, &p->mode};
    for (uint32_t i = 0; i < 2; i++)
        p->stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
            .pName = "main",
            .pSpecializationInfo = i ? &p->specialization : NULL};
    p->vertex = (VkPipelineVertexInputStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &p->binding,
        .vertexAttributeDescriptionCount = 1,
        .pVertexAttributeDescriptions = &p->attribute};
    p->assembly = (VkPipelineInputAssemblyStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
        .primitiveRestartEnable = VK_TRUE};
    p->views = (VkPipelineViewportStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &p->viewport,
        .scissorCount = 1};
    p->raster = (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = VK_CULL_MODE_BACK_BIT,
        .lineWidth = 1};
    p->samples = (VkPipelineMultisampleStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_4_BIT,
        .pSampleMask = &p->sample_mask};
    p->depth = (VkPipelineDepthStencilStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    p->blend = (VkPipelineColorBlendStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &p->blend_color,
        .blendConstants = {1, 2, 3, 4}};
    p->dynamic = (VkPipelineDynamicStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = p->dynamics};
    p->rendering =
        (VkPipelineRenderingCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                        .colorAttachmentCount = 1,
                                        .pColorAttachmentFormats = &p->format,
                                        .depthAttachmentFormat = VK_FORMAT_D32_SFLOAT};
    p->graphics = (VkGraphicsPipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = pass ? NULL : &p->rendering,
        .flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT,
        .stageCount = 2,
        .pStages = p->stages,
        .pVertexInputState = &p->vertex,
        .pInputAssemblyState = &p->assembly,
        .pViewportState = &p->views,
        .pRasterizationState = &p->raster,
        .pMultisampleState = &p->samples,
        .pDepthStencilState = &p->depth,
        .pColorBlendState = &p->blend,
        .pDynamicState = &p->dynamic,
        .subpass = pass ? 1 : 0};

    for (uint32_t i = 0; i < 3; i++)
        p->attachments[i] = (VkAttachmentDescription2){
            .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
            .format = i == 1 ? VK_FORMAT_D32_SFLOAT : p->format,
            .samples = i == 2 ? VK_SAMPLE_COUNT_1_BIT : VK_SAMPLE_COUNT_4_BIT,
            .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference2 reference = {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
                                              .layout = VK_IMAGE_LAYOUT_GENERAL};
    p->color = p->resolve = p->depth_to = reference;
    p->depth_to.attachment = 1;
    p->resolve.attachment = 2;
    p->preserved = 1;
    p->subpasses[0] = (VkSubpassDescription2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                              .preserveAttachmentCount = 1,
                                              .pPreserveAttachments = &p->preserved};
    p->subpasses[1] = (VkSubpassDescription2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                              .colorAttachmentCount = 1,
                                              .pColorAttachments = &p->color,
                                              .pResolveAttachments = &p->resolve,
                                              .pDepthStencilAttachment = &p->depth_to};
    p->dependency = (VkSubpassDependency2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
                                           .dstSubpass = 1,
                                           .srcStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           .dstStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    p->pass = (VkRenderPassCreateInfo2){.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                        .attachmentCount = 3,
                                        .pAttachments = p->attachments,
                                        .subpassCount = 2,
                                        .pSubpasses = p->subpasses,
                                        .dependencyCount = 1,
                                        .pDependencies = &p->dependency};
    p->layout = (VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &p->range};
    p->request = (struct bf_build_request){.graphics = &p->graphics,
                                           .pass = pass ? &p->pass : NULL,
                                           .code = p->code,
                                           .layout = &p->layout};
    return &p->request;
}

#endif
