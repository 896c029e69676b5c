/* SPDX-License-Identifier: MIT */
/*
 * The over-general post-process: its switches, how long it takes, and the picture that it makes.
 */
#ifndef TRAINING_POST_H
#define TRAINING_POST_H

#include "descriptors.h"
#include "show.h"

#define POST_VERSIONS 2 /* frames whose look and times are there at once */

struct post {
    struct sample_buffer looks[POST_VERSIONS]; /* written by the CPU */
    struct sample_buffer picture;              /* encoded, eight bits a channel */
    struct sample_sets sets;
    VkDescriptorSet set[POST_VERSIONS];
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkSampler sampler;
    VkExtent2D extent;

    VkQueryPool times; /* VK_NULL_HANDLE: the queue has no timestamps */
    double tick;       /* milliseconds */
    uint64_t stamp_mask;
};

/* `post` must be zeroed; `family` is the queue's that it is submitted to. */
VkResult post_create(struct post *post, const struct sample_device *device, uint32_t family);
/* `light` is in the layout GENERAL. */
VkResult post_resize(struct post *post, const struct sample_device *device, VkImageView light,
                     VkExtent2D extent);
void post_destroy(struct post *post, const struct sample_device *device);

/* Records it for frame `frame`. What the frame POST_VERSIONS before has read must be over. */
void post_record(struct post *post, const struct sample_device *device, VkCommandBuffer commands,
                 uint64_t frame);

/* How long it took the GPU, in milliseconds, once the frame is done; negative: unknown. */
double post_milliseconds(const struct post *post, const struct sample_device *device,
                         uint64_t frame);

#endif
