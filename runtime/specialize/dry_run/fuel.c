/* SPDX-License-Identifier: MIT */
/*
 * Loops that end. [FU-1, FU-5] The block that goes back to a loop's header asks burn() whether it
 * may:
 *
 *     header: rounds = phi(0 from outside, next from the latch)   latch: next = rounds + 1
 *             ...                                                        go = burn(goes_on, next)
 *             OpLoopMerge end continue                                   branch go ? header : end
 *
 * Structured control flow allows this one branch from the latch to the loop's end. What was defined
 * in the loop and used behind it may not have been defined on this way: see repair.c.
 */
#include "specialize/dry_run/parts.h"

#include <string.h>

/* The phis of a block that has one more predecessor. */
static void phis_extend(struct bf_parts *parts, uint32_t b, uint32_t from)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_block *block = &parts->flow.blocks[b];
    for (uint32_t i = block->first + 1; i < block->last; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode != SpvOpPhi)
            continue;
        uint32_t *operands = bf_arena_zeroed(parts->arena, (in->count + 2u) * sizeof(*operands));
        if (!operands || rewrite->arena->failed)
            return;
        memcpy(operands, m->words + in->at + 1, (in->count - 1u) * sizeof(*operands));
        operands[in->count - 1] = bf_rewrite_null(rewrite, in->type);
        operands[in->count] = from;
        bf_rewrite_put(rewrite, i, SpvOpPhi, in->count + 1u, operands);
        bf_rewrite_drop(rewrite, i);
    }
}

static void counter_put(struct bf_parts *parts, const struct bf_block *header, uint32_t rounds,
                        uint32_t next)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t count = 2 + 2 * header->predecessor_count;
    uint32_t *operands = bf_arena_zeroed(parts->arena, count * sizeof(*operands));
    if (!operands)
        return;
    operands[0] = bf_rewrite_uint(rewrite);
    operands[1] = rounds;
    for (uint32_t p = 0; p < header->predecessor_count; p++) {
        uint32_t from = header->predecessors[p];
        operands[2 + 2 * p] = from == header->latch ? next : bf_rewrite_constant(rewrite, 0);
        operands[3 + 2 * p] = parts->flow.blocks[from].label;
    }
    bf_rewrite_put(rewrite, header->first + 1, SpvOpPhi, count, operands);
}

/* The id of whether the loop would go on; 0: its end isn't built as it should be. */
static uint32_t condition_find(struct bf_parts *parts, const struct bf_block *latch, uint32_t at,
                               uint32_t header, uint32_t end, bool *ends)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *branch = &parts->m->instructions[latch->last];
    uint32_t boolean = bf_rewrite_bool(rewrite), condition = bf_word(parts->m, branch, 1);
    uint32_t yes = bf_word(parts->m, branch, 2), no = bf_word(parts->m, branch, 3);
    *ends = false;
    if (branch->opcode == SpvOpBranch ||
        (branch->opcode == SpvOpBranchConditional && yes == header && no == header))
        return bf_rewrite_true(rewrite);
    *ends = true;
    if (branch->opcode != SpvOpBranchConditional)
        return 0;
    if (yes == header && no == end)
        return condition;
    if (yes == end && no == header)
        return BF_PUT_NEW(rewrite, at, SpvOpLogicalNot, boolean, condition);
    return 0;
}

static void loop_rewrite(struct bf_parts *parts, uint32_t h)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_block *header = &parts->flow.blocks[h];
    const struct bf_block *latch = &parts->flow.blocks[header->latch];
    const struct bf_instruction *merge = &m->instructions[header->merge];
    uint32_t end = bf_word(m, merge, 1), at = bf_block_tail(latch);
    bool uniform = !(parts->origins.block[h] & BF_ORIGIN_VARYING), ends;
    uint32_t rounds = bf_rewrite_id(rewrite), next = bf_rewrite_id(rewrite);
    counter_put(parts, header, rounds, next);
    BF_PUT(rewrite, at, SpvOpIAdd, bf_rewrite_uint(rewrite), next, rounds,
           bf_rewrite_constant(rewrite, 1));
    uint32_t condition = condition_find(parts, latch, at, header->label, end, &ends);
    if (!condition || (latch->merge && latch != header)) {
        bf_parts_refuse(parts, BF_DRY_RUN_FLOW);
        return;
    }
    uint32_t go = BF_PUT_NEW(rewrite, at, SpvOpFunctionCall, bf_rewrite_bool(rewrite),
                             parts->burn[uniform], condition, next);
    bf_rewrite_drop(rewrite, latch->last);
    BF_PUT(rewrite, latch->last, SpvOpBranchConditional, go, header->label, end);
    if (!ends)
        phis_extend(parts, parts->flow.of_label[end] - 1, latch->label);
    /* Its end may come sooner than it has promised. */
    uint32_t unroll = SpvLoopControlUnrollMask | SpvLoopControlDontUnrollMask;
    if (bf_word(m, merge, 3) & ~unroll) {
        bf_rewrite_drop(rewrite, header->merge);
        BF_PUT(rewrite, header->merge, SpvOpLoopMerge, end, bf_word(m, merge, 2),
               bf_word(m, merge, 3) & unroll);
    }
    parts->loop_count++;
    parts->steers |= parts->origins.block[h];
    if (parts->origins.block[h] & BF_ORIGIN_SHARED)
        bf_parts_refuse(parts, BF_DRY_RUN_SHARED);
}

/* The end of a loop that had none is such a place; so may be what made-up inputs lead to. */
static void unreachable_rewrite(struct bf_parts *parts, const struct bf_block *block)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *function = &m->instructions[m->functions[block->function].first];
    bf_parts_flag(parts, block->last, BF_DRY_RUN_UNREACHABLE);
    bf_rewrite_drop(rewrite, block->last);
    if (bf_definition_as(m, function->type, SpvOpTypeVoid)) {
        if (function->result == m->entry_function)
            BF_PUT_NEW(rewrite, block->last, SpvOpFunctionCall, function->type, parts->finish);
        bf_rewrite_put(rewrite, block->last, SpvOpReturn, 0, NULL);
    } else {
        BF_PUT(rewrite, block->last, SpvOpReturnValue, bf_rewrite_null(rewrite, function->type));
    }
}

void bf_fuel_rewrite(struct bf_parts *parts)
{
    const struct bf_flow *flow = &parts->flow;
    for (uint32_t n = 0; n < flow->ordered_first[parts->m->function_count]; n++) {
        const struct bf_block *block = &flow->blocks[flow->ordered[n]];
        if (block->latch != BF_NO_BLOCK)
            loop_rewrite(parts, flow->ordered[n]);
        if (parts->m->instructions[block->last].opcode == SpvOpUnreachable) {
            /* As it is, a compiler may do whatever it likes with who would come here. */
            parts->steers |= parts->origins.block[flow->ordered[n]];
            unreachable_rewrite(parts, block);
        }
    }
}
