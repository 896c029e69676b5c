/* SPDX-License-Identifier: MIT */
/* The specialiser's functions for descriptor sets, update templates and views. Each calls the
 * driver, and notes the shape of what is written
 * (runtime/specialize/pipeline/descriptor_shape.h). */
#include "layer/specialize/specialize.h"

#include "specialize/pipeline/pipeline.h"

static struct bf_pipelines *descriptor_pipelines(const struct layer_device *d)
{
    return bf_specializer_pipelines(d->specializer->model);
}

/* ---- Views ---- */

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateImageView(VkDevice device, const VkImageViewCreateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkImageView *view)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateImageView(device, info, allocator, view);
    if (result == VK_SUCCESS)
        bf_descriptor_shapes_view_made(descriptor_pipelines(d), *view, info);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyImageView(
    VkDevice device, VkImageView view, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_view_gone(descriptor_pipelines(d), view);
    d->vk.vkDestroyImageView(device, view, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateBufferView(VkDevice device, const VkBufferViewCreateInfo *info,
                                    const VkAllocationCallbacks *allocator, VkBufferView *view)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateBufferView(device, info, allocator, view);
    if (result == VK_SUCCESS)
        bf_descriptor_shapes_buffer_view_made(descriptor_pipelines(d), *view, info);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyBufferView(
    VkDevice device, VkBufferView view, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_buffer_view_gone(descriptor_pipelines(d), view);
    d->vk.vkDestroyBufferView(device, view, allocator);
}

/* ---- Sets ---- */

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkAllocateDescriptorSets(
    VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkAllocateDescriptorSets(device, info, sets);
    if (result == VK_SUCCESS)
        bf_descriptor_shapes_sets_made(descriptor_pipelines(d), info, sets);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkFreeDescriptorSets(VkDevice device,
                                                                     VkDescriptorPool pool,
                                                                     uint32_t count,
                                                                     const VkDescriptorSet *sets)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_sets_gone(descriptor_pipelines(d), count, sets);
    return d->vk.vkFreeDescriptorSets(device, pool, count, sets);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkResetDescriptorPool(
    VkDevice device, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_pool_emptied(descriptor_pipelines(d), pool);
    return d->vk.vkResetDescriptorPool(device, pool, flags);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyDescriptorPool(
    VkDevice device, VkDescriptorPool pool, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_pool_gone(descriptor_pipelines(d), pool);
    d->vk.vkDestroyDescriptorPool(device, pool, allocator);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkUpdateDescriptorSets(
    VkDevice device, uint32_t write_count, const VkWriteDescriptorSet *writes, uint32_t copy_count,
    const VkCopyDescriptorSet *copies)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_update(descriptor_pipelines(d), write_count, writes, copy_count, copies);
    d->vk.vkUpdateDescriptorSets(device, write_count, writes, copy_count, copies);
}

/* ---- Update templates ---- */

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkCreateDescriptorUpdateTemplate(
    VkDevice device, const VkDescriptorUpdateTemplateCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkDescriptorUpdateTemplate *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateDescriptorUpdateTemplate(device, info, allocator, handle);
    if (result == VK_SUCCESS)
        bf_descriptor_shapes_template_made(descriptor_pipelines(d), *handle, info);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyDescriptorUpdateTemplate(
    VkDevice device, VkDescriptorUpdateTemplate handle, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_template_gone(descriptor_pipelines(d), handle);
    d->vk.vkDestroyDescriptorUpdateTemplate(device, handle, allocator);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkUpdateDescriptorSetWithTemplate(
    VkDevice device, VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void *data)
{
    struct layer_device *d = layer_device_of(device);
    bf_descriptor_shapes_update_template(descriptor_pipelines(d), set, handle, data);
    d->vk.vkUpdateDescriptorSetWithTemplate(device, set, handle, data);
}

/* ---- Pushed descriptors ---- */

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushDescriptorSet(
    VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t set,
    uint32_t count, const VkWriteDescriptorSet *writes)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_descriptor_shapes_push(descriptor_pipelines(d), layout, set, count, writes);
    d->more.vkCmdPushDescriptorSet(buffer, point, layout, set, count, writes);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushDescriptorSetWithTemplate(
    VkCommandBuffer buffer, VkDescriptorUpdateTemplate handle, VkPipelineLayout layout,
    uint32_t set, const void *data)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_descriptor_shapes_push_template(descriptor_pipelines(d), handle, layout, set, data);
    d->more.vkCmdPushDescriptorSetWithTemplate(buffer, handle, layout, set, data);
}

/* VkPushDescriptorSetInfo and VkPushDescriptorSetWithTemplateInfo, which the oldest Vulkan headers
 * don't have. If the layout is chained instead of given, no shapes are noted. */
struct push_info {
    VkStructureType type;
    const void *next;
    VkShaderStageFlags stages;
    VkPipelineLayout layout;
    uint32_t set, count;
    const VkWriteDescriptorSet *writes;
};

struct push_template_info {
    VkStructureType type;
    const void *next;
    VkDescriptorUpdateTemplate handle;
    VkPipelineLayout layout;
    uint32_t set;
    const void *data;
};

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushDescriptorSet2(VkCommandBuffer buffer,
                                                                    const void *pushed)
{
    struct layer_device *d = layer_device_of(buffer);
    const struct push_info *info = pushed;
    bf_descriptor_shapes_push(descriptor_pipelines(d), info->layout, info->set, info->count,
                              info->writes);
    d->more.vkCmdPushDescriptorSet2(buffer, pushed);
}

VKAPI_ATTR void VKAPI_CALL
layer_specialize_vkCmdPushDescriptorSetWithTemplate2(VkCommandBuffer buffer, const void *pushed)
{
    struct layer_device *d = layer_device_of(buffer);
    const struct push_template_info *info = pushed;
    bf_descriptor_shapes_push_template(descriptor_pipelines(d), info->handle, info->layout,
                                       info->set, info->data);
    d->more.vkCmdPushDescriptorSetWithTemplate2(buffer, pushed);
}
