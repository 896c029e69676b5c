/* SPDX-License-Identifier: MIT */
/* Has the pipelines of a request compared once more with other constants. */
#include "specialize/isolate/helper_twin.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/shader/module.h"

/* The folded stage of a build: its code and specialization as the request has them, and others. */
struct twin {
    struct bf_build_code code;
    const VkSpecializationInfo *specialized; /* NULL: with nothing */
    uint32_t *words;
    VkSpecializationInfo specialization;
};

static VkPipelineShaderStageCreateInfo *stage_of(struct bf_wire_build *build, uint32_t stage)
{
    return build->point == VK_PIPELINE_BIND_POINT_COMPUTE ? &build->compute.stage
                                                          : &build->stages[stage];
}

/* ----------------------------------------------------------------------------------- Numbers -- */

/* A power of two near to which lies no integer but itself. By 1 and -1 no product is another
 * one: compilers leave such factors out. */
static bool is_power(uint32_t bits)
{
    const uint32_t exponent = bits >> 23 & 255;
    return !(bits & 0x7fffff) && exponent > 0 && exponent < 127 + 12 && exponent != 127;
}

/* It, or a number a little farther from 0, by less than its 4096th. Each power gets digits of its
 * own: with the same ones products of two of them would be rounded alike in either order. */
static uint32_t other_of(uint32_t bits)
{
    const uint32_t digits = (bits >> 23 & 255) * 0x25b & 0x7ff;
    return is_power(bits) ? bits | digits | 1 : bits;
}

/* Of four bytes. */
static void number_change(void *bytes)
{
    uint32_t bits;
    memcpy(&bits, bytes, 4);
    bits = other_of(bits);
    memcpy(bytes, &bits, 4);
}

/* Changes the push constants that are folded and that the general pipeline reads as floats; none,
 * if one of these steers what a dry run looks at. *changed: says which. */
static VkResult push_change(struct bf_wire_check *check, uint32_t stage,
                            uint8_t push[BF_CHECK_PUSH_BYTES], bool *changed)
{
    const uint32_t steers = BF_USE_LOOP | BF_USE_SWITCH | BF_USE_INDEX | BF_USE_STRIDE;
    const struct bf_shader_info about = helper_stage_info(&check->builds[0], stage);
    struct bf_shader *shader;
    uint32_t count;
    VkResult result = bf_shader_create_over(&about, &shader);
    if (result != VK_SUCCESS)
        return result;
    const struct bf_fold_member *member = bf_shader_members(shader, &count);
    *changed = true;
    for (uint32_t i = 0; i < count; i++)
        *changed &= member[i].number != BF_NUMBER_FLOAT || !(member[i].uses & steers);
    for (uint32_t i = 0; i < count && *changed; i++) {
        for (uint32_t c = 0; c < member[i].components; c++) {
            const uint32_t at = member[i].offset + c * member[i].stride;
            if (member[i].number == BF_NUMBER_FLOAT && member[i].width == 4 &&
                check->fixed >> at / 4 & 1)
                number_change(push + at);
        }
    }
    bf_shader_release(shader);
    return VK_SUCCESS;
}

/* ------------------------------------------------------------------------------- Their twins -- */

static bool is_single(const struct bf_module *m, uint32_t type)
{
    const struct bf_instruction *in = bf_definition(m, type);
    return in && in->opcode == SpvOpTypeFloat && bf_word(m, in, 2) == 32;
}

/* What a constant is specialized with, by the first 'count' entries; NULL: by none, or others have
 * a part of it. */
static void *data_of(const VkSpecializationInfo *specialization, uint32_t count, uint32_t id)
{
    const VkSpecializationMapEntry *found = NULL, *entries = specialization->pMapEntries;
    uint32_t sharing = 0;
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].constantID == id && entries[i].size == 4)
            found = &entries[i];
    for (uint32_t i = 0; i < specialization->mapEntryCount && found; i++)
        sharing += entries[i].offset < found->offset + 4 &&
                   entries[i].offset + entries[i].size > found->offset;
    return sharing == 1 ? (uint8_t *)specialization->pData + found->offset : NULL;
}

