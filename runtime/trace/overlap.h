/*
 * How long each queue and engine was busy, and how long several at once, from intervals that come
 * in almost any order: a sweep along the time axis that lags behind the newest interval, so that
 * memory is bounded however long the program runs.
 *
 * An interval that comes so late that the sweep has passed its begin counts from where the sweep
 * stands ('late' tells how many).
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_OVERLAP_H
#define BELFRY_TRACE_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#define BF_OVERLAP_PENDING 1024 /* intervals not yet swept over */

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
    bool active; /* scratch */
};

struct bf_overlap {
    struct bf_overlap_queue *queues;
    struct bf_overlap_engine *engines;
    uint32_t queue_count;
    uint32_t engine_count;
    uint64_t now;             /* where the sweep stands */
    uint64_t any;             /* time during which at least one queue was busy, */
    uint64_t several_queues;  /* at least two queues, */
    uint64_t several_engines; /* at least two engines */
    uint64_t late;
    uint32_t pending_count;
    struct bf_overlap_interval pending[BF_OVERLAP_PENDING]; /* a heap, smallest begin first */
};

/* A zeroed struct is ready for use. False: out of memory, nothing changed. */
bool bf_overlap_add_engine(struct bf_overlap *overlap);
bool bf_overlap_add_queue(struct bf_overlap *overlap, uint32_t engine);
void bf_overlap_finish(struct bf_overlap *overlap);

void bf_overlap_add(struct bf_overlap *overlap, uint32_t queue, uint64_t begin, uint64_t end);

/* Sweeps over everything: the sums are complete, what comes later may count as late. */
void bf_overlap_settle(struct bf_overlap *overlap);

#endif
