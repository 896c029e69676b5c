/* SPDX-License-Identifier: MIT */
/* Whether folded values cancel: forwards over values, variables and calls, which of them each is
 * made of, and has had added or multiplied last. */
#include "specialize/shader/cancelling.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>

/* Sets of keys, a bit each: which folded value it is, or may be, and of which the negative; which
 * were added to make it, in the operation that did, or taken away, and which it was multiplied
 * with. */
struct lanes {
    uint64_t key, negated, added, taken, multiplied;
};

struct cancelling {
    struct bf_module *m;
    const uint8_t *value;
    uint8_t bit;
    const uint64_t *keys;
    struct lanes *of;     /* [bound]; of a function what it returns */
    struct lanes *memory; /* [bound] */
    bool changed, cancels;
};

static struct lanes lanes_of_both(struct lanes a, struct lanes b)
{
    return (struct lanes){a.key | b.key, a.negated | b.negated, a.added | b.added,
                          a.taken | b.taken, a.multiplied | b.multiplied};
}

static void lanes_join(struct cancelling *c, struct lanes *to, struct lanes from)
{
    const struct lanes both = lanes_of_both(*to, from);
    c->changed |= memcmp(&both, to, sizeof(both)) != 0;
    *to = both;
}

static struct lanes lanes_negate(struct lanes of)
{
    return (struct lanes){of.negated, of.key, of.taken, of.added, of.multiplied};
}

/* Of either sign. */
static struct lanes lanes_unsign(struct lanes of)
{
    return lanes_of_both(of, lanes_negate(of));
}

static uint64_t lanes_key(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return UINT64_C(1) << (number >> 58);
}

static bool folds(const struct cancelling *c, uint32_t id)
{
    return c->value[id] & c->bit;
}

/* Of a choice that folding decides between constants of no key it is the choice's own. */
static struct lanes chosen(const struct cancelling *c, uint32_t id, struct lanes lanes,
                           uint64_t number)
{
    if (folds(c, id) && !lanes.key && !lanes.negated)
        lanes.key = lanes_key(number);
    return lanes;
}

static struct lanes of_operands(const struct cancelling *c, const struct bf_instruction *in,
                                uint32_t first)
{
    struct lanes all = {0};
    for (uint32_t w = first; w < in->count; w++) {
        const uint32_t id = bf_word_is_id(c->m, in, w) ? bf_word(c->m, in, w) : 0;
        all = lanes_of_both(all, c->of[id]);
    }
    return all;
}

/* What is computed of folded values is another one, the same wherever it is computed. */
static uint64_t computed_key(const struct cancelling *c, const struct bf_instruction *in)
{
    uint64_t number = in->opcode;
    if (!in->result || !folds(c, in->result))
        return 0;
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        const uint32_t word = bf_word(c->m, in, w);
        const struct lanes of = bf_word_is_id(c->m, in, w) ? c->of[word] : (struct lanes){0};
        number = number * 31 + (of.key | of.negated ? of.key : word);
        number = number * 31 + of.negated;
    }
    return lanes_key(number);
}

/* The keys of those operands that may be folded constants. */
static uint64_t folded_operands(const struct cancelling *c, const struct bf_instruction *in)
{
    uint64_t keys = 0;
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        const uint32_t id = bf_word_is_id(c->m, in, w) ? bf_word(c->m, in, w) : 0;
        keys |= folds(c, id) ? c->of[id].key | c->of[id].negated : 0;
    }
    return keys;
}

/* What may be a folded constant had its negative added to make the other. */
static bool term_cancels(struct lanes folded, struct lanes other)
{
    return folded.key & other.taken || folded.negated & other.added;
}

/* The program itself has kept drivers from combining it with another operation. */
static bool is_kept(const struct cancelling *c, const struct bf_instruction *in)
{
    return c->m->ids[in->result].no_contraction;
}

/* A sum, a difference, or a comparison, which is as one; but that a factor of unknown sign can't be
 * taken from both its sides. */
