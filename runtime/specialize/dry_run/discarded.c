/* SPDX-License-Identifier: MIT */
/*
 * What an invocation whose fragment is discarded may tell that it has come to: of all that it has
 * computed others see only that it was discarded, and what it has stored. So that is where values
 * and blocks have to lead: backwards from what discards and what is stored, over operands,
 * variables, calls, and the branches that decide over these. [FU-8]
 */
#include "specialize/dry_run/parts.h"

#include <string.h>

struct discarded {
    const struct bf_module *m;
    const struct bf_flow *flow;
    const struct bf_origins *origins;
    bool *value;  /* [bound]; of a function what it returns */
    bool *memory; /* [bound] */
    bool *block;  /* [blocks]: what it does matters */
    bool *branch; /* [blocks]: where it goes does */
    bool *call;   /* [functions]: whether it is called does */
    bool changed;
};

static bool discards(uint16_t opcode)
{
    return opcode == SpvOpKill || opcode == SpvOpTerminateInvocation ||
           opcode == SpvOpDemoteToHelperInvocation;
}

static void note(struct discarded *d, bool *what)
{
    d->changed |= !*what;
    *what = true;
}

static void operands_note(struct discarded *d, const struct bf_instruction *in)
{
    for (uint32_t w = bf_operands(in); w < in->count; w++)
        if (bf_word_is_id(d->m, in, w))
            note(d, &d->value[bf_word(d->m, in, w)]);
}

/* Whether it stores where others see it, though the fragment is discarded. */
static bool stores_outside(const struct discarded *d, const struct bf_instruction *in)
{
    const bool stores = in->opcode == SpvOpStore || in->opcode == SpvOpCopyMemory;
    const uint32_t storage = stores ? bf_pointer_storage(d->m, bf_word(d->m, in, 1)) : 0;
    switch (in->opcode) {
    case SpvOpStore:
    case SpvOpCopyMemory:
        return storage != SpvStorageClassFunction && storage != SpvStorageClassPrivate &&
               storage != SpvStorageClassOutput;
    case SpvOpImageWrite:
        return true;
    default:
        return bf_opcode_is_atomic(in->opcode);
    }
}

static bool *discarded_memory(const struct discarded *d, uint32_t pointer)
{
    return &d->memory[bf_origin_memory(d->origins, pointer)];
}

static void call_follow(struct discarded *d, const struct bf_instruction *in, uint32_t block)
{
    const struct bf_module *m = d->m;
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f == UINT32_MAX)
        return;
    if (d->value[in->result])
        note(d, &d->value[m->functions[f].id]);
    if (d->call[f])
        note(d, &d->block[block]);
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        if (d->value[pair.parameter])
            note(d, &d->value[pair.argument]);
}

static void discarded_step(struct discarded *d, uint32_t i)
{
    const struct bf_module *m = d->m;
    const struct bf_instruction *in = &m->instructions[i];
    const uint32_t block = d->flow->of_instruction[i] - 1;
    const uint32_t function = d->flow->blocks[block].function;
    const bool result = in->result && d->value[in->result];
    if (discards(in->opcode) || stores_outside(d, in)) {
        note(d, &d->block[block]);
        operands_note(d, in);
    } else if (in->opcode == SpvOpFunctionCall) {
        call_follow(d, in, block);
    } else if (in->opcode == SpvOpReturnValue && d->value[m->functions[function].id]) {
        note(d, &d->block[block]);
        operands_note(d, in);
    } else if (in->opcode == SpvOpPhi && result) {
        note(d, &d->block[block]);
        for (uint32_t w = 4; w < in->count; w += 2)
            note(d, &d->block[d->flow->of_label[bf_word(m, in, w)] - 1]);
        operands_note(d, in);
    } else if (in->opcode == SpvOpLoad && result) {
        note(d, discarded_memory(d, bf_word(m, in, 3)));
        operands_note(d, in);
    } else if ((in->opcode == SpvOpStore || in->opcode == SpvOpCopyMemory) &&
               *discarded_memory(d, bf_word(m, in, 1))) {
        note(d, &d->block[block]);
        operands_note(d, in);
        if (in->opcode == SpvOpCopyMemory)
            note(d, discarded_memory(d, bf_word(m, in, 2)));
    } else if (result) {
        operands_note(d, in);
    }
    if (d->block[block])
        note(d, &d->call[function]);
}

/* The branches that decide whether what matters runs. */
static void branches_follow(struct discarded *d)
{
    const struct bf_flow *flow = d->flow;
    for (uint32_t b = 0; b < flow->count; b++) {
        const struct bf_block *block = &flow->blocks[b];
        bool decides = false;
        if (block->order == BF_NO_BLOCK || block->successor_count < 2)
            continue;
        for (uint32_t s = 0; s < block->successor_count && !decides; s++)
            for (uint32_t x = block->successors[s];
                 x != BF_NO_BLOCK && x != block->post_dominator && !decides;
                 x = flow->blocks[x].post_dominator)
                decides = d->block[x];
        if (!decides)
            continue;
        note(d, &d->block[b]);
        note(d, &d->branch[b]);
        operands_note(d, &d->m->instructions[block->last]);
    }
}

static bool point_matters(const struct discarded *d, const struct bf_dry_run_point *point)
{
    const uint32_t i = bf_instruction_at(d->m, point->at);
    const struct bf_instruction *in = &d->m->instructions[i];
    const uint32_t block = d->flow->of_instruction[i] - 1;
    return in->opcode == SpvOpLabel ? d->block[block]
           : in->result             ? d->value[in->result]
                                    : d->branch[block];
}

bool bf_discarded_find(const struct bf_parts *parts, uint32_t told[BF_DRY_RUN_POINTS / 32])
{
    const struct bf_module *m = parts->m;
    struct discarded d = {
        .m = m,
        .flow = &parts->flow,
        .origins = &parts->origins,
        .value = bf_arena_zeroed(parts->arena, m->bound),
        .memory = bf_arena_zeroed(parts->arena, m->bound),
        .block = bf_arena_zeroed(parts->arena, parts->flow.count + 1),
        .branch = bf_arena_zeroed(parts->arena, parts->flow.count + 1),
        .call = bf_arena_zeroed(parts->arena, m->function_count + 1),
    };
    bool any = false;
    memset(told, 0, BF_DRY_RUN_POINTS / 8);
    if (parts->arena->failed)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        any |= parts->flow.of_instruction[i] && discards(m->instructions[i].opcode);
    if (!any)
        return false;
    do {
        d.changed = false;
        for (uint32_t i = m->instruction_count; i-- > 0;)
            if (parts->flow.of_instruction[i])
                discarded_step(&d, i);
        branches_follow(&d);
    } while (d.changed);
    for (uint32_t p = 0; p < parts->point_count; p++) {
        const uint32_t n = parts->options->first_point + p;
        told[n / 32] |= (uint32_t)point_matters(&d, &parts->points[p]) << n % 32;
    }
    return true;
}
