#include "cli/trace_busy.h"

#include <stdlib.h>

bool trace_busy_add_engine(struct trace_busy *b)
{
    struct trace_busy_engine *engines =
        realloc(b->engines, (b->engine_count + 1) * sizeof(*engines));
    if (!engines)
        return false;
    b->engines = engines;
    engines[b->engine_count++] = (struct trace_busy_engine){0};
    return true;
}

bool trace_busy_add_queue(struct trace_busy *b, uint32_t engine)
{
    struct trace_busy_queue *queues = realloc(b->queues, (b->queue_count + 1) * sizeof(*queues));
    if (!queues)
        return false;
    b->queues = queues;
    queues[b->queue_count++] = (struct trace_busy_queue){.engine = engine};
    return true;
}

void trace_busy_finish(struct trace_busy *b)
{
    free(b->queues);
    free(b->engines);
    b->queues = NULL;
    b->engines = NULL;
    b->queue_count = 0;
    b->engine_count = 0;
}

/* Sweeps up to 'until': between two changes the same engines are busy. */
static void sweep(struct trace_busy *b, uint64_t until)
{
    while (b->now < until) {
        uint64_t next = until;
        uint32_t active = 0;
        for (uint32_t e = 0; e < b->engine_count; e++) {
            if (b->engines[e].active_until <= b->now)
                continue;
            active++;
            if (b->engines[e].active_until < next)
                next = b->engines[e].active_until;
        }
        if (active == 0)
            break;
        uint64_t step = next - b->now;
        b->any_ns += step;
        b->several_ns += active > 1 ? step : 0;
        for (uint32_t e = 0; e < b->engine_count; e++) {
            if (b->engines[e].active_until <= b->now)
                continue;
            b->engines[e].busy_ns += step;
            b->engines[e].shared_ns += active > 1 ? step : 0;
        }
        b->now = next;
    }
    b->now = until;
}

static void interval_count(struct trace_busy *b, struct trace_busy_interval i)
{
    if (i.begin < b->now) {
        b->late++;
        b->late_ns += (i.end < b->now ? i.end : b->now) - i.begin;
        i.begin = b->now;
        if (i.end <= i.begin)
            return;
    }
    sweep(b, i.begin);
    struct trace_busy_queue *queue = &b->queues[i.queue];
    struct trace_busy_engine *engine = &b->engines[queue->engine];
    uint64_t from = queue->active_until > i.begin ? queue->active_until : i.begin;
    if (i.end > from) {
        queue->busy_ns += i.end - from;
        queue->active_until = i.end;
    }
    if (i.end > engine->active_until)
        engine->active_until = i.end;
}

static struct trace_busy_interval heap_pop(struct trace_busy *b)
{
    struct trace_busy_interval *h = b->pending;
    struct trace_busy_interval top = h[0];
    struct trace_busy_interval last = h[--b->pending_count];
    uint32_t hole = 0;
    for (;;) {
        uint32_t child = 2 * hole + 1;
        if (child >= b->pending_count)
            break;
        if (child + 1 < b->pending_count && h[child + 1].begin < h[child].begin)
            child++;
        if (last.begin <= h[child].begin)
            break;
        h[hole] = h[child];
        hole = child;
    }
    h[hole] = last;
    return top;
}

void trace_busy_add(struct trace_busy *b, uint32_t queue, uint64_t begin, uint64_t end)
{
    if (queue >= b->queue_count || end <= begin)
        return;
    if (b->pending_count == TRACE_BUSY_PENDING)
        interval_count(b, heap_pop(b));
    uint32_t hole = b->pending_count++;
    while (hole > 0 && b->pending[(hole - 1) / 2].begin > begin) {
        b->pending[hole] = b->pending[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    b->pending[hole] = (struct trace_busy_interval){begin, end, queue};
}

void trace_busy_settle(struct trace_busy *b)
{
    while (b->pending_count > 0)
        interval_count(b, heap_pop(b));
    uint64_t until = b->now;
    for (uint32_t e = 0; e < b->engine_count; e++)
        if (b->engines[e].active_until > until)
            until = b->engines[e].active_until;
    sweep(b, until);
}
