/* SPDX-License-Identifier: MIT */
/* Vulkan's create infos and the like, in a line where they take six; whatever isn't a parameter is
 * 0. */
#ifndef BELFRY_TESTS_SUPPORT_INFOS_H
#define BELFRY_TESTS_SUPPORT_INFOS_H

#include "support/test.h"

#include <volk.h>

#include "support/type.h"

/* A device with one queue, of family 0. */
static inline VkDeviceCreateInfo info_device(const void *next, uint32_t extension_count,
                                             const char *const *extensions)
{
    static const float priority = 1;
    static const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO),
                                                  .queueCount = 1, .pQueuePriorities = &priority};
    return (VkDeviceCreateInfo){VK_TYPE(DEVICE_CREATE_INFO),
                                .pNext = next,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .enabledExtensionCount = extension_count,
                                .ppEnabledExtensionNames = extensions};
}

/* Its entry point is main. */
static inline VkPipelineShaderStageCreateInfo info_stage(VkShaderStageFlagBits stage,
                                                         VkShaderModule module,
                                                         const VkSpecializationInfo *specialization)
{
    return (VkPipelineShaderStageCreateInfo){VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO),
                                             .stage = stage, .module = module, .pName = "main",
                                             .pSpecializationInfo = specialization};
}

static inline VkComputePipelineCreateInfo info_compute(VkShaderModule module,
                                                       VkPipelineLayout layout,
                                                       const VkSpecializationInfo *specialization)
{
    return (VkComputePipelineCreateInfo){
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = info_stage(VK_SHADER_STAGE_COMPUTE_BIT, module, specialization), .layout = layout,
        .basePipelineIndex = -1};
}

/* A pipeline that covers a square of color attachments of one sample, and all that it points to: to
 * be changed before the pipeline is made. Dynamic rendering where there is no pass; 'depth' and
 * 'dynamic' are there, but not pointed to. */
#define INFO_COLORS 4
struct info_graphics {
    VkPipelineShaderStageCreateInfo stages[2]; /* vertex, fragment */
    VkPipelineVertexInputStateCreateInfo vertices;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkViewport viewport;
    VkRect2D scissor;
    VkPipelineViewportStateCreateInfo viewports;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blends[INFO_COLORS];
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineDynamicStateCreateInfo dynamic;
    VkFormat formats[INFO_COLORS];
    VkPipelineRenderingCreateInfo rendering;
    VkGraphicsPipelineCreateInfo info;
};

static inline void info_graphics(struct info_graphics *g, uint32_t side, VkShaderModule vertex,
                                 VkShaderModule fragment, VkPipelineLayout layout,
                                 VkRenderPass pass, uint32_t color_count, const VkFormat *colors)
{
    *g = (struct info_graphics){
        .stages = {info_stage(VK_SHADER_STAGE_VERTEX_BIT, vertex, NULL),
                   info_stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment, NULL)},
        .vertices = {VK_TYPE(PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO)},
        .assembly = {VK_TYPE(PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO),
                     .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST},
        .viewport = {0, 0, (float)side, (float)side, 0, 1},
        .scissor = {.extent = {side, side}},
        .viewports = {VK_TYPE(PIPELINE_VIEWPORT_STATE_CREATE_INFO), .viewportCount = 1,
                      .pViewports = &g->viewport, .scissorCount = 1, .pScissors = &g->scissor},
        .raster = {VK_TYPE(PIPELINE_RASTERIZATION_STATE_CREATE_INFO), .lineWidth = 1},
        .samples = {VK_TYPE(PIPELINE_MULTISAMPLE_STATE_CREATE_INFO),
                    .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT},
        .depth = {VK_TYPE(PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO)},
        .blend = {VK_TYPE(PIPELINE_COLOR_BLEND_STATE_CREATE_INFO), .attachmentCount = color_count,
                  .pAttachments = g->blends},
        .dynamic = {VK_TYPE(PIPELINE_DYNAMIC_STATE_CREATE_INFO)},
        .rendering = {VK_TYPE(PIPELINE_RENDERING_CREATE_INFO), .colorAttachmentCount = color_count,
                      .pColorAttachmentFormats = g->formats},
        .info = {VK_TYPE(GRAPHICS_PIPELINE_CREATE_INFO), .pNext = pass ? NULL : &g->rendering,
                 .stageCount = 2, .pStages = g->stages, .pVertexInputState = &g->vertices,
                 .pInputAssemblyState = &g->assembly, .pViewportState = &g->viewports,
                 .pRasterizationState = &g->raster, .pMultisampleState = &g->samples,
                 .pColorBlendState = &g->blend, .layout = layout, .renderPass = pass,
                 .basePipelineIndex = -1},
    };
    for (uint32_t i = 0; i < color_count; i++) {
        g->blends[i].colorWriteMask = 15;
        g->formats[i] = colors ? colors[i] : VK_FORMAT_UNDEFINED;
    }
}

/* A graphics pipeline library that has those parts of a pipeline, or, without the flag for it, a
 * pipeline that is linked from libraries, and all that it points to. */
struct info_link {
    VkPipelineRenderingCreateInfo rendering;
    VkPipelineLibraryCreateInfoKHR libraries;
    VkGraphicsPipelineLibraryCreateInfoEXT parts;
    VkGraphicsPipelineCreateInfo info;
};

