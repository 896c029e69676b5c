/* SPDX-License-Identifier: MIT */
/* Graphics pipelines and render passes as messages. Structs that contain numbers alone are
 * written as they are, without their types. */
#include <string.h>

#include "specialize/isolate/wire_io.h"

/* -------------------------------------------------------------------------------------- Structs */

/* Whether there is the struct, and if so, its numbers. False: there is none. */
static bool say_numbers(struct bf_wire_out *out, const void *s, size_t size)
{
    bf_wire_say(out, s ? 1 : 0);
    if (s)
        bf_wire_say_struct(out, s, size);
    return s != NULL;
}

/* Writes a struct to which nothing may be chained. */
static void say_struct(struct bf_wire_out *out, const void *s, size_t size)
{
    if (say_numbers(out, s, size))
        out->unsaid |= ((const VkBaseInStructure *)s)->pNext != NULL;
}

static void *read_struct(struct bf_wire_in *in, VkStructureType type, size_t size)
{
    return bf_wire_read(in) ? bf_wire_read_struct(in, type, size) : NULL;
}

/* A state, with what is chained to it. */
static void say_state(struct bf_wire_out *out, const void *s, size_t size)
{
    if (say_numbers(out, s, size))
        bf_wire_say_chain(out, ((const VkBaseInStructure *)s)->pNext);
}

static void *read_state(struct bf_wire_in *in, VkStructureType type, size_t size)
{
    VkBaseInStructure *s = read_struct(in, type, size);
    if (s)
        s->pNext = bf_wire_read_chain(in);
    return s;
}

/* ---------------------------------------------------------------------------------- Fixed state */

static void say_vertex_input(struct bf_wire_out *out, const VkPipelineVertexInputStateCreateInfo *s)
{
    say_state(out, s, sizeof(*s));
    if (!s)
        return;
    bf_wire_say_list(out, s->pVertexBindingDescriptions, s->vertexBindingDescriptionCount,
                     sizeof(VkVertexInputBindingDescription));
    bf_wire_say_list(out, s->pVertexAttributeDescriptions, s->vertexAttributeDescriptionCount,
                     sizeof(VkVertexInputAttributeDescription));
}

static const VkPipelineVertexInputStateCreateInfo *read_vertex_input(struct bf_wire_in *in)
{
    VkPipelineVertexInputStateCreateInfo *s =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO, sizeof(*s));
    if (!s)
        return NULL;
    s->pVertexBindingDescriptions = bf_wire_read_full_list(in, s->vertexBindingDescriptionCount,
                                                           sizeof(VkVertexInputBindingDescription));
    s->pVertexAttributeDescriptions = bf_wire_read_full_list(
        in, s->vertexAttributeDescriptionCount, sizeof(VkVertexInputAttributeDescription));
    return s;
}

/* Viewports and scissors may be dynamic state, and are then absent. */
static void say_viewport(struct bf_wire_out *out, const VkPipelineViewportStateCreateInfo *s)
{
    say_state(out, s, sizeof(*s));
    if (!s)
        return;
    bf_wire_say_list(out, s->pViewports, s->viewportCount, sizeof(VkViewport));
    bf_wire_say_list(out, s->pScissors, s->scissorCount, sizeof(VkRect2D));
}

static const VkPipelineViewportStateCreateInfo *read_viewport(struct bf_wire_in *in)
{
    VkPipelineViewportStateCreateInfo *s =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, sizeof(*s));
    if (!s)
        return NULL;
    s->pViewports = bf_wire_read_list(in, s->viewportCount, sizeof(VkViewport));
    s->pScissors = bf_wire_read_list(in, s->scissorCount, sizeof(VkRect2D));
    return s;
}

static size_t mask_words(VkSampleCountFlagBits samples)
{
    return samples > 32 ? 2 : 1;
}

static void say_samples(struct bf_wire_out *out, const VkPipelineMultisampleStateCreateInfo *s)
{
    say_state(out, s, sizeof(*s));
    if (s)
        bf_wire_say_list(out, s->pSampleMask, mask_words(s->rasterizationSamples),
                         sizeof(VkSampleMask));
}

static const VkPipelineMultisampleStateCreateInfo *read_samples(struct bf_wire_in *in)
{
    VkPipelineMultisampleStateCreateInfo *s =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, sizeof(*s));
    if (s)
        s->pSampleMask =
            bf_wire_read_list(in, mask_words(s->rasterizationSamples), sizeof(VkSampleMask));
    return s;
}

