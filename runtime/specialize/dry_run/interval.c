/* SPDX-License-Identifier: MIT */
/* Intervals: what comes of operations, and how far devices may be off. [FN-6] */
#include "specialize/dry_run/interval.h"

#include <float.h>
#include <math.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

/* Of a sum or product; of a quotient or root, 2.5 and 3 units in the last place; of functions that
 * are made of others, as exp2(y * log2(x)). Each is more than Vulkan allows. */
#define HUGE_SUM    0x1p120 /* of several such overflows on the way */
#define HUGE_FACTOR 0x1p30  /* so may a product of more than four, */
#define TINY_FACTOR 0x1p-30 /* or be nothing */
#define EPSILON     0x1p-20
#define QUOTIENT    0x1p-18
#define FUNCTION    0x1p-14
#define WHOLE_LOW   (-0x1p31)
#define WHOLE_HIGH  (0x1p31 - 1)

struct bf_interval bf_interval_none(void)
{
    return (struct bf_interval){INFINITY, -INFINITY, false};
}

struct bf_interval bf_interval_any(void)
{
    return (struct bf_interval){-INFINITY, INFINITY, true};
}

struct bf_interval bf_interval_integer(void)
{
    return (struct bf_interval){WHOLE_LOW, WHOLE_HIGH, false};
}

/* With what overflows, and what is flushed. */
static struct bf_interval bounded(double low, double high, bool nan)
{
    if (low < -FLT_MAX)
        low = -INFINITY;
    if (high > FLT_MAX)
        high = INFINITY;
    if (low > FLT_MAX) /* rounded towards zero */
        low = FLT_MAX;
    if (high < -FLT_MAX)
        high = -FLT_MAX;
    if (low > 0 && low < FLT_MIN)
        low = 0;
    if (high < 0 && high > -FLT_MIN)
        high = 0;
    return (struct bf_interval){low, high, nan};
}

struct bf_interval bf_interval_of(double low, double high)
{
    return bounded(low, high, false);
}

struct bf_interval bf_interval_hull(struct bf_interval a, struct bf_interval b)
{
    return (struct bf_interval){fmin(a.low, b.low), fmax(a.high, b.high), a.nan || b.nan};
}

static bool has_zero(struct bf_interval a)
{
    return a.low <= 0 && a.high >= 0;
}

static bool has_infinity(struct bf_interval a)
{
    return isinf(a.low) || isinf(a.high);
}

static double largest(struct bf_interval a)
{
    return fmax(fabs(a.low), fabs(a.high));
}

static double smallest(struct bf_interval a)
{
    return has_zero(a) ? 0 : fmin(fabs(a.low), fabs(a.high));
}

/* Each end is off by so much of itself; what can't be negative stays so, and positive. */
static struct bf_interval widened(double low, double high, double part, bool nan)
{
    const double below = fabs(low) * part + FLT_MIN, above = fabs(high) * part + FLT_MIN;
    return bounded(low >= 0 ? fmax(low - below, 0) : low - below,
                   high <= 0 ? fmin(high + above, 0) : high + above, nan);
}

/* ------------------------------------------------------------------------------------ Floats -- */

struct bf_interval bf_interval_negate(struct bf_interval a)
{
    return (struct bf_interval){-a.high, -a.low, a.nan};
}

static bool ends_beyond(struct bf_interval a, double limit)
{
    return (isfinite(a.low) && fabs(a.low) > limit) || (isfinite(a.high) && fabs(a.high) > limit);
}

