/* SPDX-License-Identifier: MIT */
/* Draws the forms of a graphics pipeline once more, to attachments that tell of positions, and of
 * colors before they are rounded. */
#include "specialize/isolate/helper_redraw.h"

#include <stdlib.h>

#include "specialize/check/texel.h"
#include "specialize/isolate/helper_states.h"

#define COLORS 32 /* color attachments that are looked at; what has more isn't checked */

/* Each fragment's depth is written. */
static const VkPipelineDepthStencilStateCreateInfo every_depth = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
    .depthTestEnable = VK_TRUE,
    .depthWriteEnable = VK_TRUE,
    .depthCompareOp = VK_COMPARE_OP_ALWAYS,
};

/* What a build is given in place of the program's. */
struct redraw_state {
    struct helper_states states;
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineColorBlendAttachmentState *blends;
    bool alpha; /* of colors decides over others */
    VkPipelineRenderingCreateInfo rendering;
    VkFormat *formats;
    /* The program's, with one attachment more; nothing is in its other subpasses. */
    VkRenderPassCreateInfo2 pass;
    VkAttachmentDescription2 *attachments;
    VkSubpassDescription2 *subpasses;
    VkAttachmentReference2 depth;
};

/* A format whose bits are those of the depths, as far as a device has it. */
static VkFormat depth_format(const struct helper_device *device)
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

static bool is_of_alpha(VkBlendFactor factor)
{
    return factor == VK_BLEND_FACTOR_SRC_ALPHA || factor == VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA ||
           factor == VK_BLEND_FACTOR_SRC_ALPHA_SATURATE;
}

static bool is_of_second(VkBlendFactor factor)
{
    return factor >= VK_BLEND_FACTOR_SRC1_COLOR && factor <= VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA;
}

/* Whether some attachment is blended by such a factor. */
static bool blends_by(const VkPipelineColorBlendStateCreateInfo *blend,
                      bool (*is)(VkBlendFactor factor))
{
    bool any = false;
    for (uint32_t i = 0; blend && i < blend->attachmentCount; i++) {
        const VkPipelineColorBlendAttachmentState *a = &blend->pAttachments[i];
        any = any || (a->blendEnable && (is(a->srcColorBlendFactor) || is(a->dstColorBlendFactor) ||
                                         is(a->srcAlphaBlendFactor) || is(a->dstAlphaBlendFactor)));
    }
    return any;
}

/* Whether what a fragment has for alpha decides over its other components, or where it is seen. */
static bool alpha_decides(const VkGraphicsPipelineCreateInfo *graphics)
{
    const VkPipelineColorBlendStateCreateInfo *blend = graphics->pColorBlendState;
    bool any = graphics->pMultisampleState && graphics->pMultisampleState->alphaToCoverageEnable;
    for (uint32_t i = 0; blend && i < blend->attachmentCount; i++) /* advanced operations do */
        any = any || (blend->pAttachments[i].blendEnable &&
                      blend->pAttachments[i].colorBlendOp > VK_BLEND_OP_MAX);
    return any || blends_by(blend, is_of_alpha);
}

/* The same kind of numbers in 32 bits, and as many components, or all, if there are such
 * attachments. */
static VkFormat color_format(VkFormat program, bool all)
{
    static const VkFormat formats[3][4] = {
        {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
         VK_FORMAT_R32G32B32A32_SFLOAT},
        {VK_FORMAT_R32_UINT, VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32A32_UINT,
         VK_FORMAT_R32G32B32A32_UINT},
        {VK_FORMAT_R32_SINT, VK_FORMAT_R32G32_SINT, VK_FORMAT_R32G32B32A32_SINT,
         VK_FORMAT_R32G32B32A32_SINT},
    };
    struct bf_texel texel;
    if (!bf_texel_of(program, VK_IMAGE_ASPECT_COLOR_BIT, &texel) || !texel.component_count)
        return program;
    const uint32_t kind = texel.kind == BF_TEXEL_UINT ? 1 : texel.kind == BF_TEXEL_SINT ? 2 : 0;
    return formats[kind][all ? 3 : texel.component_count - 1];
}

/* Of three components the fourth is nobody's, and what the shader writes there may be undefined. */
static bool is_of_three(VkFormat program)
{
    struct bf_texel texel;
    return bf_texel_of(program, VK_IMAGE_ASPECT_COLOR_BIT, &texel) && texel.component_count == 3;
}

/* 'formats': of the program's color attachments. (Where these have to be alike, all have three
 * components, or none has: helper_redraw_refuses.) */
