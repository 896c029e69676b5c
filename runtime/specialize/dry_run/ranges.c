/* SPDX-License-Identifier: MIT */
/* Values and ways that are possible: the module's instructions are gone through again and again,
 * blocks that are come to alone, until nothing changes. [FN-7] */
#include "specialize/dry_run/ranges.h"

#include <math.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>

#include "specialize/dry_run/choice.h"

#define ROUNDS  64 /* through the module */
#define CHANGES 6  /* of one value, before it may be any */

struct finding {
    struct bf_ranges *ranges;
    const struct bf_module *m;
    uint32_t hiding, label;
    uint8_t *changes; /* [bound] */
    bool changed;
};

/* ---------------------------------------------------------------------------------- Operands -- */

/* Whether it is of numbers of 32 bits, or booleans, alone. */
static bool is_followed(const struct bf_module *m, uint32_t type)
{
    const struct bf_instruction *in = bf_definition(m, type);
    struct bf_shape shape;
    for (uint32_t depth = 0; in && depth < 3; depth++) {
        if (in->opcode == SpvOpTypeBool)
            return true;
        if (bf_shape(m, in->result, &shape))
            return shape.width == 4;
        if (in->opcode != SpvOpTypeVector && in->opcode != SpvOpTypeMatrix)
            return false;
        in = bf_definition(m, bf_word(m, in, 2));
    }
    return false;
}

static struct bf_interval value_of(const struct finding *f, const struct bf_instruction *in,
                                   uint32_t w)
{
    return bf_word_is_id(f->m, in, w) ? f->ranges->values[bf_word(f->m, in, w)] : bf_interval_any();
}

/* Of those that a word names. */
static struct bf_interval hull_of(const struct finding *f, const struct bf_instruction *in,
                                  uint32_t first, uint32_t end)
{
    struct bf_interval all = bf_interval_none();
    for (uint32_t w = first; w < end && w < in->count; w++)
        all = bf_interval_hull(all, value_of(f, in, w));
    return all;
}

/* --------------------------------------------------------------------------------- Constants -- */

static struct bf_interval constant(const struct finding *f, const struct bf_instruction *in)
{
    const struct bf_module *m = f->m;
    uint64_t value;
    float number;
    switch (in->opcode) {
    case SpvOpConstantTrue:
        return bf_interval_of(1, 1);
    case SpvOpConstantFalse:
    case SpvOpConstantNull:
        return bf_interval_of(0, 0);
    case SpvOpConstantComposite:
        return hull_of(f, in, 3, in->count);
    case SpvOpConstant:
        if (!bf_constant(m, in->result, &value))
            return bf_interval_any();
        if (!bf_value_has_floats(m, in->result))
            return bf_interval_of((int32_t)value, (int32_t)value);
        memcpy(&number, &(uint32_t){(uint32_t)value}, sizeof(number));
        return isnan(number) ? bf_interval_any() : bf_interval_of(number, number);
    default:
        return bf_interval_any();
    }
}

/* ----------------------------------------------------------------------------- Instructions -- */

static struct bf_interval phi(const struct finding *f, const struct bf_instruction *in)
{
    struct bf_interval all = bf_interval_none();
    for (uint32_t w = 3; w + 1 < in->count; w += 2)
        if (bf_ranges_may_go(f->ranges, bf_word(f->m, in, w + 1), f->label))
            all = bf_interval_hull(all, value_of(f, in, w));
    return all;
}

static bool is_hidden(const struct finding *f, const struct bf_instruction *select)
{
    const struct bf_instruction *load = bf_definition_as(f->m, bf_word(f->m, select, 3), SpvOpLoad);
    return load && f->hiding && bf_word(f->m, load, 3) == f->hiding;
}

static struct bf_interval selected(const struct finding *f, const struct bf_instruction *in)
{
    const struct bf_interval which = value_of(f, in, 3);
    if (is_hidden(f, in))
        return value_of(f, in, 4);
    return which.low == 1    ? value_of(f, in, 4)
           : which.high == 0 ? value_of(f, in, 5)
                             : bf_interval_hull(value_of(f, in, 4), value_of(f, in, 5));
}

