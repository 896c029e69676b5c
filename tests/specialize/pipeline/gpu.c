/* SPDX-License-Identifier: MIT */
/* A device to try pipelines on, with the runtime's pipelines beside it. */
#include "gpu.h"
#include "support/infos.h"

#include <dlfcn.h>

static bool is_validated(void)
{
    const char *layers = getenv("VK_INSTANCE_LAYERS");
    return layers && strstr(layers, "VK_LAYER_KHRONOS_validation");
}

static void leave(const char *what)
{
    fprintf(stderr, "skipped: there is no %s\n", what);
    exit(77);
}

static void make_device(struct gpu *gpu)
{
    VkDebugUtilsMessengerCreateInfoEXT messenger = vulkan_messenger(&gpu->complaints);
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    const char *debug = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance = {
        VK_TYPE(INSTANCE_CREATE_INFO), .pNext = is_validated() ? &messenger : NULL,
        .pApplicationInfo = &application, .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = &debug};
    uint32_t one = 1;
    if (volkInitialize() != VK_SUCCESS)
        leave("Vulkan loader");
    if (vkCreateInstance(&instance, NULL, &gpu->instance) != VK_SUCCESS)
        leave("instance with " VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    /* Mesa keeps what it allocates once in variables of its own: unloaded, it would have leaked. */
    dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    volkLoadInstance(gpu->instance);
    if (is_validated())
        assert_success(
            vkCreateDebugUtilsMessengerEXT(gpu->instance, &messenger, NULL, &gpu->messenger));
    if (vkEnumeratePhysicalDevices(gpu->instance, &one, &gpu->physical) < 0 || one == 0)
        leave("device");
    VkPhysicalDeviceVulkan13Features features = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                                 .dynamicRendering = VK_TRUE,
                                                 .synchronization2 = VK_TRUE};
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries = {
        VK_TYPE(PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT),
        .graphicsPipelineLibrary = VK_TRUE};
    const char *const wanted[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME,
                                  VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME,
                                  VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME};
    gpu->pushes_descriptors = vulkan_has_device_extension(gpu->physical, wanted[0]);
    gpu->links = vulkan_has_device_extension(gpu->physical, wanted[2]);
    if (gpu->links)
        features.pNext = &libraries;
    const VkDeviceCreateInfo device =
        info_device(&features, gpu->pushes_descriptors + 2u * gpu->links,
                    &wanted[gpu->pushes_descriptors ? 0 : 1]);
    assert_success(vkCreateDevice(gpu->physical, &device, NULL, &gpu->device));
    volkLoadDeviceTable(&gpu->vk, gpu->device);
    gpu->vk.vkGetDeviceQueue(gpu->device, 0, 0, &gpu->queue);
}

static void make_set(struct gpu *gpu)
{
    gpu->sets = gpu_set_layout(gpu);
    gpu->layout = gpu_layout(gpu, gpu->sets);
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    gpu->set = vulkan_set(gpu->device, gpu->sets, 1, &type, &gpu->descriptors);
    const VkDescriptorSetAllocateInfo allocate_info = {
        VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO), .descriptorPool = gpu->descriptors,
        .descriptorSetCount = 1, .pSetLayouts = &gpu->sets};
    if (gpu->told)
        bf_descriptor_shapes_sets_made(&gpu->pipelines, &allocate_info, &gpu->set);
    const VkDescriptorBufferInfo buffer = {gpu->buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write =
        info_write(gpu->set, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, &buffer);
    gpu->vk.vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
    if (gpu->told)
        bf_descriptor_shapes_update(&gpu->pipelines, 1, &write, 0, NULL);
}

