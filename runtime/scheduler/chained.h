/* SPDX-License-Identifier: MIT */
/* What may be chained to a batch, and the oldest supported headers lack: VkFrameBoundaryEXT
 * (VK_EXT_frame_boundary) and VkLatencySubmissionPresentIdNV (VK_NV_low_latency2). */
#ifndef BELFRY_SCHEDULER_CHAINED_H
#define BELFRY_SCHEDULER_CHAINED_H

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

#define BF_STRUCTURE_TYPE_SUBMISSION_PRESENT_ID ((VkStructureType)1000505005)

struct bf_submission_present_id {
    VkStructureType sType;
    const void *pNext;
    uint64_t presentID;
};

#ifdef VK_EXT_frame_boundary
_Static_assert(BF_STRUCTURE_TYPE_FRAME_BOUNDARY == VK_STRUCTURE_TYPE_FRAME_BOUNDARY_EXT &&
                   sizeof(struct bf_frame_boundary) == sizeof(VkFrameBoundaryEXT) &&
                   offsetof(struct bf_frame_boundary, pTag) == offsetof(VkFrameBoundaryEXT, pTag),
               "as Vulkan has it");
#endif

#ifdef VK_NV_low_latency2
_Static_assert(BF_STRUCTURE_TYPE_SUBMISSION_PRESENT_ID ==
                       VK_STRUCTURE_TYPE_LATENCY_SUBMISSION_PRESENT_ID_NV &&
                   sizeof(struct bf_submission_present_id) ==
                       sizeof(VkLatencySubmissionPresentIdNV),
               "as Vulkan has it");
#endif

#endif
