/* SPDX-License-Identifier: MIT */
/* Creates a queue with a ring and a doorbell, and writes to it. */
#include "ring.h"

#include <belfry/native_fence.h>

#include <sched.h>

VkResult sample_ring_create(BfDevice device, BfCommandListType type, uint32_t entries,
                            struct sample_ring *r)
{
    *r = (struct sample_ring){.ring.sType = BF_STRUCTURE_TYPE_RING};
    const BfCommandQueueCreateInfo queue = {
        .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
        .type = type,
        .flags = BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT,
    };
    const BfRingCreateInfo ring = {
        .sType = BF_STRUCTURE_TYPE_RING_CREATE_INFO,
        .entryCount = entries,
    };
    VkResult result = bfCreateCommandQueue(device, &queue, &r->queue);
    if (result == VK_SUCCESS)
        result = bfGetCommandQueueProgressFence(r->queue, &r->progress);
    if (result == VK_SUCCESS)
        result = bfCreateRing(device, &ring, &r->ring);
    if (result != VK_SUCCESS)
        return result;
    r->doorbell = (BfCreateDoorbell){
        .hHwQueue = bfGetCommandQueueKmtHandle(r->queue),
        .hRingBuffer = r->ring.hRingBuffer,
        .hRingBufferControl = r->ring.hRingBufferControl,
    };
    result = bfCreateDoorbell(&r->doorbell);
    if (result != VK_SUCCESS)
        return result;
    r->writer = (BfRingWriter){
        .pEntries = r->ring.pEntries,
        .pControl = r->ring.pControl,
        .entryCount = r->ring.entryCount,
        .pDoorbell = r->doorbell.doorbellCPUVirtualAddress,
        .pStatus = r->doorbell.doorbellStatusCPUVirtualAddress,
        .pLastQueued = r->doorbell.hwQueueProgressFenceLastQueuedValueCPUVirtualAddress,
        .hDoorbell = r->doorbell.hDoorbell,
    };
    return VK_SUCCESS;
}

VkResult sample_ring_connect(const struct sample_ring *r)
{
    const BfConnectDoorbell connect = {.hDoorbell = r->doorbell.hDoorbell};
    return bfConnectDoorbell(&connect);
}

void sample_ring_destroy(struct sample_ring *r)
{
    const BfDestroyDoorbell doorbell = {.hDoorbell = r->doorbell.hDoorbell};
    if (doorbell.hDoorbell)
        bfDestroyDoorbell(&doorbell);
    bfDestroyRing(r->ring.hRingBuffer);
    bfDestroyCommandQueue(r->queue);
    *r = (struct sample_ring){0};
}

VkResult sample_ring_append(struct sample_ring *r, const BfRingEntry *entry)
{
    VkResult result;
    while ((result = bfAppendToRing(&r->writer, entry)) == VK_NOT_READY) {
        if (__atomic_load_n(r->writer.pStatus, __ATOMIC_ACQUIRE) ==
            BF_DOORBELL_STATUS_DISCONNECTED_ABORT)
            return sample_ring_connect(r); /* says why */
        sched_yield();
    }
    r->last = entry->progressValue;
    return result;
}

VkResult sample_ring_execute(struct sample_ring *r, uint32_t command_buffer)
{
    const BfRingEntry entry = {
        .progressValue = r->last + 1,
        .commandBuffer = command_buffer,
        .waitFence = BF_RING_NONE,
        .signalFence = BF_RING_NONE,
    };
    VkResult result = sample_ring_append(r, &entry);
    return result == VK_SUCCESS ? bfRingDoorbell(&r->writer) : result;
}

VkResult sample_ring_wait(const struct sample_ring *r)
{
    const uint64_t last = r->last;
    return last ? bfWaitFences(1, &r->progress, &last, BF_FENCE_WAIT_ALL, UINT64_MAX) : VK_SUCCESS;
}
