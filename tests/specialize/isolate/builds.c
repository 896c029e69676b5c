/* SPDX-License-Identifier: MIT */
/* Pipelines that a real driver compiles in a helper: all that a request can say. */
#include "isolate_helper.h"
#include "support/infos.h"

#include <dlfcn.h>

#include "isolate_picture.h"
#include "shaders/isolate.comp.h"
#include "shaders/isolate_float.comp.h"
#include "shaders/isolate.frag.h"
#include "shaders/isolate.vert.h"

static const VkDescriptorSetLayoutBinding buffer = {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                    VK_SHADER_STAGE_COMPUTE_BIT, NULL};
static const VkDescriptorSetLayoutBinding image = {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2,
                                                   VK_SHADER_STAGE_COMPUTE_BIT, NULL};
static const VkDescriptorBindingFlags none = 0; /* lavapipe has none to offer */

TEST(everything)
{
    struct bf_isolate_info info = info_of(NULL);
    const VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2),
                                                .pNext = (void *)info.features};
    info.api_version = VK_API_VERSION_1_2;
    info.features = &features;
    info.instance_extension_count = 2;
    info.instance_extensions =
        (const char *const[]){"VK_KHR_surface", "VK_BELFRY_none"}; /* which nobody has */
    info.extension_count = 3;
    info.extensions =
        (const char *const[]){"VK_KHR_swapchain", info.extensions[0], info.extensions[1]};
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));

    const VkDescriptorSetLayoutBindingFlagsCreateInfo flags = {
        VK_TYPE(DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO), .bindingCount = 1,
        .pBindingFlags = &none};
    const VkDescriptorSetLayoutCreateInfo buffers = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                     .bindingCount = 1, .pBindings = &buffer};
    const VkDescriptorSetLayoutCreateInfo images = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                    .pNext = &flags, .bindingCount = 1,
                                                    .pBindings = &image};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    const VkPipelineLayoutCreateInfo layout = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                               .setLayoutCount = 2, .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    const VkSpecializationMapEntry entries[] = {{3, 8, 4}, {7, 0, 4}, {8, 4, 4}};
    const struct {
        int32_t mode;
        float factor;
        uint32_t size;
    } values = {1, 0.5f, 64};
    const VkSpecializationInfo specialization = {3, entries, sizeof(values), &values};
    const VkComputePipelineCreateInfo compute = {
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT,
        .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, &specialization)};
    const struct bf_build_code code = {isolate_comp, sizeof(isolate_comp)};
    const struct bf_build_request request = {
        .compute = &compute,
        .code = &code,
        .layout = &layout,
        .sets = (const VkDescriptorSetLayoutCreateInfo *const[]){&buffers, &images}};
    for (uint32_t i = 0; i < 3; i++) {
        VkResult result = VK_RESULT_MAX_ENUM;
        assert_success(isolate_build(isolate, &request, &result));
        assert_success(result);
    }
    bf_isolate_destroy(isolate);
    assert_int_equal(lines, 0);
}

TEST(the_least)
{
    const struct bf_isolate_info info = info_of(NULL);
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    struct made made;
    VkResult result = VK_RESULT_MAX_ENUM;
    assert_success(isolate_build(isolate, empty(&made, "main"), &result));
    assert_success(result);
    bf_isolate_destroy(isolate);
}

static const struct bf_build_code plain = {isolate_comp, sizeof(isolate_comp)};
static const struct bf_build_code steered = {isolate_float_comp, sizeof(isolate_float_comp)};

/* Of isolate.comp: the general pipeline and its forms. */
struct values {
    int32_t mode;
    float factor;
    uint32_t size;
};

