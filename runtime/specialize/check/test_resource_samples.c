/* SPDX-License-Identifier: MIT */
/* Reading the samples of multisampled test images, each for itself, by compute shaders. */
#include "specialize/check/test_resource_samples.h"

#include <string.h>

#include "gpu/gpu.h"
#include "gpu/made.h"
#include "shaders/samples.comp.h"
#include "shaders/samples_depth.comp.h"
#include "specialize/check/test_resource_sets.h"

#define GROUP 128 /* invocations, in both shaders */
#define TILES 8   /* both ways */

enum { READER_BITS, READER_DEPTH };

struct constants {
    uint32_t width, height, samples, count, parts;
};

/* ----------------------------------------------------------------------------------- Formats -- */

bool bf_samples_texel(VkFormat format, VkImageAspectFlagBits aspect, struct bf_texel *texel)
{
    if (!bf_texel_of(format, aspect, texel) || texel->kind == BF_TEXEL_BLOCK)
        return false;
    if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) {
        *texel = (struct bf_texel){.size = 4,
                                   .block_width = 1,
                                   .block_height = 1,
                                   .kind = BF_TEXEL_SFLOAT,
                                   .component_count = 1,
                                   .bits = {32}};
        return true;
    }
    if (aspect == VK_IMAGE_ASPECT_COLOR_BIT && !bf_samples_alias(format))
        return false;
    if (texel->size < 4) {
        texel->unused = 32 - 8 * texel->size;
        texel->size = 4;
    }
    return true;
}

VkFormat bf_samples_alias(VkFormat format)
{
    struct bf_texel texel;
    if (!bf_texel_of(format, VK_IMAGE_ASPECT_COLOR_BIT, &texel))
        return VK_FORMAT_UNDEFINED;
    switch (texel.size) {
    case 1:
        return VK_FORMAT_R8_UINT;
    case 2:
        return VK_FORMAT_R16_UINT;
    case 4:
        return VK_FORMAT_R32_UINT;
    case 8:
        return VK_FORMAT_R32G32_UINT;
    case 16:
        return VK_FORMAT_R32G32B32A32_UINT;
    default:
        return VK_FORMAT_UNDEFINED;
    }
}

VkResult bf_samples_can_read(const struct bf_test_place *place, VkFormat format,
                             VkSampleCountFlagBits samples)
{
    VkImageFormatProperties can;
    for (VkImageAspectFlags left = bf_format_aspects(format); left; left &= left - 1) {
        struct bf_texel texel;
        if (!bf_samples_texel(format, (VkImageAspectFlagBits)(left & ~(left - 1)), &texel))
            return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    if (bf_format_aspects(format) != VK_IMAGE_ASPECT_COLOR_BIT)
        return VK_SUCCESS; /* that it can be sampled at all is asked for by its usage */
    VkResult result =
        place->image_formats(place->physical, bf_samples_alias(format), VK_IMAGE_TYPE_2D,
                             VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_SAMPLED_BIT, 0, &can);
    return result == VK_SUCCESS && !(can.sampleCounts & samples) ? VK_ERROR_FORMAT_NOT_SUPPORTED
                                                                 : result;
}

/* ----------------------------------------------------------------------------------- Filling -- */

static VkResult build_target(const struct bf_test_resources *resources, struct bf_test_image *image)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_test_image_info *info = &image->info;
    bool color = image->aspects == VK_IMAGE_ASPECT_COLOR_BIT;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        .format = info->format,
        .subresourceRange = {image->aspects, 0, 1, 0, info->layers},
    };
    const VkAttachmentDescription attachment = {
        .format = info->format,
        .samples = info->samples,
        .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_GENERAL};
    const VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = color,
        .pColorAttachments = color ? &reference : NULL,
        .pDepthStencilAttachment = color ? NULL : &reference,
    };
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkPipelineStageFlags draws = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT;
    const VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    const VkSubpassDependency dependencies[] = {
        {VK_SUBPASS_EXTERNAL, 0, all, draws, any, any, 0},
        {0, VK_SUBPASS_EXTERNAL, draws, all, any, any, 0},
    };
    const VkRenderPassCreateInfo pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };
    struct bf_test_several *several = &image->several;
    VkResult result = BF_MADE(gpu->vk.vkCreateImageView(gpu->handle, &view, NULL, &several->target),
                              &several->target);
    if (result == VK_SUCCESS)
        result = BF_MADE(gpu->vk.vkCreateRenderPass(gpu->handle, &pass, NULL, &several->pass),
                         &several->pass);
    if (result != VK_SUCCESS)
        return result;
    const VkFramebufferCreateInfo framebuffer = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = several->pass,
        .attachmentCount = 1,
        .pAttachments = &several->target,
        .width = info->extent.width,
        .height = info->extent.height,
        .layers = info->layers,
    };
    return BF_MADE(
        gpu->vk.vkCreateFramebuffer(gpu->handle, &framebuffer, NULL, &several->framebuffer),
        &several->framebuffer);
}

