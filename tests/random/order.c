/* SPDX-License-Identifier: MIT */
/* The order I in which a program makes its calls, and the threads that make them.
 *
 * An event may be issued once the events before it on its queue are, and those that its gates
 * name. What a blocking host call waits for must be finishable by events already issued: then, by
 * induction over I, every call returns and every event finishes, however the threads interleave.
 *
 * Objects that Vulkan wants synchronised by the caller (queues, fences) pass from thread to thread
 * by 'after': a call is made when so many calls of the other threads have returned. */
#include "order.h"

/* Calls ------------------------------------------------------------------------------------- */

void op_after(struct order *o, struct plan_op *op, int other)
{
    if (other < 0)
        return;
    const struct plan_op *before = &o->plan->ops[other];
    if (before->thread != op->thread && op->after[before->thread] < before->sequence + 1)
        op->after[before->thread] = (int16_t)(before->sequence + 1);
}

struct plan_op *op_new(struct order *o, enum plan_op_kind kind, int thread)
{
    struct plan *plan = o->plan;
    struct plan_op *op = &plan->ops[plan->op_count];
    *op = (struct plan_op){.kind = kind,
                           .thread = (int8_t)thread,
                           .api = 1,
                           .sequence = (int16_t)plan->thread_op_count[thread],
                           .queue = -1,
                           .use = -1,
                           .event = -1,
                           .settle = -1,
                           .registration = -1,
                           .designated = -1};
    plan->thread_ops[thread][plan->thread_op_count[thread]++] = (int16_t)plan->op_count;
    plan->op_count++;
    op_after(o, op, o->settle_op);
    return op;
}

int op_index(const struct order *o, const struct plan_op *op)
{
    return (int)(op - o->plan->ops);
}

int thread_any(struct order *o)
{
    return (int)rng_below(o->rng, (uint32_t)o->plan->thread_count);
}

/* Whose turn it is on a queue; now and then another thread takes it over. */
int queue_thread(struct order *o, int queue)
{
    if (rng_percent(o->rng, o->handover_percent))
        o->owner[queue] = thread_any(o);
    return o->owner[queue];
}

void queue_touch(struct order *o, struct plan_op *op, int queue)
{
    op_after(o, op, o->queue_last_op[queue]);
    o->queue_last_op[queue] = op_index(o, op);
}

void semaphore_touch(struct order *o, struct plan_op *op, int index)
{
    o->touched[index][op->thread] = op_index(o, op);
}

/* A call that needs the fence for itself, or (shared) one that only looks at it. */
static void fence_touch(struct order *o, struct plan_op *op, int fence, bool shared)
{
    struct fence_state *state = &o->fences[fence];
    op_after(o, op, state->owner_op);
    for (int t = 0; t < PLAN_THREADS && !shared; t++)
        op_after(o, op, state->last_op[t]);
    if (!shared)
        state->owner_op = op_index(o, op);
    state->last_op[op->thread] = op_index(o, op);
}

/* What can finish --------------------------------------------------------------------------- */

bool event_finishes(const struct order *o, int event)
{
    return event < 0 || (plan_set_has(o->issued, event) &&
                         plan_set_within(o->plan->events[event].live, o->issued));
}

/* The newest event issued on a queue, -1: none. */
static int queue_issued_tail(const struct order *o, int queue)
{
    int n = o->queue_next[queue];
    return n ? o->plan->queues[queue].events[n - 1] : -1;
}

bool queue_finishes(const struct order *o, int queue)
{
    int tail = queue_issued_tail(o, queue);
    if (tail >= 0 && o->plan->events[tail].kind == EVENT_ARM)
        return false; /* its signal may still come to be gated by what would wait for it */
    return event_finishes(o, queue_issued_tail(o, queue));
}

static bool use_finishes(const struct order *o, int use)
{
    int last = o->plan->uses[use].last_batch;
    return last < 0 || event_finishes(o, o->plan->batches[last].event);
}

/* How many of a semaphore's signals can happen with what has been issued. */
int semaphore_finishing(const struct order *o, int index)
{
    const struct plan_semaphore *semaphore = &o->plan->semaphores[index];
    int n = 0;
    while (n < semaphore->signal_count && event_finishes(o, semaphore->signals[n]))
        n++;
    return n;
}

