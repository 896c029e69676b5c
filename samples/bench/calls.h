/* SPDX-License-Identifier: MIT */
/*
 * The cost of a call to its caller: compares two ways to make it, call by call, in turns.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <volk.h>

#include "part.h"

/* The calls of a burst follow each other immediately; then the work that they began is waited
 * for. */
#define CALLS_BURST       8u
#define CALLS_BURSTS      128u
#define CALLS_REPETITIONS 20u /* 20 x 128 x 8 = 20,480 pairs */

struct calls {
    void *context;
    /* Makes the call; *nanoseconds is its duration without the preparation of its arguments. */
    VkResult (*make)(void *context, double *nanoseconds);
    /* Waits for the work that the burst began. False: the reason is in `found`. */
    bool (*finish)(void *context, struct bench_found *found);
};

/* Fills `found` with CALLS_REPETITIONS pairs of medians in ns: that of `plain`, and the same plus
 * the median of the paired differences. */
void calls_compare(const struct calls *plain, const struct calls *belfry,
                   struct bench_found *found);

#endif
