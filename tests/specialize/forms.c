/* SPDX-License-Identifier: MIT */
/* Which form of a variant's module is taken (specialize/forms.c), where the answers of the build
 * helper are the test's. [FM-1] */
#include "shader/helper.h"

#include <spirv/unified1/spirv.h>

#include "specialize/check_in_helper.h"
#include "specialize/isolate/isolate.h"
#include "specialize/keeping.h"
#include "specialize/variant_state.h"

/* What the helper says of a form, by the form. */
static struct {
    enum bf_reason reasons[BF_FORMS];
    bool specials;
    uint32_t requests, seen[BF_FORMS];
} helper;
static VkResult fails_with;
static const struct bf_shader *shader;
static uint16_t folded_word = 68; /* of reach.frag's push constants, where a zero may be */

static enum bf_form form_of(const struct bf_folded *folded)
{
    bool contracts = true, keeps = false;
    for (size_t at = 5; at < folded->word_count; at += folded->words[at] >> 16) {
        const uint32_t *in = folded->words + at;
        contracts &= !((in[0] & 0xffff) == SpvOpDecorate && in[2] == SpvDecorationNoContraction);
        keeps |= (in[0] & 0xffff) == SpvOpExecutionMode &&
                 in[2] == SpvExecutionModeSignedZeroInfNanPreserve;
    }
    return keeps ? BF_FORM_KEEPING : contracts ? BF_FORM_PLAIN : BF_FORM_NO_CONTRACTION;
}

VkResult bf_check_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            uint32_t form_count, const struct bf_folded *const *folded,
                            struct bf_check_info *check, const struct bf_isolate_bar *bar,
                            struct bf_check_answer *answer)
{
    (void)isolate, (void)copy, (void)check, (void)bar;
    helper.requests++;
    answer->specials = helper.specials;
    for (uint32_t i = 0; i < form_count; i++) {
        const enum bf_form form = form_of(folded[i]);
        helper.seen[form]++;
        answer->forms[i].reason = helper.reasons[form];
        answer->forms[i].steady_ns = 100 + form;
    }
    return fails_with;
}

/* Of whom the helper hears with each request. */
bool bf_archive_barred(const struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    return false;
}

static uint8_t struck; /* the first byte of the hash of the last who was */

VkResult bf_archive_strike(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive;
    struck = hash[0];
    return VK_SUCCESS;
}

#define KEEPING_HASH 7

/* And of the device. */
static struct {
    VkResult result;
    struct bf_check_answer answer;
    uint32_t asked;
} device;

VkResult bf_archive_load(struct bf_archive *archive, const uint8_t hash[BF_ARCHIVE_HASH])
{
    (void)archive, (void)hash;
    return VK_SUCCESS;
}

void bf_keeping_hash(uint8_t hash[32])
{
    memset(hash, KEEPING_HASH, 32);
}

VkResult bf_keeping_ask(struct bf_isolate *isolate, const struct bf_isolate_bar *bar,
                        struct bf_check_answer *answer)
{
    (void)isolate;
    if (device.result == VK_TIMEOUT)
        bar->put_up(bar->context);
    device.asked++;
    *answer = device.answer;
    return device.result;
}

void bf_specialize_report_helper(struct bf_specializer *specializer, uint64_t bytes)
{
    (void)specializer, (void)bytes;
}

const struct bf_shader *bf_pipeline_copy_shader(const struct bf_pipeline_copy *copy)
{
    (void)copy;
    return shader;
}

static struct bf_specializer specializer;

/* Makes the forms for a device of which so many widths of floats can be kept. */
static enum bf_reason make_of(bool specials, uint8_t kept, enum bf_reason plain,
                              enum bf_reason no_contraction, enum bf_reason keeping,
                              struct bf_job *job)
{
    struct bf_folded forms[BF_FORMS] = {0};
    memset(&helper, 0, sizeof(helper));
    helper.specials = specials;
    helper.reasons[BF_FORM_PLAIN] = plain;
    helper.reasons[BF_FORM_NO_CONTRACTION] = no_contraction;
    helper.reasons[BF_FORM_KEEPING] = keeping;
    specializer.info.api_version = VK_API_VERSION_1_3;
    specializer.info.kept_floats = kept;
    *job =
        (struct bf_job){.specializer = &specializer, .watch = watch_of(&folded_word, 1), .mask = 1};
    const enum bf_reason reason = bf_forms_make(job, forms);
    for (uint32_t i = 0; i < BF_FORMS; i++)
        bf_folded_finish(&forms[i]);
    return reason;
}

static enum bf_reason make(uint8_t kept, enum bf_reason plain, enum bf_reason no_contraction,
                           enum bf_reason keeping, struct bf_job *job)
{
    return make_of(false, kept, plain, no_contraction, keeping, job);
}

