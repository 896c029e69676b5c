/* SPDX-License-Identifier: MIT */
/*
 * A lane: one queue, on which the same submission is made over and over, and timed.
 */
#ifndef BENCH_LANE_H
#define BENCH_LANE_H

#include "side.h"

#define LANE_SIGNALS 2

/* A burst is one submission of filler, which wakes the driver's worker and keeps it busy, and the
 * measured ones behind it. A worker that sleeps would cost the caller a futex call, on either side
 * alike, fifty times what is to be measured. */
#define LANE_FILLER_NANOSECONDS 150000u
#define LANE_BURST              8u
#define LANE_BURSTS             128u
#define LANE_REPETITIONS        20u /* 20 x 128 x 8 = 20,480 pairs */

struct lane {
    struct side *side;
    struct side_filler filler; /* all null: a driver without a worker to keep awake */
    uint32_t signals;
    VkSemaphore semaphores[LANE_SIGNALS];
    uint64_t value;
};

struct lane_cost {
    double first[2]; /* ns, medians: the submission that opens a burst, not among the measured */
};

/* Uses the side's first queue; each submission signals that many timeline semaphores. Returns false
 * with a reason in `found`; close it all the same. */
bool lane_open(struct lane *lane, struct side *side, uint32_t signals, uint32_t filler_times,
               struct bench_found *found);

/* Waits for what was submitted. Accepts a zeroed lane. */
void lane_close(struct lane *lane);

/* Fills `found` with LANE_REPETITIONS pairs of medians in ns: of `plain`, and of `plain` plus the
 * median difference of the pairs, so that the difference of the two is the paired one. */
void lane_compare(struct lane *plain, struct lane *belfry, struct lane_cost *cost,
                  struct bench_found *found);

#endif
