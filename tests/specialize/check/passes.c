/* SPDX-License-Identifier: MIT */
/* Draws to several samples (DS-1, DS-2), and draws that read input attachments. */
#include "check_drawing.h"

#include <string.h>

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
    d->samples.rasterizationSamples = SAMPLES;
    d->words[1] = check_samples_frag;
    d->sizes[1] = sizeof(check_samples_frag);
}

static VkAttachmentReference2 refer(uint32_t n, VkImageLayout layout, VkImageAspectFlags aspects)
{
    return (VkAttachmentReference2)DRAWING_REFERENCE(n, layout, aspects);
}

static VkAttachmentReference2 drawn(uint32_t n)
{
    return refer(n, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT);
}

static VkAttachmentReference2 read_by(uint32_t n)
{
    return refer(n, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT);
}

static VkAttachmentDescription2 attachment(VkFormat format, VkSampleCountFlagBits samples)
{
    bool color = bf_format_aspects(format) == VK_IMAGE_ASPECT_COLOR_BIT;
    return (VkAttachmentDescription2){
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .format = format,
        .samples = samples,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = color ? VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
                             : VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    };
}

/* ------------------------------------------------------------------------------ Several samples --
 */

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
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, &cases[i].format, VK_FORMAT_UNDEFINED);
        use_samples(&d);
        if (can_have(&w, cases[i].format))
            drawing_expect(&w, &d, cases[i].letters);
        world_close(&w);
    }
}

TEST(integers_of_several_samples_are_compared)
{
    static const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R16G16_UINT,
                                       VK_FORMAT_R8_UINT};
    for (uint32_t i = 0; i < FORMATS(formats); i++) {
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, &formats[i], VK_FORMAT_UNDEFINED);
        use_samples(&d);
        d.words[1] = check_count_frag;
        d.sizes[1] = sizeof(check_count_frag);
        if (can_have(&w, formats[i]))
            drawing_expect(&w, &d, "=!");
        world_close(&w);
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
            struct world w;
            struct drawing d;
            world_open(&w);
            if (!drawing_has_depth(&w, depths[i])) {
                world_close(&w);
                continue;
            }
            drawing_init(&w, &d, &drawing_shade_set, 1, &wide, depths[i]);
            use_samples(&d);
            d.blends[0].colorWriteMask = 0;
            d.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
            d.depth.depthWriteEnable = !only_stencil;
            if (only_stencil) {
                d.depth.stencilTestEnable = VK_TRUE;
                d.depth.front = (VkStencilOpState){VK_STENCIL_OP_KEEP,
                                                   VK_STENCIL_OP_INCREMENT_AND_WRAP,
                                                   VK_STENCIL_OP_KEEP,
                                                   VK_COMPARE_OP_ALWAYS,
                                                   255,
                                                   255,
                                                   0};
                d.depth.back = d.depth.front;
            }
            drawing_expect(&w, &d, "==!==");
            world_close(&w);
        }
    }
}

/* Tests of depth and stencil, and blending, see what was there: tiles of several values. */
TEST(what_was_there_is_of_several_values)
{
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT);
    use_samples(&d);
    d.depth.depthCompareOp = VK_COMPARE_OP_EQUAL; /* the shader's is a half */
    d.depth.depthWriteEnable = VK_FALSE;
    drawing_expect(&w, &d, "=...!");
    d.depth.depthCompareOp = VK_COMPARE_OP_NEVER;
    drawing_expect(&w, &d, "?????");
    world_close(&w);
}

TEST(only_samples_in_the_mask_are_written)
{
    const VkSampleMask mask = 0xb; /* not sample 2 */
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
    use_samples(&d);
    d.samples.pSampleMask = &mask;
    drawing_expect(&w, &d, "==!!!");
    world_close(&w);
}

TEST(alpha_may_be_coverage)
{
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
    use_samples(&d);
    d.samples.alphaToCoverageEnable = VK_TRUE;
    drawing_expect(&w, &d, "=!!!!");
    world_close(&w);
}

TEST(samples_of_several_views_are_compared)
{
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_D32_SFLOAT_S8_UINT);
    use_samples(&d);
    d.rendering.viewMask = 5;
    drawing_expect(&w, &d, "=!!!!");
    world_close(&w);
}

