/* SPDX-License-Identifier: MIT */
/*
 * A lane: a queue on which the same submission is made again and again, and measured.
 */
#ifndef BENCH_LANE_H
#define BENCH_LANE_H

#include "side.h"

#define LANE_SIGNALS 2

/* A burst is one submission of filler, which wakes the driver's worker thread and keeps it busy,
 * followed by the measured submissions. If the worker slept, each side's caller would pay for a
 * futex call, which costs fifty times what is to be measured. */
#define LANE_FILLER_NANOSECONDS 150000u
#define LANE_BURST              8u
#define LANE_BURSTS             128u
#define LANE_REPETITIONS        20u /* 20 x 128 x 8 = 20,480 pairs */

struct lane {
    struct side *side;
    struct side_filler filler; /* all null: the driver has no worker thread to keep awake */
    uint32_t signals;
    VkSemaphore semaphores[LANE_SIGNALS];
    uint64_t value;
};

struct lane_cost {
    double first[2]; /* in ns, medians: the submission of filler, which isn't among the measured */
};

/* Uses the side's first queue; each submission signals `signals` timeline semaphores. False: the
 * reason is in `found`; lane_close must be called all the same. */
bool lane_open(struct lane *lane, struct side *side, uint32_t signals, uint32_t filler_times,
               struct bench_found *found);

/* Waits for everything submitted. Accepts a zeroed lane. */
void lane_close(struct lane *lane);

/* Fills `found` with LANE_REPETITIONS pairs of medians in ns: that of `plain`, and the same plus
 * the median of the paired differences. */
void lane_compare(struct lane *plain, struct lane *belfry, struct lane_cost *cost,
                  struct bench_found *found);

#endif
