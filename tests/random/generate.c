/* SPDX-License-Identifier: MIT */
/* The events of a program, in an order E in which an ideal machine could execute them one by one.
 * Everything an event waits for stands before it in E, so no choice made here can lead to a
 * cycle; whether a semaphore may be signalled is decided with the events' closed sets. */
#include "generate.h"

void event_depend(struct plan_event *event, const struct plan *plan, int on, bool strong,
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

void semaphore_append(struct generator *g, int index, int event, int place, uint64_t value)
{
    struct plan_semaphore *semaphore = &g->plan->semaphores[index];
    /* Every signal of an imported fence is larger than all that are under way. */
    if (semaphore->face == FACE_IMPORTED && semaphore->signal_count &&
        semaphore_last_event(semaphore) != event)
        plan_set_add(g->plan->events[event].gates, semaphore_last_event(semaphore));
    semaphore->signals[semaphore->signal_count] = (int16_t)event;
    semaphore->places[semaphore->signal_count] = (int8_t)place;
    semaphore->values[semaphore->signal_count] = value;
    semaphore->signal_count++;
}

static uint64_t semaphore_next_value(struct generator *g, int index)
{
    uint64_t last = semaphore_last(&g->plan->semaphores[index]);
    return last + 1 + (g->gap > 1 && rng_percent(g->rng, 50) ? rng_next(g->rng) % g->gap : 0);
}

void batch_wait(struct generator *g, struct plan_batch *batch, int semaphore, uint64_t value,
                int source, int place)
{
    struct plan *plan = g->plan;
    struct plan_wait *wait = &batch->waits[batch->wait_count++];
    *wait = (struct plan_wait){
        .semaphore = (uint8_t)semaphore,
        .source = (int16_t)source,
        .place = (int16_t)place,
        .arm = -1,
        .value = value,
        .transfer_stage =
            batch->cb_count && !plan->queues[batch->queue].bf && rng_percent(g->rng, 30),
    };
    event_depend(&plan->events[batch->event], plan, source, !plan->semaphores[semaphore].wild,
                 source >= 0 && event_signal_count(plan, source) == 1);
}

static void batch_add_waits(struct generator *g, struct plan_batch *batch)
{
    struct plan *plan = g->plan;
    if (plan->queues[batch->queue].waitless)
        return;
    for (int tries = 0; tries < 4 && batch->wait_count < 4; tries++) {
        int index = (int)rng_below(g->rng, (uint32_t)plan->semaphore_count);
        const struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (index == g->brake ? !rng_percent(g->rng, g->brake_percent)
                              : !rng_percent(g->rng, g->sync_percent))
            continue;
        if (!plan_may_wait(&plan->queues[batch->queue], semaphore))
            continue;
        if (semaphore->wild) {
            wild_wait(g, batch, index);
        } else if (!semaphore->timeline) {
            if (g->signaller[index] < 0)
                continue;
            int source = g->signaller[index];
            batch_wait(g, batch, index, 0, source, -1);
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
                       semaphore->signals[k], k);
        } else if (rng_percent(g->rng, 20)) {
            uint64_t value = semaphore->initial - (semaphore->initial ? rng_below(g->rng, 2) : 0);
            batch_wait(g, batch, index, value, -1, -1);
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
        for (int i = 0; i < batch->wait_count; i++)
            if (batch->waits[i].semaphore == index)
                return false; /* legal, but drivers disagree about it */
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
    for (int i = 0; i < batch->wait_count; i++)
        if (batch->waits[i].semaphore == index && batch->waits[i].source == last)
            return true;
    if (plan->events[last].batch < 0 && rng_percent(g->rng, g->gate_percent)) {
        plan_set_add(event->gates, last);
        event_depend(event, plan, last, true, true);
        return true;
    }
    if (batch->wait_count >= PLAN_LINKS || plan->queues[batch->queue].waitless)
        return false;
    batch_wait(g, batch, index, semaphore_pick_value(g, semaphore, semaphore->signal_count - 1),
               last, semaphore->signal_count - 1);
    return true;
}

static void batch_add_signals(struct generator *g, struct plan_batch *batch)
{
    struct plan *plan = g->plan;
    for (int index = 0; index < plan->semaphore_count && batch->signal_count < 4; index++) {
        struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (index == g->brake || !rng_percent(g->rng, g->sync_percent) ||
            !plan_may_signal(&plan->queues[batch->queue], semaphore))
            continue;
        if (semaphore->wild) {
            wild_signal(g, batch, index, wild_value(g, index));
            continue;
        }
        if (!batch_may_signal(g, batch, index))
            continue;
        struct plan_signal *signal = &batch->signals[batch->signal_count++];
        *signal = (struct plan_signal){
            .semaphore = (uint8_t)index,
            .value = semaphore->timeline ? semaphore_next_value(g, index) : 0,
            .transfer_stage =
                batch->cb_count && !plan->queues[batch->queue].bf && rng_percent(g->rng, 20),
        };
        if (semaphore->timeline)
            semaphore_append(g, index, batch->event, batch->signal_count - 1, signal->value);
        else
            g->signaller[index] = batch->event;
    }
}

struct plan_event *event_new(struct plan *plan, enum plan_event_kind kind)
{
    struct plan_event *event = &plan->events[plan->event_count++];
    *event = (struct plan_event){.kind = kind,
                                 .batch = -1,
                                 .op = -1,
                                 .queue = -1,
                                 .registration = -1,
                                 .previous = -1,
                                 .witness = -1};
    return event;
}

static int queue_choose(struct generator *g)
{
    const struct plan *plan = g->plan;
    int q = (int)rng_below(g->rng, (uint32_t)plan->queue_count);
    if (rng_percent(g->rng, 30)) /* some queues are busier than others */
        q = (int)rng_below(g->rng, (uint32_t)(q + 1));
    for (int i = 0; i < plan->queue_count && g->armed[q]; i++)
        q = (q + 1) % plan->queue_count;
    return g->armed[q] ? -1 : q;
}

static void cbs_generate(struct generator *g, struct plan_batch *batch)
{
    struct plan *plan = g->plan;
    bool bf = plan->queues[batch->queue].bf;
    batch->split = bf && rng_percent(g->rng, 40);
    for (int i = 0; i < batch->cb_count; i++) {
        plan->cbs[plan->cb_count++] =
            (struct plan_cb){.batch = plan->events[batch->event].batch,
                             .previous = -1,
                             .lead = !batch->bare && !(bf && (batch->split || !i)),
                             .barrier2 = rng_percent(g->rng, 40),
                             .update = rng_percent(g->rng, 30)};
    }
}

struct plan_batch *batch_generate(struct generator *g, int q)
{
    struct plan *plan = g->plan;
    if (q < 0)
        q = queue_choose(g);
    if (q < 0 || plan->batch_count == PLAN_BATCHES || plan->event_count == PLAN_EVENTS)
        return NULL;
    struct plan_queue *queue = &plan->queues[q];
    struct plan_event *event = event_new(plan, EVENT_BATCH);
    int e = plan->event_count - 1;
    event->queue = (int16_t)q;
    event->batch = (int16_t)plan->batch_count;
    struct plan_batch *batch = &plan->batches[plan->batch_count++];
    *batch = (struct plan_batch){.event = (int16_t)e, .queue = (int16_t)q, .op = -1};
    batch->bind = queue->sparse && rng_percent(g->rng, queue->commands ? g->bind_percent : 60);

    batch->first_cb = (int16_t)plan->cb_count;
    if (!batch->bind && queue->commands) {
        int dice = (int)rng_below(g->rng, 100);
        batch->cb_count = dice < 12 ? 0 : dice < 75 ? 1 : dice < 90 ? 2 : PLAN_CBS_PER_BATCH;
        batch->bare = batch->cb_count && !queue->bf && rng_percent(g->rng, g->bare_percent);
    }
    cbs_generate(g, batch);

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
    return batch;
}

/* vkSignalSemaphore; order.c puts a host wait for the previous signal before it. */
static void host_signal_generate(struct generator *g, int index)
{
    struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &plan->semaphores[index];
    if (!semaphore->timeline || semaphore->signal_count >= PLAN_EVENTS - 1)
        return;
    if (semaphore->wild) {
        wild_host_signal(g, index, wild_value(g, index));
        return;
    }
    struct plan_event *event = event_new(plan, EVENT_SIGNAL);
    int e = plan->event_count - 1;
    event->semaphore = (uint8_t)index;
    event->value = semaphore_next_value(g, index);
    event->previous = (int16_t)semaphore_last_event(semaphore);
    event_depend(event, plan, event->previous, true,
                 event->previous >= 0 && event_signal_count(plan, event->previous) == 1);
    semaphore_append(g, index, e, 0, event->value);
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
        struct plan_batch *batch = batch_generate(g, -1);
        if (batch->signal_count < PLAN_LINKS && batch_may_signal(g, batch, 0)) {
            batch->signals[batch->signal_count++] =
                (struct plan_signal){.value = semaphore_next_value(g, 0)};
            semaphore_append(g, 0, batch->event, batch->signal_count - 1,
                             batch->signals[batch->signal_count - 1].value);
            g->tail_signal[batch->queue] = batch->event;
        }
    }
    int signaller = plan->event_count - 1;
    int queue =
        plan->events[signaller].batch < 0 ? -1 : plan->batches[plan->events[signaller].batch].queue;
    struct plan_batch *batch = batch_generate(g, -1);
    if (batch->queue != queue && semaphore->signal_count && !plan->queues[batch->queue].waitless)
        batch_wait(g, batch, 0, semaphore_last(semaphore), semaphore_last_event(semaphore),
                   semaphore->signal_count - 1);
}

/* Now and then a BfCommandQueue is one that is there already. */
static void twin_choose(struct generator *g, int index, int first_bf)
{
    struct plan_queue *queue = &g->plan->queues[index];
    if (index == first_bf || !rng_percent(g->rng, g->twin_percent))
        return;
    int other = rng_range(g->rng, first_bf, index - 1);
    if (g->plan->queues[other].twin >= 0)
        other = g->plan->queues[other].twin;
    g->plan->queues[other].waitless = queue->waitless = true;
    queue->type = g->plan->queues[other].type;
    queue->twin = (int8_t)other;
    queue->dynamic = false;
}

static void queues_generate(struct generator *g, const struct plan_limits *limits, int wanted)
{
    struct plan *plan = g->plan;
    struct rng *rng = g->rng;
    const struct machine *machine = g->machine;
    int most = limits->queues < PLAN_QUEUES ? limits->queues : PLAN_QUEUES;
    /* BfCommandQueues have no limit; VkQueues are those of the machine. */
    bool bf = machine->bf && (plan->shape == SHAPE_PULSE || rng_percent(rng, 75));
    int most_vk = machine->queue_count < most ? machine->queue_count : most;
    int most_now = bf ? most : most_vk;
    plan->queue_count = rng_range(rng, 1, most_now);
    if (plan->shape == SHAPE_CHAIN || plan->shape == SHAPE_BURST || plan->shape == SHAPE_PULSE) {
        int again = rng_range(rng, 1, most_now);
        if (again > plan->queue_count)
            plan->queue_count = again;
    }
    if (plan->shape == SHAPE_BURST && wanted > 100 && most_now > 2)
        plan->queue_count = 2 + rng_percent(rng, 50); /* deep queues */
    int vk = !bf ? plan->queue_count : rng_percent(rng, 40) ? 0 : rng_range(rng, 0, most_vk);
    bool taken[PLAN_MACHINE_QUEUES] = {0};
    for (int i = 0; i < plan->queue_count; i++) {
        struct plan_queue *queue = &plan->queues[i];
        queue->bf = i >= vk;
        queue->event_count = 0;
        queue->dynamic = queue->high = queue->waitless = false;
        queue->twin = -1;
        if (queue->bf) {
            do
                queue->type = (int8_t)rng_below(rng, PLAN_TYPES);
            while (!machine->types[queue->type]);
            queue->machine_queue = -1;
            queue->commands = true;
            queue->sparse = false;
            queue->dynamic = rng_percent(rng, 40);
            queue->high = rng_percent(rng, 30);
            twin_choose(g, i, vk);
            continue;
        }
        int m = (int)rng_below(rng, (uint32_t)machine->queue_count);
        while (taken[m])
            m = (m + 1) % machine->queue_count;
        taken[m] = true;
        queue->machine_queue = m;
        queue->commands = machine->queues[m].commands;
        queue->sparse = machine->queues[m].sparse && !machine->attached;
    }
}

static void face_choose(struct generator *g, int index)
{
    const struct plan *plan = g->plan;
    struct plan_semaphore *semaphore = &g->plan->semaphores[index];
    bool vk = !plan->queues[0].bf, bf = plan->queues[plan->queue_count - 1].bf;
    int dice = (int)rng_below(g->rng, 100);
    semaphore->face = FACE_SEMAPHORE;
    semaphore->wild = false;
    semaphore->destroyed = -1;
    if (!bf) {
        semaphore->face = g->machine->attached ? FACE_IMPORTED : FACE_SEMAPHORE;
        return;
    }
    if (vk && index == 0) {
        semaphore->face = plan->shape == SHAPE_LATE && !g->machine->attached
                              ? FACE_SEMAPHORE
                              : FACE_IMPORTED; /* every queue may use it */
        return;
    }
    if (index && rng_percent(g->rng, plan->shape == SHAPE_PULSE ? 60 : 25)) {
        semaphore->wild = true;
        semaphore->face = rng_percent(g->rng, 20) ? FACE_EXPORTED : FACE_FENCE;
        return;
    }
    if (vk && dice < 20 && !g->machine->attached)
        return;
    semaphore->face = dice < 45 ? FACE_IMPORTED : dice < 60 ? FACE_EXPORTED : FACE_FENCE;
}

static void cast_generate(struct generator *g, const struct plan_limits *limits, int wanted)
{
    struct plan *plan = g->plan;
    struct rng *rng = g->rng;
    queues_generate(g, limits, wanted);

    plan->thread_count = rng_range(rng, 1, limits->threads);
    if (plan->shape == SHAPE_BURST)
        plan->thread_count = limits->threads;
    if (plan->shape == SHAPE_RACE)
        plan->thread_count = limits->threads < 2 ? 1 : 2; /* that can really run at once */

    plan->semaphore_count = rng_range(rng, 1, PLAN_SEMAPHORES);
    if (plan->shape == SHAPE_PULSE && plan->semaphore_count < 3)
        plan->semaphore_count = 3;
    int exportable_percent = rng_percent(rng, 15) ? 50 : 0;
    int binary_percent = plan->shape == SHAPE_BINARY ? 60 : rng_percent(rng, 40) ? 25 : 0;
    for (int i = 0; i < plan->semaphore_count; i++) {
        struct plan_semaphore *semaphore = &plan->semaphores[i];
        face_choose(g, i);
        semaphore->timeline =
            i == 0 || semaphore->face != FACE_SEMAPHORE || !rng_percent(rng, binary_percent);
        semaphore->exportable =
            semaphore->timeline && plan_is_vk(semaphore) && rng_percent(rng, exportable_percent);
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
        if (!semaphore->timeline || (semaphore->wild && plan_is_vk(semaphore)))
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
    if (shape == SHAPE_PULSE)
        return rng_range(rng, 3, dice < 80 ? 20 : 60);
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
    plan->lags = machine->lags;
    plan->event_count = plan->batch_count = plan->cb_count = 0;
    plan->bell_count = plan->registration_count = 0;
    int dice = (int)rng_below(rng, machine->bf ? 120 : 100);
    plan->shape = limits->shape != SHAPE_ANY ? limits->shape
                  : dice >= 100              ? SHAPE_PULSE
                  : dice < 40                ? SHAPE_MIXED
                  : dice < 55                ? SHAPE_CHAIN
                  : dice < 70                ? SHAPE_BRAKE
                  : dice < 80                ? SHAPE_BURST
                  : dice < 87                ? SHAPE_FENCE
                  : dice < 94                ? SHAPE_BINARY
                  : dice < 97                ? SHAPE_RACE
                                             : SHAPE_LATE;
    if (!machine->bf && plan->shape == SHAPE_PULSE)
        plan->shape = SHAPE_MIXED;
    plan->poll_first = rng_percent(rng, 50);
    plan->pause = plan->shape != SHAPE_RACE && rng_percent(rng, 50);
    plan->slow = plan->shape != SHAPE_RACE && rng_percent(rng, 20);

    struct generator g = {
        .plan = plan,
        .rng = rng,
        .machine = machine,
        .sync_percent = rng_range(rng, 15, 50),
        .host_percent = rng_percent(rng, 50) ? rng_range(rng, 2, 20) : 0,
        .bind_percent = rng_percent(rng, 30) ? 25 : 4,
        .bare_percent = rng_percent(rng, 50) ? rng_range(rng, 10, 80) : 0,
        .gate_percent = rng_range(rng, 0, 60),
        .twin_percent = rng_percent(rng, 30) ? rng_range(rng, 10, 60) : 0,
        .pulse_percent = rng_range(rng, 2, 15),
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
    cast_generate(&g, limits, wanted);
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
    case SHAPE_LATE:
        g.host_percent = 0;
        g.pulse_percent = 0;
        /* fall through */
    case SHAPE_BRAKE:
        g.brake = 0;
        g.brake_percent = rng_range(rng, 10, 60);
        host_signal_generate(&g, 0);
        break;
    case SHAPE_BINARY:
        g.sync_percent = rng_range(rng, 40, 75);
        break;
    case SHAPE_PULSE:
        g.pulse_percent = rng_range(rng, 30, 80);
        break;
    default:
        break;
    }

    for (int i = 0; i < wanted; i++) {
        if (plan->shape == SHAPE_RACE) {
            race_generate(&g);
            continue;
        }
        if (machine->bf && plan->shape != SHAPE_RACE && rng_percent(rng, g.pulse_percent))
            pulse_generate(&g);
        int percent = g.brake >= 0 && rng_percent(rng, 10) ? 100 : g.host_percent;
        if (plan->event_count < PLAN_EVENTS - 1 && rng_percent(rng, percent))
            host_signal_generate(&g, percent == 100
                                         ? g.brake
                                         : (int)rng_below(rng, (uint32_t)plan->semaphore_count));
        else
            batch_generate(&g, -1);
        if (plan->batch_count >= limits->submits)
            break;
    }
    if (!plan->batch_count)
        batch_generate(&g, -1);
}
