/* SPDX-License-Identifier: MIT */
/*
 * Priorities: work of the background fills the GPU, a renderer draws a frame every 30 ms, and a
 * thread asks for something small, now and then, that it needs at once. Each has a queue, and where
 * the GPU has one VkQueue for all of them, each would wait for what the others have submitted
 * before.
 *
 * For half of the frames all queues have one priority, and that is what happens: nothing is
 * preempted, as with the setting preemption=off. Then the background's is lowered, and Belfry hands
 * over only so little of it at a time that the others hardly wait. The curves in the picture show
 * how long a frame takes, how long an answer, and how much of the background's work gets done.
 *
 * The background submits ahead, so that the GPU is never idle; how it keeps the copies apart that
 * frames show is in background_submit() below.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "curves.h"
#include "field.h"
#include "show.h"

#define FRAME_SECONDS  0.030
#define PACKET_SECONDS 0.001 /* what a packet of the background should take */
#define IN_STEP        24u   /* a walker's steps in a packet, where times play no part */
#define STEPS_MOST     4096u
#define AHEAD          2u   /* steps of the background that are submitted */
#define TURN           200u /* frames until priorities change, if no limit was given */
#define ANSWERS        64u  /* that are kept; a power of two */
#define SPARK_FRAMES   26u

struct answer {
    float place[2];
    float milliseconds;
    uint64_t frame; /* that was drawn last when it came */
};

struct priority {
    struct sample_show show;
    bool in_step, plain; /* --in-step, --no-curves */
    struct field field;
    struct curves curves;
    BfCommandQueue background, task;
    BfFence copied;   /* steps of the background: its copy is complete */
    BfFence executed; /* its packets */
    BfFence drawn, answered;
    uint64_t frame;

    pthread_t feeder, asker;
    bool feeds, asks;
    pthread_mutex_t lock; /* over what follows */
    bool ends;
    VkResult result;                /* of the threads */
    uint64_t submitted;             /* steps of the background */
    uint64_t claimed[FIELD_COPIES]; /* the last frame that shows a copy */
    struct answer answers[ANSWERS];
    uint64_t answer_count;
};

/* --- the background --- */

/* Submits its next step, whose copy overwrites that of the step FIELD_COPIES before: on the GPU it
 * waits for the last frame that shows that one. Frames show the newest copy that is complete, and
 * this is called when all but AHEAD - 1 steps are: so none will claim it from now on. */
static VkResult background_submit(struct priority *p)
{
    const uint64_t step = p->submitted + 1, packets = p->submitted * FIELD_PACKETS;
    const uint32_t copy = (uint32_t)(step % FIELD_COPIES);
    for (uint32_t i = 1; i <= FIELD_PACKETS; ++i) {
        TRY(bfQueueExecute(p->background, 1, &p->field.packet));
        TRY(bfQueueSignal(p->background, p->executed, packets + i));
    }
    TRY(bfQueueWait(p->background, p->drawn, p->claimed[copy]));
    TRY(bfQueueExecute(p->background, 1, &p->field.copy[copy]));
    TRY(bfQueueSignal(p->background, p->copied, step));
    p->submitted = step;
    return VK_SUCCESS;
}

static bool goes_on(struct priority *p, VkResult result)
{
    pthread_mutex_lock(&p->lock);
    if (result < 0 && p->result >= 0)
        p->result = result;
    bool on = !p->ends && p->result >= 0;
    pthread_mutex_unlock(&p->lock);
    return on;
}

