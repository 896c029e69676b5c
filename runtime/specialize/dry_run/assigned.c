/* SPDX-License-Identifier: MIT */
/* Which loads may read a variable that nothing has written, and which outputs nothing may have
 * written at the end. A variable counts as written once the whole of it is stored to; along all
 * ways, and through calls. */
#include "specialize/dry_run/origin.h"

#include <string.h>

/* Words of all sets together; beyond, every load counts as one of these. */
#define MOST (1u << 22)

struct sets {
    struct bf_origins *o;
    const struct bf_module *m;
    uint32_t *number; /* [bound] of a variable or parameter, + 1 */
    uint32_t count, words;
    uint64_t *in;           /* [blocks][words] */
    uint64_t *entry, *exit; /* [functions][words] */
    uint64_t *state, *outside;
    bool changed, record;
};

static bool is_in(const uint64_t *set, uint32_t number)
{
    return number && (set[(number - 1) / 64] >> ((number - 1) % 64) & 1);
}

static void set_put(uint64_t *set, uint32_t number, bool is)
{
    uint64_t bit = UINT64_C(1) << ((number - 1) % 64);
    if (number)
        set[(number - 1) / 64] = is ? set[(number - 1) / 64] | bit : set[(number - 1) / 64] & ~bit;
}

/* What 'to' says holds only as far as 'from' does. */
static void meet(struct sets *sets, uint64_t *to, const uint64_t *from)
{
    for (uint32_t w = 0; w < sets->words; w++) {
        sets->changed |= (to[w] & ~from[w]) != 0;
        to[w] &= from[w];
    }
}

static void sets_step_call(struct sets *sets, const struct bf_instruction *in)
{
    const struct bf_module *m = sets->m;
    uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f == UINT32_MAX)
        return;
    /* Into the function goes what the module's variables are, and what the arguments are. */
    memcpy(sets->outside, sets->state, sets->words * sizeof(uint64_t));
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);) {
        uint32_t parameter = sets->number[pair.parameter];
        uint32_t argument = sets->o->base[pair.argument];
        if (parameter)
            set_put(sets->outside, parameter, is_in(sets->state, sets->number[argument]));
    }
    meet(sets, sets->entry + (size_t)f * sets->words, sets->outside);
    const uint64_t *exit = sets->exit + (size_t)f * sets->words;
    for (uint32_t i = 0; i < sets->m->instruction_count; i++) {
        const struct bf_instruction *variable = &m->instructions[i];
        if (variable->opcode == SpvOpFunction)
            break;
        uint32_t number = variable->opcode == SpvOpVariable ? sets->number[variable->result] : 0;
        if (is_in(exit, number))
            set_put(sets->state, number, true);
    }
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        if (sets->o->base[pair.argument] == pair.argument &&
            is_in(exit, sets->number[pair.parameter]))
            set_put(sets->state, sets->number[pair.argument], true);
}

static void block_step(struct sets *sets, uint32_t b)
{
    const struct bf_module *m = sets->m;
    const struct bf_block *block = &sets->o->flow->blocks[b];
    memcpy(sets->state, sets->in + (size_t)b * sets->words, sets->words * sizeof(uint64_t));
    for (uint32_t i = block->first; i <= block->last; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        uint32_t pointer;
        switch (in->opcode) {
        case SpvOpLoad:
        case SpvOpCopyMemory:
            pointer = sets->o->base[bf_word(m, in, in->opcode == SpvOpLoad ? 3 : 2)];
            if (sets->record && sets->number[pointer])
                sets->o->unassigned[i] = !is_in(sets->state, sets->number[pointer]);
            if (in->opcode == SpvOpLoad)
                break;
            /* fall through */
        case SpvOpStore:
            pointer = bf_word(m, in, 1);
            if (sets->o->base[pointer] == pointer)
                set_put(sets->state, sets->number[pointer], true);
            break;
        case SpvOpFunctionCall:
            sets_step_call(sets, in);
            break;
        case SpvOpReturn:
        case SpvOpReturnValue:
            meet(sets, sets->exit + (size_t)block->function * sets->words, sets->state);
            break;
        default:
            break;
        }
    }
    for (uint32_t s = 0; s < block->successor_count; s++)
        meet(sets, sets->in + (size_t)block->successors[s] * sets->words, sets->state);
}