/* Has them checked: what is expected of the last form, and why. */
static void forms_check(const struct values values[BF_CHECK_BUILDS],
                        const struct bf_build_code *code, bool addresses,
                        struct bf_check_answer *answer)
{
    struct bf_isolate_info info = info_of(NULL);
    info.robust = true;
    info.idle_ms = 500; /* a broken one waits for as long */
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    static const VkSampler some; /* it isn't looked at */
    const VkDescriptorSetLayoutBinding immutable = {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2,
                                                    VK_SHADER_STAGE_COMPUTE_BIT, &some};
    const VkSamplerCreateInfo samplers[2] = {{VK_TYPE(SAMPLER_CREATE_INFO)},
                                             {VK_TYPE(SAMPLER_CREATE_INFO), .maxLod = 1}};
    const VkSamplerCreateInfo *const sampler_pointers[2] = {NULL, samplers};
    const VkDescriptorSetLayoutCreateInfo layouts[2] = {
        {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .bindingCount = 1, .pBindings = &buffer},
        {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .bindingCount = 1, .pBindings = &immutable}};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    const VkPipelineLayoutCreateInfo layout = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                               .setLayoutCount = 2, .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    const VkSpecializationMapEntry entries[] = {{3, 8, 4}, {7, 0, 4}, {8, 4, 4}};
    const VkDescriptorSetLayoutCreateInfo *const pointers[2] = {&layouts[0], &layouts[1]};
    VkSpecializationInfo specializations[BF_CHECK_BUILDS];
    VkComputePipelineCreateInfo compute[BF_CHECK_BUILDS];
    struct bf_build_request builds[BF_CHECK_BUILDS];
    for (uint32_t i = 0; i < BF_CHECK_BUILDS; i++) {
        specializations[i] = (VkSpecializationInfo){3, entries, sizeof(values[i]), &values[i]};
        compute[i] = (VkComputePipelineCreateInfo){
            VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
            .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, &specializations[i])};
        builds[i] = (struct bf_build_request){.compute = &compute[i],
                                              .code = code,
                                              .layout = &layout,
                                              .sets = pointers,
                                              .samplers = sampler_pointers};
    }
    const struct bf_check_binding bindings[2] = {{.binding = 2,
                                                  .type = buffer.descriptorType,
                                                  .count = 1,
                                                  .used = true,
                                                  .written = true,
                                                  .array_stride = 4},
                                                 {.binding = 0,
                                                  .type = image.descriptorType,
                                                  .count = 2,
                                                  .used = true,
                                                  .view = VK_IMAGE_VIEW_TYPE_2D,
                                                  .number = BF_TEXEL_SFLOAT}};
    const struct bf_check_set sets[2] = {{(void *)&info, 0, 1, &bindings[0]},
                                         {(void *)&info, 0, 1, &bindings[1]}};
    const struct bf_check_layout about = {.set_count = 2, .sets = sets};
    struct bf_pipeline_interface interface = {.layout = &about, .workgroup = {64, 1, 1}};
    struct {
        uint32_t count;
        float bias;
        uint8_t rest[BF_CHECK_PUSH_BYTES - 8];
    } push = {64, 0.125f, {0}};
    const struct bf_check_info check = {.interface = &interface, .push = (const uint8_t *)&push};
    const struct bf_check_request request = {
        .build_count = BF_CHECK_BUILDS, .builds = builds, .check = &check};
    interface.addresses = addresses;
    assert_success(bf_isolate_check(isolate, &request, answer));
    bf_isolate_stop(isolate);
    assert_int_equal(bf_isolate_check(isolate, &request, &(struct bf_check_answer){0}),
                     VK_NOT_READY);
    bf_isolate_destroy(isolate);
}

/* One that computes the same passes, one that doesn't does not; and why, where nothing is to be
 * compared (IS-6). */
TEST(forms_are_run)
{
    static const struct values values[] = {{1, 0.5f, 64}, {1, 0.25f, 64}, {1, 0.5f, 64}};
    struct bf_check_answer answer;
    forms_check(values, &plain, false, &answer);
    assert_success(answer.built);
    assert_success(answer.checked);
    assert_int_equal(answer.built_count, BF_CHECK_BUILDS);
    assert_string_equal(answer.why, "");
    assert_int_equal(answer.forms[0].reason, BF_REASON_INEXACT);
    assert_int_equal(answer.forms[1].reason, BF_REASON_NONE);
    assert_true(answer.forms[1].first_use_ns && answer.forms[1].steady_ns && answer.general_ns);
    assert_in_range(answer.peak_bytes >> 20, 1, 4096);
    assert_false(answer.hung);
    forms_check(values, &plain, true, &answer);
    assert_int_equal(answer.forms[1].reason, BF_REASON_UNCHECKABLE);
    assert_string_equal(answer.why, "it goes through addresses of buffers");
}

