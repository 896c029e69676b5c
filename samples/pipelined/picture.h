/* SPDX-License-Identifier: MIT */
/*
 * The graphics half: draws one version of the particles as light, adds it to the light of earlier
 * frames, adds bloom, and converts the result to eight bits.
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
    uint32_t lingering; /* frames whose light is in the accumulated image */
    struct sample_image light;
    VkImageView light_view;
    struct sample_image bloom; /* one level per halving, the first at a quarter of the size */
    uint32_t bloom_levels;
    VkImageView bloom_views[PICTURE_BLOOM_LEVELS];
    VkDescriptorPool pool;
    /* The texture that each pass samples: the light in the first halving, a level of the bloom in
     * others. */
    VkDescriptorSet light_set, bloom_sets[PICTURE_BLOOM_LEVELS];
    VkDescriptorSet develop_set;
};

/* What a picture is drawn to. */
struct picture_target {
    VkImage image;
    VkImageView view;
    enum sample_use after; /* the use that it must be ready for at the end */
};

/* `target` is the format of the images drawn to. Reports errors. `picture` must be zeroed. */
VkResult picture_create(struct picture *picture, const struct sample_device *device,
                        const struct simulation *simulation, VkFormat target, uint32_t seed);
void picture_destroy(struct picture *picture, const struct sample_device *device);

/* Creates what depends on the size, or creates it again. The graphics queue must be idle. */
VkResult picture_resize(struct picture *picture, const struct sample_device *device,
                        VkExtent2D extent);

/* Records frame `frame` for the graphics queue. Frames must be recorded in order. */
void picture_record(struct picture *picture, const struct sample_device *device,
                    const struct simulation *simulation, VkCommandBuffer commands, uint64_t frame,
                    const struct picture_target *target);

#endif