static struct bf_interval shuffled(const struct finding *f, const struct bf_instruction *in)
{
    for (uint32_t w = 5; w < in->count; w++)
        if (bf_word(f->m, in, w) == UINT32_MAX)
            return bf_interval_any();
    return hull_of(f, in, 3, 5);
}

/* Sizes of images: none is so large. */
static bool asks_for_size(uint16_t opcode)
{
    return opcode == SpvOpImageQuerySizeLod || opcode == SpvOpImageQueryLevels ||
           opcode == SpvOpImageQuerySamples;
}

static struct bf_interval products(const struct finding *f, const struct bf_instruction *in)
{
    /* Of a matrix with itself other elements meet. */
    const bool squares = (in->opcode == SpvOpFMul || in->opcode == SpvOpDot) &&
                         bf_word(f->m, in, 3) == bf_word(f->m, in, 4);
    const struct bf_interval product =
        squares ? bf_interval_square(value_of(f, in, 3))
                : bf_interval_multiply(value_of(f, in, 3), value_of(f, in, 4));
    switch (in->opcode) {
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        return product;
    default:
        return bf_interval_sum(product, 2, 4);
    }
}

/* Of an integer that isn't followed its width is known. */
static struct bf_interval float_converted(const struct finding *f, const struct bf_instruction *in)
{
    const bool is_signed = in->opcode == SpvOpConvertSToF;
    const struct bf_instruction *type = bf_value_type(f->m, bf_word(f->m, in, 3));
    struct bf_shape shape;
    if (!type || !bf_shape(f->m, type->result, &shape))
        return bf_interval_any();
    return shape.width == 4 ? bf_interval_float(value_of(f, in, 3), is_signed)
                            : bf_interval_float_of(8u * shape.width, is_signed);
}

static struct bf_interval computed(const struct finding *f, const struct bf_instruction *in)
{
    const struct bf_module *m = f->m;
    const struct bf_interval operands[3] = {value_of(f, in, 3), value_of(f, in, 4),
                                            bf_interval_any()};
    const struct bf_interval library[3] = {value_of(f, in, 5), value_of(f, in, 6),
                                           value_of(f, in, 7)};
    const struct bf_id *type = &m->ids[in->type];
    switch (in->opcode) {
    case SpvOpPhi:
        return phi(f, in);
    case SpvOpSelect:
        return selected(f, in);
    case SpvOpVectorShuffle:
        return shuffled(f, in);
    case SpvOpCopyObject:
    case SpvOpCompositeExtract:
    case SpvOpVectorExtractDynamic:
    case SpvOpTranspose:
        return operands[0];
    case SpvOpCompositeConstruct:
        return hull_of(f, in, 3, in->count);
    case SpvOpCompositeInsert:
    case SpvOpVectorInsertDynamic:
        return hull_of(f, in, 3, 5);
    case SpvOpFAdd:
        return bf_interval_add(operands[0], operands[1]);
    case SpvOpFSub:
        return bf_interval_add(operands[0], bf_interval_negate(operands[1]));
    case SpvOpFNegate:
        return bf_interval_negate(operands[0]);
    case SpvOpFDiv:
        return bf_interval_divide(operands[0], operands[1]);
    case SpvOpFMod:
    case SpvOpFRem:
        return bf_interval_remainder(operands[0], operands[1]);
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpDot:
    case SpvOpMatrixTimesVector:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesMatrix:
        return products(f, in);
    case SpvOpMatrixTimesScalar:
    case SpvOpOuterProduct:
        return bf_interval_multiply(operands[0], operands[1]);
    case SpvOpConvertFToS:
        return bf_interval_truncate(operands[0]);
    case SpvOpConvertFToU: /* what is negative is open */
        return operands[0].low > -1 ? bf_interval_truncate(operands[0]) : bf_interval_integer();
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
        return float_converted(f, in);
    case SpvOpBitcast:
        return type->has_floats == bf_value_has_floats(m, bf_word(m, in, 3)) ? operands[0]
                                                                             : bf_interval_any();
    case SpvOpExtInst:
        return m->glsl && bf_word(m, in, 3) == m->glsl
                   ? bf_interval_library(bf_word(m, in, 4), library)
                   : bf_interval_any();
    default:
        break;
    }
    if (asks_for_size(in->opcode))
        return bf_interval_of(0, 0x1p31 - 1);
    if (type->has_floats)
        return bf_interval_any();
    return type->has_integers ? bf_interval_whole(in->opcode, operands)
                              : bf_interval_truth(in->opcode, operands);
}

