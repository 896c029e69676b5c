/* SPDX-License-Identifier: MIT */
/*
 * Writes Perfetto's trace packets: the few messages that a trace needs, each whole, as one element
 * of Trace.packet, so that a file of them can be cut off between any two.
 *
 * There are two kinds of sequences. In an incremental one, each time is the distance from the
 * packet before, a few bytes each, and times never fall. In the other, times are those of
 * CLOCK_MONOTONIC and may come in any order: readers sort by time, and keep the order of the file
 * among equal times. bf_perfetto_write_clocks must come first; it relates the clocks. Strings are
 * written with the first packet of a sequence that refers to them.
 *
 * A packet for which there is no room must not be begun: the state of the strings and of the clock
 * would have moved on. BF_PERFETTO_EVENT_MAX bytes are always enough for an event.
 *
 * Thread-safety: none; one thread at a time per buffer and sequence.
 */
#ifndef BELFRY_TRACE_PERFETTO_H
#define BELFRY_TRACE_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/protobuf.h"
#include "trace/interning.h"

#define BF_PERFETTO_EVENT_MAX 3072 /* with at most 32 flows, 7 annotations and 2 plain texts */

struct bf_perfetto_sequence {
    /* from 1; two sequences that share their strings have an odd number and the next even one */
    uint32_t id;
    bool incremental;
    uint64_t last_ns; /* incremental: the time of the last packet */
    struct bf_interning *interning;
};

/* Writes the first packet of an incremental sequence; a file begins with one. */
struct bf_perfetto_clocks {
    uint64_t realtime_ns;
    uint64_t monotonic_ns;
    uint64_t boottime_ns;
};
void bf_perfetto_write_clocks(struct bf_protobuf *pb, struct bf_perfetto_sequence *sequence,
                              const struct bf_perfetto_clocks *clocks);

/* Writes the first packet of a sequence that isn't incremental. */
void bf_perfetto_write_sequence(struct bf_protobuf *pb,
                                const struct bf_perfetto_sequence *sequence);

struct bf_perfetto_track {
    uint64_t uuid;   /* never 0 */
    uint64_t parent; /* 0: none */
    const char *name;
    int32_t rank; /* among its siblings, lowest first; the parent is always ordered by rank */
    bool process; /* a process, named 'name', with this pid */
    int32_t pid;
    bool counter;     /* takes BF_PERFETTO_COUNTER events only */
    const char *unit; /* counter: what is counted; may be NULL */
};
void bf_perfetto_write_track(struct bf_protobuf *pb, const struct bf_perfetto_sequence *sequence,
                             const struct bf_perfetto_track *track);

enum bf_perfetto_value {
    BF_PERFETTO_UINT,
    BF_PERFETTO_POINTER,  /* shown in hexadecimal */
    BF_PERFETTO_INTERNED, /* 'number' is that of an interned string */
    BF_PERFETTO_STRING,   /* 'text', written out each time */
};

struct bf_perfetto_annotation {
    enum bf_string name;
    enum bf_perfetto_value kind;
    uint64_t number;
    const char *text;
};

enum bf_perfetto_event_type {
    BF_PERFETTO_BEGIN = 1,
    BF_PERFETTO_END = 2,
    BF_PERFETTO_INSTANT = 3,
    BF_PERFETTO_COUNTER = 4,
};

/* A flow is a chain of events that carry its number. It can't fork, so each arrow has a number of
 * its own. */
struct bf_perfetto_event {
    uint64_t time_ns;
    uint64_t track;
    enum bf_perfetto_event_type type;
    enum bf_string category; /* NONE with END and COUNTER */
    uint64_t name;           /* the number of an interned string; 0 with END and COUNTER */
    int64_t counter;         /* COUNTER */
    uint32_t flow_count;
    uint32_t terminating_flow_count;
    uint32_t annotation_count;
    const uint64_t *flows;
    const uint64_t *terminating_flows;
    const struct bf_perfetto_annotation *annotations;
};
void bf_perfetto_write_event(struct bf_protobuf *pb, struct bf_perfetto_sequence *sequence,
                             const struct bf_perfetto_event *event);

#endif
