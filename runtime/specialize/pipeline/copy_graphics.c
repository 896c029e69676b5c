/* SPDX-License-Identifier: MIT */
/* Copies of graphics pipelines: which of their state Vulkan reads, and what may be chained to
 * it. */
#include "specialize/pipeline/copy.h"

#include <string.h>

#include "specialize/pipeline/pipeline.h"

#define LINK(type_, struct_)                                                                       \
    {                                                                                              \
        type_, sizeof(struct_), BF_REASON_NONE, NULL                                               \
    }
#define DEEP(type_, struct_, deepen_)                                                              \
    {                                                                                              \
        type_, sizeof(struct_), BF_REASON_NONE, deepen_                                            \
    }
#define LEFT_OUT(type_)                                                                            \
    {                                                                                              \
        type_, 0, BF_REASON_NONE, NULL                                                             \
    }
#define EXCLUDED(type_, reason_)                                                                   \
    {                                                                                              \
        type_, 0, reason_, NULL                                                                    \
    }

/* Newer than the oldest Vulkan headers that Belfry builds with. */
#define TYPE_CREATE_FLAGS_2 ((VkStructureType)1000470005)
#define TYPE_BINARY_INFO    ((VkStructureType)1000483002)

struct create_flags_2 {
    VkStructureType type;
    const void *next;
    uint64_t flags;
};

/* ---- What chained structs point to ---- */

#define DEEPEN(name_, struct_, array_, count_)                                                     \
    static void name_(struct bf_arena *arena, void *s)                                             \
    {                                                                                              \
        struct_ *v = s;                                                                            \
        v->array_ = bf_arena_copy(arena, v->array_, v->count_, sizeof(*v->array_));                \
    }

DEEPEN(deepen_rendering, VkPipelineRenderingCreateInfo, pColorAttachmentFormats,
       colorAttachmentCount)
/* Attachments belong to the fragment output; other parts have the views alone. */
static void drop_attachments(struct bf_arena *arena, void *s)
{
    (void)arena;
    VkPipelineRenderingCreateInfo *v = s;
    *v = (VkPipelineRenderingCreateInfo){.sType = v->sType, .viewMask = v->viewMask};
}

DEEPEN(deepen_discard, VkPipelineDiscardRectangleStateCreateInfoEXT, pDiscardRectangles,
       discardRectangleCount)
DEEPEN(deepen_samples, VkAttachmentSampleCountInfoAMD, pColorAttachmentSamples,
       colorAttachmentCount)
DEEPEN(deepen_divisors, VkPipelineVertexInputDivisorStateCreateInfoEXT, pVertexBindingDivisors,
       vertexBindingDivisorCount)
DEEPEN(deepen_writes, VkPipelineColorWriteCreateInfoEXT, pColorWriteEnables, attachmentCount)

static void deepen_locations(struct bf_arena *arena, void *s)
{
    VkSampleLocationsInfoEXT *l =
        &((VkPipelineSampleLocationsStateCreateInfoEXT *)s)->sampleLocationsInfo;
    l->pNext = NULL;
    l->pSampleLocations = bf_arena_copy(arena, l->pSampleLocations, l->sampleLocationsCount,
                                        sizeof(*l->pSampleLocations));
}

/* The same, where the array is ignored since it is dynamic state. */
#define DROP(name_, struct_, array_)                                                               \
    static void name_(struct bf_arena *arena, void *s)                                             \
    {                                                                                              \
        (void)arena;                                                                               \
        ((struct_ *)s)->array_ = NULL;                                                             \
    }

DROP(drop_discard, VkPipelineDiscardRectangleStateCreateInfoEXT, pDiscardRectangles)
DROP(drop_writes, VkPipelineColorWriteCreateInfoEXT, pColorWriteEnables)

static void drop_locations(struct bf_arena *arena, void *s)
{
    (void)arena;
    ((VkPipelineSampleLocationsStateCreateInfoEXT *)s)->sampleLocationsInfo =
        (VkSampleLocationsInfoEXT){.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT};
}

/* ---- Chains ---- */

