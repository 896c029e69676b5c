/* SPDX-License-Identifier: MIT */
/* What the build helper does first for a request that asks for a check: it runs the general
 * pipeline's dry-run form (specialize/dry_run/dry_run.h), on a device of its own. For one
 * thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_DRY_RUN_H
#define BELFRY_SPECIALIZE_HELPER_DRY_RUN_H

#include "specialize/isolate/helper_check.h"

/*
 * Finds what the bare pipelines may run on. 'wanted' tells how the helper's device was opened;
 * 'dry' is zeroed before the first time, and opened by that.
 *
 * *refused: BF_REASON_NONE, or the reason not to go on, and 'why' says more. The errors of
 * bf_check_dry_run, and of the device's and the pipeline's creation. *hung: a run has not ended.
 */
VkResult helper_dry_run(const struct helper_device *device, const struct bf_wire_device *wanted,
                        struct helper_device *dry, struct bf_wire_check *check,
                        struct bf_check_plan *plan, enum bf_reason *refused, char why[BF_CHECK_WHY],
                        enum bf_hang *hung);

#endif
