/* SPDX-License-Identifier: MIT */
/*
 * Where values come from, and what decides whether a block runs: forwards through operations,
 * variables, calls and branches, until nothing more is found. What isn't known comes from
 * everywhere.
 *
 * A branch hands on where its condition comes from to what runs only on one side of it: a block's
 * origin is that of all conditions between it and the entry point. So a loop's header has the
 * origin of what ends it, and of what it lies in.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_ORIGIN_H
#define BELFRY_SPECIALIZE_ORIGIN_H

#include "specialize/dry_run/dry_run.h"
#include "specialize/dry_run/flow.h"

enum bf_origin {
    BF_ORIGIN_VARYING = 1 << 0,    /* may differ between invocations of a workgroup, or of a draw */
    BF_ORIGIN_FLOAT = 1 << 1,      /* computed with floats, other than moved */
    BF_ORIGIN_DERIVATIVE = 1 << 2, /* or an implicit level of detail, or an input attachment */
    BF_ORIGIN_SUBGROUP = 1 << 3,   /* what a subgroup is, and has */
    BF_ORIGIN_UNASSIGNED = 1 << 4, /* a variable that may not have been written */
    BF_ORIGIN_SHARED = 1 << 5,     /* memory that other invocations write; atomics, clocks */
    BF_ORIGIN_FOLDED = 1 << 6,     /* what 'folded' says, or memory that others write */
    BF_ORIGIN_TOUCHED = 1 << 7,    /* floats that came of that, and what came of these */
    BF_ORIGIN_ANY = (1 << 8) - 1,
};

struct bf_origins {
    const struct bf_flow *flow;
    const bool *folded; /* [bound] values that are to be followed; NULL: none */
    uint8_t *value;     /* [bound] of a pointer: of its indices */
    uint8_t *block;     /* [blocks] */
    uint8_t *memory;    /* [bound] of what a variable holds */
    uint8_t *function;  /* [function_count] of the blocks that call it */
    uint8_t *returned;  /* [function_count] of its result */
    uint8_t *ending;    /* [function_count] of what decides whether it ends the invocation */
    uint8_t *after;     /* [blocks] of what may have ended it before */
    bool *written;      /* [bound] by variable */
    bool *unfinished;   /* [bound] outputs that may not have been written at the end */
    uint32_t *base; /* [bound] the variable or parameter that a pointer or an image comes from */
    uint32_t *same; /* [bound] variables that may be one have one of them */
    uint8_t *unassigned; /* [instruction_count] loads of what may not have been written */
    bool changed;
};

/* False: out of memory. The stage is the entry point's. 'stages' and 'folded' may be NULL; the
 * latter stays as long as the origins. */
bool bf_origins_find(struct bf_origins *origins, const struct bf_flow *flow, struct bf_arena *arena,
                     VkShaderStageFlagBits stage, const struct bf_dry_run_stages *stages,
                     const bool *folded);

/* Of all outputs that have integers in them. */
uint8_t bf_origins_handed(const struct bf_origins *origins);

/* The variable behind a pointer or an image, for all that may be the same; 0: unknown. */
uint32_t bf_origin_memory(const struct bf_origins *origins, uint32_t id);

/* Whether it makes an integer of a float that is the same in all invocations and was only moved,
 * both of 32 bits: nothing of that can be rounded, and what no integer can hold is told of
 * (operands.c). */
bool bf_origin_converts(const struct bf_origins *origins, const struct bf_instruction *in);

/* Whether it makes an integer, or bits, of a float that was only moved, in whatever invocations:
 * nothing of that is rounded. With 'folded' such an integer isn't BF_ORIGIN_FLOAT. */
bool bf_origin_takes_over(const struct bf_origins *origins, const struct bf_instruction *in);

/* The storage class of a pointer; SpvStorageClassMax: it is none. */
uint32_t bf_pointer_storage(const struct bf_module *m, uint32_t id);

/* Is its result what other invocations of the subgroup have? */
bool bf_opcode_is_subgroup(uint16_t opcode);

/* assigned.c: fills in 'unassigned' and 'unfinished', out of 'base'. False: out of memory. */
bool bf_unassigned_find(struct bf_origins *origins, struct bf_arena *arena);

#endif
