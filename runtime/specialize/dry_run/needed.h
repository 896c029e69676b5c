/* SPDX-License-Identifier: MIT */
/*
 * Which points of a shader (FU-8) have to be come to before it may be said that a variant of it
 * agrees.
 *
 * Folding makes values constants, and what is computed with constants may be computed otherwise:
 * factors are gathered, sums re-ordered, choices turned round. The float values that this can touch
 * are those that depend on what was folded, by data or because a condition that does decides over
 * them; and those that flow into one of these through arithmetic, choices, variables and calls,
 * since they may be gathered with it; integers among them, where they are converted or their bits
 * taken. What was computed of floats, other than taken over as an integer or as bits, counts as
 * they do where a condition that depends decides over it: integers, bits and comparisons that are
 * stored, written, returned or branched by there, and those that these were made or chosen of
 * before.
 *
 *  FN-1  Needed are: each block in which such a value, or one that was made of such, is computed or
 *        stored, or from which one comes into a phi, or over which a comparison or computation of
 *        floats decides that depends on what was folded, or which calls a function with such a
 *        block; the edges of a branch that decides over
 *        such a block, where no block tells of them; and each side, of each component, of a choice
 *        that has such a value for a result.
 *  FN-4  Told is also of what else such values are made, that a check has but few of, or that a
 *        program may change: enum bf_needed_source. Of a module that can't be followed it is all.
 *  FN-8  And which built-in inputs, that are the same in all of a check, or nearly so, such values
 *        may be made of (bf_needed_unvaried), how many samples an image has among them, or a stage
 *        before has that they may come from (bf_needed_unvaried_before): what it compares says
 *        nothing of others.
 *
 * Nothing is needed that isn't left once push constants have their values (left.h, FN-2).
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_NEEDED_H
#define BELFRY_SPECIALIZE_NEEDED_H

#include "specialize/dry_run/calls.h"
#include "specialize/dry_run/dry_run.h"

enum bf_needed_source {
    BF_NEEDED_PLACES = 1 << 0, /* it asks which fragment, workgroup or invocation it is */
    BF_NEEDED_PLACED = 1 << 1, /* and values that folding can touch may be made of it */
    BF_NEEDED_SIZES = 1 << 2,  /* it asks for sizes of images, or lengths of buffers' arrays */
    BF_NEEDED_TEXELS = 1 << 3, /* such values may be made of what it reads of images */
    /* And of push constants that aren't folded, elements of buffers, or texels, that all
     * invocations read alike; or of what a stage before hands on, which may be so. */
    BF_NEEDED_UNIFORM = 1 << 4,
    BF_NEEDED_SPECIALS = 1 << 5, /* a 0 or an infinity, constant then, meets what isn't: ranges.h */
    BF_NEEDED_FLAT = 1 << 6,     /* such values may be made of what one vertex brings a primitive */
    BF_NEEDED_UNVARIED =
        1 << 7, /* the first of bf_needed_unvaried, which has the bits above, too */
    BF_NEEDED_ALL = (1 << 17) - 1,
};

struct bf_needed_info {
    const struct bf_shader_info *general;
    /* How the general one has come of another; NULL: it is that one. */
    const struct bf_calls *calls;
    const uint32_t *folded; /* made of that by bf_shader_fold: it tells which loads were */
    size_t folded_count;
    uint64_t fixed;   /* bit i: word i of the push constants, */
    const void *push; /* BF_PUSH_CONSTANT_BYTES of these, is always so where the variant runs */
    const struct bf_dry_run_point *points; /* of the general one's dry-run form */
    uint32_t point_count;
};

/* needed[i]: point i is. beyond[i]: no inputs can come to it (FN-2, FN-7). *sources: enum
 * bf_needed_source, whatever is returned. Both modules are
 * valid. Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_SHADER_NV: the general one can't be
 * followed. */
VkResult bf_needed_find(const struct bf_needed_info *info, bool *needed, bool *beyond,
                        uint32_t *sources);

/* The name, in GLSL, of one of the built-in inputs among the sources that checks don't vary; NULL:
 * there is none. */
const char *bf_needed_unvaried(uint32_t sources);
/* The name of one that a stage before this one has, a valid module of 'count' words. 'instances':
 * vertex buffers have something of each, so that draws begin with the first. NULL: none. */
const char *bf_needed_unvaried_before(const uint32_t *words, size_t count, uint32_t sources,
                                      bool instances);

#endif
