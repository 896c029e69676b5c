/* SPDX-License-Identifier: MIT */
/*
 * The post-process, which can do more than the scene needs: its switches, its duration, and its
 * result.
 */
#ifndef TRAINING_POST_H
#define TRAINING_POST_H

#include "descriptors.h"
#include "show.h"

#define POST_VERSIONS 2 /* frames whose parameters and timestamps exist at once */

struct post {
    struct sample_buffer looks[POST_VERSIONS]; /* parameters, written by the CPU */
    struct sample_buffer picture;              /* encoded in sRGB, eight bits a channel */
    struct sample_sets sets;
    VkDescriptorSet set[POST_VERSIONS];
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkSampler sampler;
    VkExtent2D extent;

    VkQueryPool times; /* VK_NULL_HANDLE: the queue has no timestamps */
    double tick;       /* the timestamps' unit, in milliseconds */
    uint64_t stamp_mask;
};

/* `post` must be zeroed; `family` is that of the queue on which it runs. */
VkResult post_create(struct post *post, const struct sample_device *device, uint32_t family);
/* `light` must be in the layout GENERAL. */
VkResult post_resize(struct post *post, const struct sample_device *device, VkImageView light,
                     VkExtent2D extent);
void post_destroy(struct post *post, const struct sample_device *device);

/* Records frame `frame`. The frame POST_VERSIONS before must be done. */
void post_record(struct post *post, const struct sample_device *device, VkCommandBuffer commands,
                 uint64_t frame);

/* The GPU's time for a frame that is done, in milliseconds; negative: unknown. */
double post_milliseconds(const struct post *post, const struct sample_device *device,
                         uint64_t frame);

#endif
