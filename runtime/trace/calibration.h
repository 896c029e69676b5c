/* SPDX-License-Identifier: MIT */
/*
 * Converts timestamps of a device to CLOCK_MONOTONIC.
 *
 * Both clocks are read together from time to time. A timestamp between two readings is placed on
 * the straight line between them; one after the last reading, on the line through the readings of
 * the last two seconds. Readings are frequent at first, when only the driver's nominal rate is
 * known, and a quarter of a second apart later on. So a clock that deviates by 100 ppm from its
 * nominal rate, and drifts, is followed to within a few microseconds. A reading during which the
 * thread was interrupted took longer than others; it is repeated, or dropped.
 *
 * One calibration serves all engines of a device whose timestamps have the same number of bits.
 *
 * Thread-safety: all functions may be called from any thread at once. No lock is held while the
 * driver is called.
 */
#ifndef BELFRY_TRACE_CALIBRATION_H
#define BELFRY_TRACE_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_calibration;

struct bf_calibration_info {
    VkDevice device;
    PFN_vkGetCalibratedTimestampsEXT get; /* with the device and CLOCK_MONOTONIC domains */
    double period_ns;                     /* timestampPeriod */
    uint32_t valid_bits;                  /* timestampValidBits; not 0 */
};

/* Reads the clocks for the first time. NULL: they can't be read, or out of memory. */
struct bf_calibration *bf_calibration_create(const struct bf_calibration_info *info);
struct bf_calibration *bf_calibration_reference(struct bf_calibration *calibration);
void bf_calibration_release(struct bf_calibration *calibration); /* NULL is allowed */

uint32_t bf_calibration_bits(const struct bf_calibration *calibration);

/* How often one of the clocks was found to have been stopped or set. Timestamps from before and
 * after that can't be compared. */
uint32_t bf_calibration_starts(const struct bf_calibration *calibration);

/* Reads the clocks if a reading is due. To be called before timestamps are placed; otherwise it
 * costs one look at the CPU's clock. */
void bf_calibration_update(struct bf_calibration *calibration);
/* Were the clocks compared all the time since then? Else a timestamp from then on may be of the
 * clock before or behind a jump. */
bool bf_calibration_lasts(struct bf_calibration *calibration, uint64_t since_ns);
/* A time was impossible: the next update reads the clocks in any case. */
void bf_calibration_doubt(struct bf_calibration *calibration);

/* Extends the timestamp 'raw', of as many bits as the device has, to 64 bits. It must be from a
 * time shortly before 'expected_ns', or later by less than the counter takes to wrap around. (36
 * bits of 1 ns wrap around in 69 s. A packet may wait that long, but it begins before it was
 * submitted only by the error of a clock.) */
uint64_t bf_calibration_extend(struct bf_calibration *calibration, uint64_t raw,
                               uint64_t expected_ns);

/* Places an extended timestamp on CLOCK_MONOTONIC. Later readings may move the result by a few
 * microseconds: a caller that needs a stable order has to keep the result. */
uint64_t bf_calibration_place(struct bf_calibration *calibration, uint64_t ticks);

#endif