/* Host calls of all kinds ------------------------------------------------------------------- */

uint64_t semaphore_value_between(struct order *o, const struct plan_semaphore *semaphore, int k)
{
    uint64_t below = k ? semaphore->values[k - 1] : semaphore->initial;
    if (semaphore->wild)
        return rng_percent(o->rng, 50) ? below : rng_below(o->rng, 8);
    if (k >= semaphore->signal_count) /* never reached */
        return below + 1 + rng_below(o->rng, 3);
    uint64_t span = semaphore->values[k] - below;
    return rng_percent(o->rng, 60) ? semaphore->values[k] : below + 1 + rng_next(o->rng) % span;
}

static uint64_t semaphore_value_finishing(struct order *o, int index)
{
    const struct plan_semaphore *semaphore = &o->plan->semaphores[index];
    int n = semaphore_finishing(o, index);
    if (!n)
        return semaphore->initial;
    int k = rng_percent(o->rng, 60) ? n - 1 : (int)rng_below(o->rng, (uint32_t)n);
    return semaphore_value_between(o, semaphore, k);
}

enum plan_timeout timeout_sure(struct order *o)
{
    return rng_percent(o->rng, 25) ? TIMEOUT_LONG : TIMEOUT_INFINITE;
}

enum plan_timeout timeout_unsure(struct order *o)
{
    return rng_percent(o->rng, 85) ? TIMEOUT_NONE : TIMEOUT_SHORT;
}

/* A number of different semaphores with values, those that the call's API knows. */
static int semaphores_choose(struct order *o, struct plan_op *op, bool sure)
{
    const struct plan *plan = o->plan;
    int wanted = rng_percent(o->rng, 60) ? 1 : rng_range(o->rng, 2, PLAN_ITEMS);
    int start = (int)rng_below(o->rng, (uint32_t)plan->semaphore_count);
    for (int i = 0; i < plan->semaphore_count && op->item_count < wanted; i++) {
        int index = (start + i) % plan->semaphore_count;
        const struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (!semaphore->timeline || o->gone[index] || (sure && semaphore->wild) ||
            !(op->bf ? plan_is_bf(semaphore) : plan_is_vk(semaphore)))
            continue;
        op->items[op->item_count++].index = (int16_t)index;
        semaphore_touch(o, op, index);
    }
    return op->item_count;
}

static void semaphores_wait(struct order *o)
{
    const struct plan *plan = o->plan;
    struct plan_op *op = op_new(o, OP_WAIT_SEMAPHORES, thread_any(o));
    bool sure = rng_percent(o->rng, 70);
    op->bf = o->machine->bf && rng_percent(o->rng, 50);
    int n = semaphores_choose(o, op, sure);
    if (!n) {
        op->kind = OP_YIELD;
        return;
    }
    op->any = rng_percent(o->rng, 40);
    op->timeout = sure ? timeout_sure(o) : timeout_unsure(o);
    op->designated = (int8_t)rng_below(o->rng, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        int index = op->items[i].index;
        const struct plan_semaphore *semaphore = &plan->semaphores[index];
        bool finishes = sure && (!op->any || i == op->designated);
        int ahead = (int)rng_below(o->rng, (uint32_t)semaphore->signal_count + 1);
        op->items[i].value = finishes ? semaphore_value_finishing(o, index)
                                      : semaphore_value_between(o, semaphore, ahead);
    }
}

static void semaphore_query(struct order *o)
{
    const struct plan *plan = o->plan;
    int index = (int)rng_below(o->rng, (uint32_t)plan->semaphore_count);
    if (!plan->semaphores[index].timeline || o->gone[index])
        index = 0;
    const struct plan_semaphore *semaphore = &plan->semaphores[index];
    struct plan_op *op = op_new(o, OP_COUNTER, thread_any(o));
    op->bf = plan_is_bf(semaphore) && (!plan_is_vk(semaphore) || rng_percent(o->rng, 50));
    semaphore_touch(o, op, index);
    op->item_count = 1;
    op->items[0].index = (int16_t)index;
}

static void fences_wait_uses(struct order *o, struct plan_op *op)
{
    for (int i = 0; i < op->item_count; i++)
        fence_touch(o, op, o->plan->uses[op->items[i].index].fence, true);
}

