/* SPDX-License-Identifier: MIT */
/*
 * Inputs made up for the check of a rebuilt pipeline: what fills buffers, images and push
 * constants. The same seed gives the same bytes.
 *
 *  GI-1  Integers stay below 'limit', and floats between -'limit' and 'limit', unless 'wild': they
 *        index memory and end loops, for all that is known. In the styles BF_INPUTS_TINY, _HUGE,
 *        _HIGH_BRINK, _LOW_BRINK and _ENDS floats have no limit, in BF_INPUTS_NUMBERS nothing has,
 *        unless 'timid'.
 *  GI-2  Edges are among the values of every style but BF_INPUTS_SMALL: of floats the zeros, ones,
 *        the least denormal, the least normal, a NaN (not of the tiny ones), and if 'wild', or of
 *        huge ones, infinities and the greatest; of integers 0 and 1, and if
 *        'wild' -1, the least and the greatest.
 *  GI-3  A push constant that is an integer is never made larger than the program had it, one that
 *        is a float neither larger nor of another sign, and 0 stays, unless 'free', which makes
 *        some floats 0 or -0; bits that are in 'fixed' stay. With 'pushed' those that may be floats
 *        are so large, or so small, that products of them leave what floats can hold, or are
 *        infinite or NaN, or of any size in between. With 'other' each that may be a float is
 *        another one, and with 'pushed' too most of them are so. 'free' also changes what is too
 *        large to be an integer that counts, and no float of ordinary size: packed bytes become
 *        any, floats others of their size, small integers below 0 others; with 'other' each.
 *  GI-4  If 'timid', no float is below 0, or above 1, or a NaN: not even one that is made an index
 *        reaches out of bounds.
 *  GI-5  Numbers of all sizes are alike, where a style has such: in BF_INPUTS_NUMBERS integers of
 *        each number of bits and floats of each exponent, in BF_INPUTS_WIDE, _TINY and _HUGE floats
 *        of each within bounds; also those of 16, 11 and 10 bits.
 *
 *  GI-6  Of a block of few words, which has but one value of each, integers are of the magnitude
 *        that 'magnitude' says: up to 2^8, 2^10, 2^12, 2^16 or 2^32, from what comes before on.
 *        With 'rounds' its only integer, and half of several, are in the last eighth below 'limit'.
 *
 *  GI-7  Numbers of classes are of each magnitude that there is in these, with all bits that a
 *        float of 32 has, 0 and 1 among them; infinities and NaN where some format has such.
 *  GI-8  Half of the edges of integers are those that are 'named', unless 'timid'; and half of the
 *        floats are then of many sizes, 2^-10 to 2^10.
 *  GI-9  If 'narrow', all integers are below 'limit', whatever the style, and a push constant that
 *        is none of the floats is what the program had, 0 or 1. Floats are what they were.
 *
 *  GI-10 Words of BF_UNIT_BITS are floats of the style on half of the seeds, on others integers or
 *        any bits, such as packed numbers are; if 'narrow', half of them floats, the others
 *        integers. They are integers alone in BF_INPUTS_SMALL, if 'timid', and where loops may
 *        depend on them and nothing has run dry.
 *
 * Thread-safety: pure. Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_INPUTS_H
#define BELFRY_SPECIALIZE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "specialize/check/texel.h"

/* What a 32-bit word of a buffer is, as far as its shaders tell. */
enum bf_unit {
    BF_UNIT_UNKNOWN, /* nothing tells: taken for a float or an integer, by the seed */
    BF_UNIT_FLOAT,
    BF_UNIT_INTEGER,
    BF_UNIT_HALVES, /* two floats of 16 bits */
    BF_UNIT_SHORTS, /* two integers of 16 bits */
    BF_UNIT_BYTES,  /* four of 8 */
    BF_UNIT_DOUBLE, /* the lower half; the upper follows */
    BF_UNIT_LONG,   /* the lower half of an integer of 64 bits; the upper follows */
    BF_UNIT_UPPER,  /* what belongs to the word before it */
    BF_UNIT_ONE,    /* on the diagonal of a matrix of floats */
    BF_UNIT_ZERO,   /* off it */
    BF_UNIT_BITS,   /* an integer to the shader, which makes floats of its bits [GI-10] */
};

