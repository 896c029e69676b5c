/* SPDX-License-Identifier: MIT */
/* What the words of a shader's blocks are, and whether it has loops: for whoever generates
 * inputs.
 *
 * Thread-safety: one thread at a time. */
#ifndef BELFRY_SPECIALIZE_BLOCK_H
#define BELFRY_SPECIALIZE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "specialize/shader/shader.h"

struct bf_blocks;

#define BF_BLOCK_WORDS 16384 /* of a block, at most: more than a uniform buffer need have */

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INVALID_SHADER_NV: the module isn't understood.
 * The info stays valid until bf_blocks_close. */
VkResult bf_blocks_open(const struct bf_shader_info *info, struct bf_blocks **blocks);
/* NULL is allowed. */
void bf_blocks_close(struct bf_blocks *blocks);

/* Whether the functions that the entry point reaches contain loops. */
bool bf_blocks_loop(const struct bf_blocks *blocks);

/* Whether the shader indexes memory whose bounds no feature checks (shared, private or local
 * arrays, inputs and outputs) by an index that isn't constant. An unusual index may crash there. */
bool bf_blocks_fragile(const struct bf_blocks *blocks);

/*
 * Fills in what the first words of the binding's block are (enum bf_unit), and behind them those of
 * one element of its last array, if that is of unknown length; *period is how many of them are the
 * element's. Returns how many there are, at most BF_BLOCK_WORDS; 0: nothing is known of it.
 */
uint32_t bf_blocks_units(const struct bf_blocks *blocks, uint32_t set, uint32_t binding,
                         uint8_t units[BF_BLOCK_WORDS], uint32_t *period);

#endif
