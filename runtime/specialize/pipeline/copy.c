/* SPDX-License-Identifier: MIT */
/* Copies of what pipelines are created from: flags, chains, stages and layouts, and building a
 * pipeline again from a copy. */
#include "specialize/pipeline/copy.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/made.h"
#include "specialize/pipeline/pipeline.h"
#include "specialize/shader/scan.h"

/* Structs and flags that are newer than the oldest Vulkan headers that Belfry builds with. */
#define TYPE_CREATE_FLAGS_2      1000470005 /* VkPipelineCreateFlags2CreateInfo */
#define TYPE_BINARY_INFO         1000483002 /* VkPipelineBinaryInfoKHR */
#define FLAG_2_INDIRECT_BINDABLE (UINT64_C(1) << 38)

struct create_flags_2 {
    VkStructureType type;
    const void *next;
    uint64_t flags;
};

/* The flags that a copy keeps, and those that concern the program's call alone. */
#define RETAINED_FLAGS                                                                             \
    (VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT |                                                 \
     VK_PIPELINE_CREATE_VIEW_INDEX_FROM_DEVICE_INDEX_BIT | VK_PIPELINE_CREATE_DISPATCH_BASE_BIT |  \
     VK_PIPELINE_CREATE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR |                       \
     VK_PIPELINE_CREATE_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_BIT_EXT |                        \
     VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT |                                   \
     VK_PIPELINE_CREATE_DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT |                           \
     VK_PIPELINE_CREATE_NO_PROTECTED_ACCESS_BIT_EXT |                                              \
     VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT)
#define CALLS_FLAGS                                                                                \
    (VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT | VK_PIPELINE_CREATE_DERIVATIVE_BIT |                \
     VK_PIPELINE_CREATE_DEFER_COMPILE_BIT_NV |                                                     \
     VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |                                    \
     VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT)
#define LIBRARY_FLAGS                                                                              \
    (VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |                                                          \
     VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT |                               \
     VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT)

const void *bf_copy_chain_find(const void *chain, int type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if ((int)s->sType == type)
            return s;
    }
    return NULL;
}

uint64_t bf_copy_all_flags(VkPipelineCreateFlags flags, const void *chain)
{
    const struct create_flags_2 *wide = bf_copy_chain_find(chain, TYPE_CREATE_FLAGS_2);
    return wide ? wide->flags : flags;
}

enum bf_reason bf_copy_flags(struct bf_pipeline_copy *copy, VkPipelineCreateFlags flags,
                             const void *chain, bool linked)
{
    copy->flags = bf_copy_all_flags(flags, chain);
    copy->link_flags = copy->flags & LIBRARY_FLAGS;
    if (copy->link_flags && !linked)
        return BF_REASON_LIBRARY;
    copy->flags &= ~copy->link_flags;
    if (copy->flags & (VK_PIPELINE_CREATE_INDIRECT_BINDABLE_BIT_NV | FLAG_2_INDIRECT_BINDABLE))
        return BF_REASON_PINNED;
    if (copy->flags & ~(uint64_t)(RETAINED_FLAGS | CALLS_FLAGS))
        return BF_REASON_FLAGS;
    copy->flags &= RETAINED_FLAGS;
    return BF_REASON_NONE;
}

enum bf_reason bf_copy_chain(struct bf_pipeline_copy *copy, const void *chain,
                             const struct bf_copy_link *links, uint32_t link_count, const void **to)
{
    VkBaseOutStructure *last = NULL;
    *to = NULL;
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        uint32_t i = 0;
        while (i < link_count && links[i].type != s->sType)
            i++;
        if (i == link_count)
            return BF_REASON_CHAIN;
        if (links[i].exclude != BF_REASON_NONE)
            return links[i].exclude;
        if (links[i].size == 0)
            continue;
        VkBaseOutStructure *node = bf_arena_copy(&copy->arena, s, 1, links[i].size);
        if (!node)
            return BF_REASON_MEMORY;
        node->pNext = NULL;
        if (links[i].deepen)
            links[i].deepen(&copy->arena, node);
        if ((int)node->sType == TYPE_CREATE_FLAGS_2)
            ((struct create_flags_2 *)(void *)node)->flags = copy->flags;
        if (last)
            last->pNext = node;
        else
            *to = node;
        last = node;
    }
    return BF_REASON_NONE;
}

