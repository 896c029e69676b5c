/* SPDX-License-Identifier: MIT */
/* The specialiser's functions for pipelines, and for what they are created from: shader modules,
 * samplers, layouts and render passes. Each calls the driver first, with the program's arguments;
 * then the specialiser is told (runtime/specialize/pipeline/pipeline.h). */
#include "layer/specialize/specialize.h"

#include "specialize/pipeline/pipeline.h"

static struct bf_pipelines *layer_pipelines(const struct layer_device *d)
{
    return bf_specializer_pipelines(d->specializer->model);
}

/* ---- Objects that pipelines are created from ---- */

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateShaderModule(
    VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *allocator,
    VkShaderModule *module)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateShaderModule(device, info, allocator, module);
    if (result == VK_SUCCESS)
        bf_pipelines_module_made(layer_pipelines(d), *module, info);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyShaderModule(
    VkDevice device, VkShaderModule module, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_pipelines_module_gone(layer_pipelines(d), module);
    d->vk.vkDestroyShaderModule(device, module, allocator);
}

/* Retained objects: they are noted after the driver has created them, and the driver destroys them
 * when neither the program nor the specialiser needs them any more. */
#define RETAINED(name_, info_, handle_, add_, type_)                                               \
    VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreate##name_(                               \
        VkDevice device, const info_ *info, const VkAllocationCallbacks *allocator,                \
        handle_ *handle)                                                                           \
    {                                                                                              \
        struct layer_device *d = layer_device_of(device);                                          \
        VkResult result = d->vk.vkCreate##name_(device, info, allocator, handle);                  \
        if (result == VK_SUCCESS)                                                                  \
            add_(layer_pipelines(d), *handle, info, allocator);                                    \
        return result;                                                                             \
    }                                                                                              \
    VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroy##name_(                                  \
        VkDevice device, handle_ handle, const VkAllocationCallbacks *allocator)                   \
    {                                                                                              \
        struct layer_device *d = layer_device_of(device);                                          \
        bf_retained_destroy(layer_pipelines(d), type_, (uint64_t)handle, allocator);               \
    }

RETAINED(Sampler, VkSamplerCreateInfo, VkSampler, bf_retained_sampler_add, VK_OBJECT_TYPE_SAMPLER)
RETAINED(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout,
         bf_retained_set_layout_add, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT)
RETAINED(PipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout, bf_retained_layout_add,
         VK_OBJECT_TYPE_PIPELINE_LAYOUT)
RETAINED(RenderPass, VkRenderPassCreateInfo, VkRenderPass, bf_retained_render_pass_add,
         VK_OBJECT_TYPE_RENDER_PASS)

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2 *info,
                                     const VkAllocationCallbacks *allocator, VkRenderPass *pass)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateRenderPass2(device, info, allocator, pass);
    if (result == VK_SUCCESS)
        bf_retained_render_pass2_add(layer_pipelines(d), *pass, info, allocator);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateFramebuffer(VkDevice device, const VkFramebufferCreateInfo *info,
                                     const VkAllocationCallbacks *allocator, VkFramebuffer *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateFramebuffer(device, info, allocator, handle);
    if (result == VK_SUCCESS)
        bf_retained_render_pass_size(layer_pipelines(d), info->renderPass, info->width,
                                     info->height);
    return result;
}

/* ---- Pipelines ---- */

/* If the driver returned an error, the handles are undefined and not noted. */
VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t count,
    const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *allocator,
    VkPipeline *pipelines)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result =
        d->vk.vkCreateComputePipelines(device, cache, count, infos, allocator, pipelines);
    if (result >= VK_SUCCESS)
        bf_pipelines_created_compute(layer_pipelines(d), count, infos, pipelines);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t count,
    const VkGraphicsPipelineCreateInfo *infos, const VkAllocationCallbacks *allocator,
    VkPipeline *pipelines)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result =
        d->vk.vkCreateGraphicsPipelines(device, cache, count, infos, allocator, pipelines);
    if (result >= VK_SUCCESS)
        bf_pipelines_created_graphics(layer_pipelines(d), count, infos, pipelines);
    return result;
}

