/*
 * A program's pipelines, as the specialiser knows them; and copies of all that it takes to make one
 * again after the program has destroyed its modules, layouts and render passes.
 *
 *  P-1  The general pipeline is the program's own and is never altered, replaced or made with other
 *       parameters than the program's.
 *  P-2  What a pipeline was made of stays valid as long as a copy refers to it: a layout or render
 *       pass that the program destroys is destroyed below when the last copy has gone. (One that it
 *       made with an allocator of its own goes at once, since that may be gone later: its pipelines
 *       are not specialised, BF_REASON_ALLOCATOR.)
 *  P-3  A build refers to the copy, never to the record: vkDestroyPipeline takes the record away at
 *       any time, and what was built then is thrown away.
 *  P-4  Records are found without a lock by whoever may use the pipeline (base/map.h).
 *  P-5  What can't be kept, for want of memory or for any other reason, leaves the program's calls
 *       as they are: its pipeline has no record, or one that says why it isn't specialised.
 *
 * Proven by tests/specialize.
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

/* What is kept of a device's pipelines, and what their variants take; bytes. */
struct bf_memory_budget {
    uint64_t most;             /* of each; 0: there is no limit. Set before the first pipeline */
    _Atomic uint64_t own;      /* Belfry's: code, copies, records, layouts, from begin to end */
    _Atomic uint64_t variants; /* published, and not destroyed yet */
};

/* A live pipeline of the program. Fields without a remark never change. */
struct bf_pipeline {
    VkPipeline handle;
    uint64_t id; /* never used again for another one */
    VkPipelineBindPoint point;
    enum bf_reason excluded; /* BF_REASON_NONE: it may be specialised */
    _Atomic bool pinned;     /* generated commands have it: the general one from now on */
    /* Watched words that aren't counted for now; 0 when the record is made, then submission.c's. */
    _Atomic uint32_t dropped;
    /* Of the last dispatch that was counted; each by itself, to make up inputs by. */
    _Atomic uint32_t groups[3];
    /* Bit i: word i of the push constants is watched. 0 when the record is made; recording.c's. */
    _Atomic uint64_t watched;
    /* Two layouts whose push-constant ranges are the same have the same number, never 0 unless
     * 'excluded'. */
    uint32_t push_id;
    struct bf_watch watch; /* count 0: nothing to watch, and 'excluded' */
    uint8_t hash[32]; /* of all its shaders with their specialisation, stages and entry points; 0
                         where there is no copy */
    struct bf_pipeline_copy *copy; /* NULL where excluded */

    /* Published, looked at without a lock: a slot is NULL, or a variant that may be picked. */
    _Atomic(struct bf_variant *) variants[BF_MAX_VARIANTS];

    struct bf_lock lock;    /* leaf lock, over what follows */
    struct bf_variant *all; /* every variant it ever had */
    struct bf_histogram histogram;
    char name[64]; /* the program's, cut off; "" */
    void *policy;  /* specialize.c's; freed by its on_gone */

    uint32_t lives; /* how often the program was given the handle; the pipelines' lock */
};

/* A shader module of the program. */
struct bf_module {
    struct bf_code *code;
    bool unknown;   /* there is more to it than words */
    uint32_t lives; /* how often the program was given the handle; the pipelines' lock */
};

struct bf_pipelines {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    bool relaxed;          /* words that fold in relaxed mode alone are watched, too */
    struct bf_map records; /* VkPipeline → struct bf_pipeline */
    struct bf_map ids;     /* the same by id: only with visit_lock held */
    struct bf_map modules; /* VkShaderModule → struct bf_module */
    struct bf_codes codes;
    struct bf_retained_objects retained;
    struct bf_descriptor_shapes shapes;
    struct bf_lock lock;       /* leaf lock: over counts, and the lists here and in 'kept' */
    struct bf_lock visit_lock; /* over the end of records; before any record's lock */
    struct bf_variant *ended;  /* withdrawn, with their handles */
    _Atomic uint64_t last_id;
    struct bf_memory_budget budget;
    /* Called with no lock held when a record was made, before the program has its handle. NULL:
     * nobody is called. */
    void (*on_made)(void *context, struct bf_pipeline *pipeline);
    /* Called with no lock held when a record goes, before it is freed. Nothing is published for it
     * any more. Frees its policy. NULL: nobody is called. */
    void (*on_gone)(void *context, struct bf_pipeline *pipeline);
    void *context;
};

void bf_pipelines_init(struct bf_pipelines *pipelines, VkDevice device,
                       const struct VolkDeviceTable *vk, bool relaxed);
