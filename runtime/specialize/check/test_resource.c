/* SPDX-License-Identifier: MIT */
/* Test resources of a check: buffers, images and attachments, their memory, their contents
 * before a run and the reading back of their contents after it. */
#include "specialize/check/test_resource.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/commands.h"
#include "gpu/gpu.h"
#include "gpu/made.h"
#include "specialize/check/test_resource_samples.h"
#include "specialize/check/test_resource_sets.h"

#define GUARD       4096 /* bytes before and behind each buffer */
#define MOST_MEMORY (UINT64_C(64) << 20)
#define MOST_IMAGE  (UINT64_C(16) << 20) /* that isn't of the least size */
#define MOST_IMAGES (UINT64_C(32) << 20) /* together, likewise */
#define VOLUME      17                   /* least extent in three dimensions */
#define FIXED                                                                                      \
    (VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |                            \
     VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT)
#define FEW_LAYERS  4
#define MOST_LAYERS 16
#define PERIOD      5003 /* texels that are made up; then they are repeated */

/* ---------------------------------------------------------------------------------- Planning -- */

void bf_test_resources_init(struct bf_test_resources *resources, const struct bf_test_place *place)
{
    *resources = (struct bf_test_resources){.place = place,
                                            .arena_size = GUARD,
                                            .least_elements = UINT32_MAX,
                                            .least_count = UINT32_MAX,
                                            .extent = {BF_TEST_EXTENT, BF_TEST_EXTENT, 1}};
}

VkResult bf_test_resources_refuse(struct bf_test_resources *resources, const char *why)
{
    resources->why = why;
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

bool bf_test_resources_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = *room ? *room * 2 : 8;
    void **place = array;
    void *grown = realloc(*place, wanted * size);
    if (!grown)
        return false;
    *place = grown;
    *room = wanted;
    return true;
}

static VkDeviceSize align_up(VkDeviceSize value, VkDeviceSize unit)
{
    return (value + unit - 1) / unit * unit;
}

