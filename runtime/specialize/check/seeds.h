/* SPDX-License-Identifier: MIT */
/*
 * The seeds of a check: of each run of the general pipeline and the forms, what its inputs are
 * like, and how much of them there is.
 */
#ifndef BELFRY_SPECIALIZE_CHECK_SEEDS_H
#define BELFRY_SPECIALIZE_CHECK_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "specialize/check/check.h"
#include "specialize/check/inputs.h"

/* How large images are, and how far runs reach. */
enum bf_seed_shape {
    BF_SHAPE_PLAIN, /* as the runs of the others reach */
    BF_SHAPE_WIDE,  /* a strip as far as the program's runs reach in x, [CK-17] */
    BF_SHAPE_HIGH,  /* in y, */
    BF_SHAPE_DEEP,  /* and in z */
    BF_SHAPE_LEAST, /* what is only read is of a few texels, [CK-16] */
    BF_SHAPE_EVEN,  /* of powers of two, with many levels, */
    BF_SHAPE_LONG,  /* as long as it is thin, */
    BF_SHAPE_TALL,  /* or as high */
    BF_SHAPE_OTHER, /* images have other formats than the program's [CK-19] */
};

struct bf_seed {
    enum bf_inputs_style style;
    uint32_t groups[3];
    /* The program's push constants, or others. */
    enum {
        BF_PUSHED,
        BF_LESSER_PUSH,
        BF_FREE_PUSH,
        BF_HUGE_PUSH,
        BF_TINY_PUSH,
        BF_SPECIAL_PUSH,
        BF_BRINK_PUSH,
        BF_SIZED_PUSH,
        BF_ANY_PUSH,
    } push;
    bool real_groups; /* as many as the program's dispatch had, if that is known */
    /* What the limit is of integers that loops may depend on; only for shaders with loops. 0: the
     * least, for all shaders. */
    uint32_t rounds;
    uint32_t instance; /* of draws without buffers of instances */
    enum bf_seed_shape shape;
    uint32_t magnitude; /* of integers in small blocks; 0: any */
};

extern const struct bf_seed bf_seeds[BF_CHECK_SEEDS];

/* With those of CK-21, and from here on of CK-20. */
#define BF_FIRST_UNIFORM_SEED (BF_CHECK_SEEDS + 8)
#define BF_SEEDS_END          (BF_CHECK_SEEDS + BF_CHECK_MORE_SEEDS)
/* Below BF_SEEDS_END. */
const struct bf_seed *bf_seed_of(uint32_t seed);

/* Whether the program itself has few invocations. */
bool bf_seeds_small_dispatch(const struct bf_check_info *info);
/* Whether images that matter may be of other formats than what was seen. */
bool bf_seeds_read_others(const struct bf_check_info *info);
/* Whether the inputs, below BF_SEEDS_END, tell anything of this shader. */
bool bf_seed_suits(const struct bf_check_info *info, uint32_t seed);

/* Those from here on are only where the program itself has few invocations. [CK-10] */
#define BF_USUAL_SEEDS 32
/* Of those, and the ones below, where edges are many: integers are also what is named. [CK-23] */
#define BF_FIRST_NAMED_SEED 35
/* Those from here on are only for points that the others have left dark, each of a stratum. */
#define BF_FIRST_ANY_SEED 48
_Static_assert(BF_FIRST_ANY_SEED + BF_INPUTS_STRATA == BF_CHECK_SEEDS, "each has a stratum");

/* What the made-up numbers of a seed go by. Those that came last have the last streams: the others'
 * numbers are what they were. */
static inline uint32_t bf_seed_stream(uint32_t seed)
{
    const uint32_t first = 20, count = BF_USUAL_SEEDS - first;
    return seed >= BF_CHECK_SEEDS  ? seed << 16 | (seed & 1) /* no other stream, and odd as it is */
           : seed < first          ? seed
           : seed < BF_USUAL_SEEDS ? seed + BF_CHECK_SEEDS - BF_USUAL_SEEDS
                                   : seed - count;
}

/* As bits. */
#define BF_ALL_SEEDS (UINT64_MAX >> (64 - BF_CHECK_SEEDS))
/* Where no dry run has been, and this is none: without those whose push constants are free. */
#define BF_FIRST_DRY_SEED 7
#define BF_BARE_SEEDS     ((UINT64_C(1) << BF_FIRST_DRY_SEED) - 1)

#endif
