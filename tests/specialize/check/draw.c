/* SPDX-License-Identifier: MIT */
/* Graphics pipelines against others that are the same, or nearly so (CK-1, CK-4, DR-1, DR-2). */
#include "check_drawing.h"

#include <string.h>

#include "shaders/check_corner.vert.h"
#include "shaders/check_place.vert.h"
#include "shaders/check_store.frag.h"

/* ------------------------------------------------------------------------------------ Rendering --
 */

TEST(attachments_of_many_formats_are_compared)
{
    static const struct {
        VkFormat format;
        const char *letters; /* small ones can't hold what some forms change */
    } cases[] = {
        {VK_FORMAT_R8G8B8A8_UNORM, "=?!!?"},          {VK_FORMAT_B8G8R8A8_SRGB, "=?!!?"},
        {VK_FORMAT_R16G16B16A16_SFLOAT, "=?!!?"},     {VK_FORMAT_R32G32B32A32_SFLOAT, "=!!!!"},
        {VK_FORMAT_B10G11R11_UFLOAT_PACK32, "=?!!="},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, &cases[i].format, VK_FORMAT_UNDEFINED);
        char letters[6] = "";
        /* '?' is either. */
        struct timing t;
        static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
        memcpy(letters, cases[i].letters, 5);
        trial_init(&t, &d.interface, drawing_make(&w, &d, 0));
        memcpy(t.push, push, sizeof(push));
        for (int32_t k = 0; k < 5; k++)
            trial_add(&t, drawing_make(&w, &d, k));
        assert_success(bf_check_run(w.checker, &t.info));
        for (uint32_t k = 0; k < 5; k++) {
            if (letters[k] != '?' &&
                t.forms[k].reason != (letters[k] == '=' ? BF_REASON_NONE : BF_REASON_INEXACT))
                fail_msg("format %u, form %u: reason %u", i, k, t.forms[k].reason);
        }
        drawing_finish(&w, &d);
        world_close(&w);
    }
}

TEST(blending_sees_what_was_there)
{
    struct world w;
    struct drawing d;
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, formats, VK_FORMAT_D32_SFLOAT);
    d.blends[0] = (VkPipelineColorBlendAttachmentState){
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 15,
    };
    drawing_expect(&w, &d, "=!!!!");
    world_close(&w);
}

TEST(depths_are_such_that_some_are_equal)
{
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM,
                                      VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT_S8_UINT};
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    for (uint32_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        if (!drawing_has_depth(&w, depths[i])) {
            world_close(&w);
            continue;
        }
        drawing_init(&w, &d, &drawing_shade_set, 1, formats, depths[i]);
        d.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
        d.depth.depthWriteEnable = VK_FALSE;
        drawing_expect(&w, &d, "=!");
        d.depth.depthCompareOp = VK_COMPARE_OP_NEVER;
        drawing_expect(&w, &d, "??");
        world_close(&w);
    }
}

/* As large as what the program drew to, as far as that is not too much. */
TEST(all_of_what_was_drawn_to_is_compared)
{
    static const struct {
        uint32_t width, height;
        const char *letters;
    } cases[] = {{0, 0, "=....="},
                 {200, 100, "=....!"},
                 {100, 200, "=....="},
                 {8192, 16, "=....="},
                 {4096, 4096, "=....!"}};
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t samples = 1; samples <= (i == 1 ? 4 : 1); samples += 3) {
            struct world w;
            struct drawing d;
            world_open(&w);
            drawing_init(&w, &d, &drawing_shade_set, 1, formats, VK_FORMAT_D32_SFLOAT);
            d.interface.check.extent[0] = cases[i].width;
            d.interface.check.extent[1] = cases[i].height;
            d.viewport.width = d.viewport.height = 256;
            d.scissor.extent = (VkExtent2D){256, 256};
            d.samples.rasterizationSamples = (VkSampleCountFlagBits)samples;
            drawing_expect(&w, &d, cases[i].letters);
            world_close(&w);
        }
    }
}

