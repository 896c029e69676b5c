/* SPDX-License-Identifier: MIT */
/*
 * Frames of the scene, post-processed and timed, with the curve of the times drawn into them.
 */
#ifndef TRAINING_FRAMES_H
#define TRAINING_FRAMES_H

#include "curve.h"
#include "post.h"
#include "scene.h"
#include "show.h"

#define FRAMES_AHEAD  2 /* frames under way at once */
#define FRAMES_WARMUP 3 /* of the first frames the times don't count: drivers compile */

struct frames {
    struct sample_show *show;
    bool plain; /* no curve */
    struct scene scene;
    struct post post;
    struct curve curve;

    struct sample_buffer panels[FRAMES_AHEAD]; /* written by the CPU */
    VkExtent2D extent, panel;
    struct sample_sets sets;
    VkDescriptorSet set[FRAMES_AHEAD];
    VkPipelineLayout layout;
    VkPipeline pipeline;

    BfFence done; /* frame N is N */
    VkCommandPool pool;
    VkCommandBuffer commands[FRAMES_AHEAD];
    uint64_t drawn, timed;
    double seen; /* when the last one that is timed was seen done, in seconds */
    double began[FRAMES_AHEAD];
    enum curve_phase phases[FRAMES_AHEAD];
};

/* `frames` must be zeroed but for `show`, `plain` and the curve's `expected`. */
VkResult frames_create(struct frames *frames);
void frames_destroy(struct frames *frames);

/* Draws the next frame. VK_NOT_READY when the window is closed meanwhile. */
VkResult frames_draw(struct frames *frames, enum curve_phase phase);

/* Waits until all that was drawn is done, and timed. */
VkResult frames_drain(struct frames *frames);

#endif
