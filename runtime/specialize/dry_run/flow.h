/* SPDX-License-Identifier: MIT */
/*
 * The control flow of a module: blocks, who goes to whom, dominators, and which branch decides
 * whether a block runs. Of functions that the entry point reaches; the module is valid.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_FLOW_H
#define BELFRY_SPECIALIZE_FLOW_H

#include "specialize/shader/arena.h"
#include "specialize/shader/module.h"

#define BF_NO_BLOCK UINT32_MAX

struct bf_block {
    uint32_t label;                      /* id */
    uint32_t first, last;                /* instructions: OpLabel, and the branch or end */
    uint32_t merge;                      /* its OpLoopMerge or OpSelectionMerge; 0: none */
    uint32_t function;                   /* index */
    uint32_t *successors, *predecessors; /* blocks, each once */
    uint32_t successor_count, predecessor_count;
    uint32_t order;                     /* in reverse postorder; BF_NO_BLOCK: no path leads to it */
    uint32_t dominator, post_dominator; /* the nearest; BF_NO_BLOCK: none, or behind the function */
    uint32_t latch; /* of a loop's header: the block that goes back to it; BF_NO_BLOCK: none does */
};

struct bf_flow {
    const struct bf_module *m;
    struct bf_arena *arena;
    struct bf_block *blocks; /* of a function in a row, in the module's order */
    uint32_t count;
    uint32_t *ordered; /* those that can be reached, a function in a row, in reverse postorder */
    uint32_t *ordered_first; /* [function_count + 1] */
    uint32_t *of_label;      /* [bound] block + 1 */
    uint32_t
        *of_instruction; /* [instruction_count] block + 1; 0: not in a function that is reached */
    bool out_of_memory, irreducible;
};

/* With 'exits' each block that goes back to a loop's header also goes to the loop's end, and post
 * dominators are found. False: see out_of_memory; irreducible: a cycle without a loop's header, or
 * a block from which nothing leads out. All that is allocated is the arena's. */
bool bf_flow_init(struct bf_flow *flow, const struct bf_module *m, struct bf_arena *arena,
                  bool exits);

/* Whether each path to b comes through a; both can be reached. */
bool bf_flow_dominates(const struct bf_flow *flow, uint32_t a, uint32_t b);

static inline bool bf_block_is_loop(const struct bf_flow *flow, const struct bf_block *block)
{
    return block->merge && flow->m->instructions[block->merge].opcode == SpvOpLoopMerge;
}

/* Where something is inserted at a block's end: before what has to be last. */
static inline uint32_t bf_block_tail(const struct bf_block *block)
{
    return block->merge ? block->merge : block->last;
}

#endif
