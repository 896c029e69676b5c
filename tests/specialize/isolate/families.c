/* SPDX-License-Identifier: MIT */
/* Families of shaders that a check on made-up inputs could go wrong with: loops that don't end on
 * them, accesses past the end, code that they don't come to. [IS-7, IS-8] Each shader is one of
 * many that families.comp can be, chosen by a random generator, and so are its push constants. A
 * helper checks it with some of them folded: that ends in time, with a verdict. What passes then
 * runs in this process, beside the shader as it is, on inputs that the check never saw and on which
 * the shader ends and stays inside what it indexes: every bit has to be the same, but for which NaN
 * it is.
 *
 * --family N (1 loops, 2 accesses, 3 curves; 0: all), --count N (of each), --seed N (of the first;
 * each has the next one) */
#include "../dry_run/gpu.h"
#include "isolate_helper.h"
#include "random/rng.h"
#include "support/arguments.h"
#include "support/infos.h"
#include "support/reduce.h"

#include "base/clock.h"
#include "shaders/families.comp.h"
#include "specialize/check/inputs.h"
#include "specialize/keeping.h"
#include "specialize/shader/block.h"

#define PUSH_WORDS  4
#define FRESH       16 /* inputs that what has passed is run on */
#define LIMIT_NS    UINT64_C(30000000000)
#define BINDINGS    5
#define INVOCATIONS 64

enum { LOOPS = 1, ACCESSES, CURVES, FAMILIES };
static const char *const family_names[FAMILIES] = {
    [LOOPS] = "loops", [ACCESSES] = "accesses", [CURVES] = "curves"};

enum { NO_CONTRACTION, KEEPING, FORMS }; /* of a module (FM-1) */

/* What a shader is, by the numbers of families.comp's constants. */
enum {
    FAMILY,
    SHAPE,
    GUARD,
    A_FROM,
    B_FROM,
    C_FROM,
    FIRST_IS,
    SECOND_IS,
    THIRD_IS,
    COMPARISON,
    BOUND,
    LEVEL,
    CEILING,
    SECOND_SHAPE,
    THIRD_SHAPE,
    CONSTANTS
};

static int family_now;
static uint64_t seed_now;
static bool device_keeps; /* FM-2 */

static void tell(const char *format, va_list list)
{
    fprintf(stderr, "FAILED: --family %d --count 1 --seed %llu: %s: ", family_now,
            (unsigned long long)seed_now, family_names[family_now]);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
}

static void __attribute__((format(printf, 1, 2))) stop(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tell(format, list);
    va_end(list);
    exit(1);
}

static uint32_t wrong; /* shaders that have passed and differ */

/* The search goes on: how many there are is a figure. */
static void __attribute__((format(printf, 1, 2))) differ(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tell(format, list);
    va_end(list);
    wrong++;
}

/* ---------------------------------------------------------------------------- Random numbers -- */

static struct rng rng;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* Below 1. */
static float random_unit(void)
{
    return (float)(rng_next(&rng) >> 40) / 16777216.0f;
}

/* As images and light have them. */
static uint32_t random_ordinary(void)
{
    static const float some[] = {0.0f, 0.25f, 0.5f, 1.0f, 2.0f, 3.0f, 16.0f, -1.0f};
    switch (rng_below(&rng, 4)) {
    case 0:
        return bits_of(some[rng_below(&rng, 8)]);
    case 1:
        return bits_of(random_unit() * 16.0f);
    case 2:
        return bits_of(random_unit() * 4.0f - 2.0f);
    default:
        return bits_of(random_unit());
    }
}

static uint32_t random_strange(void)
{
    static const uint32_t some[] = {
        0x80000000,
        0x00000001,
        0x807fffff,
        0x00800000,
        0x7f800000,
        0xff800000,
        0x7fc00000,
        0xffc00001,
        0x7f7fffff,
        0xff7fffff,
        0x477fe000 /* 65504 */,
        0x00000000,
        0x3f800000,
        0x3f7fffff,
        0x3f800001,
        0xbf800000,
    };
    if (rng_below(&rng, 4))
        return some[rng_below(&rng, sizeof(some) / sizeof(some[0]))];
    return (uint32_t)rng_next(&rng); /* any bits */
}

