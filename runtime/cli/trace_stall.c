/* SPDX-License-Identifier: MIT */
/* Finds what had not ended when the trace did, and who could have ended it. */
#include "cli/trace_stall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/trace_report.h"

static struct trace_stall *stall_of(struct trace_stalls *s, uint32_t queue,
                                    enum trace_stall_state state)
{
    for (uint32_t i = 0; i < s->count; i++) {
        bool call = s->at[i].state == TRACE_STALL_CALL;
        if (s->at[i].queue == queue && call == (state == TRACE_STALL_CALL))
            return &s->at[i];
    }
    return NULL;
}

static struct trace_stall stall_make(enum trace_stall_state state, uint32_t queue, uint64_t id,
                                     uint64_t since_ns, uint64_t until_ns)
{
    return (struct trace_stall){
        .state = state,
        .queue = queue,
        .id = id,
        .serial = TRACE_NO_SERIAL,
        .since_ns = since_ns,
        .until_ns = until_ns,
        .fence = {.name = TRACE_NONE},
        .by = TRACE_NONE,
    };
}

/* Of a queue's packets the first counts; what the driver has comes before what it hasn't. */
static bool is_before(const struct trace_stall *a, const struct trace_stall *b)
{
    bool a_given = a->state == TRACE_STALL_GPU || a->state == TRACE_STALL_WAITS;
    bool b_given = b->state == TRACE_STALL_GPU || b->state == TRACE_STALL_WAITS;
    if (a_given != b_given)
        return a_given;
    return a->id != b->id ? a->id < b->id : a->state < b->state;
}

/* A packet may have several: its waits, and its work. */
static void stall_add(struct trace_model *m, struct trace_stalls *s,
                      const struct trace_stall *stall)
{
    struct trace_packet *p = trace_packet_at(m, stall->serial);
    bool counted = p && p->stalled;
    if (p)
        p->stalled = true;
    struct trace_stall *known = stall_of(s, stall->queue, stall->state);
    if (!known && s->count == TRACE_STALLS_MAX) {
        s->left_out++;
    } else if (!known) {
        s->at[s->count++] = *stall;
    } else {
        uint64_t behind = known->behind + (!counted && known->id != stall->id);
        if (is_before(stall, known))
            *known = *stall;
        known->behind = behind;
    }
}

/* Slices that are open: each is on a track of its own. */
static void tracks_look(struct trace_model *m, struct trace_stalls *s)
{
    for (uint32_t i = 0; i < m->track_capacity; i++) {
        const struct trace_track *t = &m->tracks[i];
        bool fences = t->kind == TRACE_TRACK_FENCES && t->waits;
        bool software = t->kind == TRACE_TRACK_SOFTWARE || t->kind == TRACE_TRACK_PRESENTS;
        if (!t->uuid || !t->depth || (!fences && !software))
            continue;
        struct trace_packet *p = trace_packet_at(m, t->serial);
        struct trace_operation *o = fences ? trace_operation_at(m, t->operation) : NULL;
        if (fences)
            p = o ? trace_packet_at(m, o->serial) : NULL;
        if (p && p->id != t->packet)
            p = NULL;
        /* The packet's own slice tells what it is held for; waits of it may be over by then. */
        if (fences && t->packet && (!p || !p->handed_over_ns || p->dropped))
            continue;
        bool held = t->hold.begin && !t->hold.on_predecessor;
        struct trace_stall stall = stall_make(
            fences                            ? TRACE_STALL_WAITS
            : t->kind == TRACE_TRACK_PRESENTS ? TRACE_STALL_CALL
            : held                            ? TRACE_STALL_HELD
                                              : TRACE_STALL_QUEUED,
            t->index, t->packet, held || fences ? t->hold.begin : t->since_ns, m->last_ns);
        stall.fence = held || fences ? t->hold.on : stall.fence;
        stall.obstacle_plus = held ? t->hold.obstacle_plus : 0;
        stall.serial = p ? p->serial : TRACE_NO_SERIAL;
        stall_add(m, s, &stall);
    }
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What the driver has been given, and what was dropped. */
static void stall_packets_look(struct trace_model *m, struct trace_stalls *s)
{
    for (uint64_t serial = trace_window_begin(m); serial < m->next_serial; serial++) {
        const struct trace_packet *p = trace_packet_at(m, serial);
        bool submission = p->kind == TRACE_PACKET_EXECUTE || p->kind == TRACE_PACKET_BIND_SPARSE;
        bool waits = p->laneless && !p->handed_over_ns && !p->begin_ns;
        if (!submission || (!p->handed_over_ns && !p->laneless) || p->instant || p->end_ns ||
            p->dropped)
            continue;
        struct trace_stall stall =
            stall_make(waits ? TRACE_STALL_QUEUED : TRACE_STALL_GPU, p->queue, p->id,
                       waits ? p->queued_ns : later_of(p->handed_over_ns, p->begin_ns), m->last_ns);
        stall.serial = serial;
        stall_add(m, s, &stall);
    }
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_packet *p = &m->queues[q].dropped_first;
        if (!m->queues[q].dropped || stall_of(s, q, TRACE_STALL_DROPPED))
            continue;
        bool held = p->longest.begin && !p->longest.on_predecessor;
        struct trace_stall stall =
            stall_make(TRACE_STALL_DROPPED, q, p->id,
                       held           ? p->longest.begin
                       : p->queued_ns ? p->queued_ns
                                      : p->dropped_ns, /* the trace hasn't its beginning */
                       p->dropped_ns);
        stall.serial = trace_packet_at(m, p->serial) ? p->serial : TRACE_NO_SERIAL;
        stall.fence = held ? p->longest.on : stall.fence;
        stall.obstacle_plus = held ? p->longest.obstacle_plus : 0;
        stall.behind = m->queues[q].dropped - 1;
        stall_add(m, s, &stall);
    }
}

