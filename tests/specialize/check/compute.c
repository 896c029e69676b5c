/* SPDX-License-Identifier: MIT */
/* Compute pipelines against others that are the same, or nearly so (CK-1, CK-4), and on what a dry
 * run leaves them (CK-6). */
#include "check_world.h"

#include "specialize/check/seeds.h"
#include "specialize/dry_run/dry_run.h"

#include "shaders/check_far.comp.h"
#include "shaders/check_fickle.comp.h"
#include "shaders/check_fragile.comp.h"
#include "shaders/check_images.comp.h"
#include "shaders/check_loop.comp.h"
#include "shaders/check_sums.comp.h"
#include "shaders/check_told.comp.h"
#include "shaders/check_wild.comp.h"
#include "shaders/check_words.comp.h"

/* -------------------------------------------------------------------------------------- Sums -- */

static const uint8_t float_kinds[] = {BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT};

static const struct bf_check_binding sum_bindings[] = {
    {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .array_stride = 16,
     .kinds = float_kinds, .kind_count = 4, .period = 4},
    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4,
     .kinds = float_kinds, .kind_count = 1, .period = 1},
};
static const struct bf_check_set sum_set = {.binding_count = 2, .bindings = sum_bindings};

static struct world *sums_open(void)
{
    struct world *w = world_open();
    subject_init(w, 1, &sum_set, 8);
    w->s.check.workgroup[0] = 64;
    w->s.check.workgroup[1] = w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_sums_comp, 0));
    w->t.push[0] = 0x3f400000; /* 0.75 */
    w->t.push[1] = 64;
    return w;
}

WORLD_TEST(pipelines_that_are_the_same_agree, sums_open())
{
    trial_add(w, COMPUTE(w, check_sums_comp, 0));
    trial_add(w, w->t.info.general);
    expect_forms(w, "==");
    assert_true(w->t.forms[0].first_use_ns > 0 && w->t.forms[0].steady_ns > 0);
    assert_null(w->t.info.why);
    expect_forms(w, "=="); /* again, by the same checker */
}

WORLD_TEST(any_bit_on_any_input_tells, sums_open())
{
    for (int32_t i = 1; i <= 7; i++)
        trial_add(w, COMPUTE(w, check_sums_comp, i));
    trial_add(w, COMPUTE(w, check_sums_comp, 0));
    expect_forms(w, "!!!!!!!=");
}

WORLD_TEST(push_constants_that_are_not_fixed_change, sums_open())
{
    trial_add(w, COMPUTE(w, check_sums_comp, 8));
    expect_forms(w, "!");
    w->t.info.fixed = 1; /* the factor is */
    expect_forms(w, "=");
}

/* Sums with a form, and a set more for what their dry run tells. */
static struct world *told_open(int32_t form)
{
    static const struct bf_check_binding told = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                 .count = 1};
    const struct bf_check_set sets[2] = {sum_set, {.binding_count = 1, .bindings = &told}};
    struct world *w = world_open();
    w->described = false; /* dry runs have sets */
    subject_init(w, 2, sets, 8);
    w->s.layout.set_count = 1;
    w->s.check.workgroup[0] = 64;
    w->s.check.workgroup[1] = w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_sums_comp, 0));
    trial_add(w, COMPUTE(w, check_sums_comp, form));
    return w;
}

static struct bf_check_info told_run(struct world *w, int32_t told, struct bf_check_plan *plan)
{
    struct bf_check_info dry = w->t.info;
    dry.form_count = 0;
    dry.plan = NULL;
    dry.general = COMPUTE(w, check_told_comp, told);
    assert_success(bf_check_dry_run(w->checker, &dry, w->s.sets[1].handle, plan));
    return dry;
}

/* The form differs with other push constants than the program's: where the dry run tells of these,
 * nobody sees it. */