/* A deferred operation returns its pipelines later; they are never specialised. */
VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateRayTracingPipelinesKHR(
    VkDevice device, VkDeferredOperationKHR operation, VkPipelineCache cache, uint32_t count,
    const VkRayTracingPipelineCreateInfoKHR *infos, const VkAllocationCallbacks *allocator,
    VkPipeline *pipelines)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateRayTracingPipelinesKHR(device, operation, cache, count, infos,
                                                           allocator, pipelines);
    if (result >= VK_SUCCESS && !operation)
        bf_pipelines_created_other(layer_pipelines(d), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR,
                                   BF_REASON_RAY_TRACING, count, pipelines);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateRayTracingPipelinesNV(
    VkDevice device, VkPipelineCache cache, uint32_t count,
    const VkRayTracingPipelineCreateInfoNV *infos, const VkAllocationCallbacks *allocator,
    VkPipeline *pipelines)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result =
        d->vk.vkCreateRayTracingPipelinesNV(device, cache, count, infos, allocator, pipelines);
    if (result >= VK_SUCCESS)
        bf_pipelines_created_other(layer_pipelines(d), VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR,
                                   BF_REASON_RAY_TRACING, count, pipelines);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyPipeline(
    VkDevice device, VkPipeline pipeline, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_pipelines_destroyed(layer_pipelines(d), pipeline);
    d->vk.vkDestroyPipeline(device, pipeline, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkSetDebugUtilsObjectNameEXT(
    VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkSetDebugUtilsObjectNameEXT(device, info);
    /* Loaders query this command from the instance, some of whose devices may not be
     * specialised. */
    if (d->specializer && info->objectType == VK_OBJECT_TYPE_PIPELINE)
        bf_pipelines_name(layer_pipelines(d), (VkPipeline)info->objectHandle, info->pObjectName);
    return result;
}

/* ---- Pipelines for device-generated commands ---- */

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkGetGeneratedCommandsMemoryRequirementsNV(
    VkDevice device, const VkGeneratedCommandsMemoryRequirementsInfoNV *info,
    VkMemoryRequirements2 *requirements)
{
    struct layer_device *d = layer_device_of(device);
    bf_pipelines_pin(layer_pipelines(d), info->pipeline);
    d->vk.vkGetGeneratedCommandsMemoryRequirementsNV(device, info, requirements);
}

/* VkPipelineIndirectDeviceAddressInfoNV, which the oldest Vulkan headers don't have, nor the
 * structs below. */
struct address_info {
    VkStructureType type;
    const void *next;
    VkPipelineBindPoint point;
    VkPipeline pipeline;
};

VKAPI_ATTR VkDeviceAddress VKAPI_CALL
layer_specialize_vkGetPipelineIndirectDeviceAddressNV(VkDevice device, const void *question)
{
    struct layer_device *d = layer_device_of(device);
    bf_pipelines_pin(layer_pipelines(d), ((const struct address_info *)question)->pipeline);
    return d->more.vkGetPipelineIndirectDeviceAddressNV(device, question);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdUpdatePipelineIndirectBufferNV(
    VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline pipeline)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_pipelines_pin(layer_pipelines(d), pipeline);
    d->more.vkCmdUpdatePipelineIndirectBufferNV(buffer, point, pipeline);
}

struct execution_set_info {
    VkStructureType type;
    const void *next;
    uint32_t kind; /* 0: a set of pipelines */
    const struct {
        VkStructureType type;
        const void *next;
        VkPipeline pipeline;
        uint32_t room;
    } * pipelines;
};

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateIndirectExecutionSetEXT(
    VkDevice device, const void *question, const VkAllocationCallbacks *allocator, uint64_t *set)
{
    struct layer_device *d = layer_device_of(device);
    const struct execution_set_info *info = question;
    if (info->kind == 0)
        bf_pipelines_pin(layer_pipelines(d), info->pipelines->pipeline);
    return d->more.vkCreateIndirectExecutionSetEXT(device, question, allocator, set);
}

struct execution_set_write {
    VkStructureType type;
    const void *next;
    uint32_t index;
    VkPipeline pipeline;
};

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkUpdateIndirectExecutionSetPipelineEXT(
    VkDevice device, uint64_t set, uint32_t count, const void *list)
{
    struct layer_device *d = layer_device_of(device);
    const struct execution_set_write *writes = list;
    for (uint32_t i = 0; i < count; i++)
        bf_pipelines_pin(layer_pipelines(d), writes[i].pipeline);
    d->more.vkUpdateIndirectExecutionSetPipelineEXT(device, set, count, list);
}
