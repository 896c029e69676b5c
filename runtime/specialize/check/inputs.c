/* SPDX-License-Identifier: MIT */
/* Generated inputs for checks: pseudo-random contents of buffers and images, tame where a shader
 * needs it. */
#include "specialize/check/inputs.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- Numbers -- */

/* A well-mixed function of its argument (the finaliser of SplitMix64's kind: xor and multiply). */
static uint64_t inputs_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Streams lie far apart: seeds are few, and so are values. */
static uint64_t inputs_draw(const struct bf_inputs *inputs, uint64_t stream, uint64_t index)
{
    return inputs_mix((stream * 64 + inputs->seed) * UINT64_C(0xd1342543de82ef95) + index);
}

/* Is the value an edge, and which? Of two that meet in a shader both may be. */
static bool is_edge(const struct bf_inputs *inputs, uint64_t random, uint32_t *which)
{
    *which = (uint32_t)(random >> 40);
    switch (inputs->style) {
    case BF_INPUTS_SMALL:
        return false;
    case BF_INPUTS_EDGES:
        return random % 2;
    default:
        return random % 32 == 31;
    }
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static float clamp_float(const struct bf_inputs *inputs, float value)
{
    float limit = (float)inputs->limit;
    return inputs->wild ? value : value > limit ? limit : value < -limit ? -limit : value;
}

/* A mantissa of its own, and an exponent of 'count' from 'first' on; 0 is that of denormals. */
static float float_of(float sign, uint64_t random, uint32_t first, uint32_t count)
{
    uint32_t bits =
        (first + (uint32_t)(random >> 8) % count) << 23 | (uint32_t)(random >> 40 & 0x7fffff);
    float value;
    memcpy(&value, &bits, 4);
    return sign * value;
}

/* Near the root of the greatest, or of the least that is normal or not. */
static float brink_float(bool high, float sign, uint64_t random)
{
    return high ? float_of(sign, random, 127 + 60, 8) : float_of(sign, random, 127 - 76, 18);
}

/* A float that is no edge. */
static float ordinary_float(const struct bf_inputs *inputs, uint64_t random)
{
    float unit = (float)(random >> 40) / 16777216.0f; /* below 1, exact */
    float sign = random & 1 ? -1.0f : 1.0f;
    if (inputs->timid && inputs->style != BF_INPUTS_SMALL)
        return unit;
    switch (inputs->style) {
    case BF_INPUTS_SMALL:
        return (float)(random % 5) / 4.0f;
    case BF_INPUTS_WIDE: /* 2^-30 to 2^30 */
        return clamp_float(inputs, float_of(sign, random, 127 - 30, 61));
    case BF_INPUTS_NUMBERS: /* whose squares are denormal, too */
        return float_of(sign, random, 0, 255);
    case BF_INPUTS_TINY: /* below 2^-110, and half of them near the denormal ones */
        return float_of(sign, random, 0, random & 2 ? 2 : 17);
    case BF_INPUTS_HUGE: /* from 2^90 on */
        return float_of(sign, random, 127 + 90, 38);
    case BF_INPUTS_HIGH_BRINK:
        return random & 2 ? brink_float(true, sign, random) : sign * unit * 4.0f;
    case BF_INPUTS_LOW_BRINK:
        return random & 2 ? brink_float(false, sign, random) : sign * unit * 4.0f;
    case BF_INPUTS_ENDS:
        return sign * (random & 2 ? unit * 4.0f : random & 12 ? (float)INFINITY : FLT_MAX);
    default:
        if (inputs->named_count && random & 4) /* few meet what is named: those are of many sizes */
            return clamp_float(inputs, float_of(random & 8 ? -1.0f : 1.0f, random, 127 - 10, 21));
        return random & 2 ? unit : sign * unit * 4.0f;
    }
}

/* How many of the edges of floats there are, where they aren't wild. [GI-2] */
static uint32_t edge_count(const struct bf_inputs *inputs)
{
    return inputs->timid                                                              ? 5
           : inputs->style == BF_INPUTS_HUGE                                          ? 11
           : inputs->style == BF_INPUTS_TINY || inputs->style >= BF_INPUTS_HIGH_BRINK ? 6
                                                                                      : 7;
}

static uint32_t make_float(const struct bf_inputs *inputs, uint64_t stream, uint64_t index)
{
    static const uint32_t edges[] = {
        0x00000000, 0x80000000, 0x3f800000, 0x00000001, 0x00800000, 0xbf800000, 0x7fc00000,
        0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x80000001, 0xffc00001,
    };
    uint64_t random = inputs_draw(inputs, stream, index);
    uint32_t which;
    if (is_edge(inputs, random, &which))
        return edges[which % (inputs->wild ? 13u : edge_count(inputs))];
    return float_bits(ordinary_float(inputs, random));
}

/* Two's complement of 'bits' bits. */
static uint64_t make_integer(const struct bf_inputs *inputs, uint64_t stream, uint64_t index,
                             uint32_t bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t edges[] = {0, 1, mask, mask >> 1, (mask >> 1) + 1};
    uint64_t random = inputs_draw(inputs, stream, index);
    uint32_t which;
    if (is_edge(inputs, random, &which)) {
        if (inputs->named_count && !inputs->timid && !inputs->narrow && which & 1)
            return inputs->named[(which >> 1) % inputs->named_count] & mask;
        return edges[which % (inputs->wild && !inputs->narrow ? 5u : 2u)];
    }
    if (inputs->style == BF_INPUTS_NUMBERS && !inputs->timid && !inputs->narrow) {
        /* As many of each size, and of each sign: uniform ones are hardly ever below 2^24. */
        uint64_t low = inputs_mix(random) & (UINT64_MAX >> (64 - 1 - (random >> 8) % bits));
        return (random & 2 ? ~low : low) & mask;
    }
    uint32_t limit = inputs->style == BF_INPUTS_SMALL && inputs->limit > 8 ? 8 : inputs->limit;
    return (random >> 20) % limit & mask;
}

/* Of a float with 5 bits of exponent the lower bits, without its sign: of what magnitude, as the
 * style says, those of ordinary_float. */
static uint32_t narrow_float(const struct bf_inputs *inputs, uint64_t random, uint32_t mantissa)
{
    /* 1/16 to 1. */
    uint32_t first = 11, count = 4;
    switch (inputs->timid ? BF_INPUTS_SPREAD : inputs->style) {
    case BF_INPUTS_WIDE: /* up to the limit */
        first = 1;
        for (count = 14; count < 30 && (inputs->wild || inputs->limit >> (count - 13));)
            count++;
        break;
    case BF_INPUTS_NUMBERS:
        first = 0;
        count = 31;
        break;
    case BF_INPUTS_TINY: /* below 2^-9 */
        first = 0;
        count = 6;
        break;
    case BF_INPUTS_HUGE: /* from 2^10 on */
        first = 25;
        count = 6;
        break;
    default:
        break;
    }
    return (first + (uint32_t)(random >> 8) % count) << mantissa |
           (uint32_t)(random >> 40 & ((UINT64_C(1) << mantissa) - 1));
}

static uint16_t make_half(const struct bf_inputs *inputs, uint64_t stream, uint64_t index)
{
    static const uint16_t edges[] = {0x0000, 0x8000, 0x3c00, 0x0001, 0x0400, 0xbc00,
                                     0x7e00, 0x7c00, 0xfc00, 0x7bff, 0xfbff};
    uint64_t random = inputs_draw(inputs, stream, index);
    uint32_t which;
    if (is_edge(inputs, random, &which))
        return edges[which % (inputs->wild ? 11u : edge_count(inputs))];
    if (inputs->style == BF_INPUTS_SMALL) {
        static const uint16_t quarters[] = {0x0000, 0x3400, 0x3800, 0x3a00, 0x3c00};
        return quarters[random % 5];
    }
    return (uint16_t)((uint32_t)(inputs->timid ? 0 : random & 1) << 15 |
                      narrow_float(inputs, random, 10));
}

static uint64_t make_double(const struct bf_inputs *inputs, uint64_t stream, uint64_t index)
{
    uint32_t bits = make_float(inputs, stream, index);
    float narrow;
    memcpy(&narrow, &bits, 4);
    double value = narrow;
    uint64_t wide;
    memcpy(&wide, &value, 8);
    /* An ordinary one gets a mantissa of its own. */
    uint32_t exponent = bits >> 23 & 255;
    if (inputs->style != BF_INPUTS_SMALL && exponent > 0 && exponent < 255 && bits & 0x7fffff)
        wide |= inputs_draw(inputs, stream + 1, index) & 0xfffff;
    return wide;
}

/* ------------------------------------------------------------------------------------- Words -- */

enum bf_unit bf_inputs_kind(const uint8_t *kinds, uint32_t kind_count, uint32_t period, size_t i)
{
    if (i < kind_count)
        return (enum bf_unit)kinds[i];
    if (period == 0 || period > kind_count)
        return BF_UNIT_UNKNOWN;
    return (enum bf_unit)kinds[kind_count - period + (i - kind_count) % period];
}

#define FEW_WORDS 64

bool bf_inputs_few(const uint8_t *kinds, uint32_t kind_count, uint32_t period)
{
    bool integers = false;
    for (uint32_t i = 0; kind_count <= FEW_WORDS && i < kind_count - period; i++)
        integers |= kinds[i] == BF_UNIT_INTEGER;
    return integers;
}

/* An integer of a block of few. [GI-6] */
static uint32_t make_few(const struct bf_inputs *inputs, uint64_t stream, uint64_t i, bool only)
{
    static const uint8_t bits[BF_INPUTS_MAGNITUDES + 1] = {0, 8, 10, 12, 16, 32};
    const uint64_t random = inputs_draw(inputs, stream, i);
    const uint32_t m = inputs->magnitude;
    if (!inputs->timid && !inputs->narrow && m) {
        const uint64_t least = m > 1 ? UINT64_C(1) << bits[m - 1] : 1;
        return (uint32_t)(least + inputs_mix(random) % ((UINT64_C(1) << bits[m]) - least));
    }
    if (inputs->rounds && inputs->limit >= 8 && (only || random >> 13 & 1))
        return inputs->limit - 1 - (uint32_t)((random >> 20) % (inputs->limit / 8));
    return (uint32_t)make_integer(inputs, stream, i, 32);
}

/* [GI-10] */
static uint32_t make_bits(const struct bf_inputs *inputs, uint64_t stream, uint64_t i)
{
    const uint64_t word = inputs_draw(inputs, stream + (UINT64_C(1) << 40), i);
    const uint64_t lot = inputs->narrow ? word : inputs_mix(stream << 32 | inputs->seed);
    if (inputs->style != BF_INPUTS_SMALL && !inputs->timid &&
        (inputs->dry || !inputs->unfloating)) {
        if (lot & 1)
            return make_float(inputs, stream, i);
        if (lot & 2 && !inputs->narrow)
            return (uint32_t)(word >> 20);
    }
    return (uint32_t)make_integer(inputs, stream, i, 32);
}

static uint32_t make_word(const struct bf_inputs *inputs, uint64_t stream, enum bf_unit kind,
                          uint64_t i)
{
    switch (kind) {
    case BF_UNIT_UNKNOWN:
        return inputs->unfloating || inputs->narrow || (stream + inputs->seed) % 2
                   ? (uint32_t)make_integer(inputs, stream, i, 32)
                   : make_float(inputs, stream, i);
    case BF_UNIT_INTEGER:
        return (uint32_t)make_integer(inputs, stream, i, 32);
    case BF_UNIT_BITS:
        return make_bits(inputs, stream, i);
    case BF_UNIT_HALVES:
        return make_half(inputs, stream, 2 * i) | (uint32_t)make_half(inputs, stream, 2 * i + 1)
                                                      << 16;
    case BF_UNIT_SHORTS:
        return (uint32_t)make_integer(inputs, stream, 2 * i, 16) |
               (uint32_t)make_integer(inputs, stream, 2 * i + 1, 16) << 16;
    case BF_UNIT_BYTES: {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4; k++)
            word |= (uint32_t)make_integer(inputs, stream, 4 * i + k, 8) << 8 * k;
        return word;
    }
    case BF_UNIT_ONE:
    case BF_UNIT_ZERO:
        if (inputs->style == BF_INPUTS_SMALL)
            return kind == BF_UNIT_ONE ? 0x3f800000 : 0;
        return make_float(inputs, stream, i);
    default:
        return make_float(inputs, stream, i);
    }
}

