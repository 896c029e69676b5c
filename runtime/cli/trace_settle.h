/* SPDX-License-Identifier: MIT */
/*
 * When packets were done, what they waited for and on whose account, and the sums over all of them.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_SETTLE_H
#define BELFRY_CLI_TRACE_SETTLE_H

#include "cli/trace_model.h"

/* A signal by the CPU, or on an idle queue, is written down just after what it has released. */
#define TRACE_SLACK_NS 1000000

/* Sums up the oldest packet that isn't yet. */
void trace_settle_oldest(struct trace_model *model);

/* The packet before it in its queue, presents left out, or NULL: none, or no longer in the
 * window. */
struct trace_packet *trace_packet_before(struct trace_model *model,
                                         const struct trace_packet *packet);

/* When an operation was done; where that was found late, when its packet was. 0: not known. */
uint64_t trace_operation_done(struct trace_model *model, const struct trace_operation *operation);

/*
 * What a packet waited for last, and what that cost: from when its queue could have gone on with it
 * (it was queued, and the packet before it done) until the wait was over.
 */
struct trace_wait {
    struct trace_cause cause;
    struct trace_fence fence;
    uint64_t since_ns;
    uint64_t released_ns;
    uint64_t lost_ns;
};

/* False: it waited for nothing, or the trace doesn't say when that was over. */
bool trace_packet_wait(struct trace_model *model, struct trace_packet *packet,
                       struct trace_wait *wait);

/* How many submissions of a queue make a frame: the smallest number after which four of five look
 * like those before (command buffers, their name, fence operations between); 1 if none does. */
uint32_t trace_queue_period(const struct trace_queue *queue);

#endif
