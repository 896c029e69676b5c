/* SPDX-License-Identifier: MIT */
/* VkFrameBoundaryEXT (VK_EXT_frame_boundary), which the oldest supported headers lack. */
#ifndef BELFRY_SCHEDULER_FRAME_BOUNDARY_H
#define BELFRY_SCHEDULER_FRAME_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#define BF_STRUCTURE_TYPE_FRAME_BOUNDARY ((VkStructureType)1000375001)

struct bf_frame_boundary {
    VkStructureType sType;
    const void *pNext;
    VkFlags flags;
    uint64_t frameID;
    uint32_t imageCount;
    const VkImage *pImages;
    uint32_t bufferCount;
    const VkBuffer *pBuffers;
    uint64_t tagName;
    size_t tagSize;
    const void *pTag;
};

#ifdef VK_EXT_frame_boundary
_Static_assert(BF_STRUCTURE_TYPE_FRAME_BOUNDARY == VK_STRUCTURE_TYPE_FRAME_BOUNDARY_EXT &&
                   sizeof(struct bf_frame_boundary) == sizeof(VkFrameBoundaryEXT) &&
                   offsetof(struct bf_frame_boundary, pTag) == offsetof(VkFrameBoundaryEXT, pTag),
               "as Vulkan has it");
#endif

#endif
