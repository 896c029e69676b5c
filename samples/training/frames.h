/* SPDX-License-Identifier: MIT */
/*
 * Frames of the scene, post-processed and timed, with a curve of their durations.
 */
#ifndef TRAINING_FRAMES_H
#define TRAINING_FRAMES_H

#include "curve.h"
#include "post.h"
#include "scene.h"
#include "show.h"

#define FRAMES_AHEAD  2 /* the number of frames in flight */
#define FRAMES_WARMUP 3 /* first frames that don't count, since drivers compile shaders in them */

struct frames {
    struct sample_show *show;
    bool plain; /* draws no curve */
    struct scene scene;
    struct post post;
    struct curve curve;

    struct sample_buffer panels[FRAMES_AHEAD]; /* the curve's pictures, written by the CPU */
    VkExtent2D extent, panel;
    struct sample_sets sets;
    VkDescriptorSet set[FRAMES_AHEAD];
    VkPipelineLayout layout;
    VkPipeline pipeline;

    BfFence done; /* frame N is done at value N */
    VkCommandPool pool;
    VkCommandBuffer commands[FRAMES_AHEAD];
    uint64_t drawn, timed;
    double seen; /* when the last frame that is timed was done, in seconds */
    double began[FRAMES_AHEAD];
    enum curve_phase phases[FRAMES_AHEAD];
};

/* `frames` must be zeroed, except for `show`, `plain` and the curve's `expected`. */
VkResult frames_create(struct frames *frames);
void frames_destroy(struct frames *frames);

/* Draws the next frame. VK_NOT_READY: the user has closed the window. */
VkResult frames_draw(struct frames *frames, enum curve_phase phase);

/* Waits until all frames are done, and times them. */
VkResult frames_drain(struct frames *frames);

#endif
