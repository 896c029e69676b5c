/* SPDX-License-Identifier: MIT */
/*
 * `specialize`: the gain and the cost of rebuilding shaders for the values that a program uses.
 * 'Plain' is the driver alone; 'Belfry' is the same program under the layer, after the layer has
 * built and measured its variants.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "../training/post.h"
#include "bench.h"
#include "control.h"
#include "frames.h"
#include "pairs.h"

#define ROW_POST   "an over-general post-process, steady"
#define ROW_CHURN  "values that change with every dispatch"
#define ROW_BUILT  "the same: variants built for them"
#define ROW_HALVES "two sets of values, each in half of the uses: variants"
#define ROW_STREAM "a shader that only moves memory: variants kept"

/* Rows about the corpus in one form, whose name they begin with. */
enum { ROW_SLOWER, ROW_BITS, ROW_KEPT, ROW_ALL, CORPUS_ROWS };
static const char *const corpus_names[CORPUS_ROWS] = {
    [ROW_SLOWER] = "shaders slower by 1 % and 3 standard errors",
    [ROW_BITS] = "shaders that write other bits",
    [ROW_KEPT] = "time, geometric mean over what was rebuilt",
    [ROW_ALL] = "time, geometric mean over all",
};
static const struct {
    const char *word;
    const char *suffix; /* the end of a shader's row's name */
} forms[CORPUS_FORMS] = {
    [CORPUS_COMPUTE] = {"corpus", ""},
    [CORPUS_PASS] = {"passes", " (pass)"},
};

static const char *const required[] = {ROW_POST,   ROW_CHURN,  ROW_BUILT,
                                       ROW_HALVES, ROW_STREAM, NULL};

#define LIGHT_LEVELS     8   /* as in the training sample */
#define CORPUS_SIDE      128 /* width and height of a picture, in pixels */
#define WARM_FRAMES      2
#define ROUNDS_SEEN      8 /* before the measurements are committed */
#define ROUNDS_MOST      800
#define TRAINING_SECONDS 300
#define STEADY_SAMPLES   24
#define CHURN_DISPATCHES 64
#define CHURN_GROUPS     512
#define CHURN_MORE       0.01
#define STREAM_COUNT     (1u << 20) /* number of uvec4s */
#define POST_TIMES_MORE  5.0

static const VkExtent2D post_extent = {640, 360};

/* The workloads of a side beside the corpus. */
struct works {
    struct sample_image light;
    VkImageView light_view;
    struct post post;
    uint64_t post_frame;
    struct control churn, halves, stream;
    uint32_t churned;
};

/* A program with the corpus in one form. The one with compute shaders also has the other workloads.
 * Shaders that draw are in a program of their own, because lavapipe's timestamps around dispatches
 * depend on whether the device has drawn before. */
struct specialize {
    struct twin twin;
    enum corpus_form form;
    bool busy; /* has the other workloads */
    struct works works[2];
    struct pairs pairs;
    bool corpus;
    struct bench_found no_corpus;
    struct pair_times post;
    double churn[2][STEADY_SAMPLES]; /* CPU time of the caller, in µs */
    uint32_t rounds;
    double training_seconds;
    bool further; /* the layer desires further measurements */
};

/* --------------------------------------------------------------------------------- Workloads -- */

/* Creates an image of a single colour: the post-process takes as long with it as with any other. It
 * is not drawn, because lavapipe's timestamps around dispatches change once something was. */
static VkResult light_create(struct works *works, struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;
    double ns;

    PASS(sample_image_create(device, VK_FORMAT_R16G16B16A16_SFLOAT, post_extent, LIGHT_LEVELS,
                             VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, "light",
                             &works->light));
    PASS(sample_view_create_whole(device, &works->light, &works->light_view));
    PASS(twin_begin(gpu));
    sample_transition(gpu->commands, works->light.handle, 0, LIGHT_LEVELS, SAMPLE_USE_DISCARD,
                      SAMPLE_USE_COMMON);
    vkCmdClearColorImage(
        gpu->commands, works->light.handle, VK_IMAGE_LAYOUT_GENERAL,
        &(VkClearColorValue){.float32 = {0.9f, 0.5f, 0.2f, 1.0f}}, 1,
        &(VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, LIGHT_LEVELS, 0, 1});
    return twin_end(gpu, &ns);
}

