/* SPDX-License-Identifier: MIT */
/* A check's draws: render passes, framebuffers, vertex buffers and dynamic state for the forms
 * of a graphics pipeline. */
#include "specialize/check/draw.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/made.h"

#define ROWS        16 /* vertices or instances in a buffer */
#define NO_IMAGE    UINT32_MAX
#define MOST_LAYERS 6
#define VIEWPORTS   16

/* ---------------------------------------------------------------------------------- Planning -- */

static const void *find_chained(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *s = chain;
    while (s && s->sType != type)
        s = s->pNext;
    return s;
}

static bool check_draw_is_dynamic(const struct bf_draw *draw, VkDynamicState state)
{
    const VkPipelineDynamicStateCreateInfo *dynamic = draw->interface->graphics->pDynamicState;
    for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; i++) {
        if (dynamic->pDynamicStates[i] == state)
            return true;
    }
    return false;
}

/* Does it never come to fragments? Then there need not be attachments, and nothing tells of
 * them. */
static bool discards_all(const struct bf_draw *draw)
{
    const VkPipelineRasterizationStateCreateInfo *state =
        draw->interface->graphics->pRasterizationState;
    return state && state->rasterizerDiscardEnable &&
           !check_draw_is_dynamic(draw, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE);
}

/* The number is ignored where nothing is rasterised. */
static VkSampleCountFlagBits samples_of(const struct bf_draw *draw)
{
    const VkPipelineMultisampleStateCreateInfo *state =
        draw->interface->graphics->pMultisampleState;
    return state && !discards_all(draw) ? state->rasterizationSamples : VK_SAMPLE_COUNT_1_BIT;
}

static VkResult plan_attachment(struct bf_draw *draw, VkFormat format,
                                VkSampleCountFlagBits samples, VkImageUsageFlags more,
                                uint32_t *index)
{
    bool color = bf_format_aspects(format) == VK_IMAGE_ASPECT_COLOR_BIT;
    const struct bf_test_image_info info = {
        .format = format,
        .view = draw->layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .usage = more | (color ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
                               : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT),
        .samples = samples,
        .layers = draw->layers,
        .written = true,
    };
    return bf_test_resources_add_image(draw->resources, &info, index);
}

static VkResult plan_layers(struct bf_draw *draw, uint32_t view_mask)
{
    draw->view_mask = view_mask;
    for (draw->layers = 1; draw->layers < 32 && view_mask >> draw->layers;)
        draw->layers++;
    return draw->layers > MOST_LAYERS
               ? bf_test_resources_refuse(draw->resources, "it draws to very many views")
               : VK_SUCCESS;
}

/* Does the subpass write what it reads? Then no fragment may lie on another. */
static void find_feedback(struct bf_draw *draw, const VkSubpassDescription2 *subpass)
{
    for (uint32_t i = 0; i < subpass->inputAttachmentCount; i++) {
        uint32_t n = subpass->pInputAttachments[i].attachment;
        if (n == VK_ATTACHMENT_UNUSED)
            continue;
        for (uint32_t k = 0; k < subpass->colorAttachmentCount; k++)
            draw->feedback |= subpass->pColorAttachments[k].attachment == n;
        draw->feedback |=
            subpass->pDepthStencilAttachment && subpass->pDepthStencilAttachment->attachment == n;
    }
}

