/* SPDX-License-Identifier: MIT */
/* A graphics pipeline with a bit of everything that a request can say, for two of the tests. */
#ifndef BELFRY_TEST_ISOLATE_PICTURE_H
#define BELFRY_TEST_ISOLATE_PICTURE_H

#include "specialize/isolate/isolate.h"
#include "support/infos.h"

struct picture {
    struct info_graphics g; /* the scissor is dynamic */
    struct bf_build_code code[2];
    VkSpecializationMapEntry entry;
    int32_t mode;
    VkSpecializationInfo specialization;
    VkVertexInputBindingDescription binding;
    VkVertexInputAttributeDescription attribute;
    VkSampleMask sample_mask;
    VkDynamicState dynamics[2];

    VkAttachmentDescription2 attachments[3];
    VkAttachmentReference2 color, resolve, depth_to;
    uint32_t preserved;
    VkSubpassDescription2 subpasses[2];
    VkSubpassDependency2 dependency;
    VkRenderPassCreateInfo2 pass;

    VkPushConstantRange range;
    VkPipelineLayoutCreateInfo layout;
    struct bf_build_request request;
    struct bf_build_link links[5];
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
        .sample_mask = 5,
        .dynamics = {VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_BLEND_CONSTANTS},
        .range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, 16},
    };
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    struct info_graphics *g = &p->g;
    info_graphics(g, 64, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE, 1,
                  &format);
    p->specialization = (VkSpecializationInfo){1, &p->entry, 4, &p->mode};
    g->stages[1].pSpecializationInfo = &p->specialization;
    g->vertices.vertexBindingDescriptionCount = g->vertices.vertexAttributeDescriptionCount = 1;
    g->vertices.pVertexBindingDescriptions = &p->binding;
    g->vertices.pVertexAttributeDescriptions = &p->attribute;
    g->assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    g->assembly.primitiveRestartEnable = VK_TRUE;
    g->viewport.height = 32;
    g->viewports.pScissors = NULL;
    g->raster.cullMode = VK_CULL_MODE_BACK_BIT;
    g->samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    g->samples.pSampleMask = &p->sample_mask;
    g->depth.depthTestEnable = g->depth.depthWriteEnable = VK_TRUE;
    g->depth.depthCompareOp = VK_COMPARE_OP_LESS;
    g->blends[0].blendEnable = VK_TRUE;
    g->blends[0].srcColorBlendFactor = g->blends[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE;
    for (uint32_t i = 0; i < 4; i++)
        g->blend.blendConstants[i] = (float)i + 1;
    g->dynamic.dynamicStateCount = 2;
    g->dynamic.pDynamicStates = p->dynamics;
    g->rendering.depthAttachmentFormat = VK_FORMAT_D32_SFLOAT;
    g->info.pNext = pass ? NULL : &g->rendering;
    g->info.flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT;
    g->info.pDepthStencilState = &g->depth;
    g->info.pDynamicState = &g->dynamic;
    g->info.subpass = pass ? 1 : 0;

    for (uint32_t i = 0; i < 3; i++)
        p->attachments[i] = (VkAttachmentDescription2){
            VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = i == 1 ? VK_FORMAT_D32_SFLOAT : format,
            .samples = i == 2 ? VK_SAMPLE_COUNT_1_BIT : VK_SAMPLE_COUNT_4_BIT,
            .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference2 reference = {VK_TYPE(ATTACHMENT_REFERENCE_2),
                                              .layout = VK_IMAGE_LAYOUT_GENERAL};
    p->color = p->resolve = p->depth_to = reference;
    p->depth_to.attachment = 1;
    p->resolve.attachment = 2;
    p->preserved = 1;
    p->subpasses[0] =
        (VkSubpassDescription2){VK_TYPE(SUBPASS_DESCRIPTION_2), .preserveAttachmentCount = 1,
                                .pPreserveAttachments = &p->preserved};
    p->subpasses[1] = (VkSubpassDescription2){
        VK_TYPE(SUBPASS_DESCRIPTION_2), .colorAttachmentCount = 1, .pColorAttachments = &p->color,
        .pResolveAttachments = &p->resolve, .pDepthStencilAttachment = &p->depth_to};
    p->dependency = (VkSubpassDependency2){VK_TYPE(SUBPASS_DEPENDENCY_2), .dstSubpass = 1,
                                           .srcStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           .dstStageMask = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    p->pass = (VkRenderPassCreateInfo2){VK_TYPE(RENDER_PASS_CREATE_INFO_2), .attachmentCount = 3,
                                        .pAttachments = p->attachments,     .subpassCount = 2,
                                        .pSubpasses = p->subpasses,         .dependencyCount = 1,
                                        .pDependencies = &p->dependency};
    p->layout =
        (VkPipelineLayoutCreateInfo){VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                     .pushConstantRangeCount = 1, .pPushConstantRanges = &p->range};
    p->request = (struct bf_build_request){.graphics = &g->info,
                                           .pass = pass ? &p->pass : NULL,
                                           .code = p->code,
                                           .layout = &p->layout};
    return &p->request;
}

/* The picture's, linked from a library for each part: optimised when it is linked, or not. */
static inline void picture_link(struct picture *p, bool optimised)
{
    const VkPipelineCreateFlags library =
        VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
        (optimised ? VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT : 0);
    const uint32_t set_count = p->layout.setLayoutCount;
    uint32_t sets = 0;
    for (uint32_t i = 0; i < set_count; i++)
        sets |= p->request.sets[i] ? 1u << i : 0;
    for (uint32_t i = 0; i < 4; i++)
        p->links[i] = (struct bf_build_link){.flags = library,
                                             .parts = 1u << i,
                                             .has_layout = i == 1 || i == 2,
                                             .layout_flags = p->layout.flags,
                                             .set_count = set_count,
                                             .sets = sets};
    p->links[2].samples = p->g.samples.rasterizationSamples != VK_SAMPLE_COUNT_1_BIT;
    p->links[4] = p->links[1];
    p->links[4].flags = optimised ? VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT : 0;
    p->links[4].parts = 0;
    p->links[4].from = 15;
    p->request.link_count = 5;
    p->request.links = p->links;
}

/* Linked from one library for both shaders, with the rest in the link itself. */
static inline void picture_link_few(struct picture *p)
{
    picture_link(p, false);
    p->links[0] = p->links[2];
    p->links[0].parts = 6;
    p->links[1] = p->links[4];
    p->links[1].parts = 9;
    p->links[1].from = 1;
    p->request.link_count = 2;
}

#endif