static const struct bf_copy_link stage_links[] = {
    {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
     sizeof(VkPipelineShaderStageRequiredSubgroupSizeCreateInfo), BF_REASON_NONE, NULL},
    {VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
     sizeof(VkPipelineRobustnessCreateInfoEXT), BF_REASON_NONE, NULL},
    /* Contains the code, which was looked at before. */
    {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, 0, BF_REASON_NONE, NULL},
    {VK_STRUCTURE_TYPE_SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT, 0, BF_REASON_NONE, NULL},
    {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT, 0, BF_REASON_NONE,
     NULL},
    {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, 0, BF_REASON_NONE, NULL},
};

enum bf_reason bf_copy_scan(struct bf_pipelines *ps, const VkPipelineShaderStageCreateInfo *stage)
{
    bool pushes = true;
    const VkShaderModuleCreateInfo *own =
        bf_copy_chain_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (stage->module) {
        const struct bf_module *module = bf_map_find(&ps->modules, (uint64_t)stage->module);
        pushes = !module || module->unknown || module->pushes;
    } else if (own) {
        pushes = bf_scan_words(own->pCode, own->codeSize / sizeof(uint32_t)).pushes;
    }
    return pushes ? BF_REASON_NONE : BF_REASON_NO_PUSH;
}

/* Takes a reference to the code of a stage. */
static enum bf_reason find_code(struct bf_pipelines *ps,
                                const VkPipelineShaderStageCreateInfo *stage, struct bf_code **code)
{
    if (stage->module) {
        struct bf_module *module = bf_map_find(&ps->modules, (uint64_t)stage->module);
        if (!module)
            return BF_REASON_MEMORY;
        if (module->unknown)
            return BF_REASON_CHAIN;
        if (!module->code) /* it has no shader for this stage */
            return BF_REASON_UNPARSED;
        bf_code_retain(&ps->codes, module->code);
        *code = module->code;
        return BF_REASON_NONE;
    }
    const VkShaderModuleCreateInfo *own =
        bf_copy_chain_find(stage->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (!own || !own->pCode || own->codeSize == 0)
        return BF_REASON_NO_CODE;
    *code = bf_code_get(&ps->codes, own->pCode, own->codeSize);
    return *code ? BF_REASON_NONE : BF_REASON_MEMORY;
}

enum bf_reason bf_copy_stage(struct bf_pipeline_copy *copy,
                             const VkPipelineShaderStageCreateInfo *from,
                             VkPipelineShaderStageCreateInfo *to)
{
    struct bf_pipelines *ps = copy->pipelines;
    const VkPipelineShaderStageCreateFlags known =
        VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT |
        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (from->flags & ~known)
        return BF_REASON_FLAGS;
    *to = *from;
    to->module = VK_NULL_HANDLE;
    to->pName = NULL;
    to->pSpecializationInfo = NULL;
    enum bf_reason reason =
        bf_copy_chain(copy, from->pNext, stage_links, BF_COUNT(stage_links), &to->pNext);
    if (reason != BF_REASON_NONE)
        return reason;
    struct bf_code *code = NULL;
    reason = find_code(ps, from, &code);
    if (reason != BF_REASON_NONE)
        return reason;
    struct bf_code_stage *stage =
        bf_code_stage_get(&ps->codes, code, from->stage, from->pName, from->pSpecializationInfo);
    bf_code_release(&ps->codes, code);
    if (!stage)
        return BF_REASON_MEMORY;
    copy->stages[copy->stage_count++] = stage;
    to->pName = stage->entry;
    to->pSpecializationInfo = stage->specialization;
    return BF_REASON_NONE;
}

enum bf_reason bf_copy_layout(struct bf_pipeline_copy *copy, VkPipelineLayout layout)
{
    struct bf_retained_layout *retained = bf_retained_layout_find(copy->pipelines, layout);
    if (!retained)
        return BF_REASON_MEMORY;
    if (!bf_retained_hold(&retained->base))
        return BF_REASON_ALLOCATOR;
    copy->layout = retained;
    return BF_REASON_NONE;
}

struct bf_pipeline_copy *bf_copy_new(struct bf_pipelines *ps, VkPipelineBindPoint point)
{
    struct bf_pipeline_copy *copy = calloc(1, sizeof(*copy));
    if (!copy)
        return NULL;
    copy->pipelines = ps;
    copy->refs = 1;
    copy->point = point;
    bf_arena_count(&copy->arena, &ps->budget.own, sizeof(*copy));
    return copy;
}

void bf_pipeline_copy_retain(struct bf_pipeline_copy *copy)
{
    atomic_fetch_add(&copy->refs, 1);
}

void bf_pipeline_copy_release(struct bf_pipeline_copy *copy)
{
    if (!copy || atomic_fetch_sub(&copy->refs, 1) != 1)
        return;
    struct bf_pipelines *ps = copy->pipelines;
    for (uint32_t i = 0; i < copy->stage_count; i++)
        bf_code_stage_release(&ps->codes, copy->stages[i]);
    if (copy->layout)
        bf_retained_unhold(ps, &copy->layout->base);
    if (copy->pass)
        bf_retained_unhold(ps, &copy->pass->base);
    for (uint32_t i = 0; i < copy->library_count; i++)
        bf_pipeline_copy_release(copy->libraries[i]);
    bf_arena_finish(&copy->arena);
    free(copy);
}

static const struct bf_copy_link compute_links[] = {
    {VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
     sizeof(VkPipelineRobustnessCreateInfoEXT), BF_REASON_NONE, NULL},
    {VK_STRUCTURE_TYPE_PIPELINE_COMPILER_CONTROL_CREATE_INFO_AMD,
     sizeof(VkPipelineCompilerControlCreateInfoAMD), BF_REASON_NONE, NULL},
    {(VkStructureType)TYPE_CREATE_FLAGS_2, sizeof(struct create_flags_2), BF_REASON_NONE, NULL},
    {VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO, 0, BF_REASON_NONE, NULL},
    {(VkStructureType)TYPE_BINARY_INFO, 0, BF_REASON_NO_CODE, NULL},
    {VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, 0, BF_REASON_LIBRARY, NULL},
};

static enum bf_reason copy_compute(struct bf_pipeline_copy *copy,
                                   const VkComputePipelineCreateInfo *info)
{
    VkComputePipelineCreateInfo *to = &copy->compute;
    enum bf_reason reason = bf_copy_flags(copy, info->flags, info->pNext, false);
    if (reason != BF_REASON_NONE)
        return reason;
    *to = (VkComputePipelineCreateInfo){
        .sType = info->sType,
        .flags = (VkPipelineCreateFlags)copy->flags,
        .layout = info->layout,
        .basePipelineIndex = -1,
    };
    reason = bf_copy_chain(copy, info->pNext, compute_links, BF_COUNT(compute_links), &to->pNext);
    if (reason == BF_REASON_NONE)
        reason = bf_copy_scan(copy->pipelines, &info->stage);
    if (reason == BF_REASON_NONE)
        reason = bf_copy_layout(copy, info->layout);
    if (reason == BF_REASON_NONE)
        reason = bf_copy_stage(copy, &info->stage, &to->stage);
    return reason;
}

/* Gives the copy out, or undoes what was made of it. */
static void copy_finish(struct bf_pipeline_copy *made, struct bf_pipeline_copy **copy,
                        enum bf_reason *reason)
{
    if (*reason == BF_REASON_NONE && made->arena.failed)
        *reason = BF_REASON_MEMORY;
    if (*reason == BF_REASON_NONE) {
        *copy = made;
    } else {
        bf_pipeline_copy_release(made);
        *copy = NULL;
    }
}

void bf_copy_compute(struct bf_pipelines *ps, const VkComputePipelineCreateInfo *info,
                     struct bf_pipeline_copy **copy, enum bf_reason *reason)
{
    struct bf_pipeline_copy *made = bf_copy_new(ps, VK_PIPELINE_BIND_POINT_COMPUTE);
    *reason = made ? copy_compute(made, info) : BF_REASON_MEMORY;
    copy_finish(made, copy, reason);
}

void bf_copy_graphics(struct bf_pipelines *ps, const VkGraphicsPipelineCreateInfo *info,
                      struct bf_pipeline_copy **copy, enum bf_reason *reason)
{
    *copy = NULL;
    *reason = bf_copy_link_reason(ps, info);
    if (*reason != BF_REASON_NONE)
        return;
    struct bf_pipeline_copy *made = bf_copy_new(ps, VK_PIPELINE_BIND_POINT_GRAPHICS);
    *reason = made ? bf_copy_graphics_state(made, info) : BF_REASON_MEMORY;
    copy_finish(made, copy, reason);
}

/* ---- Builds ---- */

const struct bf_shader *bf_pipeline_copy_shader(const struct bf_pipeline_copy *copy)
{
    return copy->stages[copy->specialised]->shader;
}

/* The stages of a build, with their modules and specialization. */
struct build {
    VkPipelineShaderStageCreateInfo stages[BF_COPY_STAGES];
    VkSpecializationInfo specialization;
};

static VkResult copy_prepare(const struct bf_pipeline_copy *copy, const struct bf_folded *folded,
                             const void *push, struct build *build)
{
    const struct bf_pipelines *ps = copy->pipelines;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        build->stages[i] = copy->point == VK_PIPELINE_BIND_POINT_COMPUTE
                               ? copy->compute.stage
                               : copy->graphics.pStages[i];
    }
    if (folded) {
        result = bf_folded_specialize(folded, bf_pipeline_copy_shader(copy), push,
                                      &build->specialization);
        build->stages[copy->specialised].pSpecializationInfo = &build->specialization;
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < copy->stage_count; i++) {
        const struct bf_code *code = copy->stages[i]->code;
        VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = code->word_count * sizeof(*code->words),
            .pCode = code->words,
        };
        if (folded && i == copy->specialised) {
            info.codeSize = folded->word_count * sizeof(*folded->words);
            info.pCode = folded->words;
        }
        result =
            BF_MADE(ps->vk->vkCreateShaderModule(ps->device, &info, NULL, &build->stages[i].module),
                    &build->stages[i].module);
        if (result != VK_SUCCESS)
            build->stages[i].module = VK_NULL_HANDLE;
    }
    return result;
}

