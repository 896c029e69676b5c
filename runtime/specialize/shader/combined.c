/* SPDX-License-Identifier: MIT */
/*
 * Which arithmetic a compiler could compute otherwise because folding has made constants, that it
 * couldn't before: it gathers a constant with those that it meets, through another operation or a
 * comparison. Told of is more than that where what is stored, chosen or handed on may be one value
 * or another; never less, but for what goes through memory outside of the invocation.
 *
 * Forwards over values, variables and calls: what each may be. Backwards from comparisons and the
 * like with what folding made: what they compare.
 */
#include "specialize/shader/module.h"

#include <stdlib.h>

#include <spirv/unified1/GLSL.std.450.h>

#include "specialize/shader/cancelling.h"
#include "specialize/shader/decided.h"

/* What a value may be; 0: it isn't known yet. */
enum {
    VARIES = 1,  /* none that a compiler knows */
    FOLDS = 2,   /* a constant that folding has made */
    PLAIN = 4,   /* another constant */
    DECIDED = 8, /* of memory, and of what functions return: it is what folding decides */
};

struct combining {
    struct bf_module *m;
    const bool *folded; /* [bound] loads */
    uint8_t *value;     /* [bound]; of a function what it returns; of a pointer its indices */
    uint8_t *memory;    /* [bound] */
    bool *met;          /* [bound]: it is compared; of a function what it returns */
    bool *met_memory;   /* [bound] */
    struct bf_decided decided;
    bool changed;
};

static void combining_add(struct combining *c, uint8_t *to, uint8_t bits)
{
    c->changed |= (bits & ~*to) != 0;
    *to |= bits;
}

static uint8_t *combining_memory(const struct combining *c, uint32_t pointer)
{
    return &c->memory[bf_module_memory(c->m, pointer)];
}

/* What lies outside of the invocation is one memory, and stays what it is. */
static void combining_store(struct combining *c, uint32_t pointer, uint8_t bits)
{
    uint8_t *memory = combining_memory(c, pointer);
    if (memory != &c->memory[0])
        combining_add(c, memory, bits);
}

static bool is_pointer(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && type->opcode == SpvOpTypePointer;
}

static bool is_value(const struct bf_module *m, const struct bf_instruction *in, uint32_t word)
{
    const struct bf_instruction *of =
        bf_word_is_id(m, in, word) ? bf_definition(m, bf_word(m, in, word)) : NULL;
    return of && of->type;
}

/* One of several, of which folding decides if 'by' is so. */
static uint8_t one_of(uint8_t bits, bool by)
{
    const uint8_t chosen = by && bits & (FOLDS | PLAIN) ? FOLDS : 0;
    return (uint8_t)((bits & ~DECIDED) | chosen);
}

static uint8_t read_memory(uint8_t bits)
{
    return one_of(bits, bits & DECIDED);
}

/* ---------------------------------------------------------------------------------- Forwards -- */

static void combining_step_call(struct combining *c, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f == UINT32_MAX)
        return;
    combining_add(c, &c->value[in->result], read_memory(c->value[m->functions[f].id]));
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        combining_add(c, &c->value[pair.parameter], c->value[pair.argument]);
}

/* Any of the operands, from word 'first' on. */
static uint8_t any_of(const struct combining *c, const struct bf_instruction *in, uint32_t first)
{
    uint8_t bits = 0;
    for (uint32_t w = first; w < in->count; w++)
        bits |= is_value(c->m, in, w) ? c->value[bf_word(c->m, in, w)] : 0;
    return bits;
}

/* What is computed of all operands: a constant if each may be one. */
static uint8_t combining_compute(const struct combining *c, const struct bf_instruction *in)
{
    uint8_t any = 0, all = PLAIN;
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        if (!is_value(c->m, in, w))
            continue;
        const uint8_t bits = c->value[bf_word(c->m, in, w)];
        if (!bits)
            return 0;
        if (bits == VARIES)
            return VARIES;
        any |= bits;
        all &= bits;
    }
    return any ? (uint8_t)((any & (VARIES | FOLDS)) | all) : VARIES;
}

/* An instruction that isn't known here; where it has pointers, it may write there. */
static uint8_t other_step(struct combining *c, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    bool varies =
        (in->opcode >= SpvOpSampledImage && in->opcode <= SpvOpImageQuerySamples) ||
        (in->opcode >= SpvOpImageSparseSampleImplicitLod && in->opcode <= SpvOpImageSparseRead) ||
        (in->opcode >= SpvOpGroupNonUniformElect && in->opcode <= SpvOpGroupNonUniformQuadSwap);
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        const uint32_t id = bf_word_is_id(m, in, w) ? bf_word(m, in, w) : 0;
        if (!id || !is_pointer(m, id))
            continue;
        combining_store(c, id, VARIES);
        varies = true;
    }
    return varies ? VARIES : combining_compute(c, in);
}

