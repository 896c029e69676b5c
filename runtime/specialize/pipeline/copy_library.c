/* SPDX-License-Identifier: MIT */
/* Copies of graphics pipelines that are linked from libraries: which parts they have of whom, and
 * how a complete pipeline is composed of them. */
#include "specialize/pipeline/copy.h"

#include <string.h>

#include "specialize/pipeline/pipeline.h"

bool bf_copy_is_library(const VkGraphicsPipelineCreateInfo *info)
{
    return bf_copy_all_flags(info->flags, info->pNext) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
}

bool bf_copy_is_whole(const struct bf_pipeline_copy *copy)
{
    return copy->parts == BF_PARTS_ALL && copy->library_count == 0 &&
           !(copy->link_flags & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR);
}

const struct bf_pipeline_copy *bf_copy_part(const struct bf_pipeline_copy *copy,
                                            VkGraphicsPipelineLibraryFlagBitsEXT part)
{
    if (copy->parts & part)
        return copy;
    for (uint32_t i = 0; i < copy->library_count; i++) {
        if (copy->libraries[i]->all_parts & part)
            return bf_copy_part(copy->libraries[i], part);
    }
    return NULL;
}

/* ---- What it is linked from ---- */

static const VkPipelineLibraryCreateInfoKHR *
find_libraries(const VkGraphicsPipelineCreateInfo *info)
{
    return bf_copy_chain_find(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
}

enum bf_reason bf_copy_link_reason(struct bf_pipelines *ps,
                                   const VkGraphicsPipelineCreateInfo *info)
{
    const VkPipelineLibraryCreateInfoKHR *from = find_libraries(info);
    enum bf_reason reason = BF_REASON_NONE;
    for (uint32_t i = 0; from && i < from->libraryCount; i++) {
        const struct bf_pipeline *p = bf_pipelines_find(ps, from->pLibraries[i]);
        if (p && p->refused == BF_REASON_NO_PUSH)
            return p->refused;
        if (reason == BF_REASON_NONE && !(p && p->library))
            reason = !p ? BF_REASON_MEMORY : p->refused ? p->refused : BF_REASON_LIBRARY;
    }
    return reason;
}

/* Takes a reference to a library. A part that is there twice makes no pipeline. */
static enum bf_reason link_library(struct bf_pipeline_copy *copy, struct bf_pipeline_copy *library)
{
    if (library->all_parts & copy->all_parts ||
        library->link_count + copy->link_count > BF_COPY_LINKS)
        return BF_REASON_LIBRARY;
    bf_pipeline_copy_retain(library);
    copy->libraries[copy->library_count++] = library;
    copy->all_parts |= library->all_parts;
    copy->link_count += library->link_count;
    return BF_REASON_NONE;
}

/* Who doesn't say which parts a pipeline has means all of them; but none where it is a library, or
 * is linked from some. (VkGraphicsPipelineLibraryCreateInfoEXT) */
enum bf_reason bf_copy_link(struct bf_pipeline_copy *copy, const VkGraphicsPipelineCreateInfo *info)
{
    const VkPipelineLibraryCreateInfoKHR *from = find_libraries(info);
    const VkGraphicsPipelineLibraryCreateInfoEXT *own = bf_copy_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
    const uint32_t count = from ? from->libraryCount : 0;
    const bool library = bf_copy_is_library(info);
    if (library)
        copy->link_flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    copy->link_count = 1;
    copy->parts = own ? own->flags : library || count ? 0 : BF_PARTS_ALL;
    copy->all_parts = copy->parts;
    if (copy->parts & ~(VkGraphicsPipelineLibraryFlagsEXT)BF_PARTS_ALL || count >= BF_COPY_LINKS)
        return BF_REASON_LIBRARY;
    copy->libraries = count <= BF_COPY_FEW_LIBRARIES
                          ? copy->few
                          : bf_arena_zeroed(&copy->arena, count * sizeof(copy->libraries[0]));
    if (!copy->libraries)
        return BF_REASON_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        enum bf_reason reason =
            link_library(copy, bf_pipelines_find(copy->pipelines, from->pLibraries[i])->library);
        if (reason != BF_REASON_NONE)
            return reason;
    }
    return library                           ? copy->all_parts ? BF_REASON_NONE : BF_REASON_LIBRARY
           : copy->all_parts == BF_PARTS_ALL ? BF_REASON_NONE
                                             : BF_REASON_LIBRARY;
}

/* ---- Dynamic states ---- */

/* The parts in which a dynamic state counts; those of multisampling, which two parts have, are the
 * fragment output's. 0: it isn't known here. */
