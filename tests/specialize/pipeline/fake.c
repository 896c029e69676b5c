/* SPDX-License-Identifier: MIT */
/* A driver that writes down what pipelines were created from. */
#include "fake.h"
#include "support/infos.h"

struct fake fake;

static void *VKAPI_PTR no_allocation(void *context, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    abort();
}

const VkAllocationCallbacks fake_allocator = {.pfnAllocation = no_allocation};

static void broken(const char *what)
{
    fprintf(stderr, "fake: %s\n", what);
    abort();
}

/* ---- What a pipeline is created from, in words ---- */

static size_t dumped;

static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(fake.dump + dumped, FAKE_DUMP - dumped, format, list);
    va_end(list);
    if (n < 0 || dumped + (size_t)n >= FAKE_DUMP)
        broken("too much to say");
    dumped += (size_t)n;
}

static void say_bytes(const char *name, const void *bytes, size_t size)
{
    say("%s:", name);
    for (size_t i = 0; bytes && i < size; i++)
        say("%02x", ((const uint8_t *)bytes)[i]);
    say(bytes ? "\n" : "none\n");
}

#define SAY(struct_, first_)                                                                       \
    say_bytes(#first_, &(struct_)->first_,                                                         \
              sizeof(*(struct_)) - offsetof(__typeof__(*(struct_)), first_))

/* Structs that are flat but for one array at their end: bytes up to it, and the array. */
#define CASE(type_, struct_, first_, count_, array_)                                               \
    case type_: {                                                                                  \
        const struct_ *v = (const void *)s;                                                        \
        say_bytes(#struct_, &v->first_, offsetof(struct_, array_) - offsetof(struct_, first_));    \
        say_bytes(#array_, v->array_, v->count_ * sizeof(*v->array_));                             \
        break;                                                                                     \
    }
#define FLAT(type_, struct_, first_)                                                               \
    case type_: {                                                                                  \
        const struct_ *v = (const void *)s;                                                        \
        say("%s ", #struct_);                                                                      \
        SAY(v, first_);                                                                            \
        break;                                                                                     \
    }

static void say_chain(const void *chain)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO)
            SAY((const VkPipelineRenderingCreateInfo *)(const void *)s, depthAttachmentFormat);
        switch ((int)s->sType) {
            CASE(VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, VkPipelineRenderingCreateInfo,
                 viewMask, colorAttachmentCount, pColorAttachmentFormats)
            FLAT(VK_STRUCTURE_TYPE_MULTIVIEW_PER_VIEW_ATTRIBUTES_INFO_NVX,
                 VkMultiviewPerViewAttributesInfoNVX, perViewAttributes)
            CASE(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
                 VkPipelineVertexInputDivisorStateCreateInfoEXT, vertexBindingDivisorCount,
                 vertexBindingDivisorCount, pVertexBindingDivisors)
            CASE(VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT,
                 VkPipelineColorWriteCreateInfoEXT, attachmentCount, attachmentCount,
                 pColorWriteEnables)
            CASE(VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
                 VkPipelineDiscardRectangleStateCreateInfoEXT, flags, discardRectangleCount,
                 pDiscardRectangles)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
                 VkPipelineRobustnessCreateInfoEXT, storageBuffers)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
                 VkPipelineShaderStageRequiredSubgroupSizeCreateInfo, requiredSubgroupSize)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT,
                 VkPipelineRasterizationLineStateCreateInfoEXT, lineRasterizationMode)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT,
                 VkPipelineRasterizationDepthClipStateCreateInfoEXT, flags)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT,
                 VkPipelineRasterizationProvokingVertexStateCreateInfoEXT, provokingVertexMode)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT,
                 VkPipelineRasterizationConservativeStateCreateInfoEXT, flags)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT,
                 VkPipelineColorBlendAdvancedStateCreateInfoEXT, srcPremultiplied)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT,
                 VkPipelineViewportDepthClipControlCreateInfoEXT, negativeOneToOne)
            FLAT(VK_STRUCTURE_TYPE_PIPELINE_FRAGMENT_SHADING_RATE_STATE_CREATE_INFO_KHR,
                 VkPipelineFragmentShadingRateStateCreateInfoKHR, fragmentSize)
        case VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT: {
            const VkPipelineSampleLocationsStateCreateInfoEXT *v = (const void *)s;
            const VkSampleLocationsInfoEXT *l = &v->sampleLocationsInfo;
            say("sample locations %u %u %ux%u ", v->sampleLocationsEnable,
                l->sampleLocationsPerPixel, l->sampleLocationGridSize.width,
                l->sampleLocationGridSize.height);
            say_bytes("at", l->pSampleLocations,
                      l->sampleLocationsCount * sizeof(*l->pSampleLocations));
            break;
        }
        case 1000470005: { /* VkPipelineCreateFlags2CreateInfo */
            struct {
                VkBaseInStructure base;
                uint64_t flags;
            } v;
            memcpy(&v, s, sizeof(v));
            say("wide flags %llx\n", (unsigned long long)v.flags);
            break;
        }
        default:
            say("chained %d\n", (int)s->sType);
            break;
        }
    }
}

