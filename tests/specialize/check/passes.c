/* SPDX-License-Identifier: MIT */
/* Draws to several samples (DS-1, DS-2), and draws that read input attachments. */
#include "check_drawing.h"

#include "shaders/check_count.frag.h"
#include "shaders/check_feeds.frag.h"
#include "shaders/check_reads.frag.h"
#include "shaders/check_reads_samples.frag.h"
#include "shaders/check_samples.frag.h"

#define SAMPLES VK_SAMPLE_COUNT_4_BIT /* any device can */

/* Threads do the same with all of them. */
#ifdef __SANITIZE_THREAD__
#define FORMATS(list_) 1
#else
#define FORMATS(list_) (sizeof(list_) / sizeof((list_)[0]))
#endif

static const VkFormat wide = VK_FORMAT_R32G32B32A32_SFLOAT;

static void use_samples(struct drawing *d)
{
    d->g.samples.rasterizationSamples = SAMPLES;
    DRAWING_SHADER(d, 1, check_samples_frag);
}

/* --------------------------------------------------------------------------- Several samples -- */

static bool can_have(struct world *w, VkFormat format)
{
    VkImageFormatProperties can;
    return vkGetPhysicalDeviceImageFormatProperties(
               w->f.physical, format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
               VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, 0,
               &can) == VK_SUCCESS &&
           (can.sampleCounts & SAMPLES);
}

TEST(a_difference_in_one_sample_is_seen)
{
    static const struct {
        VkFormat format;
        const char *letters;
    } cases[] = {
        {VK_FORMAT_R32G32B32A32_SFLOAT, "=!!!!"},
        {VK_FORMAT_R16G16B16A16_SFLOAT, "=!!=!"},
        {VK_FORMAT_R8G8B8A8_UNORM, "=!!=!"},
        {VK_FORMAT_B8G8R8A8_SRGB, "=!!=!"},
        {VK_FORMAT_A2B10G10R10_UNORM_PACK32, "=!!=!"},
        {VK_FORMAT_B10G11R11_UFLOAT_PACK32, "=!!=="},
        {VK_FORMAT_R8_UNORM, "==!=="},
        {VK_FORMAT_R16G16_SFLOAT, "==!=="},
    };
    for (uint32_t i = 0; i < FORMATS(cases); i++) {
        struct drawing *d =
            drawing_open(&drawing_shade_set, 1, &cases[i].format, VK_FORMAT_UNDEFINED);
        use_samples(d);
        if (can_have(d->w, cases[i].format))
            expect_drawing(d, cases[i].letters);
        drawing_close(d);
    }
}

TEST(integers_of_several_samples_are_compared)
{
    static const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R16G16_UINT,
                                       VK_FORMAT_R8_UINT};
    for (uint32_t i = 0; i < FORMATS(formats); i++) {
        struct drawing *d = drawing_open(&drawing_shade_set, 1, &formats[i], VK_FORMAT_UNDEFINED);
        use_samples(d);
        DRAWING_SHADER(d, 1, check_count_frag);
        if (can_have(d->w, formats[i]))
            expect_drawing(d, "=!");
        drawing_close(d);
    }
}

/* Nothing but depth or stencil tells of a fragment that was discarded in one sample. */
TEST(depths_and_stencils_of_several_samples_are_compared)
{
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM,
                                      VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < FORMATS(depths); i++) {
        bool stencil = bf_format_aspects(depths[i]) & VK_IMAGE_ASPECT_STENCIL_BIT;
        for (int only_stencil = 0; only_stencil <= stencil; only_stencil++) {
            struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, depths[i]);
            if (!drawing_has_depth(d, depths[i])) {
                drawing_close(d);
                continue;
            }
            use_samples(d);
            d->g.blends[0].colorWriteMask = 0;
            d->g.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
            d->g.depth.depthWriteEnable = !only_stencil;
            if (only_stencil) {
                d->g.depth.stencilTestEnable = VK_TRUE;
                d->g.depth.front = (VkStencilOpState){VK_STENCIL_OP_KEEP,
                                                      VK_STENCIL_OP_INCREMENT_AND_WRAP,
                                                      VK_STENCIL_OP_KEEP,
                                                      VK_COMPARE_OP_ALWAYS,
                                                      255,
                                                      255,
                                                      0};
                d->g.depth.back = d->g.depth.front;
            }
            expect_drawing(d, "==!==");
            drawing_close(d);
        }
    }
}

