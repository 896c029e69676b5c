/* SPDX-License-Identifier: MIT */
/*
 * The picture: bytes as points of light in a cube, added up over all chunks that have been copied.
 */
#ifndef STREAMING_CLOUD_H
#define STREAMING_CLOUD_H

#include "descriptors.h"
#include "show.h"

struct cloud {
    struct sample_sets ring_sets, screen_sets;
    VkDescriptorSet ring_set, screen_set;
    VkPipelineLayout ring_layout, screen_layout;
    VkPipeline points, edges, develop;
    VkSampler sampler;

    /* Everything below depends on the size. */
    VkExtent2D extent;
    struct sample_image light;
    VkImageView light_view;
    bool empty; /* nothing has been drawn to the light yet */
};

/* A chunk in the ring, and its position in the file. */
struct cloud_chunk {
    uint32_t first, count; /* in bytes of the ring; two more bytes follow */
    uint64_t offset, size; /* the chunk's offset in the file, and the file's size */
    uint32_t number;       /* different for each chunk */
    float turn;            /* the camera's, in radians */
};

/* `cloud` must be zeroed. */
VkResult cloud_create(struct cloud *cloud, const struct sample_device *device, VkBuffer ring,
                      VkFormat target);

/* Resizes the picture; its light is empty then. */
VkResult cloud_resize(struct cloud *cloud, const struct sample_device *device, VkExtent2D extent);
void cloud_destroy(struct cloud *cloud, const struct sample_device *device);

/* Adds the chunk's light. */
void cloud_add(struct cloud *cloud, const struct sample_device *device, VkCommandBuffer commands,
               const struct cloud_chunk *chunk);

/* Draws the light that has been added so far. */
void cloud_develop(struct cloud *cloud, const struct sample_device *device,
                   VkCommandBuffer commands, const struct sample_target *target);

#endif
