/* SPDX-License-Identifier: MIT */
/*
 * The points that an invocation comes to. [FU-8] Each has a bit of a private variable, which is set
 * where the point is and told when the invocation ends:
 *
 *     block:  covered |= bit                choice, edge:  covered |= a < b ? bit : 0
 */
#include "specialize/dry_run/choice.h"
#include "specialize/dry_run/parts.h"

#include <spirv/unified1/GLSL.std.450.h>

/* An instruction whose sides are looked at, one component at a time. */
struct choice {
    struct bf_parts *parts;
    uint32_t i;      /* the instruction */
    uint32_t before; /* what is put goes before this one */
    struct bf_shape shape;
    uint32_t component;
    enum bf_number compared; /* as what: integers' types don't tell */
    uint8_t side;            /* the next one's number */
};

/* 'comes': the id of a boolean; 0: whoever comes here. */
static void point_put(struct bf_parts *parts, uint32_t before, uint32_t comes,
                      struct bf_dry_run_point point)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t number = bf_rewrite_uint(rewrite), zero = bf_rewrite_constant(rewrite, 0);
    uint32_t n = parts->options->first_point + parts->point_count;
    if (n >= BF_DRY_RUN_POINTS || rewrite->arena->failed) {
        bf_parts_refuse(parts, BF_DRY_RUN_SIZE);
        return;
    }
    parts->points[parts->point_count++] = point;
    uint32_t *covered = &parts->covered[n / 32];
    if (!*covered)
        *covered = bf_rewrite_global(rewrite, SpvStorageClassPrivate, number, zero);
    uint32_t bit = bf_rewrite_constant(rewrite, UINT32_C(1) << n % 32);
    if (comes)
        bit = BF_PUT_NEW(rewrite, before, SpvOpSelect, number, comes, bit, zero);
    uint32_t bits = BF_PUT_NEW(rewrite, before, SpvOpLoad, number, *covered);
    bits = BF_PUT_NEW(rewrite, before, SpvOpBitwiseOr, number, bits, bit);
    BF_PUT(rewrite, before, SpvOpStore, *covered, bits);
}

/* ----------------------------------------------------------------------------------- Choices -- */

static void side_put(struct choice *choice, uint32_t comes)
{
    struct bf_parts *parts = choice->parts;
    point_put(parts, choice->before, comes,
              (struct bf_dry_run_point){parts->m->instructions[choice->i].at,
                                        (uint8_t)choice->component, choice->side++});
}

/* The component of an operand, word w of the instruction; 0: of its result. */
static uint32_t operand_put(const struct choice *choice, uint32_t w)
{
    const struct bf_instruction *in = &choice->parts->m->instructions[choice->i];
    uint32_t value = w ? bf_word(choice->parts->m, in, w) : in->result;
    if (choice->shape.components == 1)
        return value;
    return BF_PUT_NEW(&choice->parts->rewrite, choice->before, SpvOpCompositeExtract,
                      choice->shape.scalar, value, choice->component);
}

static uint32_t compare_put(const struct choice *choice, SpvOp how, uint32_t a, uint32_t b)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    return BF_PUT_NEW(rewrite, choice->before, how, bf_rewrite_bool(rewrite), a, b);
}

static void select_put(struct choice *choice)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    const struct bf_module *m = choice->parts->m;
    uint32_t boolean = bf_rewrite_bool(rewrite);
    uint32_t condition = bf_word(m, &m->instructions[choice->i], 3);
    const struct bf_instruction *type = bf_value_type(m, condition);
    bool each = type && type->opcode == SpvOpTypeVector;
    if (!each && choice->component > 0)
        return; /* it chooses all at once */
    if (each)
        condition = BF_PUT_NEW(rewrite, choice->before, SpvOpCompositeExtract, boolean, condition,
                               choice->component);
    side_put(choice, condition);
    side_put(choice, BF_PUT_NEW(rewrite, choice->before, SpvOpLogicalNot, boolean, condition));
}

