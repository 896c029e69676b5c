/* SPDX-License-Identifier: MIT */
/* The inputs on which variants are compared, one row each. */
#include "specialize/check/seeds.h"

/* The first is the least in every way. */
const struct bf_seed bf_seeds[] = {
    {BF_INPUTS_SMALL, {1, 1, 1}, 6, 1, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 2, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {2, 1, 1}, 6, 1, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 12, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {1, 1, 2}, 6, 2, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {2, 2, 1}, 6, 1, BF_LESSER_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 1, 1}, 12, 1, BF_LESSER_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 5, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0x12345, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_HUGE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_TINY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-9] */
    {BF_INPUTS_TINY, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_SPECIAL_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-14] */
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 64, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 256, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 1024, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-17] */
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 0, 0, BF_SHAPE_WIDE, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 0, 0, BF_SHAPE_HIGH, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, 6, 1, BF_PUSHED, false, 0, 0, BF_SHAPE_DEEP, 0},
    /* [CK-16] */
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_LEAST, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_EVEN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_LONG, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_TALL, 0},
    /* [CK-18, CK-19] */
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 1},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 2},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 3},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 4},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 5},
    /* Only where the program itself has few invocations, and so few values meet. [CK-10] */
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_TINY, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_TINY, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, 6, 1, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* Only for points that those have left dark. */
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SMALL, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SMALL, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, 6, 1, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
};

_Static_assert(sizeof(bf_seeds) / sizeof(bf_seeds[0]) == BF_CHECK_SEEDS, "a plan has them all");
