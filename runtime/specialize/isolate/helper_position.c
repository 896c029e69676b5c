/* SPDX-License-Identifier: MIT */
/* Draws the forms of a graphics pipeline once more, with a depth attachment that tells of
 * positions. */
#include "specialize/isolate/helper_position.h"

#include <stdio.h>
#include <stdlib.h>

/* Each fragment's depth is written. */
static const VkPipelineDepthStencilStateCreateInfo every_depth = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
    .depthTestEnable = VK_TRUE,
    .depthWriteEnable = VK_TRUE,
    .depthCompareOp = VK_COMPARE_OP_ALWAYS,
};

/* What a build is given in place of the program's. */
struct position_state {
    VkPipelineDynamicStateCreateInfo dynamic;
    VkDynamicState *states;
    VkPipelineRenderingCreateInfo rendering;
    VkRenderPassCreateInfo2 pass; /* the program's, with one attachment more */
    VkAttachmentDescription2 *attachments;
    VkSubpassDescription2 *subpasses;
    VkAttachmentReference2 depth;
};

/* A format whose bits are those of the depths, as far as a device has it. */
static VkFormat position_format(const struct helper_device *device)
{
    static const VkFormat formats[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_X8_D24_UNORM_PACK32};
    PFN_vkGetPhysicalDeviceFormatProperties of =
        (PFN_vkGetPhysicalDeviceFormatProperties)device->get_proc(
            device->instance, "vkGetPhysicalDeviceFormatProperties");
    for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        VkFormatProperties properties;
        of(device->physical, formats[i], &properties);
        if (properties.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT)
            return formats[i];
    }
    return VK_FORMAT_D16_UNORM; /* every device has it, and one of those */
}

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

static bool dynamic_without_depth(struct position_state *p, VkGraphicsPipelineCreateInfo *graphics)
{
    const VkPipelineDynamicStateCreateInfo *from = graphics->pDynamicState;
    if (!from)
        return true;
    p->dynamic = *from;
    p->states = calloc(from->dynamicStateCount + 1, sizeof(*p->states));
    p->dynamic.dynamicStateCount = 0;
    p->dynamic.pDynamicStates = p->states;
    graphics->pDynamicState = &p->dynamic;
    for (uint32_t i = 0; p->states && i < from->dynamicStateCount; i++) {
        if (!state_is_of_depth(from->pDynamicStates[i]))
            p->states[p->dynamic.dynamicStateCount++] = from->pDynamicStates[i];
    }
    return p->states != NULL;
}

/* Nothing else may be chained to a request's pipeline. */
static void rendering_take_depth(struct position_state *p, VkGraphicsPipelineCreateInfo *graphics,
                                 VkFormat format)
{
    if (graphics->pNext)
        p->rendering = *(const VkPipelineRenderingCreateInfo *)graphics->pNext;
    p->rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
    p->rendering.depthAttachmentFormat = format;
    p->rendering.stencilAttachmentFormat = VK_FORMAT_UNDEFINED;
    graphics->pNext = &p->rendering;
}

static bool pass_take_depth(struct position_state *p, struct bf_wire_build *build, VkFormat format)
{
    const VkPipelineMultisampleStateCreateInfo *samples = build->graphics.pMultisampleState;
    p->pass = *build->pass;
    const uint32_t count = p->pass.attachmentCount;
    p->attachments = calloc(count + 1, sizeof(*p->attachments));
    p->subpasses = calloc(p->pass.subpassCount, sizeof(*p->subpasses));
    if (!p->attachments || !p->subpasses)
        return false;
    for (uint32_t i = 0; i < count; i++)
        p->attachments[i] = p->pass.pAttachments[i];
    for (uint32_t i = 0; i < p->pass.subpassCount; i++)
        p->subpasses[i] = p->pass.pSubpasses[i];
    p->attachments[count] = (VkAttachmentDescription2){
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .format = format,
        .samples = samples ? samples->rasterizationSamples : VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    p->depth = (VkAttachmentReference2){.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
                                        .attachment = count,
                                        .layout = VK_IMAGE_LAYOUT_GENERAL};
    VkSubpassDescription2 *own = &p->subpasses[build->graphics.subpass];
    own->pDepthStencilAttachment = &p->depth;
    own->pNext = NULL; /* how the program's depth was resolved */
    p->pass.attachmentCount = count + 1;
    p->pass.pAttachments = p->attachments;
    p->pass.pSubpasses = p->subpasses;
    build->pass = &p->pass;
    return true;
}

static VkResult build_take_depth(struct position_state *p, struct bf_wire_build *build,
                                 VkFormat format)
{
    bool done = dynamic_without_depth(p, &build->graphics);
    build->graphics.pDepthStencilState = &every_depth;
    if (done && build->pass)
        done = pass_take_depth(p, build, format);
    else if (done)
        rendering_take_depth(p, &build->graphics, format);
    return done ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* What didn't pass now never did. */
static void verdict_take_back(struct bf_wire_verdict *verdict, const struct bf_wire_verdict *now)
{
    verdict->hung = now->hung;
    verdict->peak_bytes = now->peak_bytes;
    for (uint32_t i = 0; i < verdict->form_count; i++) {
        if (verdict->reasons[i] != BF_REASON_NONE || now->reasons[i] == BF_REASON_NONE)
            continue;
        verdict->reasons[i] = now->reasons[i];
        snprintf(verdict->why, sizeof(verdict->why), "its positions %s%.*s",
                 *now->why ? "can't be compared: " : "differ", (int)sizeof(verdict->why) - 40,
                 now->why);
    }
}

static bool any_passed(const struct bf_wire_verdict *verdict)
{
    bool any = false;
    for (uint32_t i = 0; i < verdict->form_count; i++)
        any = any || verdict->reasons[i] == BF_REASON_NONE;
    return any;
}

VkResult helper_positions_check(struct helper_device *device, struct bf_wire_check *check,
                                struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                                struct bf_wire_verdict *verdict, bool *hung)
{
    if (!check->interface.graphics || !any_passed(verdict))
        return VK_SUCCESS;
    struct position_state states[BF_CHECK_BUILDS] = {{.states = NULL}};
    struct bf_wire_verdict now;
    VkResult result = VK_SUCCESS;
    const VkFormat format = position_format(device);
    for (uint32_t i = 0; i < check->build_count; i++)
        helper_pipeline_free(device, &pipelines[i]);
    for (uint32_t i = 0; i < check->build_count && result == VK_SUCCESS; i++) {
        result = build_take_depth(&states[i], &check->builds[i], format);
        if (result == VK_SUCCESS)
            result = helper_pipeline_make(device, &check->builds[i], &pipelines[i]);
    }
    check->interface.pass = check->builds[0].pass;
    if (result == VK_SUCCESS)
        result = helper_check_run(device, check, pipelines, plan, &now, hung);
    if (result == VK_SUCCESS)
        verdict_take_back(verdict, &now);
    for (uint32_t i = 0; i < check->build_count; i++) {
        free(states[i].states);
        free(states[i].attachments);
        free(states[i].subpasses);
    }
    return result;
}
