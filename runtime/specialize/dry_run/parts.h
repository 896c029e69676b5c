/* SPDX-License-Identifier: MIT */
/* What the parts of the rewriter share: the module, what is known of it, and what is put into it
 * for all of them.
 *
 * Thread-safety: one thread at a time. */
#ifndef BELFRY_SPECIALIZE_DRY_RUN_PARTS_H
#define BELFRY_SPECIALIZE_DRY_RUN_PARTS_H

#include "specialize/dry_run/dry_run.h"
#include "specialize/dry_run/origin.h"
#include "specialize/dry_run/rewrite.h"

struct bf_parts {
    const struct bf_module *m;
    struct bf_flow flow;
    struct bf_origins origins;
    struct bf_rewrite rewrite;
    struct bf_arena *arena;
    const struct bf_dry_run_options *options;
    enum bf_dry_run_reason reason; /* the first that was found */
    uint32_t loop_count, index_count;
    uint8_t steers; /* origins of all that ends loops, is an index, or decides over either */
    /* Ids: private variables, functions. */
    uint32_t flags;
    uint32_t
        rounds[2]; /* of loops that end in one invocation, and of those that end in all at once */
    uint32_t demoted;   /* 0: nothing demotes */
    uint32_t discarded; /* the fragment is; 0: none are, or there are no points */
    uint32_t clamp;     /* uint clamp(uint index, uint length) */
    uint32_t burn[2];   /* bool burn(bool goes_on, uint rounds) */
    uint32_t finish;    /* void finish() */
    bool queries;       /* asks images for their sizes */
    struct bf_dry_run_point *points;
    uint32_t point_count;
    uint32_t covered[BF_DRY_RUN_POINTS / 32]; /* private variables; 0: none */
};

static inline void bf_parts_refuse(struct bf_parts *parts, enum bf_dry_run_reason reason)
{
    if (parts->reason == BF_DRY_RUN_FINE)
        parts->reason = reason;
}

/* flags |= the constant, before instruction i; or if the condition 'is' holds. */
void bf_parts_flag(struct bf_parts *parts, uint32_t i, uint32_t bit);
void bf_parts_flag_if(struct bf_parts *parts, uint32_t i, uint32_t is, uint32_t bit);

/* The integer, of that shape, as an unsigned one of 32 bits: what is above these becomes the
 * largest. Before instruction i. */
uint32_t bf_parts_uint(struct bf_parts *parts, uint32_t i, uint32_t value,
                       const struct bf_shape *shape);

/* fuel.c: loops get their counters and new ways out, and nobody comes to what nobody should. */
void bf_fuel_rewrite(struct bf_parts *parts);
/* bounds.c: indices and coordinates are compared. */
void bf_bounds_rewrite(struct bf_parts *parts);
/* operands.c: divisors, shifts and numbers of bits are compared. */
void bf_operands_rewrite(struct bf_parts *parts);
/* coverage.c: points are noted. */
void bf_coverage_rewrite(struct bf_parts *parts);
/* discarded.c: whether fragments are discarded; and if so of which points these may tell, bits as
 * in struct bf_dry_run_result. After bf_coverage_rewrite. */
bool bf_discarded_find(const struct bf_parts *parts, uint32_t told[BF_DRY_RUN_POINTS / 32]);
/* exits.c: what the others call, the result, and telling it. */
void bf_exits_begin(struct bf_parts *parts);
void bf_exits_rewrite(struct bf_parts *parts);

/* repair.c: values that no longer reach all their users go through variables.
 * VK_ERROR_INVALID_SHADER_NV: there is one that can't. *words is freed and replaced. */
VkResult bf_repair(uint32_t **words, size_t *word_count, const struct bf_shader_info *info);

#endif