static const struct bf_copy_link graphics_links[] = {
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, VkPipelineRenderingCreateInfo,
         deepen_rendering),
    LINK(TYPE_CREATE_FLAGS_2, struct create_flags_2),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT, VkPipelineRobustnessCreateInfoEXT),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_COMPILER_CONTROL_CREATE_INFO_AMD,
         VkPipelineCompilerControlCreateInfoAMD),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_FRAGMENT_SHADING_RATE_STATE_CREATE_INFO_KHR,
         VkPipelineFragmentShadingRateStateCreateInfoKHR),
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
         VkPipelineDiscardRectangleStateCreateInfoEXT, deepen_discard),
    DEEP(VK_STRUCTURE_TYPE_ATTACHMENT_SAMPLE_COUNT_INFO_AMD, VkAttachmentSampleCountInfoAMD,
         deepen_samples),
    LINK(VK_STRUCTURE_TYPE_MULTIVIEW_PER_VIEW_ATTRIBUTES_INFO_NVX,
         VkMultiviewPerViewAttributesInfoNVX),
    LEFT_OUT(VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO),
    /* They were looked at before. */
    LEFT_OUT(VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR),
    LEFT_OUT(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT),
    EXCLUDED(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_SHADER_GROUPS_CREATE_INFO_NV, BF_REASON_PINNED),
    EXCLUDED(TYPE_BINARY_INFO, BF_REASON_NO_CODE),
};
static const struct bf_copy_link vertex_links[] = {
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
         VkPipelineVertexInputDivisorStateCreateInfoEXT, deepen_divisors),
};
static const struct bf_copy_link viewport_links[] = {
    LINK(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT,
         VkPipelineViewportDepthClipControlCreateInfoEXT),
};
static const struct bf_copy_link raster_links[] = {
    LINK(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationLineStateCreateInfoEXT),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationProvokingVertexStateCreateInfoEXT),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationDepthClipStateCreateInfoEXT),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationConservativeStateCreateInfoEXT),
    LINK(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_STREAM_CREATE_INFO_EXT,
         VkPipelineRasterizationStateStreamCreateInfoEXT),
};
static const struct bf_copy_link sample_links[] = {
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
         VkPipelineSampleLocationsStateCreateInfoEXT, deepen_locations),
};
static const struct bf_copy_link dynamic_sample_links[] = {
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
         VkPipelineSampleLocationsStateCreateInfoEXT, drop_locations),
};
static const struct bf_copy_link blend_links[] = {
    LINK(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT,
         VkPipelineColorBlendAdvancedStateCreateInfoEXT),
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, VkPipelineColorWriteCreateInfoEXT,
         deepen_writes),
};
static const struct bf_copy_link dynamic_blend_links[] = {
    LINK(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT,
         VkPipelineColorBlendAdvancedStateCreateInfoEXT),
    DEEP(VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, VkPipelineColorWriteCreateInfoEXT,
         drop_writes),
};

/* ---- State ---- */

static bool state_is_dynamic(const VkGraphicsPipelineCreateInfo *info, VkDynamicState state)
{
    const VkPipelineDynamicStateCreateInfo *d = info->pDynamicState;
    for (uint32_t i = 0; d && i < d->dynamicStateCount; i++) {
        if (d->pDynamicStates[i] == state)
            return true;
    }
    return false;
}

/* Copies a state struct with its chain; the caller completes it. NULL: out of memory, or *reason
 * says why not. */
static void *copy_state(struct bf_pipeline_copy *copy, const void *state, uint32_t size,
                        const struct bf_copy_link *links, uint32_t link_count,
                        enum bf_reason *reason)
{
    VkBaseOutStructure *to = bf_arena_copy(&copy->arena, state, 1, size);
    const void *chain = NULL;
    if (!to || *reason != BF_REASON_NONE)
        return NULL;
    *reason = bf_copy_chain(copy, to->pNext, links, link_count, &chain);
    memcpy(&to->pNext, &chain, sizeof(chain));
    return *reason == BF_REASON_NONE ? to : NULL;
}

static void copy_dynamic(struct bf_pipeline_copy *copy, const VkGraphicsPipelineCreateInfo *info,
                         enum bf_reason *reason)
{
    VkPipelineDynamicStateCreateInfo *d =
        copy_state(copy, info->pDynamicState, sizeof(*info->pDynamicState), NULL, 0, reason);
    copy->graphics.pDynamicState = d;
    if (!d)
        return;
    d->pDynamicStates = bf_arena_copy(&copy->arena, d->pDynamicStates, d->dynamicStateCount,
                                      sizeof(*d->pDynamicStates));
    if (d->pDynamicStates && !bf_copy_is_whole(copy))
        *reason = bf_copy_part_states(copy, d);
}