/* What is loaded, perhaps by an index that folding makes a constant. */
static uint8_t loaded(const struct combining *c, const struct bf_instruction *in)
{
    const uint32_t pointer = bf_word(c->m, in, 3);
    return c->folded[in->result]
               ? FOLDS
               : one_of(read_memory(*combining_memory(c, pointer)), c->value[pointer] & FOLDS);
}

static void combining_step(struct combining *c, uint32_t function, uint32_t i)
{
    const struct bf_module *m = c->m;
    const struct bf_instruction *in = &m->instructions[i];
    const uint8_t decided = c->decided.depth[i] ? DECIDED : 0;
    uint8_t bits = 0;
    switch (in->opcode) {
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpLabel:
        return;
    case SpvOpVariable:
        if (in->count > 4)
            combining_store(c, in->result, c->value[bf_word(m, in, 4)]);
        return;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        bits = any_of(c, in, 3) & FOLDS;
        break;
    case SpvOpUndef:
        bits = PLAIN;
        break;
    case SpvOpLoad:
        bits = loaded(c, in);
        break;
    case SpvOpStore:
        bits = c->value[bf_word(m, in, 2)];
        combining_store(c, bf_word(m, in, 1), bits ? bits | decided : 0);
        return;
    case SpvOpCopyMemory:
        bits = read_memory(*combining_memory(c, bf_word(m, in, 2)));
        combining_store(c, bf_word(m, in, 1), bits ? bits | decided : 0);
        return;
    case SpvOpReturnValue:
        bits = c->value[bf_word(m, in, 1)];
        combining_add(c, &c->value[function], bits ? bits | decided : 0);
        return;
    case SpvOpFunctionCall:
        combining_step_call(c, in);
        return;
    case SpvOpPhi:
        bits = one_of(any_of(c, in, 3), decided);
        break;
    case SpvOpSelect:
        bits = one_of(any_of(c, in, 4), c->value[bf_word(m, in, 3)] & FOLDS);
        break;
    case SpvOpCompositeConstruct:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
        bits = any_of(c, in, 3);
        break;
    default:
        bits = other_step(c, in);
        break;
    }
    if (in->result)
        combining_add(c, &c->value[in->result], bits);
}

/* What lies outside of functions. */
static void combining_begin(struct combining *c)
{
    const struct bf_module *m = c->m;
    bf_module_alias(c->m);
    c->memory[0] = VARIES;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t storage = in->opcode == SpvOpVariable ? bf_word(m, in, 3) : 0;
        if (bf_opcode_is_constant(in->opcode) || in->opcode == SpvOpUndef)
            c->value[in->result] = PLAIN;
        if (in->opcode == SpvOpVariable && storage != SpvStorageClassFunction &&
            storage != SpvStorageClassPrivate)
            *combining_memory(c, in->result) = VARIES;
        else if (in->opcode == SpvOpVariable && in->count > 4)
            *combining_memory(c, in->result) |= PLAIN;
    }
}

static void combining_run(struct combining *c)
{
    const struct bf_module *m = c->m;
    combining_begin(c);
    do {
        c->changed = bf_decided_find(&c->decided, m, c->value, FOLDS);
        for (uint32_t f = 0; f < m->function_count; f++)
            for (uint32_t i = m->functions[f].first;
                 m->functions[f].reached && i < m->functions[f].end; i++)
                combining_step(c, m->functions[f].id, i);
    } while (c->changed);
}

/* --------------------------------------------------------------------------------- Backwards -- */

/* Of floats. */
static bool is_comparison(uint16_t opcode)
{
    return opcode >= SpvOpFOrdEqual && opcode <= SpvOpFUnordGreaterThanEqual;
}

bool bf_hands_on(const struct bf_module *m, const struct bf_instruction *in)
{
    switch (in->opcode) {
    case SpvOpPhi:
    case SpvOpSelect:
    case SpvOpCopyObject:
    case SpvOpCopyLogical:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
    case SpvOpFNegate:
    case SpvOpFConvert:
        return true;
    default:
        return in->opcode == SpvOpExtInst && bf_word(m, in, 3) == m->glsl &&
               bf_library_exact(bf_word(m, in, 4));
    }
}

static bool operand_has(const struct combining *c, const struct bf_instruction *in, uint8_t bits)
{
    return any_of(c, in, bf_operands(in)) & bits;
}

static void meeting_note(struct combining *c, bool *met)
{
    c->changed |= !*met;
    *met = true;
}