static VkResult works_create(struct works *works, struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;

    PASS(light_create(works, gpu));
    PASS(post_create(&works->post, device, device->graphics.family));
    PASS(post_resize(&works->post, device, works->light_view, post_extent));
    PASS(control_create(&works->churn, gpu, CONTROL_STEER, "churn", CHURN_GROUPS,
                        CHURN_GROUPS * 64 * sizeof(uint32_t)));
    PASS(control_create(&works->halves, gpu, CONTROL_STEER, "halves", CHURN_GROUPS,
                        CHURN_GROUPS * 64 * sizeof(uint32_t)));
    return control_create(&works->stream, gpu, CONTROL_STREAM, "stream", STREAM_COUNT / 64,
                          (VkDeviceSize)STREAM_COUNT * 16);
}

static void works_destroy(struct works *works, struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;

    if (!device->handle)
        return;
    vkDeviceWaitIdle(device->handle);
    control_destroy(&works->stream, gpu);
    control_destroy(&works->halves, gpu);
    control_destroy(&works->churn, gpu);
    post_destroy(&works->post, device);
    vkDestroyImageView(device->handle, works->light_view, NULL);
    sample_image_destroy(device, &works->light);
}

static VkResult post_draw(struct works *works, struct corpus_gpu *gpu, double *ns)
{
    uint64_t frame = ++works->post_frame;

    PASS(twin_begin(gpu));
    post_record(&works->post, &gpu->device, gpu->commands, frame);
    PASS(twin_end(gpu, ns));
    *ns = post_milliseconds(&works->post, &gpu->device, frame) * 1e6;
    return VK_SUCCESS;
}

/* All three push constants change with each dispatch, and are the same on both sides. */
static VkResult churn_draw(struct works *works, struct corpus_gpu *gpu)
{
    struct control_push pushes[CHURN_DISPATCHES];
    double ns;

    for (uint32_t i = 0; i < CHURN_DISPATCHES; ++i) {
        uint32_t n = works->churned++;
        pushes[i] = (struct control_push){{n, 16 + n * 7 % 61, n * 3 + 1}};
    }
    return control_frame(&works->churn, gpu, pushes, CHURN_DISPATCHES, &ns);
}

static VkResult halves_draw(struct works *works, struct corpus_gpu *gpu, uint32_t frame)
{
    static const struct control_push pushes[2] = {{{1, 24, 5}}, {{2, 40, 9}}};
    double ns;
    return control_frame(&works->halves, gpu, &pushes[frame % 2], 1, &ns);
}

static VkResult stream_draw(struct works *works, struct corpus_gpu *gpu)
{
    static const struct control_push push = {{0x00ff00ff, 0, 0}};
    double ns;
    return control_frame(&works->stream, gpu, &push, 1, &ns);
}

/* -------------------------------------------------------------------------------------- Runs -- */

/* Runs one frame of all workloads on a side. */
static VkResult round_draw(struct specialize *s, enum bench_side side, uint32_t frame)
{
    struct corpus_gpu *gpu = twin_use(&s->twin, side);
    struct works *works = &s->works[side];
    double ns;

    if (s->busy) {
        PASS(post_draw(works, gpu, &ns));
        PASS(churn_draw(works, gpu));
        PASS(halves_draw(works, gpu, 2 * frame));
        PASS(halves_draw(works, gpu, 2 * frame + 1));
        PASS(stream_draw(works, gpu));
    }
    return s->corpus ? pairs_draw(&s->pairs, &s->twin, side, frame) : VK_SUCCESS;
}

/* Trains as a game would: it renders, commits, and goes on until no further measurements are
 * desired. */
