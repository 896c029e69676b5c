/* SPDX-License-Identifier: MIT */
/* What a check has but few of at first: integers of small blocks, sizes and formats of textures,
 * places far along an axis, and what all invocations read alike (CK-16 to CK-21). */
#include "check_drawing.h"

#include "specialize/check/seeds.h"
#include "specialize/dry_run/needed.h"

#include "shaders/check_choice.comp.h"
#include "shaders/check_chosen.comp.h"
#include "shaders/check_narrow.comp.h"
#include "shaders/check_place.frag.h"
#include "shaders/check_sizes.comp.h"
#include "shaders/check_sources.comp.h"
#include "shaders/check_told.comp.h"
#include "shaders/check_unvaried.comp.h"

static const uint8_t kinds[] = {BF_UNIT_INTEGER};
static const struct bf_check_binding bindings[] = {
    {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, .used = true, .block_size = 4, .kinds = kinds,
     .kind_count = 1},
    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4,
     .size = 98304},
    {2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D,
     .number = BF_TEXEL_SFLOAT},
};
static const struct bf_check_set sets[2] = {
    {.binding_count = 3, .bindings = bindings},
    {.binding_count = 1,
     .bindings =
         &(const struct bf_check_binding){.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .count = 1}}};

/* Of dispatches of that many workgroups. */
static struct world *sources_open(uint32_t x, uint32_t y)
{
    struct world *w = world_open();
    w->described = false; /* dry runs have sets */
    subject_init(w, 2, sets, 8);
    w->s.layout.set_count = 1;
    w->s.check.workgroup[0] = 64;
    w->s.check.workgroup[1] = w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_sources_comp, 0));
    w->t.info.groups[0] = x;
    w->t.info.groups[1] = y;
    w->t.info.groups[2] = 1;
    w->t.push[0] = 0x3f400000;
    return w;
}

/* The plan of a dry run that tells of nothing. */
static struct bf_check_plan plan_make(struct world *w, uint32_t sources)
{
    struct bf_check_plan plan;
    struct bf_check_info dry = w->t.info;
    dry.form_count = 0;
    dry.plan = NULL;
    dry.sources = sources;
    dry.general = COMPUTE(w, check_told_comp, 0);
    assert_success(bf_check_dry_run(w->checker, &dry, w->s.sets[1].handle, &plan));
    assert_int_equal(dry.refused, BF_REASON_NONE);
    assert_int_equal(plan.sources, sources);
    return plan;
}

static void expect_cases(struct world *w, uint32_t sources, int32_t first, int32_t last,
                         const char *letters)
{
    const struct bf_check_plan plan = plan_make(w, sources);
    for (int32_t i = first; i <= last; i++)
        trial_add(w, COMPUTE(w, check_sources_comp, i));
    w->t.info.plan = &plan;
    expect_forms(w, letters);
}

/* [CK-18] */
WORLD_TEST(integers_of_small_blocks_are_of_each_magnitude, sources_open(16, 1))
{
    expect_cases(w, 0, 1, 4, "!!!!");
}

WORLD_TEST(loops_that_a_small_block_ends_go_round_often, sources_open(16, 1))
{
    struct bf_check_plan plan;
    w->s.check.loops = true;
    plan = plan_make(w, 0);
    for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++) {
        if (bf_seeds[i].rounds != 1024)
            plan.seeds &= ~(UINT64_C(1) << i);
    }
    trial_add(w, COMPUTE(w, check_sources_comp, 5));
    w->t.info.plan = &plan;
    expect_forms(w, "!");
}

/* [CK-16] */
WORLD_TEST(textures_are_of_many_sizes, sources_open(8, 4))
{
    expect_cases(w, BF_NEEDED_SIZES, 6, 9, "!!!!");
}

WORLD_TEST(textures_are_of_one_size_where_nobody_asks, sources_open(8, 4))
{
    expect_cases(w, 0, 6, 9, "====");
}

static const struct bf_check_binding sized_bindings[] = {
    {0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, .used = true, .written = true,
     .view = VK_IMAGE_VIEW_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM, .number = BF_TEXEL_SFLOAT},
    {1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, .used = true, .written = true,
     .view = VK_IMAGE_VIEW_TYPE_2D_ARRAY, .format = VK_FORMAT_R8G8B8A8_UNORM,
     .number = BF_TEXEL_SFLOAT},
    {2, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, .used = true, .number = BF_TEXEL_SFLOAT},
    {3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4},
};