/* An operand that isn't computed yet, so neither is this. A phi waits for one of its own. */
static bool waits(const struct finding *f, const struct bf_instruction *in)
{
    for (uint32_t w = bf_operands(in); w < in->count && in->opcode != SpvOpPhi; w++)
        if (bf_word_is_id(f->m, in, w) && bf_definition(f->m, bf_word(f->m, in, w)) &&
            is_followed(f->m, bf_definition(f->m, bf_word(f->m, in, w))->type) &&
            bf_interval_is_empty(f->ranges->values[bf_word(f->m, in, w)]))
            return true;
    return false;
}

/* Whether all that it is made of is. */
static bool is_fixed(const struct finding *f, const struct bf_instruction *in)
{
    const struct bf_module *m = f->m;
    uint32_t end = in->count;
    if (bf_opcode_is_constant(in->opcode))
        return true;
    if (in->opcode == SpvOpPhi || in->opcode == SpvOpLoad || in->opcode == SpvOpFunctionCall ||
        in->opcode == SpvOpUndef || in->opcode == SpvOpFunctionParameter ||
        in->opcode == SpvOpVariable)
        return false;
    uint32_t w = bf_operands(in);
    if (in->opcode == SpvOpSelect && is_hidden(f, in))
        end = ++w + 1; /* what was hidden alone */
    for (; w < end; w++)
        if (bf_word_is_id(m, in, w) && bf_value_type(m, bf_word(m, in, w)) &&
            !f->ranges->fixed[bf_word(m, in, w)])
            return false;
    return true;
}

/* 0, an infinity, or NaN. */
static bool may_be_special(struct bf_interval a)
{
    return a.nan || isinf(a.low) || isinf(a.high) || (a.low <= 0 && a.high >= 0);
}

/* Whether components of its operands are its own. */
static bool composes(const struct finding *f, const struct bf_instruction *in)
{
    switch (in->opcode) {
    case SpvOpCopyObject:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
    case SpvOpVectorShuffle:
    case SpvOpTranspose:
    case SpvOpFNegate:
        return true;
    case SpvOpSelect:
        return is_hidden(f, in);
    default:
        return false;
    }
}

static bool is_special(const struct finding *f, const struct bf_instruction *in)
{
    bool any = f->ranges->fixed[in->result] && may_be_special(f->ranges->values[in->result]);
    for (uint32_t w = 3; w < in->count && composes(f, in); w++)
        any |= bf_word_is_id(f->m, in, w) && f->ranges->special[bf_word(f->m, in, w)];
    return any;
}

/* Only ever grows. */
static void value_set(struct finding *f, const struct bf_instruction *in, struct bf_interval to)
{
    struct bf_interval *value = &f->ranges->values[in->result];
    to = bf_interval_hull(*value, to);
    if (to.low == value->low && to.high == value->high && to.nan == value->nan)
        return;
    if (f->changes[in->result]++ >= CHANGES)
        to = bf_interval_any();
    *value = to;
    f->changed = true;
}

/* Of what is followed no other operation has a result of such a type. */
static void instruction_follow(struct finding *f, const struct bf_instruction *in)
{
    if (!in->result || !in->type)
        return;
    f->ranges->fixed[in->result] = is_fixed(f, in);
    if (!is_followed(f->m, in->type) || f->ranges->relaxed[in->result] || in->opcode == SpvOpLoad ||
        in->opcode == SpvOpFunctionCall || in->opcode == SpvOpUndef)
        value_set(f, in, bf_interval_any());
    else if (bf_opcode_is_constant(in->opcode))
        value_set(f, in, constant(f, in));
    else if (!waits(f, in))
        value_set(f, in, computed(f, in));
    f->ranges->special[in->result] = is_special(f, in);
}

