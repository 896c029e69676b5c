/* SPDX-License-Identifier: MIT */
/* What is left: the module with all loads of these push constants folded, functions in the places
 * that call them, and what a host evaluates otherwise hidden, is frozen. [FN-2] */
#include "specialize/dry_run/left.h"

#include <stdlib.h>

#include "specialize/dry_run/inexact.h"
#include "specialize/dry_run/inlined.h"
#include "specialize/shader/freeze.h"

/* -------------------------------------------------------------------------------- Reading it -- */

struct reading {
    struct bf_left *left;
    const struct bf_inlined *inlined;
    uint32_t bound;
    uint32_t label; /* of the block that it is in, as the module has it */
};

static bool left_visit(void *context, uint16_t opcode, uint16_t word_count, uint32_t type,
                       uint32_t result, const uint16_t *ids, uint32_t id_count)
{
    struct reading *reading = context;
    const struct bf_inlined *inlined = reading->inlined;
    (void)type;
    (void)ids;
    (void)id_count;
    if (opcode == SpvOpLabel)
        reading->label = result >= inlined->own_bound && result < inlined->bound
                             ? inlined->rest_of[result - inlined->own_bound]
                             : result;
    /* A switch without cases isn't one: functions are left by it. */
    if (reading->label < reading->bound &&
        (opcode == SpvOpBranchConditional || (opcode == SpvOpSwitch && word_count > 3)))
        reading->left->branches[reading->label] = true;
    if (result && result < reading->bound)
        reading->left->opcode[result] = opcode;
    return true;
}

static VkResult left_read(struct bf_left *left, const struct bf_inlined *inlined, uint32_t bound,
                          const uint32_t *words, size_t count, struct bf_arena *arena)
{
    left->opcode = bf_arena_zeroed(arena, bound * sizeof(*left->opcode));
    left->branches = bf_arena_zeroed(arena, bound);
    if (arena->failed)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct reading reading = {.left = left, .inlined = inlined, .bound = bound};
    return bf_tools_parse(words, count, left_visit, &reading);
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
        result = bf_inexact_hide(&all, &hidden, &hidden_count);
    if (result == VK_SUCCESS)
        result = bf_tools_freeze(hidden, hidden_count, &specialization, &words, &count);
    if (result == VK_SUCCESS)
        result = left_read(left, &inlined, m->bound, words, count, arena);
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

bool bf_left_has(const struct bf_left *left, const struct bf_instruction *in, uint32_t label)
{
    if (!left->opcode)
        return true;
    if (in->result)
        return left->opcode[in->result] == in->opcode;
    return left->opcode[label] && left->branches[label];
}