/* The signal that is queued and would end the wait: the smallest that suffices. */
static void signaller_find(struct trace_model *m, struct trace_stall *stall)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < m->track_capacity && stall->fence.name != TRACE_NONE; i++) {
        const struct trace_track *t = &m->tracks[i];
        const struct trace_fence *on = &t->hold.on;
        if (!t->uuid || t->kind != TRACE_TRACK_FENCES || !t->depth || !t->operation || t->waits ||
            on->name != stall->fence.name || on->value < stall->fence.value || on->value >= best)
            continue;
        best = on->value;
        stall->by = t->index;
        stall->by_id = t->packet;
    }
}

/* Follows from each stalled queue whom it waits for; who meets itself is in a circle. */
static void circles_find(struct trace_stalls *s)
{
    uint32_t circles = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        struct trace_stall *at = &s->at[i];
        uint32_t steps = 0;
        while (at && at->by != TRACE_NONE && steps++ <= s->count) {
            at = stall_of(s, at->by, TRACE_STALL_HELD);
            if (at != &s->at[i])
                continue;
            if (!s->at[i].circle)
                for (circles++; at && at->circle != circles;
                     at = stall_of(s, at->by, TRACE_STALL_HELD))
                    at->circle = circles;
            break;
        }
    }
}

/* What waits for another queue comes behind what doesn't, and then the longest first. */
static int by_length(const void *a, const void *b)
{
    const struct trace_stall *x = a;
    const struct trace_stall *y = b;
    bool x_follows = x->by != TRACE_NONE && !x->circle;
    bool y_follows = y->by != TRACE_NONE && !y->circle;
    if (x_follows != y_follows)
        return y_follows ? -1 : 1;
    if (x->since_ns != y->since_ns)
        return x->since_ns < y->since_ns ? -1 : 1;
    return x->queue < y->queue ? -1 : x->queue > y->queue;
}

void trace_stalls_find(struct trace_model *m, struct trace_stalls *s)
{
    *s = (struct trace_stalls){.begin_ns = UINT64_MAX};
    tracks_look(m, s);
    stall_packets_look(m, s);
    for (uint32_t i = 0; i < s->count; i++) {
        struct trace_stall *stall = &s->at[i];
        const struct trace_queue *queue = &m->queues[stall->queue];
        const uint64_t end_ns = queue->lost_ns ? queue->lost_ns : queue->ended_ns;
        if (end_ns && stall->until_ns > end_ns)
            stall->until_ns = end_ns;
        if (stall->until_ns < stall->since_ns)
            stall->until_ns = stall->since_ns;
        if (stall->since_ns < s->begin_ns)
            s->begin_ns = stall->since_ns;
        if (stall->state != TRACE_STALL_DROPPED)
            signaller_find(m, stall);
    }
    circles_find(s);
    qsort(s->at, s->count, sizeof(s->at[0]), by_length);
}

