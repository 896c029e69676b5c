/* SPDX-License-Identifier: MIT */
/*
 * Frames, and why one took as long as it did.
 *
 * A frame ends when a present is done: its call has returned, and what it waited for is there.
 * Where nothing is presented, it ends with a submission of the queue that was busy longest: with
 * each, or with each n-th where they look alike only n apart. It begins where the frame before it
 * ends.
 *
 * The critical path goes from the end of the frame's last packet back to the frame's begin. Each
 * packet started after the last of: the packet before it in its queue, the signal it waited for,
 * its hand-over by the CPU, what else the engine did. The hops add up to the frame.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_FRAME_H
#define BELFRY_CLI_TRACE_FRAME_H

#include "cli/trace_settle.h"

struct trace_frames {
    bool by_present;
    uint32_t queue;  /* else: whose submissions end frames; TRACE_NONE: nobody's, no frames */
    uint32_t period; /* how many of them make one */
    uint64_t count;
};

/* Of a model that has been settled. */
struct trace_frames trace_frames_find(const struct trace_model *model);

/* Submissions or presents that must have been seen until frame 'number' has ended. */
uint64_t trace_frames_ordinal(const struct trace_frames *frames, uint64_t number);
/* How many have been. */
uint64_t trace_frames_seen(const struct trace_frames *frames, const struct trace_model *model);

struct trace_frame {
    uint64_t number; /* from 1 */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t last; /* serial of the packet that ends it */
};

/* False: it isn't in the window from end to end, or never ended. */
bool trace_frame_find(struct trace_model *model, const struct trace_frames *frames, uint64_t number,
                      struct trace_frame *frame);

/* The frame to show: the last that is whole and has whole ones about it, or what comes nearest. */
bool trace_frame_choose(struct trace_model *model, const struct trace_frames *frames,
                        struct trace_frame *frame);

enum trace_hop_kind {
    TRACE_HOP_EXECUTION, /* of 'packet' on the GPU */
    TRACE_HOP_START,     /* all was there, but the GPU (or the driver) had not begun yet */
    TRACE_HOP_QUEUED,    /* 'packet' in its software queue */
    TRACE_HOP_CPU,       /* before 'packet' was queued, or a signal given: the program's own time */
    TRACE_HOP_UNKNOWN,   /* further back than the window reaches */
};

/* What 'packet' started after. */
enum trace_link {
    TRACE_LINK_NONE,
    TRACE_LINK_QUEUE,      /* the packet before it in its queue */
    TRACE_LINK_SIGNAL,     /* another queue's signal */
    TRACE_LINK_CPU_SIGNAL, /* the CPU's */
    TRACE_LINK_ENGINE,     /* another queue's packet that the engine ran first */
    TRACE_LINK_CPU,        /* its submission */
};

struct trace_hop {
    enum trace_hop_kind kind;
    enum trace_link link;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t packet;          /* serial */
    uint64_t after;           /* serial of what it started after, or TRACE_NO_SERIAL */
    struct trace_fence fence; /* of a signal */
};

#define TRACE_HOPS_MAX 1024

/* From the last to the first. */
struct trace_path {
    uint32_t count;
    bool cut; /* there were more */
    struct trace_hop hops[TRACE_HOPS_MAX];
};

void trace_path_find(struct trace_model *model, const struct trace_frame *frame,
                     struct trace_path *path);

#endif
