/* SPDX-License-Identifier: MIT */
/* Intervals against numbers: operands are drawn from random intervals, what is computed of them is
 * rounded up, down and to the nearest, flushed or not, contracted or re-ordered, and has to lie in
 * the interval that is made of theirs. [FN-6] */
#include "support/test.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "random/rng.h"
#include "specialize/dry_run/interval.h"

#define ROUNDS 100000

static struct rng rng;

static float random_float(void)
{
    static const float some[] = {0,       -0.0f,    1,        -1,        0.5f,    2,      255,
                                 FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, FLT_MIN, 1e-41f, -1e-41f};
    uint32_t bits = (uint32_t)rng_next(&rng);
    float value;
    switch (rng_below(&rng, 4)) {
    case 0:
        return some[rng_below(&rng, sizeof(some) / sizeof(some[0]))];
    case 1:
        memcpy(&value, &bits, 4);
        return isnan(value) ? 3 : value;
    default:
        value = ((float)(rng_next(&rng) >> 40) / 0x1p24f - 0.5f) * (rng_below(&rng, 2) ? 2 : 40);
        return rng_below(&rng, 4) ? value : ldexpf(value, (int)rng_below(&rng, 28));
    }
}

/* An interval, and a number of it. */
struct drawn {
    struct bf_interval interval;
    float value;
};

static float between(float low, float high)
{
    const double part = (double)rng_below(&rng, 1025) / 1024;
    const float value =
        isinf(low) || isinf(high) ? random_float() : (float)(low + ((double)high - low) * part);
    return fminf(fmaxf(value, low), high);
}

static struct drawn draw(void)
{
    struct drawn d;
    float low = random_float(), high = rng_below(&rng, 4) ? random_float() : low;
    if (low > high) {
        const float other = low;
        low = high;
        high = other;
    }
    d.interval = bf_interval_of(low, high);
    d.value = between(low, high);
    d.interval.nan = rng_below(&rng, 4) == 0;
    if (d.interval.nan && rng_below(&rng, 4) == 0)
        d.value = NAN;
    return d;
}

static float flushed(float value)
{
    return fabsf(value) < FLT_MIN ? copysignf(0, value) : value;
}

static const char *doing;

static void expect_in(struct bf_interval interval, float value)
{
    const bool in = isnan(value) ? interval.nan
                                 : (double)value >= interval.low && (double)value <= interval.high;
    if (!in || (interval.low > interval.high && !interval.nan))
        fail_msg("%s: %a (%g) isn't in %a to %a%s", doing, (double)value, (double)value,
                 interval.low, interval.high, interval.nan ? " or NaN" : "");
}

/* As a device may round: the operands flushed, or the result, or neither. */
static float rounded(double (*of)(double, double), float a, float b)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const uint32_t flush = rng_below(&rng, 4);
    if (flush & 1) {
        a = flushed(a);
        b = flushed(b);
    }
    const double exact = of((double)a, (double)b);
    fesetround(modes[rng_below(&rng, 4)]);
    volatile float value = (float)exact;
    fesetround(FE_TONEAREST);
    return flush & 2 ? flushed(value) : value;
}

static double sum(double a, double b)
{
    return a + b;
}

static double product(double a, double b)
{
    return a * b;
}

static double quotient(double a, double b)
{
    return a / b * (1 + ((double)rng_below(&rng, 5) - 2) * 0x1p-23);
}

/* As a device makes it of others. */
static float remainder_of(float a, float b)
{
    const bool reciprocal = rng_below(&rng, 2);
    const float by = flushed(1 / b),
                parts = reciprocal ? a * by : (float)quotient((double)a, (double)b);
    return a - b * (rng_below(&rng, 2) ? floorf(parts) : truncf(parts));
}

static void arithmetic_expect(struct drawn a, struct drawn b)
{
    doing = "add";
    expect_in(bf_interval_add(a.interval, b.interval), rounded(sum, a.value, b.value));
    doing = "multiply";
    expect_in(bf_interval_multiply(a.interval, b.interval), rounded(product, a.value, b.value));
    doing = "square";
    expect_in(bf_interval_square(a.interval), rounded(product, a.value, a.value));
    doing = "divide";
    expect_in(bf_interval_divide(a.interval, b.interval), rounded(quotient, a.value, b.value));
    doing = "remainder";
    expect_in(bf_interval_remainder(a.interval, b.interval),
              remainder_of(flushed(a.value), flushed(b.value)));
    doing = "negate";
    expect_in(bf_interval_negate(a.interval), -a.value);
}

