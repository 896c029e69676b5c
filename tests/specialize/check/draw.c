/* SPDX-License-Identifier: MIT */
/* Graphics pipelines against others that are the same, or nearly so (CK-1, CK-4, DR-1, DR-2). */
#include "check_drawing.h"

#include "specialize/check/seeds.h"

#include "shaders/check_corner.vert.h"
#include "shaders/check_deep.frag.h"
#include "shaders/check_deep.vert.h"
#include "shaders/check_faces.frag.h"
#include "shaders/check_instance.frag.h"
#include "shaders/check_instance.vert.h"
#include "shaders/check_place.vert.h"
#include "shaders/check_store.frag.h"

static const VkFormat wide = VK_FORMAT_R32G32B32A32_SFLOAT;

/* --------------------------------------------------------------------------------- Rendering -- */

TEST(attachments_of_many_formats_are_compared)
{
    static const struct {
        VkFormat format;
        const char *letters; /* ' ' where small ones can't hold what the form changes */
    } cases[] = {
        {VK_FORMAT_R8G8B8A8_UNORM, "= !! "},          {VK_FORMAT_B8G8R8A8_SRGB, "= !! "},
        {VK_FORMAT_R16G16B16A16_SFLOAT, "= !! "},     {VK_FORMAT_R32G32B32A32_SFLOAT, "=!!!!"},
        {VK_FORMAT_B10G11R11_UFLOAT_PACK32, "= !!="},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct drawing *d =
            drawing_open(&drawing_shade_set, 1, &cases[i].format, VK_FORMAT_UNDEFINED);
        expect_drawing(d, cases[i].letters);
        drawing_close(d);
    }
}

DRAWING_TEST(blending_sees_what_was_there, &drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT)
{
    d->g.blends[0] = (VkPipelineColorBlendAttachmentState){
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 15,
    };
    expect_drawing(d, "=!!!!");
}

TEST(depths_are_such_that_some_are_equal)
{
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM,
                                      VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, depths[i]);
        if (!drawing_has_depth(d, depths[i])) {
            drawing_close(d);
            continue;
        }
        d->g.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
        d->g.depth.depthWriteEnable = VK_FALSE;
        expect_drawing(d, "=!");
        d->g.depth.depthCompareOp = VK_COMPARE_OP_NEVER;
        expect_drawing(d, "??");
        drawing_close(d);
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
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t samples = 1; samples <= (i == 1 ? 4 : 1); samples += 3) {
            struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT);
            d->w->s.check.extent[0] = cases[i].width;
            d->w->s.check.extent[1] = cases[i].height;
            d->g.viewport.width = d->g.viewport.height = 256;
            d->g.scissor.extent = (VkExtent2D){256, 256};
            d->g.samples.rasterizationSamples = (VkSampleCountFlagBits)samples;
            expect_drawing(d, cases[i].letters);
            drawing_close(d);
        }
    }
}

/* What takes long is checked on less, before it is given up. */
DRAWING_TEST(what_is_large_and_takes_long_is_checked_anew, &drawing_shade_set, 1, &wide,
             VK_FORMAT_UNDEFINED)
{
    d->w->s.check.extent[0] = d->w->s.check.extent[1] = 256;
    world_open_checker(d->w, true, 0, 1);
    drawing_trial(d, "=");
    expect_forms(d->w, "~");
    assert_string_equal(d->w->t.info.why, "the general pipeline takes too long");
}

TEST(several_attachments_and_views_are_drawn_to)
{
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_UNDEFINED,
                                VK_FORMAT_R8_UNORM};
    struct drawing *d = drawing_open(&drawing_shade_set, 3, formats, VK_FORMAT_D32_SFLOAT_S8_UINT);
    d->g.rendering.viewMask = 5;
    d->g.blends[2].colorWriteMask = 0; /* what the shader does not write is left open */
    expect_drawing(d, "=!!!!");
    drawing_close(d);
}

/* Not the first instance alone, where no buffers have something of each. [CK-15] */
DRAWING_TEST(some_draws_begin_with_other_instances, &drawing_shade_set, 1, &wide,
             VK_FORMAT_UNDEFINED)
{
    const struct bf_check_plan plan = {.seeds = BF_ALL_SEEDS & ~BF_BARE_SEEDS};
    DRAWING_SHADER(d, 0, check_instance_vert);
    DRAWING_SHADER(d, 1, check_instance_frag);
    expect_drawing(d, "===");
    d->w->t.info.plan = &plan;
    expect_forms(d->w, "=!!");
}

static const struct bf_check_binding store_binding = {
    0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4};
static const struct bf_check_set store_set = {.binding_count = 1, .bindings = &store_binding};

DRAWING_TEST(one_that_only_stores_is_checked, &store_set, 0, NULL, VK_FORMAT_UNDEFINED)
{
    DRAWING_SHADER(d, 1, check_store_frag);
    expect_drawing(d, "=!");
    d->g.info.pNext = NULL; /* as good as one without attachments */
    expect_drawing(d, "=!");
}

DRAWING_TEST(no_more_vertices_than_three_are_asked_of_fragile_shaders, &store_set, 0, NULL,
             VK_FORMAT_UNDEFINED)
{
    DRAWING_SHADER(d, 0, check_corner_vert);
    DRAWING_SHADER(d, 1, check_store_frag);
    d->w->s.check.fragile = true;
    expect_drawing(d, "=!=");
}

/* ----------------------------------------------------------------------------- Render passes -- */

