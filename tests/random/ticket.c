/* SPDX-License-Identifier: MIT */
/* Waits for values, by the rule of the ticket: a wait is satisfied for good at the first instant
 * from its call at which the value is reached. With values that only grow, that is the instant of
 * one signal. With wild ones it may be that of any signal that could still count when the call was
 * made; nothing but what all of these have in common is certain then. */
#include "plan.h"

/* Signal a has been given before signal b is, in every run. */
static bool place_before(const struct plan *plan, int semaphore, int a, int b)
{
    return plan_before(plan, plan_node_place(plan, semaphore, a, true),
                       plan_node_place(plan, semaphore, b, false));
}

static bool place_known(const struct plan *plan, int semaphore, int k, int node)
{
    return plan_before(plan, plan_node_place(plan, semaphore, k, true), node);
}

/* The value that signal k gave (-1: the initial one) has been replaced before the call. */
static bool place_over(const struct plan *plan, int semaphore, int k, int call)
{
    if (call < 0 || plan->lags)
        return false;
    for (int s = 0; s < plan->semaphores[semaphore].signal_count; s++)
        if (s != k && place_known(plan, semaphore, s, plan_node_start(call)) &&
            (k < 0 || place_before(plan, semaphore, k, s)))
            return true;
    return false;
}

static bool place_may_count(const struct plan *plan, int semaphore, int k, uint64_t value, int arm)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    return (k < 0 ? s->initial : s->values[k]) >= value && !place_over(plan, semaphore, k, arm);
}

int plan_ticket_first(const struct plan *plan, int semaphore, uint64_t value, int arm)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    if (!s->wild) {
        int k = plan_reach(s, value);
        return k < s->signal_count ? k : -1;
    }
    if (place_may_count(plan, semaphore, -1, value, arm))
        return -1;
    int first = -1;
    for (int k = 0; k < s->signal_count; k++)
        if (place_may_count(plan, semaphore, k, value, arm) &&
            (first < 0 || place_before(plan, semaphore, k, first)))
            first = k;
    for (int k = 0; k < s->signal_count && first >= 0; k++)
        if (k != first && place_may_count(plan, semaphore, k, value, arm) &&
            !place_before(plan, semaphore, first, k))
            return -1;
    return first;
}

/* Whatever gives a lower value does so before signal k (-1: nothing is before it), or after the
 * wait was armed. */
static bool place_stays(const struct plan *plan, int semaphore, int k, uint64_t value, int arm)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    for (int l = 0; l < s->signal_count && arm >= 0; l++)
        if (s->values[l] < value && !(k >= 0 && place_before(plan, semaphore, l, k)) &&
            !plan_before(plan, plan_node_end(arm), plan_node_place(plan, semaphore, l, false)))
            return false;
    return true;
}

bool plan_ticket_sure(const struct plan *plan, int semaphore, uint64_t value, int arm, int node)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    if (!s->wild) {
        int k = plan_reach(s, value);
        return k < 0 || (k < s->signal_count && place_known(plan, semaphore, k, node));
    }
    if (value <= s->initial && place_stays(plan, semaphore, -1, value, arm))
        return true;
    for (int k = 0; k < s->signal_count; k++)
        if (s->values[k] >= value && place_known(plan, semaphore, k, node) &&
            place_stays(plan, semaphore, k, value, arm))
            return true;
    return false;
}

bool plan_ticket_never(const struct plan *plan, int semaphore, uint64_t value, int arm, int node)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    if (place_may_count(plan, semaphore, -1, value, s->wild ? arm : -1))
        return false;
    for (int k = s->wild ? 0 : plan_reach(s, value); k < s->signal_count; k++) {
        bool late =
            node >= 0 && plan_before(plan, node, plan_node_place(plan, semaphore, k, false));
        if (!s->wild)
            return late;
        if (!late && place_may_count(plan, semaphore, k, value, arm))
            return false;
    }
    return true;
}

bool plan_ring_sure(const struct plan *plan, int registration, int node)
{
    const struct plan_registration *r = &plan->registrations[registration];
    bool sure = !r->any;
    for (int i = 0; i < r->item_count; i++) {
        bool one = plan_ticket_sure(plan, r->items[i].index, r->items[i].value, r->op, node);
        sure = r->any ? sure || one : sure && one;
    }
    return sure;
}

bool plan_ring_never(const struct plan *plan, int registration, int node)
{
    const struct plan_registration *r = &plan->registrations[registration];
    if (node >= 0 && plan_before(plan, node, plan_node_start(r->op)))
        return true;
    bool never = r->any;
    for (int i = 0; i < r->item_count; i++) {
        bool one = plan_ticket_never(plan, r->items[i].index, r->items[i].value, r->op, node);
        never = r->any ? never && one : never || one;
    }
    return never;
}

bool plan_value_possible(const struct plan *plan, int semaphore, uint64_t value, int op, int *place)
{
    const struct plan_semaphore *s = &plan->semaphores[semaphore];
    int found = 0;
    *place = -1;
    if (value == s->initial && !place_over(plan, semaphore, -1, op))
        found++;
    for (int k = 0; k < s->signal_count; k++) {
        if (s->values[k] != value || place_over(plan, semaphore, k, op) ||
            plan_before(plan, plan_node_end(op), plan_node_place(plan, semaphore, k, false)))
            continue;
        *place = k;
        found++;
    }
    if (found > 1)
        *place = -1;
    return found > 0;
}
