/* SPDX-License-Identifier: MIT */
/*
 * How long a queue's packets take on the GPU, learnt from when their epochs were seen complete.
 *
 * A sample is the time between two completions that were seen, divided by the packets between
 * them, where nothing but the queue's packets was. Such a time is too long where the VkQueue was
 * idle in between, or was looked at late; it is too short where the completion before was seen
 * late. So of the last BF_COST_SAMPLES the second least counts, and of less than half as many the
 * least. Where GPU timestamps are taken
 * anyway, these aren't asked: they come later than the completions do.
 *
 * Thread-safety: the engine's lock is held.
 */
#ifndef BELFRY_SCHEDULER_COST_H
#define BELFRY_SCHEDULER_COST_H

#include <stdint.h>

#define BF_COST_SAMPLES 8

/* It isn't known how long packets take. */
#define BF_COST_UNKNOWN UINT64_MAX

struct bf_cost {
    uint64_t samples[BF_COST_SAMPLES]; /* ns */
    uint32_t count, next;
};

void bf_cost_add(struct bf_cost *cost, uint64_t ns);

/* Of one packet, in ns; or BF_COST_UNKNOWN. */
uint64_t bf_cost_estimate(const struct bf_cost *cost);

#endif