/* Also what is stored to, and arrays, and buffers: no smaller than usual. */
TEST(what_has_a_size_is_of_many_sizes)
{
    for (uint32_t matters = 0; matters < 2; matters++) {
        struct world *w = sources_open(4, 4);
        struct bf_check_set both[2] = {{.binding_count = 4, .bindings = sized_bindings}, sets[1]};
        subject_init(w, 2, both, 8);
        w->s.layout.set_count = 1;
        w->s.check.workgroup[0] = w->s.check.workgroup[1] = 8;
        w->s.check.workgroup[2] = 1;
        trial_init(w, COMPUTE(w, check_sizes_comp, 0));
        w->t.info.groups[0] = w->t.info.groups[1] = 4;
        w->t.info.groups[2] = 1;
        w->t.push[0] = 0x3f400000;
        struct bf_check_plan plan = {.seeds = 1, .sources = matters ? BF_NEEDED_SIZES : 0};
        for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++) {
            const bool sizes =
                bf_seeds[i].shape >= BF_SHAPE_LEAST && bf_seeds[i].shape <= BF_SHAPE_TALL;
            plan.seeds |= (uint64_t)(sizes && matters) << i;
            plan.groups[i][0] = plan.groups[i][1] = 4;
            plan.groups[i][2] = 1;
        }
        w->t.info.plan = &plan;
        for (int32_t i = 1; i <= 8; i++)
            trial_add(w, COMPUTE(w, check_sizes_comp, i));
        expect_forms(w, matters ? "!!!=!!!!" : "========");
        w->t.info.form_count = 0;
        for (int32_t i = 9; i <= 11; i++)
            trial_add(w, COMPUTE(w, check_sizes_comp, i));
        expect_forms(w, matters ? "!!=" : "===");
        world_close(w);
    }
}

/* [CK-19] */
TEST(texels_are_of_all_formats_that_were_seen)
{
    static const struct {
        uint32_t classes;
        const char *letters;
    } cases[] = {
        {BF_FORMAT_CLASS_UNORM, "!===="}, {BF_FORMAT_CLASS_UNORM | BF_FORMAT_CLASS_SNORM, "!!==="},
        {BF_FORMAT_CLASS_HALF, "!!!!="},  {BF_FORMAT_CLASS_FLOAT, "!!!!!"},
        {BF_FORMAT_CLASS_ANY, "!!!!!"},   {0, "====="}, /* they can't be others */
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t matters = 0; matters < 2; matters++) {
            struct bf_check_binding some[3];
            struct world *w = sources_open(16, 1);
            memcpy(some, bindings, sizeof(some));
            some[2].classes = cases[i].classes;
            w->s.sets[0].bindings = some;
            expect_cases(w, matters ? BF_NEEDED_TEXELS : 0, 12, 16,
                         matters ? cases[i].letters : "=====");
            world_close(w);
        }
    }
}

/* Where nothing is left of the inputs with other formats. */
WORLD_TEST(without_other_formats_there_is_no_plan, sources_open(16, 1))
{
    struct bf_check_binding some[3];
    struct bf_check_plan plan;
    struct bf_check_info dry = w->t.info;
    memcpy(some, bindings, sizeof(some));
    some[2].classes = BF_FORMAT_CLASS_UNORM;
    w->s.sets[0].bindings = some;
    dry.sources = BF_NEEDED_TEXELS;
    dry.general = COMPUTE(w, check_narrow_comp, 0);
    assert_success(bf_check_dry_run(w->checker, &dry, w->s.sets[1].handle, &plan));
    assert_int_equal(dry.refused, BF_REASON_UNCHECKABLE);
    assert_string_equal(dry.why, "it can't be run on images of other formats");
    assert_int_equal(plan.seeds, 0);
}

/* [CK-20] */
WORLD_TEST(what_all_read_alike_has_many_values, sources_open(16, 1))
{
    const struct bf_check_plan plan = plan_make(w, BF_NEEDED_UNIFORM);
    assert_true(plan.more_seeds == UINT64_MAX);
    expect_cases(w, BF_NEEDED_UNIFORM, 17, 19, "!!!");
}

/* A texel among it. */
WORLD_TEST(a_texel_that_all_read_has_many_values, sources_open(16, 1))
{
    expect_cases(w, BF_NEEDED_UNIFORM, 22, 24, "!!!");
}

