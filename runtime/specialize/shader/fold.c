/* SPDX-License-Identifier: MIT */
/* The rewriter: turns loads of push constants into specialization constants. It inserts at two
 * places, behind the annotations and before the functions, and puts OpCopyObject where loads
 * were; nothing else moves. Where signs of zeros, infinities and NaN are to be kept, it inserts
 * behind the capabilities and the execution modes, too. */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

/* A scalar of the push constants that becomes a specialization constant. */
struct scalar {
    uint16_t offset;
    uint8_t width;
    uint32_t type, id; /* ids */
};

struct fold {
    const struct bf_shader *shader;
    uint64_t words; /* bit i: word i of the 64 may be folded */
    bool all;       /* inexact loads, too */
    enum { CONTRACTS, NO_FOLDED_CONTRACTION, NO_CONTRACTION } how;
    uint32_t *decorated; /* NoContraction */
    uint32_t decorated_count;
    bool cancels;
    uint8_t keeps; /* widths, beside those that the module keeps */
    uint32_t next_id;
    struct scalar *scalars;
    uint32_t scalar_count;
    uint32_t *constants; /* [members] id; 0: the member isn't folded */
};

static bool load_folds(const struct fold *fold, const struct bf_load *load)
{
    return (load->exact || fold->all) &&
           !(bf_member_words(&fold->shader->members[load->member]) & ~fold->words);
}

/* The constant for the scalar at 'offset', made if there is none. */
static uint32_t scalar_id(struct fold *fold, uint32_t offset, const struct bf_fold_member *member)
{
    for (uint32_t i = 0; i < fold->scalar_count; i++)
        if (fold->scalars[i].offset == offset && fold->scalars[i].type == member->component_type)
            return fold->scalars[i].id;
    fold->scalars[fold->scalar_count++] =
        (struct scalar){(uint16_t)offset, member->width, member->component_type, fold->next_id};
    return fold->next_id++;
}

static uint32_t *spirv_put(uint32_t *to, uint32_t opcode, uint32_t count)
{
    *to = count << 16 | opcode;
    return to + 1;
}

static const char float_controls[] = "SPV_KHR_float_controls";
#define FLOAT_CONTROLS_WORDS ((uint32_t)(sizeof(float_controls) + 3) / 4)
/* A capability, an extension, three execution modes. */
#define KEEPING_WORDS (2 + 1 + FLOAT_CONTROLS_WORDS + 3 * 4)

/* To be inserted behind the capabilities. */
static uint32_t *capability_put(uint32_t *to, const struct fold *fold)
{
    if (!fold->keeps)
        return to;
    if (!fold->shader->has_keeping) {
        to = spirv_put(to, SpvOpCapability, 2);
        *to++ = SpvCapabilitySignedZeroInfNanPreserve;
    }
    if (!fold->shader->has_float_controls) {
        to = spirv_put(to, SpvOpExtension, 1 + FLOAT_CONTROLS_WORDS);
        memset(to, 0, FLOAT_CONTROLS_WORDS * sizeof(*to));
        memcpy(to, float_controls, sizeof(float_controls));
        to += FLOAT_CONTROLS_WORDS;
    }
    return to;
}

/* To be inserted behind the execution modes. */
static uint32_t *modes_put(uint32_t *to, const struct fold *fold)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (!(fold->keeps & 1u << i))
            continue;
        to = spirv_put(to, SpvOpExecutionMode, 4);
        *to++ = fold->shader->entry_function;
        *to++ = SpvExecutionModeSignedZeroInfNanPreserve;
        *to++ = 16u << i;
    }
    return to;
}

/* Decorations, to be inserted behind the annotations. */
static uint32_t *annotations_put(uint32_t *to, const struct fold *fold,
                                 struct bf_fold_entry *entries)
{
    const struct bf_shader *shader = fold->shader;
    uint32_t spec_id = 0, used = 0;
    for (uint32_t i = 0; i < fold->scalar_count; i++) {
        /* Takes the lowest SpecId that is free; those in use are sorted. */
        while (used < shader->spec_id_count && shader->spec_ids[used] <= spec_id) {
            spec_id += shader->spec_ids[used] == spec_id;
            used++;
        }
        to = spirv_put(to, SpvOpDecorate, 4);
        *to++ = fold->scalars[i].id;
        *to++ = SpvDecorationSpecId;
        *to++ = spec_id;
        entries[i] =
            (struct bf_fold_entry){spec_id++, fold->scalars[i].offset, fold->scalars[i].width};
    }
    for (uint32_t i = 0; i < fold->decorated_count; i++) {
        to = spirv_put(to, SpvOpDecorate, 3);
        *to++ = fold->decorated[i];
        *to++ = SpvDecorationNoContraction;
    }
    return to;
}