void bf_inputs_words(const struct bf_inputs *inputs, uint64_t stream, const uint8_t *kinds,
                     uint32_t kind_count, uint32_t period, uint32_t *words, size_t count)
{
    uint32_t few = bf_inputs_few(kinds, kind_count, period) ? kind_count - period : 0, integers = 0;
    for (uint32_t i = 0; i < few; i++)
        integers += kinds[i] == BF_UNIT_INTEGER;
    for (size_t i = 0; i < count; i++) {
        enum bf_unit kind = bf_inputs_kind(kinds, kind_count, period, i);
        if (i < few && kind == BF_UNIT_INTEGER) {
            words[i] = make_few(inputs, stream, i, integers == 1);
            continue;
        }
        if (kind == BF_UNIT_DOUBLE || kind == BF_UNIT_LONG) {
            uint64_t wide = kind == BF_UNIT_DOUBLE ? make_double(inputs, stream, i)
                                                   : make_integer(inputs, stream, i, 64);
            words[i] = (uint32_t)wide;
            if (i + 1 < count)
                words[++i] = (uint32_t)(wide >> 32);
            continue;
        }
        words[i] = make_word(inputs, stream, kind, i);
    }
}

/* ------------------------------------------------------------------------------------ Texels -- */

static void put_bits(uint8_t *bytes, uint32_t first, uint32_t count, uint64_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = first + i;
        bytes[bit / 8] =
            (uint8_t)((bytes[bit / 8] & ~(1u << bit % 8)) | (uint32_t)(value >> i & 1) << bit % 8);
    }
}

