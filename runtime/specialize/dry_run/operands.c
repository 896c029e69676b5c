/* SPDX-License-Identifier: MIT */
/*
 * Operands for which SPIR-V, or Vulkan, leaves an integer's value open [FU-9]: divisors that are
 * zero, or -1 of the least number; negative ones of remainders; clamps to what ends before it
 * begins; shifts by a value's width or more; bits beyond it; what wraps though it is said that it
 * doesn't; floats that no integer can hold, of those that may steer. Each that isn't a constant of
 * another kind becomes one that is allowed, and that is told.
 */
#include <spirv/unified1/GLSL.std.450.h>

#include "specialize/dry_run/parts.h"

/* Operands that are compared component by component, before instruction i. */
struct compared {
    struct bf_parts *parts;
    uint32_t i, type; /* of the operand that may be wrong */
    uint32_t boolean; /* of a comparison */
    struct bf_shape shape;
};

/* Word w is the operand. */
static bool compared_init(struct bf_parts *parts, uint32_t i, uint32_t w, struct compared *c)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *type = bf_value_type(m, bf_word(m, &m->instructions[i], w));
    *c = (struct compared){.parts = parts, .i = i};
    if (!type || !bf_shape(m, type->result, &c->shape)) {
        bf_parts_refuse(parts, BF_DRY_RUN_INVALID);
        return false;
    }
    c->type = type->result;
    c->boolean = bf_rewrite_bool(&parts->rewrite);
    if (c->shape.components > 1)
        c->boolean = BF_TYPE(&parts->rewrite, SpvOpTypeVector, c->boolean, c->shape.components);
    return true;
}

/* As it has been mended so far. */
static uint32_t operand(const struct compared *c, uint32_t w)
{
    return c->parts->rewrite.own[c->parts->m->instructions[c->i].at + w];
}

static uint32_t put(const struct compared *c, uint32_t opcode, uint32_t one, uint32_t other)
{
    return BF_PUT_NEW(&c->parts->rewrite, c->i, opcode, c->boolean, one, other);
}

/* A small number of the operand's type. */
static uint32_t small_number(const struct compared *c, uint32_t value)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    uint32_t number = bf_rewrite_constant(rewrite, value), all[4];
    if (c->shape.width != 4)
        number = BF_PUT_NEW(rewrite, c->i, SpvOpSConvert, c->shape.scalar, number);
    else if (c->shape.number == BF_NUMBER_INT)
        number = BF_PUT_NEW(rewrite, c->i, SpvOpBitcast, c->shape.scalar, number);
    for (uint32_t n = 0; n < c->shape.components; n++)
        all[n] = number;
    return c->shape.components > 1 ? bf_rewrite_put_new(rewrite, c->i, SpvOpCompositeConstruct,
                                                        c->type, c->shape.components, all)
                                   : number;
}

/* Word w is another one where it is wrong. */
static void operand_mend(const struct compared *c, uint32_t w, uint32_t wrong, uint32_t instead)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    bf_rewrite_set(rewrite, c->i, w,
                   BF_PUT_NEW(rewrite, c->i, SpvOpSelect, c->type, wrong, instead, operand(c, w)));
}

static void wrong_tell(const struct compared *c, uint32_t wrong)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    if (c->shape.components > 1)
        wrong = BF_PUT_NEW(rewrite, c->i, SpvOpAny, bf_rewrite_bool(rewrite), wrong);
    bf_parts_flag_if(c->parts, c->i, wrong, BF_DRY_RUN_UNDEFINED);
}

/* Component n of a constant; false: it isn't one. */
static bool component_constant(const struct bf_module *m, uint32_t id, uint32_t n, uint64_t *value)
{
    const struct bf_instruction *in = bf_definition(m, id);
    if (in && (in->opcode == SpvOpConstantComposite || in->opcode == SpvOpSpecConstantComposite))
        id = 3 + n < in->count ? bf_word(m, in, 3 + n) : 0;
    return id && bf_constant(m, id, value);
}

