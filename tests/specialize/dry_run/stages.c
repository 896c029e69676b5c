/* SPDX-License-Identifier: MIT */
/* Which pairs of a vertex and a fragment shader may run as they are: cases of shaders/stages.*, as
 * compiled and as spirv-opt leaves them, in either order. [FU-6] */
#include "../shader/helper.h"

#include "specialize/dry_run/stages.h"

static const struct {
    const char *vertex, *fragment, *before, *behind; /* what is found of each: of 'bare' */
} cases[] = {
    {"INTEGER", "COUNTED", "fine", "fine"},      {"LOADED", "COUNTED", "fine", "fine"},
    {"FLOAT", "COUNTED", "fine", "float"},       {"FLOAT_DECIDES", "COUNTED", "fine", "float"},
    {"PARTLY", "COUNTED", "fine", "unassigned"}, {"NOTHING", "COUNTED", "fine", "unassigned"},
    {"INTEGER", "BITS", "fine", "float"},        {"INTEGER", "SIDE", "fine", "float"},
    {"FLOAT", "PRIMITIVE", "fine", "fine"},      {"INTEGER", "READS", "fine", "fine"},
    {"WRITES", "READS", "fine", "shared"},       {"WRITES", "COUNTED", "fine", "fine"},
    {"LOADED", "WRITES", "fine", "fine"},        {"LOADED", "COUNTED_WRITES", "fine", "shared"},
};

static struct bf_shader_info stage_of(const char *name, bool optimized, const char *extension)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "stages_%s%s.%s", optimized ? "opt_" : "", name, extension);
    const struct spirv *spirv = spirv_find(whole);
    return (struct bf_shader_info){spirv->words, (size_t)(spirv->end - spirv->words), "main",
                                   spirv->stage, NULL};
}

static void pair_check(size_t i, bool optimized, bool turned)
{
    const struct bf_shader_info vertex = stage_of(cases[i].vertex, optimized, "vert"),
                                fragment = stage_of(cases[i].fragment, optimized, "frag");
    const struct bf_shader_info infos[2] = {turned ? fragment : vertex, turned ? vertex : fragment};
    const char *expected[2] = {turned ? cases[i].behind : cases[i].before,
                               turned ? cases[i].before : cases[i].behind};
    struct bf_dry_run_options options = {.binding = 1};
    struct bf_dry_run runs[2] = {{0}};
    struct bf_stages stages;
    assert_int_equal(bf_stages_open(infos, 2, &stages), VK_SUCCESS);
    for (uint32_t n = 0; n < 2; n++) {
        const uint32_t k = bf_stages_nth(&stages, n);
        assert_true((infos[k].stage == VK_SHADER_STAGE_FRAGMENT_BIT) == (n == 1));
        options.stages = bf_stages_describe(&stages, k, runs);
        assert_int_equal(bf_dry_run_create(&infos[k], &options, &runs[k]), VK_SUCCESS);
        const char *bare = bf_dry_run_reason_name(runs[k].bare);
        if (strcmp(bare, expected[k]))
            fail_msg("%s, %s: %s", cases[i].vertex, cases[i].fragment, bare);
    }
    bf_stages_close(&stages);
    bf_dry_run_finish(&runs[0]);
    bf_dry_run_finish(&runs[1]);
}

TEST(pairs)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t how = 0; how < 4; how++)
            pair_check(i, how & 1, how & 2);
}
