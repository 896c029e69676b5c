/* SPDX-License-Identifier: MIT */
/*
 * Which numbers the values of a module can be, and where it can come with these: by intervals
 * (interval.h), forwards from constants, through choices, phis and branches, until nothing changes.
 *
 *  FN-7  On no inputs does an invocation come to a block, or to a side of a choice, that is said to
 *        be out of reach, whatever a device may make of its arithmetic. Of what isn't followed
 *        (memory, images, calls, other widths than 32 bits, RelaxedPrecision) the value may be any
 *        of its width.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_RANGES_H
#define BELFRY_SPECIALIZE_RANGES_H

#include "specialize/dry_run/interval.h"
#include "specialize/shader/arena.h"
#include "specialize/shader/module.h"

struct bf_ranges {
    const struct bf_module *m;
    struct bf_interval *values; /* [bound] empty: it isn't computed */
    bool *relaxed;              /* [bound] */
    bool *fixed;                /* [bound] a compiler can evaluate it */
    bool *special;  /* [bound] it, or what it is composed of, is a fixed 0 or infinity */
    bool *reached;  /* [bound] of labels */
    uint32_t *ends; /* [bound] of labels: the branch, an instruction; 0: it has none */
};

/* 'hiding' is the variable of bf_inexact_hide: what it chooses is what was hidden. All that is
 * allocated is the arena's. Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_SHADER_NV: it
 * would take too long. */
VkResult bf_ranges_find(struct bf_ranges *ranges, const struct bf_module *m, uint32_t hiding,
                        struct bf_arena *arena);

/* Whether a branch, at the end of the block of that label, may go to the other. */
bool bf_ranges_may_go(const struct bf_ranges *ranges, uint32_t from, uint32_t to);

/* Of a sum or product of a float that is a fixed 0 or infinity and of one that isn't fixed, which
 * word is the former; else 0. A compiler keeps signs of zeros, infinities and NaN of such only if
 * it is asked to, and else takes x * 0 for 0. */
uint32_t bf_ranges_special(const struct bf_ranges *ranges, const struct bf_instruction *in);

/* A bit for each side of a choice that may be taken, by its number (choice.h). */
uint8_t bf_ranges_sides(const struct bf_ranges *ranges, const struct bf_instruction *in);

#endif
