/* SPDX-License-Identifier: MIT */
/* Inputs that are made up, formats, and what blocks consist of: without a device. */
#include "support/test.h"

#include <math.h>

#include "specialize/shader/block.h"
#include "specialize/check/inputs.h"

#include "shaders/check_bits.comp.h"
#include "shaders/check_blocks.comp.h"
#include "shaders/check_fragile.comp.h"
#include "shaders/check_loop.comp.h"

#define WORDS 4096

/* The first four have limits. */
static const enum bf_inputs_style styles[] = {BF_INPUTS_SMALL,  BF_INPUTS_SPREAD, BF_INPUTS_WIDE,
                                              BF_INPUTS_EDGES,  BF_INPUTS_TINY,   BF_INPUTS_HUGE,
                                              BF_INPUTS_NUMBERS};

static float as_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, 4);
    return value;
}

static void fill(const struct bf_inputs *inputs, enum bf_unit unit, uint32_t words[WORDS])
{
    const uint8_t kind = (uint8_t)unit;
    bf_inputs_words(inputs, 3, &kind, 1, 1, words, WORDS);
}

static bool has(const uint32_t words[WORDS], uint32_t word)
{
    for (uint32_t i = 0; i < WORDS; i++)
        if (words[i] == word)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------- Words -- */

TEST(numbers_stay_within_the_limit_unless_wild)
{
    uint32_t words[WORDS];
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t seed = 0; seed < 8; seed++) {
            const struct bf_inputs inputs = {.seed = seed, .style = styles[i], .limit = 16};
            fill(&inputs, BF_UNIT_INTEGER, words);
            for (uint32_t k = 0; k < WORDS; k++)
                assert_in_range(words[k], 0, 15);
            fill(&inputs, BF_UNIT_FLOAT, words);
            for (uint32_t k = 0; k < WORDS; k++)
                assert_true(isnan(as_float(words[k])) || fabsf(as_float(words[k])) <= 16.0f);
            fill(&inputs, BF_UNIT_BYTES, words);
            for (uint32_t k = 0; k < WORDS; k++)
                assert_true((words[k] & 0xf0f0f0f0u) == 0);
            fill(&inputs, BF_UNIT_LONG, words);
            for (uint32_t k = 0; k < WORDS; k += 2) {
                assert_in_range(words[k], 0, 15);
                assert_int_equal(words[k + 1], 0);
            }
        }
    }
}

/* Of those that aren't edges. */
static uint32_t count_between(const uint32_t words[WORDS], float least, float most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        count += fabsf(as_float(words[i])) >= least && fabsf(as_float(words[i])) < most;
    return count;
}

TEST(some_styles_have_no_limits)
{
    uint32_t words[WORDS];
    struct bf_inputs inputs = {.seed = 3, .style = BF_INPUTS_TINY, .limit = 16};
    fill(&inputs, BF_UNIT_FLOAT, words);
    assert_in_range(count_between(words, 0.0f, 0x1p-110f), WORDS * 9 / 10, WORDS);
    assert_in_range(count_between(words, 0x1p-148f, 0x1p-126f), WORDS / 32, WORDS);
    inputs.style = BF_INPUTS_HUGE;
    fill(&inputs, BF_UNIT_FLOAT, words);
    assert_in_range(count_between(words, 0x1p90f, INFINITY), WORDS * 9 / 10, WORDS);
    assert_in_range(count_between(words, 0x1p120f, INFINITY), WORDS / 32, WORDS);
    fill(&inputs, BF_UNIT_INTEGER, words);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_in_range(words[i], 0, 15);
    inputs.style = BF_INPUTS_NUMBERS;
    fill(&inputs, BF_UNIT_FLOAT, words);
    assert_in_range(count_between(words, 0x1p40f, INFINITY), WORDS / 4, WORDS);
    assert_in_range(count_between(words, 0.0f, 0x1p-40f), WORDS / 4, WORDS);
    fill(&inputs, BF_UNIT_INTEGER, words);
    uint32_t large = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        large += words[i] >= 0x80000000;
    assert_in_range(large, WORDS / 4, WORDS);
}

