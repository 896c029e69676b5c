/* SPDX-License-Identifier: MIT */
/*
 * Remembers recent signals, so that an arrow can be drawn from a signal to the wait that it
 * satisfies.
 *
 * Both tables are rings of fixed size. Where an entry has been overwritten, the arrow is left out;
 * nothing else depends on it.
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_FLOW_H
#define BELFRY_TRACE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

#define BF_FLOW_PACKETS 4096 /* remembered at once; powers of two */
#define BF_FLOW_OPS     2048
#define BF_FLOW_SIGNALS 4096
#define BF_FLOW_ENDS    6 /* arrows of a packet beyond one for each of its signals, each way */
#define BF_FLOW_OWN     8 /* signals of a packet that get an arrow's number of their own */

/* An arrow from a packet whose slice on the hardware track is still to be drawn. */
struct bf_flow_out {
    uint64_t flow;
    /* the packet at which the arrow ends, if it is untimed and has no slice; 0: the consumer draws
     * the arrow's end */
    uint64_t consumer;
    uint64_t consumer_track;
};

/* A packet that was handed over. */
struct bf_flow_packet {
    uint64_t id;    /* 0: empty */
    uint64_t track; /* where arrows begin, once 'drawn' */
    uint64_t time_ns;
    uint64_t first_flow; /* numbers first_flow to + own_count - 1 belong to its signals */
    uint32_t own_count;
    bool drawn;
    uint8_t in_count;
    uint8_t out_count;
    uint64_t in[BF_FLOW_ENDS];
    struct bf_flow_out out[BF_FLOW_ENDS];
};

/* A queue's signal of a fence that has been executed (trace/fences.c has the pending ones). */
struct bf_flow_op {
    uint64_t id;      /* 0: empty */
    uint64_t track;   /* where further arrows begin, */
    uint64_t time_ns; /* at this time */
    uint64_t over_ns; /* when it was executed, */
    bool at_most;     /* at the latest */
};

struct bf_flow_signal {
    struct bf_trace_sync sync;
    uint64_t packet;     /* or fence operation; 0: the host */
    uint32_t queue;      /* of a fence operation */
    uint64_t flow;       /* the number that its source carries; 0: none, or taken by a wait */
    uint64_t time_ns;    /* host only */
    uint64_t older_plus; /* 1 + absolute position of the bucket's next older entry; 0: none */
};

struct bf_flow {
    uint64_t next_flow;
    uint64_t signal_end; /* absolute position of the next signal */
    uint64_t lost;       /* arrows left out because the tables were full */
    uint64_t buckets[BF_FLOW_SIGNALS / 4];
    struct bf_flow_signal signals[BF_FLOW_SIGNALS];
    struct bf_flow_packet packets[BF_FLOW_PACKETS];
    struct bf_flow_op ops[BF_FLOW_OPS];
};

struct bf_flow *bf_flow_create(uint64_t first_flow); /* NULL: out of memory */
void bf_flow_destroy(struct bf_flow *flow);

struct bf_flow_packet *bf_flow_packet_add(struct bf_flow *flow, uint64_t id);
struct bf_flow_packet *bf_flow_packet_find(struct bf_flow *flow, uint64_t id); /* or NULL */

struct bf_flow_op *bf_flow_op_add(struct bf_flow *flow, uint64_t id);
const struct bf_flow_op *bf_flow_op_find(const struct bf_flow *flow, uint64_t id); /* or NULL */

struct bf_flow_signal *bf_flow_signal_add(struct bf_flow *flow, struct bf_trace_sync sync);

/* The signal with the smallest value that satisfies the wait; NULL: it is forgotten, or none of
 * this device. The values of a semaphore only grow, so the search ends at the first that doesn't
 * satisfy it. */
struct bf_flow_signal *bf_flow_signal_find(struct bf_flow *flow, struct bf_trace_sync wait);

/* Forgets the semaphore's signals: the handle may be reused for another semaphore. */
void bf_flow_forget(struct bf_flow *flow, uint64_t semaphore);

#endif
