/* SPDX-License-Identifier: MIT */
/* Pipelines as messages: layouts, stages and compute pipelines. */
#include "specialize/isolate/wire_io.h"

#include <string.h>

static void say_specialization(struct bf_wire_out *out, const VkSpecializationInfo *info)
{
    bf_wire_say(out, info ? 1 : 0);
    if (!info)
        return;
    bf_wire_say(out, info->mapEntryCount);
    for (uint32_t i = 0; i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        bf_wire_say(out, entry->constantID);
        bf_wire_say(out, entry->offset);
        bf_wire_say(out, (uint32_t)entry->size);
        out->unsaid |= entry->size > UINT32_MAX;
    }
    bf_wire_say_block(out, info->pData, info->dataSize);
}

static VkSpecializationInfo *read_specialization(struct bf_wire_in *in)
{
    if (!bf_wire_read(in))
        return NULL;
    VkSpecializationInfo *info = bf_wire_allocate(in, 1, sizeof(*info));
    uint32_t count = bf_wire_read_count(in, 12);
    VkSpecializationMapEntry *entries = bf_wire_allocate(in, count, sizeof(*entries));
    for (uint32_t i = 0; entries && i < count; i++) {
        entries[i].constantID = bf_wire_read(in);
        entries[i].offset = bf_wire_read(in);
        entries[i].size = bf_wire_read(in);
    }
    size_t size;
    const void *data = bf_wire_read_block(in, &size);
    for (uint32_t i = 0; entries && i < count; i++)
        if (entries[i].offset > size || entries[i].size > size - entries[i].offset)
            in->bad = true;
    if (in->bad)
        return NULL;
    *info = (VkSpecializationInfo){
        .mapEntryCount = count, .pMapEntries = entries, .dataSize = size, .pData = data};
    return info;
}

void bf_wire_say_stage(struct bf_wire_out *out, const VkPipelineShaderStageCreateInfo *stage,
                       const struct bf_build_code *code)
{
    uint32_t subgroup_size = 0;
    for (const VkBaseInStructure *s = stage->pNext; s; s = s->pNext) {
        const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
            subgroup_size = size->requiredSubgroupSize;
        else
            out->unsaid = true;
    }
    bf_wire_say(out, stage->flags);
    bf_wire_say(out, (uint32_t)stage->stage);
    bf_wire_say(out, subgroup_size);
    bf_wire_say_string(out, stage->pName);
    say_specialization(out, stage->pSpecializationInfo);
    bf_wire_say_block(out, code->words, code->size);
}

void bf_wire_read_stage(struct bf_wire_in *in, VkPipelineShaderStageCreateInfo *stage,
                        struct bf_build_code *code)
{
    *stage = (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .flags = bf_wire_read(in)};
    stage->stage = (VkShaderStageFlagBits)bf_wire_read(in);
    uint32_t subgroup_size = bf_wire_read(in);
    if (subgroup_size) {
        VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *size =
            bf_wire_allocate(in, 1, sizeof(*size));
        if (size) {
            size->sType =
                VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
            size->requiredSubgroupSize = subgroup_size;
        }
        stage->pNext = size;
    }
    stage->pName = bf_wire_read_string(in);
    stage->pSpecializationInfo = read_specialization(in);
    code->words = bf_wire_read_block(in, &code->size);
    if (code->size % 4 || code->size < 20) /* shorter than SPIR-V's header */
        in->bad = true;
}

static bool has_samplers(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_SAMPLER || type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
}

static void say_sampler(struct bf_wire_out *out, const VkSamplerCreateInfo *info)
{
    VkSamplerCreateInfo alone = *info;
    alone.pNext = NULL;
    bf_wire_say_bytes(out, &alone, sizeof(alone));
    const VkSamplerReductionModeCreateInfo *reduction = info->pNext;
    out->unsaid |=
        reduction && (reduction->pNext ||
                      reduction->sType != VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO);
    bf_wire_say(out, reduction ? 1 : 0);
    if (reduction)
        bf_wire_say(out, (uint32_t)reduction->reductionMode);
}