static void say_blend(struct bf_wire_out *out, const VkPipelineColorBlendStateCreateInfo *s)
{
    say_state(out, s, sizeof(*s));
    if (s)
        bf_wire_say_list(out, s->pAttachments, s->attachmentCount,
                         sizeof(VkPipelineColorBlendAttachmentState));
}

static const VkPipelineColorBlendStateCreateInfo *read_blend(struct bf_wire_in *in)
{
    VkPipelineColorBlendStateCreateInfo *s =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, sizeof(*s));
    if (s)
        s->pAttachments =
            bf_wire_read_list(in, s->attachmentCount, sizeof(VkPipelineColorBlendAttachmentState));
    return s;
}

static void say_dynamic(struct bf_wire_out *out, const VkPipelineDynamicStateCreateInfo *s)
{
    say_state(out, s, sizeof(*s));
    if (s)
        bf_wire_say_list(out, s->pDynamicStates, s->dynamicStateCount, sizeof(VkDynamicState));
}

static const VkPipelineDynamicStateCreateInfo *read_dynamic(struct bf_wire_in *in)
{
    VkPipelineDynamicStateCreateInfo *s =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, sizeof(*s));
    if (s)
        s->pDynamicStates =
            bf_wire_read_full_list(in, s->dynamicStateCount, sizeof(VkDynamicState));
    return s;
}

/* Dynamic rendering: the only struct that the chain may contain. */
static void say_rendering(struct bf_wire_out *out, const VkGraphicsPipelineCreateInfo *info)
{
    const VkPipelineRenderingCreateInfo *s = info->pNext;
    if (s && (s->sType != VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO || s->pNext)) {
        out->unsaid = true;
        return;
    }
    say_struct(out, s, sizeof(*s));
    if (s)
        bf_wire_say_list(out, s->pColorAttachmentFormats, s->colorAttachmentCount,
                         sizeof(VkFormat));
}

static const VkPipelineRenderingCreateInfo *read_rendering(struct bf_wire_in *in)
{
    VkPipelineRenderingCreateInfo *s =
        read_struct(in, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, sizeof(*s));
    if (s)
        s->pColorAttachmentFormats =
            bf_wire_read_full_list(in, s->colorAttachmentCount, sizeof(VkFormat));
    return s;
}

/* ---------------------------------------------------------------------------------- Render pass */

/* Writes a list of structs with types and chains. */
static void say_structs(struct bf_wire_out *out, const void *list, uint32_t count, size_t each)
{
    bf_wire_say(out, list ? count : 0);
    for (uint32_t i = 0; list && i < count; i++)
        say_struct(out, (const uint8_t *)list + i * each, each);
}

static void *read_structs(struct bf_wire_in *in, VkStructureType type, uint32_t *count, size_t each)
{
    *count = bf_wire_read_count(in, each - sizeof(VkBaseInStructure));
    uint8_t *list = *count ? bf_wire_allocate(in, *count, each) : NULL;
    for (uint32_t i = 0; list && i < *count; i++) {
        const void *s = read_struct(in, type, each);
        in->bad |= !s;
        if (s)
            memcpy(list + i * each, s, each);
    }
    return list;
}

static VkAttachmentReference2 *read_references(struct bf_wire_in *in, uint32_t *count)
{
    return read_structs(in, VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, count,
                        sizeof(VkAttachmentReference2));
}

static void say_references(struct bf_wire_out *out, const VkAttachmentReference2 *list,
                           uint32_t count)
{
    say_structs(out, list, count, sizeof(*list));
}

static void say_subpass(struct bf_wire_out *out, const VkSubpassDescription2 *s)
{
    const VkSubpassDescriptionDepthStencilResolve *resolve = s->pNext;
    if (resolve && (resolve->sType != VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE ||
                    resolve->pNext)) {
        out->unsaid = true;
        return;
    }
    bf_wire_say(out, s->flags);
    bf_wire_say(out, (uint32_t)s->pipelineBindPoint);
    bf_wire_say(out, s->viewMask);
    say_references(out, s->pInputAttachments, s->inputAttachmentCount);
    say_references(out, s->pColorAttachments, s->colorAttachmentCount);
    say_references(out, s->pResolveAttachments, s->colorAttachmentCount);
    say_references(out, s->pDepthStencilAttachment, 1);
    bf_wire_say_block(out, s->pPreserveAttachments, s->preserveAttachmentCount * sizeof(uint32_t));
    say_struct(out, resolve, sizeof(*resolve));
    if (resolve)
        say_references(out, resolve->pDepthStencilResolveAttachment, 1);
}

