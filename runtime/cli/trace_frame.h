/* SPDX-License-Identifier: MIT */
/*
 * Finds frames, and explains how long one took.
 *
 * A frame ends when a present is done: its call has returned, and the semaphores it waited for are
 * signalled. If nothing is presented, a frame ends with a submission of the queue that was busy
 * longest: with each one, or, if its submissions repeat with a period of n, with each n-th. A frame
 * begins where the one before it ends.
 *
 * The critical path leads from the end of the frame's last packet back to the frame's begin. Each
 * packet started after the last of these: the packet before it in its queue, the signal it waited
 * for, its hand-over by the CPU, other work on the engine. The steps of the path add up to the
 * frame.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_FRAME_H
#define BELFRY_CLI_TRACE_FRAME_H

#include "cli/trace_settle.h"

struct trace_frames {
    bool by_present;
    /* else: the queue whose submissions end frames; TRACE_NONE: there are no frames */
    uint32_t queue;
    uint32_t period; /* how many submissions make a frame */
    uint64_t count;
};

/* Finds the frames. The model must be settled. */
struct trace_frames trace_frames_find(const struct trace_model *model);

/* How many submissions or presents there are up to the end of frame 'number'. */
uint64_t trace_frames_ordinal(const struct trace_frames *frames, uint64_t number);
/* How many of these the model has seen. */
uint64_t trace_frames_seen(const struct trace_frames *frames, const struct trace_model *model);

struct trace_frame {
    uint64_t number; /* from 1 */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t last; /* serial of the packet that ends it */
};

/* False: the frame isn't wholly in the window, or never ended. */
bool trace_frame_find(struct trace_model *model, const struct trace_frames *frames, uint64_t number,
                      struct trace_frame *frame);

/* The frame to show by default: the last one that is complete, between complete ones, or what comes
 * closest. */
bool trace_frame_choose(struct trace_model *model, const struct trace_frames *frames,
                        struct trace_frame *frame);

enum trace_hop_kind {
    TRACE_HOP_EXECUTION, /* of 'packet' on the GPU */
    TRACE_HOP_START,     /* the packet was ready, but the GPU (or the driver) had not begun it */
    TRACE_HOP_QUEUED,    /* 'packet' in its software queue */
    TRACE_HOP_CPU,       /* the program's own time, before it queued 'packet' or gave a signal */
    TRACE_HOP_PRESENT,   /* the call of 'packet', a present */
    TRACE_HOP_UNKNOWN,   /* not known: further back than the window */
};

/* What 'packet' started after. */
enum trace_link {
    TRACE_LINK_NONE,
    TRACE_LINK_QUEUE,      /* the packet before it in its queue */
    TRACE_LINK_SIGNAL,     /* another queue's signal */
    TRACE_LINK_CPU_SIGNAL, /* the CPU's */
    TRACE_LINK_ENGINE,     /* another queue's packet that the engine ran first */
    TRACE_LINK_CPU,        /* its submission by the CPU */
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
    bool cut; /* the path has more steps than fit */
    struct trace_hop hops[TRACE_HOPS_MAX];
};

void trace_path_find(struct trace_model *model, const struct trace_frame *frame,
                     struct trace_path *path);

#endif
