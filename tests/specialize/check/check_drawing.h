/* SPDX-License-Identifier: MIT */
/*
 * Graphics pipelines for the tests of the check: described once, and made in several forms.
 */
#ifndef BELFRY_TEST_SPECIALIZE_CHECK_DRAWING_H
#define BELFRY_TEST_SPECIALIZE_CHECK_DRAWING_H

#include "check_world.h"

/* A pipeline's create-info and all that it points to; dynamic rendering unless 'pass' is set. */
struct drawing {
    struct interface interface;
    VkPipelineShaderStageCreateInfo stages[2];
    VkPipelineVertexInputStateCreateInfo vertices;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkViewport viewport;
    VkRect2D scissor;
    VkPipelineViewportStateCreateInfo view;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blends[4];
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineDynamicStateCreateInfo dynamic;
    VkFormat formats[4];
    VkPipelineRenderingCreateInfo rendering;
    VkGraphicsPipelineCreateInfo info;
    VkRenderPassCreateInfo2 pass;
    VkRenderPass pass_handle;
    const uint32_t *words[2];
    size_t sizes[2];
};

/* What check_shade.frag reads. */
extern const struct bf_check_set drawing_shade_set;

/* A full-screen draw with check_cover.vert and check_shade.frag; fields may be changed before it is
 * made. */
/* Says so if the driver has no such depth buffers: X8_D24 is optional in Vulkan. */
bool drawing_has_depth(struct world *w, VkFormat format);
void drawing_init(struct world *w, struct drawing *d, const struct bf_check_set *set,
                  uint32_t color_count, const VkFormat *colors, VkFormat depth);
/* With this render pass instead. */
void drawing_use_pass(struct world *w, struct drawing *d, const VkRenderPassCreateInfo2 *pass);
/* The pipeline whose fragment shader's CASE is 'which'. */
VkPipeline drawing_make(struct world *w, struct drawing *d, int32_t which);
void drawing_finish(struct world *w, struct drawing *d);

/* Checks forms 0, 1... of the fragment shader against form 0: a letter for each, '=' for one that
 * passes, '!' for one that is inexact, '?' for one that can't be checked; '.' leaves one out. */
void drawing_expect(struct world *w, struct drawing *d, const char *letters);

#define DRAWING_REFERENCE(n_, layout_, aspect_)                                                    \
    {                                                                                              \
        VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, n_, layout_, aspect_                       \
    }

#endif