/* Uniform in their bits nearly all would be large. */
TEST(integers_of_all_sizes_are_alike)
{
    uint32_t words[WORDS], sizes[33] = {0};
    const struct bf_inputs inputs = {.seed = 3, .style = BF_INPUTS_NUMBERS, .limit = 16};
    fill(&inputs, BF_UNIT_INTEGER, words);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t word = words[i] & 0x80000000 ? ~words[i] : words[i];
        sizes[word ? 32 - __builtin_clz(word) : 0]++;
    }
    for (uint32_t bits = 0; bits < 32; bits++)
        assert_in_range(sizes[bits], WORDS / 64, WORDS / 4);
}

/* How often halves have each exponent. */
/* [GI-6] */
TEST(integers_of_small_blocks_are_of_the_magnitude_asked_for)
{
    static const uint8_t kinds[] = {BF_UNIT_FLOAT, BF_UNIT_INTEGER};
    static const uint32_t most[BF_INPUTS_MAGNITUDES + 1] = {1, 256, 1024, 4096, 65536, UINT32_MAX};
    for (uint32_t seed = 0; seed < 64; seed++) {
        uint32_t words[2];
        for (uint32_t m = 1; m <= BF_INPUTS_MAGNITUDES; m++) {
            const struct bf_inputs inputs = {
                .seed = seed, .style = BF_INPUTS_NUMBERS, .limit = 16, .magnitude = m};
            bf_inputs_words(&inputs, 3, kinds, 2, 0, words, 2);
            assert_in_range(words[1], most[m - 1], most[m]);
        }
        struct bf_inputs late = {
            .seed = seed, .style = BF_INPUTS_SPREAD, .limit = 1024, .rounds = true};
        bf_inputs_words(&late, 3, kinds, 2, 0, words, 2);
        assert_in_range(words[1], 896, 1023);
        late.timid = true;
        late.limit = 2;
        bf_inputs_words(&late, 3, kinds, 2, 0, words, 2);
        assert_in_range(words[1], 0, 1);
    }
}