static void copy_vertex_input(struct bf_pipeline_copy *copy,
                              const VkGraphicsPipelineCreateInfo *info, enum bf_reason *reason)
{
    struct bf_arena *arena = &copy->arena;
    if (!state_is_dynamic(info, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT)) {
        VkPipelineVertexInputStateCreateInfo *v =
            copy_state(copy, info->pVertexInputState, sizeof(*v), vertex_links,
                       BF_COUNT(vertex_links), reason);
        copy->graphics.pVertexInputState = v;
        if (v) {
            v->pVertexBindingDescriptions = bf_arena_copy(arena, v->pVertexBindingDescriptions,
                                                          v->vertexBindingDescriptionCount,
                                                          sizeof(*v->pVertexBindingDescriptions));
            v->pVertexAttributeDescriptions = bf_arena_copy(
                arena, v->pVertexAttributeDescriptions, v->vertexAttributeDescriptionCount,
                sizeof(*v->pVertexAttributeDescriptions));
        }
    }
    copy->graphics.pInputAssemblyState =
        copy_state(copy, info->pInputAssemblyState, sizeof(VkPipelineInputAssemblyStateCreateInfo),
                   NULL, 0, reason);
}

static void copy_viewport(struct bf_pipeline_copy *copy, const VkGraphicsPipelineCreateInfo *info,
                          enum bf_reason *reason)
{
    VkPipelineViewportStateCreateInfo *v = copy_state(
        copy, info->pViewportState, sizeof(*v), viewport_links, BF_COUNT(viewport_links), reason);
    copy->graphics.pViewportState = v;
    if (!v)
        return;
    bool no_viewports = state_is_dynamic(info, VK_DYNAMIC_STATE_VIEWPORT) ||
                        state_is_dynamic(info, VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT);
    bool no_scissors = state_is_dynamic(info, VK_DYNAMIC_STATE_SCISSOR) ||
                       state_is_dynamic(info, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT);
    v->pViewports = no_viewports ? NULL
                                 : bf_arena_copy(&copy->arena, v->pViewports, v->viewportCount,
                                                 sizeof(*v->pViewports));
    v->pScissors = no_scissors ? NULL
                               : bf_arena_copy(&copy->arena, v->pScissors, v->scissorCount,
                                               sizeof(*v->pScissors));
}

static void copy_samples(struct bf_pipeline_copy *copy, const VkGraphicsPipelineCreateInfo *info,
                         enum bf_reason *reason)
{
    const struct bf_copy_link *links = state_is_dynamic(info, VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT)
                                           ? dynamic_sample_links
                                           : sample_links;
    VkPipelineMultisampleStateCreateInfo *m = copy_state(copy, info->pMultisampleState, sizeof(*m),
                                                         links, BF_COUNT(sample_links), reason);
    copy->graphics.pMultisampleState = m;
    if (!m)
        return;
    /* If the number of samples is dynamic it is ignored, and may be anything. */
    uint32_t words = m->rasterizationSamples == VK_SAMPLE_COUNT_64_BIT ? 2 : 1;
    m->pSampleMask =
        state_is_dynamic(info, VK_DYNAMIC_STATE_SAMPLE_MASK_EXT)
            ? NULL
            : bf_arena_copy(&copy->arena, m->pSampleMask, words, sizeof(*m->pSampleMask));
}

static void copy_blend(struct bf_pipeline_copy *copy, const VkGraphicsPipelineCreateInfo *info,
                       enum bf_reason *reason)
{
    const struct bf_copy_link *links =
        state_is_dynamic(info, VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT) ? dynamic_blend_links
                                                                        : blend_links;
    VkPipelineColorBlendStateCreateInfo *b =
        copy_state(copy, info->pColorBlendState, sizeof(*b), links, BF_COUNT(blend_links), reason);
    copy->graphics.pColorBlendState = b;
    if (!b)
        return;
    /* Where all that the elements say is dynamic state they are ignored, and may be garbage. */
    bool ignored = state_is_dynamic(info, VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT) &&
                   state_is_dynamic(info, VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT) &&
                   state_is_dynamic(info, VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT);
    b->pAttachments = ignored ? NULL
                              : bf_arena_copy(&copy->arena, b->pAttachments, b->attachmentCount,
                                              sizeof(*b->pAttachments));
}

