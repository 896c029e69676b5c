/*
 * The fence operations of one queue that have been queued and are not known to be over: its waits
 * and its signals, each in the order in which they were queued, and the lanes their boxes lie on.
 *
 * Bounded: BF_FENCE_OPS of each kind. An operation that was found over ends all before it of its
 * kind that a log tells of: entries of one queue and kind come in order, so theirs were lost.
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_FENCE_OPS_H
#define BELFRY_TRACE_FENCE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/flow.h"
#include "trace/trace.h"

#define BF_FENCE_OPS   256
#define BF_FENCE_LANES 256
#define BF_FENCE_KINDS 2 /* of enum bf_trace_fence_op */

struct bf_fence_op {
    uint64_t id;     /* 0: over; its place is taken back when all before it are over */
    uint64_t packet; /* that carries it; 0: none */
    struct bf_trace_sync sync;
    uint64_t queued_ns;
    uint64_t handed_over_ns; /* it has no times of its own: ends with what comes before it; 0: not
                                yet, or others tell */
    uint64_t after;          /* of its queue's timed packets this many come before it */
    /* Of a wait, once its signal has been found: */
    uint64_t flow;          /* the arrow's number; 0: not found, or no arrow */
    uint64_t source;        /* the signal's operation; 0: the host */
    uint32_t source_queue;  /* of that */
    uint64_t not_before_ns; /* the arrow doesn't run backwards */

    uint32_t lane;    /* BF_TRACE_NO_LANE: no box */
    bool handed_over; /* its packet has been, or none carries it */
    bool logged;      /* bf_trace_fence_done will tell */
};

struct bf_fence_list {
    uint64_t begin; /* positions; the place is the remainder */
    uint64_t end;
    struct bf_fence_op ops[BF_FENCE_OPS];
};

/* An arrow that will leave from a signal's end. */
struct bf_fence_out {
    uint64_t flow;
    uint64_t consumer; /* a wait that ends when the signal does; 0: it ends by itself */
    uint32_t queue;    /* the consumer's */
};

/* Those of a signal. */
struct bf_fence_arrows {
    uint64_t own;     /* the number that its end carries anyway */
    uint64_t over_ns; /* when the first wait for it was over; 0: none yet */
    uint32_t count;
    struct bf_fence_out out[BF_FLOW_ENDS];
};

struct bf_fence_ops {
    struct bf_fence_list lists[BF_FENCE_KINDS];
    struct bf_fence_arrows arrows[BF_FENCE_OPS]; /* of the signals, by their places */
    uint64_t taken[BF_FENCE_LANES / 64];
    uint64_t lane_end[BF_FENCE_LANES]; /* when its last box ended */
};

/* NULL: there are too many. */
struct bf_fence_op *bf_fence_ops_add(struct bf_fence_ops *ops, enum bf_trace_fence_op kind);

static inline struct bf_fence_op *bf_fence_list_at(struct bf_fence_list *list, uint64_t position)
{
    return &list->ops[position % BF_FENCE_OPS];
}

static inline struct bf_fence_arrows *bf_fence_arrows_of(struct bf_fence_ops *ops,
                                                         const struct bf_fence_op *signal)
{
    return &ops->arrows[signal - ops->lists[BF_TRACE_FENCE_SIGNAL].ops];
}

/* The oldest logged operation with this fence and value; *position says where. NULL: none. */
struct bf_fence_op *bf_fence_list_find(struct bf_fence_list *list, struct bf_trace_sync sync,
                                       uint64_t *position);

struct bf_fence_op *bf_fence_list_find_id(struct bf_fence_list *list, uint64_t id);

/* It is over: its place may be taken again. */
void bf_fence_list_remove(struct bf_fence_list *list, struct bf_fence_op *op);

/* The lowest lane that is free for a box that begins now, or BF_TRACE_NO_LANE. */
uint32_t bf_fence_lane_take(struct bf_fence_ops *ops, uint64_t now);
void bf_fence_lane_free(struct bf_fence_ops *ops, uint32_t lane, uint64_t end_ns);

#endif