/* Of 10 or 11 bits a float, of 9 a mantissa, and of 5 the exponent that three of these share. */
static uint64_t make_unsigned(const struct bf_inputs *inputs, uint64_t stream, uint32_t bits,
                              uint64_t index)
{
    uint64_t random = inputs_draw(inputs, stream, index);
    if (inputs->wild || bits == 9)
        return random >> 11;
    if (bits == 5)
        return narrow_float(inputs, random, 0);
    return inputs->style < BF_INPUTS_WIDE || inputs->style == BF_INPUTS_EDGES || inputs->timid
               ? random % (UINT64_C(15) << (bits - 5)) /* below 1 */
               : narrow_float(inputs, random, bits - 5);
}

static uint64_t make_component(const struct bf_inputs *inputs, uint64_t stream,
                               const struct bf_texel *texel, uint32_t bits, uint64_t index)
{
    switch (texel->kind) {
    case BF_TEXEL_UINT:
    case BF_TEXEL_SINT:
        return make_integer(inputs, stream, index, bits);
    case BF_TEXEL_SFLOAT:
        return bits == 16   ? make_half(inputs, stream, index)
               : bits == 32 ? make_float(inputs, stream, index)
                            : make_double(inputs, stream, index);
    case BF_TEXEL_SNORM:
        return inputs_draw(inputs, stream, index) >> 11 &
               (inputs->timid ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX);
    case BF_TEXEL_UFLOAT:
        return make_unsigned(inputs, stream, bits, index);
    default: /* any bits are a number from 0 to 1 */
        return inputs_draw(inputs, stream, index) >> 11;
    }
}