/* A render pass that resolves: what it makes of them may hide a sample, the samples don't. */
TEST(samples_that_are_resolved_are_compared)
{
    const VkFormat deep = VK_FORMAT_D32_SFLOAT;
    const VkAttachmentDescription2 attachments[] = {attachment(wide, SAMPLES), attachment(wide, 1),
                                                    attachment(deep, SAMPLES), attachment(deep, 1)};
    const VkAttachmentReference2 color = drawn(0), resolve = drawn(1),
                                 depth = refer(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                                               VK_IMAGE_ASPECT_DEPTH_BIT),
                                 depth_resolve =
                                     refer(3, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                                           VK_IMAGE_ASPECT_DEPTH_BIT);
    const VkSubpassDescriptionDepthStencilResolve resolves = {
        .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
        .depthResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .pDepthStencilResolveAttachment = &depth_resolve,
    };
    for (int depths = 0; depths < 2; depths++) {
        const VkSubpassDescription2 subpass = {
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
            .pNext = depths ? &resolves : NULL,
            .colorAttachmentCount = 1,
            .pColorAttachments = &color,
            .pResolveAttachments = &resolve,
            .pDepthStencilAttachment = depths ? &depth : NULL,
        };
        const VkRenderPassCreateInfo2 pass = {
            .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
            .attachmentCount = 4,
            .pAttachments = attachments,
            .subpassCount = 1,
            .pSubpasses = &subpass,
        };
        struct world w;
        struct drawing d;
        world_open(&w);
        drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
        use_samples(&d);
        d.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
        d.blends[0].colorWriteMask = depths ? 0 : 15;
        drawing_use_pass(&w, &d, &pass);
        drawing_expect(&w, &d, depths ? "==!==" : "=!!!!");
        drawing_finish(&w, &d);
        world_close(&w);
    }
}

/* Errors of a last place in one sample are no reason, in relaxed mode; others are. */
TEST(samples_may_be_near)
{
    static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
    static const enum bf_reason reasons[] = {BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE,
                                             BF_REASON_INEXACT};
    struct world w;
    struct drawing d;
    struct timing t;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_D16_UNORM);
    use_samples(&d);
    d.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
    trial_init(&t, &d.interface, drawing_make(&w, &d, 0));
    memcpy(t.push, push, sizeof(push));
    t.info.compare = false;
    t.info.tolerance = 1e-4f;
    for (int32_t i = 1; i < 5; i++)
        trial_add(&t, drawing_make(&w, &d, i));
    trial_expect(&w, &t, reasons);
    world_close(&w);
}

/* ---------------------------------------------------------------------------- Input attachments --
 */

static const VkSubpassDependency2 written_then_read = {
    .sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
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
    .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT,
};

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
        .attachments = {attachment(VK_FORMAT_R8G8B8A8_UNORM, 1), attachment(wide, 1),
                        attachment(depth, 1), attachment(wide, 1)},
        .drawn = {drawn(0), drawn(1)},
        .depth = refer(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, part),
        .inputs = {refer(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL,
                         VK_IMAGE_ASPECT_DEPTH_BIT),
                   read_by(0), read_by(1)},
        .result = drawn(3),
        .depth_again = refer(2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL, part),
    };
    p->subpasses[0] = (VkSubpassDescription2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                              .colorAttachmentCount = 2,
                                              .pColorAttachments = p->drawn,
                                              .pDepthStencilAttachment = &p->depth};
    p->subpasses[1] = (VkSubpassDescription2){.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                              .inputAttachmentCount = 3,
                                              .pInputAttachments = p->inputs,
                                              .colorAttachmentCount = 1,
                                              .pColorAttachments = &p->result,
                                              .pDepthStencilAttachment = &p->depth_again};
    p->pass = (VkRenderPassCreateInfo2){.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                        .attachmentCount = 4,
                                        .pAttachments = p->attachments,
                                        .subpassCount = 2,
                                        .pSubpasses = p->subpasses,
                                        .dependencyCount = 1,
                                        .pDependencies = &written_then_read};
}

static void use_reads(struct world *w, struct drawing *d, const struct deferred *p)
{
    drawing_init(w, d, &read_set, 1, &wide, VK_FORMAT_UNDEFINED);
    d->words[1] = check_reads_frag;
    d->sizes[1] = sizeof(check_reads_frag);
    d->depth.depthTestEnable = d->depth.depthWriteEnable = VK_FALSE;
    drawing_use_pass(w, d, &p->pass);
    d->info.subpass = 1;
}

