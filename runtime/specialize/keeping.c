/* SPDX-License-Identifier: MIT */
/* Asks a device whether it keeps what it says: by a check like any other, of a shader of Belfry's
 * own. [FM-2] */
#include "specialize/keeping.h"

#include <math.h>
#include <string.h>

#include "base/sha256.h"
#include "specialize/isolate/isolate.h"
#include "specialize/shader/shader.h"

#include "shaders/keeping.comp.h"

#define WORDS (16 * 16)

static const float pushed[] = {0.0f, -0.0f, INFINITY, 1.0f};

static const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(pushed)};
static const VkDescriptorSetLayoutBinding binding = {
    .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    .descriptorCount = 1,
    .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
};
static const VkDescriptorSetLayoutCreateInfo set = {
    .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
    .bindingCount = 1,
    .pBindings = &binding,
};
static const VkDescriptorSetLayoutCreateInfo *const sets = &set;
static const VkPipelineLayoutCreateInfo layout = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
    .setLayoutCount = 1,
    .pushConstantRangeCount = 1,
    .pPushConstantRanges = &range,
};
static const struct bf_check_binding checked_binding = {
    .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    .count = 1,
    .used = true,
    .written = true,
    .size = WORDS * sizeof(float),
};
static const struct bf_check_set checked_set = {
    .handle = (void *)&set, /* it is there: no more is looked at */
    .binding_count = 1,
    .bindings = &checked_binding,
};
static const struct bf_check_layout checked_layout = {
    .set_count = 1,
    .sets = &checked_set,
    .range_count = 1,
    .ranges = &range,
};
static const struct bf_pipeline_interface interface = {
    .layout = &checked_layout,
    .workgroup = {16, 1, 1},
};

static VkComputePipelineCreateInfo build_info(const VkSpecializationInfo *specialization)
{
    return (VkComputePipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = specialization},
    };
}

/* Both, the one that reads its zeros and infinities first. */
static VkResult both_check(struct bf_isolate *isolate, const struct bf_folded *folded,
                           const VkSpecializationInfo *specialization,
                           const struct bf_isolate_bar *bar, struct bf_check_answer *answer)
{
    uint8_t push[BF_CHECK_PUSH_BYTES] = {0};
    memcpy(push, pushed, sizeof(pushed));
    const struct bf_check_info check = {
        .interface = &interface,
        .push = push,
        .fixed = (1u << sizeof(pushed) / sizeof(pushed[0])) - 1,
        .groups = {1, 1, 1},
    };
    const VkComputePipelineCreateInfo infos[] = {build_info(NULL), build_info(specialization)};
    const struct bf_build_code code[] = {{keeping_comp, sizeof(keeping_comp)},
                                         {folded->words, folded->word_count * sizeof(uint32_t)}};
    struct bf_build_request builds[2];
    for (uint32_t i = 0; i < 2; i++)
        builds[i] = (struct bf_build_request){
            .compute = &infos[i], .code = &code[i], .layout = &layout, .sets = &sets};
    const struct bf_check_request request = {
        .build_count = 2, .builds = builds, .check = &check, .bar = bar};
    return bf_isolate_check(isolate, &request, answer);
}

void bf_keeping_hash(uint8_t hash[32])
{
    struct bf_sha256 sha;
    bf_sha256_init(&sha);
    bf_sha256_add(&sha, keeping_comp, sizeof(keeping_comp));
    bf_sha256_finish(&sha, hash);
}

VkResult bf_keeping_ask(struct bf_isolate *isolate, const struct bf_isolate_bar *bar,
                        struct bf_check_answer *answer)
{
    const struct bf_shader_info info = {.words = keeping_comp,
                                        .word_count = sizeof(keeping_comp) / sizeof(uint32_t),
                                        .entry = "main",
                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT};
    struct bf_shader *shader = NULL;
    struct bf_folded folded = {0};
    VkSpecializationInfo specialization = {0};
    struct bf_watch watch;
    *answer = (struct bf_check_answer){0};
    VkResult result = bf_shader_create_over(&info, &shader);
    if (result == VK_SUCCESS) {
        const struct bf_shader *const shaders[] = {shader};
        bf_watch_choose(&watch, shaders, 1);
        result = bf_shader_fold_keeping(shader, &watch, 0xf, BF_FLOAT_32, &folded);
    }
    if (result == VK_SUCCESS)
        result = bf_folded_specialize(&folded, shader, pushed, &specialization);
    if (result == VK_SUCCESS)
        result = both_check(isolate, &folded, &specialization, bar, answer);
    bf_folded_specialization_finish(&specialization);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
    return result;
}
