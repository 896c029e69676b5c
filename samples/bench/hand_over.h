/* SPDX-License-Identifier: MIT */
/*
 * Work that passes between two queues, back and forth: each piece waits for the one before.
 *
 * It is written in several ways on one device, with the same command buffers, so that only the way
 * differs. Each yields the duration of a piece in ns, until the driver is idle.
 */
#ifndef BENCH_HAND_OVER_H
#define BENCH_HAND_OVER_H

#include "attached.h"

enum hand_over_way {
    /* With bfQueueWait, bfQueueExecute and bfQueueSignal. */
    HAND_OVER_BELFRY,
    /* With a timeline semaphore for each direction, as two independent parts of a program would. */
    HAND_OVER_SEMAPHORES,
    /* On one VkQueue, as a program that knows all dependencies would: a command buffer with a full
     * barrier before each piece, and a semaphore that tells when it is done. */
    HAND_OVER_BARRIER,
    /* Like HAND_OVER_SEMAPHORES, with an empty command buffer before each piece. */
    HAND_OVER_EMPTY_MORE,
    HAND_OVER_WAYS,
};

struct hand_over_found {
    double ns[HAND_OVER_WAYS][BENCH_SAMPLES]; /* of a piece, in each repetition */
    /* Of a piece under Belfry: */
    double driver_calls, barriers, semaphore_waits, looks;
    struct bench_found nothing; /* only its reason is used */
};

/* The number of fills with which a piece by semaphores takes about `nanoseconds`; 0: the reason is
 * in `found`. The side must not be attached. */
uint32_t hand_over_fills(struct side *side, uint64_t nanoseconds, struct bench_found *found);

/* Measures the ways of the mask `ways` (1 << way) in turn, `repetitions` times (at most
 * BENCH_SAMPLES). A piece has `fills` fills (0: it is empty), and `count` pieces make a burst.
 * `side` must not be attached. */
void hand_over_compare(struct side *side, uint32_t engines, uint32_t fills, uint32_t count,
                       uint32_t ways, uint32_t repetitions, struct hand_over_found *found);

#endif
