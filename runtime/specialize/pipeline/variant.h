/* SPDX-License-Identifier: MIT */
/*
 * A variant: a pipeline rebuilt for particular bytes of its push constants.
 *
 *  VA-1  Its handle is destroyed only when it is withdrawn and no command buffer that recorded it
 *        is left: 'state' counts those command buffers, and retiring it is one compare-exchange
 *        from "withdrawn, and none". Whoever takes a reference to a withdrawn variant gives it
 *        back.
 *  VA-2  The struct lives as long as its pipeline's record (struct bf_pipeline) or the last command
 *        buffer that recorded it, whichever ends later: recording threads may read it without a
 *        lock.
 *  VA-3  The fields that decide whether it is picked (mask, values, groups and formats) never
 *        change once it is published.
 *
 * Proven by tests/specialize/pipeline/variants.c.
 */
#ifndef BELFRY_SPECIALIZE_VARIANT_H
#define BELFRY_SPECIALIZE_VARIANT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "specialize/pipeline/format_classes.h"

#define BF_WATCHED      8 /* words of push constants that a pipeline is specialised for, at most */
#define BF_MAX_VARIANTS 4 /* published for a pipeline at a time, at most */

struct bf_pipeline;

/* Bits of 'state' above the count of command buffers. */
#define BF_VARIANT_WITHDRAWN UINT32_C(0x80000000) /* it isn't picked any more */
#define BF_VARIANT_RETIRED   UINT32_C(0x40000000) /* and its handle is destroyed, or about to be */
#define BF_VARIANT_REFS      UINT32_C(0x3fffffff)

struct bf_variant {
    struct bf_variant *next; /* all variants of its pipeline; the record's lock */
    VkPipeline handle;
    uint64_t bytes;              /* that it takes, as far as can be told */
    uint8_t mask;                /* which of the pipeline's watched words are constants */
    uint32_t values[BF_WATCHED]; /* of those words; 0 where the mask has none */
    /* The most workgroups of a dispatch, or how far a render area may reach, that it is for: as far
     * as it was checked (RC-7, RC-8). */
    uint32_t groups[3];
    uint32_t asked[3];                 /* the program's largest then; 0: not known */
    struct bf_format_bindings formats; /* that it was checked for (RC-9) */
    _Atomic uint32_t formats_fit;      /* the version at which they were found to be all, + 1 */
    _Atomic uint32_t state;
    _Atomic uint64_t picked; /* draws and dispatches recorded with it */
    uint32_t candidate; /* its index among the pipeline's candidates (specialize/variant_state.h) */
    _Atomic bool ab_timed; /* A/B timing: half of the command buffers get it */

    /* pipeline.c's, under the pipelines' lock */
    struct bf_variant *next_ended; /* withdrawn variants that still have their handles */
    bool ended;
    bool orphan; /* its pipeline's record has ended */
};

/* A command buffer records it (counted once each). False: it is withdrawn, and the general
 * pipeline is to be recorded. */
static inline bool bf_variant_acquire(struct bf_variant *variant)
{
    uint32_t was = atomic_fetch_add(&variant->state, 1);
    if (!(was & (BF_VARIANT_WITHDRAWN | BF_VARIANT_RETIRED)))
        return true;
    atomic_fetch_sub(&variant->state, 1);
    return false;
}

/* The command buffer is reset, begun again or freed. */
static inline void bf_variant_release(struct bf_variant *variant)
{
    atomic_fetch_sub(&variant->state, 1);
}

/* From now on it is not picked. */
static inline void bf_variant_withdraw(struct bf_variant *variant)
{
    atomic_fetch_or(&variant->state, BF_VARIANT_WITHDRAWN);
}

/* True, to one caller: nobody records it and nobody will; the caller destroys its handle. */
static inline bool bf_variant_retire(struct bf_variant *variant)
{
    uint32_t expected = BF_VARIANT_WITHDRAWN;
    return atomic_compare_exchange_strong(&variant->state, &expected,
                                          BF_VARIANT_WITHDRAWN | BF_VARIANT_RETIRED);
}

#endif
