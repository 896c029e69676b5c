/* SPDX-License-Identifier: MIT */
/* Creates shader modules, graphics and compute pipelines, and what they need. */
#include "pipeline.h"

#include "report.h"

static VkResult module_create(const struct sample_device *device, struct sample_spirv spirv,
                              VkShaderModule *module)
{
    return sample_check(
        vkCreateShaderModule(device->handle,
                             &(VkShaderModuleCreateInfo){
                                 .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                 .codeSize = spirv.size,
                                 .pCode = spirv.words,
                             },
                             NULL, module),
        "vkCreateShaderModule");
}

static VkPipelineShaderStageCreateInfo stage_describe(VkShaderStageFlagBits stage,
                                                      VkShaderModule module,
                                                      const VkSpecializationInfo *specialization)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main",
        .pSpecializationInfo = specialization,
    };
}

VkResult sample_draw_pipeline(const struct sample_device *device, const struct sample_draw *draw,
                              const char *name, VkPipeline *pipeline)
{
    return sample_draw_pipeline_depth(device, draw, SAMPLE_DEPTH_NONE, name, pipeline);
}

VkResult sample_draw_pipeline_depth(const struct sample_device *device,
                                    const struct sample_draw *draw, enum sample_depth depth,
                                    const char *name, VkPipeline *pipeline)
{
    static const struct {
        VkBool32 enable;
        VkBlendFactor source, target;
    } blends[] = {
        [SAMPLE_BLEND_NONE] = {VK_FALSE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO},
        [SAMPLE_BLEND_ADD] = {VK_TRUE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE},
        [SAMPLE_BLEND_FADE] = {VK_TRUE, VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_CONSTANT_COLOR},
    };
    const VkDynamicState dynamic[] = {
        VK_DYNAMIC_STATE_VIEWPORT,
        VK_DYNAMIC_STATE_SCISSOR,
        VK_DYNAMIC_STATE_BLEND_CONSTANTS,
    };
    VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;

    VkResult result = module_create(device, draw->vertex, &vertex);
    if (result < 0)
        return result;
    result = module_create(device, draw->fragment, &fragment);
    if (result < 0)
        goto done;

    const VkPipelineShaderStageCreateInfo stages[2] = {
        stage_describe(VK_SHADER_STAGE_VERTEX_BIT, vertex, NULL),
        stage_describe(VK_SHADER_STAGE_FRAGMENT_BIT, fragment, draw->specialization),
    };
    const VkPipelineVertexInputStateCreateInfo vertex_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = draw->topology,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .cullMode = VK_CULL_MODE_NONE,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth_stencil = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = depth != SAMPLE_DEPTH_NONE,
        .depthWriteEnable = depth == SAMPLE_DEPTH_WRITE,
        .depthCompareOp = depth == SAMPLE_DEPTH_EQUAL ? VK_COMPARE_OP_EQUAL : VK_COMPARE_OP_LESS,
    };
    const VkPipelineColorBlendAttachmentState attachment = {
        .blendEnable = blends[draw->blend].enable,
        .srcColorBlendFactor = blends[draw->blend].source,
        .dstColorBlendFactor = blends[draw->blend].target,
        .colorBlendOp = VK_BLEND_OP_ADD,
        .srcAlphaBlendFactor = blends[draw->blend].source,
        .dstAlphaBlendFactor = blends[draw->blend].target,
        .alphaBlendOp = VK_BLEND_OP_ADD,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT,
    };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    const VkPipelineDynamicStateCreateInfo dynamics = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = sizeof dynamic / sizeof *dynamic,
        .pDynamicStates = dynamic,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &draw->target,
        .depthAttachmentFormat =
            depth == SAMPLE_DEPTH_NONE ? VK_FORMAT_UNDEFINED : VK_FORMAT_D32_SFLOAT,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertex_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth_stencil,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamics,
        .layout = draw->layout,
    };
    result = sample_check(
        vkCreateGraphicsPipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
        "vkCreateGraphicsPipelines");
    if (result >= 0)
        sample_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)*pipeline, "%s", name);

done:
    vkDestroyShaderModule(device->handle, fragment, NULL);
    vkDestroyShaderModule(device->handle, vertex, NULL);
    return result;
}

const VkSpecializationInfo *sample_encoding(VkFormat target)
{
    static const VkBool32 values[2] = {VK_FALSE, VK_TRUE};
    static const VkSpecializationMapEntry entry = {.constantID = 0, .size = sizeof(VkBool32)};
    static const VkSpecializationInfo infos[2] = {
        {1, &entry, sizeof(VkBool32), &values[0]},
        {1, &entry, sizeof(VkBool32), &values[1]},
    };
    return &infos[target != VK_FORMAT_B8G8R8A8_SRGB && target != VK_FORMAT_R8G8B8A8_SRGB];
}

