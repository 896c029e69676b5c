/* SPDX-License-Identifier: MIT */
/* Functions in the places that call them: which can be, the label behind each such call, and the
 * words, with one function written inside another. [FN-5] */
#include "specialize/dry_run/inlined.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/shader/arena.h"
#include "specialize/shader/module.h"

#define DEEPEST 256 /* calls in calls */
#define SEVERAL UINT32_MAX

/* Of a function. */
struct callee {
    uint32_t call;    /* the instruction that calls it; 0: none, SEVERAL */
    uint32_t returns; /* how many there are */
    bool kept;        /* an entry point, or called where it can't be inlined */
    bool cycles;      /* there are loops or switches in it */
    bool straight;    /* its one return is in no choice and no loop */
    bool inlined;
};

struct inlining {
    struct bf_module m;
    struct bf_arena arena;
    struct callee *callees; /* [function_count] */
    uint32_t *rest;         /* [instruction_count] of a call: the label behind it; 0: it stays */
    uint32_t *last;         /* [bound] of a label: that of its block's last part; 0: itself */
    uint32_t *instead;      /* [bound] of what is gone: what is in its place, or NOTHING */
    uint32_t *rest_of;      /* [calls], from the module's bound on */
    uint32_t zero, next_id;
    /* Values and labels of the returns of functions that are being written. */
    uint32_t *returned, returned_count;
    uint32_t *to;
    bool too_deep;
};

#define NOTHING UINT32_MAX

/* ----------------------------------------------------------------------------------- Finding -- */

static bool returns(uint16_t opcode)
{
    return opcode == SpvOpReturn || opcode == SpvOpReturnValue;
}

static void call_note(struct inlining *p, uint32_t i)
{
    const uint32_t f = bf_function_find(&p->m, bf_word(&p->m, &p->m.instructions[i], 3));
    if (f != UINT32_MAX)
        p->callees[f].call = p->callees[f].call ? SEVERAL : i;
}

/* A loop's first block has to stay the one that comes back to. */
static void header_keep(struct inlining *p, uint32_t merge)
{
    const struct bf_module *m = &p->m;
    for (uint32_t i = merge; m->instructions[i].opcode != SpvOpLabel; i--) {
        uint32_t f = m->instructions[i].opcode == SpvOpFunctionCall
                         ? bf_function_find(m, bf_word(m, &m->instructions[i], 3))
                         : UINT32_MAX;
        if (f != UINT32_MAX)
            p->callees[f].kept = true;
    }
}

static uint32_t label_at(const struct bf_module *m, uint32_t i)
{
    while (m->instructions[i].opcode != SpvOpLabel)
        i++;
    return i;
}

/* Whether a return is where all ways from the function's first block meet. */
static bool ends_outside(const struct bf_module *m, uint32_t f)
{
    uint32_t i = label_at(m, m->functions[f].first);
    for (uint32_t steps = 0; steps < m->instruction_count; steps++) {
        const struct bf_instruction *in = &m->instructions[++i];
        switch (in->opcode) {
        case SpvOpLoopMerge:
        case SpvOpSelectionMerge:
        case SpvOpBranch: /* to where all meet that is chosen here, or to the next */
            i = m->ids[bf_word(m, in, 1)].definition - 1;
            break;
        case SpvOpReturn:
        case SpvOpReturnValue:
            return true;
        case SpvOpLabel:
        case SpvOpFunctionEnd:
            return false;
        default:
            break;
        }
    }
    return false;
}

static void callees_find(struct inlining *p)
{
    const struct bf_module *m = &p->m;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        uint32_t f = m->instructions[i].opcode == SpvOpEntryPoint
                         ? bf_function_find(m, bf_word(m, &m->instructions[i], 2))
                         : UINT32_MAX;
        if (f != UINT32_MAX)
            p->callees[f].kept = true;
    }
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = m->functions[f].first; i <= m->functions[f].end; i++) {
            const uint16_t opcode = m->instructions[i].opcode;
            p->callees[f].returns += returns(opcode);
            p->callees[f].cycles |= opcode == SpvOpLoopMerge || opcode == SpvOpSwitch;
            if (opcode == SpvOpFunctionCall)
                call_note(p, i);
            else if (opcode == SpvOpLoopMerge)
                header_keep(p, i);
        }
        p->callees[f].straight = p->callees[f].returns == 1 && ends_outside(m, f);
    }
}

static bool can_be(const struct callee *callee)
{
    return callee->call && callee->call != SEVERAL && !callee->kept && callee->returns &&
           (callee->straight || !callee->cycles);
}

