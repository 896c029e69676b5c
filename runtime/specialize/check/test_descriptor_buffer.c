/* SPDX-License-Identifier: MIT */
/* Descriptor buffers with a check's test resources: where the descriptors of each binding lie, what
 * the driver makes of them, and how a command buffer is told of them. */
#include "specialize/check/test_descriptor_buffer.h"

#include <string.h>

#include "gpu/gpu.h"

/* What any device allows: of samplers 2,048 descriptors, whose size is a matter of bytes. */
#define MOST_BYTES (UINT64_C(1) << 20)

bool bf_test_descriptor_buffer_wanted(const struct bf_check_layout *layout)
{
    for (uint32_t i = 0; i < layout->set_count; i++) {
        if (layout->sets[i].flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT)
            return true;
    }
    return false;
}

VkResult bf_test_descriptor_buffer_plan(struct bf_test_resources *resources,
                                        const struct bf_check_layout *layout)
{
    const struct VolkDeviceTable *vk = &resources->place->gpu->vk;
    if (!vk->vkGetDescriptorEXT || !vk->vkGetBufferDeviceAddress || !resources->place->properties)
        return bf_test_resources_refuse(resources, "there are no descriptor buffers");
    const VkDescriptorSetLayoutCreateFlags kind =
        VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        const struct bf_check_set *set = &layout->sets[i];
        if (set->flags != kind && (set->flags || set->binding_count))
            return bf_test_resources_refuse(resources,
                                            "a set beside descriptor buffers is not known here");
    }
    resources->described = true;
    return VK_SUCCESS;
}

VkResult bf_test_descriptor_buffer_make(struct bf_test_resources *resources,
                                        VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_layout *layout = resources->layout;
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = sizes};
    *sizes = (VkPhysicalDeviceDescriptorBufferPropertiesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT};
    resources->place->properties(resources->place->physical, &properties);
    VkDeviceSize end = 0;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        const struct bf_check_set *set = &layout->sets[i];
        VkDeviceSize size = 0, alignment = sizes->descriptorBufferOffsetAlignment;
        if (!set->handle)
            continue;
        gpu->vk.vkGetDescriptorSetLayoutSizeEXT(gpu->handle, set->handle, &size);
        if (size > MOST_BYTES)
            return bf_test_resources_refuse(resources, "it has very large sets");
        end = alignment ? (end + alignment - 1) / alignment * alignment : end;
        resources->set_offsets[i] = end;
        end += size ? size : 1; /* an offset is one in the buffer */
    }
    if (end > MOST_BYTES || end > sizes->maxResourceDescriptorBufferRange ||
        end > sizes->maxSamplerDescriptorBufferRange)
        return bf_test_resources_refuse(resources, "it has very large sets");
    return end ? bf_buffer_create(gpu, end, BF_BUFFER_DESCRIPTORS, &resources->descriptors)
               : VK_SUCCESS;
}

static size_t descriptor_size(const VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes,
                              bool robust, VkDescriptorType type)
{
    switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
        return sizes->samplerDescriptorSize;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
        return sizes->combinedImageSamplerDescriptorSize;
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
        return sizes->sampledImageDescriptorSize;
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        return sizes->storageImageDescriptorSize;
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        return sizes->inputAttachmentDescriptorSize;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
        return robust ? sizes->robustUniformTexelBufferDescriptorSize
                      : sizes->uniformTexelBufferDescriptorSize;
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        return robust ? sizes->robustStorageTexelBufferDescriptorSize
                      : sizes->storageTexelBufferDescriptorSize;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
        return robust ? sizes->robustUniformBufferDescriptorSize
                      : sizes->uniformBufferDescriptorSize;
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
        return robust ? sizes->robustStorageBufferDescriptorSize
                      : sizes->storageBufferDescriptorSize;
    default:
        return 0;
    }
}

/* What of a binding a descriptor is made of: an image with its sampler, or a piece of the arena. */
struct source {
    VkDescriptorImageInfo image;
    VkDescriptorAddressInfoEXT piece;
};

