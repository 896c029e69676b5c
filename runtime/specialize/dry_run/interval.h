/* SPDX-License-Identifier: MIT */
/*
 * Between which numbers a value lies, whatever a device may make of an operation: it may round in
 * either way, as roughly as Vulkan allows, flush denormals, contract products and sums, re-order
 * sums, and products of up to four factors. Of 32-bit floats, of 32-bit integers as if all were
 * signed, and of booleans, 0 and 1; of all components of a vector, or parts of a composite, at
 * once.
 *
 *  FN-6  With operands in the intervals given, the result is in the interval returned, or NaN, and
 *        that only with 'nan'.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_INTERVAL_H
#define BELFRY_SPECIALIZE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct bf_interval {
    double low, high; /* low > high: there is no value yet */
    bool nan;
};

static inline bool bf_interval_is_empty(struct bf_interval a)
{
    return a.low > a.high;
}

struct bf_interval bf_interval_none(void);
/* Anything, whatever its type. */
struct bf_interval bf_interval_any(void);
struct bf_interval bf_interval_integer(void);
/* Of a float it may be flushed. */
struct bf_interval bf_interval_of(double low, double high);
struct bf_interval bf_interval_hull(struct bf_interval a, struct bf_interval b);

/* Floats. */
struct bf_interval bf_interval_add(struct bf_interval a, struct bf_interval b);
struct bf_interval bf_interval_multiply(struct bf_interval a, struct bf_interval b);
/* Of a value with itself. */
struct bf_interval bf_interval_square(struct bf_interval a);
struct bf_interval bf_interval_divide(struct bf_interval a, struct bf_interval b);
struct bf_interval bf_interval_negate(struct bf_interval a);
/* From 'least' to 'most' such summands. */
struct bf_interval bf_interval_sum(struct bf_interval a, uint32_t least, uint32_t most);
/* FMod, or FRem. */
struct bf_interval bf_interval_remainder(struct bf_interval a, struct bf_interval b);
/* Of GLSL.std.450, with up to three operands; of integers, too. */
struct bf_interval bf_interval_library(uint32_t function, const struct bf_interval operands[3]);
/* To an integer, and from one. */
struct bf_interval bf_interval_truncate(struct bf_interval a);
struct bf_interval bf_interval_float(struct bf_interval a, bool is_signed);
/* From any integer of so many bits. */
struct bf_interval bf_interval_float_of(uint32_t bits, bool is_signed);

/* Integers: an opcode with up to two operands. */
struct bf_interval bf_interval_whole(uint16_t opcode, const struct bf_interval operands[2]);

/* Whether a may be less than b, or as well the same; 'is_signed' says how integers compare, floats
 * are signed. NaN is never. */
bool bf_interval_may_be_less(struct bf_interval a, struct bf_interval b, bool same, bool is_signed);
/* A boolean: a comparison or a logical operation. */
struct bf_interval bf_interval_truth(uint16_t opcode, const struct bf_interval operands[2]);

#endif