static void say_stage(const VkPipelineShaderStageCreateInfo *s)
{
    if (s->module)
        fake_need(VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)s->module);
    say("stage %x flags %x entry %s\n", s->stage, s->flags, s->pName);
    say_chain(s->pNext);
    const VkSpecializationInfo *i = s->pSpecializationInfo;
    if (i) {
        say_bytes("entries", i->pMapEntries, i->mapEntryCount * sizeof(*i->pMapEntries));
        say_bytes("constants", i->pData, i->dataSize);
    }
}

static bool has(const VkGraphicsPipelineCreateInfo *info, VkDynamicState state)
{
    const VkPipelineDynamicStateCreateInfo *d = info->pDynamicState;
    for (uint32_t i = 0; d && i < d->dynamicStateCount; i++)
        if (d->pDynamicStates[i] == state)
            return true;
    return false;
}

/* As drivers do it: what is ignored isn't looked at. */
static void say_graphics(const VkGraphicsPipelineCreateInfo *info)
{
    say("graphics flags %x subpass %u\n", info->flags, info->subpass);
    say_chain(info->pNext);
    /* The fragment stage last, wherever it was. */
    for (uint32_t i = 0; i < info->stageCount; i++)
        if (info->pStages[i].stage != VK_SHADER_STAGE_FRAGMENT_BIT)
            say_stage(&info->pStages[i]);
    for (uint32_t i = 0; i < info->stageCount; i++)
        if (info->pStages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT)
            say_stage(&info->pStages[i]);
    if (info->pDynamicState)
        say_bytes("dynamic", info->pDynamicState->pDynamicStates,
                  info->pDynamicState->dynamicStateCount * sizeof(VkDynamicState));
    const VkPipelineVertexInputStateCreateInfo *v = info->pVertexInputState;
    if (!has(info, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT) && v) {
        say_chain(v->pNext);
        say_bytes("bindings", v->pVertexBindingDescriptions,
                  v->vertexBindingDescriptionCount * sizeof(*v->pVertexBindingDescriptions));
        say_bytes("attributes", v->pVertexAttributeDescriptions,
                  v->vertexAttributeDescriptionCount * sizeof(*v->pVertexAttributeDescriptions));
    }
    SAY(info->pInputAssemblyState, flags);
    SAY(info->pRasterizationState, flags);
    say_chain(info->pRasterizationState->pNext);
    const VkPipelineViewportStateCreateInfo *p = info->pViewportState;
    say("viewports %u scissors %u\n", p->viewportCount, p->scissorCount);
    say_chain(p->pNext);
    if (!has(info, VK_DYNAMIC_STATE_VIEWPORT))
        say_bytes("viewports", p->pViewports, p->viewportCount * sizeof(*p->pViewports));
    if (!has(info, VK_DYNAMIC_STATE_SCISSOR))
        say_bytes("scissors", p->pScissors, p->scissorCount * sizeof(*p->pScissors));
    const VkPipelineMultisampleStateCreateInfo *m = info->pMultisampleState;
    say("samples %u %u %g %u %u\n", m->rasterizationSamples, m->sampleShadingEnable,
        (double)m->minSampleShading, m->alphaToCoverageEnable, m->alphaToOneEnable);
    say_bytes("mask", m->pSampleMask, m->rasterizationSamples == VK_SAMPLE_COUNT_64_BIT ? 8 : 4);
    say_chain(m->pNext);
    if (fake.depth)
        SAY(info->pDepthStencilState, flags);
    const VkPipelineColorBlendStateCreateInfo *b = info->pColorBlendState;
    if (fake.color) {
        say("blend %u %u\n", b->logicOpEnable, b->logicOp);
        say_bytes("constants", b->blendConstants, sizeof(b->blendConstants));
        say_bytes("attachments", b->pAttachments, b->attachmentCount * sizeof(*b->pAttachments));
        say_chain(b->pNext);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_compute(VkDevice device, VkPipelineCache cache,
                                                     uint32_t count,
                                                     const VkComputePipelineCreateInfo *infos,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkPipeline *pipelines)
{
    fake_need(VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)infos->layout);
    if (!fake.quiet) {
        dumped = 0;
        say("compute flags %x\n", infos->flags);
        say_chain(infos->pNext);
        say_stage(&infos->stage);
    }
    return fake_make(device, VK_OBJECT_TYPE_PIPELINE, allocator, (uint64_t *)pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_graphics(VkDevice device, VkPipelineCache cache,
                                                      uint32_t count,
                                                      const VkGraphicsPipelineCreateInfo *infos,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkPipeline *pipelines)
{
    fake_need(VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)infos->layout);
    if (infos->renderPass)
        fake_need(VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)infos->renderPass);
    if (!fake.quiet) {
        dumped = 0;
        say_graphics(infos);
    }
    return fake_make(device, VK_OBJECT_TYPE_PIPELINE, allocator, (uint64_t *)pipelines);
}

static VKAPI_ATTR void VKAPI_CALL ask_buffer(VkDevice device, VkBuffer buffer,
                                             VkMemoryRequirements *needs)
{
    needs->size = fake.buffer_size;
}

void fake_open(void)
{
    memset(&fake, 0, sizeof(fake));
    fake_reset();
    fake.color = true;
    fake_fill(&fake.vk,
              "vkCreateDescriptorSetLayout vkDestroyDescriptorSetLayout vkCreatePipelineLayout "
              "vkDestroyPipelineLayout vkCreateRenderPass vkDestroyRenderPass vkCreateSampler "
              "vkDestroySampler vkCreateShaderModule vkDestroyShaderModule vkDestroyPipeline");
    fake.vk.vkCreateComputePipelines = create_compute;
    fake.vk.vkCreateGraphicsPipelines = create_graphics;
    fake.vk.vkGetBufferMemoryRequirements = ask_buffer;
    bf_pipelines_init(&fake.pipelines, VK_NULL_HANDLE, &fake.vk);
}

VkPipelineLayout fake_open_layout(uint32_t push_bytes)
{
    fake_open();
    return fake_layout(fake_set_layout(VK_NULL_HANDLE, NULL), push_bytes, NULL);
}

/* The program's objects, in own[0]: how often it made them. */
static void owns(VkObjectType type, uint64_t handle)
{
    struct fake_object *o = fake_object(type, handle);
    if (o)
        o->own[0]++;
}

static bool disowns(VkObjectType type, uint64_t handle)
{
    struct fake_object *o = fake_object(type, handle);
    return o && o->own[0] && o->own[0]--;
}

void fake_destroy(VkObjectType type, uint64_t handle, const VkAllocationCallbacks *allocator)
{
    disowns(type, handle);
    bf_retained_destroy(&fake.pipelines, type, handle, allocator);
}

void fake_close(void)
{
    for (struct fake_object *o = NULL; (o = fake_next(o));) {
        for (uint64_t handle = (uintptr_t)o; o->own[0];)
            if (o->type == VK_OBJECT_TYPE_PIPELINE)
                fake_destroy_pipeline((VkPipeline)handle);
            else if (o->type == VK_OBJECT_TYPE_SHADER_MODULE)
                fake_destroy_module((VkShaderModule)handle);
            else
                fake_destroy(o->type, handle, o->allocator);
    }
    bf_pipelines_finish(&fake.pipelines);
    assert_int_equal(fake.pipelines.budget.own, 0);
    assert_int_equal(fake.pipelines.budget.variants, 0);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_UNKNOWN), 0);
}

