/* SPDX-License-Identifier: MIT */
/* Who could end a circle, found by trying out what would go on (SS-2). */
#ifndef BELFRY_STANDSTILL_TRIAL_H
#define BELFRY_STANDSTILL_TRIAL_H

#include "standstill/diagnosis.h"

/* Fills in certain, unless, does_more and outside of a circle. Out of memory, or with more waits or
 * signals than are tried, nothing is claimed. */
void bf_trial_of_circle(const struct bf_graph *graph, struct bf_case *circle);

#endif