/* a + b + c and a * b * c in both orders, and a * b + c in one. */
static void orders_expect(struct drawn a, struct drawn b, struct drawn c)
{
    doing = "sum of three";
    struct bf_interval all = bf_interval_add(bf_interval_add(a.interval, b.interval), c.interval);
    expect_in(all, rounded(sum, rounded(sum, a.value, b.value), c.value));
    expect_in(all, rounded(sum, a.value, rounded(sum, b.value, c.value)));
    doing = "product of three";
    all = bf_interval_multiply(bf_interval_multiply(a.interval, b.interval), c.interval);
    expect_in(all, rounded(product, rounded(product, a.value, b.value), c.value));
    expect_in(all, rounded(product, a.value, rounded(product, b.value, c.value)));
    doing = "sum of several";
    const float values[3] = {a.value, between((float)a.interval.low, (float)a.interval.high),
                             between((float)a.interval.low, (float)a.interval.high)};
    expect_in(bf_interval_sum(a.interval, 2, 3),
              rounded(sum, rounded(sum, values[0], values[1]), values[2]));
    expect_in(bf_interval_sum(a.interval, 2, 3), rounded(sum, values[0], values[1]));
    doing = "contracted";
    if (!isnan(a.value) && !isnan(b.value) && !isnan(c.value))
        expect_in(bf_interval_add(bf_interval_multiply(a.interval, b.interval), c.interval),
                  fmaf(a.value, b.value, c.value));
    const struct bf_interval mixed = bf_interval_library(
        GLSLstd450FMix, (struct bf_interval[]){a.interval, b.interval, c.interval});
    doing = "mix";
    expect_in(mixed, rounded(sum, a.value * (1 - c.value), b.value * c.value));
    expect_in(mixed, rounded(sum, a.value, c.value * (b.value - a.value)));
}

static float step(float edge, float x)
{
    return x < edge ? 0 : 1;
}

static float smooth_step(float from, float to, float x)
{
    const float t = fminf(fmaxf((x - from) / (to - from), 0), 1);
    return t * t * (3 - 2 * t);
}

static void library_expect(uint32_t function, const char *name, struct drawn a, struct drawn b,
                           struct drawn c, float value)
{
    const struct bf_interval operands[3] = {a.interval, b.interval, c.interval};
    doing = name;
    expect_in(bf_interval_library(function, operands), value);
}
#define EXPECT(function_, value_) library_expect(GLSLstd450##function_, #function_, a, b, c, value_)

/* How far off a device may be: units in the last place. */
static float off(double value, double units)
{
    return (float)(value * (1 + units * ((double)rng_below(&rng, 3) - 1) * 0x1p-23));
}

/* Of a vector with that component, and others like it, as a device makes it of others. */
static float normal(struct bf_interval a, float x)
{
    const uint32_t count = rng_below(&rng, 4);
    float product = flushed(x * x);
    for (uint32_t i = 0; i < count; i++) {
        const float y = between((float)a.low, (float)a.high);
        product += flushed(y * y);
    }
    return x * (1 / sqrtf(product));
}

static void functions_expect(struct drawn a, struct drawn b, struct drawn c)
{
    const float x = a.value, y = b.value, z = c.value;
    const bool numbers = !isnan(x) && !isnan(y) && !isnan(z);
    /* Of a NaN and a number either may come. */
    EXPECT(FMin, isnan(x) && rng_below(&rng, 2) ? x : fminf(x, y));
    EXPECT(FMax, isnan(y) && rng_below(&rng, 2) ? y : fmaxf(x, y));
    EXPECT(FAbs, fabsf(x));
    EXPECT(FSign, isnan(x) ? (rng_below(&rng, 2) ? (float)rng_below(&rng, 3) - 1 : x)
                           : (float)((x > 0) - (x < 0)));
    EXPECT(Floor, floorf(rng_below(&rng, 2) ? x : flushed(x)));
    EXPECT(Ceil, ceilf(rng_below(&rng, 2) ? x : flushed(x)));
    EXPECT(Trunc, truncf(x));
    EXPECT(RoundEven, rintf(x));
    EXPECT(Fract, x - floorf(x));
    EXPECT(Sin, sinf(x));
    EXPECT(Cos, cosf(x));
    EXPECT(Atan, atanf(x));
    /* What is open may be that of its positive. */
    EXPECT(Sqrt, off(sqrt(rng_below(&rng, 2) ? (double)x : fabs((double)x)), 4));
    EXPECT(Log2, (float)(log2(rng_below(&rng, 2) ? (double)x : fabs((double)x)) + 0x1p-21));
    EXPECT(Normalize, normal(a.interval, x));
    EXPECT(InverseSqrt, off(1 / sqrt((double)x), 2));
    EXPECT(Exp, off(exp((double)x), 3 + 2 * fmin(fabs((double)x), 150)));
    EXPECT(Exp2, off(exp2((double)x), 3 + 2 * fmin(fabs((double)x), 150)));
    EXPECT(Length, off(fabs((double)x), 4));
    EXPECT(Radians, off((double)x * M_PI / 180, 1));
    EXPECT(Step, step(x, y));
    if (x >= 0 && y > 0)
        EXPECT(Pow, (float)(x > 0 ? exp2((double)y * (log2((double)x) + 0x1p-21)) : 0));
    if (numbers && y <= z)
        EXPECT(FClamp, fminf(fmaxf(x, y), z));
    if (numbers && x < y)
        EXPECT(SmoothStep, smooth_step(x, y, z));
}

