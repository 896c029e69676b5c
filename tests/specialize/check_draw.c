/* Graphics pipelines against others that are the same, or nearly so (CK-1, CK-4, DR-1, DR-2). */
#include "check_world.h"

#include <string.h>

#include "shaders/check_corner.vert.h"
#include "shaders/check_cover.vert.h"
#include "shaders/check_place.vert.h"
#include "shaders/check_shade.frag.h"
#include "shaders/check_store.frag.h"

/* ------------------------------------------------------------------------------------ Pipelines --
 */

/* A pipeline's create-info and all that it points to; dynamic rendering unless 'pass' is set. */
struct drawing {
    struct subject subject;
    VkPipelineShaderStageCreateInfo stages[2];
    VkPipelineVertexInputStateCreateInfo vertices;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkViewport viewport;
    VkRect2D scissor;
    VkPipelineViewportStateCreateInfo view;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blends[4];
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineDynamicStateCreateInfo dynamic;
    VkFormat formats[4];
    VkPipelineRenderingCreateInfo rendering;
    VkGraphicsPipelineCreateInfo info;
    VkRenderPassCreateInfo2 pass;
    VkRenderPass pass_handle;
    const uint32_t *words[2];
    size_t sizes[2];
};

static const struct bf_check_binding shade_bindings[] = {
    {.binding = 0,
     .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
     .count = 1,
     .used = true,
     .view = VK_IMAGE_VIEW_TYPE_2D,
     .number = BF_TEXEL_SFLOAT},
    {.binding = 1,
     .type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
     .count = 1,
     .used = true,
     .block_size = 16,
     .kinds = (const uint8_t[]){BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT, BF_UNIT_FLOAT},
     .kind_count = 4},
};
static const struct bf_check_set shade_set = {.binding_count = 2, .bindings = shade_bindings};

