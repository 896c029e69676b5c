/* SPDX-License-Identifier: MIT */
/* Which arithmetic has an operand that folding makes a constant: such a constant is what a compiler
 * may gather with others, which it couldn't before. Forwards over values, variables and calls; what
 * isn't known isn't a constant. */
#include "specialize/shader/module.h"

#include <stdlib.h>

enum { VARIES = 1, FOLDS = 2 };

struct combining {
    struct bf_module *m;
    const bool *folded; /* [bound] loads */
    uint8_t *value;     /* [bound]; of a function what it returns */
    uint8_t *memory;    /* [bound] */
    bool changed;
};

static void combining_add(struct combining *c, uint8_t *to, uint8_t bits)
{
    c->changed |= (bits & ~*to) != 0;
    *to |= bits;
}

static uint8_t *memory_of(const struct combining *c, uint32_t pointer)
{
    return &c->memory[bf_module_memory(c->m, pointer)];
}

static bool is_pointer(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && type->opcode == SpvOpTypePointer;
}

static void combining_step_call(struct combining *c, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    uint32_t w = 4;
    if (f == UINT32_MAX)
        return;
    combining_add(c, &c->value[in->result], c->value[m->functions[f].id]);
    for (uint32_t i = m->functions[f].first + 1; i < m->functions[f].end && w < in->count; i++) {
        const struct bf_instruction *parameter = &m->instructions[i];
        if (parameter->opcode == SpvOpFunctionParameter)
            combining_add(c, &c->value[parameter->result], c->value[bf_word(m, in, w++)]);
        else if (parameter->opcode == SpvOpLabel)
            break;
    }
}

/* Bits of an instruction that isn't known here; where it has pointers, it may write there. */
static uint8_t other_step(struct combining *c, const struct bf_instruction *in, uint8_t bits)
{
    const struct bf_module *m = c->m;
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        const uint32_t id = bf_word_is_id(m, in, w) ? bf_word(m, in, w) : 0;
        if (!id || !is_pointer(m, id))
            continue;
        combining_add(c, memory_of(c, id), VARIES);
        bits |= VARIES;
    }
    const bool image = in->opcode >= SpvOpSampledImage && in->opcode <= SpvOpImageQuerySamples,
               sparse = in->opcode >= SpvOpImageSparseSampleImplicitLod &&
                        in->opcode <= SpvOpImageSparseRead,
               subgroup = in->opcode >= SpvOpGroupNonUniformElect &&
                          in->opcode <= SpvOpGroupNonUniformQuadSwap;
    return bits | (image || sparse || subgroup ? VARIES : 0);
}

static void combining_step(struct combining *c, uint32_t function, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    uint8_t bits = 0;
    for (uint32_t w = bf_operands(in); w < in->count; w++)
        bits |= bf_word_is_id(m, in, w) ? c->value[bf_word(m, in, w)] : 0;
    switch (in->opcode) {
    case SpvOpVariable:
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpLabel:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        return;
    case SpvOpLoad:
        bits = c->folded[in->result] ? FOLDS : *memory_of(c, bf_word(m, in, 3));
        break;
    case SpvOpStore:
        combining_add(c, memory_of(c, bf_word(m, in, 1)), c->value[bf_word(m, in, 2)]);
        return;
    case SpvOpReturnValue:
        combining_add(c, &c->value[function], bits);
        return;
    case SpvOpFunctionCall:
        combining_step_call(c, in);
        return;
    default:
        bits = other_step(c, in, bits);
        break;
    }
    if (in->result)
        combining_add(c, &c->value[in->result], bits);
}

static void combining_run(struct combining *c)
{
    const struct bf_module *m = c->m;
    bf_module_alias(c->m);
    c->memory[0] = VARIES;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t storage = in->opcode == SpvOpVariable ? bf_word(m, in, 3) : 0;
        if (in->opcode == SpvOpVariable && storage != SpvStorageClassFunction &&
            storage != SpvStorageClassPrivate)
            *memory_of(c, in->result) = VARIES;
    }
    do {
        c->changed = false;
        for (uint32_t f = 0; f < m->function_count; f++)
            for (uint32_t i = m->functions[f].first;
                 m->functions[f].reached && i < m->functions[f].end; i++)
                combining_step(c, m->functions[f].id, &m->instructions[i]);
    } while (c->changed);
}

/* An operand is a constant that folding made. */
static bool combines(const struct combining *c, uint32_t id)
{
    const struct bf_module *m = c->m;
    const struct bf_instruction *in = bf_definition(m, id);
    bool any = false;
    for (uint32_t w = in ? bf_operands(in) : 0; in && w < in->count; w++)
        any |= bf_word_is_id(m, in, w) && c->value[bf_word(m, in, w)] == FOLDS;
    return any;
}

VkResult bf_combined_find(const struct bf_shader *shader, const bool *folded, uint32_t *ids,
                          uint32_t *count)
{
    const struct bf_shader_info info = {
        shader->words, shader->word_count, shader->entry, shader->stage,
        shader->has_specialization ? &shader->specialization : NULL};
    struct bf_module m;
    struct combining c = {.m = &m, .folded = folded};
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    *count = 0;
    if (bf_module_init(&m, &info)) {
        c.value = calloc(m.bound, 1);
        c.memory = calloc(m.bound, 1);
    } else if (!m.out_of_memory) {
        result = VK_ERROR_INVALID_SHADER_NV; /* not one that was analysed */
    }
    if (c.value && c.memory) {
        combining_run(&c);
        for (uint32_t i = 0; i < shader->arithmetic_count; i++)
            if (combines(&c, shader->arithmetic[i]))
                ids[(*count)++] = shader->arithmetic[i];
        result = VK_SUCCESS;
    }
    free(c.value);
    free(c.memory);
    bf_module_finish(&m);
    return result;
}
