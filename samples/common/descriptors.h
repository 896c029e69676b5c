/* SPDX-License-Identifier: MIT */
/*
 * Descriptor sets that are written once and never changed.
 */
#ifndef SAMPLE_DESCRIPTORS_H
#define SAMPLE_DESCRIPTORS_H

#include "device.h"

#define SAMPLE_SLOTS_MOST 8

/* One descriptor and its contents. Its binding number is its index in the set. */
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

/* Creates the layout. Only types and stages of the slots are read, so pipelines can be created
 * before the resources. */
VkResult sample_sets_layout(const struct sample_device *device, const struct sample_slot *slots,
                            uint32_t slot_count, struct sample_sets *sets);

/* Fills `set_count` sets of `slot_count` slots each; `slots` has the first set's slots, then the
 * second's, and so on. The layout is made of the types and stages of the first set's slots, unless
 * there is one already: after sample_sets_empty, sets whose resources depend on a size are filled
 * again. */
VkResult sample_sets_fill(const struct sample_device *device, const struct sample_slot *slots,
                          uint32_t slot_count, uint32_t set_count, struct sample_sets *sets,
                          VkDescriptorSet *handles);

/* Frees the sets and keeps the layout. */
void sample_sets_empty(const struct sample_device *device, struct sample_sets *sets);
void sample_sets_destroy(const struct sample_device *device, struct sample_sets *sets);

/* Linear, clamped or repeated. */
VkResult sample_sampler_create(const struct sample_device *device, VkSamplerAddressMode address,
                               VkSampler *sampler);

#endif