/* [GI-8] */
TEST(edges_of_integers_are_named)
{
    static const uint32_t named[] = {63, 700};
    static const uint8_t kinds[] = {BF_UNIT_INTEGER};
    struct bf_inputs inputs = {
        .seed = 35, .style = BF_INPUTS_EDGES, .limit = 16, .named = named, .named_count = 2};
    uint32_t words[WORDS], found[2] = {0};
    bf_inputs_words(&inputs, 1, kinds, 1, 1, words, WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        found[0] += words[i] == 63;
        found[1] += words[i] == 700;
        assert_true(words[i] < 16 || words[i] == 63 || words[i] == 700);
    }
    assert_in_range(found[0], WORDS / 16, WORDS / 4);
    assert_in_range(found[1], WORDS / 16, WORDS / 4);
    inputs.timid = true;
    bf_inputs_words(&inputs, 1, kinds, 1, 1, words, WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_true(words[i] < 16);
}

/* And floats are beside them of many sizes, where others are 4 at most. [GI-8] */
TEST(floats_beside_what_is_named_are_of_many_sizes)
{
    static const uint32_t named[] = {63};
    uint32_t words[WORDS];
    for (uint32_t with = 0; with < 2; with++) {
        const struct bf_inputs inputs = {.seed = 35,
                                         .style = BF_INPUTS_EDGES,
                                         .limit = 2000,
                                         .named = named,
                                         .named_count = with};
        uint32_t large[2] = {0};
        fill(&inputs, BF_UNIT_FLOAT, words);
        for (uint32_t i = 0; i < WORDS; i++) {
            const float value = as_float(words[i]);
            large[value < 0] += fabsf(value) > 16 && fabsf(value) < 2000;
        }
        for (uint32_t negative = 0; negative < 2; negative++)
            assert_in_range(large[negative], with ? WORDS / 64 : 0, with ? WORDS / 4 : 0);
    }
}

/* [GI-9] */
TEST(narrow_integers_are_below_the_limit_in_all_styles)
{
    static const uint32_t before[5] = {1000, 0x3f800000, 0, 0xff336699, 7};
    static const uint32_t named[] = {700};
    uint32_t words[WORDS], floats[WORDS];
    for (uint32_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        struct bf_inputs inputs = {.seed = i,
                                   .style = styles[i],
                                   .limit = 2,
                                   .wild = true,
                                   .named = named,
                                   .named_count = 1};
        fill(&inputs, BF_UNIT_FLOAT, floats);
        inputs.narrow = true;
        fill(&inputs, BF_UNIT_FLOAT, words);
        assert_memory_equal(words, floats, sizeof(words));
        fill(&inputs, BF_UNIT_INTEGER, words);
        for (uint32_t k = 0; k < WORDS; k++)
            assert_in_range(words[k], 0, 1);
    }
    for (uint32_t seed = 0; seed < 64; seed++) {
        const struct bf_inputs inputs = {.seed = seed,
                                         .style = BF_INPUTS_SPREAD,
                                         .limit = 2,
                                         .narrow = true,
                                         .free = true,
                                         .other = true};
        memcpy(words, before, sizeof(before));
        bf_inputs_push(&inputs, 0, words, 5);
        for (uint32_t k = 0; k < 5; k++)
            assert_true(k == 1 ? words[k] != before[k] : words[k] < 2 || words[k] == before[k]);
    }
}

/* How many of the words are floats of ordinary size, small integers, or neither. */
static void bits_count(const struct bf_inputs *inputs, uint32_t counts[3])
{
    uint32_t words[WORDS];
    fill(inputs, BF_UNIT_BITS, words);
    for (uint32_t i = 0; i < WORDS; i++)
        counts[words[i] < inputs->limit                                           ? 1
               : fabsf(as_float(words[i])) <= 4.0f && (words[i] >> 23 & 255) > 90 ? 0
                                                                                  : 2]++;
}

/* [GI-10] */
TEST(bits_are_floats_and_integers_and_anything)
{
    uint32_t floats = 0, integers = 0, packed = 0;
    for (uint32_t seed = 0; seed < 64; seed++) {
        struct bf_inputs inputs = {.seed = seed, .style = BF_INPUTS_SPREAD, .limit = 16};
        uint32_t counts[3] = {0}, narrow[3] = {0}, timid[3] = {0};
        bits_count(&inputs, counts);
        floats += counts[0] > WORDS * 3 / 4;
        integers += counts[1] > WORDS * 9 / 10;
        packed += counts[2] > WORDS / 2;
        inputs.narrow = true;
        bits_count(&inputs, narrow);
        assert_in_range(narrow[0], WORDS / 3, WORDS * 2 / 3);
        assert_in_range(narrow[1], WORDS / 3, WORDS * 2 / 3);
        inputs.narrow = false;
        inputs.timid = true;
        bits_count(&inputs, timid);
        inputs.timid = false;
        inputs.unfloating = true;
        bits_count(&inputs, timid);
        inputs.style = BF_INPUTS_SMALL;
        inputs.dry = true;
        bits_count(&inputs, timid);
        assert_int_equal(timid[1], 3 * WORDS);
    }
    assert_in_range(floats, 20, 44);
    assert_in_range(integers, 6, 26);
    assert_in_range(packed, 6, 26);
    assert_int_equal(floats + integers + packed, 64);
}

static void halves_count(const struct bf_inputs *inputs, uint32_t exponents[32])
{
    uint32_t words[WORDS];
    memset(exponents, 0, 32 * sizeof(*exponents));
    fill(inputs, BF_UNIT_HALVES, words);
    for (uint32_t i = 0; i < WORDS; i++) {
        exponents[words[i] >> 10 & 31]++;
        exponents[words[i] >> 26 & 31]++;
    }
}

static uint32_t sum(const uint32_t exponents[32], uint32_t first, uint32_t end)
{
    uint32_t all = 0;
    for (uint32_t i = first; i < end; i++)
        all += exponents[i];
    return all;
}

TEST(halves_have_all_exponents_in_some_styles)
{
    uint32_t exponents[32];
    struct bf_inputs inputs = {.seed = 3, .style = BF_INPUTS_NUMBERS, .limit = 16};
    halves_count(&inputs, exponents);
    for (uint32_t i = 0; i < 31; i++)
        assert_in_range(exponents[i], WORDS / 32, WORDS);
    inputs.style = BF_INPUTS_HUGE;
    halves_count(&inputs, exponents);
    assert_in_range(sum(exponents, 25, 31), WORDS, 2 * WORDS);
    inputs.style = BF_INPUTS_TINY;
    halves_count(&inputs, exponents);
    assert_in_range(sum(exponents, 0, 6), WORDS, 2 * WORDS);
    inputs.style = BF_INPUTS_WIDE; /* up to the limit */
    halves_count(&inputs, exponents);
    for (uint32_t i = 1; i < 19; i++)
        assert_in_range(exponents[i], WORDS / 32, WORDS);
    assert_int_equal(sum(exponents, 19, 31), 0);
}

/* B10G11R11, likewise. */
TEST(floats_without_a_sign_have_all_exponents_in_some_styles)
{
    struct bf_texel texel;
    uint32_t words[WORDS], exponents[32] = {0};
    const struct bf_inputs inputs = {.seed = 3, .style = BF_INPUTS_NUMBERS, .limit = 16};
    assert_true(bf_texel_of(VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_IMAGE_ASPECT_COLOR_BIT, &texel));
    bf_inputs_texels(&inputs, 3, &texel, words, sizeof(words));
    for (uint32_t i = 0; i < WORDS; i++) {
        exponents[words[i] >> 6 & 31]++;
        exponents[words[i] >> 17 & 31]++;
        exponents[words[i] >> 27]++;
    }
    for (uint32_t i = 0; i < 31; i++)
        assert_in_range(exponents[i], WORDS / 32, WORDS);
}

TEST(timid_floats_are_between_0_and_1)
{
    uint32_t words[WORDS];
    uint16_t halves[2 * WORDS];
    for (uint32_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
        const struct bf_inputs inputs = {.seed = i, .style = styles[i], .limit = 1, .timid = true};
        fill(&inputs, BF_UNIT_FLOAT, words);
        for (uint32_t k = 0; k < WORDS; k++)
            assert_true(as_float(words[k]) >= 0.0f && as_float(words[k]) <= 1.0f);
        fill(&inputs, BF_UNIT_HALVES, words);
        memcpy(halves, words, sizeof(halves));
        for (uint32_t k = 0; k < 2 * WORDS; k++)
            assert_true(halves[k] <= 0x3c00 || halves[k] == 0x8000);
        fill(&inputs, BF_UNIT_INTEGER, words);
        for (uint32_t k = 0; k < WORDS; k++)
            assert_in_range(words[k], 0, 1);
    }
}

TEST(edges_are_among_them)
{
    static const uint32_t floats[] = {0, 0x80000000, 0x3f800000, 0xbf800000,
                                      1, 0x00800000, 0x7fc00000};
    static const uint32_t wild_floats[] = {0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff};
    static const uint32_t wild_integers[] = {0xffffffff, 0x7fffffff, 0x80000000};
    uint32_t words[WORDS];
    for (uint32_t i = 1; i < 4; i++) {
        struct bf_inputs inputs = {.seed = i, .style = styles[i], .limit = 64};
        fill(&inputs, BF_UNIT_FLOAT, words);
        for (uint32_t k = 0; k < sizeof(floats) / 4; k++)
            assert_true(has(words, floats[k]));
        inputs.wild = true;
        fill(&inputs, BF_UNIT_FLOAT, words);
        for (uint32_t k = 0; k < sizeof(floats) / 4; k++)
            assert_true(has(words, floats[k]));
        for (uint32_t k = 0; k < sizeof(wild_floats) / 4; k++)
            assert_true(has(words, wild_floats[k]));
        fill(&inputs, BF_UNIT_INTEGER, words);
        assert_true(has(words, 0) && has(words, 1));
        for (uint32_t k = 0; k < sizeof(wild_integers) / 4; k++)
            assert_true(has(words, wild_integers[k]));
    }
}

TEST(the_same_seed_gives_the_same_and_another_another)
{
    uint32_t a[WORDS], b[WORDS];
    struct bf_inputs inputs = {.seed = 1, .style = BF_INPUTS_SPREAD, .limit = 64};
    fill(&inputs, BF_UNIT_FLOAT, a);
    fill(&inputs, BF_UNIT_FLOAT, b);
    assert_memory_equal(a, b, sizeof(a));
    inputs.seed = 2;
    fill(&inputs, BF_UNIT_FLOAT, b);
    assert_memory_not_equal(a, b, sizeof(a));
    inputs.seed = 1;
    const uint8_t kind = BF_UNIT_FLOAT;
    bf_inputs_words(&inputs, 4, &kind, 1, 1, b, WORDS);
    assert_memory_not_equal(a, b, sizeof(a));
}

TEST(matrices_are_the_identity_at_first)
{
    const uint8_t kinds[] = {BF_UNIT_ONE, BF_UNIT_ZERO, BF_UNIT_ZERO, BF_UNIT_ONE};
    const struct bf_inputs inputs = {.style = BF_INPUTS_SMALL, .limit = 8};
    uint32_t words[8];
    const uint32_t expected[8] = {0x3f800000, 0, 0, 0x3f800000, 0x3f800000, 0, 0, 0x3f800000};
    bf_inputs_words(&inputs, 0, kinds, 4, 4, words, 8);
    assert_memory_equal(words, expected, sizeof(words));
}

TEST(kinds_repeat_their_period)
{
    const uint8_t kinds[] = {BF_UNIT_INTEGER, BF_UNIT_FLOAT, BF_UNIT_SHORTS};
    assert_int_equal(bf_inputs_kind(kinds, 3, 2, 0), BF_UNIT_INTEGER);
    assert_int_equal(bf_inputs_kind(kinds, 3, 2, 3), BF_UNIT_FLOAT);
    assert_int_equal(bf_inputs_kind(kinds, 3, 2, 6), BF_UNIT_SHORTS);
    assert_int_equal(bf_inputs_kind(kinds, 3, 0, 3), BF_UNIT_UNKNOWN);
    assert_int_equal(bf_inputs_kind(NULL, 0, 0, 0), BF_UNIT_UNKNOWN);
}

/* ---------------------------------------------------------------------------- Push constants -- */

TEST(push_constants_grow_smaller_and_keep_what_is_fixed)
{
    const uint32_t before[6] = {1000, 0x3f800000, 0xc0490fdb, 1000, 0x3f800000, 0};
    uint32_t changed = 0;
    for (uint32_t seed = 0; seed < 32; seed++) {
        const struct bf_inputs inputs = {.seed = seed, .style = BF_INPUTS_SPREAD, .limit = 64};
        uint32_t words[6];
        memcpy(words, before, sizeof(words));
        bf_inputs_push(&inputs, 1 << 3 | 1 << 4, words, 6);
        assert_in_range(words[0], 1, 1000);
        assert_true(as_float(words[1]) > 0 && as_float(words[1]) <= 1.0f);
        assert_true(as_float(words[2]) < 0 && as_float(words[2]) >= as_float(before[2]));
        assert_int_equal(words[3], before[3]);
        assert_int_equal(words[4], before[4]);
        assert_int_equal(words[5], 0);
        changed |= (uint32_t)(words[0] != before[0]) | (uint32_t)(words[1] != before[1]) << 1 |
                   (uint32_t)(words[2] != before[2]) << 2;
    }
    assert_int_equal(changed, 7);
}

/* Packed colors, integers below 0, floats that are larger or smaller than most. [GI-3] */
TEST(wide_push_constants_become_others)
{
    static const uint32_t before[] = {0xff336699, 0xfffffff0, 0x4c000000, 0x33000000, 0x00336699};
    const uint32_t count = sizeof(before) / sizeof(before[0]);
    for (uint32_t style = 0; style < sizeof(styles) / sizeof(styles[0]); style++) {
        uint32_t changed[5] = {0}, bytes[5][4] = {{0}};
        for (uint32_t seed = 0; seed < 64; seed++) {
            const struct bf_inputs inputs = {
                .seed = seed, .style = styles[style], .limit = 64, .free = true, .other = true};
            uint32_t words[5];
            memcpy(words, before, sizeof(words));
            bf_inputs_push(&inputs, 0, words, count);
            for (uint32_t i = 0; i < count; i++) {
                changed[i] += words[i] != before[i];
                for (uint32_t k = 0; k < 4; k++)
                    bytes[i][k] += (words[i] ^ before[i]) >> 8 * k & 255 ? 1 : 0;
            }
        }
        for (uint32_t i = 0; i < count; i++)
            assert_in_range(changed[i], 60, 64);
        for (uint32_t k = 0; k < 4; k++)
            assert_in_range(bytes[0][k], 24, 64);
    }
    for (uint32_t seed = 0; seed < 64; seed++) { /* only where a dry run goes before */
        const struct bf_inputs inputs = {.seed = seed, .style = BF_INPUTS_SPREAD, .limit = 64};
        uint32_t words[5];
        memcpy(words, before, sizeof(words));
        bf_inputs_push(&inputs, 0, words, count);
        assert_memory_equal(words, before, sizeof(before));
    }
}

TEST(free_push_constants_become_anything)
{
    const uint32_t before[5] = {1000, 0x3f800000, 0xc0490fdb, 0, 1000};
    bool larger[4] = {false}, turned[4] = {false}, zero[4] = {false}, less_zero[4] = {false};
    for (uint32_t seed = 0; seed < 64; seed++) {
        const struct bf_inputs inputs = {
            .seed = seed, .style = BF_INPUTS_SPREAD, .limit = 64, .free = true};
        uint32_t words[5];
        memcpy(words, before, sizeof(words));
        bf_inputs_push(&inputs, 1 << 4, words, 5);
        assert_true(words[0] <= 2001);
        assert_int_equal(words[4], before[4]);
        larger[0] |= words[0] > before[0];
        turned[0] |= words[0] == 0 || words[0] < 500;
        for (int i = 1; i < 4; i++) {
            larger[i] |= fabsf(as_float(words[i])) > fabsf(as_float(before[i]));
            turned[i] |= signbit(as_float(words[i])) != signbit(as_float(before[i]));
            zero[i] |= words[i] == 0;
            less_zero[i] |= words[i] == 0x80000000;
        }
    }
    for (int i = 0; i < 4; i++)
        assert_true(larger[i] && (turned[i] || i == 3) && (i == 0 || (zero[i] && less_zero[i])));
}

/* All that may be floats; the others stay, or become other integers. */
TEST(free_push_constants_are_huge_or_tiny_or_no_numbers)
{
    uint32_t huge = 0, tiny = 0, infinite = 0, nan = 0;
    for (uint32_t seed = 0; seed < 64; seed++) {
        for (uint32_t k = 0; k < 3; k++) {
            const struct bf_inputs inputs = {.seed = seed,
                                             .style = BF_INPUTS_SPREAD,
                                             .limit = 64,
                                             .free = true,
                                             .pushed = BF_INPUTS_PUSH_HUGE + k};
            uint32_t words[3] = {0x3f400000, 0x3f400000, 1000};
            bf_inputs_push(&inputs, 1 << 1, words, 3);
            float value = as_float(words[0]);
            huge += k == 0 && fabsf(value) >= 0x1p60f && !isinf(value);
            tiny += k == 1 && fabsf(value) < 0x1p-58f;
            infinite += k == 2 && isinf(value);
            nan += k == 2 && isnan(value);
            assert_int_equal(words[1], 0x3f400000);
            assert_true(words[2] <= 2001);
        }
    }
    assert_true(huge == 64 && tiny == 64 && infinite >= 16 && nan >= 8);
}

/* And of any size that programs use, digits and signs alike. */
TEST(free_push_constants_are_of_any_size)
{
    uint32_t small = 0, large = 0, negative = 0;
    for (uint32_t seed = 0; seed < 64; seed++) {
        const struct bf_inputs inputs = {.seed = seed,
                                         .style = BF_INPUTS_SPREAD,
                                         .limit = 64,
                                         .free = true,
                                         .other = true,
                                         .pushed = BF_INPUTS_PUSH_SIZED};
        uint32_t words[2] = {0x3f400000, 0x3f400000};
        bf_inputs_push(&inputs, 1 << 1, words, 2);
        const float value = as_float(words[0]);
        small += value != 0 && fabsf(value) >= 0x1p-30f && fabsf(value) < 0x1p-8f;
        large += fabsf(value) >= 0x1p8f && fabsf(value) < 0x1p31f;
        negative += value < 0;
        assert_int_equal(words[1], 0x3f400000);
    }
    assert_true(small >= 10 && large >= 10 && negative >= 16 && negative < 48);
}

/* Of a word that may be a float nearly each stratum has another sixteenth; integers are small ones,
 * or up to twice what they were. */
TEST(any_push_constants_go_through_strata)
{
    const uint32_t before[4] = {0x3e800000, 3, 0, 0x3f000000};
    bool sixteenths[BF_INPUTS_STRATA] = {false}, integers[8] = {false}, truths[2] = {false};
    uint32_t strata = 0;
    for (uint32_t i = 0; i < BF_INPUTS_STRATA; i++) {
        const struct bf_inputs inputs = {.seed = 13 + i,
                                         .style = BF_INPUTS_SMALL,
                                         .limit = 64,
                                         .free = true,
                                         .any = true,
                                         .stratum = i};
        uint32_t words[4];
        memcpy(words, before, sizeof(words));
        bf_inputs_push(&inputs, 1 << 3, words, 4);
        float value = as_float(words[0]);
        if (value >= 0 && value < 1)
            sixteenths[(uint32_t)(value * BF_INPUTS_STRATA)] = true;
        assert_true(fabsf(value) <= 4);
        assert_in_range(words[1], 0, 7);
        integers[words[1]] = true;
        truths[words[2] != 0] = true;
        assert_int_equal(words[3], before[3]);
    }
    for (uint32_t i = 0; i < BF_INPUTS_STRATA; i++)
        strata += sixteenths[i];
    assert_in_range(strata, 10, BF_INPUTS_STRATA);
    assert_true(integers[0] + integers[1] + integers[2] + integers[3] + integers[4] + integers[5] +
                    integers[6] + integers[7] >=
                4);
    assert_true(truths[0] && truths[1]);
}

/* ----------------------------------------------------------------------------------- Formats -- */

TEST(texels_have_their_formats_size)
{
    static const struct {
        VkFormat format;
        uint32_t size, components;
        enum bf_texel_kind kind;
    } cases[] = {
        {VK_FORMAT_R5G6B5_UNORM_PACK16, 2, 3, BF_TEXEL_UNORM},
        {VK_FORMAT_R8_SINT, 1, 1, BF_TEXEL_SINT},
        {VK_FORMAT_B8G8R8A8_SRGB, 4, 4, BF_TEXEL_UNORM},
        {VK_FORMAT_A2B10G10R10_UINT_PACK32, 4, 4, BF_TEXEL_UINT},
        {VK_FORMAT_R16G16_SNORM, 4, 2, BF_TEXEL_SNORM},
        {VK_FORMAT_R16G16B16A16_SFLOAT, 8, 4, BF_TEXEL_SFLOAT},
        {VK_FORMAT_R32G32B32_UINT, 12, 3, BF_TEXEL_UINT},
        {VK_FORMAT_R32G32B32A32_SFLOAT, 16, 4, BF_TEXEL_SFLOAT},
        {VK_FORMAT_R64_SINT, 8, 1, BF_TEXEL_SINT},
        {VK_FORMAT_B10G11R11_UFLOAT_PACK32, 4, 3, BF_TEXEL_UFLOAT},
        {VK_FORMAT_BC1_RGB_SRGB_BLOCK, 8, 0, BF_TEXEL_BLOCK},
        {VK_FORMAT_BC4_UNORM_BLOCK, 8, 0, BF_TEXEL_BLOCK},
        {VK_FORMAT_BC7_UNORM_BLOCK, 16, 0, BF_TEXEL_BLOCK},
        {VK_FORMAT_EAC_R11_UNORM_BLOCK, 8, 0, BF_TEXEL_BLOCK},
        {VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK, 16, 0, BF_TEXEL_BLOCK},
        {VK_FORMAT_ASTC_12x10_SRGB_BLOCK, 16, 0, BF_TEXEL_BLOCK},
    };
    struct bf_texel texel;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(bf_format_aspects(cases[i].format), VK_IMAGE_ASPECT_COLOR_BIT);
        assert_true(bf_texel_of(cases[i].format, VK_IMAGE_ASPECT_COLOR_BIT, &texel));
        assert_int_equal(texel.size, cases[i].size);
        assert_int_equal(texel.component_count, cases[i].components);
        assert_int_equal(texel.kind, cases[i].kind);
    }
    assert_true(bf_texel_of(VK_FORMAT_ASTC_12x10_SRGB_BLOCK, VK_IMAGE_ASPECT_COLOR_BIT, &texel));
    assert_int_equal(texel.block_width, 12);
    assert_int_equal(texel.block_height, 10);
    assert_true(bf_texel_of(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_ASPECT_STENCIL_BIT, &texel));
    assert_int_equal(texel.size, 1);
    assert_true(bf_texel_of(VK_FORMAT_D16_UNORM_S8_UINT, VK_IMAGE_ASPECT_DEPTH_BIT, &texel));
    assert_int_equal(texel.size, 2);
    assert_false(bf_texel_of(VK_FORMAT_D32_SFLOAT, VK_IMAGE_ASPECT_STENCIL_BIT, &texel));
    assert_int_equal(bf_format_aspects(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM), 0);
    assert_int_equal(bf_format_aspects(VK_FORMAT_UNDEFINED), 0);
}

