/* SPDX-License-Identifier: MIT */
/* A variant and dispatches of several sizes: it is for none that is larger than what it was checked
 * for, until it has been checked anew [RC-7]. */
#include "icd_program.h"

static const struct program_push hot = {0, 8, 3};

/* Is the program's own pipeline recorded for so many workgroups? */
static bool is_general(struct program *p, VkPipeline pipeline, uint32_t groups)
{
    p->groups = groups;
    program_frame(p, false, pipeline, hot);
    return (VkPipeline)p->f.icd.used(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE) == pipeline;
}

TEST_WITH(a_variant_is_for_no_dispatch_from_elsewhere, cache_setup, cache_teardown)
{
    struct program *p = program_open(NULL, NULL);
    p->based = true;
    VkPipeline pipeline = program_pipeline(p, false, "moves");
    assert_true(is_general(p, pipeline, 1));
    program_commit(p);
    is_general(p, pipeline, 1);
    program_freeze(p);
    assert_false(is_general(p, pipeline, 1));
    p->base = 1;
    assert_true(is_general(p, pipeline, 1));
    p->base = 0;
    assert_false(is_general(p, pipeline, 1));
    assert_success(vkDeviceWaitIdle(p->f.device));
    program_destroy(p, pipeline);
    program_close(p);
}

TEST_WITH(a_variant_is_for_no_larger_dispatch, cache_setup, cache_teardown)
{
    struct program *p = program_open(NULL, NULL);
    VkPipeline pipeline = program_pipeline(p, false, "grows");
    assert_true(is_general(p, pipeline, 1));
    program_commit(p);
    is_general(p, pipeline, 1); /* takes the variant over */
    program_freeze(p);
    assert_false(is_general(p, pipeline, 1));
    assert_true(is_general(p, pipeline, 2));
    assert_false(is_general(p, pipeline, 1));
    /* What is larger is seen outside of the freeze. */
    assert_success(bfSetBackgroundProcessingMode(p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    assert_true(is_general(p, pipeline, 2));
    program_commit(p);
    is_general(p, pipeline, 2);
    program_freeze(p);
    assert_false(is_general(p, pipeline, 2));
    assert_false(is_general(p, pipeline, 1));
    assert_success(vkDeviceWaitIdle(p->f.device));
    program_destroy(p, pipeline);
    program_close(p);
}