enum bf_inputs_style {
    BF_INPUTS_SMALL,   /* integers 0 to 7, floats in quarters up to 1, matrices the identity */
    BF_INPUTS_SPREAD,  /* integers below the limit, floats of both signs near 1 */
    BF_INPUTS_WIDE,    /* floats of many magnitudes */
    BF_INPUTS_EDGES,   /* every second is an edge */
    BF_INPUTS_TINY,    /* floats that are denormal, or will be; integers as in _SPREAD */
    BF_INPUTS_HUGE,    /* floats that will be infinite, likewise */
    BF_INPUTS_NUMBERS, /* any integers, floats of all magnitudes */
    /* Every second float is about 2^64, or 2^-64, the others and integers as in _SPREAD. */
    BF_INPUTS_HIGH_BRINK,
    BF_INPUTS_LOW_BRINK,
    BF_INPUTS_ENDS, /* or is infinite, or the greatest */
};

/* Floats among push constants. */
enum bf_inputs_pushed {
    BF_INPUTS_PUSH_NEAR, /* to what the program had */
    BF_INPUTS_PUSH_HUGE,
    BF_INPUTS_PUSH_TINY,
    BF_INPUTS_PUSH_SPECIAL,
    BF_INPUTS_PUSH_BRINK, /* about 2^64, or 2^-64, by the style */
    BF_INPUTS_PUSH_SIZED, /* of any size that programs use: 2^-30 to 2^30 */
};

#define BF_INPUTS_STRATA     16
#define BF_INPUTS_MAGNITUDES 5

struct bf_inputs {
    uint32_t seed;
    enum bf_inputs_style style;
    uint32_t limit; /* at least 1 */
    bool wild;      /* GI-1 */
    bool timid;     /* GI-4; not with 'wild' */
    bool narrow;    /* GI-9 */
    bool free;      /* GI-3: what push constants steer ends, and stays inside, whatever they are */
    bool any;       /* GI-3; with 'free' */
    bool other;     /* GI-3; with 'free' */
    enum bf_inputs_pushed pushed; /* GI-3; with 'free' */
    uint32_t stratum;             /* of those: below BF_INPUTS_STRATA */
    uint32_t magnitude;           /* GI-6: 1 to BF_INPUTS_MAGNITUDES; 0: any */
    bool rounds;                  /* GI-6: loops are to go round 'limit' times */
    bool unfloating;              /* unknown words are integers: loops may depend on them */
    bool dry;                     /* GI-10: there is a dry run, or has been */
    const uint32_t *named;        /* GI-8 */
    uint32_t named_count;
};

/* What word i is: 'kinds' holds for the first words, and its last 'period' ones for ever after;
 * beyond, and with none, it is unknown. */
enum bf_unit bf_inputs_kind(const uint8_t *kinds, uint32_t kind_count, uint32_t period, size_t i);

/* Whether a block of these words has few, integers among them. */
bool bf_inputs_few(const uint8_t *kinds, uint32_t kind_count, uint32_t period);

/* 'stream' tells one buffer from another. */
void bf_inputs_words(const struct bf_inputs *inputs, uint64_t stream, const uint8_t *kinds,
                     uint32_t kind_count, uint32_t period, uint32_t *words, size_t count);

/* Texels one after the other; 'size' is a multiple of the texel's. */
void bf_inputs_texels(const struct bf_inputs *inputs, uint64_t stream, const struct bf_texel *texel,
                      void *texels, size_t size);

/* The same of 32-bit numbers such as there are in those classes (enum bf_format_class), unless
 * 'timid'. 0: as above. */
void bf_inputs_texels_of(const struct bf_inputs *inputs, uint32_t classes, uint64_t stream,
                         const struct bf_texel *texel, void *texels, size_t size);

/* Bit i of 'fixed' is word i. */
void bf_inputs_push(const struct bf_inputs *inputs, uint64_t fixed, uint32_t *words,
                    uint32_t count);

#endif
