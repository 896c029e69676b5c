/* SPDX-License-Identifier: MIT */
/*
 * The graphics half: draws the pool through one version of the waves, as seen by a moving camera.
 */
#ifndef ASYNC_VIEW_H
#define ASYNC_VIEW_H

#include "descriptors.h"
#include "show.h"
#include "water.h"

struct view {
    struct sample_sets sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* `view` must be zeroed. */
VkResult view_create(struct view *view, const struct sample_device *device,
                     const struct water *water, VkFormat target);
void view_destroy(struct view *view, const struct sample_device *device);

/* Records graphics frame `frame`. The camera depends on the frame, the waves only on the
 * version. */
void view_record(const struct view *view, const struct sample_device *device,
                 VkCommandBuffer commands, uint64_t frame, uint32_t version,
                 const struct sample_target *target, VkExtent2D extent);

#endif
