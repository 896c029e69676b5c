/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a trace, with the processes, engines and queues that they stand for, and the names
 * of fences.
 *
 * Thread-safety: none; one thread at a time.
 */
#ifndef BELFRY_CLI_TRACE_TRACKS_H
#define BELFRY_CLI_TRACE_TRACKS_H

#include "cli/trace_model.h"

/* Adds the description of a track. */
void trace_track_take(struct trace_model *model, const struct trace_item *item);

/* NULL: the track has not been described. Valid until the next description. */
struct trace_track *trace_track_find(struct trace_model *model, uint64_t uuid);

/* The number of the process that a track belongs to: two processes may use the same packet
 * numbers. */
uint32_t trace_process_of(struct trace_model *model, const struct trace_track *track);

/* The trace of a process has ended. */
void trace_process_end(struct trace_model *model, struct trace_track *process, uint64_t time_ns);

/* Its device is lost. */
void trace_process_lose(struct trace_model *model, const struct trace_track *process,
                        uint64_t time_ns);

/* The number of a name (trace_name); TRACE_NONE: there is no room. */
uint32_t trace_name_of(struct trace_model *model, struct trace_span span);

/* The fence that an event names, by name or by handle. */
struct trace_fence trace_fence_of(struct trace_model *model, const struct trace_item *item);

#endif
