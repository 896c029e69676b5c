/* SPDX-License-Identifier: MIT */
/* Under the Khronos validation layer, which queries all there is to query and must find nothing: a
 * tour of what programs do, on each shape and version. What it says is printed as it comes. */
#include "support/world.h"
#include "support/infos.h"

#include <dlfcn.h>

static VkShaderModule shader(struct device *f)
{
    /* An empty compute shader: OpEntryPoint GLCompute "main", local size 1. */
    static const uint32_t code[] = {
        0x07230203, 0x00010000, 0,  5,          0,    /* header, bound 5 */
        0x00020011, 1,                                /* OpCapability Shader */
        0x0003000e, 0,          1,                    /* OpMemoryModel Logical GLSL450 */
        0x0005000f, 5,          1,  0x6e69616d, 0,    /* OpEntryPoint GLCompute %1 "main" */
        0x00060010, 1,          17, 1,          1, 1, /* OpExecutionMode %1 LocalSize 1 1 1 */
        0x00020013, 2,                                /* %2 = OpTypeVoid */
        0x00030021, 3,          2,                    /* %3 = OpTypeFunction %2 */
        0x00050036, 2,          1,  0,          3,    /* %1 = OpFunction */
        0x000200f8, 4,                                /* %4 = OpLabel */
        0x000100fd,                                   /* OpReturn */
        0x00010038,                                   /* OpFunctionEnd */
    };
    const VkShaderModuleCreateInfo info = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                           .codeSize = sizeof(code), .pCode = code};
    VkShaderModule module;
    assert_success(vkCreateShaderModule(f->device, &info, NULL, &module));
    return module;
}

/* Pipelines, descriptors, images, render passes: made, used in a command buffer, destroyed. */
TEST_AROUND(test_inert_objects, struct device, f, world_open_validated, world_close, "SHAPE=q2")
{

    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo layout_info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                         .bindingCount = 1, .pBindings = &binding};
    VkDescriptorSetLayout set_layout;
    assert_success(vkCreateDescriptorSetLayout(f->device, &layout_info, NULL, &set_layout));
    const VkPipelineLayoutCreateInfo pipeline_layout_info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1, .pSetLayouts = &set_layout};
    VkPipelineLayout layout;
    assert_success(vkCreatePipelineLayout(f->device, &pipeline_layout_info, NULL, &layout));
    VkShaderModule module = shader(f);
    const VkComputePipelineCreateInfo pipeline_info = {
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module, .pName = "main"},
        .layout = layout};
    VkPipeline pipeline;
    assert_success(
        vkCreateComputePipelines(f->device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &pipeline));

    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool_info = {VK_TYPE(DESCRIPTOR_POOL_CREATE_INFO),
                                                  .maxSets = 1, .poolSizeCount = 1,
                                                  .pPoolSizes = &size};
    VkDescriptorPool pool;
    assert_success(vkCreateDescriptorPool(f->device, &pool_info, NULL, &pool));
    const VkDescriptorSetAllocateInfo set_info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                                  .descriptorPool = pool, .descriptorSetCount = 1,
                                                  .pSetLayouts = &set_layout};
    VkDescriptorSet set;
    assert_success(vkAllocateDescriptorSets(f->device, &set_info, &set));

    const VkImageCreateInfo image_info = {VK_TYPE(IMAGE_CREATE_INFO),
                                          .imageType = VK_IMAGE_TYPE_2D,
                                          .format = VK_FORMAT_R8G8B8A8_UNORM,
                                          .extent = {64, 64, 1},
                                          .mipLevels = 1,
                                          .arrayLayers = 1,
                                          .samples = VK_SAMPLE_COUNT_1_BIT,
                                          .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                   VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkImage image;
    assert_success(vkCreateImage(f->device, &image_info, NULL, &image));
    VkMemoryRequirements requirements;
    vkGetImageMemoryRequirements(f->device, image, &requirements);
    const VkMemoryAllocateInfo memory_info = {VK_TYPE(MEMORY_ALLOCATE_INFO),
                                              .allocationSize = requirements.size};
    VkDeviceMemory memory;
    assert_success(vkAllocateMemory(f->device, &memory_info, NULL, &memory));
    assert_success(vkBindImageMemory(f->device, image, memory, 0));
    const VkImageViewCreateInfo view_info = {
        VK_TYPE(IMAGE_VIEW_CREATE_INFO), .image = image, .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkImageView view;
    assert_success(vkCreateImageView(f->device, &view_info, NULL, &view));
    const VkAttachmentDescription attachment = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .finalLayout =
                                                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo pass_info = {VK_TYPE(RENDER_PASS_CREATE_INFO),
                                              .attachmentCount = 1, .pAttachments = &attachment,
                                              .subpassCount = 1, .pSubpasses = &subpass};
    VkRenderPass pass;
    assert_success(vkCreateRenderPass(f->device, &pass_info, NULL, &pass));
    const VkFramebufferCreateInfo framebuffer_info = {VK_TYPE(FRAMEBUFFER_CREATE_INFO),
                                                      .renderPass = pass,
                                                      .attachmentCount = 1,
                                                      .pAttachments = &view,
                                                      .width = 64,
                                                      .height = 64,
                                                      .layers = 1};
    VkFramebuffer framebuffer;
    assert_success(vkCreateFramebuffer(f->device, &framebuffer_info, NULL, &framebuffer));

    VkCommandBuffer commands = device_begin(f, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const VkClearValue clear = {0};
    const VkRenderPassBeginInfo begin = {
        VK_TYPE(RENDER_PASS_BEGIN_INFO),  .renderPass = pass,   .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {64, 64}}, .clearValueCount = 1, .pClearValues = &clear};
    vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdEndRenderPass(commands);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, 1, 1, 1);
    assert_success(vkEndCommandBuffer(commands));
    assert_submitted(f->queues[0][0], .commands = commands);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));

    vkDestroyFramebuffer(f->device, framebuffer, NULL);
    vkDestroyRenderPass(f->device, pass, NULL);
    vkDestroyImageView(f->device, view, NULL);
    vulkan_destroy(f->device, image, memory);
    vkDestroyDescriptorPool(f->device, pool, NULL);
    vulkan_destroy(f->device, pipeline, module, layout);
    vkDestroyDescriptorSetLayout(f->device, set_layout, NULL);
}