void bf_inputs_texels(const struct bf_inputs *inputs, uint64_t stream, const struct bf_texel *texel,
                      void *texels, size_t size)
{
    uint8_t *bytes = texels;
    memset(bytes, 0, size);
    if (texel->kind == BF_TEXEL_BLOCK) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(inputs_draw(inputs, stream, i) >> 13);
        return;
    }
    uint64_t index = 0;
    for (size_t at = 0; at + texel->size <= size; at += texel->size) {
        for (uint32_t i = 0, bit = 0; i < texel->component_count;
             bit += texel->bits[i++], index++) {
            uint64_t value = make_component(inputs, stream, texel, texel->bits[i], index);
            if (texel->bits[i] % 8 == 0 && bit % 8 == 0)
                memcpy(bytes + at + bit / 8, &value, texel->bits[i] / 8);
            else
                put_bits(bytes + at, bit, texel->bits[i], value);
        }
    }
}

/* One of the classes, by lot. */
static uint32_t class_draw(uint32_t classes, uint64_t random)
{
    uint32_t nth = (uint32_t)(random % (uint32_t)__builtin_popcount(classes));
    while (nth--)
        classes &= classes - 1;
    return classes & ~(classes - 1);
}

/* [GI-7] */
static uint32_t float_of_class(uint32_t classes, uint64_t random)
{
    static const uint32_t edges[] = {0,          0x3f800000, 0x80000000, 0xbf800000,
                                     0x7f800000, 0xff800000, 0x7fc00000, 0x00000001};
    const uint32_t floats = BF_FORMAT_CLASS_UNORM | BF_FORMAT_CLASS_SNORM | BF_FORMAT_CLASS_HALF |
                            BF_FORMAT_CLASS_FLOAT;
    const uint32_t class =
        class_draw(classes & floats ? classes & floats : BF_FORMAT_CLASS_FLOAT, random >> 50);
    const uint64_t more = inputs_mix(random);
    const float sign = more & 1 ? -1.0f : 1.0f;
    const uint32_t which = (uint32_t)(more >> 8);
    const bool edge = more >> 4 & 15 ? false : true;
    switch (class) {
    case BF_FORMAT_CLASS_UNORM:
        return edge ? edges[which % 2]
                    : float_bits(more & 2 ? float_of(1, more, 127 - 16, 16)
                                          : (float)(more >> 40) / 16777216.0f);
    case BF_FORMAT_CLASS_SNORM:
        return edge ? edges[which % 4] : float_bits(float_of(sign, more, 127 - 16, 16));
    case BF_FORMAT_CLASS_HALF:
        return edge ? edges[which % 7] : float_bits(float_of(sign, more, 127 - 24, 40));
    default:
        return edge ? edges[which % 8] : float_bits(float_of(sign, more, 0, 255));
    }
}

