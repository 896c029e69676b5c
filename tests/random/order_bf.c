/* SPDX-License-Identifier: MIT */
/* Calls of Belfry's own API in the order I: events and their registrations, fences and queues that
 * are destroyed while in use, priorities. */
#include "order.h"

void batch_touch(struct order *o, struct plan_op *op, const struct plan_batch *batch)
{
    for (int w = 0; w < batch->wait_count; w++)
        semaphore_touch(o, op, batch->waits[w].semaphore);
    for (int s = 0; s < batch->signal_count; s++)
        semaphore_touch(o, op, batch->signals[s].semaphore);
}

/* Events ------------------------------------------------------------------------------------ */

static void bell_touch(struct order *o, struct plan_op *op, int bell)
{
    o->bell_op[bell][op->thread] = op_index(o, op);
}

/* A call that nobody else's on that event may overlap. */
static void bell_own(struct order *o, struct plan_op *op, int bell)
{
    for (int t = 0; t < PLAN_THREADS; t++)
        op_after(o, op, o->bell_op[bell][t]);
    bell_touch(o, op, bell);
}

static bool item_finishes(const struct order *o, const struct plan_registration *r, int item)
{
    const struct plan *plan = o->plan;
    const struct plan_item *wanted = &r->items[item];
    const struct plan_semaphore *semaphore = &plan->semaphores[wanted->index];
    if (r->event >= 0 && item == 0)
        return event_finishes(o, semaphore->signals[r->place]);
    if (!semaphore->wild) {
        int k = plan_reach(semaphore, wanted->value);
        return k < 0 || (k < semaphore->signal_count && event_finishes(o, semaphore->signals[k]));
    }
    return semaphore->destroyed >= 0 && event_finishes(o, semaphore->destroyed);
}

bool registration_finishes(struct order *o, int registration)
{
    struct plan_registration *r = &o->plan->registrations[registration];
    if (r->op < 0)
        return false;
    if (r->any && r->designated >= 0 && item_finishes(o, r, r->designated))
        return true;
    for (int i = 0; i < r->item_count; i++) {
        if (item_finishes(o, r, i) == r->any) {
            if (r->any)
                r->designated = (int8_t)i;
            return r->any;
        }
    }
    return !r->any;
}

/* A registration of that event which can ring; -1: none. */
static int bell_finishes(struct order *o, int bell)
{
    for (int r = 0; r < o->plan->registration_count; r++)
        if (o->plan->registrations[r].bell == bell && registration_finishes(o, r))
            return r;
    return -1;
}

static bool bell_usable(const struct order *o, int bell)
{
    const struct plan_bell *b = &o->plan->bells[bell];
    return b->take_op < 0 && b->destroy_op < 0;
}

/* All its registrations have been made that will be. */
static bool bell_complete(const struct order *o, int bell)
{
    for (int r = 0; r < o->plan->registration_count; r++)
        if (o->plan->registrations[r].bell == bell && o->plan->registrations[r].op < 0)
            return false;
    return true;
}

static int bell_any(struct order *o)
{
    struct plan *plan = o->plan;
    int start = (int)rng_below(o->rng, PLAN_BELLS);
    for (int i = 0; i < plan->bell_count; i++) {
        int b = (start + i) % plan->bell_count;
        if (bell_usable(o, b))
            return b;
    }
    return -1;
}

/* One for a new registration. */
static int bell_choose(struct order *o)
{
    struct plan *plan = o->plan;
    int b = rng_percent(o->rng, 30) ? bell_any(o) : -1;
    if (b >= 0 && plan->bells[b].manual && plan->bells[b].registration_count < 3)
        return b;
    if (plan->bell_count == PLAN_BELLS)
        return -1;
    plan->bells[plan->bell_count] =
        (struct plan_bell){.manual = rng_percent(o->rng, 70), .take_op = -1, .destroy_op = -1};
    return plan->bell_count++;
}

