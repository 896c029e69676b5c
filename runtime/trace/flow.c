/* SPDX-License-Identifier: MIT */
/* Remembers signals, so that a wait finds the arrow that leads to it. */
#include "trace/flow.h"

#include <stdlib.h>

#include "base/map.h"

/* The search for the signal of a wait ends after so many: a wait that is further behind was
 * satisfied long ago. */
#define STEPS_MAX 256

struct bf_flow *bf_flow_create(uint64_t first_flow)
{
    struct bf_flow *flow = calloc(1, sizeof(*flow));
    if (flow)
        flow->next_flow = first_flow;
    return flow;
}

void bf_flow_destroy(struct bf_flow *flow)
{
    free(flow);
}

struct bf_flow_packet *bf_flow_packet_add(struct bf_flow *flow, uint64_t id)
{
    struct bf_flow_packet *packet = &flow->packets[id % BF_FLOW_PACKETS];
    *packet = (struct bf_flow_packet){.id = id};
    return packet;
}

struct bf_flow_packet *bf_flow_packet_find(struct bf_flow *flow, uint64_t id)
{
    struct bf_flow_packet *packet = &flow->packets[id % BF_FLOW_PACKETS];
    return id && packet->id == id ? packet : NULL;
}

struct bf_flow_op *bf_flow_op_add(struct bf_flow *flow, uint64_t id)
{
    struct bf_flow_op *op = &flow->ops[id % BF_FLOW_OPS];
    *op = (struct bf_flow_op){.id = id};
    return op;
}

const struct bf_flow_op *bf_flow_op_find(const struct bf_flow *flow, uint64_t id)
{
    const struct bf_flow_op *op = &flow->ops[id % BF_FLOW_OPS];
    return id && op->id == id ? op : NULL;
}

static uint64_t *bucket_of(struct bf_flow *flow, uint64_t semaphore)
{
    return &flow->buckets[bf_map_hash(semaphore) % (BF_FLOW_SIGNALS / 4)];
}

/* Entries stay in their chains: an entry that the ring has overwritten is older than the ring is
 * long, and so are all that follow it. */
static struct bf_flow_signal *entry_at(struct bf_flow *flow, uint64_t position_plus)
{
    if (position_plus == 0 || position_plus + BF_FLOW_SIGNALS <= flow->signal_end)
        return NULL;
    return &flow->signals[(position_plus - 1) % BF_FLOW_SIGNALS];
}

struct bf_flow_signal *bf_flow_signal_add(struct bf_flow *flow, struct bf_trace_sync sync)
{
    uint64_t *bucket = bucket_of(flow, sync.semaphore);
    struct bf_flow_signal *signal = &flow->signals[flow->signal_end++ % BF_FLOW_SIGNALS];
    *signal = (struct bf_flow_signal){.sync = sync, .older_plus = *bucket};
    *bucket = flow->signal_end;
    return signal;
}

struct bf_flow_signal *bf_flow_signal_find(struct bf_flow *flow, struct bf_trace_sync wait)
{
    struct bf_flow_signal *best = NULL;
    uint64_t at = *bucket_of(flow, wait.semaphore);
    for (int step = 0; step < STEPS_MAX; step++) {
        struct bf_flow_signal *s = entry_at(flow, at);
        if (!s)
            break;
        at = s->older_plus;
        if (s->sync.semaphore != wait.semaphore)
            continue;
        if (s->sync.value < wait.value || (best && s->sync.value >= best->sync.value))
            break;
        best = s;
    }
    return best;
}

void bf_flow_forget(struct bf_flow *flow, uint64_t semaphore)
{
    uint64_t at = *bucket_of(flow, semaphore);
    for (struct bf_flow_signal *s; (s = entry_at(flow, at)) != NULL; at = s->older_plus)
        if (s->sync.semaphore == semaphore)
            s->sync.semaphore = 0;
}
