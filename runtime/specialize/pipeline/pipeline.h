/* SPDX-License-Identifier: MIT */
/*
 * A program's pipelines, as the specialiser knows them, and copies of everything that it takes to
 * create one again after the program has destroyed its modules, layouts and render passes.
 *
 *  P-1  The general pipeline is the program's own. It is never altered, replaced, or created with
 *       other parameters than the program's.
 *  P-2  The objects that a pipeline was made of stay valid as long as a copy refers to them: a
 *       layout or render pass that the program destroys is destroyed in the driver when the last
 *       copy has gone. (One that the program made with an allocator of its own is destroyed at
 *       once, since the allocator may be gone later: its pipelines are not specialised,
 *       BF_REASON_ALLOCATOR.)
 *  P-3  A build refers to the copy, never to the record: vkDestroyPipeline ends the record at any
 *       time, and a variant whose build ends afterwards is destroyed.
 *  P-4  Records are found without a lock by whoever may use the pipeline (base/map.h).
 *  P-5  If something can't be retained, for want of memory or for any other reason, the program's
 *       calls are not affected: its pipeline has no record, or one that says why it isn't
 *       specialised.
 *  P-6  What a record says of shaders (what is watched, the hash, and that there is nothing to
 *       watch) is known when they have been analysed: before the record can be found; or, with
 *       'on_copied', at any time later. Until then nothing is watched, and the program has its own
 *       pipeline.
 *  P-7  A pipeline that is linked from libraries has what it needs of them for as long as its copy
 *       lives: the program may destroy them before.
 *  P-8  The hash of a linked pipeline says how it is linked, too: that a variant is faster than
 *       code which isn't optimised across libraries is no verdict on what is made whole.
 *
 * Proven by tests/specialize/pipeline/pipelines.c, libraries.c, builds.c, programs.c and
 * variants.c.
 */
#ifndef BELFRY_SPECIALIZE_PIPELINE_H
#define BELFRY_SPECIALIZE_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "base/lock.h"
#include "base/map.h"
#include "specialize/pipeline/code.h"
#include "specialize/pipeline/copy.h"
#include "specialize/pipeline/retained.h"
#include "specialize/reason.h"
#include "specialize/pipeline/descriptor_shape.h"
#include "specialize/shader/shader.h"
#include "specialize/histogram.h"
#include "specialize/pipeline/variant.h"

/* What a build needs, shared by the record and by builds; reference counted (copy.h). */
struct bf_pipeline_copy;

/* The memory that a device's pipelines take, in bytes. */
struct bf_memory_budget {
    uint64_t most; /* for each of the two; 0: no limit. Set before the first pipeline */
    /* Belfry's own: code, copies, records, layouts, all that was ever retained */
    _Atomic uint64_t own;
    _Atomic uint64_t variants; /* variants that are published or not destroyed yet */
};

/* A live pipeline of the program. Fields without a remark never change. Those marked with (P-6) are
 * looked at only where 'watched' isn't 0, or in on_made. */
struct bf_pipeline {
    VkPipeline handle;
    uint64_t id; /* never used again for another pipeline */
    VkPipelineBindPoint point;
    enum bf_reason excluded; /* BF_REASON_NONE: it may be specialised (P-6) */
    _Atomic bool pinned;     /* generated commands use it: from now on it has no variants */
    /* Bits of the watched words that the histogram has dropped for now. 0 when the record is
     * made; then written by submission.c. */
    _Atomic uint32_t dropped;
    /* Workgroups of the largest dispatch that was counted, each for itself, or how far render areas
     * reach: for the check's inputs, RC-7 and RC-8. 0: of none. */
    _Atomic uint32_t groups[3];
    /* Bit i: word i of the push constants is watched. 0: none is, or not yet. Set once. */
    _Atomic uint64_t watched;
    /* Layouts with equal push-constant ranges have equal numbers, never 0 unless 'excluded'. */
    uint32_t push_id;
    struct bf_watch watch; /* count 0: nothing to watch, and 'excluded' says why (P-6) */
    /* of all its shaders with their specialization, stages and entry points, and of how it is
     * linked (P-8); 0 where there is no copy (P-6) */
    uint8_t hash[32];
    struct bf_pipeline_copy *copy; /* NULL where excluded (P-6); visit_lock */
    /* Of a graphics pipeline library: what is linked from it is composed of this, with a reference.
     * NULL: it is none, or 'refused' says why nothing is composed of it. */
    struct bf_pipeline_copy *library;
    enum bf_reason refused;