/* What takes long is checked on less, before it is given up. */
TEST(what_is_large_and_takes_long_is_checked_anew)
{
    struct world w;
    struct drawing d;
    struct timing t;
    const enum bf_reason uncheckable = BF_REASON_UNCHECKABLE;
    const VkFormat format = VK_FORMAT_R32G32B32A32_SFLOAT;
    world_open(&w);
    world_close_checker(&w);
    world_open_checker(&w, true, 0, 1);
    drawing_init(&w, &d, &drawing_shade_set, 1, &format, VK_FORMAT_UNDEFINED);
    d.interface.check.extent[0] = d.interface.check.extent[1] = 256;
    trial_init(&t, &d.interface, drawing_make(&w, &d, 0));
    trial_add(&t, t.info.general);
    trial_expect(&w, &t, &uncheckable);
    assert_string_equal(t.info.why, "the general pipeline takes too long");
    world_close(&w);
}

TEST(several_attachments_and_views_are_drawn_to)
{
    struct world w;
    struct drawing d;
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_UNDEFINED,
                                VK_FORMAT_R8_UNORM};
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 3, formats, VK_FORMAT_D32_SFLOAT_S8_UINT);
    d.rendering.viewMask = 5;
    d.blends[2].colorWriteMask = 0; /* what the shader does not write is left open */
    drawing_expect(&w, &d, "=!!!!");
    world_close(&w);
}

TEST(one_that_only_stores_is_checked)
{
    const struct bf_check_binding binding = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             .count = 1,
                                             .used = true,
                                             .written = true,
                                             .array_stride = 4};
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &set, 0, NULL, VK_FORMAT_UNDEFINED);
    d.words[1] = check_store_frag;
    d.sizes[1] = sizeof(check_store_frag);
    drawing_expect(&w, &d, "=!");
    d.info.pNext = NULL; /* as good as one without attachments */
    drawing_expect(&w, &d, "=!");
    world_close(&w);
}

TEST(no_more_vertices_than_three_are_asked_of_fragile_shaders)
{
    const struct bf_check_binding binding = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             .count = 1,
                                             .used = true,
                                             .written = true,
                                             .array_stride = 4};
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &set, 0, NULL, VK_FORMAT_UNDEFINED);
    d.words[0] = check_corner_vert;
    d.sizes[0] = sizeof(check_corner_vert);
    d.words[1] = check_store_frag;
    d.sizes[1] = sizeof(check_store_frag);
    d.interface.check.fragile = true;
    drawing_expect(&w, &d, "=!=");
    world_close(&w);
}

/* ------------------------------------------------------------------------------- Render passes --
 */

TEST(a_subpass_of_a_render_pass_is_drawn_to)
{
    const VkAttachmentDescription2 attachments[] = {
        {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
         .format = VK_FORMAT_R8G8B8A8_UNORM,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
        {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
         .format = VK_FORMAT_R32G32B32A32_SFLOAT,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
        {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
         .format = VK_FORMAT_D32_SFLOAT,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL},
    };
    const VkAttachmentReference2 first[] = {
        DRAWING_REFERENCE(0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 input[] = {
        DRAWING_REFERENCE(0, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 second[] = {
        DRAWING_REFERENCE(1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 depth = DRAWING_REFERENCE(
        2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_DEPTH_BIT);
    const VkSubpassDescription2 subpasses[] = {
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
         .colorAttachmentCount = 1,
         .pColorAttachments = first},
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
         .inputAttachmentCount = 1,
         .pInputAttachments = input,
         .colorAttachmentCount = 1,
         .pColorAttachments = second,
         .pDepthStencilAttachment = &depth},
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2},
    };
    const VkSubpassDependency2 dependencies[] = {
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
         .srcSubpass = 0,
         .dstSubpass = 1,
         .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT},
    };
    const VkRenderPassCreateInfo2 pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 3,
        .pAttachments = attachments,
        .subpassCount = 3,
        .pSubpasses = subpasses,
        .dependencyCount = 1,
        .pDependencies = dependencies,
    };
    for (uint32_t subpass = 0; subpass < 2; subpass++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, &attachments[subpass].format,
                     VK_FORMAT_UNDEFINED);
        drawing_use_pass(&w, &d, &pass);
        d.info.subpass = subpass;
        drawing_expect(&w, &d, subpass ? "=!!!!" : "=");
        drawing_finish(&w, &d);
        world_close(&w);
    }
}

/* ------------------------------------------------------------------------- Vertices, dynamic state --
 */

static const VkVertexInputBindingDescription place_bindings[] = {
    {0, 24, VK_VERTEX_INPUT_RATE_VERTEX},
    {3, 8, VK_VERTEX_INPUT_RATE_INSTANCE},
};
static const VkVertexInputAttributeDescription place_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, 4},
    {1, 0, VK_FORMAT_R16G16_SFLOAT, 0},
    {2, 3, VK_FORMAT_R8_UINT, 7},
    {3, 3, VK_FORMAT_R8G8B8A8_UNORM, 0},
};

