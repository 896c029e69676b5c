/* SPDX-License-Identifier: MIT */
/*
 * Priorities: background work, a renderer and an urgent task (act.h), on a device for which
 * Belfry's setting preemption is off, and then on one for which it is as the user has it, on by
 * default. In a window the two take turns.
 *
 * The curves in the picture show how long a frame takes, how long an answer, and how much of the
 * background's work gets done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act.h"

#define SETTING "VK_BELFRY_MULTI_ENGINE_PREEMPTION"
#define TURN    200u /* frames until it changes, if no limit was given */

struct priority {
    struct sample_show show;
    bool in_step, plain; /* --in-step, --no-curves */
    const char *asked;   /* the user's SETTING, or NULL */
    struct curves curves;
    uint64_t frames, answers; /* of all acts */
};

static bool preemption_set(const struct priority *p, bool on)
{
    return !(!on        ? setenv(SETTING, "false", 1)
             : p->asked ? setenv(SETTING, p->asked, 1)
                        : unsetenv(SETTING));
}

static int medians_tell(const struct priority *p)
{
    static const char *const names[CURVES_LINES] = {"frame", "answer", "background"};
    const bool both = !p->in_step &&
                      curves_quantile(&p->curves, CURVES_FRAME, false, 0.5f) >= 0.0f &&
                      curves_quantile(&p->curves, CURVES_FRAME, true, 0.5f) >= 0.0f;
    for (enum curves_line i = 0; i < CURVES_LINES && both; ++i) {
        const float off = curves_quantile(&p->curves, i, false, 0.5f);
        const float on = curves_quantile(&p->curves, i, true, 0.5f);
        if (printf("%s%s: %.2f without preemption, %.2f with", i ? "; " : "Medians: ", names[i],
                   (double)off, (double)on) < 0)
            return SAMPLE_EXIT_FAILED;
    }
    if (both && puts(" (ms, ms, million steps a second).") < 0)
        return SAMPLE_EXIT_FAILED;
    return sample_show_tell(&p->show, "%llu frames of %ux%u drawn, %llu answers.",
                            (unsigned long long)p->frames, p->show.extent.width,
                            p->show.extent.height, (unsigned long long)p->answers);
}

/* Draws so many frames on the open device, and when it was the last of them says what was seen. */
static int act_play(struct priority *p, struct act *act, uint32_t frames, bool last)
{
    VkResult result = act_open(act);
    if (result == VK_SUCCESS)
        result = act_run(act, frames);
    p->frames += act->frame;
    if (result < 0 || act_end(act) < 0)
        return SAMPLE_EXIT_FAILED;
    p->answers += act->answer_count;
    if (!last && result == VK_SUCCESS)
        return SAMPLE_OPTIONS_GO_ON;
    int exit_code = sample_show_save(&p->show);
    return exit_code == SAMPLE_EXIT_DONE ? medians_tell(p) : exit_code;
}

static int priority_run(struct priority *p)
{
    const uint32_t all = p->show.frames;
    int exit_code = SAMPLE_OPTIONS_GO_ON;
    p->curves.expected = all;
    for (uint32_t i = all == 1; exit_code == SAMPLE_OPTIONS_GO_ON; ++i) {
        const bool on = i % 2 == 1;
        struct act act = {
            .show = &p->show,
            .curves = &p->curves,
            .preempts = on,
            .in_step = p->in_step,
            .plain = p->plain,
            .lock = PTHREAD_MUTEX_INITIALIZER,
        };
        if (!preemption_set(p, on))
            return SAMPLE_EXIT_FAILED;
        exit_code = sample_show_open(&p->show);
        if (exit_code == SAMPLE_OPTIONS_GO_ON) {
            exit_code = act_play(p, &act, !all ? TURN : on ? all - all / 2 : all / 2, all && on);
            act_close(&act);
        }
        sample_show_close_device(&p->show);
    }
    return exit_code;
}

int main(int argc, char **argv)
{
    static struct priority p = {
        .show = {.size = {FIELD_WIDTH, FIELD_HEIGHT},
                 .seed = 0,
                 .frames = 160,
                 .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH},
    };
    const struct sample_option extra[] = {
        {"--no-curves", NULL, "don't show the curves", SAMPLE_OPTION_FLAG, &p.plain, 0, 0},
        {"--in-step", NULL,
         "one answer and one step of the background for each frame: the same picture each time",
         SAMPLE_OPTION_FLAG, &p.in_step, 0, 0},
    };
    const char *asked = getenv(SETTING);
    char *kept = asked ? strdup(asked) : NULL;

    int exit_code = sample_show_arguments(&p.show, "priority",
                                          "Background work, a renderer and an urgent task, without "
                                          "preemption and with it.",
                                          extra, sizeof extra / sizeof *extra, argc, argv);
    p.asked = kept;
    if (exit_code == SAMPLE_OPTIONS_GO_ON)
        exit_code = asked && !kept ? SAMPLE_EXIT_FAILED : priority_run(&p);
    sample_show_close(&p.show);
    free(kept);
    return exit_code;
}
