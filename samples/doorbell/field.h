/* SPDX-License-Identifier: MIT */
/*
 * The picture: tiles that dispatches fill in, and the draw that shows them. Each thread has a
 * quarter of it, and for either of two frames in flight a command buffer for each of its
 * dispatches, recorded once.
 */
#ifndef DOORBELL_FIELD_H
#define DOORBELL_FIELD_H

#include "counters.h"
#include "descriptors.h"
#include "memory.h"
#include "show.h"

#define FIELD_WIDTH      1280u
#define FIELD_HEIGHT     720u
#define FIELD_THREADS    4u
#define FIELD_TILES      (FIELD_WIDTH * FIELD_HEIGHT / 16u / FIELD_THREADS) /* per thread */
#define FIELD_DISPATCHES 600u                             /* per thread and frame */
#define FIELD_TURN       (FIELD_TILES / FIELD_DISPATCHES) /* frames until all are filled in */
#define FIELD_AHEAD      2u                               /* frames in flight */

struct field {
    uint32_t seed;
    struct sample_buffer pixels, order, frames, dots;
    struct sample_sets tile_sets, draw_sets;
    VkDescriptorSet tile_set, draw_set;
    VkPipelineLayout tile_layout, draw_layout;
    VkPipeline tile, draw;
    VkCommandPool pools[FIELD_THREADS];
    VkCommandBuffer dispatches[FIELD_THREADS][FIELD_AHEAD * FIELD_DISPATCHES];
};

/* `field` must be zeroed. `family`: of the queues that take the dispatches. */
VkResult field_create(struct field *field, const struct sample_device *device, uint32_t family,
                      VkFormat target, uint32_t seed);
void field_destroy(struct field *field, const struct sample_device *device);

/* The CPU's part of a frame (from 1): nothing of frame - FIELD_AHEAD may be under way any more. */
void field_begin(struct field *field, uint64_t frame);
/* The same of its draw; NULL: no counters are shown. */
void field_count(struct field *field, uint64_t frame, const struct counters *counters);

/* Records the clearing of the field, once. */
void field_clear(const struct field *field, VkCommandBuffer commands);
void field_draw(const struct field *field, const struct sample_device *device,
                VkCommandBuffer commands, uint64_t frame, const struct sample_target *target,
                VkExtent2D extent, bool counted);

#endif
