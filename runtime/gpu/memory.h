/* SPDX-License-Identifier: MIT */
/*
 * Buffers of Belfry's own, for what the GPU and the CPU pass to each other: the values of native
 * fences, what command buffers copy from, logs. Few and small.
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
    /* Mapped and coherent: Vulkan promises every device a memory type of the kind. Cached by the
     * CPU where there is a choice, since it reads. */
    BF_BUFFER_HOST,
    /* The same, and the program gets to see it: through a mapping that can't be written to, where
     * memory of the host's own can be imported. */
    BF_BUFFER_SHOWN,
    /* The GPU's own, not mapped. */
    BF_BUFFER_DEVICE,
};

struct bf_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t address;  /* the GPU's; 0 where the device has no buffer addresses */
    void *mapped;      /* NULL: the GPU's own */
    const void *shown; /* the program's view of it; NULL: none */
    bool read_only;    /* 'shown' can't be written to */
    /* Imported: our mapping and the program's, of the same pages. */
    void *pages;
    void *view;
};

/* Transfers in and out, storage, the address; shared by all families that have engines. What is
 * mapped is zero. Errors: VK_ERROR_OUT_OF_HOST_MEMORY, and those of vkCreateBuffer,
 * vkAllocateMemory, vkMapMemory and vkBindBufferMemory. */
VkResult bf_buffer_create(struct bf_gpu *gpu, VkDeviceSize size, enum bf_buffer_place place,
                          struct bf_buffer *buffer);

/* A zeroed one is allowed, and is what it leaves. */
void bf_buffer_destroy(struct bf_gpu *gpu, struct bf_buffer *buffer);

#endif
