/* SPDX-License-Identifier: MIT */
/* Creates buffers and images with memory of their own, and records image barriers. */
#include "memory.h"

#include <string.h>

#include "report.h"

/* The first memory type that has all flags of `wanted`; UINT32_MAX: there is none. */
static uint32_t type_find(const struct sample_device *device, uint32_t allowed,
                          VkMemoryPropertyFlags wanted)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; ++i) {
        if (allowed & 1u << i && (device->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    return UINT32_MAX;
}

static VkResult memory_allocate(const struct sample_device *device,
                                const VkMemoryRequirements *requirements,
                                VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags better,
                                VkDeviceMemory *memory)
{
    uint32_t type = type_find(device, requirements->memoryTypeBits, wanted | better);
    if (type == UINT32_MAX)
        type = type_find(device, requirements->memoryTypeBits, wanted);
    if (type == UINT32_MAX)
        return sample_check(VK_ERROR_FEATURE_NOT_PRESENT, "finding a memory type");
    return sample_check(vkAllocateMemory(device->handle,
                                         &(VkMemoryAllocateInfo){
                                             .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                             .allocationSize = requirements->size,
                                             .memoryTypeIndex = type,
                                         },
                                         NULL, memory),
                        "vkAllocateMemory");
}

/* A CONCURRENT object must name at least two families; with one it is EXCLUSIVE. */
static VkSharingMode sharing_mode(const struct sample_device *device)
{
    return device->family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
}

VkResult sample_buffer_create(const struct sample_device *device, VkDeviceSize size,
                              VkBufferUsageFlags usage, bool visible, const char *name,
                              struct sample_buffer *buffer)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryRequirements requirements;

    memset(buffer, 0, sizeof *buffer);
    VkResult result = vkCreateBuffer(device->handle,
                                     &(VkBufferCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = size,
                                         .usage = usage,
                                         .sharingMode = sharing_mode(device),
                                         .queueFamilyIndexCount = device->family_count,
                                         .pQueueFamilyIndices = device->families,
                                     },
                                     NULL, &buffer->handle);
    if (sample_check(result, "vkCreateBuffer") < 0)
        return result;
    sample_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->handle, "%s", name);

    vkGetBufferMemoryRequirements(device->handle, buffer->handle, &requirements);
    result = memory_allocate(device, &requirements, visible ? host : 0,
                             visible ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                     : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                             &buffer->memory);
    if (result < 0)
        goto fail;
    result = sample_check(vkBindBufferMemory(device->handle, buffer->handle, buffer->memory, 0),
                          "vkBindBufferMemory");
    if (result < 0)
        goto fail;
    if (visible) {
        result = sample_check(
            vkMapMemory(device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped),
            "vkMapMemory");
        if (result < 0)
            goto fail;
    }
    return VK_SUCCESS;

fail:
    sample_buffer_destroy(device, buffer);
    return result;
}

void sample_buffer_destroy(const struct sample_device *device, struct sample_buffer *buffer)
{
    vkDestroyBuffer(device->handle, buffer->handle, NULL);
    vkFreeMemory(device->handle, buffer->memory, NULL);
    memset(buffer, 0, sizeof *buffer);
}

static VkResult image_create(const struct sample_device *device, VkFormat format, VkExtent2D extent,
                             uint32_t levels, VkImageUsageFlags usage, VkSharingMode sharing,
                             const char *name, struct sample_image *image)
{
    VkMemoryRequirements requirements;

    memset(image, 0, sizeof *image);
    VkResult result = vkCreateImage(device->handle,
                                    &(VkImageCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                        .imageType = VK_IMAGE_TYPE_2D,
                                        .format = format,
                                        .extent = {extent.width, extent.height, 1},
                                        .mipLevels = levels,
                                        .arrayLayers = 1,
                                        .samples = VK_SAMPLE_COUNT_1_BIT,
                                        .tiling = VK_IMAGE_TILING_OPTIMAL,
                                        .usage = usage,
                                        .sharingMode = sharing,
                                        .queueFamilyIndexCount = device->family_count,
                                        .pQueueFamilyIndices = device->families,
                                        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                    },
                                    NULL, &image->handle);
    if (sample_check(result, "vkCreateImage") < 0)
        return result;
    sample_name(device, VK_OBJECT_TYPE_IMAGE, (uint64_t)image->handle, "%s", name);

    vkGetImageMemoryRequirements(device->handle, image->handle, &requirements);
    result = memory_allocate(device, &requirements, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                             &image->memory);
    if (result < 0)
        goto fail;
    result = sample_check(vkBindImageMemory(device->handle, image->handle, image->memory, 0),
                          "vkBindImageMemory");
    if (result < 0)
        goto fail;
    image->format = format;
    image->extent = extent;
    image->levels = levels;
    return VK_SUCCESS;

fail:
    sample_image_destroy(device, image);
    return result;
}