/* Constants, to be inserted before the functions. */
static uint32_t *constants_put(uint32_t *to, struct fold *fold)
{
    for (uint32_t i = 0; i < fold->scalar_count; i++) {
        uint32_t literal = fold->scalars[i].width == 8 ? 2 : 1;
        to = spirv_put(to, SpvOpSpecConstant, 3 + literal);
        *to++ = fold->scalars[i].type;
        *to++ = fold->scalars[i].id;
        for (uint32_t w = 0; w < literal; w++)
            *to++ = 0;
    }
    for (uint32_t i = 0; i < fold->shader->member_count; i++) {
        const struct bf_fold_member *member = &fold->shader->members[i];
        if (!fold->constants[i] || member->components == 1)
            continue;
        to = spirv_put(to, SpvOpSpecConstantComposite, 3u + member->components);
        *to++ = member->type;
        *to++ = fold->constants[i];
        for (uint32_t c = 0; c < member->components; c++)
            *to++ = scalar_id(fold, member->offset + c * member->stride, member);
    }
    return to;
}

static uint32_t *words_put(uint32_t *to, const struct bf_shader *shader, uint32_t from,
                           uint32_t end)
{
    memcpy(to, shader->words + from, (end - from) * sizeof(*to));
    return to + (end - from);
}

static VkResult rewrite(struct fold *fold, struct bf_folded *folded)
{
    const struct bf_shader *shader = fold->shader;
    size_t room = shader->word_count + 9 * (size_t)fold->scalar_count +
                  7 * (size_t)shader->member_count + 3 * (size_t)fold->decorated_count +
                  KEEPING_WORDS;
    folded->words = malloc(room * sizeof(*folded->words));
    folded->entries = malloc(fold->scalar_count * sizeof(*folded->entries));
    if (!folded->words || !folded->entries)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    folded->entry_count = fold->scalar_count;

    uint32_t *to = words_put(folded->words, shader, 0, shader->capability_end);
    to = capability_put(to, fold);
    to = words_put(to, shader, shader->capability_end, shader->mode_end);
    to = modes_put(to, fold);
    to = words_put(to, shader, shader->mode_end, shader->annotation_end);
    to = annotations_put(to, fold, folded->entries);
    to = words_put(to, shader, shader->annotation_end, shader->function_begin);
    to = constants_put(to, fold);
    uint32_t at = shader->function_begin;
    for (uint32_t i = 0; i < shader->load_count; i++) {
        const struct bf_load *load = &shader->loads[i];
        if (!load_folds(fold, load))
            continue;
        to = words_put(to, shader, at, load->at);
        to = spirv_put(to, SpvOpCopyObject, 4);
        *to++ = shader->members[load->member].type;
        *to++ = load->id;
        *to++ = fold->constants[load->member];
        at = load->at + (shader->words[load->at] >> 16);
        folded->load_count++;
    }
    to = words_put(to, shader, at, (uint32_t)shader->word_count);
    folded->words[3] = fold->next_id;
    folded->word_count = (size_t)(to - folded->words);
    return VK_SUCCESS;
}

/* Which arithmetic is not to be contracted, or re-ordered. */
static VkResult fold_decorate(struct fold *fold)
{
    const struct bf_shader *shader = fold->shader;
    if (fold->how == CONTRACTS)
        return VK_SUCCESS;
    fold->decorated = malloc((shader->arithmetic_count + 1) * sizeof(*fold->decorated));
    bool *folded = calloc(shader->words[3], sizeof(*folded));
    VkResult result = fold->decorated && folded ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; result == VK_SUCCESS && i < shader->load_count; i++)
        folded[shader->loads[i].id] = load_folds(fold, &shader->loads[i]);
    if (result == VK_SUCCESS && fold->how == NO_FOLDED_CONTRACTION) {
        result = bf_combined_find(shader, folded, fold->decorated, &fold->decorated_count,
                                  &fold->cancels);
    } else if (result == VK_SUCCESS) {
        fold->decorated_count = shader->arithmetic_count;
        memcpy(fold->decorated, shader->arithmetic,
               shader->arithmetic_count * sizeof(*fold->decorated));
    }
    free(folded);
    return result;
}

