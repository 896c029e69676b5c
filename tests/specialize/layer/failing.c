/* SPDX-License-Identifier: MIT */
/* The driver below fails while Belfry builds a program's pipelines again or measures them, or in
 * the helper process, where they are checked: the program sees nothing of it, loses nothing, and
 * the report says what it was. (Each error of each call of a check:
 * tests/specialize/check/faults.c.) */
#include "icd_program.h"

#include "support/capture.h"

#include <glob.h>

#include "specialize/archive/verdicts.h"
#include "specialize/reason.h"

/* ------------------------------------------------------------------------------------ Rounds -- */

/* A pipeline is made, used, and built again while the driver fails so; it is used once more, and
 * destroyed. Nothing but the one variant that may be published is left meanwhile, nothing after. */
struct round {
    bool draws;
    const char *command; /* NULL: any */
    uint64_t n;
    VkResult result;
    /* What came of it: */
    char name[64];
    bool struck, published;
};

/* Without the pools for measurements, which stay for the next ones. */
static uint64_t other_objects(struct program *p)
{
    return p->f.icd.live(NULL) - p->f.icd.live("pipeline") - p->f.icd.live("query pool");
}

static uint32_t serial; /* each round has values of its own */

/* What is made once, and stays, is made. */
static void warm_up(struct program *p, bool draws)
{
    const struct program_push push = {0, 8, ++serial};
    VkPipeline pipeline = program_pipeline(p, draws, "first");
    program_frame(p, draws, pipeline, push);
    program_commit(p);
    program_frame(p, draws, pipeline, push);
    program_destroy(p, pipeline);
}

static void play(struct program *p, struct round *r)
{
    const struct program_push push = {.mode = serial % 2, .rounds = 8, .factor = serial + 1};
    serial++;
    snprintf(r->name, sizeof(r->name), "%s:%s:%d:%llu", r->draws ? "draws" : "computes",
             r->command ? r->command : "any", r->result, (unsigned long long)r->n);
    uint64_t pipelines = p->f.icd.live("pipeline"), others = other_objects(p);
    VkPipeline pipeline = program_pipeline(p, r->draws, r->name);
    program_frame(p, r->draws, pipeline, push);
    p->f.icd.set_fault(r->command, r->n, r->result);
    program_commit(p);
    r->struck = p->f.icd.fault_calls() >= r->n;
    p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
    program_frame(p, r->draws, pipeline, push);
    uint64_t made = p->f.icd.live("pipeline") - pipelines;
    assert_in_range(made, 1, 2);
    r->published = made == 2;
    program_destroy(p, pipeline);
    assert_int_equal(p->f.icd.live("pipeline"), pipelines);
    assert_int_equal(other_objects(p), others);
}

static void assert_said(const char *report, const struct round *r, const char *what)
{
    const char *line = program_line(report, r->name);
    if (!line || !strstr(line, what))
        fail_msg("%s: %s, not %s", r->name, line ? line : "no line", what);
}

/* What a round is to have come to by the report: built, or rejected for a reason. */
static void assert_told(const char *report, const struct round *r, const char *reason)
{
    char error[32];
    snprintf(error, sizeof(error), " error=%d", r->result);
    assert_int_equal(r->published, reason == NULL);
    if (!reason) {
        assert_said(report, r, " unjudged none ");
        return;
    }
    assert_said(report, r, " rejected ");
    assert_said(report, r, reason);
    assert_said(report, r, error);
}

/* ------------------------------------------------------------------------------- Every error -- */

/* What calls may return; those of the device that all may. */
#define MOST 8
static const struct {
    const char *command;
    VkResult results[MOST];
} errors[] = {
    {"vkCreateShaderModule",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_INVALID_SHADER_NV,
      VK_ERROR_UNKNOWN, VK_ERROR_VALIDATION_FAILED_EXT}},
    {"vkCreateComputePipelines",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_INVALID_SHADER_NV,
      VK_PIPELINE_COMPILE_REQUIRED, VK_ERROR_UNKNOWN, VK_ERROR_VALIDATION_FAILED_EXT}},
    {"vkCreateGraphicsPipelines",
     {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_INVALID_SHADER_NV,
      VK_PIPELINE_COMPILE_REQUIRED, VK_ERROR_UNKNOWN, VK_ERROR_VALIDATION_FAILED_EXT}},
};