static VkResult train(struct specialize *s)
{
    uint64_t begin = bench_now();
    VkBool32 further = VK_TRUE;

    PASS(twin_mode(&s->twin, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS, NULL));
    while (further && s->rounds < ROUNDS_MOST && s->training_seconds < TRAINING_SECONDS) {
        for (uint32_t i = 0; i < ROUNDS_SEEN; ++i)
            PASS(round_draw(s, BENCH_BELFRY, s->rounds++));
        if (s->rounds == ROUNDS_SEEN)
            PASS(twin_commit(&s->twin));
        PASS(twin_mode(&s->twin, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                       &further));
        s->training_seconds = (double)(bench_now() - begin) * 1e-9;
    }
    s->further = further;
    return VK_SUCCESS;
}

/* Measured in the default mode, because that is what programs pay. */
static VkResult churn_measure(struct specialize *s)
{
    uint32_t random = 0x9e3779b9;

    PASS(twin_mode(&s->twin, BF_BACKGROUND_PROCESSING_MODE_ALLOWED, NULL));
    s->works[BENCH_PLAIN].churned = s->works[BENCH_BELFRY].churned;
    for (uint32_t i = 0; i < STEADY_SAMPLES; ++i) {
        enum bench_side first = pair_first(&random);
        for (uint32_t turn = 0; turn < 2; ++turn) {
            enum bench_side side = turn ? 1 - first : first;
            struct corpus_gpu *gpu = twin_use(&s->twin, side);
            uint64_t begin = bench_now();
            PASS(churn_draw(&s->works[side], gpu));
            s->churn[side][i] = (double)(bench_now() - begin) / 1000;
        }
    }
    return VK_SUCCESS;
}

static VkResult post_measure(struct specialize *s)
{
    uint32_t random = 0x6a09e667;

    for (uint32_t i = 0; i < STEADY_SAMPLES; ++i) {
        enum bench_side first = pair_first(&random);
        for (uint32_t turn = 0; turn < 2; ++turn) {
            enum bench_side side = turn ? 1 - first : first;
            PASS(post_draw(&s->works[side], twin_use(&s->twin, side), &s->post.ns[side][i]));
        }
        s->post.count = i + 1;
    }
    return VK_SUCCESS;
}

static VkResult all_run(struct specialize *s)
{
    for (enum bench_side side = BENCH_PLAIN; side <= BENCH_BELFRY && s->busy; ++side)
        PASS(works_create(&s->works[side], twin_use(&s->twin, side)));
    s->corpus = pairs_create(&s->pairs, &s->twin, s->form, &s->no_corpus);
    for (uint32_t i = 0; i < WARM_FRAMES; ++i) {
        PASS(round_draw(s, BENCH_PLAIN, i));
        PASS(round_draw(s, BENCH_BELFRY, i));
    }
    if (s->twin.specializes)
        PASS(train(s));
    if (s->busy)
        PASS(churn_measure(s));
    PASS(twin_mode(&s->twin, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM, NULL));
    if (s->busy)
        PASS(post_measure(s));
    return s->corpus ? pairs_measure(&s->pairs, &s->twin, STEADY_SAMPLES) : VK_SUCCESS;
}

/* -------------------------------------------------------------------------------------- Rows -- */

static uint32_t variants_count(const struct variants *variants, const char *name, bool kept_only)
{
    const struct variant *variant;
    uint32_t at = 0, count = 0;
    while ((variant = variants_next(variants, name, &at)))
        count += variant->verdict == VARIANT_KEPT ||
                 (!kept_only && variant->verdict != VARIANT_QUEUED && variant->build > 0);
    return count;
}

static void variants_note(struct bench_report *report, const struct variants *variants,
                          const char *name)
{
    const struct variant *v;
    uint32_t at = 0;
    while ((v = variants_next(variants, name, &at)))
        bench_note(report,
                   "%s: %s, %s; build %.1f, check %.1f, first use %.1f ms; general %.1f, variant "
                   "%.1f us; mask %02x, %s",
                   name, variant_verdict_name(v->verdict), v->reason, v->build * 1e-6,
                   v->check * 1e-6, v->first * 1e-6, v->general * 1e-3, v->variant * 1e-3, v->mask,
                   v->form);
}