const VkPipelineRenderingCreateInfo *bf_copy_rendering(const struct bf_pipeline_copy *part)
{
    return bf_copy_chain_find(part->graphics.pNext,
                              VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
}

/* Whether depth-stencil and colour-blend state are read: each only where the subpass has such
 * attachments. A fragment shader's part that doesn't know them may have the former, or NULL. */
static void find_attachments(const struct bf_pipeline_copy *copy, uint32_t subpass, bool *depth,
                             bool *color)
{
    *depth = *color = false;
    if (copy->pass) {
        const struct bf_retained_subpass *s =
            subpass < copy->pass->subpass_count ? &copy->pass->subpasses[subpass] : NULL;
        *depth = s && s->depth != VK_ATTACHMENT_UNUSED;
        for (uint32_t i = 0; s && i < s->color_count; i++)
            *color |= s->colors[i] != VK_ATTACHMENT_UNUSED;
        return;
    }
    const struct bf_pipeline_copy *output = bf_copy_part(copy, BF_PART_OUTPUT);
    const VkPipelineRenderingCreateInfo *r = output ? bf_copy_rendering(output) : NULL;
    *depth = !output || (r && (r->depthAttachmentFormat != VK_FORMAT_UNDEFINED ||
                               r->stencilAttachmentFormat != VK_FORMAT_UNDEFINED));
    *color = r && r->colorAttachmentCount > 0;
}

/* CO-1, CO-4: of each part that it was given itself what belongs to it. */
static enum bf_reason copy_state_structs(struct bf_pipeline_copy *copy,
                                         const VkGraphicsPipelineCreateInfo *info)
{
    VkGraphicsPipelineCreateInfo *to = &copy->graphics;
    enum bf_reason reason = BF_REASON_NONE;
    bool depth, color;
    find_attachments(copy, info->subpass, &depth, &color);
    if (copy->parts)
        copy_dynamic(copy, info, &reason);
    if (copy->parts & BF_PART_VERTICES)
        copy_vertex_input(copy, info, &reason);
    if (copy->parts & BF_PART_RASTER) {
        to->pRasterizationState =
            copy_state(copy, info->pRasterizationState, sizeof(*info->pRasterizationState),
                       raster_links, BF_COUNT(raster_links), &reason);
        copy_viewport(copy, info, &reason);
    }
    if (copy->parts & BF_PART_FRAGMENT) {
        /* It is the fragment output's, or NULL where nothing is shaded for each sample. */
        copy->samples = info->pMultisampleState != NULL;
        if (depth)
            to->pDepthStencilState =
                copy_state(copy, info->pDepthStencilState, sizeof(*info->pDepthStencilState), NULL,
                           0, &reason);
    }
    if (copy->parts & BF_PART_OUTPUT) {
        copy_samples(copy, info, &reason);
        if (color)
            copy_blend(copy, info, &reason);
    }
    return reason;
}

/* Allowed are a vertex shader and a fragment shader, with rasterization enabled; of a library what
 * belongs to its parts. */
static enum bf_reason check_stages(const struct bf_pipeline_copy *copy,
                                   const VkGraphicsPipelineCreateInfo *info)
{
    VkShaderStageFlags stages = 0, allowed = 0;
    if (!(copy->parts & BF_PARTS_SHADERS))
        return BF_REASON_NONE;
    if (copy->parts & BF_PART_RASTER)
        allowed |= VK_SHADER_STAGE_VERTEX_BIT;
    if (copy->parts & BF_PART_FRAGMENT)
        allowed |= VK_SHADER_STAGE_FRAGMENT_BIT;
    for (uint32_t i = 0; i < info->stageCount; i++)
        stages |= info->pStages[i].stage;
    if (stages & ~allowed || info->stageCount > BF_COPY_STAGES ||
        (copy->parts & BF_PART_RASTER && !(stages & VK_SHADER_STAGE_VERTEX_BIT)))
        return BF_REASON_STAGES;
    if (copy->parts & BF_PART_FRAGMENT && !(stages & VK_SHADER_STAGE_FRAGMENT_BIT))
        return BF_REASON_POSITION;
    /* Where rasterization state may be ignored it isn't known whether the rest is valid. */
    const VkPipelineRasterizationStateCreateInfo *r =
        copy->parts & BF_PART_RASTER ? info->pRasterizationState : NULL;
    if (r && !state_is_dynamic(info, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE) &&
        r->rasterizerDiscardEnable)
        return BF_REASON_POSITION;
    return BF_REASON_NONE;
}

static enum bf_reason copy_stages(struct bf_pipeline_copy *copy,
                                  const VkGraphicsPipelineCreateInfo *info)
{
    if (!(copy->parts & BF_PARTS_SHADERS))
        return BF_REASON_NONE;
    VkPipelineShaderStageCreateInfo *stages =
        bf_arena_zeroed(&copy->arena, BF_COPY_STAGES * sizeof(*stages));
    if (!stages)
        return BF_REASON_MEMORY;
    copy->graphics.pStages = stages;
    copy->graphics.stageCount = info->stageCount;
    /* The fragment shader comes last in a copy. */
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < info->stageCount; i++) {
            bool fragment = info->pStages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT;
            if (fragment != (turn == 1))
                continue;
            enum bf_reason reason =
                bf_copy_stage(copy, &info->pStages[i], &stages[copy->stage_count]);
            if (reason != BF_REASON_NONE)
                return reason;
        }
    }
    return BF_REASON_NONE;
}

