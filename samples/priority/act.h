/* SPDX-License-Identifier: MIT */
/*
 * One device's time: work of the background fills the GPU, a renderer draws a frame every 30 ms,
 * and a thread asks for something small, now and then, that it needs at once.
 *
 * Each has a queue, the background's of a lower priority. Where the GPU has one VkQueue for all of
 * them, each would wait for what the others have submitted before; unless Belfry preempts, and
 * hands over so little of the background's at a time that the others hardly wait.
 */
#ifndef PRIORITY_ACT_H
#define PRIORITY_ACT_H

#include <pthread.h>

#include "curves.h"
#include "field.h"
#include "show.h"

#define ACT_ANSWERS 64u /* that are kept; a power of two */

struct act_answer {
    float place[2];
    float milliseconds;
    uint64_t frame; /* that was drawn last when it came */
};

struct act {
    /* The caller's. */
    struct sample_show *show; /* open */
    struct curves *curves;    /* which each frame is added to */
    bool preempts;            /* so the device was opened */
    bool in_step;             /* an answer and a step of the background for each frame */
    bool plain;               /* without the curves */

    struct field field;
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
    struct act_answer answers[ACT_ANSWERS];
    uint64_t answer_count;
};

/* Creates queues, fences and threads; what isn't the caller's is zeroed before. Errors have been
 * reported. act_close must be called in any case. */
VkResult act_open(struct act *act);

/* Draws so many frames. VK_NOT_READY: the user has closed the window. */
VkResult act_run(struct act *act, uint32_t frames);

/* Ends the threads, and waits for what they and the frames have submitted. Errors: what the threads
 * met, too. */
VkResult act_end(struct act *act);

void act_close(struct act *act);

#endif
