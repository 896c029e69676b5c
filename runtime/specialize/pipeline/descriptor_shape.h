/* SPDX-License-Identifier: MIT */
/*
 * Descriptor shapes: for each binding of a set layout, the format, kind or size of what the program
 * wrote to it last, so that a check can create resources of the same shape (CK-2). No object of the
 * program's is referred to.
 *
 *  SE-1  A shape is written whole or not at all: it may belong to another write than the shapes of
 *        neighbouring bindings, but it is the shape of something that was written.
 *  SE-2  When out of memory a shape is not noted.
 *  SE-3  Of every image and texel buffer that is written the class of its format is noted (FC-1),
 *        not of the last alone.
 *
 * Thread-safety: safe, as far as Vulkan's own rules for the objects go.
 *
 * Proven by tests/specialize/pipeline/retained.c.
 */
#ifndef BELFRY_SPECIALIZE_DESCRIPTOR_SHAPE_H
#define BELFRY_SPECIALIZE_DESCRIPTOR_SHAPE_H

#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/map.h"
#include "specialize/pipeline/format_classes.h"
#include "specialize/pipeline/retained.h"

struct bf_pipelines;

#define BF_SHAPES 1024 /* distinct shapes of each kind, at most; of more the shape is unknown */

struct bf_descriptor_shapes {
    struct bf_map views;        /* → interned struct bf_view_shape */
    struct bf_map buffer_views; /* → its format, as a pointer */
    struct bf_map pools;        /* of descriptor sets → struct in descriptor_shape.c */
    struct bf_map sets;
    struct bf_map templates;
    struct bf_format_classes classes;
    uint32_t view_count, sampler_count; /* the pipelines' lock, for these and for the lists */
    const struct bf_view_shape *view_shapes;
    const struct bf_sampler_shape *sampler_shapes;
};

/* NULL: out of memory, or there are too many shapes. */
const struct bf_sampler_shape *bf_descriptor_shapes_sampler(struct bf_pipelines *pipelines,
                                                            const VkSamplerCreateInfo *info);

void bf_descriptor_shapes_view_made(struct bf_pipelines *pipelines, VkImageView view,
                                    const VkImageViewCreateInfo *info);
void bf_descriptor_shapes_view_gone(struct bf_pipelines *pipelines, VkImageView view);
void bf_descriptor_shapes_buffer_view_made(struct bf_pipelines *pipelines, VkBufferView view,
                                           const VkBufferViewCreateInfo *info);
void bf_descriptor_shapes_buffer_view_gone(struct bf_pipelines *pipelines, VkBufferView view);

void bf_descriptor_shapes_sets_made(struct bf_pipelines *pipelines,
                                    const VkDescriptorSetAllocateInfo *info,
                                    const VkDescriptorSet *sets);
void bf_descriptor_shapes_sets_gone(struct bf_pipelines *pipelines, uint32_t count,
                                    const VkDescriptorSet *sets);
/* The pool is reset or about to be destroyed. */
void bf_descriptor_shapes_pool_emptied(struct bf_pipelines *pipelines, VkDescriptorPool pool);
void bf_descriptor_shapes_pool_gone(struct bf_pipelines *pipelines, VkDescriptorPool pool);

void bf_descriptor_shapes_template_made(struct bf_pipelines *pipelines,
                                        VkDescriptorUpdateTemplate handle,
                                        const VkDescriptorUpdateTemplateCreateInfo *info);
void bf_descriptor_shapes_template_gone(struct bf_pipelines *pipelines,
                                        VkDescriptorUpdateTemplate handle);

void bf_descriptor_shapes_update(struct bf_pipelines *pipelines, uint32_t write_count,
                                 const VkWriteDescriptorSet *writes, uint32_t copy_count,
                                 const VkCopyDescriptorSet *copies);
void bf_descriptor_shapes_update_template(struct bf_pipelines *pipelines, VkDescriptorSet set,
                                          VkDescriptorUpdateTemplate handle, const void *data);
void bf_descriptor_shapes_push(struct bf_pipelines *pipelines, VkPipelineLayout layout,
                               uint32_t set, uint32_t write_count,
                               const VkWriteDescriptorSet *writes);
void bf_descriptor_shapes_push_template(struct bf_pipelines *pipelines,
                                        VkDescriptorUpdateTemplate handle, VkPipelineLayout layout,
                                        uint32_t set, const void *data);

/* After bf_retained_objects_finish. */
void bf_descriptor_shapes_finish(struct bf_pipelines *pipelines);

#endif
