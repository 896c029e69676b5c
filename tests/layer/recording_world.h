/* SPDX-License-Identifier: MIT */
/* What tests of the specialiser's hooks (layer/specialize) stand on: a specializer of the tests'
 * own, which a layer linked without one finds in the program, with a pipeline and a variant of it
 * at each bind point; and a driver below the layer that remembers what is bound when work is
 * recorded. One at a time; functions fail the test when something is amiss. */
#ifndef BELFRY_TEST_LAYER_RECORDING_WORLD_H
#define BELFRY_TEST_LAYER_RECORDING_WORLD_H

#include "fake.h"

#include "specialize/pipeline/pipeline.h"
#include "specialize/recording.h"
#include "specialize/specialize.h"
#include "specialize/submission.h"

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE  VK_PIPELINE_BIND_POINT_COMPUTE

#define GENERAL(point) ((VkPipeline)(uintptr_t)(0x1000 + (point)))
#define VARIANT(point) ((VkPipeline)(uintptr_t)(0x2000 + (point)))
#define OTHER          ((VkPipeline)(uintptr_t)0x3000) /* that isn't specialised */

struct bf_specializer {
    struct bf_pipelines pipelines;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
};

struct recording_world {
    struct bf_specializer specializer;
    struct bf_pipeline *records[2]; /* by bind point */
    struct bf_histogram histograms[2];
    struct bf_variant *variants[2];
    VkPipelineLayout layouts[2]; /* with different ranges */
    VkCommandPool pool;
    /* The driver's. */
    VkPipeline bound[2], used[2]; /* the latter when work was recorded last */
    uint32_t uses, stamps;
    VkResult submit_result;
    uint64_t counter; /* of all timelines */
    const char *only; /* of several names of a command it has the one that ends so; NULL: all */
};
extern struct recording_world recording;

/* Values that the variants are for, and aren't. */
extern const uint32_t recording_right[2], recording_wrong[2];

/* All commands that record work, and where. */
#define RECORDING_WORKS 25
struct recording_work {
    const char *name;
    VkPipelineBindPoint point;
};
extern const struct recording_work recording_works[RECORDING_WORKS];
bool recording_lacks(const char *name); /* under that name the driver hasn't got it */

/* A device with all this. */
void recording_open(void);
void recording_close(void);
VkQueue recording_queue(void);

VkCommandBuffer recording_allocate(VkCommandPool from, VkCommandBufferLevel level);
void recording_begin_with(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited,
                          VkCommandBufferUsageFlags flags);
void recording_begin(VkCommandBuffer buffer, VkQueryPipelineStatisticFlags inherited);
void recording_bind(VkCommandBuffer buffer, VkPipelineBindPoint point);
void recording_push(VkCommandBuffer buffer, const uint32_t words[2]);
/* A command buffer whose next work at both bind points gets the variants. */
VkCommandBuffer recording_ready(void);

/* Work, with arguments of no meaning; what it found bound. */
VkPipeline recording_do(VkCommandBuffer buffer, size_t work);
VkPipeline recording_dispatch(VkCommandBuffer buffer);
VkPipeline recording_draw(VkCommandBuffer buffer);

#define assert_bound(actual, expected) assert_ptr_equal((actual), (expected))

#endif