/* The bits of the narrowest component that there is. */
static uint32_t narrowest(const struct bf_texel *texel)
{
    uint32_t bits = 32;
    for (uint32_t i = 0; i < texel->component_count; i++)
        bits = texel->bits[i] < bits ? texel->bits[i] : bits;
    return bits;
}

/* Of formats of floats, anything; of others what all of them can hold, or on half of the seeds any
 * that this one can. */
static VkClearColorValue make_color(const struct bf_test_image_info *info, uint64_t stream,
                                    const struct bf_inputs *inputs)
{
    struct bf_texel texel = {0},
                    whole = {.size = 16, .component_count = 4, .bits = {32, 32, 32, 32}};
    struct bf_inputs small = *inputs;
    VkClearColorValue color;
    bf_texel_of(info->format, VK_IMAGE_ASPECT_COLOR_BIT, &texel);
    const bool any = bf_test_resources_any(inputs, info);
    const bool integers = texel.kind == BF_TEXEL_UINT || texel.kind == BF_TEXEL_SINT;
    const uint32_t bits = any ? narrowest(&texel) - (texel.kind == BF_TEXEL_SINT) : 1;
    whole.kind = integers ? BF_TEXEL_UINT : BF_TEXEL_SFLOAT;
    if (texel.kind != BF_TEXEL_SFLOAT && !(integers && any))
        small.style = BF_INPUTS_SMALL;
    bf_inputs_texels(&small, stream, &whole, &color, sizeof(color));
    for (uint32_t i = 0; i < 4; i++) {
        if (integers)
            color.uint32[i] &= UINT32_MAX >> (32 - bits); /* even A2 signed has 0 and 1 */
        else if (any && texel.kind != BF_TEXEL_SFLOAT)
            color.float32[i] =
                bf_test_resources_unit(inputs, stream | (uint64_t)(i + 1) << 40, any);
        if (texel.kind == BF_TEXEL_SNORM && any && !inputs->timid)
            color.float32[i] = 2.0f * color.float32[i] - 1.0f;
    }
    return color;
}

static VkClearDepthStencilValue make_depth(const struct bf_test_image_info *info, uint64_t stream,
                                           const struct bf_inputs *inputs)
{
    const struct bf_texel bytes = {
        .size = 4, .kind = BF_TEXEL_UINT, .component_count = 1, .bits = {8}};
    struct bf_inputs small = *inputs;
    VkClearDepthStencilValue value;
    small.style = BF_INPUTS_SMALL;
    value.depth = bf_test_resources_unit(inputs, stream, bf_test_resources_any(inputs, info));
    bf_inputs_texels(&small, stream + 1, &bytes, &value.stencil, 4);
    return value;
}

