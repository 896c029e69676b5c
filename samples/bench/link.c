/* SPDX-License-Identifier: MIT */
/*
 * Parts of `record`: what the setting 'specialize' adds to the linking of pipelines from libraries.
 * Both sides run under the layer, with the setting off and on, and take turns with each link.
 */
#include "link.h"

#include <stdlib.h>

#include "side.h"

#include "shaders/link.vert.h"
#include "shaders/link_plain.frag.h"
#include "shaders/link_watched.frag.h"

#define REPETITIONS 20u
#define TURNS       100u /* links of a side in a repetition */
#define FORMAT      VK_FORMAT_R8G8B8A8_UNORM

enum { VERTICES, FRAGMENTS, OUTPUT, LIBRARIES };

struct linker {
    struct side side;
    VkPipelineLayout layout;
    VkPipeline libraries[LIBRARIES];
};

/* A library of these parts; `info` has what belongs to them. */
static bool library_make(struct linker *l, int which, VkGraphicsPipelineLibraryFlagsEXT parts,
                         VkGraphicsPipelineCreateInfo *info, struct bench_found *found)
{
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &(VkFormat){FORMAT},
    };
    const VkGraphicsPipelineLibraryCreateInfoEXT library = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .pNext = &rendering,
        .flags = parts,
    };
    info->sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
    info->pNext = &library;
    info->flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    info->layout = l->layout;
    info->basePipelineIndex = -1;
    return bench_worked(l->side.vk.vkCreateGraphicsPipelines(l->side.device, VK_NULL_HANDLE, 1,
                                                             info, NULL, &l->libraries[which]),
                        "a pipeline library", found);
}

static bool stage_make(struct linker *l, VkShaderStageFlagBits stage, const uint32_t *words,
                       size_t size, VkPipelineShaderStageCreateInfo *info,
                       struct bench_found *found)
{
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    *info = (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .pName = "main"};
    return bench_worked(l->side.vk.vkCreateShaderModule(l->side.device, &code, NULL, &info->module),
                        "vkCreateShaderModule", found);
}

/* Those of the fragment shader: everything else has no push constants. */
static bool libraries_make(struct linker *l, const uint32_t *words, size_t size,
                           struct bench_found *found)
{
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, 64, 64, 0, 1};
    const VkRect2D scissor = {.extent = {64, 64}};
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 15};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment};
    VkPipelineShaderStageCreateInfo stages[2] = {0};
    bool made =
        stage_make(l, VK_SHADER_STAGE_VERTEX_BIT, link_vert, sizeof link_vert, &stages[0], found) &&
        stage_make(l, VK_SHADER_STAGE_FRAGMENT_BIT, words, size, &stages[1], found) &&
        library_make(l, VERTICES,
                     VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |
                         VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT,
                     &(VkGraphicsPipelineCreateInfo){.stageCount = 1,
                                                     .pStages = &stages[0],
                                                     .pVertexInputState = &vertices,
                                                     .pInputAssemblyState = &assembly,
                                                     .pViewportState = &viewports,
                                                     .pRasterizationState = &raster},
                     found) &&
        library_make(l, FRAGMENTS, VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT,
                     &(VkGraphicsPipelineCreateInfo){.stageCount = 1,
                                                     .pStages = &stages[1],
                                                     .pMultisampleState = &samples,
                                                     .pDepthStencilState = &depth},
                     found) &&
        library_make(l, OUTPUT, VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT,
                     &(VkGraphicsPipelineCreateInfo){.pMultisampleState = &samples,
                                                     .pColorBlendState = &blend},
                     found);
    for (int i = 0; i < 2; ++i)
        l->side.vk.vkDestroyShaderModule(l->side.device, stages[i].module, NULL);
    return made;
}

static bool linker_open(struct linker *l, const char *specialize,
                        const struct bench_options *options, const uint32_t *words, size_t size,
                        struct bench_found *found)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", specialize, 1);
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &(VkPushConstantRange){VK_SHADER_STAGE_FRAGMENT_BIT, 0, 8},
    };
    return side_open_linking(&l->side, BENCH_BELFRY, options->gpu, found) &&
           bench_worked(
               l->side.vk.vkCreatePipelineLayout(l->side.device, &layout, NULL, &l->layout),
               "vkCreatePipelineLayout", found) &&
           libraries_make(l, words, size, found);
}

/* Accepts a zeroed one. */
static void linker_close(struct linker *l)
{
    for (int i = 0; l->side.device && i < LIBRARIES; ++i)
        l->side.vk.vkDestroyPipeline(l->side.device, l->libraries[i], NULL);
    if (l->side.device)
        l->side.vk.vkDestroyPipelineLayout(l->side.device, l->layout, NULL);
    side_close(&l->side);
}

static bool link_one(struct linker *l, double *microseconds, struct bench_found *found)
{
    const VkPipelineLibraryCreateInfoKHR libraries = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .libraryCount = LIBRARIES,
        .pLibraries = l->libraries,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &libraries,
        .layout = l->layout,
        .basePipelineIndex = -1,
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    const uint64_t begin = bench_now();
    bool linked = bench_worked(l->side.vk.vkCreateGraphicsPipelines(l->side.device, VK_NULL_HANDLE,
                                                                    1, &info, NULL, &pipeline),
                               "linking", found);
    *microseconds = (double)(bench_now() - begin) / 1000;
    l->side.vk.vkDestroyPipeline(l->side.device, pipeline, NULL);
    return linked;
}

static void links_compare(const struct bench_options *options, const uint32_t *words, size_t size,
                          struct bench_found *found)
{
    struct linker linkers[2] = {0};
    static double samples[2][TURNS];
    bool done = linker_open(&linkers[0], "off", options, words, size, found) &&
                linker_open(&linkers[1], "exact", options, words, size, found);
    for (uint32_t repetition = 0; done && repetition <= REPETITIONS; ++repetition) {
        for (uint32_t turn = 0; done && turn < 2 * TURNS; ++turn) {
            const uint32_t which = (turn + turn / 2) % 2;
            done = link_one(&linkers[which], &samples[which][turn / 2], found);
        }
        if (!repetition || !done)
            continue; /* the first fills caches */
        found->plain[repetition - 1] = bench_spread(samples[0], TURNS).median;
        found->belfry[repetition - 1] = bench_spread(samples[1], TURNS).median;
        found->count = repetition;
    }
    linker_close(&linkers[1]);
    linker_close(&linkers[0]);
}

void link_plain(const struct bench_options *options, enum bench_side side,
                struct bench_found *found)
{
    (void)side;
    links_compare(options, link_plain_frag, sizeof link_plain_frag, found);
}

void link_watched(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found)
{
    (void)side;
    links_compare(options, link_watched_frag, sizeof link_watched_frag, found);
}