static bool blend_nothing(struct redraw_state *r, VkGraphicsPipelineCreateInfo *graphics,
                          uint32_t count, const VkFormat *formats)
{
    const VkPipelineColorBlendStateCreateInfo *from = graphics->pColorBlendState;
    if (!from || !from->attachmentCount)
        return true;
    r->blends = calloc(from->attachmentCount, sizeof(*r->blends));
    for (uint32_t i = 0; r->blends && i < from->attachmentCount; i++) {
        r->blends[i] = from->pAttachments[i];
        r->blends[i].blendEnable = VK_FALSE;
        if (r->alpha)
            r->blends[i].colorWriteMask = 0xf;
        else if (i < count && is_of_three(formats[i]))
            r->blends[i].colorWriteMask &= 0x7;
    }
    r->blend = *from;
    r->blend.logicOpEnable = VK_FALSE;
    r->blend.pAttachments = r->blends;
    graphics->pColorBlendState = &r->blend;
    return r->blends != NULL;
}

/* Nothing else may be chained to a request's pipeline. */
static bool rendering_take(struct redraw_state *r, VkGraphicsPipelineCreateInfo *graphics,
                           VkFormat depth)
{
    if (graphics->pNext)
        r->rendering = *(const VkPipelineRenderingCreateInfo *)graphics->pNext;
    const uint32_t count = r->rendering.colorAttachmentCount;
    const VkFormat *program = r->rendering.pColorAttachmentFormats;
    r->formats = calloc(count + 1, sizeof(*r->formats));
    if (!r->formats || !blend_nothing(r, graphics, count, program))
        return false;
    for (uint32_t i = 0; i < count; i++)
        r->formats[i] = color_format(program[i], r->alpha);
    r->rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
    r->rendering.pColorAttachmentFormats = r->formats;
    r->rendering.depthAttachmentFormat = depth;
    r->rendering.stencilAttachmentFormat = VK_FORMAT_UNDEFINED;
    graphics->pNext = &r->rendering;
    return true;
}

static bool pass_copy(struct redraw_state *r, const VkRenderPassCreateInfo2 *pass)
{
    const uint32_t count = pass->attachmentCount;
    r->pass = *pass;
    r->attachments = calloc(count + 1, sizeof(*r->attachments));
    r->subpasses = calloc(pass->subpassCount, sizeof(*r->subpasses));
    if (!r->attachments || !r->subpasses)
        return false;
    for (uint32_t i = 0; i < count; i++)
        r->attachments[i] = pass->pAttachments[i];
    for (uint32_t i = 0; i < pass->subpassCount; i++) {
        r->subpasses[i] = (VkSubpassDescription2){
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
            .viewMask = pass->pSubpasses[i].viewMask,
        };
    }
    r->pass.pAttachments = r->attachments;
    r->pass.pSubpasses = r->subpasses;
    return true;
}

static void pass_take_depth(struct redraw_state *r, VkSubpassDescription2 *own,
                            const VkPipelineMultisampleStateCreateInfo *samples, VkFormat format)
{
    r->depth = (VkAttachmentReference2){.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
                                        .attachment = r->pass.attachmentCount++,
                                        .layout = VK_IMAGE_LAYOUT_GENERAL};
    r->attachments[r->depth.attachment] = (VkAttachmentDescription2){
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .format = format,
        .samples = samples ? samples->rasterizationSamples : VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    own->pDepthStencilAttachment = &r->depth;
    own->pNext = NULL; /* how the program's depth was resolved */
}

/* Whether the subpass reads that attachment, too. */
static bool is_input(const VkSubpassDescription2 *own, uint32_t attachment)
{
    bool is = false;
    for (uint32_t i = 0; i < own->inputAttachmentCount; i++)
        is = is || own->pInputAttachments[i].attachment == attachment;
    return is;
}

/* Integers that the shader reads stay as small as the dry run has seen them: they may end loops. */
static VkFormat color_format_of(const struct redraw_state *r, const VkSubpassDescription2 *own,
                                uint32_t attachment, VkFormat program)
{
    struct bf_texel texel;
    const bool integers = bf_texel_of(program, VK_IMAGE_ASPECT_COLOR_BIT, &texel) &&
                          (texel.kind == BF_TEXEL_UINT || texel.kind == BF_TEXEL_SINT);
    return integers && is_input(own, attachment) ? program : color_format(program, r->alpha);
}

static bool pass_take_colors(struct redraw_state *r, VkSubpassDescription2 *own,
                             VkGraphicsPipelineCreateInfo *graphics)
{
    const uint32_t count = own->colorAttachmentCount;
    r->formats = calloc(count + 1, sizeof(*r->formats));
    for (uint32_t i = 0; r->formats && i < count; i++) {
        const uint32_t attachment = own->pColorAttachments[i].attachment;
        if (attachment != VK_ATTACHMENT_UNUSED)
            r->formats[i] = r->attachments[attachment].format;
    }
    if (!r->formats || !blend_nothing(r, graphics, count, r->formats))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t attachment = own->pColorAttachments[i].attachment;
        if (attachment != VK_ATTACHMENT_UNUSED)
            r->attachments[attachment].format = color_format_of(r, own, attachment, r->formats[i]);
    }
    own->pResolveAttachments = NULL;
    return true;
}