static enum bf_reason hold_pass(struct bf_pipeline_copy *copy, VkRenderPass pass)
{
    struct bf_retained_render_pass *retained = bf_retained_render_pass_find(copy->pipelines, pass);
    if (!retained)
        return BF_REASON_MEMORY;
    if (!bf_retained_hold(&retained->base))
        return BF_REASON_ALLOCATOR;
    copy->pass = retained;
    return BF_REASON_NONE;
}

/* Structs for dynamic rendering are ignored where there is a render pass. What is linked has no
 * other structs. */
static enum bf_reason copy_chain(struct bf_pipeline_copy *copy,
                                 const VkGraphicsPipelineCreateInfo *info)
{
    const bool whole = bf_copy_is_whole(copy), pass = copy->parts & BF_PARTS_PASS;
    struct bf_copy_link links[BF_COUNT(graphics_links)];
    memcpy(links, graphics_links, sizeof(links));
    for (uint32_t i = 0; i < BF_COUNT(links); i++) {
        switch ((int)links[i].type) {
        case VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO:
            if (!pass || info->renderPass)
                links[i].size = 0;
            else if (!(copy->parts & BF_PART_OUTPUT))
                links[i].deepen = drop_attachments;
            break;
        case VK_STRUCTURE_TYPE_ATTACHMENT_SAMPLE_COUNT_INFO_AMD:
        case VK_STRUCTURE_TYPE_MULTIVIEW_PER_VIEW_ATTRIBUTES_INFO_NVX:
            if (pass && info->renderPass)
                links[i].size = 0;
            else if (!whole)
                links[i].exclude = BF_REASON_LIBRARY;
            break;
        case VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT:
            if (!whole)
                links[i].exclude = BF_REASON_LIBRARY;
            else if (state_is_dynamic(info, VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT))
                links[i].deepen = drop_discard;
            break;
        case TYPE_CREATE_FLAGS_2: /* those that are kept are to be had without it */
            if (!whole)
                links[i].size = 0;
            break;
        default:
            if (!whole && links[i].exclude == BF_REASON_NONE && links[i].size)
                links[i].exclude = BF_REASON_LIBRARY;
            break;
        }
    }
    return bf_copy_chain(copy, info->pNext, links, BF_COUNT(links), &copy->graphics.pNext);
}

enum bf_reason bf_copy_graphics_state(struct bf_pipeline_copy *copy,
                                      const VkGraphicsPipelineCreateInfo *info)
{
    enum bf_reason reason = bf_copy_link(copy, info);
    if (reason == BF_REASON_NONE)
        reason = bf_copy_flags(copy, info->flags, info->pNext, !bf_copy_is_whole(copy));
    if (reason != BF_REASON_NONE)
        return reason;
    copy->graphics = (VkGraphicsPipelineCreateInfo){
        .sType = info->sType,
        .flags = (VkPipelineCreateFlags)copy->flags,
        .basePipelineIndex = -1,
    };
    if (copy->parts & BF_PARTS_PASS) {
        copy->graphics.renderPass = info->renderPass;
        copy->graphics.subpass = info->subpass;
    }
    reason = copy_chain(copy, info);
    if (reason == BF_REASON_NONE)
        reason = check_stages(copy, info);
    for (uint32_t i = 0;
         copy->parts & BF_PART_FRAGMENT && reason == BF_REASON_NONE && i < info->stageCount; i++) {
        if (info->pStages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT)
            reason = bf_copy_scan(copy->pipelines, &info->pStages[i]);
    }
    if (reason == BF_REASON_NONE && copy->graphics.renderPass)
        reason = hold_pass(copy, info->renderPass);
    if (reason == BF_REASON_NONE && copy->all_parts & BF_PARTS_SHADERS) {
        copy->graphics.layout = info->layout;
        reason = info->layout || bf_copy_is_whole(copy) ? bf_copy_layout(copy, info->layout)
                                                        : BF_REASON_LIBRARY;
    }
    if (reason == BF_REASON_NONE)
        reason = copy_state_structs(copy, info);
    if (reason == BF_REASON_NONE)
        reason = copy_stages(copy, info);
    return reason;
}