/* One in which a compiler is free may agree by luck. */
TEST(the_form_that_leaves_nothing_to_gather_is_taken_or_none)
{
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    assert_int_equal(make(7, BF_REASON_NONE, BF_REASON_INEXACT, BF_REASON_NONE, &job),
                     BF_REASON_INEXACT);
    assert_int_equal(helper.seen[BF_FORM_PLAIN], 0);
    assert_int_equal(make(7, BF_REASON_INEXACT, BF_REASON_NONE, BF_REASON_NONE, &job),
                     BF_REASON_NONE);
    assert_int_equal(job.form, BF_FORM_NO_CONTRACTION);
    assert_int_equal(job.times.variant, 100 + BF_FORM_NO_CONTRACTION);
    assert_int_equal(helper.requests, 1);
    assert_int_equal(helper.seen[BF_FORM_KEEPING], 0);
    bf_shader_release(own);
}

/* Of a case of gathered.comp, whose first push constant is folded. */
static enum bf_reason make_gathered(const char *name, bool specials, enum bf_reason no_contraction,
                                    struct bf_job *job)
{
    struct bf_shader *own = shader_of(name, NULL);
    const uint16_t before = folded_word;
    shader = own;
    folded_word = 0;
    const enum bf_reason reason =
        make_of(specials, 7, BF_REASON_NONE, no_contraction, BF_REASON_NONE, job);
    folded_word = before;
    bf_shader_release(own);
    return reason;
}

TEST(where_a_compiler_can_gather_nothing_the_form_is_plain)
{
    struct bf_job job;
    assert_int_equal(make_gathered("gathered_UNDECIDED.comp", false, BF_REASON_INEXACT, &job),
                     BF_REASON_NONE);
    assert_int_equal(job.form, BF_FORM_PLAIN);
}

/* No form would leave it to the driver, and have nothing gathered. */
TEST(where_folded_values_cancel_there_is_no_variant)
{
    struct bf_job job;
    assert_int_equal(make_gathered("gathered_CANCELLED.comp", true, BF_REASON_NONE, &job),
                     BF_REASON_INEXACT);
    assert_int_equal(helper.requests, 0);
}

/* From the first time: it is no fault of the shader's. [SP-5] */
TEST(what_can_not_be_checked_says_why)
{
    static const struct {
        VkResult result;
        enum bf_reason reason;
    } cases[] = {{VK_ERROR_INITIALIZATION_FAILED, BF_REASON_NO_HELPER},
                 {VK_ERROR_FEATURE_NOT_PRESENT, BF_REASON_UNCHECKABLE},
                 {VK_ERROR_NOT_PERMITTED_KHR, BF_REASON_DRIVER},
                 {VK_NOT_READY, BF_REASON_CANCELLED},
                 {VK_INCOMPLETE, BF_REASON_UNCHECKABLE},
                 {VK_TIMEOUT, BF_REASON_TIMED_OUT},
                 {VK_ERROR_UNKNOWN, BF_REASON_CRASHED}};
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fails_with = cases[i].result;
        assert_int_equal(make(7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                         cases[i].reason);
    }
    fails_with = VK_SUCCESS;
    bf_shader_release(own);
}

/* That one would agree by luck. */
TEST(the_form_that_keeps_more_is_not_checked_where_nothing_is_to_be_kept)
{
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    assert_int_equal(make(7, BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE, &job),
                     BF_REASON_INEXACT);
    assert_int_equal(helper.requests, 1);
    assert_int_equal(helper.seen[BF_FORM_KEEPING], 0);
    /* What the check came to is no question of arithmetic. */
    assert_int_equal(
        make_of(true, 7, BF_REASON_UNCOVERED, BF_REASON_UNCOVERED, BF_REASON_NONE, &job),
        BF_REASON_UNCOVERED);
    assert_int_equal(helper.requests, 1);
    bf_shader_release(own);
}

