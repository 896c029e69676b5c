/* SPDX-License-Identifier: MIT */
/*
 * Buffers and images with memory of their own, and the transitions between the few ways in which
 * the samples use an image.
 */
#ifndef SAMPLE_MEMORY_H
#define SAMPLE_MEMORY_H

#include "device.h"

struct sample_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    void *mapped; /* where the memory is host-visible: mapped for good, coherent */
};

struct sample_image {
    VkImage handle;
    VkDeviceMemory memory;
    VkFormat format;
    VkExtent2D extent;
    uint32_t levels;
};

/* A buffer both queues may use. `visible` asks for host memory that is fast to read back. */
VkResult sample_buffer_create(const struct sample_device *device, VkDeviceSize size,
                              VkBufferUsageFlags usage, bool visible, const char *name,
                              struct sample_buffer *buffer);
void sample_buffer_destroy(const struct sample_device *device, struct sample_buffer *buffer);

/* A 2D image for the graphics queue. */
VkResult sample_image_create(const struct sample_device *device, VkFormat format, VkExtent2D extent,
                             uint32_t levels, VkImageUsageFlags usage, const char *name,
                             struct sample_image *image);
/* The same for all queues. */
VkResult sample_image_create_shared(const struct sample_device *device, VkFormat format,
                                    VkExtent2D extent, uint32_t levels, VkImageUsageFlags usage,
                                    const char *name, struct sample_image *image);
void sample_image_destroy(const struct sample_device *device, struct sample_image *image);

/* A view of one level. */
VkResult sample_view_create(const struct sample_device *device, VkImage image, VkFormat format,
                            uint32_t level, VkImageView *view);

/* A view of all levels. */
VkResult sample_view_create_whole(const struct sample_device *device,
                                  const struct sample_image *image, VkImageView *view);

/* The ways in which an image is used; each implies a layout, stages and accesses. */
enum sample_use {
    SAMPLE_USE_DISCARD, /* only as the former use: whatever it was, the contents may go */
    SAMPLE_USE_TARGET,  /* colour attachment, blended or not */
    SAMPLE_USE_SAMPLED, /* read by fragment shaders */
    SAMPLE_USE_SOURCE,  /* of a copy or a blit */
    SAMPLE_USE_DEST,    /* of a copy or a blit */
    SAMPLE_USE_PRESENT, /* only as the latter use */
    SAMPLE_USE_DEPTH,   /* depth attachment, tested and written */
    SAMPLE_USE_COMMON,  /* everything, by any queue, as D3D12's COMMON; fences do the rest */
};

void sample_transition(VkCommandBuffer commands, VkImage image, uint32_t level, uint32_t levels,
                       enum sample_use from, enum sample_use to);

#endif
