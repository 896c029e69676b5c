/* SPDX-License-Identifier: MIT */
/* Another state of depth and stencil for a request's pipeline. For one thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_DEPTH_H
#define BELFRY_SPECIALIZE_HELPER_DEPTH_H

#include <stdbool.h>

#include <vulkan/vulkan_core.h>

/* What the pipeline is given in place of the program's. A zeroed one may be finished. */
struct helper_depth {
    VkPipelineDynamicStateCreateInfo dynamic;
    VkDynamicState *states;
};

/* All of that state is the pipeline's own then: none is dynamic. 'depth' is finished after the
 * pipeline's last use. False: out of memory. */
bool helper_depth_replace(struct helper_depth *depth, VkGraphicsPipelineCreateInfo *graphics,
                          const VkPipelineDepthStencilStateCreateInfo *state);
void helper_depth_finish(struct helper_depth *depth);

#endif
