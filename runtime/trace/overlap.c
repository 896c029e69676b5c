/* SPDX-License-Identifier: MIT */
/* Sums up how long queues and engines were busy, alone and together. */
#include "trace/overlap.h"

#include <stdlib.h>

void bf_overlap_finish(struct bf_overlap *overlap)
{
    free(overlap->queues);
    free(overlap->engines);
    free(overlap->pending);
    *overlap = (struct bf_overlap){0};
}

bool bf_overlap_add_engine(struct bf_overlap *overlap)
{
    struct bf_overlap_engine *engines =
        realloc(overlap->engines, (overlap->engine_count + 1) * sizeof(*engines));
    if (!engines)
        return false;
    overlap->engines = engines;
    engines[overlap->engine_count++] = (struct bf_overlap_engine){0};
    return true;
}

bool bf_overlap_add_queue(struct bf_overlap *overlap, uint32_t engine)
{
    if (!overlap->pending) {
        uint32_t most = overlap->pending_most ? overlap->pending_most : BF_OVERLAP_PENDING;
        overlap->pending = malloc(most * sizeof(*overlap->pending));
        if (!overlap->pending)
            return false;
        overlap->pending_most = most;
    }
    struct bf_overlap_queue *queues =
        realloc(overlap->queues, (overlap->queue_count + 1) * sizeof(*queues));
    if (!queues)
        return false;
    overlap->queues = queues;
    queues[overlap->queue_count++] = (struct bf_overlap_queue){.engine = engine};
    return true;
}

/* Accounts for a stretch of time during which no queue begins or ends. */
static void overlap_account(struct bf_overlap *o, uint64_t duration)
{
    uint32_t queues = 0;
    uint32_t engines = 0;
    for (uint32_t e = 0; e < o->engine_count; e++)
        o->engines[e].active = false;
    for (uint32_t q = 0; q < o->queue_count; q++) {
        struct bf_overlap_queue *queue = &o->queues[q];
        if (queue->active_until <= o->now)
            continue;
        queues++;
        queue->busy += duration;
        struct bf_overlap_engine *engine = &o->engines[queue->engine];
        if (!engine->active) {
            engine->active = true;
            engines++;
            engine->busy += duration;
        }
    }
    if (queues >= 1)
        o->any += duration;
    if (queues >= 2)
        o->several_queues += duration;
    if (engines < 2)
        return;
    o->several_engines += duration;
    for (uint32_t e = 0; e < o->engine_count; e++) {
        if (o->engines[e].active)
            o->engines[e].shared += duration;
    }
}

/* Moves the sweep to 'to', from the end of one queue's activity to the next. */
static void overlap_sweep(struct bf_overlap *o, uint64_t to)
{
    while (o->now < to) {
        uint64_t next = UINT64_MAX;
        for (uint32_t q = 0; q < o->queue_count; q++) {
            uint64_t until = o->queues[q].active_until;
            if (until > o->now && until < next)
                next = until;
        }
        if (next == UINT64_MAX) { /* no queue is active */
            if (to != UINT64_MAX)
                o->now = to;
            return;
        }
        if (next > to)
            next = to;
        overlap_account(o, next - o->now);
        o->now = next;
    }
}

static struct bf_overlap_interval heap_pop(struct bf_overlap *o)
{
    struct bf_overlap_interval *heap = o->pending;
    struct bf_overlap_interval first = heap[0];
    struct bf_overlap_interval last = heap[--o->pending_count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < o->pending_count; at = child) {
        if (child + 1 < o->pending_count && heap[child + 1].begin < heap[child].begin)
            child++;
        if (heap[child].begin >= last.begin)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}

static void heap_push(struct bf_overlap *o, struct bf_overlap_interval interval)
{
    struct bf_overlap_interval *heap = o->pending;
    uint32_t at = o->pending_count++;
    for (uint32_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (heap[parent].begin <= interval.begin)
            break;
        heap[at] = heap[parent];
    }
    heap[at] = interval;
}

static void advance_one(struct bf_overlap *o)
{
    struct bf_overlap_interval interval = heap_pop(o);
    if (interval.begin < o->now) {
        o->late++;
        o->late_ns += (interval.end < o->now ? interval.end : o->now) - interval.begin;
    }
    overlap_sweep(o, interval.begin);
    struct bf_overlap_queue *queue = &o->queues[interval.queue];
    if (interval.end > queue->active_until)
        queue->active_until = interval.end;
}

void bf_overlap_add(struct bf_overlap *overlap, uint32_t queue, uint64_t begin, uint64_t end)
{
    if (queue >= overlap->queue_count || end <= begin)
        return;
    if (overlap->pending_count == overlap->pending_most)
        advance_one(overlap);
    heap_push(overlap, (struct bf_overlap_interval){begin, end, queue});
}

void bf_overlap_settle(struct bf_overlap *overlap)
{
    while (overlap->pending_count)
        advance_one(overlap);
    overlap_sweep(overlap, UINT64_MAX);
}