VkResult bf_test_resources_add_buffer(struct bf_test_resources *resources,
                                      const struct bf_test_buffer *buffer, uint32_t *index)
{
    if (!bf_test_resources_grow(&resources->buffers, resources->buffer_count,
                                &resources->buffer_capacity, sizeof(resources->buffers[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_test_buffer *made = &resources->buffers[resources->buffer_count];
    *made = *buffer;
    made->size = align_up(buffer->size, 16);
    made->range = buffer->range ? buffer->range : made->size;
    /* 256 is the most that Vulkan lets a device ask for. */
    made->offset = align_up(resources->arena_size, 256);
    resources->arena_size = made->offset + made->size + GUARD;
    if (resources->arena_size > MOST_MEMORY)
        return bf_test_resources_refuse(resources, "its buffers are too large");
    *index = resources->buffer_count++;
    return VK_SUCCESS;
}

VkResult bf_test_resources_add_attribute(struct bf_test_resources *resources,
                                         const struct bf_test_attribute *attribute)
{
    if (!bf_test_resources_grow(&resources->attributes, resources->attribute_count,
                                &resources->attribute_capacity, sizeof(resources->attributes[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    resources->attributes[resources->attribute_count++] = *attribute;
    return VK_SUCCESS;
}

static VkImageType image_type(VkImageViewType view)
{
    switch (view) {
    case VK_IMAGE_VIEW_TYPE_1D:
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
        return VK_IMAGE_TYPE_1D;
    case VK_IMAGE_VIEW_TYPE_3D:
        return VK_IMAGE_TYPE_3D;
    default:
        return VK_IMAGE_TYPE_2D;
    }
}

static bool is_cube(VkImageViewType view)
{
    return view == VK_IMAGE_VIEW_TYPE_CUBE || view == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value < least ? least : value > BF_TEST_LARGEST ? BF_TEST_LARGEST : value;
}

/* The next odd one, or the one behind that. */
static uint32_t odd(uint32_t value, uint32_t more)
{
    value = (value + 2 * more) | 1;
    return value < BF_TEST_LARGEST ? value : BF_TEST_LARGEST - 1;
}

uint64_t bf_test_resources_even(uint64_t least)
{
    uint64_t even = 1;
    while (even < least)
        even *= 2;
    return even;
}

/* Of other sizes than usual, and no smaller: at most 'most'. */
static uint32_t stored_extent(const struct bf_test_resources *resources, uint32_t axis,
                              uint32_t most)
{
    const uint32_t reach = resources->extent[axis], other = resources->sizes.stored[axis];
    const uint32_t larger = reach < other ? other : reach + 2;
    const uint64_t size = resources->sizes.even ? bf_test_resources_even(larger) : larger;
    return size < most ? (uint32_t)size : most;
}

static VkExtent3D suit_stored(const struct bf_test_resources *resources, VkImageViewType view)
{
    const uint32_t most = image_type(view) == VK_IMAGE_TYPE_3D ? 256 : BF_TEST_LARGEST;
    const VkExtent3D extent = {stored_extent(resources, 0, most), stored_extent(resources, 1, most),
                               stored_extent(resources, 2, most)};
    const uint32_t side = extent.width < extent.height ? extent.width : extent.height;
    switch (image_type(view)) {
    case VK_IMAGE_TYPE_1D:
        return (VkExtent3D){extent.width, 1, 1};
    case VK_IMAGE_TYPE_3D:
        return extent;
    default:
        return is_cube(view) ? (VkExtent3D){side, side, 1}
                             : (VkExtent3D){extent.width, extent.height, 1};
    }
}

/* As far as the runs reach, and odd where nobody writes. Cubes are square; volumes that are only
 * read are tables. */
static VkExtent3D suit_runs(const struct bf_test_resources *resources,
                            const struct bf_test_image_info *info)
{
    const uint32_t *extent = resources->extent;
    const bool fixed = info->written || (info->usage & FIXED);
    uint32_t width = at_least(extent[0], BF_TEST_EXTENT);
    uint32_t height = at_least(extent[1], BF_TEST_EXTENT);
    if (!fixed) {
        width = odd(width, 1);
        height = odd(height, 2);
    }
    bool stored = info->usage & VK_IMAGE_USAGE_STORAGE_BIT;
    if (stored && resources->sizes.stored[0])
        return suit_stored(resources, info->view);
    switch (image_type(info->view)) {
    case VK_IMAGE_TYPE_1D:
        return (VkExtent3D){width, 1, 1};
    case VK_IMAGE_TYPE_3D:
        return stored ? (VkExtent3D){at_least(extent[0] < 256 ? extent[0] : 256, VOLUME),
                                     at_least(extent[1] < 256 ? extent[1] : 256, VOLUME),
                                     at_least(extent[2] < 256 ? extent[2] : 256, VOLUME)}
                      : (VkExtent3D){VOLUME, VOLUME, VOLUME};
    default:
        return is_cube(info->view) ? (VkExtent3D){BF_TEST_EXTENT, BF_TEST_EXTENT, 1}
                                   : (VkExtent3D){width, height, 1};
    }
}

static uint32_t suit_layers(const struct bf_test_resources *resources,
                            const struct bf_test_image_info *info)
{
    const uint32_t reach = resources->extent[2], more = resources->sizes.layers;
    const uint32_t layers = (reach < FEW_LAYERS    ? FEW_LAYERS
                             : reach > MOST_LAYERS ? MOST_LAYERS
                                                   : reach) +
                            more;
    switch (info->view) {
    case VK_IMAGE_VIEW_TYPE_CUBE:
        return 6;
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
        return 12 + 6 * more;
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
    case VK_IMAGE_VIEW_TYPE_2D_ARRAY:
        return resources->sizes.even ? (uint32_t)bf_test_resources_even(layers) : layers;
    default:
        return 1;
    }
}

static void suit_size(const struct bf_test_resources *resources, struct bf_test_image *image)
{
    if (image->sized)
        image->info.extent = suit_runs(resources, &image->info);
    if (image->layered)
        image->info.layers = suit_layers(resources, &image->info);
}

static void suit_view(const struct bf_test_resources *resources, struct bf_test_image *image)
{
    struct bf_test_image_info *info = &image->info;
    image->sized = info->extent.width == 0;
    image->layered = info->layers == 0;
    suit_size(resources, image);
    if (info->samples == 0)
        info->samples = VK_SAMPLE_COUNT_1_BIT;
    if (info->levels == 0)
        info->levels = 1;
    info->usage |= VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    if (info->samples == VK_SAMPLE_COUNT_1_BIT)
        info->usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
}

/* Samples are read through a view of another format. */
static VkImageCreateFlags image_flags(const struct bf_test_image_info *info)
{
    bool alias = info->samples != VK_SAMPLE_COUNT_1_BIT && info->written &&
                 bf_format_aspects(info->format) == VK_IMAGE_ASPECT_COLOR_BIT &&
                 bf_samples_alias(info->format) != info->format;
    return (is_cube(info->view) ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0) |
           (alias ? VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT : 0);
}

static VkResult find_support(struct bf_test_resources *resources,
                             const struct bf_test_image_info *info)
{
    const struct bf_test_place *place = resources->place;
    VkImageFormatProperties can;
    VkResult result =
        place->image_formats(place->physical, info->format, image_type(info->view),
                             VK_IMAGE_TILING_OPTIMAL, info->usage, image_flags(info), &can);
    if (result != VK_SUCCESS && result != VK_ERROR_FORMAT_NOT_SUPPORTED)
        return result;
    if (result == VK_SUCCESS && can.maxArrayLayers >= info->layers &&
        can.maxMipLevels >= info->levels && (can.sampleCounts & info->samples) &&
        can.maxExtent.width >= info->extent.width && can.maxExtent.height >= info->extent.height &&
        can.maxExtent.depth >= info->extent.depth)
        return VK_SUCCESS;
    return bf_test_resources_refuse(resources, "no image of a format in use can be made");
}

static uint32_t level_extent(uint32_t extent, uint32_t level)
{
    return extent >> level ? extent >> level : 1;
}

static bool has_several(const struct bf_test_image *image)
{
    return image->info.samples != VK_SAMPLE_COUNT_1_BIT;
}

/* As they are read, each on an alignment that suits storage buffers of any device. */
static uint32_t list_samples(const struct bf_test_image *image,
                             VkBufferImageCopy regions[BF_TEST_REGIONS],
                             VkDeviceSize sizes[BF_TEST_REGIONS],
                             struct bf_texel texels[BF_TEST_REGIONS])
{
    const struct bf_test_image_info *info = &image->info;
    VkDeviceSize offset = image->offset;
    uint32_t count = 0;
    for (VkImageAspectFlags left = info->written ? image->aspects : 0; left; left &= left - 1) {
        VkImageAspectFlagBits aspect = (VkImageAspectFlagBits)(left & ~(left - 1));
        if (!bf_samples_texel(info->format, aspect, &texels[count]))
            continue;
        offset = align_up(offset, 256);
        regions[count] = (VkBufferImageCopy){
            .bufferOffset = offset,
            .imageSubresource = {aspect, 0, 0, info->layers},
            .imageExtent = info->extent,
        };
        sizes[count] = (VkDeviceSize)texels[count].size * info->extent.width * info->extent.height *
                       info->layers * (uint32_t)info->samples;
        offset += sizes[count++];
    }
    return count;
}

uint32_t bf_test_resources_list_regions(const struct bf_test_image *image,
                                        VkBufferImageCopy regions[BF_TEST_REGIONS],
                                        VkDeviceSize sizes[BF_TEST_REGIONS],
                                        struct bf_texel texels[BF_TEST_REGIONS])
{
    const struct bf_test_image_info *info = &image->info;
    VkDeviceSize offset = image->offset;
    uint32_t count = 0;
    if (has_several(image))
        return list_samples(image, regions, sizes, texels);
    for (VkImageAspectFlags left = image->aspects; left; left &= left - 1) {
        VkImageAspectFlagBits aspect = (VkImageAspectFlagBits)(left & ~(left - 1));
        struct bf_texel texel;
        if (!bf_texel_of(info->format, aspect, &texel))
            continue;
        for (uint32_t level = 0; level < info->levels && count < BF_TEST_REGIONS;
             level++, count++) {
            const VkExtent3D extent = {level_extent(info->extent.width, level),
                                       level_extent(info->extent.height, level),
                                       level_extent(info->extent.depth, level)};
            offset = align_up(offset, (VkDeviceSize)texel.size * 4);
            regions[count] = (VkBufferImageCopy){
                .bufferOffset = offset,
                .imageSubresource = {aspect, level, 0, info->layers},
                .imageExtent = extent,
            };
            texels[count] = texel;
            sizes[count] = (VkDeviceSize)texel.size *
                           ((extent.width + texel.block_width - 1) / texel.block_width) *
                           ((extent.height + texel.block_height - 1) / texel.block_height) *
                           extent.depth * info->layers;
            offset += sizes[count];
        }
    }
    return count;
}

/* How it is filled, and read. */
static VkResult plan_several(struct bf_test_resources *resources, struct bf_test_image *image)
{
    struct bf_test_image_info *info = &image->info;
    VkResult result = VK_SUCCESS;
    bool color = image->aspects == VK_IMAGE_ASPECT_COLOR_BIT;
    const VkImageUsageFlags attachment =
        color ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (info->written) {
        if (!(info->usage & attachment))
            return bf_test_resources_refuse(resources, "it writes images of several samples");
        result = bf_samples_can_read(resources->place, info->format, info->samples);
        if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
            return bf_test_resources_refuse(resources, "an attachment's samples can't be read");
        if (result != VK_SUCCESS)
            return result;
        info->usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    }
    struct bf_test_image_info with = *info;
    with.usage |= attachment;
    result = find_support(resources, &with);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT)
        return bf_test_resources_refuse(
            resources, info->written ? "an attachment's samples can't be read"
                                     : "it reads samples that can't be drawn beforehand");
    *info = with;
    resources->graphics = true;
    return result;
}

VkResult bf_test_resources_add_image(struct bf_test_resources *resources,
                                     const struct bf_test_image_info *info, uint32_t *index)
{
    if (!bf_test_resources_grow(&resources->images, resources->image_count,
                                &resources->image_capacity, sizeof(resources->images[0])))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_test_image *image = &resources->images[resources->image_count];
    *image = (struct bf_test_image){.info = *info, .aspects = bf_format_aspects(info->format)};
    suit_view(resources, image);
    bool color = image->aspects == VK_IMAGE_ASPECT_COLOR_BIT;
    if (!image->aspects)
        return bf_test_resources_refuse(resources, "an image's format is not known here");
    VkResult result = has_several(image) ? plan_several(resources, image) : VK_SUCCESS;
    if (result == VK_SUCCESS)
        result = find_support(resources, &image->info);
    if (result != VK_SUCCESS)
        return result;
    if (!color)
        resources->graphics = true;
    resources->several |= has_several(image) && image->info.written;
    resources->image_count++;
    *index = resources->image_count - 1;
    return VK_SUCCESS;
}

/* ---------------------------------------------------------------------------------- Building -- */

static VkResult test_memory_allocate(struct bf_test_resources *resources,
                                     const VkMemoryRequirements *needs, VkDeviceMemory *memory)
{
    struct bf_gpu *gpu = resources->place->gpu;
    uint32_t type = UINT32_MAX;
    for (uint32_t i = gpu->memory.memoryTypeCount; i--;) {
        VkMemoryPropertyFlags flags = gpu->memory.memoryTypes[i].propertyFlags;
        if (!(needs->memoryTypeBits >> i & 1) || (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) ||
            (flags & VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD))
            continue;
        bool local = flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        if (local || type == UINT32_MAX)
            type = i;
    }
    if (type == UINT32_MAX)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = resources->described ? &flags : NULL,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = type};
    return BF_MADE(gpu->vk.vkAllocateMemory(gpu->handle, &info, NULL, memory), memory);
}

static VkResult build_arena(struct bf_test_resources *resources)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = resources->arena_size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                 (resources->described ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0),
    };
    VkResult result = BF_MADE(gpu->vk.vkCreateBuffer(gpu->handle, &info, NULL, &resources->arena),
                              &resources->arena);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    gpu->vk.vkGetBufferMemoryRequirements(gpu->handle, resources->arena, &needs);
    result = test_memory_allocate(resources, &needs, &resources->memory);
    if (result != VK_SUCCESS)
        return result;
    return gpu->vk.vkBindBufferMemory(gpu->handle, resources->arena, resources->memory, 0);
}

static VkResult build_image(struct bf_test_resources *resources, struct bf_test_image *image)
{
    struct bf_gpu *gpu = resources->place->gpu;
    const struct bf_test_image_info *info = &image->info;
    const VkImageCreateInfo image_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = image_flags(info),
        .imageType = image_type(info->view),
        .format = info->format,
        .extent = info->extent,
        .mipLevels = info->levels,
        .arrayLayers = info->layers,
        .samples = info->samples,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = info->usage,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    VkResult result = BF_MADE(gpu->vk.vkCreateImage(gpu->handle, &image_info, NULL, &image->handle),
                              &image->handle);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    gpu->vk.vkGetImageMemoryRequirements(gpu->handle, image->handle, &needs);
    result = test_memory_allocate(resources, &needs, &image->memory);
    if (result == VK_SUCCESS)
        result = gpu->vk.vkBindImageMemory(gpu->handle, image->handle, image->memory, 0);
    if (result != VK_SUCCESS)
        return result;
    VkImageAspectFlags aspects = image->aspects;
    if (!(info->usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT) && aspects & (aspects - 1))
        aspects = info->stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = info->view,
        .format = info->format,
        .components = info->components,
        .subresourceRange = {.aspectMask = aspects,
                             .levelCount = info->levels,
                             .layerCount = info->layers},
    };
    return BF_MADE(gpu->vk.vkCreateImageView(gpu->handle, &view, NULL, &image->view), &image->view);
}

/* Where the images' content lies behind the arena's. Returns what the largest image takes. */
static VkDeviceSize lay_out_images(struct bf_test_resources *resources)
{
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    VkDeviceSize end = resources->arena_size, largest = 0;
    for (uint32_t i = 0; i < resources->image_count; i++) {
        struct bf_test_image *image = &resources->images[i];
        image->offset = align_up(end, 256);
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        end = count ? regions[count - 1].bufferOffset + sizes[count - 1] : image->offset;
        image->size = end - image->offset;
        largest = image->size > largest ? image->size : largest;
    }
    resources->source_size = align_up(end, 16);
    return largest;
}

/* Half as many layers or slices, or a half of the longer side. False: they are the least
 * already. */
static bool test_resources_shrink(struct bf_test_resources *resources)
{
    uint32_t *extent = resources->extent;
    uint32_t longer = extent[1] > extent[0];
    if (extent[2] > 1)
        extent[2] /= 2;
    else if (extent[longer] > BF_TEST_EXTENT)
        extent[longer] = at_least(extent[longer] / 2, BF_TEST_EXTENT);
    else
        return false;
    for (uint32_t i = 0; i < resources->image_count; i++)
        suit_size(resources, &resources->images[i]);
    return true;
}

static VkResult place_images(struct bf_test_resources *resources)
{
    VkDeviceSize largest;
    do
        largest = lay_out_images(resources);
    while ((largest > MOST_IMAGE || resources->source_size - resources->arena_size > MOST_IMAGES ||
            resources->source_size > MOST_MEMORY) &&
           test_resources_shrink(resources));
    return resources->source_size > MOST_MEMORY
               ? bf_test_resources_refuse(resources, "its images are too large")
               : VK_SUCCESS;
}

VkResult bf_test_resources_build(struct bf_test_resources *resources)
{
    struct bf_gpu *gpu = resources->place->gpu;
    VkResult result = place_images(resources);
    if (result == VK_SUCCESS)
        result = build_arena(resources);
    for (uint32_t i = 0; i < resources->image_count && result == VK_SUCCESS; i++)
        result = build_image(resources, &resources->images[i]);
    if (result == VK_SUCCESS)
        result = bf_buffer_create(gpu, resources->source_size, BF_BUFFER_HOST, &resources->source);
    if (result == VK_SUCCESS)
        result = bf_buffer_create(gpu, resources->source_size, BF_BUFFER_HOST, &resources->result);
    if (result == VK_SUCCESS)
        result = bf_samples_build(resources);
    if (result == VK_SUCCESS && resources->layout)
        result = bf_test_resources_build_sets(resources);
    return result;
}

void bf_test_resources_finish(struct bf_test_resources *resources)
{
    if (!resources->place)
        return;
    struct bf_gpu *gpu = resources->place->gpu;
    const struct VolkDeviceTable *vk = &gpu->vk;
    if (resources->pool)
        vk->vkDestroyDescriptorPool(gpu->handle, resources->pool, NULL);
    bf_buffer_destroy(gpu, &resources->descriptors);
    for (uint32_t i = 0; i < resources->write_count; i++)
        free(resources->writes[i].infos);
    for (uint32_t i = 0; i < resources->view_count; i++)
        vk->vkDestroyBufferView(gpu->handle, resources->views[i], NULL);
    for (uint32_t i = 0; i < resources->sampler_count; i++)
        vk->vkDestroySampler(gpu->handle, resources->samplers[i], NULL);
    bf_samples_finish(resources);
    for (uint32_t i = 0; i < resources->image_count; i++) {
        struct bf_test_image *image = &resources->images[i];
        if (image->view)
            vk->vkDestroyImageView(gpu->handle, image->view, NULL);
        for (uint32_t k = 0; k < 2; k++) {
            if (image->parts[k])
                vk->vkDestroyImageView(gpu->handle, image->parts[k], NULL);
        }
        if (image->handle)
            vk->vkDestroyImage(gpu->handle, image->handle, NULL);
        if (image->memory)
            vk->vkFreeMemory(gpu->handle, image->memory, NULL);
    }
    if (resources->arena)
        vk->vkDestroyBuffer(gpu->handle, resources->arena, NULL);
    if (resources->memory)
        vk->vkFreeMemory(gpu->handle, resources->memory, NULL);
    bf_buffer_destroy(gpu, &resources->source);
    bf_buffer_destroy(gpu, &resources->result);
    free(resources->buffers);
    free(resources->attributes);
    free(resources->images);
    free(resources->views);
    free(resources->samplers);
    free(resources->writes);
    free(resources->zeros);
    *resources = (struct bf_test_resources){0};
}

/* ----------------------------------------------------------------------------------- Content -- */

/* Two triangles, seen from either side, that cover everything between -1 and 1: x and y of six
 * vertices. */
static const float covering[6][2] = {{-1, -1}, {3, -1}, {-1, 3}, {-1, -1}, {-1, 3}, {3, -1}};

static void fill_buffer(const struct bf_test_resources *resources, const struct bf_inputs *inputs,
                        uint32_t index)
{
    const struct bf_test_buffer *buffer = &resources->buffers[index];
    uint8_t *bytes = (uint8_t *)resources->source.mapped + buffer->offset;
    if (buffer->texels) {
        const struct bf_texel *texel = &buffer->texel;
        bf_inputs_texels_of(inputs, buffer->classes, index, texel, bytes,
                            buffer->size / texel->size * texel->size);
        return;
    }
    bf_inputs_words(inputs, index, buffer->kinds, buffer->kind_count, buffer->period,
                    (uint32_t *)bytes, buffer->size / 4);
}

/* Without the parity of those that came last. */
static uint32_t seed_number(const struct bf_inputs *inputs)
{
    return inputs->seed >> 16 ? inputs->seed >> 16 : inputs->seed;
}

static void fill_attribute(const struct bf_test_resources *resources,
                           const struct bf_inputs *inputs, uint32_t index)
{
    static const float scales[] = {1.0f, BF_TEST_EXTENT, 0.5f};
    static const float depths[] = {0.125f, 0.5f, 0.9375f}, farther[] = {1.0f, 2.5f, 0.5f};
    const struct bf_test_attribute *attribute = &resources->attributes[index];
    uint8_t *bytes = (uint8_t *)resources->source.mapped + attribute->offset;
    const float scale = scales[inputs->seed % 3];
    const bool deep = seed_number(inputs) & 4;
    for (uint32_t i = 0; i < attribute->count; i++, bytes += attribute->stride) {
        const float w = deep && attribute->texel.size == 16 ? farther[i % 3] : 1.0f;
        const float z = deep ? depths[i % 3] : (float)(1 + inputs->seed % 3) / 4.0f;
        const float position[4] = {covering[i % 6][0] * scale * w, covering[i % 6][1] * scale * w,
                                   z * w, w};
        if (attribute->position)
            memcpy(bytes, position, attribute->texel.size);
        else
            bf_inputs_texels(inputs, UINT64_C(2) << 32 | (uint64_t)index << 8 | i,
                             &attribute->texel, bytes, attribute->texel.size);
    }
}

bool bf_test_resources_any(const struct bf_inputs *inputs, const struct bf_test_image_info *info)
{
    return (seed_number(inputs) & 2) &&
           (!info->written || (info->usage & VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT));
}

float bf_test_resources_unit(const struct bf_inputs *inputs, uint64_t stream, bool any)
{
    const struct bf_texel floats = {
        .size = 4, .kind = BF_TEXEL_SFLOAT, .component_count = 1, .bits = {32}};
    const struct bf_texel parts = {
        .size = 4, .kind = BF_TEXEL_UNORM, .component_count = 1, .bits = {24}};
    struct bf_inputs small = *inputs;
    uint32_t word;
    float unit;
    small.style = BF_INPUTS_SMALL;
    bf_inputs_texels(&small, stream, any ? &parts : &floats, &word, 4);
    memcpy(&unit, &word, 4);
    return any ? (float)word / 16777215.0f : unit;
}

static void fill_depths(const struct bf_inputs *inputs, uint64_t stream, bool any,
                        const struct bf_texel *texel, uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + texel->size <= size; at += texel->size) {
        const float depth = bf_test_resources_unit(inputs, stream + at / texel->size, any);
        uint32_t word = (uint32_t)(depth * (double)((1u << texel->bits[0] % 32) - 1) + 0.5);
        memcpy(bytes + at, texel->kind == BF_TEXEL_SFLOAT ? (void *)&depth : (void *)&word,
               texel->size);
    }
}

/* Of a large image some texels are made up, and repeated. */
static void fill_region(const struct bf_inputs *inputs, uint64_t stream,
                        const struct bf_test_image_info *info, bool depth,
                        const struct bf_texel *texel, uint8_t *bytes, size_t size)
{
    size_t period = (size_t)texel->size * PERIOD, made = size < period ? size : period;
    if (depth)
        fill_depths(inputs, stream << 20, bf_test_resources_any(inputs, info), texel, bytes, made);
    else
        bf_inputs_texels_of(inputs, info->classes, stream, texel, bytes, made);
    for (; made < size; made += made < size - made ? made : size - made)
        memcpy(bytes + made, bytes, made < size - made ? made : size - made);
}

void bf_test_resources_fill(struct bf_test_resources *resources, const struct bf_inputs *inputs)
{
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    uint8_t *bytes = resources->source.mapped;
    memset(bytes, 0xa5, resources->source_size);
    for (uint32_t i = 0; i < resources->buffer_count; i++)
        fill_buffer(resources, inputs, i);
    bf_test_resources_fill_blocks(resources, inputs);
    for (uint32_t i = 0; i < resources->attribute_count; i++)
        fill_attribute(resources, inputs, i);
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        for (uint32_t k = 0; k < count && !has_several(image); k++) {
            uint64_t stream = UINT64_C(1) << 32 | (uint64_t)i << 8 | k;
            bool depth = regions[k].imageSubresource.aspectMask == VK_IMAGE_ASPECT_DEPTH_BIT;
            fill_region(inputs, stream, &image->info, depth, &texels[k],
                        bytes + regions[k].bufferOffset, sizes[k]);
        }
    }
}

/* ---------------------------------------------------------------------------------- Commands -- */

/* To a transfer's layout from whatever it was, or from there to GENERAL. */
static void put_image_barrier(const struct bf_test_resources *resources, VkCommandBuffer commands,
                              const struct bf_test_image *image, VkImageLayout from,
                              VkImageLayout to)
{
    const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    const VkPipelineStageFlags2 transfer = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    const VkAccessFlags2 any = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    const VkAccessFlags2 copies = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    bool before = to != VK_IMAGE_LAYOUT_GENERAL;
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = before ? all : transfer,
        .srcAccessMask = before ? VK_ACCESS_2_MEMORY_WRITE_BIT : VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = before ? transfer : all,
        .dstAccessMask = before ? copies : any,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = {image->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS},
    };
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &barrier};
    resources->place->gpu->vk.vkCmdPipelineBarrier2(commands, &info);
}