static VkGraphicsPipelineLibraryFlagsEXT state_parts(VkDynamicState state)
{
    switch (state) {
    case VK_DYNAMIC_STATE_VERTEX_INPUT_EXT:
    case VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE:
    case VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY:
    case VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE:
        return BF_PART_VERTICES;
    case VK_DYNAMIC_STATE_VIEWPORT:
    case VK_DYNAMIC_STATE_SCISSOR:
    case VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT:
    case VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT:
    case VK_DYNAMIC_STATE_LINE_WIDTH:
    case VK_DYNAMIC_STATE_LINE_STIPPLE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_BIAS:
    case VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE:
    case VK_DYNAMIC_STATE_CULL_MODE:
    case VK_DYNAMIC_STATE_FRONT_FACE:
    case VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE:
    case VK_DYNAMIC_STATE_PATCH_CONTROL_POINTS_EXT:
    case VK_DYNAMIC_STATE_TESSELLATION_DOMAIN_ORIGIN_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLIP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT:
    case VK_DYNAMIC_STATE_POLYGON_MODE_EXT:
    case VK_DYNAMIC_STATE_RASTERIZATION_STREAM_EXT:
    case VK_DYNAMIC_STATE_CONSERVATIVE_RASTERIZATION_MODE_EXT:
    case VK_DYNAMIC_STATE_EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT:
    case VK_DYNAMIC_STATE_PROVOKING_VERTEX_MODE_EXT:
    case VK_DYNAMIC_STATE_LINE_RASTERIZATION_MODE_EXT:
    case VK_DYNAMIC_STATE_LINE_STIPPLE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT:
        return BF_PART_RASTER;
    case VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR:
        return BF_PARTS_SHADERS;
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS:
    case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_REFERENCE:
    case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_OP:
        return BF_PART_FRAGMENT;
    case VK_DYNAMIC_STATE_BLEND_CONSTANTS:
    case VK_DYNAMIC_STATE_LOGIC_OP_EXT:
    case VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT:
    case VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_MASK_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT:
    case VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_ALPHA_TO_ONE_ENABLE_EXT:
        return BF_PART_OUTPUT;
    default:
        return 0;
    }
}

enum bf_reason bf_copy_part_states(const struct bf_pipeline_copy *copy,
                                   VkPipelineDynamicStateCreateInfo *states)
{
    VkDynamicState *kept = (VkDynamicState *)states->pDynamicStates; /* the copy's own */
    uint32_t count = 0;
    for (uint32_t i = 0; i < states->dynamicStateCount; i++) {
        const VkGraphicsPipelineLibraryFlagsEXT parts = state_parts(kept[i]);
        if (!parts)
            return BF_REASON_LIBRARY;
        if (parts & copy->parts)
            kept[count++] = kept[i];
    }
    states->dynamicStateCount = count;
    return BF_REASON_NONE;
}

/* ---- A complete pipeline ---- */

static bool samplers_agree(const struct bf_set_binding *a, const struct bf_set_binding *b)
{
    if (!a->immutable || !b->immutable)
        return a->immutable == b->immutable;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->immutable[i] != b->immutable[i])
            return false;
    }
    return true;
}

static bool sets_agree(const struct bf_retained_set_layout *a,
                       const struct bf_retained_set_layout *b)
{
    if (a == b)
        return true;
    if (!b || a->flags != b->flags || a->binding_count != b->binding_count)
        return false;
    for (uint32_t i = 0; i < a->binding_count; i++) {
        const struct bf_set_binding *x = &a->bindings[i], *y = &b->bindings[i];
        if (x->binding != y->binding || x->type != y->type || x->count != y->count ||
            x->stages != y->stages || x->flags != y->flags || !samplers_agree(x, y))
            return false;
    }
    return true;
}

/* Whether the link's layout has all that the part's has, in which sets may be missing. */
static bool layouts_agree(const struct bf_retained_layout *part,
                          const struct bf_retained_layout *link)
{
    if (part == link)
        return true;
    if (part->unknown || part->push_id != link->push_id || part->set_count > link->set_count)
        return false;
    for (uint32_t i = 0; i < part->set_count; i++) {
        if (part->sets[i] && !sets_agree(part->sets[i], link->sets[i]))
            return false;
    }
    return true;
}

static bool all_layouts_agree(const struct bf_pipeline_copy *copy,
                              const struct bf_retained_layout *link)
{
    if (copy->layout && !layouts_agree(copy->layout, link))
        return false;
    for (uint32_t i = 0; i < copy->library_count; i++) {
        if (!all_layouts_agree(copy->libraries[i], link))
            return false;
    }
    return true;
}

static uint32_t view_mask(const struct bf_pipeline_copy *part)
{
    const VkPipelineRenderingCreateInfo *r = bf_copy_rendering(part);
    return r ? r->viewMask : 0;
}

static bool passes_agree(const struct bf_pipeline_copy *a, const struct bf_pipeline_copy *b)
{
    return a->pass == b->pass && (!a->pass || a->graphics.subpass == b->graphics.subpass) &&
           view_mask(a) == view_mask(b);
}