struct bf_interval bf_interval_add(struct bf_interval a, struct bf_interval b)
{
    if (ends_beyond(a, HUGE_SUM) || ends_beyond(b, HUGE_SUM))
        return bf_interval_any();
    const bool opposite =
        (a.high == INFINITY && b.low == -INFINITY) || (a.low == -INFINITY && b.high == INFINITY);
    const double low = a.low + b.low, high = a.high + b.high;
    const double below = (fabs(a.low) + fabs(b.low)) * EPSILON + FLT_MIN,
                 above = (fabs(a.high) + fabs(b.high)) * EPSILON + FLT_MIN;
    /* Summands of one sign have a sum of that sign, in whatever order. */
    const bool positive = a.low >= 0 && b.low >= 0, negative = a.high <= 0 && b.high <= 0;
    return bounded(isnan(low - below) ? -INFINITY
                   : positive         ? fmax(low - below, 0)
                                      : low - below,
                   isnan(high + above) ? INFINITY
                   : negative          ? fmin(high + above, 0)
                                       : high + above,
                   a.nan || b.nan || opposite);
}

/* Where nothing is times infinity, that is NaN, and nothing. */
static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

/* One end of it may vanish. */
static bool is_tiny(struct bf_interval a)
{
    return !has_zero(a) && smallest(a) < TINY_FACTOR;
}

/* What other factors may have made of a product before. */
static struct bf_interval reordered(struct bf_interval product, bool tiny)
{
    return tiny ? bf_interval_hull(product, bf_interval_of(0, 0)) : product;
}

struct bf_interval bf_interval_multiply(struct bf_interval a, struct bf_interval b)
{
    if (ends_beyond(a, HUGE_FACTOR) || ends_beyond(b, HUGE_FACTOR))
        return bf_interval_any();
    const double ends[4] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
    const bool nan =
        a.nan || b.nan || (has_zero(a) && has_infinity(b)) || (has_infinity(a) && has_zero(b));
    return reordered(widened(fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
                             fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3])), EPSILON, nan),
                     is_tiny(a) || is_tiny(b));
}

struct bf_interval bf_interval_square(struct bf_interval a)
{
    const double low = smallest(a), high = largest(a);
    if (ends_beyond(a, HUGE_FACTOR))
        return (struct bf_interval){0, INFINITY, true};
    return reordered(widened(low * low, high * high, EPSILON, a.nan), is_tiny(a));
}

