/* SPDX-License-Identifier: MIT */
/* A device that runs a compute shader and its dry-run form on the same inputs. */
#include "gpu.h"

#include "specialize/shader/shader.h"
#include "support/infos.h"

#define RESULT (2 * GPU_WORDS)
#define GIVEN  (3 * GPU_WORDS)
#define ALL    (5 * GPU_WORDS)
#define STAGES (VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT)
#define FORMAT VK_FORMAT_R32_UINT

static struct {
    DEVICE_BASE;
    uint32_t family;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkImage image;
    VkImageView view;
    VkDeviceMemory image_memory;
} gpu;

bool gpu_open(void)
{
    const struct device_instance plain = {.extensions = (const char *const[]){NULL}};
    VkPhysicalDevice physical;
    uint32_t count = 1;
    if (volkInitialize() != VK_SUCCESS || device_open_instance(&gpu.base, &plain) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(gpu.instance, &count, &physical) < 0 || !count)
        return false;
    device_choose(&gpu.base, physical);
    while (gpu.family < gpu.family_count &&
           !(gpu.families[gpu.family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        gpu.family++;
    VkPhysicalDeviceVulkan13Features newer = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES)};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &newer};
    vkGetPhysicalDeviceFeatures2(gpu.physical, &features);
    if (gpu.family == gpu.family_count || !features.features.robustBufferAccess ||
        !features.features.shaderStorageBufferArrayDynamicIndexing ||
        !features.features.fragmentStoresAndAtomics || !newer.dynamicRendering ||
        !newer.shaderDemoteToHelperInvocation)
        return false;
    gpu.queue_counts[gpu.family] = 1;
    VkDeviceQueueCreateInfo queue;
    const VkDeviceCreateInfo device = {
        VK_TYPE(DEVICE_CREATE_INFO), .pNext = &features,
        .queueCreateInfoCount = device_queue_infos(&gpu.base, &queue), .pQueueCreateInfos = &queue};
    assert_success(device_create(&gpu.base, &device));
    device_open_words(&gpu.base, ALL, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, 0);

    static const VkDescriptorType types[] = {
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
        VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,  VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    VkDescriptorSetLayoutBinding bindings[6];
    VkDescriptorPoolSize sizes[6];
    for (uint32_t i = 0; i < 6; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){i, types[i], 1 + (i == 5), STAGES, NULL};
        sizes[i] = (VkDescriptorPoolSize){types[i], 1 + (i == 5)};
    }
    const VkDescriptorSetLayoutCreateInfo layout = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                    .bindingCount = 6, .pBindings = bindings};
    assert_success(vkCreateDescriptorSetLayout(gpu.device, &layout, NULL, &gpu.set_layout));
    gpu.layout = vulkan_layout(gpu.device, gpu.set_layout, STAGES, 16);
    const VkDescriptorPoolCreateInfo pool = {VK_TYPE(DESCRIPTOR_POOL_CREATE_INFO), .maxSets = 1,
                                             .poolSizeCount = 6, .pPoolSizes = sizes};
    assert_success(vkCreateDescriptorPool(gpu.device, &pool, NULL, &gpu.pool));
    const VkDescriptorSetAllocateInfo allocate = {
        VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO), .descriptorPool = gpu.pool, .descriptorSetCount = 1,
        .pSetLayouts = &gpu.set_layout};
    assert_success(vkAllocateDescriptorSets(gpu.device, &allocate, &gpu.set));
    gpu.image = vulkan_image(gpu.physical, gpu.device, FORMAT, GPU_SIDE, VK_SAMPLE_COUNT_1_BIT,
                             VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                             &gpu.image_memory, &gpu.view);
    const VkDescriptorBufferInfo buffers[] = {
        {gpu.buffer, 0, 4 * GPU_WORDS},
        {gpu.buffer, 4 * RESULT, sizeof(struct bf_dry_run_result)},
        {gpu.buffer, 4 * GIVEN, 4 * GPU_WORDS},
        {gpu.buffer, 4 * GIVEN, 4},
        {gpu.buffer, 4 * (GIVEN + 64), 4}};
    const VkDescriptorImageInfo image = {.imageView = gpu.view,
                                         .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet writes[6];
    for (uint32_t i = 0; i < 6; i++)
        writes[i] = (VkWriteDescriptorSet){
            VK_TYPE(WRITE_DESCRIPTOR_SET),         .dstSet = gpu.set,          .dstBinding = i,
            .descriptorCount = 1 + (i == 5),       .descriptorType = types[i], .pImageInfo = &image,
            .pBufferInfo = &buffers[i < 3 ? i : 3]};
    vkUpdateDescriptorSets(gpu.device, 6, writes, 0, NULL);
    return true;
}

void gpu_close(void)
{
    vkDestroyImageView(gpu.device, gpu.view, NULL);
    vulkan_destroy(gpu.device, gpu.image, gpu.image_memory, gpu.layout);
    vkDestroyDescriptorPool(gpu.device, gpu.pool, NULL);
    vkDestroyDescriptorSetLayout(gpu.device, gpu.set_layout, NULL);
    device_close(&gpu.base);
    device_close_instance(&gpu.base);
}