static void sum_step(struct cancelling *c, const struct bf_instruction *in, struct lanes *sum)
{
    const bool compares = in->opcode != SpvOpFAdd && in->opcode != SpvOpFSub;
    const uint32_t w = bf_operands(in);
    const uint32_t ids[2] = {bf_word(c->m, in, w), bf_word(c->m, in, w + 1)};
    const struct lanes none = {0}, a = c->of[ids[0]],
                       b = in->opcode == SpvOpFAdd ? c->of[ids[1]] : lanes_negate(c->of[ids[1]]);
    const struct lanes folded_a = folds(c, ids[0]) ? a : none,
                       folded_b = folds(c, ids[1]) ? b : none;
    *sum = (struct lanes){.key = computed_key(c, in)};
    if (is_kept(c, in))
        return;
    c->cancels |= term_cancels(folded_a, b) || term_cancels(folded_b, a) ||
                  (!compares && a.multiplied & b.multiplied);
    sum->added = folded_a.key | folded_b.key;
    sum->taken = folded_a.negated | folded_b.negated;
}

static void call_step(struct cancelling *c, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f == UINT32_MAX)
        return;
    lanes_join(c, &c->of[in->result], c->of[m->functions[f].id]);
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        lanes_join(c, &c->of[pair.parameter], c->of[pair.argument]);
}

static struct lanes *lanes_of_memory(const struct cancelling *c, uint32_t pointer)
{
    return &c->memory[bf_module_memory(c->m, pointer)];
}

/* What lies outside of the invocation is memory 0, of which nothing is known. */
static void lanes_store(struct cancelling *c, uint32_t pointer, struct lanes from)
{
    struct lanes *to = lanes_of_memory(c, pointer);
    if (to != &c->memory[0])
        lanes_join(c, to, from);
}

static void cancelling_step(struct cancelling *c, uint32_t function,
                            const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    struct lanes lanes = {0};
    switch (in->opcode) {
    case SpvOpStore:
        lanes_store(c, bf_word(m, in, 1), c->of[bf_word(m, in, 2)]);
        return;
    case SpvOpCopyMemory:
        lanes_store(c, bf_word(m, in, 1), *lanes_of_memory(c, bf_word(m, in, 2)));
        return;
    case SpvOpReturnValue:
        lanes_join(c, &c->of[function], c->of[bf_word(m, in, 1)]);
        return;
    case SpvOpFunctionCall:
        call_step(c, in);
        return;
    case SpvOpLoad:
        lanes = c->keys[in->result] ? (struct lanes){.key = c->keys[in->result]}
                                    : *lanes_of_memory(c, bf_word(m, in, 3));
        lanes = chosen(c, in->result, lanes, bf_module_memory(c->m, bf_word(m, in, 3)));
        break;
    case SpvOpPhi:
    case SpvOpSelect:
        lanes = of_operands(c, in, in->opcode == SpvOpSelect ? 4 : 3);
        lanes = chosen(c, in->result, lanes, in->result);
        break;
    case SpvOpFAdd:
    case SpvOpFSub:
        sum_step(c, in, &lanes);
        break;
    case SpvOpFNegate:
        lanes = lanes_negate(c->of[bf_word(m, in, 3)]);
        break;
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
        lanes = (struct lanes){.key = computed_key(c, in),
                               .multiplied = is_kept(c, in) ? 0 : folded_operands(c, in)};
        break;
    default:
        if (in->opcode >= SpvOpFOrdEqual && in->opcode <= SpvOpFUnordGreaterThanEqual)
            sum_step(c, in, &lanes);
        else if (bf_hands_on(m, in))
            lanes = of_operands(c, in, bf_operands(in));
        else
            lanes.key = computed_key(c, in);
        if (in->opcode == SpvOpExtInst && bf_word(m, in, 4) == GLSLstd450FAbs)
            lanes = lanes_unsign(lanes);
        break;
    }
    if (in->result)
        lanes_join(c, &c->of[in->result], lanes);
}

bool bf_cancelling_find(struct bf_module *m, const uint8_t *value, uint8_t bit,
                        const uint64_t *keys, bool *cancels)
{
    struct cancelling c = {
        .m = m,
        .value = value,
        .bit = bit,
        .keys = keys,
        .of = calloc(m->bound, sizeof(*c.of)),
        .memory = calloc(m->bound, sizeof(*c.memory)),
    };
    const bool done = c.of && c.memory;
    do {
        c.changed = false;
        for (uint32_t f = 0; done && f < m->function_count; f++)
            for (uint32_t i = m->functions[f].first;
                 m->functions[f].reached && i < m->functions[f].end; i++)
                cancelling_step(&c, m->functions[f].id, &m->instructions[i]);
    } while (c.changed && !c.cancels);
    free(c.of);
    free(c.memory);
    *cancels = c.cancels;
    return done;
}