static bool pass_take(struct redraw_state *r, struct bf_wire_build *build, VkFormat depth)
{
    if (!pass_copy(r, build->pass))
        return false;
    VkSubpassDescription2 *own = &r->subpasses[build->graphics.subpass];
    *own = build->pass->pSubpasses[build->graphics.subpass];
    pass_take_depth(r, own, build->graphics.pMultisampleState, depth);
    build->pass = &r->pass;
    return pass_take_colors(r, own, &build->graphics);
}

static VkResult build_redraw(struct redraw_state *r, struct bf_wire_build *build, VkFormat depth)
{
    r->alpha = alpha_decides(&build->graphics);
    bool done = helper_states_take(&r->states, &build->graphics, &every_depth);
    if (done)
        done =
            build->pass ? pass_take(r, build, depth) : rendering_take(r, &build->graphics, depth);
    return done ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void redraw_free(struct redraw_state *r)
{
    helper_states_finish(&r->states);
    free(r->blends);
    free(r->formats);
    free(r->attachments);
    free(r->subpasses);
}

/* The formats of the program's color attachments, as far as there is room; how many there are. */
static uint32_t colors_of(const struct bf_wire_check *check, VkFormat formats[COLORS])
{
    const VkGraphicsPipelineCreateInfo *graphics = &check->builds[0].graphics;
    const VkRenderPassCreateInfo2 *pass = check->builds[0].pass;
    const VkPipelineRenderingCreateInfo *rendering = pass ? NULL : graphics->pNext;
    const VkSubpassDescription2 *own = pass ? &pass->pSubpasses[graphics->subpass] : NULL;
    const uint32_t count = own         ? own->colorAttachmentCount
                           : rendering ? rendering->colorAttachmentCount
                                       : 0;
    for (uint32_t i = 0; i < count && i < COLORS; i++) {
        const uint32_t n = own ? own->pColorAttachments[i].attachment : 0;
        formats[i] = rendering                   ? rendering->pColorAttachmentFormats[i]
                     : n == VK_ATTACHMENT_UNUSED ? VK_FORMAT_UNDEFINED
                                                 : pass->pAttachments[n].format;
    }
    return count < COLORS ? count : COLORS;
}

const char *helper_redraw_refuses(const struct helper_device *device,
                                  const struct bf_wire_check *check)
{
    const VkGraphicsPipelineCreateInfo *graphics = &check->builds[0].graphics;
    const VkPipelineMultisampleStateCreateInfo *samples = graphics->pMultisampleState;
    VkFormat formats[COLORS] = {VK_FORMAT_UNDEFINED};
    uint32_t three = 0;
    if (!check->interface.graphics)
        return NULL;
    const uint32_t count = colors_of(check, formats);
    for (uint32_t i = 0; i < count; i++)
        three += is_of_three(formats[i]);
    if (blends_by(graphics->pColorBlendState, is_of_second))
        return "a second color is blended";
    if (samples && samples->alphaToCoverageEnable && (!formats[0] || samples->alphaToOneEnable))
        return "alpha decides over samples, and isn't written";
    return three && three < count && !device->features.independentBlend
               ? "some of its attachments have no alpha, and all have to be alike"
               : NULL;
}

VkResult helper_redraw_check(struct helper_device *device, struct bf_wire_check *check,
                             struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                             struct bf_wire_verdict *verdict, enum bf_hang *hung)
{
    if (!check->interface.graphics || !helper_any_passed(verdict))
        return VK_SUCCESS;
    struct redraw_state states[BF_CHECK_BUILDS] = {{.blends = NULL}};
    struct bf_wire_verdict now;
    VkResult result = VK_SUCCESS;
    const VkFormat format = depth_format(device);
    for (uint32_t i = 0; i < check->build_count && result == VK_SUCCESS; i++) {
        result = build_redraw(&states[i], &check->builds[i], format);
        if (result == VK_SUCCESS)
            result = helper_pipeline_make(device, &check->builds[i], &pipelines[i]);
    }
    check->interface.pass = check->builds[0].pass;
    if (result == VK_SUCCESS)
        result = helper_check_run(device, check, pipelines, plan, &now, hung);
    if (result == VK_SUCCESS)
        helper_verdict_take_back(verdict, &now,
                                 "its positions, or colors before they are rounded,");
    for (uint32_t i = 0; i < check->build_count; i++)
        redraw_free(&states[i]);
    return result;
}