static void comparisons_expect(struct drawn a, struct drawn b)
{
    static const struct {
        uint16_t opcode;
        const char *name;
    } operations[] = {{SpvOpFOrdLessThan, "<"},
                      {SpvOpFOrdLessThanEqual, "<="},
                      {SpvOpFOrdGreaterThan, ">"},
                      {SpvOpFOrdGreaterThanEqual, ">="},
                      {SpvOpFOrdEqual, "=="},
                      {SpvOpFOrdNotEqual, "ordered !="},
                      {SpvOpFUnordLessThan, "not >="},
                      {SpvOpFUnordLessThanEqual, "not >"},
                      {SpvOpFUnordGreaterThan, "not <="},
                      {SpvOpFUnordGreaterThanEqual, "not <"},
                      {SpvOpFUnordEqual, "not ordered !="},
                      {SpvOpFUnordNotEqual, "!="}};
    const float x = rng_below(&rng, 2) ? a.value : flushed(a.value),
                y = rng_below(&rng, 2) ? b.value : flushed(b.value);
    const bool ordered = !isnan(x) && !isnan(y);
    const bool values[] = {x<y, x <= y, x> y, x >= y,    x == y,   ordered && x != y,  !(x >= y),
                           !(x > y),          !(x <= y), !(x < y), !ordered || x == y, x != y};
    const struct bf_interval operands[2] = {a.interval, b.interval};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        doing = operations[i].name;
        expect_in(bf_interval_truth(operations[i].opcode, operands), values[i]);
    }
    assert_true(bf_interval_may_be_less(a.interval, b.interval, false, true) || !(x < y));
    assert_true(bf_interval_may_be_less(a.interval, b.interval, true, true) || !(x <= y));
}

TEST(floats_lie_in_their_intervals)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct drawn a = draw(), b = draw(), c = draw();
        arithmetic_expect(a, b);
        orders_expect(a, b, c);
        functions_expect(a, b, c);
        comparisons_expect(a, b);
    }
}

/* -------------------------------------------------------------------------------- Integers -- */

struct drawn_whole {
    struct bf_interval interval;
    int32_t value;
};

static struct drawn_whole draw_whole(void)
{
    static const int32_t some[] = {0, 1, 2, 3, 7, 31, 63, 255, -1, -8, INT32_MIN, INT32_MAX};
    int64_t ends[2];
    for (int i = 0; i < 2; i++)
        ends[i] = rng_below(&rng, 3) ? some[rng_below(&rng, 12)] : (int32_t)rng_next(&rng);
    const int64_t low = ends[0] < ends[1] ? ends[0] : ends[1],
                  high = ends[0] < ends[1] ? ends[1] : ends[0];
    return (struct drawn_whole){
        {(double)low, (double)high, false},
        (int32_t)(low + (int64_t)(rng_next(&rng) % (uint64_t)(high - low + 1)))};
}