static const char *corpus_row(const struct specialize *s, uint32_t row, char name[96])
{
    snprintf(name, 96, "%s: %s", forms[s->form].word, corpus_names[row]);
    return name;
}

static void corpus_rows(const struct specialize *s, const struct variants *variants,
                        struct bench_report *report)
{
    char name[96];
    double logs[2] = {0}; /* of all shaders, and of those with a variant that was kept */
    uint32_t counts[2] = {0}, slower = 0, differing = 0;

    if (!s->corpus) {
        for (uint32_t i = 0; i < CORPUS_ROWS; ++i)
            bench_row_skip(report, corpus_row(s, i, name), "%s", s->no_corpus.reason);
        return;
    }
    for (uint32_t i = 0; i < s->pairs.count; ++i) {
        const struct pair *pair = &s->pairs.list[i];
        struct pair_summary summary = pair_summarise(&pair->times);
        double plain = summary.median[BENCH_PLAIN], belfry = summary.median[BENCH_BELFRY];
        bool kept = variants_count(variants, pair->shader->name, true) > 0;

        snprintf(name, sizeof name, "%s%s", pair->shader->name, forms[s->form].suffix);
        bench_row_value(report, name, "us", plain * 1e-3, belfry * 1e-3, INFINITY);
        variants_note(report, variants, pair->shader->name);
        if (pair->slower)
            bench_note(report, "%s: slower by %.1f %%, standard error %.1f %%", pair->shader->name,
                       100 * summary.more, 100 * summary.error);
        slower += pair->slower;
        differing += pair->differs;
        if (plain <= 0 || belfry <= 0)
            continue;
        for (uint32_t k = 0; k < 2; ++k) {
            if (k == 0 || kept) {
                logs[k] += log(belfry / plain);
                ++counts[k];
            }
        }
    }
    bench_row_value(report, corpus_row(s, ROW_SLOWER, name), "shaders", 0, slower, 0);
    bench_row_value(report, corpus_row(s, ROW_BITS, name), "shaders", 0, differing, 0);
    corpus_row(s, ROW_KEPT, name);
    if (counts[1])
        bench_row_value(report, name, "times", 1, exp(logs[1] / counts[1]), 1);
    else
        bench_row_skip(report, name, "no variant was kept");
    corpus_row(s, ROW_ALL, name);
    if (counts[0])
        bench_row_value(report, name, "times", 1, exp(logs[0] / counts[0]), INFINITY);
    else
        bench_row_skip(report, name, "no shader of the corpus was timed");
    bench_note(report, "%s: %u shaders, %u with a variant that was kept, at %ux%u",
               forms[s->form].word, counts[0], counts[1], CORPUS_SIDE, CORPUS_SIDE);
}

static void works_rows(const struct specialize *s, const struct variants *variants,
                       struct bench_report *report)
{
    struct pair_summary post = pair_summarise(&s->post);
    double plain[STEADY_SAMPLES];

    bench_row_value(report, ROW_POST, "us", post.median[BENCH_PLAIN] * 1e-3,
                    post.median[BENCH_BELFRY] * 1e-3,
                    post.median[BENCH_PLAIN] * 1e-3 / POST_TIMES_MORE);
    bench_note(report, "%s: %.2f times as fast, %ux%u", ROW_POST,
               post.median[BENCH_PLAIN] / fmax(post.median[BENCH_BELFRY], 1.0), post_extent.width,
               post_extent.height);
    variants_note(report, variants, "post-process");
    memcpy(plain, s->churn[BENCH_PLAIN], sizeof plain);
    bench_row_cost(report, ROW_CHURN, "us", s->churn[BENCH_PLAIN], s->churn[BENCH_BELFRY],
                   STEADY_SAMPLES, CHURN_MORE * bench_spread(plain, STEADY_SAMPLES).median);
    bench_row_value(report, ROW_BUILT, "variants", 0, variants_count(variants, "churn", false), 0);
    uint32_t halves = variants_count(variants, "halves", false);
    bench_row_value(report, ROW_HALVES, "variants", 0, halves, 2);
    report->rows[report->row_count - 1].met = halves == 2;
    variants_note(report, variants, "halves");
    bench_row_value(report, ROW_STREAM, "variants", 0, variants_count(variants, "stream", true), 0);
    variants_note(report, variants, "stream");
}