/* Labels behind calls, and what is gone. */
static void sites_find(struct inlining *p)
{
    const struct bf_module *m = &p->m;
    uint32_t label = 0;
    for (uint32_t f = 0; f < m->function_count; f++)
        p->callees[f].inlined = can_be(&p->callees[f]);
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        uint32_t f =
            in->opcode == SpvOpFunctionCall ? bf_function_find(m, bf_word(m, in, 3)) : UINT32_MAX;
        if (in->opcode == SpvOpLabel)
            label = in->result;
        if (f == UINT32_MAX || !p->callees[f].inlined)
            continue;
        p->rest_of[p->next_id - m->bound] = label;
        p->rest[i] = p->last[label] = p->next_id++;
        p->instead[m->functions[f].id] = NOTHING;
        if (bf_definition_as(m, in->type, SpvOpTypeVoid))
            p->instead[in->result] = NOTHING;
        uint32_t argument = 4;
        for (uint32_t k = m->functions[f].first; k < label_at(m, m->functions[f].first); k++)
            if (m->instructions[k].opcode == SpvOpFunctionParameter)
                p->instead[m->instructions[k].result] = bf_word(m, in, argument++);
    }
}

/* ----------------------------------------------------------------------------------- Writing -- */

static void word_put(struct inlining *p, uint32_t word)
{
    *p->to++ = word;
}

static void inlined_put(struct inlining *p, uint32_t opcode, uint32_t count,
                        const uint32_t *operands)
{
    word_put(p, (count + 1) << 16 | opcode);
    for (uint32_t i = 0; i < count; i++)
        word_put(p, operands[i]);
}
#define PUT(p_, opcode_, ...)                                                                      \
    inlined_put(p_, opcode_, (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)),     \
                (uint32_t[]){__VA_ARGS__})

/* A parameter's argument may be a parameter. */
static uint32_t instead_of(const struct inlining *p, uint32_t id)
{
    for (uint32_t depth = 0; p->instead[id] && p->instead[id] != NOTHING && depth < DEEPEST;
         depth++)
        id = p->instead[id];
    return id;
}

static uint32_t last_of(const struct inlining *p, uint32_t label)
{
    return p->last[label] ? p->last[label] : label;
}

static void instruction_put(struct inlining *p, const struct bf_instruction *in)
{
    const struct bf_module *m = &p->m;
    for (uint32_t w = 0; w < in->count; w++) {
        uint32_t word = bf_word(m, in, w);
        if (in->opcode == SpvOpPhi && w > 3 && w % 2 == 0)
            word = last_of(p, word);
        else if (bf_word_is_id(m, in, w))
            word = instead_of(p, word);
        word_put(p, word);
    }
}

/* Those of all functions that are written inside that one. */
static void variables_put(struct inlining *p, uint32_t f, uint32_t depth)
{
    const struct bf_module *m = &p->m;
    p->too_deep |= depth > DEEPEST;
    for (uint32_t i = m->functions[f].first; i < m->functions[f].end && !p->too_deep; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpVariable && depth)
            PUT(p, SpvOpVariable, in->type, in->result, bf_word(m, in, 3));
        else if (p->rest[i])
            variables_put(p, bf_function_find(m, bf_word(m, in, 3)), depth + 1);
    }
}

static void body_put(struct inlining *p, uint32_t f, uint32_t rest, uint32_t depth);

static void call_put(struct inlining *p, uint32_t i, uint32_t depth)
{
    const struct bf_module *m = &p->m;
    const struct bf_instruction *in = &m->instructions[i];
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3)), rest = p->rest[i],
                   label = m->instructions[label_at(m, m->functions[f].first)].result,
                   first = p->returned_count;
    if (!p->callees[f].straight) { /* a switch may be left from within choices */
        PUT(p, SpvOpSelectionMerge, rest, SpvSelectionControlMaskNone);
        PUT(p, SpvOpSwitch, p->zero, label);
    } else {
        PUT(p, SpvOpBranch, label);
    }
    body_put(p, f, rest, depth + 1);
    PUT(p, SpvOpLabel, rest);
    const uint32_t count = p->returned_count - first;
    if (p->instead[in->result] != NOTHING && count == 2) {
        PUT(p, SpvOpCopyObject, in->type, in->result, p->returned[first]);
    } else if (p->instead[in->result] != NOTHING) {
        word_put(p, (3 + count) << 16 | SpvOpPhi);
        word_put(p, in->type);
        word_put(p, in->result);
        for (uint32_t k = 0; k < count; k++)
            word_put(p, p->returned[first + k]);
    }
    p->returned_count = first;
}