/* A divisor beyond 2^126 may have a reciprocal of 0, and one below 2^-126 none. */
struct bf_interval bf_interval_divide(struct bf_interval a, struct bf_interval b)
{
    if (has_zero(b) || b.nan || has_infinity(a))
        return bf_interval_any();
    double ends[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    double low = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
           high = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
    if (largest(b) > 0x1p126) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    return widened(low, high, QUOTIENT, a.nan);
}

struct bf_interval bf_interval_sum(struct bf_interval a, uint32_t least, uint32_t most)
{
    const bool opposite = a.low == -INFINITY && a.high == INFINITY;
    if (ends_beyond(a, HUGE_SUM))
        return bf_interval_any();
    return widened(a.low * (a.low < 0 ? most : least), a.high * (a.high > 0 ? most : least),
                   EPSILON * most, a.nan || opposite);
}

/* a - b * floor(a / b): off by a part of a. A quotient or product that overflows makes it infinite,
 * or NaN; of a divisor beyond 2^126, whose reciprocal may be 0, all of a may be left. */
struct bf_interval bf_interval_remainder(struct bf_interval a, struct bf_interval b)
{
    if (has_zero(b) || b.nan || largest(b) > 0x1p126 || largest(a) > 0x1p126 ||
        largest(a) / smallest(b) > 0x1p126)
        return bf_interval_any();
    const double off = largest(a) * FUNCTION + largest(b) * FUNCTION, most = largest(b) + off;
    return bounded(-most, most, a.nan);
}

struct bf_interval bf_interval_truncate(struct bf_interval a)
{
    if (a.nan || a.low < WHOLE_LOW || a.high > WHOLE_HIGH)
        return bf_interval_integer();
    return (struct bf_interval){trunc(a.low), trunc(a.high), false};
}

static struct bf_interval as_integer(struct bf_interval a)
{
    return a.nan || a.low < WHOLE_LOW || a.high > WHOLE_HIGH ? bf_interval_integer() : a;
}

struct bf_interval bf_interval_float_of(uint32_t bits, bool is_signed)
{
    const double end = exp2(is_signed ? bits - 1 : bits); /* to which the greatest may be rounded */
    return bf_interval_of(is_signed ? -end : 0, end);
}

struct bf_interval bf_interval_float(struct bf_interval a, bool is_signed)
{
    a = as_integer(a);
    if (!is_signed && a.low < 0)
        return bf_interval_float_of(32, false);
    return widened(a.low, a.high, EPSILON, false);
}

/* ----------------------------------------------------------------------------------- Library -- */

/* The lesser, or the other where one is NaN. */
static struct bf_interval lesser(struct bf_interval a, struct bf_interval b)
{
    struct bf_interval c = {fmin(a.low, b.low), fmin(a.high, b.high), a.nan || b.nan};
    if (a.nan)
        c = bf_interval_hull(c, b);
    if (b.nan)
        c = bf_interval_hull(c, a);
    return c;
}

static struct bf_interval greater(struct bf_interval a, struct bf_interval b)
{
    return bf_interval_negate(lesser(bf_interval_negate(a), bf_interval_negate(b)));
}

static struct bf_interval clamped(struct bf_interval x, struct bf_interval low,
                                  struct bf_interval high)
{
    if (low.nan || high.nan || low.high > high.low)
        return bf_interval_any(); /* Vulkan leaves it open */
    if (x.nan)
        return (struct bf_interval){low.low, high.high, true};
    return (struct bf_interval){fmin(fmax(x.low, low.low), high.low),
                                fmin(fmax(x.high, low.high), high.high), false};
}

static struct bf_interval absolute(struct bf_interval a)
{
    return (struct bf_interval){smallest(a), largest(a), a.nan};
}

/* Of NaN it may be any of the three. */
static struct bf_interval sign(struct bf_interval a)
{
    const double low = a.low < 0 ? -1 : a.low > 0, high = a.high > 0 ? 1 : -(a.high < 0);
    return (struct bf_interval){a.nan ? -1 : low, a.nan ? 1 : high, a.nan};
}

static struct bf_interval smooth_step(struct bf_interval from, struct bf_interval to,
                                      struct bf_interval x)
{
    if (from.nan || to.nan || from.high >= to.low)
        return bf_interval_any();
    const struct bf_interval part =
        bf_interval_divide(bf_interval_add(x, bf_interval_negate(from)),
                           bf_interval_add(to, bf_interval_negate(from)));
    const struct bf_interval t = clamped(part, bf_interval_of(0, 0), bf_interval_of(1, 1));
    return widened(t.low * t.low * (3 - 2 * t.low), t.high * t.high * (3 - 2 * t.high), FUNCTION,
                   t.nan);
}

/* a * (1 - t) + b * t; a + t * (b - a) is off by less than 1 - t and the products may be, but of
 * infinities that is NaN. */
static struct bf_interval mix(struct bf_interval a, struct bf_interval b, struct bf_interval t)
{
    const struct bf_interval rest = bf_interval_add(bf_interval_of(1, 1), bf_interval_negate(t));
    struct bf_interval both =
        bf_interval_add(bf_interval_multiply(a, rest), bf_interval_multiply(b, t));
    both.nan |= has_infinity(a) || has_infinity(b) || has_infinity(t);
    return both;
}

static struct bf_interval power(struct bf_interval x, struct bf_interval y)
{
    if (x.low < 0 || y.low <= 0 || largest(y) > 64 || has_infinity(x))
        return bf_interval_any();
    /* Above 1 it grows with y, and below it falls. */
    const double low = fmin(pow(x.low, y.low), pow(x.low, y.high)),
                 high = fmax(pow(x.high, y.low), pow(x.high, y.high));
    return widened(low, high, FUNCTION * (1 + y.high), x.nan || y.nan);
}

/* Of what is negative it is open. */
static struct bf_interval root(struct bf_interval a)
{
    return a.low < 0 ? bf_interval_any() : widened(sqrt(a.low), sqrt(a.high), QUOTIENT, a.nan);
}

/* And here of 0, too. */
static struct bf_interval logarithm(struct bf_interval a, double (*of)(double))
{
    if (a.low <= 0)
        return bf_interval_any();
    const double low = of(a.low), high = of(a.high);
    return bounded(low - fabs(low) * FUNCTION - FUNCTION, high + fabs(high) * FUNCTION + FUNCTION,
                   a.nan);
}

/* x * inversesqrt(dot(x, x)): where that neither underflows nor overflows. */
static struct bf_interval normalized(struct bf_interval a)
{
    if (smallest(a) < TINY_FACTOR || largest(a) > HUGE_FACTOR)
        return bf_interval_any();
    return (struct bf_interval){-1.01, 1.01, a.nan};
}

/* Within an operand that is a number. */
static struct bf_interval within(double low, double high, struct bf_interval a)
{
    return bounded(low, high, a.nan || has_infinity(a));
}

struct bf_interval bf_interval_library(uint32_t function, const struct bf_interval operands[3])
{
    const struct bf_interval a = operands[0], b = operands[1], c = operands[2];
    switch (function) {
    case GLSLstd450FMin:
    case GLSLstd450NMin:
        return lesser(a, b);
    case GLSLstd450FMax:
    case GLSLstd450NMax:
        return greater(a, b);
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
        return clamped(a, b, c);
    case GLSLstd450SMin:
        return lesser(as_integer(a), as_integer(b));
    case GLSLstd450SMax:
        return greater(as_integer(a), as_integer(b));
    case GLSLstd450SClamp:
        return as_integer(clamped(as_integer(a), as_integer(b), as_integer(c)));
    case GLSLstd450FAbs:
        return absolute(a);
    case GLSLstd450FSign:
        return sign(a);
    case GLSLstd450SSign:
        return sign(as_integer(a));
    case GLSLstd450Floor:
        return bounded(floor(a.low), floor(a.high), a.nan);
    case GLSLstd450Ceil:
        return bounded(ceil(a.low), ceil(a.high), a.nan);
    case GLSLstd450Trunc:
        return bounded(trunc(a.low), trunc(a.high), a.nan);
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
        return bounded(floor(a.low), ceil(a.high), a.nan);
    case GLSLstd450Fract:
        return within(0, 1, a);
    case GLSLstd450UnpackUnorm4x8:
    case GLSLstd450UnpackUnorm2x16: /* divided, whatever the bits are */
        return widened(0, 1, QUOTIENT, false);
    case GLSLstd450Sin:
    case GLSLstd450Cos:
        return within(-1.01, 1.01, a);
    case GLSLstd450Atan:
        return within(-1.6, 1.6, a);
    case GLSLstd450Atan2:
        return (struct bf_interval){-3.2, 3.2, true};
    case GLSLstd450Normalize:
        return normalized(a);
    case GLSLstd450Exp:
        return widened(exp(a.low), exp(a.high), FUNCTION, a.nan);
    case GLSLstd450Exp2:
        return widened(exp2(a.low), exp2(a.high), FUNCTION, a.nan);
    case GLSLstd450Log:
        return logarithm(a, log);
    case GLSLstd450Log2:
        return logarithm(a, log2);
    case GLSLstd450Pow:
        return power(a, b);
    case GLSLstd450Sqrt:
        return root(a);
    case GLSLstd450InverseSqrt:
        return a.low > 0 ? bf_interval_divide(bf_interval_of(1, 1), root(a)) : bf_interval_any();
    case GLSLstd450Length:
        return root(bf_interval_sum(bf_interval_square(a), 1, 4));
    case GLSLstd450Distance:
        return root(
            bf_interval_sum(bf_interval_square(bf_interval_add(a, bf_interval_negate(b))), 1, 4));
    case GLSLstd450Step: {
        const bool nan = a.nan || b.nan;
        return (struct bf_interval){nan || b.low < a.high ? 0 : 1, nan || b.high >= a.low, nan};
    }
    case GLSLstd450SmoothStep:
        return smooth_step(a, b, c);
    case GLSLstd450FMix:
        return mix(a, b, c);
    case GLSLstd450Fma:
        return bf_interval_add(bf_interval_multiply(a, b), c);
    case GLSLstd450Radians:
        return bf_interval_multiply(a, bf_interval_of(M_PI / 180, M_PI / 180));
    case GLSLstd450Degrees:
        return bf_interval_multiply(a, bf_interval_of(180 / M_PI, 180 / M_PI));
    default:
        return bf_interval_any();
    }
}

/* ---------------------------------------------------------------------------------- Integers -- */

/* All below the next power of two. */
static double bits_above(struct bf_interval a, struct bf_interval b)
{
    double most = 1;
    while (most <= fmax(a.high, b.high))
        most *= 2;
    return most - 1;
}

static struct bf_interval whole_or(double low, double high)
{
    return low < WHOLE_LOW || high > WHOLE_HIGH ? bf_interval_integer()
                                                : (struct bf_interval){low, high, false};
}

static struct bf_interval shifted(uint16_t opcode, struct bf_interval a, struct bf_interval by)
{
    if (by.low != by.high || by.low < 0 || by.low > 31)
        return bf_interval_integer();
    const double factor = exp2(by.low);
    if (opcode == SpvOpShiftLeftLogical)
        return whole_or(a.low * factor, a.high * factor);
    if (opcode == SpvOpShiftRightLogical && a.low < 0)
        return whole_or(0, floor((0x1p32 - 1) / factor));
    return whole_or(floor(a.low / factor), floor(a.high / factor));
}

struct bf_interval bf_interval_whole(uint16_t opcode, const struct bf_interval operands[2])
{
    const struct bf_interval a = as_integer(operands[0]), b = as_integer(operands[1]);
    const bool natural = a.low >= 0 && b.low >= 0;
    switch (opcode) {
    case SpvOpIAdd:
        return whole_or(a.low + b.low, a.high + b.high);
    case SpvOpISub:
        return whole_or(a.low - b.high, a.high - b.low);
    case SpvOpSNegate:
        return whole_or(-a.high, -a.low);
    case SpvOpIMul: {
        const double ends[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        return whole_or(fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
                        fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3])));
    }
    case SpvOpUDiv:
    case SpvOpSDiv:
        return natural && b.low > 0 ? whole_or(floor(a.low / b.high), floor(a.high / b.low))
                                    : bf_interval_integer();
    case SpvOpUMod:
        return b.low > 0 ? whole_or(0, b.high - 1) : bf_interval_integer();
    case SpvOpSMod:
    case SpvOpSRem:
        return natural && b.low > 0 ? whole_or(0, fmin(a.high, b.high - 1)) : bf_interval_integer();
    case SpvOpBitwiseAnd:
        return natural      ? whole_or(0, fmin(a.high, b.high))
               : a.low >= 0 ? whole_or(0, a.high)
               : b.low >= 0 ? whole_or(0, b.high)
                            : bf_interval_integer();
    case SpvOpBitwiseOr:
        return natural ? whole_or(fmax(a.low, b.low), bits_above(a, b)) : bf_interval_integer();
    case SpvOpBitwiseXor:
        return natural ? whole_or(0, bits_above(a, b)) : bf_interval_integer();
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return shifted(opcode, a, b);
    default:
        return bf_interval_integer();
    }
}