VkShaderModule fake_module(const uint32_t *words, size_t bytes)
{
    const VkShaderModuleCreateInfo info = {VK_TYPE(SHADER_MODULE_CREATE_INFO), .codeSize = bytes,
                                           .pCode = words};
    VkShaderModule module;
    assert_int_equal(fake.vk.vkCreateShaderModule(VK_NULL_HANDLE, &info, NULL, &module),
                     VK_SUCCESS);
    bf_pipelines_module_made(&fake.pipelines, module, &info);
    owns(VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module);
    return module;
}

void fake_destroy_module(VkShaderModule module)
{
    disowns(VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module);
    bf_pipelines_module_gone(&fake.pipelines, module);
    fake.vk.vkDestroyShaderModule(VK_NULL_HANDLE, module, NULL);
}

VkSampler fake_sampler(float bias, const VkAllocationCallbacks *allocator)
{
    const VkSamplerCreateInfo info = {VK_TYPE(SAMPLER_CREATE_INFO), .mipLodBias = bias};
    VkSampler sampler;
    assert_int_equal(fake.vk.vkCreateSampler(VK_NULL_HANDLE, &info, allocator, &sampler),
                     VK_SUCCESS);
    bf_retained_sampler_add(&fake.pipelines, sampler, &info, allocator);
    owns(VK_OBJECT_TYPE_SAMPLER, (uint64_t)sampler);
    return sampler;
}

