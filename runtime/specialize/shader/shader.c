/* SPDX-License-Identifier: MIT */
/* A shader: analysis of its module at creation, its hash, and what the rewriter needs of it. */
#include "specialize/shader/module.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

static VkResult specialization_copy(struct bf_shader *shader, const VkSpecializationInfo *from)
{
    VkSpecializationMapEntry *entries = NULL;
    void *data = NULL;
    if (from->mapEntryCount) {
        entries = malloc(from->mapEntryCount * sizeof(*entries));
        if (!entries)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        memcpy(entries, from->pMapEntries, from->mapEntryCount * sizeof(*entries));
    }
    if (from->dataSize) {
        data = malloc(from->dataSize);
        if (!data) {
            free(entries);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        memcpy(data, from->pData, from->dataSize);
    }
    shader->specialization =
        (VkSpecializationInfo){from->mapEntryCount, entries, from->dataSize, data};
    shader->has_specialization = true;
    return VK_SUCCESS;
}

/* Lengths are hashed too, so that no two inputs give the same bytes. */
static void hash_part(struct bf_sha256 *sha, const void *data, size_t size)
{
    uint64_t length = size;
    bf_sha256_add(sha, &length, sizeof(length));
    bf_sha256_add(sha, data, size);
}

static void shader_hash(struct bf_shader *shader)
{
    struct bf_sha256 sha;
    bf_sha256_init(&sha);
    hash_part(&sha, shader->words, shader->word_count * sizeof(*shader->words));
    uint32_t stage = shader->stage;
    hash_part(&sha, &stage, sizeof(stage));
    hash_part(&sha, shader->entry, strlen(shader->entry));
    const VkSpecializationInfo *info = &shader->specialization;
    /* Entry by entry: the struct may have padding. */
    for (uint32_t i = 0; i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        uint64_t numbers[3] = {entry->constantID, entry->offset, entry->size};
        hash_part(&sha, numbers, sizeof(numbers));
    }
    hash_part(&sha, info->pData, info->dataSize);
    bf_sha256_finish(&sha, shader->hash);
}

static const VkShaderStageFlags early_stages =
    VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT |
    VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT | VK_SHADER_STAGE_GEOMETRY_BIT;

/* Declarations of the module that forbid folding, whatever it loads. */
static enum bf_shader_reason reason_find(const struct bf_shader *shader, const struct bf_module *m)
{
    if (m->cooperative)
        return BF_SHADER_COOPERATIVE;
    if (m->unknown_capability)
        return BF_SHADER_CAPABILITY;
    if (m->float_controls)
        return BF_SHADER_FLOAT_CONTROLS;
    if (m->decoration_groups)
        return BF_SHADER_DECORATION_GROUPS;
    bool position = false, depth = false, mask = false;
    const struct bf_instruction *entry = &m->instructions[m->entry];
    for (uint32_t w = 3; w < entry->count; w++) {
        if (!bf_word_is_id(m, entry, w))
            continue;
        const struct bf_instruction *in = bf_definition_as(m, bf_word(m, entry, w), SpvOpVariable);
        if (!in || bf_word(m, in, 3) != SpvStorageClassOutput)
            continue;
        const struct bf_id *id = &m->ids[in->result];
        uint32_t builtin = id->has_builtin ? id->builtin : UINT32_MAX;
        depth |= builtin == SpvBuiltInFragDepth || builtin == SpvBuiltInFragStencilRefEXT;
        mask |= builtin == SpvBuiltInSampleMask;
        position |= builtin == SpvBuiltInPosition;
        /* A block, or an array of blocks. */
        const struct bf_instruction *type = bf_definition_as(m, in->type, SpvOpTypePointer);
        type = type ? bf_definition(m, bf_word(m, type, 3)) : NULL;
        if (type && type->opcode == SpvOpTypeArray)
            type = bf_definition(m, bf_word(m, type, 2));
        for (uint32_t i = 0; type && type->opcode == SpvOpTypeStruct && i + 2 < type->count; i++) {
            const uint32_t *value = bf_member_decoration(m, type->result, i, SpvDecorationBuiltIn);
            position |= value && *value == SpvBuiltInPosition;
        }
    }
    if ((shader->stage & early_stages) && position)
        return BF_SHADER_POSITION;
    return depth ? BF_SHADER_DEPTH : mask ? BF_SHADER_SAMPLE_MASK : BF_SHADER_FOLDABLE;
}

/* The weight of a member: control flow before data, integers before floats; but a float that
 * decides control flow comes before an integer that is only computed with. A decision that also
 * depends on varying values removes no code. */
static uint8_t fold_member_weigh(const struct bf_fold_member *member)
{
    uint32_t uses = member->uses;
    bool integer = member->number != BF_NUMBER_FLOAT;
    bool steers = uses & (BF_USE_LOOP | BF_USE_SWITCH | BF_USE_BRANCH | BF_USE_SELECT);
    if (steers && (uses & BF_USE_ALONE)) {
        if (!integer)
            return uses & (BF_USE_LOOP | BF_USE_SWITCH | BF_USE_BRANCH) ? 140 : 130;
        return uses & BF_USE_LOOP     ? 220
               : uses & BF_USE_SWITCH ? 210
               : uses & BF_USE_BRANCH ? 200
                                      : 180;
    }
    if (integer && (uses & BF_USE_LOOP))
        return 170;
    if (integer && (uses & BF_USE_STRIDE))
        return 160;
    if (integer && (uses & BF_USE_INDEX))
        return 150;
    if (steers)
        return integer ? 120 : 60;
    return integer ? 100 : 50;
}

static int number_compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

#define SPIRV_HEADER_WORDS 5

static uint8_t float_width(uint32_t bits)
{
    return bits == 16 ? BF_FLOAT_16 : bits == 32 ? BF_FLOAT_32 : bits == 64 ? BF_FLOAT_64 : 0;
}

/* What floats the module computes with, and where more can be asked of that. */
static void floats_find(struct bf_shader *shader, const struct bf_module *m)
{
    shader->entry_function = m->entry_function;
    shader->has_float_controls = m->words[1] >= 0x00010400;
    shader->capability_end = SPIRV_HEADER_WORDS;
    for (uint32_t i = 0; i < m->instruction_count && m->instructions[i].opcode != SpvOpFunction;
         i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t end = in->at + (m->words[in->at] >> 16);
        char name[256];
        switch (in->opcode) {
        case SpvOpCapability:
            shader->capability_end = end;
            shader->has_keeping |= bf_word(m, in, 1) == SpvCapabilitySignedZeroInfNanPreserve;
            break;
        case SpvOpExtension:
            shader->has_float_controls |=
                strcmp(bf_string(m, in, 1, name), "SPV_KHR_float_controls") == 0;
            break;
        case SpvOpExecutionMode:
            if (bf_word(m, in, 1) == m->entry_function &&
                bf_word(m, in, 2) == SpvExecutionModeSignedZeroInfNanPreserve)
                shader->kept_widths |= float_width(bf_word(m, in, 3));
            shader->mode_end = end;
            break;
        case SpvOpEntryPoint:
        case SpvOpExecutionModeId:
            shader->mode_end = end;
            break;
        case SpvOpTypeFloat:
            /* Of 16 bits it may be there for storage alone. */
            if (bf_word(m, in, 2) != 16 || m->float16)
                shader->float_widths |= float_width(bf_word(m, in, 2));
            break;
        default:
            break;
        }
    }
    /* A module that is in no order isn't valid, and is rewritten to one that isn't. */
    if (shader->mode_end < shader->capability_end)
        shader->mode_end = shader->capability_end;
}

/* What the rewriter needs after the module is gone. */
static bool rewriter_prepare(struct bf_shader *shader, const struct bf_module *m)
{
    static const uint16_t arithmetic[] = {
        SpvOpFNegate,
        SpvOpFAdd,
        SpvOpFSub,
        SpvOpFMul,
        SpvOpFDiv,
        SpvOpFRem,
        SpvOpFMod,
        SpvOpVectorTimesScalar,
        SpvOpMatrixTimesScalar,
        SpvOpVectorTimesMatrix,
        SpvOpMatrixTimesVector,
        SpvOpMatrixTimesMatrix,
        SpvOpOuterProduct,
        SpvOpDot,
    };
    bool is_arithmetic[UINT8_MAX + 1] = {false};
    for (size_t i = 0; i < sizeof(arithmetic) / sizeof(arithmetic[0]); i++)
        is_arithmetic[arithmetic[i]] = true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += m->instructions[i].opcode <= UINT8_MAX && is_arithmetic[m->instructions[i].opcode];
    shader->arithmetic = malloc((count + 1) * sizeof(*shader->arithmetic));
    count = shader->specialization.mapEntryCount;
    for (uint32_t id = 0; id < m->bound; id++)
        count += m->ids[id].has_spec_id;
    shader->spec_ids = malloc((count + 1) * sizeof(*shader->spec_ids));
    if (!shader->arithmetic || !shader->spec_ids)
        return false;
    for (uint32_t i = 0; i < shader->specialization.mapEntryCount; i++)
        shader->spec_ids[shader->spec_id_count++] =
            shader->specialization.pMapEntries[i].constantID;
    for (uint32_t id = 0; id < m->bound; id++)
        if (m->ids[id].has_spec_id)
            shader->spec_ids[shader->spec_id_count++] = m->ids[id].spec_id;
    qsort(shader->spec_ids, shader->spec_id_count, sizeof(*shader->spec_ids), number_compare);
    floats_find(shader, m);
    bool functions = false;
    uint32_t annotations_end = bf_annotations_end(m);
    shader->annotation_end = annotations_end < m->instruction_count
                                 ? m->instructions[annotations_end].at
                                 : (uint32_t)m->word_count;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpFunction && !functions) {
            functions = true;
            shader->function_begin = in->at;
        }
        if (in->opcode <= UINT8_MAX && is_arithmetic[in->opcode] &&
            !m->ids[in->result].no_contraction)
            shader->arithmetic[shader->arithmetic_count++] = in->result;
    }
    return true;
}