static uint32_t integer_of_class(uint32_t classes, bool is_signed, uint64_t random)
{
    const uint32_t integers = BF_FORMAT_CLASS_INT8 | BF_FORMAT_CLASS_INT16 | BF_FORMAT_CLASS_INT32;
    const uint32_t class =
        class_draw(classes & integers ? classes & integers : BF_FORMAT_CLASS_INT32, random >> 50);
    const uint64_t more = inputs_mix(random);
    const uint32_t bits = class == BF_FORMAT_CLASS_INT8    ? 8
                          : class == BF_FORMAT_CLASS_INT16 ? 16
                                                           : 32;
    const uint32_t used = 1 + (uint32_t)(random >> 8) % (bits - is_signed);
    const uint32_t low = (uint32_t)(more >> 16) & UINT32_MAX >> (32 - used);
    return is_signed && more & 1 ? ~low : low;
}

void bf_inputs_texels_of(const struct bf_inputs *inputs, uint32_t classes, uint64_t stream,
                         const struct bf_texel *texel, void *texels, size_t size)
{
    uint32_t *words = texels;
    if (!classes || inputs->timid || (inputs->narrow && texel->kind != BF_TEXEL_SFLOAT)) {
        bf_inputs_texels(inputs, stream, texel, texels, size);
        return;
    }
    for (size_t i = 0; i < size / 4; i++) {
        const uint64_t random = inputs_draw(inputs, stream, i);
        words[i] = texel->kind == BF_TEXEL_SFLOAT
                       ? float_of_class(classes, random)
                       : integer_of_class(classes, texel->kind == BF_TEXEL_SINT, random);
    }
}

/* ---------------------------------------------------------------------------- Push constants -- */

/* Numbers that programs use as floats: 2^-20 to 2^20 and their negatives. */
static bool looks_float(uint32_t word)
{
    uint32_t exponent = word >> 23 & 255;
    return exponent >= 127 - 20 && exponent <= 127 + 20;
}

/* A half to all of it; or less, up to twice as much, or of the other sign, or a zero of either. A
 * zero may be a float, and then stands for 1. */
static uint32_t push_float(uint32_t word, uint64_t random, bool free)
{
    float value, factor = (float)(random >> 41) / 16777216.0f; /* below a half */
    memcpy(&value, &word, 4);
    if (!free)
        return float_bits(value * (0.5f + factor));
    if ((random >> 16 & 7) == 0)
        return (uint32_t)(random >> 19 & 1) << 31;
    value *= random >> 8 & 3 ? 4 * factor : -4 * factor;
    return float_bits(word ? value : 2 * factor);
}

