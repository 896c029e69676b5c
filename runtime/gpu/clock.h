/* SPDX-License-Identifier: MIT */
/*
 * The value of a device's timestamp counter at a given CPU time, for devices whose clocks can be
 * calibrated (VK_EXT_calibrated_timestamps).
 */
#ifndef BELFRY_GPU_CLOCK_H
#define BELFRY_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct bf_gpu;
struct bf_gpu_engine;

/* One per device. A zeroed struct has no calibration yet. */
struct bf_gpu_clock {
    struct bf_lock lock; /* a leaf lock; the driver's calibration call is made under it */
    bool valid;
    uint64_t ticks, ns; /* GPU ticks and CLOCK_MONOTONIC, of the same instant or nearly so */
};

/* The engine's timestamp counter, masked to its valid bits, at that time on CLOCK_MONOTONIC; 0 if
 * the device can't calibrate timestamps. For times near now the result is right to within a few
 * microseconds. Thread-safety: safe. */
uint64_t bf_gpu_clock_ticks(struct bf_gpu_engine *engine, uint64_t ns);

/* The counter's value now, approximately, with all 64 bits; 0 if the device can't calibrate
 * timestamps. Thread-safety: safe. */
uint64_t bf_gpu_clock_now(struct bf_gpu *gpu);

#endif
