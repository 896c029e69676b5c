/* SPDX-License-Identifier: MIT */
/* Background processing in a trace: items, modes, commits, and variants that come and go. */
#include "base/clock.h"
#include "trace/state.h"

void bf_trace_background(struct bf_trace *t, const struct bf_trace_background *event)
{
    static const enum bf_string names[] = {
        [BF_TRACE_ITEM_BEGIN] = BF_STRING_ITEM,
        [BF_TRACE_ITEM_CANCELLED] = BF_STRING_CANCELLED,
        [BF_TRACE_COMMIT] = BF_STRING_COMMIT,
        [BF_TRACE_COMMIT_DONE] = BF_STRING_COMMIT_DONE,
    };
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    bool item = event->kind <= BF_TRACE_ITEM_CANCELLED;
    bool end = event->kind == BF_TRACE_ITEM_END, begin = event->kind == BF_TRACE_ITEM_BEGIN;
    uint32_t bit = 1u << event->lane;
    const struct bf_perfetto_annotation about[] = {
        {.name = item ? BF_STRING_ITEM : BF_STRING_COMMIT,
         .kind = BF_PERFETTO_UINT,
         .number = event->number},
        {.name = BF_STRING_ITEMS, .kind = BF_PERFETTO_UINT, .number = event->count},
    };
    struct bf_perfetto_event drawn = {
        .time_ns = event->time_ns,
        .track = bf_trace_background_track(t, event->lane),
        .type = begin ? BF_PERFETTO_BEGIN : BF_PERFETTO_INSTANT,
        .category = BF_STRING_BACKGROUND,
        .annotation_count = event->kind == BF_TRACE_COMMIT ? 2 : event->kind != BF_TRACE_MODE,
        .annotations = about,
    };
    if (end)
        drawn = (struct bf_perfetto_event){
            .time_ns = event->time_ns, .track = drawn.track, .type = BF_PERFETTO_END};
    else if (event->kind == BF_TRACE_MODE)
        drawn.name = bf_interning_number(&t->interning, event->mode);
    else
        drawn.name = event->boosted ? BF_STRING_BOOSTED_ITEM : names[event->kind];
    /* The begin of a slice may have been left out for want of memory; then its end is, too
     * (O-2). */
    if ((!end || (t->background_open & bit)) && bf_trace_event(t, &t->late, &drawn) && begin)
        t->background_open |= bit;
    if (end)
        t->background_open &= ~bit;
    bf_trace_leave(t);
}

void bf_trace_swap(struct bf_trace *t, enum bf_trace_swap swap, uint64_t pipeline, uint32_t variant,
                   const char *reason)
{
    if (!t)
        return;
    const struct bf_perfetto_annotation about[] = {
        {.name = BF_STRING_PIPELINE, .kind = BF_PERFETTO_UINT, .number = pipeline},
        {.name = BF_STRING_VARIANT, .kind = BF_PERFETTO_UINT, .number = variant},
        {.name = BF_STRING_REASON, .kind = BF_PERFETTO_STRING, .text = reason},
    };
    bf_lock_acquire(&t->output->lock);
    const struct bf_perfetto_event drawn = {
        .time_ns = bf_now_ns(),
        .track = bf_trace_background_track(t, 0),
        .type = BF_PERFETTO_INSTANT,
        .name = swap == BF_TRACE_SWAP_IN ? BF_STRING_SWAP_IN : BF_STRING_SWAP_OUT,
        .category = BF_STRING_BACKGROUND,
        .annotation_count = swap == BF_TRACE_SWAP_IN ? 2 : 3,
        .annotations = about,
    };
    bf_trace_event(t, &t->late, &drawn);
    bf_trace_leave(t);
}
