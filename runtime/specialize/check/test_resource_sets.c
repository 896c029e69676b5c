/* SPDX-License-Identifier: MIT */
/* Descriptor sets with a check's test resources: layouts, pools, views and writes. */
#include "specialize/check/test_resource_sets.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/made.h"
#include "specialize/check/test_descriptor_buffer.h"

#define MOST_DESCRIPTORS 1024 /* of a binding that is used */
#define COPIES           4    /* different resources in an array of descriptors */
#define BUFFER_SIZE      65536
#define UNIFORM_SIZE     16384                /* any device allows as much */
#define TEXEL_BUFFER     4096                 /* elements */
#define MOST_SEEN        (UINT64_C(1) << 20)  /* of a buffer seen, where accesses are robust */
#define MOST_EXACT       (UINT64_C(16) << 20) /* where they aren't */

/* ---------------------------------------------------------------------------------- Planning -- */

static VkFormat image_format(const struct bf_check_binding *binding, bool storage)
{
    if (binding->format != VK_FORMAT_UNDEFINED)
        return binding->format;
    if (storage)
        return binding->number == BF_TEXEL_UINT   ? VK_FORMAT_R32_UINT
               : binding->number == BF_TEXEL_SINT ? VK_FORMAT_R32_SINT
                                                  : VK_FORMAT_R16G16B16A16_SFLOAT;
    if (binding->depth)
        return VK_FORMAT_D16_UNORM;
    return binding->number == BF_TEXEL_UINT   ? VK_FORMAT_R8G8B8A8_UINT
           : binding->number == BF_TEXEL_SINT ? VK_FORMAT_R8G8B8A8_SINT
                                              : VK_FORMAT_R8G8B8A8_UNORM;
}

/* Of an image that is only read, where its size is not left to the runs. */
static VkExtent3D read_extent(const struct bf_test_resources *resources, VkImageViewType view)
{
    const uint32_t *extent = resources->sizes.read;
    switch (view) {
    case VK_IMAGE_VIEW_TYPE_1D:
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
        return (VkExtent3D){extent[0], extent[0] ? 1 : 0, extent[0] ? 1 : 0};
    case VK_IMAGE_VIEW_TYPE_3D:
        return (VkExtent3D){extent[0] < 256 ? extent[0] : 255, extent[1] < 256 ? extent[1] : 255,
                            extent[2]};
    case VK_IMAGE_VIEW_TYPE_CUBE:
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY: { /* square */
        const uint32_t side = extent[0] < extent[1] ? extent[0] : extent[1];
        return (VkExtent3D){side, side, side ? 1 : 0};
    }
    default:
        return (VkExtent3D){extent[0], extent[1], extent[0] ? 1 : 0};
    }
}

/* Can hold numbers of all classes. */
static VkFormat other_format(const struct bf_check_binding *binding)
{
    return binding->number == BF_TEXEL_UINT   ? VK_FORMAT_R32G32B32A32_UINT
           : binding->number == BF_TEXEL_SINT ? VK_FORMAT_R32G32B32A32_SINT
                                              : VK_FORMAT_R32G32B32A32_SFLOAT;
}

static VkResult plan_image(struct bf_test_resources *resources,
                           const struct bf_check_binding *binding, uint32_t *index)
{
    bool storage = binding->type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    const uint32_t classes = resources->others ? binding->classes : 0;
    VkFormat format = classes ? other_format(binding) : image_format(binding, storage);
    struct bf_texel texel;
    bool blocks =
        bf_texel_of(format, VK_IMAGE_ASPECT_COLOR_BIT, &texel) && texel.kind == BF_TEXEL_BLOCK;
    bool several = binding->samples > VK_SAMPLE_COUNT_1_BIT;
    bool single = storage || several || blocks || binding->view == VK_IMAGE_VIEW_TYPE_1D ||
                  (binding->sampler && binding->sampler->unnormalizedCoordinates);
    const struct bf_test_image_info info = {
        .format = format,
        .view = binding->view,
        .components = storage ? (VkComponentMapping){0} : binding->components,
        .stencil = binding->number == BF_TEXEL_UINT,
        .classes = classes,
        .usage = storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT,
        .samples = binding->samples,
        .levels = single                    ? 1
                  : resources->sizes.levels ? resources->sizes.levels
                                            : 3,
        .extent = storage ? (VkExtent3D){0} : read_extent(resources, binding->view),
        .written = storage && binding->written,
    };
    return bf_test_resources_add_image(resources, &info, index);
}