static void drawing_init(struct world *w, struct drawing *d, const struct bf_check_set *set,
                         uint32_t color_count, const VkFormat *colors, VkFormat depth)
{
    *d = (struct drawing){0};
    subject_init(w, &d->subject, 1, set, 20);
    d->vertices.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    d->assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    d->assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    d->viewport = (VkViewport){0, 0, 64, 64, 0, 1};
    d->scissor = (VkRect2D){.extent = {64, 64}};
    d->view = (VkPipelineViewportStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &d->viewport,
        .scissorCount = 1,
        .pScissors = &d->scissor};
    d->raster = (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    d->samples = (VkPipelineMultisampleStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    d->depth = (VkPipelineDepthStencilStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL};
    for (uint32_t i = 0; i < color_count; i++) {
        d->formats[i] = colors[i];
        d->blends[i].colorWriteMask = 15;
    }
    d->blend = (VkPipelineColorBlendStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = color_count,
        .pAttachments = d->blends};
    d->dynamic.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
    d->rendering = (VkPipelineRenderingCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = color_count,
        .pColorAttachmentFormats = d->formats,
        .depthAttachmentFormat =
            bf_format_aspects(depth) & VK_IMAGE_ASPECT_DEPTH_BIT ? depth : VK_FORMAT_UNDEFINED,
        .stencilAttachmentFormat =
            bf_format_aspects(depth) & VK_IMAGE_ASPECT_STENCIL_BIT ? depth : VK_FORMAT_UNDEFINED};
    d->info = (VkGraphicsPipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &d->rendering,
        .stageCount = 2,
        .pStages = d->stages,
        .pVertexInputState = &d->vertices,
        .pInputAssemblyState = &d->assembly,
        .pViewportState = &d->view,
        .pRasterizationState = &d->raster,
        .pMultisampleState = &d->samples,
        .pDepthStencilState = &d->depth,
        .pColorBlendState = &d->blend,
        .pDynamicState = &d->dynamic,
        .layout = d->subject.layout.handle,
    };
    d->words[0] = check_cover_vert;
    d->sizes[0] = sizeof(check_cover_vert);
    d->words[1] = check_shade_frag;
    d->sizes[1] = sizeof(check_shade_frag);
    d->subject.check.graphics = &d->info;
}

/* With this render pass instead. */
static void drawing_use_pass(struct world *w, struct drawing *d,
                             const VkRenderPassCreateInfo2 *pass)
{
    d->pass = *pass;
    assert_success(vkCreateRenderPass2(w->f.device, &d->pass, NULL, &d->pass_handle));
    d->info.pNext = NULL;
    d->info.renderPass = d->pass_handle;
    d->subject.check.pass = &d->pass;
}

static VkPipeline make_drawing(struct world *w, struct drawing *d, int32_t which)
{
    const VkSpecializationMapEntry entry = {.size = sizeof(which)};
    const VkSpecializationInfo specialization = {1, &entry, sizeof(which), &which};
    for (uint32_t i = 0; i < 2; i++) {
        d->stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
            .module = make_module(w, d->words[i], d->sizes[i]),
            .pName = "main",
            .pSpecializationInfo = i ? &specialization : NULL};
    }
    assert_true(w->pipeline_count < WORLD_OBJECTS);
    VkPipeline *made = &w->pipelines[w->pipeline_count++];
    assert_success(vkCreateGraphicsPipelines(w->f.device, VK_NULL_HANDLE, 1, &d->info, NULL, made));
    for (uint32_t i = 0; i < 2; i++) {
        vkDestroyShaderModule(w->f.device, d->stages[i].module, NULL);
        d->stages[i].pSpecializationInfo = NULL;
    }
    return *made;
}

static void drawing_finish(struct world *w, struct drawing *d)
{
    vkDestroyRenderPass(w->f.device, d->pass_handle, NULL);
}

/* Forms 0 to 4 of the fragment shader against form 0. */
static void expect(struct world *w, struct drawing *d, const char *letters)
{
    static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
    enum bf_reason reasons[8];
    struct trial t;
    trial_init(&t, &d->subject, make_drawing(w, d, 0));
    memcpy(t.push, push, sizeof(push));
    for (int32_t i = 0; letters[i]; i++) {
        reasons[i] = letters[i] == '='   ? BF_REASON_NONE
                     : letters[i] == '!' ? BF_REASON_INEXACT
                                         : BF_REASON_UNCHECKABLE;
        trial_add(&t, make_drawing(w, d, i));
    }
    trial_expect(w, &t, reasons);
}

/* ------------------------------------------------------------------------------------ Rendering --
 */

static void attachments_of_many_formats_are_compared(void **state)
{
    (void)state;
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
        drawing_init(&w, &d, &shade_set, 1, &cases[i].format, VK_FORMAT_UNDEFINED);
        char letters[6] = "";
        /* '?' is either. */
        struct trial t;
        static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
        memcpy(letters, cases[i].letters, 5);
        trial_init(&t, &d.subject, make_drawing(&w, &d, 0));
        memcpy(t.push, push, sizeof(push));
        for (int32_t k = 0; k < 5; k++)
            trial_add(&t, make_drawing(&w, &d, k));
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

static void blending_sees_what_was_there(void **state)
{
    (void)state;
    struct world w;
    struct drawing d;
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    world_open(&w);
    drawing_init(&w, &d, &shade_set, 1, formats, VK_FORMAT_D32_SFLOAT);
    d.blends[0] = (VkPipelineColorBlendAttachmentState){
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 15,
    };
    expect(&w, &d, "=!!!!");
    world_close(&w);
}

static void depths_are_such_that_some_are_equal(void **state)
{
    (void)state;
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM,
                                      VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT_S8_UINT};
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    for (uint32_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &shade_set, 1, formats, depths[i]);
        d.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
        d.depth.depthWriteEnable = VK_FALSE;
        expect(&w, &d, "=!");
        d.depth.depthCompareOp = VK_COMPARE_OP_NEVER;
        expect(&w, &d, "??");
        world_close(&w);
    }
}