/* Tests of depth and stencil, and blending, see what was there: tiles of several values. */
DRAWING_TEST(what_was_there_is_of_several_values, &drawing_shade_set, 1, &wide,
             VK_FORMAT_D32_SFLOAT)
{
    use_samples(d);
    d->g.depth.depthCompareOp = VK_COMPARE_OP_EQUAL; /* the shader's is a half */
    d->g.depth.depthWriteEnable = VK_FALSE;
    expect_drawing(d, "=...!");
    d->g.depth.depthCompareOp = VK_COMPARE_OP_NEVER;
    expect_drawing(d, "?????");
}

TEST(only_samples_in_the_mask_are_written)
{
    const VkSampleMask mask = 0xb; /* not sample 2 */
    struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
    use_samples(d);
    d->g.samples.pSampleMask = &mask;
    expect_drawing(d, "==!!!");
    drawing_close(d);
}

DRAWING_TEST(alpha_may_be_coverage, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED)
{
    use_samples(d);
    d->g.samples.alphaToCoverageEnable = VK_TRUE;
    expect_drawing(d, "=!!!!");
}

DRAWING_TEST(samples_of_several_views_are_compared, &drawing_shade_set, 1, &wide,
             VK_FORMAT_D32_SFLOAT_S8_UINT)
{
    use_samples(d);
    d->g.rendering.viewMask = 5;
    expect_drawing(d, "=!!!!");
}

/* A render pass that resolves: what it makes of them may hide a sample, the samples don't. */
TEST(samples_that_are_resolved_are_compared)
{
    const VkFormat deep = VK_FORMAT_D32_SFLOAT;
    const VkAttachmentDescription2 attachments[] = {
        drawing_attachment(wide, SAMPLES), drawing_attachment(wide, 1),
        drawing_attachment(deep, SAMPLES), drawing_attachment(deep, 1)};
    const VkAttachmentReference2 color = drawing_color(0), resolve = drawing_color(1),
                                 depth = drawing_reference(
                                     2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                                     VK_IMAGE_ASPECT_DEPTH_BIT),
                                 depth_resolve = drawing_reference(
                                     3, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                                     VK_IMAGE_ASPECT_DEPTH_BIT);
    const VkSubpassDescriptionDepthStencilResolve resolves = {
        VK_TYPE(SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE),
        .depthResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .pDepthStencilResolveAttachment = &depth_resolve};
    for (int depths = 0; depths < 2; depths++) {
        const VkSubpassDescription2 subpass = {
            VK_TYPE(SUBPASS_DESCRIPTION_2),  .pNext = depths ? &resolves : NULL,
            .colorAttachmentCount = 1,       .pColorAttachments = &color,
            .pResolveAttachments = &resolve, .pDepthStencilAttachment = depths ? &depth : NULL};
        const VkRenderPassCreateInfo2 pass = drawing_pass(4, attachments, 1, &subpass, NULL);
        struct drawing *d = drawing_open(&drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
        use_samples(d);
        d->g.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
        d->g.blends[0].colorWriteMask = depths ? 0 : 15;
        drawing_use_pass(d, &pass);
        expect_drawing(d, depths ? "==!==" : "=!!!!");
        drawing_close(d);
    }
}

/* ------------------------------------------------------------------------- Input attachments -- */

static const VkSubpassDependency2 written_then_read = {
    VK_TYPE(SUBPASS_DEPENDENCY_2),
    .srcSubpass = 0,
    .dstSubpass = 1,
    .srcStageMask =
        VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT,
    .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT |
                    VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                    VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
    .srcAccessMask =
        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
    .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT |
                     VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                     VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
    .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT};

#define INPUT(binding_, count_, index_)                                                            \
    {                                                                                              \
        .binding = binding_, .type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, .count = count_,         \
        .used = true, .number = BF_TEXEL_SFLOAT, .input_index = index_                             \
    }
static const struct bf_check_binding read_bindings[] = {INPUT(0, 2, 1), INPUT(1, 1, 0)};
static const struct bf_check_set read_set = {.binding_count = 2, .bindings = read_bindings};

/* A deferred renderer's pass: a subpass writes two colors and a depth, and another reads them. */
struct deferred {
    VkAttachmentDescription2 attachments[4];
    VkAttachmentReference2 drawn[2], depth, inputs[3], result, depth_again;
    VkSubpassDescription2 subpasses[2];
    VkRenderPassCreateInfo2 pass;
};

static void deferred_init(struct deferred *p, VkFormat depth)
{
    const VkImageAspectFlags part = bf_format_aspects(depth);
    *p = (struct deferred){
        .attachments = {drawing_attachment(VK_FORMAT_R8G8B8A8_UNORM, 1),
                        drawing_attachment(wide, 1), drawing_attachment(depth, 1),
                        drawing_attachment(wide, 1)},
        .drawn = {drawing_color(0), drawing_color(1)},
        .depth = drawing_reference(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, part),
        .inputs = {drawing_reference(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
                                     VK_IMAGE_ASPECT_DEPTH_BIT),
                   drawing_input(0), drawing_input(1)},
        .result = drawing_color(3),
        .depth_again = drawing_reference(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, part),
    };
    p->subpasses[0] = drawing_subpass(0, NULL, 2, p->drawn, &p->depth);
    p->subpasses[1] = drawing_subpass(3, p->inputs, 1, &p->result, &p->depth_again);
    p->pass = drawing_pass(4, p->attachments, 2, p->subpasses, &written_then_read);
}

static struct drawing *reads_open(const struct deferred *p)
{
    struct drawing *d = drawing_open(&read_set, 1, &wide, VK_FORMAT_UNDEFINED);
    DRAWING_SHADER(d, 1, check_reads_frag);
    d->g.depth.depthTestEnable = d->g.depth.depthWriteEnable = VK_FALSE;
    drawing_use_pass(d, &p->pass);
    d->g.info.subpass = 1;
    return d;
}

TEST(input_attachments_are_those_of_the_subpass)
{
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < 2; i++) {
        struct deferred p;
        deferred_init(&p, depths[i]);
        struct drawing *d = reads_open(&p);
        expect_drawing(d, "=!!!!!");
        drawing_close(d);
    }
}