static VkResult plan_texels(struct bf_test_resources *resources,
                            const struct bf_check_binding *binding, uint32_t *index)
{
    const uint32_t classes = resources->others ? binding->classes : 0;
    VkFormat format = classes                                  ? other_format(binding)
                      : binding->format != VK_FORMAT_UNDEFINED ? binding->format
                      : binding->number == BF_TEXEL_UINT       ? VK_FORMAT_R32G32B32A32_UINT
                      : binding->number == BF_TEXEL_SINT       ? VK_FORMAT_R32G32B32A32_SINT
                                                               : VK_FORMAT_R32G32B32A32_SFLOAT;
    struct bf_test_buffer buffer = {.texels = true, .format = format, .classes = classes};
    VkFormatProperties can;
    resources->place->formats(resources->place->physical, format, &can);
    VkFormatFeatureFlags needed = binding->type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
                                      ? VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT
                                      : VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT;
    if (!bf_texel_of(format, VK_IMAGE_ASPECT_COLOR_BIT, &buffer.texel) ||
        !(can.bufferFeatures & needed))
        return bf_test_resources_refuse(resources, "a texel buffer's format is not known here");
    buffer.range = (VkDeviceSize)buffer.texel.size *
                   (resources->sizes.texels ? resources->sizes.texels : TEXEL_BUFFER);
    buffer.size = buffer.range;
    return bf_test_resources_add_buffer(resources, &buffer, index);
}

/* Of a buffer with an open array, which has other lengths then [CK-16]; 0: the usual one. */
static VkDeviceSize other_range(const struct bf_test_resources *resources,
                                const struct bf_check_binding *binding, VkDeviceSize size)
{
    const struct bf_test_sizes *sizes = &resources->sizes;
    const VkDeviceSize usual = (size - binding->block_size) / binding->array_stride;
    if (!sizes->times)
        return 0;
    VkDeviceSize count = usual * sizes->times + sizes->more;
    if (sizes->even)
        count = bf_test_resources_even(count);
    else
        count |= 1;
    return (binding->block_size + count * binding->array_stride + 3) / 4 * 4;
}

static VkResult plan_buffer(struct bf_test_resources *resources,
                            const struct bf_check_binding *binding, bool storage, uint32_t *index)
{
    const bool robust = resources->place->robust;
    const bool open = binding->array_stride != 0;
    VkDeviceSize size = storage ? BUFFER_SIZE : UNIFORM_SIZE;
    if (binding->size && binding->size <= (robust ? MOST_SEEN : MOST_EXACT))
        size = binding->size;
    else if (open && !robust)
        return bf_test_resources_refuse(resources, "a buffer's size is not known, or too large");
    VkDeviceSize least =
        (VkDeviceSize)binding->block_size + 4 * (VkDeviceSize)binding->array_stride;
    if (size < least)
        size = least;
    if (open && (size - binding->block_size) / binding->array_stride < resources->least_elements)
        resources->least_elements =
            (uint32_t)((size - binding->block_size) / binding->array_stride);
    const VkDeviceSize range = open && robust ? other_range(resources, binding, size) : 0;
    const struct bf_test_buffer buffer = {
        .size = range ? range : size,
        .range = range,
        .kinds = binding->kinds,
        .kind_count = binding->kind_count,
        .period = binding->period,
    };
    return bf_test_resources_add_buffer(resources, &buffer, index);
}

/* The attachments are there; those of the descriptors must be among them. */
static VkResult plan_inputs(struct bf_test_resources *resources,
                            const struct bf_check_binding *binding, uint32_t *index)
{
    if (binding->input_index >= resources->input_count ||
        binding->count > resources->input_count - binding->input_index)
        return bf_test_resources_refuse(resources, "it reads input attachments that are not there");
    for (uint32_t i = 0; i < binding->count; i++) {
        if (resources->inputs[binding->input_index + i] == UINT32_MAX)
            return bf_test_resources_refuse(resources,
                                            "it reads input attachments that are not used");
    }
    *index = 0;
    return VK_SUCCESS;
}