/* ------------------------------------------------------------------------------------- Truth -- */

bool bf_interval_may_be_less(struct bf_interval a, struct bf_interval b, bool same, bool is_signed)
{
    if (!is_signed && (a.low < 0 || b.low < 0))
        return true;
    return same ? a.low <= b.high : a.low < b.high;
}

static struct bf_interval truth(bool may_be_false, bool may_be_true)
{
    return (struct bf_interval){!may_be_false, may_be_true, false};
}

/* a < b, or a <= b; with NaN, 'unordered'. */
static struct bf_interval less(struct bf_interval a, struct bf_interval b, bool same,
                               bool is_signed, bool unordered)
{
    const bool nan = a.nan || b.nan;
    return truth(bf_interval_may_be_less(b, a, !same, is_signed) || (nan && !unordered),
                 bf_interval_may_be_less(a, b, same, is_signed) || (nan && unordered));
}

static struct bf_interval equal(struct bf_interval a, struct bf_interval b, bool not,
                                bool unordered)
{
    const bool nan = a.nan || b.nan, may_be = a.low <= b.high && b.low <= a.high,
               must_be = a.low == a.high && b.low == b.high && a.low == b.low;
    return not ? truth(may_be || (nan && !unordered), !must_be || (nan && unordered))
               : truth(!must_be || (nan && !unordered), may_be || (nan && unordered));
}

