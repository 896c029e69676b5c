/* SPDX-License-Identifier: MIT */
/*
 * What a trace costs: bytes on disk, and whether its writer keeps up.
 */
#ifndef BENCH_LOG_TRACE_H
#define BENCH_LOG_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_TRACE_RATE 200000 /* events a second */
#define LOG_TRACE_GOAL 100.0  /* most bytes that an event may take on disk */

struct log_trace_found {
    uint64_t events;  /* reported events: begins and ends of slices, instants, counter values */
    uint64_t dropped; /* those of them that the file lacks */
    double bytes_per_event; /* of the events in the file */
    double rate;            /* events per second, if the threads kept their pace */
    double call_ns;         /* a call that reports a packet or fence operation, on average */
    uint64_t longest_ns;    /* the longest such call */
};

/* Has `threads` threads, each with a queue of its own, report packets that wait for each other's
 * fences, `rate` events per second in total, for `seconds`. The trace is a new file in `folder`,
 * and is removed again. Needs no Vulkan device. False: an error has been reported. */
bool log_trace_measure(const char *folder, uint32_t threads, uint32_t rate, double seconds,
                       struct log_trace_found *found);

#endif
