/* SPDX-License-Identifier: MIT */
/* A product and its sum, in 64 bits, where a product of 32-bit floats is exact. */
#include "fuse.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

#define HEADER     5
#define COMPONENTS 4

/* What is known of an id. */
struct known {
    uint32_t at;   /* of its definition; 0: none that matters here */
    uint8_t width; /* components of a type of 32-bit floats; 0: it is none */
    bool no_contraction;
    bool constant;
};

struct text {
    uint32_t *words;
    size_t count, capacity;
    bool out_of_memory;
};

struct fusing {
    const uint32_t *words;
    size_t count;
    struct known *known;           /* [bound] */
    uint32_t narrow;               /* the type of 32-bit floats; 0: none */
    uint32_t wide[COMPONENTS + 1]; /* types of 64-bit floats by components; 0: none */
    uint32_t bound;
    size_t capabilities_end, types_begin, functions_begin;
    bool has_wide; /* Float64 */
    struct text decorations, types, functions;
};

/* ------------------------------------------------------------------------------------- Words -- */

static void text_words(struct text *t, const uint32_t *words, size_t count)
{
    if (t->count + count > t->capacity) {
        const size_t capacity = 2 * (t->count + count);
        uint32_t *grown = realloc(t->words, capacity * sizeof(uint32_t));
        if (!grown) {
            t->out_of_memory = true;
            return;
        }
        t->words = grown;
        t->capacity = capacity;
    }
    memcpy(t->words + t->count, words, count * sizeof(uint32_t));
    t->count += count;
}