WORLD_TEST(what_does_not_matter_has_few, sources_open(16, 1))
{
    const struct bf_check_plan plan = plan_make(w, 0);
    assert_int_equal(plan.more_seeds, 0xff);
    expect_cases(w, 0, 17, 19, "===");
    expect_cases(w, 0, 22, 24, "======"); /* with those */
}

/* [CK-21] */
WORLD_TEST(floats_only_just_overflow, sources_open(16, 1))
{
    expect_cases(w, 0, 21, 21, "!");
}

/* [CK-17] */
WORLD_TEST(dispatches_reach_as_far_as_the_program_s, sources_open(128, 256))
{
    const struct bf_check_plan near = plan_make(w, 0);
    trial_add(w, COMPUTE(w, check_sources_comp, 10));
    trial_add(w, COMPUTE(w, check_sources_comp, 11));
    w->t.info.plan = &near;
    expect_forms(w, "==");
    assert_in_range(w->t.info.reach[0], 1, 127);
    assert_in_range(w->t.info.reach[1], 1, 255);
    const struct bf_check_plan far = plan_make(w, BF_NEEDED_PLACES);
    w->t.info.plan = &far;
    expect_forms(w, "!!");
    w->t.info.form_count = 0;
    trial_add(w, w->t.info.general);
    expect_forms(w, "=");
    assert_int_equal(w->t.info.reach[0], 128);
    assert_int_equal(w->t.info.reach[1], 256);
    assert_int_equal(w->t.info.reach[2], 1);
}

/* No further than is compared in one run. */
WORLD_TEST(what_is_too_far_is_said, sources_open(65535, 1))
{
    const struct bf_check_plan plan = plan_make(w, BF_NEEDED_PLACES);
    trial_add(w, w->t.info.general);
    w->t.info.plan = &plan;
    expect_forms(w, "=");
    assert_int_equal(w->t.info.reach[0], 4096);
}

static uint64_t strips(void)
{
    uint64_t seeds = 0;
    for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++)
        seeds |=
            (uint64_t)(bf_seeds[i].shape == BF_SHAPE_WIDE || bf_seeds[i].shape == BF_SHAPE_HIGH)
            << i;
    return seeds;
}

TEST(draws_reach_as_far_as_the_program_s)
{
    static const struct {
        uint32_t made, begun[2], reach[2];
        const char *letters;
    } cases[] = {
        {1000, {0, 0}, {1000, 1000}, "=!!"},
        {64, {1000, 200}, {1000, 200}, "=!="},
        {64, {200, 8000}, {200, 4096}, "==!"},
    };
    const VkFormat wide = VK_FORMAT_R32G32B32A32_SFLOAT;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t small = 0; small < 2; small++) {
            const struct bf_check_plan far = {.seeds = 1 | strips(), .small = small},
                                       near = {.seeds = 1, .small = small};
            struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
            DRAWING_SHADER(d, 1, check_place_frag);
            d->w->s.check.extent[0] = d->w->s.check.extent[1] = cases[i].made;
            d->g.viewport.width = d->g.viewport.height = 4096;
            d->g.scissor.extent = (VkExtent2D){4096, 4096};
            drawing_trial(d, "===");
            memcpy(d->w->t.info.groups, cases[i].begun, sizeof(cases[i].begun));
            d->w->t.info.plan = &near;
            expect_forms(d->w, "===");
            d->w->t.info.plan = &far;
            expect_forms(d->w, cases[i].letters);
            assert_int_equal(d->w->t.info.reach[0], cases[i].reach[0]);
            assert_int_equal(d->w->t.info.reach[1], cases[i].reach[1]);
            drawing_close(d);
        }
    }
}

/* ------------------------------------------------------------------------------ What is left -- */

/* Four floats, and which of them. */
static const uint8_t choice_kinds[17] = {
    BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT,  BF_UNIT_FLOAT,
    BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT,  BF_UNIT_FLOAT,
    BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_INTEGER};

static struct world *choice_open(struct bf_check_binding some[3])
{
    struct world *w = sources_open(16, 1);
    memcpy(some, bindings, sizeof(bindings));
    some[0].block_size = sizeof(choice_kinds) * 4;
    some[0].kinds = choice_kinds;
    some[0].kind_count = sizeof(choice_kinds);
    w->s.sets[0].bindings = some;
    trial_init(w, COMPUTE(w, check_choice_comp, 0));
    w->t.info.groups[0] = 16;
    w->t.info.groups[1] = w->t.info.groups[2] = 1;
    w->t.push[0] = 0x3f400000;
    return w;
}

