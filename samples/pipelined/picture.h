/* SPDX-License-Identifier: MIT */
/*
 * The graphics half: draws one version of the particles as light, lets earlier frames linger,
 * adds bloom and develops the result to eight bits.
 */
#ifndef PIPELINED_PICTURE_H
#define PIPELINED_PICTURE_H

#include "device.h"
#include "memory.h"
#include "simulation.h"

#define PICTURE_BLOOM_LEVELS 6

struct picture {
    uint32_t seed;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout points_layout, screen_layout;
    VkPipeline points, fade, bloom_down, bloom_up, develop;
    VkSampler sampler;

    /* Everything below depends on the size. */
    VkExtent2D extent;
    uint32_t lingering; /* frames whose light the accumulated image holds */
    struct sample_image light;
    VkImageView light_view;
    struct sample_image bloom; /* one level per halving, the first at a quarter of the size */
    uint32_t bloom_levels;
    VkImageView bloom_views[PICTURE_BLOOM_LEVELS];
    VkDescriptorPool pool;
    /* What a pass samples: the light for the first halving, else a level of the bloom. */
    VkDescriptorSet light_set, bloom_sets[PICTURE_BLOOM_LEVELS];
    VkDescriptorSet develop_set;
};

/* Where a picture goes. */
struct picture_target {
    VkImage image;
    VkImageView view;
    enum sample_use after; /* the use that the image is handed over in */
};

/* `target` is the format of the images drawn to. Complains on errors. `picture` must be zeroed. */
VkResult picture_create(struct picture *picture, const struct sample_device *device,
                        const struct simulation *simulation, VkFormat target, uint32_t seed);
void picture_destroy(struct picture *picture, const struct sample_device *device);

/* (Re)creates what depends on the size; the graphics queue is idle. */
VkResult picture_resize(struct picture *picture, const struct sample_device *device,
                        VkExtent2D extent);

/* Records the drawing of frame `frame` for the graphics queue. Frames are drawn in order. */
void picture_record(struct picture *picture, const struct sample_device *device,
                    const struct simulation *simulation, VkCommandBuffer commands, uint64_t frame,
                    const struct picture_target *target);

#endif