/* 2^60 and more; 2^-60 and less; of any size in between; or an infinity or a NaN. */
static uint32_t push_vast(const struct bf_inputs *inputs, uint64_t random)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000};
    float sign = random & 4 ? -1.0f : 1.0f;
    switch (inputs->pushed) {
    case BF_INPUTS_PUSH_HUGE:
        return float_bits(float_of(sign, random, 127 + 60, 68));
    case BF_INPUTS_PUSH_TINY:
        return float_bits(float_of(sign, random, 0, !inputs->other ? 68 : random & 48 ? 1 : 2));
    case BF_INPUTS_PUSH_BRINK:
        return float_bits(brink_float(inputs->style == BF_INPUTS_HIGH_BRINK, sign, random));
    case BF_INPUTS_PUSH_SIZED:
        return float_bits(float_of(sign, random, 127 - 30, 61));
    default:
        return special[(random >> 40) % 3];
    }
}

/* Whether it is so large an integer, or so unusual a float, that it may be packed as well. */
static bool looks_wide(uint32_t word)
{
    return word >= 0x10000 && !looks_float(word);
}

static uint32_t push_wide(uint32_t word, uint64_t random)
{
    const uint64_t more = inputs_mix(random);
    const uint32_t exponent = word >> 23 & 255;
    if (word >= 0xffff0000 && random >> 11 & 1) /* a small one, below 0 */
        return ~(uint32_t)((more >> 20) % (2 * (uint64_t)~word + 2));
    if (exponent && exponent < 254 && random >> 12 & 1)
        return push_float(word, more, true);
    return (uint32_t)(more >> 32); /* four bytes */
}

/* Whatever a program may push. Word i goes through the strata in an order of its own. */
static uint32_t push_any(const struct bf_inputs *inputs, uint32_t i, uint32_t word, uint64_t random)
{
    bool floating = looks_float(word) || (!word && random >> 10 & 1);
    uint64_t integer = random >> 20;
    if (!floating)
        return word >= 0x10000    ? push_wide(word, random)
               : random >> 11 & 1 ? (uint32_t)(integer % 8)
               : word             ? (uint32_t)(integer % (2 * word + 2))
                                  : (uint32_t)(integer % 2);
    uint32_t stratum = (inputs->stratum * (2 * i + 1) + 5 * i) % BF_INPUTS_STRATA;
    float unit = (float)(random >> 40) / 16777216.0f;
    switch (random >> 13 & 7) {
    case 0:
        return push_float(word, random, true);
    case 1:
        return random >> 16 & 1 ? (uint32_t)(random >> 17 & 1) << 31 : float_bits(8 * unit - 4);
    default:
        return float_bits(((float)stratum + unit) / BF_INPUTS_STRATA);
    }
}

void bf_inputs_push(const struct bf_inputs *inputs, uint64_t fixed, uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < 64; i++) {
        uint64_t random = inputs_draw(inputs, UINT64_C(0x70757368), i), integer = random >> 20;
        if (fixed >> i & 1)
            continue;
        if (inputs->narrow && !looks_float(words[i])) {
            words[i] = random >> 12 & 1 ? words[i] : (uint32_t)(integer % 2);
            continue;
        }
        if (inputs->any) {
            words[i] = push_any(inputs, i, words[i], random);
            continue;
        }
        if (inputs->free && inputs->pushed && (!inputs->other || random >> 14 & 3) &&
            (looks_float(words[i]) || (!words[i] && (random >> 10 & 1))))
            words[i] = push_vast(inputs, random);
        else if (inputs->other && (looks_float(words[i]) || !words[i]))
            words[i] = push_float(words[i], random, true);
        else if (inputs->other && looks_wide(words[i]))
            words[i] = push_wide(words[i], random);
        else if (inputs->style == BF_INPUTS_SMALL || random % 4 == 0)
            continue;
        else if (inputs->free && looks_wide(words[i]))
            words[i] = push_wide(words[i], random);
        else if (looks_float(words[i]) || (inputs->free && !words[i] && (random >> 10 & 3)))
            words[i] = push_float(words[i], random, inputs->free);
        else if (inputs->free && words[i] < 0x10000)
            words[i] = (uint32_t)(integer % (2 * words[i] + 2));
        else if (words[i] > 1 && words[i] < 0x10000)
            words[i] = 1 + (uint32_t)(integer % words[i]);
    }
}