VkDescriptorSetLayout fake_set_layout(VkSampler immutable, const VkAllocationCallbacks *allocator)
{
    /* Not in order, and with a gap. */
    const VkDescriptorSetLayoutBinding bindings[] = {
        {4, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_ALL,
         immutable ? &immutable : NULL},
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL,
         (const VkSampler *)8}, /* ignored: may be garbage */
        {2, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 3, VK_SHADER_STAGE_ALL, NULL},
    };
    const VkDescriptorBindingFlags flags[] = {0, VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT, 0};
    const VkDescriptorSetLayoutBindingFlagsCreateInfo chained = {
        VK_TYPE(DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO), .bindingCount = 3,
        .pBindingFlags = flags};
    const VkDescriptorSetLayoutCreateInfo info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                  .pNext = &chained, .bindingCount = 3,
                                                  .pBindings = bindings};
    VkDescriptorSetLayout layout;
    assert_int_equal(fake.vk.vkCreateDescriptorSetLayout(VK_NULL_HANDLE, &info, allocator, &layout),
                     VK_SUCCESS);
    bf_retained_set_layout_add(&fake.pipelines, layout, &info, allocator);
    owns(VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout);
    return layout;
}

VkPipelineLayout fake_layout_of(VkPipelineLayoutCreateFlags flags, uint32_t count,
                                const VkDescriptorSetLayout *sets, uint32_t push_bytes,
                                const VkAllocationCallbacks *allocator)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, push_bytes};
    const VkPipelineLayoutCreateInfo info = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                             .flags = flags,
                                             .setLayoutCount = count,
                                             .pSetLayouts = sets,
                                             .pushConstantRangeCount = push_bytes > 0,
                                             .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    assert_int_equal(fake.vk.vkCreatePipelineLayout(VK_NULL_HANDLE, &info, allocator, &layout),
                     VK_SUCCESS);
    bf_retained_layout_add(&fake.pipelines, layout, &info, allocator);
    owns(VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout);
    return layout;
}

VkPipelineLayout fake_layout(VkDescriptorSetLayout sets, uint32_t push_bytes,
                             const VkAllocationCallbacks *allocator)
{
    return fake_layout_of(0, 1, &sets, push_bytes, allocator);
}

VkRenderPass fake_render_pass(bool color_used, bool depth, const VkAllocationCallbacks *allocator)
{
    const VkAttachmentDescription attachments[] = {
        {.format = VK_FORMAT_R8G8B8A8_UNORM, .samples = VK_SAMPLE_COUNT_1_BIT},
        {.format = VK_FORMAT_D32_SFLOAT, .samples = VK_SAMPLE_COUNT_1_BIT},
    };
    const VkAttachmentReference color = {color_used ? 0 : VK_ATTACHMENT_UNUSED,
                                         VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference depth_reference = {1, VK_IMAGE_LAYOUT_GENERAL};
    const VkSubpassDescription subpass = {
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthStencilAttachment = depth ? &depth_reference : NULL,
    };
    const VkRenderPassCreateInfo info = info_pass(2, attachments, 1, &subpass, 0, NULL);
    VkRenderPass pass;
    assert_int_equal(fake.vk.vkCreateRenderPass(VK_NULL_HANDLE, &info, allocator, &pass),
                     VK_SUCCESS);
    bf_retained_render_pass_add(&fake.pipelines, pass, &info, allocator);
    owns(VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    return pass;
}

VkPipeline fake_compute(const VkComputePipelineCreateInfo *info)
{
    VkPipeline pipeline;
    assert_int_equal(create_compute(VK_NULL_HANDLE, VK_NULL_HANDLE, 1, info, NULL, &pipeline),
                     VK_SUCCESS);
    bf_pipelines_created_compute(&fake.pipelines, 1, info, &pipeline);
    owns(VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    return pipeline;
}

VkPipeline fake_graphics(const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    assert_int_equal(create_graphics(VK_NULL_HANDLE, VK_NULL_HANDLE, 1, info, NULL, &pipeline),
                     VK_SUCCESS);
    bf_pipelines_created_graphics(&fake.pipelines, 1, info, &pipeline);
    owns(VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    return pipeline;
}

VkPipeline fake_linked(const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    assert_int_equal(
        fake_make(VK_NULL_HANDLE, VK_OBJECT_TYPE_PIPELINE, NULL, (uint64_t *)&pipeline),
        VK_SUCCESS);
    bf_pipelines_created_graphics(&fake.pipelines, 1, info, &pipeline);
    owns(VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    return pipeline;
}

void fake_destroy_pipeline(VkPipeline pipeline)
{
    disowns(VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline);
    bf_pipelines_destroyed(&fake.pipelines, pipeline);
    fake.vk.vkDestroyPipeline(VK_NULL_HANDLE, pipeline, NULL);
}

const char *fake_reason(VkPipeline pipeline)
{
    const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
    return p ? bf_reason_code(p->excluded) : "unknown";
}