static void read_subpass(struct bf_wire_in *in, VkSubpassDescription2 *s)
{
    uint32_t n;
    size_t size;
    *s = (VkSubpassDescription2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                 .flags = bf_wire_read(in)};
    s->pipelineBindPoint = (VkPipelineBindPoint)bf_wire_read(in);
    s->viewMask = bf_wire_read(in);
    s->pInputAttachments = read_references(in, &s->inputAttachmentCount);
    s->pColorAttachments = read_references(in, &s->colorAttachmentCount);
    s->pResolveAttachments = read_references(in, &n);
    in->bad |= n && n != s->colorAttachmentCount;
    s->pDepthStencilAttachment = read_references(in, &n);
    s->pPreserveAttachments = bf_wire_read_block(in, &size);
    s->preserveAttachmentCount = (uint32_t)(size / sizeof(uint32_t));
    VkSubpassDescriptionDepthStencilResolve *resolve = read_struct(
        in, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE, sizeof(*resolve));
    if (resolve)
        resolve->pDepthStencilResolveAttachment = read_references(in, &n);
    s->pNext = resolve;
}

static void say_pass(struct bf_wire_out *out, const VkRenderPassCreateInfo2 *pass)
{
    bf_wire_say(out, pass ? 1 : 0);
    if (!pass)
        return;
    out->unsaid |= pass->pNext != NULL;
    bf_wire_say(out, pass->flags);
    say_structs(out, pass->pAttachments, pass->attachmentCount, sizeof(VkAttachmentDescription2));
    bf_wire_say(out, pass->subpassCount);
    for (uint32_t i = 0; i < pass->subpassCount; i++)
        say_subpass(out, &pass->pSubpasses[i]);
    say_structs(out, pass->pDependencies, pass->dependencyCount, sizeof(VkSubpassDependency2));
    bf_wire_say_block(out, pass->pCorrelatedViewMasks,
                      pass->correlatedViewMaskCount * sizeof(uint32_t));
}

static VkRenderPassCreateInfo2 *read_pass(struct bf_wire_in *in)
{
    if (!bf_wire_read(in))
        return NULL;
    VkRenderPassCreateInfo2 *pass = bf_wire_allocate(in, 1, sizeof(*pass));
    if (!pass)
        return NULL;
    pass->sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2;
    pass->flags = bf_wire_read(in);
    pass->pAttachments = read_structs(in, VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
                                      &pass->attachmentCount, sizeof(VkAttachmentDescription2));
    pass->subpassCount = bf_wire_read_count(in, 32);
    VkSubpassDescription2 *subpasses = bf_wire_allocate(in, pass->subpassCount, sizeof(*subpasses));
    for (uint32_t i = 0; subpasses && i < pass->subpassCount; i++)
        read_subpass(in, &subpasses[i]);
    pass->pSubpasses = subpasses;
    pass->pDependencies = read_structs(in, VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
                                       &pass->dependencyCount, sizeof(VkSubpassDependency2));
    size_t size;
    pass->pCorrelatedViewMasks = bf_wire_read_block(in, &size);
    pass->correlatedViewMaskCount = (uint32_t)(size / sizeof(uint32_t));
    return pass;
}

/* ---------------------------------------------------------------------------------------- Links */

#define LINK_WORDS 8

static void say_links(struct bf_wire_out *out, const struct bf_build_request *request)
{
    out->unsaid |= request->link_count > BF_BUILD_LINKS;
    bf_wire_say(out, request->link_count);
    for (uint32_t i = 0; !out->unsaid && i < request->link_count; i++) {
        const struct bf_build_link *link = &request->links[i];
        bf_wire_say(out, link->flags);
        bf_wire_say(out, link->parts);
        bf_wire_say(out, link->from);
        bf_wire_say(out, link->samples);
        bf_wire_say(out, link->has_layout);
        bf_wire_say(out, link->layout_flags);
        bf_wire_say(out, link->set_count);
        bf_wire_say(out, link->sets);
    }
}

