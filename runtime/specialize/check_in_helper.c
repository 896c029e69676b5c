/* SPDX-License-Identifier: MIT */
/* Has a variant checked in a helper process: makes the create infos out of a pipeline's copy, with
 * the handles replaced by descriptions. */
#include "specialize/check_in_helper.h"

#include <string.h>

#include "specialize/shader/arena.h"
#include "specialize/pipeline/copy.h"
#include "specialize/isolate/isolate.h"
#include "specialize/pipeline/pipeline.h"
#include "specialize/check/pipeline_interface_copy.h"

_Static_assert(BF_COPY_LINKS <= BF_BUILD_LINKS, "a request has room for all links of a copy");

/* independent: where libraries' sets are independent a set that isn't there says so. */
static const VkDescriptorSetLayoutCreateInfo *
describe_set(struct bf_arena *arena, const struct bf_retained_set_layout *set, bool independent)
{
    static const VkSampler some; /* it isn't looked at */
    static const VkDescriptorSetLayoutCreateInfo none = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
    };
    if (!set)
        return independent ? NULL : &none;
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
            .pImmutableSamplers = b->immutable ? &some : NULL,
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

/* The immutable samplers of a set, of all bindings; NULL: it has none, or out of memory. */
static const VkSamplerCreateInfo *describe_samplers(struct bf_arena *arena,
                                                    const struct bf_retained_set_layout *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; set && i < set->binding_count; i++)
        count += set->bindings[i].immutable ? set->bindings[i].count : 0;
    VkSamplerCreateInfo *infos = count ? bf_arena_zeroed(arena, count * sizeof(*infos)) : NULL;
    for (uint32_t i = 0, n = 0; infos && i < set->binding_count; i++) {
        const struct bf_set_binding *b = &set->bindings[i];
        for (uint32_t k = 0; b->immutable && k < b->count; k++, n++) {
            const struct bf_sampler_shape *shape = b->immutable[k]->shape;
            infos[n] = shape->info;
            if (shape->reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE)
                continue;
            VkSamplerReductionModeCreateInfo *reduction =
                bf_arena_zeroed(arena, sizeof(*reduction));
            if (reduction)
                *reduction = (VkSamplerReductionModeCreateInfo){
                    .sType = VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO,
                    .reductionMode = shape->reduction,
                };
            infos[n].pNext = reduction;
        }
    }
    return infos;
}

/* How the program linked it, libraries first. Returns the link's number. independent: as above. */
static uint32_t describe_links(const struct bf_pipeline_copy *copy, bool independent,
                               struct bf_build_link *links, uint32_t *count)
{
    const struct bf_retained_layout *layout = copy->layout;
    struct bf_build_link link = {
        .flags = (VkPipelineCreateFlags)(copy->flags | copy->link_flags),
        .parts = copy->parts,
        .samples = copy->samples,
        .has_layout = layout != NULL,
    };
    for (uint32_t i = 0; i < copy->library_count; i++)
        link.from |= 1u << describe_links(copy->libraries[i], independent, links, count);
    if (layout) {
        link.layout_flags = layout->flags;
        link.set_count = layout->set_count;
    }
    for (uint32_t i = 0; i < link.set_count && i < BF_CHECK_SETS; i++)
        link.sets |= layout->sets[i] || !independent ? 1u << i : 0;
    links[*count] = link;
    return (*count)++;
}

/* A pipeline of the request, and what its build points to. */
struct described {
    VkPipelineShaderStageCreateInfo stages[BF_COPY_STAGES];
    struct bf_build_code code[BF_COPY_STAGES];
    VkComputePipelineCreateInfo compute;
    VkGraphicsPipelineCreateInfo graphics;
    VkSpecializationInfo specialization; /* of the folded module */
    bool specialised;
};

