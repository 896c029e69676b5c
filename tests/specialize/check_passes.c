/* Draws to several samples (DS-1, DS-2), and draws that read input attachments. */
#include "check_drawing.h"

#include <string.h>

#include "shaders/check_count.frag.h"
#include "shaders/check_samples.frag.h"

#define SAMPLES VK_SAMPLE_COUNT_4_BIT /* any device can */

static const VkFormat wide = VK_FORMAT_R32G32B32A32_SFLOAT;

static void use_samples(struct drawing *d)
{
    d->samples.rasterizationSamples = SAMPLES;
    d->words[1] = check_samples_frag;
    d->sizes[1] = sizeof(check_samples_frag);
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

static void a_difference_in_one_sample_is_seen(void **state)
{
    (void)state;
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
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

static void integers_of_several_samples_are_compared(void **state)
{
    (void)state;
    static const VkFormat formats[] = {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R16G16_UINT,
                                       VK_FORMAT_R8_UINT};
    for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
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
static void depths_and_stencils_of_several_samples_are_compared(void **state)
{
    (void)state;
    static const VkFormat depths[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM,
                                      VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        bool stencil = bf_format_aspects(depths[i]) & VK_IMAGE_ASPECT_STENCIL_BIT;
        for (int only_stencil = 0; only_stencil <= stencil; only_stencil++) {
            struct world w;
            struct drawing d;
            world_open(&w);
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
static void what_was_there_is_of_several_values(void **state)
{
    (void)state;
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

static void only_samples_in_the_mask_are_written(void **state)
{
    (void)state;
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

static void alpha_may_be_coverage(void **state)
{
    (void)state;
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
    use_samples(&d);
    d.samples.alphaToCoverageEnable = VK_TRUE;
    drawing_expect(&w, &d, "=!!!!");
    world_close(&w);
}

static void samples_of_several_views_are_compared(void **state)
{
    (void)state;
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
static void samples_that_are_resolved_are_compared(void **state)
{
    (void)state;
    const VkAttachmentDescription2 attachments[] = {
        {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
         .format = wide,
         .samples = SAMPLES,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
        {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
         .format = wide,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
         .finalLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
    };
    const VkAttachmentReference2 color =
        DRAWING_REFERENCE(0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT);
    const VkAttachmentReference2 resolve =
        DRAWING_REFERENCE(1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_ASPECT_COLOR_BIT);
    const VkSubpassDescription2 subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                           .colorAttachmentCount = 1,
                                           .pColorAttachments = &color,
                                           .pResolveAttachments = &resolve};
    const VkRenderPassCreateInfo2 pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 2,
        .pAttachments = attachments,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    struct world w;
    struct drawing d;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_UNDEFINED);
    use_samples(&d);
    drawing_use_pass(&w, &d, &pass);
    drawing_expect(&w, &d, "=!!!!");
    drawing_finish(&w, &d);
    world_close(&w);
}

/* Errors of a last place in one sample are no reason, in relaxed mode; others are. */
static void samples_may_be_near(void **state)
{
    (void)state;
    static const float push[] = {0.25f, 0, -0.5f, 0, 0.75f};
    static const enum bf_reason reasons[] = {BF_REASON_INEXACT, BF_REASON_INEXACT, BF_REASON_NONE,
                                             BF_REASON_INEXACT};
    struct world w;
    struct drawing d;
    struct trial t;
    world_open(&w);
    drawing_init(&w, &d, &drawing_shade_set, 1, &wide, VK_FORMAT_D16_UNORM);
    use_samples(&d);
    d.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
    trial_init(&t, &d.subject, drawing_make(&w, &d, 0));
    memcpy(t.push, push, sizeof(push));
    t.info.compare = false;
    t.info.tolerance = 1e-4f;
    for (int32_t i = 1; i < 5; i++)
        trial_add(&t, drawing_make(&w, &d, i));
    trial_expect(&w, &t, reasons);
    world_close(&w);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_difference_in_one_sample_is_seen),
        TEST(integers_of_several_samples_are_compared),
        TEST(depths_and_stencils_of_several_samples_are_compared),
        TEST(what_was_there_is_of_several_values),
        TEST(only_samples_in_the_mask_are_written),
        TEST(alpha_may_be_coverage),
        TEST(samples_of_several_views_are_compared),
        TEST(samples_that_are_resolved_are_compared),
        TEST(samples_may_be_near),
    };
    return fixture_main(argc, argv, "check of passes", tests, sizeof(tests) / sizeof(tests[0]));
}
