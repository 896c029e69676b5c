/* SPDX-License-Identifier: MIT */
/* Writes background processing to probes and traces. */
#include "background/trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "trace/probes.h"
#include "trace/trace.h"

static const char *const mode_names[] = {
    [BF_BACKGROUND_PROCESSING_MODE_ALLOWED] = "allowed",
    [BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS] = "allow intrusive measurements",
    [BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK] = "disable background work",
    [BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM] = "disable profiling by system",
};

static const char *const action_names[] = {
    [BF_MEASUREMENTS_ACTION_KEEP_ALL] = "keep all",
    [BF_MEASUREMENTS_ACTION_COMMIT_RESULTS] = "commit results",
    [BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY] = "commit results, high priority",
    [BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS] = "discard previous",
};

/* Pointers as arguments of probes. */
static uint64_t probe_pointer(const void *pointer)
{
    return (uintptr_t)pointer;
}

static uint64_t probe_function(PFN_bfProcessingWork function)
{
    return (uintptr_t)function;
}

/* Lane 0 is for instants. */
static uint32_t lane_of(const struct bf_slot *slot)
{
    return 1 + (uint32_t)(slot - slot->pool->slots);
}

/* ------------------------------------------------------------------------------------- Items -- */

void bf_background_probe_begin(const struct bf_background *b, const struct bf_task *task)
{
    BF_PROBE3(background_begin, probe_pointer(b->info.device), task->arrival,
              probe_function(task->callback));
}

void bf_background_probe_end(const struct bf_background *b, const struct bf_task *task)
{
    BF_PROBE3(background_end, probe_pointer(b->info.device), task->arrival,
              probe_function(task->callback));
}

static void trace_item(struct bf_background *b, const struct bf_slot *slot,
                       enum bf_trace_background_kind kind, uint64_t time_ns)
{
    const struct bf_trace_background event = {.kind = kind,
                                              .lane = lane_of(slot),
                                              .time_ns = time_ns,
                                              .number = slot->task->arrival,
                                              .boosted = slot->boost};
    bf_trace_background(b->info.trace, &event);
}

void bf_background_trace_begin(struct bf_background *b, const struct bf_slot *slot)
{
    trace_item(b, slot, BF_TRACE_ITEM_BEGIN, slot->begin_ns);
}

void bf_background_trace_end(struct bf_background *b, const struct bf_slot *slot)
{
    if (slot->task && b->info.trace)
        trace_item(b, slot, BF_TRACE_ITEM_END, slot->end_ns);
}

static void trace_mark(struct bf_background *b, enum bf_trace_background_kind kind,
                       uint64_t number_of, uint64_t count, uint64_t time_ns)
{
    const struct bf_trace_background event = {
        .kind = kind, .time_ns = time_ns, .number = number_of, .count = count};
    bf_trace_background(b->info.trace, &event);
}

void bf_background_trace_cancel(struct bf_background *b, uint64_t item, PFN_bfProcessingWork cancel)
{
    BF_PROBE3(background_cancel, probe_pointer(b->info.device), item, probe_function(cancel));
    if (!b->info.trace)
        return;
    const struct bf_slot *slot = bf_slot_current();
    if (!slot || slot->boost) {
        trace_mark(b, BF_TRACE_ITEM_CANCELLED, item, 0, bf_now_ns());
        return;
    }
    struct bf_deferred_event *deferred = malloc(sizeof(*deferred));
    if (!deferred)
        return; /* the trace lacks it, the program nothing */
    *deferred = (struct bf_deferred_event){.task = item, .time_ns = bf_now_ns()};
    deferred->next = atomic_load(&b->deferred);
    while (!atomic_compare_exchange_weak(&b->deferred, &deferred->next, deferred))
        ;
}

void bf_background_trace_deferred(struct bf_background *b)
{
    struct bf_deferred_event *deferred = atomic_exchange(&b->deferred, NULL);
    while (deferred) {
        struct bf_deferred_event *next = deferred->next;
        trace_mark(b, BF_TRACE_ITEM_CANCELLED, deferred->task, 0, deferred->time_ns);
        free(deferred);
        deferred = next;
    }
}

/* ------------------------------------------------------------------------- Modes and commits -- */

void bf_background_trace_mode(struct bf_background *b, BfBackgroundProcessingMode mode,
                              BfMeasurementsAction action)
{
    BF_PROBE3(background_mode, probe_pointer(b->info.device), mode, action);
    if (!b->info.trace)
        return;
    char label[96];
    snprintf(label, sizeof(label), "%s; %s", mode_names[mode], action_names[action]);
    const struct bf_trace_background event = {
        .kind = BF_TRACE_MODE, .time_ns = bf_now_ns(), .mode = label};
    bf_trace_background(b->info.trace, &event);
}

void bf_background_trace_commit(struct bf_background *b, uint64_t commit, uint64_t items)
{
    BF_PROBE3(background_commit, probe_pointer(b->info.device), commit, items);
    if (b->info.trace)
        trace_mark(b, BF_TRACE_COMMIT, commit, items, bf_now_ns());
}

void bf_background_trace_done(struct bf_background *b, uint64_t commit)
{
    BF_PROBE3(background_done, probe_pointer(b->info.device), commit, 0);
    if (b->info.trace)
        trace_mark(b, BF_TRACE_COMMIT_DONE, commit, 0, bf_now_ns());
}
