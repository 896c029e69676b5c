/* SPDX-License-Identifier: MIT */
/* The driver runs out of memory, once, at each of its calls in turn, or loses the device at each
 * submission: the check says so, and all that it made is destroyed (CK-5). And one whose dispatches
 * wait. */
#include "check_faults.h"

#include "gpu/gpu.h"
#include "specialize/check/test_resource.h"

static uint64_t oom_points(struct world *w)
{
    struct belfry_icd_counters counters;
    w->f.icd.get_counters(&counters);
    return counters.oom_points;
}

static bool after_some(void *context)
{
    uint32_t *left = context;
    return (*left)-- == 0;
}

enum kind { COMPUTES, DRAWS, DRY };

static VkResult run(struct world *w, enum kind kind)
{
    struct bf_check_info info = w->t.info;
    struct bf_check_plan plan;
    if (kind != DRY)
        return bf_check_run(w->checker, &w->t.info);
    info.form_count = 0;
    return bf_check_dry_run(w->checker, &info, w->s.sets[0].handle, &plan);
}

/* A dry run has no forms to have a reason, and isn't cancelled. */
static void expect_reason(struct world *w, enum kind kind, enum bf_reason reason)
{
    if (kind != DRY)
        assert_int_equal(w->t.forms[0].reason, reason);
}

/* ./dev soak faults asks for all there is. 0: it doesn't. */
static uint64_t step_wanted(void)
{
    const char *step = getenv("BELFRY_TEST_STEP");
    return step ? strtoull(step, NULL, 10) : 0;
}

/* Whether the checker is used once more after a failure. A dry run fills its resources for each of
 * its inputs, which takes many times as long as what can fail: each fourth. */
static bool used_again(enum kind kind, uint64_t fail_at)
{
    return kind != DRY || step_wanted() || fail_at % 4 == 0;
}

/* Returns at which calls of the driver the check began and ended. */
static void run_short(enum kind kind, uint64_t fail_at, uint64_t *first, uint64_t *last)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "OOM_AT=%llu", (unsigned long long)fail_at);
    const struct fixture_options options = {.environment = fail_at ? environment : NULL,
                                            .family = UINT32_MAX};
    struct faulty f;
    struct world *w = world_open_device(&options);
    faulty_init(w, &f, kind == DRAWS);
    const struct bf_checker_info info = world_checker_info(w);
    /* One run of each kind. */
    uint32_t left = 3;
    w->t.info.cancelled = after_some;
    w->t.info.context = &left;
    *first = oom_points(w) + 1;
    VkResult result = bf_checker_create(&info, &w->checker);
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
        result = bf_checker_create(&info, &w->checker);
    assert_success(result);
    result = run(w, kind);
    if (result != VK_SUCCESS) {
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        expect_reason(w, kind, BF_REASON_MEMORY);
        left = 3;
        if (used_again(kind, fail_at))
            assert_success(run(w, kind));
    }
    expect_reason(w, kind, BF_REASON_CANCELLED);
    *last = oom_points(w);
    while (oom_points(w) < fail_at) /* this run has made fewer: not in world_close */
        vkDeviceWaitIdle(w->f.device);
    world_close(w);
}

/* Checks and dry runs go through all their inputs, with the same 25 calls or so for each of a dry
 * run. Of those behind the first EACH calls each tenth fails, or of a dry run's each 23rd; half of
 * these or fewer under sanitizers; all of them with BELFRY_TEST_STEP=1. */
#define EACH     (SANITIZED ? 10 : 30)
#define STEP     (SANITIZED ? 7 : 2)
#define DRY_STEP (SANITIZED ? 47 : 23)

static void run_all_short(enum kind kind)
{
    const uint64_t wanted = step_wanted();
    const uint64_t stride = wanted ? wanted : kind == DRY ? DRY_STEP : 5 * STEP;
    uint64_t first, last, again, end;
    run_short(kind, 0, &first, &last);
    assert_true(first + 50 < last);
    for (uint64_t n = first; n <= last; n += n < first + EACH ? 1 : stride)
        run_short(kind, n, &again, &end);
}