VkResult sample_image_create(const struct sample_device *device, VkFormat format, VkExtent2D extent,
                             uint32_t levels, VkImageUsageFlags usage, const char *name,
                             struct sample_image *image)
{
    return image_create(device, format, extent, levels, usage, VK_SHARING_MODE_EXCLUSIVE, name,
                        image);
}

VkResult sample_image_create_shared(const struct sample_device *device, VkFormat format,
                                    VkExtent2D extent, uint32_t levels, VkImageUsageFlags usage,
                                    const char *name, struct sample_image *image)
{
    return image_create(device, format, extent, levels, usage, sharing_mode(device), name, image);
}

/* The samples use one depth format only, D32_SFLOAT. */
static VkImageAspectFlags format_aspect(VkFormat format)
{
    return format == VK_FORMAT_D32_SFLOAT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

void sample_image_destroy(const struct sample_device *device, struct sample_image *image)
{
    vkDestroyImage(device->handle, image->handle, NULL);
    vkFreeMemory(device->handle, image->memory, NULL);
    memset(image, 0, sizeof *image);
}

static VkResult view_create(const struct sample_device *device, VkImage image, VkFormat format,
                            uint32_t first, uint32_t count, VkImageView *view)
{
    return sample_check(
        vkCreateImageView(device->handle,
                          &(VkImageViewCreateInfo){
                              .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                              .image = image,
                              .viewType = VK_IMAGE_VIEW_TYPE_2D,
                              .format = format,
                              .subresourceRange = {format_aspect(format), first, count, 0, 1},
                          },
                          NULL, view),
        "vkCreateImageView");
}

VkResult sample_view_create(const struct sample_device *device, VkImage image, VkFormat format,
                            uint32_t level, VkImageView *view)
{
    return view_create(device, image, format, level, 1, view);
}

VkResult sample_view_create_whole(const struct sample_device *device,
                                  const struct sample_image *image, VkImageView *view)
{
    return view_create(device, image->handle, image->format, 0, image->levels, view);
}

void sample_transition(VkCommandBuffer commands, VkImage image, uint32_t level, uint32_t levels,
                       enum sample_use from, enum sample_use to)
{
    static const struct {
        VkImageLayout layout;
        VkPipelineStageFlags2 stages;
        VkAccessFlags2 access;
        VkImageAspectFlags aspect; /* 0: the colour aspect */
    } uses[] = {
        /* Discarding must wait for the image's last use. The stage is also the one in which a
         * submission waits for an acquired image, so the layout transition comes after that
         * wait. */
        [SAMPLE_USE_DISCARD] = {.layout = VK_IMAGE_LAYOUT_UNDEFINED,
                                .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT |
                                          VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
                                          VK_PIPELINE_STAGE_2_COPY_BIT,
                                .access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
        [SAMPLE_USE_DEPTH] = {.layout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
                              .stages = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                        VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                              .access = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                        VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                              .aspect = VK_IMAGE_ASPECT_DEPTH_BIT},
        [SAMPLE_USE_COMMON] = {.layout = VK_IMAGE_LAYOUT_GENERAL,
                               .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                               .access =
                                   VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT},
        [SAMPLE_USE_TARGET] = {.layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                               .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                               .access = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                         VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
        [SAMPLE_USE_SAMPLED] = {.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                .stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                .access = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT},
        [SAMPLE_USE_SOURCE] = {.layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               .stages =
                                   VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT,
                               .access = VK_ACCESS_2_TRANSFER_READ_BIT},
        [SAMPLE_USE_DEST] = {.layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             .stages = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT,
                             .access = VK_ACCESS_2_TRANSFER_WRITE_BIT},
        /* The semaphore that the present waits for orders what comes after. */
        [SAMPLE_USE_PRESENT] = {.layout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                                .stages = VK_PIPELINE_STAGE_2_NONE,
                                .access = VK_ACCESS_2_NONE},
    };

    /* An image that is discarded was last used as it will be used now, unless it becomes a
     * target. */
    enum sample_use before = from == SAMPLE_USE_DISCARD && to != SAMPLE_USE_TARGET ? to : from;
    VkImageAspectFlags aspect = uses[to].aspect ? uses[to].aspect : VK_IMAGE_ASPECT_COLOR_BIT;

    vkCmdPipelineBarrier2(commands, &(VkDependencyInfo){
                                        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                        .imageMemoryBarrierCount = 1,
                                        .pImageMemoryBarriers =
                                            &(VkImageMemoryBarrier2){
                                                .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                                .srcStageMask = uses[before].stages,
                                                .srcAccessMask = uses[before].access,
                                                .dstStageMask = uses[to].stages,
                                                .dstAccessMask = uses[to].access,
                                                .oldLayout = uses[from].layout,
                                                .newLayout = uses[to].layout,
                                                .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                                .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                                .image = image,
                                                .subresourceRange = {aspect, level, levels, 0, 1},
                                            },
                                    });
}