/* ------------------------------------------------------------------------------------ Blocks -- */

static struct bf_blocks *open_blocks(const uint32_t *words, size_t size)
{
    const struct bf_shader_info info = {.words = words,
                                        .word_count = size / 4,
                                        .entry = "main",
                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT};
    struct bf_blocks *blocks;
    assert_int_equal(bf_blocks_open(&info, &blocks), VK_SUCCESS);
    return blocks;
}

/* One letter for each word. */
static void assert_units(const struct bf_blocks *blocks, uint32_t set, uint32_t binding,
                         const char *expected, uint32_t period)
{
    static const char letters[] = "?fihsbdl^10B";
    uint8_t units[BF_BLOCK_WORDS];
    char found[256] = "";
    uint32_t p, n = bf_blocks_units(blocks, set, binding, units, &p);
    assert_true(n < sizeof(found));
    for (uint32_t i = 0; i < n; i++)
        found[i] = letters[units[i]];
    assert_string_equal(found, expected);
    assert_int_equal(p, period);
}

TEST(words_of_blocks_are_told)
{
    struct bf_blocks *blocks = open_blocks(check_blocks_comp, sizeof(check_blocks_comp));
    assert_units(blocks, 0, 0,
                 "100?010?001?" /* turn */
                 "10??01??00??" /* flip, by rows */
                 "ii??f???f???" /* pair, list */
                 "ffi?ffi",     /* items */
                 0);
    assert_units(blocks, 1, 3, "i?d^l^hsb?ffi?", 4);
    assert_units(blocks, 1, 4, "h", 1);
    assert_units(blocks, 1, 5, "", 0); /* no block */
    assert_units(blocks, 2, 0, "", 0); /* not there */
    bf_blocks_close(blocks);
}