static void rows(const struct specialize *s, const struct variants *variants,
                 struct bench_report *report)
{
    if (s->busy)
        works_rows(s, variants, report);
    corpus_rows(s, variants, report);
    if (!s->twin.specializes)
        bench_note(report, "%s: this layer rebuilds no shaders: both sides are the same",
                   forms[s->form].word);
    else
        bench_note(report, "%s: trained with %u frames of each in %.1f s%s; %.120s",
                   forms[s->form].word, s->rounds, s->training_seconds,
                   s->further ? ", and not to the end" : "", variants->summary);
}

/* Skips the rows that can't be measured here, for the same reason. */
static void rows_skip(const struct specialize *s, const char *reason, struct bench_report *report)
{
    char name[96];
    for (int i = 0; required[i] && s->busy; ++i)
        bench_row_skip(report, required[i], "%s", reason);
    for (uint32_t i = 0; i < CORPUS_ROWS; ++i)
        bench_row_skip(report, corpus_row(s, i, name), "%s", reason);
}

static int form_run(const struct bench_options *options, enum corpus_form form,
                    struct bench_report *report)
{
    static struct specialize s;
    static struct variants variants;
    struct bench_found found = {0};
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;

    memset(&s, 0, sizeof s);
    s.form = form;
    s.busy = form == CORPUS_COMPUTE;
    if (twin_open(&s.twin, options->gpu, CORPUS_SIDE, CORPUS_SIDE, &found)) {
        snprintf(report->device, sizeof report->device, "%s",
                 s.twin.gpus[BENCH_PLAIN].device.properties.deviceName);
        result = all_run(&s);
    }
    bool specializes = s.twin.specializes;
    /* The rows' names come from the corpus, so it stays loaded until they have been added. */
    for (enum bench_side side = BENCH_PLAIN; side <= BENCH_BELFRY && s.busy; ++side) {
        if (s.twin.open[side])
            works_destroy(&s.works[side], twin_use(&s.twin, side));
    }
    pairs_release(&s.pairs, &s.twin);
    twin_close(&s.twin, &variants);
    s.twin.specializes = specializes;
    if (found.reason[0])
        rows_skip(&s, found.reason, report);
    else if (result >= 0)
        rows(&s, &variants, report);
    pairs_destroy(&s.pairs);
    if (found.reason[0])
        return options->gpu ? SAMPLE_EXIT_NO_DEVICE : SAMPLE_EXIT_DONE;
    return result < 0 ? SAMPLE_EXIT_FAILED : SAMPLE_EXIT_DONE;
}

static int specialize_run(const struct bench_options *options, struct bench_report *report)
{
    int code = SAMPLE_EXIT_DONE;

    snprintf(report->device, sizeof report->device, "no device");
    for (enum corpus_form form = 0; form < CORPUS_FORMS && code == SAMPLE_EXIT_DONE; ++form) {
        if (!options->form || !strcmp(options->form, corpus_form_name(form)))
            code = form_run(options, form, report);
    }
    if (code == SAMPLE_EXIT_DONE && (!options->form || !strcmp(options->form, "hostile")))
        frames_rows(options, report);
    return code;
}

const struct bench bench_specialize = {
    .name = "specialize",
    .purpose = "what shaders rebuilt for their values bring, and cost",
    .run = specialize_run,
    .required = required,
};
