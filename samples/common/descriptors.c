/* SPDX-License-Identifier: MIT */
/* Descriptor sets whose contents never change. */
#include "descriptors.h"

#include "report.h"

VkResult sample_sets_layout(const struct sample_device *device, const struct sample_slot *slots,
                            uint32_t slot_count, struct sample_sets *sets)
{
    VkDescriptorSetLayoutBinding bindings[SAMPLE_SLOTS_MOST];

    if (slot_count > SAMPLE_SLOTS_MOST)
        return sample_check(VK_ERROR_TOO_MANY_OBJECTS, "sample_sets_layout");
    for (uint32_t i = 0; i < slot_count; ++i) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = slots[i].type,
            .descriptorCount = 1,
            .stageFlags = slots[i].stages,
        };
    }
    return sample_check(vkCreateDescriptorSetLayout(
                            device->handle,
                            &(VkDescriptorSetLayoutCreateInfo){
                                .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                .bindingCount = slot_count,
                                .pBindings = bindings,
                            },
                            NULL, &sets->layout),
                        "vkCreateDescriptorSetLayout");
}

static void slot_write(const struct sample_device *device, const struct sample_slot *slot,
                       VkDescriptorSet set, uint32_t binding)
{
    vkUpdateDescriptorSets(
        device->handle, 1,
        &(VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = binding,
            .descriptorCount = 1,
            .descriptorType = slot->type,
            .pBufferInfo = &(VkDescriptorBufferInfo){slot->buffer, 0, VK_WHOLE_SIZE},
            .pImageInfo = &(VkDescriptorImageInfo){slot->sampler, slot->view, slot->layout},
        },
        0, NULL);
}

VkResult sample_sets_fill(const struct sample_device *device, const struct sample_slot *slots,
                          uint32_t slot_count, uint32_t set_count, struct sample_sets *sets,
                          VkDescriptorSet *handles)
{
    VkDescriptorPoolSize sizes[SAMPLE_SLOTS_MOST];
    VkResult result;

    if (!sets->layout) {
        result = sample_sets_layout(device, slots, slot_count, sets);
        if (result < 0)
            return result;
    }
    for (uint32_t i = 0; i < slot_count; ++i)
        sizes[i] = (VkDescriptorPoolSize){slots[i].type, set_count};
    result = vkCreateDescriptorPool(device->handle,
                                    &(VkDescriptorPoolCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = set_count,
                                        .poolSizeCount = slot_count,
                                        .pPoolSizes = sizes,
                                    },
                                    NULL, &sets->pool);
    if (sample_check(result, "vkCreateDescriptorPool") < 0)
        return result;
    for (uint32_t s = 0; s < set_count; ++s) {
        result =
            vkAllocateDescriptorSets(device->handle,
                                     &(VkDescriptorSetAllocateInfo){
                                         .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                         .descriptorPool = sets->pool,
                                         .descriptorSetCount = 1,
                                         .pSetLayouts = &sets->layout,
                                     },
                                     &handles[s]);
        if (sample_check(result, "vkAllocateDescriptorSets") < 0)
            return result;
        for (uint32_t i = 0; i < slot_count; ++i)
            slot_write(device, &slots[s * slot_count + i], handles[s], i);
    }
    return VK_SUCCESS;
}

void sample_sets_empty(const struct sample_device *device, struct sample_sets *sets)
{
    vkDestroyDescriptorPool(device->handle, sets->pool, NULL);
    sets->pool = VK_NULL_HANDLE;
}

void sample_sets_destroy(const struct sample_device *device, struct sample_sets *sets)
{
    sample_sets_empty(device, sets);
    vkDestroyDescriptorSetLayout(device->handle, sets->layout, NULL);
    sets->layout = VK_NULL_HANDLE;
}

VkResult sample_sampler_create(const struct sample_device *device, VkSamplerAddressMode address,
                               VkSampler *sampler)
{
    return sample_check(vkCreateSampler(device->handle,
                                        &(VkSamplerCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                            .magFilter = VK_FILTER_LINEAR,
                                            .minFilter = VK_FILTER_LINEAR,
                                            .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                            .maxLod = VK_LOD_CLAMP_NONE,
                                            .addressModeU = address,
                                            .addressModeV = address,
                                            .addressModeW = address,
                                        },
                                        NULL, sampler),
                        "vkCreateSampler");
}
