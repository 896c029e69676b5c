/* SPDX-License-Identifier: MIT */
/*
 * A crowd: many fences with a waiter each, registered and signalled by several threads.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <belfry/belfry.h>

#include "part.h"

#define CROWD_THREADS 4
#define CROWD_FEW     10
#define CROWD_MANY    10000
#define CROWD_GROWTH  4.0 /* log 10,000 / log 10 */

/* Fills `found` with the cost in ns of a CPU signal, from the calling thread, of a fence that has a
 * waiter: among CROWD_FEW such fences (plain) and among CROWD_MANY (belfry). */
void crowd_compare(BfDevice device, uint32_t repetitions, struct bench_found *found);

#endif
