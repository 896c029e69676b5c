/* SPDX-License-Identifier: MIT */
/*
 * A module whose functions are in the places that call them, as drivers inline them: SPIRV-Tools
 * then follows what an argument makes constant (specialize/shader/freeze.h). It inlines, too, but
 * what it moves gets new ids.
 *
 *  FN-5  The entry point does what it did, and each instruction that is left has the id that it
 *        had; of a block that a call has cut in two, 'rest_of' tells.
 *
 * A function stays one, and is called, if there are several calls of it, if it returns nowhere, or
 * from within choices and has loops or switches, too, or if a loop's first block calls it: the
 * module wouldn't be structured any more.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_INLINED_H
#define BELFRY_SPECIALIZE_INLINED_H

#include "specialize/shader/shader.h"

struct bf_inlined {
    uint32_t *words;
    size_t word_count;
    uint32_t own_bound; /* of the module as it was */
    uint32_t bound;
    /* [bound - own_bound] Of a label that is new: that of the block whose rest it begins, behind a
     * call. 0: it is none. */
    uint32_t *rest_of;
};

/* The module is valid. Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_SHADER_NV: calls are
 * too deep. */
VkResult bf_inlined_make(const struct bf_shader_info *info, struct bf_inlined *inlined);
/* A zeroed one is allowed. */
void bf_inlined_finish(struct bf_inlined *inlined);

#endif
