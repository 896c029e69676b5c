/*
 * How long engines and queues were busy, and how long each engine while others were too: a sweep
 * along the time axis that lags behind the newest interval, so that memory is bounded.
 *
 * An interval that comes so late that the sweep has passed its begin counts from where the sweep
 * stands; 'late' tells how many, 'late_ns' how much was left out.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_BUSY_H
#define BELFRY_CLI_TRACE_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_BUSY_PENDING 16384 /* intervals not yet swept over */

struct trace_busy_interval {
    uint64_t begin;
    uint64_t end;
    uint32_t queue;
};

struct trace_busy_queue {
    uint32_t engine;
    uint64_t active_until;
    uint64_t busy_ns;
};

struct trace_busy_engine {
    uint64_t active_until;
    uint64_t busy_ns;
    uint64_t shared_ns; /* during which another engine was busy too */
};

struct trace_busy {
    struct trace_busy_queue *queues;
    struct trace_busy_engine *engines;
    uint32_t queue_count;
    uint32_t engine_count;
    uint64_t now;        /* where the sweep stands */
    uint64_t any_ns;     /* during which at least one engine was busy, */
    uint64_t several_ns; /* at least two */
    uint64_t late;
    uint64_t late_ns;
    uint32_t pending_count;
    struct trace_busy_interval pending[TRACE_BUSY_PENDING]; /* a heap, smallest begin first */
};

/* A zeroed struct is ready for use. False: out of memory, nothing changed. */
bool trace_busy_add_engine(struct trace_busy *busy);
bool trace_busy_add_queue(struct trace_busy *busy, uint32_t engine);
void trace_busy_finish(struct trace_busy *busy);

void trace_busy_add(struct trace_busy *busy, uint32_t queue, uint64_t begin, uint64_t end);

/* Sweeps over everything: the sums are complete. */
void trace_busy_settle(struct trace_busy *busy);

#endif