TEST(what_a_dry_run_tells_of_is_not_run)
{
    static const char none[] = "on no inputs does it end, and stay inside what it indexes";
    static const struct {
        int32_t told;
        const char *letters, *why;
        enum bf_reason refused;
        uint64_t limit_ns, double_ns; /* 0: as the world's */
    } cases[] = {
        {0, "!", NULL, BF_REASON_NONE, 0, 0},
        {1, "=", NULL, BF_REASON_NONE, 0, 0},
        {2, "?", none, BF_REASON_ENDLESS, 0, 0},
        {3, "?", "on no inputs does it run", BF_REASON_UNCHECKABLE, 0, 0},
        {4, "?", none, BF_REASON_ENDLESS, 0, 0},
        {0, "?", "its dry run takes too long for enough workgroups", BF_REASON_UNCHECKABLE, 0, 1},
        {0, "?", "its dry run takes too long", BF_REASON_TOO_SLOW, 1, 1}};
    struct world *w = told_open(8);
    w->t.push[0] = 0x3f400000; /* 0.75 */
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_check_plan plan;
        if (cases[i].double_ns) {
            w->double_ns = cases[i].double_ns;
            world_open_checker(w, true, 0, cases[i].limit_ns);
        }
        const struct bf_check_info dry = told_run(w, cases[i].told, &plan);
        assert_int_equal(plan.seeds != 0, cases[i].why == NULL);
        assert_int_equal(dry.refused, cases[i].refused);
        w->t.info.plan = &plan;
        expect_forms(w, cases[i].letters);
        if (cases[i].why)
            assert_string_equal(dry.why, cases[i].why);
        else
            assert_null(dry.why);
    }
    world_close(w);
}

/* With points that are needed there is a plan if inputs of which nothing was told have come to
 * each, and more inputs are tried than usual where these haven't; none but those that bring
 * something are in it. [CK-8] */
TEST(what_is_needed_is_come_to)
{
    const uint64_t usual = (UINT64_C(1) << BF_USUAL_SEEDS) - 1;
    static const struct {
        int32_t told;
        float factor;
        uint32_t needed, dark; /* points from 32 on; the first dark one */
        bool more;             /* than the usual inputs */
    } cases[] = {
        {5, 0.75f, 1, 0, false},      {5, 0.75f, 7, 0, false},       {5, 0.75f, 8, 32 + 3, false},
        {5, 0.75f, 9, 32 + 3, false}, {5, 0.75f, 16, 32 + 4, false}, {6, 4.0f, 2, 0, true},
    };
    struct world *w = told_open(0);
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t needed[BF_DRY_RUN_POINTS / 32] = {0, cases[i].needed};
        struct bf_check_plan plan;
        memcpy(&w->t.push[0], &cases[i].factor, 4);
        w->t.info.needed = needed;
        const struct bf_check_info dry = told_run(w, cases[i].told, &plan);
        assert_int_equal(dry.refused, cases[i].dark ? BF_REASON_UNCOVERED : BF_REASON_NONE);
        assert_int_equal(plan.seeds != 0, !cases[i].dark);
        assert_int_equal((plan.seeds & ~usual) != 0, cases[i].more);
        if (cases[i].dark)
            assert_int_equal(dry.dark, cases[i].dark);
        else /* one at most for each point */
            assert_true(__builtin_popcountll(plan.seeds & ~usual) <=
                        __builtin_popcount(cases[i].needed));
    }
    world_close(w);
}

/* [CK-22] */
TEST(what_is_out_of_reach_is_not_come_to)
{
    struct world *w = told_open(0);
    struct bf_check_plan plan;
    memcpy(&w->t.push[0], &(float){0.75f}, 4);
    for (uint32_t point = 0; point < 4; point++) { /* it comes to the first three */
        const uint32_t beyond[BF_DRY_RUN_POINTS / 32] = {0, 1u << point};
        w->t.info.beyond = beyond;
        const struct bf_check_info dry = told_run(w, 5, &plan);
        assert_int_equal(dry.refused, point < 3 ? BF_REASON_UNCHECKABLE : BF_REASON_NONE);
        assert_int_equal(plan.seeds != 0, point == 3);
    }
    world_close(w);
}

