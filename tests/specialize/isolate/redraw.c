/* SPDX-License-Identifier: MIT */
/* Forms whose vertex stages compute other positions, as a driver's may that links them with another
 * fragment stage, or whose colors differ by less than attachments show: here they are told to by
 * constants. [PO-1, PO-2] */
#include "isolate_helper.h"

#include "isolate_picture.h"
#include "shaders/isolate_both.frag.h"
#include "shaders/isolate_color.frag.h"
#include "shaders/isolate.vert.h"

/* There is a depth attachment, with which nothing is done; its states are dynamic, which then say
 * nothing; what has the same depth is drawn to; alpha, which isn't written, decides how much is
 * left of what was there, or the alpha of a second color does; or over samples, without colors or
 * with an alpha of 1; there is a second attachment, where the first has no alpha (not of a render
 * pass). */
enum {
    ATTACHED = 1,
    DYNAMIC = 2,
    FOUR_SAMPLES = 4,
    EQUAL = 8,
    ALPHA = 16,
    SECOND = 32,
    COVERAGE = 64,
    ONE = 128,
    BESIDE = 256,
};

static const uint32_t cases[] = {0, ATTACHED, ATTACHED | DYNAMIC, FOUR_SAMPLES,
                                 ATTACHED | FOUR_SAMPLES};

struct one {
    struct picture p;
    float depth;
    VkSpecializationMapEntry entry;
    VkSpecializationInfo specialization;
    VkDynamicState dynamics[6];
};

/* What a form is told: 0.5 and 1 is what the general pipeline is. */
struct told {
    float depth, factor;
};

static const struct bf_build_request *one_make(struct one *one, bool pass, uint32_t how,
                                               struct told told)
{
    static const VkDynamicState more[] = {
        VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK, VK_DYNAMIC_STATE_STENCIL_REFERENCE,
        VK_DYNAMIC_STATE_DEPTH_BOUNDS, VK_DYNAMIC_STATE_STENCIL_WRITE_MASK};
    struct picture *p = &one->p;
    const struct bf_build_code fragments[] = {{isolate_color_frag, sizeof(isolate_color_frag)},
                                              {isolate_both_frag, sizeof(isolate_both_frag)}};
    const struct bf_build_request *request =
        picture(p, pass, (struct bf_build_code){isolate_vert, sizeof(isolate_vert)},
                fragments[how & BESIDE ? 1 : 0]);
    memcpy(&p->mode, &told.factor, sizeof(p->mode));
    one->depth = told.depth;
    one->entry = (VkSpecializationMapEntry){0, 0, sizeof(float)};
    one->specialization = (VkSpecializationInfo){1, &one->entry, sizeof(float), &one->depth};
    p->g.stages[0].pSpecializationInfo = &one->specialization;
    p->g.raster.cullMode = VK_CULL_MODE_NONE;
    p->g.assembly.primitiveRestartEnable = VK_FALSE;
    p->g.depth.depthTestEnable = how & EQUAL ? VK_TRUE : VK_FALSE;
    p->g.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
    if (how & (ALPHA | SECOND)) {
        p->g.blends[0].colorWriteMask = 7;
        p->g.blends[0].dstColorBlendFactor = how & ALPHA ? VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA
                                                         : VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA;
    }
    p->g.samples.alphaToCoverageEnable = how & (COVERAGE | ONE) ? VK_TRUE : VK_FALSE;
    p->g.samples.alphaToOneEnable = how & ONE ? VK_TRUE : VK_FALSE;
    if (how & COVERAGE) {
        p->g.blend.attachmentCount = p->g.rendering.colorAttachmentCount = 0;
        p->subpasses[1].colorAttachmentCount = 0;
        p->subpasses[1].pResolveAttachments = NULL;
    }
    if (how & BESIDE) {
        p->g.formats[0] = VK_FORMAT_B10G11R11_UFLOAT_PACK32;
        p->g.formats[1] = VK_FORMAT_R8G8B8A8_UNORM;
        p->g.blends[1] = p->g.blends[0];
        p->g.blend.attachmentCount = p->g.rendering.colorAttachmentCount = 2;
    }
    if (!(how & ATTACHED)) {
        p->g.rendering.depthAttachmentFormat = VK_FORMAT_UNDEFINED;
        p->subpasses[1].pDepthStencilAttachment = NULL;
        p->g.info.pDepthStencilState = NULL;
    }
    if (!(how & FOUR_SAMPLES)) {
        p->g.samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
        for (uint32_t i = 0; i < 3; i++)
            p->attachments[i].samples = VK_SAMPLE_COUNT_1_BIT;
        p->subpasses[1].pResolveAttachments = NULL;
    }
    memcpy(one->dynamics, p->dynamics, sizeof(p->dynamics));
    memcpy(one->dynamics + 2, more, sizeof(more));
    p->g.dynamic.pDynamicStates = one->dynamics;
    p->g.dynamic.dynamicStateCount = how & DYNAMIC ? 6 : 2;
    return request;
}