uint8_t gpu_kept_floats(void)
{
    VkPhysicalDeviceVulkan12Properties newer = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2),
                                              .pNext = &newer};
    vkGetPhysicalDeviceProperties2(gpu.physical, &properties);
    return newer.shaderSignedZeroInfNanPreserveFloat32 ? BF_FLOAT_32 : 0;
}

bool gpu_has_bug(enum bf_driver_bug bug)
{
    VkPhysicalDeviceDriverProperties driver = {VK_TYPE(PHYSICAL_DEVICE_DRIVER_PROPERTIES)};
    VkPhysicalDeviceProperties2 all = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &driver};
    vkGetPhysicalDeviceProperties2(gpu.physical, &all);
    return bf_driver_bugs_of(&driver, all.properties.driverVersion) & bug;
}

uint32_t *gpu_given(void)
{
    return gpu.words + GIVEN;
}

VkPipeline gpu_pipeline_specialized(const uint32_t *words, size_t count,
                                    const VkSpecializationInfo *specialization)
{
    const VkComputePipelineCreateInfo info =
        info_compute(vulkan_module(gpu.device, words, count * 4), gpu.layout, specialization);
    VkPipeline pipeline;
    assert_success(vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vulkan_destroy(gpu.device, info.stage.module);
    return pipeline;
}

VkPipeline gpu_pipeline(const uint32_t *words, size_t count)
{
    return gpu_pipeline_specialized(words, count, NULL);
}

VkPipeline gpu_drawing(const uint32_t *vertex, size_t vertex_count, const uint32_t *fragment,
                       size_t fragment_count)
{
    static const VkFormat format = FORMAT;
    VkShaderModule modules[2] = {vulkan_module(gpu.device, vertex, vertex_count * 4),
                                 vulkan_module(gpu.device, fragment, fragment_count * 4)};
    struct info_graphics create;
    VkPipeline pipeline;
    info_graphics(&create, GPU_SIDE, modules[0], modules[1], gpu.layout, VK_NULL_HANDLE, 1,
                  &format);
    assert_success(
        vkCreateGraphicsPipelines(gpu.device, VK_NULL_HANDLE, 1, &create.info, NULL, &pipeline));
    vulkan_destroy(gpu.device, modules[0], modules[1]);
    return pipeline;
}

static void draw(VkCommandBuffer commands)
{
    const VkRenderingAttachmentInfo color = {
        VK_TYPE(RENDERING_ATTACHMENT_INFO), .imageView = gpu.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL, .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo rendering = {VK_TYPE(RENDERING_INFO),
                                       .renderArea.extent = {GPU_SIDE, GPU_SIDE}, .layerCount = 1,
                                       .colorAttachmentCount = 1, .pColorAttachments = &color};
    vkCmdBeginRendering(commands, &rendering);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    const VkMemoryBarrier after =
        info_barrier(VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &after, 0, NULL, 0, NULL);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {GPU_SIDE, GPU_SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, gpu.image, VK_IMAGE_LAYOUT_GENERAL, gpu.buffer, 1, &copy);
}

void gpu_pipeline_end(VkPipeline pipeline)
{
    vkDestroyPipeline(gpu.device, pipeline, NULL);
}

void gpu_run(VkPipeline pipeline, bool draws, const uint32_t push[4], uint32_t words[GPU_WORDS],
             struct bf_dry_run_result *result)
{
    memset(gpu.words, 0xa5, GIVEN * 4);
    memset(gpu.words + RESULT, 0, sizeof(*result));
    assert_success(vkResetCommandPool(gpu.device, gpu.pools[gpu.family], 0));
    VkCommandBuffer commands = device_begin(&gpu.base, gpu.family, 0);
    const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkImageMemoryBarrier image = {
        VK_TYPE(IMAGE_MEMORY_BARRIER), .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL, .image = gpu.image, .subresourceRange = whole};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &image);
    const VkClearColorValue color = {.uint32 = {77}};
    vkCmdClearColorImage(commands, gpu.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &whole);
    const VkMemoryBarrier before = info_barrier(
        VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    const VkPipelineBindPoint point =
        draws ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &before, 0, NULL, 0, NULL);
    vkCmdBindPipeline(commands, point, pipeline);
    vkCmdBindDescriptorSets(commands, point, gpu.layout, 0, 1, &gpu.set, 0, NULL);
    vkCmdPushConstants(commands, gpu.layout, STAGES, 0, 16, push);
    if (draws)
        draw(commands);
    else
        vkCmdDispatch(commands, 1, 1, 1);
    const VkMemoryBarrier after = info_barrier(VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_HOST_READ_BIT);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                         0, 1, &after, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted1(gpu.queues[gpu.family][0], .commands = commands);
    assert_success(vkQueueWaitIdle(gpu.queues[gpu.family][0]));
    memcpy(words, gpu.words, GPU_WORDS * 4);
    if (result)
        memcpy(result, gpu.words + RESULT, sizeof(*result));
    for (uint32_t i = GPU_WORDS; i < RESULT; i++)
        assert_int_equal(gpu.words[i], 0xa5a5a5a5);
    vkFreeCommandBuffers(gpu.device, gpu.pools[gpu.family], 1, &commands);
}