static void constants_change(const struct bf_module *m, uint32_t count, struct twin *twin)
{
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_id *id = &m->ids[in->result];
        if ((in->opcode != SpvOpConstant && in->opcode != SpvOpSpecConstant) ||
            !is_single(m, in->type))
            continue;
        number_change(&twin->words[in->at + 3]);
        void *data = id->has_spec_id ? data_of(&twin->specialization, count, id->spec_id) : NULL;
        if (data)
            number_change(data);
    }
}

/* 'count': only the first entries of what the build is specialized with. */
static VkResult twin_make(struct twin *twin, struct bf_wire_build *build, uint32_t stage,
                          uint32_t count)
{
    VkPipelineShaderStageCreateInfo *info = stage_of(build, stage);
    const struct bf_shader_info about = helper_stage_info(build, stage);
    struct bf_module m;
    twin->code = build->code[stage];
    twin->specialized = info->pSpecializationInfo;
    if (twin->specialized)
        twin->specialization = *twin->specialized;
    const size_t size = twin->specialization.dataSize;
    void *data = malloc(size + 1);
    twin->specialization.pData = data;
    twin->words = malloc(twin->code.size);
    if (!twin->words || !data)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(twin->words, twin->code.words, twin->code.size);
    if (size)
        memcpy(data, twin->specialized->pData, size);
    if (count > twin->specialization.mapEntryCount)
        count = twin->specialization.mapEntryCount;
    VkResult result = VK_SUCCESS;
    if (bf_module_init(&m, &about))
        constants_change(&m, count, twin);
    else
        result = m.out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_SHADER_NV;
    bf_module_finish(&m);
    build->code[stage].words = twin->words;
    if (twin->specialized)
        info->pSpecializationInfo = &twin->specialization;
    return result;
}

static void twin_end(struct twin *twin, struct bf_wire_build *build, uint32_t stage)
{
    if (twin->code.words) {
        build->code[stage] = twin->code;
        stage_of(build, stage)->pSpecializationInfo = twin->specialized;
    }
    free(twin->words);
    free((void *)twin->specialization.pData);
}

/* ---------------------------------------------------------------------------------- Checking -- */

VkResult helper_twin_check(struct helper_device *robust, struct bf_wire_check *check,
                           const struct bf_check_plan *plan, struct bf_wire_verdict *verdict,
                           enum bf_hang *hung)
{
    const uint32_t stage = helper_folded_stage(check);
    const uint8_t *const push = check->push;
    uint8_t other[BF_CHECK_PUSH_BYTES];
    struct twin twins[BF_CHECK_BUILDS] = {{.words = NULL}};
    struct helper_pipeline pipelines[BF_CHECK_BUILDS] = {{.sets = NULL}};
    struct bf_wire_verdict now;
    bool changed = false;
    if (!helper_any_passed(verdict) || stage == UINT32_MAX)
        return VK_SUCCESS;
    memcpy(other, push, sizeof(other));
    VkResult result = push_change(check, stage, other, &changed);
    check->push = other;
    const VkSpecializationInfo *own = stage_of(&check->builds[0], stage)->pSpecializationInfo;
    const uint32_t own_count =
        own ? own->mapEntryCount : 0; /* the forms have them, too, in front */
    for (uint32_t i = 0; i < check->build_count && result == VK_SUCCESS; i++) {
        result = twin_make(&twins[i], &check->builds[i], stage, changed ? UINT32_MAX : own_count);
        if (result == VK_SUCCESS)
            result = helper_pipeline_make(robust, &check->builds[i], &pipelines[i]);
    }
    if (result == VK_SUCCESS)
        result = helper_check_run(robust, check, pipelines, plan, &now, hung);
    if (result == VK_SUCCESS)
        helper_verdict_take_back(verdict, &now, "results, with other constants,");
    for (uint32_t i = 0; i < check->build_count; i++) {
        if (!*hung)
            helper_pipeline_free(robust, &pipelines[i]);
        twin_end(&twins[i], &check->builds[i], stage);
    }
    check->push = push;
    return result;
}