    /* Published variants, read without a lock. NULL: a free slot. */
    _Atomic(struct bf_variant *) variants[BF_MAX_VARIANTS];

    struct bf_lock lock;    /* leaf lock, over what follows */
    struct bf_variant *all; /* every variant that it ever had */
    char name[64];          /* the program's debug name, truncated; "": none */
    void *policy;           /* variant_state.c's data; freed by its on_gone */

    uint32_t lives; /* how often the program was given the handle; the pipelines' lock */
    struct bf_histogram *histogram; /* its own; NULL: it has never been watched */
};

/* A shader module of the program. */
struct bf_module {
    struct bf_code *code; /* NULL: no pipeline needs it (NW-1) */
    bool pushes;          /* it declares push constants */
    bool unknown;         /* its chain contains more than the words */
    uint32_t lives;       /* how often the program was given the handle; the pipelines' lock */
};

struct bf_pipelines {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    struct bf_map records; /* VkPipeline → struct bf_pipeline */
    struct bf_map ids;     /* the same by id: only with visit_lock held */
    struct bf_map modules; /* VkShaderModule → struct bf_module */
    struct bf_codes codes;
    struct bf_retained_objects retained;
    struct bf_descriptor_shapes shapes;
    struct bf_lock lock;       /* leaf lock: over counts, and the lists here and in 'retained' */
    struct bf_lock visit_lock; /* held while records end; before any record's lock */
    struct bf_variant *ended;  /* withdrawn variants that still have their handles */
    _Atomic uint64_t last_id;
    struct bf_memory_budget budget;
    /* Called once for a record, when it is known whether its pipeline may be specialised: before
     * the program has the handle, with no lock held; or in bf_pipeline_copy_settle, with visit_lock
     * held. May be NULL. */
    void (*on_made)(void *context, struct bf_pipeline *pipeline);
    /* Called with no lock held when a record was made whose shaders are to be analysed, before the
     * program has the handle. Takes over a reference to the copy, for bf_pipeline_copy_analyse.
     * NULL: they have been analysed when the record is made. */
    void (*on_copied)(void *context, struct bf_pipeline_copy *copy);
    /* Called with no lock held before a record is freed. Nothing is published for it any more.
     * Frees its policy. May be NULL. */
    void (*on_gone)(void *context, struct bf_pipeline *pipeline);
    void *context;
};

void bf_pipelines_init(struct bf_pipelines *pipelines, VkDevice device,
                       const struct VolkDeviceTable *vk);
/* All builds have ended and released their copies, and no command buffer is left that will be
 * used again. Destroys all variants. Objects that the program hasn't destroyed are left to it. */
void bf_pipelines_finish(struct bf_pipelines *pipelines);

/* ---- The program's calls. Thread-safety: safe, as far as Vulkan's own rules go ---- */

/* After the driver has created a module, or before it destroys one. */
void bf_pipelines_module_made(struct bf_pipelines *pipelines, VkShaderModule module,
                              const VkShaderModuleCreateInfo *info);
void bf_pipelines_module_gone(struct bf_pipelines *pipelines, VkShaderModule module);

/* After the driver has returned, with success or not: handles that are VK_NULL_HANDLE are
 * skipped. */
void bf_pipelines_created_compute(struct bf_pipelines *pipelines, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos,
                                  const VkPipeline *handles);
void bf_pipelines_created_graphics(struct bf_pipelines *pipelines, uint32_t count,
                                   const VkGraphicsPipelineCreateInfo *infos,
                                   const VkPipeline *handles);
/* Pipelines of kinds that are never specialised. */
void bf_pipelines_created_other(struct bf_pipelines *pipelines, VkPipelineBindPoint point,
                                enum bf_reason reason, uint32_t count, const VkPipeline *handles);
/* Before the driver destroys the pipeline. Its variants are destroyed when no command buffer has
 * them. */
void bf_pipelines_destroyed(struct bf_pipelines *pipelines, VkPipeline handle);

/* Generated commands use the pipeline: no variant is picked or published any more. */
void bf_pipelines_pin(struct bf_pipelines *pipelines, VkPipeline handle);
/* 'name' may be NULL. */
void bf_pipelines_name(struct bf_pipelines *pipelines, VkPipeline handle, const char *name);

