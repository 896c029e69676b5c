/* SPDX-License-Identifier: MIT */
/* Finds the frames of a trace, and the critical path of one of them. */
#include "cli/trace_frame.h"

#include <string.h>

#define STEPS_MAX 8192 /* packets that a path may touch, also those that cost no time */

/* --- Frames -----------------------------------------------------------------------------------*/

struct trace_frames trace_frames_find(const struct trace_model *m)
{
    struct trace_frames frames = {.queue = TRACE_NONE, .period = 1};
    if (m->present_count > 0) {
        frames.by_present = true;
        frames.count = m->present_count;
        return frames;
    }
    for (uint32_t q = 0; q < m->queue_count; q++) {
        if (m->queues[q].ordinals == 0)
            continue;
        uint64_t busy = m->busy.queues[q].busy;
        uint64_t best = frames.queue == TRACE_NONE ? 0 : m->busy.queues[frames.queue].busy;
        if (frames.queue == TRACE_NONE || busy > best ||
            (busy == best && m->queues[q].ordinals > m->queues[frames.queue].ordinals))
            frames.queue = q;
    }
    if (frames.queue != TRACE_NONE) {
        frames.period = trace_queue_period(&m->queues[frames.queue]);
        frames.count = m->queues[frames.queue].ordinals / frames.period;
    }
    return frames;
}

uint64_t trace_frames_ordinal(const struct trace_frames *f, uint64_t number)
{
    return number > UINT64_MAX / f->period ? UINT64_MAX : number * f->period;
}

uint64_t trace_frames_seen(const struct trace_frames *f, const struct trace_model *m)
{
    if (f->by_present)
        return m->present_count;
    return f->queue < m->queue_count ? m->queues[f->queue].ordinals : 0;
}

/* The packet that ends a frame, if it is in the window. */
static struct trace_packet *end_find(struct trace_model *m, const struct trace_frames *f,
                                     uint64_t number)
{
    uint64_t ordinal = trace_frames_ordinal(f, number);
    for (uint64_t serial = m->next_serial; serial > trace_window_begin(m); serial--) {
        struct trace_packet *p = trace_packet_at(m, serial - 1);
        bool present = p->kind == TRACE_PACKET_PRESENT;
        if (p->ordinal == ordinal && present == f->by_present && (present || p->queue == f->queue))
            return p;
    }
    return NULL;
}

bool trace_frame_find(struct trace_model *m, const struct trace_frames *f, uint64_t number,
                      struct trace_frame *frame)
{
    if (number == 0 || number > f->count)
        return false;
    struct trace_packet *last = end_find(m, f, number);
    struct trace_packet *before = number > 1 ? end_find(m, f, number - 1) : NULL;
    if (!last || (number > 1 && !before))
        return false;
    uint64_t begin = before ? trace_packet_done(m, before) : m->first_ns;
    uint64_t end = trace_packet_done(m, last);
    if (!begin || !end)
        return false;
    *frame = (struct trace_frame){number, begin < end ? begin : end, end, last->serial};
    return true;
}

bool trace_frame_choose(struct trace_model *m, const struct trace_frames *f,
                        struct trace_frame *frame)
{
    enum { TRIES = 64 }; /* frames that are tried, since at the end of a run some are incomplete */
    for (uint64_t number = f->count; number > 0 && f->count - number < TRIES; number--) {
        if (!trace_frame_find(m, f, number, frame))
            continue;
        struct trace_frame before;
        if (number > 2 && trace_frame_find(m, f, number - 1, &before))
            *frame = before;
        return true;
    }
    return false;
}

/* --- The critical path ------------------------------------------------------------------------*/

struct walk {
    struct trace_model *model;
    const struct trace_frame *frame;
    struct trace_path *path;
    struct trace_packet *packet;
    uint64_t now; /* everything later than this is explained */
    bool handing; /* only when the packet was handed over matters, not when it ran */
    bool ended;
};

static void hop_add(struct walk *w, enum trace_hop_kind kind, uint64_t begin_ns,
                    enum trace_link link, const struct trace_packet *after,
                    struct trace_fence fence)
{
    if (begin_ns < w->frame->begin_ns)
        begin_ns = w->frame->begin_ns;
    if (begin_ns >= w->now)
        return;
    if (w->path->count == TRACE_HOPS_MAX) {
        w->path->cut = true;
        w->ended = true;
        return;
    }
    w->path->hops[w->path->count++] = (struct trace_hop){
        .kind = kind,
        .link = link,
        .begin_ns = begin_ns,
        .end_ns = w->now,
        .packet = w->packet->serial,
        .after = after ? after->serial : TRACE_NO_SERIAL,
        .fence = fence,
    };
    w->now = begin_ns;
}

/* The packet of another queue on the same engine that ended last before this one began. */
static struct trace_packet *engine_before(struct trace_model *m, const struct trace_packet *p)
{
    uint32_t engine = m->queues[p->queue].engine;
    struct trace_packet *best = NULL;
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *other = trace_packet_at(m, s);
        if (other->queue != p->queue && m->queues[other->queue].engine == engine && other->end_ns &&
            other->end_ns <= p->begin_ns && (!best || other->end_ns > best->end_ns))
            best = other;
    }
    return best;
}

static const struct trace_fence no_fence = {.name = TRACE_NONE};