static void read_sampler(struct bf_wire_in *in, VkSamplerCreateInfo *info)
{
    const void *bytes = bf_wire_read_bytes(in, sizeof(*info));
    if (bytes)
        memcpy(info, bytes, sizeof(*info));
    info->sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    info->pNext = NULL;
    if (!bf_wire_read(in))
        return;
    VkSamplerReductionModeCreateInfo *reduction = bf_wire_allocate(in, 1, sizeof(*reduction));
    if (reduction)
        *reduction = (VkSamplerReductionModeCreateInfo){
            .sType = VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO,
            .reductionMode = (VkSamplerReductionMode)bf_wire_read(in)};
    info->pNext = reduction;
}

/* Returns what the binding is to point to. */
static const VkSampler *read_samplers(struct bf_wire_in *in, uint32_t count,
                                      struct bf_wire_build *build)
{
    in->bad |= count > in->left / sizeof(VkSamplerCreateInfo);
    struct bf_wire_samplers *samplers = bf_wire_allocate(in, 1, sizeof(*samplers));
    VkSamplerCreateInfo *infos = bf_wire_allocate(in, count, sizeof(*infos));
    VkSampler *handles = bf_wire_allocate(in, count, sizeof(VkSampler));
    if (in->bad)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        read_sampler(in, &infos[i]);
    *samplers = (struct bf_wire_samplers){build->samplers, count, infos, handles};
    build->samplers = samplers;
    return handles;
}

static void say_set(struct bf_wire_out *out, const VkDescriptorSetLayoutCreateInfo *set,
                    const VkSamplerCreateInfo *samplers)
{
    uint32_t n_flags = 0;
    const VkDescriptorBindingFlags *flags = NULL;
    for (const VkBaseInStructure *s = set->pNext; s; s = s->pNext) {
        const VkDescriptorSetLayoutBindingFlagsCreateInfo *info = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO) {
            n_flags = info->bindingCount;
            flags = info->pBindingFlags;
        } else {
            out->unsaid = true;
        }
    }
    bf_wire_say(out, set->flags);
    bf_wire_say(out, set->bindingCount);
    for (uint32_t i = 0; i < set->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &set->pBindings[i];
        bool immutable = has_samplers(binding->descriptorType) && binding->pImmutableSamplers;
        out->unsaid |= immutable && binding->descriptorCount && !samplers;
        bf_wire_say(out, binding->binding);
        bf_wire_say(out, (uint32_t)binding->descriptorType);
        bf_wire_say(out, binding->descriptorCount);
        bf_wire_say(out, binding->stageFlags);
        bf_wire_say(out, immutable);
        for (uint32_t k = 0; immutable && samplers && k < binding->descriptorCount; k++)
            say_sampler(out, samplers++);
    }
    out->unsaid |= n_flags && n_flags != set->bindingCount;
    bf_wire_say_block(out, flags, n_flags * sizeof(*flags));
}

static void read_set(struct bf_wire_in *in, VkDescriptorSetLayoutCreateInfo *set,
                     struct bf_wire_build *build)
{
    *set = (VkDescriptorSetLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .flags = bf_wire_read(in)};
    uint32_t count = bf_wire_read_count(in, 20);
    VkDescriptorSetLayoutBinding *bindings = bf_wire_allocate(in, count, sizeof(*bindings));
    for (uint32_t i = 0; bindings && i < count; i++) {
        bindings[i].binding = bf_wire_read(in);
        bindings[i].descriptorType = (VkDescriptorType)bf_wire_read(in);
        bindings[i].descriptorCount = bf_wire_read(in);
        bindings[i].stageFlags = bf_wire_read(in);
        if (bf_wire_read(in))
            bindings[i].pImmutableSamplers = read_samplers(in, bindings[i].descriptorCount, build);
    }
    set->bindingCount = count;
    set->pBindings = bindings;