/* A push constant of 0 that isn't fixed becomes something else, where a dry run has been. */
TEST(what_has_run_dry_is_checked_with_any_push_constants)
{
    struct world *w = told_open(11);
    struct bf_check_plan plan;
    w->t.push[0] = 0;
    expect_forms(w, "=");
    assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
    w->t.info.plan = &plan;
    expect_forms(w, "!");
    w->t.info.fixed = 1; /* the factor is */
    expect_forms(w, "=");
    world_close(w);
}

/* Also with ones that are huge, or no number. */
TEST(what_has_run_dry_is_checked_with_push_constants_of_all_sizes)
{
    for (int32_t form = 16; form <= 18; form++) {
        struct world *w = told_open(form);
        struct bf_check_plan plan;
        w->t.push[0] = 0x3f400000;
        expect_forms(w, "=");
        assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
        w->t.info.plan = &plan;
        expect_forms(w, "!");
        world_close(w);
    }
}

/* [CK-12] */
TEST(no_more_workgroups_run_than_the_program_has)
{
    static const uint32_t groups[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {1, 1, 4}, {40, 2, 1}};
    struct world *w = told_open(0);
    w->t.push[0] = 0x3f400000;
    for (uint32_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        struct bf_check_plan plan;
        memcpy(w->t.info.groups, groups[i], sizeof(groups[i]));
        assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
        for (uint32_t seed = 0; seed < BF_CHECK_SEEDS; seed++) {
            for (uint32_t axis = 0; axis < 3 && plan.seeds >> seed & 1; axis++)
                assert_in_range(plan.groups[seed][axis], 1, groups[i][axis]);
        }
    }
    world_close(w);
}

/* [CK-10] */
TEST(what_has_few_invocations_is_checked_on_more_inputs)
{
    const uint64_t more = UINT64_C(0xffff) << BF_USUAL_SEEDS;
    static const struct {
        uint32_t groups;
        bool more;
    } cases[] = {{1, true}, {15, true}, {16, false}, {0, false}};
    struct world *w = told_open(0);
    w->t.push[0] = 0x3f400000;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bf_check_plan plan;
        w->t.info.groups[0] = cases[i].groups;
        w->t.info.groups[1] = w->t.info.groups[2] = 1;
        assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
        assert_true((plan.seeds & more) == (cases[i].more ? more : 0));
        w->t.info.plan = &plan;
        expect_forms(w, "=");
    }
    world_close(w);
}

/* Not on floats from 0 to 1 alone. [CK-11] */
TEST(what_has_arrays_of_its_own_is_checked_with_more_than_0_and_1)
{
    struct world *w = told_open(14);
    struct bf_check_plan plan;
    w->t.push[0] = 0x3f400000;
    w->s.check.fragile = true;
    expect_forms(w, "=");
    assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
    w->t.info.plan = &plan;
    expect_forms(w, "!");
    world_close(w);
}

/* Some integers are as many as a loop may have rounds, of few invocations. [CK-14] */
TEST(what_loops_is_checked_with_many_rounds)
{
    struct bf_check_binding bindings[2] = {sum_bindings[0], sum_bindings[1]};
    static const uint8_t kinds[] = {BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER,
                                    BF_UNIT_INTEGER};
    bindings[0].kinds = kinds;
    struct world *w = told_open(15);
    struct bf_check_plan plan;
    w->s.sets[0].bindings = bindings;
    w->t.push[0] = 0x3f400000;
    w->s.check.loops = true;
    w->t.info.groups[0] = 100;
    w->t.info.groups[1] = w->t.info.groups[2] = 1;
    expect_forms(w, "=");
    assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
    uint64_t many = 0;
    for (uint32_t i = 0; i < BF_CHECK_SEEDS; i++) {
        many |= (uint64_t)(bf_seeds[i].rounds != 0) << i;
        assert_true(!bf_seeds[i].rounds || plan.groups[i][0] == 1);
    }
    assert_int_equal(__builtin_popcountll(many), 3);
    assert_true((plan.seeds & many) == many);
    plan.seeds = many;
    w->t.info.plan = &plan;
    expect_forms(w, "!");
    w->s.check.loops = false; /* they are of no use */
    assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
    assert_int_equal(plan.seeds & many, 0);
    world_close(w);
}