/* All dynamic states of the parts, each of which has those that count in it. */
static const VkPipelineDynamicStateCreateInfo *
compose_states(struct bf_pipeline_copy *copy, const struct bf_pipeline_copy *const parts[4])
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < 4; i++)
        most += parts[i]->graphics.pDynamicState
                    ? parts[i]->graphics.pDynamicState->dynamicStateCount
                    : 0;
    if (most == 0)
        return NULL;
    VkPipelineDynamicStateCreateInfo *to = bf_arena_zeroed(&copy->arena, sizeof(*to));
    VkDynamicState *states = bf_arena_zeroed(&copy->arena, most * sizeof(*states));
    if (!to || !states)
        return NULL;
    to->sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
    to->pDynamicStates = states;
    for (uint32_t i = 0; i < 4; i++) {
        const VkPipelineDynamicStateCreateInfo *from = parts[i]->graphics.pDynamicState;
        for (uint32_t k = 0; from && k < from->dynamicStateCount; k++) {
            bool there = false;
            for (uint32_t n = 0; n < to->dynamicStateCount; n++)
                there |= states[n] == from->pDynamicStates[k];
            if (!there)
                states[to->dynamicStateCount++] = from->pDynamicStates[k];
        }
    }
    return to;
}

static bool compose_stages(struct bf_pipeline_copy *copy, const struct bf_pipeline_copy *raster,
                           const struct bf_pipeline_copy *fragment)
{
    struct bf_codes *codes = &copy->pipelines->codes;
    VkPipelineShaderStageCreateInfo *stages =
        bf_arena_zeroed(&copy->arena, BF_COPY_STAGES * sizeof(*stages));
    if (!stages)
        return false;
    const uint32_t last = fragment->stage_count - 1;
    struct bf_code_stage *const code[BF_COPY_STAGES] = {raster->stages[0], fragment->stages[last]};
    stages[0] = raster->graphics.pStages[0];
    stages[1] = fragment->graphics.pStages[last];
    for (uint32_t i = 0; i < BF_COPY_STAGES; i++)
        bf_code_stage_retain(codes, code[i]);
    for (uint32_t i = 0; i < copy->stage_count; i++)
        bf_code_stage_release(codes, copy->stages[i]);
    memcpy(copy->stages, code, sizeof(code));
    copy->stage_count = copy->graphics.stageCount = BF_COPY_STAGES;
    copy->graphics.pStages = stages;
    return true;
}

/* What the parts ask for, each of what concerns it. How thoroughly to optimise says the link. */
static uint64_t compose_flags(const struct bf_pipeline_copy *copy)
{
    uint64_t flags = copy->flags;
    for (uint32_t i = 0; i < copy->library_count; i++)
        flags |= compose_flags(copy->libraries[i]) &
                 ~(uint64_t)VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT;
    return flags;
}

enum bf_reason bf_copy_compose(struct bf_pipeline_copy *copy)
{
    if (copy->point != VK_PIPELINE_BIND_POINT_GRAPHICS || bf_copy_is_whole(copy))
        return BF_REASON_NONE;
    const struct bf_pipeline_copy *const vertices = bf_copy_part(copy, BF_PART_VERTICES),
                                         *const raster = bf_copy_part(copy, BF_PART_RASTER),
                                         *const fragment = bf_copy_part(copy, BF_PART_FRAGMENT),
                                         *const output = bf_copy_part(copy, BF_PART_OUTPUT);
    const struct bf_pipeline_copy *const parts[4] = {vertices, raster, fragment, output};
    if (!all_layouts_agree(copy, copy->layout) || !passes_agree(raster, output) ||
        !passes_agree(fragment, output))
        return BF_REASON_LIBRARY;
    if (output->pass && !copy->pass) {
        if (!bf_retained_hold(&output->pass->base))
            return BF_REASON_ALLOCATOR;
        copy->pass = output->pass;
    }
    VkGraphicsPipelineCreateInfo *to = &copy->graphics;
    const VkPipelineDynamicStateCreateInfo *states = compose_states(copy, parts);
    if (!compose_stages(copy, raster, fragment))
        return BF_REASON_MEMORY;
    to->pNext = output->graphics.pNext;
    to->flags = (VkPipelineCreateFlags)compose_flags(copy);
    to->pVertexInputState = vertices->graphics.pVertexInputState;
    to->pInputAssemblyState = vertices->graphics.pInputAssemblyState;
    to->pViewportState = raster->graphics.pViewportState;
    to->pRasterizationState = raster->graphics.pRasterizationState;
    to->pDepthStencilState = fragment->graphics.pDepthStencilState;
    to->pMultisampleState = output->graphics.pMultisampleState;
    to->pColorBlendState = output->graphics.pColorBlendState;
    to->pDynamicState = states;
    to->renderPass = output->graphics.renderPass;
    to->subpass = output->graphics.subpass;
    return copy->arena.failed ? BF_REASON_MEMORY : BF_REASON_NONE;
}
