/* SPDX-License-Identifier: MIT */
/*
 * What a trace doesn't see the end of: packets that were held, waits, work on the GPU and calls in
 * the driver that went on when the trace ended, and packets that were dropped instead of ending.
 *
 * Of each queue one is named, the first; the others are behind it. Besides, calls that present.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_STALL_H
#define BELFRY_CLI_TRACE_STALL_H

#include "cli/trace_model.h"

#define TRACE_STALLS_MAX 64 /* more are counted alone */

enum trace_stall_state {
    TRACE_STALL_HELD,   /* in the software queue, with what it waits for */
    TRACE_STALL_QUEUED, /* there, or in the call that gives it to the driver */
    TRACE_STALL_WAITS,  /* with the driver, where it waits */
    TRACE_STALL_GPU,    /* with the driver, and its end isn't in the trace */
    TRACE_STALL_CALL,   /* in a call of the driver's that presents */
    TRACE_STALL_DROPPED,
};

struct trace_stall {
    enum trace_stall_state state;
    uint32_t queue;
    uint64_t id;     /* the packet's, as the trace numbers it; 0: a wait that no packet carries */
    uint64_t serial; /* TRACE_NO_SERIAL: it has left the window */
    uint64_t since_ns;
    uint64_t until_ns;        /* the end of the trace; of what was dropped: when it was */
    struct trace_fence fence; /* what it waits for, */
    uint32_t obstacle_plus;   /* or 1 + name of that, where it is no fence; else 0 */
    uint64_t behind;          /* packets of its queue */
    /* Who has queued a signal that would end the wait: a queue, or TRACE_NONE; its packet, or 0. */
    uint32_t by;
    uint64_t by_id;
    uint32_t circle; /* 0, or the number of the circle of waits that it is part of */
};

struct trace_stalls {
    uint32_t count;
    uint64_t left_out;
    uint64_t begin_ns;                       /* when the first of them began */
    struct trace_stall at[TRACE_STALLS_MAX]; /* causes first, then the longest */
};

/* The model must be settled. */
void trace_stalls_find(struct trace_model *model, struct trace_stalls *stalls);

/* A stall in words, without its queue. */
#define TRACE_STALL_SIZE (2 * TRACE_LABEL_SIZE + 2 * TRACE_FENCE_SIZE + 160)
const char *trace_stall_label(struct trace_model *model, const struct trace_stall *stall,
                              char label[TRACE_STALL_SIZE]);

const char *trace_stall_state_name(enum trace_stall_state state);

#endif
