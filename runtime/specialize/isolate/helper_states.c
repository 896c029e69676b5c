/* SPDX-License-Identifier: MIT */
/* Replaces states of a request's graphics pipeline: depth and stencil, and what is dynamic. */
#include "specialize/isolate/helper_states.h"

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

bool helper_states_take(struct helper_states *states, VkGraphicsPipelineCreateInfo *graphics,
                        const VkPipelineDepthStencilStateCreateInfo *depth)
{
    static const VkPipelineDynamicStateCreateInfo none = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    const VkPipelineDynamicStateCreateInfo *from =
        graphics->pDynamicState ? graphics->pDynamicState : &none;
    states->dynamic = *from;
    states->dynamic.dynamicStateCount = 0;
    states->states = calloc(from->dynamicStateCount + 1, sizeof(*states->states));
    if (!states->states)
        return false;
    for (uint32_t i = 0; i < from->dynamicStateCount; i++) {
        if (!state_is_of_depth(from->pDynamicStates[i]))
            states->states[states->dynamic.dynamicStateCount++] = from->pDynamicStates[i];
    }
    states->dynamic.pDynamicStates = states->states;
    graphics->pDynamicState = &states->dynamic;
    graphics->pDepthStencilState = depth;
    return true;
}

void helper_states_add_scissor(struct helper_states *states,
                               const VkGraphicsPipelineCreateInfo *graphics)
{
    bool is = !graphics->pViewportState;
    for (uint32_t i = 0; i < states->dynamic.dynamicStateCount; i++)
        is = is || states->states[i] == VK_DYNAMIC_STATE_SCISSOR ||
             states->states[i] == VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT;
    if (!is) /* there is room for one more */
        states->states[states->dynamic.dynamicStateCount++] = VK_DYNAMIC_STATE_SCISSOR;
}

void helper_states_finish(struct helper_states *states)
{
    free(states->states);
}
