/* SPDX-License-Identifier: MIT */
/*
 * Whether the vertex stage of a variant still computes the same positions: its words are the
 * program's, but a driver links it with another fragment stage, and may compile it anew for that.
 *
 *  PO-1  A form of a graphics pipeline passes only if, on the inputs of its check, it also leaves
 *        every bit of a depth attachment as the general pipeline does to which every fragment
 *        writes its depth. So what one has laid down passes the other's test for equal depths.
 *
 * What the program does with depth has no say in it: the forms are made once more, with a depth
 * attachment of the helper's in place of the program's, a test that always passes, and no stencil.
 * Where nothing comes to fragments no positions are compared: nothing tells of them.
 *
 * For one thread.
 */
#ifndef BELFRY_SPECIALIZE_HELPER_POSITION_H
#define BELFRY_SPECIALIZE_HELPER_POSITION_H

#include "specialize/isolate/helper_check.h"

/*
 * After helper_check_run with these arguments: takes the verdict back of forms that passed it, if
 * their positions differ or can't be compared. The pipelines are then others, for
 * helper_pipeline_free, and the request is of no use any more. Errors: helper_pipeline_make's and
 * bf_check_run's.
 */
VkResult helper_positions_check(struct helper_device *device, struct bf_wire_check *check,
                                struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                                struct bf_wire_verdict *verdict, bool *hung);

#endif
