/* SPDX-License-Identifier: MIT */
/*
 * How long a queue's packets take on the GPU, learnt from when their epochs were seen complete.
 *
 * A sample is the time between two completions that were seen, divided by the packets between
 * them, where nothing but the queue's packets was. Such a time is too long where the VkQueue was
 * idle in between, or was looked at late; it is too short where the completion before was seen
 * late. So of the last BF_COST_SAMPLES the second least counts, and of less than half as many the
 * least. That is for bounds. What a queue has had of the GPU in all is told by the mean: of samples
 * behind which the VkQueue had more to do, so that it wasn't idle, what one is too long by the next
 * is too short. Where completions are often seen late, more than one sample is too short: bounds go
 * by no less than three quarters of the mean.
 *
 * Where the GPU measures packets (PW-8, scheduler/packet_time.h), its times are right, and their
 * mean is all that counts, of few the least: the first may have been interrupted; until for
 * BF_COST_MEASURED samples none has come.
 *
 * Thread-safety: the engine's lock is held.
 */
#ifndef BELFRY_SCHEDULER_COST_H
#define BELFRY_SCHEDULER_COST_H

#include <stdbool.h>
#include <stdint.h>

#define BF_COST_SAMPLES 8

/* In the mean, no sample counts as more than so many times the mean: one that does was most likely
 * a processor's that had something else to do. A queue that has become dearer is known for it all
 * the same, after some more packets. */
#define BF_COST_SPIKE 3

/* No packet counts as less, in ns. */
#define BF_COST_LEAST 100

/* As many samples without a time that the GPU has measured, and the GPU's are no longer of late. */
#define BF_COST_MEASURED 64

/* It isn't known how long packets take. */
#define BF_COST_UNKNOWN UINT64_MAX

struct bf_cost {
    uint64_t samples[BF_COST_SAMPLES]; /* ns */
    uint32_t count, next;
    uint64_t mean_ns;     /* of late; 0: none yet */
    uint64_t measured_ns; /* the mean of what the GPU has measured; 0: it doesn't */
    uint32_t measured;    /* of how many; half of BF_COST_SAMPLES: as many or more */
    uint32_t unmeasured;  /* samples since then */
};

/* 'busy': the VkQueue was, until it was looked at. */
void bf_cost_add(struct bf_cost *cost, uint64_t ns, bool busy);

/* Of one packet the GPU has measured that, more than 0 ns. */
void bf_cost_add_measured(struct bf_cost *cost, uint64_t ns);

/* Of one packet, in ns; or BF_COST_UNKNOWN. */
uint64_t bf_cost_estimate(const struct bf_cost *cost);

/* Of one packet, in ns; 'unknown' where that isn't known. */
uint64_t bf_cost_mean(const struct bf_cost *cost, uint64_t unknown);

#endif
