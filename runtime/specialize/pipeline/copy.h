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
 *  CO-4  Of a graphics pipeline library the parts are copied that it was given itself, and of each
 *        part no more than belongs to it; those that it is linked from are referred to.
 *  CO-5  What is linked to a complete pipeline is composed of its parts, and can be built whole:
 *        only if each part is there once, and they agree about layouts, push constants, render pass
 *        and views. Else it has no copy, or none that remains (BF_REASON_LIBRARY, or the reason of
 *        one of its libraries). That is a part of the analysis (P-6).
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
/* Of a linked pipeline: itself and all libraries that it is linked from, at most. */
#define BF_COPY_LINKS         16
#define BF_COPY_FEW_LIBRARIES 4

/* The parts that a graphics pipeline consists of, and those in which it has shaders and a pass. */
#define BF_PART_VERTICES VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT
#define BF_PART_RASTER   VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
#define BF_PART_FRAGMENT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT
#define BF_PART_OUTPUT   VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT
#define BF_PARTS_SHADERS (BF_PART_RASTER | BF_PART_FRAGMENT)
#define BF_PARTS_PASS    (BF_PARTS_SHADERS | BF_PART_OUTPUT)
#define BF_PARTS_ALL     (BF_PART_VERTICES | BF_PARTS_PASS)

/* Immutable but for 'refs', 'lock', 'owner', and what the analysis adds (bf_pipeline_copy_analyse):
 * what is known of its stages and, where it is linked, all that lies in its libraries. */
struct bf_pipeline_copy {
    struct bf_pipelines *pipelines;
    _Atomic uint32_t refs;
    struct bf_lock lock; /* over 'owner'; held while the record is looked at through it */
    /* the pipeline's record; NULL: the program has destroyed the pipeline */
    struct bf_pipeline *owner;
    uint64_t record; /* its id; 0 before it has one */

    VkPipelineBindPoint point;
    uint64_t flags;                       /* VkPipelineCreateFlags2 that it is built with */
    struct bf_retained_layout *layout;    /* held; NULL: a library without shaders */
    struct bf_retained_render_pass *pass; /* held; NULL: dynamic rendering, or compute */
    uint32_t stage_count;
    uint32_t specialised; /* index of the stage that may be folded: the last one */
    struct bf_code_stage *stages[BF_COPY_STAGES];
    /* The create info of the bind point is ready for use but for the stages' modules
     * (VK_NULL_HANDLE). Its stages are in the order of 'stages'. */
    VkComputePipelineCreateInfo compute;
    VkGraphicsPipelineCreateInfo graphics;

    /* Of a graphics pipeline: which parts it was given itself, and with those of its libraries. A
     * library's 'graphics' has the former; that of a complete pipeline has all, some of which lie
     * in its libraries. */
    VkGraphicsPipelineLibraryFlagsEXT parts, all_parts;
    uint64_t link_flags; /* those of the program's flags that are about libraries alone */
    bool samples;        /* its fragment shader's part was given multisample state */
    uint32_t link_count; /* itself and all libraries below */
    uint32_t library_count;
    struct bf_pipeline_copy **libraries; /* that it is linked from; each with a reference */
    struct bf_pipeline_copy *few[BF_COPY_FEW_LIBRARIES]; /* which lie here, if there are no more */

    struct bf_arena arena;
};

/* *reason says what became of it. BF_REASON_NONE: *copy has one reference and no owner. Any
 * other: there is no copy. */
void bf_copy_compute(struct bf_pipelines *pipelines, const VkComputePipelineCreateInfo *info,
                     struct bf_pipeline_copy **copy, enum bf_reason *reason);
/* That of a library serves to compose what is linked from it, and can't be built. */
void bf_copy_graphics(struct bf_pipelines *pipelines, const VkGraphicsPipelineCreateInfo *info,
                      struct bf_pipeline_copy **copy, enum bf_reason *reason);

/* Whether a pipeline is a library. */
bool bf_copy_is_library(const VkGraphicsPipelineCreateInfo *info);

/* ---- For copy.c, copy_graphics.c and copy_library.c ---- */

/* An empty copy. NULL: out of memory. */
struct bf_pipeline_copy *bf_copy_new(struct bf_pipelines *pipelines, VkPipelineBindPoint point);

/* A struct in a chain. NULL: there is none. */
const void *bf_copy_chain_find(const void *chain, int type);

/* The pipeline's flags, from whichever struct has them. */
uint64_t bf_copy_all_flags(VkPipelineCreateFlags flags, const void *chain);

/* The same, for a copy, without those that it doesn't keep. linked: those about libraries are
 * kept apart; else they are a reason. */
enum bf_reason bf_copy_flags(struct bf_pipeline_copy *copy, VkPipelineCreateFlags flags,
                             const void *chain, bool linked);

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

/* What is rendered to, of which the part says so that has the fragment output, and others the
 * views. NULL: it isn't said. */
const VkPipelineRenderingCreateInfo *bf_copy_rendering(const struct bf_pipeline_copy *part);

/* copy_library.c: a reason of one of the libraries that it is linked from (NW-2). */
enum bf_reason bf_copy_link_reason(struct bf_pipelines *pipelines,
                                   const VkGraphicsPipelineCreateInfo *info);
/* Which parts the pipeline has, and the libraries that it is linked from, where none of them has a
 * reason. Of the rest of the create info nothing is looked at, nor may be after a reason. */
enum bf_reason bf_copy_link(struct bf_pipeline_copy *copy,
                            const VkGraphicsPipelineCreateInfo *info);
/* Whether it is neither a library nor linked from any. */
bool bf_copy_is_whole(const struct bf_pipeline_copy *copy);
/* Who was given that part: itself, or a library below. NULL: nobody. */
const struct bf_pipeline_copy *bf_copy_part(const struct bf_pipeline_copy *copy,
                                            VkGraphicsPipelineLibraryFlagBitsEXT part);
/* Drops those dynamic states that are ignored in the parts that it was given itself. */
enum bf_reason bf_copy_part_states(const struct bf_pipeline_copy *copy,
                                   VkPipelineDynamicStateCreateInfo *states);
/* Once: makes a complete pipeline of what is linked from libraries (CO-5), nothing of others. */
enum bf_reason bf_copy_compose(struct bf_pipeline_copy *copy);

/* Finds the layout and holds it. */
enum bf_reason bf_copy_layout(struct bf_pipeline_copy *copy, VkPipelineLayout layout);

#endif
