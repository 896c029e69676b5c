/* SPDX-License-Identifier: MIT */
/*
 * Other states for a request's graphics pipeline than the program's.
 *
 *  HS-1  Where the program draws to equal depths alone, checks draw to all: of made-up depths none
 *        is equal, and nothing would be compared.
 *
 * For one thread.
 */
#ifndef BELFRY_SPECIALIZE_HELPER_STATES_H
#define BELFRY_SPECIALIZE_HELPER_STATES_H

#include <stdbool.h>

#include <vulkan/vulkan_core.h>

/* What is dynamic of the pipeline, in place of the program's. A zeroed one may be finished. */
struct helper_states {
    VkPipelineDynamicStateCreateInfo dynamic;
    VkDynamicState *states;
};

/* The state of depth and stencil is 'depth', and none of it is dynamic. 'states' is finished after
 * the pipeline's last use. False: out of memory. */
bool helper_states_take(struct helper_states *states, VkGraphicsPipelineCreateInfo *graphics,
                        const VkPipelineDepthStencilStateCreateInfo *depth);
/* After that: the scissor is dynamic, if there is one. */
void helper_states_add_scissor(struct helper_states *states,
                               const VkGraphicsPipelineCreateInfo *graphics);
void helper_states_finish(struct helper_states *states);

/* [HS-1] 'room' is used as long as the pipeline's info. */
void helper_states_pass_depths(VkGraphicsPipelineCreateInfo *graphics,
                               VkPipelineDepthStencilStateCreateInfo *room);

#endif
