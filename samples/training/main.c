/* SPDX-License-Identifier: MIT */
/*
 * Training, as the D3D12 document 'Background Processing' has it, in Belfry's own API: a
 * post-process that can do everything is drawn with, and timed, before Belfry has seen which of its
 * switches this scene uses, while it rebuilds the shader for them, and after that. The times are
 * drawn into the picture.
 *
 * The document has two flows, benchmark_flow() and pix_flow() below. Taken literally, they would
 * not do what their texts say. These are the differences:
 *
 *  - The benchmark's loop keeps asking for measurements and never says that they are all there are.
 *    Here COMMIT_RESULTS comes behind it, its event tells when the shaders are built, and the loop
 *    runs again, for what was built is measured too. Only then the real benchmark begins, in the
 *    mode DISABLE_PROFILING_BY_SYSTEM, so that nothing changes any more.
 *  - PIX's loop counts `++tries` in its condition and then asks for tries == 0, which never is, so
 *    that DISCARD_PREVIOUS is never sent. Here the first pass has it.
 *  - The handle of its commit is set once for each pass: an event that resets itself when waited
 *    for.
 *  - DISABLE_PROFILING_BY_SYSTEM and COMMIT_RESULTS_HIGH_PRIORITY are developer mode's (setting
 *    developer_mode). Without it the flows make do with ALLOWED and COMMIT_RESULTS.
 *
 * Without the layer, or where it specializes nothing (setting specialize), all calls succeed and
 * change nothing: the curve stays flat.
 */
#include <belfry/background.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "show.h"

enum {
    FLYTHROUGH = 3, /* length of the flights, in frames */
    PASSES_MOST = 200,
    ENDLESS_BEFORE = 180, /* in frames, if no limit was given */
    ENDLESS_DURING = 360,
};

struct training {
    struct sample_show show;
    struct frames frames;
    const char *flow;
    BfBackgroundProcessingProperties properties;
    BfEvent built;
    uint32_t passes;
};

/* ------------------------------------------------------------------------------------- Steps -- */

static uint32_t before_frames(const struct training *training)
{
    uint32_t last = training->show.frames;
    return last ? last * 3 / 20 : ENDLESS_BEFORE;
}

/* The last frame that may be drawn for training. */
static uint32_t during_end(const struct training *training)
{
    uint32_t last = training->show.frames;
    return last ? last * 7 / 10 : ENDLESS_BEFORE + ENDLESS_DURING;
}

/* Draws up to frame `last`. VK_NOT_READY: the user has closed the window. */
static VkResult fly(struct training *training, enum curve_phase phase, uint64_t last)
{
    while (training->frames.drawn < last) {
        if (!sample_show_goes_on(&training->show))
            return VK_NOT_READY;
        VkResult result = frames_draw(&training->frames, phase);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

static VkResult mode_set(struct training *training, BfBackgroundProcessingMode mode,
                         BfMeasurementsAction action, BfEvent event, VkBool32 *further)
{
    if (!training->properties.developerMode) {
        if (mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM)
            mode = BF_BACKGROUND_PROCESSING_MODE_ALLOWED;
        if (action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY)
            action = BF_MEASUREMENTS_ACTION_COMMIT_RESULTS;
    }
    return sample_check(
        bfSetBackgroundProcessingMode(training->show.belfry, mode, action, event, further),
        "bfSetBackgroundProcessingMode");
}

/* Returns from a function if a frame could not be drawn, or the window was closed. */
#define FLY(phase, last)                                                                           \
    do {                                                                                           \
        VkResult fly_result = fly(training, phase, last);                                          \
        if (fly_result != VK_SUCCESS)                                                              \
            return fly_result;                                                                     \
    } while (0)

/* ------------------------------------------------------------------------------------- Flows -- */

/* Draws for training until no further measurements are desired, or the limit of frames is
 * reached. */
static VkResult train(struct training *training)
{
    struct frames *frames = &training->frames;
    VkBool32 further = VK_TRUE;

    while (further && frames->drawn + FLYTHROUGH <= during_end(training)) {
        FLY(CURVE_DURING, frames->drawn + FLYTHROUGH);
        PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                      BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, &further));
        ++training->passes;
    }
    return VK_SUCCESS;
}

#define TRAIN()                                                                                    \
    do {                                                                                           \
        VkResult train_result = train(training);                                                   \
        if (train_result != VK_SUCCESS)                                                            \
            return train_result;                                                                   \
    } while (0)

/* A game's benchmark, or a game behind its menu: it draws while shaders are built. */
static VkResult benchmark_flow(struct training *training)
{
    struct frames *frames = &training->frames;

    FLY(CURVE_BEFORE, before_frames(training));
    PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                  BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS, NULL, NULL));
    TRAIN();
    PASS(frames_drain(frames));
    PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                  BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, training->built, NULL));
    VkResult built = VK_TIMEOUT;
    while (built == VK_TIMEOUT && frames->drawn < during_end(training)) {
        built = bfWaitForEvents(1, &training->built, VK_FALSE, 0, NULL);
        PASS(sample_check(built, "bfWaitForEvents"));
        if (built == VK_TIMEOUT)
            FLY(CURVE_DURING, frames->drawn + 1);
    }
    if (built == VK_TIMEOUT)
        TRY(bfWaitForEvents(1, &training->built, VK_FALSE, UINT64_MAX, NULL));
    /* The variants that were built are measured. */
    TRAIN();
    PASS(frames_drain(frames));
    PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
                  BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));

    FLY(CURVE_AFTER, training->show.frames ? training->show.frames : UINT64_MAX);
    return VK_SUCCESS;
}