static bool is_of_memory(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_MEMORY_MAP_FAILED:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
        return true;
    default:
        return false;
    }
}

/* Each error of each call, at its first three times; where each turn costs many times as much each
 * third, at the first. */
#define FIRST (SANITIZED ? 1 : 3)
#define NEXT  (SANITIZED ? 3 : 1)

static void fail_all(bool draws)
{
    static struct round rounds[sizeof(errors) / sizeof(errors[0]) * MOST * 3];
    uint32_t count = 0, commands = 0;
    struct program *p = program_open(NULL, NULL);
    warm_up(p, draws);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        bool any = false;
        for (uint32_t k = 0; k < MOST && errors[i].results[k]; k += NEXT) {
            struct round r = {.struck = true};
            for (uint64_t n = 1; n <= FIRST && r.struck; n++) {
                r = (struct round){.draws = draws,
                                   .command = errors[i].command,
                                   .n = n,
                                   .result = errors[i].results[k]};
                play(p, &r);
                rounds[count++] = r;
                any |= r.struck;
            }
        }
        commands += any;
        print_message("%s: %s\n", errors[i].command, any ? "failed" : "is not called");
    }
    struct round last = {.draws = draws, .command = "vkNone", .n = 1};
    play(p, &last);
    const char *report = program_close(p);
    for (uint32_t i = 0; i < count; i++) {
        const struct round *r = &rounds[i];
        assert_told(report, r,
                    !r->struck                ? NULL
                    : is_of_memory(r->result) ? " memory "
                                              : " failed ");
    }
    assert_false(last.struck);
    assert_told(report, &last, NULL);
    assert_int_equal(commands, 2);
}

TEST_WITH(every_error_of_every_call_ends_a_build_that_computes, cache_setup, cache_teardown)
{
    fail_all(false);
}

TEST_WITH(every_error_of_every_call_ends_a_build_that_draws, cache_setup, cache_teardown)
{
    fail_all(true);
}

/* ----------------------------------------------------------------------------- At any moment -- */

/* Whichever call it is. */
static void run_short(bool draws, VkResult result)
{
    struct round r = {.struck = true};
    uint64_t n = 1;
    struct program *p = program_open(NULL, NULL);
    warm_up(p, draws);
    for (; r.struck; n++) {
        r = (struct round){.draws = draws, .n = n, .result = result};
        play(p, &r);
    }
    assert_told(program_close(p), &r, NULL); /* the last, which failed nowhere */
    assert_in_range(n, 3, 100);
    print_message("at calls up to %llu\n", (unsigned long long)n);
}