/* [GI-10] */
TEST(integers_whose_bits_become_floats_are_told)
{
    struct bf_blocks *blocks = open_blocks(check_bits_comp, sizeof(check_bits_comp));
    assert_units(blocks, 0, 0, "BiBiBBBBii", 0);
    assert_units(blocks, 0, 1, "B", 1);
    assert_units(blocks, 0, 2, "i?Biff", 4);
    assert_units(blocks, 0, 3, "f", 1);
    bf_blocks_close(blocks);
}

TEST(loops_and_arrays_that_nothing_checks_are_told)
{
    struct bf_blocks *blocks = open_blocks(check_blocks_comp, sizeof(check_blocks_comp));
    assert_false(bf_blocks_loop(blocks));
    assert_false(bf_blocks_fragile(blocks));
    bf_blocks_close(blocks);
    blocks = open_blocks(check_loop_comp, sizeof(check_loop_comp));
    assert_true(bf_blocks_loop(blocks));
    assert_false(bf_blocks_fragile(blocks));
    bf_blocks_close(blocks);
    blocks = open_blocks(check_fragile_comp, sizeof(check_fragile_comp));
    assert_false(bf_blocks_loop(blocks));
    assert_true(bf_blocks_fragile(blocks));
    bf_blocks_close(blocks);
}

TEST(what_is_no_module_is_refused)
{
    const uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const struct bf_shader_info info = {.words = words, .word_count = 8, .entry = "main"};
    struct bf_blocks *blocks;
    assert_int_equal(bf_blocks_open(&info, &blocks), VK_ERROR_INVALID_SHADER_NV);
    bf_blocks_close(NULL);
}