static inline void info_link(struct info_link *l, const struct info_graphics *g,
                             VkGraphicsPipelineLibraryFlagsEXT parts, VkPipelineCreateFlags flags,
                             uint32_t library_count, const VkPipeline *libraries)
{
    const VkGraphicsPipelineCreateInfo *whole = &g->info;
    const bool raster = parts & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
    const bool fragment = parts & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
    const bool output = parts & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
    *l = (struct info_link){
        .libraries = {VK_TYPE(PIPELINE_LIBRARY_CREATE_INFO_KHR), .libraryCount = library_count,
                      .pLibraries = libraries},
        .parts = {VK_TYPE(GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT),
                  .pNext = library_count ? &l->libraries : NULL, .flags = parts},
        .info = {VK_TYPE(GRAPHICS_PIPELINE_CREATE_INFO),
                 .pNext = parts ? (void *)&l->parts : &l->libraries, .flags = flags,
                 .layout = raster || fragment || library_count ? whole->layout : VK_NULL_HANDLE,
                 .basePipelineIndex = -1},
    };
    if (parts & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT) {
        l->info.pVertexInputState = whole->pVertexInputState;
        l->info.pInputAssemblyState = whole->pInputAssemblyState;
    }
    if (raster) {
        l->info.pViewportState = whole->pViewportState;
        l->info.pRasterizationState = whole->pRasterizationState;
    }
    if (fragment) /* which doesn't know whether there is depth */
        l->info.pDepthStencilState = &g->depth;
    if (fragment || output)
        l->info.pMultisampleState = whole->pMultisampleState;
    if (output)
        l->info.pColorBlendState = whole->pColorBlendState;
    if (raster || fragment) {
        l->info.pStages = &g->stages[raster ? 0 : 1];
        l->info.stageCount = raster && fragment ? 2 : 1;
    }
    if (parts)
        l->info.pDynamicState = whole->pDynamicState;
    if (!raster && !fragment && !output)
        return;
    l->info.renderPass = whole->renderPass;
    l->info.subpass = whole->subpass;
    l->rendering = g->rendering;
    if (!output) { /* it has the views alone */
        l->rendering.colorAttachmentCount = 0;
        l->rendering.depthAttachmentFormat = VK_FORMAT_UNDEFINED;
    }
    if (!whole->renderPass)
        l->libraries.pNext = &l->rendering;
    if (!whole->renderPass && !library_count)
        l->parts.pNext = &l->rendering;
}

static inline VkRenderPassCreateInfo
info_pass(uint32_t attachment_count, const VkAttachmentDescription *attachments,
          uint32_t subpass_count, const VkSubpassDescription *subpasses, uint32_t dependency_count,
          const VkSubpassDependency *dependencies)
{
    return (VkRenderPassCreateInfo){
        VK_TYPE(RENDER_PASS_CREATE_INFO), .attachmentCount = attachment_count,
        .pAttachments = attachments,      .subpassCount = subpass_count,
        .pSubpasses = subpasses,          .dependencyCount = dependency_count,
        .pDependencies = dependencies};
}

/* A square. */
static inline VkFramebufferCreateInfo info_framebuffer(VkRenderPass pass, uint32_t count,
                                                       const VkImageView *views, uint32_t side)
{
    return (VkFramebufferCreateInfo){VK_TYPE(FRAMEBUFFER_CREATE_INFO),
                                     .renderPass = pass,
                                     .attachmentCount = count,
                                     .pAttachments = views,
                                     .width = side,
                                     .height = side,
                                     .layers = 1};
}

static inline VkRenderPassBeginInfo info_pass_begin(VkRenderPass pass, VkFramebuffer framebuffer,
                                                    uint32_t side, uint32_t clear_count,
                                                    const VkClearValue *clears)
{
    return (VkRenderPassBeginInfo){
        VK_TYPE(RENDER_PASS_BEGIN_INFO), .renderPass = pass,
        .framebuffer = framebuffer,      .renderArea = {.extent = {side, side}},
        .clearValueCount = clear_count,  .pClearValues = clears};
}

/* One descriptor; NULL for what isn't of its type. */
static inline VkWriteDescriptorSet info_write(VkDescriptorSet set, uint32_t binding,
                                              VkDescriptorType type,
                                              const VkDescriptorImageInfo *image,
                                              const VkDescriptorBufferInfo *buffer)
{
    return (VkWriteDescriptorSet){VK_TYPE(WRITE_DESCRIPTOR_SET), .dstSet = set,
                                  .dstBinding = binding,         .descriptorCount = 1,
                                  .descriptorType = type,        .pImageInfo = image,
                                  .pBufferInfo = buffer};
}

static inline VkCommandBufferBeginInfo info_begin(VkCommandBufferUsageFlags flags)
{
    return (VkCommandBufferBeginInfo){VK_TYPE(COMMAND_BUFFER_BEGIN_INFO), .flags = flags};
}

static inline VkMemoryBarrier info_barrier(VkAccessFlags before, VkAccessFlags after)
{
    return (VkMemoryBarrier){VK_TYPE(MEMORY_BARRIER), .srcAccessMask = before,
                             .dstAccessMask = after};
}

/* One command buffer. */
static inline VkSubmitInfo info_submit(const VkCommandBuffer *commands)
{
    return (VkSubmitInfo){VK_TYPE(SUBMIT_INFO), .commandBufferCount = 1,
                          .pCommandBuffers = commands};
}

#endif