/* Goes from a packet's hand-over back to what that waited for. */
static void hand_over_explain(struct walk *w)
{
    struct trace_model *m = w->model;
    struct trace_packet *p = w->packet;
    uint64_t queued = p->queued_ns && p->queued_ns < w->now ? p->queued_ns : w->now;
    struct trace_cause cause;
    struct trace_packet *before = trace_packet_before(m, p);
    /* The call of a present may block until what it waits for has happened. */
    bool present = p->kind == TRACE_PACKET_PRESENT;
    bool held = present ? trace_present_cause(m, p, &cause)
                        : p->longest.begin && trace_hold_is_for_fence(&p->longest) &&
                              trace_packet_cause(m, p, &cause);
    if (held && cause.time_ns > queued && cause.time_ns <= w->now + TRACE_SLACK_NS) {
        bool cpu = cause.queue == TRACE_CAUSE_CPU;
        hop_add(w, present ? TRACE_HOP_PRESENT : TRACE_HOP_START, cause.time_ns,
                cpu ? TRACE_LINK_CPU_SIGNAL : TRACE_LINK_SIGNAL, cause.packet, cause.fence);
        if (cause.packet) {
            w->packet = cause.packet;
            w->handing = false;
            return;
        }
        hop_add(w, cpu ? TRACE_HOP_CPU : TRACE_HOP_UNKNOWN, 0,
                cpu ? TRACE_LINK_CPU_SIGNAL : TRACE_LINK_NONE, NULL, cause.fence);
        w->ended = true;
        return;
    }
    /* It could not be handed over before the packet before it in the queue was. */
    if (before && before->handed_over_ns > queued && before->handed_over_ns <= w->now) {
        hop_add(w, TRACE_HOP_QUEUED, before->handed_over_ns, TRACE_LINK_QUEUE, before, no_fence);
        w->packet = before;
        w->handing = true;
        return;
    }
    hop_add(w, present ? TRACE_HOP_PRESENT : TRACE_HOP_QUEUED, queued, TRACE_LINK_CPU, NULL,
            no_fence);
    hop_add(w, TRACE_HOP_CPU, 0, TRACE_LINK_CPU, NULL, no_fence);
    w->ended = true;
}

static void path_step(struct walk *w)
{
    struct trace_model *m = w->model;
    struct trace_packet *p = w->packet;
    if (w->handing) {
        hand_over_explain(w);
        return;
    }
    /* The latest of the things that it started after; among equals, in the order of what explains
     * most. */
    struct trace_cause cause = {.fence = no_fence};
    bool caused = trace_packet_cause(m, p, &cause);
    struct trace_packet *before =
        p->kind == TRACE_PACKET_PRESENT ? NULL : trace_packet_before(m, p);
    struct trace_packet *engine = p->end_ns ? engine_before(m, p) : NULL;
    uint64_t limit = p->end_ns && p->begin_ns < w->now ? p->begin_ns : w->now;
    uint64_t times[] = {
        caused ? cause.time_ns : 0,
        before ? trace_packet_done(m, before) : 0,
        engine ? engine->end_ns : 0,
        p->handed_over_ns,
    };
    uint32_t best = 3;
    for (uint32_t i = 4; i-- > 0;) {
        times[i] = times[i] < limit ? times[i] : limit;
        if (times[i] >= times[best])
            best = i;
    }
    enum trace_link link = TRACE_LINK_CPU;
    struct trace_packet *after = NULL;
    if (times[best] == 0) {
        link = TRACE_LINK_NONE;
    } else if (best == 0) {
        link = cause.queue == TRACE_CAUSE_CPU ? TRACE_LINK_CPU_SIGNAL : TRACE_LINK_SIGNAL;
        after = cause.packet;
    } else if (best == 1) {
        link = TRACE_LINK_QUEUE;
        after = before;
    } else if (best == 2) {
        link = TRACE_LINK_ENGINE;
        after = engine;
    }
    struct trace_fence fence = best == 0 ? cause.fence : no_fence;
    if (p->end_ns)
        hop_add(w, TRACE_HOP_EXECUTION, p->begin_ns, link, after, fence);
    if (times[best] == 0) {
        hop_add(w, TRACE_HOP_UNKNOWN, 0, link, NULL, no_fence);
        w->ended = true;
        return;
    }
    hop_add(w, TRACE_HOP_START, times[best], link, after, fence);
    if (after) {
        w->packet = after;
    } else if (best == 3) {
        w->handing = true;
    } else {
        hop_add(w, link == TRACE_LINK_CPU_SIGNAL ? TRACE_HOP_CPU : TRACE_HOP_UNKNOWN, 0, link, NULL,
                fence);
        w->ended = true;
    }
}

void trace_path_find(struct trace_model *m, const struct trace_frame *frame,
                     struct trace_path *path)
{
    path->count = 0;
    path->cut = false;
    struct walk w = {
        .model = m,
        .frame = frame,
        .path = path,
        .packet = trace_packet_at(m, frame->last),
        .now = frame->end_ns,
    };
    uint32_t steps = 0;
    while (w.packet && !w.ended && w.now > frame->begin_ns && steps++ < STEPS_MAX)
        path_step(&w);
    path->cut |= w.now > frame->begin_ns && !w.ended;
}
