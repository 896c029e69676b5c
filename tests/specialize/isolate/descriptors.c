/* SPDX-License-Identifier: MIT */
/* Pipelines whose sets lie in descriptor buffers, some with samplers that can't change, checked in
 * a helper; and the same with sets. What isn't read from a descriptor tells that it is there.
 * (IS-6) */
#include "isolate_helper.h"
#include "specialize/check/inputs.h"
#include "support/infos.h"

#include "shaders/isolate_descriptors.comp.h"

#define MODES 6

static const VkShaderStageFlags stages = VK_SHADER_STAGE_COMPUTE_BIT;
static const VkSampler some[2]; /* they aren't looked at */
static const VkSamplerCreateInfo samplers[2] = {{VK_TYPE(SAMPLER_CREATE_INFO)},
                                                {VK_TYPE(SAMPLER_CREATE_INFO), .maxLod = 1}};
static const VkDescriptorSetLayoutBinding first[] = {
    {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, stages, NULL}};
static const VkDescriptorSetLayoutBinding second[] = {
    {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2, stages, some},
    {3, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, stages, NULL},
    {4, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, stages, NULL},
    {5, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, stages, NULL}};
static const VkDescriptorSetLayoutBinding third[] = {
    {1, VK_DESCRIPTOR_TYPE_SAMPLER, 1, stages, some}};
static const uint8_t words[] = {BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER, BF_UNIT_INTEGER};

static const struct bf_check_binding first_uses[] = {
    {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, .used = true, .written = true, .array_stride = 4,
     .kinds = words, .kind_count = 1, .period = 1}};
static const struct bf_check_binding second_uses[] = {
    {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2, .used = true, .immutable_samplers = true,
     .view = VK_IMAGE_VIEW_TYPE_2D, .number = BF_TEXEL_SFLOAT},
    {3, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, .used = true, .view = VK_IMAGE_VIEW_TYPE_2D,
     .number = BF_TEXEL_SFLOAT},
    {4, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, .used = true, .number = BF_TEXEL_UINT},
    {5, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, .used = true, .block_size = 64, .kinds = words,
     .kind_count = 4, .period = 4}};
static const struct bf_check_binding third_uses[] = {
    {1, VK_DESCRIPTOR_TYPE_SAMPLER, 1, .used = true, .immutable_samplers = true}};

/* What the program enables for descriptor buffers. */
static struct bf_isolate_info info_described(void)
{
    static const char *extensions[3] = {VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME};
    static VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        VK_TYPE(PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES), .bufferDeviceAddress = VK_TRUE};
    static const VkPhysicalDeviceDescriptorBufferFeaturesEXT buffers = {
        VK_TYPE(PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT), .pNext = &addresses,
        .descriptorBuffer = VK_TRUE};
    struct bf_isolate_info info = info_of(NULL);
    extensions[1] = info.extensions[0];
    extensions[2] = info.extensions[1];
    addresses.pNext = (void *)info.features;
    info.api_version = VK_API_VERSION_1_3;
    info.extension_count = 3;
    info.extensions = extensions;
    info.features = &buffers;
    return info;
}

/* A form of that mode against the general pipeline, whose mode is 0. */
static void form_check(bool described, int32_t mode, struct bf_check_answer *answer)
{
    struct bf_isolate_info info = described ? info_described() : info_of(NULL);
    info.robust = true;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));

    const VkDescriptorSetLayoutCreateFlags kind =
        described ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT : 0;
    const VkDescriptorSetLayoutCreateInfo layouts[] = {
        {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .flags = kind, .bindingCount = 1,
         .pBindings = first},
        {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .flags = kind, .bindingCount = 4,
         .pBindings = second},
        {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO), .flags = kind, .bindingCount = 1,
         .pBindings = third}};
    const VkDescriptorSetLayoutCreateInfo *const pointers[] = {&layouts[0], &layouts[1],
                                                               &layouts[2]};
    const VkSamplerCreateInfo *const sampler_pointers[] = {NULL, samplers, samplers};
    const VkPushConstantRange range = {stages, 0, 4};
    const VkPipelineLayoutCreateInfo layout = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                               .setLayoutCount = 3, .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    const VkSpecializationMapEntry entry = {.size = sizeof(mode)};
    const int32_t modes[2] = {0, mode};
    const struct bf_build_code code = {isolate_descriptors_comp, sizeof(isolate_descriptors_comp)};
    VkSpecializationInfo constants[2];
    VkComputePipelineCreateInfo compute[2];
    struct bf_build_request builds[2];
    for (uint32_t i = 0; i < 2; i++) {
        constants[i] = (VkSpecializationInfo){1, &entry, sizeof(mode), &modes[i]};
        compute[i] = (VkComputePipelineCreateInfo){
            VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
            .flags = described ? VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT : 0,
            .stage = info_stage(stages, VK_NULL_HANDLE, &constants[i])};
        builds[i] = (struct bf_build_request){.compute = &compute[i],
                                              .code = &code,
                                              .layout = &layout,
                                              .sets = pointers,
                                              .samplers = sampler_pointers};
    }
    const struct bf_check_set sets[] = {{(void *)&info, kind, 1, first_uses},
                                        {(void *)&info, kind, 4, second_uses},
                                        {(void *)&info, kind, 1, third_uses}};
    const struct bf_check_layout about = {.set_count = 3, .sets = sets};
    const struct bf_pipeline_interface interface = {.layout = &about, .workgroup = {64, 1, 1}};
    const uint32_t push[BF_CHECK_PUSH_BYTES / 4] = {64};
    const struct bf_check_info check = {.interface = &interface, .push = (const uint8_t *)push};
    const struct bf_check_request request = {.build_count = 2, .builds = builds, .check = &check};
    assert_success(bf_isolate_check(isolate, &request, answer));
    bf_isolate_destroy(isolate);
}

static void forms_check(bool described)
{
    for (int32_t mode = 0; mode < MODES; mode++) {
        struct bf_check_answer answer;
        form_check(described, mode, &answer);
        assert_success(answer.built);
        assert_success(answer.checked);
        assert_string_equal(answer.why, "");
        assert_int_equal(answer.forms[0].reason, mode ? BF_REASON_INEXACT : BF_REASON_NONE);
    }
    assert_int_equal(lines, 0);
}

TEST(each_descriptor_is_read_from_sets)
{
    forms_check(false);
}

TEST(each_descriptor_is_read_from_buffers)
{
    if (!isolate_device_has(VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME)) {
        print_message("left out: there is no VK_EXT_descriptor_buffer\n");
        return;
    }
    forms_check(true);
}
