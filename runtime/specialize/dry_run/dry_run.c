/* SPDX-License-Identifier: MIT */
/* The dry-run form of a shader: what is refused, the order of the parts, and whether the shader may
 * run as it is. */
#include "specialize/dry_run/dry_run.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/dry_run/parts.h"

/* Instructions of one invocation with all calls followed, at most. */
#define LONGEST (1u << 22)
#define DEEPEST 256 /* calls in calls */

/* --------------------------------------------------------------------------- What is refused -- */

/* Operations whose result may be a pointer: all others make it a value. */
static bool pointer_follows(uint16_t opcode)
{
    switch (opcode) {
    case SpvOpVariable:
    case SpvOpFunctionParameter:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpCopyObject:
    case SpvOpImageTexelPointer:
        return true;
    default:
        return false;
    }
}

/* Of vendors, and of OpenCL: operations, and functions of the set that swizzles invocations. */
static bool is_subgroup_of_another(const struct bf_module *m, const struct bf_instruction *in)
{
    const uint16_t opcode = in->opcode;
    const struct bf_instruction *set =
        opcode == SpvOpExtInst ? bf_definition_as(m, bf_word(m, in, 3), SpvOpExtInstImport) : NULL;
    char name[256];
    return (opcode >= SpvOpGroupAll && opcode <= SpvOpGroupSMax) ||
           (opcode >= SpvOpGroupIAddNonUniformAMD && opcode <= SpvOpGroupSMaxNonUniformAMD) ||
           (opcode >= SpvOpSubgroupShuffleINTEL &&
            opcode <= SpvOpSubgroupImageMediaBlockWriteINTEL) ||
           (set && strcmp(bf_string(m, set, 2, name), "SPV_AMD_shader_ballot") == 0);
}

static void instruction_survey(struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[i];
    bool varying = parts->origins.block[parts->flow.of_instruction[i] - 1] & BF_ORIGIN_VARYING;
    for (uint32_t w = 1; w < in->count; w++)
        if (bf_word_is_id(m, in, w) &&
            bf_pointer_storage(m, bf_word(m, in, w)) == SpvStorageClassPhysicalStorageBuffer)
            bf_parts_refuse(parts, BF_DRY_RUN_ADDRESSES);
    uint32_t storage = bf_pointer_storage(m, in->result);
    if (storage == SpvStorageClassPhysicalStorageBuffer)
        bf_parts_refuse(parts, BF_DRY_RUN_ADDRESSES);
    if (storage != SpvStorageClassMax && !pointer_follows(in->opcode))
        bf_parts_refuse(parts, BF_DRY_RUN_POINTERS);
    if (in->opcode == SpvOpControlBarrier && varying)
        bf_parts_refuse(parts, BF_DRY_RUN_BARRIER);
    if ((bf_opcode_is_subgroup(in->opcode) && varying) || is_subgroup_of_another(m, in))
        bf_parts_refuse(parts, BF_DRY_RUN_SUBGROUP);
    if (in->opcode == SpvOpPtrAccessChain || in->opcode == SpvOpInBoundsPtrAccessChain)
        bf_parts_refuse(parts, BF_DRY_RUN_POINTERS);
}

/* Whether memory that outlives the invocation is written, or what it is for a helper can be
 * asked. */
static bool shows_demotion(const struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[i];
    uint32_t storage;
    switch (in->opcode) {
    case SpvOpStore:
    case SpvOpCopyMemory:
        storage = bf_pointer_storage(m, bf_word(m, in, 1));
        return storage == SpvStorageClassStorageBuffer || storage == SpvStorageClassUniform;
    case SpvOpLoad: {
        const struct bf_id *id = &m->ids[bf_word(m, in, 3)];
        return id->has_builtin && id->builtin == SpvBuiltInHelperInvocation;
    }
    case SpvOpImageWrite:
    case SpvOpIsHelperInvocationEXT:
        return true;
    default:
        return bf_opcode_is_atomic(in->opcode) || bf_opcode_is_subgroup(in->opcode);
    }
}

