/* SPDX-License-Identifier: MIT */
/*
 * A module of which nobody can tell beforehand what a device may compute otherwise than the host
 * that would evaluate it: operands of functions that round, of divisions and remainders of floats,
 * of narrowing, and of clamps, which make NaN of NaN, are unknown. (Sums and products that are
 * NoContraction nobody evaluates.) For the search of what is dead (left.h, FN-2); not to be run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_INEXACT_H
#define BELFRY_SPECIALIZE_INEXACT_H

#include "specialize/shader/module.h"

/* The module is valid. *out is allocated by malloc. *hiding: the variable, a boolean, that chooses
 * between what an operand was and what isn't known. Errors: VK_ERROR_OUT_OF_HOST_MEMORY;
 * VK_ERROR_INVALID_SHADER_NV: it can't be followed. */
VkResult bf_inexact_hide(const struct bf_shader_info *info, uint32_t **out, size_t *out_count,
                         uint32_t *hiding);

#endif
