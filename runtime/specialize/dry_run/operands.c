/* SPDX-License-Identifier: MIT */
/*
 * Operands for which SPIR-V leaves an integer's value open [FU-9]: divisors that are zero, or -1 of
 * the least number; shifts by a value's width or more; bits beyond it; floats that no integer can
 * hold, of those that may steer. Each that isn't a constant of another kind becomes one that is
 * allowed, and that is told.
 */
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

static uint32_t operand(const struct compared *c, uint32_t w)
{
    return bf_word(c->parts->m, &c->parts->m->instructions[c->i], w);
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
    switch (parts->m->instructions[i].opcode) {
    case SpvOpUDiv:
    case SpvOpUMod:
        division_rewrite(parts, i, false);
        return;
    case SpvOpSDiv:
    case SpvOpSRem:
    case SpvOpSMod:
        division_rewrite(parts, i, true);
        return;
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpShiftLeftLogical:
        shift_rewrite(parts, i);
        return;
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        bits_rewrite(parts, i, 4);
        return;
    case SpvOpBitFieldInsert:
        bits_rewrite(parts, i, 5);
        return;
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
        conversion_rewrite(parts, i, parts->m->instructions[i].opcode == SpvOpConvertFToS);
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
