/* SPDX-License-Identifier: MIT */
/* What is refused, and which shaders may run as they are: each case of shaders/analysed.*, as
 * compiled and as spirv-opt leaves it. [FU-5, FU-6] */
#include "../shader/helper.h"

#include "specialize/dry_run/dry_run.h"

static const struct {
    const char *name, *reason, *bare;
} cases[] = {
    {"NOTHING.comp", "fine", "fine"},
    {"INPUT.comp", "fine", "fine"},
    {"READ_ONLY.comp", "fine", "fine"},
    {"FLOAT_MOVED.comp", "fine", "fine"},
    {"FLOAT_BESIDE.comp", "fine", "fine"},
    {"FLOAT_EXIT.comp", "fine", "float"},
    {"FLOAT_BREAK.comp", "fine", "float"},
    {"FLOAT_AROUND.comp", "fine", "float"},
    {"FLOAT_INDEX.comp", "fine", "float"},
    {"FLOAT_CONVERTED.comp", "fine", "fine"},
    {"FLOAT_CONVERTED_PARTS.comp", "fine", "fine"},
    {"FLOAT_CONVERTED_VARYING.comp", "fine", "float"},
    {"FLOAT_BEFORE.comp", "fine", "fine"},
    {"FLOAT_RETURN.comp", "fine", "float"},
    {"WRITTEN.comp", "shared", "shared"},
    {"ALIASED.comp", "shared", "shared"},
    {"ATOMIC.comp", "shared", "shared"},
    {"ATOMIC_FLOAT.comp", "shared", "shared"},
    {"SHARED_LOOP.comp", "shared", "shared"},
    {"SHARED_INDEX.comp", "fine", "shared"},
    {"UNASSIGNED.comp", "fine", "unassigned"},
    {"UNASSIGNED_CALL.comp", "fine", "unassigned"},
    {"ASSIGNED.comp", "fine", "fine"},
    {"ASSIGNED_CALL.comp", "fine", "fine"},
    {"SUBGROUP.comp", "fine", "subgroup"},
    {"SUBGROUP_SIZE.comp", "fine", "subgroup"},
    {"SUBGROUP_BESIDE.comp", "fine", "fine"},
    {"SUBGROUP_PART.comp", "subgroup", "fine"},
    {"SUBGROUP_LOOP.comp", "subgroup", "fine"},
    {"BARRIER_PART.comp", "barrier", "fine"},
    {"BARRIER_LOOP.comp", "barrier", "fine"},
    {"BARRIER_BREAK.comp", "barrier", "fine"},
    {"BARRIER_RETURN.comp", "barrier", "fine"},
    {"BARRIER_ALL.comp", "fine", "fine"},
    {"BARRIER_BEHIND.comp", "fine", "fine"},
    {"ADDRESSES.comp", "addresses", "fine"},
    {"BINDING.comp", "binding", "fine"},
    {"OPEN.comp", "descriptors", "fine"},
    {"LENGTH_GIVEN.comp", "fine", "fine"},
    {"PART_KNOWN.comp", "fine", "fine"},
    {"FLAT.frag", "fine", "fine"},
    {"FETCH.frag", "fine", "fine"},
    {"FLOAT_FETCH.frag", "fine", "float"},
    {"IMPLICIT.frag", "fine", "derivative"},
    {"DERIVATIVE.frag", "fine", "derivative"},
    {"DISCARD.frag", "fine", "fine"},
    {"DISCARD_BEFORE.frag", "fine", "float"},
    {"DEMOTE.frag", "fine", "fine"},
    {"DEMOTE_STORES.frag", "demote", "fine"},
    {"AT_SAMPLE.frag", "texel", "fine"},
    {"AT_SAMPLE_KNOWN.frag", "fine", "fine"},
    {"SUBPASS.frag", "fine", "fine"},
    {"SUBPASS_PARTS.frag", "subgroup", "fine"},
    {"SUBPASS_STEERS.frag", "fine", "derivative"},
    {"SUBPASS_INDEX.frag", "fine", "derivative"},
};

static void case_analyse(const char *name, const char *reason, const char *bare, bool untaken)
{
    static const struct bf_dry_run_array given = {0, 4, 100};
    const struct spirv *spirv = spirv_find(name);
    const struct bf_shader_info info = {spirv->words, (size_t)(spirv->end - spirv->words), "main",
                                        spirv->stage, NULL};
    const struct bf_dry_run_options options = {
        .binding = 1, .arrays = &given, .array_count = 1, .untaken_descriptors = untaken};
    struct bf_dry_run run;
    assert_int_equal(bf_dry_run_create(&info, &options, &run), VK_SUCCESS);
    const char *found = bf_dry_run_reason_name(run.reason);
    /* Of what is refused anyway, 'bare' says no more than has been seen by then. */
    if (strcmp(found, reason) ||
        (!strcmp(reason, "fine") && strcmp(bf_dry_run_reason_name(run.bare), bare)))
        fail_msg("%s: %s, %s", name, found, bf_dry_run_reason_name(run.bare));
    if (run.reason == BF_DRY_RUN_FINE)
        validate(run.words, run.word_count);
    bf_dry_run_finish(&run);
}

static void cases_analyse(bool untaken)
{
    char name[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t optimized = 0; optimized < 2; optimized++) {
            const bool indexed = !strcmp(cases[i].name, "LENGTH_GIVEN.comp");
            snprintf(name, sizeof(name), "analysed_%s%s", optimized ? "opt_" : "", cases[i].name);
            case_analyse(name, untaken && indexed ? "descriptors" : cases[i].reason, cases[i].bare,
                         untaken);
        }
}

TEST(cases_compiled)
{
    cases_analyse(false);
}

/* Where the driver reads descriptors on ways that aren't taken: those whose index is known, and
 * elements of one buffer, are fine. */
TEST(cases_with_untaken_descriptors)
{
    cases_analyse(true);
}
