/* SPDX-License-Identifier: MIT */
/* Wild fences: any value, from anybody, at any time. What is certain of a wait for one of them is
 * made so here, by the order of calls alone. */
#include "generate.h"

static bool wild_usable(const struct generator *g, int index)
{
    const struct plan_semaphore *semaphore = &g->plan->semaphores[index];
    return semaphore->wild && semaphore->destroyed < 0 && semaphore->signal_count < PLAN_EVENTS - 8;
}

static bool wild_waitable(const struct generator *g, int index)
{
    return wild_usable(g, index) && g->wild_count[index] < PLAN_WILD_WAITS;
}

static void wild_remember(struct generator *g, int index, int event, uint64_t value)
{
    g->wild[index][g->wild_count[index]++] = (struct wild_wait){(int16_t)event, value};
}

uint64_t wild_value(struct generator *g, int index)
{
    static const uint64_t odd[] = {0,
                                   0,
                                   1,
                                   1,
                                   2,
                                   3,
                                   5,
                                   9,
                                   UINT32_MAX,
                                   UINT64_C(1) << 32,
                                   (UINT64_C(1) << 63) - 1,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
    const struct plan_semaphore *semaphore = &g->plan->semaphores[index];
    uint64_t last = semaphore->signal_count ? semaphore->values[semaphore->signal_count - 1]
                                            : semaphore->initial;
    int dice = (int)rng_below(g->rng, 100);
    if (dice < 15)
        return last; /* again */
    if (dice < 25 && last)
        return last - 1;
    if (plan_is_vk(semaphore)) /* a semaphore follows: no leaps that a device may not take */
        return rng_below(g->rng, 40);
    return odd[rng_below(g->rng, sizeof(odd) / sizeof(odd[0]))];
}

/* From 1 to 'value', or 0. */
static uint64_t value_below(struct generator *g, uint64_t value)
{
    if (value < 2 || rng_percent(g->rng, 40))
        return value;
    return 1 + rng_next(g->rng) % value;
}

/* Waits that the new value doesn't satisfy must have been armed before. */
static void wild_gate(struct generator *g, int event, int index, uint64_t value)
{
    for (int i = 0; i < g->wild_count[index]; i++) {
        const struct wild_wait *wait = &g->wild[index][i];
        if (wait->value > value && wait->event != event)
            plan_set_add(g->plan->events[event].gates, wait->event);
    }
}

void wild_wait(struct generator *g, struct plan_batch *batch, int index)
{
    const struct plan *plan = g->plan;
    const struct plan_semaphore *semaphore = &plan->semaphores[index];
    if (!wild_waitable(g, index) || !semaphore->signal_count)
        return;
    if (!plan->queues[batch->queue].bf) {
        /* Of what follows a fence, every value stays true. */
        int k = (int)rng_below(g->rng, (uint32_t)semaphore->signal_count);
        batch_wait(g, batch, index, value_below(g, semaphore->values[k]), semaphore->signals[k], k);
        return;
    }
    int k = semaphore->signal_count - 1;
    uint64_t value = value_below(g, semaphore->values[k]);
    for (int s = 0; s < k; s++)
        if (semaphore->values[s] < value && semaphore->signals[s] != semaphore->signals[k] &&
            !plan_set_has(plan->events[semaphore->signals[k]].done, semaphore->signals[s]))
            return; /* it may take the value back before the wait is armed */
    batch_wait(g, batch, index, value, semaphore->signals[k], k);
    wild_remember(g, index, batch->event, value);
}

void wild_signal(struct generator *g, struct plan_batch *batch, int index, uint64_t value)
{
    if (!wild_usable(g, index) || batch->signal_count == PLAN_LINKS)
        return;
    wild_gate(g, batch->event, index, value);
    batch->signals[batch->signal_count++] =
        (struct plan_signal){.semaphore = (uint8_t)index, .value = value};
    semaphore_append(g, index, batch->event, batch->signal_count - 1, value);
    g->tail_signal[batch->queue] = batch->event; /* also of one that is in E already */
}

void wild_host_signal(struct generator *g, int index, uint64_t value)
{
    struct plan *plan = g->plan;
    if (!wild_usable(g, index) || plan->event_count == PLAN_EVENTS)
        return;
    struct plan_event *event = event_new(plan, EVENT_SIGNAL);
    event->semaphore = (uint8_t)index;
    event->value = value;
    wild_gate(g, plan->event_count - 1, index, value);
    semaphore_append(g, index, plan->event_count - 1, 0, value);
}

/* Pulses ------------------------------------------------------------------------------------ */

struct pulse {
    int index;
    uint64_t peak;
    int source, place; /* what satisfies the waits */
    int arm_count;
    int16_t arms[PLAN_QUEUES + 4];
    int queue_count, queues[PLAN_QUEUES];
};

/* A new event, or one that stays set and is registered with more than one fence. */
static int bell_choose(struct generator *g)
{
    struct plan *plan = g->plan;
    int start = (int)rng_below(g->rng, PLAN_BELLS);
    for (int i = 0; i < plan->bell_count && rng_percent(g->rng, 30); i++) {
        int b = (start + i) % plan->bell_count;
        if (plan->bells[b].manual && plan->bells[b].registration_count < 3)
            return b;
    }
    if (plan->bell_count == PLAN_BELLS)
        return -1;
    plan->bells[plan->bell_count] =
        (struct plan_bell){.manual = rng_percent(g->rng, 70), .take_op = -1, .destroy_op = -1};
    return plan->bell_count++;
}

static void arm_registration(struct generator *g, struct pulse *pulse, struct plan_event *event,
                             uint64_t value)
{
    struct plan *plan = g->plan;
    int bell = bell_choose(g);
    if (bell < 0)
        return;
    struct plan_registration *r = &plan->registrations[plan->registration_count];
    *r = (struct plan_registration){.op = -1,
                                    .bell = (int16_t)bell,
                                    .event = (int16_t)(event - plan->events),
                                    .item_count = 1,
                                    .items = {{(int16_t)pulse->index, value}},
                                    .designated = 0};
    for (int s = 0; s < plan->semaphore_count && r->item_count < PLAN_ITEMS; s++) {
        const struct plan_semaphore *other = &plan->semaphores[s];
        if (s == pulse->index || !plan_is_bf(other) || other->destroyed >= 0 ||
            !rng_percent(g->rng, 15))
            continue;
        r->any = true;
        r->items[r->item_count++] =
            (struct plan_item){(int16_t)s, other->initial + rng_range(g->rng, 1, 4)};
    }
    event->registration = (int16_t)plan->registration_count++;
    plan->bells[bell].registration_count++;
}

/* Now and then the wait is armed when the host knows, by an imported semaphore and so without
 * Belfry, that something is over: values that were given before it don't count any more. */
static void witness_choose(struct generator *g, struct plan_event *event)
{
    const struct plan *plan = g->plan;
    int s = (int)rng_below(g->rng, (uint32_t)plan->semaphore_count);
    const struct plan_semaphore *semaphore = &plan->semaphores[s];
    if (semaphore->face != FACE_IMPORTED || !semaphore->signal_count || !rng_percent(g->rng, 40))
        return;
    event->witness = (int8_t)s;
    event->previous = semaphore->signals[semaphore->signal_count - 1];
    event_depend(event, plan, event->previous, true, false);
}

static void pulse_arm(struct generator *g, struct pulse *pulse, int queue)
{
    struct plan *plan = g->plan;
    if (!wild_waitable(g, pulse->index) || plan->event_count > PLAN_EVENTS - 24 ||
        pulse->arm_count == PLAN_QUEUES + 4)
        return;
    if (queue < 0 &&
        (plan->registration_count == PLAN_REGISTRATIONS || plan->bell_count == PLAN_BELLS))
        return;
    struct plan_event *event = event_new(plan, EVENT_ARM);
    int e = plan->event_count - 1;
    event->semaphore = (uint8_t)pulse->index;
    event->value = value_below(g, pulse->peak);
    event->queue = (int16_t)queue;
    witness_choose(g, event);
    if (queue < 0) {
        arm_registration(g, pulse, event, event->value);
    } else {
        plan->queues[queue].events[plan->queues[queue].event_count++] = (int16_t)e;
        g->armed[queue] = true;
        pulse->queues[pulse->queue_count++] = queue;
    }
    pulse->arms[pulse->arm_count++] = (int16_t)e;
    wild_remember(g, pulse->index, e, event->value);
}

static void pulse_gate(struct generator *g, const struct pulse *pulse, int event)
{
    for (int i = 0; i < pulse->arm_count; i++)
        plan_set_add(g->plan->events[event].gates, pulse->arms[i]);
}

/* A BfCommandQueue on which no wait is armed; -1: none. */
static int queue_free(struct generator *g)
{
    const struct plan *plan = g->plan;
    int start = (int)rng_below(g->rng, (uint32_t)plan->queue_count);
    for (int i = 0; i < plan->queue_count; i++) {
        int q = (start + i) % plan->queue_count;
        if (plan->queues[q].bf && !g->armed[q])
            return q;
    }
    return -1;
}

static void pulse_found(struct generator *g, struct pulse *pulse)
{
    const struct plan_semaphore *semaphore = &g->plan->semaphores[pulse->index];
    pulse->place = semaphore->signal_count - 1;
    pulse->source = semaphore->signals[pulse->place];
    pulse_gate(g, pulse, pulse->source);
    for (int i = 0; i < pulse->arm_count; i++) {
        int registration = g->plan->events[pulse->arms[i]].registration;
        if (registration >= 0)
            g->plan->registrations[registration].place = (int16_t)pulse->place;
    }
}

/* The fence goes, whoever uses it: every call that does comes before. */
static void pulse_destroy(struct generator *g, struct pulse *pulse)
{
    struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &plan->semaphores[pulse->index];
    struct plan_event *event = event_new(plan, EVENT_DESTROY);
    int self = plan->event_count - 1;
    event->semaphore = (uint8_t)pulse->index;
    event->value = UINT64_MAX;
    for (int e = 0; e < self; e++) {
        const struct plan_event *other = &plan->events[e];
        bool uses = other->kind != EVENT_BATCH && other->semaphore == pulse->index;
        for (int i = 0;
             other->registration >= 0 && i < plan->registrations[other->registration].item_count;
             i++)
            uses |= plan->registrations[other->registration].items[i].index == pulse->index;
        if (other->kind == EVENT_BATCH) {
            const struct plan_batch *batch = &plan->batches[other->batch];
            for (int w = 0; w < batch->wait_count; w++)
                uses |= batch->waits[w].semaphore == pulse->index;
            for (int s = 0; s < batch->signal_count; s++)
                uses |= batch->signals[s].semaphore == pulse->index;
        }
        if (uses)
            plan_set_add(event->gates, e);
    }
    semaphore_append(g, pulse->index, self, 0, UINT64_MAX);
    pulse_found(g, pulse);
    semaphore->destroyed = (int16_t)self;
}

static void pulse_give(struct generator *g, struct pulse *pulse)
{
    struct plan *plan = g->plan;
    const struct plan_semaphore *semaphore = &plan->semaphores[pulse->index];
    int dice = (int)rng_below(g->rng, 100);
    if (dice < 12 && semaphore->face == FACE_FENCE) {
        pulse_destroy(g, pulse);
        return;
    }
    int queue = dice < 75 ? queue_free(g) : -1;
    struct plan_batch *batch = queue < 0 ? NULL : batch_generate(g, queue);
    if (batch)
        wild_signal(g, batch, pulse->index, pulse->peak);
    else
        wild_host_signal(g, pulse->index, pulse->peak);
    pulse_found(g, pulse);
    /* And back, by the same queue at once, by another one, by the host, or not at all. */
    uint64_t low = rng_percent(g->rng, 50) ? 0 : rng_next(g->rng) % pulse->peak;
    dice = (int)rng_below(g->rng, 100);
    if (dice < 40 && batch) {
        wild_signal(g, batch, pulse->index, low);
    } else if (dice < 60) {
        queue = queue_free(g);
        batch = queue < 0 ? NULL : batch_generate(g, queue);
        if (batch)
            wild_signal(g, batch, pulse->index, low);
    } else if (dice < 85) {
        wild_host_signal(g, pulse->index, low);
    }
}

void pulse_generate(struct generator *g)
{
    struct plan *plan = g->plan;
    struct pulse pulse = {.index = -1};
    int start = (int)rng_below(g->rng, (uint32_t)plan->semaphore_count);
    for (int i = 0; i < plan->semaphore_count && pulse.index < 0; i++)
        if (wild_waitable(g, (start + i) % plan->semaphore_count))
            pulse.index = (start + i) % plan->semaphore_count;
    if (pulse.index < 0 || plan->event_count > PLAN_EVENTS - 60 ||
        plan->batch_count > PLAN_BATCHES - 40)
        return;
    do
        pulse.peak = wild_value(g, pulse.index);
    while (!pulse.peak);
    int arm_percent = rng_range(g->rng, 20, 80);
    for (int q = 0; q < plan->queue_count; q++)
        if (plan->queues[q].bf && !plan->queues[q].waitless && rng_percent(g->rng, arm_percent))
            pulse_arm(g, &pulse, q);
    for (int i = 0; i < 3; i++)
        if (rng_percent(g->rng, arm_percent))
            pulse_arm(g, &pulse, -1);
    for (int i = rng_range(g->rng, 0, 2); i > 0; i--)
        batch_generate(g, -1);
    pulse_give(g, &pulse);
    /* What the waits held back. */
    for (int i = 0; i < pulse.queue_count; i++) {
        int q = pulse.queues[i];
        struct plan_batch *batch = batch_generate(g, q);
        g->armed[q] = false;
        if (!batch)
            continue;
        const struct plan_queue *queue = &plan->queues[q];
        int arm = queue->events[queue->event_count - 2];
        batch_wait(g, batch, pulse.index, plan->events[arm].value, pulse.source, pulse.place);
        batch->waits[batch->wait_count - 1].arm = (int16_t)arm;
    }
}