void bf_samples_record_fill(const struct bf_test_resources *resources, VkCommandBuffer commands,
                            uint32_t index, const struct bf_inputs *inputs)
{
    const struct VolkDeviceTable *vk = &resources->place->gpu->vk;
    const struct bf_test_image *image = &resources->images[index];
    const VkExtent3D extent = image->info.extent;
    const uint32_t width = (extent.width + TILES - 1) / TILES,
                   height = (extent.height + TILES - 1) / TILES;
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = image->several.pass,
        .framebuffer = image->several.framebuffer,
        .renderArea = {.extent = {extent.width, extent.height}},
    };
    vk->vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    for (uint32_t y = 0; y < extent.height; y += height) {
        for (uint32_t x = 0; x < extent.width; x += width) {
            uint64_t stream =
                UINT64_C(3) << 32 | (uint64_t)index << 16 | (y / height * TILES + x / width) * 2;
            VkClearAttachment clear = {.aspectMask = image->aspects};
            if (image->aspects == VK_IMAGE_ASPECT_COLOR_BIT)
                clear.clearValue.color = make_color(&image->info, stream, inputs);
            else
                clear.clearValue.depthStencil = make_depth(&image->info, stream, inputs);
            const VkClearRect rect = {
                .rect = {{(int32_t)x, (int32_t)y},
                         {extent.width - x < width ? extent.width - x : width,
                          extent.height - y < height ? extent.height - y : height}},
                .layerCount = image->info.layers,
            };
            vk->vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
        }
    }
    vk->vkCmdEndRenderPass(commands);
}

/* ----------------------------------------------------------------------------------- Reading -- */

static VkResult build_reader(struct bf_test_resources *resources, const uint32_t *words,
                             size_t size, VkPipeline *pipeline)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    VkResult result =
        BF_MADE(gpu->vk.vkCreateShaderModule(gpu->handle, &code, NULL, &module), &module);
    if (result != VK_SUCCESS)
        return result;
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = resources->reader_layout,
    };
    result =
        gpu->vk.vkCreateComputePipelines(gpu->handle, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    if (result != VK_SUCCESS)
        *pipeline = VK_NULL_HANDLE;
    gpu->vk.vkDestroyShaderModule(gpu->handle, module, NULL);
    return result;
}

static VkResult build_readers(struct bf_test_resources *resources, uint32_t set_count)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings,
    };
    VkResult result = BF_MADE(
        gpu->vk.vkCreateDescriptorSetLayout(gpu->handle, &sets, NULL, &resources->reader_sets),
        &resources->reader_sets);
    if (result != VK_SUCCESS)
        return result;
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct constants)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &resources->reader_sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    result = BF_MADE(
        gpu->vk.vkCreatePipelineLayout(gpu->handle, &layout, NULL, &resources->reader_layout),
        &resources->reader_layout);
    if (result != VK_SUCCESS)
        return result;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, set_count},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, set_count}};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = set_count,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    result =
        BF_MADE(gpu->vk.vkCreateDescriptorPool(gpu->handle, &pool, NULL, &resources->reader_pool),
                &resources->reader_pool);
    if (result == VK_SUCCESS)
        result = build_reader(resources, samples_comp, sizeof(samples_comp),
                              &resources->readers[READER_BITS]);
    return result == VK_SUCCESS
               ? build_reader(resources, samples_depth_comp, sizeof(samples_depth_comp),
                              &resources->readers[READER_DEPTH])
               : result;
}

