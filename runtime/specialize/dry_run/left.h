/* SPDX-License-Identifier: MIT */
/*
 * What is left of a module once push constants have their values.
 *
 *  FN-2  Nothing is needed (needed.h) that isn't left of the module once the push constants that
 *        the variant is for have their values, wherever they are loaded
 *        (specialize/shader/freeze.h): nobody comes there. What a device may compute otherwise than
 *        a host says nothing of that. Nor is a block, or a side of a choice, that is out of reach
 *        of what values then can be (ranges.h). Of a module that SPIRV-Tools gives up all is left.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_LEFT_H
#define BELFRY_SPECIALIZE_LEFT_H

#include "specialize/shader/arena.h"
#include "specialize/shader/module.h"

struct bf_left {
    uint16_t *opcode; /* [bound] of what is left; 0: it isn't. NULL: all is */
    bool *branches;   /* [bound] labels: that block still goes one of several ways */
    uint8_t *sides;   /* [bound] of a choice: a bit for each side that may be taken */
    uint8_t *special; /* [bound] bf_ranges_special */
};

/* 'm' is the module of 'general', which is valid; 'fixed' and 'push' as in struct bf_needed_info.
 * All that is allocated is the arena's. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_left_find(struct bf_left *left, const struct bf_shader_info *general,
                      const struct bf_module *m, uint64_t fixed, const void *push,
                      struct bf_arena *arena);

enum bf_left_state {
    BF_LEFT_OPEN,    /* some may come to it, and others not */
    BF_LEFT_DECIDED, /* a choice that is another instruction, or a branch that goes one way */
    BF_LEFT_GONE,    /* nobody comes to it */
};

/* Of what is in the block of that label; of a choice that side. */
enum bf_left_state bf_left_of(const struct bf_left *left, const struct bf_instruction *in,
                              uint32_t label, uint32_t side);

#endif
