/* SPDX-License-Identifier: MIT */
/* Room for variants, through the layer: a program with more pipelines than the setting has memory
 * for. The test driver says that each takes so much. */
#include "icd_program.h"

#define BIG_ENVIRONMENT "PIPELINE_SIZE=110000 VK_BELFRY_MULTI_ENGINE_SPECIALIZE_MEMORY=1"
#define FIT             4 /* of them, in half of that */

static struct program_push push_of(uint32_t i)
{
    return (struct program_push){0, 8, i + 3};
}

static void make(struct program *p, VkPipeline *pipelines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%u", i);
        pipelines[i] = program_pipeline(p, i & 1, name);
    }
}

static void use(struct program *p, VkPipeline *pipelines, uint32_t i, uint32_t times)
{
    while (times--)
        program_frame(p, i & 1, pipelines[i], push_of(i));
}

/* Built for it alone, and taken over; no command buffer has it. */
static void build(struct program *p, VkPipeline *pipelines, uint32_t i)
{
    use(p, pipelines, i, 1);
    program_commit(p);
    use(p, pipelines, i, 1);
    assert_success(vkResetCommandBuffer(p->commands, 0));
    /* Of what has been withdrawn none is left, from the next begin of a command buffer on. */
}

/* One pipeline more than there is room for variants, of which the others have one. */
static struct program *open_full(VkPipeline pipelines[FIT + 1])
{
    struct program *p = program_open(BIG_ENVIRONMENT, NULL);
    make(p, pipelines, FIT + 1);
    for (uint32_t i = 0; i < FIT; i++)
        build(p, pipelines, i);
    return p;
}

static uint32_t live_variants(struct program *p, uint32_t pipelines)
{
    return (uint32_t)(p->f.icd.live("pipeline") - pipelines);
}

/* What the report says of each; nothing ever took more than there is. */
static void close_saying(struct program *p, VkPipeline *pipelines, uint32_t count,
                         const char *const *words)
{
    for (uint32_t i = 0; i < count; i++)
        program_destroy(p, pipelines[i]);
    const char *report = program_close(p);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%u", i);
        const char *line = program_line(report, name);
        if (!line || !strstr(line, words[i]))
            fail_msg("%s, not %s", line ? line : name, words[i]);
    }
    unsigned long long taken, limit;
    const char *at = strstr(report, "variants took ");
    assert_non_null(at);
    assert_int_equal(sscanf(at,
                            "variants took %llu KiB at most, what they are built from %*u, of %llu",
                            &taken, &limit),
                     2);
    assert_int_equal(limit, 512);
    assert_in_range(taken, 0, limit);
}

#define UNJUDGED " unjudged none "
#define SPACE    " rejected space "

/* Those that are in use stay; who comes later has to be chosen again, and more than they. */
TEST_WITH(variants_that_are_not_used_any_more_go_first, cache_setup, cache_teardown)
{
    VkPipeline pipelines[FIT + 1];
    struct program *p = open_full(pipelines);
    assert_int_equal(live_variants(p, FIT + 1), FIT);
    /* However long they were in use before. */
    for (uint32_t turn = 0; turn < 10; turn++) {
        for (uint32_t i = 0; i < FIT; i++)
            use(p, pipelines, i, 1);
        program_commit(p);
    }
    for (uint32_t turn = 0; turn < 6; turn++) {
        for (uint32_t i = 0; i < FIT; i++)
            if (i != 1)
                use(p, pipelines, i, 1);
        build(p, pipelines, FIT);
        assert_int_equal(live_variants(p, FIT + 1), FIT);
    }
    close_saying(p, pipelines, FIT + 1,
                 (const char *[]){UNJUDGED, SPACE, UNJUDGED, UNJUDGED, UNJUDGED});
}

/* Used alike: they don't take turns. */
TEST_WITH(what_is_used_alike_stays, cache_setup, cache_teardown)
{
    VkPipeline pipelines[FIT + 1];
    struct program *p = open_full(pipelines);
    for (uint32_t turn = 0; turn < 20; turn++) {
        for (uint32_t i = 0; i < FIT; i++)
            use(p, pipelines, i, 1);
        /* Never reached: it is there to count. */
        p->f.icd.set_fault("vkCreateComputePipelines", 1000, VK_ERROR_UNKNOWN);
        build(p, pipelines, FIT);
        assert_int_equal(p->f.icd.fault_calls() > 0, turn == 0);
    }
    p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
    close_saying(p, pipelines, FIT + 1,
                 (const char *[]){UNJUDGED, UNJUDGED, UNJUDGED, UNJUDGED, SPACE});
}

