/* SPDX-License-Identifier: MIT */
/* A run of the queues on paper: with some waits granted, which packets could go, one after the
 * other? */
#include "standstill/trial.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    const struct bf_graph *graph;
    uint32_t *gone; /* packets that each queue is rid of */
    bool host;      /* the host signals whatever it may */
    bool outside;   /* so does everybody outside */
    bool *granted;  /* of each wait: the host signals it, where it may */
};

/* May the host signal the object to the value? All signals of packets that haven't gone are on
 * their way; those of the rest have been made. */
static bool host_may(const struct trial *t, const struct bf_graph_signal *wait)
{
    enum bf_graph_kind kind = t->graph->objects[wait->object].kind;
    bool may = kind == BF_GRAPH_FENCE || kind == BF_GRAPH_TIMELINE;
    for (uint32_t i = 0; i < t->graph->signal_count && kind == BF_GRAPH_TIMELINE; i++) {
        const struct bf_graph_signal *signal = &t->graph->signals[i];
        may = may && (signal->object != wait->object || signal->value > wait->value ||
                      signal->place < t->gone[signal->queue]);
    }
    return may;
}

static bool trial_satisfies(const struct trial *t, const struct bf_graph_signal *wait)
{
    const struct bf_graph *graph = t->graph;
    const struct bf_graph_object *object = &graph->objects[wait->object];
    bool counted = object->kind == BF_GRAPH_BINARY || object->kind == BF_GRAPH_BINARY_USED;
    bool satisfied = counted, any = false;
    if ((t->host && host_may(t, wait)) || (t->outside && object->outside))
        return true;
    for (uint32_t i = 0; i < graph->wait_count; i++) {
        if (t->granted[i] && graph->waits[i].object == wait->object &&
            graph->waits[i].value >= wait->value && host_may(t, &graph->waits[i]))
            return true;
    }
    for (uint32_t i = 0; i < graph->signal_count; i++) {
        const struct bf_graph_signal *signal = &graph->signals[i];
        bool made = signal->place < t->gone[signal->queue];
        if (signal->object != wait->object)
            continue;
        if (counted && signal->value <= wait->value) {
            satisfied = satisfied && made;
            any = true;
        } else if (!counted && signal->value >= wait->value) {
            satisfied = satisfied || made;
        }
    }
    return satisfied && (!counted || any);
}

/* Do all signals come that the circle's members wait for? */
static bool trial_ends(struct trial *t, const struct bf_case *circle)
{
    const struct bf_graph *graph = t->graph;
    memset(t->gone, 0, graph->queue_count * sizeof(*t->gone));
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t q = 0; q < graph->queue_count; q++) {
            bool goes = t->gone[q] < graph->queues[q].packets;
            for (uint32_t i = 0; i < graph->wait_count && goes; i++) {
                const struct bf_graph_signal *wait = &graph->waits[i];
                goes = wait->queue != q || wait->place != t->gone[q] || trial_satisfies(t, wait);
            }
            t->gone[q] += goes;
            moved = moved || goes;
        }
    }
    bool all = true;
    for (uint32_t i = 0; i < circle->member_count; i++) {
        const struct bf_graph_signal *signal = &graph->signals[circle->members[i].signal];
        all = all && signal->place < t->gone[signal->queue];
    }
    return all;
}

/* Leaves out of the granted waits what can be left out: first of packets that aren't their queues'
 * first ones, since something comes before these. */
static void trial_shorten(struct trial *t, const struct bf_case *circle)
{
    const struct bf_graph *graph = t->graph;
    for (int first = 0; first < 2; first++) {
        for (uint32_t i = graph->wait_count; i-- > 0;) {
            if (!t->granted[i] || (graph->waits[i].place == 0) != (first == 1))
                continue;
            t->granted[i] = false;
            t->granted[i] = !trial_ends(t, circle);
        }
    }
}

/* Finds what the host is to signal: one signal that is enough, else several of which each is
 * needed. Whatever it may signal, together, is enough. */
static void trial_find_unless(struct trial *t, struct bf_case *circle)
{
    const struct bf_graph *graph = t->graph;
    const uint32_t count = graph->wait_count;
    bool one = false;
    for (uint32_t i = 0; i < count && !one; i++) {
        memset(t->granted, 0, count * sizeof(*t->granted));
        t->granted[i] = true;
        one = graph->waits[i].place == 0 && trial_ends(t, circle);
    }
    if (!one)
        memset(t->granted, true, count * sizeof(*t->granted));
    if (!one && count <= BF_CASE_SHORTENED)
        trial_shorten(t, circle);
    circle->does_more = !one && count > BF_CASE_SHORTENED;
    memset(t->gone, 0, graph->queue_count * sizeof(*t->gone));
    for (uint32_t i = 0; i < count; i++) {
        if (!t->granted[i] ||
            (circle->does_more && (graph->waits[i].place > 0 || !host_may(t, &graph->waits[i]))))
            continue;
        if (circle->unless_count < BF_CASE_UNLESS)
            circle->unless[circle->unless_count++] = i;
        else
            circle->does_more = true;
    }
}

void bf_trial_of_circle(const struct bf_graph *graph, struct bf_case *circle)
{
    struct trial t = {.graph = graph};
    if (graph->wait_count > BF_CASE_TRIED || graph->signal_count > BF_CASE_TRIED)
        return;
    t.gone = calloc(graph->queue_count, sizeof(*t.gone));
    t.granted = calloc(graph->wait_count, sizeof(*t.granted));
    if (t.gone && t.granted) {
        t.host = t.outside = true;
        circle->certain = !trial_ends(&t, circle);
        t.outside = false;
        bool by_host = !circle->certain && trial_ends(&t, circle);
        circle->outside = !circle->certain && !by_host;
        t.host = false;
        if (by_host)
            trial_find_unless(&t, circle);
    }
    free(t.gone);
    free(t.granted);
}