TEST(a_driver_without_memory_ends_a_check_that_computes)
{
    run_all_short(COMPUTES);
}

TEST(a_driver_without_memory_ends_a_check_that_draws)
{
    run_all_short(DRAWS);
}

TEST(a_driver_without_memory_ends_a_dry_run)
{
    run_all_short(DRY);
}

/* False: the check has made fewer submissions. */
static bool run_lost(enum kind kind, uint32_t lose_at)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "LOSE_AT_SUBMIT=%u", lose_at);
    const struct fixture_options options = {.environment = environment, .family = UINT32_MAX};
    struct faulty f;
    struct world *w = world_open_device(&options);
    faulty_init(w, &f, kind == DRAWS);
    const struct bf_checker_info info = world_checker_info(w);
    assert_success(bf_checker_create(&info, &w->checker));
    VkResult result = run(w, kind);
    w->f.lost = result != VK_SUCCESS;
    if (w->f.lost) {
        assert_int_equal(result, VK_ERROR_DEVICE_LOST);
        expect_reason(w, kind, BF_REASON_LOST);
        /* And so it stays. */
        assert_int_equal(run(w, kind), VK_ERROR_DEVICE_LOST);
        expect_reason(w, kind, BF_REASON_LOST);
    }
    world_close(w);
    return result != VK_SUCCESS;
}

TEST(a_lost_device_ends_checks)
{
    for (int kind = COMPUTES; kind <= DRY; kind++) {
        uint32_t n = 1;
        while (run_lost((enum kind)kind, n))
            n += n < 9 ? 1 : 9;
        assert_in_range(n, kind == DRY ? 20 : 40, 200);
    }
}

/* Dispatches take longer than any dry run may, as it seems from outside. */
static enum bf_reason refused_of_dispatches(const char *environment, uint64_t limit_ns)
{
    const struct fixture_options options = {.environment = environment, .family = UINT32_MAX};
    struct faulty f;
    struct world *w = world_open_device(&options);
    faulty_init(w, &f, false);
    w->double_ns = limit_ns;
    world_open_checker(w, true, 0, limit_ns);
    struct bf_check_info info = w->t.info;
    struct bf_check_plan plan;
    info.form_count = 0;
    assert_success(bf_check_dry_run(w->checker, &info, w->s.sets[0].handle, &plan));
    assert_int_equal(plan.seeds != 0, info.refused == BF_REASON_NONE);
    world_close(w);
    return info.refused;
}

/* The driver computes for next to nothing. */
static enum bf_reason refused_of_idle_dispatches(const char *environment)
{
    return refused_of_dispatches(environment, 20000000);
}

TEST(waiting_for_a_processor_is_not_the_shader_s_time)
{
    assert_int_equal(refused_of_idle_dispatches("TELLS=1 DISPATCH_US=30000"), BF_REASON_NONE);
    assert_int_equal(refused_of_idle_dispatches("TELLS=1 DISPATCH_US=30000 GPU=1"),
                     BF_REASON_TOO_SLOW);
    /* Each is short enough, and all of them aren't, as it may seem on a GPU that is busy. */
    assert_int_equal(refused_of_idle_dispatches("TELLS=1 DISPATCH_US=15000 GPU=1"),
                     BF_REASON_UNCHECKABLE);
    /* On a GPU that is busy with others now and then. */
    assert_int_equal(refused_of_idle_dispatches("TELLS=1 DISPATCH_US=30000 DISPATCH_EVERY=3 GPU=1"),
                     BF_REASON_NONE);
}

/* As it does for work of little priority; where the queue's timestamps tell it from the work. */
TEST(waiting_for_a_queue_is_not_the_shader_s_time)
{
    assert_int_equal(refused_of_dispatches("TELLS=1 GPU=1 SUBMIT_US=12000", 8000000),
                     BF_REASON_NONE);
    assert_int_equal(
        refused_of_dispatches("TELLS=1 GPU=1 SUBMIT_US=12000 TIMESTAMP_BITS=0", 8000000),
        BF_REASON_TOO_SLOW);
}