/* Whether a is less than b, or as well the same. */
static uint32_t less_put(const struct choice *choice, uint32_t a, uint32_t b, bool same)
{
    static const SpvOp how[][2] = {[BF_NUMBER_FLOAT] = {SpvOpFOrdLessThan, SpvOpFOrdLessThanEqual},
                                   [BF_NUMBER_INT] = {SpvOpSLessThan, SpvOpSLessThanEqual},
                                   [BF_NUMBER_UINT] = {SpvOpULessThan, SpvOpULessThanEqual}};
    return compare_put(choice, how[choice->compared][same], a, b);
}

/* Whether x is below, above, or where it stays as it is. */
static void choice_put_clamp(struct choice *choice, uint32_t x, uint32_t low, uint32_t high)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    x = operand_put(choice, x);
    low = operand_put(choice, low);
    high = operand_put(choice, high);
    side_put(choice, less_put(choice, x, low, false));
    side_put(choice, less_put(choice, high, x, false));
    uint32_t above = less_put(choice, low, x, true), below = less_put(choice, x, high, true);
    side_put(choice, BF_PUT_NEW(rewrite, choice->before, SpvOpLogicalAnd, bf_rewrite_bool(rewrite),
                                above, below));
}

/* Which of two is less. */
static void order_put(struct choice *choice, uint32_t a, uint32_t b)
{
    side_put(choice, less_put(choice, a, b, false));
    side_put(choice, less_put(choice, b, a, false));
}

/* Whether two vectors are the same, or else differ, both without NaN. */
static uint32_t vectors_put(const struct choice *choice, bool same, uint32_t a, uint32_t b)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    const SpvOp how = same ? SpvOpFOrdEqual : SpvOpFOrdNotEqual;
    const uint32_t boolean = bf_rewrite_bool(rewrite), count = choice->shape.components;
    if (count == 1)
        return compare_put(choice, how, a, b);
    const uint32_t each = BF_PUT_NEW(rewrite, choice->before, how,
                                     BF_TYPE(rewrite, SpvOpTypeVector, boolean, count), a, b);
    return BF_PUT_NEW(rewrite, choice->before, same ? SpvOpAll : SpvOpAny, boolean, each);
}

/* Whether the normal has been left as it is, or turned round. */
static void forward_put(struct choice *choice)
{
    const struct bf_instruction *in = &choice->parts->m->instructions[choice->i];
    const uint32_t normal = bf_word(choice->parts->m, in, 5);
    side_put(choice, vectors_put(choice, true, in->result, normal));
    side_put(choice, vectors_put(choice, false, in->result, normal));
}

/* 1 - eta * eta * (1 - dot(n, i) * dot(n, i)): where that is negative nothing is refracted. */
static uint32_t refracted_put(const struct choice *choice)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    const struct bf_module *m = choice->parts->m;
    const struct bf_instruction *in = &m->instructions[choice->i];
    const uint32_t at = choice->before, scalar = choice->shape.scalar;
    const uint32_t i = bf_word(m, in, 5), n = bf_word(m, in, 6);
    const SpvOp times = choice->shape.components == 1 ? SpvOpFMul : SpvOpDot;
    uint32_t eta = bf_word(m, in, 7);
    if (bf_value_type(m, eta)->result != scalar)
        eta = BF_PUT_NEW(rewrite, at, SpvOpFConvert, scalar, eta);
    const uint32_t one =
        BF_PUT_NEW(rewrite, at, SpvOpConvertUToF, scalar, bf_rewrite_constant(rewrite, 1));
    const uint32_t dot = BF_PUT_NEW(rewrite, at, times, scalar, n, i);
    const uint32_t square = BF_PUT_NEW(rewrite, at, SpvOpFMul, scalar, dot, dot);
    const uint32_t rest = BF_PUT_NEW(rewrite, at, SpvOpFSub, scalar, one, square);
    const uint32_t factor = BF_PUT_NEW(rewrite, at, SpvOpFMul, scalar, eta, eta);
    const uint32_t product = BF_PUT_NEW(rewrite, at, SpvOpFMul, scalar, factor, rest);
    return BF_PUT_NEW(rewrite, at, SpvOpFSub, scalar, one, product);
}