static void read_links(struct bf_wire_in *in, struct bf_wire_build *build)
{
    const uint32_t count = bf_wire_read_count(in, LINK_WORDS * sizeof(uint32_t));
    in->bad |= count > BF_BUILD_LINKS;
    for (uint32_t i = 0; !in->bad && i < count; i++) {
        struct bf_build_link *link = &build->links[i];
        link->flags = bf_wire_read(in);
        link->parts = bf_wire_read(in);
        link->from = bf_wire_read(in);
        link->samples = bf_wire_read(in) != 0;
        link->has_layout = bf_wire_read(in) != 0;
        link->layout_flags = bf_wire_read(in);
        link->set_count = bf_wire_read(in);
        link->sets = bf_wire_read(in);
    }
    build->link_count = in->bad ? 0 : count;
}

void bf_wire_links_check(struct bf_wire_in *in, const struct bf_wire_build *build)
{
    const VkGraphicsPipelineLibraryFlagsEXT all = 15;
    const uint32_t set_count = build->layout.setLayoutCount;
    VkGraphicsPipelineLibraryFlagsEXT parts = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < build->link_count; i++) {
        const struct bf_build_link *link = &build->links[i];
        const bool last = i + 1 == build->link_count;
        in->bad |= link->from >> i || link->from & used || link->parts & parts ||
                   link->parts & ~all || !(link->parts || link->from) ||
                   !(link->flags & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != last ||
                   (last && !link->has_layout) || link->set_count > BF_CHECK_SETS ||
                   link->set_count > set_count || (uint64_t)link->sets >> link->set_count ||
                   link->sets & build->null_sets;
        used |= link->from;
        parts |= link->parts;
        if (last)
            in->bad |= parts != all || used != (1u << i) - 1;
    }
}

/* ------------------------------------------------------------------------------------ Pipelines */

void bf_wire_say_graphics(struct bf_wire_out *out, const struct bf_build_request *request)
{
    const VkGraphicsPipelineCreateInfo *info = request->graphics;
    bf_wire_say(out, info->flags & ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_DERIVATIVE_BIT);
    bf_wire_say(out, info->stageCount);
    for (uint32_t i = 0; i < info->stageCount; i++)
        bf_wire_say_stage(out, &info->pStages[i], &request->code[i]);
    say_rendering(out, info);
    say_vertex_input(out, info->pVertexInputState);
    say_state(out, info->pInputAssemblyState, sizeof(*info->pInputAssemblyState));
    say_state(out, info->pTessellationState, sizeof(*info->pTessellationState));
    say_viewport(out, info->pViewportState);
    say_state(out, info->pRasterizationState, sizeof(*info->pRasterizationState));
    say_samples(out, info->pMultisampleState);
    say_state(out, info->pDepthStencilState, sizeof(*info->pDepthStencilState));
    say_blend(out, info->pColorBlendState);
    say_dynamic(out, info->pDynamicState);
    bf_wire_say(out, info->subpass);
    say_pass(out, request->pass);
    say_links(out, request);
}

void bf_wire_read_graphics(struct bf_wire_in *in, struct bf_wire_build *build)
{
    VkGraphicsPipelineCreateInfo *info = &build->graphics;
    *info = (VkGraphicsPipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                           .flags = bf_wire_read(in),
                                           .basePipelineIndex = -1};
    info->stageCount = bf_wire_read_count(in, 40);
    build->stages = bf_wire_allocate(in, info->stageCount, sizeof(*build->stages));
    build->code = bf_wire_allocate(in, info->stageCount, sizeof(*build->code));
    for (uint32_t i = 0; build->stages && build->code && i < info->stageCount; i++)
        bf_wire_read_stage(in, &build->stages[i], &build->code[i]);
    info->pStages = build->stages;
    info->pNext = read_rendering(in);
    info->pVertexInputState = read_vertex_input(in);
    info->pInputAssemblyState =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
                   sizeof(*info->pInputAssemblyState));
    info->pTessellationState =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
                   sizeof(*info->pTessellationState));
    info->pViewportState = read_viewport(in);
    info->pRasterizationState =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
                   sizeof(*info->pRasterizationState));
    info->pMultisampleState = read_samples(in);
    info->pDepthStencilState =
        read_state(in, VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
                   sizeof(*info->pDepthStencilState));
    info->pColorBlendState = read_blend(in);
    info->pDynamicState = read_dynamic(in);
    info->subpass = bf_wire_read(in);
    build->pass = read_pass(in);
    read_links(in, build);
}