/* 'rest': where it returns to; 0: it is a function of its own. */
static void body_put(struct inlining *p, uint32_t f, uint32_t rest, uint32_t depth)
{
    const struct bf_module *m = &p->m;
    uint32_t label = 0;
    for (uint32_t i = m->functions[f].first; i <= m->functions[f].end && !p->too_deep; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const bool variable = in->opcode == SpvOpVariable;
        if (rest && (in->opcode == SpvOpFunction || in->opcode == SpvOpFunctionParameter ||
                     in->opcode == SpvOpFunctionEnd))
            continue;
        if (rest && variable) {
            if (in->count > 4)
                PUT(p, SpvOpStore, in->result, bf_word(m, in, 4));
        } else if (rest && returns(in->opcode)) {
            if (in->opcode == SpvOpReturnValue) {
                p->returned[p->returned_count++] = instead_of(p, bf_word(m, in, 1));
                p->returned[p->returned_count++] = last_of(p, label);
            }
            PUT(p, SpvOpBranch, rest);
        } else if (p->rest[i]) {
            call_put(p, i, depth);
        } else {
            instruction_put(p, in);
        }
        if (in->opcode == SpvOpLabel && !rest && !label)
            variables_put(p, f, 0);
        if (in->opcode == SpvOpLabel)
            label = in->result;
    }
}

/* What names or decorates something that is gone. */
static bool is_of_gone(const struct inlining *p, const struct bf_instruction *in)
{
    return (in->opcode == SpvOpName || in->opcode == SpvOpDecorate ||
            in->opcode == SpvOpDecorateId || in->opcode == SpvOpDecorateString) &&
           p->instead[bf_word(&p->m, in, 1)];
}

static void zero_put(struct inlining *p, uint32_t end)
{
    const struct bf_module *m = &p->m;
    uint32_t type = 0;
    for (uint32_t i = 0; i < end && !type; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpTypeInt && bf_word(m, in, 2) == 32)
            type = in->result;
    }
    if (!type) {
        type = p->next_id++;
        PUT(p, SpvOpTypeInt, type, 32, 0);
    }
    p->zero = p->next_id++;
    PUT(p, SpvOpConstant, type, p->zero, 0);
}

static void inlined_module_put(struct inlining *p)
{
    const struct bf_module *m = &p->m;
    const uint32_t end = m->function_count ? m->functions[0].first : m->instruction_count;
    for (uint32_t w = 0; w < 5; w++)
        word_put(p, m->words[w]);
    for (uint32_t i = 0; i < end; i++)
        if (!is_of_gone(p, &m->instructions[i]))
            instruction_put(p, &m->instructions[i]);
    zero_put(p, end);
    for (uint32_t f = 0; f < m->function_count; f++)
        if (!p->callees[f].inlined)
            body_put(p, f, 0, 0);
}

/* --------------------------------------------------------------------------------- The whole -- */

static VkResult all_inline(struct inlining *p, struct bf_inlined *inlined)
{
    const struct bf_module *m = &p->m;
    p->next_id = m->bound;
    p->callees = bf_arena_zeroed(&p->arena, (m->function_count + 1) * sizeof(*p->callees));
    p->rest = bf_arena_zeroed(&p->arena, (m->instruction_count + 1) * sizeof(*p->rest));
    p->last = bf_arena_zeroed(&p->arena, m->bound * sizeof(*p->last));
    p->instead = bf_arena_zeroed(&p->arena, m->bound * sizeof(*p->instead));
    /* A return, of a word or two, becomes a branch, and two words of a phi; a call, of four or
     * more, a switch, a label and a phi. */
    p->returned = bf_arena_zeroed(&p->arena, 2 * m->word_count * sizeof(*p->returned));
    p->rest_of = inlined->rest_of = calloc(m->function_count + 2, sizeof(*p->rest_of));
    p->to = inlined->words = malloc((4 * m->word_count + 16) * sizeof(*p->to));
    if (p->arena.failed || !p->rest_of || !p->to)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    callees_find(p);
    sites_find(p);
    inlined_module_put(p);
    if (p->too_deep)
        return VK_ERROR_INVALID_SHADER_NV;
    inlined->word_count = (size_t)(p->to - inlined->words);
    inlined->words[3] = inlined->bound = p->next_id;
    inlined->own_bound = m->bound;
    return VK_SUCCESS;
}

VkResult bf_inlined_make(const struct bf_shader_info *info, struct bf_inlined *inlined)
{
    struct inlining p = {0};
    VkResult result = VK_ERROR_INVALID_SHADER_NV;
    *inlined = (struct bf_inlined){0};
    if (bf_module_init(&p.m, info))
        result = all_inline(&p, inlined);
    else if (p.m.out_of_memory)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS)
        bf_inlined_finish(inlined);
    bf_arena_finish(&p.arena);
    bf_module_finish(&p.m);
    return result;
}

void bf_inlined_finish(struct bf_inlined *inlined)
{
    free(inlined->words);
    free(inlined->rest_of);
    *inlined = (struct bf_inlined){0};
}
