/* SPDX-License-Identifier: MIT */
/*
 * The compute half: waves on a pool. The simulation's state is used by the compute queue alone;
 * graphics reads copies of it, the published versions.
 */
#ifndef ASYNC_WATER_H
#define ASYNC_WATER_H

#include "descriptors.h"
#include "memory.h"

#define WATER_SIDE 512u /* cells */

struct water {
    uint32_t versions, seed;
    struct sample_buffer state;
    struct sample_buffer published; /* all versions, WATER_SIDE squared vectors each */
    struct sample_sets sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline ripple, publish;
};

/* `water` must be zeroed. */
VkResult water_create(struct water *water, const struct sample_device *device, uint32_t versions,
                      uint32_t seed);
void water_destroy(struct water *water, const struct sample_device *device);

/* Records the computation of frame `frame` (from 1), which continues the one before, and its
 * publication. */
void water_record(const struct water *water, const struct sample_device *device,
                  VkCommandBuffer commands, uint64_t frame, uint32_t version);

#endif
