/*
 * The events of a program, in an order E in which an ideal machine could execute them one by one.
 * Everything an event waits for stands before it in E, so no choice made here can lead to a
 * cycle; whether a semaphore may be signalled is decided with the events' closed sets.
 */
#include "plan.h"

#include <string.h>

struct generator {
    struct plan *plan;
    struct rng *rng;
    int sync_percent; /* a batch waits for, or signals, one more semaphore */
    int host_percent; /* an event is a host signal */
    int bind_percent;
    int bare_percent;
    int gate_percent; /* host signal then submit in program order, instead of a wait */
    int brake;        /* semaphore that host signals release late, -1: none */
    int brake_percent;
    uint64_t gap;                       /* timeline values grow by up to so much */
    int16_t tail[PLAN_QUEUES];          /* last event of each queue, -1: none */
    int16_t tail_submit[PLAN_QUEUES];   /* last that is no sparse bind */
    int16_t tail_signal[PLAN_QUEUES];   /* last that signals something */
    int16_t signaller[PLAN_SEMAPHORES]; /* binary: who signalled it; -1: it's unsignalled */
    int16_t waiter[PLAN_SEMAPHORES];    /* binary: who waited last, -1: nobody yet */
};

/* 'wholly': the other's signals come first, all of them. */
static void event_depend(struct plan_event *event, const struct plan *plan, int on, bool strong,
                         bool wholly)
{
    if (on < 0)
        return;
    const struct plan_event *other = &plan->events[on];
    plan_set_add(event->live, on);
    plan_set_join(event->live, other->live);
    if (!strong)
        return;
    plan_set_add(event->strong, on);
    plan_set_join(event->strong, other->strong);
    plan_set_join(event->done, other->done);
    if (wholly)
        plan_set_add(event->done, on);
}

static int event_signal_count(const struct plan *plan, int event)
{
    int batch = plan->events[event].batch;
    return batch < 0 ? 1 : plan->batches[batch].signal_count;
}

static uint64_t semaphore_last(const struct plan_semaphore *semaphore)
{
    return semaphore->signal_count ? semaphore->values[semaphore->signal_count - 1]
                                   : semaphore->initial;
}

static int semaphore_last_event(const struct plan_semaphore *semaphore)
{
    return semaphore->signal_count ? semaphore->signals[semaphore->signal_count - 1] : -1;
}

/* A value that place k of the semaphore's history is the first to reach. */
static uint64_t semaphore_pick_value(struct generator *g, const struct plan_semaphore *semaphore,
                                     int k)
{
    uint64_t below = k ? semaphore->values[k - 1] : semaphore->initial;
    uint64_t span = semaphore->values[k] - below;
    if (span == 1 || rng_percent(g->rng, 60))
        return semaphore->values[k];
    return below + 1 + rng_next(g->rng) % span;
}

static void semaphore_append(struct generator *g, int index, int event, uint64_t value)
{
    struct plan_semaphore *semaphore = &g->plan->semaphores[index];
    semaphore->signals[semaphore->signal_count] = (int16_t)event;
    semaphore->values[semaphore->signal_count] = value;
    semaphore->signal_count++;
}

static uint64_t semaphore_next_value(struct generator *g, int index)
{
    uint64_t last = semaphore_last(&g->plan->semaphores[index]);
    return last + 1 + (g->gap > 1 && rng_percent(g->rng, 50) ? rng_next(g->rng) % g->gap : 0);
}

static void batch_wait(struct generator *g, struct plan_batch *batch, int semaphore, uint64_t value,
                       int source)
{
    struct plan *plan = g->plan;
    struct plan_wait *wait = &batch->waits[batch->wait_count++];
    *wait = (struct plan_wait){
        .semaphore = (uint8_t)semaphore,
        .source = (int16_t)source,
        .value = value,
        .transfer_stage = batch->cb_count && rng_percent(g->rng, 30),
    };
    event_depend(&plan->events[batch->event], plan, source, true,
                 source >= 0 && event_signal_count(plan, source) == 1);
}

