/* SPDX-License-Identifier: MIT */
/* Whole modules: all shaders of the specialiser's tests, and files named on the command line, become valid
 * dry-run forms, or there is a reason. [FU-7] Prints what becomes of each with --list. */
#include "../shader/helper.h"

#include <spirv/unified1/spirv.h>

#include "specialize/dry_run/dry_run.h"

static const struct bf_dry_run_array unbounded[] = {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {1, 0, 4}};

/* Returns the reason. */
static enum bf_dry_run_reason through(const char *name, const uint32_t *words, size_t count,
                                      VkShaderStageFlagBits stage, bool list)
{
    const struct bf_shader_info info = {words, count, "main", stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 7, .binding = 3, .arrays = unbounded, .array_count = 4};
    struct bf_dry_run run;
    assert_int_equal(bf_dry_run_create(&info, &options, &run), VK_SUCCESS);
    if (list)
        printf("%-40s %-12s %-12s loops %u indices %u words %zu -> %zu work %llu\n", name,
               bf_dry_run_reason_name(run.reason), bf_dry_run_reason_name(run.bare), run.loop_count,
               run.index_count, count, run.word_count, (unsigned long long)run.work);
    assert_int_equal(run.words != NULL, run.reason == BF_DRY_RUN_FINE);
    if (run.words)
        validate(run.words, run.word_count);
    enum bf_dry_run_reason reason = run.reason;
    bf_dry_run_finish(&run);
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

/* Files that somebody else has compiled: a reason for each but FINE is a failure, unless it is to be allowed. */
static void file_through(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static uint32_t words[1 << 20];
    size_t count = fread(words, 4, sizeof(words) / 4, file);
    fclose(file);
    through(path, words, count, stage_of(words, count), true);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] != '-'; i++)
        file_through(argv[i]);
    if (argc > 1 && argv[1][0] != '-')
        return 0;
    listing = argc > 1 && !strcmp(argv[1], "--list");
    return test_run_group(NULL, NULL, NULL);
}
