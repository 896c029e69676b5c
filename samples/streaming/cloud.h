/* SPDX-License-Identifier: MIT */
/*
 * What is drawn: bytes as points of light in a cube, added up over the chunks that have come.
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
    bool empty; /* the light holds nothing */
};

/* A chunk in the ring, and where it belongs. */
struct cloud_chunk {
    uint32_t first, count; /* bytes of the ring; two more follow them */
    uint64_t offset, size; /* of the chunk in the file, and of the file */
    uint32_t number;       /* another for each */
    float turn;            /* of the camera, in radians */
};

/* `cloud` must be zeroed. */
VkResult cloud_create(struct cloud *cloud, const struct sample_device *device, VkBuffer ring,
                      VkFormat target);

/* To another size; the light is empty then. */
VkResult cloud_resize(struct cloud *cloud, const struct sample_device *device, VkExtent2D extent);
void cloud_destroy(struct cloud *cloud, const struct sample_device *device);

/* Adds the chunk's light. */
void cloud_add(struct cloud *cloud, const struct sample_device *device, VkCommandBuffer commands,
               const struct cloud_chunk *chunk);

/* Draws what has come so far. */
void cloud_develop(struct cloud *cloud, const struct sample_device *device,
                   VkCommandBuffer commands, const struct sample_target *target);

#endif