/* What a scheduler does: every way of submitting and waiting, on every shape. */
static void submission_tour(const char *environment)
{
    struct device f;
    world_open_validated(&f, environment);
    VkSemaphore timeline = vulkan_timeline(f.device, 0), binary = vulkan_binary(f.device);
    VkFence fence = vulkan_fence(f.device, false);
    VkQueue queue = f.queues[0][0];

    VkCommandBuffer commands = device_begin(&f, 0, 0);
    const VkMemoryBarrier barrier = {
        VK_TYPE(MEMORY_BARRIER), .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    vkCmdFillBuffer(commands, f.buffer, 0, 64, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 1, &barrier, 0, NULL, 0, NULL);
    const VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 128, .size = 64};
    vkCmdCopyBuffer(commands, f.buffer, f.buffer, 1, &copy);
    assert_success(vkEndCommandBuffer(commands));

    assert_submitted(queue, .commands = commands, .signal = timeline, .signal_value = 1);
    vulkan_wait(f.device, timeline, 1);
    assert_submitted1(queue, .wait = timeline, .wait_value = 1, .signal = binary);
    assert_submitted1(queue, .wait = binary, .commands = commands, .signal = timeline,
                      .signal_value = 2, .fence = fence);
    assert_success(vkWaitForFences(f.device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(f.device, 1, &fence));
    vulkan_signal(f.device, timeline, 3);
    assert_int_equal(vulkan_value(f.device, timeline), 3);

    if (f.families[0].timestampValidBits) {
        const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                            .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};
        VkQueryPool pool;
        uint64_t stamps[2];
        assert_success(vkCreateQueryPool(f.device, &info, NULL, &pool));
        vkResetQueryPool(f.device, pool, 0, 2);
        VkCommandBuffer stamping = device_begin(&f, 0, 0);
        vkCmdWriteTimestamp2(stamping, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, pool, 0);
        vkCmdWriteTimestamp(stamping, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 1);
        vkCmdCopyQueryPoolResults(stamping, pool, 0, 2, f.buffer, 512, 8, VK_QUERY_RESULT_64_BIT);
        assert_success(vkEndCommandBuffer(stamping));
        assert_submitted(queue, .commands = stamping);
        assert_success(vkQueueWaitIdle(queue));
        assert_success(vkGetQueryPoolResults(f.device, pool, 0, 2, sizeof(stamps), stamps, 8,
                                             VK_QUERY_RESULT_64_BIT));
        vkDestroyQueryPool(f.device, pool, NULL);
    }
    assert_success(vkDeviceWaitIdle(f.device));
    vulkan_destroy(f.device, timeline, binary, fence);
    world_close(&f);
}

TEST(test_submission)
{
    static const char *const environments[] = {"SHAPE=lavapipe", "SHAPE=nvidia", "SHAPE=radv",
                                               "SHAPE=intel",    "SHAPE=copy",   "SHAPE=q16",
                                               "SHAPE=q1 FREE=1"};
    for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++)
        submission_tour(environments[i]);
}

