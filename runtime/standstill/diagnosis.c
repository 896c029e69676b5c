/* SPDX-License-Identifier: MIT */
/* The causes of a standstill, found in a graph. */
#include "standstill/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "standstill/trial.h"

struct search {
    const struct bf_graph *graph;
    uint64_t least_ns;
    /* Of each queue: the least value that a signal would bring and that suffices. */
    uint64_t *least;
    /* queue_count × queue_count: does one wait for the other, over any number of steps? */
    bool *reach;
    struct bf_case *cases;
    size_t room, count;
};

static bool search_reaches(const struct search *s, uint32_t from, uint32_t to)
{
    return s->reach[(size_t)from * s->graph->queue_count + to];
}

/* Is it the signal that satisfies the queue's wait, or one of them? A timeline's values only grow:
 * whatever brings it further than it need be comes behind what brings it there. */
static bool signal_serves(const struct search *s, const struct bf_graph_signal *signal,
                          uint32_t queue)
{
    const struct bf_graph_queue *q = &s->graph->queues[queue];
    if (q->state != BF_GRAPH_HELD || signal->object != q->object)
        return false;
    switch (s->graph->objects[q->object].kind) {
    case BF_GRAPH_FENCE:
        return signal->value >= q->value;
    case BF_GRAPH_TIMELINE:
        return signal->value == s->least[queue];
    default:
        return signal->value <= q->value; /* each that is still missing */
    }
}

static void search_find_least(struct search *s)
{
    for (uint32_t i = 0; i < s->graph->queue_count; i++) {
        const struct bf_graph_queue *q = &s->graph->queues[i];
        s->least[i] = UINT64_MAX;
        for (uint32_t k = 0; k < s->graph->signal_count; k++) {
            const struct bf_graph_signal *signal = &s->graph->signals[k];
            if (q->state == BF_GRAPH_HELD && signal->object == q->object &&
                signal->value >= q->value && signal->value < s->least[i])
                s->least[i] = signal->value;
        }
    }
}

/* Marks whatever 'from' waits for, over 'at'. */
static void search_walk(struct search *s, uint32_t from, uint32_t at, uint32_t *stack)
{
    const struct bf_graph *graph = s->graph;
    uint32_t depth = 0;
    stack[depth++] = at;
    while (depth) {
        at = stack[--depth];
        for (uint32_t i = 0; i < graph->signal_count; i++) {
            const struct bf_graph_signal *signal = &graph->signals[i];
            bool *mark = &s->reach[(size_t)from * graph->queue_count + signal->queue];
            if (*mark || !signal_serves(s, signal, at))
                continue;
            *mark = true;
            stack[depth++] = signal->queue;
        }
    }
}

static uint64_t key_add(uint64_t key, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        key = (key ^ ((value >> (8 * i)) & 0xFF)) * UINT64_C(0x100000001B3);
    return key;
}

static uint64_t key_add_queue(const struct bf_graph *graph, uint64_t key, uint32_t queue)
{
    const struct bf_graph_queue *q = &graph->queues[queue];
    key = key_add(key_add(key, (uintptr_t)q->key), q->packet);
    return q->state == BF_GRAPH_HELD
               ? key_add(key_add(key, (uintptr_t)graph->objects[q->object].key), q->value)
               : key;
}

static struct bf_case *search_add(struct search *s, enum bf_case_kind kind, uint64_t age_ns)
{
    if (s->count == s->room || age_ns < s->least_ns)
        return NULL;
    struct bf_case *found = &s->cases[s->count++];
    *found = (struct bf_case){
        .kind = kind,
        .key = key_add(UINT64_C(0xCBF29CE484222325), kind),
        .age_ns = age_ns,
        .engine = BF_GRAPH_NONE,
        .queue = BF_GRAPH_NONE,
    };
    return found;
}

/* Queues that are no part of it and wait for one that is. */
static uint32_t search_count_behind(const struct search *s, uint32_t cause)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->graph->queue_count; i++)
        count += i != cause && search_reaches(s, i, cause) && !search_reaches(s, cause, i);
    return count;
}

/* A case that is one queue's. */
static struct bf_case *search_add_queue(struct search *s, enum bf_case_kind kind, uint32_t queue,
                                        uint64_t age_ns)
{
    struct bf_case *found = search_add(s, kind, age_ns);
    if (found) {
        found->queue = queue;
        found->key = key_add_queue(s->graph, found->key, queue);
        found->behind = search_count_behind(s, queue);
    }
    return found;
}