/* ------------------------------------------------------------------------------- The shaders -- */

struct subject {
    uint32_t constants[CONSTANTS];
    uint32_t push[BF_PUSH_CONSTANT_BYTES / 4];
    uint32_t *words; /* what families.comp is with these constants */
    size_t count;
    bool sizes_known; /* of its buffers */
    struct bf_shader *shader;
    struct bf_folded folded[FORMS];
    VkSpecializationInfo specialization[FORMS];
    bool keeps;     /* the last can be had */
    uint64_t fixed; /* words of the push constants that the forms have as constants */
};

static void constants_choose(uint32_t *constants)
{
    static const uint32_t shapes[FAMILIES] = {0, 9, 11, 15};
    static const float levels[] = {0.0f,  0.25f, 0.5f,    1.0f,     2.0f,
                                   16.0f, 64.0f, 1000.0f, 65504.0f, 1e30f};
    constants[FAMILY] = (uint32_t)family_now;
    constants[SHAPE] = rng_below(&rng, shapes[family_now]);
    constants[GUARD] = rng_below(&rng, 6);
    for (uint32_t i = A_FROM; i <= C_FROM; i++)
        constants[i] = rng_below(&rng, 8);
    for (uint32_t i = FIRST_IS; i <= THIRD_IS; i++)
        constants[i] = rng_below(&rng, i != THIRD_IS && rng_below(&rng, 4) == 0 ? 17 : 11);
    constants[COMPARISON] = rng_below(&rng, 6);
    constants[BOUND] = 1 + rng_below(&rng, rng_below(&rng, 4) ? 16 : 3000);
    constants[LEVEL] = bits_of(levels[rng_below(&rng, rng_below(&rng, 3) ? 5 : 10)]);
    constants[CEILING] = bits_of(levels[1 + rng_below(&rng, rng_below(&rng, 3) ? 4 : 9)]);
    for (uint32_t i = SECOND_SHAPE; i <= THIRD_SHAPE; i++)
        constants[i] = rng_below(&rng, 2) ? rng_below(&rng, shapes[CURVES]) : shapes[CURVES] - 1;
}

static void push_choose(uint32_t *push)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 7, 64, 256, UINT32_MAX};
    static const uint32_t offsets[] = {0, 1, 2, UINT32_MAX, 5, 63, 64, 0x80000000};
    push[0] = counts[rng_below(&rng, rng_below(&rng, 3) ? 5 : 8)];
    push[1] = offsets[rng_below(&rng, rng_below(&rng, 3) ? 4 : 8)];
    for (uint32_t i = 2; i < 4; i++)
        push[i] = rng_below(&rng, 8) ? random_ordinary() : random_strange();
}

/* False: nothing in it can be folded. */
static bool subject_fold(struct subject *s)
{
    struct bf_watch watch;
    const struct bf_shader_info info = {s->words, s->count, "main", VK_SHADER_STAGE_COMPUTE_BIT,
                                        NULL};
    assert_success(bf_shader_create(&info, &s->shader));
    const struct bf_shader *const shader = s->shader;
    bf_watch_choose(&watch, &shader, 1);
    if (!watch.count)
        return false;
    /* Mostly all of them, as where a program's values hold still. */
    const uint32_t all = (1u << watch.count) - 1,
                   mask = rng_below(&rng, 3) ? all : 1 + rng_below(&rng, all);
    for (uint32_t i = 0; i < watch.count; i++)
        s->fixed |= (uint64_t)(mask >> i & 1) << watch.offset[i] / 4;
    for (uint32_t i = 0; i < FORMS; i++) {
        VkResult result = i == KEEPING
                              ? bf_shader_fold_keeping(shader, &watch, (uint8_t)mask,
                                                       gpu_kept_floats(), &s->folded[i])
                              : bf_shader_fold(shader, &watch, (uint8_t)mask, true, &s->folded[i]);
        s->keeps = result == VK_SUCCESS;
        if (result == VK_INCOMPLETE)
            return i == KEEPING;
        assert_success(result);
        assert_success(bf_folded_specialize(&s->folded[i], shader, s->push, &s->specialization[i]));
    }
    return true;
}