/* folded: NULL: the pipeline as the program made it. */
static VkResult describe_pipeline(const struct bf_pipeline_copy *copy,
                                  const struct bf_folded *folded, const void *push,
                                  struct described *d, struct bf_build_request *build)
{
    bool compute = copy->point == VK_PIPELINE_BIND_POINT_COMPUTE;
    VkResult result = VK_SUCCESS;
    if (folded)
        result =
            bf_folded_specialize(folded, bf_pipeline_copy_shader(copy), push, &d->specialization);
    if (result != VK_SUCCESS)
        return result;
    d->specialised = folded != NULL;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        const struct bf_code *words = copy->stages[i]->code;
        d->stages[i] = compute ? copy->compute.stage : copy->graphics.pStages[i];
        d->code[i] = (struct bf_build_code){words->words, words->word_count * 4};
        if (!folded || i != copy->specialised)
            continue;
        d->stages[i].pSpecializationInfo = &d->specialization;
        d->code[i] = (struct bf_build_code){folded->words, folded->word_count * 4};
    }
    d->compute = copy->compute;
    d->compute.stage = d->stages[0];
    d->graphics = copy->graphics;
    d->graphics.pStages = d->stages;
    build->code = d->code;
    if (compute)
        build->compute = &d->compute;
    else
        build->graphics = &d->graphics;
    return VK_SUCCESS;
}

VkResult bf_check_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            uint32_t form_count, const struct bf_folded *const *folded,
                            struct bf_check_info *check, const struct bf_isolate_bar *bar,
                            struct bf_check_answer *answer)
{
    const struct bf_retained_layout *retained = copy->layout;
    if (retained->unknown)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    struct bf_pipeline_interface *interface;
    enum bf_reason reason = bf_pipeline_interface_create(copy, &interface);
    if (reason != BF_REASON_NONE)
        return reason == BF_REASON_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY
                                          : VK_ERROR_FEATURE_NOT_PRESENT;
    check->interface = interface;
    const bool independent = retained->flags & VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
    struct bf_arena arena = {0};
    const VkDescriptorSetLayoutCreateInfo **sets =
        bf_arena_zeroed(&arena, (retained->set_count + 1) * sizeof(const void *));
    const VkSamplerCreateInfo **samplers =
        bf_arena_zeroed(&arena, (retained->set_count + 1) * sizeof(const void *));
    for (uint32_t i = 0; sets && samplers && i < retained->set_count; i++) {
        sets[i] = describe_set(&arena, retained->sets[i], independent);
        samplers[i] = describe_samplers(&arena, retained->sets[i]);
    }
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .flags = retained->flags,
        .setLayoutCount = retained->set_count,
        .pushConstantRangeCount = retained->push_count,
        .pPushConstantRanges = retained->push,
    };
    struct bf_build_link links[BF_COPY_LINKS];
    uint32_t link_count = 0;
    if (copy->library_count)
        describe_links(copy, independent, links, &link_count);
    struct described described[BF_CHECK_BUILDS] = {0};
    struct bf_build_request builds[BF_CHECK_BUILDS];
    VkResult result = arena.failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i <= form_count; i++) {
        builds[i] = (struct bf_build_request){
            .layout = &layout, .sets = sets, .samplers = samplers, .pass = interface->pass};
        result = describe_pipeline(copy, i ? folded[i - 1] : NULL, check->push, &described[i],
                                   &builds[i]);
        if (i == 0) {
            builds[i].link_count = link_count;
            builds[i].links = links;
        }
    }
    const struct bf_check_request request = {
        .build_count = 1 + form_count, .builds = builds, .check = check, .bar = bar};
    if (result == VK_SUCCESS)
        result = bf_isolate_check(isolate, &request, answer);
    answer->formats = answer->texels ? interface->formats : (struct bf_format_bindings){0};
    for (uint32_t i = 0; i <= form_count; i++) {
        if (described[i].specialised)
            bf_folded_specialization_finish(&described[i].specialization);
    }
    bf_pipeline_interface_destroy(interface);
    bf_arena_finish(&arena);
    return result;
}
