/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the check stand on: a device with what they need enabled, a checker on it, and
 * pipelines made from shaders with one specialization constant, CASE.
 */
#ifndef BELFRY_TEST_SPECIALIZE_CHECK_WORLD_H
#define BELFRY_TEST_SPECIALIZE_CHECK_WORLD_H

#include "../../fence/fixture.h"

#include "specialize/check/check.h"
#include "specialize/check/inputs.h"

#define WORLD_OBJECTS 64

struct world {
    struct fixture f;
    struct bf_checker *checker;
    VkPipeline pipelines[WORLD_OBJECTS];
    VkPipelineLayout layouts[WORLD_OBJECTS];
    VkDescriptorSetLayout set_layouts[WORLD_OBJECTS];
    uint32_t pipeline_count, layout_count, set_layout_count;
};

/* All fail the test when something is amiss. */
void world_open(struct world *w);
/* Without a checker. */
void world_open_device(struct world *w, const struct fixture_options *options);
struct bf_checker_info world_checker_info(struct world *w);
void world_open_checker(struct world *w, bool robust, uint64_t patience_ns, uint64_t limit_ns);
void world_close_checker(struct world *w);
void world_close(struct world *w);

/* What one test is about. */
struct interface {
    struct bf_pipeline_interface check;
    struct bf_check_layout layout;
    struct bf_check_set sets[4];
    VkPushConstantRange range;
};

/* Makes the set layouts and the pipeline layout; push_bytes may be 0. */
void subject_init(struct world *w, struct interface *s, uint32_t set_count,
                  const struct bf_check_set *sets, uint32_t push_bytes);
VkPipeline make_compute(struct world *w, const struct interface *s, const uint32_t *words,
                        size_t size, int32_t which);
VkShaderModule make_module(struct world *w, const uint32_t *words, size_t size);
#define COMPUTE(w_, s_, shader_, case_) make_compute(w_, s_, shader_, sizeof(shader_), case_)

/* A check of some forms, by their pipelines; 'info' may be changed before. */
struct timing {
    struct bf_check_info info;
    struct bf_check_form forms[8];
    uint32_t push[BF_CHECK_PUSH_BYTES / 4];
};
void trial_init(struct timing *t, const struct interface *s, VkPipeline general);
void trial_add(struct timing *t, VkPipeline form);
/* Runs it, and asserts the reasons, one for each form. */
void trial_expect(struct world *w, struct timing *t, const enum bf_reason *reasons);

#endif
