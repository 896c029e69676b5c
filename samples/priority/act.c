/* SPDX-License-Identifier: MIT */
/* The background, the renderer and the urgent task on one device.
 *
 * The background submits ahead, so that the GPU is never idle; how it keeps the copies apart that
 * frames show is in background_submit() below. */
#include "act.h"

#include <time.h>

#define FRAME_SECONDS  0.030
#define PACKET_SECONDS 0.001 /* what a packet of the background should take */
#define IN_STEP        24u   /* a walker's steps in a packet, where times play no part */
#define STEPS_MOST     4096u
#define AHEAD          2u /* steps of the background that are submitted */
#define SPARK_FRAMES   26u

/* --- the background --- */

/* Submits its next step, whose copy overwrites that of the step FIELD_COPIES before: on the GPU it
 * waits for the last frame that shows that one. Frames show the newest copy that is complete, and
 * this is called when all but AHEAD - 1 steps are: so none will claim it from now on. */
static VkResult background_submit(struct act *act)
{
    const uint64_t step = act->submitted + 1, packets = act->submitted * FIELD_PACKETS;
    const uint32_t copy = (uint32_t)(step % FIELD_COPIES);
    for (uint32_t i = 1; i <= FIELD_PACKETS; ++i) {
        TRY(bfQueueExecute(act->background, 1, &act->field.packet));
        TRY(bfQueueSignal(act->background, act->executed, packets + i));
    }
    TRY(bfQueueWait(act->background, act->drawn, act->claimed[copy]));
    TRY(bfQueueExecute(act->background, 1, &act->field.copy[copy]));
    TRY(bfQueueSignal(act->background, act->copied, step));
    act->submitted = step;
    return VK_SUCCESS;
}

static bool goes_on(struct act *act, VkResult result)
{
    pthread_mutex_lock(&act->lock);
    if (result < 0 && act->result >= 0)
        act->result = result;
    bool on = !act->ends && act->result >= 0;
    pthread_mutex_unlock(&act->lock);
    return on;
}

static void *feeder_run(void *data)
{
    struct act *act = data;
    VkResult result = VK_SUCCESS;
    for (uint64_t step = 1; goes_on(act, result); ++step) {
        if (step > AHEAD)
            result = sample_fence_await(act->copied, step - AHEAD);
        pthread_mutex_lock(&act->lock);
        if (result >= 0)
            result = background_submit(act);
        pthread_mutex_unlock(&act->lock);
    }
    return NULL;
}

/* --- the urgent task --- */

static VkResult ask(struct act *act, uint64_t number)
{
    struct act_answer answer;
    PASS(field_ask(&act->field, (uint32_t)number + act->show->seed * 9973));
    double begin = sample_seconds();
    TRY(bfQueueExecute(act->task, 1, &act->field.ask_commands));
    TRY(bfQueueSignal(act->task, act->answered, number));
    PASS(sample_fence_await(act->answered, number));
    answer.milliseconds = (float)((sample_seconds() - begin) * 1e3);
    field_answer(&act->field, answer.place);
    pthread_mutex_lock(&act->lock);
    answer.frame = act->frame;
    act->answers[act->answer_count++ % ACT_ANSWERS] = answer;
    pthread_mutex_unlock(&act->lock);
    return VK_SUCCESS;
}

static void sleep_until(double seconds)
{
    const struct timespec at = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void *asker_run(void *data)
{
    struct act *act = data;
    VkResult result = VK_SUCCESS;
    for (uint64_t number = 1; goes_on(act, result); ++number) {
        result = ask(act, number);
        sleep_until(sample_seconds() + 0.008 + 0.001 * (double)(number * 7 % 17));
    }
    return NULL;
}

/* --- frames --- */

/* Locked: the sparks of the last answers. */
static uint32_t sparks_write(struct act *act)
{
    struct field_spark *sparks = act->field.sparks.mapped;
    uint32_t count = 0;
    for (uint64_t i = act->answer_count; i && act->answer_count - i < ACT_ANSWERS; --i) {
        const struct act_answer *a = &act->answers[(i - 1) % ACT_ANSWERS];
        if (count < FIELD_SPARKS && act->frame - a->frame < SPARK_FRAMES)
            sparks[count++] = (struct field_spark){
                .place = {a->place[0], a->place[1]},
                .age = (float)(act->frame - a->frame) / SPARK_FRAMES,
                .size = 0.085f,
            };
    }
    return count;
}

/* Locked: the longest of the answers that came behind the first `seen`. */
static float longest_answer(const struct act *act, uint64_t seen)
{
    float longest = -1.0f;
    for (uint64_t i = act->answer_count; i > seen && act->answer_count - i < ACT_ANSWERS; --i) {
        const struct act_answer *a = &act->answers[(i - 1) % ACT_ANSWERS];
        longest = a->milliseconds > longest ? a->milliseconds : longest;
    }
    return longest;
}

/* VK_NOT_READY: the user has closed the window. */
static VkResult frame_run(struct act *act, struct curves_sample *sample)
{
    struct sample_show *show = act->show;
    struct sample_target target;
    const double begin = sample_seconds();
    const uint64_t packets = bfGetFenceCompletedValue(act->executed);

    VkResult result = sample_show_begin(show, &target);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&act->lock);
    const uint64_t seen = act->answer_count, frame = ++act->frame;
    const uint64_t step = act->in_step ? act->submitted : bfGetFenceCompletedValue(act->copied);
    act->claimed[step % FIELD_COPIES] = frame;
    uint32_t sparks = sparks_write(act);
    pthread_mutex_unlock(&act->lock);

    PASS(field_draw(&act->field, show, frame, &target, (uint32_t)(step % FIELD_COPIES),
                    step * FIELD_PACKETS, sparks, act->plain || act->in_step ? NULL : act->curves));
    TRY(bfQueueWait(show->direct, act->copied, step));
    TRY(bfQueueExecute(show->direct, 1, &act->field.frame));
    TRY(bfQueueSignal(show->direct, act->drawn, frame));
    PASS(sample_show_end(show, &target));
    PASS(sample_fence_await(act->drawn, frame));
    const double end = sample_seconds();
    sample->values[CURVES_FRAME] = (float)((end - begin) * 1e3);
    if (!act->in_step)
        sleep_until(begin + FRAME_SECONDS);
    pthread_mutex_lock(&act->lock);
    sample->values[CURVES_ANSWER] = longest_answer(act, seen);
    result = act->result;
    pthread_mutex_unlock(&act->lock);
    sample->values[CURVES_BACKGROUND] =
        (float)((double)(bfGetFenceCompletedValue(act->executed) - packets) * act->field.steps *
                FIELD_WALKERS / (sample_seconds() - begin) * 1e-6);
    return result;
}

