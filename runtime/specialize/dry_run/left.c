/* SPDX-License-Identifier: MIT */
/* What is left: the module with all loads of these push constants folded, functions in the places
 * that call them, and what a host evaluates otherwise hidden, is frozen. [FN-2] */
#include "specialize/dry_run/left.h"

#include <stdlib.h>

#include "specialize/dry_run/inexact.h"
#include "specialize/dry_run/inlined.h"
#include "specialize/dry_run/ranges.h"
#include "specialize/shader/freeze.h"

/* -------------------------------------------------------------------------------- Reading it -- */

/* The label of the block, as the module has it, in which that block's part is. */
static uint32_t own_label(const struct bf_inlined *inlined, uint32_t label)
{
    return label >= inlined->own_bound && label < inlined->bound
               ? inlined->rest_of[label - inlined->own_bound]
               : label;
}

/* Whether it may go more than one way. A switch without cases isn't one that chooses: functions are
 * left by it. */
static bool chooses(const struct bf_ranges *ranges, const struct bf_instruction *in, uint32_t label)
{
    uint32_t way = 0;
    for (uint32_t w = 1; w < in->count; w++) {
        const uint32_t to = bf_word(ranges->m, in, w);
        if (!bf_word_is_id(ranges->m, in, w) || !bf_ranges_may_go(ranges, label, to))
            continue;
        if (way && way != to)
            return true;
        way = to;
    }
    return false;
}

/* What is left of the first 'bound' ids. */
static void left_read(struct bf_left *left, const struct bf_ranges *ranges,
                      const struct bf_inlined *inlined, uint32_t bound)
{
    const struct bf_module *frozen = ranges->m;
    uint32_t label = 0;
    for (uint32_t i = 0; i < frozen->instruction_count; i++) {
        const struct bf_instruction *in = &frozen->instructions[i];
        if (in->opcode == SpvOpLabel)
            label = in->result;
        if (label && !ranges->reached[label])
            continue;
        const uint32_t own = own_label(inlined, label);
        if (own && own < bound && i == ranges->ends[label] && chooses(ranges, in, label))
            left->branches[own] = true;
        if (!in->result || in->result >= bound)
            continue;
        left->opcode[in->result] = in->opcode;
        left->sides[in->result] = bf_ranges_sides(ranges, in);
        left->special[in->result] = (uint8_t)bf_ranges_special(ranges, in);
    }
}

static VkResult frozen_read(struct bf_left *left, const struct bf_shader_info *frozen,
                            const struct bf_inlined *inlined, uint32_t hiding, uint32_t bound,
                            struct bf_arena *arena)
{
    struct bf_module m;
    struct bf_ranges ranges;
    VkResult result = VK_ERROR_INVALID_SHADER_NV;
    left->opcode = bf_arena_zeroed(arena, bound * sizeof(*left->opcode));
    left->branches = bf_arena_zeroed(arena, bound);
    left->sides = bf_arena_zeroed(arena, bound);
    left->special = bf_arena_zeroed(arena, bound);
    if (arena->failed)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (bf_module_init(&m, frozen))
        result = bf_ranges_find(&ranges, &m, hiding, arena);
    else if (m.out_of_memory)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS)
        left_read(left, &ranges, inlined, bound);
    bf_module_finish(&m);
    return result;
}

/* --------------------------------------------------------------------------------- Making it -- */

/* With functions in the places that call them. It wasn't made to be run: nobody has asked yet
 * whether it is valid. */
static VkResult inline_valid(const struct bf_shader_info *folded, struct bf_inlined *inlined)
{
    VkResult result =
        bf_shader_validate(folded->words, folded->word_count, VK_API_VERSION_1_3, NULL, 0);
    if (result == VK_SUCCESS)
        result = bf_inlined_make(folded, inlined);
    if (result == VK_SUCCESS)
        result =
            bf_shader_validate(inlined->words, inlined->word_count, VK_API_VERSION_1_3, NULL, 0);
    return result;
}

VkResult bf_left_find(struct bf_left *left, const struct bf_shader_info *general,
                      const struct bf_module *m, uint64_t fixed, const void *push,
                      struct bf_arena *arena)
{
    struct bf_shader *shader = NULL;
    struct bf_folded folded = {0};
    VkSpecializationInfo specialization = {0};
    struct bf_inlined inlined = {0};
    uint32_t *hidden = NULL, *words = NULL;
    size_t hidden_count = 0, count = 0;
    uint32_t hiding = 0;
    struct bf_shader_info all = {.entry = general->entry, .stage = general->stage};
    VkResult result = bf_shader_create_over(general, &shader);
    if (result == VK_SUCCESS)
        result = bf_shader_fold_all(shader, fixed, &folded);
    if (result == VK_SUCCESS)
        result = bf_folded_specialize(&folded, shader, push, &specialization);
    all.words = folded.words;
    all.word_count = folded.word_count;
    if (result == VK_SUCCESS)
        result = inline_valid(&all, &inlined);
    all.words = inlined.words;
    all.word_count = inlined.word_count;
    if (result == VK_SUCCESS)
        result = bf_inexact_hide(&all, &hidden, &hidden_count, &hiding);
    if (result == VK_SUCCESS)
        result = bf_tools_freeze(hidden, hidden_count, &specialization, &words, &count);
    all.words = words;
    all.word_count = count;
    if (result == VK_SUCCESS)
        result = frozen_read(left, &all, &inlined, hiding, m->bound, arena);
    if (result != VK_SUCCESS)
        *left = (struct bf_left){0};
    free(words);
    free(hidden);
    bf_inlined_finish(&inlined);
    bf_folded_specialization_finish(&specialization);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
    return result == VK_ERROR_OUT_OF_HOST_MEMORY ? result : VK_SUCCESS;
}

/* --------------------------------------------------------------------------------- Asking it -- */

enum bf_left_state bf_left_of(const struct bf_left *left, const struct bf_instruction *in,
                              uint32_t label, uint32_t side)
{
    if (!left->opcode)
        return BF_LEFT_OPEN;
    if (!left->opcode[label])
        return BF_LEFT_GONE;
    if (!in->result)
        return left->branches[label] ? BF_LEFT_OPEN : BF_LEFT_DECIDED;
    if (left->opcode[in->result] != in->opcode)
        return BF_LEFT_DECIDED;
    return left->sides[in->result] >> side & 1 ? BF_LEFT_OPEN : BF_LEFT_GONE;
}