/* A set that reads one aspect of the image to where the region lies in 'result'. */
static VkResult build_set(struct bf_test_resources *resources, struct bf_test_image *image,
                          const VkBufferImageCopy *region, VkDeviceSize size)
{
    struct bf_gpu *gpu = resources->place->gpu;
    struct bf_test_several *several = &image->several;
    const uint32_t k = several->aspect_count;
    const VkImageAspectFlags aspect = region->imageSubresource.aspectMask;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        .format = aspect == VK_IMAGE_ASPECT_COLOR_BIT ? bf_samples_alias(image->info.format)
                                                      : image->info.format,
        .subresourceRange = {aspect, 0, 1, 0, image->info.layers},
    };
    VkResult result =
        BF_MADE(gpu->vk.vkCreateImageView(gpu->handle, &view, NULL, &several->views[k]),
                &several->views[k]);
    if (result != VK_SUCCESS)
        return result;
    several->aspect_count++;
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = resources->reader_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &resources->reader_sets,
    };
    result = gpu->vk.vkAllocateDescriptorSets(gpu->handle, &info, &several->sets[k]);
    if (result != VK_SUCCESS)
        return result;
    const VkDescriptorImageInfo from = {
        .imageView = several->views[k],
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    const VkDescriptorBufferInfo to = {resources->result.handle, region->bufferOffset, size};
    const VkWriteDescriptorSet writes[] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = several->sets[k],
         .dstBinding = 0,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
         .pImageInfo = &from},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = several->sets[k],
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .pBufferInfo = &to},
    };
    gpu->vk.vkUpdateDescriptorSets(gpu->handle, 2, writes, 0, NULL);
    return VK_SUCCESS;
}

VkResult bf_samples_build(struct bf_test_resources *resources)
{
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < resources->image_count && result == VK_SUCCESS; i++) {
        if (resources->images[i].info.samples != VK_SAMPLE_COUNT_1_BIT)
            result = build_target(resources, &resources->images[i]);
    }
    if (result != VK_SUCCESS || !resources->several)
        return result;
    result = build_readers(resources, 2 * resources->image_count);
    for (uint32_t i = 0; i < resources->image_count && result == VK_SUCCESS; i++) {
        struct bf_test_image *image = &resources->images[i];
        if (image->info.samples == VK_SAMPLE_COUNT_1_BIT)
            continue;
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        for (uint32_t k = 0; k < count && result == VK_SUCCESS; k++)
            result = build_set(resources, image, &regions[k], sizes[k]);
    }
    return result;
}

void bf_samples_finish(struct bf_test_resources *resources)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct VolkDeviceTable *vk = &gpu->vk;
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_several *several = &resources->images[i].several;
        if (several->framebuffer)
            vk->vkDestroyFramebuffer(gpu->handle, several->framebuffer, NULL);
        if (several->pass)
            vk->vkDestroyRenderPass(gpu->handle, several->pass, NULL);
        if (several->target)
            vk->vkDestroyImageView(gpu->handle, several->target, NULL);
        for (uint32_t k = 0; k < several->aspect_count; k++)
            vk->vkDestroyImageView(gpu->handle, several->views[k], NULL);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (resources->readers[i])
            vk->vkDestroyPipeline(gpu->handle, resources->readers[i], NULL);
    }
    if (resources->reader_pool)
        vk->vkDestroyDescriptorPool(gpu->handle, resources->reader_pool, NULL);
    if (resources->reader_layout)
        vk->vkDestroyPipelineLayout(gpu->handle, resources->reader_layout, NULL);
    if (resources->reader_sets)
        vk->vkDestroyDescriptorSetLayout(gpu->handle, resources->reader_sets, NULL);
}

void bf_samples_record_read(const struct bf_test_resources *resources, VkCommandBuffer commands,
                            const struct bf_test_image *image)
{
    const struct VolkDeviceTable *vk = &resources->place->gpu->vk;
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
    for (uint32_t k = 0; k < count; k++) {
        const struct constants constants = {
            .width = image->info.extent.width,
            .height = image->info.extent.height,
            .samples = (uint32_t)image->info.samples,
            .count = (uint32_t)(sizes[k] / texels[k].size),
            .parts = texels[k].size / 4,
        };
        bool depth = regions[k].imageSubresource.aspectMask == VK_IMAGE_ASPECT_DEPTH_BIT;
        vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                              resources->readers[depth ? READER_DEPTH : READER_BITS]);
        vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                    resources->reader_layout, 0, 1, &image->several.sets[k], 0,
                                    NULL);
        vk->vkCmdPushConstants(commands, resources->reader_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               sizeof(constants), &constants);
        vk->vkCmdDispatch(commands, (constants.count + GROUP - 1) / GROUP, 1, 1);
    }
}