static struct bf_isolate *isolate_open_with(bool pass, bool linked, VkBool32 independent)
{
    struct bf_isolate_info info = info_of(NULL);
    VkPhysicalDeviceDynamicRenderingFeatures dynamic = {
        VK_TYPE(PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES), .pNext = (void *)info.features,
        .dynamicRendering = VK_TRUE};
    const VkPhysicalDeviceFeatures enabled = {.dualSrcBlend = VK_TRUE,
                                              .alphaToOne = VK_TRUE,
                                              .independentBlend = independent,
                                              .fragmentStoresAndAtomics = VK_TRUE,
                                              .vertexPipelineStoresAndAtomics = VK_TRUE};
    const VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries = {
        VK_TYPE(PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT),
        .pNext = (void *)info.features, .graphicsPipelineLibrary = VK_TRUE};
    const char *const extensions[] = {info.extensions[0], info.extensions[1],
                                      "VK_KHR_pipeline_library",
                                      "VK_EXT_graphics_pipeline_library"};
    if (linked) {
        info.extensions = extensions;
        info.extension_count = 4;
        info.features = &libraries;
        dynamic.pNext = (void *)info.features;
    }
    info.api_version = VK_API_VERSION_1_3;
    info.robust = true;
    info.enabled_features = &enabled;
    if (!pass)
        info.features = &dynamic;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    return isolate;
}

static struct bf_isolate *isolate_open(bool pass, bool linked)
{
    return isolate_open_with(pass, linked, VK_TRUE);
}

/* How the general pipeline comes about. */
enum link { WHOLE, LINKED, OPTIMISED, FEW, WAYS };

static void forms_check(struct bf_isolate *isolate, bool pass, uint32_t how, enum link link,
                        struct told first, struct told others, struct bf_check_answer *answer)
{
    struct one ones[BF_CHECK_BUILDS];
    struct bf_build_request builds[BF_CHECK_BUILDS];
    for (uint32_t i = 0; i < BF_CHECK_BUILDS; i++)
        builds[i] = *one_make(&ones[i], pass, how, i == 1 ? first : others);
    if (link) {
        /* A set that is in none of the layouts. */
        static const VkDescriptorSetLayoutCreateInfo *const none[] = {NULL};
        for (uint32_t i = 0; i < BF_CHECK_BUILDS && link == LINKED; i++) {
            ones[i].p.layout.flags = VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
            ones[i].p.layout.setLayoutCount = 1;
            ones[i].p.request.sets = none;
            builds[i] = ones[i].p.request;
        }
        if (link == FEW)
            picture_link_few(&ones[0].p);
        else
            picture_link(&ones[0].p, link == OPTIMISED);
        /* A fragment shader's library doesn't know that there is no depth. */
        ones[0].p.g.info.pDepthStencilState = &ones[0].p.g.depth;
        builds[0] = ones[0].p.request;
    }
    static const struct bf_check_set no_set;
    const struct bf_check_layout layout = {.set_count = link == LINKED, .sets = &no_set};
    const struct bf_pipeline_interface interface = {
        .layout = &layout, .graphics = builds[0].graphics, .pass = builds[0].pass};
    static const union {
        float tint[4];
        uint8_t bytes[BF_CHECK_PUSH_BYTES];
    } pushes[] = {{{1, 0.5f, 0.25f, 1}}, {{0, 0, 0, 1}}};
    const struct bf_check_info check = {
        .interface = &interface, .push = pushes[how & ALPHA ? 1 : 0].bytes, .fixed = 15};
    const struct bf_check_request request = {
        .build_count = BF_CHECK_BUILDS, .builds = builds, .check = &check};
    assert_success(bf_isolate_check(isolate, &request, answer));
}

static void first_differs(struct bf_isolate *isolate, bool pass, uint32_t how, enum link link,
                          struct told first)
{
    struct bf_check_answer answer;
    forms_check(isolate, pass, how, link, first, (struct told){0.5f, 1}, &answer);
    assert_success(answer.built);
    assert_success(answer.checked);
    if (answer.forms[0].reason != BF_REASON_INEXACT || answer.forms[1].reason != BF_REASON_NONE)
        fail_msg("%s, case %u: %d and %d, %s", pass ? "render pass" : "rendering", how,
                 answer.forms[0].reason, answer.forms[1].reason, answer.why);
    assert_string_equal(answer.why, "its positions, or colors before they are rounded, differ");
    assert_true(answer.forms[1].first_use_ns && answer.forms[1].steady_ns);
}

