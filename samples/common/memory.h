/* SPDX-License-Identifier: MIT */
/*
 * Buffers and images with memory of their own, and transitions between the few ways in which the
 * samples use an image.
 */
#ifndef SAMPLE_MEMORY_H
#define SAMPLE_MEMORY_H

#include "device.h"

struct sample_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    void *mapped; /* host-visible memory: mapped while the buffer exists, and coherent; else NULL */
};

struct sample_image {
    VkImage handle;
    VkDeviceMemory memory;
    VkFormat format;
    VkExtent2D extent;
    uint32_t levels;
};

/* A buffer that all queues may use. `visible`: in host memory that the CPU reads quickly. */
VkResult sample_buffer_create(const struct sample_device *device, VkDeviceSize size,
                              VkBufferUsageFlags usage, bool visible, const char *name,
                              struct sample_buffer *buffer);
void sample_buffer_destroy(const struct sample_device *device, struct sample_buffer *buffer);

/* A 2D image for the graphics queue. */
VkResult sample_image_create(const struct sample_device *device, VkFormat format, VkExtent2D extent,
                             uint32_t levels, VkImageUsageFlags usage, const char *name,
                             struct sample_image *image);
/* The same, for all queues. */
VkResult sample_image_create_shared(const struct sample_device *device, VkFormat format,
                                    VkExtent2D extent, uint32_t levels, VkImageUsageFlags usage,
                                    const char *name, struct sample_image *image);
void sample_image_destroy(const struct sample_device *device, struct sample_image *image);

/* A view of one mip level. */
VkResult sample_view_create(const struct sample_device *device, VkImage image, VkFormat format,
                            uint32_t level, VkImageView *view);

/* A view of all mip levels. */
VkResult sample_view_create_whole(const struct sample_device *device,
                                  const struct sample_image *image, VkImageView *view);

/* The ways in which an image is used; each implies a layout, stages and accesses. */
enum sample_use {
    SAMPLE_USE_DISCARD, /* as the earlier use only: the contents may be lost */
    SAMPLE_USE_TARGET,  /* colour attachment, blended or not */
    SAMPLE_USE_SAMPLED, /* read by fragment shaders */
    SAMPLE_USE_SOURCE,  /* source of a copy or a blit */
    SAMPLE_USE_DEST,    /* destination of a copy or a blit */
    SAMPLE_USE_PRESENT, /* as the later use only */
    SAMPLE_USE_DEPTH,   /* depth attachment, tested and written */
    SAMPLE_USE_COMMON,  /* any use by any queue, like D3D12's COMMON; fences order the uses */
};

void sample_transition(VkCommandBuffer commands, VkImage image, uint32_t level, uint32_t levels,
                       enum sample_use from, enum sample_use to);

#endif