static void fences_wait(struct order *o)
{
    const struct plan *plan = o->plan;
    int uses[PLAN_FENCES], n = 0, sure_one = -1;
    bool all = true;
    int start = (int)rng_below(o->rng, (uint32_t)plan->fence_count);
    int wanted = rng_percent(o->rng, 60) ? 1 : PLAN_ITEMS;
    for (int i = 0; i < plan->fence_count && n < wanted; i++) {
        int use = o->fences[(start + i) % plan->fence_count].use;
        if (use < 0)
            continue;
        if (use_finishes(o, use))
            sure_one = n;
        else
            all = false;
        uses[n++] = use;
    }
    if (!n)
        return;
    if (rng_percent(o->rng, 25)) {
        struct plan_op *op = op_new(o, OP_FENCE_STATUS, thread_any(o));
        op->item_count = 1;
        op->items[0].index = (int16_t)uses[0];
        fences_wait_uses(o, op);
        return;
    }
    struct plan_op *op = op_new(o, OP_WAIT_FENCES, thread_any(o));
    op->item_count = (int8_t)n;
    for (int i = 0; i < n; i++)
        op->items[i].index = (int16_t)uses[i];
    op->any = rng_percent(o->rng, 40);
    bool sure = (all || (op->any && sure_one >= 0)) && rng_percent(o->rng, 80);
    op->designated = (int8_t)(sure ? sure_one : 0);
    op->timeout = sure ? timeout_sure(o) : timeout_unsure(o);
    fences_wait_uses(o, op);
}

/* Waits for some signalled-for-sure fences and resets them: they can be used again. */
static void fences_recycle(struct order *o, int thread)
{
    const struct plan *plan = o->plan;
    int16_t uses[PLAN_ITEMS];
    int8_t n = 0;
    for (int i = 0; i < plan->fence_count && n < PLAN_ITEMS; i++) {
        int use = o->fences[i].use;
        if (use >= 0 && use_finishes(o, use) && (n == 0 || rng_percent(o->rng, 50)))
            uses[n++] = (int16_t)use;
    }
    if (!n)
        return;
    struct plan_op *wait = op_new(o, OP_WAIT_FENCES, thread);
    wait->timeout = timeout_sure(o);
    wait->item_count = n;
    for (int i = 0; i < n; i++)
        wait->items[i].index = uses[i];
    fences_wait_uses(o, wait);
    struct plan_op *reset = op_new(o, OP_RESET_FENCES, thread);
    reset->item_count = n;
    reset->recreate = rng_percent(o->rng, 20);
    for (int i = 0; i < n; i++) {
        reset->items[i].index = uses[i];
        int fence = plan->uses[uses[i]].fence;
        fence_touch(o, reset, fence, false);
        o->fences[fence].use = -1;
        o->plan->uses[uses[i]].reset_op = (int16_t)op_index(o, reset);
    }
}

static void queue_idle(struct order *o, int queue)
{
    /* Of a VkQueue below Belfry's API only Belfry knows what has not got there yet. */
    if (o->queue_gone[queue] || (o->machine->attached && !o->plan->queues[queue].bf))
        return;
    struct plan_op *op = op_new(o, OP_QUEUE_IDLE, queue_thread(o, queue));
    op->queue = (int16_t)queue;
    queue_touch(o, op, queue);
}

static bool device_finishes(const struct order *o)
{
    for (int q = 0; q < o->plan->queue_count; q++)
        if (!queue_finishes(o, q))
            return false;
    return true;
}

static void device_idle(struct order *o)
{
    if (o->machine->attached)
        return;
    struct plan_op *op = op_new(o, OP_DEVICE_IDLE, thread_any(o));
    for (int q = 0; q < o->plan->queue_count; q++)
        queue_touch(o, op, q);
}