/* Is each component of the operand a constant from 'least' to 'most'? */
static bool is_constant_within(const struct compared *c, uint32_t w, uint64_t least, uint64_t most)
{
    for (uint32_t n = 0; n < c->shape.components; n++) {
        uint64_t value;
        if (!component_constant(c->parts->m, operand(c, w), n, &value) || value < least ||
            value > most)
            return false;
    }
    return true;
}

static void division_rewrite(struct bf_parts *parts, uint32_t i, bool is_signed)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    struct compared divisor, dividend;
    if (!compared_init(parts, i, 4, &divisor) || !compared_init(parts, i, 3, &dividend))
        return;
    const uint64_t ones = UINT64_MAX >> (64 - 8 * divisor.shape.width);
    if (is_constant_within(&divisor, 4, 1, ones - is_signed))
        return;
    uint32_t zero = bf_rewrite_null(rewrite, divisor.type);
    uint32_t wrong = put(&divisor, SpvOpIEqual, operand(&divisor, 4), zero);
    if (is_signed) {
        /* The least number is its own negative; so is zero. */
        uint32_t minus = BF_PUT_NEW(rewrite, i, SpvOpNot, divisor.type, zero);
        uint32_t is_minus = put(&divisor, SpvOpIEqual, operand(&divisor, 4), minus);
        uint32_t negative =
            BF_PUT_NEW(rewrite, i, SpvOpSNegate, dividend.type, operand(&dividend, 3));
        uint32_t is_own = put(&dividend, SpvOpIEqual, operand(&dividend, 3), negative);
        uint32_t is_other = put(&dividend, SpvOpINotEqual, operand(&dividend, 3),
                                bf_rewrite_null(rewrite, dividend.type));
        uint32_t is_least = put(&dividend, SpvOpLogicalAnd, is_own, is_other);
        wrong = put(&divisor, SpvOpLogicalOr, wrong,
                    put(&divisor, SpvOpLogicalAnd, is_minus, is_least));
    }
    operand_mend(&divisor, 4, wrong, small_number(&divisor, 1));
    wrong_tell(&divisor, wrong);
}

/* OpSRem and OpSMod. */
static void remainder_rewrite(struct bf_parts *parts, uint32_t i)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    struct compared divisor, dividend;
    if (!compared_init(parts, i, 4, &divisor) || !compared_init(parts, i, 3, &dividend))
        return;
    const uint64_t most = UINT64_MAX >> (65 - 8 * divisor.shape.width);
    uint32_t wrong = 0;
    if (!is_constant_within(&divisor, 4, 1, most))
        wrong = put(&divisor, SpvOpSLessThanEqual, operand(&divisor, 4),
                    bf_rewrite_null(rewrite, divisor.type));
    if (!is_constant_within(&dividend, 3, 0, most)) {
        const uint32_t negative = put(&dividend, SpvOpSLessThan, operand(&dividend, 3),
                                      bf_rewrite_null(rewrite, dividend.type));
        wrong = wrong ? put(&divisor, SpvOpLogicalOr, wrong, negative) : negative;
    }
    if (!wrong)
        return;
    operand_mend(&dividend, 3, wrong, bf_rewrite_null(rewrite, dividend.type));
    operand_mend(&divisor, 4, wrong, small_number(&divisor, 1));
    wrong_tell(&divisor, wrong);
}

/* Whether a clamp's ends are constants in their order. */
static bool is_clamp_constant(const struct compared *c, bool is_signed)
{
    const uint64_t sign = is_signed ? UINT64_C(1) << (8 * c->shape.width - 1) : 0;
    for (uint32_t n = 0; n < c->shape.components; n++) {
        uint64_t low, high;
        if (!component_constant(c->parts->m, operand(c, 6), n, &low) ||
            !component_constant(c->parts->m, operand(c, 7), n, &high) ||
            (low ^ sign) > (high ^ sign))
            return false;
    }
    return true;
}

