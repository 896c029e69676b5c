/* SPDX-License-Identifier: MIT */
/* A program's descriptor buffer: one storage buffer, as shaders of the tests have. */
#include "described.h"

#include "support/infos.h"

void described_fixture_open(struct fixture *f, struct described *d)
{
    static const char *const extensions[] = {VK_EXT_DESCRIPTOR_BUFFER_EXTENSION_NAME, NULL};
    VkPhysicalDeviceDescriptorBufferFeaturesEXT features = {
        VK_TYPE(PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT), .descriptorBuffer = VK_TRUE};
    struct fixture_options options = fixture_plain;
    *d = (struct described){.is = getenv("BELFRY_THROUGH_DESCRIPTOR_BUFFERS") != NULL};
    if (d->is) {
        options.extensions = extensions;
        options.features = &features;
    }
    fixture_open_instance(f, &options);
    if (d->is && !vulkan_has_device_extension(f->physical, extensions[0])) {
        printf("skipped: there is no VK_EXT_descriptor_buffer\n");
        fflush(stdout);
        _exit(77); /* before Belfry says its last: that is the reason */
    }
    assert_success(fixture_open_device(f, &options));
    assert_success(fixture_attach(f));
    assert_non_null(f->bf);
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
}

VkDescriptorSetLayout described_layout(const struct described *d, VkDevice device)
{
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo info = {
        VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
        .flags = d->is ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT : 0,
        .bindingCount = 1, .pBindings = &binding};
    VkDescriptorSetLayout layout;
    assert_success(vkCreateDescriptorSetLayout(device, &info, NULL, &layout));
    return layout;
}

static VkDeviceAddress address_of(VkDevice device, VkBuffer buffer)
{
    const VkBufferDeviceAddressInfo info = {VK_TYPE(BUFFER_DEVICE_ADDRESS_INFO), .buffer = buffer};
    return vkGetBufferDeviceAddress(device, &info);
}

void described_write(struct described *d, const struct fixture *f, VkDescriptorSetLayout layout,
                     VkBuffer storage)
{
    VkPhysicalDeviceDescriptorBufferPropertiesEXT sizes = {
        VK_TYPE(PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2),
                                              .pNext = &sizes};
    VkDeviceSize size, offset;
    void *mapped;
    vkGetPhysicalDeviceProperties2(f->physical, &properties);
    vkGetDescriptorSetLayoutSizeEXT(f->device, layout, &size);
    vkGetDescriptorSetLayoutBindingOffsetEXT(f->device, layout, 0, &offset);
    d->buffer = vulkan_buffer_of(f->physical, f->device, size,
                                 VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT |
                                     VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                                 &d->memory, &mapped);
    d->address = address_of(f->device, d->buffer);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(f->device, storage, &needs);
    const VkDescriptorAddressInfoEXT piece = {VK_TYPE(DESCRIPTOR_ADDRESS_INFO_EXT),
                                              .address = address_of(f->device, storage),
                                              .range = needs.size};
    const VkDescriptorGetInfoEXT info = {VK_TYPE(DESCRIPTOR_GET_INFO_EXT),
                                         .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                         .data.pStorageBuffer = &piece};
    vkGetDescriptorEXT(f->device, &info, sizes.storageBufferDescriptorSize,
                       (char *)mapped + offset);
}

void described_bind(const struct described *d, VkCommandBuffer commands, VkPipelineLayout layout)
{
    const VkDescriptorBufferBindingInfoEXT info = {
        VK_TYPE(DESCRIPTOR_BUFFER_BINDING_INFO_EXT), .address = d->address,
        .usage = VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT};
    const uint32_t first = 0;
    const VkDeviceSize offset = 0;
    vkCmdBindDescriptorBuffersEXT(commands, 1, &info);
    vkCmdSetDescriptorBufferOffsetsEXT(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                                       &first, &offset);
}

VkPipeline described_compute(const struct described *d, VkDevice device, VkPipelineLayout layout,
                             const uint32_t *words, size_t size)
{
    VkComputePipelineCreateInfo info =
        info_compute(vulkan_module(device, words, size), layout, NULL);
    VkPipeline pipeline;
    info.flags = d->is ? VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT : 0;
    assert_success(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vkDestroyShaderModule(device, info.stage.module, NULL);
    return pipeline;
}

void described_close(struct described *d, VkDevice device)
{
    if (d->is)
        vulkan_destroy(device, d->buffer, d->memory);
}