void bf_test_resources_record_upload(struct bf_test_resources *resources, VkCommandBuffer commands,
                                     const struct bf_inputs *inputs)
{
    struct bf_gpu *gpu = resources->place->gpu;
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    const VkBufferCopy whole = {.size = resources->arena_size};
    gpu->vk.vkCmdCopyBuffer(commands, resources->source.handle, resources->arena, 1, &whole);
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        if (has_several(image)) {
            bf_samples_record_fill(resources, commands, i, inputs);
            continue;
        }
        put_image_barrier(resources, commands, image, VK_IMAGE_LAYOUT_UNDEFINED,
                          VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        gpu->vk.vkCmdCopyBufferToImage(commands, resources->source.handle, image->handle,
                                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, count, regions);
        put_image_barrier(resources, commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                          VK_IMAGE_LAYOUT_GENERAL);
    }
}

void bf_test_resources_record_download(struct bf_test_resources *resources,
                                       VkCommandBuffer commands)
{
    struct bf_gpu *gpu = resources->place->gpu;
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    const VkPipelineStageFlags2 work = resources->several ? VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT
                                                          : VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, work);
    const VkBufferCopy whole = {.size = resources->arena_size};
    gpu->vk.vkCmdCopyBuffer(commands, resources->arena, resources->result.handle, 1, &whole);
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        if (!image->info.written || count == 0)
            continue;
        if (has_several(image)) {
            bf_samples_record_read(resources, commands, image);
            continue;
        }
        put_image_barrier(resources, commands, image, VK_IMAGE_LAYOUT_GENERAL,
                          VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        gpu->vk.vkCmdCopyImageToBuffer(commands, image->handle,
                                       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                       resources->result.handle, count, regions);
    }
    bf_commands_put_barrier(gpu, commands, work, VK_PIPELINE_STAGE_2_HOST_BIT);
}

