/* SPDX-License-Identifier: MIT */
/* Builds that are under way when profiling by the system is disabled, on a driver that takes its
 * time. [CV-4] */
#include "icd_program.h"

static void mode_set(struct program *p, BfBackgroundProcessingMode mode)
{
    assert_success(
        bfSetBackgroundProcessingMode(p->f.bf, mode, BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
}

static void frames(struct program *p, VkPipeline pipeline, struct program_push push, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        program_frame(p, false, pipeline, push);
}

static void commit(struct program *p, BfBackgroundProcessingMode mode, BfEvent event)
{
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, mode, BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
}

/* The variant is there in the end, and was used so often. */
static void assert_picked(struct program *p, VkPipeline pipeline, const char *picked)
{
    assert_success(vkDeviceWaitIdle(p->f.device));
    program_destroy(p, pipeline);
    const char *line = program_line(program_close(p), "frozen");
    assert_non_null(line);
    if (!strstr(line, " unjudged ") || !strstr(line, picked))
        fail_msg("%s", line);
}

/* One whose build ends in a freeze that has begun meanwhile. */
static VkPipeline build_in_freeze(struct program *p, struct program_push push)
{
    VkPipeline pipeline = program_pipeline(p, false, "frozen");
    frames(p, pipeline, push, 1);
    p->f.icd.set_block(
        &(struct belfry_icd_block){.command = "vkCreateComputePipelines", .first = 1, .every = 1});
    BfEvent event = make_event(&p->f);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED, event);
    p->f.icd.await_blocked(1);
    program_freeze(p);
    p->f.icd.set_block(NULL);
    p->f.icd.release(UINT64_MAX);
    await_event(event);
    frames(p, pipeline, push, 16);
    /* No measurement would change anything, nor is anything under way. */
    VkBool32 further = VK_TRUE;
    for (uint32_t i = 0; i < 4 && further; i++)
        assert_success(bfSetBackgroundProcessingMode(
            p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
            BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, &further));
    assert_false(further);
    return pipeline;
}

/* Its variant isn't used before that is over: not by a second freeze, either. Then it is, by all.
 * */
TEST_WITH(what_is_built_in_a_freeze_waits_for_its_end, cache_setup, cache_teardown)
{
    const struct program_push push = {0, 8, 1};
    struct program *p = program_open(NULL, NULL);
    VkPipeline pipeline = build_in_freeze(p, push);
    program_freeze(p);
    frames(p, pipeline, push, 16);
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    program_freeze(p);
    frames(p, pipeline, push, 8);
    assert_picked(p, pipeline, " picked=8 ");
}

/* Nor before it is committed: what a commit asks for is published in the freeze that comes with it.
 * */
TEST_WITH(what_is_built_in_a_freeze_is_there_after_a_commit, cache_setup, cache_teardown)
{
    const struct program_push push = {0, 8, 1};
    struct program *p = program_open(NULL, NULL);
    VkPipeline pipeline = build_in_freeze(p, push);
    BfEvent event = make_event(&p->f);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM, event);
    await_event(event);
    frames(p, pipeline, push, 4);
    assert_picked(p, pipeline, " picked=4 ");
}

/* A pipeline with as many variants as it may have, one for each of these, the first, too. */
#define MOST 4
static struct program_push nth(uint32_t i)
{
    return (struct program_push){0, 8, i + 1};
}

/* What was counted so far is, and whatever has a variant is used less than what comes. */
static void discard(struct program *p)
{
    assert_success(bfSetBackgroundProcessingMode(p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                                 BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS, NULL,
                                                 NULL));
}

static bool is_picked(struct program *p, VkPipeline pipeline, uint32_t i)
{
    frames(p, pipeline, nth(i), 1);
    return p->f.icd.used(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE) != (uint64_t)pipeline;
}

/* What another variant would have to make place for isn't published in the freeze, whoever has
 * asked for it, and that one stays; when it ends they change places. */
TEST_WITH(what_would_displace_another_waits_for_its_end, cache_setup, cache_teardown)
{
    struct program *p = program_open(NULL, NULL);
    VkPipeline pipeline = program_pipeline(p, false, "frozen");
    for (uint32_t i = 0; i < MOST; i++) {
        discard(p);
        frames(p, pipeline, nth(i), 1);
        program_commit(p);
        frames(p, pipeline, nth(i), 1);
    }
    discard(p);
    frames(p, pipeline, nth(MOST), 1);
    BfEvent event = make_event(&p->f);
    commit(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM, event);
    await_event(event);
    for (uint32_t i = 0; i <= MOST; i++)
        assert_int_equal(is_picked(p, pipeline, i), i < MOST);
    assert_int_equal(p->f.icd.live("pipeline"), 1 + MOST + 1); /* it is there, but held */
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    program_freeze(p);
    for (uint32_t i = 0; i <= MOST; i++)
        assert_int_equal(is_picked(p, pipeline, i), i > 0);
    program_destroy(p, pipeline);
    program_close(p);
}
