/* SPDX-License-Identifier: MIT */
/* The inputs on which variants are compared, one row each, and which of them suit a check. */
#include "specialize/check/seeds.h"

#include "specialize/check/run_extent.h"
#include "specialize/dry_run/needed.h"

#define FEW_INVOCATIONS 1024 /* of the program's dispatch */
#define UNIFORM_DRAWS   20   /* CK-20 */
#define BRINK_DRAWS     4    /* CK-21 */

/* The first is the least in every way. */
const struct bf_seed bf_seeds[] = {
    {BF_INPUTS_SMALL, {1, 1, 1}, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {2, 1, 1}, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {1, 1, 2}, BF_PUSHED, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {2, 2, 1}, BF_LESSER_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 1, 1}, BF_LESSER_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_FREE_PUSH, true, 0, 5, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0x12345, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_HUGE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_TINY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-9] */
    {BF_INPUTS_TINY, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_SPECIAL_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-14] */
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 64, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 256, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 1024, 0, BF_SHAPE_PLAIN, 0},
    /* [CK-17] */
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 0, 0, BF_SHAPE_WIDE, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 0, 0, BF_SHAPE_HIGH, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_PUSHED, false, 0, 0, BF_SHAPE_DEEP, 0},
    /* [CK-16] */
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_LEAST, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_EVEN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_LONG, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_TALL, 0},
    /* [CK-18, CK-19] */
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 1},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 2},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 3},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 4},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_OTHER, 5},
    /* Only where the program itself has few invocations, and so few values meet. [CK-10] */
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_TINY, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_TINY, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HUGE, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_NUMBERS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    /* Only for points that those have left dark. */
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SMALL, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SMALL, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_EDGES, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {3, 2, 1}, BF_ANY_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
};

/* [CK-21] */
static const struct bf_seed brinks[] = {
    {BF_INPUTS_HIGH_BRINK, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_LOW_BRINK, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_ENDS, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HIGH_BRINK, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_LOW_BRINK, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_ENDS, {3, 2, 1}, BF_FREE_PUSH, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_ENDS, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HIGH_BRINK, {3, 2, 1}, BF_PUSHED, true, 0, 0, BF_SHAPE_PLAIN, 0},
};

/* [CK-20] Numbers of ordinary size, of which what is rounded shows, near each other and far apart;
 * and those near 0, where the order of factors does. Integers of small blocks are of each
 * magnitude. */
static const struct bf_seed uniform[] = {
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_FREE_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_TINY, {1, 1, 1}, BF_TINY_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_FREE_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 2},
    {BF_INPUTS_HUGE, {1, 1, 1}, BF_HUGE_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_TINY_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_HIGH_BRINK, {1, 1, 1}, BF_BRINK_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_WIDE, {1, 1, 1}, BF_FREE_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 3},
    {BF_INPUTS_LOW_BRINK, {1, 1, 1}, BF_BRINK_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_FREE_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 4},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_SIZED_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 0},
    {BF_INPUTS_SPREAD, {1, 1, 1}, BF_SPECIAL_PUSH, false, 0, 0, BF_SHAPE_PLAIN, 5},
};

#define ROW(rows_, i_) (&(rows_)[(i_) % (sizeof(rows_) / sizeof((rows_)[0]))])

const struct bf_seed *bf_seed_of(uint32_t seed)
{
    return seed < BF_CHECK_SEEDS          ? &bf_seeds[seed]
           : seed < BF_FIRST_UNIFORM_SEED ? ROW(brinks, seed - BF_CHECK_SEEDS)
                                          : ROW(uniform, seed - BF_FIRST_UNIFORM_SEED);
}

_Static_assert(sizeof(bf_seeds) / sizeof(bf_seeds[0]) == BF_CHECK_SEEDS, "a plan has them all");

/* ------------------------------------------------------------------------------ Which suit -- */

bool bf_seeds_small_dispatch(const struct bf_check_info *info)
{
    const uint32_t *groups = info->groups;
    const uint64_t count = (uint64_t)groups[0] * groups[1] * groups[2];
    return !info->interface->graphics && count > 0 && count < FEW_INVOCATIONS &&
           count * bf_run_invocations(info->interface) < FEW_INVOCATIONS;
}

/* Whether some block has a few integers at its beginning, or push constants may change. */
static bool has_small_blocks(const struct bf_check_info *info)
{
    const struct bf_check_layout *layout = info->interface->layout;
    bool any = false;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        for (uint32_t k = 0; k < layout->sets[i].binding_count; k++) {
            const struct bf_check_binding *b = &layout->sets[i].bindings[k];
            any |= b->used && b->kind_count && bf_inputs_few(b->kinds, b->kind_count, b->period);
        }
    }
    return any;
}

/* Whether images that matter may be of other formats than what was seen. */
bool bf_seeds_read_others(const struct bf_check_info *info)
{
    const struct bf_check_layout *layout = info->interface->layout;
    bool any = false;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        for (uint32_t k = 0; k < layout->sets[i].binding_count; k++)
            any |= layout->sets[i].bindings[k].used && layout->sets[i].bindings[k].classes;
    }
    return any && (info->sources & BF_NEEDED_TEXELS);
}

/* Whether the inputs tell anything of this shader. What draws isn't done as often. [CK-14] */
bool bf_seed_suits(const struct bf_check_info *info, uint32_t number)
{
    const struct bf_seed *seed = bf_seed_of(number);
    const struct bf_pipeline_interface *interface = info->interface;
    if (number >= BF_FIRST_UNIFORM_SEED)
        return (info->sources & BF_NEEDED_UNIFORM) &&
               (!interface->graphics || number < BF_FIRST_UNIFORM_SEED + UNIFORM_DRAWS);
    if (number >= BF_CHECK_SEEDS)
        return !interface->graphics || number < BF_CHECK_SEEDS + BRINK_DRAWS;
    if (bf_run_is_strip(seed->shape))
        return bf_run_strip_tells(info, seed);
    if (seed->shape >= BF_SHAPE_LEAST && seed->shape <= BF_SHAPE_TALL)
        return info->sources & BF_NEEDED_SIZES;
    if (seed->magnitude)
        return has_small_blocks(info) || bf_seeds_read_others(info);
    return !seed->rounds || (interface->loops && (!interface->graphics || seed->rounds <= 64));
}