/* How many instructions function f comes to with all its calls; 0: it calls itself, or too deep.
 * 'sizes' holds what is known, 'open' those that are being counted. */
static uint64_t function_size(const struct bf_module *m, uint32_t f, uint64_t *sizes, bool *open,
                              uint32_t depth)
{
    uint64_t size = 0;
    if (open[f] || depth > DEEPEST)
        return 0;
    if (sizes[f])
        return sizes[f];
    open[f] = true;
    for (uint32_t i = m->functions[f].first; i <= m->functions[f].end; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        size++;
        if (in->opcode != SpvOpFunctionCall)
            continue;
        uint32_t to = bf_function_find(m, bf_word(m, in, 3));
        uint64_t callee = to == UINT32_MAX ? 0 : function_size(m, to, sizes, open, depth + 1);
        if (!callee)
            return 0;
        size = size + callee < LONGEST ? size + callee : LONGEST + 1u;
    }
    open[f] = false;
    return sizes[f] = size;
}

static void declarations_survey(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_id *id = &m->ids[in->result];
        if (in->opcode == SpvOpVariable && id->used && id->set == parts->options->set &&
            id->binding == parts->options->binding) {
            uint32_t storage = bf_word(m, in, 3);
            if (storage == SpvStorageClassUniform || storage == SpvStorageClassStorageBuffer ||
                storage == SpvStorageClassUniformConstant)
                bf_parts_refuse(parts, BF_DRY_RUN_BINDING);
        }
    }
}

static void survey(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    if (m->unknown_capability || m->cooperative || m->decoration_groups)
        bf_parts_refuse(parts, BF_DRY_RUN_CAPABILITY);
    declarations_survey(parts);
    bool demotes = false, shows = false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        if (!parts->flow.of_instruction[i])
            continue;
        instruction_survey(parts, i);
        demotes |= m->instructions[i].opcode == SpvOpDemoteToHelperInvocation;
        shows |= shows_demotion(parts, i);
    }
    if (demotes && shows)
        bf_parts_refuse(parts, BF_DRY_RUN_DEMOTE);
    uint64_t *sizes = bf_arena_zeroed(parts->arena, (m->function_count + 1) * sizeof(*sizes));
    bool *open = bf_arena_zeroed(parts->arena, m->function_count + 1);
    if (!sizes || !open)
        return;
    uint64_t size = function_size(m, bf_function_find(m, m->entry_function), sizes, open, 0);
    if (!size || size > LONGEST)
        bf_parts_refuse(parts, BF_DRY_RUN_SIZE);
}

/* --------------------------------------------------------------------------------- The whole -- */

static enum bf_dry_run_reason bare_of(uint8_t steers)
{
    return steers & BF_ORIGIN_SHARED       ? BF_DRY_RUN_SHARED
           : steers & BF_ORIGIN_SUBGROUP   ? BF_DRY_RUN_SUBGROUP
           : steers & BF_ORIGIN_DERIVATIVE ? BF_DRY_RUN_DERIVATIVE
           : steers & BF_ORIGIN_FLOAT      ? BF_DRY_RUN_FLOAT
           : steers & BF_ORIGIN_UNASSIGNED ? BF_DRY_RUN_UNASSIGNED
                                           : BF_DRY_RUN_FINE;
}

static bool points_copy(const struct bf_parts *parts, struct bf_dry_run *run)
{
    size_t size = parts->point_count * sizeof(*run->points);
    run->points = malloc(size + 1);
    if (!run->points)
        return false;
    run->point_count = parts->point_count;
    if (size)
        memcpy(run->points, parts->points, size);
    return true;
}