/* 0 times infinity, say: on few inputs does it show. */
TEST(the_form_that_keeps_more_or_none_is_taken_where_zeros_are_folded)
{
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    memset(&device, 0, sizeof(device));
    specializer.keeps = BF_DEVICE_UNASKED;
    assert_int_equal(make_of(true, 7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                     BF_REASON_NONE);
    assert_int_equal(job.form, BF_FORM_KEEPING);
    assert_int_equal(helper.requests, 2);
    assert_int_equal(make_of(true, 7, BF_REASON_NONE, BF_REASON_INEXACT, BF_REASON_INEXACT, &job),
                     BF_REASON_INEXACT);
    assert_int_equal(make_of(true, 7, BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE, &job),
                     BF_REASON_NONE);
    assert_int_equal(job.form, BF_FORM_KEEPING);
    /* It isn't forgotten that the helper has crashed over it. */
    assert_int_equal(make_of(true, 7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_CRASHED, &job),
                     BF_REASON_CRASHED);
    bf_shader_release(own);
}

/* Nor is one whose word is not kept. It is asked once. [FM-2] */
TEST(a_device_that_does_not_keep_gets_none_where_zeros_are_folded)
{
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    memset(&device, 0, sizeof(device));
    specializer.keeps = BF_DEVICE_UNASKED;
    assert_int_equal(make_of(false, 7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                     BF_REASON_NONE);
    assert_int_equal(make_of(true, 0, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                     BF_REASON_INEXACT);
    assert_int_equal(device.asked, 0);
    device.answer.forms[0].reason = BF_REASON_INEXACT;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(make_of(true, 7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                         BF_REASON_INEXACT);
        assert_int_equal(device.asked, 1);
    }
    bf_shader_release(own);
}

/* Where the question comes to nothing the shader is rejected for a reason that is no verdict on it;
 * what its driver doesn't bear is not asked again in this run. [FM-2] */
TEST(a_question_that_comes_to_nothing_decides_nothing_that_lasts)
{
    static const struct {
        VkResult result;
        struct bf_check_answer answer;
        enum bf_reason reason;
        bool once;
    } cases[] = {
        {VK_NOT_READY, {0}, BF_REASON_CANCELLED, false},
        {VK_ERROR_OUT_OF_HOST_MEMORY, {0}, BF_REASON_MEMORY, false},
        {VK_ERROR_INITIALIZATION_FAILED, {0}, BF_REASON_NO_HELPER, false},
        {VK_ERROR_NOT_PERMITTED_KHR, {0}, BF_REASON_DRIVER, false},
        {VK_SUCCESS, {.built = VK_ERROR_OUT_OF_DEVICE_MEMORY}, BF_REASON_MEMORY, false},
        {VK_SUCCESS, {.checked = VK_ERROR_OUT_OF_POOL_MEMORY}, BF_REASON_MEMORY, false},
        {VK_SUCCESS, {.built = VK_ERROR_DEVICE_LOST}, BF_REASON_DRIVER, false},
        {VK_SUCCESS, {.checked = VK_ERROR_DEVICE_LOST}, BF_REASON_DRIVER, false},
        {VK_TIMEOUT, {0}, BF_REASON_UNCHECKABLE, true},
        {VK_ERROR_UNKNOWN, {0}, BF_REASON_UNCHECKABLE, true},
        {VK_SUCCESS, {.hung = true}, BF_REASON_UNCHECKABLE, true},
        {VK_SUCCESS, {.built = VK_ERROR_UNKNOWN}, BF_REASON_UNCHECKABLE, true},
        {VK_SUCCESS, {.forms = {{.reason = BF_REASON_TOO_SLOW}}}, BF_REASON_UNCHECKABLE, true},
    };
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(&device, 0, sizeof(device));
        specializer.keeps = BF_DEVICE_UNASKED;
        device.result = cases[i].result;
        device.answer = cases[i].answer;
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(make_of(true, 7, BF_REASON_NONE, BF_REASON_NONE, BF_REASON_NONE, &job),
                             cases[i].reason);
        assert_int_equal(device.asked, cases[i].once ? 1 : 2);
        assert_int_equal(struck, cases[i].result == VK_TIMEOUT ? KEEPING_HASH : 0);
        struck = 0;
        assert_int_equal(helper.requests, 1);
    }
    /* Nor does what has no time any more to be asked. */
    atomic_store(&specializer.stopping, true);
    assert_int_equal(make_of(true, 7, BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE, &job),
                     BF_REASON_CANCELLED);
    atomic_store(&specializer.stopping, false);
    bf_shader_release(own);
}

TEST(what_a_device_keeps_not_is_not_asked_for)
{
    struct bf_job job;
    struct bf_shader *own = shader_of("reach.frag", NULL);
    shader = own;
    /* The shader has floats of 32 bits alone. */
    static const uint8_t kept[] = {0, BF_FLOAT_16, BF_FLOAT_64, BF_FLOAT_16 | BF_FLOAT_64};
    for (size_t i = 0; i < sizeof(kept); i++) {
        memset(&device, 0, sizeof(device));
        specializer.keeps = BF_DEVICE_UNASKED;
        assert_int_equal(
            make_of(true, kept[i], BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE, &job),
            BF_REASON_INEXACT);
        assert_int_equal(device.asked, 0);
        assert_int_equal(helper.requests, 1);
    }
    bf_shader_release(own);
}