static void clamp_rewrite(struct bf_parts *parts, uint32_t i, bool is_signed)
{
    struct compared c;
    if (!compared_init(parts, i, 7, &c) || is_clamp_constant(&c, is_signed))
        return;
    const uint32_t wrong =
        put(&c, is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan, operand(&c, 6), operand(&c, 7));
    operand_mend(&c, 7, wrong, operand(&c, 6));
    wrong_tell(&c, wrong);
}

/* Of one that may: the other, combined. */
static uint32_t operands_combine(const struct compared *c, uint32_t opcode, uint32_t one,
                                 uint32_t other)
{
    return BF_PUT_NEW(&c->parts->rewrite, c->i, opcode, c->type, one, other);
}

/* Of numbers that may be of a signed type. */
static uint32_t unsigned_quotient(const struct compared *c, uint32_t one, uint32_t other)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    uint32_t type = BF_TYPE(rewrite, SpvOpTypeInt, 8u * c->shape.width, 0);
    if (c->shape.number != BF_NUMBER_INT)
        return operands_combine(c, SpvOpUDiv, one, other);
    if (c->shape.components > 1)
        type = BF_TYPE(rewrite, SpvOpTypeVector, type, c->shape.components);
    const uint32_t quotient = BF_PUT_NEW(rewrite, c->i, SpvOpUDiv, type,
                                         BF_PUT_NEW(rewrite, c->i, SpvOpBitcast, type, one),
                                         BF_PUT_NEW(rewrite, c->i, SpvOpBitcast, type, other));
    return BF_PUT_NEW(rewrite, c->i, SpvOpBitcast, c->type, quotient);
}

/* Whether the product isn't x times y: by division, but for what can't be divided. */
static uint32_t product_wraps(const struct compared *c, uint32_t x, uint32_t y, uint32_t product,
                              bool is_signed)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    const uint32_t zero = bf_rewrite_null(rewrite, c->type);
    uint32_t alone = put(c, SpvOpIEqual, y, zero), least = 0;
    if (is_signed) {
        const uint32_t minus = BF_PUT_NEW(rewrite, c->i, SpvOpNot, c->type, zero),
                       by_minus = put(c, SpvOpIEqual, y, minus),
                       negative = BF_PUT_NEW(rewrite, c->i, SpvOpSNegate, c->type, x),
                       is_own = put(c, SpvOpLogicalAnd, put(c, SpvOpIEqual, x, negative),
                                    put(c, SpvOpINotEqual, x, zero));
        least = put(c, SpvOpLogicalAnd, by_minus, is_own);
        alone = put(c, SpvOpLogicalOr, alone, by_minus);
    }
    const uint32_t by =
        BF_PUT_NEW(rewrite, c->i, SpvOpSelect, c->type, alone, small_number(c, 1), y);
    const uint32_t back =
        is_signed ? operands_combine(c, SpvOpSDiv, product, by) : unsigned_quotient(c, product, by);
    const uint32_t divided = BF_PUT_NEW(rewrite, c->i, SpvOpLogicalNot, c->boolean, alone);
    const uint32_t wraps = put(c, SpvOpLogicalAnd, divided, put(c, SpvOpINotEqual, back, x));
    return least ? put(c, SpvOpLogicalOr, wraps, least) : wraps;
}

/* Whether the signs of a and one differ, and those of b and other. */
static uint32_t signs_differ(const struct compared *c, uint32_t a, uint32_t one, uint32_t b,
                             uint32_t other)
{
    return put(c, SpvOpSLessThan,
               operands_combine(c, SpvOpBitwiseAnd, operands_combine(c, SpvOpBitwiseXor, a, one),
                                operands_combine(c, SpvOpBitwiseXor, b, other)),
               bf_rewrite_null(&c->parts->rewrite, c->type));
}