/* Of a valid module. */
static VkResult rewrite_module(struct bf_parts *parts, const struct bf_shader_info *info,
                               struct bf_dry_run *run)
{
    const struct bf_module *m = parts->m;
    if (m->entry == UINT32_MAX || bf_function_find(m, m->entry_function) == UINT32_MAX) {
        run->reason = BF_DRY_RUN_STAGE;
        return VK_SUCCESS;
    }
    if (!bf_flow_init(&parts->flow, m, parts->arena, true)) {
        run->reason = BF_DRY_RUN_FLOW;
        return parts->flow.out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    }
    if (!bf_origins_find(&parts->origins, &parts->flow, parts->arena, info->stage,
                         parts->options->stages, NULL))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    run->handed = bf_origins_handed(&parts->origins);
    survey(parts);
    if (parts->reason == BF_DRY_RUN_FINE) {
        bf_rewrite_init(&parts->rewrite, m, parts->arena);
        if (parts->arena->failed)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        bf_exits_begin(parts);
        if (parts->options->points)
            bf_coverage_rewrite(parts); /* first: a block begins with it */
        bf_fuel_rewrite(parts);
        bf_bounds_rewrite(parts);
        bf_operands_rewrite(parts);
        bf_exits_rewrite(parts);
    }
    if (parts->arena->failed)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    run->reason = parts->reason;
    run->bare = bare_of(parts->steers);
    run->loop_count = parts->loop_count;
    run->index_count = parts->index_count;
    if (run->reason != BF_DRY_RUN_FINE)
        return VK_SUCCESS;
    if (!bf_rewrite_finish(&parts->rewrite, &run->words, &run->word_count) ||
        !points_copy(parts, run))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = bf_repair(&run->words, &run->word_count, info);
    if (result == VK_SUCCESS)
        result = bf_shader_validate(run->words, run->word_count, parts->options->vulkan_api_version,
                                    NULL, 0);
    if (result == VK_ERROR_INVALID_SHADER_NV) {
        run->reason = BF_DRY_RUN_INVALID;
        return VK_SUCCESS;
    }
    return result;
}

VkResult bf_dry_run_create(const struct bf_shader_info *info,
                           const struct bf_dry_run_options *given, struct bf_dry_run *run)
{
    static const VkShaderStageFlags stages =
        VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT |
        VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT | VK_SHADER_STAGE_GEOMETRY_BIT |
        VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;
    struct bf_dry_run_options options = *given;
    *run = (struct bf_dry_run){.reason = BF_DRY_RUN_STAGE};
    if (!options.loop_limit)
        options.loop_limit = BF_DRY_RUN_LOOP_LIMIT;
    if (!options.total_limit)
        options.total_limit = BF_DRY_RUN_TOTAL_LIMIT;
    if (!options.vulkan_api_version)
        options.vulkan_api_version = VK_API_VERSION_1_3;
    if (!(info->stage & stages))
        return VK_SUCCESS;
    run->reason = BF_DRY_RUN_INVALID;
    VkResult result =
        bf_shader_validate(info->words, info->word_count, options.vulkan_api_version, NULL, 0);
    if (result != VK_SUCCESS)
        return result == VK_ERROR_INVALID_SHADER_NV ? VK_SUCCESS : result;
    struct bf_module m;
    struct bf_arena arena = {0};
    struct bf_parts parts = {.m = &m, .arena = &arena, .options = &options};
    if (bf_module_init(&m, info))
        result = rewrite_module(&parts, info, run);
    else if (m.out_of_memory)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    else
        run->reason = BF_DRY_RUN_SIZE; /* ids without end */
    bf_arena_finish(&arena);
    bf_module_finish(&m);
    if (result != VK_SUCCESS || run->reason != BF_DRY_RUN_FINE)
        bf_dry_run_finish(run);
    return result;
}

void bf_dry_run_finish(struct bf_dry_run *run)
{
    free(run->words);
    free(run->points);
    run->words = NULL;
    run->points = NULL;
    run->word_count = run->point_count = 0;
}

const char *bf_dry_run_reason_name(enum bf_dry_run_reason reason)
{
    static const char *const names[BF_DRY_RUN_REASON_COUNT] = {
#define BF_DRY_RUN_NAME(constant, code) [constant] = code,
        BF_DRY_RUN_REASONS(BF_DRY_RUN_NAME)
#undef BF_DRY_RUN_NAME
    };
    return (uint32_t)reason < BF_DRY_RUN_REASON_COUNT ? names[reason] : "unknown";
}