void gpu_open(struct gpu *gpu, bool told)
{
    *gpu = (struct gpu){.told = told};
    make_device(gpu);
    bf_pipelines_init(&gpu->pipelines, gpu->device, &gpu->vk);
    gpu->pool = vulkan_pool(gpu->device, 0);
    gpu->commands = vulkan_commands(gpu->device, gpu->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    gpu->buffer =
        vulkan_buffer_of(gpu->physical, gpu->device, GPU_WORDS * sizeof(uint32_t),
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                         &gpu->memory, (void **)&gpu->words);
    gpu->picture = vulkan_image(
        gpu->physical, gpu->device, VK_FORMAT_R32G32B32A32_UINT, GPU_SIDE, VK_SAMPLE_COUNT_1_BIT,
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, &gpu->picture_memory,
        &gpu->view);
    make_set(gpu);
}

void gpu_close(struct gpu *gpu)
{
    gpu->vk.vkDestroyDescriptorPool(gpu->device, gpu->descriptors, NULL);
    if (gpu->told)
        bf_descriptor_shapes_pool_gone(&gpu->pipelines, gpu->descriptors);
    gpu_destroy(gpu, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)gpu->layout);
    gpu_destroy(gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)gpu->sets);
    gpu->vk.vkDestroyImageView(gpu->device, gpu->view, NULL);
    gpu->vk.vkDestroyImage(gpu->device, gpu->picture, NULL);
    gpu->vk.vkFreeMemory(gpu->device, gpu->picture_memory, NULL);
    gpu->vk.vkDestroyBuffer(gpu->device, gpu->buffer, NULL);
    gpu->vk.vkFreeMemory(gpu->device, gpu->memory, NULL);
    gpu->vk.vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
    bf_pipelines_finish(&gpu->pipelines);
    gpu->vk.vkDestroyDevice(gpu->device, NULL);
    if (gpu->messenger)
        vkDestroyDebugUtilsMessengerEXT(gpu->instance, gpu->messenger, NULL);
    vkDestroyInstance(gpu->instance, NULL);
    assert_int_equal(gpu->complaints, 0);
}

VkShaderModule gpu_module(struct gpu *gpu, const uint32_t *words, size_t bytes)
{
    const VkShaderModuleCreateInfo info = {VK_TYPE(SHADER_MODULE_CREATE_INFO), .codeSize = bytes,
                                           .pCode = words};
    VkShaderModule module;
    assert_success(gpu->vk.vkCreateShaderModule(gpu->device, &info, NULL, &module));
    if (gpu->told)
        bf_pipelines_module_made(&gpu->pipelines, module, &info);
    return module;
}

void gpu_destroy_module(struct gpu *gpu, VkShaderModule module)
{
    if (gpu->told)
        bf_pipelines_module_gone(&gpu->pipelines, module);
    gpu->vk.vkDestroyShaderModule(gpu->device, module, NULL);
}

VkDescriptorSetLayout gpu_set_layout(struct gpu *gpu)
{
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                  .bindingCount = 1, .pBindings = &binding};
    VkDescriptorSetLayout layout;
    assert_success(gpu->vk.vkCreateDescriptorSetLayout(gpu->device, &info, NULL, &layout));
    if (gpu->told)
        bf_retained_set_layout_add(&gpu->pipelines, layout, &info, NULL);
    return layout;
}

VkPipelineLayout gpu_layout(struct gpu *gpu, VkDescriptorSetLayout sets)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                                       0, sizeof(struct gpu_push)};
    const VkPipelineLayoutCreateInfo info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1, .pSetLayouts = &sets,
        .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    assert_success(gpu->vk.vkCreatePipelineLayout(gpu->device, &info, NULL, &layout));
    if (gpu->told)
        bf_retained_layout_add(&gpu->pipelines, layout, &info, NULL);
    return layout;
}

