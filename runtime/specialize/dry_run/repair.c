/* SPDX-License-Identifier: MIT */
/*
 * Values that don't reach all who use them, since a loop has got another way out: the block that
 * defines such a value no longer dominates the one that uses it. It is stored into a variable of
 * the function where it is defined, and loaded where it is used; the variable begins as zero. What
 * no variable can hold (pointers, images) is made again where it is used.
 */
#include "specialize/dry_run/flow.h"
#include "specialize/dry_run/parts.h"
#include "specialize/dry_run/rewrite.h"

#include <stdlib.h>

#define DEEPEST 8

struct repair {
    const struct bf_module *m;
    struct bf_flow flow;
    struct bf_rewrite rewrite;
    uint32_t *variable; /* [bound] that holds a value; 0: none yet */
    bool impossible;
};

static bool can_be_stored(const struct bf_module *m, uint32_t type, uint32_t depth)
{
    const struct bf_instruction *in = bf_definition(m, type);
    if (!in || depth > BF_MODULE_DEPTH)
        return false;
    switch (in->opcode) {
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return true;
    case SpvOpTypeArray:
        return can_be_stored(m, bf_word(m, in, 2), depth + 1);
    case SpvOpTypeStruct:
        for (uint32_t w = 2; w < in->count; w++)
            if (!can_be_stored(m, bf_word(m, in, w), depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

/* The variable that holds the value of instruction i, which is stored right behind it. */
static uint32_t variable_of(struct repair *repair, uint32_t i)
{
    const struct bf_module *m = repair->m;
    struct bf_rewrite *rewrite = &repair->rewrite;
    const struct bf_instruction *in = &m->instructions[i];
    uint32_t *variable = &repair->variable[in->result];
    if (*variable)
        return *variable;
    const struct bf_block *block = &repair->flow.blocks[repair->flow.of_instruction[i] - 1];
    uint32_t first = m->functions[block->function].first;
    while (m->instructions[first].opcode != SpvOpLabel)
        first++;
    uint32_t pointer = bf_rewrite_pointer(rewrite, SpvStorageClassFunction, in->type);
    *variable = bf_rewrite_id(rewrite);
    BF_PUT(rewrite, first + 1, SpvOpVariable, pointer, *variable, SpvStorageClassFunction,
           bf_rewrite_null(rewrite, in->type));
    uint32_t at = i + 1;
    while (in->opcode == SpvOpPhi &&
           (m->instructions[at].opcode == SpvOpPhi || m->instructions[at].opcode == SpvOpLine ||
            m->instructions[at].opcode == SpvOpNoLine))
        at++;
    BF_PUT(rewrite, at, SpvOpStore, *variable, in->result);
    return *variable;
}

/* The value of 'id' as it is known before instruction 'at' of block b. */
static uint32_t value_at(struct repair *repair, uint32_t id, uint32_t at, uint32_t b,
                         uint32_t depth)
{
    const struct bf_module *m = repair->m;
    const struct bf_instruction *in = bf_definition(m, id);
    uint32_t i = in ? (uint32_t)(in - m->instructions) : 0;
    uint32_t from = in ? repair->flow.of_instruction[i] : 0;
    if (!from || in->opcode == SpvOpLabel || in->opcode == SpvOpVariable ||
        repair->flow.blocks[from - 1].order == BF_NO_BLOCK ||
        bf_flow_dominates(&repair->flow, from - 1, b))
        return id;
    if (can_be_stored(m, in->type, 0))
        return BF_PUT_NEW(&repair->rewrite, at, SpvOpLoad, in->type, variable_of(repair, i));
    switch (in->opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpCopyObject:
    case SpvOpLoad:
    case SpvOpImage:
    case SpvOpSampledImage:
        break;
    default:
        repair->impossible = true;
        return id;
    }
    uint32_t operands[24] = {0};
    if (depth > DEEPEST || in->count > 22) {
        repair->impossible = true;
        return id;
    }
    for (uint32_t w = 3; w < in->count; w++)
        operands[w - 3] = bf_word_is_id(m, in, w)
                              ? value_at(repair, bf_word(m, in, w), at, b, depth + 1)
                              : bf_word(m, in, w);
    return bf_rewrite_put_new(&repair->rewrite, at, in->opcode, in->type, in->count - 3u, operands);
}

static void block_repair(struct repair *repair, uint32_t b)
{
    const struct bf_module *m = repair->m;
    const struct bf_flow *flow = &repair->flow;
    const struct bf_block *block = &flow->blocks[b];
    for (uint32_t i = block->first; i <= block->last; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        for (uint32_t w = bf_operands(in); w < in->count; w++) {
            uint32_t id = bf_word(m, in, w), at = i, where = b;
            if (!bf_word_is_id(m, in, w))
                continue;
            if (in->opcode == SpvOpPhi) {
                /* Used at the end of the block that it comes from. */
                uint32_t from = flow->of_label[bf_word(m, in, w + 1)];
                w++;
                if (!from || flow->blocks[from - 1].order == BF_NO_BLOCK)
                    continue;
                where = from - 1;
                at = bf_block_tail(&flow->blocks[where]);
            } else if (in->opcode == SpvOpSelectionMerge || in->opcode == SpvOpLoopMerge) {
                break;
            } else if (i == block->last) {
                at = bf_block_tail(block);
            }
            uint32_t value = value_at(repair, id, at, where, 0);
            if (value != id)
                bf_rewrite_set(&repair->rewrite, i, w - (in->opcode == SpvOpPhi), value);
        }
    }
}

VkResult bf_repair(uint32_t **words, size_t *word_count, const struct bf_shader_info *info)
{
    struct bf_shader_info own = *info;
    own.words = *words;
    own.word_count = *word_count;
    struct bf_module m;
    struct bf_arena arena = {0};
    struct repair repair = {.m = &m};
    VkResult result = VK_ERROR_INVALID_SHADER_NV;
    if (!bf_module_init(&m, &own) || !bf_flow_init(&repair.flow, &m, &arena, false)) {
        if (m.out_of_memory || repair.flow.out_of_memory)
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto out;
    }
    bf_rewrite_init(&repair.rewrite, &m, &arena);
    repair.variable = bf_arena_zeroed(&arena, m.bound * sizeof(*repair.variable));
    for (uint32_t n = 0; !arena.failed && n < repair.flow.ordered_first[m.function_count]; n++)
        block_repair(&repair, repair.flow.ordered[n]);
    uint32_t *repaired;
    if (!bf_rewrite_finish(&repair.rewrite, &repaired, word_count)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto out;
    }
    free(*words);
    *words = repaired;
    result = repair.impossible ? VK_ERROR_INVALID_SHADER_NV : VK_SUCCESS;
out:
    bf_arena_finish(&arena);
    bf_module_finish(&m);
    return result;
}