static void settle(struct order *o)
{
    struct plan *plan = o->plan;
    struct plan_op *op = op_new(o, OP_SETTLE, thread_any(o));
    for (int t = 0; t < plan->thread_count; t++)
        if (t != op->thread && plan->thread_op_count[t])
            op_after(o, op, plan->thread_ops[t][plan->thread_op_count[t] - 1]);
    for (int q = 0; q < plan->queue_count; q++)
        queue_touch(o, op, q);
    for (int f = 0; f < plan->fence_count; f++)
        fence_touch(o, op, f, true);
    op->settle = (int16_t)plan->settle_count++;
    uint64_t *finishing = plan->settles[op->settle];
    memset(finishing, 0, sizeof(plan_set));
    plan->settle_rings[op->settle] = 0;
    for (int e = 0; e < plan->event_count; e++)
        if (plan_set_has(o->issued, e) && event_finishes(o, e))
            plan_set_add(finishing, e);
    for (int r = 0; r < plan->registration_count; r++)
        if (plan->registrations[r].op >= 0 && registration_finishes(o, r))
            plan->settle_rings[op->settle] |= UINT64_C(1) << r;
    for (int s = 0; s < plan->semaphore_count; s++)
        semaphore_touch(o, op, s);
    for (int b = 0; b < plan->bell_count; b++)
        o->bell_op[b][op->thread] = op_index(o, op);
    o->settle_op = op_index(o, op);
}

/* All threads meet here: what they do next begins at the same instant. */
static void rendezvous(struct order *o)
{
    struct plan *plan = o->plan;
    struct plan_op *op = op_new(o, OP_YIELD, thread_any(o));
    for (int t = 0; t < plan->thread_count; t++)
        if (t != op->thread && plan->thread_op_count[t])
            op_after(o, op, plan->thread_ops[t][plan->thread_op_count[t] - 1]);
    o->settle_op = op_index(o, op);
}

static void extra_ops(struct order *o)
{
    struct plan *plan = o->plan;
    if (plan->op_count > PLAN_OPS / 4)
        return; /* room for what the events themselves need: at most 7 calls each */
    if (o->machine->bf)
        bf_extra_ops(o);
    if (rng_percent(o->rng, o->yield_percent))
        op_new(o, OP_YIELD, thread_any(o));
    if (rng_percent(o->rng, o->wait_percent)) {
        switch (rng_below(o->rng, 8)) {
        case 0:
        case 1:
        case 2:
            semaphores_wait(o);
            break;
        case 3:
            semaphore_query(o);
            break;
        case 4:
            fences_recycle(o, thread_any(o));
            break;
        default:
            fences_wait(o);
            break;
        }
    }
    if (rng_percent(o->rng, o->idle_percent)) {
        int q = (int)rng_below(o->rng, (uint32_t)plan->queue_count);
        if (queue_finishes(o, q))
            queue_idle(o, q);
    }
    if (rng_percent(o->rng, o->idle_percent / 4) && device_finishes(o))
        device_idle(o);
    if (rng_percent(o->rng, o->settle_percent) && plan->settle_count < PLAN_SETTLES / 2)
        settle(o);
}

/* Issuing events ---------------------------------------------------------------------------- */

static bool event_ready(const struct order *o, int event)
{
    const struct plan_event *e = &o->plan->events[event];
    if (!plan_set_within(e->gates, o->issued))
        return false;
    /* A host signal first waits for the signal before it, on the host; so may a wait's call. */
    return e->batch >= 0 || event_finishes(o, e->previous);
}

void event_gate(struct order *o, struct plan_op *op, int event)
{
    for (int e = 0; e < event; e++)
        if (plan_set_has(o->plan->events[event].gates, e))
            op_after(o, op, o->plan->events[e].op);
}

void event_issued(struct order *o, int event, const struct plan_op *op)
{
    plan_set_add(o->issued, event);
    o->issued_count++;
    o->plan->events[event].op = (int16_t)op_index(o, op);
}

void previous_wait(struct order *o, const struct plan_event *event, int index, int thread, bool bf)
{
    const struct plan_semaphore *semaphore = &o->plan->semaphores[index];
    struct plan_op *wait = op_new(o, OP_WAIT_SEMAPHORES, thread);
    int k = 0;
    while (semaphore->signals[k] != event->previous)
        k++;
    wait->bf = bf;
    wait->timeout = timeout_sure(o);
    wait->item_count = 1;
    wait->items[0] = (struct plan_item){(int16_t)index, semaphore->values[k]};
    semaphore_touch(o, wait, index);
}

