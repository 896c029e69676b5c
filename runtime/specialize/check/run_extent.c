/* SPDX-License-Identifier: MIT */
/* How far the runs of a check go: workgroups of dispatches, and images as large as these or draws
 * reach; also strips along an axis, as far as the program went. */
#include "specialize/check/run_extent.h"

#include <string.h>

#include "specialize/dry_run/needed.h"

#define MOST_REAL_INVOCATIONS (UINT64_C(1) << 18) /* of a run with the program's workgroups */
#define MOST_PIXELS           (UINT64_C(1) << 16) /* that are drawn to */
#define STRIP_PIXELS          (UINT64_C(1) << 14) /* of a strip along an axis */

bool bf_run_is_strip(enum bf_seed_shape shape)
{
    return shape == BF_SHAPE_WIDE || shape == BF_SHAPE_HIGH || shape == BF_SHAPE_DEEP;
}

uint64_t bf_run_invocations(const struct bf_pipeline_interface *interface)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < 3; i++)
        product *= interface->workgroup[i] ? interface->workgroup[i] : 4;
    return product;
}

/* The axis that a strip lies along. */
static uint32_t strip_axis(enum bf_seed_shape shape)
{
    return shape == BF_SHAPE_WIDE ? 0 : shape == BF_SHAPE_HIGH ? 1 : 2;
}

void bf_run_groups(const struct bf_check_info *info, const struct bf_seed *seed, uint32_t groups[3])
{
    const struct bf_pipeline_interface *interface = info->interface;
    const uint32_t *seen = info->groups;
    bool real = seed->real_groups && seen[0] && seen[1] && seen[2];
    uint64_t most = real && seed->push < BF_FREE_PUSH ? MOST_REAL_INVOCATIONS : BF_RUN_INVOCATIONS;
    for (int i = 0; i < 3; i++) {
        bool more = seen[i] && seed->groups[i] > seen[i];
        groups[i] = real || more ? seen[i] : seed->groups[i];
    }
    if (bf_run_is_strip(seed->shape) && seen[strip_axis(seed->shape)]) {
        most = MOST_REAL_INVOCATIONS;
        groups[strip_axis(seed->shape)] = seen[strip_axis(seed->shape)];
    }
    while (bf_run_invocations(interface) * groups[0] * groups[1] * groups[2] > most) {
        int widest = groups[1] > groups[0] ? 1 : 0;
        if (groups[2] > groups[widest])
            widest = 2;
        if (groups[widest] == 1)
            break;
        groups[widest] = (groups[widest] + 1) / 2;
    }
}

/* How far the program has drawn, as far as is known. */
static uint32_t drawn_extent(const struct bf_check_info *info, uint32_t axis)
{
    const uint32_t made = info->interface->extent[axis], begun = info->groups[axis];
    const uint32_t larger = made > begun ? made : begun;
    return larger < BF_TEST_LARGEST ? larger : BF_TEST_LARGEST;
}

/* A strip to be drawn to, along one of the two axes that a draw has: two rows at least, whose
 * fragments lie in quads. */
static void choose_strip(const struct bf_check_info *info, enum bf_seed_shape shape, bool small,
                         uint32_t extent[3])
{
    const uint32_t axis = strip_axis(shape);
    const uint64_t most = small ? BF_TEST_EXTENT * BF_TEST_EXTENT : STRIP_PIXELS;
    if (axis > 1)
        return;
    extent[axis] =
        drawn_extent(info, axis) > BF_TEST_EXTENT ? drawn_extent(info, axis) : BF_TEST_EXTENT;
    const uint64_t other = most / extent[axis];
    extent[!axis] = (uint32_t)(other < 2 ? 2 : other > BF_TEST_EXTENT ? BF_TEST_EXTENT : other);
}

/* As far as the runs reach: those with the program's workgroups, or draws to what the program drew
 * to, as far as that is no more than some pixels. */
void bf_run_extent(const struct bf_check_info *info, enum bf_seed_shape shape, bool small,
                   uint32_t extent[3])
{
    const struct bf_pipeline_interface *interface = info->interface;
    uint32_t groups[3];
    if (small && !bf_run_is_strip(shape))
        return;
    if (interface->graphics && bf_run_is_strip(shape)) {
        choose_strip(info, shape, small, extent);
        return;
    }
    for (uint32_t k = 0; k < BF_CHECK_SEEDS && !interface->graphics; k++) {
        if (bf_run_is_strip(shape) ? bf_seeds[k].shape != shape
                                   : bf_run_is_strip(bf_seeds[k].shape))
            continue;
        bf_run_groups(info, &bf_seeds[k], groups);
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t reach = (uint64_t)groups[i] * interface->workgroup[i];
            if (reach > extent[i])
                extent[i] = reach < BF_TEST_LARGEST ? (uint32_t)reach : BF_TEST_LARGEST;
        }
    }
    for (uint32_t i = 0; i < 2 && interface->graphics; i++) {
        if (interface->extent[i] > extent[i])
            extent[i] =
                interface->extent[i] < BF_TEST_LARGEST ? interface->extent[i] : BF_TEST_LARGEST;
    }
    while (interface->graphics && (uint64_t)extent[0] * extent[1] > MOST_PIXELS) {
        uint32_t longer = extent[1] > extent[0];
        extent[longer] = ((extent[longer] + 1) / 2 - 1) | 1; /* odd, as the least are */
    }
}

/* [CK-16] */
void bf_run_sizes(enum bf_seed_shape shape, struct bf_test_sizes *sizes)
{
    static const struct bf_test_sizes others[] = {
        [BF_SHAPE_LEAST] = {{7, 5, 3}, 2, {71, 73, 19}, false, 1, 4099, 1, 1},
        [BF_SHAPE_EVEN] = {{64, 32, 8}, 6, {128, 128, 32}, true, 1, 8192, 1, 1},
        [BF_SHAPE_LONG] = {{1021, 3, 2}, 2, {1021, 71, 17}, false, 3, 12289, 2, 3},
        [BF_SHAPE_TALL] = {{2, 1999, 33}, 1, {69, 1999, 33}, false, 2, 20011, 3, 2},
    };
    if (shape < BF_SHAPE_LEAST || shape > BF_SHAPE_TALL)
        return;
    *sizes = others[shape];
}

/* Whether the program goes further along that axis than other runs have. */
bool bf_run_strip_tells(const struct bf_check_info *info, const struct bf_seed *seed)
{
    const uint32_t axis = strip_axis(seed->shape);
    const uint32_t *groups = info->groups;
    if (!(info->sources & BF_NEEDED_PLACES))
        return false;
    if (info->interface->graphics)
        return axis < 2 && drawn_extent(info, axis) > info->reach[axis];
    return groups[axis] > info->reach[axis];
}