static void text_add(struct text *t, SpvOp opcode, const uint32_t *operands, uint32_t count)
{
    const uint32_t first = (count + 1) << 16 | opcode;
    text_words(t, &first, 1);
    text_words(t, operands, count);
}
#define ADD(text_, opcode_, ...)                                                                   \
    text_add(text_, opcode_, (uint32_t[]){__VA_ARGS__},                                            \
             sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* ----------------------------------------------------------------------------- What there is -- */

static SpvOp opcode_at(const struct fusing *f, size_t at)
{
    return (SpvOp)(f->words[at] & 0xffff);
}

static void learn_type(struct fusing *f, size_t at)
{
    const uint32_t *w = &f->words[at];
    const bool scalar = opcode_at(f, at) == SpvOpTypeFloat;
    const uint32_t width = scalar ? 1 : w[3];
    if (scalar && w[2] == 64)
        f->wide[1] = w[1];
    else if (!scalar && w[2] == f->wide[1] && f->wide[1])
        f->wide[width] = w[1];
    else if (scalar ? w[2] == 32 : f->narrow && w[2] == f->narrow) {
        f->narrow = scalar ? w[1] : f->narrow;
        f->known[w[1]].width = (uint8_t)width;
    }
}

static void learn(struct fusing *f, size_t at)
{
    const uint32_t *w = &f->words[at];
    const SpvOp opcode = opcode_at(f, at);
    switch (opcode) {
    case SpvOpCapability:
        f->capabilities_end = at + (w[0] >> 16);
        f->has_wide |= w[1] == SpvCapabilityFloat64;
        break;
    case SpvOpDecorate:
        f->known[w[1]].no_contraction |= w[2] == SpvDecorationNoContraction;
        break;
    case SpvOpTypeFloat:
    case SpvOpTypeVector:
        learn_type(f, at);
        break;
    case SpvOpFunction:
        f->functions_begin = f->functions_begin ? f->functions_begin : at;
        break;
    case SpvOpConstant:
    case SpvOpConstantComposite:
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        f->known[w[2]].at = (uint32_t)at;
        f->known[w[2]].constant = opcode == SpvOpConstant || opcode == SpvOpConstantComposite;
        break;
    default:
        break;
    }
    if (!f->types_begin && opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeFunction)
        f->types_begin = at;
}

/* ------------------------------------------------------------------------------------ Fusing -- */

/* The 64-bit type of so many components. */
static uint32_t wide_type(struct fusing *f, uint32_t width)
{
    if (!f->wide[1]) {
        f->wide[1] = f->bound++;
        ADD(&f->types, SpvOpTypeFloat, f->wide[1], 64);
    }
    if (!f->wide[width]) {
        f->wide[width] = f->bound++;
        ADD(&f->types, SpvOpTypeVector, f->wide[width], f->wide[1], width);
    }
    return f->wide[width];
}

/* Its new id. */
static uint32_t widen(struct fusing *f, uint32_t id, uint32_t width)
{
    ADD(&f->functions, SpvOpFConvert, wide_type(f, width), f->bound, id);
    return f->bound++;
}

/* A factor, to so many components if it has but one. */
static uint32_t widen_factor(struct fusing *f, uint32_t id, uint32_t width, bool scalar)
{
    if (!scalar)
        return widen(f, id, width);
    const uint32_t one = widen(f, id, 1);
    uint32_t operands[2 + COMPONENTS] = {wide_type(f, width), f->bound, one, one, one, one};
    text_add(&f->functions, SpvOpCompositeConstruct, operands, 2 + width);
    return f->bound++;
}

static bool is_product(const struct fusing *f, uint32_t id)
{
    const struct known *k = &f->known[id];
    return k->at && !k->constant && !k->no_contraction;
}

static bool has_constant(const struct fusing *f, uint32_t id)
{
    const uint32_t *w = &f->words[f->known[id].at];
    return f->known[w[3]].constant || f->known[w[4]].constant;
}

/* Which of the terms is fused: of two products one that has no constant, since what has can do
 * without a register. -1: none. */
static int term_of(const struct fusing *f, const uint32_t *terms)
{
    if (!is_product(f, terms[0]) || !is_product(f, terms[1]))
        return is_product(f, terms[0]) ? 0 : is_product(f, terms[1]) ? 1 : -1;
    return has_constant(f, terms[0]) && !has_constant(f, terms[1]);
}

/* 64-bit arithmetic is left as it is. */
static uint32_t wide_result(struct fusing *f, SpvOp opcode, uint32_t type, uint32_t a, uint32_t b)
{
    ADD(&f->functions, opcode, type, f->bound, a, b);
    ADD(&f->decorations, SpvOpDecorate, f->bound, SpvDecorationNoContraction);
    return f->bound++;
}

/* False: the sum stays. */
static bool fuse_sum(struct fusing *f, size_t at)
{
    const uint32_t *w = &f->words[at];
    const uint32_t width = f->known[w[1]].width;
    const int term = width && !f->known[w[2]].no_contraction ? term_of(f, &w[3]) : -1;
    if (term < 0)
        return false;
    const uint32_t *product = &f->words[f->known[w[3 + term]].at];
    const bool by_scalar = (product[0] & 0xffff) == SpvOpVectorTimesScalar;
    const uint32_t type = wide_type(f, width);
    const uint32_t a = widen(f, product[3], width),
                   b = widen_factor(f, product[4], width, by_scalar),
                   other = widen(f, w[3 + !term], width);
    const uint32_t exact = wide_result(f, SpvOpFMul, type, a, b);
    const uint32_t sum =
        wide_result(f, opcode_at(f, at), type, term ? other : exact, term ? exact : other);
    ADD(&f->functions, SpvOpFConvert, w[1], w[2], sum);
    return true;
}

static void functions_write(struct fusing *f)
{
    for (size_t at = f->functions_begin; at < f->count; at += f->words[at] >> 16) {
        const SpvOp opcode = opcode_at(f, at);
        if (!((opcode == SpvOpFAdd || opcode == SpvOpFSub) && fuse_sum(f, at)))
            text_words(&f->functions, &f->words[at], f->words[at] >> 16);
    }
}

static bool fused_compose(struct fusing *f, struct reduced *out)
{
    struct text all = {0};
    text_words(&all, f->words, f->capabilities_end);
    if (f->wide[1] && !f->has_wide)
        ADD(&all, SpvOpCapability, SpvCapabilityFloat64);
    text_words(&all, &f->words[f->capabilities_end], f->types_begin - f->capabilities_end);
    text_words(&all, f->decorations.words, f->decorations.count);
    text_words(&all, &f->words[f->types_begin], f->functions_begin - f->types_begin);
    text_words(&all, f->types.words, f->types.count);
    text_words(&all, f->functions.words, f->functions.count);
    const bool done = !all.out_of_memory && !f->decorations.out_of_memory &&
                      !f->types.out_of_memory && !f->functions.out_of_memory;
    if (done)
        all.words[3] = f->bound;
    else
        free(all.words);
    *out = done ? (struct reduced){all.words, all.count} : (struct reduced){0};
    return done;
}

bool fuse_module(const struct reduced *in, struct reduced *out)
{
    struct fusing f = {.words = in->words, .count = in->count, .bound = in->words[3]};
    f.known = calloc(f.bound, sizeof(*f.known));
    bool done = f.known != NULL;
    for (size_t at = HEADER; done && at < in->count; at += in->words[at] >> 16)
        learn(&f, at);
    if (done) {
        functions_write(&f);
        done = fused_compose(&f, out);
    }
    free(f.known);
    free(f.decorations.words);
    free(f.types.words);
    free(f.functions.words);
    return done;
}
