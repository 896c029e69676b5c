/* SPDX-License-Identifier: MIT */
/*
 * A pipeline's interface: what a check has to know of a pipeline to make test resources for it.
 * Plain data, filled in by whoever knows the pipeline, and borrowed for the length of a check.
 */
#ifndef BELFRY_SPECIALIZE_PIPELINE_INTERFACE_H
#define BELFRY_SPECIALIZE_PIPELINE_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "specialize/check/texel.h"
#include "specialize/pipeline/format_classes.h"

/* One binding of a set layout, what the shaders do with it, and what was bound there last. */
struct bf_check_binding {
    uint32_t binding;
    VkDescriptorType type; /* the layout's */
    uint32_t count;        /* the layout's; of an inline uniform block: bytes */
    VkDescriptorBindingFlags flags;
    bool immutable_samplers;

    bool used;    /* statically, by some stage: what isn't is left alone */
    bool written; /* unsure is true */
    /* Images and texel buffers. */
    VkImageViewType view;
    VkFormat format;               /* last seen; VK_FORMAT_UNDEFINED: one that suits 'number' */
    VkComponentMapping components; /* of the view last seen; zeroes: the identity */
    VkSampleCountFlagBits samples; /* 0 is 1 */
    enum bf_texel_kind number;     /* of the type sampled: BF_TEXEL_SFLOAT, _UINT or _SINT */
    bool depth;                    /* compared with a reference */
    /* enum bf_format_class: what others may come, or have been; 0: none, the format is declared, or
     * what is read are results of comparisons. */
    uint32_t classes;
    uint32_t input_index; /* of an input attachment: the first one's in the subpass' list */
    const VkSamplerCreateInfo *sampler; /* last seen, its pNext ignored; NULL: linear, repeated */
    const VkSampler *immutable; /* 'count' of them, of who runs the check; NULL: there are none */
    /* Buffers. */
    VkDeviceSize size;                 /* last seen, of the range; 0: unknown */
    uint32_t block_size, array_stride; /* of the shader's type: fixed part; 0: no open array */
    const uint8_t *kinds;              /* enum bf_unit, from the first word on (block.h) */
    uint32_t kind_count;               /* 0: unknown */
    uint32_t period;                   /* the last so many are repeated; 0: none */
};

struct bf_check_set {
    VkDescriptorSetLayout handle; /* VK_NULL_HANDLE: none here */
    VkDescriptorSetLayoutCreateFlags flags;
    uint32_t binding_count;
    const struct bf_check_binding *bindings;
};

struct bf_check_layout {
    VkPipelineLayout handle;
    uint32_t set_count;
    const struct bf_check_set *sets;
    uint32_t range_count;
    const VkPushConstantRange *ranges;
};

struct bf_pipeline_interface {
    const struct bf_check_layout *layout;
    uint32_t workgroup[3]; /* compute; 0: unknown */
    bool loops;            /* some shader has loops; unsure is true */
    bool fragile;          /* some shader may crash by a strange index (block.h); unsure is true */
    bool addresses;        /* some shader goes through addresses of buffers */

    /* Of which bindings the classes are no more than what was written. Not part of a request. */
    struct bf_format_bindings formats;

    uint32_t extent[2]; /* graphics: of what was rendered to last; 0: not known */

    /* Graphics; NULL: a compute pipeline. Stages, cache, flags and layout aren't looked at; a
     * chained VkPipelineRenderingCreateInfo is, where 'pass' is NULL. */
    const VkGraphicsPipelineCreateInfo *graphics;
    /* The render pass that it was made for: the check makes a compatible one. Layouts aren't looked
     * at; chained to subpasses may be a resolve of depth, to dependencies a memory barrier. */
    const VkRenderPassCreateInfo2 *pass;
};

#endif