/* The signal of 'to' that 'from' waits for: the earliest. */
static uint32_t signal_between(const struct search *s, uint32_t from, uint32_t to)
{
    const struct bf_graph *graph = s->graph;
    uint32_t best = BF_GRAPH_NONE;
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const struct bf_graph_signal *signal = &graph->signals[i];
        if (signal->queue == to && signal_serves(s, signal, from) &&
            (best == BF_GRAPH_NONE || signal->packet < graph->signals[best].packet))
            best = i;
    }
    return best;
}

/* From 'first' along what each waits for, until it comes back to a queue that it has met. */
static void search_add_circle(struct search *s, uint32_t first, uint32_t *path, bool *met)
{
    const struct bf_graph *graph = s->graph;
    uint32_t length = 0, at = first;
    memset(met, 0, graph->queue_count * sizeof(*met));
    while (!met[at]) {
        met[at] = true;
        path[length++] = at;
        uint32_t next = BF_GRAPH_NONE;
        for (uint32_t to = 0; to < graph->queue_count && next == BF_GRAPH_NONE; to++) {
            if (signal_between(s, at, to) != BF_GRAPH_NONE)
                next = to;
        }
        at = next;
    }
    uint32_t begin = 0;
    while (path[begin] != at)
        begin++;
    uint64_t age_ns = UINT64_MAX;
    for (uint32_t i = begin; i < length; i++)
        age_ns = graph->queues[path[i]].age_ns < age_ns ? graph->queues[path[i]].age_ns : age_ns;
    struct bf_case *found = search_add(s, BF_CASE_CIRCLE, age_ns);
    if (!found)
        return;
    for (uint32_t i = begin; i < length; i++) {
        found->key = key_add_queue(graph, found->key, path[i]);
        if (found->member_count == BF_CASE_MEMBERS) {
            found->more_members++;
            continue;
        }
        found->members[found->member_count].queue = path[i];
        found->members[found->member_count++].signal =
            signal_between(s, path[i], i + 1 < length ? path[i + 1] : path[begin]);
    }
    bf_trial_of_circle(graph, found);
    found->key = key_add(found->key, found->certain);
    found->behind = search_count_behind(s, first);
}

/* Circles from which nothing leads out, and waits for what nobody has submitted. */
static void search_waits(struct search *s, uint32_t *path, bool *met)
{
    const struct bf_graph *graph = s->graph;
    for (uint32_t i = 0; i < graph->queue_count; i++) {
        const struct bf_graph_queue *queue = &graph->queues[i];
        bool ends = true, served = false, first = true;
        if (queue->state != BF_GRAPH_HELD)
            continue;
        for (uint32_t k = 0; k < graph->queue_count; k++) {
            if (!search_reaches(s, i, k))
                continue;
            served = true;
            ends = ends && search_reaches(s, k, i); /* and comes back */
            first = first && k >= i;
        }
        if (served && ends && first)
            search_add_circle(s, i, path, met);
        if (!served && queue->still_ns >= s->least_ns)
            search_add_queue(s, queue->on_gpu ? BF_CASE_OUTSIDE : BF_CASE_MISSING, i,
                             queue->age_ns);
    }
}

/* Is it a submission that waits for another one, of another engine? What a submission waits for was
 * accepted before it. */
static bool engine_may_wait_for_another(const struct bf_graph *graph, uint32_t engine)
{
    const struct bf_graph_engine *e = &graph->engines[engine];
    for (uint32_t i = 0; i < graph->engine_count && e->waits; i++) {
        const struct bf_graph_engine *other = &graph->engines[i];
        if (i != engine && other->busy && (other->order < e->order || other->order == UINT64_MAX))
            return true;
    }
    return false;
}

/* The GPU's work, and what queues hold. */
static bool graph_has_work(const struct bf_graph *graph)
{
    for (uint32_t i = 0; i < graph->engine_count; i++) {
        if (graph->engines[i].busy)
            return true;
    }
    for (uint32_t i = 0; i < graph->queue_count; i++) {
        if (graph->queues[i].state != BF_GRAPH_EMPTY)
            return true;
    }
    return false;
}

