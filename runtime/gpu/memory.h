/* SPDX-License-Identifier: MIT */
/*
 * Belfry's own small buffers, through which the GPU and the CPU exchange data: values of native
 * fences, logs, and the payloads that command buffers copy from.
 *
 * Thread-safety: functions on different buffers may run at the same time.
 */
#ifndef BELFRY_GPU_MEMORY_H
#define BELFRY_GPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_gpu;

enum bf_buffer_place {
    /* Mapped and coherent: every Vulkan device has such a memory type. Cached by the CPU where
     * there is a choice, since the CPU reads it. */
    BF_BUFFER_HOST,
    /* The same, and the program sees it too: where the device can import host memory, through a
     * mapping that can't be written to. */
    BF_BUFFER_SHOWN,
    /* Device-local memory, not mapped. */
    BF_BUFFER_DEVICE,
    /* As BF_BUFFER_HOST, for descriptors of all kinds, on a device with
     * VK_EXT_descriptor_buffer. */
    BF_BUFFER_DESCRIPTORS,
};

struct bf_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t address;  /* device address; 0 if the device has no buffer addresses */
    void *mapped;      /* NULL: BF_BUFFER_DEVICE */
    const void *shown; /* the program's view of it; NULL: none */
    bool read_only;    /* 'shown' can't be written to */
    /* Imported host memory: a writable mapping and a read-only one of the same pages. */
    void *pages;
    void *view;
};

/* Usable for transfers, as a storage buffer and through its address, by all families that have
 * engines. Mapped memory is zeroed. Errors: VK_ERROR_OUT_OF_HOST_MEMORY, and those of
 * vkCreateBuffer, vkAllocateMemory, vkMapMemory and vkBindBufferMemory. */
VkResult bf_buffer_create(struct bf_gpu *gpu, VkDeviceSize size, enum bf_buffer_place place,
                          struct bf_buffer *buffer);

/* A zeroed struct is allowed; the struct is zeroed. */
void bf_buffer_destroy(struct bf_gpu *gpu, struct bf_buffer *buffer);

#endif
