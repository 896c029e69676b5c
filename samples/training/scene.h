/* SPDX-License-Identifier: MIT */
/*
 * The input of the post-process: lanterns over a lake, as linear light, in an image with mip
 * levels.
 */
#ifndef TRAINING_SCENE_H
#define TRAINING_SCENE_H

#include "descriptors.h"
#include "pipeline.h"
#include "show.h"

#define SCENE_VERSIONS 2 /* frames whose lanterns exist at once */

struct scene {
    uint32_t seed;
    struct sample_buffer lanterns[SCENE_VERSIONS]; /* written by the CPU */
    struct sample_sets sets;
    VkDescriptorSet set[SCENE_VERSIONS];
    VkPipelineLayout layout;
    VkPipeline pipeline;

    struct sample_image light; /* as large as the picture; in the layout GENERAL between frames */
    VkImageView target, whole;
};

/* `scene` must be zeroed. */
VkResult scene_create(struct scene *scene, const struct sample_device *device, uint32_t seed);
VkResult scene_resize(struct scene *scene, const struct sample_device *device, VkExtent2D extent);
void scene_destroy(struct scene *scene, const struct sample_device *device);

/* Records frame `frame` into all levels. The frame SCENE_VERSIONS before must be done. */
void scene_record(struct scene *scene, const struct sample_device *device, VkCommandBuffer commands,
                  uint64_t frame);

/* The vertex shader of a triangle that covers the target. */
struct sample_spirv scene_screen(void);

#endif
