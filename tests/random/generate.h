/* SPDX-License-Identifier: MIT */
/* What generate.c and pulse.c share: how events are made. */
#ifndef BELFRY_RANDOM_GENERATE_H
#define BELFRY_RANDOM_GENERATE_H

#include "plan.h"

/* A wait for a wild fence, which a lower signal must not overtake. */
struct wild_wait {
    int16_t event; /* whose call arms it */
    uint64_t value;
};

struct generator {
    struct plan *plan;
    struct rng *rng;
    const struct machine *machine;
    int sync_percent; /* a batch waits for, or signals, one more semaphore */
    int host_percent; /* an event is a host signal */
    int bind_percent;
    int bare_percent;
    int gate_percent; /* host signal then submit in program order, instead of a wait */
    int pulse_percent;
    int twin_percent;
    int brake; /* semaphore that host signals release late, -1: none */
    int brake_percent;
    uint64_t gap;                       /* timeline values grow by up to so much */
    int16_t tail[PLAN_QUEUES];          /* last event of each queue, -1: none */
    int16_t tail_submit[PLAN_QUEUES];   /* last that is no sparse bind */
    int16_t tail_signal[PLAN_QUEUES];   /* last that signals something */
    int16_t signaller[PLAN_SEMAPHORES]; /* binary: who signalled it; -1: it's unsignalled */
    int16_t waiter[PLAN_SEMAPHORES];    /* binary: who waited last, -1: nobody yet */
    struct wild_wait wild[PLAN_SEMAPHORES][PLAN_WILD_WAITS];
    int wild_count[PLAN_SEMAPHORES];
    bool armed[PLAN_QUEUES]; /* a wait was armed there whose signal doesn't stand in E yet */
};

/* 'event' comes after 'on' (-1: nothing), and after what that comes after. 'strong': because Vulkan
 * or Belfry say so; 'wholly': the other's signals come first, all of them. */
void event_depend(struct plan_event *event, const struct plan *plan, int on, bool strong,
                  bool wholly);

struct plan_event *event_new(struct plan *plan, enum plan_event_kind kind);

/* The newest signal of a semaphore is this event's, the place-th of its batch. */
void semaphore_append(struct generator *g, int index, int event, int place, uint64_t value);

/* Adds a wait; 'place' is that of the signal that satisfies it (-1: the initial value, or
 * binary). */
void batch_wait(struct generator *g, struct plan_batch *batch, int semaphore, uint64_t value,
                int source, int place);

/* A batch on that queue, or (-1) on any on which no wait is armed; NULL when there is none. Waits
 * and signals are chosen, too. */
struct plan_batch *batch_generate(struct generator *g, int queue);

/* pulse.c */

/* A batch's wait for a wild fence's newest value, or less, if that can be relied on. */
void wild_wait(struct generator *g, struct plan_batch *batch, int index);
/* A batch's signal of a wild fence. */
void wild_signal(struct generator *g, struct plan_batch *batch, int index, uint64_t value);
uint64_t wild_value(struct generator *g, int index);
void wild_host_signal(struct generator *g, int index, uint64_t value);
/* Waits armed for a wild fence, what satisfies them if only for an instant, and what they hold
 * back. */
void pulse_generate(struct generator *g);

#endif