static void batch_add_waits(struct generator *g, struct plan_batch *batch)
{
    struct plan *plan = g->plan;
    for (int tries = 0; tries < 4 && batch->wait_count < 4; tries++) {
        int index = (int)rng_below(g->rng, (uint32_t)plan->semaphore_count);
        const struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (index == g->brake ? !rng_percent(g->rng, g->brake_percent)
                              : !rng_percent(g->rng, g->sync_percent))
            continue;
        if (!semaphore->timeline) {
            if (g->signaller[index] < 0)
                continue;
            int source = g->signaller[index];
            batch_wait(g, batch, index, 0, source);
            /* The signal, and all it depends on, must have been submitted. */
            struct plan_event *event = &plan->events[batch->event];
            plan_set_add(event->gates, source);
            plan_set_join(event->gates, plan->events[source].live);
            g->signaller[index] = -1;
            g->waiter[index] = batch->event;
        } else if (semaphore->signal_count) {
            /* Mostly one of the latest signals. */
            int back = rng_percent(g->rng, 70) ? rng_range(g->rng, 0, 2) : rng_range(g->rng, 0, 20);
            int k = semaphore->signal_count - 1 - back;
            if (k < 0)
                k = 0;
            batch_wait(g, batch, index, semaphore_pick_value(g, semaphore, k),
                       semaphore->signals[k]);
        } else if (rng_percent(g->rng, 20)) {
            uint64_t value = semaphore->initial - (semaphore->initial ? rng_below(g->rng, 2) : 0);
            batch_wait(g, batch, index, value, -1);
        }
    }
}

/* May this batch signal the semaphore? Makes it so where a wait or a call's order can. */
static bool batch_may_signal(struct generator *g, struct plan_batch *batch, int index)
{
    struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &plan->semaphores[index];
    struct plan_event *event = &plan->events[batch->event];
    if (!semaphore->timeline) {
        if (g->signaller[index] >= 0)
            return false;
        for (int i = 0; i < batch->wait_count; i++) {
            if (batch->waits[i].semaphore == index)
                return false; /* legal, but drivers disagree about it */
        }
        /* Unsignalled when the signal executes: the last wait must be over. */
        int waiter = g->waiter[index];
        if (waiter < 0)
            return true;
        if (!plan_set_has(event->strong, waiter))
            return false;
        plan_set_add(event->gates, waiter);
        return true;
    }
    if (semaphore->signal_count >= PLAN_EVENTS - 1)
        return false;
    int last = semaphore_last_event(semaphore);
    if (last < 0 || plan_set_has(event->done, last))
        return true;
    for (int i = 0; i < batch->wait_count; i++) {
        if (batch->waits[i].semaphore == index && batch->waits[i].source == last)
            return true;
    }
    if (plan->events[last].batch < 0 && rng_percent(g->rng, g->gate_percent)) {
        plan_set_add(event->gates, last);
        event_depend(event, plan, last, true, true);
        return true;
    }
    if (batch->wait_count >= PLAN_LINKS)
        return false;
    batch_wait(g, batch, index, semaphore_pick_value(g, semaphore, semaphore->signal_count - 1),
               last);
    return true;
}

static void batch_add_signals(struct generator *g, struct plan_batch *batch)
{
    struct plan *plan = g->plan;
    for (int index = 0; index < plan->semaphore_count && batch->signal_count < 4; index++) {
        struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (index == g->brake || !rng_percent(g->rng, g->sync_percent) ||
            !batch_may_signal(g, batch, index))
            continue;
        struct plan_signal *signal = &batch->signals[batch->signal_count++];
        *signal = (struct plan_signal){
            .semaphore = (uint8_t)index,
            .value = semaphore->timeline ? semaphore_next_value(g, index) : 0,
            .transfer_stage = batch->cb_count && rng_percent(g->rng, 20),
        };
    }
    for (int i = 0; i < batch->signal_count; i++) {
        int index = batch->signals[i].semaphore;
        if (plan->semaphores[index].timeline)
            semaphore_append(g, index, batch->event, batch->signals[i].value);
        else
            g->signaller[index] = batch->event;
    }
}

