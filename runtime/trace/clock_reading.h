/* SPDX-License-Identifier: MIT */
/*
 * One instant on a device's clock and on CLOCK_MONOTONIC.
 *
 * A driver reads the two clocks one after the other, and its thread may be interrupted in between,
 * for milliseconds where the CPUs are busy. Such a reading took longer than others: it is repeated.
 *
 * Thread-safety: safe. The driver is called, and no lock is taken.
 */
#ifndef BELFRY_TRACE_CLOCK_READING_H
#define BELFRY_TRACE_CLOCK_READING_H

#include <stdint.h>

#include <vulkan/vulkan.h>

/* A reading whose error may be larger was probably interrupted. */
#define BF_CLOCK_READING_DOUBT_NS 10000u

/* How often the clocks are read for one that wasn't: as often as somebody can wait for who asks. */
#define BF_CLOCK_READING_TRIES 5

struct bf_clock_reading {
    uint64_t ticks; /* of the device, as many bits as its counter has */
    uint64_t ns;
    uint64_t bound_ns; /* the largest possible error */
};

/* The best of at most 'tries' (at least 1) readings, none after one that was prompt. Errors: the
 * driver's. */
VkResult bf_clock_reading_take(VkDevice device, PFN_vkGetCalibratedTimestampsEXT get, int tries,
                               struct bf_clock_reading *reading);

#endif