static struct bf_check_info choice_run(struct world *w, int32_t tells, struct bf_check_plan *plan)
{
    struct bf_check_info dry = w->t.info;
    dry.form_count = 0;
    dry.plan = NULL;
    dry.sources = BF_NEEDED_UNIFORM | BF_NEEDED_SIZES;
    dry.general = COMPUTE(w, check_chosen_comp, tells);
    assert_success(bf_check_dry_run(w->checker, &dry, w->s.sets[1].handle, plan));
    return dry;
}

/* [CK-25] */
TEST(an_index_astray_does_not_take_floats_along)
{
    struct bf_check_binding some[3];
    struct bf_check_plan plan;
    struct world *w = choice_open(some);
    assert_int_equal(choice_run(w, 0, &plan).refused, BF_REASON_NONE);
    assert_true(plan.more_seeds == UINT64_MAX);
    uint32_t narrow = 0, all = 0;
    for (uint32_t i = 0; i < BF_SEEDS_END; i++) {
        const bool in =
            i < BF_CHECK_SEEDS ? plan.seeds >> i & 1 : plan.more_seeds >> (i - BF_CHECK_SEEDS) & 1;
        all += in;
        narrow += plan.narrow[i] && in;
    }
    assert_in_range(narrow, all / 2, all - 1); /* but for those that stay inside by themselves */
    for (int32_t i = 1; i <= 4; i++)
        trial_add(w, COMPUTE(w, check_choice_comp, i));
    w->t.info.plan = &plan;
    expect_forms(w, "!!!!");
    world_close(w);
}

/* [CK-26] */
TEST(without_some_inputs_of_each_kind_there_is_no_plan)
{
    static const struct {
        int32_t tells;
        const char *why;
    } cases[] = {
        {1, "on no tiny floats does it end, and stay inside what it indexes"},
        {2, "on no tiny floats does it end, and stay inside what it indexes"},
        {3, "on no huge floats does it end, and stay inside what it indexes"},
        {4, "on no floats of many sizes does it end, and stay inside what it indexes"},
        {5, "on no floats that only just overflow does it end, and stay inside"},
        {6, "on no floats that only just underflow does it end, and stay inside"},
        {7, "on too few values of what all read alike does it end, and stay inside"},
        {8, "on images of no other size does it end, and stay inside"},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_check_binding some[3];
        struct bf_check_plan plan;
        struct world *w = choice_open(some);
        const struct bf_check_info dry = choice_run(w, cases[i].tells, &plan);
        assert_non_null(dry.why);
        assert_string_equal(dry.why, cases[i].why);
        assert_int_equal(dry.refused, BF_REASON_UNCHECKABLE);
        assert_int_equal(plan.seeds, 0);
        world_close(w);
    }
}

/* ------------------------------------------------------------------------ Blocks and samples -- */

static const struct bf_check_binding unvaried_bindings[] = {
    {0, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 8, .used = true,
     .kinds = (const uint8_t[]){BF_UNIT_FLOAT, BF_UNIT_INTEGER}, .kind_count = 2},
    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4},
    {2, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D,
     .number = BF_TEXEL_SFLOAT, .format = VK_FORMAT_R32G32B32A32_SFLOAT,
     .samples = VK_SAMPLE_COUNT_4_BIT},
};
static const struct bf_check_set unvaried_set = {.binding_count = 3, .bindings = unvaried_bindings};

/* Also what no buffer and no copy can fill: inline uniform blocks, and images of several samples
 * that dispatches read. [DU-5, DS-2] */
TEST(blocks_and_samples_are_of_many_values)
{
    struct world *w = world_open();
    TEST_NEEDS(w->inline_blocks, "inline uniform blocks");
    subject_init(w, 1, &unvaried_set, 8);
    w->s.check.workgroup[0] = w->s.check.workgroup[1] = 16;
    w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_unvaried_comp, 0));
    for (int32_t i = 0; i < 7; i++)
        trial_add(w, COMPUTE(w, check_unvaried_comp, i));
    expect_forms(w, "=!!!!!!");
    world_close(w);
}
