/* SPDX-License-Identifier: MIT */
/* Whole modules: all shaders of the specialiser's tests, or those in a folder (an absolute path),
 * become valid dry-run forms, or there is a reason. [FU-7] Prints what becomes of each with
 * --list. */
#include "../shader/helper.h"

#include <glob.h>

#include <spirv/unified1/spirv.h>

#include "specialize/dry_run/calls.h"
#include "specialize/dry_run/dry_run.h"

static const struct bf_dry_run_array unbounded[] = {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {1, 0, 4}};

/* Returns the reason. */
static enum bf_dry_run_reason form_of(const char *name, const uint32_t *words, size_t count,
                                      VkShaderStageFlagBits stage, bool points, bool list)
{
    const struct bf_shader_info info = {words, count, "main", stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 7, .binding = 3, .arrays = unbounded, .array_count = 4, .points = points};
    struct bf_dry_run run;
    assert_int_equal(bf_dry_run_create(&info, &options, &run), VK_SUCCESS);
    if (list)
        printf("%-40s %-12s %-12s loops %u indices %u words %zu -> %zu\n", name,
               bf_dry_run_reason_name(run.reason), bf_dry_run_reason_name(run.bare), run.loop_count,
               run.index_count, count, run.word_count);
    assert_int_equal(run.words != NULL, run.reason == BF_DRY_RUN_FINE);
    if (run.words)
        validate(run.words, run.word_count);
    assert_int_equal(run.point_count > 0, points && run.words);
    enum bf_dry_run_reason reason = run.reason;
    bf_dry_run_finish(&run);
    return reason;
}

/* Each function that it comes to is called from one place, and what has been copied is what it is a
 * copy of. [FN-3] */
static void calls_check(const struct bf_shader_info *info, const struct bf_calls *calls)
{
    uint32_t *seen = calloc(calls->bound + 1, sizeof(*seen));
    const uint32_t *words = calls->words;
    assert_non_null(seen);
    assert_int_equal(words[3], calls->bound);
    for (size_t at = 5; at < calls->word_count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == SpvOpFunctionCall && ++seen[words[at + 3]] > 1)
            fail_msg("function %u has several calls", words[at + 3]);
    assert_true(calls->own_bound == info->words[3] && calls->own_bound <= calls->bound);
    for (uint32_t id = 0; id < calls->bound; id++)
        assert_true(id < calls->own_bound ? calls->origin[id] == id
                                          : calls->origin[id] - 1 < calls->own_bound - 1);
    free(seen);
}

/* Too many points, or words, are no fault. */
static void parted_through(const char *name, const uint32_t *words, size_t count,
                           VkShaderStageFlagBits stage, enum bf_dry_run_reason without, bool list)
{
    const struct bf_shader_info info = {words, count, "main", stage, NULL};
    struct bf_calls calls;
    VkResult result = bf_calls_part(&info, &calls);
    enum bf_dry_run_reason with = BF_DRY_RUN_SIZE;
    if (result == VK_SUCCESS) {
        validate(calls.words, calls.word_count);
        calls_check(&info, &calls);
        with = form_of(name, calls.words, calls.word_count, stage, true, false);
        if (list)
            printf("%-40s parted %zu -> %zu %s\n", name, count, calls.word_count,
                   bf_dry_run_reason_name(with));
    }
    if (with != BF_DRY_RUN_SIZE)
        assert_int_equal(with, without);
    bf_calls_finish(&calls);
}

static enum bf_dry_run_reason through(const char *name, const uint32_t *words, size_t count,
                                      VkShaderStageFlagBits stage, bool list)
{
    enum bf_dry_run_reason with = form_of(name, words, count, stage, true, false),
                           reason = form_of(name, words, count, stage, false, list);
    if (with != BF_DRY_RUN_SIZE) /* too many points */
        assert_int_equal(with, reason);
    parted_through(name, words, count, stage, reason, list);
    return reason;
}

static bool listing;

TEST(compiled)
{
    for (size_t i = 0; i < spirv_count; i++) {
        bool addresses = !strncmp(spirv_all[i].name, "unfolded", 8);
        assert_int_equal(through(spirv_all[i].name, spirv_all[i].words,
                                 (size_t)(spirv_all[i].end - spirv_all[i].words),
                                 spirv_all[i].stage, listing),
                         addresses ? BF_DRY_RUN_ADDRESSES : BF_DRY_RUN_FINE);
    }
}

static VkShaderStageFlagBits stage_of(const uint32_t *words, size_t count)
{
    static const VkShaderStageFlagBits stages[] = {
        [SpvExecutionModelVertex] = VK_SHADER_STAGE_VERTEX_BIT,
        [SpvExecutionModelFragment] = VK_SHADER_STAGE_FRAGMENT_BIT,
        [SpvExecutionModelGLCompute] = VK_SHADER_STAGE_COMPUTE_BIT};
    for (size_t at = 5; at + 1 < count && words[at] >> 16; at += words[at] >> 16)
        if ((words[at] & 0xffff) == SpvOpEntryPoint && words[at + 1] <= SpvExecutionModelGLCompute)
            return stages[words[at + 1]];
    return 0;
}

/* All that others have compiled into that folder; of whom there may be few. */
static int folder_through(const char *path)
{
    glob_t files;
    static uint32_t words[1 << 20];
    char pattern[4096];
    uint32_t fine = 0;
    snprintf(pattern, sizeof(pattern), "%s/*.spv", path);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "rb");
        assert_non_null(file);
        size_t count = fread(words, 4, sizeof(words) / 4, file);
        fclose(file);
        fine += through(strrchr(files.gl_pathv[i], '/') + 1, words, count, stage_of(words, count),
                        true) == BF_DRY_RUN_FINE;
    }
    printf("%u of %zu\n", fine, files.gl_pathc);
    int result = fine == files.gl_pathc ? 0 : 1;
    globfree(&files);
    return result;
}

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '/')
        return folder_through(argv[1]);
    listing = argc > 1 && !strcmp(argv[1], "--list");
    return test_run_group(NULL, NULL, NULL);
}