VkResult sample_compute_pipeline(const struct sample_device *device, struct sample_spirv shader,
                                 VkPipelineLayout layout, const char *name, VkPipeline *pipeline)
{
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = module_create(device, shader, &module);
    if (result < 0)
        return result;

    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage_describe(VK_SHADER_STAGE_COMPUTE_BIT, module, NULL),
        .layout = layout,
    };
    result = sample_check(
        vkCreateComputePipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
        "vkCreateComputePipelines");
    if (result >= 0)
        sample_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)*pipeline, "%s", name);
    vkDestroyShaderModule(device->handle, module, NULL);
    return result;
}

VkResult sample_set_layout(const struct sample_device *device, VkDescriptorType type,
                           uint32_t count, VkShaderStageFlags stages, VkDescriptorSetLayout *layout)
{
    VkDescriptorSetLayoutBinding bindings[4];
    if (count > sizeof bindings / sizeof *bindings)
        return sample_check(VK_ERROR_TOO_MANY_OBJECTS, "sample_set_layout");
    for (uint32_t i = 0; i < count; ++i) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = type,
            .descriptorCount = 1,
            .stageFlags = stages,
        };
    }
    return sample_check(vkCreateDescriptorSetLayout(
                            device->handle,
                            &(VkDescriptorSetLayoutCreateInfo){
                                .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                .bindingCount = count,
                                .pBindings = bindings,
                            },
                            NULL, layout),
                        "vkCreateDescriptorSetLayout");
}

VkResult sample_pipeline_layout(const struct sample_device *device, VkDescriptorSetLayout set,
                                VkShaderStageFlags push_stages, uint32_t push_size,
                                VkPipelineLayout *layout)
{
    const VkPushConstantRange range = {push_stages, 0, push_size};
    return sample_check(
        vkCreatePipelineLayout(device->handle,
                               &(VkPipelineLayoutCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                   .setLayoutCount = 1,
                                   .pSetLayouts = &set,
                                   .pushConstantRangeCount = push_size ? 1 : 0,
                                   .pPushConstantRanges = &range,
                               },
                               NULL, layout),
        "vkCreatePipelineLayout");
}

void sample_rendering_begin(VkCommandBuffer commands, VkImageView target, VkExtent2D extent,
                            VkAttachmentLoadOp load)
{
    sample_rendering_begin_depth(commands, target, VK_NULL_HANDLE, extent, load, load);
}

void sample_rendering_begin_depth(VkCommandBuffer commands, VkImageView target, VkImageView depth,
                                  VkExtent2D extent, VkAttachmentLoadOp load,
                                  VkAttachmentLoadOp depth_load)
{
    const VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingAttachmentInfo depth_attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = depth,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .loadOp = depth_load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue.depthStencil = {1.0f, 0},
    };
    const VkRect2D area = {.extent = extent};
    const VkViewport viewport = {
        .width = (float)extent.width, .height = (float)extent.height, .maxDepth = 1.0f};

    vkCmdBeginRendering(commands, &(VkRenderingInfo){
                                      .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                      .renderArea = area,
                                      .layerCount = 1,
                                      .colorAttachmentCount = 1,
                                      .pColorAttachments = &attachment,
                                      .pDepthAttachment = depth ? &depth_attachment : NULL,
                                  });
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &area);
}

VkResult sample_command_buffers(const struct sample_device *device, uint32_t family, uint32_t count,
                                const char *name, VkCommandPool *pool, VkCommandBuffer *buffers)
{
    VkResult result =
        vkCreateCommandPool(device->handle,
                            &(VkCommandPoolCreateInfo){
                                .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                .queueFamilyIndex = family,
                            },
                            NULL, pool);
    if (sample_check(result, "vkCreateCommandPool") < 0)
        return result;
    result = vkAllocateCommandBuffers(device->handle,
                                      &(VkCommandBufferAllocateInfo){
                                          .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = *pool,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                          .commandBufferCount = count,
                                      },
                                      buffers);
    if (sample_check(result, "vkAllocateCommandBuffers") < 0)
        return result;
    for (uint32_t i = 0; i < count; ++i)
        sample_name(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)buffers[i], "%s %u",
                    name, i);
    return VK_SUCCESS;
}

VkResult sample_commands_begin(VkCommandBuffer commands)
{
    return sample_check(
        vkBeginCommandBuffer(commands,
                             &(VkCommandBufferBeginInfo){
                                 .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                 .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                             }),
        "vkBeginCommandBuffer");
}

VkResult sample_commands_end(VkCommandBuffer commands)
{
    return sample_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void sample_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkPipelineStageFlags2 to)
{
    vkCmdPipelineBarrier2(commands,
                          &(VkDependencyInfo){
                              .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                              .memoryBarrierCount = 1,
                              .pMemoryBarriers =
                                  &(VkMemoryBarrier2){
                                      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = from,
                                      .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                      .dstStageMask = to,
                                      .dstAccessMask = to == VK_PIPELINE_STAGE_2_HOST_BIT
                                                           ? VK_ACCESS_2_HOST_READ_BIT
                                                           : VK_ACCESS_2_MEMORY_READ_BIT |
                                                                 VK_ACCESS_2_MEMORY_WRITE_BIT,
                                  },
                          });
}