/* Whether it is nothing, since nothing is refracted, or something. */
static void refraction_put(struct choice *choice)
{
    struct bf_rewrite *rewrite = &choice->parts->rewrite;
    const struct bf_instruction *in = &choice->parts->m->instructions[choice->i];
    const uint32_t nothing = bf_rewrite_null(rewrite, in->type);
    const uint32_t zero = bf_rewrite_null(rewrite, choice->shape.scalar);
    const uint32_t is = vectors_put(choice, true, in->result, nothing);
    const uint32_t negative = less_put(choice, refracted_put(choice), zero, false);
    side_put(choice, BF_PUT_NEW(rewrite, choice->before, SpvOpLogicalAnd, bf_rewrite_bool(rewrite),
                                is, negative));
    side_put(choice, vectors_put(choice, false, in->result, nothing));
}

/* Whether the sides of a choice can be seen by its result alone. */
static bool shows_later(const struct bf_module *m, const struct bf_instruction *in)
{
    const uint32_t function = in->opcode == SpvOpExtInst ? bf_word(m, in, 4) : GLSLstd450Bad;
    return in->opcode == SpvOpFMod || in->opcode == SpvOpFRem ||
           function == GLSLstd450FaceForward || function == GLSLstd450Refract;
}

static void function_put(struct choice *choice, uint32_t function)
{
    const struct bf_choice of = bf_choice_of(function);
    choice->compared = of.compared;
    switch (of.kind) {
    case BF_CHOICE_ORDER:
        order_put(choice, operand_put(choice, of.operands[0]), operand_put(choice, of.operands[1]));
        break;
    case BF_CHOICE_SIGN:
        order_put(choice, operand_put(choice, of.operands[0]),
                  bf_rewrite_null(&choice->parts->rewrite, choice->shape.scalar));
        break;
    case BF_CHOICE_CLAMP:
        choice_put_clamp(choice, of.operands[0], of.operands[1], of.operands[2]);
        break;
    case BF_CHOICE_STEP: {
        uint32_t edge = operand_put(choice, of.operands[0]),
                 x = operand_put(choice, of.operands[1]);
        side_put(choice, less_put(choice, x, edge, false));
        side_put(choice, less_put(choice, edge, x, true));
        break;
    }
    case BF_CHOICE_FORWARD:
        if (choice->component == 0)
            forward_put(choice);
        break;
    case BF_CHOICE_REFRACT:
        if (choice->component == 0)
            refraction_put(choice);
        break;
    case BF_CHOICE_NONE:
        break;
    }
}

/* Whether there was anything to be taken off: then the result isn't the first operand. */
static void remainder_put(struct choice *choice)
{
    uint32_t x = operand_put(choice, 3), rest = operand_put(choice, 0);
    side_put(choice, compare_put(choice, SpvOpFOrdEqual, rest, x));
    side_put(choice, compare_put(choice, SpvOpFOrdNotEqual, rest, x));
}

static void choices_rewrite(struct bf_parts *parts, const struct bf_block *block)
{
    const struct bf_module *m = parts->m;
    for (uint32_t i = block->first + 1; i < block->last; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        bool function = in->opcode == SpvOpExtInst && m->glsl && bf_word(m, in, 3) == m->glsl;
        bool rest = in->opcode == SpvOpFMod || in->opcode == SpvOpFRem;
        struct choice choice = {.parts = parts, .i = i, .before = i};
        if (!function && !rest && in->opcode != SpvOpSelect)
            continue;
        if (!bf_shape(m, in->type, &choice.shape)) {
            const struct bf_id *type = &m->ids[in->type];
            if (in->opcode != SpvOpSelect || !(type->has_floats || type->has_integers))
                continue;
            choice.shape.components = 1; /* an array, a struct, a matrix: all of it at once */
        }
        choice.before += shows_later(m, in);
        for (; choice.component < choice.shape.components; choice.component++) {
            choice.side = 0;
            if (function)
                function_put(&choice, bf_word(m, in, 4));
            else if (rest)
                remainder_put(&choice);
            else
                select_put(&choice);
        }
    }
}

