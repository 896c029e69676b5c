/* SPDX-License-Identifier: MIT */
/* A driver whose objects are support/fake_entries.h's, and which writes down what pipelines were
 * created from. One at a time; its functions are safe to call from any thread. */
#ifndef SPECIALIZE_FAKE_H
#define SPECIALIZE_FAKE_H

#include "support/test.h"

#include <volk.h>

#include "specialize/pipeline/pipeline.h"
#include "support/fake_entries.h"
#include "support/infos.h"

#define FAKE_DUMP 16384

struct fake {
    struct VolkDeviceTable vk;
    struct bf_pipelines pipelines;
    VkDeviceSize buffer_size; /* of each buffer */
    bool quiet;               /* nothing is written down: for several threads */
    bool depth, color; /* the next pipeline has such attachments: the driver looks at the state */
    char dump[FAKE_DUMP]; /* what the last pipeline was created from, in words */
};

extern struct fake fake;

/* A fresh driver, and pipelines on top. */
void fake_open(void);
/* The same, with a layout of one set and so many bytes of push constants. */
VkPipelineLayout fake_open_layout(uint32_t push_bytes);
/* The program destroys what it still has of what it made by the functions below. Fails the test if
 * anything is left alive then. */
void fake_close(void);

/* An allocator of the program's, which is never called. */
extern const VkAllocationCallbacks fake_allocator;

/* As the layer does it. */
VkShaderModule fake_module(const uint32_t *words, size_t bytes);
void fake_destroy_module(VkShaderModule module);
VkSampler fake_sampler(float bias, const VkAllocationCallbacks *allocator);
VkDescriptorSetLayout fake_set_layout(VkSampler immutable, const VkAllocationCallbacks *allocator);
VkPipelineLayout fake_layout(VkDescriptorSetLayout sets, uint32_t push_bytes,
                             const VkAllocationCallbacks *allocator);
VkPipelineLayout fake_layout_of(VkPipelineLayoutCreateFlags flags, uint32_t count,
                                const VkDescriptorSetLayout *sets, uint32_t push_bytes,
                                const VkAllocationCallbacks *allocator);
/* A colour attachment, used or not, and one for depth if so. */
VkRenderPass fake_render_pass(bool color, bool depth, const VkAllocationCallbacks *allocator);
VkPipeline fake_compute(const VkComputePipelineCreateInfo *info);
VkPipeline fake_graphics(const VkGraphicsPipelineCreateInfo *info);
/* A library, or what is linked from some: the driver looks at nothing of it. */
VkPipeline fake_linked(const VkGraphicsPipelineCreateInfo *info);
void fake_destroy_pipeline(VkPipeline pipeline);
void fake_destroy(VkObjectType type, uint64_t handle, const VkAllocationCallbacks *allocator);
#define DONE(type_, handle_) fake_destroy(VK_OBJECT_TYPE_##type_, (uint64_t)(handle_), NULL)

/* Of a pipeline's record; "unknown" where there is none. */
const char *fake_reason(VkPipeline pipeline);

#endif
