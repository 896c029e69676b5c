/* SPDX-License-Identifier: MIT */
/* A run of the queues on paper: with some waits granted, which packets could go, one after the
 * other? */
#include "standstill/trial.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    const struct bf_graph *graph;
    uint32_t *gone;   /* packets that each queue is rid of */
    bool host;        /* the host signals whatever it may */
    bool outside;     /* so does everybody outside */
    uint32_t granted; /* a wait that the host satisfies, or NONE */
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
    if (t->granted != BF_GRAPH_NONE && graph->waits[t->granted].object == wait->object &&
        graph->waits[t->granted].value >= wait->value)
        return true;
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

void bf_trial_of_circle(const struct bf_graph *graph, struct bf_case *circle)
{
    struct trial t = {.graph = graph, .granted = BF_GRAPH_NONE};
    if (graph->wait_count > BF_CASE_TRIED || graph->signal_count > BF_CASE_TRIED)
        return;
    t.gone = calloc(graph->queue_count, sizeof(*t.gone));
    if (!t.gone)
        return;
    t.host = t.outside = true;
    circle->certain = !trial_ends(&t, circle);
    t.outside = false;
    bool by_host = !circle->certain && trial_ends(&t, circle);
    circle->outside = !circle->certain && !by_host;
    t.host = false;
    /* One signal that is enough, else one that is needed. */
    for (uint32_t i = 0; i < graph->wait_count && by_host && !circle->alone; i++) {
        memset(t.gone, 0, graph->queue_count * sizeof(*t.gone));
        if (graph->waits[i].place > 0 || !host_may(&t, &graph->waits[i]))
            continue;
        t.granted = i;
        circle->alone = trial_ends(&t, circle);
        if (circle->alone || circle->unless == BF_GRAPH_NONE)
            circle->unless = i;
    }
    free(t.gone);
}