/* However tame inputs have to be: with factors that are powers of two, only what overflows differs.
 * [CK-9] */
TEST(what_has_run_dry_is_checked_with_floats_of_all_sizes)
{
    for (int32_t form = 12; form <= 13; form++) {
        struct world *w = told_open(form);
        struct bf_check_plan plan;
        w->t.push[0] = 0x3f400000;
        w->s.check.loops = w->s.check.fragile = true;
        expect_forms(w, "=");
        assert_int_equal(told_run(w, 0, &plan).refused, BF_REASON_NONE);
        w->t.info.plan = &plan;
        expect_forms(w, "!");
        world_close(w);
    }
}

WORLD_TEST(a_plan_says_how_many_workgroups_run, sums_open())
{
    struct bf_check_plan plan = {.seeds = 1, .groups = {{1, 1, 1}}};
    trial_add(w, COMPUTE(w, check_sums_comp, 10)); /* beyond the first workgroups */
    w->t.info.plan = &plan;
    expect_forms(w, "=");
    plan.groups[0][0] = 100;
    expect_forms(w, "!");
}

WORLD_TEST(what_writes_nothing_is_uncheckable, sums_open())
{
    w->t.info.general = COMPUTE(w, check_sums_comp, 9);
    trial_add(w, COMPUTE(w, check_sums_comp, 9));
    expect_refusal(w, "it wrote nothing");
}

WORLD_TEST(as_many_workgroups_run_as_the_program_had, sums_open())
{
    trial_add(w, COMPUTE(w, check_sums_comp, 10));
    expect_forms(w, "=");
    w->t.info.groups[0] = 100;
    w->t.info.groups[1] = w->t.info.groups[2] = 1;
    expect_forms(w, "!");
    w->t.info.groups[0] = 65535; /* as many as may be */
    w->t.info.groups[1] = 1000;
    expect_forms(w, "!");
}

/* Adds forms 0, 1... of check_far.comp but for '.', and expects the others. */
static void add_some(struct world *w, const char *letters)
{
    char left[9] = "";
    for (int32_t k = 0; letters[k]; k++) {
        if (letters[k] == '.')
            continue;
        left[strlen(left)] = letters[k];
        trial_add(w, COMPUTE(w, check_far_comp, k));
    }
    expect_forms(w, left);
}

/* Where the program's workgroups store to images is compared, however far that is, as far as they
 * are run; and there is something there to be read. */
TEST(images_are_as_large_as_the_runs_reach)
{
#define FAR(binding_, type_, view_, format_)                                                       \
    {                                                                                              \
        .binding = binding_, .type = VK_DESCRIPTOR_TYPE_##type_, .count = 1, .used = true,         \
        .written = true, .view = VK_IMAGE_VIEW_TYPE_##view_, .format = VK_FORMAT_##format_,        \
        .number = BF_TEXEL_SFLOAT                                                                  \
    }
    const struct bf_check_binding bindings[] = {
        FAR(0, STORAGE_IMAGE, 2D, R32G32B32A32_SFLOAT), FAR(1, STORAGE_IMAGE, 2D_ARRAY, R32_SFLOAT),
        FAR(2, STORAGE_IMAGE, 3D, R32_SFLOAT),
        FAR(3, COMBINED_IMAGE_SAMPLER, 2D, R32G32B32A32_SFLOAT)};
    const struct bf_check_set set = {.binding_count = 4, .bindings = bindings};
    static const struct {
        uint32_t groups[3];
        const char *letters;
    } cases[] = {
        {{0, 0, 0}, "==....!!"}, {{16, 16, 8}, "=!!!!="}, {{16, 16, 1}, "=!==!.!="},
        {{64, 32, 1}, "=....!"}, {{1 << 20, 1, 1}, "="},  {{1, 1, 1 << 20}, "="},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = world_open();
        subject_init(w, 1, &set, 4);
        w->s.check.workgroup[0] = w->s.check.workgroup[1] = 8;
        w->s.check.workgroup[2] = 1;
        trial_init(w, COMPUTE(w, check_far_comp, 0));
        memcpy(w->t.info.groups, cases[i].groups, sizeof(w->t.info.groups));
        w->t.push[0] = 0x3f000000;
        add_some(w, cases[i].letters);
        world_close(w);
    }
}