static struct plan_event *event_new(struct plan *plan)
{
    struct plan_event *event = &plan->events[plan->event_count++];
    *event = (struct plan_event){.batch = -1, .op = -1, .previous = -1};
    return event;
}

static void batch_generate(struct generator *g)
{
    struct plan *plan = g->plan;
    int q = (int)rng_below(g->rng, (uint32_t)plan->queue_count);
    if (rng_percent(g->rng, 30)) /* some queues are busier than others */
        q = (int)rng_below(g->rng, (uint32_t)(q + 1));
    struct plan_queue *queue = &plan->queues[q];
    struct plan_event *event = event_new(plan);
    int e = plan->event_count - 1;
    event->batch = (int16_t)plan->batch_count;
    struct plan_batch *batch = &plan->batches[plan->batch_count++];
    *batch = (struct plan_batch){.event = (int16_t)e, .queue = (int16_t)q, .op = -1};
    batch->bind = queue->sparse && rng_percent(g->rng, queue->commands ? g->bind_percent : 60);

    batch->first_cb = (int16_t)plan->cb_count;
    if (!batch->bind && queue->commands) {
        int dice = (int)rng_below(g->rng, 100);
        batch->cb_count = dice < 12 ? 0 : dice < 75 ? 1 : dice < 90 ? 2 : PLAN_CBS_PER_BATCH;
        batch->bare = batch->cb_count && rng_percent(g->rng, g->bare_percent);
    }
    for (int i = 0; i < batch->cb_count; i++) {
        plan->cbs[plan->cb_count++] = (struct plan_cb){
            .batch = event->batch,
            .previous = -1,
            .barrier2 = rng_percent(g->rng, 40),
            .update = rng_percent(g->rng, 30),
        };
    }

    /* A signal comes after all earlier commands and signals of its queue; that of a sparse bind
     * only after earlier signals. In practice a bind stands in its queue like everything else. */
    event_depend(event, plan, g->tail[q], false, false);
    if (!batch->bind)
        event_depend(event, plan, g->tail_submit[q], true, true);
    event_depend(event, plan, g->tail_signal[q], true, true);

    batch_add_waits(g, batch);
    batch_add_signals(g, batch);
    g->tail[q] = (int16_t)e;
    if (!batch->bind)
        g->tail_submit[q] = (int16_t)e;
    if (batch->signal_count)
        g->tail_signal[q] = (int16_t)e;
    queue->events[queue->event_count++] = (int16_t)e;
}

/* vkSignalSemaphore; order.c puts a host wait for the previous signal before it. */
static void host_signal_generate(struct generator *g, int index)
{
    struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &plan->semaphores[index];
    if (!semaphore->timeline)
        return;
    struct plan_event *event = event_new(plan);
    int e = plan->event_count - 1;
    event->semaphore = (uint8_t)index;
    event->value = semaphore_next_value(g, index);
    event->previous = (int16_t)semaphore_last_event(semaphore);
    event_depend(event, plan, event->previous, true,
                 event->previous >= 0 && event_signal_count(plan, event->previous) == 1);
    semaphore_append(g, index, e, event->value);
}

/* A signal of S0 (by a batch, or now and then by the host), and a batch on another queue that waits
 * for it; order.c turns them round and lets two threads make both calls at once. */