/* 'how': what is folded, and how. */
static VkResult words_fold(const struct bf_shader *shader, const struct fold *how,
                           struct bf_folded *folded)
{
    *folded = (struct bf_folded){0};
    struct fold fold = *how;
    fold.shader = shader;
    if (!shader->load_count || !fold.words)
        return VK_INCOMPLETE;
    fold.next_id = shader->words[3];
    fold.scalars = malloc(4 * (size_t)shader->member_count * sizeof(*fold.scalars));
    fold.constants = calloc(shader->member_count, sizeof(*fold.constants));
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (fold.scalars && fold.constants) {
        result = VK_INCOMPLETE;
        for (uint32_t i = 0; i < shader->load_count; i++) {
            const struct bf_load *load = &shader->loads[i];
            const struct bf_fold_member *member = &shader->members[load->member];
            if (fold.constants[load->member] || !load_folds(&fold, load))
                continue;
            uint32_t scalar = 0;
            for (uint32_t c = 0; c < member->components; c++)
                scalar = scalar_id(&fold, member->offset + c * member->stride, member);
            fold.constants[load->member] = member->components == 1 ? scalar : fold.next_id++;
            result = VK_SUCCESS;
        }
        if (result == VK_SUCCESS)
            result = fold_decorate(&fold);
        if (result == VK_SUCCESS)
            result = rewrite(&fold, folded);
        folded->decorated_count = fold.decorated_count;
        folded->cancels = fold.cancels;
    }
    free(fold.decorated);
    free(fold.scalars);
    free(fold.constants);
    if (result != VK_SUCCESS)
        bf_folded_finish(folded);
    return result;
}

static uint64_t watched_words(const struct bf_watch *watch, uint8_t mask)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < watch->count && i < BF_WATCH_WORDS; i++)
        if (mask >> i & 1 && watch->offset[i] < BF_PUSH_CONSTANT_BYTES)
            words |= UINT64_C(1) << (watch->offset[i] / 4);
    return words;
}

VkResult bf_shader_fold(const struct bf_shader *shader, const struct bf_watch *watch, uint8_t mask,
                        bool no_contraction, struct bf_folded *folded)
{
    const struct fold how = {.words = watched_words(watch, mask),
                             .how = no_contraction ? NO_FOLDED_CONTRACTION : CONTRACTS};
    return words_fold(shader, &how, folded);
}

VkResult bf_shader_fold_keeping(const struct bf_shader *shader, const struct bf_watch *watch,
                                uint8_t mask, uint8_t widths, struct bf_folded *folded)
{
    const uint8_t keeps = widths & shader->float_widths & ~shader->kept_widths;
    const struct fold how = {
        .words = keeps ? watched_words(watch, mask) : 0, .how = NO_CONTRACTION, .keeps = keeps};
    return words_fold(shader, &how, folded);
}

VkResult bf_shader_fold_all(const struct bf_shader *shader, uint64_t words,
                            struct bf_folded *folded)
{
    const struct fold how = {.words = words, .all = true, .how = NO_CONTRACTION};
    return words_fold(shader, &how, folded);
}

void bf_folded_finish(struct bf_folded *folded)
{
    free(folded->words);
    free(folded->entries);
    *folded = (struct bf_folded){0};
}

VkResult bf_folded_specialize(const struct bf_folded *folded, const struct bf_shader *shader,
                              const void *push_constants, VkSpecializationInfo *specialization)
{
    *specialization = (VkSpecializationInfo){0};
    const VkSpecializationInfo *own = &shader->specialization;
    size_t count = (size_t)own->mapEntryCount + folded->entry_count;
    size_t size = own->dataSize;
    /* aligned, as drivers prefer for reading */
    for (uint32_t i = 0; i < folded->entry_count; i++)
        size += 2u * folded->entries[i].size;
    VkSpecializationMapEntry *entries = malloc((count + 1) * sizeof(*entries));
    char *data = malloc(size + 1);
    if (!entries || !data) {
        free(entries);
        free(data);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (own->mapEntryCount)
        memcpy(entries, own->pMapEntries, own->mapEntryCount * sizeof(*entries));
    if (own->dataSize)
        memcpy(data, own->pData, own->dataSize);
    size_t at = own->dataSize;
    for (uint32_t i = 0; i < folded->entry_count; i++) {
        const struct bf_fold_entry *entry = &folded->entries[i];
        while (at % entry->size)
            data[at++] = 0;
        entries[own->mapEntryCount + i] =
            (VkSpecializationMapEntry){entry->id, (uint32_t)at, entry->size};
        memcpy(data + at, (const char *)push_constants + entry->offset, entry->size);
        at += entry->size;
    }
    *specialization = (VkSpecializationInfo){(uint32_t)count, entries, at, data};
    return VK_SUCCESS;
}

void bf_folded_specialization_finish(VkSpecializationInfo *specialization)
{
    free((void *)specialization->pMapEntries);
    free((void *)specialization->pData);
    *specialization = (VkSpecializationInfo){0};
}
