/* SPDX-License-Identifier: MIT */
/*
 * Many fences with a waiter each, registered and signalled by several threads.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <belfry/belfry.h>

#include "part.h"

#define CROWD_THREADS 4
#define CROWD_FEW     10
#define CROWD_MANY    10000
#define CROWD_GROWTH  4.0 /* log 10,000 / log 10 */

/* Fills `found` with the cost of a CPU signal to its caller, in ns, for a fence with a waiter:
 * plain if there are CROWD_FEW such fences, belfry if there are CROWD_MANY. */
void crowd_compare(BfDevice device, uint32_t repetitions, struct bench_found *found);

#endif