static VkResult plan_copy(struct bf_test_resources *resources,
                          const struct bf_check_binding *binding, uint32_t *index)
{
    switch (binding->type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
        *index = 0;
        return VK_SUCCESS;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        return plan_image(resources, binding, index);
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        return plan_texels(resources, binding, index);
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
        return plan_buffer(resources, binding, false, index);
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        return plan_buffer(resources, binding, true, index);
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        return plan_inputs(resources, binding, index);
    default:
        return bf_test_resources_refuse(resources, "it uses descriptors that are not known here");
    }
}

static bool is_block(const struct bf_check_binding *binding)
{
    return binding->type == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
}

static VkResult test_binding_plan(struct bf_test_resources *resources, uint32_t set,
                                  const struct bf_check_binding *binding)
{
    if (!binding->used || binding->count == 0)
        return VK_SUCCESS;
    uint32_t count = is_block(binding) ? 1 : binding->count;
    if (count > MOST_DESCRIPTORS)
        return bf_test_resources_refuse(resources, "it uses very large arrays of descriptors");
    if (count > 1 && count < resources->least_count)
        resources->least_count = count;
    if (!bf_test_resources_grow(&resources->writes, resources->write_count,
                                &resources->write_capacity, sizeof(resources->writes[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_test_write write = {
        .set = set, .binding = binding, .copies = count < COPIES ? count : COPIES};
    for (uint32_t i = 0; i < write.copies; i++) {
        uint32_t index;
        VkResult result = plan_copy(resources, binding, &index);
        if (result != VK_SUCCESS)
            return result;
        if (i == 0)
            write.first = index;
    }
    resources->writes[resources->write_count++] = write;
    return VK_SUCCESS;
}

VkResult bf_test_resources_add_layout(struct bf_test_resources *resources,
                                      const struct bf_check_layout *layout)
{
    VkResult result = VK_SUCCESS;
    if (layout->set_count > BF_TEST_SETS)
        return bf_test_resources_refuse(resources, "it has very many sets");
    resources->layout = layout;
    if (bf_test_descriptor_buffer_wanted(layout))
        result = bf_test_descriptor_buffer_plan(resources, layout);
    for (uint32_t i = 0; i < layout->set_count && result == VK_SUCCESS; i++) {
        const struct bf_check_set *set = &layout->sets[i];
        const VkDescriptorSetLayoutCreateFlags known =
            VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT |
            VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
        if (!resources->described && set->flags & ~known)
            return bf_test_resources_refuse(resources, "a set is of a kind that is not known here");
        if ((set->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR) &&
            !resources->place->gpu->vk.vkCmdPushDescriptorSetKHR)
            return bf_test_resources_refuse(resources, "no descriptors can be pushed");
        for (uint32_t k = 0; k < set->binding_count && result == VK_SUCCESS; k++)
            result = test_binding_plan(resources, i, &set->bindings[k]);
    }
    return result;
}

/* --------------------------------------------------------------------------- Views, samplers -- */

static bool filters(const struct bf_test_resources *resources, VkFormat format)
{
    VkFormatProperties can;
    resources->place->formats(resources->place->physical, format, &can);
    return can.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
}

/* Can all images that are sampled be filtered? For samplers that stand alone. */
static bool all_filter(const struct bf_test_resources *resources)
{
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image_info *info = &resources->images[i].info;
        if ((info->usage & VK_IMAGE_USAGE_SAMPLED_BIT) && !filters(resources, info->format))
            return false;
    }
    return true;
}

static VkResult make_sampler(struct bf_test_resources *resources,
                             const struct bf_check_binding *binding, bool linear,
                             VkSampler *sampler)
{
    struct bf_gpu *gpu = resources->place->gpu;
    VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_LINEAR,
        .minFilter = VK_FILTER_LINEAR,
        .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_REPEAT,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_REPEAT,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT,
        .compareEnable = binding->depth,
        .compareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
        .maxLod = VK_LOD_CLAMP_NONE,
    };
    if (binding->sampler) {
        info = *binding->sampler;
        info.pNext = NULL;
        info.flags = 0;
        if (info.borderColor > VK_BORDER_COLOR_INT_OPAQUE_WHITE)
            info.borderColor = VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
    }
    if (!linear) {
        info.magFilter = info.minFilter = VK_FILTER_NEAREST;
        info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
        info.anisotropyEnable = VK_FALSE;
    }
    if (!bf_test_resources_grow(&resources->samplers, resources->sampler_count,
                                &resources->sampler_capacity, sizeof(resources->samplers[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = BF_MADE(gpu->vk.vkCreateSampler(gpu->handle, &info, NULL, sampler), sampler);
    if (result == VK_SUCCESS)
        resources->samplers[resources->sampler_count++] = *sampler;
    return result;
}

static VkResult make_view(struct bf_test_resources *resources, uint32_t index, VkBufferView *view)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_test_buffer *buffer = &resources->buffers[index];
    const VkBufferViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = resources->arena,
        .format = buffer->format,
        .offset = buffer->offset,
        .range = buffer->range,
    };
    if (!bf_test_resources_grow(&resources->views, resources->view_count, &resources->view_capacity,
                                sizeof(resources->views[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = BF_MADE(gpu->vk.vkCreateBufferView(gpu->handle, &info, NULL, view), view);
    if (result == VK_SUCCESS)
        resources->views[resources->view_count++] = *view;
    return result;
}

/* ------------------------------------------------------------------------------- Descriptors -- */

static VkResult write_images(struct bf_test_resources *resources, struct bf_test_write *write)
{
    const struct bf_check_binding *binding = write->binding;
    VkDescriptorImageInfo *infos = write->infos;
    VkSampler sampler = VK_NULL_HANDLE;
    bool alone = binding->type == VK_DESCRIPTOR_TYPE_SAMPLER;
    if ((alone || binding->type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER) &&
        !binding->immutable_samplers) {
        bool linear = alone ? all_filter(resources)
                            : filters(resources, resources->images[write->first].info.format);
        VkResult result = make_sampler(resources, binding, linear, &sampler);
        if (result != VK_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < binding->count; i++) {
        infos[i].sampler = sampler;
        if (alone)
            continue;
        infos[i].imageView = resources->images[write->first + i % write->copies].view;
        infos[i].imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    write->write.pImageInfo = infos;
    return VK_SUCCESS;
}

/* Descriptors are of one aspect, attachments of all. */
static VkResult find_part(struct bf_test_resources *resources, struct bf_test_image *image,
                          bool stencil, VkImageView *view)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = image->info.view,
        .format = image->info.format,
        .subresourceRange = {stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT, 0,
                             1, 0, image->info.layers},
    };
    VkResult result = VK_SUCCESS;
    *view = image->view;
    if (!(image->aspects & (image->aspects - 1)))
        return result;
    if (!image->parts[stencil])
        result =
            BF_MADE(gpu->vk.vkCreateImageView(gpu->handle, &info, NULL, &image->parts[stencil]),
                    &image->parts[stencil]);
    *view = image->parts[stencil];
    return result;
}

static VkResult write_inputs(struct bf_test_resources *resources, struct bf_test_write *write)
{
    const struct bf_check_binding *binding = write->binding;
    VkDescriptorImageInfo *infos = write->infos;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < binding->count && result == VK_SUCCESS; i++) {
        struct bf_test_image *image =
            &resources->images[resources->inputs[binding->input_index + i]];
        infos[i].imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        result = find_part(resources, image, binding->number == BF_TEXEL_UINT, &infos[i].imageView);
    }
    write->write.pImageInfo = infos;
    return result;
}

static VkResult write_texels(struct bf_test_resources *resources, struct bf_test_write *write)
{
    VkBufferView *views = write->infos;
    for (uint32_t i = 0; i < write->binding->count; i++) {
        VkResult result = VK_SUCCESS;
        if (i < write->copies)
            result = make_view(resources, write->first + i, &views[i]);
        else
            views[i] = views[i % write->copies];
        if (result != VK_SUCCESS)
            return result;
    }
    write->write.pTexelBufferView = views;
    return VK_SUCCESS;
}

static void write_buffers(struct bf_test_resources *resources, struct bf_test_write *write)
{
    VkDescriptorBufferInfo *infos = write->infos;
    for (uint32_t i = 0; i < write->binding->count; i++) {
        const struct bf_test_buffer *buffer = &resources->buffers[write->first + i % write->copies];
        infos[i] = (VkDescriptorBufferInfo){resources->arena, buffer->offset, buffer->range};
    }
    write->write.pBufferInfo = infos;
}

static void write_block(struct bf_test_write *write)
{
    write->block = (VkWriteDescriptorSetInlineUniformBlock){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK,
        .dataSize = write->binding->count,
        .pData = write->infos,
    };
    write->write.pNext = &write->block;
}

void bf_test_resources_fill_blocks(struct bf_test_resources *resources,
                                   const struct bf_inputs *inputs)
{
    struct bf_gpu *gpu = resources->place->gpu;
    for (uint32_t i = 0; i < resources->write_count; i++) {
        struct bf_test_write *write = &resources->writes[i];
        const struct bf_check_binding *binding = write->binding;
        if (!is_block(binding))
            continue;
        bf_inputs_words(inputs, UINT64_C(4) << 32 | i, binding->kinds, binding->kind_count, 0,
                        write->infos, binding->count / 4);
        if (resources->described)
            bf_test_descriptor_buffer_write_block(resources, write);
        else
            gpu->vk.vkUpdateDescriptorSets(gpu->handle, 1, &write->write, 0, NULL);
    }
}

static VkResult fill_write(struct bf_test_resources *resources, struct bf_test_write *write)
{
    const struct bf_check_binding *binding = write->binding;
    write->write = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = resources->sets[write->set],
        .dstBinding = binding->binding,
        .descriptorCount = binding->count,
        .descriptorType = binding->type,
    };
    write->infos = calloc(binding->count, is_block(binding) ? 1 : sizeof(VkDescriptorImageInfo));
    if (!write->infos)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    switch (binding->type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        return write_images(resources, write);
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        return write_inputs(resources, write);
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        return write_texels(resources, write);
    case VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK:
        write_block(write);
        return VK_SUCCESS;
    default:
        write_buffers(resources, write);
        return VK_SUCCESS;
    }
}

/* Of samplers that can't be changed nothing is left to write. */
static bool is_written(const struct bf_check_binding *binding)
{
    return binding->type != VK_DESCRIPTOR_TYPE_SAMPLER || !binding->immutable_samplers;
}

/* -------------------------------------------------------------------------------------- Sets -- */

static bool is_push_set(const struct bf_check_set *set)
{
    return set->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
}

static bool is_variable(const struct bf_check_binding *binding)
{
    return binding->flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
}

/* What of the binding is there: of one of variable size that nobody uses, nothing. */
static uint32_t allocated(const struct bf_check_binding *binding)
{
    return is_variable(binding) && !binding->used ? 0 : binding->count;
}

static VkResult test_descriptor_pool_create(struct bf_test_resources *resources)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_layout *layout = resources->layout;
    uint32_t binding_count = 0, size_count = 0, set_count = 0, blocks = 0;
    VkDescriptorPoolCreateFlags flags = 0;
    for (uint32_t i = 0; i < layout->set_count; i++)
        binding_count += layout->sets[i].binding_count;
    VkDescriptorPoolSize *sizes = calloc(binding_count + 1, sizeof(*sizes));
    if (!sizes)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        const struct bf_check_set *set = &layout->sets[i];
        if (!set->handle || is_push_set(set))
            continue;
        set_count++;
        if (set->flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT)
            flags |= VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
        for (uint32_t k = 0; k < set->binding_count; k++) {
            const struct bf_check_binding *binding = &set->bindings[k];
            blocks += is_block(binding);
            if (allocated(binding))
                sizes[size_count++] = (VkDescriptorPoolSize){binding->type, allocated(binding)};
        }
    }
    if (size_count == 0)
        sizes[size_count++] = (VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolInlineUniformBlockCreateInfo block_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_INLINE_UNIFORM_BLOCK_CREATE_INFO,
        .maxInlineUniformBlockBindings = blocks,
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .pNext = blocks ? &block_info : NULL,
        .flags = flags,
        .maxSets = set_count,
        .poolSizeCount = size_count,
        .pPoolSizes = sizes,
    };
    VkResult result = VK_SUCCESS;
    if (set_count)
        result = BF_MADE(gpu->vk.vkCreateDescriptorPool(gpu->handle, &info, NULL, &resources->pool),
                         &resources->pool);
    free(sizes);
    return result;
}

static VkResult allocate_set(struct bf_test_resources *resources, uint32_t index)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_set *set = &resources->layout->sets[index];
    uint32_t variable = 0;
    bool is_some = false;
    for (uint32_t k = 0; k < set->binding_count; k++) {
        const struct bf_check_binding *binding = &set->bindings[k];
        if (is_variable(binding)) {
            is_some = true;
            variable = allocated(binding);
        }
        if (binding->type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
            binding->type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC)
            resources->dynamic_counts[index] += binding->count;
    }
    const VkDescriptorSetVariableDescriptorCountAllocateInfo count_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO,
        .descriptorSetCount = 1,
        .pDescriptorCounts = &variable,
    };
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .pNext = is_some ? &count_info : NULL,
        .descriptorPool = resources->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &set->handle,
    };
    return gpu->vk.vkAllocateDescriptorSets(gpu->handle, &info, &resources->sets[index]);
}

static VkResult build_descriptors(struct bf_test_resources *resources)
{
    VkPhysicalDeviceDescriptorBufferPropertiesEXT sizes;
    VkResult result = bf_test_descriptor_buffer_make(resources, &sizes);
    for (uint32_t i = 0; i < resources->write_count && result == VK_SUCCESS; i++) {
        struct bf_test_write *write = &resources->writes[i];
        result = fill_write(resources, write);
        if (result == VK_SUCCESS)
            result = bf_test_descriptor_buffer_write(resources, &sizes, write);
    }
    return result;
}

VkResult bf_test_resources_build_sets(struct bf_test_resources *resources)
{
    if (resources->described)
        return build_descriptors(resources);
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_layout *layout = resources->layout;
    VkResult result = test_descriptor_pool_create(resources);
    uint32_t most_dynamic = 1;
    for (uint32_t i = 0; i < layout->set_count && result == VK_SUCCESS; i++) {
        const struct bf_check_set *set = &layout->sets[i];
        if (set->handle && !is_push_set(set))
            result = allocate_set(resources, i);
        if (resources->dynamic_counts[i] > most_dynamic)
            most_dynamic = resources->dynamic_counts[i];
    }
    for (uint32_t i = 0; i < resources->write_count && result == VK_SUCCESS; i++) {
        struct bf_test_write *write = &resources->writes[i];
        result = fill_write(resources, write);
        if (result == VK_SUCCESS && !is_push_set(&layout->sets[write->set]) &&
            is_written(write->binding))
            gpu->vk.vkUpdateDescriptorSets(gpu->handle, 1, &write->write, 0, NULL);
    }
    if (result != VK_SUCCESS)
        return result;
    resources->zeros = calloc(most_dynamic, sizeof(resources->zeros[0]));
    return resources->zeros ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_test_resources_bind(struct bf_test_resources *resources, VkCommandBuffer commands,
                            VkPipelineBindPoint point)
{
    if (resources->described) {
        bf_test_descriptor_buffer_bind(resources, commands, point);
        return;
    }
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_check_layout *layout = resources->layout;
    for (uint32_t i = 0; i < layout->set_count; i++) {
        if (resources->sets[i])
            gpu->vk.vkCmdBindDescriptorSets(commands, point, layout->handle, i, 1,
                                            &resources->sets[i], resources->dynamic_counts[i],
                                            resources->zeros);
    }
    for (uint32_t i = 0; i < resources->write_count; i++) {
        const struct bf_test_write *write = &resources->writes[i];
        if (is_push_set(&layout->sets[write->set]) && is_written(write->binding))
            gpu->vk.vkCmdPushDescriptorSetKHR(commands, point, layout->handle, write->set, 1,
                                              &write->write);
    }
}
