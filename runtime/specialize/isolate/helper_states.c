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

void helper_states_pass_depths(VkGraphicsPipelineCreateInfo *graphics,
                               VkPipelineDepthStencilStateCreateInfo *room)
{
    const VkPipelineDepthStencilStateCreateInfo *own = graphics->pDepthStencilState;
    if (!own || !own->depthTestEnable || own->depthCompareOp != VK_COMPARE_OP_EQUAL)
        return;
    *room = *own;
    room->depthCompareOp = VK_COMPARE_OP_ALWAYS;
    room->depthWriteEnable = VK_FALSE; /* it would have written what is there */
    graphics->pDepthStencilState = room;
}