/* One that hasn't begun may yet, when others let it: that isn't its fault. */
TEST(what_hangs_is_told_from_what_waits)
{
    for (uint32_t begins = 0; begins < 2; begins++) {
        const struct fixture_options options = {
            .environment = begins ? "GPU=1 DISPATCH_US=500000" : "GPU=1", .family = UINT32_MAX};
        struct faulty f;
        struct world *w = world_open_device(&options);
        faulty_init(w, &f, false);
        world_open_checker(w, true, 20000000, 0);
        assert_int_equal(bf_checker_hang(w->checker), BF_HANG_NONE);
        if (!begins)
            w->f.icd.pause();
        assert_success(bf_check_run(w->checker, &w->t.info));
        assert_string_equal(w->t.info.why, "a run did not end in time");
        assert_int_equal(bf_checker_hang(w->checker), begins ? BF_HANG_WORK : BF_HANG_QUEUED);
        if (!begins)
            w->f.icd.resume();
        world_close(w);
    }
}

#define DRAWS 8

static PFN_vkCmdSetScissor set_scissor;
static PFN_vkCmdDraw draw;
static struct drawn {
    uint32_t width, first;
} drawn[DRAWS]; /* the first draws: the scissor's width, the first vertex */
static uint32_t scissors, draws;

static VKAPI_ATTR void VKAPI_CALL scissor_note(VkCommandBuffer commands, uint32_t first,
                                               uint32_t count, const VkRect2D *rectangles)
{
    if (scissors < DRAWS)
        drawn[scissors++].width = rectangles[0].extent.width;
    set_scissor(commands, first, count, rectangles);
}

static VKAPI_ATTR void VKAPI_CALL draw_note(VkCommandBuffer commands, uint32_t vertices,
                                            uint32_t instances, uint32_t vertex, uint32_t instance)
{
    if (draws < DRAWS)
        drawn[draws++].first = vertex;
    draw(commands, vertices, instances, vertex, instance);
}

static void expect_draws(const char *environment, const struct drawn expected[DRAWS])
{
    static const VkDynamicState scissor = VK_DYNAMIC_STATE_SCISSOR;
    static const VkPipelineDynamicStateCreateInfo dynamic = {
        VK_TYPE(PIPELINE_DYNAMIC_STATE_CREATE_INFO), .dynamicStateCount = 1,
        .pDynamicStates = &scissor};
    const struct fixture_options options = {.environment = environment, .family = UINT32_MAX};
    struct faulty f;
    struct world *w = world_open_device(&options);
    faulty_init(w, &f, true);
    f.graphics.pDynamicState = &dynamic;
    world_open_checker(w, true, 0, 0);
    struct bf_gpu *gpu = world_checker_info(w).gpu;
    set_scissor = gpu->vk.vkCmdSetScissor;
    draw = gpu->vk.vkCmdDraw;
    gpu->vk.vkCmdSetScissor = scissor_note;
    gpu->vk.vkCmdDraw = draw_note;
    scissors = draws = 0;
    struct bf_check_info info = w->t.info;
    struct bf_check_plan plan;
    info.form_count = 0;
    assert_success(bf_check_dry_run(w->checker, &info, w->s.sets[0].handle, &plan));
    gpu->vk.vkCmdSetScissor = set_scissor;
    gpu->vk.vkCmdDraw = draw;
    assert_memory_equal(drawn, expected, sizeof(drawn));
    world_close(w);
}

/* What has been submitted can't be stopped. [CK-6] */
TEST(dry_runs_that_draw_begin_with_few_pixels)
{
    /* Of the first inputs once more, since that compiles. */
    static const uint32_t all = BF_TEST_EXTENT;
    expect_draws("TELLS=1",
                 (const struct drawn[]){
                     {16, 0}, {16, 0}, {all, 0}, {16, 0}, {all, 0}, {16, 3}, {all, 3}, {16, 3}});
    /* Where there are no fragments there may be the more beside; and then perhaps of the other
     * primitive. [CK-24] */
    expect_draws("TELLS=3",
                 (const struct drawn[]){
                     {16, 0}, {16, 0}, {32, 0}, {48, 0}, {64, 0}, {all, 0}, {16, 3}, {32, 3}});
}
