/* SPDX-License-Identifier: MIT */
/* Builds that are under way when profiling by the system is disabled, on a driver that takes its time. [CV-4] */
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

/* It ends in the freeze, and its variant isn't used before that is over: not by a second one, either. Then
 * it is, by all. */
TEST_WITH(what_is_built_in_a_freeze_waits_for_its_end, cache_setup, cache_teardown)
{
    const struct program_push push = {0, 8, 1};
    struct program *p = program_open(NULL, NULL);
    VkPipeline pipeline = program_pipeline(p, false, "frozen");
    frames(p, pipeline, push, 1);
    p->f.icd.set_block(
        &(struct belfry_icd_block){.command = "vkCreateComputePipelines", .first = 1, .every = 1});
    BfEvent event = make_event(&p->f);
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    p->f.icd.await_blocked(1);
    program_freeze(p);
    p->f.icd.set_block(NULL);
    p->f.icd.release(UINT64_MAX);
    await_event(event);
    frames(p, pipeline, push, 16);
    program_freeze(p);
    frames(p, pipeline, push, 16);
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED);
    program_freeze(p);
    frames(p, pipeline, push, 8);
    assert_success(vkDeviceWaitIdle(p->f.device));
    program_destroy(p, pipeline);
    const char *line = program_line(program_close(p), "frozen");
    assert_non_null(line);
    if (!strstr(line, " unjudged ") || !strstr(line, " picked=8 "))
        fail_msg("%s", line);
}