/* False: out of memory. */
static bool analyse(struct bf_shader *shader, const struct bf_shader_info *info,
                    struct bf_module *m)
{
    if (!bf_module_init(m, info)) {
        shader->facts.reason = BF_SHADER_UNPARSABLE;
        return !m->out_of_memory;
    }
    if (!(shader->stage &
          (early_stages | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT))) {
        shader->facts.reason = BF_SHADER_STAGE;
        return true;
    }
    if (m->entry == UINT32_MAX || !bf_definition_as(m, m->entry_function, SpvOpFunction)) {
        shader->facts.reason = BF_SHADER_NO_ENTRY;
        return true;
    }
    if (!bf_shader_find_facts(shader, m))
        return false;
    shader->facts.reason = shader->facts.unmeasured ? BF_SHADER_COMPLEX : reason_find(shader, m);
    if (shader->facts.reason != BF_SHADER_FOLDABLE)
        return true;
    if (!bf_module_follow(m))
        return false;
    if (m->complex) {
        shader->facts.reason = BF_SHADER_COMPLEX;
        return true;
    }
    if (!bf_shader_find_loads(shader, m))
        return false;
    if (shader->facts.reason != BF_SHADER_FOLDABLE)
        return true;
    for (uint32_t i = 0; i < shader->member_count; i++)
        shader->members[i].weight = fold_member_weigh(&shader->members[i]);
    return rewriter_prepare(shader, m);
}