struct bf_interval bf_interval_truth(uint16_t opcode, const struct bf_interval operands[2])
{
    struct bf_interval a = operands[0], b = operands[1];
    switch (opcode) {
    case SpvOpFOrdLessThan:
    case SpvOpFUnordLessThan:
        return less(a, b, false, true, opcode == SpvOpFUnordLessThan);
    case SpvOpFOrdLessThanEqual:
    case SpvOpFUnordLessThanEqual:
        return less(a, b, true, true, opcode == SpvOpFUnordLessThanEqual);
    case SpvOpFOrdGreaterThan:
    case SpvOpFUnordGreaterThan:
        return less(b, a, false, true, opcode == SpvOpFUnordGreaterThan);
    case SpvOpFOrdGreaterThanEqual:
    case SpvOpFUnordGreaterThanEqual:
        return less(b, a, true, true, opcode == SpvOpFUnordGreaterThanEqual);
    case SpvOpFOrdEqual:
    case SpvOpFUnordEqual:
        return equal(a, b, false, opcode == SpvOpFUnordEqual);
    case SpvOpFOrdNotEqual:
    case SpvOpFUnordNotEqual:
        return equal(a, b, true, opcode == SpvOpFUnordNotEqual);
    case SpvOpLogicalAnd:
        return truth(a.low < 1 || b.low<1, a.high> 0 && b.high > 0);
    case SpvOpLogicalOr:
        return truth(a.low < 1 && b.low<1, a.high> 0 || b.high > 0);
    case SpvOpLogicalNot:
        return truth(a.high > 0, a.low < 1);
    case SpvOpLogicalEqual:
        return equal(a, b, false, false);
    case SpvOpLogicalNotEqual:
        return equal(a, b, true, false);
    case SpvOpAny:
    case SpvOpAll:
        return truth(a.low<1, a.high> 0);
    default:
        break;
    }
    a = as_integer(a);
    b = as_integer(b);
    switch (opcode) {
    case SpvOpIEqual:
        return equal(a, b, false, false);
    case SpvOpINotEqual:
        return equal(a, b, true, false);
    case SpvOpSLessThan:
    case SpvOpULessThan:
        return less(a, b, false, opcode == SpvOpSLessThan, false);
    case SpvOpSLessThanEqual:
    case SpvOpULessThanEqual:
        return less(a, b, true, opcode == SpvOpSLessThanEqual, false);
    case SpvOpSGreaterThan:
    case SpvOpUGreaterThan:
        return less(b, a, false, opcode == SpvOpSGreaterThan, false);
    case SpvOpSGreaterThanEqual:
    case SpvOpUGreaterThanEqual:
        return less(b, a, true, opcode == SpvOpSGreaterThanEqual, false);
    default:
        return truth(true, true);
    }
}
