/* SPDX-License-Identifier: MIT */
/*
 * The device's timestamp counter at a time of the CPU's, where the two can be calibrated.
 */
#ifndef BELFRY_GPU_CLOCK_H
#define BELFRY_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct bf_gpu;
struct bf_gpu_engine;

/* A device's; zeroed hasn't been calibrated. */
struct bf_gpu_clock {
    struct bf_lock lock; /* a leaf but for the driver's call */
    bool valid;
    uint64_t ticks, ns; /* at one instant, about */
};

/* The engine's counter, in its valid bits, at that time on CLOCK_MONOTONIC; 0 where there are no
 * calibrated timestamps. Within a few microseconds for times near now. Thread-safety: safe. */
uint64_t bf_gpu_clock_ticks(struct bf_gpu_engine *engine, uint64_t ns);

/* The counter about now, in all of its bits; else 0. Thread-safety: safe. */
uint64_t bf_gpu_clock_now(struct bf_gpu *gpu);

#endif