static void several_attachments_and_views_are_drawn_to(void **state)
{
    (void)state;
    struct world w;
    struct drawing d;
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_UNDEFINED,
                                VK_FORMAT_R8_UNORM};
    world_open(&w);
    drawing_init(&w, &d, &shade_set, 3, formats, VK_FORMAT_D32_SFLOAT_S8_UINT);
    d.rendering.viewMask = 5;
    d.blends[2].colorWriteMask = 0; /* what the shader does not write is left open */
    expect(&w, &d, "=!!!!");
    world_close(&w);
}

static void one_that_only_stores_is_checked(void **state)
{
    (void)state;
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
    expect(&w, &d, "=!");
    d.info.pNext = NULL; /* as good as one without attachments */
    expect(&w, &d, "=!");
    world_close(&w);
}

static void no_more_vertices_than_three_are_asked_of_fragile_shaders(void **state)
{
    (void)state;
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
    d.subject.check.fragile = true;
    expect(&w, &d, "=!=");
    world_close(&w);
}

/* ------------------------------------------------------------------------------- Render passes --
 */

#define REFERENCE(n_, layout_, aspect_)                                                            \
    {                                                                                              \
        VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, n_, layout_, aspect_                       \
    }

static void a_subpass_of_a_render_pass_is_drawn_to(void **state)
{
    (void)state;
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
        REFERENCE(0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 input[] = {
        REFERENCE(0, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 second[] = {
        REFERENCE(1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT)};
    const VkAttachmentReference2 depth =
        REFERENCE(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_DEPTH_BIT);
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
        drawing_init(&w, &d, &shade_set, 1, &attachments[subpass].format, VK_FORMAT_UNDEFINED);
        drawing_use_pass(&w, &d, &pass);
        d.info.subpass = subpass;
        expect(&w, &d, subpass ? "=!!!!" : "=");
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

static void vertices_cover_what_is_drawn_to(void **state)
{
    (void)state;
    const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_SFLOAT};
    for (uint32_t cull = 0; cull < 3; cull++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &shade_set, 1, formats, VK_FORMAT_UNDEFINED);
        use_vertices(&d);
        d.raster.cullMode = cull;
        expect(&w, &d, "=!!!!");
        world_close(&w);
    }
}

static void all_dynamic_state_is_set(void **state)
{
    (void)state;
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
        drawing_init(&w, &d, &shade_set, 1, formats, VK_FORMAT_D32_SFLOAT_S8_UINT);
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
        expect(&w, &d, "=!!!!");
        world_close(&w);
    }
}

static void what_can_t_be_drawn_is_uncheckable(void **state)
{
    (void)state;
    struct world w;
    struct drawing d;
    struct trial t;
    const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM};
    const VkDynamicState unknown = VK_DYNAMIC_STATE_VIEWPORT_SHADING_RATE_PALETTE_NV;
    world_open(&w);
    drawing_init(&w, &d, &shade_set, 1, formats, VK_FORMAT_UNDEFINED);
    trial_init(&t, &d.subject, make_drawing(&w, &d, 0));
    trial_add(&t, t.info.general);
    const enum bf_reason none = BF_REASON_NONE, uncheckable = BF_REASON_UNCHECKABLE;
    trial_expect(&w, &t, &none);
    d.samples.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    trial_expect(&w, &t, &uncheckable);
    assert_string_equal(t.info.why, "it draws to several samples");
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

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(attachments_of_many_formats_are_compared),
        TEST(blending_sees_what_was_there),
        TEST(depths_are_such_that_some_are_equal),
        TEST(several_attachments_and_views_are_drawn_to),
        TEST(one_that_only_stores_is_checked),
        TEST(no_more_vertices_than_three_are_asked_of_fragile_shaders),
        TEST(a_subpass_of_a_render_pass_is_drawn_to),
        TEST(vertices_cover_what_is_drawn_to),
        TEST(all_dynamic_state_is_set),
        TEST(what_can_t_be_drawn_is_uncheckable),
    };
    return fixture_main(argc, argv, "check of graphics pipelines", tests,
                        sizeof(tests) / sizeof(tests[0]));
}
