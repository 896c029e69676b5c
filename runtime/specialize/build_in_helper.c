/* SPDX-License-Identifier: MIT */
/* Builds a variant in a helper process: makes the create infos out of a pipeline's copy, with
 * the handles replaced by descriptions. */
#include "specialize/build_in_helper.h"

#include <string.h>

#include "specialize/shader/arena.h"
#include "specialize/pipeline/copy.h"
#include "specialize/isolate/isolate.h"
#include "specialize/pipeline/pipeline.h"
#include "specialize/check/pipeline_interface_copy.h"

static const VkDescriptorSetLayoutCreateInfo *describe_set(struct bf_arena *arena,
                                                           const struct bf_retained_set_layout *set)
{
    static const VkDescriptorSetLayoutCreateInfo none = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
    };
    if (!set)
        return &none;
    uint32_t count = set->binding_count;
    VkDescriptorSetLayoutCreateInfo *info = bf_arena_zeroed(arena, sizeof(*info));
    VkDescriptorSetLayoutBindingFlagsCreateInfo *chained = bf_arena_zeroed(arena, sizeof(*chained));
    VkDescriptorSetLayoutBinding *bindings =
        bf_arena_zeroed(arena, (count + 1) * sizeof(*bindings));
    VkDescriptorBindingFlags *flags = bf_arena_zeroed(arena, (count + 1) * sizeof(*flags));
    if (!info || !chained || !bindings || !flags)
        return NULL;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct bf_set_binding *b = &set->bindings[i];
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = b->binding,
            .descriptorType = b->type,
            .descriptorCount = b->count,
            .stageFlags = b->stages,
        };
        flags[i] = b->flags;
        any |= b->flags != 0;
    }
    *chained = (VkDescriptorSetLayoutBindingFlagsCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = count,
        .pBindingFlags = flags,
    };
    *info = (VkDescriptorSetLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = any ? chained : NULL,
        .flags = set->flags,
        .bindingCount = count,
        .pBindings = bindings,
    };
    return info;
}

static bool has_immutable(const struct bf_retained_layout *layout)
{
    for (uint32_t i = 0; i < layout->set_count; i++) {
        const struct bf_retained_set_layout *set = layout->sets[i];
        for (uint32_t k = 0; set && k < set->binding_count; k++) {
            if (set->bindings[k].immutable)
                return true;
        }
    }
    return false;
}

/* The stages, the folded module in its place; 'specialization' belongs to that module. */
static void describe_stages(const struct bf_pipeline_copy *copy, const struct bf_folded *folded,
                            const VkSpecializationInfo *specialization,
                            VkPipelineShaderStageCreateInfo stages[BF_COPY_STAGES],
                            struct bf_build_code code[BF_COPY_STAGES])
{
    bool compute = copy->point == VK_PIPELINE_BIND_POINT_COMPUTE;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        const struct bf_code *words = copy->stages[i]->code;
        stages[i] = compute ? copy->compute.stage : copy->graphics.pStages[i];
        code[i] = (struct bf_build_code){words->words, words->word_count * 4};
        if (i != copy->specialised)
            continue;
        stages[i].pSpecializationInfo = specialization;
        code[i] = (struct bf_build_code){folded->words, folded->word_count * 4};
    }
}

VkResult bf_build_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            const struct bf_folded *folded, const void *push,
                            VkResult *driver_result)
{
    const struct bf_retained_layout *retained = copy->layout;
    if (retained->unknown || has_immutable(retained))
        return VK_ERROR_INITIALIZATION_FAILED;
    VkSpecializationInfo specialization;
    VkResult result =
        bf_folded_specialize(folded, bf_pipeline_copy_shader(copy), push, &specialization);
    if (result != VK_SUCCESS)
        return result;
    struct bf_arena arena = {0};
    struct bf_pipeline_interface *interface = NULL;
    const VkDescriptorSetLayoutCreateInfo **sets =
        bf_arena_zeroed(&arena, (retained->set_count + 1) * sizeof(const void *));
    for (uint32_t i = 0; sets && i < retained->set_count; i++)
        sets[i] = describe_set(&arena, retained->sets[i]);
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .flags = retained->flags,
        .setLayoutCount = retained->set_count,
        .pushConstantRangeCount = retained->push_count,
        .pPushConstantRanges = retained->push,
    };
    VkPipelineShaderStageCreateInfo stages[BF_COPY_STAGES] = {0};
    struct bf_build_code code[BF_COPY_STAGES] = {0};
    describe_stages(copy, folded, &specialization, stages, code);
    struct bf_build_request request = {.code = code, .layout = &layout, .sets = sets};
    VkComputePipelineCreateInfo compute = copy->compute;
    VkGraphicsPipelineCreateInfo graphics = copy->graphics;
    result = arena.failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    if (copy->point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        compute.stage = stages[0];
        request.compute = &compute;
    } else {
        graphics.pStages = stages;
        request.graphics = &graphics;
        if (result == VK_SUCCESS && copy->pass) {
            if (bf_pipeline_interface_create(copy, &interface) != BF_REASON_NONE)
                result = VK_ERROR_INITIALIZATION_FAILED;
            else
                request.pass = interface->pass;
        }
    }
    if (result == VK_SUCCESS)
        result = bf_isolate_build(isolate, &request, driver_result);
    bf_pipeline_interface_destroy(interface);
    bf_folded_specialization_finish(&specialization);
    bf_arena_finish(&arena);
    return result;
}
