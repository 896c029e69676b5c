/* SPDX-License-Identifier: MIT */
/*
 * When packets were done, what they waited for and who signalled that, and sums of all this.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_SETTLE_H
#define BELFRY_CLI_TRACE_SETTLE_H

#include "cli/trace_model.h"

/* A signal by the CPU, or on an idle queue, may be written just after the events that it caused. */
#define TRACE_SLACK_NS 1000000

/* Adds the oldest packet that isn't in the sums yet to them. */
void trace_settle_oldest(struct trace_model *model);

/* The packet before it in its queue, presents excepted; NULL: there is none, or it is no longer in
 * the window. */
struct trace_packet *trace_packet_before(struct trace_model *model,
                                         const struct trace_packet *packet);

/* When an operation was done, or, if that was found out late, when its packet was done. 0: not
 * known. */
uint64_t trace_operation_done(struct trace_model *model, const struct trace_operation *operation);

/*
 * The last wait of a packet that ended, and how long it delayed the packet: from the time when its
 * queue could have run it (it was queued, and the packet before it was done) to the end of the
 * wait.
 */
struct trace_wait {
    struct trace_cause cause;
    struct trace_fence fence;
    uint64_t since_ns;
    uint64_t released_ns;
    uint64_t lost_ns;
    bool at_most; /* it was released by then; nobody knows since when */
};

/* False: the packet waited for nothing, or the trace doesn't tell when the wait ended. */
bool trace_packet_wait(struct trace_model *model, struct trace_packet *packet,
                       struct trace_wait *wait);

/* The number of submissions of a queue that make a frame: the smallest distance at which four of
 * five submissions look alike (number of command buffers, their name, fence operations between
 * them); 1 if there is none. */
uint32_t trace_queue_period(const struct trace_queue *queue);

#endif