/* ------------------------------------------------------------------------------------- Edges -- */

/* Whether the selector of the switch has one of the values that lead to that label. The selector
 * has 32 bits. */
static uint32_t cases_put(struct bf_parts *parts, uint32_t before, const struct bf_instruction *in,
                          uint32_t label)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_module *m = parts->m;
    const bool rest = bf_word(m, in, 2) == label;
    uint32_t boolean = bf_rewrite_bool(rewrite), any = 0;
    for (uint32_t w = 3; w + 1 < in->count; w += 2) {
        if ((bf_word(m, in, w + 1) == label) == rest)
            continue;
        uint32_t literal = bf_rewrite_constant(rewrite, bf_word(m, in, w));
        uint32_t is = BF_PUT_NEW(rewrite, before, SpvOpIEqual, boolean, bf_word(m, in, 1), literal);
        any = any ? BF_PUT_NEW(rewrite, before, SpvOpLogicalOr, boolean, any, is) : is;
    }
    /* Of the default's: none that leads elsewhere. */
    return rest && any ? BF_PUT_NEW(rewrite, before, SpvOpLogicalNot, boolean, any) : any;
}

/* Of those that lead from a block to where others lead, too: no block tells that they were
 * taken. */
static void edges_rewrite(struct bf_parts *parts, const struct bf_flow *flow,
                          const struct bf_block *block)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[block->last];
    uint32_t before = bf_block_tail(block);
    struct bf_shape shape;
    const struct bf_instruction *selector = bf_value_type(m, bf_word(m, in, 1));
    for (uint32_t s = 0; block->successor_count > 1 && s < block->successor_count; s++) {
        const struct bf_block *to = &flow->blocks[block->successors[s]];
        uint32_t comes = bf_word(m, in, 1);
        if (to->predecessor_count < 2)
            continue;
        if (in->opcode == SpvOpSwitch) {
            if (!selector || !bf_shape(m, selector->result, &shape) || shape.width != 4) {
                bf_parts_refuse(parts, BF_DRY_RUN_FLOW);
                return;
            }
            comes = cases_put(parts, before, in, to->label);
        } else if (bf_word(m, in, 2) != to->label) {
            struct bf_rewrite *rewrite = &parts->rewrite;
            comes = BF_PUT_NEW(rewrite, before, SpvOpLogicalNot, bf_rewrite_bool(rewrite), comes);
        }
        point_put(parts, before, comes, (struct bf_dry_run_point){in->at, 0, (uint8_t)s});
    }
}

/* ------------------------------------------------------------------------------------ Blocks -- */

static void block_rewrite(struct bf_parts *parts, const struct bf_block *block)
{
    const struct bf_module *m = parts->m;
    uint32_t i = block->first + 1;
    while (m->instructions[i].opcode == SpvOpPhi || m->instructions[i].opcode == SpvOpVariable ||
           m->instructions[i].opcode == SpvOpLine || m->instructions[i].opcode == SpvOpNoLine)
        i++;
    point_put(parts, i, 0, (struct bf_dry_run_point){m->instructions[block->first].at, 0, 0});
}

void bf_coverage_rewrite(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    struct bf_flow flow; /* without the ways out of loops that only fuel has made */
    parts->points = bf_arena_zeroed(parts->arena, BF_DRY_RUN_POINTS * sizeof(*parts->points));
    if (!parts->points || !bf_flow_init(&flow, m, parts->arena, false)) {
        bf_parts_refuse(parts, BF_DRY_RUN_FLOW);
        return;
    }
    for (uint32_t n = 0; n < flow.ordered_first[m->function_count]; n++) {
        const struct bf_block *block = &flow.blocks[flow.ordered[n]];
        if (m->instructions[block->last].opcode == SpvOpUnreachable)
            continue;
        block_rewrite(parts, block);
        choices_rewrite(parts, block);
        edges_rewrite(parts, &flow, block);
    }
}