static VkResult plan_pass(struct bf_draw *draw, const VkRenderPassCreateInfo2 *pass)
{
    uint32_t subpass = draw->interface->graphics->subpass, inputs = 0, views = 0;
    if (pass->attachmentCount > BF_DRAW_ATTACHMENTS || subpass >= pass->subpassCount)
        return bf_test_resources_refuse(draw->resources, "it has very many attachments");
    for (uint32_t i = 0; i < pass->subpassCount; i++) {
        const VkSubpassDescription2 *description = &pass->pSubpasses[i];
        views |= description->viewMask;
        for (uint32_t k = 0; k < description->inputAttachmentCount; k++) {
            uint32_t n = description->pInputAttachments[k].attachment;
            inputs |= n < 32 ? UINT32_C(1) << n : 0;
        }
    }
    VkResult result = plan_layers(draw, views);
    find_feedback(draw, &pass->pSubpasses[subpass]);
    for (uint32_t i = 0; i < pass->attachmentCount && result == VK_SUCCESS; i++) {
        result = plan_attachment(draw, pass->pAttachments[i].format, pass->pAttachments[i].samples,
                                 inputs >> i & 1 ? VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT : 0,
                                 &draw->attachments[i]);
        draw->attachment_count = i + 1;
    }
    const VkSubpassDescription2 *own = &pass->pSubpasses[subpass];
    for (uint32_t i = 0; i < own->inputAttachmentCount && i < BF_TEST_INPUTS; i++) {
        uint32_t n = own->pInputAttachments[i].attachment;
        draw->resources->inputs[i] = n < pass->attachmentCount ? draw->attachments[n] : NO_IMAGE;
        draw->resources->input_count = i + 1;
    }
    return result;
}

static VkResult plan_rendering(struct bf_draw *draw)
{
    const VkPipelineRenderingCreateInfo *rendering = draw->rendering;
    const VkSampleCountFlagBits samples = samples_of(draw);
    if (samples != VK_SAMPLE_COUNT_1_BIT &&
        find_chained(draw->interface->graphics->pNext,
                     VK_STRUCTURE_TYPE_ATTACHMENT_SAMPLE_COUNT_INFO_AMD))
        return bf_test_resources_refuse(draw->resources, "attachments may differ in their samples");
    if (rendering->colorAttachmentCount > BF_DRAW_ATTACHMENTS)
        return bf_test_resources_refuse(draw->resources, "it has very many attachments");
    VkResult result = plan_layers(draw, rendering->viewMask);
    for (uint32_t i = 0; i < rendering->colorAttachmentCount && result == VK_SUCCESS; i++) {
        VkFormat format = rendering->pColorAttachmentFormats[i];
        draw->attachments[i] = NO_IMAGE;
        draw->attachment_count = i + 1;
        if (format != VK_FORMAT_UNDEFINED)
            result = plan_attachment(draw, format, samples, 0, &draw->attachments[i]);
    }
    VkFormat depth = rendering->depthAttachmentFormat ? rendering->depthAttachmentFormat
                                                      : rendering->stencilAttachmentFormat;
    if (result == VK_SUCCESS && depth != VK_FORMAT_UNDEFINED)
        result = plan_attachment(draw, depth, samples, 0, &draw->depth);
    return result;
}

/* The float attribute of vertices with the lowest location is taken for the position. */
static uint32_t find_position(const VkPipelineVertexInputStateCreateInfo *state)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < state->vertexAttributeDescriptionCount; i++) {
        const VkVertexInputAttributeDescription *attribute =
            &state->pVertexAttributeDescriptions[i];
        bool floats = attribute->format == VK_FORMAT_R32G32_SFLOAT ||
                      attribute->format == VK_FORMAT_R32G32B32_SFLOAT ||
                      attribute->format == VK_FORMAT_R32G32B32A32_SFLOAT;
        if (floats && (best == UINT32_MAX ||
                       attribute->location < state->pVertexAttributeDescriptions[best].location))
            best = i;
    }
    return best;
}