static void clean_up(const struct bf_pipeline_copy *copy, struct build *build)
{
    const struct bf_pipelines *ps = copy->pipelines;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        if (build->stages[i].module)
            ps->vk->vkDestroyShaderModule(ps->device, build->stages[i].module, NULL);
    }
    bf_folded_specialization_finish(&build->specialization);
}

VkResult bf_pipeline_copy_build(const struct bf_pipeline_copy *copy, const struct bf_folded *folded,
                                const void *push, VkPipelineCache cache, VkPipeline *pipeline)
{
    const struct bf_pipelines *ps = copy->pipelines;
    struct build build = {0};
    *pipeline = VK_NULL_HANDLE;
    VkResult result = copy_prepare(copy, folded, push, &build);
    if (result == VK_SUCCESS && copy->point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        VkComputePipelineCreateInfo info = copy->compute;
        info.stage = build.stages[0];
        result = ps->vk->vkCreateComputePipelines(ps->device, cache, 1, &info, NULL, pipeline);
    } else if (result == VK_SUCCESS) {
        VkGraphicsPipelineCreateInfo info = copy->graphics;
        info.pStages = build.stages;
        result = ps->vk->vkCreateGraphicsPipelines(ps->device, cache, 1, &info, NULL, pipeline);
    }
    clean_up(copy, &build);
    if (result == VK_SUCCESS && !*pipeline)
        result =
            VK_ERROR_INITIALIZATION_FAILED; /* a driver that says success and gives no handle */
    if (result != VK_SUCCESS)
        *pipeline = VK_NULL_HANDLE;
    return result;
}
