/* SPDX-License-Identifier: MIT */
/* What may be folded in exact mode, and what not. [SF-2] */
#include "helper.h"

/* Of shaders/reach.frag, in order. */
static const struct {
    const char *name;
    bool exact;
    uint16_t uses; /* at least */
} fates[] = {
    {"direct", false, 0},
    {"called", false, 0},
    {"divisor", false, 0},
    {"modulus", false, 0},
    {"highest", true, 0},
    {"quotient", true, BF_USE_STRIDE},
    {"table", false, BF_USE_INDEX | BF_USE_CONTROLS},
    {"unrolled", false, BF_USE_LOOP | BF_USE_CONTROLS},
    {"repeated", true, BF_USE_LOOP},
    {"branch", true, BF_USE_BRANCH},
    {"chosen", false, BF_USE_CONTROLS},
    {"coordinate", false, 0},
    {"explicit_lod", true, 0},
    {"stored", false, 0},
    {"derivative", false, 0},
    {"written", false, 0},
    {"fraction", false, 0},
    {"factor", true, 0},
    {"selected", false, 0},
    {"switched", true, BF_USE_SWITCH},
    {"packed", false, 0},
    {"mixed", false, 0},
    {"returned", false, BF_USE_CONTROLS},
    {"left", false, BF_USE_CONTROLS},
    {"compared", true, 0},
    {"both", true, 0},
    {"untouched", true, 0},
    {"negated", true, 0},
};

static void fates_of(const char *name, bool optimised)
{
    struct bf_shader *shader = shader_of(name, NULL);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "foldable");
    for (uint32_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
        const struct bf_fold_member *member = member_at(shader, 4 * i);
        if (!member)
            fail_msg("%s isn't a member", fates[i].name);
        /* The optimiser makes one load of two. */
        bool exact = fates[i].exact && !(optimised && !strcmp(fates[i].name, "both"));
        if (member->exact != exact)
            fail_msg("%s: %s is %sexact: uses %#x", name, fates[i].name, member->exact ? "" : "in",
                     member->uses);
        /* Branches that it has made selections of steer nothing. */
        if (!optimised && (member->uses & fates[i].uses) != fates[i].uses)
            fail_msg("%s: %s has uses %#x, not %#x", name, fates[i].name, member->uses,
                     fates[i].uses);
    }
    bf_shader_release(shader);
}

TEST(as_compiled)
{
    fates_of("reach.frag", false);
    fates_of("reach_debug.frag", false);
}

/* In SSA form: phi instead of variables, and everything in one function. */
TEST(as_optimised)
{
    fates_of("reach_opt.frag", true);
}

/* Of two loads of one member the one is folded that may be. */
TEST(folds_loads_one_by_one)
{
    struct bf_shader *shader = shader_of("reach.frag", NULL);
    struct bf_watch watch = watch_of((const uint16_t[]){100}, 1);
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold(shader, &watch, 1, true, &folded), VK_SUCCESS);
    assert_int_equal(folded.load_count, 1);
    validate(folded.words, folded.word_count);
    bf_folded_finish(&folded);

    watch = watch_of((const uint16_t[]){0}, 1);
    assert_int_equal(bf_shader_fold(shader, &watch, 1, true, &folded), VK_INCOMPLETE);
    assert_null(folded.words);
    bf_shader_release(shader);
}