static VkResult shader_create(const struct bf_shader_info *info, bool copies,
                              struct bf_shader **out)
{
    struct bf_shader *shader = calloc(1, sizeof(*shader));
    if (!shader)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    atomic_init(&shader->references, 1);
    shader->stage = info->stage;
    shader->word_count = info->word_count;
    shader->words = info->words;
    if (copies)
        shader->words = shader->own_words =
            malloc(info->word_count * sizeof(*shader->own_words) + 1);
    shader->entry = strdup(info->entry);
    if (!shader->words || !shader->entry ||
        (info->specialization && specialization_copy(shader, info->specialization))) {
        bf_shader_release(shader);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (shader->own_words && info->word_count)
        memcpy(shader->own_words, info->words, info->word_count * sizeof(*shader->own_words));
    shader_hash(shader);

    const struct bf_shader_info own = {
        .words = shader->words,
        .word_count = shader->word_count,
        .entry = shader->entry,
        .stage = shader->stage,
        .specialization = shader->has_specialization ? &shader->specialization : NULL,
    };
    struct bf_module m;
    bool done = analyse(shader, &own, &m);
    bf_module_finish(&m);
    if (!done) {
        bf_shader_release(shader);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = shader;
    return VK_SUCCESS;
}

VkResult bf_shader_create(const struct bf_shader_info *info, struct bf_shader **out)
{
    return shader_create(info, true, out);
}

VkResult bf_shader_create_over(const struct bf_shader_info *info, struct bf_shader **out)
{
    return shader_create(info, false, out);
}

void bf_shader_retain(struct bf_shader *shader)
{
    atomic_fetch_add_explicit(&shader->references, 1, memory_order_relaxed);
}

void bf_shader_release(struct bf_shader *shader)
{
    if (!shader || atomic_fetch_sub_explicit(&shader->references, 1, memory_order_acq_rel) != 1)
        return;
    free(shader->own_words);
    free(shader->entry);
    free((void *)shader->specialization.pMapEntries);
    free((void *)shader->specialization.pData);
    free(shader->bindings);
    free(shader->inputs);
    free(shader->outputs);
    free(shader->builtins);
    free(shader->members);
    free(shader->loads);
    free(shader->arithmetic);
    free(shader->spec_ids);
    free(shader);
}

size_t bf_shader_bytes(const struct bf_shader *shader)
{
    const struct bf_shader_facts *facts = &shader->facts;
    return sizeof(*shader) +
           (shader->own_words ? shader->word_count * sizeof(*shader->own_words) : 0) +
           facts->binding_count * sizeof(*shader->bindings) +
           (size_t)(facts->input_count + facts->output_count) * sizeof(*shader->inputs) +
           facts->builtin_count * sizeof(*shader->builtins) +
           shader->member_count * sizeof(*shader->members) +
           shader->load_count * sizeof(*shader->loads) +
           shader->arithmetic_count * sizeof(*shader->arithmetic) +
           shader->spec_id_count * sizeof(*shader->spec_ids);
}

void bf_shader_hash(const struct bf_shader *shader, uint8_t out[32])
{
    memcpy(out, shader->hash, sizeof(shader->hash));
}

const struct bf_shader_facts *bf_shader_facts_of(const struct bf_shader *shader)
{
    return &shader->facts;
}

const struct bf_fold_member *bf_shader_members(const struct bf_shader *shader, uint32_t *count)
{
    *count = shader->member_count;
    return shader->members;
}

const uint32_t *bf_shader_words(const struct bf_shader *shader, size_t *count)
{
    *count = shader->word_count;
    return shader->words;
}

VkShaderStageFlagBits bf_shader_stage(const struct bf_shader *shader)
{
    return shader->stage;
}

uint8_t bf_shader_float_widths(const struct bf_shader *shader)
{
    return shader->float_widths;
}

const char *bf_shader_reason_name(enum bf_shader_reason reason)
{
    static const char *const names[BF_SHADER_REASON_COUNT] = {
        [BF_SHADER_FOLDABLE] = "foldable",
        [BF_SHADER_UNPARSABLE] = "unparsable",
        [BF_SHADER_NO_ENTRY] = "no-entry",
        [BF_SHADER_STAGE] = "stage",
        [BF_SHADER_CAPABILITY] = "capability",
        [BF_SHADER_COOPERATIVE] = "cooperative",
        [BF_SHADER_FLOAT_CONTROLS] = "float-controls",
        [BF_SHADER_DECORATION_GROUPS] = "decoration-groups",
        [BF_SHADER_POSITION] = "position",
        [BF_SHADER_DEPTH] = "depth",
        [BF_SHADER_SAMPLE_MASK] = "sample-mask",
        [BF_SHADER_NO_PUSH_CONSTANTS] = "no-push-constants",
        [BF_SHADER_BLOCKS] = "several-blocks",
        [BF_SHADER_ESCAPES] = "escapes",
        [BF_SHADER_VOLATILE] = "volatile",
        [BF_SHADER_NO_LOAD] = "no-load",
        [BF_SHADER_COMPLEX] = "complex",
    };
    return (uint32_t)reason < BF_SHADER_REASON_COUNT ? names[reason] : "unknown";
}