/* Whether 'plain', which the operation gives, has wrapped. */
static uint32_t wraps(const struct compared *c, uint32_t opcode, uint32_t plain, bool is_signed)
{
    const uint32_t zero = bf_rewrite_null(&c->parts->rewrite, c->type), x = operand(c, 3),
                   y = opcode == SpvOpSNegate ? 0 : operand(c, 4);
    switch (opcode) {
    case SpvOpIAdd:
        return is_signed ? signs_differ(c, x, plain, y, plain) : put(c, SpvOpULessThan, plain, x);
    case SpvOpISub:
        return is_signed ? signs_differ(c, x, y, x, plain) : put(c, SpvOpULessThan, x, y);
    case SpvOpIMul:
        return product_wraps(c, x, y, plain, is_signed);
    case SpvOpShiftLeftLogical:
        return put(c, SpvOpINotEqual,
                   operands_combine(
                       c, is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, plain, y),
                   x);
    default: { /* the least number is its own negative */
        const uint32_t any = put(c, SpvOpINotEqual, x, zero);
        return is_signed ? put(c, SpvOpLogicalAnd, any, put(c, SpvOpIEqual, x, plain)) : any;
    }
    }
}

/* Of what is said not to wrap. */
static void wrap_rewrite(struct bf_parts *parts, uint32_t i)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *in = &parts->m->instructions[i];
    const struct bf_id *id = &parts->m->ids[in->result];
    struct compared c, other;
    if ((!id->no_signed_wrap && !id->no_unsigned_wrap) || !compared_init(parts, i, 3, &c) ||
        !compared_init(parts, i, in->opcode == SpvOpSNegate ? 3 : 4, &other))
        return;
    const uint32_t plain = in->opcode == SpvOpSNegate
                               ? BF_PUT_NEW(rewrite, i, in->opcode, c.type, operand(&c, 3))
                               : operands_combine(&c, in->opcode, operand(&c, 3), operand(&c, 4));
    uint32_t wrong = 0;
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        if (!(is_signed ? id->no_signed_wrap : id->no_unsigned_wrap))
            continue;
        const uint32_t by = wraps(&c, in->opcode, plain, is_signed);
        wrong = wrong ? put(&c, SpvOpLogicalOr, wrong, by) : by;
    }
    operand_mend(&c, 3, wrong, bf_rewrite_null(rewrite, c.type));
    if (in->opcode == SpvOpIAdd || in->opcode == SpvOpISub)
        operand_mend(&other, 4, wrong, bf_rewrite_null(rewrite, other.type));
    wrong_tell(&c, wrong);
}

static void shift_rewrite(struct bf_parts *parts, uint32_t i)
{
    struct compared base, shift;
    if (!compared_init(parts, i, 3, &base) || !compared_init(parts, i, 4, &shift))
        return;
    const uint32_t width = 8u * base.shape.width;
    if (is_constant_within(&shift, 4, 0, width - 1))
        return;
    uint32_t wrong =
        put(&shift, SpvOpUGreaterThanEqual, operand(&shift, 4), small_number(&shift, width));
    operand_mend(&shift, 4, wrong, bf_rewrite_null(&parts->rewrite, shift.type));
    wrong_tell(&shift, wrong);
}

/* Word w is the first bit's number, and the next word how many there are; both are scalars. */
static void bits_rewrite(struct bf_parts *parts, uint32_t i, uint32_t w)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    struct compared base, offset, count;
    uint64_t first, length;
    if (!compared_init(parts, i, 3, &base) || !compared_init(parts, i, w, &offset) ||
        !compared_init(parts, i, w + 1, &count))
        return;
    const uint32_t width = 8u * base.shape.width;
    if (bf_constant(parts->m, operand(&offset, w), &first) && first <= width &&
        bf_constant(parts->m, operand(&count, w + 1), &length) && length <= width - first)
        return;
    uint32_t all = bf_rewrite_constant(rewrite, width);
    uint32_t begin = bf_parts_uint(parts, i, operand(&offset, w), &offset.shape);
    uint32_t bits = bf_parts_uint(parts, i, operand(&count, w + 1), &count.shape);
    uint32_t left = BF_PUT_NEW(rewrite, i, SpvOpISub, bf_rewrite_uint(rewrite), all, begin);
    uint32_t wrong = put(&offset, SpvOpLogicalOr, put(&offset, SpvOpUGreaterThan, begin, all),
                         put(&offset, SpvOpUGreaterThan, bits, left));
    operand_mend(&offset, w, wrong, bf_rewrite_null(rewrite, offset.type));
    operand_mend(&count, w + 1, wrong, bf_rewrite_null(rewrite, count.type));
    wrong_tell(&offset, wrong);
}