/* [DU-6] */
TEST(depths_that_are_read_are_any)
{
    struct deferred p;
    deferred_init(&p, VK_FORMAT_D16_UNORM);
    struct drawing *d = reads_open(&p);
    expect_drawing(d, "=....!!");
    drawing_close(d);
}

TEST(input_attachments_may_have_several_samples)
{
    const struct bf_check_binding binding = INPUT(0, 1, 0);
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    const VkAttachmentDescription2 attachments[] = {
        drawing_attachment(VK_FORMAT_R8G8B8A8_UNORM, SAMPLES), drawing_attachment(wide, SAMPLES)};
    const VkAttachmentReference2 first = drawing_color(0), input = drawing_input(0),
                                 second = drawing_color(1);
    const VkSubpassDescription2 subpasses[] = {
        drawing_subpass(0, NULL, 1, &first, NULL),
        drawing_subpass(1, &input, 1, &second, NULL),
    };
    const VkRenderPassCreateInfo2 pass =
        drawing_pass(2, attachments, 2, subpasses, &written_then_read);
    struct drawing *d = drawing_open(&set, 1, &wide, VK_FORMAT_UNDEFINED);
    DRAWING_SHADER(d, 1, check_reads_samples_frag);
    d->g.samples.rasterizationSamples = SAMPLES;
    drawing_use_pass(d, &pass);
    d->g.info.subpass = 1;
    expect_drawing(d, "=!!!");
    drawing_close(d);
}

/* Within a subpass that depends on itself: no fragment may lie on another. */
TEST(what_is_read_may_be_written)
{
    const struct bf_check_binding binding = INPUT(0, 1, 0);
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    const VkAttachmentDescription2 only = drawing_attachment(wide, 1);
    const VkAttachmentReference2 reference =
        drawing_reference(0, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_ASPECT_COLOR_BIT);
    const VkSubpassDescription2 subpass = drawing_subpass(1, &reference, 1, &reference, NULL);
    const VkSubpassDependency2 dependency = {VK_TYPE(SUBPASS_DEPENDENCY_2),
                                             .srcStageMask =
                                                 VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                             .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                             .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                             .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
                                             .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT};
    const VkRenderPassCreateInfo2 pass = drawing_pass(1, &only, 1, &subpass, &dependency);
    struct drawing *d = drawing_open(&set, 1, &wide, VK_FORMAT_UNDEFINED);
    DRAWING_SHADER(d, 1, check_feeds_frag);
    drawing_use_pass(d, &pass);
    expect_drawing(d, "=!=");
    drawing_close(d);
}

TEST(input_attachments_that_are_not_there_are_uncheckable)
{
    struct deferred p;
    deferred_init(&p, VK_FORMAT_D32_SFLOAT);
    struct drawing *d = reads_open(&p);
    expect_drawing(d, "=");
    p.inputs[2].attachment = VK_ATTACHMENT_UNUSED;
    expect_refusal(d->w, "it reads input attachments that are not used");
    p.subpasses[1].inputAttachmentCount = 2;
    expect_refusal(d->w, "it reads input attachments that are not there");
    d->w->s.check.pass = NULL; /* as from a rendering without a pass */
    d->g.info.pNext = &d->g.rendering;
    expect_refusal(d->w, NULL);
    drawing_close(d);
}
