/*
 * A program's pipelines, as the specialiser knows them; and copies of all that it takes to make one
 * again after the program has destroyed its modules, layouts and render passes.
 *
 *  P-1  The general pipeline is the program's own and is never altered, replaced or made with other
 *       parameters than the program's.
 *  P-2  What a pipeline was made of stays valid as long as a copy refers to it: a layout or render
 *       pass that the program destroys is destroyed below when the last copy has gone. (One that it
 *       frees through an allocator of its own goes at once, since that may be gone later: its
 *       pipelines can't be built any more, BF_REASON_ALLOCATOR.)
 *  P-3  A build refers to the copy, never to the record: vkDestroyPipeline takes the record away at
 *       any time, and what was built then is thrown away.
 *  P-4  Records are found without a lock by whoever may use the pipeline (os/map.h).
 *
 * Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_PIPELINE_H
#define BELFRY_SPECIALIZE_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "os/export.h"
#include "os/lock.h"
#include "os/map.h"
#include "specialize/reason.h"
#include "specialize/shader.h"
#include "specialize/tally.h"
#include "specialize/variant.h"

/* What a build needs, shared by the record and by builds; reference counted. */
struct bf_pipeline_copy;

/* A live pipeline of the program. Fields without a remark never change. */
struct bf_pipeline {
    VkPipeline handle;
    VkPipelineBindPoint point;
    enum bf_reason excluded; /* BF_REASON_NONE: it may be specialised */
    _Atomic bool pinned;     /* generated commands have it: the general one from now on */
    /* Two layouts whose push-constant ranges are the same have the same number, never 0. */
    uint32_t push_id;
    struct bf_watch watch; /* count 0: nothing to watch */
    uint8_t hash[32]; /* of all its shaders with their specialisation, stages and entry points */
    struct bf_pipeline_copy *copy; /* NULL where excluded */

    /* Published, looked at without a lock: a slot is NULL, or a variant that may be picked. */
    _Atomic(struct bf_variant *) variants[BF_MAX_VARIANTS];

    struct bf_lock lock;    /* leaf lock, over what follows */
    struct bf_variant *all; /* every variant it ever had that is not freed */
    struct bf_tally tally;
    void *policy; /* specialize.c's; freed by its on_gone */
};

struct bf_pipelines {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    struct bf_map records; /* VkPipeline → struct bf_pipeline */
    struct bf_map modules; /* VkShaderModule → words */
    struct bf_map kept;    /* layouts, set layouts, render passes: handle → what is kept */
    struct bf_lock lock;   /* leaf lock: over reference counts and the list of push ids */
    /* Called with no lock held when a record goes, before it is freed. */
    void (*on_gone)(void *context, struct bf_pipeline *pipeline);
    void *context;
};

#endif
