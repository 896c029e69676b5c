/* SPDX-License-Identifier: MIT */
/*
 * What a timeline costs: bytes on disk, and whether it keeps up.
 */
#ifndef BENCH_LOG_TRACE_H
#define BENCH_LOG_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_TRACE_RATE 200000 /* events a second */
#define LOG_TRACE_GOAL 100.0  /* bytes an event may cost on disk */

struct log_trace_found {
    uint64_t events;  /* that were reported: slices' begins and ends, instants, counter values */
    uint64_t dropped; /* of those, that the file lacks */
    double bytes_per_event; /* of those that it has */
    double rate;            /* events a second, as far as threads kept their pace */
    double call_ns;         /* one report of a packet or fence operation, on average */
    uint64_t longest_ns;    /* the longest one */
};

/* What `threads` threads, each with a queue of its own, report of packets that wait for each
 * other's fences, `rate` events a second in all, for `seconds`; into a new file in the folder
 * `folder`, which is removed again. No Vulkan device is needed. Returns false, having complained.
 */
bool log_trace_measure(const char *folder, uint32_t threads, uint32_t rate, double seconds,
                       struct log_trace_found *found);

#endif