/* PIX: plays one frame back, which gives all the measurements there are. */
static VkResult pix_flow(struct training *training)
{
    struct frames *frames = &training->frames;
    VkBool32 further = VK_TRUE;

    PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
                  BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
    FLY(CURVE_BEFORE, before_frames(training));
    for (; further && training->passes < PASSES_MOST && frames->drawn < during_end(training);
         ++training->passes) {
        PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                      training->passes == 0 ? BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS
                                            : BF_MEASUREMENTS_ACTION_KEEP_ALL,
                      NULL, NULL));
        FLY(CURVE_DURING, frames->drawn + 1);
        /* Measurements count only when the GPU has finished. */
        PASS(frames_drain(frames));
        PASS(mode_set(training, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
                      BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, training->built,
                      &further));
        TRY(bfWaitForEvents(1, &training->built, VK_FALSE, UINT64_MAX, NULL));
    }

    FLY(CURVE_AFTER, training->show.frames ? training->show.frames : UINT64_MAX);
    return VK_SUCCESS;
}

/* ------------------------------------------------------------------------------------ Report -- */

static int report(const struct training *training)
{
    static const char *const names[CURVE_PHASES] = {"before", "during", "after"};
    struct curve_summary phases[CURVE_PHASES];
    char times[128] = "", change[96] = "no change: the curve is flat", mode[128];

    for (enum curve_phase i = CURVE_BEFORE; i < CURVE_PHASES; ++i) {
        phases[i] = curve_summarise(&training->frames.curve, i);
        size_t used = strlen(times);
        snprintf(times + used, sizeof times - used, "%s%.2f/%.2f %s (%u)", i ? ", " : "",
                 fmax((double)phases[i].post, 0.0), fmax((double)phases[i].whole, 0.0), names[i],
                 phases[i].frames);
    }
    float before = phases[CURVE_BEFORE].post, after = phases[CURVE_AFTER].post;
    if (before > 0.0f && after > 0.0f && (before > after * 1.2f || after > before * 1.2f))
        snprintf(change, sizeof change, "the post-process takes %.2f of its time",
                 (double)(after / before));
    snprintf(mode, sizeof mode, "background processing %s%s, %u tasks",
             training->properties.backgroundProcessingSupported ? "is used"
                                                                : "is not used by anyone",
             training->properties.developerMode ? ", developer mode" : "",
             training->properties.backgroundTasks);
    if (printf("Median ms of post-process/frame: %s; %s.\n%s after %u passes; %s.\n", times, change,
               training->flow, training->passes, mode) < 0)
        return SAMPLE_EXIT_FAILED;
    return sample_show_tell(&training->show, "%llu frames of %ux%u.",
                            (unsigned long long)training->show.shown, training->show.extent.width,
                            training->show.extent.height);
}

static int training_run(struct training *training)
{
    struct sample_show *show = &training->show;

    if (sample_check(bfGetBackgroundProcessingProperties(show->belfry, &training->properties),
                     "bfGetBackgroundProcessingProperties") < 0 ||
        sample_check(bfCreateEvent(0, &training->built), "bfCreateEvent") < 0)
        return SAMPLE_EXIT_FAILED;
    VkResult result =
        !strcmp(training->flow, "pix") ? pix_flow(training) : benchmark_flow(training);
    if (result < 0 || frames_drain(&training->frames) < 0)
        return SAMPLE_EXIT_FAILED;
    int exit_code = sample_show_save(show);
    return exit_code == SAMPLE_EXIT_DONE ? report(training) : exit_code;
}

int main(int argc, char **argv)
{
    static struct training training = {
        .show = {.size = {640, 360}, .seed = 7, .frames = 240},
        .flow = "benchmark",
        .properties = {.sType = BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES},
    };
    struct sample_show *show = &training.show;
    const struct sample_option extra[] = {
        {"--flow", "NAME", "benchmark (frames go on while shaders are built) or pix (they wait)",
         SAMPLE_OPTION_TEXT, &training.flow, 0, 0},
        {"--no-curve", NULL, "draw no curve: the same seed and frames give the same picture",
         SAMPLE_OPTION_FLAG, &training.frames.plain, 0, 0},
    };

    int exit_code = sample_show_arguments(show, "training",
                                          "An over-general post-process, before, while and after "
                                          "it is rebuilt for what it is used for.",
                                          extra, sizeof extra / sizeof *extra, argc, argv);
    if (exit_code == SAMPLE_OPTIONS_GO_ON && strcmp(training.flow, "benchmark") &&
        strcmp(training.flow, "pix")) {
        sample_complain("--flow '%s': benchmark or pix", training.flow);
        exit_code = SAMPLE_EXIT_USAGE;
    }
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    exit_code = sample_show_open(show);
    if (exit_code == SAMPLE_OPTIONS_GO_ON) {
        training.frames.show = show;
        training.frames.curve.expected =
            show->frames > FRAMES_WARMUP ? show->frames - FRAMES_WARMUP : 0;
        exit_code =
            frames_create(&training.frames) < 0 ? SAMPLE_EXIT_FAILED : training_run(&training);
        bfDestroyEvent(training.built);
        frames_destroy(&training.frames);
    }
    sample_show_close(show);
    return exit_code;
}