/* Presentation, as a program does it that has no window. */
TEST_AROUND(test_present, struct device, f, world_open_validated, world_close, "SHAPE=q1")
{
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    VkSurfaceKHR surface;
    assert_success(vkCreateHeadlessSurfaceEXT(f->instance, &surface_info, NULL, &surface));
    VkBool32 supported;
    assert_success(vkGetPhysicalDeviceSurfaceSupportKHR(f->physical, 0, surface, &supported));
    VkSurfaceCapabilitiesKHR capabilities;
    assert_success(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(f->physical, surface, &capabilities));
    VkSurfaceFormatKHR formats[4];
    uint32_t n = 4;
    assert_success(vkGetPhysicalDeviceSurfaceFormatsKHR(f->physical, surface, &n, formats));
    VkPresentModeKHR modes[4];
    n = 4;
    assert_success(vkGetPhysicalDeviceSurfacePresentModesKHR(f->physical, surface, &n, modes));
    const VkSwapchainCreateInfoKHR info = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
                                           .surface = surface,
                                           .minImageCount = 3,
                                           .imageFormat = formats[0].format,
                                           .imageColorSpace = formats[0].colorSpace,
                                           .imageExtent = {64, 64},
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = modes[0]};
    VkSwapchainKHR swapchain;
    assert_success(vkCreateSwapchainKHR(f->device, &info, NULL, &swapchain));
    VkImage images[8];
    n = 8;
    assert_success(vkGetSwapchainImagesKHR(f->device, swapchain, &n, images));
    VkSemaphore acquired = vulkan_binary(f->device), rendered = vulkan_binary(f->device);
    VkFence fence = vulkan_fence(f->device, false);
    for (int frame = 0; frame < 5; frame++) {
        uint32_t index;
        assert_success(vkAcquireNextImageKHR(f->device, swapchain, UINT64_MAX, acquired,
                                             VK_NULL_HANDLE, &index));
        VkCommandBuffer commands = device_begin(f, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        const VkImageMemoryBarrier barrier = {
            VK_TYPE(IMAGE_MEMORY_BARRIER),
            .newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = images[index],
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted1(f->queues[0][0], .wait = acquired, .commands = commands,
                          .signal = rendered, .fence = fence);
        const VkPresentInfoKHR present = {VK_TYPE(PRESENT_INFO_KHR),    .waitSemaphoreCount = 1,
                                          .pWaitSemaphores = &rendered, .swapchainCount = 1,
                                          .pSwapchains = &swapchain,    .pImageIndices = &index};
        assert_success(vkQueuePresentKHR(f->queues[0][0], &present));
        assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(f->device, 1, &fence));
        assert_success(vkQueueWaitIdle(f->queues[0][0]));
    }
    vulkan_destroy(f->device, swapchain, acquired, rendered, fence);
    vkDestroySurfaceKHR(f->instance, surface, NULL);
}

/* Older drivers are queried by other ways. */
TEST(test_versions)
{
    static const char *const environments[] = {"API=1.0", "API=1.1", "API=1.2",
                                               "API=1.0 NO_TIMELINE=1 NO_SYNC2=1"};
    for (size_t i = 0; i < 4; i++) {
        struct device f;
        world_validated_instance(&f, environments[i]);
        const VkDeviceCreateInfo info = info_device(NULL, 0, NULL);
        assert_success(vkCreateDevice(f.physical, &info, NULL, &f.device));
        VkFence fence = vulkan_fence(f.device, false);
        vkGetDeviceQueue(f.device, 0, 0, &f.queues[0][0]);
        assert_success(vkQueueSubmit(f.queues[0][0], 0, NULL, fence));
        assert_success(vkWaitForFences(f.device, 1, &fence, VK_TRUE, UINT64_MAX));
        vkDestroyFence(f.device, fence, NULL);
        world_close(&f);
    }
}

/* That the messenger isn't deaf. */
TEST_AROUND(test_messenger_hears, struct device, f, world_open_validated, world_close,
            "SHAPE=q1 QUIET=1")
{
    fputs("the next message is meant to be there\n", stderr);
    VkSemaphore a = vulkan_timeline(f->device, 5);
    vulkan_signal(f->device, a, 4);
    assert_true(f->messages > 0);
    f->messages = 0;
    f->icd.reset_counters();
    vkDestroySemaphore(f->device, a, NULL);
}

int main(void)
{
    /* For the leak sanitizer: what the layer itself leaks can be told apart only while the layer
     * is still loaded. Harmless where it isn't installed. */
    dlopen("libVkLayer_khronos_validation.so", RTLD_NOW);

    return test_run(NULL);
}
