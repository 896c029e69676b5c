/*
 * A device's clock on the CPU's: where its timestamps lie on CLOCK_MONOTONIC.
 *
 * Both clocks are read together now and then, and stamps between two readings are placed on the
 * line between them; those after the last, on the line that the readings of the last two seconds
 * make. Readings are frequent at first, when the rates are known from the driver alone, and a
 * quarter of a second apart in the end: so a clock that is 100 ppm off what its driver says, and
 * drifts, is followed to within a few microseconds. A reading during which the thread was
 * interrupted is known by its length, and read again, or done without.
 *
 * One calibration serves all engines of a device whose timestamps have the same number of bits.
 *
 * Thread-safety: all functions may be called from any thread at once. No lock is held over the
 * driver's call.
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

/* How often one of the clocks was found stopped or set: timestamps from before and after can't be
 * compared. */
uint32_t bf_calibration_starts(const struct bf_calibration *calibration);

/* Reads the clocks again if it is time. To be called before stamps are placed; costs a look at the
 * CPU's clock otherwise. */
void bf_calibration_update(struct bf_calibration *calibration);

/* The device's timestamp 'raw', as it was read, in full: of a time little earlier than
 * 'expected_ns', or any time later until the counter has gone round. (36 bits of 1 ns go round in
 * 69 s; packets may wait that long, but run before they were submitted only by a clock's error.) */
uint64_t bf_calibration_extend(struct bf_calibration *calibration, uint64_t raw,
                               uint64_t expected_ns);

/* Where a timestamp in full lies. Later readings may move it by a few microseconds: who needs an
 * order that stays keeps it. */
uint64_t bf_calibration_place(struct bf_calibration *calibration, uint64_t ticks);

#endif
