/* SPDX-License-Identifier: MIT */
/* Replaces the state of depth and stencil of a request's pipeline, what is dynamic of it included. */
#include "specialize/isolate/helper_depth.h"

#include <stdlib.h>

static bool state_is_of_depth(VkDynamicState state)
{
    switch (state) {
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS:
    case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_REFERENCE:
    case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_OP:
        return true;
    default:
        return false;
    }
}

bool helper_depth_replace(struct helper_depth *depth, VkGraphicsPipelineCreateInfo *graphics,
                          const VkPipelineDepthStencilStateCreateInfo *state)
{
    const VkPipelineDynamicStateCreateInfo *from = graphics->pDynamicState;
    *depth = (struct helper_depth){.states = NULL};
    if (from) {
        depth->dynamic = *from;
        depth->dynamic.dynamicStateCount = 0;
        depth->states = calloc(from->dynamicStateCount + 1, sizeof(*depth->states));
        if (!depth->states)
            return false;
        for (uint32_t i = 0; i < from->dynamicStateCount; i++) {
            if (!state_is_of_depth(from->pDynamicStates[i]))
                depth->states[depth->dynamic.dynamicStateCount++] = from->pDynamicStates[i];
        }
        depth->dynamic.pDynamicStates = depth->states;
        graphics->pDynamicState = &depth->dynamic;
    }
    graphics->pDepthStencilState = state;
    return true;
}

void helper_depth_finish(struct helper_depth *depth)
{
    free(depth->states);
}
