/* SPDX-License-Identifier: MIT */
/*
 * The pending fence operations of one queue: its waits and signals that have been queued and are
 * not known to be over, each kind in the order in which they were queued; and the lanes on which
 * their boxes lie.
 *
 * There are at most BF_FENCE_OPS of each kind. When a logged operation is found to be over, all
 * logged operations of its kind before it are over, too: the log's entries of one queue and kind
 * come in order, so theirs were lost.
 *
 * Thread-safety: none; the trace's lock is held.
 */
#ifndef BELFRY_TRACE_FENCE_OPS_H
#define BELFRY_TRACE_FENCE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/flow.h"
#include "trace/interning.h"
#include "trace/trace.h"

#define BF_FENCE_OPS   256
#define BF_FENCE_LANES 256
#define BF_FENCE_KINDS 2 /* of enum bf_trace_fence_op */

/* Logged operations that aren't followed, since there was no room, and whose entries will come. */
struct bf_fence_skipped {
    uint64_t count;
    uint64_t least, most; /* their values lie between these */
};

struct bf_fence_op {
    uint64_t id;     /* 0: it is over; its place is freed once all before it are over */
    uint64_t packet; /* the packet that carries it; 0: none */
    struct bf_trace_sync sync;
    uint64_t queued_ns;
    uint64_t handed_over_ns; /* its packet was, or no packet carries it; 0: not yet */
    /* Of a signal that was handed over: how many timed packets of its queue come before its end,
     * and when the last of what comes before it was over, as far as that is known. */
    uint64_t after;
    uint64_t before_ns;
    /* Its end has been reported, but only that it was over by at_most_ns. It stays here until what
     * it comes after is known. */
    uint64_t at_most_ns;
    uint64_t observed_ns; /* as that report says */
    enum bf_string by;    /* and where it comes from */
    uint64_t stamp_ns;    /* of a logged one: its packet's stamp; 0: none */
    /* Of a wait, once the signal that satisfies it is known: */
    uint64_t flow;         /* the arrow's number; 0: not found, or no arrow */
    uint64_t source;       /* the operation that signals; 0: the host */
    uint32_t source_queue; /* the queue of that operation */
    /* the wait ends no earlier, so that its arrow doesn't point backwards in time */
    uint64_t not_before_ns;

    struct bf_fence_skipped skipped; /* directly before it */
    uint32_t lane;                   /* BF_TRACE_NO_LANE: no box */
    bool logged;                     /* bf_trace_fence_done reports its end */
    bool told;                       /* its end is reported: so, or by its packet's stamps */
    bool reported;                   /* see at_most_ns */
    bool found;                      /* of a wait: 'source' and the rest are set */
    bool met;                        /* of a wait: when it was queued, its fence had the value */
    bool before_vague; /* before_ns may be later than the end of what comes before it */
    bool unseen;       /* of a signal: before it there is work whose end nobody sees */
    /* of a wait: nothing had satisfied it when its fence was destroyed; it may be a new object of
     * the same handle by the time the wait's end is told */
    bool destroyed;
};

struct bf_fence_list {
    uint64_t begin; /* positions; the index is the remainder */
    uint64_t end;
    struct bf_fence_skipped skipped; /* behind the last */
    struct bf_fence_op ops[BF_FENCE_OPS];
};

/* An arrow that is to begin at a signal's end. */
struct bf_fence_out {
    uint64_t flow;
    /* the wait that ends when the signal does; 0: the wait has an end of its own */
    uint64_t consumer;
    uint32_t queue; /* the consumer's */
};

/* The arrows of one signal. */
struct bf_fence_arrows {
    uint64_t own;     /* the flow number that the signal's end carries */
    uint64_t over_ns; /* when the first wait that it satisfied was over; 0: none is over yet */
    uint32_t count;
    struct bf_fence_out out[BF_FLOW_ENDS];
};

struct bf_fence_ops {
    struct bf_fence_list lists[BF_FENCE_KINDS];
    struct bf_fence_arrows arrows[BF_FENCE_OPS]; /* of the signals, by the same index */
    uint64_t taken[BF_FENCE_LANES / 64];
    uint64_t lane_end[BF_FENCE_LANES]; /* when the last box on the lane ended */
};

/* NULL: BF_FENCE_OPS are pending. */
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

/* A logged operation isn't followed, since there is no room for it. */
void bf_fence_list_skip(struct bf_fence_list *list, uint64_t value);
/* Entries were lost, perhaps those. */
void bf_fence_list_forget_skipped(struct bf_fence_list *list);

/* To which operation an entry of the log belongs: the oldest logged one with this fence and value
 * whose end has not been reported; *position says where. NULL: to none, or to one that isn't
 * followed. */
struct bf_fence_op *bf_fence_list_take_entry(struct bf_fence_list *list, struct bf_trace_sync sync,
                                             uint64_t *position);

struct bf_fence_op *bf_fence_list_find_id(struct bf_fence_list *list, uint64_t id);

/* Marks it as over: its place may be used again. */
void bf_fence_list_remove(struct bf_fence_list *list, struct bf_fence_op *op);

/* The lowest lane that is free for a box that begins now, or BF_TRACE_NO_LANE. */
uint32_t bf_fence_lane_take(struct bf_fence_ops *ops, uint64_t now);
void bf_fence_lane_free(struct bf_fence_ops *ops, uint32_t lane, uint64_t end_ns);

#endif
