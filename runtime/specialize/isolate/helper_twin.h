/* SPDX-License-Identifier: MIT */
/*
 * Compares the pipelines of a request once more, with other constants.
 *
 *  TW-1  A form passes only if it also agrees with the general pipeline where powers of two among
 *        the literals and specialization constants of both, and among the push constants that are
 *        folded, are numbers close by: in which order a compiler takes factors shows with powers of
 *        two only where products overflow or are denormal, which few inputs bring about, and with
 *        others wherever something is rounded. That is so on all inputs that the plan has: what is
 *        read alike has but one value on each.
 * That runs on a device with robustBufferAccess, and no float that is another one then ends a loop,
 * selects an element, or becomes another integer, but by its bits: what the dry run said of loops
 * and indices holds. (Of a literal alone somebody might take the bits.)
 *
 * Proven by tests/specialize/isolate (families.c, covered.c). For one thread.
 */
#ifndef BELFRY_SPECIALIZE_HELPER_TWIN_H
#define BELFRY_SPECIALIZE_HELPER_TWIN_H

#include "specialize/isolate/helper_check.h"

/* After helper_check_run, whose errors these are, and the dry run, whose device it is. The
 * request's samplers are given handles anew: none of its pipelines is left. */
VkResult helper_twin_check(struct helper_device *robust, struct bf_wire_check *check,
                           const struct bf_check_plan *plan, struct bf_wire_verdict *verdict,
                           enum bf_hang *hung);

#endif