TEST(a_subpass_of_a_render_pass_is_drawn_to)
{
    const VkAttachmentDescription2 attachments[] = {
        {VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = VK_FORMAT_R8G8B8A8_UNORM,
         .samples = VK_SAMPLE_COUNT_1_BIT, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
        {VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = VK_FORMAT_R32G32B32A32_SFLOAT,
         .samples = VK_SAMPLE_COUNT_1_BIT, .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
        {VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = VK_FORMAT_D32_SFLOAT,
         .samples = VK_SAMPLE_COUNT_1_BIT, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL},
    };
    const VkAttachmentReference2 first = drawing_color(0), input = drawing_input(0);
    const VkAttachmentReference2 second = drawing_color(1);
    const VkAttachmentReference2 depth = drawing_reference(
        2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_DEPTH_BIT);
    const VkSubpassDescription2 subpasses[] = {
        drawing_subpass(0, NULL, 1, &first, NULL),
        drawing_subpass(1, &input, 1, &second, &depth),
        {VK_TYPE(SUBPASS_DESCRIPTION_2)},
    };
    const VkSubpassDependency2 dependencies[] = {
        {VK_TYPE(SUBPASS_DEPENDENCY_2), .srcSubpass = 0, .dstSubpass = 1,
         .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT},
    };
    const VkRenderPassCreateInfo2 pass = drawing_pass(3, attachments, 3, subpasses, dependencies);
    for (uint32_t subpass = 0; subpass < 2; subpass++) {
        struct drawing *d =
            drawing_open(&drawing_shade_set, 1, &attachments[subpass].format, VK_FORMAT_UNDEFINED);
        drawing_use_pass(d, &pass);
        d->g.info.subpass = subpass;
        expect_drawing(d, subpass ? "=!!!!" : "=");
        drawing_close(d);
    }
}

/* ------------------------------------------------------------------- Vertices, dynamic state -- */

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
    DRAWING_SHADER(d, 0, check_place_vert);
    d->g.vertices.vertexBindingDescriptionCount = 2;
    d->g.vertices.pVertexBindingDescriptions = place_bindings;
    d->g.vertices.vertexAttributeDescriptionCount = 4;
    d->g.vertices.pVertexAttributeDescriptions = place_attributes;
}

TEST(vertices_cover_what_is_drawn_to)
{
    for (uint32_t cull = 0; cull < 3; cull++) {
        struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
        use_vertices(d);
        d->g.raster.cullMode = cull;
        expect_drawing(d, "=!!!!");
        drawing_close(d);
    }
}

/* [DU-7] */
DRAWING_TEST(vertices_are_of_several_depths, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED)
{
    static const VkVertexInputBindingDescription binding = {0, 16, VK_VERTEX_INPUT_RATE_VERTEX};
    VkVertexInputAttributeDescription attribute = {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0};
    DRAWING_SHADER(d, 0, check_deep_vert);
    DRAWING_SHADER(d, 1, check_deep_frag);
    d->g.vertices.vertexBindingDescriptionCount = 1;
    d->g.vertices.pVertexBindingDescriptions = &binding;
    d->g.vertices.vertexAttributeDescriptionCount = 1;
    d->g.vertices.pVertexAttributeDescriptions = &attribute;
    expect_drawing(d, "=!!");
    attribute.format = VK_FORMAT_R32G32B32_SFLOAT; /* it can't be in perspective */
    expect_drawing(d, "==!");
}

/* Neither hides the other. [CK-24] */
TEST(both_sides_of_triangles_are_compared)
{
    static const VkCompareOp ops[] = {VK_COMPARE_OP_ALWAYS, VK_COMPARE_OP_LESS_OR_EQUAL};
    for (uint32_t i = 0; i < 2; i++) {
        struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT);
        use_vertices(d);
        DRAWING_SHADER(d, 1, check_faces_frag);
        d->g.depth.depthCompareOp = ops[i];
        expect_drawing(d, "=!!");
        drawing_close(d);
    }
}

TEST(all_dynamic_state_is_set)
{
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
        VkDynamicState list[sizeof(states) / sizeof(states[0])];
        const uint32_t n = sizeof(states) / sizeof(states[0]);
        memcpy(list, states, sizeof(states));
        struct drawing *d =
            drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT_S8_UINT);
        use_vertices(d);
        d->g.viewports.pViewports = NULL;
        d->g.viewports.pScissors = NULL;
        if (count) {
            list[n - 2] = VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT;
            list[n - 1] = VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT;
            d->g.viewports.viewportCount = d->g.viewports.scissorCount = 0;
        }
        d->g.dynamic.dynamicStateCount = n;
        d->g.dynamic.pDynamicStates = list;
        expect_drawing(d, "=!!!!");
        drawing_close(d);
    }
}

TEST(what_can_t_be_drawn_is_uncheckable)
{
    const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM};
    const VkDynamicState unknown = VK_DYNAMIC_STATE_VIEWPORT_SHADING_RATE_PALETTE_NV;
    struct drawing *d = drawing_open(&drawing_shade_set, 1, formats, VK_FORMAT_UNDEFINED);
    expect_drawing(d, "=");
    d->g.samples.rasterizationSamples = VK_SAMPLE_COUNT_64_BIT;
    expect_refusal(d->w, "an attachment's samples can't be read");
    d->g.samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    d->g.dynamic.dynamicStateCount = 1;
    d->g.dynamic.pDynamicStates = &unknown;
    expect_refusal(d->w, NULL);
    d->g.dynamic.dynamicStateCount = 0;
    d->g.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    expect_refusal(d->w, NULL);
    d->g.assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    d->g.formats[0] = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    expect_refusal(d->w, NULL);
    d->g.formats[0] = VK_FORMAT_R8G8B8A8_UNORM;
    d->g.rendering.viewMask = 0x80000000;
    expect_refusal(d->w, NULL);
    d->g.rendering.viewMask = 0;
    expect_forms(d->w, "=");
    drawing_close(d);
}
