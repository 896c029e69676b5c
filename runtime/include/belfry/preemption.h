/* SPDX-License-Identifier: MIT */
/*
 * Preemption, as WDDM 1.2 and later have it, above a Vulkan driver: what has been given to the
 * driver runs to its end, and what hasn't can be held back. So an engine (a VkQueue) is preempted
 * between submissions, the granularity that WDDM calls DMA buffer boundary.
 *
 * [PRE] is Microsoft's "GPU preemption" (Windows driver design guide);
 * docs/conformance/preemption.md goes through it sentence by sentence.
 */
#ifndef BELFRY_PREEMPTION_H
#define BELFRY_PREEMPTION_H

#include "belfry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY, in its order. */
typedef enum BfGraphicsPreemptionGranularity {
    BF_GRAPHICS_PREEMPTION_NONE = 0,
    BF_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY = 1,
    /* Never told: no Vulkan driver promises what is finer. */
    BF_GRAPHICS_PREEMPTION_PRIMITIVE_BOUNDARY = 2,
    BF_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY = 3,
    BF_GRAPHICS_PREEMPTION_PIXEL_BOUNDARY = 4,
    BF_GRAPHICS_PREEMPTION_SHADER_BOUNDARY = 5,
} BfGraphicsPreemptionGranularity;

/* D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY, in its order. */
typedef enum BfComputePreemptionGranularity {
    BF_COMPUTE_PREEMPTION_NONE = 0,
    BF_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY = 1,
    /* Never told, as above. */
    BF_COMPUTE_PREEMPTION_DISPATCH_BOUNDARY = 2,
    BF_COMPUTE_PREEMPTION_THREAD_GROUP_BOUNDARY = 3,
    BF_COMPUTE_PREEMPTION_THREAD_BOUNDARY = 4,
    BF_COMPUTE_PREEMPTION_SHADER_BOUNDARY = 5,
} BfComputePreemptionGranularity;

/* DXGK_VIDSCHCAPS: its bits that have a meaning here, by the same numbers. */
typedef enum BfSchedulingCapsFlagBits {
    BF_SCHEDULING_CAPS_MULTI_ENGINE_AWARE_BIT = 1,
    BF_SCHEDULING_CAPS_PREEMPTION_AWARE_BIT = 1 << 2,
    BF_SCHEDULING_CAPS_NO_DMA_PATCHING_BIT = 1 << 3, /* addresses are the GPU's virtual ones */
} BfSchedulingCapsFlagBits;
typedef VkFlags BfSchedulingCapsFlags;

/* D3DKMDT_PREEMPTION_CAPS and DXGK_VIDSCHCAPS: the coarsest granularity of the device's engines
 * that is promised. No Vulkan driver promises a finer one by any extension, though the GPU may well
 * have it, and use it between VkQueues of different global priority. None is, and the device isn't
 * PREEMPTION_AWARE, with the setting preemption=off, and where nothing is held: on attached devices
 * without BfAttachInfo::sharesNothing, and on any from the first time that a semaphore, a fence or
 * memory is made that may be exported from it, or is imported from elsewhere. (A semaphore of the
 * device's own that is a BfFence, too, is neither.) */
typedef struct BfPreemptionCaps {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_PREEMPTION_CAPS */
    void *pNext;
    BfGraphicsPreemptionGranularity graphicsPreemptionGranularity;
    BfComputePreemptionGranularity computePreemptionGranularity;
    BfSchedulingCapsFlags schedulingCaps;
} BfPreemptionCaps;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetPreemptionCaps(BfDevice device, BfPreemptionCaps *pCaps);

/*
 * Makes room for the queue on its engine (DxgkDdiPreemptCommand): until all that the engine has
 * been given by now is over, it is given no command buffers of other queues, neither of command
 * queues nor (under the layer) of the program's VkQueues, but of those with a higher priority. So
 * whatever the queue executes next is ahead of all that others have submitted and the driver hasn't
 * accepted. What that itself waits for is others' work, too, and keeps its place: the request may
 * hold it until it is complete. Then others go on behind. Nothing of them changes but when they
 * run: each queue keeps its order, fences and progress fences their values.
 *
 * Sparse binds are let through, and what a present or an exported semaphore depends on. While
 * somebody outside of the device can tell (a semaphore, a fence or memory has been exported or
 * imported; or an attached device hasn't BfAttachInfo::sharesNothing), nothing is held. A request
 * doesn't wait for packets that wait for a fence: these haven't been given to the engine. It may
 * wait for a call of the driver's, as submitting does; it doesn't wait for its completion.
 *
 * *pPreemptionFenceId (may be NULL) is the number of the request on its engine, which the
 * preemption fence has once it is complete.
 *
 * Errors: VK_ERROR_FEATURE_NOT_PRESENT (the setting preemption=off), VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_OUT_OF_DEVICE_MEMORY,
 * VK_ERROR_DEVICE_LOST, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfRequestPreemption(BfCommandQueue queue, uint64_t *pPreemptionFenceId);

/*
 * The fence that has the number of the last complete request of the queue's engine: queues and the
 * CPU wait for it as for any fence (DXGK_INTERRUPT_DMA_PREEMPTED). It is the engine's, and goes
 * with the device; it is not to be destroyed.
 *
 * Errors: those of bfRequestPreemption. Thread-safety: safe.
 */
BF_API VkResult bfGetPreemptionFence(BfCommandQueue queue, BfFence *pFence);

/* What there is to say of an engine's requests: DmaPreempted of
 * DXGKARGCB_NOTIFY_INTERRUPT_DATA, and what they have cost. */
typedef struct BfPreemptionStatus {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_PREEMPTION_STATUS */
    void *pNext;
    uint64_t preemptionFenceId;    /* of the last complete request; 0: none has been yet */
    uint64_t lastCompletedFenceId; /* submissions that the engine had completed then: its epoch */
    uint32_t nodeOrdinal;          /* the queue family below */
    uint32_t engineOrdinal;        /* the index of the VkQueue in it, below */
    uint64_t requestCount;         /* so far, complete or not; of programs, not the watchdog's */
    uint64_t heldPacketCount;      /* packets that requests have held back */
    /* From the call to the completion: of the last complete request, the longest, and the sum. */
    uint64_t latencyNs;
    uint64_t greatestLatencyNs;
    uint64_t sumOfLatenciesNs;
} BfPreemptionStatus;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe; all of it is of one instant. */
BF_API VkResult bfGetPreemptionStatus(BfCommandQueue queue, BfPreemptionStatus *pStatus);

#ifdef __cplusplus
}
#endif

#endif
