/* SPDX-License-Identifier: MIT */
/*
 * The dry-run form of a shader: the module, rewritten so that every invocation ends and reads and
 * writes only what is its own, and tells whether it would have done so by itself. Nothing here
 * calls Vulkan.
 *
 * For whoever runs a shader on inputs of his own making, before the shader runs there as it is:
 *
 *     struct bf_dry_run run;
 *     const struct bf_dry_run_options options = {.set = 3, .binding = 0};
 *     bf_dry_run_create(&info, &options, &run);
 *     run.reason                 anything but BF_DRY_RUN_FINE: uncheckable, this is why; no words
 *     run.words, word_count      a module for a pipeline with the same specialization and the same
 *                                sets, and one more storage buffer at 'set' and 'binding': struct
 *                                bf_dry_run_result, zeroed before each submission; both stages of a
 *                                pipeline may have the same one
 *     ... submit ...
 *     result.flags               anything but 0: drop these inputs; no inputs left: uncheckable
 *     result.invocations         how many have told, to compare with how many there were; 0: none
 *     result.fragments           the same of those that are fragments, which aren't among these
 *     run.bare                   anything but BF_DRY_RUN_FINE: the shader as it is may go other
 *                                ways than its dry run did, whatever that has told: uncheckable
 *
 * With 'untaken_descriptors' a module is refused that has an index of descriptors which isn't a
 * constant: on a way that isn't taken nothing keeps it inside.
 *
 * The pipeline's device has robustBufferAccess, and for a stage that isn't compute the feature by
 * which that stage may write buffers (fragmentStoresAndAtomics, vertexPipelineStoresAndAtomics).
 * Invocations that are only helpers write nothing, and so don't tell: draw whole quads.
 *
 * What is promised:
 *
 *  FU-1  Every invocation ends. A loop goes round 'loop_limit' times at most each time that it is
 *        come to, all loops together 2 * 'total_limit' times and once for each time that one is
 *        come to; there is no recursion. Running out of this leaves the loop with BF_DRY_RUN_FUEL;
 *        what the loop would have brought is zero, or what it was before.
 *  FU-2  No index leaves what it indexes: vectors, matrices, arrays of whatever storage, the last
 *        array of a buffer, descriptors, texels, levels whose size is asked for. A step out becomes
 *        the last element, with BF_DRY_RUN_BOUNDS. (A buffer smaller than its block says is
 *        robustBufferAccess' to catch.)
 *  FU-3  Where it tells of nothing, the dry-run form has done what the module does, with every bit
 *        of what it stores. Where the module would have run out or stepped out, or computed what is
 *        left open (FU-9), it tells.
 *  FU-4  Each invocation tells once: before it returns, is killed or terminated. Demotion waits
 *        until then; where that would show, the module is refused.
 *  FU-5  What ends in one invocation and not in another can't part those that meet: a control
 *        barrier or an operation of a subgroup is accepted only where none but uniform conditions
 *        lead, and loops that only such conditions end have fuel of their own, which runs out
 *        everywhere at once.
 *  FU-6  'bare' is BF_DRY_RUN_FINE only if all that ends a loop or is an index, and all that
 *        decides whether it is come to, or whether OpUnreachable is, derives from integers, inputs
 *        and memory that nobody writes, and from variables that have been written: not from
 *        arithmetic with floats (a float that was only moved and is the same in all invocations may
 *        become an integer, FU-9), derivatives, implicit levels of detail, input attachments (which
 *        helpers read beside what is drawn), results of subgroups, memory that others write. With
 *        'stages' an input is what the stage before has made of it, and memory that the other
 *        stages write counts as such.
 *  FU-7  A module that was valid gives a valid one, or a reason; any words whatever are survived.
 *  FU-8  With 'points', each invocation also tells which of them it has come to: each block that a
 *        path leads to, each edge of a branch that leads where others lead too, and each side of
 *        the choices between numbers, component by component. It tells of a point if and only if it
 *        has come to that block, gone that way, or chosen that side; a comparison of equals, or
 *        with a NaN, is on no side but that of clamp's values that stay. But a fragment that is
 *        discarded tells only of what may have led to that, or to what it has stored: nobody sees
 *        the rest of it. The shader does what it does without.
 *  FU-9  No integer is computed of operands for which SPIR-V or Vulkan leaves its value open
 *        (divided by zero, or the least number by -1; a remainder of or by a negative number;
 *        clamped to what ends before it begins; shifted by its width or more; bits beyond it;
 *        wrapped where it is said that it doesn't; made of a float, if it may steer, that it can't
 *        hold): drivers may fold it, and what it steers go this way in one module and that way in
 *        another. The operands become others, with BF_DRY_RUN_UNDEFINED.
 *
 * Proven by tests/specialize/dry_run.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_DRY_RUN_H
#define BELFRY_SPECIALIZE_DRY_RUN_H

#include "specialize/shader/shader.h"

/* llvmpipe ends all loops after 65,535 rounds of up to 16 invocations that go round one by one. */
#define BF_DRY_RUN_LOOP_LIMIT  2000
#define BF_DRY_RUN_TOTAL_LIMIT 2000

/* Points that are told of at most. */
#define BF_DRY_RUN_POINTS 2048

