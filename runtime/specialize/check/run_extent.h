/* SPDX-License-Identifier: MIT */
/*
 * How far the runs of a check go, by the program's own dispatches and draws, and by the seed
 * (CK-12, CK-16, CK-17).
 *
 * Thread-safety: pure. Proven by tests/specialize/check.
 */
#ifndef BELFRY_SPECIALIZE_RUN_EXTENT_H
#define BELFRY_SPECIALIZE_RUN_EXTENT_H

#include "specialize/check/seeds.h"
#include "specialize/check/test_resource.h"

#define BF_RUN_INVOCATIONS 8192 /* of a run that isn't as large as the program's, at most */

/* A strip along an axis. */
bool bf_run_is_strip(enum bf_seed_shape shape);

/* Of one workgroup, at least. */
uint64_t bf_run_invocations(const struct bf_pipeline_interface *interface);

/* As many workgroups as the seed says, and no more than the program had (CK-12); or as that had,
 * which is what the variant is for, as far as that is no work that a frame would feel: then fewer,
 * beginning with the most. */
void bf_run_groups(const struct bf_check_info *info, const struct bf_seed *seed,
                   uint32_t groups[3]);

/* Makes 'extent' larger, to where runs of that shape reach. 'small': images are of the least size,
 * but for strips, which are thin. */
void bf_run_extent(const struct bf_check_info *info, enum bf_seed_shape shape, bool small,
                   uint32_t extent[3]);

/* What sizes there are, where the shape says so. [CK-16] */
void bf_run_sizes(enum bf_seed_shape shape, struct bf_test_sizes *sizes);

/* Whether the program goes further along the strip's axis than info->reach, and that matters. */
bool bf_run_strip_tells(const struct bf_check_info *info, const struct bf_seed *seed);

#endif
