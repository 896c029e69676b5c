/* SPDX-License-Identifier: MIT */
/*
 * Descriptor sets whose contents never change, made in one go.
 */
#ifndef SAMPLE_DESCRIPTORS_H
#define SAMPLE_DESCRIPTORS_H

#include "device.h"

#define SAMPLE_SLOTS_MOST 8

/* One binding and what is in it. Its number is its place in the set. */
struct sample_slot {
    VkDescriptorType type;
    VkShaderStageFlags stages;
    VkBuffer buffer; /* all of it */
    VkImageView view;
    VkSampler sampler;
    VkImageLayout layout;
};

struct sample_sets {
    VkDescriptorSetLayout layout;
    VkDescriptorPool pool;
};

/* The layout alone, of which types and stages are all that is looked at: pipelines can be made
 * before there is anything to bind. */
VkResult sample_sets_layout(const struct sample_device *device, const struct sample_slot *slots,
                            uint32_t slot_count, struct sample_sets *sets);

/* `set_count` sets of `slot_count` slots each: `slots` has all those of the first set, then all of
 * the second. Types and stages are those of the first. A layout that is there is kept: what depends
 * on a size is filled anew after sample_sets_empty. */
VkResult sample_sets_fill(const struct sample_device *device, const struct sample_slot *slots,
                          uint32_t slot_count, uint32_t set_count, struct sample_sets *sets,
                          VkDescriptorSet *handles);

/* The sets go, the layout stays. */
void sample_sets_empty(const struct sample_device *device, struct sample_sets *sets);
void sample_sets_destroy(const struct sample_device *device, struct sample_sets *sets);

/* Linear, clamped or repeated. */
VkResult sample_sampler_create(const struct sample_device *device, VkSamplerAddressMode address,
                               VkSampler *sampler);

#endif
