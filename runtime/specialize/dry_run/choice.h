/* SPDX-License-Identifier: MIT */
/*
 * How functions of GLSL.std.450 choose: what they compare, and which side has which number. The
 * points of a dry run (FU-8), and what of them is out of reach (FN-7), go by these.
 *
 * Thread-safety: pure.
 */
#ifndef BELFRY_SPECIALIZE_CHOICE_H
#define BELFRY_SPECIALIZE_CHOICE_H

#include "specialize/shader/module.h"

enum bf_choice_kind {
    BF_CHOICE_NONE,
    BF_CHOICE_ORDER,   /* side 0: the first is less than the second, 1: greater */
    BF_CHOICE_SIGN,    /* the same, of one and 0 */
    BF_CHOICE_CLAMP,   /* 0: the first is below the second, 1: above the third, 2: neither */
    BF_CHOICE_STEP,    /* 0: the second is below the first, 1: it isn't */
    BF_CHOICE_FORWARD, /* 0: the normal stays, 1: it is turned round */
    BF_CHOICE_REFRACT, /* 0: nothing is refracted, 1: something */
};

struct bf_choice {
    enum bf_choice_kind kind;
    enum bf_number compared; /* as what: integers' types don't tell */
    uint8_t operands[3];     /* words of the instruction; 0: there is none */
};

struct bf_choice bf_choice_of(uint32_t function);

#endif
