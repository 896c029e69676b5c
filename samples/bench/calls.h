/* SPDX-License-Identifier: MIT */
/*
 * What a call costs whoever makes it: two ways of making it are compared call by call, in turns.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <volk.h>

#include "part.h"

/* Calls of a burst follow each other at once; then what they began is waited for. */
#define CALLS_BURST       8u
#define CALLS_BURSTS      128u
#define CALLS_REPETITIONS 20u /* 20 x 128 x 8 = 20,480 pairs */

struct calls {
    void *context;
    /* Makes the call; *nanoseconds is what it took, without the making of its arguments. */
    VkResult (*make)(void *context, double *nanoseconds);
    /* Waits for what the burst began. Returns false with a reason in `found`. */
    bool (*finish)(void *context, struct bench_found *found);
};

/* Fills `found` with CALLS_REPETITIONS pairs of medians in ns: of `plain`, and of `plain` plus the
 * median difference of the pairs. */
void calls_compare(const struct calls *plain, const struct calls *belfry,
                   struct bench_found *found);

#endif