/* All builds have ended and let go of their copies; no command buffer is left or will be used
 * again. Destroys all variants; what the program hasn't destroyed stays below. */
void bf_pipelines_finish(struct bf_pipelines *pipelines);

/* ---- What the program does. Thread-safety: safe, as far as Vulkan's own rules go ---- */

/* After the driver has made or before it has destroyed one. */
void bf_pipelines_module_made(struct bf_pipelines *pipelines, VkShaderModule module,
                              const VkShaderModuleCreateInfo *info);
void bf_pipelines_module_gone(struct bf_pipelines *pipelines, VkShaderModule module);

/* After the driver has answered, whatever it said: handles that are VK_NULL_HANDLE are none. */
void bf_pipelines_created_compute(struct bf_pipelines *pipelines, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos,
                                  const VkPipeline *handles);
void bf_pipelines_created_graphics(struct bf_pipelines *pipelines, uint32_t count,
                                   const VkGraphicsPipelineCreateInfo *infos,
                                   const VkPipeline *handles);
/* Those that are never specialised whatever they are. */
void bf_pipelines_created_other(struct bf_pipelines *pipelines, VkPipelineBindPoint point,
                                enum bf_reason reason, uint32_t count, const VkPipeline *handles);
/* Before the driver destroys it. Its variants go when no command buffer has them. */
void bf_pipelines_destroyed(struct bf_pipelines *pipelines, VkPipeline handle);

/* Generated commands have it: no variant is picked any more, none is published. */
void bf_pipelines_pin(struct bf_pipelines *pipelines, VkPipeline handle);
/* 'name' may be NULL. */
void bf_pipelines_name(struct bf_pipelines *pipelines, VkPipeline handle, const char *name);

/* NULL: it has no record. Lock-free. For who may use the pipeline. */
struct bf_pipeline *bf_pipelines_find(struct bf_pipelines *pipelines, VkPipeline handle);
/* Of a pipeline layout; 0: not known. Lock-free. */
uint32_t bf_pipelines_push_id(struct bf_pipelines *pipelines, VkPipelineLayout layout);

/* ---- What becomes of them. Thread-safety: safe ---- */

/* Calls 'visit' with the pipeline, which can't go meanwhile; no lock of its own is held. False: it
 * has gone. 'visit' calls nothing that ends a record. */
bool bf_pipelines_visit(struct bf_pipelines *pipelines, uint64_t id,
                        void (*visit)(struct bf_pipeline *pipeline, void *context), void *context);

void bf_pipeline_copy_retain(struct bf_pipeline_copy *copy);
/* NULL is allowed. */
void bf_pipeline_copy_release(struct bf_pipeline_copy *copy);

/* The one shader that may be folded. */
const struct bf_shader *bf_pipeline_copy_shader(const struct bf_pipeline_copy *copy);

/*
 * Creates the pipeline once more: with the module 'folded' in place of the shader that may be, for
 * the values in BF_PUSH_CONSTANT_BYTES bytes of push constants; or, 'folded' being NULL, as it was.
 * Nothing of it is the program's: no cache, no allocator.
 * Errors: whatever the driver says; VK_ERROR_OUT_OF_HOST_MEMORY. *pipeline is VK_NULL_HANDLE then.
 */
VkResult bf_pipeline_copy_build(const struct bf_pipeline_copy *copy, const struct bf_folded *folded,
                                const void *push, VkPipelineCache cache, VkPipeline *pipeline);

/* Calls 'visit' with the program's pipeline, which can't go meanwhile. False: it has gone. */
bool bf_pipeline_copy_visit(struct bf_pipeline_copy *copy,
                            void (*visit)(struct bf_pipeline *pipeline, void *context),
                            void *context);

/*
 * From now on the variant, from malloc, may be picked, and belongs to the record.
 * BF_REASON_NONE; or it is still the caller's: BF_REASON_GONE, BF_REASON_PINNED, BF_REASON_BUDGET.
 */
enum bf_reason bf_pipeline_publish(struct bf_pipeline_copy *copy, struct bf_variant *variant);

/* From now on it isn't picked; its handle goes when no command buffer has it. For the pipeline's own
 * variants, as often as one likes; the pipeline can't go meanwhile (a visit, on_gone). */
void bf_pipeline_withdraw(struct bf_pipelines *pipelines, struct bf_pipeline *pipeline,
                          struct bf_variant *variant);

/* Destroys the handles of withdrawn variants that no command buffer has. Returns how many are left
 * for later. */
uint32_t bf_pipelines_sweep(struct bf_pipelines *pipelines);

#endif