/* What never ends, or may go other ways than its dry run, isn't run, nor built; what ends on some
 * inputs is compared on these alone: the first form differs on others. (IS-7) */
TEST(a_dry_run_comes_first)
{
    static const struct {
        struct values values[BF_CHECK_BUILDS];
        const struct bf_build_code *code;
        const char *why;
        enum bf_reason reason;
    } cases[] = {
        {{{2, 1, 64}, {2, 1, 64}, {2, 1, 64}},
         &plain,
         "on no inputs does it end, and stay inside what it indexes",
         BF_REASON_ENDLESS},
        {{{0, 1, 64}, {0, 1, 64}, {0, 1, 64}},
         &steered,
         "it may go other ways than its dry run: float",
         BF_REASON_UNCHECKABLE},
        {{{3, 1, 64}, {4, 1, 64}, {3, 1, 64}}, &plain, "", BF_REASON_NONE},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bool passes = cases[i].reason == BF_REASON_NONE;
        struct bf_check_answer answer;
        forms_check(cases[i].values, cases[i].code, false, &answer);
        assert_success(answer.checked);
        assert_string_equal(answer.why, cases[i].why);
        assert_int_equal(answer.built_count, passes ? BF_CHECK_BUILDS : 0);
        for (uint32_t k = 0; k < BF_CHECK_FORMS; k++)
            assert_int_equal(answer.forms[k].reason, cases[i].reason);
    }
}

/* For dynamic rendering, and for a render pass; with what translators of Direct3D chain to each. */
TEST(pictures)
{
    const VkPipelineRasterizationDepthClipStateCreateInfoEXT clip = {
        VK_TYPE(PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT),
        .depthClipEnable = VK_TRUE};
    for (uint32_t i = 0; i < 2; i++) {
        struct bf_isolate_info info = info_of(NULL);
        const VkPhysicalDeviceDepthClipEnableFeaturesEXT clips = {
            VK_TYPE(PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT), .pNext = (void *)info.features,
            .depthClipEnable = VK_TRUE};
        const VkPhysicalDeviceDynamicRenderingFeatures dynamic = {
            VK_TYPE(PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES), .pNext = (void *)&clips,
            .dynamicRendering = VK_TRUE};
        info.extension_count = 3;
        info.extensions = (const char *const[]){VK_EXT_DEPTH_CLIP_ENABLE_EXTENSION_NAME,
                                                info.extensions[0], info.extensions[1]};
        info.features = &clips;
        if (i == 0) {
            info.api_version = VK_API_VERSION_1_3;
            info.features = &dynamic;
        }
        struct bf_isolate *isolate;
        assert_success(bf_isolate_create(&info, &isolate));
        struct picture p;
        const struct bf_build_request *request =
            picture(&p, i, (struct bf_build_code){isolate_vert, sizeof(isolate_vert)},
                    (struct bf_build_code){isolate_frag, sizeof(isolate_frag)});
        p.g.raster.pNext = &clip;
        VkResult result = VK_RESULT_MAX_ENUM;
        assert_success(isolate_build(isolate, request, &result));
        assert_success(result);
        bf_isolate_destroy(isolate);
    }
}

/* The helper is found beside the library that this code is in, whatever the program is. */
TEST(beside_the_library)
{
    char path[512];
    const char *build = getenv("BELFRY_TEST_BUILD");
    snprintf(path, sizeof(path), "%s/lib/libbelfry_isolate_place.so",
             build ? build : "build/debug");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    VkResult (*create)(const struct bf_isolate_info *, struct bf_isolate **) = (VkResult(*)(
        const struct bf_isolate_info *, struct bf_isolate **))dlsym(library, "bf_isolate_create");
    void (*destroy)(struct bf_isolate *) =
        (void (*)(struct bf_isolate *))dlsym(library, "bf_isolate_destroy");
    struct bf_isolate_info info = info_of(NULL);
    info.helper = NULL;
    struct bf_isolate *isolate;
    assert_success(create(&info, &isolate));
    destroy(isolate);
    dlclose(library);
}

int main(void)
{
    alarm(110);
    return test_run(NULL);
}
