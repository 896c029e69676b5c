/* SPDX-License-Identifier: MIT */
/* Whole requests of folded shaders: what no made-up input comes to is uncovered, whether it would
 * differ or not. [IS-8] And what agrees passes. */
#include "isolate_helper.h"
#include "support/infos.h"

#include "shaders/isolate_scaled.comp.h"
#include "shaders/isolate_tone.comp.h"
#include "shaders/isolate_unvaried.comp.h"
#include "specialize/check/inputs.h"
#include "specialize/shader/shader.h"

static const VkDescriptorSetLayoutBinding buffers[2] = {
    {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
static const uint8_t kinds[] = {BF_UNIT_FLOAT};

/* A folded form, with values of its own. */
struct form {
    struct bf_folded folded;
    VkSpecializationInfo specialization;
    VkComputePipelineCreateInfo compute;
    struct bf_build_code code;
};

struct push {
    float number;
    int32_t dead;
    uint8_t rest[BF_PUSH_CONSTANT_BYTES - 8];
};

static void form_make(struct form *form, struct bf_shader *shader, bool no_contraction,
                      const struct push *push)
{
    static const struct bf_watch watch = {2, {0, 4}};
    assert_success(bf_shader_fold(shader, &watch, 3, no_contraction, &form->folded));
    assert_success(bf_folded_specialize(&form->folded, shader, push, &form->specialization));
    form->code = (struct bf_build_code){form->folded.words, form->folded.word_count * 4};
    form->compute = (VkComputePipelineCreateInfo){
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, &form->specialization)};
}

static void shader_check(struct bf_build_code code, int32_t curve, float number,
                         struct bf_check_answer *answer)
{
    const struct push push = {number, 0, {0}};
    struct bf_isolate_info info = info_of(NULL);
    info.robust = true;
    struct bf_isolate *isolate;
    assert_success(bf_isolate_create(&info, &isolate));
    const VkSpecializationMapEntry entry = {0, 0, 4};
    const VkSpecializationInfo constant = {1, &entry, 4, &curve};
    const struct bf_shader_info about = {code.words, code.size / 4, "main",
                                         VK_SHADER_STAGE_COMPUTE_BIT, &constant};
    struct bf_shader *shader;
    assert_success(bf_shader_create(&about, &shader));
    struct form forms[BF_CHECK_FORMS];
    for (uint32_t i = 0; i < BF_CHECK_FORMS; i++)
        form_make(&forms[i], shader, i == 1, &push);
    const VkDescriptorSetLayoutCreateInfo set = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                 .bindingCount = 2, .pBindings = buffers};
    const VkDescriptorSetLayoutCreateInfo *const sets = &set;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    const VkPipelineLayoutCreateInfo layout = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                               .setLayoutCount = 1, .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    const VkComputePipelineCreateInfo general = {
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, &constant)};
    const struct bf_build_request builds[BF_CHECK_BUILDS] = {
        {.compute = &general, .code = &code, .layout = &layout, .sets = &sets},
        {.compute = &forms[0].compute, .code = &forms[0].code, .layout = &layout, .sets = &sets},
        {.compute = &forms[1].compute, .code = &forms[1].code, .layout = &layout, .sets = &sets}};
    const struct bf_check_binding bindings[2] = {{.binding = 0,
                                                  .type = buffers[0].descriptorType,
                                                  .count = 1,
                                                  .used = true,
                                                  .array_stride = 4,
                                                  .kinds = kinds,
                                                  .kind_count = 1,
                                                  .period = 1},
                                                 {.binding = 1,
                                                  .type = buffers[1].descriptorType,
                                                  .count = 1,
                                                  .used = true,
                                                  .written = true,
                                                  .array_stride = 4,
                                                  .kinds = kinds,
                                                  .kind_count = 1,
                                                  .period = 1}};
    const struct bf_check_set check_set = {(void *)&info, 0, 2, bindings};
    const struct bf_check_layout check_layout = {.set_count = 1, .sets = &check_set};
    const struct bf_pipeline_interface interface = {.layout = &check_layout,
                                                    .workgroup = {64, 1, 1}};
    const struct bf_check_info check = {
        .interface = &interface, .push = (const uint8_t *)&push, .fixed = 3};
    const struct bf_check_request request = {
        .build_count = BF_CHECK_BUILDS, .builds = builds, .check = &check};
    assert_success(bf_isolate_check(isolate, &request, answer));
    bf_isolate_destroy(isolate);
    for (uint32_t i = 0; i < BF_CHECK_FORMS; i++) {
        bf_folded_specialization_finish(&forms[i].specialization);
        bf_folded_finish(&forms[i].folded);
    }
    bf_shader_release(shader);
}

TEST(what_no_input_comes_to_is_uncovered)
{
    static const bool covered[] = {true, false, false, false, true,  false, false,
                                   true, false, true,  false, false, true};
    for (int32_t i = 0; i < (int32_t)(sizeof(covered) / sizeof(covered[0])); i++) {
        struct bf_check_answer answer;
        shader_check((struct bf_build_code){isolate_tone_comp, sizeof(isolate_tone_comp)}, i, 0.8f,
                     &answer);
        assert_success(answer.built);
        assert_success(answer.checked);
        for (uint32_t k = 0; k < BF_CHECK_FORMS; k++) {
            /* What is covered may be inexact: that is another question. */
            if ((answer.forms[k].reason == BF_REASON_UNCOVERED) == covered[i])
                fail_msg("curve %d, form %u: %d, %s", i, k, answer.forms[k].reason, answer.why);
        }
        assert_int_equal(answer.built_count, covered[i] ? BF_CHECK_BUILDS : 0);
        if (covered[i])
            assert_string_equal(answer.why, "");
        else
            assert_memory_equal(answer.why, "no inputs come to point ", 24);
        assert_true(!covered[i] || answer.forms[1].reason == BF_REASON_NONE ||
                    answer.forms[1].reason == BF_REASON_INEXACT);
    }
}

/* With which both are compared, too. [TW-1] */
TEST(what_agrees_with_powers_of_two_agrees_with_others)
{
    struct bf_check_answer answer;
    shader_check((struct bf_build_code){isolate_scaled_comp, sizeof(isolate_scaled_comp)}, 0, 2.0f,
                 &answer);
    assert_success(answer.built);
    assert_success(answer.checked);
    for (uint32_t k = 0; k < BF_CHECK_FORMS; k++)
        assert_int_equal(answer.forms[k].reason, BF_REASON_NONE);
}

TEST(what_no_check_varies_is_uncheckable)
{
    struct bf_check_answer answer;
    shader_check((struct bf_build_code){isolate_unvaried_comp, sizeof(isolate_unvaried_comp)}, 0,
                 0.8f, &answer);
    assert_success(answer.built);
    assert_success(answer.checked);
    for (uint32_t k = 0; k < BF_CHECK_FORMS; k++)
        assert_int_equal(answer.forms[k].reason, BF_REASON_UNCHECKABLE);
    assert_string_equal(answer.why,
                        "its values are made of gl_DeviceIndex, which checks don't vary");
}

int main(int argc, char **argv)
{
    alarm(110);
    return test_run(argc > 1 ? argv[1] : NULL);
}