static void use_vertices(struct drawing *d)
{
    d->words[0] = check_place_vert;
    d->sizes[0] = sizeof(check_place_vert);
    d->vertices.vertexBindingDescriptionCount = 2;
    d->vertices.pVertexBindingDescriptions = place_bindings;
    d->vertices.vertexAttributeDescriptionCount = 4;
    d->vertices.pVertexAttributeDescriptions = place_attributes;
}

TEST(vertices_cover_what_is_drawn_to)
{
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    for (uint32_t cull = 0; cull < 3; cull++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, formats, VK_FORMAT_UNDEFINED);
        use_vertices(&d);
        d.raster.cullMode = cull;
        drawing_expect(&w, &d, "=!!!!");
        world_close(&w);
    }
}

TEST(all_dynamic_state_is_set)
{
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    static const VkDynamicState states[] = {
        VK_DYNAMIC_STATE_LINE_WIDTH,
        VK_DYNAMIC_STATE_DEPTH_BIAS,
        VK_DYNAMIC_STATE_BLEND_CONSTANTS,
        VK_DYNAMIC_STATE_DEPTH_BOUNDS,
        VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK,
        VK_DYNAMIC_STATE_STENCIL_WRITE_MASK,
        VK_DYNAMIC_STATE_STENCIL_REFERENCE,
        VK_DYNAMIC_STATE_CULL_MODE,
        VK_DYNAMIC_STATE_FRONT_FACE,
        VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY,
        VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE,
        VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
        VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
        VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
        VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE,
        VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE,
        VK_DYNAMIC_STATE_STENCIL_OP,
        VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE,
        VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE,
        VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE,
        VK_DYNAMIC_STATE_VIEWPORT, /* or with a count */
        VK_DYNAMIC_STATE_SCISSOR,
    };
    for (uint32_t count = 0; count < 2; count++) {
        struct world w;
        struct drawing d;
        VkDynamicState list[sizeof(states) / sizeof(states[0])];
        const uint32_t n = sizeof(states) / sizeof(states[0]);
        memcpy(list, states, sizeof(states));
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, formats, VK_FORMAT_D32_SFLOAT_S8_UINT);
        use_vertices(&d);
        d.view.pViewports = NULL;
        d.view.pScissors = NULL;
        if (count) {
            list[n - 2] = VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT;
            list[n - 1] = VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT;
            d.view.viewportCount = d.view.scissorCount = 0;
        }
        d.dynamic.dynamicStateCount = n;
        d.dynamic.pDynamicStates = list;
        drawing_expect(&w, &d, "=!!!!");
        world_close(&w);
    }
}

TEST(what_can_t_be_drawn_is_uncheckable)
{
    struct world w;
    struct drawing d;
    struct timing t;
    const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM};
    const VkDynamicState unknown = VK_DYNAMIC_STATE_VIEWPORT_SHADING_RATE_PALETTE_NV;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, formats, VK_FORMAT_UNDEFINED);
    trial_init(&t, &d.interface, drawing_make(&w, &d, 0));
    trial_add(&t, t.info.general);
    const enum bf_reason none = BF_REASON_NONE, uncheckable = BF_REASON_UNCHECKABLE;
    trial_expect(&w, &t, &none);
    d.samples.rasterizationSamples = VK_SAMPLE_COUNT_64_BIT;
    trial_expect(&w, &t, &uncheckable);
    assert_string_equal(t.info.why, "an attachment's samples can't be read");
    d.samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    d.dynamic.dynamicStateCount = 1;
    d.dynamic.pDynamicStates = &unknown;
    trial_expect(&w, &t, &uncheckable);
    d.dynamic.dynamicStateCount = 0;
    d.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    trial_expect(&w, &t, &uncheckable);
    d.assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    d.formats[0] = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    trial_expect(&w, &t, &uncheckable);
    d.formats[0] = VK_FORMAT_R8G8B8A8_UNORM;
    d.rendering.viewMask = 0x80000000;
    trial_expect(&w, &t, &uncheckable);
    d.rendering.viewMask = 0;
    trial_expect(&w, &t, &none);
    world_close(&w);
}