static void host_signal_issue(struct order *o, int event)
{
    struct plan *plan = o->plan;
    struct plan_event *e = &plan->events[event];
    const struct plan_semaphore *semaphore = &plan->semaphores[e->semaphore];
    int thread = thread_any(o);
    bool vk = semaphore->face == FACE_SEMAPHORE ||
              (semaphore->face == FACE_IMPORTED && rng_percent(o->rng, 50));
    if (e->previous >= 0)
        previous_wait(o, e, e->semaphore, thread,
                      !plan_is_vk(semaphore) || (plan_is_bf(semaphore) && rng_percent(o->rng, 50)));
    struct plan_op *op = op_new(o, OP_SIGNAL, thread);
    op->event = (int16_t)event;
    op->bf = !vk;
    semaphore_touch(o, op, e->semaphore);
    event_gate(o, op, event);
    event_issued(o, event, op);
}

/* Attaches a fence to a call that submits; false when none is free. */
static bool fence_attach(struct order *o, struct plan_op *op, int queue)
{
    struct plan *plan = o->plan;
    int start = (int)rng_below(o->rng, (uint32_t)plan->fence_count);
    for (int i = 0; i < plan->fence_count && plan->use_count < PLAN_USES; i++) {
        int fence = (start + i) % plan->fence_count;
        if (o->fences[fence].use >= 0)
            continue;
        int tail = queue_issued_tail(o, queue);
        op->use = (int16_t)plan->use_count;
        plan->uses[plan->use_count] =
            (struct plan_use){.fence = (int16_t)fence,
                              .op = (int16_t)op_index(o, op),
                              .reset_op = -1,
                              .last_batch = tail < 0 ? -1 : plan->events[tail].batch};
        fence_touch(o, op, fence, false);
        o->fences[fence].use = plan->use_count++;
        return true;
    }
    return false;
}

static int api_choose(struct order *o)
{
    return o->machine->sync2 && (o->machine->attached || rng_percent(o->rng, o->sync2_percent)) ? 2
                                                                                                : 1;
}

static void batches_issue(struct order *o, int queue)
{
    struct plan *plan = o->plan;
    int thread = queue_thread(o, queue);
    bool with_fence = !plan->queues[queue].bf && rng_percent(o->rng, o->fence_percent);
    if (with_fence && rng_percent(o->rng, 70))
        fences_recycle(o, thread);
    struct plan_queue *q = &plan->queues[queue];
    bool bind = plan->batches[plan->events[q->events[o->queue_next[queue]]].batch].bind;
    struct plan_op *op = op_new(o, bind ? OP_BIND : OP_SUBMIT, thread);
    op->queue = (int16_t)queue;
    op->api = (int8_t)api_choose(o);
    op->bf = q->bf;
    do {
        int event = q->events[o->queue_next[queue]++];
        batch_touch(o, op, &plan->batches[plan->events[event].batch]);
        plan->batches[plan->events[event].batch].op = (int16_t)op_index(o, op);
        op->batches[op->batch_count++] = plan->events[event].batch;
        event_gate(o, op, event);
        event_issued(o, event, op);
    } while (op->batch_count < PLAN_GROUP && o->queue_next[queue] < q->event_count &&
             plan->events[q->events[o->queue_next[queue]]].kind == EVENT_BATCH &&
             plan->batches[plan->events[q->events[o->queue_next[queue]]].batch].bind == bind &&
             rng_percent(o->rng, o->group_percent) &&
             event_ready(o, q->events[o->queue_next[queue]]));
    o->submits++;
    op->closed = queue_finishes(o, queue);
    queue_touch(o, op, queue);
    if (with_fence)
        fence_attach(o, op, queue);
}

/* A call without batches: a fence alone, or nothing at all. */
static void empty_submit(struct order *o)
{
    struct plan *plan = o->plan;
    int queue = (int)rng_below(o->rng, (uint32_t)plan->queue_count);
    if (o->submits + (plan->event_count - o->issued_count) >= o->submit_limit ||
        plan->queues[queue].bf)
        return;
    int thread = queue_thread(o, queue);
    if (rng_percent(o->rng, 60))
        fences_recycle(o, thread);
    struct plan_op *op = op_new(
        o, plan->queues[queue].sparse && rng_percent(o->rng, 30) ? OP_BIND : OP_SUBMIT, thread);
    op->queue = (int16_t)queue;
    op->api = (int8_t)api_choose(o);
    o->submits++;
    queue_touch(o, op, queue);
    if (rng_percent(o->rng, 90))
        fence_attach(o, op, queue);
}