TEST_WITH(memory_runs_out_at_every_call, cache_setup, cache_teardown)
{
    run_short(false, VK_ERROR_OUT_OF_HOST_MEMORY);
    run_short(true, VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

/* ------------------------------------------------------------------------------- The helper -- */

/* The helper's driver fails at that submission, or call: the program's device, and its pipeline,
 * are as they were. */
static void run_in_helper(bool draws, const char *fault, const char *reason)
{
    const struct program_push push = {0, 8, ++serial};
    struct program *p = program_open(fault, NULL);
    VkPipeline pipeline = program_pipeline(p, draws, "helped");
    program_frame(p, draws, pipeline, push);
    program_commit(p);
    program_frame(p, draws, pipeline, push);
    assert_int_equal(p->f.icd.live("pipeline"), reason ? 1 : 2);
    assert_success(vkDeviceWaitIdle(p->f.device));
    program_destroy(p, pipeline);
    const char *report = program_close(p);
    const char *line = program_line(report, "helped");
    assert_non_null(line);
    if (!strstr(line, reason ? reason : " unjudged none "))
        fail_msg("%s: %s", fault, line);
}

#define IN_HELPER "FAULTS_IN=belfry-build-helper "

TEST_WITH(what_fails_in_the_helper_costs_the_program_nothing, cache_setup, cache_teardown)
{
    static const struct {
        const char *fault, *reason;
    } faults[] = {
        {IN_HELPER "LOSE_AT_SUBMIT=1", " rejected crashed "},
        {IN_HELPER "LOSE_AT_SUBMIT=20", " rejected crashed "},
        {IN_HELPER "OOM_AT_SUBMIT=1", " rejected memory "},
        {IN_HELPER "OOM_AT=30", " rejected memory "},
        {IN_HELPER "OOM_AT=100000", NULL},
        {IN_HELPER "PIPELINE=crash", " rejected crashed "},
        {IN_HELPER "LOW=0", NULL}, /* its queues' priority */
        {IN_HELPER "LOW=2", NULL},
        {"FAULTS_IN=nobody LOSE_AT_SUBMIT=1 OOM_AT=1", NULL},
    };
    for (uint32_t i = 0; i < 2 * sizeof(faults) / sizeof(faults[0]); i++) {
        char fault[128]; /* what one does isn't held against another driver */
        snprintf(fault, sizeof(fault), "BUILD=%u %s", i + 1, faults[i / 2].fault);
        run_in_helper(i & 1, fault, faults[i / 2].reason);
    }
}

/* Each for the first time: the report says why, and that is no matter of the shader. */
TEST_WITH(what_has_no_helper_says_why, cache_setup, cache_teardown)
{
    const struct program_push push = {0, 8, ++serial};
    struct program *p = program_open(IN_HELPER "OOM_AT=1", NULL);
    VkPipeline pipeline = program_pipeline(p, false, "helpless");
    program_frame(p, false, pipeline, push);
    program_commit(p);
    program_frame(p, false, pipeline, push);
    program_destroy(p, pipeline);
    const char *report = program_close(p);
    const char *line = program_line(report, "helpless");
    assert_non_null(line);
    if (!strstr(line, " rejected no-helper "))
        fail_msg("%s", line);
    assert_non_null(strstr(report, "the build helper can't open the device: VkResult -1"));
}

/* By its shaders, whatever the values; after a lost device all that the driver builds. */
TEST_WITH(what_has_misbehaved_is_left_alone, cache_setup, cache_teardown)
{
    static const struct {
        const char *fault;
        bool draws;
        const char *reason;
    } runs[] = {
        {"BUILD=1 " IN_HELPER "PIPELINE=crash", false, " rejected crashed "},
        {"BUILD=1", false, " rejected crashed "},
        {"BUILD=1", true, NULL},
        {"BUILD=2", false, NULL},
        {"BUILD=2 " IN_HELPER "LOSE_AT_SUBMIT=1", true, " rejected crashed "},
        {"BUILD=2", true, " rejected crashed "}, /* which stays when the bar is deleted */
        {"BUILD=2", false, " rejected driver "},
        {"BUILD=3", false, NULL},
        {"BUILD=3 TELLS=2", true, " rejected endless "},
        {"BUILD=3", true, " rejected endless "},
        {"BUILD=3", false, NULL},
    };
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        run_in_helper(runs[i].draws, runs[i].fault, runs[i].reason);
}

/* What another program has lost meanwhile is heeded by one that runs, from its next build on, and
 * when the file goes so does what stands against the driver. */
TEST_WITH(a_lost_device_is_told_to_programs_that_run, cache_setup, cache_teardown)
{
    static const char *const reasons[] = {" unjudged none ", " rejected driver ",
                                          " unjudged none "};
    static const char *const names[] = {"before", "barred", "freed"};
    char path[300], aside[] = "/tmp/belfry-bar-XXXXXX";
    glob_t found;
    run_in_helper(false, IN_HELPER "LOSE_AT_SUBMIT=1", " rejected crashed ");
    snprintf(path, sizeof(path), "%s/driver-*.barred", cache_folder);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
    globfree(&found);
    assert_non_null(mkdtemp(aside));
    char kept[64];
    snprintf(kept, sizeof(kept), "%s/bar", aside);
    assert_int_equal(rename(path, kept), 0);
    struct capture capture;
    struct program *p = program_open(NULL, NULL);
    capture_start(&capture);
    for (uint32_t i = 0; i < 3; i++) {
        const struct program_push push = {0, 8, ++serial};
        VkPipeline pipeline = program_pipeline(p, true, names[i]);
        program_frame(p, true, pipeline, push);
        program_commit(p);
        program_frame(p, true, pipeline, push);
        program_destroy(p, pipeline);
        assert_int_equal(i == 0 ? rename(kept, path) : i == 1 ? unlink(path) : 0, 0);
    }
    char *said = capture_stop(&capture);
    const char *report = program_close(p);
    for (uint32_t i = 0; i < 3; i++) {
        const char *line = program_line(report, names[i]);
        assert_non_null(line);
        if (!strstr(line, reasons[i]))
            fail_msg("%s", line);
    }
    /* It says what to delete, where others have lost the device. */
    const char *told = strstr(said, "of which a check has lost its device");
    assert_non_null(told);
    assert_non_null(strstr(told, path));
    free(said);
    assert_int_equal(rmdir(aside), 0);
}

/* ------------------------------------------------------------------- The program's own calls -- */

/* What the program's own calls end with is the driver's word, and what has no record is no harm. */
TEST_WITH(the_programs_own_failures_are_its_own, cache_setup, cache_teardown)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                       VK_ERROR_INVALID_SHADER_NV, VK_PIPELINE_COMPILE_REQUIRED,
                                       VK_ERROR_UNKNOWN};
    struct program *p = program_open(NULL, NULL);
    for (int draws = 0; draws < 2; draws++) {
        warm_up(p, draws);
        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
            uint64_t before = p->f.icd.live(NULL);
            VkPipeline pipeline;
            p->f.icd.set_fault(draws ? "vkCreateGraphicsPipelines" : "vkCreateComputePipelines", 1,
                               results[i]);
            assert_int_equal(program_make(p, draws, "none", &pipeline), results[i]);
            assert_int_equal(p->f.icd.live(NULL), before);
        }
        p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
        struct round r = {.draws = draws, .command = "vkNone", .n = 1};
        play(p, &r);
        assert_true(r.published);
    }
    program_close(p);
}