static void meet_operands(struct combining *c, const struct bf_instruction *in)
{
    for (uint32_t w = bf_operands(in); w < in->count; w++)
        if (is_value(c->m, in, w))
            meeting_note(c, &c->met[bf_word(c->m, in, w)]);
}

static void meet_arguments(struct combining *c, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    const uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f != UINT32_MAX && c->met[in->result])
        meeting_note(c, &c->met[m->functions[f].id]);
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        if (c->met[pair.parameter])
            meeting_note(c, &c->met[pair.argument]);
}

static void meeting_step(struct combining *c, uint32_t function, const struct bf_instruction *in)
{
    const struct bf_module *m = c->m;
    const bool compares =
        is_comparison(in->opcode) || (in->opcode == SpvOpExtInst && bf_hands_on(m, in));
    const bool sum = in->opcode == SpvOpFAdd || in->opcode == SpvOpFSub; /* its terms are moved */
    if ((in->result && c->met[in->result] && (sum || bf_hands_on(m, in))) ||
        (compares && operand_has(c, in, FOLDS)))
        meet_operands(c, in);
    else if (in->opcode == SpvOpLoad && c->met[in->result])
        meeting_note(c, &c->met_memory[bf_module_memory(c->m, bf_word(m, in, 3))]);
    else if (in->opcode == SpvOpStore && c->met_memory[bf_module_memory(c->m, bf_word(m, in, 1))])
        meeting_note(c, &c->met[bf_word(m, in, 2)]);
    else if (in->opcode == SpvOpCopyMemory &&
             c->met_memory[bf_module_memory(c->m, bf_word(m, in, 1))])
        meeting_note(c, &c->met_memory[bf_module_memory(c->m, bf_word(m, in, 2))]);
    else if (in->opcode == SpvOpReturnValue && c->met[function])
        meeting_note(c, &c->met[bf_word(m, in, 1)]);
    else if (in->opcode == SpvOpFunctionCall)
        meet_arguments(c, in);
}

static void meeting_run(struct combining *c)
{
    const struct bf_module *m = c->m;
    do {
        c->changed = false;
        for (uint32_t f = m->function_count; f-- > 0;)
            for (uint32_t i = m->functions[f].end;
                 m->functions[f].reached && i-- > m->functions[f].first;)
                meeting_step(c, m->functions[f].id, &m->instructions[i]);
    } while (c->changed);
}

/* It meets a constant that folding made: as an operand, or by another of its own. */
static bool combines(const struct combining *c, uint32_t id)
{
    const struct bf_instruction *in = bf_definition(c->m, id);
    return in && (operand_has(c, in, FOLDS) || (c->met[id] && operand_has(c, in, PLAIN)));
}

/* Which words the folded loads have. NULL: out of memory. */
static uint64_t *keys_make(const struct bf_shader *shader, const bool *folded)
{
    uint64_t *keys = calloc(shader->words[3], sizeof(*keys));
    for (uint32_t i = 0; keys && i < shader->load_count; i++) {
        const struct bf_load *load = &shader->loads[i];
        if (folded[load->id])
            keys[load->id] = bf_member_words(&shader->members[load->member]);
    }
    return keys;
}

VkResult bf_combined_find(const struct bf_shader *shader, const bool *folded, uint32_t *ids,
                          uint32_t *count, bool *cancels)
{
    const struct bf_shader_info info = {
        shader->words, shader->word_count, shader->entry, shader->stage,
        shader->has_specialization ? &shader->specialization : NULL};
    struct bf_module m;
    struct combining c = {.m = &m, .folded = folded};
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    *count = 0;
    *cancels = false;
    if (bf_module_init(&m, &info)) {
        c.value = calloc(m.bound, 1);
        c.memory = calloc(m.bound, 1);
        c.met = calloc(m.bound, sizeof(*c.met));
        c.met_memory = calloc(m.bound, sizeof(*c.met_memory));
        if (bf_decided_init(&c.decided, &m) && c.value && c.memory && c.met && c.met_memory) {
            uint64_t *keys = keys_make(shader, folded);
            combining_run(&c);
            meeting_run(&c);
            for (uint32_t i = 0; i < shader->arithmetic_count; i++)
                if (combines(&c, shader->arithmetic[i]))
                    ids[(*count)++] = shader->arithmetic[i];
            if (keys && bf_cancelling_find(&m, c.value, FOLDS, keys, cancels))
                result = VK_SUCCESS;
            free(keys);
        }
    } else if (!m.out_of_memory) {
        result = VK_ERROR_INVALID_SHADER_NV; /* not one that was analysed */
    }
    bf_decided_finish(&c.decided);
    free(c.value);
    free(c.memory);
    free(c.met);
    free(c.met_memory);
    bf_module_finish(&m);
    return result;
}