static VkResult vertex_binding_plan(struct bf_draw *draw,
                                    const VkPipelineVertexInputStateCreateInfo *state,
                                    uint32_t index, uint32_t position)
{
    const VkVertexInputBindingDescription *binding = &state->pVertexBindingDescriptions[index];
    uint32_t end = 0;
    struct bf_texel texel;
    for (uint32_t i = 0; i < state->vertexAttributeDescriptionCount; i++) {
        const VkVertexInputAttributeDescription *attribute =
            &state->pVertexAttributeDescriptions[i];
        if (attribute->binding != binding->binding)
            continue;
        if (!bf_texel_of(attribute->format, VK_IMAGE_ASPECT_COLOR_BIT, &texel))
            return bf_test_resources_refuse(draw->resources, "a vertex's format is not known here");
        if (attribute->offset + texel.size > end)
            end = attribute->offset + texel.size;
    }
    draw->strides[index] = check_draw_is_dynamic(draw, VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE)
                               ? (end + 15) / 16 * 16
                               : binding->stride;
    uint32_t stride = draw->strides[index];
    const struct bf_test_buffer buffer = {.size = (VkDeviceSize)stride * ROWS + end + 16};
    VkResult result = bf_test_resources_add_buffer(draw->resources, &buffer, &draw->buffers[index]);
    for (uint32_t i = 0; i < state->vertexAttributeDescriptionCount && result == VK_SUCCESS; i++) {
        const VkVertexInputAttributeDescription *from = &state->pVertexAttributeDescriptions[i];
        if (from->binding != binding->binding)
            continue;
        struct bf_test_attribute attribute = {
            .offset = draw->resources->buffers[draw->buffers[index]].offset + from->offset,
            .stride = stride,
            .count = ROWS,
            .position = i == position && binding->inputRate == VK_VERTEX_INPUT_RATE_VERTEX,
        };
        bf_texel_of(from->format, VK_IMAGE_ASPECT_COLOR_BIT, &attribute.texel);
        result = bf_test_resources_add_attribute(draw->resources, &attribute);
    }
    return result;
}

static VkResult plan_vertices(struct bf_draw *draw)
{
    const VkPipelineVertexInputStateCreateInfo *state =
        draw->interface->graphics->pVertexInputState;
    VkResult result = VK_SUCCESS;
    if (!state)
        return VK_SUCCESS;
    if (state->vertexBindingDescriptionCount > BF_DRAW_BINDINGS)
        return bf_test_resources_refuse(draw->resources, "it has very many vertex buffers");
    uint32_t position = find_position(state);
    for (uint32_t i = 0; i < state->vertexBindingDescriptionCount && result == VK_SUCCESS; i++)
        result = vertex_binding_plan(draw, state, i, position);
    return result;
}

static bool is_settable(const struct VolkDeviceTable *vk, VkDynamicState state);

VkResult bf_draw_plan(struct bf_draw *draw, struct bf_test_resources *resources,
                      const struct bf_pipeline_interface *interface)
{
    const VkGraphicsPipelineCreateInfo *graphics = interface->graphics;
    const struct VolkDeviceTable *vk = &resources->place->gpu->vk;
    const VkPipelineDynamicStateCreateInfo *dynamic = graphics->pDynamicState;
    *draw = (struct bf_draw){
        .resources = resources, .interface = interface, .layers = 1, .depth = NO_IMAGE};
    for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; i++) {
        if (!is_settable(vk, dynamic->pDynamicStates[i]))
            return bf_test_resources_refuse(resources,
                                            "it has dynamic state that is not known here");
    }
    const VkPipelineMultisampleStateCreateInfo *samples = graphics->pMultisampleState;
    if (samples && find_chained(samples->pNext,
                                VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT))
        return bf_test_resources_refuse(resources, "it says where samples are");
    if (graphics->pInputAssemblyState &&
        graphics->pInputAssemblyState->topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST)
        return bf_test_resources_refuse(resources, "it draws patches");
    VkResult result = VK_SUCCESS;
    if (interface->pass) {
        if (!vk->vkCreateRenderPass2 && !vk->vkCreateRenderPass2KHR)
            return bf_test_resources_refuse(resources, "no render pass can be made for it");
        result = plan_pass(draw, interface->pass);
    } else {
        static const VkPipelineRenderingCreateInfo none = {0};
        if (!vk->vkCmdBeginRendering && !vk->vkCmdBeginRenderingKHR)
            return bf_test_resources_refuse(resources, "no rendering can begin for it");
        draw->rendering =
            find_chained(graphics->pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
        if (!draw->rendering)
            draw->rendering = &none;
        result = plan_rendering(draw);
    }
    return result == VK_SUCCESS ? plan_vertices(draw) : result;
}

/* ---------------------------------------------------------------------------------- Building -- */