/* A variant on trial is measured in the program's own frames, and for the report all pipelines are.
 * Where that fails they are no worse. */
TEST_WITH(measurements_that_fail_cost_the_program_nothing, cache_setup, cache_teardown)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    static const char *const commands[] = {"vkCreateQueryPool", "vkGetQueryPoolResults"};
    for (uint32_t i = 0; i < 8; i++) {
        const bool draws = i & 1;
        const struct program_push push = {0, 8, ++serial};
        struct program *p = program_open(NULL, NULL);
        VkPipeline pipeline = program_pipeline(p, draws, "measured");
        uint64_t struck = 0;
        for (uint64_t frame = 0; frame < 21; frame++) {
            p->f.icd.set_fault(commands[i / 4], 1, results[i / 2 % 2]);
            program_frame(p, draws, pipeline, push);
            struck += p->f.icd.fault_calls() > 0;
            p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
            if (frame == 0)
                program_commit(p);
        }
        assert_true(struck > 0);
        for (uint32_t frame = 0; frame < 20; frame++)
            program_frame(p, draws, pipeline, push);
        program_destroy(p, pipeline);
        const char *report = program_close(p);
        const char *line = program_line(report, "measured");
        assert_non_null(line);
        assert_non_null(strstr(line, " unjudged none "));
    }
}

/* Caches are there to tell what variants take, no more. */
TEST_WITH(a_driver_without_caches_builds_all_the_same, cache_setup, cache_teardown)
{
    static const char *const commands[] = {"vkCreatePipelineCache", "vkGetPipelineCacheData"};
    struct program *p = program_open(NULL, NULL);
    warm_up(p, false);
    warm_up(p, true);
    struct round rounds[4];
    for (uint32_t i = 0; i < 4; i++) {
        rounds[i] = (struct round){.draws = i & 1,
                                   .command = commands[i / 2],
                                   .n = 1,
                                   .result = VK_ERROR_OUT_OF_HOST_MEMORY};
        play(p, &rounds[i]);
        assert_true(rounds[i].struck);
    }
    const char *report = program_close(p);
    for (uint32_t i = 0; i < 4; i++)
        assert_told(report, &rounds[i], NULL);
}

