/* SPDX-License-Identifier: MIT */
/*
 * A module in which each function is called from one place: those that others call, too, are there
 * once for each call, with all that they call. Drivers inline, and fold in each call what its own
 * arguments make constant: so what one call has come to says nothing of another (dry_run.h, FU-8).
 *
 *  FN-3  The entry point does what it did, and each function that it comes to has one call. Ids
 *        stay; a module in which it is so already stays as it is.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_CALLS_H
#define BELFRY_SPECIALIZE_CALLS_H

#include "specialize/shader/shader.h"

struct bf_calls {
    uint32_t *words;
    size_t word_count;
    uint32_t *origin; /* [bound] the id that it is a copy of; its own */
    uint32_t bound;
    uint32_t own_bound; /* of the module as it was */
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_SHADER_NV: there is no such entry point, it
 * calls itself, or would become too large. Any words are survived. */
VkResult bf_calls_part(const struct bf_shader_info *info, struct bf_calls *calls);
/* A zeroed one is allowed. */
void bf_calls_finish(struct bf_calls *calls);

#endif