/* Waits for all that a queue does by a fence of its own; false when none is free. */
static bool queue_end(struct order *o, int queue)
{
    if (o->plan->queues[queue].bf)
        return false;
    int thread = queue_thread(o, queue);
    fences_recycle(o, thread);
    if (o->plan->use_count == PLAN_USES || o->submits >= o->submit_limit)
        return false;
    bool free = false;
    for (int f = 0; f < o->plan->fence_count; f++)
        free = free || o->fences[f].use < 0;
    if (!free)
        return false;
    struct plan_op *op = op_new(o, OP_SUBMIT, thread);
    op->queue = (int16_t)queue;
    op->api = (int8_t)api_choose(o);
    o->submits++;
    queue_touch(o, op, queue);
    fence_attach(o, op, queue);
    struct plan_op *wait = op_new(o, OP_WAIT_FENCES, thread);
    wait->timeout = timeout_sure(o);
    wait->item_count = 1;
    wait->items[0].index = op->use;
    fences_wait_uses(o, wait);
    return true;
}

static void keys_choose(struct order *o)
{
    struct plan *plan = o->plan;
    int style = (int)rng_below(o->rng, 4);
    int64_t delay[PLAN_QUEUES];
    for (int q = 0; q < plan->queue_count; q++)
        delay[q] = rng_percent(o->rng, 40) ? rng_below(o->rng, 1 + (uint32_t)plan->event_count) : 0;
    for (int e = 0; e < plan->event_count; e++) {
        struct plan_event *event = &plan->events[e];
        int noise = (int)rng_below(o->rng, 6);
        switch (style) {
        case 0: /* nearly as it runs */
            event->key = e + noise;
            break;
        case 1: /* consumers first */
            event->key = -e + noise;
            break;
        case 2: /* some queues run ahead */
            event->key = e + noise + (event->queue < 0 ? 0 : delay[event->queue]);
            break;
        default:
            event->key = (int64_t)rng_below(o->rng, 1000);
            break;
        }
        if (plan->shape == SHAPE_RACE)
            event->key = e ^ 1;
        if ((plan->shape == SHAPE_BRAKE || plan->shape == SHAPE_LATE) &&
            event->kind == EVENT_SIGNAL && event->semaphore == 0)
            event->key += 1000000;
        else if (plan->shape != SHAPE_RACE && event->queue < 0 && rng_percent(o->rng, 40))
            event->key += rng_below(o->rng, 60);
    }
}

static int event_choose(const struct order *o)
{
    const struct plan *plan = o->plan;
    int best = -1;
    for (int q = 0; q < plan->queue_count; q++) {
        if (o->queue_next[q] == plan->queues[q].event_count)
            continue;
        int e = plan->queues[q].events[o->queue_next[q]];
        if (event_ready(o, e) && (best < 0 || plan->events[e].key < plan->events[best].key))
            best = e;
    }
    for (int e = 0; e < plan->event_count; e++)
        if (plan->events[e].queue < 0 && !plan_set_has(o->issued, e) && event_ready(o, e) &&
            (best < 0 || plan->events[e].key < plan->events[best].key))
            best = e;
    return best;
}