/* What a driver says of a shader is remembered; that it was short of something isn't. */
TEST_WITH(what_was_short_is_tried_again_by_the_next_run, cache_setup, cache_teardown)
{
    static const struct {
        const char *command;
        VkResult result;
        bool lasts;
    } cases[] = {
        {"vkCreateComputePipelines", VK_ERROR_UNKNOWN, true},
        {"vkCreateComputePipelines", VK_ERROR_OUT_OF_DEVICE_MEMORY, false},
        {"vkCreateComputePipelines", VK_PIPELINE_COMPILE_REQUIRED, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct program_push push = {0, 8, ++serial};
        for (int run = 0; run < 2; run++) {
            struct program *p = program_open(NULL, NULL);
            VkPipeline pipeline = program_pipeline(p, false, "again");
            program_frame(p, false, pipeline, push);
            p->f.icd.set_fault(cases[i].command, run ? 0 : 1, cases[i].result);
            program_commit(p);
            p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
            program_frame(p, false, pipeline, push);
            bool built = p->f.icd.live("pipeline") == 2;
            program_destroy(p, pipeline);
            program_close(p);
            assert_int_equal(built, run == 1 && !cases[i].lasts);
        }
    }
}

/* Puts another reason into each verdict there is, with a checksum that is right. */
static void reasons_put(uint16_t reason)
{
    char path[300];
    uint8_t bytes[BF_VERDICTS_BYTES_MOST];
    glob_t found;
    snprintf(path, sizeof(path), "%s/*/*.verdicts", cache_folder);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r+");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof(bytes), file);
        assert_true(size > 52);
        for (size_t at = 48; at + 4 < size; at += sizeof(struct bf_verdict_entry))
            memcpy(bytes + at + offsetof(struct bf_verdict_entry, reason), &reason, sizeof(reason));
        const uint32_t crc = bf_crc32c(bytes, size - 4);
        memcpy(bytes + size - 4, &crc, sizeof(crc));
        rewind(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    }
    globfree(&found);
}

/* Such a verdict is none: of values, nor of shaders. */
TEST_WITH(a_reason_that_there_is_not_is_not_believed, cache_setup, cache_teardown)
{
    for (int shaders = 0; shaders < 2; shaders++) {
        const struct program_push push = {0, 8, ++serial};
        for (int run = 0; run < 3; run++) {
            struct program *p = program_open(run == 0 && shaders ? "TELLS=2" : NULL, NULL);
            VkPipeline pipeline = program_pipeline(p, false, "again");
            program_frame(p, false, pipeline, push);
            if (run == 0 && !shaders)
                p->f.icd.set_fault("vkCreateComputePipelines", 1, VK_ERROR_UNKNOWN);
            program_commit(p);
            p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
            program_frame(p, false, pipeline, push);
            assert_int_equal(p->f.icd.live("pipeline"), run == 2 ? 2 : 1);
            program_destroy(p, pipeline);
            program_close(p);
            if (run == 1)
                reasons_put(BF_REASON_COUNT);
        }
    }
}

/* All that a driver says tells it from another, even if that is no more than its description. */
TEST_WITH(another_build_of_the_driver_is_asked_again, cache_setup, cache_teardown)
{
    static const char *const builds[] = {"BUILD=1", "BUILD=2", "BUILD=1"};
    const struct program_push push = {0, 8, ++serial};
    for (int run = 0; run < 3; run++) {
        struct program *p = program_open(builds[run], NULL);
        VkPipeline pipeline = program_pipeline(p, false, "again");
        program_frame(p, false, pipeline, push);
        p->f.icd.set_fault("vkCreateComputePipelines", run == 0, VK_ERROR_UNKNOWN);
        program_commit(p);
        p->f.icd.set_fault(NULL, 0, VK_SUCCESS);
        program_frame(p, false, pipeline, push);
        assert_int_equal(p->f.icd.live("pipeline"), run == 1 ? 2 : 1);
        program_destroy(p, pipeline);
        program_close(p);
    }
}

/* IS-6: a check is on no queue of the program's device. */
TEST_WITH(checks_run_on_no_queue_of_the_program, cache_setup, cache_teardown)
{
    struct belfry_icd_record records[256];
    struct program *p = program_open("SHAPE=q8", NULL);
    VkPipeline pipeline = program_pipeline(p, false, "p");
    program_frame(p, false, pipeline, (struct program_push){0, 8, ++serial});
    p->f.icd.record_start(records, 256);
    program_commit(p);
    assert_int_equal(p->f.icd.record_stop(), 0);
    assert_int_equal(p->f.icd.live("pipeline"), 2);
    program_destroy(p, pipeline);
    program_close(p);
}
