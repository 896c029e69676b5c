/* SPDX-License-Identifier: MIT */
/* Splits the graphics pipeline of a request into the libraries that the program linked it from. */
#include "specialize/isolate/helper_link.h"

#include <stdlib.h>

#include "gpu/made.h"

#define VERTICES VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT
#define RASTER   VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
#define FRAGMENT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT
#define OUTPUT   VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT

/* The sets are the pipeline's own: what is to be defined identically is the same. */
static VkResult link_layout(const struct bf_gpu *gpu, const struct bf_wire_build *build,
                            const struct helper_pipeline *p, const struct bf_build_link *link,
                            VkPipelineLayout *layout)
{
    VkDescriptorSetLayout sets[BF_CHECK_SETS] = {VK_NULL_HANDLE};
    VkPipelineLayoutCreateInfo info = build->layout;
    for (uint32_t i = 0; i < link->set_count; i++) {
        if (link->sets & 1u << i)
            sets[i] = p->sets[i];
    }
    info.flags = link->layout_flags;
    info.setLayoutCount = link->set_count;
    info.pSetLayouts = sets;
    return BF_MADE(gpu->vk.vkCreatePipelineLayout(gpu->handle, &info, NULL, layout), layout);
}

/* Of the whole pipeline's state what belongs to the link's parts. The stages are put into an array
 * that has room for all. */
static void link_parts(const struct bf_wire_build *build, const struct bf_build_link *link,
                       VkPipelineRenderingCreateInfo *rendering,
                       VkPipelineShaderStageCreateInfo *stages, VkGraphicsPipelineCreateInfo *info)
{
    const VkGraphicsPipelineCreateInfo *whole = &build->graphics;
    if (link->parts & VERTICES) {
        info->pVertexInputState = whole->pVertexInputState;
        info->pInputAssemblyState = whole->pInputAssemblyState;
    }
    if (link->parts & RASTER) {
        info->pTessellationState = whole->pTessellationState;
        info->pViewportState = whole->pViewportState;
        info->pRasterizationState = whole->pRasterizationState;
    }
    if (link->parts & FRAGMENT)
        info->pDepthStencilState = whole->pDepthStencilState;
    if (link->parts & OUTPUT)
        info->pColorBlendState = whole->pColorBlendState;
    if (link->parts & OUTPUT || (link->parts & FRAGMENT && link->samples))
        info->pMultisampleState = whole->pMultisampleState;
    if (link->parts)
        info->pDynamicState = whole->pDynamicState;
    for (uint32_t i = 0; i < whole->stageCount; i++) {
        const bool fragment = build->stages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT;
        if (link->parts & (fragment ? FRAGMENT : RASTER))
            stages[info->stageCount++] = build->stages[i];
    }
    info->pStages = stages;
    if (!(link->parts & (RASTER | FRAGMENT | OUTPUT)))
        return;
    info->renderPass = whole->renderPass;
    info->subpass = whole->subpass;
    if (!whole->pNext)
        return;
    *rendering = *(const VkPipelineRenderingCreateInfo *)whole->pNext;
    if (!(link->parts & OUTPUT)) /* it has the views alone */
        *rendering = (VkPipelineRenderingCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
            .viewMask = rendering->viewMask,
        };
    rendering->pNext = info->pNext;
    info->pNext = rendering;
}

static VkResult link_make(const struct bf_gpu *gpu, const struct bf_wire_build *build,
                          const struct helper_pipeline *p, const struct bf_build_link *link,
                          VkPipelineLayout layout, VkPipeline *pipeline)
{
    VkPipeline from[BF_BUILD_LINKS];
    VkPipelineShaderStageCreateInfo *stages =
        calloc(build->graphics.stageCount + 1, sizeof(*stages));
    VkPipelineRenderingCreateInfo rendering;
    VkGraphicsPipelineLibraryCreateInfoEXT parts = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .flags = link->parts,
    };
    VkPipelineLibraryCreateInfoKHR libraries = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .pLibraries = from,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .flags = link->flags,
        .layout = layout,
        .basePipelineIndex = -1,
    };
    if (!stages)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < p->library_count; i++) {
        if (link->from & 1u << i)
            from[libraries.libraryCount++] = p->libraries[i];
    }
    if (libraries.libraryCount) {
        info.pNext = &libraries;
        parts.pNext = &libraries;
    }
    if (link->parts)
        info.pNext = &parts;
    link_parts(build, link, &rendering, stages, &info);
    VkResult result =
        gpu->vk.vkCreateGraphicsPipelines(gpu->handle, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    free(stages);
    return result;
}

VkResult helper_pipeline_link(const struct bf_gpu *gpu, const struct bf_wire_build *build,
                              struct helper_pipeline *p)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i + 1 < build->link_count; i++) {
        const struct bf_build_link *link = &build->links[i];
        if (link->has_layout)
            result = link_layout(gpu, build, p, link, &p->layouts[i]);
        if (result == VK_SUCCESS)
            result = link_make(gpu, build, p, link, p->layouts[i], &p->libraries[i]);
        p->library_count = i + 1;
    }
    if (result == VK_SUCCESS)
        result =
            link_make(gpu, build, p, &build->links[build->link_count - 1], p->layout, &p->handle);
    return result;
}

void helper_pipeline_unlink(const struct bf_gpu *gpu, struct helper_pipeline *p)
{
    for (uint32_t i = 0; i < p->library_count; i++) {
        gpu->vk.vkDestroyPipeline(gpu->handle, p->libraries[i], NULL);
        gpu->vk.vkDestroyPipelineLayout(gpu->handle, p->layouts[i], NULL);
    }
    p->library_count = 0;
}