static void race_generate(struct generator *g)
{
    struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &plan->semaphores[0];
    if (plan->event_count > PLAN_SUBMITS - 2)
        return;
    if (rng_percent(g->rng, 30)) {
        host_signal_generate(g, 0);
    } else {
        batch_generate(g);
        struct plan_batch *batch = &plan->batches[plan->batch_count - 1];
        if (batch->signal_count < PLAN_LINKS && batch_may_signal(g, batch, 0)) {
            batch->signals[batch->signal_count++] =
                (struct plan_signal){.value = semaphore_next_value(g, 0)};
            semaphore_append(g, 0, batch->event, batch->signals[batch->signal_count - 1].value);
            g->tail_signal[batch->queue] = batch->event;
        }
    }
    int signaller = plan->event_count - 1;
    int queue =
        plan->events[signaller].batch < 0 ? -1 : plan->batches[plan->events[signaller].batch].queue;
    batch_generate(g);
    struct plan_batch *batch = &plan->batches[plan->batch_count - 1];
    if (batch->queue != queue && semaphore->signal_count)
        batch_wait(g, batch, 0, semaphore_last(semaphore), semaphore_last_event(semaphore));
}

static void cast_generate(struct generator *g, const struct machine *machine,
                          const struct plan_limits *limits, int wanted)
{
    struct plan *plan = g->plan;
    struct rng *rng = g->rng;
    int most = machine->queue_count < PLAN_QUEUES ? machine->queue_count : PLAN_QUEUES;
    if (most > limits->queues)
        most = limits->queues;
    plan->queue_count = rng_range(rng, 1, most);
    if (plan->shape == SHAPE_CHAIN || plan->shape == SHAPE_BURST) {
        int again = rng_range(rng, 1, most);
        if (again > plan->queue_count)
            plan->queue_count = again;
    }
    if (plan->shape == SHAPE_BURST && wanted > 100 && most > 2)
        plan->queue_count = 2 + rng_percent(rng, 50); /* deep queues */
    bool taken[PLAN_MACHINE_QUEUES] = {0};
    for (int i = 0; i < plan->queue_count; i++) {
        int m = (int)rng_below(rng, (uint32_t)machine->queue_count);
        while (taken[m])
            m = (m + 1) % machine->queue_count;
        taken[m] = true;
        plan->queues[i].machine_queue = m;
        plan->queues[i].commands = machine->queues[m].commands;
        plan->queues[i].sparse = machine->queues[m].sparse;
        plan->queues[i].event_count = 0;
    }

    plan->thread_count = rng_range(rng, 1, limits->threads);
    if (plan->shape == SHAPE_BURST)
        plan->thread_count = limits->threads;
    if (plan->shape == SHAPE_RACE)
        plan->thread_count = limits->threads < 2 ? 1 : 2; /* that can really run at once */

    plan->semaphore_count = rng_range(rng, 1, PLAN_SEMAPHORES);
    int exportable_percent = rng_percent(rng, 15) ? 50 : 0;
    int binary_percent = plan->shape == SHAPE_BINARY ? 60 : rng_percent(rng, 40) ? 25 : 0;
    for (int i = 0; i < plan->semaphore_count; i++) {
        struct plan_semaphore *semaphore = &plan->semaphores[i];
        semaphore->timeline = i == 0 || !rng_percent(rng, binary_percent);
        semaphore->exportable = semaphore->timeline && rng_percent(rng, exportable_percent);
        semaphore->signal_count = 0;
        /* Places where 32 bits, or a sign, would show. */
        static const uint64_t odd[] = {1,
                                       7,
                                       UINT32_MAX - 2,
                                       (UINT64_C(1) << 32) + 5,
                                       UINT64_C(1) << 62,
                                       (UINT64_C(1) << 63) - 3};
        semaphore->initial =
            rng_percent(rng, 75) ? 0 : odd[rng_below(rng, sizeof(odd) / sizeof(odd[0]))];
        if (!semaphore->timeline)
            semaphore->initial = 0;
    }
}

