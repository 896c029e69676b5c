/* SPDX-License-Identifier: MIT */
/*
 * The figures of a run, counted as it happens, and the table that shows them.
 *
 * Thread-safety: none; the trace's lock is held. bf_summary_print takes no lock: it formats into a
 * string, which the caller prints after releasing the lock.
 */
#ifndef BELFRY_TRACE_SUMMARY_H
#define BELFRY_TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/overlap.h"
#include "trace/trace.h"
#include "trace/interning.h"

#define BF_SUMMARY_NAME 64 /* bytes of a name in the table */

struct bf_summary_queue {
    char name[BF_SUMMARY_NAME];
    uint32_t engine;
    bool own; /* Belfry's: in none of the sums */
    uint64_t own_ns;
    uint64_t queued;
    uint64_t handed_over; /* submissions; presents are none */
    uint64_t empty;       /* those of them that have nothing to time */
    uint64_t dropped;
    uint64_t timed; /* GPU stamps were read */
    uint64_t presents;
    uint64_t held;
    uint64_t held_ns;       /* the time in which one of them was, or several */
    uint64_t held_since_ns; /* since when some are, */
    uint64_t held_now;      /* and how many */
};

struct bf_summary_engine {
    char name[BF_SUMMARY_NAME];
};

/* The longest single wait for one obstacle. */
struct bf_summary_longest {
    uint64_t ns;
    uint64_t packet;
    uint32_t queue;
    char obstacle[2 * BF_SUMMARY_NAME]; /* "name = value" */
};

struct bf_summary {
    struct bf_summary_engine *engines;
    struct bf_summary_queue *queues;
    uint32_t engine_count;
    uint32_t queue_count;
    uint64_t first_ns; /* 0: nothing happened yet */
    uint64_t last_ns;
    uint64_t host_signals;
    uint64_t lost_entries; /* of fence logs */
    struct bf_summary_longest longest;
    bool uncalibrated;
    struct bf_overlap executing; /* GPU begin to end */
    struct bf_overlap in_flight; /* handed over to GPU end */
};

/* What the table's head shows besides the figures. */
struct bf_summary_head {
    const char *program;
    const char *device;
    const char *name; /* what the program calls the device; "": nothing */
    const char *driver;
    const char *path; /* NULL: no file */
    uint64_t bytes;
    int error; /* errno on which the file was given up; 0: none */
    uint64_t lost_arrows;
    uint64_t lost_events; /* that the trace lacks */
    uint64_t now_ns;      /* the end of what is held still */
};

/* A zeroed struct is ready for use. False: out of memory, nothing changed. */
bool bf_summary_add_engine(struct bf_summary *summary, const char *name);
bool bf_summary_add_queue(struct bf_summary *summary, uint32_t engine, const char *name, bool own);
void bf_summary_finish(struct bf_summary *summary);

void bf_summary_name_queue(struct bf_summary *summary, uint32_t queue, const char *name);

/* Extends the span of the run to this time. */
void bf_summary_extend(struct bf_summary *summary, uint64_t time_ns);
/* A packet of the queue is held from now on, or is so no longer. */
void bf_summary_hold_begin(struct bf_summary *summary, uint32_t queue, uint64_t now);
void bf_summary_hold_end(struct bf_summary *summary, uint32_t queue, uint64_t now);
/* A packet was held for one obstacle, for so long. */
void bf_summary_held(struct bf_summary *summary, const struct bf_trace_packet *packet, uint64_t ns,
                     const char *obstacle);
void bf_summary_executed(struct bf_summary *summary, const struct bf_trace_packet *packet,
                         uint64_t begin_ns, uint64_t end_ns);

void bf_summary_print(struct bf_summary *summary, const struct bf_summary_head *head, FILE *out);

#endif