/* -------------------------------------------------------------------------------------- Ways -- */

static bool may_select(struct bf_interval selector, uint32_t literal)
{
    return selector.low <= (int32_t)literal && selector.high >= (int32_t)literal;
}

static bool switch_may_go(const struct bf_ranges *ranges, const struct bf_instruction *in,
                          uint32_t to)
{
    const struct bf_module *m = ranges->m;
    const struct bf_interval selector = ranges->values[bf_word(m, in, 1)];
    bool others = false; /* one of the cases is selected for sure */
    if (bf_interval_is_empty(selector) ||
        !is_followed(m, bf_value_type(m, bf_word(m, in, 1))->result))
        return !bf_interval_is_empty(selector);
    for (uint32_t w = 3; w + 1 < in->count; w += 2) {
        if (!may_select(selector, bf_word(m, in, w)))
            continue;
        others |= selector.low == selector.high;
        if (bf_word(m, in, w + 1) == to)
            return true;
    }
    return bf_word(m, in, 2) == to && !others;
}

bool bf_ranges_may_go(const struct bf_ranges *ranges, uint32_t from, uint32_t to)
{
    const struct bf_module *m = ranges->m;
    const struct bf_instruction *in = &m->instructions[ranges->ends[from]];
    struct bf_interval which;
    if (!ranges->reached[from])
        return false;
    switch (in->opcode) {
    case SpvOpBranch:
        return bf_word(m, in, 1) == to;
    case SpvOpBranchConditional:
        which = ranges->values[bf_word(m, in, 1)];
        return !bf_interval_is_empty(which) && ((bf_word(m, in, 2) == to && which.high > 0) ||
                                                (bf_word(m, in, 3) == to && which.low < 1));
    case SpvOpSwitch:
        return switch_may_go(ranges, in, to);
    default:
        return false;
    }
}

static void ways_follow(struct finding *f, const struct bf_instruction *in)
{
    for (uint32_t w = 1; w < in->count; w++) {
        const uint32_t to = bf_word(f->m, in, w);
        if (!bf_word_is_id(f->m, in, w) || !bf_definition_as(f->m, to, SpvOpLabel) ||
            f->ranges->reached[to] || !bf_ranges_may_go(f->ranges, f->label, to))
            continue;
        f->ranges->reached[to] = f->changed = true;
    }
}

static bool is_end(uint16_t opcode)
{
    return opcode == SpvOpBranch || opcode == SpvOpBranchConditional || opcode == SpvOpSwitch;
}

static void round_go(struct finding *f)
{
    const struct bf_module *m = f->m;
    bool begins = false;
    f->label = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpFunction) {
            begins = true;
        } else if (in->opcode == SpvOpLabel) {
            f->label = in->result;
            f->ranges->reached[f->label] |= begins;
            begins = false;
        } else if (!f->label || f->ranges->reached[f->label]) {
            if (is_end(in->opcode))
                ways_follow(f, in);
            else
                instruction_follow(f, in);
        }
        if (in->opcode == SpvOpFunctionEnd)
            f->label = 0;
    }
}

/* -------------------------------------------------------------------------------- The whole -- */

static void ends_find(struct bf_ranges *ranges)
{
    const struct bf_module *m = ranges->m;
    uint32_t label = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpLabel)
            label = in->result;
        else if (is_end(in->opcode))
            ranges->ends[label] = i;
        if (in->opcode == SpvOpDecorate && bf_word(m, in, 2) == SpvDecorationRelaxedPrecision)
            ranges->relaxed[bf_word(m, in, 1)] = true;
    }
}