/* NULL: it has no record. Lock-free. For who may use the pipeline. */
struct bf_pipeline *bf_pipelines_find(struct bf_pipelines *pipelines, VkPipeline handle);
/* The number of a pipeline layout's push-constant ranges; 0: unknown. Lock-free. */
uint32_t bf_pipelines_push_id(struct bf_pipelines *pipelines, VkPipelineLayout layout);

/* The record's pipeline, which has a histogram, may be specialised for these words from now on
 * (P-6). */
static inline void bf_pipeline_watch(struct bf_pipeline *pipeline, const struct bf_watch *watch)
{
    uint64_t watched = 0;
    pipeline->watch = *watch;
    bf_histogram_init(pipeline->histogram, watch->count, 0);
    for (uint32_t i = 0; i < watch->count; i++)
        watched |= UINT64_C(1) << watch->offset[i] % BF_PUSH_CONSTANT_BYTES / 4;
    atomic_store_explicit(&pipeline->watched, watched, memory_order_release);
}

/* ---- Builds and variants. Thread-safety: safe ---- */

/* Calls 'visit' with the pipeline, whose record can't end meanwhile; no lock of the pipeline's
 * own is held. False: the record has ended. 'visit' calls nothing that ends a record. */
bool bf_pipelines_visit(struct bf_pipelines *pipelines, uint64_t id,
                        void (*visit)(struct bf_pipeline *pipeline, void *context), void *context);

void bf_pipeline_copy_retain(struct bf_pipeline_copy *copy);
/* NULL is allowed. */
void bf_pipeline_copy_release(struct bf_pipeline_copy *copy);

/* What analysing the shaders, and composing what is linked, shows. */
struct bf_pipeline_analysis {
    enum bf_reason reason; /* BF_REASON_NONE: the pipeline may be specialised */
    struct bf_watch watch;
    uint8_t hash[32];
};
/* Once, before anything is built. Takes long, and no lock. */
void bf_pipeline_copy_analyse(struct bf_pipeline_copy *copy, struct bf_pipeline_analysis *analysis);
/* Gives the result to the record (P-6), once. False: the record has ended. */
bool bf_pipeline_copy_settle(const struct bf_pipeline_copy *copy,
                             const struct bf_pipeline_analysis *analysis);

/* The shader that may be folded. The shaders have been analysed. */
const struct bf_shader *bf_pipeline_copy_shader(const struct bf_pipeline_copy *copy);

/*
 * Creates the pipeline again: with the module 'folded' in place of the shader that may be folded,
 * specialized to the values in BF_PUSH_CONSTANT_BYTES bytes of push constants; or, with 'folded'
 * NULL, as it was. It uses no cache and no allocator of the program's.
 * Errors: the driver's; VK_ERROR_OUT_OF_HOST_MEMORY. *pipeline is VK_NULL_HANDLE then.
 */
VkResult bf_pipeline_copy_build(const struct bf_pipeline_copy *copy, const struct bf_folded *folded,
                                const void *push, VkPipelineCache cache, VkPipeline *pipeline);

/* Calls 'visit' with the program's pipeline, whose record can't end meanwhile. False: it has
 * ended. */
bool bf_pipeline_copy_visit(struct bf_pipeline_copy *copy,
                            void (*visit)(struct bf_pipeline *pipeline, void *context),
                            void *context);

/*
 * Publishes the variant, allocated by malloc: it may be picked from now on and belongs to the
 * record.
 * BF_REASON_NONE; or BF_REASON_GONE, BF_REASON_PINNED, BF_REASON_BUDGET, and the variant is still
 * the caller's.
 */
enum bf_reason bf_pipeline_publish(struct bf_pipeline_copy *copy, struct bf_variant *variant);

/* Withdraws a variant of the pipeline's own: it isn't picked any more, and its handle is
 * destroyed when no command buffer has it. May be called again. The record can't end meanwhile
 * (a visit, on_gone). */
void bf_pipeline_withdraw(struct bf_pipelines *pipelines, struct bf_pipeline *pipeline,
                          struct bf_variant *variant);

/* Destroys the handles of withdrawn variants that no command buffer has. Returns how many are
 * left. */
uint32_t bf_pipelines_sweep(struct bf_pipelines *pipelines);

#endif