TEST(input_attachments_are_those_of_the_subpass)
{
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < 2; i++) {
        struct world w;
        struct drawing d;
        struct deferred p;
        world_open(&w);
        deferred_init(&p, depths[i]);
        use_reads(&w, &d, &p);
        drawing_expect(&w, &d, "=!!!!!");
        drawing_finish(&w, &d);
        world_close(&w);
    }
}

TEST(input_attachments_may_have_several_samples)
{
    const struct bf_check_binding binding = INPUT(0, 1, 0);
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    const VkAttachmentDescription2 attachments[] = {attachment(VK_FORMAT_R8G8B8A8_UNORM, SAMPLES),
                                                    attachment(wide, SAMPLES)};
    const VkAttachmentReference2 first = drawn(0), input = read_by(0), second = drawn(1);
    const VkSubpassDescription2 subpasses[] = {
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
         .colorAttachmentCount = 1,
         .pColorAttachments = &first},
        {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
         .inputAttachmentCount = 1,
         .pInputAttachments = &input,
         .colorAttachmentCount = 1,
         .pColorAttachments = &second},
    };
    const VkRenderPassCreateInfo2 pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 2,
        .pAttachments = attachments,
        .subpassCount = 2,
        .pSubpasses = subpasses,
        .dependencyCount = 1,
        .pDependencies = &written_then_read,
    };
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &set, 1, &wide, VK_FORMAT_UNDEFINED);
    d.words[1] = check_reads_samples_frag;
    d.sizes[1] = sizeof(check_reads_samples_frag);
    d.samples.rasterizationSamples = SAMPLES;
    drawing_use_pass(&w, &d, &pass);
    d.info.subpass = 1;
    drawing_expect(&w, &d, "=!!");
    drawing_finish(&w, &d);
    world_close(&w);
}

/* Within a subpass that depends on itself: no fragment may lie on another. */
TEST(what_is_read_may_be_written)
{
    const struct bf_check_binding binding = INPUT(0, 1, 0);
    const struct bf_check_set set = {.binding_count = 1, .bindings = &binding};
    const VkAttachmentDescription2 only = attachment(wide, 1);
    const VkAttachmentReference2 reference =
        refer(0, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_ASPECT_COLOR_BIT);
    const VkSubpassDescription2 subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                           .inputAttachmentCount = 1,
                                           .pInputAttachments = &reference,
                                           .colorAttachmentCount = 1,
                                           .pColorAttachments = &reference};
    const VkSubpassDependency2 dependency = {
        .sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
        .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT,
    };
    const VkRenderPassCreateInfo2 pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 1,
        .pAttachments = &only,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &dependency,
    };
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &set, 1, &wide, VK_FORMAT_UNDEFINED);
    d.words[1] = check_feeds_frag;
    d.sizes[1] = sizeof(check_feeds_frag);
    drawing_use_pass(&w, &d, &pass);
    drawing_expect(&w, &d, "=!=");
    drawing_finish(&w, &d);
    world_close(&w);
}

TEST(input_attachments_that_are_not_there_are_uncheckable)
{
    struct world w;
    struct drawing d;
    struct deferred p;
    struct timing t;
    const enum bf_reason none = BF_REASON_NONE, uncheckable = BF_REASON_UNCHECKABLE;
    world_open(&w);
    deferred_init(&p, VK_FORMAT_D32_SFLOAT);
    use_reads(&w, &d, &p);
    trial_init(&t, &d.interface, drawing_make(&w, &d, 0));
    trial_add(&t, t.info.general);
    trial_expect(&w, &t, &none);
    p.inputs[2].attachment = VK_ATTACHMENT_UNUSED;
    trial_expect(&w, &t, &uncheckable);
    assert_string_equal(t.info.why, "it reads input attachments that are not used");
    p.subpasses[1].inputAttachmentCount = 2;
    trial_expect(&w, &t, &uncheckable);
    assert_string_equal(t.info.why, "it reads input attachments that are not there");
    d.interface.check.pass = NULL; /* as from a rendering without a pass */
    d.info.pNext = &d.rendering;
    trial_expect(&w, &t, &uncheckable);
    drawing_finish(&w, &d);
    world_close(&w);
}
