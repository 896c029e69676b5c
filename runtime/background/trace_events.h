/* SPDX-License-Identifier: MIT */
/*
 * Background processing in static probes (docs/probes.md) and on the tracks 'background processing'
 * of a trace.
 *
 * The functions bf_background_trace_* write to the trace and take its lock: SCHED_IDLE workers
 * don't call them (BG-7), save for bf_background_trace_cancel. Without a trace they return at once.
 */
#ifndef BELFRY_BACKGROUND_TRACE_EVENTS_H
#define BELFRY_BACKGROUND_TRACE_EVENTS_H

#include "background/internal.h"

void bf_background_probe_begin(const struct bf_background *b, const struct bf_task *task);
void bf_background_probe_end(const struct bf_background *b, const struct bf_task *task);

/* The slot's item has begun, or ended. For the dispatcher. */
void bf_background_trace_begin(struct bf_background *b, const struct bf_slot *slot);
void bf_background_trace_end(struct bf_background *b, const struct bf_slot *slot);
/* Writes the events that bf_background_trace_cancel has deferred. For the dispatcher. */
void bf_background_trace_deferred(struct bf_background *b);

/* For any thread: on a SCHED_IDLE worker the event is deferred to the dispatcher. */
void bf_background_trace_cancel(struct bf_background *b, uint64_t item,
                                PFN_bfProcessingWork cancel);

void bf_background_trace_mode(struct bf_background *b, BfBackgroundProcessingMode mode,
                              BfMeasurementsAction action);
void bf_background_trace_commit(struct bf_background *b, uint64_t commit, uint64_t items);
void bf_background_trace_done(struct bf_background *b, uint64_t commit);

#endif