VkResult bf_ranges_find(struct bf_ranges *ranges, const struct bf_module *m, uint32_t hiding,
                        struct bf_arena *arena)
{
    struct finding f = {.ranges = ranges, .m = m, .hiding = hiding};
    *ranges = (struct bf_ranges){.m = m};
    ranges->values = bf_arena_zeroed(arena, m->bound * sizeof(*ranges->values));
    ranges->relaxed = bf_arena_zeroed(arena, m->bound);
    ranges->fixed = bf_arena_zeroed(arena, m->bound);
    ranges->special = bf_arena_zeroed(arena, m->bound);
    ranges->reached = bf_arena_zeroed(arena, m->bound);
    ranges->ends = bf_arena_zeroed(arena, m->bound * sizeof(*ranges->ends));
    f.changes = bf_arena_zeroed(arena, m->bound);
    if (arena->failed)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t id = 0; id < m->bound; id++)
        ranges->values[id] = bf_interval_none();
    ends_find(ranges);
    uint32_t rounds = 0;
    do {
        if (rounds++ == ROUNDS)
            return VK_ERROR_INVALID_SHADER_NV;
        f.changed = false;
        round_go(&f);
    } while (f.changed);
    return VK_SUCCESS;
}

/* ---------------------------------------------------------------------------------- Specials -- */

/* What rounds more than once is reached by nothing that is folded [SF-2]. */
static bool computes_floats(uint16_t opcode)
{
    switch (opcode) {
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
    case SpvOpDot:
        return true;
    default:
        return false;
    }
}

uint32_t bf_ranges_special(const struct bf_ranges *ranges, const struct bf_instruction *in)
{
    for (uint32_t w = 3; w < 5 && computes_floats(in->opcode); w++) {
        const uint32_t other = bf_word(ranges->m, in, 7 - w);
        if (ranges->special[bf_word(ranges->m, in, w)] && !ranges->fixed[other] &&
            may_be_special(ranges->values[other]))
            return w;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------- Sides -- */

/* A bit, if a may be less than b. */
static uint8_t if_less(struct bf_interval a, struct bf_interval b, bool same, bool is_signed,
                       uint32_t side)
{
    return (uint8_t)(bf_interval_may_be_less(a, b, same, is_signed) << side);
}

static uint8_t order_sides(struct bf_interval a, struct bf_interval b, bool is_signed)
{
    return if_less(a, b, false, is_signed, 0) | if_less(b, a, false, is_signed, 1);
}

static uint8_t clamp_sides(struct bf_interval x, struct bf_interval low, struct bf_interval high,
                           bool is_signed)
{
    const bool stays = bf_interval_may_be_less(low, x, true, is_signed) &&
                       bf_interval_may_be_less(x, high, true, is_signed);
    return if_less(x, low, false, is_signed, 0) | if_less(high, x, false, is_signed, 1) |
           (uint8_t)(stays << 2);
}

uint8_t bf_ranges_sides(const struct bf_ranges *ranges, const struct bf_instruction *in)
{
    const struct bf_module *m = ranges->m;
    const struct bf_interval *values = ranges->values;
    const bool chooses = in->opcode == SpvOpSelect,
               library = in->opcode == SpvOpExtInst && m->glsl && bf_word(m, in, 3) == m->glsl;
    if (!(chooses || library) || !is_followed(m, in->type) || ranges->relaxed[in->result])
        return UINT8_MAX;
    const struct bf_interval which = values[bf_word(m, in, 3)];
    if (chooses)
        return (uint8_t)((which.high > 0) | (which.low < 1) << 1);
    const struct bf_choice of = bf_choice_of(bf_word(m, in, 4));
    const bool is_signed = of.compared != BF_NUMBER_UINT;
    struct bf_interval v[3];
    for (uint32_t k = 0; k < 3; k++)
        v[k] = of.operands[k] ? values[bf_word(m, in, of.operands[k])] : bf_interval_of(0, 0);
    switch (of.kind) {
    case BF_CHOICE_ORDER:
    case BF_CHOICE_SIGN:
        return order_sides(v[0], v[1], is_signed);
    case BF_CHOICE_CLAMP:
        return clamp_sides(v[0], v[1], v[2], is_signed);
    case BF_CHOICE_STEP:
        return if_less(v[1], v[0], false, is_signed, 0) | if_less(v[0], v[1], true, is_signed, 1);
    default:
        return UINT8_MAX;
    }
}