/* What lies in the storage buffer. */
struct bf_dry_run_result {
    uint32_t flags;       /* enum bf_dry_run_flag, of all invocations */
    uint32_t invocations; /* of other stages, that have told */
    uint32_t rounds;      /* the most that the loops of one invocation have gone round */
    uint32_t fragments;   /* that have told */
    uint32_t points[BF_DRY_RUN_POINTS / 32]; /* [FU-8] bit i % 32 of word i / 32: point i */
};

enum bf_dry_run_flag {
    BF_DRY_RUN_FUEL = 1 << 0,        /* a loop would have gone on */
    BF_DRY_RUN_BOUNDS = 1 << 1,      /* an index was outside */
    BF_DRY_RUN_UNREACHABLE = 1 << 2, /* it came to where the module says that nobody comes */
    BF_DRY_RUN_UNDEFINED = 1 << 3,   /* an integer's value was left open by its operands */
};

/* X(constant, code). */
#define BF_DRY_RUN_REASONS(X)                                                                      \
    X(BF_DRY_RUN_FINE, "fine")                                                                     \
    X(BF_DRY_RUN_INVALID, "invalid")       /* SPIRV-Tools refuses it, before or after */           \
    X(BF_DRY_RUN_STAGE, "stage")           /* one that isn't rewritten, or no such entry point */  \
    X(BF_DRY_RUN_CAPABILITY, "capability") /* one that isn't known; decoration groups */           \
    X(BF_DRY_RUN_BINDING, "binding")       /* the module has something there itself */             \
    X(BF_DRY_RUN_ADDRESSES, "addresses")   /* of buffers */                                        \
    X(BF_DRY_RUN_POINTERS, "pointers")     /* that are values */                                   \
    X(BF_DRY_RUN_FLOW, "flow")             /* loops not built as they should be */                 \
    X(BF_DRY_RUN_SIZE, "size")             /* too large once its calls are followed; recursion */  \
    X(BF_DRY_RUN_BARRIER, "barrier")       /* where not all invocations may come */                \
    X(BF_DRY_RUN_SUBGROUP, "subgroup")     /* the same; bare: the results steer */                 \
    X(BF_DRY_RUN_SHARED, "shared")         /* memory that others write, or atomics, steers */      \
    X(BF_DRY_RUN_DEMOTE, "demote")         /* and what would show that it comes late */            \
    X(BF_DRY_RUN_DESCRIPTORS, "descriptors") /* an array without a length, or untaken ones */      \
    X(BF_DRY_RUN_TEXEL, "texel")             /* coordinates or samples that can't be compared */   \
    X(BF_DRY_RUN_FLOAT, "float")             /* bare: these steer */                               \
    X(BF_DRY_RUN_DERIVATIVE, "derivative")                                                         \
    X(BF_DRY_RUN_UNASSIGNED, "unassigned")

enum bf_dry_run_reason {
#define BF_DRY_RUN_CONSTANT(constant, code) constant,
    BF_DRY_RUN_REASONS(BF_DRY_RUN_CONSTANT)
#undef BF_DRY_RUN_CONSTANT
        BF_DRY_RUN_REASON_COUNT,
};

/* What a stage has to do with the others of its pipeline. */
struct bf_dry_run_stages {
    bool behind;    /* its inputs come from another one */
    bool unhanded;  /* which doesn't write all of them */
    uint8_t handed; /* the other one's bf_dry_run.handed */
    uint32_t written_count;
    const struct bf_dry_run_binding {
        uint32_t set, binding;
    } * written; /* by any other one */
};

/* How many descriptors a binding has whose length the module leaves open. */
struct bf_dry_run_array {
    uint32_t set, binding, count;
};

struct bf_dry_run_options {
    uint32_t set, binding;       /* of the result */
    uint32_t loop_limit;         /* 0: BF_DRY_RUN_LOOP_LIMIT */
    uint32_t total_limit;        /* 0: BF_DRY_RUN_TOTAL_LIMIT */
    uint32_t vulkan_api_version; /* the driver's; 0: 1.3 */
    const struct bf_dry_run_array *arrays;
    uint32_t array_count;
    bool points; /* they are told of [FU-8]: a module with too many is refused for its size */
    uint32_t first_point; /* the number of the first: stages with one result have different ones */
    const struct bf_dry_run_stages *stages; /* NULL: it is alone */
    /* The driver reads descriptors on ways that aren't taken, too (gpu/driver_bug.h). */
    bool untaken_descriptors;
};

/* A block, an edge, or a side of what an instruction chooses. */
struct bf_dry_run_point {
    /* The instruction's first word in the module: of a block OpLabel's, of an edge the branch's. */
    uint32_t at;
    uint8_t component, side;
};

struct bf_dry_run {
    enum bf_dry_run_reason reason, bare;
    uint32_t *words;
    size_t word_count;
    uint32_t loop_count, index_count; /* that are watched */
    uint8_t handed;                   /* where the integers come from that it hands on (origin.h) */
    struct bf_dry_run_point *points;
    uint32_t point_count;
};

/* The words need not be valid. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_dry_run_create(const struct bf_shader_info *info,
                           const struct bf_dry_run_options *options, struct bf_dry_run *run);
/* A zeroed one is allowed. */
void bf_dry_run_finish(struct bf_dry_run *run);

/* Never NULL, whatever the number. */
const char *bf_dry_run_reason_name(enum bf_dry_run_reason reason);

#endif