static void registration_op(struct order *o, int registration, int thread)
{
    struct plan *plan = o->plan;
    struct plan_registration *r = &plan->registrations[registration];
    struct plan_op *op = op_new(o, OP_REGISTER, thread);
    op->registration = (int16_t)registration;
    r->op = (int16_t)op_index(o, op);
    for (int i = 0; i < r->item_count; i++)
        semaphore_touch(o, op, r->items[i].index);
    bell_touch(o, op, r->bell);
}

static void registration_add(struct order *o)
{
    struct plan *plan = o->plan;
    if (plan->registration_count == PLAN_REGISTRATIONS)
        return;
    struct plan_registration r = {
        .op = -1, .event = -1, .designated = -1, .any = rng_percent(o->rng, 40)};
    int wanted = rng_percent(o->rng, 60) ? 1 : rng_range(o->rng, 2, PLAN_ITEMS);
    int start = (int)rng_below(o->rng, (uint32_t)plan->semaphore_count);
    for (int i = 0; i < plan->semaphore_count && r.item_count < wanted; i++) {
        int index = (start + i) % plan->semaphore_count;
        const struct plan_semaphore *semaphore = &plan->semaphores[index];
        if (!plan_is_bf(semaphore) || o->gone[index])
            continue;
        /* Mostly what comes sooner or later, now and then what never does. */
        int count = semaphore->signal_count;
        int k =
            (int)rng_below(o->rng, (uint32_t)(count + (rng_percent(o->rng, 20) ? 1 : 0)) + !count);
        r.items[r.item_count++] =
            (struct plan_item){(int16_t)index, semaphore_value_between(o, semaphore, k)};
    }
    if (!r.item_count)
        return;
    r.bell = (int16_t)bell_choose(o);
    if (r.bell < 0)
        return;
    plan->bells[r.bell].registration_count++;
    plan->registrations[plan->registration_count++] = r;
    registration_op(o, plan->registration_count - 1, thread_any(o));
}

/* Waits for one event and resets it; it isn't used again. */
static void bell_take(struct order *o, int bell)
{
    int ring = bell_finishes(o, bell);
    if (ring < 0 || o->plan->bells[bell].registration_count != 1)
        return;
    struct plan_op *op = op_new(o, OP_WAIT_BELLS, thread_any(o));
    op->take = true;
    op->timeout = timeout_sure(o);
    op->item_count = 1;
    op->items[0] = (struct plan_item){(int16_t)bell, (uint64_t)ring};
    bell_own(o, op, bell);
    o->plan->bells[bell].take_op = (int16_t)op_index(o, op);
}

static void bells_wait(struct order *o)
{
    struct plan *plan = o->plan;
    struct plan_item items[PLAN_ITEMS];
    int n = 0, sure_one = -1;
    bool all = true;
    int wanted = rng_percent(o->rng, 50) ? 1 : PLAN_ITEMS;
    int start = (int)rng_below(o->rng, PLAN_BELLS);
    for (int i = 0; i < plan->bell_count && n < wanted; i++) {
        int b = (start + i) % plan->bell_count;
        if (!bell_usable(o, b) || !plan->bells[b].manual)
            continue;
        int ring = bell_finishes(o, b);
        if (ring >= 0)
            sure_one = n;
        else
            all = false;
        items[n++] = (struct plan_item){(int16_t)b, (uint64_t)(ring < 0 ? 0 : ring)};
    }
    if (!n)
        return;
    struct plan_op *op = op_new(o, OP_WAIT_BELLS, thread_any(o));
    op->any = rng_percent(o->rng, 50);
    bool sure = (all || (op->any && sure_one >= 0)) && rng_percent(o->rng, 80);
    op->timeout = sure ? timeout_sure(o) : timeout_unsure(o);
    op->designated = (int8_t)(sure ? sure_one : 0);
    op->item_count = (int8_t)n;
    for (int i = 0; i < n; i++) {
        op->items[i] = items[i];
        bell_touch(o, op, items[i].index);
    }
}