/* What a render pass is made of that refers to layouts. */
struct passage {
    VkSubpassDescription2 *subpasses;
    VkSubpassDescriptionDepthStencilResolve *resolves; /* one for each */
    VkAttachmentReference2 *references;                /* all of them */
    uint32_t count;                                    /* of references so far */
};

static uint32_t count_references(const VkRenderPassCreateInfo2 *pass)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pass->subpassCount; i++)
        count += pass->pSubpasses[i].inputAttachmentCount +
                 2 * pass->pSubpasses[i].colorAttachmentCount + 2;
    return count;
}

/* The same attachments, in VK_IMAGE_LAYOUT_GENERAL. */
static const VkAttachmentReference2 *
check_draw_refer(struct passage *p, const VkAttachmentReference2 *from, uint32_t count)
{
    VkAttachmentReference2 *to = &p->references[p->count];
    if (!from)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].pNext = NULL;
        to[i].layout = VK_IMAGE_LAYOUT_GENERAL;
    }
    p->count += count;
    return to;
}

static void fill_subpass(struct passage *p, uint32_t index, const VkSubpassDescription2 *from)
{
    VkSubpassDescription2 *to = &p->subpasses[index];
    const VkSubpassDescriptionDepthStencilResolve *resolve =
        find_chained(from->pNext, VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE);
    *to = *from;
    to->pNext = NULL;
    to->pInputAttachments =
        check_draw_refer(p, from->pInputAttachments, from->inputAttachmentCount);
    to->pColorAttachments =
        check_draw_refer(p, from->pColorAttachments, from->colorAttachmentCount);
    to->pResolveAttachments =
        check_draw_refer(p, from->pResolveAttachments, from->colorAttachmentCount);
    to->pDepthStencilAttachment = check_draw_refer(p, from->pDepthStencilAttachment, 1);
    if (!resolve)
        return;
    p->resolves[index] = *resolve;
    p->resolves[index].pNext = NULL;
    p->resolves[index].pDepthStencilResolveAttachment =
        check_draw_refer(p, resolve->pDepthStencilResolveAttachment, 1);
    to->pNext = &p->resolves[index];
}

static void free_passage(struct passage *p)
{
    free(p->subpasses);
    free(p->resolves);
    free(p->references);
}

static bool fill_passage(struct passage *p, const VkRenderPassCreateInfo2 *pass)
{
    *p = (struct passage){
        .subpasses = calloc(pass->subpassCount + 1, sizeof(*p->subpasses)),
        .resolves = calloc(pass->subpassCount + 1, sizeof(*p->resolves)),
        .references = calloc(count_references(pass) + 1, sizeof(*p->references)),
    };
    if (!p->subpasses || !p->resolves || !p->references) {
        free_passage(p);
        return false;
    }
    for (uint32_t i = 0; i < pass->subpassCount; i++)
        fill_subpass(p, i, &pass->pSubpasses[i]);
    return true;
}

static VkResult build_pass(struct bf_draw *draw)
{
    struct bf_gpu *gpu = draw->resources->place->gpu;
    const struct VolkDeviceTable *vk = &gpu->vk;
    VkAttachmentDescription2 attachments[BF_DRAW_ATTACHMENTS];
    VkRenderPassCreateInfo2 info = *draw->interface->pass;
    struct passage passage;
    if (!fill_passage(&passage, &info))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    info.pSubpasses = passage.subpasses;
    for (uint32_t i = 0; i < info.attachmentCount; i++) {
        attachments[i] = info.pAttachments[i];
        attachments[i].pNext = NULL;
        attachments[i].loadOp = attachments[i].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
        attachments[i].storeOp = attachments[i].stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE;
        attachments[i].initialLayout = attachments[i].finalLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    info.pAttachments = attachments;
    PFN_vkCreateRenderPass2 create = vk->vkCreateRenderPass2;
    VkResult result = BF_MADE(create(gpu->handle, &info, NULL, &draw->pass), &draw->pass);
    free_passage(&passage);
    return result;
}

VkResult bf_draw_build(struct bf_draw *draw)
{
    struct bf_gpu *gpu = draw->resources->place->gpu;
    VkImageView views[BF_DRAW_ATTACHMENTS];
    if (draw->rendering)
        return VK_SUCCESS;
    VkResult result = build_pass(draw);
    if (result != VK_SUCCESS)
        return result;
    for (uint32_t i = 0; i < draw->attachment_count; i++)
        views[i] = draw->resources->images[draw->attachments[i]].view;
    const VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = draw->pass,
        .attachmentCount = draw->attachment_count,
        .pAttachments = views,
        .width = draw->resources->extent[0],
        .height = draw->resources->extent[1],
        .layers = 1,
    };
    return BF_MADE(gpu->vk.vkCreateFramebuffer(gpu->handle, &info, NULL, &draw->framebuffer),
                   &draw->framebuffer);
}

