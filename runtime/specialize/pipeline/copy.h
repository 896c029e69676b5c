/* SPDX-License-Identifier: MIT */
/*
 * Copies of what pipelines are created from: everything that a create info points to, and with it
 * the decision whether the pipeline may be specialised at all.
 *
 *  CO-1  A struct is read only where Vulkan says that it isn't ignored: what is ignored may be
 *        garbage.
 *  CO-2  A pipeline with an unknown flag or chained struct has no copy, and a reason.
 *  CO-3  A copy differs from the program's create info only in what concerns the program's own
 *        call: it has no base pipeline, no feedback, and no request to fail rather than compile.
 */
#ifndef BELFRY_SPECIALIZE_COPY_H
#define BELFRY_SPECIALIZE_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "specialize/shader/arena.h"
#include "specialize/pipeline/code.h"
#include "specialize/pipeline/retained.h"
#include "specialize/reason.h"

struct bf_pipeline;
struct bf_pipelines;

#define BF_COUNT(array_) ((uint32_t)(sizeof(array_) / sizeof((array_)[0])))

#define BF_COPY_STAGES 2 /* vertex and fragment */

/* Immutable but for 'refs', 'lock', 'owner', and what is analysed of its stages
 * (bf_pipeline_copy_analyse). */
struct bf_pipeline_copy {
    struct bf_pipelines *pipelines;
    _Atomic uint32_t refs;
    struct bf_lock lock; /* over 'owner'; held while the record is looked at through it */
    /* the pipeline's record; NULL: the program has destroyed the pipeline */
    struct bf_pipeline *owner;
    uint64_t record; /* its id; 0 before it has one */

    VkPipelineBindPoint point;
    uint64_t flags;                       /* VkPipelineCreateFlags2 that it is built with */
    struct bf_retained_layout *layout;    /* held */
    struct bf_retained_render_pass *pass; /* held; NULL: dynamic rendering, or compute */
    uint32_t stage_count;
    uint32_t specialised; /* index of the stage that may be folded: the last one */
    struct bf_code_stage *stages[BF_COPY_STAGES];
    /* The create info of the bind point is ready for use but for the stages' modules
     * (VK_NULL_HANDLE). Its stages are in the order of 'stages'. */
    VkComputePipelineCreateInfo compute;
    VkGraphicsPipelineCreateInfo graphics;
    struct bf_arena arena;
};

/* *reason says what became of it. BF_REASON_NONE: *copy has one reference and no owner. Any
 * other: there is no copy. */
void bf_copy_compute(struct bf_pipelines *pipelines, const VkComputePipelineCreateInfo *info,
                     struct bf_pipeline_copy **copy, enum bf_reason *reason);
void bf_copy_graphics(struct bf_pipelines *pipelines, const VkGraphicsPipelineCreateInfo *info,
                      struct bf_pipeline_copy **copy, enum bf_reason *reason);

/* ---- For copy.c and copy_graphics.c ---- */

/* An empty copy. NULL: out of memory. */
struct bf_pipeline_copy *bf_copy_new(struct bf_pipelines *pipelines, VkPipelineBindPoint point);

/* The pipeline's flags, from whichever struct has them, without those that a copy doesn't keep. */
enum bf_reason bf_copy_flags(struct bf_pipeline_copy *copy, VkPipelineCreateFlags flags,
                             const void *chain);

/* BF_REASON_NO_PUSH: the stage, which is the one that may be folded, has no push constants, and
 * nothing else of the pipeline need be looked at (NW-1). Else BF_REASON_NONE. */
enum bf_reason bf_copy_scan(struct bf_pipelines *pipelines,
                            const VkPipelineShaderStageCreateInfo *stage);

/* Copies a stage into copy->stages and 'to'. */
enum bf_reason bf_copy_stage(struct bf_pipeline_copy *copy,
                             const VkPipelineShaderStageCreateInfo *from,
                             VkPipelineShaderStageCreateInfo *to);

/* A struct that may be in a chain: its size, and what it points to. */
struct bf_copy_link {
    VkStructureType type;
    uint32_t size; /* 0: the struct is left out */
    /* BF_REASON_NONE: the struct is copied; any other: the pipeline isn't specialised */
    enum bf_reason exclude;
    /* Copies the arrays that the copied struct points to; NULL: it points to nothing. */
    void (*deepen)(struct bf_arena *arena, void *s);
};

/* Copies a chain of the structs listed. A struct that isn't listed: BF_REASON_CHAIN. */
enum bf_reason bf_copy_chain(struct bf_pipeline_copy *copy, const void *chain,
                             const struct bf_copy_link *links, uint32_t link_count,
                             const void **to);

/* copy_graphics.c: everything that belongs to a graphics pipeline. */
enum bf_reason bf_copy_graphics_state(struct bf_pipeline_copy *copy,
                                      const VkGraphicsPipelineCreateInfo *info);

/* Finds the layout and holds it. */
enum bf_reason bf_copy_layout(struct bf_pipeline_copy *copy, VkPipelineLayout layout);

#endif