static void order_init(struct order *o, struct plan *plan, const struct machine *machine,
                       const struct plan_limits *limits, struct rng *rng)
{
    *o = (struct order){.plan = plan,
                        .rng = rng,
                        .machine = machine,
                        .submit_limit = limits->submits,
                        .settle_op = -1,
                        .wait_percent = rng_range(rng, 0, 40),
                        .settle_percent = rng_percent(rng, 40) ? rng_range(rng, 2, 15) : 0,
                        .handover_percent = rng_percent(rng, 30) ? rng_range(rng, 2, 50) : 0,
                        .group_percent = rng_range(rng, 0, 60),
                        .fence_percent = rng_range(rng, 0, 50),
                        .sync2_percent = rng_percent(rng, 70)   ? 50
                                         : rng_percent(rng, 50) ? 100
                                                                : 0,
                        .idle_percent = rng_percent(rng, 30) ? rng_range(rng, 1, 12) : 0,
                        .yield_percent = rng_percent(rng, 50) ? 20 : 0,
                        .bell_percent = rng_percent(rng, 60) ? rng_range(rng, 5, 50) : 0,
                        .remove_percent = rng_percent(rng, 40) ? 10 : 0};
    memset(o->touched, 0xff, sizeof(o->touched));
    memset(o->bell_op, 0xff, sizeof(o->bell_op));
    plan->fence_count = rng_range(rng, 1, PLAN_FENCES);
    if (plan->shape == SHAPE_BURST) {
        o->wait_percent = 0;
        o->bell_percent = 0;
        o->yield_percent = 0;
        o->handover_percent = 0;
        o->settle_percent = rng_range(rng, 10, 25);
        o->fence_percent = rng_percent(rng, 50) ? 0 : 20;
        if (plan->event_count > 100) { /* deep rather than often */
            o->settle_percent = 0;
            o->group_percent = 0;
        }
    } else if (plan->shape == SHAPE_RACE) {
        o->settle_percent = rng_percent(rng, 50) ? 10 : 0;
        o->wait_percent = 5;
        o->handover_percent = 0;
        o->group_percent = 0;
        o->fence_percent = rng_percent(rng, 50) ? 0 : 20;
        o->yield_percent = 0;
    } else if (plan->shape == SHAPE_FENCE) {
        o->fence_percent = rng_range(rng, 50, 100);
        o->wait_percent = rng_range(rng, 30, 70);
        o->idle_percent = rng_range(rng, 5, 20);
    } else if (plan->shape == SHAPE_LATE) {
        o->wait_percent = o->settle_percent = o->idle_percent = o->bell_percent = 0;
        o->fence_percent = o->remove_percent = 0;
    }
    for (int q = 0; q < plan->queue_count; q++) {
        o->owner[q] = plan->shape == SHAPE_BURST || plan->shape == SHAPE_RACE
                          ? q % plan->thread_count
                          : thread_any(o);
        o->queue_last_op[q] = -1;
    }
    for (int f = 0; f < PLAN_FENCES; f++) {
        o->fences[f].use = o->fences[f].owner_op = -1;
        memset(o->fences[f].last_op, 0xff, sizeof(o->fences[f].last_op));
    }
    plan->op_count = plan->use_count = plan->settle_count = 0;
    memset(plan->thread_op_count, 0, sizeof(plan->thread_op_count));
}

void plan_order(struct plan *plan, const struct machine *machine, const struct plan_limits *limits,
                struct rng *rng)
{
    struct order o;
    order_init(&o, plan, machine, limits, rng);
    keys_choose(&o);
    while (o.issued_count < plan->event_count) {
        int event = event_choose(&o);
        /* Just before the brake comes off, everything else must have come to a stop. */
        if (plan->shape == SHAPE_BRAKE && plan->events[event].kind == EVENT_SIGNAL &&
            plan->events[event].semaphore == 0 && plan->settle_count < PLAN_SETTLES - 1 &&
            rng_percent(rng, 80))
            settle(&o);
        if (plan->events[event].kind == EVENT_SIGNAL)
            host_signal_issue(&o, event);
        else if (plan->events[event].kind != EVENT_BATCH)
            bf_event_issue(&o, event);
        else
            batches_issue(&o, plan->batches[plan->events[event].batch].queue);
        if (plan->shape == SHAPE_RACE) {
            if (o.issued_count % 2)
                continue;
            extra_ops(&o);
            rendezvous(&o);
            continue;
        }
        if (rng_percent(rng, plan->shape == SHAPE_FENCE ? 20 : plan->shape == SHAPE_LATE ? 0 : 3))
            empty_submit(&o);
        extra_ops(&o);
    }
    if (machine->bf)
        bf_queues_end(&o);
    settle(&o);
    if (rng_percent(rng, 30) && !machine->attached) {
        device_idle(&o);
        return;
    }
    for (int q = 0; q < plan->queue_count; q++)
        if (rng_percent(rng, 60) || !queue_end(&o, q))
            queue_idle(&o, q);
}