void bf_draw_finish(struct bf_draw *draw)
{
    if (!draw->resources)
        return;
    struct bf_gpu *gpu = draw->resources->place->gpu;
    if (draw->framebuffer)
        gpu->vk.vkDestroyFramebuffer(gpu->handle, draw->framebuffer, NULL);
    if (draw->pass)
        gpu->vk.vkDestroyRenderPass(gpu->handle, draw->pass, NULL);
    *draw = (struct bf_draw){0};
}

/* ----------------------------------------------------------------------------- Dynamic state -- */

/* The core name where the device has it, else the extension's. */
#define EITHER(name_) (vk->name_ ? vk->name_ : vk->name_##EXT)

static bool is_settable(const struct VolkDeviceTable *vk, VkDynamicState state)
{
    switch (state) {
    case VK_DYNAMIC_STATE_VIEWPORT:
    case VK_DYNAMIC_STATE_SCISSOR:
    case VK_DYNAMIC_STATE_LINE_WIDTH:
    case VK_DYNAMIC_STATE_DEPTH_BIAS:
    case VK_DYNAMIC_STATE_BLEND_CONSTANTS:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS:
    case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_REFERENCE:
        return true;
    case VK_DYNAMIC_STATE_CULL_MODE:
    case VK_DYNAMIC_STATE_FRONT_FACE:
    case VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY:
    case VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT:
    case VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT:
    case VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE:
    case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_OP:
        return EITHER(vkCmdSetCullMode) != NULL;
    case VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE:
    case VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE:
        return EITHER(vkCmdSetRasterizerDiscardEnable) != NULL;
    case VK_DYNAMIC_STATE_LOGIC_OP_EXT:
        return vk->vkCmdSetLogicOpEXT != NULL;
    case VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT:
        return vk->vkCmdSetColorWriteEnableEXT != NULL;
    case VK_DYNAMIC_STATE_LINE_STIPPLE_EXT:
        return vk->vkCmdSetLineStippleEXT != NULL;
    case VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR:
        return vk->vkCmdSetFragmentShadingRateKHR != NULL;
    default:
        return false;
    }
}

/* Known once the test resources are built. */
static VkExtent2D extent_of(const struct bf_draw *draw)
{
    return (VkExtent2D){draw->resources->extent[0], draw->resources->extent[1]};
}

bool bf_draw_narrows(const struct bf_draw *draw)
{
    return check_draw_is_dynamic(draw, VK_DYNAMIC_STATE_SCISSOR) ||
           check_draw_is_dynamic(draw, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT);
}

static uint32_t least_of(int64_t a, int64_t b)
{
    const int64_t least = a < b ? a : b;
    return least < 0 ? 0 : (uint32_t)least;
}

/* Of what the pipeline would have, where that is its own, the part that is to be drawn to. */
static VkRect2D scissor_of(const struct bf_draw *draw, const VkRect2D *own)
{
    const VkExtent2D extent = extent_of(draw);
    const uint32_t area = draw->area ? draw->area : UINT32_MAX;
    VkRect2D scissor = {.extent = {least_of(area, extent.width), least_of(area, extent.height)}};
    if (!own)
        return scissor;
    scissor.offset = own->offset;
    scissor.extent.width =
        least_of(least_of(area, own->extent.width), (int64_t)extent.width - own->offset.x);
    scissor.extent.height =
        least_of(least_of(area, own->extent.height), (int64_t)extent.height - own->offset.y);
    return scissor;
}

