/* SPDX-License-Identifier: MIT */
/*
 * Hand-overs between two queues: work goes to and fro, each piece waiting for the one before.
 *
 * Written in several ways on one device, with the same command buffer for a piece, so that nothing
 * differs but the way: each yields ns of a hand-over, until the driver is idle.
 */
#ifndef BENCH_HAND_OVER_H
#define BENCH_HAND_OVER_H

#include "attached.h"

enum hand_over_way {
    HAND_OVER_BELFRY,     /* bfQueueWait, bfQueueExecute, bfQueueSignal */
    HAND_OVER_SEMAPHORES, /* by hand: a timeline semaphore each way, as two parts of a program do
                             that know nothing of each other */
    HAND_OVER_BARRIER,    /* by hand: what is left on one VkQueue where all is known: a command
                             buffer with a full barrier before the piece, a semaphore that tells */
    HAND_OVER_EMPTY_MORE, /* as HAND_OVER_SEMAPHORES, an empty command buffer before each piece */
    HAND_OVER_WAYS,
};

struct hand_over_found {
    double ns[HAND_OVER_WAYS][BENCH_SAMPLES]; /* of one hand-over, in each repetition */
    /* Of a hand-over under Belfry: */
    double driver_calls, barriers, semaphore_waits, looks;
    struct bench_found nothing; /* its reason alone */
};

/* How many fills make a hand-over by semaphores take about `nanoseconds`; 0 with
 * a reason in `found`. The side isn't attached. */
uint32_t hand_over_fills(struct side *side, uint64_t nanoseconds, struct bench_found *found);

/* Measures the ways of the mask `ways`, bit 1 << way, in turn, `repetitions` times (at most
 * BENCH_SAMPLES); pieces of `fills` fills (0: empty ones), `count` of them at a time. `side` isn't
 * attached. */
void hand_over_compare(struct side *side, uint32_t engines, uint32_t fills, uint32_t count,
                       uint32_t ways, uint32_t repetitions, struct hand_over_found *found);

#endif
