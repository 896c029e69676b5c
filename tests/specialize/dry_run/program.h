/* SPDX-License-Identifier: MIT */
/*
 * Random programs for a compute shader: loops of all kinds in one another, with breaks, continues
 * and returns, in calls, and indices that are mostly inside. As SPIR-V, and as what a processor
 * without limits would do.
 *
 * The shader's interface is gpu.h's: words that are written at binding 0, PROGRAM_VARIABLES for
 * each of 32 invocations, words that are given at binding 2, four push constants. All values are
 * 32-bit integers.
 */
#ifndef SPECIALIZE_DRY_RUN_PROGRAM_H
#define SPECIALIZE_DRY_RUN_PROGRAM_H

#include "support/std.h"

#define PROGRAM_VARIABLES 4

struct program;

/* A seed always makes the same program. */
struct program *program_make(uint64_t seed);
void program_free(struct program *program);

/* Its assembly, until the program is freed. */
const char *program_text(struct program *program);

enum program_end {
    PROGRAM_ENDS,
    PROGRAM_MAY_RUN_OUT, /* somewhere between one and two times the total */
    PROGRAM_RUNS_OUT,
    PROGRAM_STEPS_OUT,
    PROGRAM_DIVIDES,    /* by zero */
    PROGRAM_GOES_WRONG, /* in one way or another */
};

struct program_inputs {
    const uint32_t *given;
    uint32_t given_count;
    uint32_t push[4];
    uint32_t loop_limit, total_limit;
};

/* What one invocation does first that it shouldn't, and if it ends, what it writes. */
enum program_end program_run(const struct program *program, const struct program_inputs *inputs,
                             uint32_t me, uint32_t out[PROGRAM_VARIABLES]);

#endif