static int events_wanted(struct rng *rng, enum plan_shape shape)
{
    int dice = (int)rng_below(rng, 100);
    if (shape == SHAPE_BURST)
        return dice < 70 ? rng_range(rng, 8, 40) : rng_range(rng, 100, PLAN_SUBMITS);
    if (shape == SHAPE_RACE)
        return rng_range(rng, 5, PLAN_SUBMITS / 2);
    if (dice < 60)
        return rng_range(rng, 1, 10);
    if (dice < 86)
        return rng_range(rng, 8, 30);
    if (dice < 97)
        return rng_range(rng, 30, 80);
    return rng_range(rng, 80, PLAN_SUBMITS);
}

void plan_generate(struct plan *plan, uint64_t seed, const struct machine *machine,
                   const struct plan_limits *limits, struct rng *rng)
{
    plan->seed = seed;
    plan->event_count = plan->batch_count = plan->cb_count = 0;
    int dice = (int)rng_below(rng, 100);
    plan->shape = limits->shape != SHAPE_ANY ? limits->shape
                  : dice < 40                ? SHAPE_MIXED
                  : dice < 55                ? SHAPE_CHAIN
                  : dice < 70                ? SHAPE_BRAKE
                  : dice < 80                ? SHAPE_BURST
                  : dice < 87                ? SHAPE_FENCE
                  : dice < 94                ? SHAPE_BINARY
                                             : SHAPE_RACE;
    plan->poll_first = rng_percent(rng, 50);
    plan->pause = plan->shape != SHAPE_RACE && rng_percent(rng, 50);
    plan->slow = plan->shape != SHAPE_RACE && rng_percent(rng, 20);

    struct generator g = {
        .plan = plan,
        .rng = rng,
        .sync_percent = rng_range(rng, 15, 50),
        .host_percent = rng_percent(rng, 50) ? rng_range(rng, 2, 20) : 0,
        .bind_percent = rng_percent(rng, 30) ? 25 : 4,
        .bare_percent = rng_percent(rng, 50) ? rng_range(rng, 10, 80) : 0,
        .gate_percent = rng_range(rng, 0, 60),
        .brake = -1,
        .gap = rng_percent(rng, 60)   ? 1
               : rng_percent(rng, 90) ? 8
                                      : 1u << 20,
    };
    memset(g.tail, 0xff, sizeof(g.tail));
    memset(g.tail_submit, 0xff, sizeof(g.tail_submit));
    memset(g.tail_signal, 0xff, sizeof(g.tail_signal));
    memset(g.signaller, 0xff, sizeof(g.signaller));
    memset(g.waiter, 0xff, sizeof(g.waiter));
    int wanted = events_wanted(rng, plan->shape);
    if (wanted > limits->submits)
        wanted = limits->submits;
    cast_generate(&g, machine, limits, wanted);
    if (plan->shape == SHAPE_BURST && wanted > 100)
        plan->slow = rng_percent(rng, 70);
    switch (plan->shape) {
    case SHAPE_CHAIN:
        g.sync_percent = rng_range(rng, 40, 80);
        break;
    case SHAPE_BURST:
        g.sync_percent = rng_percent(rng, 60) ? 0 : 15;
        g.host_percent = 0;
        break;
    case SHAPE_RACE:
        g.sync_percent = 0;
        g.host_percent = 0;
        g.bind_percent = 4;
        break;
    case SHAPE_BRAKE:
        g.brake = 0;
        g.brake_percent = rng_range(rng, 10, 60);
        host_signal_generate(&g, 0);
        break;
    case SHAPE_BINARY:
        g.sync_percent = rng_range(rng, 40, 75);
        break;
    default:
        break;
    }

    for (int i = 0; i < wanted; i++) {
        if (plan->shape == SHAPE_RACE) {
            race_generate(&g);
            continue;
        }
        int percent = g.brake >= 0 && rng_percent(rng, 10) ? 100 : g.host_percent;
        if (plan->event_count < PLAN_EVENTS - 1 && rng_percent(rng, percent))
            host_signal_generate(&g, percent == 100
                                         ? g.brake
                                         : (int)rng_below(rng, (uint32_t)plan->semaphore_count));
        else
            batch_generate(&g);
    }
    if (!plan->batch_count)
        batch_generate(&g);
}