/* --- In words ---------------------------------------------------------------------------------*/

const char *trace_stall_state_name(enum trace_stall_state state)
{
    static const char *const names[] = {"held",       "queued",        "waits",
                                        "on the GPU", "in the driver", "dropped"};
    return names[state];
}

/* "semaphore x to reach 7 (has 3)". */
static void fence_wanted(const struct trace_model *m, const struct trace_stall *stall, char *text,
                         size_t size)
{
    const struct trace_fence *fence = &stall->fence;
    if (fence->name == TRACE_NONE) {
        snprintf(text, size, "%s",
                 stall->obstacle_plus ? trace_name(m, stall->obstacle_plus - 1)
                                      : "something that the trace doesn't name");
        return;
    }
    const struct trace_value *value = &m->values[fence->name];
    char has[48] = "(no signal of it is in the trace)";
    if (value->at_ns)
        snprintf(has, sizeof(has), "(has %" PRIu64 ")", value->value);
    if (fence->valued)
        snprintf(text, size, "%s to reach %" PRIu64 " %s", trace_name(m, fence->name), fence->value,
                 has);
    else
        snprintf(text, size, "%s", trace_name(m, fence->name));
}

const char *trace_stall_label(struct trace_model *m, const struct trace_stall *stall,
                              char label[TRACE_STALL_SIZE])
{
    char packet[TRACE_PACKET_SIZE];
    char by[TRACE_LABEL_SIZE + 80] = "";
    char wanted[TRACE_FENCE_SIZE + 64];
    char cell[BF_CELL];
    char behind[64] = "";
    const struct trace_packet *p = trace_packet_at(m, stall->serial);
    if (p)
        trace_packet_label(p, packet);
    else if (stall->id)
        snprintf(packet, sizeof(packet), "packet %" PRIu64, stall->id);
    else
        snprintf(packet, sizeof(packet), "a wait");
    bool named = stall->fence.name != TRACE_NONE || stall->obstacle_plus;
    fence_wanted(m, stall, wanted, sizeof(wanted));
    bf_cell_duration(cell, stall->until_ns - stall->since_ns);
    if (stall->behind)
        snprintf(behind, sizeof(behind), "; %" PRIu64 " more behind it", stall->behind);
    if (stall->by != TRACE_NONE && stall->by_id)
        snprintf(by, sizeof(by), ", which packet %" PRIu64 " of %s would signal", stall->by_id,
                 m->queues[stall->by].name);
    else if (stall->by != TRACE_NONE)
        snprintf(by, sizeof(by), ", which %s would signal", m->queues[stall->by].name);
    else if (stall->fence.name != TRACE_NONE)
        snprintf(by, sizeof(by),
                 ": no queue was given such a signal; the CPU, or another process, might");
    switch (stall->state) {
    case TRACE_STALL_HELD:
        snprintf(label, TRACE_STALL_SIZE, "%s has been held for %s: it waits for %s%s%s", packet,
                 cell, wanted, by, behind);
        break;
    case TRACE_STALL_QUEUED:
        snprintf(label, TRACE_STALL_SIZE, "%s has been on its way to the driver for %s%s", packet,
                 cell, behind);
        break;
    case TRACE_STALL_WAITS:
        snprintf(label, TRACE_STALL_SIZE, "%s has waited on the GPU for %s, for %s%s%s", packet,
                 cell, wanted, by, behind);
        break;
    case TRACE_STALL_GPU:
        snprintf(label, TRACE_STALL_SIZE,
                 "%s was given to the driver %s before%s, and has no end%s", packet, cell,
                 m->queues[stall->queue].lost_ns ? " its device was lost" : "", behind);
        break;
    case TRACE_STALL_CALL:
        snprintf(label, TRACE_STALL_SIZE, "%s has been in the driver for %s", packet, cell);
        break;
    case TRACE_STALL_DROPPED:
        snprintf(label, TRACE_STALL_SIZE, "%s was dropped%s%s%s%s%s", packet,
                 stall->since_ns < stall->until_ns ? " after " : "",
                 stall->since_ns < stall->until_ns ? cell : "",
                 named ? " in which it waited for " : "", named ? wanted : "",
                 stall->behind ? behind : "");
        break;
    }
    return label;
}
