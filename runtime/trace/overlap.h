/* SPDX-License-Identifier: MIT */
/*
 * How long each queue and each engine was busy, and for how long several of them at once, from
 * intervals that come in almost any order. The intervals are swept along the time axis; the sweep
 * lags behind the newest interval, so that memory is bounded, however long the program runs or
 * however large the file is.
 *
 * Of an interval that comes after the sweep has passed its begin, only the part from the sweep's
 * position on is counted; 'late' counts such intervals, and 'late_ns' sums up the parts left out.
 *
 * All times are in nanoseconds. Thread-safety: one thread at a time.
 */
#ifndef BELFRY_TRACE_OVERLAP_H
#define BELFRY_TRACE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#define BF_OVERLAP_PENDING 1024

struct bf_overlap_interval {
    uint64_t begin;
    uint64_t end;
    uint32_t queue;
};

struct bf_overlap_queue {
    uint32_t engine;
    uint64_t active_until;
    uint64_t busy;
};

struct bf_overlap_engine {
    uint64_t busy;
    uint64_t shared; /* the part of it during which another engine was busy, too */
    bool active;     /* used during a step of the sweep */
};

struct bf_overlap {
    struct bf_overlap_queue *queues;
    struct bf_overlap_engine *engines;
    uint32_t queue_count;
    uint32_t engine_count;
    uint64_t now;             /* the position of the sweep */
    uint64_t any;             /* time during which at least one queue was busy, */
    uint64_t several_queues;  /* at least two queues, */
    uint64_t several_engines; /* at least two engines */
    uint64_t late;
    uint64_t late_ns;
    uint32_t pending_count;
    /* how many intervals are kept before they are swept; 0: BF_OVERLAP_PENDING */
    uint32_t pending_most;
    /* a heap of intervals not swept yet, smallest begin first */
    struct bf_overlap_interval *pending;
};

/* A zeroed struct is ready for use; pending_most may be set before there is a queue. False: out of
 * memory, nothing changed. */
bool bf_overlap_add_engine(struct bf_overlap *overlap);
bool bf_overlap_add_queue(struct bf_overlap *overlap, uint32_t engine);
void bf_overlap_finish(struct bf_overlap *overlap);

void bf_overlap_add(struct bf_overlap *overlap, uint32_t queue, uint64_t begin, uint64_t end);

/* Sweeps over all intervals, so that the sums are complete. Intervals added later may count as
 * late. */
void bf_overlap_settle(struct bf_overlap *overlap);

#endif