    size_t size;
    const VkDescriptorBindingFlags *flags = bf_wire_read_block(in, &size);
    if (!size)
        return;
    if (size != count * sizeof(*flags)) {
        in->bad = true;
        return;
    }
    VkDescriptorSetLayoutBindingFlagsCreateInfo *info = bf_wire_allocate(in, 1, sizeof(*info));
    if (info)
        *info = (VkDescriptorSetLayoutBindingFlagsCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
            .bindingCount = count,
            .pBindingFlags = flags};
    set->pNext = info;
}

static void say_compute(struct bf_wire_out *out, const struct bf_build_request *request)
{
    out->unsaid |= request->compute->pNext != NULL;
    bf_wire_say(out, request->compute->flags &
                         ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_DERIVATIVE_BIT);
    bf_wire_say_stage(out, &request->compute->stage, request->code);
}

static void read_compute(struct bf_wire_in *in, struct bf_wire_build *build)
{
    build->compute =
        (VkComputePipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                      .flags = bf_wire_read(in),
                                      .basePipelineIndex = -1};
    build->code = bf_wire_allocate(in, 1, sizeof(*build->code));
    if (build->code)
        bf_wire_read_stage(in, &build->compute.stage, build->code);
    if (build->compute.stage.stage != VK_SHADER_STAGE_COMPUTE_BIT)
        in->bad = true;
}

void bf_wire_say_build(struct bf_wire_out *out, const struct bf_build_request *request)
{
    const VkPipelineLayoutCreateInfo *layout = request->layout;
    bf_wire_say(out, request->compute ? VK_PIPELINE_BIND_POINT_COMPUTE
                                      : VK_PIPELINE_BIND_POINT_GRAPHICS);
    if (request->compute)
        say_compute(out, request);
    else
        bf_wire_say_graphics(out, request);
    out->unsaid |= layout->pNext != NULL;
    bf_wire_say(out, layout->flags);
    bf_wire_say(out, layout->setLayoutCount);
    uint32_t null_sets = 0;
    for (uint32_t i = 0; i < layout->setLayoutCount; i++) {
        static const VkDescriptorSetLayoutCreateInfo none;
        const VkDescriptorSetLayoutCreateInfo *set = request->sets[i];
        out->unsaid |= !set && i >= BF_CHECK_SETS;
        null_sets |= set || i >= BF_CHECK_SETS ? 0 : 1u << i;
        say_set(out, set ? set : &none, request->samplers ? request->samplers[i] : NULL);
    }
    bf_wire_say(out, null_sets);
    bf_wire_say(out, layout->pushConstantRangeCount);
    bf_wire_say_bytes(out, layout->pPushConstantRanges,
                      layout->pushConstantRangeCount * sizeof(VkPushConstantRange));
}

void bf_wire_read_build(struct bf_wire_in *in, struct bf_wire_build *build)
{
    *build = (struct bf_wire_build){.point = (VkPipelineBindPoint)bf_wire_read(in)};
    if (build->point == VK_PIPELINE_BIND_POINT_COMPUTE)
        read_compute(in, build);
    else if (build->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        bf_wire_read_graphics(in, build);
    else
        in->bad = true;
    build->layout = (VkPipelineLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .flags = bf_wire_read(in)};
    build->layout.setLayoutCount = bf_wire_read_count(in, 12);
    build->sets = bf_wire_allocate(in, build->layout.setLayoutCount, sizeof(*build->sets));
    for (uint32_t i = 0; build->sets && i < build->layout.setLayoutCount; i++)
        read_set(in, &build->sets[i], build);
    build->null_sets = bf_wire_read(in);
    for (uint32_t i = 0; i < BF_CHECK_SETS; i++) {
        if (build->null_sets & 1u << i)
            in->bad |=
                i >= build->layout.setLayoutCount || (build->sets && build->sets[i].bindingCount);
    }
    bf_wire_links_check(in, build);
    uint32_t ranges = bf_wire_read_count(in, sizeof(VkPushConstantRange));
    build->layout.pushConstantRangeCount = ranges;
    build->layout.pPushConstantRanges =
        bf_wire_read_bytes(in, ranges * sizeof(VkPushConstantRange));
}