VkRenderPass gpu_render_pass(struct gpu *gpu)
{
    const VkAttachmentDescription attachment = {
        .format = VK_FORMAT_R32G32B32A32_UINT,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    const VkAttachmentReference color = {0, VK_IMAGE_LAYOUT_GENERAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &color};
    const VkRenderPassCreateInfo info = info_pass(1, &attachment, 1, &subpass, 0, NULL);
    VkRenderPass pass;
    assert_success(gpu->vk.vkCreateRenderPass(gpu->device, &info, NULL, &pass));
    if (gpu->told)
        bf_retained_render_pass_add(&gpu->pipelines, pass, &info, NULL);
    return pass;
}

void gpu_destroy(struct gpu *gpu, VkObjectType type, uint64_t handle)
{
    if (gpu->told)
        bf_retained_destroy(&gpu->pipelines, type, handle, NULL);
    else if (type == VK_OBJECT_TYPE_PIPELINE_LAYOUT)
        gpu->vk.vkDestroyPipelineLayout(gpu->device, (VkPipelineLayout)handle, NULL);
    else if (type == VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT)
        gpu->vk.vkDestroyDescriptorSetLayout(gpu->device, (VkDescriptorSetLayout)handle, NULL);
    else
        gpu->vk.vkDestroyRenderPass(gpu->device, (VkRenderPass)handle, NULL);
}

VkPipeline gpu_compute(struct gpu *gpu, const VkComputePipelineCreateInfo *info)
{
    VkPipeline pipeline;
    assert_success(
        gpu->vk.vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    if (gpu->told)
        bf_pipelines_created_compute(&gpu->pipelines, 1, info, &pipeline);
    return pipeline;
}

VkPipeline gpu_graphics(struct gpu *gpu, const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    assert_success(
        gpu->vk.vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    if (gpu->told)
        bf_pipelines_created_graphics(&gpu->pipelines, 1, info, &pipeline);
    return pipeline;
}

VkPipeline gpu_linked(struct gpu *gpu, const struct info_graphics *g, bool few, bool optimised)
{
    const VkPipelineCreateFlags library =
        VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
        (optimised ? VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT : 0);
    const uint32_t parts[] = {1, 2, 4, 8}, count = few ? 1 : 4;
    VkPipeline *libraries = gpu->libraries;
    struct info_link l;
    for (uint32_t i = 0; i < count; i++) {
        info_link(&l, g, few ? 6 : parts[i], library, 0, NULL);
        libraries[i] = gpu_graphics(gpu, &l.info);
    }
    info_link(&l, g, few ? 9 : 0, optimised ? VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT : 0,
              count, libraries);
    VkPipeline pipeline = gpu_graphics(gpu, &l.info);
    for (uint32_t i = 0; gpu->told && i < count; i++)
        bf_pipelines_destroyed(&gpu->pipelines, libraries[i]);
    memset(&l, 0xee, sizeof(l));
    return pipeline;
}

void gpu_unlink(struct gpu *gpu, VkPipeline pipeline)
{
    gpu_destroy_pipeline(gpu, pipeline);
    for (uint32_t i = 0; i < 4; i++)
        gpu->vk.vkDestroyPipeline(gpu->device, gpu->libraries[i], NULL);
    memset(gpu->libraries, 0, sizeof(gpu->libraries));
}

void gpu_destroy_pipeline(struct gpu *gpu, VkPipeline pipeline)
{
    if (gpu->told)
        bf_pipelines_destroyed(&gpu->pipelines, pipeline);
    gpu->vk.vkDestroyPipeline(gpu->device, pipeline, NULL);
}

static void begin(struct gpu *gpu)
{
    const VkCommandBufferBeginInfo info = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    memset(gpu->words, 0x55, GPU_WORDS * sizeof(uint32_t));
    assert_success(gpu->vk.vkBeginCommandBuffer(gpu->commands, &info));
}

void gpu_end(struct gpu *gpu)
{
    const VkMemoryBarrier to_host =
        info_barrier(VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_HOST_READ_BIT);
    gpu->vk.vkCmdPipelineBarrier(gpu->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                 VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    assert_success(gpu->vk.vkEndCommandBuffer(gpu->commands));
}

static void submit(struct gpu *gpu)
{
    gpu_end(gpu);
    const VkSubmitInfo info = info_submit(&gpu->commands);
    assert_success(gpu->vk.vkQueueSubmit(gpu->queue, 1, &info, VK_NULL_HANDLE));
    assert_success(gpu->vk.vkQueueWaitIdle(gpu->queue));
}

void gpu_dispatch(struct gpu *gpu, VkPipeline pipeline, struct gpu_push push)
{
    begin(gpu);
    gpu->vk.vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    gpu->vk.vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->layout, 0,
                                    1, &gpu->set, 0, NULL);
    gpu->vk.vkCmdPushConstants(gpu->commands, gpu->layout,
                               VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                               sizeof(push), &push);
    gpu->vk.vkCmdDispatch(gpu->commands, GPU_WORDS / 64, 1, 1);
    submit(gpu);
}

static void change_picture(struct gpu *gpu, VkImageLayout from, VkAccessFlags before,
                           VkAccessFlags after)
{
    const VkImageMemoryBarrier barrier = {
        VK_TYPE(IMAGE_MEMORY_BARRIER),
        .srcAccessMask = before,
        .dstAccessMask = after,
        .oldLayout = from,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = gpu->picture,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    gpu->vk.vkCmdPipelineBarrier(gpu->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                 VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                                 &barrier);
}

VkFramebuffer gpu_framebuffer(struct gpu *gpu, VkRenderPass pass)
{
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    const VkFramebufferCreateInfo info = info_framebuffer(pass, 1, &gpu->view, GPU_SIDE);
    if (pass)
        assert_success(gpu->vk.vkCreateFramebuffer(gpu->device, &info, NULL, &framebuffer));
    return framebuffer;
}

void gpu_begin_picture(struct gpu *gpu, VkRenderPass pass, VkFramebuffer framebuffer,
                       bool secondaries)
{
    const VkClearValue clear = {0};
    const VkRenderPassBeginInfo info = info_pass_begin(pass, framebuffer, GPU_SIDE, 1, &clear);
    const VkRenderingAttachmentInfo color = {
        VK_TYPE(RENDERING_ATTACHMENT_INFO), .imageView = gpu->view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo rendering = {
        VK_TYPE(RENDERING_INFO),
        .flags = secondaries ? VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0,
        .renderArea = info.renderArea,
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color};
    change_picture(gpu, VK_IMAGE_LAYOUT_UNDEFINED, 0,
                   VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT);
    if (pass)
        gpu->vk.vkCmdBeginRenderPass(gpu->commands, &info,
                                     secondaries ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                                 : VK_SUBPASS_CONTENTS_INLINE);
    else
        gpu->vk.vkCmdBeginRendering(gpu->commands, &rendering);
}

void gpu_end_picture(struct gpu *gpu, VkRenderPass pass)
{
    if (pass)
        gpu->vk.vkCmdEndRenderPass(gpu->commands);
    else
        gpu->vk.vkCmdEndRendering(gpu->commands);
    change_picture(gpu, VK_IMAGE_LAYOUT_GENERAL, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                   VK_ACCESS_TRANSFER_READ_BIT);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {GPU_SIDE, GPU_SIDE, 1}};
    gpu->vk.vkCmdCopyImageToBuffer(gpu->commands, gpu->picture, VK_IMAGE_LAYOUT_GENERAL,
                                   gpu->buffer, 1, &region);
}

void gpu_draw(struct gpu *gpu, VkPipeline pipeline, VkRenderPass pass, struct gpu_push push)
{
    VkFramebuffer framebuffer = gpu_framebuffer(gpu, pass);
    begin(gpu);
    gpu_begin_picture(gpu, pass, framebuffer, false);
    gpu->vk.vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    gpu->vk.vkCmdPushConstants(gpu->commands, gpu->layout,
                               VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                               sizeof(push), &push);
    gpu->vk.vkCmdDraw(gpu->commands, 3, 1, 0, 0);
    gpu_end_picture(gpu, pass);
    submit(gpu);
    gpu->vk.vkDestroyFramebuffer(gpu->device, framebuffer, NULL);
}

void gpu_describe(struct info_graphics *g, VkShaderModule vertex, VkShaderModule fragment,
                  VkPipelineLayout layout, VkRenderPass pass)
{
    static const VkFormat format = VK_FORMAT_R32G32B32A32_UINT;
    info_graphics(g, GPU_SIDE, vertex, fragment, layout, pass, 1, &format);
}