static void *feeder_run(void *data)
{
    struct priority *p = data;
    VkResult result = VK_SUCCESS;
    for (uint64_t step = 1; goes_on(p, result); ++step) {
        if (step > AHEAD)
            result = sample_fence_await(p->copied, step - AHEAD);
        pthread_mutex_lock(&p->lock);
        if (result >= 0)
            result = background_submit(p);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* --- the urgent task --- */

static VkResult ask(struct priority *p, uint64_t number)
{
    struct answer answer;
    PASS(field_ask(&p->field, (uint32_t)number + p->show.seed * 9973));
    double begin = sample_seconds();
    TRY(bfQueueExecute(p->task, 1, &p->field.ask_commands));
    TRY(bfQueueSignal(p->task, p->answered, number));
    PASS(sample_fence_await(p->answered, number));
    answer.milliseconds = (float)((sample_seconds() - begin) * 1e3);
    field_answer(&p->field, answer.place);
    pthread_mutex_lock(&p->lock);
    answer.frame = p->frame;
    p->answers[p->answer_count++ % ANSWERS] = answer;
    pthread_mutex_unlock(&p->lock);
    return VK_SUCCESS;
}

static void sleep_until(double seconds)
{
    const struct timespec at = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void *asker_run(void *data)
{
    struct priority *p = data;
    VkResult result = VK_SUCCESS;
    for (uint64_t number = 1; goes_on(p, result); ++number) {
        result = ask(p, number);
        sleep_until(sample_seconds() + 0.008 + 0.001 * (double)(number * 7 % 17));
    }
    return NULL;
}

/* --- frames --- */

/* With priorities the background has the lower one; without, that of the others. */
static bool priorities_on(const struct priority *p, uint64_t frame)
{
    return p->show.frames ? frame > p->show.frames / 2 : (frame - 1) / TURN % 2 == 1;
}

/* Locked: the sparks of the last answers. */
static uint32_t sparks_write(struct priority *p)
{
    struct field_spark *sparks = p->field.sparks.mapped;
    uint32_t count = 0;
    for (uint64_t i = p->answer_count; i && p->answer_count - i < ANSWERS; --i) {
        const struct answer *a = &p->answers[(i - 1) % ANSWERS];
        if (count < FIELD_SPARKS && p->frame - a->frame < SPARK_FRAMES)
            sparks[count++] = (struct field_spark){
                .place = {a->place[0], a->place[1]},
                .age = (float)(p->frame - a->frame) / SPARK_FRAMES,
                .size = 0.085f,
            };
    }
    return count;
}

/* Locked: the longest of the answers that came behind the first `seen`. */
static float longest_answer(const struct priority *p, uint64_t seen)
{
    float longest = -1.0f;
    for (uint64_t i = p->answer_count; i > seen && p->answer_count - i < ANSWERS; --i) {
        const struct answer *a = &p->answers[(i - 1) % ANSWERS];
        longest = a->milliseconds > longest ? a->milliseconds : longest;
    }
    return longest;
}

/* VK_NOT_READY: the user has closed the window. */
static VkResult frame_run(struct priority *p, struct curves_sample *sample)
{
    struct sample_show *show = &p->show;
    struct sample_target target;
    const double begin = sample_seconds();
    const uint64_t packets = bfGetFenceCompletedValue(p->executed);

    VkResult result = sample_show_begin(show, &target);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&p->lock);
    const uint64_t seen = p->answer_count, frame = ++p->frame;
    const uint64_t step = p->in_step ? p->submitted : bfGetFenceCompletedValue(p->copied);
    p->claimed[step % FIELD_COPIES] = frame;
    uint32_t sparks = sparks_write(p);
    pthread_mutex_unlock(&p->lock);

    PASS(field_draw(&p->field, show, frame, &target, (uint32_t)(step % FIELD_COPIES),
                    step * FIELD_PACKETS, sparks, p->plain || p->in_step ? NULL : &p->curves));
    TRY(bfQueueWait(show->direct, p->copied, step));
    TRY(bfQueueExecute(show->direct, 1, &p->field.frame));
    TRY(bfQueueSignal(show->direct, p->drawn, frame));
    PASS(sample_show_end(show, &target));
    PASS(sample_fence_await(p->drawn, frame));
    const double end = sample_seconds();
    sample->values[CURVES_FRAME] = (float)((end - begin) * 1e3);
    if (!p->in_step)
        sleep_until(begin + FRAME_SECONDS);
    pthread_mutex_lock(&p->lock);
    sample->values[CURVES_ANSWER] = longest_answer(p, seen);
    result = p->result;
    pthread_mutex_unlock(&p->lock);
    sample->values[CURVES_BACKGROUND] =
        (float)((double)(bfGetFenceCompletedValue(p->executed) - packets) * p->field.steps *
                FIELD_WALKERS / (sample_seconds() - begin) * 1e-6);
    return result;
}

/* Where times play no part, a frame asks once and shows a step of its own. */
static VkResult step_run(struct priority *p)
{
    PASS(ask(p, p->frame + 1));
    return background_submit(p);
}

static VkResult frames_run(struct priority *p)
{
    struct sample_show *show = &p->show;
    const uint64_t last = show->frames ? show->frames : UINT64_MAX;
    VkResult result = VK_SUCCESS;
    bool on = false;
    while (p->frame < last && result == VK_SUCCESS && sample_show_goes_on(show)) {
        struct curves_sample sample = {.on = priorities_on(p, p->frame + 1)};
        if (on != sample.on)
            TRY(bfSetCommandQueuePriority(p->background, sample.on
                                                             ? BF_COMMAND_QUEUE_PRIORITY_NORMAL
                                                             : BF_COMMAND_QUEUE_PRIORITY_HIGH));
        on = sample.on;
        if (p->in_step)
            PASS(step_run(p));
        result = frame_run(p, &sample);
        if (result == VK_SUCCESS)
            curves_add(&p->curves, sample);
    }
    return result;
}

/* --- objects --- */

static VkResult queue_create(const struct priority *p, BfCommandQueueFlags flags,
                             BfCommandQueue *queue)
{
    TRY(bfCreateCommandQueue(
        p->show.belfry,
        &(BfCommandQueueCreateInfo){.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                    .type = BF_COMMAND_LIST_TYPE_COMPUTE,
                                    .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH,
                                    .flags = flags},
        queue));
    return VK_SUCCESS;
}

/* How many steps take as long as a packet should. */
static VkResult calibrate(struct priority *p)
{
    double least = 1;
    for (uint32_t i = 0; i < 8; ++i) {
        double begin = sample_seconds();
        TRY(bfQueueExecute(p->background, 1, &p->field.packet));
        TRY(bfQueueWaitIdle(p->background));
        double took = sample_seconds() - begin;
        least = took < least ? took : least;
    }
    double steps = IN_STEP * PACKET_SECONDS / least;
    return field_steps(&p->field, steps < 1            ? 1
                                  : steps > STEPS_MOST ? STEPS_MOST
                                                       : (uint32_t)steps);
}

static VkResult objects_create(struct priority *p)
{
    PASS(queue_create(p, BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT, &p->background));
    PASS(queue_create(p, 0, &p->task));
    PASS(sample_fence_create(&p->show, &p->copied));
    PASS(sample_fence_create(&p->show, &p->executed));
    PASS(sample_fence_create(&p->show, &p->drawn));
    PASS(sample_fence_create(&p->show, &p->answered));
    PASS(field_create(&p->field, &p->show, bfGetCommandQueueFamilyIndex(p->background), IN_STEP));
    p->curves.expected = p->show.frames;
    if (p->in_step)
        return VK_SUCCESS;
    PASS(calibrate(p));
    p->feeds = !pthread_create(&p->feeder, NULL, feeder_run, p);
    p->asks = !pthread_create(&p->asker, NULL, asker_run, p);
    return sample_check(p->feeds && p->asks ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY,
                        "pthread_create");
}

static void threads_end(struct priority *p)
{
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_mutex_unlock(&p->lock);
    if (p->feeds)
        pthread_join(p->feeder, NULL);
    if (p->asks)
        pthread_join(p->asker, NULL);
    p->feeds = p->asks = false;
}

static void objects_destroy(struct priority *p)
{
    threads_end(p);
    bfDestroyFence(p->drawn); /* the background waits for no frame that won't come */
    if (p->background)
        (void)bfQueueWaitIdle(p->background);
    if (p->task)
        (void)bfQueueWaitIdle(p->task);
    (void)sample_show_idle(&p->show);
    field_destroy(&p->field, &p->show.device);
    bfDestroyFence(p->answered);
    bfDestroyFence(p->executed);
    bfDestroyFence(p->copied);
    bfDestroyCommandQueue(p->task);
    bfDestroyCommandQueue(p->background);
}

static int priority_run(struct priority *p)
{
    static const char *const names[CURVES_LINES] = {"frame", "answer", "background"};
    float off[CURVES_LINES], on[CURVES_LINES];
    VkResult result = frames_run(p);
    threads_end(p);
    if (result < 0 || sample_show_idle(&p->show) < 0)
        return SAMPLE_EXIT_FAILED;
    int exit_code = sample_show_save(&p->show);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    for (enum curves_line i = 0; i < CURVES_LINES && !p->in_step; ++i) {
        off[i] = curves_quantile(&p->curves, i, false, 0.5f);
        on[i] = curves_quantile(&p->curves, i, true, 0.5f);
        if (printf("%s%s: %.2f with one priority, %.2f with two", i ? "; " : "Medians: ", names[i],
                   (double)off[i], (double)on[i]) < 0)
            return SAMPLE_EXIT_FAILED;
    }
    if (!p->in_step && puts(" (ms, ms, million steps a second).") < 0)
        return SAMPLE_EXIT_FAILED;
    return sample_show_tell(&p->show, "%llu frames of %ux%u drawn, %llu answers.",
                            (unsigned long long)p->show.shown, p->show.extent.width,
                            p->show.extent.height, (unsigned long long)p->answer_count);
}

int main(int argc, char **argv)
{
    static struct priority p = {
        .show = {.size = {FIELD_WIDTH, FIELD_HEIGHT},
                 .seed = 0,
                 .frames = 160,
                 .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH},
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    const struct sample_option extra[] = {
        {"--no-curves", NULL, "don't show the curves", SAMPLE_OPTION_FLAG, &p.plain, 0, 0},
        {"--in-step", NULL,
         "one answer and one step of the background for each frame: the same picture each time",
         SAMPLE_OPTION_FLAG, &p.in_step, 0, 0},
    };

    int exit_code = sample_show_arguments(&p.show, "priority",
                                          "Background work, a renderer and an urgent task, with "
                                          "one priority and with two.",
                                          extra, sizeof extra / sizeof *extra, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    exit_code = sample_show_open(&p.show);
    if (exit_code == SAMPLE_OPTIONS_GO_ON) {
        exit_code = objects_create(&p) < 0 ? SAMPLE_EXIT_FAILED : priority_run(&p);
        objects_destroy(&p);
    }
    sample_show_close(&p.show);
    return exit_code;
}
