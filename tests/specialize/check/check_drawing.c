/* SPDX-License-Identifier: MIT */
/* Graphics pipelines for the tests of the check, each in several forms. */
#include "check_drawing.h"

#include "shaders/check_cover.vert.h"
#include "shaders/check_shade.frag.h"

static const struct bf_check_binding shade_bindings[] = {
    {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D,
     .number = BF_TEXEL_SFLOAT},
    {1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, .used = true, .block_size = 16,
     .kinds = (const uint8_t[]){BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT},
     .kind_count = 4},
};
const struct bf_check_set drawing_shade_set = {.binding_count = 2, .bindings = shade_bindings};

bool drawing_has_depth(const struct drawing *d, VkFormat format)
{
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(d->w->f.physical, format, &properties);
    bool has = properties.optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (!has)
        print_message("left out: there is no depth buffer of VkFormat %d\n", format);
    return has;
}

struct drawing *drawing_open(const struct bf_check_set *set, uint32_t color_count,
                             const VkFormat *colors, VkFormat depth)
{
    static struct drawing drawing;
    struct drawing *d = &drawing;
    *d = (struct drawing){.w = world_open()};
    subject_init(d->w, 1, set, 20);
    struct info_graphics *g = &d->g;
    info_graphics(g, 64, VK_NULL_HANDLE, VK_NULL_HANDLE, d->w->s.layout.handle, VK_NULL_HANDLE,
                  color_count, colors);
    g->info.flags = world_pipeline_flags(d->w);
    g->info.pDepthStencilState = &g->depth;
    g->info.pDynamicState = &g->dynamic;
    g->depth.depthTestEnable = g->depth.depthWriteEnable = VK_TRUE;
    g->depth.depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
    if (bf_format_aspects(depth) & VK_IMAGE_ASPECT_DEPTH_BIT)
        g->rendering.depthAttachmentFormat = depth;
    if (bf_format_aspects(depth) & VK_IMAGE_ASPECT_STENCIL_BIT)
        g->rendering.stencilAttachmentFormat = depth;
    DRAWING_SHADER(d, 0, check_cover_vert);
    DRAWING_SHADER(d, 1, check_shade_frag);
    d->w->s.check.graphics = &d->g.info;
    return d;
}

VkAttachmentReference2 drawing_reference(uint32_t n, VkImageLayout layout,
                                         VkImageAspectFlags aspects)
{
    return (VkAttachmentReference2){VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, n, layout,
                                    aspects};
}

VkAttachmentReference2 drawing_color(uint32_t n)
{
    return drawing_reference(n, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                             VK_IMAGE_ASPECT_COLOR_BIT);
}

VkAttachmentReference2 drawing_input(uint32_t n)
{
    return drawing_reference(n, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                             VK_IMAGE_ASPECT_COLOR_BIT);
}

VkAttachmentDescription2 drawing_attachment(VkFormat format, VkSampleCountFlagBits samples)
{
    bool color = bf_format_aspects(format) == VK_IMAGE_ASPECT_COLOR_BIT;
    return (VkAttachmentDescription2){VK_TYPE(ATTACHMENT_DESCRIPTION_2),
                                      .format = format,
                                      .samples = samples,
                                      .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                      .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                      .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                      .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                      .finalLayout =
                                          color ? VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
                                                : VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL};
}

VkSubpassDescription2 drawing_subpass(uint32_t input_count, const VkAttachmentReference2 *inputs,
                                      uint32_t color_count, const VkAttachmentReference2 *colors,
                                      const VkAttachmentReference2 *depth)
{
    return (VkSubpassDescription2){
        VK_TYPE(SUBPASS_DESCRIPTION_2), .inputAttachmentCount = input_count,
        .pInputAttachments = inputs,    .colorAttachmentCount = color_count,
        .pColorAttachments = colors,    .pDepthStencilAttachment = depth};
}

VkRenderPassCreateInfo2 drawing_pass(uint32_t attachment_count,
                                     const VkAttachmentDescription2 *attachments,
                                     uint32_t subpass_count, const VkSubpassDescription2 *subpasses,
                                     const VkSubpassDependency2 *dependency)
{
    return (VkRenderPassCreateInfo2){VK_TYPE(RENDER_PASS_CREATE_INFO_2),
                                     .attachmentCount = attachment_count,
                                     .pAttachments = attachments,
                                     .subpassCount = subpass_count,
                                     .pSubpasses = subpasses,
                                     .dependencyCount = dependency ? 1 : 0,
                                     .pDependencies = dependency};
}

VkShaderModule drawing_module(struct world *w, uint32_t stage)
{
    return stage ? vulkan_module(w->f.device, check_shade_frag, sizeof(check_shade_frag))
                 : vulkan_module(w->f.device, check_cover_vert, sizeof(check_cover_vert));
}

void drawing_use_pass(struct drawing *d, const VkRenderPassCreateInfo2 *pass)
{
    d->pass = *pass;
    assert_success(vkCreateRenderPass2(d->w->f.device, &d->pass, NULL, &d->pass_handle));
    d->g.info.pNext = NULL;
    d->g.info.renderPass = d->pass_handle;
    d->w->s.check.pass = &d->pass;
}

VkPipeline drawing_make(struct drawing *d, int32_t which)
{
    struct world *w = d->w;
    const VkSpecializationMapEntry entry = {.size = sizeof(which)};
    const VkSpecializationInfo specialization = {1, &entry, sizeof(which), &which};
    for (uint32_t i = 0; i < 2; i++) {
        d->g.stages[i] = info_stage(i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
                                    vulkan_module(w->f.device, d->words[i], d->sizes[i]),
                                    i ? &specialization : NULL);
    }
    assert_true(w->pipeline_count < WORLD_OBJECTS);
    VkPipeline *made = &w->pipelines[w->pipeline_count++];
    assert_success(
        vkCreateGraphicsPipelines(w->f.device, VK_NULL_HANDLE, 1, &d->g.info, NULL, made));
    for (uint32_t i = 0; i < 2; i++) {
        vkDestroyShaderModule(w->f.device, d->g.stages[i].module, NULL);
        d->g.stages[i].pSpecializationInfo = NULL;
    }
    return *made;
}

void drawing_close(struct drawing *d)
{
    vkDestroyRenderPass(d->w->f.device, d->pass_handle, NULL);
    world_close(d->w);
}

const char *drawing_trial(struct drawing *d, const char *letters)
{
    static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
    static char left[9];
    uint32_t n = 0;
    trial_init(d->w, drawing_make(d, 0));
    memcpy(d->w->t.push, push, sizeof(push));
    for (int32_t i = 0; letters[i]; i++) {
        if (letters[i] == '.')
            continue;
        left[n++] = letters[i];
        trial_add(d->w, drawing_make(d, i));
    }
    left[n] = 0;
    return left;
}

void expect_drawing(struct drawing *d, const char *letters)
{
    expect_forms(d->w, drawing_trial(d, letters));
}