/* Before a function's first block its own variables are what their initializers say. */
static void sets_begin_function(struct sets *sets, uint32_t f)
{
    const struct bf_module *m = sets->m;
    const struct bf_flow *flow = sets->o->flow;
    uint32_t first = flow->ordered[flow->ordered_first[f]];
    memcpy(sets->state, sets->entry + (size_t)f * sets->words, sets->words * sizeof(uint64_t));
    for (uint32_t i = m->functions[f].first; i < m->functions[f].end; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpVariable)
            set_put(sets->state, sets->number[in->result], in->count > 4);
    }
    meet(sets, sets->in + (size_t)first * sets->words, sets->state);
}

static void round_run(struct sets *sets)
{
    const struct bf_flow *flow = sets->o->flow;
    for (uint32_t f = 0; f < sets->m->function_count; f++) {
        if (flow->ordered_first[f] == flow->ordered_first[f + 1])
            continue;
        sets_begin_function(sets, f);
        for (uint32_t i = flow->ordered_first[f]; i < flow->ordered_first[f + 1]; i++)
            block_step(sets, flow->ordered[i]);
    }
}

bool bf_unassigned_find(struct bf_origins *o, struct bf_arena *arena)
{
    const struct bf_module *m = o->flow->m;
    struct sets sets = {.o = o, .m = m};
    sets.number = bf_arena_zeroed(arena, m->bound * sizeof(*sets.number));
    if (!sets.number)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        uint32_t storage = bf_pointer_storage(m, in->result);
        if ((in->opcode == SpvOpVariable || in->opcode == SpvOpFunctionParameter) &&
            (storage == SpvStorageClassFunction || storage == SpvStorageClassPrivate ||
             storage == SpvStorageClassOutput))
            sets.number[in->result] = ++sets.count;
    }
    sets.words = sets.count / 64 + 1;
    if ((uint64_t)sets.words * (o->flow->count + 2u * m->function_count + 2) > MOST) {
        memset(o->unassigned, 1, m->instruction_count);
        memset(o->unfinished, 1, m->bound);
        return true;
    }
    size_t size = sets.words * sizeof(uint64_t);
    sets.in = bf_arena_zeroed(arena, o->flow->count * size);
    sets.entry = bf_arena_zeroed(arena, m->function_count * size);
    sets.exit = bf_arena_zeroed(arena, m->function_count * size);
    sets.state = bf_arena_zeroed(arena, size);
    sets.outside = bf_arena_zeroed(arena, size);
    if (arena->failed)
        return false;
    memset(sets.in, 0xff, o->flow->count * size);
    memset(sets.entry, 0xff, m->function_count * size);
    memset(sets.exit, 0xff, m->function_count * size);
    uint32_t entry = bf_function_find(m, m->entry_function);
    memset(sets.entry + (size_t)entry * sets.words, 0, size);
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpFunction)
            break;
        if (in->opcode == SpvOpVariable && in->count > 4)
            set_put(sets.entry + (size_t)entry * sets.words, sets.number[in->result], true);
    }
    do {
        sets.changed = false;
        round_run(&sets);
    } while (sets.changed);
    sets.record = true;
    round_run(&sets);
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const uint32_t id = m->instructions[i].result;
        if (m->instructions[i].opcode == SpvOpVariable &&
            bf_pointer_storage(m, id) == SpvStorageClassOutput)
            o->unfinished[id] = !is_in(sets.exit + (size_t)entry * sets.words, sets.number[id]);
    }
    return true;
}