static bool subject_make(struct subject *s)
{
    *s = (struct subject){0};
    rng.state = seed_now * FAMILIES + (uint64_t)family_now;
    constants_choose(s->constants);
    push_choose(s->push);
    s->sizes_known = rng_below(&rng, 4);
    VkSpecializationMapEntry entries[CONSTANTS];
    for (uint32_t i = 0; i < CONSTANTS; i++)
        entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    const VkSpecializationInfo constants = {CONSTANTS, entries, sizeof(s->constants), s->constants};
    struct reduced reduced;
    if (!reduce_module(families_comp, sizeof(families_comp) / 4, &constants, false, &reduced))
        stop("SPIRV-Tools can't freeze it");
    s->words = reduced.words;
    s->count = reduced.count;
    return subject_fold(s);
}

static void subject_free(struct subject *s)
{
    for (uint32_t i = 0; i < FORMS; i++) {
        bf_folded_specialization_finish(&s->specialization[i]);
        bf_folded_finish(&s->folded[i]);
    }
    bf_shader_release(s->shader);
    free(s->words);
}

/* --------------------------------------------------------------------------------- The check -- */

/* The layout is gpu.h's, without the dry run's result. */
static const VkDescriptorSetLayoutBinding layout_bindings[BINDINGS] = {
    {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    {3, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    {4, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    {5, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
static const uint32_t buffer_sizes[BINDINGS] = {4 * GPU_WORDS, 4 * GPU_WORDS, 0, 0, 4};

/* What the layer would say of them. */
static void bindings_describe(const struct subject *s, const struct bf_blocks *blocks,
                              struct bf_check_binding *bindings, uint8_t (*units)[BF_BLOCK_WORDS])
{
    const struct bf_shader_facts *facts = bf_shader_facts_of(s->shader);
    for (uint32_t i = 0; i < BINDINGS; i++) {
        struct bf_check_binding *b = &bindings[i];
        *b = (struct bf_check_binding){.binding = layout_bindings[i].binding,
                                       .type = layout_bindings[i].descriptorType,
                                       .count = layout_bindings[i].descriptorCount,
                                       .view = VK_IMAGE_VIEW_TYPE_2D,
                                       .format = buffer_sizes[i] ? VK_FORMAT_UNDEFINED
                                                                 : VK_FORMAT_R32_UINT,
                                       .number = BF_TEXEL_UINT,
                                       .size = s->sizes_known ? buffer_sizes[i] : 0,
                                       .kinds = units[i]};
        b->kind_count = bf_blocks_units(blocks, 0, b->binding, units[i], &b->period);
        for (uint32_t k = 0; k < facts->binding_count; k++) {
            const struct bf_shader_binding *fact = &facts->bindings[k];
            if (fact->binding != b->binding)
                continue;
            b->used = true;
            b->written = fact->written;
            b->block_size = fact->block_size;
            b->array_stride = fact->array_stride;
        }
    }
}

static void subject_check(const struct subject *s, struct bf_isolate *isolate, uint32_t form,
                          struct bf_check_answer *answer, uint64_t *longest_ns)
{
    static uint8_t units[BINDINGS][BF_BLOCK_WORDS];
    static const VkDescriptorSetLayoutCreateInfo set = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                        .bindingCount = BINDINGS,
                                                        .pBindings = layout_bindings};
    static const VkDescriptorSetLayoutCreateInfo *const sets = &set;
    static const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * PUSH_WORDS};
    static const VkPipelineLayoutCreateInfo layout = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1, .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    const struct bf_folded *folded = &s->folded[form];
    VkComputePipelineCreateInfo pipelines[2];
    struct bf_build_code code[2] = {{s->words, s->count * 4},
                                    {folded->words, folded->word_count * 4}};
    struct bf_build_request builds[2];
    for (uint32_t i = 0; i < 2; i++) {
        pipelines[i] = (VkComputePipelineCreateInfo){
            VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
            .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE,
                                i ? &s->specialization[form] : NULL)};
        builds[i] = (struct bf_build_request){
            .compute = &pipelines[i], .code = &code[i], .layout = &layout, .sets = &sets};
    }
    const struct bf_shader_info info = {s->words, s->count, "main", VK_SHADER_STAGE_COMPUTE_BIT,
                                        NULL};
    struct bf_blocks *blocks;
    struct bf_check_binding bindings[BINDINGS];
    assert_success(bf_blocks_open(&info, &blocks));
    bindings_describe(s, blocks, bindings, units);
    const struct bf_check_set check_set = {(void *)&set, 0, BINDINGS, bindings};
    const struct bf_check_layout check_layout = {
        .set_count = 1, .sets = &check_set, .range_count = 1, .ranges = &range};
    const struct bf_pipeline_interface interface = {.layout = &check_layout,
                                                    .workgroup = {INVOCATIONS, 1, 1},
                                                    .loops = bf_blocks_loop(blocks),
                                                    .fragile = bf_blocks_fragile(blocks)};
    const struct bf_check_info check = {.interface = &interface,
                                        .push = (const uint8_t *)s->push,
                                        .fixed = s->fixed,
                                        .groups = {1, 1, 1}};
    const struct bf_check_request request = {.build_count = 2, .builds = builds, .check = &check};
    const uint64_t begin = bf_now_ns();
    const VkResult result = bf_isolate_check(isolate, &request, answer);
    const uint64_t took_ns = bf_now_ns() - begin;
    bf_blocks_close(blocks);
    if (result || answer->built < 0 || answer->checked || answer->hung)
        stop("the helper ended with %d, built with %d, checked with %d%s", result, answer->built,
             answer->checked, answer->hung ? ", and hung" : "");
    if (strstr(answer->why, "out of reach"))
        stop("%s", answer->why);
    *longest_ns = took_ns > *longest_ns ? took_ns : *longest_ns;
}

static enum bf_reason verdict_of(const struct bf_check_answer *answer)
{
    const enum bf_reason reason = answer->forms[0].reason;
    if (reason != BF_REASON_NONE && reason != BF_REASON_INEXACT &&
        reason != BF_REASON_UNCHECKABLE && reason != BF_REASON_UNCOVERED &&
        reason != BF_REASON_ENDLESS && reason != BF_REASON_TOO_SLOW)
        stop("a verdict that it can't have: %s", bf_reason_code(reason));
    return reason;
}

/* 'form' is the one that would be published (specialize/forms.c). */
static enum bf_reason subject_judge(const struct subject *s, struct bf_isolate *isolate,
                                    struct bf_check_answer *answer, uint32_t *form,
                                    uint64_t *longest_ns)
{
    struct bf_check_answer keeping;
    *answer = (struct bf_check_answer){0};
    *form = NO_CONTRACTION;
    if (s->folded[NO_CONTRACTION].cancels)
        return BF_REASON_INEXACT;
    subject_check(s, isolate, *form, answer, longest_ns);
    const enum bf_reason verdict = verdict_of(answer);
    if (!answer->specials || (verdict != BF_REASON_INEXACT && verdict != BF_REASON_NONE))
        return verdict;
    if (!s->keeps || !device_keeps)
        return BF_REASON_INEXACT;
    subject_check(s, isolate, KEEPING, &keeping, longest_ns);
    *form = KEEPING;
    return verdict_of(&keeping);
}

/* --------------------------------------------------------------------------- What has passed -- */

/* Some as a program would have them, some with all that it may have. */
static void fresh_choose(const struct subject *s, uint32_t number, uint32_t push[PUSH_WORDS])
{
    uint32_t *given = gpu_given();
    const uint32_t numbers = number % 4 < 2 ? 16 : 64;
    for (uint32_t i = 0; i < GPU_WORDS; i += 4) {
        const bool strange = number % 4 == 3 || (number % 4 == 2 && rng_below(&rng, 8) == 0);
        for (uint32_t k = 0; k < 2; k++)
            given[i + k] = strange && rng_below(&rng, 2) ? random_strange() : random_ordinary();
        given[i + 2] = rng_below(&rng, numbers);
        given[i + 3] = rng_below(&rng, 4) ? rng_below(&rng, 64) : UINT32_MAX;
        if (number % 8 == 7 && rng_below(&rng, 4) == 0)
            given[i + 2 + rng_below(&rng, 2)] = (uint32_t)rng_next(&rng);
    }
    uint32_t other[PUSH_WORDS];
    push_choose(other);
    for (uint32_t i = 0; i < PUSH_WORDS; i++)
        push[i] = number % 2 && !(s->fixed >> i & 1) ? other[i] : s->push[i];
}

static bool is_nan(uint32_t word)
{
    return (word & 0x7fffffff) > 0x7f800000;
}

/* Of two NaNs that meet either may be the result, with its sign and payload: Vulkan leaves open
 * which. So where the shader writes a NaN to a float, the form has to, too, but not the same
 * one. */
static bool is_other_nan(const struct subject *s, uint32_t at, uint32_t expected, uint32_t found)
{
    const bool floats = s->constants[FAMILY] == ACCESSES && s->constants[SHAPE] == 1;
    return (floats || at % 4 == 0) && is_nan(expected) && is_nan(found);
}

struct tally {
    uint32_t shaders, verdicts[BF_REASON_COUNT];
    uint32_t kept;                 /* passed in the form that keeps more */
    uint32_t compared, other_nans; /* sets of fresh inputs */
    uint64_t longest_ns;
};

/* False: they differ. */
static bool words_compare(const struct subject *s, uint32_t form, uint32_t number,
                          const uint32_t *expected, const uint32_t *found, struct tally *tally)
{
    bool other_nan = false;
    for (uint32_t i = 0; i < GPU_WORDS; i++) {
        if (found[i] == expected[i])
            continue;
        if (!is_other_nan(s, i, expected[i], found[i])) {
            differ("form %u passed, and writes %08x to word %u, where it was %08x, on inputs %u",
                   form, found[i], i, expected[i], number);
            return false;
        }
        other_nan = true;
    }
    tally->compared++;
    tally->other_nans += other_nan;
    return true;
}

/* On fresh inputs but those on which the program itself would do what it may not. */
static void form_compare(const struct subject *s, uint32_t form, struct tally *tally)
{
    const struct bf_shader_info info = {s->words, s->count, "main", VK_SHADER_STAGE_COMPUTE_BIT,
                                        NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    if (run.reason != BF_DRY_RUN_FINE || run.bare != BF_DRY_RUN_FINE)
        stop("passed, though it may go other ways than its dry run");
    const struct bf_folded *folded = &s->folded[form];
    const VkPipeline dry = gpu_pipeline(run.words, run.word_count),
                     general = gpu_pipeline(s->words, s->count),
                     variant = gpu_pipeline_specialized(folded->words, folded->word_count,
                                                        &s->specialization[form]);
    bool same = true;
    for (uint32_t i = 0; i < FRESH && same; i++) {
        uint32_t push[PUSH_WORDS], expected[GPU_WORDS], found[GPU_WORDS];
        struct bf_dry_run_result told;
        fresh_choose(s, i, push);
        gpu_run(dry, false, push, found, &told);
        if (told.flags)
            continue;
        if (told.invocations != INVOCATIONS)
            stop("%u invocations have told on fresh inputs %u", told.invocations, i);
        gpu_run(general, false, push, expected, NULL);
        gpu_run(variant, false, push, found, NULL);
        same = words_compare(s, form, i, expected, found, tally);
    }
    gpu_pipeline_end(dry);
    gpu_pipeline_end(general);
    gpu_pipeline_end(variant);
    bf_dry_run_finish(&run);
}

/* ---------------------------------------------------------------------------------- Families -- */

static const enum bf_reason verdicts[] = {BF_REASON_NONE,        BF_REASON_ENDLESS,
                                          BF_REASON_UNCHECKABLE, BF_REASON_UNCOVERED,
                                          BF_REASON_INEXACT,     BF_REASON_TOO_SLOW};
#define VERDICTS (sizeof(verdicts) / sizeof(verdicts[0]))

static void subject_say(const struct subject *s, const struct bf_check_answer *answer)
{
    fprintf(stderr, "seed %llu, constants", (unsigned long long)seed_now);
    for (uint32_t i = 0; i < CONSTANTS; i++)
        fprintf(stderr, i == LEVEL || i == CEILING ? " %08x" : " %u", s->constants[i]);
    fprintf(stderr, ", push %08x %08x %08x %08x, fixed %x: %s %s\n", s->push[0], s->push[1],
            s->push[2], s->push[3], (uint32_t)s->fixed, bf_reason_code(answer->forms[0].reason),
            answer->why);
}

static void family_run(struct bf_isolate *isolate, uint64_t count, uint64_t seed,
                       struct tally *tally)
{
    for (seed_now = seed; tally->shaders < count; seed_now++) {
        struct subject subject;
        if (subject_make(&subject)) {
            struct bf_check_answer answer;
            uint32_t form;
            const enum bf_reason verdict =
                subject_judge(&subject, isolate, &answer, &form, &tally->longest_ns);
            if (getenv("TEST_VERBOSE"))
                subject_say(&subject, &answer);
            tally->shaders++;
            tally->verdicts[verdict]++;
            tally->kept += verdict == BF_REASON_NONE && form == KEEPING;
            if (verdict == BF_REASON_NONE)
                form_compare(&subject, form, tally);
        }
        subject_free(&subject);
    }
}

static void tally_say(const struct tally *tally)
{
    printf("%-9s %7u", family_names[family_now], tally->shaders);
    for (uint32_t i = 0; i < VERDICTS; i++)
        printf(" %11u", tally->verdicts[verdicts[i]]);
    printf(" %7u %9u %10u %8.1f s\n", tally->kept, tally->compared, tally->other_nans,
           (double)tally->longest_ns / 1e9);
}

/* Both happen, or nothing has been shown. */
static void tally_require(const struct tally *tally)
{
    const uint32_t passed = tally->verdicts[BF_REASON_NONE], least = tally->shaders / 10;
    if (tally->shaders >= 10 && (passed < least || tally->shaders - passed < least))
        stop("of %u shaders %u passed", tally->shaders, passed);
    if (tally->compared < passed * FRESH / 4)
        stop("only %u inputs were fit to compare %u forms on", tally->compared, passed);
}

int main(int argc, char **argv)
{
    const uint64_t family = argument(argc, argv, "--family", 0),
                   count = argument(argc, argv, "--count", 12),
                   seed = argument(argc, argv, "--seed", 1);
    if (!gpu_open()) {
        fprintf(stderr, "no device that computes with robustBufferAccess\n");
        return 77;
    }
    struct bf_isolate_info info = info_of(NULL);
    info.robust = true;
    info.limit_ns = LIMIT_NS;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    if (gpu_kept_floats()) {
        struct bf_check_answer answer;
        assert_success(bf_keeping_ask(isolate, NULL, &answer));
        device_keeps = answer.forms[0].reason == BF_REASON_NONE;
    }
    printf("family    shaders");
    for (uint32_t i = 0; i < VERDICTS; i++)
        printf(" %11s", i ? bf_reason_code(verdicts[i]) : "passed");
    printf(" keeping  compared other NaNs    longest   from seed %llu\n", (unsigned long long)seed);
    for (family_now = LOOPS; family_now < FAMILIES; family_now++) {
        struct tally tally = {0};
        if (family && (int)family != family_now)
            continue;
        family_run(isolate, count, seed, &tally);
        tally_say(&tally);
        tally_require(&tally);
    }
    bf_isolate_destroy(isolate);
    gpu_close();
    if (wrong)
        printf("%u have passed and differ\n", wrong);
    return wrong ? 1 : 0;
}