static void set_viewports(const struct bf_draw *draw, VkCommandBuffer commands,
                          VkDynamicState state)
{
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    const VkPipelineViewportStateCreateInfo *info = draw->interface->graphics->pViewportState;
    VkViewport viewports[VIEWPORTS];
    VkRect2D scissors[VIEWPORTS];
    const VkExtent2D extent = extent_of(draw);
    for (uint32_t i = 0; i < VIEWPORTS; i++) {
        const bool own = info && info->pScissors && i < info->scissorCount;
        viewports[i] = (VkViewport){0, 0, (float)extent.width, (float)extent.height, 0, 1};
        scissors[i] = scissor_of(draw, own ? &info->pScissors[i] : NULL);
    }
    uint32_t viewport_count = info ? info->viewportCount : 1;
    uint32_t scissor_count = info ? info->scissorCount : 1;
    if (viewport_count > VIEWPORTS)
        viewport_count = VIEWPORTS;
    if (scissor_count > VIEWPORTS)
        scissor_count = VIEWPORTS;
    switch (state) {
    case VK_DYNAMIC_STATE_VIEWPORT:
        vk->vkCmdSetViewport(commands, 0, viewport_count ? viewport_count : 1, viewports);
        break;
    case VK_DYNAMIC_STATE_SCISSOR:
        vk->vkCmdSetScissor(commands, 0, scissor_count ? scissor_count : 1, scissors);
        break;
    /* As many as the other, where that is fixed. */
    case VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT:
        EITHER(vkCmdSetViewportWithCount)(commands, scissor_count ? scissor_count : 1, viewports);
        break;
    default:
        EITHER(vkCmdSetScissorWithCount)(commands, viewport_count ? viewport_count : 1, scissors);
        break;
    }
}