static int32_t whole(uint16_t opcode, int32_t a, int32_t b)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (opcode) {
    case SpvOpIAdd:
        return (int32_t)(x + y);
    case SpvOpISub:
        return (int32_t)(x - y);
    case SpvOpIMul:
        return (int32_t)(x * y);
    case SpvOpSNegate:
        return (int32_t)(0 - x);
    case SpvOpUDiv:
        return y ? (int32_t)(x / y) : 0;
    case SpvOpSDiv:
        return b ? (int32_t)((int64_t)a / b) : 0;
    case SpvOpUMod:
        return y ? (int32_t)(x % y) : 0;
    case SpvOpSRem:
        return b ? (int32_t)((int64_t)a % b) : 0;
    case SpvOpBitwiseAnd:
        return (int32_t)(x & y);
    case SpvOpBitwiseOr:
        return (int32_t)(x | y);
    case SpvOpBitwiseXor:
        return (int32_t)(x ^ y);
    case SpvOpShiftLeftLogical:
        return y < 32 ? (int32_t)(x << y) : 0;
    case SpvOpShiftRightLogical:
        return y < 32 ? (int32_t)(x >> y) : 0;
    default:
        return y < 32 ? a >> y : 0;
    }
}

/* Whether SPIR-V says what it is. */
static bool is_open(uint16_t opcode, int32_t b)
{
    const bool divides =
        opcode == SpvOpUDiv || opcode == SpvOpSDiv || opcode == SpvOpUMod || opcode == SpvOpSRem;
    const bool shifts = opcode >= SpvOpShiftRightLogical && opcode <= SpvOpShiftLeftLogical;
    return (divides && b == 0) || (shifts && (uint32_t)b > 31);
}

TEST(integers_lie_in_their_intervals)
{
    static const uint16_t opcodes[] = {SpvOpIAdd,
                                       SpvOpISub,
                                       SpvOpIMul,
                                       SpvOpSNegate,
                                       SpvOpUDiv,
                                       SpvOpSDiv,
                                       SpvOpUMod,
                                       SpvOpSRem,
                                       SpvOpBitwiseAnd,
                                       SpvOpBitwiseOr,
                                       SpvOpBitwiseXor,
                                       SpvOpShiftLeftLogical,
                                       SpvOpShiftRightLogical,
                                       SpvOpShiftRightArithmetic};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct drawn_whole a = draw_whole(), b = draw_whole();
        const struct bf_interval operands[2] = {a.interval, b.interval};
        const uint16_t opcode = opcodes[rng_below(&rng, sizeof(opcodes) / sizeof(opcodes[0]))];
        const struct bf_interval result = bf_interval_whole(opcode, operands);
        const int32_t value = whole(opcode, a.value, b.value);
        if (!is_open(opcode, b.value) && (value < result.low || value > result.high))
            fail_msg("opcode %u of %d and %d: %d isn't in %g to %g", opcode, a.value, b.value,
                     value, result.low, result.high);
        const uint32_t x = (uint32_t)a.value, y = (uint32_t)b.value;
        doing = "unsigned <";
        expect_in(bf_interval_truth(SpvOpULessThan, operands), x < y);
        doing = "signed <=";
        expect_in(bf_interval_truth(SpvOpSLessThanEqual, operands), a.value <= b.value);
        doing = "unsigned >=";
        expect_in(bf_interval_truth(SpvOpUGreaterThanEqual, operands), x >= y);
        doing = "float of unsigned";
        expect_in(bf_interval_float(a.interval, false), (float)x);
        doing = "float of signed";
        expect_in(bf_interval_float(a.interval, true), (float)a.value);
    }
}

/* They aren't so wide that they say nothing. */
TEST(intervals_are_narrow)
{
    const struct bf_interval unit = bf_interval_of(0, 1), byte = bf_interval_of(255, 255);
    const struct bf_interval level =
        bf_interval_add(bf_interval_multiply(unit, byte), bf_interval_of(0.5, 0.5));
    assert_true(level.low > 0.499 && level.high < 255.51 && !level.nan);
    const struct bf_interval operands[3] = {level, bf_interval_of(0, 0), byte};
    const struct bf_interval clamped = bf_interval_library(GLSLstd450FClamp, operands);
    assert_true(clamped.low > 0.499 && clamped.high == 255);
    const struct bf_interval root = bf_interval_library(GLSLstd450Sqrt, operands);
    assert_true(root.low > 0.7 && root.high < 16 && !root.nan);
    assert_true(bf_interval_multiply(unit, unit).low == 0);
    assert_true(bf_interval_square(bf_interval_of(-2, 1)).low == 0);
}

int main(int argc, char **argv)
{
    rng.state = 7;
    return test_run_group(argc > 1 ? argv[1] : NULL, NULL, NULL);
}