/* All of them alike, so that they fit; but no smaller than the least. */
TEST(images_that_are_too_large_together_are_made_smaller)
{
    struct bf_check_binding bindings[4] = {FAR(0, STORAGE_IMAGE, 2D, R32G32B32A32_SFLOAT),
                                           FAR(1, STORAGE_IMAGE, 2D_ARRAY, R32_SFLOAT),
                                           FAR(2, STORAGE_IMAGE, 3D, R32_SFLOAT),
                                           FAR(3, COMBINED_IMAGE_SAMPLER, 2D, R32G32B32A32_SFLOAT)};
    const struct bf_check_set set = {.binding_count = 4, .bindings = bindings};
    struct world *w;
    bindings[3].count = 8;
    w = world_open();
    subject_init(w, 1, &set, 4);
    w->s.check.workgroup[0] = w->s.check.workgroup[1] = 8;
    w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_far_comp, 0));
    w->t.info.groups[0] = w->t.info.groups[1] = 64;
    w->t.info.groups[2] = 1;
    w->t.push[0] = 0x3f000000;
    add_some(w, "=...!=");
    world_close(w);
#undef FAR
}

WORLD_TEST(one_without_forms_is_over_at_once, sums_open())
{
    assert_success(bf_check_run(w->checker, &w->t.info));
}

/* ------------------------------------------------------------------------------------- Words -- */

static const uint8_t integer_kinds[] = {BF_UNIT_INTEGER, BF_UNIT_INTEGER};
static const uint8_t block_kinds[] = {
    BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER,
    BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,
    BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,
    BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,   BF_UNIT_FLOAT,
};

static void words_check(VkDescriptorType uniform, VkDescriptorType storage,
                        VkDescriptorSetLayoutCreateFlags flags)
{
    const struct bf_check_binding uniforms[] = {
        {0, uniform, 1, .used = true, .block_size = 64, .kinds = block_kinds, .kind_count = 16}};
    const struct bf_check_binding buffers[] = {
        {0, storage, 3, .used = true, .array_stride = 4, .kinds = integer_kinds, .kind_count = 1,
         .period = 1},
        {1, storage, 1, .used = true, .written = true, .block_size = 4, .array_stride = 4,
         .kinds = integer_kinds, .kind_count = 2, .period = 1},
        {.binding = 5, .type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, .count = 2}, /* nobody's */
    };
    const struct bf_check_set sets[] = {
        {.binding_count = 1, .bindings = uniforms},
        {.flags = flags, .binding_count = 3, .bindings = buffers},
    };
    struct world *w = world_open();
    subject_init(w, 2, sets, 0);
    trial_init(w, COMPUTE(w, check_words_comp, 0));
    trial_add(w, COMPUTE(w, check_words_comp, 0));
    trial_add(w, COMPUTE(w, check_words_comp, 1));
    expect_forms(w, "=!");
    world_close(w);
}

TEST(buffers_of_an_array_differ)
{
    words_check(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0);
}

TEST(dynamic_buffers_are_bound)
{
    words_check(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 0);
}