static void set_state(const struct bf_draw *draw, VkCommandBuffer commands, VkDynamicState state,
                      uint32_t seed)
{
    static const float constants[] = {0.25f, 0.5f, 0.75f, 1.0f};
    static const VkFragmentShadingRateCombinerOpKHR keep[2] = {0, 0};
    const VkExtent2D one = {1, 1};
    const VkGraphicsPipelineCreateInfo *graphics = draw->interface->graphics;
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    const VkStencilFaceFlags faces = VK_STENCIL_FACE_FRONT_AND_BACK;
    VkBool32 all[BF_DRAW_ATTACHMENTS];
    switch (state) {
    case VK_DYNAMIC_STATE_VIEWPORT:
    case VK_DYNAMIC_STATE_SCISSOR:
    case VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT:
    case VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT:
        set_viewports(draw, commands, state);
        break;
    case VK_DYNAMIC_STATE_LINE_WIDTH:
        vk->vkCmdSetLineWidth(commands, 1.0f);
        break;
    case VK_DYNAMIC_STATE_DEPTH_BIAS:
        vk->vkCmdSetDepthBias(commands, 0, 0, 0);
        break;
    case VK_DYNAMIC_STATE_BLEND_CONSTANTS:
        vk->vkCmdSetBlendConstants(commands, constants);
        break;
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS:
        vk->vkCmdSetDepthBounds(commands, 0, 1);
        break;
    case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK:
        vk->vkCmdSetStencilCompareMask(commands, faces, 1);
        break;
    case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK:
        vk->vkCmdSetStencilWriteMask(commands, faces, 255);
        break;
    case VK_DYNAMIC_STATE_STENCIL_REFERENCE:
        vk->vkCmdSetStencilReference(commands, faces, 1);
        break;
    case VK_DYNAMIC_STATE_CULL_MODE:
        EITHER(vkCmdSetCullMode)(commands, VK_CULL_MODE_NONE);
        break;
    case VK_DYNAMIC_STATE_FRONT_FACE:
        EITHER(vkCmdSetFrontFace)(commands, VK_FRONT_FACE_COUNTER_CLOCKWISE);
        break;
    case VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY:
        EITHER(vkCmdSetPrimitiveTopology)
        (commands, graphics->pInputAssemblyState ? graphics->pInputAssemblyState->topology
                                                 : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
        break;
    case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE:
        EITHER(vkCmdSetDepthTestEnable)(commands, VK_TRUE);
        break;
    case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE:
        EITHER(vkCmdSetDepthWriteEnable)(commands, VK_TRUE);
        break;
    case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP:
        EITHER(vkCmdSetDepthCompareOp)
        (commands, seed % 2 ? VK_COMPARE_OP_LESS_OR_EQUAL : VK_COMPARE_OP_ALWAYS);
        break;
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE:
        EITHER(vkCmdSetDepthBoundsTestEnable)(commands, VK_FALSE);
        break;
    case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE:
        EITHER(vkCmdSetStencilTestEnable)(commands, seed % 2 ? VK_TRUE : VK_FALSE);
        break;
    case VK_DYNAMIC_STATE_STENCIL_OP:
        EITHER(vkCmdSetStencilOp)
        (commands, faces, VK_STENCIL_OP_INVERT, VK_STENCIL_OP_INCREMENT_AND_WRAP,
         VK_STENCIL_OP_DECREMENT_AND_WRAP, VK_COMPARE_OP_LESS_OR_EQUAL);
        break;
    case VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE:
        EITHER(vkCmdSetRasterizerDiscardEnable)(commands, VK_FALSE);
        break;
    case VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE:
        EITHER(vkCmdSetDepthBiasEnable)(commands, VK_FALSE);
        break;
    case VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE:
        EITHER(vkCmdSetPrimitiveRestartEnable)(commands, VK_FALSE);
        break;
    case VK_DYNAMIC_STATE_LOGIC_OP_EXT:
        vk->vkCmdSetLogicOpEXT(commands, VK_LOGIC_OP_XOR);
        break;
    case VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT:
        for (uint32_t i = 0; i < BF_DRAW_ATTACHMENTS; i++)
            all[i] = VK_TRUE;
        if (graphics->pColorBlendState &&
            graphics->pColorBlendState->attachmentCount - 1 < BF_DRAW_ATTACHMENTS)
            vk->vkCmdSetColorWriteEnableEXT(commands, graphics->pColorBlendState->attachmentCount,
                                            all);
        break;
    case VK_DYNAMIC_STATE_LINE_STIPPLE_EXT:
        vk->vkCmdSetLineStippleEXT(commands, 1, 0xffff);
        break;
    case VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR:
        vk->vkCmdSetFragmentShadingRateKHR(commands, &one, keep);
        break;
    default: /* strides: with the buffers */
        break;
    }
}

/* ---------------------------------------------------------------------------------- Commands -- */

static void bind_vertices(const struct bf_draw *draw, VkCommandBuffer commands)
{
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    const VkPipelineVertexInputStateCreateInfo *state =
        draw->interface->graphics->pVertexInputState;
    bool strides = check_draw_is_dynamic(draw, VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE);
    for (uint32_t i = 0; state && i < state->vertexBindingDescriptionCount; i++) {
        const struct bf_test_buffer *buffer = &draw->resources->buffers[draw->buffers[i]];
        uint32_t binding = state->pVertexBindingDescriptions[i].binding;
        VkDeviceSize stride = draw->strides[i];
        if (strides)
            EITHER(vkCmdBindVertexBuffers2)
        (commands, binding, 1, &draw->resources->arena, &buffer->offset, &buffer->size, &stride);
        else vk->vkCmdBindVertexBuffers(commands, binding, 1, &draw->resources->arena,
                                        &buffer->offset);
    }
}

static VkRenderingAttachmentInfo check_draw_describe(const struct bf_draw *draw, uint32_t image)
{
    return (VkRenderingAttachmentInfo){
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = image == NO_IMAGE ? VK_NULL_HANDLE : draw->resources->images[image].view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
}

static void begin_rendering(const struct bf_draw *draw, VkCommandBuffer commands)
{
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    VkRenderingAttachmentInfo colors[BF_DRAW_ATTACHMENTS];
    const VkRenderingAttachmentInfo depth = check_draw_describe(draw, draw->depth);
    for (uint32_t i = 0; i < draw->attachment_count; i++)
        colors[i] = check_draw_describe(draw, draw->attachments[i]);
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = extent_of(draw)},
        .layerCount = 1,
        .viewMask = draw->view_mask,
        .colorAttachmentCount = draw->attachment_count,
        .pColorAttachments = colors,
        .pDepthAttachment = draw->rendering->depthAttachmentFormat ? &depth : NULL,
        .pStencilAttachment = draw->rendering->stencilAttachmentFormat ? &depth : NULL,
    };
    vk->vkCmdBeginRendering(commands, &info);
}