/* Recorded, and not begun again: they may be submitted at any time. */
TEST_WITH(what_a_command_buffer_has_stays, cache_setup, cache_teardown)
{
    enum { EACH = 20 }; /* on trial only some get it */
    VkPipeline pipelines[FIT + 1];
    VkCommandBuffer recorded[FIT * EACH];
    struct program *p = open_full(pipelines);
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = p->pool,
                                              .commandBufferCount = FIT * EACH};
    assert_success(vkAllocateCommandBuffers(p->f.device, &info, recorded));
    const VkCommandBuffer own = p->commands;
    for (uint32_t i = 0; i < FIT * EACH; i++) {
        p->commands = recorded[i];
        program_record(p, i % FIT & 1, pipelines[i % FIT], push_of(i % FIT));
    }
    p->commands = own;
    for (uint32_t turn = 0; turn < 6; turn++) {
        build(p, pipelines, FIT);
        assert_int_equal(live_variants(p, FIT + 1), FIT);
    }
    for (uint32_t i = 0; i < FIT * EACH; i++) {
        p->commands = recorded[i];
        assert_success(program_submit(p));
        assert_success(vkWaitForFences(p->f.device, 1, &p->fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(p->f.device, 1, &p->fence));
    }
    p->commands = own;
    vkFreeCommandBuffers(p->f.device, p->pool, FIT * EACH, recorded);
    for (uint32_t turn = 0; turn < 2; turn++)
        build(p, pipelines, FIT);
    assert_int_equal(live_variants(p, FIT + 1), FIT);
    for (uint32_t i = 0; i < FIT; i++)
        program_destroy(p, pipelines[i]);
    assert_int_equal(live_variants(p, 1), 1); /* one of them had gone for it */
    program_destroy(p, pipelines[FIT]);
    program_close(p);
}

/* Nothing goes for what won't fit anyway. */
TEST_WITH(what_is_too_large_takes_nobodys_place, cache_setup, cache_teardown)
{
    VkPipeline pipelines[2];
    struct program *p =
        program_open("PIPELINE_SIZE=1100000 VK_BELFRY_MULTI_ENGINE_SPECIALIZE_MEMORY=1", NULL);
    make(p, pipelines, 2);
    for (uint32_t turn = 0; turn < 3; turn++) {
        p->f.icd.set_fault("vkCreateGraphicsPipelines", 1000, VK_ERROR_UNKNOWN);
        build(p, pipelines, 0);
        build(p, pipelines, 1);
        assert_int_equal(p->f.icd.fault_calls() > 0, turn == 0);
        assert_int_equal(live_variants(p, 2), 0);
    }
    p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
    close_saying(p, pipelines, 2, (const char *[]){SPACE, SPACE});
}

/* Of the pipelines themselves, too, no more is kept than half of that. */
TEST_WITH(pipelines_beyond_half_of_it_are_not_watched, cache_setup, cache_teardown)
{
    enum { COUNT = 200 };
    VkPipeline pipelines[COUNT];
    struct program *p = program_open("VK_BELFRY_MULTI_ENGINE_SPECIALIZE_MEMORY=1", NULL);
    make(p, pipelines, COUNT);
    use(p, pipelines, COUNT - 1, 3);
    for (uint32_t i = 0; i < COUNT; i++)
        program_destroy(p, pipelines[i]);
    make(p, pipelines, 1);
    build(p, pipelines, 0);
    assert_int_equal(live_variants(p, 1), 1);
    program_destroy(p, pipelines[0]);
    const char *report = program_close(p);
    uint32_t all, watched, left = 0;
    const char *at = strstr(report, "belfry: specialize: ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "belfry: specialize: %u pipelines, %u of them", &all, &watched), 2);
    assert_int_equal(all, COUNT + 1);
    assert_in_range(watched, 20, COUNT - 20);
    at = strstr(report, " pipelines not watched: space");
    assert_non_null(at);
    while (at[-1] != ' ')
        at--;
    assert_int_equal(sscanf(at, "%u", &left), 1);
    assert_int_equal(left, all - watched);
}
