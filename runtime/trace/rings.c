/* SPDX-License-Identifier: MIT */
/* Rings and doorbells of queues for user-mode submission in a trace: instants on the queue's track.
 * What a program stores to a ring nobody sees before it is read. */
#include "base/clock.h"
#include "trace/state.h"

void bf_trace_ring(struct bf_trace *t, uint32_t queue, enum bf_trace_ring what, uint64_t entries,
                   uint64_t left)
{
    static const enum bf_string names[] = {
        [BF_TRACE_RING_READ] = BF_STRING_RING_READ,
        [BF_TRACE_RING_CONNECTED] = BF_STRING_RING_CONNECTED,
        [BF_TRACE_RING_DISCONNECTED] = BF_STRING_RING_DISCONNECTED,
        [BF_TRACE_RING_NOTIFIED] = BF_STRING_RING_NOTIFIED,
    };
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    const struct bf_perfetto_annotation about[] = {
        {.name = BF_STRING_ENTRIES, .kind = BF_PERFETTO_UINT, .number = entries},
        {.name = BF_STRING_LEFT, .kind = BF_PERFETTO_UINT, .number = left},
    };
    struct bf_perfetto_event drawn = {
        .time_ns = bf_now_ns(),
        .type = BF_PERFETTO_INSTANT,
        .category = BF_STRING_RINGS,
        .name = names[what],
        .annotation_count = what == BF_TRACE_RING_READ ? 2 : 0,
        .annotations = about,
    };
    if (queue < t->queue_count) {
        drawn.track = bf_trace_ring_track(t, queue);
        bf_trace_event(t, &t->now, &drawn);
    }
    bf_trace_leave(t);
}