static void search_engines(struct search *s)
{
    const struct bf_graph *graph = s->graph;
    for (uint32_t i = 0; i < graph->engine_count; i++) {
        const struct bf_graph_engine *e = &graph->engines[i];
        if (!e->busy || (e->outside[0] && e->listed) || engine_may_wait_for_another(graph, i))
            continue;
        struct bf_case *found = search_add(s, BF_CASE_BUSY, e->busy_ns);
        if (found) {
            found->engine = i;
            found->key = key_add(key_add(found->key, i), e->order);
        }
    }
}

/* Since when nothing but the call itself has kept it. A call that waits for the GPU lasts as long
 * as the GPU's work, and what comes of that. */
static uint64_t call_stands_ns(const struct bf_graph *graph, const struct bf_graph_call *call)
{
    const bool device = call->engine + 1 == graph->engine_count;
    const struct bf_graph_engine *e = &graph->engines[call->engine];
    uint64_t idle_ns = device ? graph->idle_ns : e->idle_ns;
    uint64_t stands_ns = call->still_ns < call->ns ? call->still_ns : call->ns;
    if (!call->waits || call->missing)
        return stands_ns;
    if (device ? graph_has_work(graph) : e->busy)
        return 0;
    return idle_ns < stands_ns ? idle_ns : stands_ns;
}

static void search_calls(struct search *s)
{
    const struct bf_graph *graph = s->graph;
    for (uint32_t i = 0; i < graph->call_count; i++) {
        const struct bf_graph_call *call = &graph->calls[i];
        uint64_t stands_ns = call_stands_ns(graph, call);
        if (stands_ns < s->least_ns || stands_ns == 0 || (call->young && s->least_ns))
            continue;
        struct bf_case *found = search_add(s, BF_CASE_CALL, call->ns);
        if (found)
            found->call = i;
    }
}

static bool engine_has_call(const struct bf_graph *graph, uint32_t engine)
{
    for (uint32_t i = 0; i < graph->call_count; i++) {
        if (graph->calls[i].engine == engine)
            return true;
    }
    return false;
}

/* Packets that could go, on an engine that a program has kept, and is in no call. The engine's lock
 * alone says nothing: Belfry itself takes it, now and then and for a moment. */
static void search_taken(struct search *s)
{
    const struct bf_graph *graph = s->graph;
    for (uint32_t i = 0; i < graph->queue_count; i++) {
        const struct bf_graph_queue *queue = &graph->queues[i];
        const struct bf_graph_engine *e = &graph->engines[queue->engine];
        if (queue->state != BF_GRAPH_GOING || queue->windowed || queue->suspended ||
            engine_has_call(graph, queue->engine) || !e->taken_ns)
            continue;
        uint64_t age_ns = queue->age_ns < e->taken_ns ? queue->age_ns : e->taken_ns;
        struct bf_case *found = search_add_queue(s, BF_CASE_TAKEN, i, age_ns);
        if (found)
            found->engine = queue->engine;
    }
}

/* Alone, a suspended queue stands as it is meant to. */
static void search_suspended(struct search *s)
{
    const struct bf_graph *graph = s->graph;
    for (uint32_t i = 0; i < graph->queue_count; i++) {
        const struct bf_graph_queue *queue = &graph->queues[i];
        if (queue->state == BF_GRAPH_GOING && queue->suspended && search_count_behind(s, i))
            search_add_queue(s, BF_CASE_SUSPENDED, i, queue->age_ns);
    }
}

size_t bf_diagnose(const struct bf_graph *graph, uint64_t least_ns, struct bf_case *cases,
                   size_t room)
{
    size_t n = graph->queue_count ? graph->queue_count : 1;
    struct search s = {
        .graph = graph,
        .least_ns = least_ns,
        .reach = calloc(n * n, sizeof(bool)),
        .least = calloc(n, sizeof(uint64_t)),
        .cases = cases,
        .room = room,
    };
    uint32_t *path = malloc((n + 1) * sizeof(*path));
    bool *met = malloc(n * sizeof(*met));
    if (s.reach && s.least && path && met) {
        search_find_least(&s);
        for (uint32_t i = 0; i < graph->queue_count; i++)
            search_walk(&s, i, i, path);
        search_waits(&s, path, met);
        search_engines(&s);
        search_calls(&s);
        search_taken(&s);
        search_suspended(&s);
    }
    free(s.reach);
    free(s.least);
    free(path);
    free(met);
    return s.count;
}
