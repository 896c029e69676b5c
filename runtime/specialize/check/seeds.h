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

struct bf_seed {
    enum bf_inputs_style style;
    uint32_t groups[3];
    uint32_t vertices, instances;
    /* The program's push constants, or others. */
    enum {
        BF_PUSHED,
        BF_LESSER_PUSH,
        BF_FREE_PUSH,
        BF_HUGE_PUSH,
        BF_TINY_PUSH,
        BF_SPECIAL_PUSH,
        BF_ANY_PUSH,
    } push;
    bool real_groups; /* as many as the program's dispatch had, if that is known */
    /* What the limit is of integers that loops may depend on; only for shaders with loops. 0: the
     * least, for all shaders. */
    uint32_t rounds;
    uint32_t first_instance; /* of draws without buffers of instances */
};

extern const struct bf_seed bf_seeds[BF_CHECK_SEEDS];

/* Those from here on are only where the program itself has few invocations. [CK-10] */
#define BF_USUAL_SEEDS 20
/* Those from here on are only for points that the others have left dark, each of a stratum. */
#define BF_FIRST_ANY_SEED 36
_Static_assert(BF_FIRST_ANY_SEED + BF_INPUTS_STRATA == BF_CHECK_SEEDS, "each has a stratum");

/* As bits. */
#define BF_ALL_SEEDS (UINT64_MAX >> (64 - BF_CHECK_SEEDS))
/* Where no dry run has been, and this is none: without those whose push constants are free. */
#define BF_FIRST_DRY_SEED 7
#define BF_BARE_SEEDS     ((UINT64_C(1) << BF_FIRST_DRY_SEED) - 1)

#endif
