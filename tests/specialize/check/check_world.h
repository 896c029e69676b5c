/* SPDX-License-Identifier: MIT */
/* What the tests of the check stand on: a device with what they need enabled, a checker on it, and
 * pipelines made from shaders with one specialization constant, CASE. With
 * BELFRY_CHECK_DESCRIPTOR_BUFFERS in the environment the pipelines' sets lie in descriptor buffers,
 * and without those the program is skipped. */
#ifndef BELFRY_TEST_SPECIALIZE_CHECK_WORLD_H
#define BELFRY_TEST_SPECIALIZE_CHECK_WORLD_H

#include "support/fixture.h"

#include "specialize/check/check.h"
#include "specialize/check/inputs.h"

#define WORLD_OBJECTS 64

/* What one test is about. */
struct interface {
    struct bf_pipeline_interface check;
    struct bf_check_layout layout;
    struct bf_check_set sets[4];
    VkPushConstantRange range;
};

/* A check of some forms, by their pipelines; 'info' may be changed before. */
struct timing {
    struct bf_check_info info;
    struct bf_check_form forms[8];
    uint32_t push[BF_CHECK_PUSH_BYTES / 4];
};

struct world {
    struct fixture f;
    struct bf_checker *checker;
    struct interface s;
    struct timing t;
    uint64_t double_ns; /* of the checkers that are opened */
    /* Sets lie in descriptor buffers; a test may clear it before its subject is made. */
    bool described;
    bool inline_blocks; /* the device has inline uniform blocks */
    VkPipeline pipelines[WORLD_OBJECTS];
    VkPipelineLayout layouts[WORLD_OBJECTS];
    VkDescriptorSetLayout set_layouts[WORLD_OBJECTS];
    uint32_t pipeline_count, layout_count, set_layout_count;
};

/* All fail the test when something is amiss. There is one world at a time. */
struct world *world_open(void);
/* Without a checker. */
struct world *world_open_device(const struct fixture_options *options);
struct bf_checker_info world_checker_info(struct world *w);
/* Instead of the one that there is, if any. */
void world_open_checker(struct world *w, bool robust, uint64_t patience_ns, uint64_t limit_ns);
void world_close(struct world *w);

/* A test in a world that 'open_' opens, and which is closed behind it. */
#define WORLD_TEST(name_, open_)                                                                   \
    static void name_##_in(struct world *w);                                                       \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct world *world = open_;                                                               \
        name_##_in(world);                                                                         \
        world_close(world);                                                                        \
    }                                                                                              \
    static void name_##_in(struct world *w)

/* Makes the set layouts and the pipeline layout; push_bytes may be 0. */
void subject_init(struct world *w, uint32_t set_count, const struct bf_check_set *sets,
                  uint32_t push_bytes);
/* As all pipelines with that layout are made. */
VkPipelineCreateFlags world_pipeline_flags(const struct world *w);
VkPipeline make_compute(struct world *w, const uint32_t *words, size_t size, int32_t which);
#define COMPUTE(w_, shader_, case_) make_compute(w_, shader_, sizeof(shader_), case_)

void trial_init(struct world *w, VkPipeline general);
void trial_add(struct world *w, VkPipeline form);
/* Runs it. A letter for each form, '=' for one that passes, '!' for one that is inexact, '?' for
 * one that can't be checked, '~' for one that is too slow; ' ' may be anything. */
void expect_forms(struct world *w, const char *letters);
/* Runs it: none can be checked, and that is why; NULL for any reason. */
void expect_refusal(struct world *w, const char *why);

#endif