static const struct told other_depth = {0x1.000002p-1f, 1}, other_factor = {0.5f, 0x1.000002p0f};

TEST(positions_are_the_same_bits)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct bf_isolate *isolate = isolate_open(pass, false);
        for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            first_differs(isolate, pass, cases[i], WHOLE, other_depth);
        bf_isolate_destroy(isolate);
    }
}

/* Made-up depths are none of these. [HS-1] */
TEST(what_is_drawn_to_equal_depths_is_compared)
{
    const struct told same = {0.3f, 1}, other = {0.3f, 0x1.000002p0f};
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct bf_isolate *isolate = isolate_open(pass, false);
        struct bf_check_answer answer;
        forms_check(isolate, pass, ATTACHED | EQUAL, WHOLE, other, same, &answer);
        assert_success(answer.built);
        assert_success(answer.checked);
        assert_int_equal(answer.forms[0].reason, BF_REASON_INEXACT);
        assert_int_equal(answer.forms[1].reason, BF_REASON_NONE);
        bf_isolate_destroy(isolate);
    }
}

/* Though the program's attachments never have it. [PO-2] */
TEST(what_alpha_decides_by_is_the_same_bits)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct bf_isolate *isolate = isolate_open(pass, false);
        first_differs(isolate, pass, ALPHA, WHOLE, other_factor);
        bf_isolate_destroy(isolate);
    }
}

/* Where the first attachment has none. [PO-2] */
TEST(alpha_beside_colors_without_is_the_same_bits)
{
    struct bf_isolate *isolate = isolate_open(false, false);
    first_differs(isolate, false, BESIDE, WHOLE, other_factor);
    bf_isolate_destroy(isolate);
}

TEST(what_nobody_would_see_is_uncheckable)
{
    static const struct {
        uint32_t how;
        bool pass;
        const char *why;
    } refused[] = {
        {SECOND, true, "a second color is blended"},
        {COVERAGE | FOUR_SAMPLES, true, "alpha decides over samples, and isn't written"},
        {COVERAGE | FOUR_SAMPLES, false, "alpha decides over samples, and isn't written"},
        {ONE | FOUR_SAMPLES, true, "alpha decides over samples, and isn't written"},
        {BESIDE, false, "some of its attachments have no alpha, and all have to be alike"},
    };
    const struct told same = {0.5f, 1};
    for (uint32_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct bf_isolate *isolate = isolate_open_with(refused[i].pass, false, VK_FALSE);
        struct bf_check_answer answer;
        forms_check(isolate, refused[i].pass, refused[i].how, WHOLE, same, same, &answer);
        assert_int_equal(answer.forms[0].reason, BF_REASON_UNCHECKABLE);
        assert_string_equal(answer.why, refused[i].why);
        bf_isolate_destroy(isolate);
    }
}

/* By the last bit of a float, where the program's attachments have 8 bits, and are blended. */
TEST(colors_are_the_same_bits)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct bf_isolate *isolate = isolate_open(pass, false);
        for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            first_differs(isolate, pass, cases[i], WHOLE, other_factor);
        bf_isolate_destroy(isolate);
    }
}

/* Those of a pipeline that is linked from libraries, which the forms are not. */
TEST(positions_of_what_is_linked)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct bf_isolate *isolate = isolate_open(pass, true);
        for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            for (uint32_t link = LINKED; link < WAYS; link++)
                first_differs(isolate, pass, cases[i], (enum link)link, other_depth);
        }
        bf_isolate_destroy(isolate);
    }
}

/* The general pipeline is linked indeed, the forms aren't: the driver refuses to make one of its
 * libraries, as it is asked to. [IS-10] */
TEST(a_helper_links)
{
    struct bf_isolate *isolate = isolate_open(true, true);
    for (uint32_t i = 0; i <= BF_CHECK_BUILDS; i++) {
        struct one one;
        struct bf_build_request builds[2];
        builds[0] = *one_make(&one, true, 0, (struct told){0.5f, 1});
        builds[1] = builds[0];
        picture_link(&one.p, i & 1);
        one.p.links[i].flags |= VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
        builds[0].link_count = one.p.request.link_count;
        builds[0].links = one.p.links;
        const struct bf_check_request request = {.build_count = 2, .builds = builds};
        struct bf_check_answer answer;
        assert_success(bf_isolate_check(isolate, &request, &answer));
        assert_int_equal(answer.built, VK_PIPELINE_COMPILE_REQUIRED);
        assert_int_equal(answer.built_count, 0);
    }
    bf_isolate_destroy(isolate);
}

int main(void)
{
    alarm(110);
    return test_run(NULL);
}