static void check_draw_pass_begin(const struct bf_draw *draw, VkCommandBuffer commands)
{
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = draw->pass,
        .framebuffer = draw->framebuffer,
        .renderArea = {.extent = extent_of(draw)},
    };
    vk->vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    for (uint32_t i = 0; i < draw->interface->graphics->subpass; i++)
        vk->vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
}

/* Of two triangles from buffers, that face either way, one. What a vertex shader makes up by itself
 * is one triangle, or also the second: of a square it is the other half, but there may be none, or
 * an array of three corners. */
static void choose_vertices(const struct bf_draw *draw, bool second, uint32_t *first,
                            uint32_t *count)
{
    const VkGraphicsPipelineCreateInfo *graphics = draw->interface->graphics;
    const VkPipelineVertexInputStateCreateInfo *vertices = graphics->pVertexInputState;
    const VkPrimitiveTopology topology = graphics->pInputAssemblyState
                                             ? graphics->pInputAssemblyState->topology
                                             : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    const bool buffers = vertices && vertices->vertexBindingDescriptionCount;
    *first = 0;
    switch (topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
        *count = 1;
        *first = second;
        break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
        *count = 2;
        *first = second * 2;
        break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
        *count = 2;
        *first = second;
        break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
        *count = 4;
        break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
        *count = 6;
        break;
    default:
        *count = 3;
        if (buffers)
            *first = second * 3;
        else if (topology == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST && second &&
                 !draw->interface->fragile && !draw->feedback)
            *count = 6;
        break;
    }
}

bool bf_draw_has_instances(const VkGraphicsPipelineCreateInfo *graphics)
{
    const VkPipelineVertexInputStateCreateInfo *state =
        graphics ? graphics->pVertexInputState : NULL;
    bool any = false;
    for (uint32_t i = 0; state && i < state->vertexBindingDescriptionCount; i++)
        any |= state->pVertexBindingDescriptions[i].inputRate == VK_VERTEX_INPUT_RATE_INSTANCE;
    return any;
}

void bf_draw_record(const struct bf_draw *draw, VkCommandBuffer commands, uint32_t seed,
                    uint32_t instance, bool second)
{
    const struct VolkDeviceTable *vk = &draw->resources->place->gpu->vk;
    const VkPipelineDynamicStateCreateInfo *dynamic = draw->interface->graphics->pDynamicState;
    for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; i++)
        set_state(draw, commands, dynamic->pDynamicStates[i], seed);
    bind_vertices(draw, commands);
    if (draw->rendering)
        begin_rendering(draw, commands);
    else
        check_draw_pass_begin(draw, commands);
    uint32_t first, count;
    choose_vertices(draw, second, &first, &count);
    const bool instances = bf_draw_has_instances(draw->interface->graphics);
    vk->vkCmdDraw(commands, count, 1, first, instances ? 0 : instance);
    if (draw->rendering) {
        vk->vkCmdEndRendering(commands);
        return;
    }
    const VkRenderPassCreateInfo2 *pass = draw->interface->pass;
    for (uint32_t i = draw->interface->graphics->subpass + 1; i < pass->subpassCount; i++)
        vk->vkCmdNextSubpass(commands, VK_SUBPASS_CONTENTS_INLINE);
    vk->vkCmdEndRenderPass(commands);
}