/* A float of these bits, of the operand's type. */
static uint32_t float_number(const struct compared *c, uint32_t bits)
{
    struct bf_rewrite *rewrite = &c->parts->rewrite;
    const uint32_t number = BF_PUT_NEW(rewrite, c->i, SpvOpBitcast, c->shape.scalar,
                                       bf_rewrite_constant(rewrite, bits));
    uint32_t all[4] = {number, number, number, number};
    return c->shape.components > 1 ? bf_rewrite_put_new(rewrite, c->i, SpvOpCompositeConstruct,
                                                        c->type, c->shape.components, all)
                                   : number;
}

/* From -2^31 to below 2^31, or above -1 to below 2^32; no NaN is. */
static void conversion_rewrite(struct bf_parts *parts, uint32_t i, bool is_signed)
{
    struct compared c;
    if (!bf_origin_converts(&parts->origins, &parts->m->instructions[i]) ||
        !compared_init(parts, i, 3, &c))
        return;
    const uint32_t least = float_number(&c, is_signed ? 0xcf000000 : 0xbf800000),
                   end = float_number(&c, is_signed ? 0x4f000000 : 0x4f800000),
                   enough = put(&c, is_signed ? SpvOpFOrdGreaterThanEqual : SpvOpFOrdGreaterThan,
                                operand(&c, 3), least),
                   fits = put(&c, SpvOpLogicalAnd, enough,
                              put(&c, SpvOpFOrdLessThan, operand(&c, 3), end)),
                   wrong = BF_PUT_NEW(&parts->rewrite, i, SpvOpLogicalNot, c.boolean, fits);
    operand_mend(&c, 3, wrong, bf_rewrite_null(&parts->rewrite, c.type));
    wrong_tell(&c, wrong);
}

static void operand_rewrite(struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[i];
    switch (in->opcode) {
    case SpvOpUDiv:
    case SpvOpUMod:
        division_rewrite(parts, i, false);
        return;
    case SpvOpSDiv:
        division_rewrite(parts, i, true);
        return;
    case SpvOpSRem:
    case SpvOpSMod:
        remainder_rewrite(parts, i);
        return;
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        shift_rewrite(parts, i);
        return;
    case SpvOpShiftLeftLogical:
        shift_rewrite(parts, i);
        wrap_rewrite(parts, i);
        return;
    case SpvOpIAdd:
    case SpvOpISub:
    case SpvOpIMul:
    case SpvOpSNegate:
        wrap_rewrite(parts, i);
        return;
    case SpvOpExtInst: {
        const uint32_t function = m->glsl && bf_word(m, in, 3) == m->glsl ? bf_word(m, in, 4) : 0;
        if (function == GLSLstd450SClamp || function == GLSLstd450UClamp)
            clamp_rewrite(parts, i, function == GLSLstd450SClamp);
        return;
    }
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        bits_rewrite(parts, i, 4);
        return;
    case SpvOpBitFieldInsert:
        bits_rewrite(parts, i, 5);
        return;
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
        conversion_rewrite(parts, i, in->opcode == SpvOpConvertFToS);
        return;
    default:
        return;
    }
}

void bf_operands_rewrite(struct bf_parts *parts)
{
    for (uint32_t i = 0; i < parts->m->instruction_count; i++)
        if (parts->flow.of_instruction[i])
            operand_rewrite(parts, i);
}
