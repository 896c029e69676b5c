#include "fence/gate.h"

#include <stdlib.h>

#include "fence/ledger.h"
#include "fence/shared.h"
#include "fence/shared_carrier.h"
#include "fence/sleeper.h"
#include "queue/packet.h"

static struct bf_carriers *carriers_of(const struct bf_gate *gate)
{
    return gate->fence->shared->carriers;
}

static bool is_open(const struct bf_gate *gate)
{
    return gate->released ||
           bf_area_is_applied(&carriers_of(gate)->area, gate->carrier, gate->point);
}

void bf_gate_add(struct bf_ledger *ledger, struct bf_gate *gate, uint32_t engine, uint64_t epoch)
{
    struct bf_ledger_engine *e = &ledger->engines[engine];
    struct bf_carriers *carriers = carriers_of(gate);
    gate->engine = engine;
    gate->epoch = epoch;
    gate->next = NULL;
    if (e->gates)
        e->last_gate->next = gate;
    else
        e->gates = gate;
    e->last_gate = gate;
    gate->next_of_fence = carriers->gates;
    carriers->gates = gate;
    atomic_fetch_add(&ledger->gates, 1);
}

static void take_off(struct bf_ledger *ledger, struct bf_gate *gate)
{
    struct bf_ledger_engine *e = &ledger->engines[gate->engine];
    struct bf_carriers *carriers = carriers_of(gate);
    struct bf_gate **link = &e->gates, *before = NULL;
    while (*link != gate) {
        before = *link;
        link = &before->next;
    }
    *link = gate->next;
    if (e->last_gate == gate)
        e->last_gate = before;
    link = &carriers->gates;
    while (*link != gate)
        link = &(*link)->next_of_fence;
    *link = gate->next_of_fence;
    if (gate->shut && --carriers->shut_gates == 0)
        bf_area_gate(&carriers->area, &gate->fence->shared->view, false);
    gate->shut = false;
    atomic_fetch_sub(&ledger->gates, 1);
}

void bf_gate_withdraw(struct bf_ledger *ledger, struct bf_gate *gate)
{
    take_off(ledger, gate);
}

void bf_gate_free(struct bf_gate *gate)
{
    if (gate && gate->fence)
        bf_fence_release(gate->fence);
    free(gate);
}

static void drop(struct bf_ledger *ledger, struct bf_gate *gate)
{
    take_off(ledger, gate);
    if (gate->packet)
        gate->packet->gate = NULL; /* it was quicker than its driver call */
    bf_gate_free(gate);
}

uint64_t bf_gates_limit(const struct bf_ledger_engine *engine, uint64_t epoch)
{
    const struct bf_gate *gate = engine->gates;
    return gate && gate->epoch <= epoch ? gate->epoch - 1 : epoch;
}

bool bf_gates_are_shut(const struct bf_ledger_engine *engine)
{
    return engine->gates && engine->gates->epoch <= engine->seen;
}

/* SH-21. */
static void shut(struct bf_gate *gate)
{
    struct bf_carriers *carriers = carriers_of(gate);
    if (gate->shut)
        return;
    gate->shut = true;
    if (carriers->shut_gates++ == 0)
        bf_area_gate(&carriers->area, &gate->fence->shared->view, true);
}

bool bf_gates_open(struct bf_ledger *ledger)
{
    bool any = false;
    for (uint32_t i = 0; i < ledger->engine_count && atomic_load(&ledger->gates); i++) {
        struct bf_ledger_engine *e = &ledger->engines[i];
        bool opened = false;
        while (bf_gates_are_shut(e)) {
            if (!is_open(e->gates))
                shut(e->gates);
            if (!is_open(e->gates))
                break;
            drop(ledger, e->gates);
            opened = true;
        }
        if (opened)
            bf_sleeper_kick_locked(e->sleeper);
        any = any || opened;
    }
    return any;
}

void bf_gates_reached(struct bf_fence *fence, uint64_t value)
{
    struct bf_carriers *carriers = fence->shared ? fence->shared->carriers : NULL;
    struct bf_gate *gate = carriers ? carriers->gates : NULL;
    for (; gate; gate = gate->next_of_fence)
        gate->satisfied = gate->satisfied || gate->value <= value;
}

void bf_gates_drop(struct bf_ledger *ledger)
{
    for (uint32_t i = 0; ledger->engines && i < ledger->engine_count; i++) {
        while (ledger->engines[i].gates)
            drop(ledger, ledger->engines[i].gates);
    }
}