TEST(descriptors_are_pushed)
{
    struct world *w = world_open();
    bool pushed = vulkan_has_device_extension(w->f.physical, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    world_close(w);
    TEST_NEEDS(pushed, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    words_check(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
}

/* ------------------------------------------------------------------------------------ Images -- */

#define COMBINED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define FLOATS   BF_TEXEL_SFLOAT

static void images_check(VkFormat textured, const VkSamplerCreateInfo *sampler)
{
    const struct bf_check_binding bindings[] = {
        {0, COMBINED, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D, .number = FLOATS,
         .format = textured, .sampler = sampler},
        {1, COMBINED, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
         .number = BF_TEXEL_UINT},
        {2, COMBINED, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_CUBE, .number = FLOATS},
        {3, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_3D,
         .number = FLOATS},
        {4, VK_DESCRIPTOR_TYPE_SAMPLER, 1, .used = true},
        {5, COMBINED, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D, .number = FLOATS,
         .depth = true},
        {6, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, .used = true, .number = FLOATS},
        {7, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 1, .used = true, .written = true,
         .number = FLOATS},
        {8, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, .used = true, .written = true,
         .view = VK_IMAGE_VIEW_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM, .number = FLOATS},
        {9, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, .used = true, .written = true,
         .view = VK_IMAGE_VIEW_TYPE_3D, .number = BF_TEXEL_UINT},
    };
    const struct bf_check_set set = {.binding_count = 10, .bindings = bindings};
    struct world *w = world_open();
    subject_init(w, 1, &set, 0);
    w->s.check.workgroup[0] = w->s.check.workgroup[1] = 8;
    w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_images_comp, 0));
    /* Images of blocks have one level. Whether another one counts as minified, drivers don't
     * agree. */
    bool blocks = textured == VK_FORMAT_BC1_RGBA_UNORM_BLOCK;
    for (int32_t i = 0; i <= 5; i++)
        if (i != 1 || !blocks)
            trial_add(w, COMPUTE(w, check_images_comp, i));
    expect_forms(w, blocks ? "=!!!!" : "=!!!!!");
    world_close(w);
}

TEST(images_and_texel_buffers_are_read_and_written)
{
    images_check(VK_FORMAT_UNDEFINED, NULL);
}

TEST(formats_and_samplers_are_those_last_seen)
{
    const VkSamplerCreateInfo sampler = {
        VK_TYPE(SAMPLER_CREATE_INFO), .magFilter = VK_FILTER_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, .maxLod = 2};
    static const VkFormat formats[] = {
        VK_FORMAT_R8_UNORM,
        VK_FORMAT_B8G8R8A8_SRGB,
        VK_FORMAT_R32G32B32A32_SFLOAT,
        VK_FORMAT_B10G11R11_UFLOAT_PACK32,
        VK_FORMAT_BC1_RGBA_UNORM_BLOCK,
        VK_FORMAT_D32_SFLOAT,
        VK_FORMAT_R16G16_SNORM,
    };
    for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        images_check(formats[i], &sampler);
}

/* --------------------------------------------------------------------------- Time, agreement -- */

static const struct bf_check_binding out_binding = {
    0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4};
static const struct bf_check_set out_set = {.binding_count = 1, .bindings = &out_binding};

TEST(a_general_pipeline_that_differs_from_itself_is_uncheckable)
{
    struct world *w = world_open();
    const bool addresses = w->f.addresses;
    if (!addresses)
        world_close(w);
    TEST_NEEDS(addresses, "bufferDeviceAddress");
    subject_init(w, 1, &out_set, 8);
    VkBuffer buffer;
    VkDeviceMemory memory;
    const VkBufferCreateInfo buffer_info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 256,
                                            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                     VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateFlagsInfo flags = {VK_TYPE(MEMORY_ALLOCATE_FLAGS_INFO),
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory_info = {VK_TYPE(MEMORY_ALLOCATE_INFO), .pNext = &flags,
                                              .allocationSize = 4096};
    assert_success(vkCreateBuffer(w->f.device, &buffer_info, NULL, &buffer));
    assert_success(vkAllocateMemory(w->f.device, &memory_info, NULL, &memory));
    assert_success(vkBindBufferMemory(w->f.device, buffer, memory, 0));
    const VkBufferDeviceAddressInfo address_info = {VK_TYPE(BUFFER_DEVICE_ADDRESS_INFO),
                                                    .buffer = buffer};
    uint64_t address = vkGetBufferDeviceAddress(w->f.device, &address_info);
    trial_init(w, COMPUTE(w, check_fickle_comp, 0));
    memcpy(w->t.push, &address, sizeof(address));
    w->t.info.fixed = 3;
    trial_add(w, w->t.info.general);
    expect_refusal(w, "the general pipeline does not agree with itself");
    /* And one that is known to go through addresses isn't run at all. */
    w->s.check.addresses = true;
    expect_refusal(w, "it goes through addresses of buffers");
    vulkan_destroy(w->f.device, buffer, memory);
    world_close(w);
}

static struct world *loop_open(void)
{
    struct world *w = world_open();
    subject_init(w, 1, &out_set, 8);
    w->s.check.loops = true;
    trial_init(w, COMPUTE(w, check_loop_comp, 0));
    trial_add(w, w->t.info.general);
    w->t.push[0] = 100;
    return w;
}

WORLD_TEST(one_that_takes_too_long_is_too_slow, loop_open())
{
    expect_forms(w, "=");
    world_open_checker(w, true, 0, 1);
    expect_forms(w, "~");
    assert_string_equal(w->t.info.why, "the general pipeline takes too long");
}

WORLD_TEST(one_that_hangs_ends_all_checks, loop_open())
{
    w->t.push[0] = 100000000;
    world_open_checker(w, true, 1, 0);
    expect_refusal(w, "a run did not end in time");
    expect_refusal(w, "an earlier check has not ended");
}

TEST(inputs_of_fragile_shaders_are_tame)
{
    struct bf_check_binding bindings[2] = {sum_bindings[0], sum_bindings[1]};
    for (uint32_t i = 0; i < 2; i++) {
        bindings[i].array_stride = 4;
        bindings[i].kinds = integer_kinds;
        bindings[i].kind_count = bindings[i].period = 1;
    }
    const struct bf_check_set set = {.binding_count = 2, .bindings = bindings};
    struct world *w = world_open();
    subject_init(w, 1, &set, 4);
    w->s.check.fragile = true;
    trial_init(w, COMPUTE(w, check_fragile_comp, 0));
    w->t.push[0] = 2;
    trial_add(w, COMPUTE(w, check_fragile_comp, 0));
    trial_add(w, COMPUTE(w, check_fragile_comp, 1));
    expect_forms(w, "=!");
    world_close(w);
}

/* ------------------------------------------------------------------------------- Wild inputs -- */

#define WILD_CASES 24

static void wild_check(int32_t which, const VkSamplerCreateInfo *sampler)
{
#define IMAGE_OF(binding_, type_, view_, number_)                                                  \
    {                                                                                              \
        binding_, type_, 1, .used = true, .written = true, .view = VK_IMAGE_VIEW_TYPE_##view_,     \
                            .number = number_, .sampler = sampler                                  \
    }
#define BUFFER_OF(binding_, type_, block_, stride_, kinds_)                                        \
    {                                                                                              \
        binding_, VK_DESCRIPTOR_TYPE_##type_, 1,                                                   \
            .used = true, .written = true, .block_size = block_, .array_stride = stride_,          \
            .kinds = kinds_, .kind_count = 4, .period = (stride_) / 4                              \
    }
    static const uint8_t four[] = {BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER,
                                   BF_UNIT_INTEGER};
    const struct bf_check_binding bindings[] = {
        IMAGE_OF(0, COMBINED, 2D, FLOATS),
        IMAGE_OF(1, COMBINED, 2D_ARRAY, BF_TEXEL_UINT),
        IMAGE_OF(2, COMBINED, CUBE, FLOATS),
        IMAGE_OF(3, COMBINED, 3D, FLOATS),
        IMAGE_OF(4, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 2D, FLOATS),
        IMAGE_OF(5, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 2D, FLOATS),
        {6, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, .used = true, .written = true,
         .view = VK_IMAGE_VIEW_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM, .number = FLOATS},
        IMAGE_OF(7, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 3D, BF_TEXEL_UINT),
        BUFFER_OF(8, UNIFORM_BUFFER, 64, 0, float_kinds),
        BUFFER_OF(9, STORAGE_BUFFER, 32, 0, float_kinds),
        BUFFER_OF(10, STORAGE_BUFFER, 0, 16, four),
        BUFFER_OF(11, STORAGE_BUFFER, 0, 16, float_kinds),
        BUFFER_OF(12, STORAGE_BUFFER, 0, 16, float_kinds),
    };
    const struct bf_check_set set = {.binding_count = 13, .bindings = bindings};
    struct world *w = world_open();
    subject_init(w, 1, &set, 0);
    w->s.check.workgroup[0] = 64;
    w->s.check.workgroup[1] = w->s.check.workgroup[2] = 1;
    trial_init(w, COMPUTE(w, check_wild_comp, which));
    trial_add(w, w->t.info.general);
    assert_success(bf_check_run(w->checker, &w->t.info));
    /* What it says does not matter here: some of them race. */
    assert_int_not_equal(w->t.forms[0].reason, BF_REASON_LOST);
    world_close(w);
}

TEST(wild_inputs_crash_nothing)
{
    for (int32_t i = 0; i < WILD_CASES; i++)
        wild_check(i, NULL);
}

/* --------------------------------------------------------------------------- Refusals, steps -- */

WORLD_TEST(what_nothing_can_stand_in_for_is_uncheckable, sums_open())
{
    trial_add(w, w->t.info.general);
    struct bf_check_binding bindings[2];
    memcpy(bindings, sum_bindings, sizeof(bindings));
    w->s.sets[0].bindings = bindings;
    bindings[1].type = VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR;
    expect_forms(w, "?");
    assert_non_null(w->t.info.why);
    bindings[1].type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
    expect_forms(w, "?");
    bindings[1].type = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
    bindings[1].format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    expect_forms(w, "?");
    bindings[1].type = COMBINED;
    expect_forms(w, "?");
    bindings[1].type = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    bindings[1].format = VK_FORMAT_R8G8B8A8_UNORM;
    bindings[1].samples = VK_SAMPLE_COUNT_4_BIT;
    expect_forms(w, "?");
    bindings[1] = sum_bindings[1];
    bindings[1].count = 5000;
    expect_forms(w, "?");
    bindings[1] = sum_bindings[1];
    w->s.sets[0].flags = 0x40000000;
    expect_forms(w, "?");
}

WORLD_TEST(without_robust_accesses_buffers_are_the_program_s_size, sums_open())
{
    trial_add(w, w->t.info.general);
    trial_add(w, COMPUTE(w, check_sums_comp, 1));
    world_open_checker(w, false, 0, 0);
    expect_refusal(w, "a buffer's size is not known, or too large");
    struct bf_check_binding bindings[2];
    memcpy(bindings, sum_bindings, sizeof(bindings));
    w->s.sets[0].bindings = bindings;
    bindings[0].size = 65536 * 16;
    bindings[1].size = 65536 * 4;
    expect_forms(w, "=!");
    bindings[1].size = UINT64_C(1) << 40;
    expect_forms(w, "??");
}

static bool after_some(void *context)
{
    uint32_t *left = context;
    return (*left)-- == 0;
}

WORLD_TEST(a_check_goes_in_steps_and_can_be_cancelled, sums_open())
{
    trial_add(w, w->t.info.general);
    trial_add(w, COMPUTE(w, check_sums_comp, 1));
    uint32_t steps = 0;
    struct bf_check *check;
    assert_success(bf_check_begin(w->checker, &w->t.info, &check));
    for (bool done = false; !done; steps++)
        assert_success(bf_check_step(check, &done));
    bf_check_end(check);
    assert_int_equal(w->t.forms[0].reason, BF_REASON_NONE);
    assert_int_equal(w->t.forms[1].reason, BF_REASON_INEXACT);
    for (uint32_t n = 0; n < steps - 1; n++) {
        uint32_t left = n;
        w->t.info.cancelled = after_some;
        w->t.info.context = &left;
        assert_success(bf_check_run(w->checker, &w->t.info));
        assert_int_equal(w->t.forms[0].reason, BF_REASON_CANCELLED);
    }
    w->t.info.cancelled = NULL;
    assert_success(bf_check_begin(w->checker, &w->t.info, &check));
    bool done;
    assert_success(bf_check_step(check, &done));
    assert_false(done);
    bf_check_end(check); /* its result isn't wanted */
    assert_int_equal(w->t.forms[0].reason, BF_REASON_CANCELLED);
}