/* ----------------------------------------------------------------------------------- Results -- */

size_t bf_test_resources_result_size(const struct bf_test_resources *resources)
{
    return resources->source_size;
}

static void clear_unused(uint8_t *bytes, const struct bf_texel *texel, size_t size)
{
    for (size_t at = 0; texel->unused && at + 4 <= size; at += 4) {
        uint32_t word;
        memcpy(&word, bytes + at, 4);
        word &= UINT32_MAX >> texel->unused;
        memcpy(bytes + at, &word, 4);
    }
}

const void *bf_test_resources_result(struct bf_test_resources *resources)
{
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    uint8_t *bytes = resources->result.mapped;
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        for (uint32_t k = 0; k < count && image->info.written; k++)
            clear_unused(bytes + regions[k].bufferOffset, &texels[k], sizes[k]);
    }
    return bytes;
}

void bf_test_resources_learn(struct bf_test_resources *resources)
{
    const uint8_t *result = bf_test_resources_result(resources);
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        if (has_several(image))
            memcpy((uint8_t *)resources->source.mapped + image->offset, result + image->offset,
                   image->size);
    }
}

bool bf_test_resources_changed(struct bf_test_resources *resources, const void *result)
{
    VkBufferImageCopy regions[BF_TEST_REGIONS];
    VkDeviceSize sizes[BF_TEST_REGIONS];
    struct bf_texel texels[BF_TEST_REGIONS];
    const uint8_t *before = resources->source.mapped, *after = result;
    if (memcmp(before, after, resources->arena_size) != 0)
        return true;
    for (uint32_t i = 0; i < resources->image_count; i++) {
        const struct bf_test_image *image = &resources->images[i];
        uint32_t count = bf_test_resources_list_regions(image, regions, sizes, texels);
        for (uint32_t k = 0; k < count && image->info.written; k++) {
            VkDeviceSize at = regions[k].bufferOffset;
            if (memcmp(before + at, after + at, sizes[k]) != 0)
                return true;
        }
    }
    return false;
}