static void bell_look(struct order *o, int bell)
{
    struct plan_op *op = op_new(o, OP_LOOK, thread_any(o));
    op->item_count = 1;
    op->items[0].index = (int16_t)bell;
    bell_touch(o, op, bell);
}

static void bell_destroy(struct order *o, int bell)
{
    if (!bell_complete(o, bell))
        return;
    struct plan_op *op = op_new(o, OP_DESTROY_BELL, thread_any(o));
    op->item_count = 1;
    op->items[0].index = (int16_t)bell;
    bell_own(o, op, bell);
    o->plan->bells[bell].destroy_op = (int16_t)op_index(o, op);
}

/* Queues ------------------------------------------------------------------------------------ */

static void priority_change(struct order *o)
{
    int q = (int)rng_below(o->rng, (uint32_t)o->plan->queue_count);
    if (!o->plan->queues[q].dynamic || o->queue_gone[q])
        return;
    struct plan_op *op = op_new(o, OP_PRIORITY, queue_thread(o, q));
    op->queue = (int16_t)q;
    op->high = rng_percent(o->rng, 50);
    queue_touch(o, op, q);
}

static void queue_remove(struct order *o, int queue)
{
    struct plan_op *op = op_new(o, OP_DESTROY_QUEUE, queue_thread(o, queue));
    op->queue = (int16_t)queue;
    queue_touch(o, op, queue);
    o->queue_gone[queue] = true;
}

static bool queue_removable(const struct order *o, int queue)
{
    const struct plan_queue *q = &o->plan->queues[queue];
    return q->bf && !q->waitless && !o->queue_gone[queue] && o->queue_next[queue] == q->event_count;
}

void bf_queues_end(struct order *o)
{
    for (int q = 0; q < o->plan->queue_count; q++)
        if (queue_removable(o, q) && rng_percent(o->rng, 20))
            queue_remove(o, q);
}

/* ------------------------------------------------------------------------------------------- */

void bf_event_issue(struct order *o, int event)
{
    struct plan *plan = o->plan;
    const struct plan_event *e = &plan->events[event];
    struct plan_op *op;
    int thread = e->queue < 0 ? thread_any(o) : queue_thread(o, e->queue);
    if (e->witness >= 0)
        previous_wait(o, e, e->witness, thread, false);
    if (e->kind == EVENT_DESTROY) {
        op = op_new(o, OP_DESTROY_FENCE, thread);
        for (int t = 0; t < PLAN_THREADS; t++)
            op_after(o, op, o->touched[e->semaphore][t]);
        o->gone[e->semaphore] = true;
    } else if (e->queue < 0) {
        registration_op(o, e->registration, thread);
        op = &plan->ops[plan->op_count - 1];
    } else {
        op = op_new(o, OP_ARM, thread);
        op->queue = e->queue;
        semaphore_touch(o, op, e->semaphore);
        queue_touch(o, op, e->queue);
        o->queue_next[e->queue]++;
    }
    op->event = (int16_t)event;
    event_gate(o, op, event);
    event_issued(o, event, op);
}

void bf_extra_ops(struct order *o)
{
    if (rng_percent(o->rng, o->bell_percent / 2))
        registration_add(o);
    if (rng_percent(o->rng, o->bell_percent)) {
        int bell = bell_any(o), dice = (int)rng_below(o->rng, 100);
        if (bell < 0 || dice < 45)
            bells_wait(o);
        else if (dice < 70)
            bell_take(o, bell);
        else if (dice < 90)
            bell_look(o, bell);
        else
            bell_destroy(o, bell);
    }
    if (!rng_percent(o->rng, o->remove_percent))
        return;
    if (rng_percent(o->rng, 50)) {
        priority_change(o);
        return;
    }
    int q = (int)rng_below(o->rng, (uint32_t)o->plan->queue_count);
    if (queue_removable(o, q))
        queue_remove(o, q);
}