static VkDescriptorGetInfoEXT describe(const struct bf_test_resources *resources,
                                       const struct bf_test_write *write, uint32_t i,
                                       VkDeviceAddress arena, struct source *source)
{
    const struct bf_check_binding *binding = write->binding;
    VkDescriptorGetInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_GET_INFO_EXT,
                                   .type = binding->type};
    const VkDescriptorAddressInfoEXT **piece = NULL;
    switch (binding->type) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
        piece = &info.data.pUniformTexelBuffer;
        break;
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        piece = &info.data.pStorageTexelBuffer;
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
        piece = &info.data.pUniformBuffer;
        break;
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
        piece = &info.data.pStorageBuffer;
        break;
    default:
        break;
    }
    if (piece) {
        const struct bf_test_buffer *buffer = &resources->buffers[write->first + i % write->copies];
        source->piece = (VkDescriptorAddressInfoEXT){
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_ADDRESS_INFO_EXT,
            .address = arena + buffer->offset,
            .range = buffer->range,
            .format = buffer->texels ? buffer->format : VK_FORMAT_UNDEFINED,
        };
        *piece = &source->piece;
        return info;
    }
    /* Here immutable samplers are written as any others. */
    source->image = write->write.pImageInfo[i];
    if (binding->immutable)
        source->image.sampler = binding->immutable[i];
    if (binding->type == VK_DESCRIPTOR_TYPE_SAMPLER)
        info.data.pSampler = &source->image.sampler;
    else
        info.data.pCombinedImageSampler = &source->image; /* the others are pointers to the same */
    return info;
}

/* Where a binding begins. */
static char *binding_find(const struct bf_test_resources *resources,
                          const struct bf_test_write *write)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_set *set = &resources->layout->sets[write->set];
    VkDeviceSize offset = 0;
    gpu->vk.vkGetDescriptorSetLayoutBindingOffsetEXT(gpu->handle, set->handle,
                                                     write->binding->binding, &offset);
    return (char *)resources->descriptors.mapped + resources->set_offsets[write->set] + offset;
}

void bf_test_descriptor_buffer_write_block(const struct bf_test_resources *resources,
                                           const struct bf_test_write *write)
{
    memcpy(binding_find(resources, write), write->infos, write->binding->count);
}

VkResult bf_test_descriptor_buffer_write(struct bf_test_resources *resources,
                                         const VkPhysicalDeviceDescriptorBufferPropertiesEXT *sizes,
                                         const struct bf_test_write *write)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_binding *binding = write->binding;
    if (binding->type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK)
        return VK_SUCCESS; /* when it is filled */
    char *to = binding_find(resources, write);
    const size_t size = descriptor_size(sizes, resources->place->robust_enabled, binding->type);
    if (!size)
        return bf_test_resources_refuse(resources, "it uses descriptors that are not known here");
    if (binding->type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER && binding->count > 1 &&
        !sizes->combinedImageSamplerDescriptorSingleArray)
        return bf_test_resources_refuse(
            resources, "images and samplers of an array lie apart in descriptor buffers");
    const VkBufferDeviceAddressInfo arena = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = resources->arena};
    const VkDeviceAddress address = gpu->vk.vkGetBufferDeviceAddress(gpu->handle, &arena);
    for (uint32_t i = 0; i < binding->count; i++) {
        struct source source;
        const VkDescriptorGetInfoEXT info = describe(resources, write, i, address, &source);
        gpu->vk.vkGetDescriptorEXT(gpu->handle, &info, size, to + i * size);
    }
    return VK_SUCCESS;
}

void bf_test_descriptor_buffer_bind(struct bf_test_resources *resources, VkCommandBuffer commands,
                                    VkPipelineBindPoint point)
{
    const struct VolkDeviceTable *vk = &resources->place->gpu->vk;
    const struct bf_check_layout *layout = resources->layout;
    const uint32_t first = 0;
    const VkDescriptorBufferBindingInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_BUFFER_BINDING_INFO_EXT,
        .address = resources->descriptors.address,
        .usage = VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT |
                 VK_BUFFER_USAGE_SAMPLER_DESCRIPTOR_BUFFER_BIT_EXT,
    };
    if (resources->descriptors.handle)
        vk->vkCmdBindDescriptorBuffersEXT(commands, 1, &info);
    for (uint32_t i = 0; i < layout->set_count; i++) {
        if (layout->sets[i].handle)
            vk->vkCmdSetDescriptorBufferOffsetsEXT(commands, point, layout->handle, i, 1, &first,
                                                   &resources->set_offsets[i]);
    }
}