/* Where times play no part, a frame asks once and shows a step of its own. */
static VkResult step_run(struct act *act)
{
    PASS(ask(act, act->frame + 1));
    return background_submit(act);
}

VkResult act_run(struct act *act, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; ++i) {
        struct curves_sample sample = {.on = act->preempts};
        if (!sample_show_goes_on(act->show))
            return VK_NOT_READY;
        if (act->in_step)
            PASS(step_run(act));
        VkResult result = frame_run(act, &sample);
        if (result != VK_SUCCESS)
            return result;
        curves_add(act->curves, sample);
    }
    return VK_SUCCESS;
}

/* --- objects --- */

static VkResult queue_create(const struct act *act, BfCommandQueuePriority priority,
                             BfCommandQueue *queue)
{
    TRY(bfCreateCommandQueue(
        act->show->belfry,
        &(BfCommandQueueCreateInfo){.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                    .type = BF_COMMAND_LIST_TYPE_COMPUTE,
                                    .priority = priority},
        queue));
    return VK_SUCCESS;
}

/* How many steps take as long as a packet should. */
static VkResult calibrate(struct act *act)
{
    double least = 1;
    for (uint32_t i = 0; i < 8; ++i) {
        double begin = sample_seconds();
        TRY(bfQueueExecute(act->background, 1, &act->field.packet));
        TRY(bfQueueWaitIdle(act->background));
        double took = sample_seconds() - begin;
        least = took < least ? took : least;
    }
    double steps = IN_STEP * PACKET_SECONDS / least;
    return field_steps(&act->field, steps < 1            ? 1
                                    : steps > STEPS_MOST ? STEPS_MOST
                                                         : (uint32_t)steps);
}

VkResult act_open(struct act *act)
{
    PASS(queue_create(act, BF_COMMAND_QUEUE_PRIORITY_NORMAL, &act->background));
    PASS(queue_create(act, BF_COMMAND_QUEUE_PRIORITY_HIGH, &act->task));
    PASS(sample_fence_create(act->show, &act->copied));
    PASS(sample_fence_create(act->show, &act->executed));
    PASS(sample_fence_create(act->show, &act->drawn));
    PASS(sample_fence_create(act->show, &act->answered));
    PASS(field_create(&act->field, act->show, bfGetCommandQueueFamilyIndex(act->background),
                      IN_STEP));
    if (act->in_step)
        return VK_SUCCESS;
    PASS(calibrate(act));
    act->feeds = !pthread_create(&act->feeder, NULL, feeder_run, act);
    act->asks = !pthread_create(&act->asker, NULL, asker_run, act);
    return sample_check(act->feeds && act->asks ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY,
                        "pthread_create");
}

static void threads_end(struct act *act)
{
    pthread_mutex_lock(&act->lock);
    act->ends = true;
    pthread_mutex_unlock(&act->lock);
    if (act->feeds)
        pthread_join(act->feeder, NULL);
    if (act->asks)
        pthread_join(act->asker, NULL);
    act->feeds = act->asks = false;
}

VkResult act_end(struct act *act)
{
    threads_end(act);
    PASS(act->result);
    return sample_show_idle(act->show);
}

void act_close(struct act *act)
{
    threads_end(act);
    bfDestroyFence(act->drawn); /* the background waits for no frame that won't come */
    if (act->background)
        (void)bfQueueWaitIdle(act->background);
    if (act->task)
        (void)bfQueueWaitIdle(act->task);
    (void)sample_show_idle(act->show);
    field_destroy(&act->field, &act->show->device);
    bfDestroyFence(act->answered);
    bfDestroyFence(act->executed);
    bfDestroyFence(act->copied);
    bfDestroyCommandQueue(act->task);
    bfDestroyCommandQueue(act->background);
}
