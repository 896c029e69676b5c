/* SPDX-License-Identifier: MIT */
/* What order.c and order_bf.c share: how calls are added to I. */
#ifndef BELFRY_RANDOM_ORDER_H
#define BELFRY_RANDOM_ORDER_H

#include "plan.h"

struct fence_state {
    int use;                   /* submitted with it and not reset; -1: it's unsignalled */
    int owner_op;              /* newest call that submitted or reset it, -1: none */
    int last_op[PLAN_THREADS]; /* newest call that touched it, per thread; -1: none */
};

struct order {
    struct plan *plan;
    struct rng *rng;
    const struct machine *machine;
    int submit_limit;
    int submits;
    plan_set issued;
    int issued_count;
    int queue_next[PLAN_QUEUES];
    int owner[PLAN_QUEUES];
    int queue_last_op[PLAN_QUEUES];
    struct fence_state fences[PLAN_FENCES];
    int touched[PLAN_SEMAPHORES][PLAN_THREADS]; /* newest call that uses it, per thread; -1: none */
    int bell_op[PLAN_BELLS][PLAN_THREADS];
    bool gone[PLAN_SEMAPHORES]; /* destroyed, or its destruction depends on no more calls */
    bool queue_gone[PLAN_QUEUES];
    int settle_op; /* newest; all later calls come after it; -1: none */
    int wait_percent, settle_percent, handover_percent, group_percent, fence_percent, sync2_percent,
        idle_percent, yield_percent, bell_percent, remove_percent;
};

/* The next call is made only after that one (-1: none) has returned. */
void op_after(struct order *o, struct plan_op *op, int other);
struct plan_op *op_new(struct order *o, enum plan_op_kind kind, int thread);
int op_index(const struct order *o, const struct plan_op *op);
int thread_any(struct order *o);
int queue_thread(struct order *o, int queue);
void queue_touch(struct order *o, struct plan_op *op, int queue);
/* A call that uses a semaphore, fence or imported one: their destruction comes after it. */
void semaphore_touch(struct order *o, struct plan_op *op, int index);

/* Can the event finish with what has been issued? -1: nothing. */
bool event_finishes(const struct order *o, int event);
bool queue_finishes(const struct order *o, int queue);
int semaphore_finishing(const struct order *o, int index);
uint64_t semaphore_value_between(struct order *o, const struct plan_semaphore *semaphore, int k);
enum plan_timeout timeout_sure(struct order *o);
enum plan_timeout timeout_unsure(struct order *o);

/* 'event's call comes after those of the events that gate it. */
void event_gate(struct order *o, struct plan_op *op, int event);
/* A wait of the host for the event's 'previous' by that semaphore. */
void previous_wait(struct order *o, const struct plan_event *event, int index, int thread, bool bf);
void event_issued(struct order *o, int event, const struct plan_op *op);

/* order_bf.c: calls of Belfry's API. */

/* The call of an EVENT_ARM or EVENT_DESTROY. */
void bf_event_issue(struct order *o, int event);
/* Now and then a registration, a wait for events, a look, a priority, a destruction. */
void bf_extra_ops(struct order *o);
/* The call touches every fence that a batch uses. */
void batch_touch(struct order *o, struct plan_op *op, const struct plan_batch *batch);
/* Whether all, or for 'any' ones the first found, of its items can finish. */
bool registration_finishes(struct order *o, int registration);
/* After the last event: queues that nobody will use again. */
void bf_queues_end(struct order *o);

#endif
