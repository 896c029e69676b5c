/* SPDX-License-Identifier: MIT */
/* Doorbells: created, connected, notified, destroyed; and doorbell/'s part of a device. */
#include "doorbell/doorbell.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "doorbell/kmt_handle.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"
#include "trace/trace.h"

_Static_assert((int)BF_DOORBELL_CONNECTED == BF_DOORBELL_STATUS_CONNECTED &&
                   (int)BF_DOORBELL_CONNECTED_NOTIFY == BF_DOORBELL_STATUS_CONNECTED_NOTIFY &&
                   (int)BF_DOORBELL_DISCONNECTED_RETRY == BF_DOORBELL_STATUS_DISCONNECTED_RETRY &&
                   (int)BF_DOORBELL_DISCONNECTED_ABORT == BF_DOORBELL_STATUS_DISCONNECTED_ABORT,
               "pages store what the program reads");

/* -------------------------------------------------------------------------- The device's -- */

struct ending {
    VkCommandBuffer buffer;
    struct bf_map *pool;
};

static void visit_buffers(struct bf_hw_queue *hw, void *argument)
{
    const struct ending *ending = argument;
    bf_hw_queue_forget_buffers(hw, ending->buffer, ending->pool);
}

void bf_doorbells_buffers_end(struct bf_gpu *gpu, VkCommandBuffer buffer, struct bf_map *pool)
{
    bf_doorbells_each((struct bf_scheduler *)gpu, visit_buffers, &(struct ending){buffer, pool});
}

VkResult bf_doorbells_of(struct bf_scheduler *scheduler, struct bf_doorbells **out)
{
    const struct bf_doorbell_info *info = &scheduler->doorbell_info;
    struct bf_doorbells *none = NULL, *doorbells = atomic_load(&scheduler->doorbells);
    *out = doorbells;
    if (doorbells)
        return VK_SUCCESS;
    doorbells =
        calloc(1, sizeof(*doorbells) + scheduler->engine_count * sizeof(doorbells->threads[0]));
    if (!doorbells)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    doorbells->scheduler = scheduler;
    VkResult result = bf_doorbell_pages_init(&doorbells->pages, info->physical, info->global, NULL);
    if (result != VK_SUCCESS) {
        free(doorbells);
        return result;
    }
    if (atomic_compare_exchange_strong(&scheduler->doorbells, &none, doorbells)) {
        *out = doorbells;
        return VK_SUCCESS;
    }
    bf_doorbell_pages_finish(&doorbells->pages); /* another thread was faster */
    free(doorbells);
    *out = none;
    return VK_SUCCESS;
}

static void doorbell_free(struct bf_doorbell *doorbell)
{
    struct bf_doorbell_thread *thread = doorbell->thread;
    struct bf_doorbells *doorbells = thread->scheduler->doorbells;
    bf_kmt_remove(doorbell->handle);
    bf_lock_acquire(&thread->lock); /* its thread doesn't look at pages meanwhile */
    bf_doorbell_page_destroy(&doorbells->pages, &doorbell->page);
    bf_lock_release(&thread->lock);
    bf_ring_release(doorbell->ring);
    free(doorbell);
}

void bf_doorbells_stop(struct bf_scheduler *scheduler)
{
    struct bf_doorbells *doorbells = atomic_load(&scheduler->doorbells);
    if (!doorbells)
        return;
    bf_doorbell_pages_disconnect(&doorbells->pages, BF_DOORBELL_DISCONNECTED_ABORT);
    bool stopped = true;
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        stopped &= bf_doorbell_thread_stop(doorbells, i);
    for (struct bf_doorbell *d = doorbells->doorbells; d; d = d->next) {
        uint32_t none = BF_ABORT_REASON_NONE; /* nothing is read any more */
        atomic_compare_exchange_strong(&d->reason, &none, BF_ABORT_REASON_DEVICE_LOST);
    }
    if (!stopped) { /* it comes back to a lost device, of which it asks the driver nothing */
        bf_scheduler_lose_for(scheduler, BF_DEVICE_REMOVED_REASON_HUNG, "reading a ring");
        bf_scheduler_settle(scheduler);
        return;
    }
    struct bf_pending *pending = &scheduler->pending;
    bool idle = true;
    for (struct bf_command_queue *queue = pending->queues; queue; queue = queue->next)
        idle = idle && (!queue->hw || bf_hw_queue_is_idle(queue->hw));
    if (!idle && !bf_scheduler_is_lost(scheduler))
        bf_scheduler_await_accepted(scheduler, scheduler->leave_ns);
    for (struct bf_command_queue *queue = pending->queues; queue; queue = queue->next) {
        if (queue->hw)
            bf_hw_queue_end(queue);
    }
    while (doorbells->doorbells) {
        struct bf_doorbell *next = doorbells->doorbells->next;
        doorbell_free(doorbells->doorbells);
        doorbells->doorbells = next;
    }
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        bf_doorbell_thread_free(doorbells, i);
    bf_rings_release(doorbells);
    bf_doorbell_pages_finish(&doorbells->pages);
    atomic_store(&scheduler->doorbells, NULL);
    free(doorbells);
}

static void visit_fence(struct bf_hw_queue *hw, void *fence)
{
    bf_hw_queue_forget_fence(hw, fence);
}

static void doorbells_fence_ends(struct bf_fence *fence)
{
    bf_doorbells_each(fence->scheduler, visit_fence, fence);
}

/* DT-4 */
static void doorbells_lost(struct bf_scheduler *scheduler)
{
    struct bf_doorbells *doorbells = atomic_load(&scheduler->doorbells);
    if (doorbells)
        bf_doorbell_pages_disconnect(&doorbells->pages, BF_DOORBELL_DISCONNECTED_ABORT);
}

const struct bf_doorbell_extension bf_doorbell_extension = {
    .queue_begins = bf_hw_queue_begin,
    .queue_ends = bf_hw_queue_end,
    .fence_ends = doorbells_fence_ends,
    .ring = bf_doorbell_ring_vkqueues,
    .lost = doorbells_lost,
};

/* ---------------------------------------------------------------------------- Doorbells -- */

void bf_doorbell_retire(struct bf_doorbell *doorbell, BfAbortReason reason, bool drain)
{
    struct bf_hw_queue *hw = doorbell->hw;
    struct bf_doorbell_thread *thread = doorbell->thread;
    struct bf_doorbell_pages *pages = &thread->scheduler->doorbells->pages;
    uint32_t none = BF_ABORT_REASON_NONE;
    bf_doorbell_page_disconnect(pages, &doorbell->page, BF_DOORBELL_DISCONNECTED_ABORT);
    if (drain) {
        if (bf_ring_written(doorbell->ring) != atomic_load(&doorbell->read))
            bf_doorbell_power_wake(thread);
        bf_hw_queue_drain(hw);
    }
    atomic_compare_exchange_strong(&doorbell->reason, &none, reason);
    bf_lock_acquire(&thread->lock);
    atomic_store(&hw->doorbell, NULL);
    doorbell->hw = NULL;
    bf_lock_release(&thread->lock);
}

static bool doorbell_info_check(const BfCreateDoorbell *info)
{
    const uint32_t known = BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT;
    if (!info) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateDoorbell: pInfo is NULL");
        return false;
    }
    if ((info->flags & ~known) || info->privateDriverDataSize > 16) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateDoorbell: flags 0x%x, privateDriverDataSize %u",
                   info->flags, info->privateDriverDataSize);
        return false;
    }
    return true;
}

/* The ring of the call, of which no other doorbell has been made. */
static struct bf_ring *doorbell_ring(const BfCreateDoorbell *info, const struct bf_hw_queue *hw)
{
    static const char call[] = "bfCreateDoorbell";
    struct bf_ring *ring = bf_kmt_check(info->hRingBuffer, BF_KMT_RING_BUFFER, call, "hRingBuffer");
    if (!ring)
        return NULL;
    if (info->hRingBufferControl && info->hRingBufferControl != ring->control) {
        bf_message(BF_MESSAGE_ERROR, "%s: hRingBufferControl 0x%x is not that of ring 0x%x", call,
                   info->hRingBufferControl, info->hRingBuffer);
        return NULL;
    }
    if (ring->scheduler != hw->queue->base.scheduler) {
        bf_message(BF_MESSAGE_ERROR, "%s: ring and queue are of different devices", call);
        return NULL;
    }
    if (atomic_exchange(&ring->taken, true)) {
        bf_message(BF_MESSAGE_ERROR, "%s: ring 0x%x has or had a doorbell", call,
                   info->hRingBuffer);
        return NULL;
    }
    return ring;
}

static VkResult doorbell_create(struct bf_hw_queue *hw, struct bf_ring *ring,
                                struct bf_doorbell **out)
{
    struct bf_doorbells *doorbells = hw->queue->base.scheduler->doorbells;
    struct bf_doorbell *doorbell = calloc(1, sizeof(*doorbell));
    if (!doorbell)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    doorbell->thread = hw->thread;
    doorbell->hw = hw;
    doorbell->ring = ring;
    doorbell->trace_id = hw->queue->base.trace_id;
    doorbell->handle = bf_kmt_add(BF_KMT_DOORBELL, doorbell);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (doorbell->handle) {
        /* Its thread doesn't look at pages meanwhile. */
        bf_lock_acquire(&hw->thread->lock);
        result = bf_doorbell_page_create(&doorbells->pages, &hw->thread->group, &doorbell->page);
        bf_lock_release(&hw->thread->lock);
    }
    if (result != VK_SUCCESS) {
        bf_kmt_remove(doorbell->handle);
        free(doorbell);
        return result;
    }
    bf_ring_reference(ring);
    bf_lock_acquire(&doorbells->lock);
    doorbell->next = doorbells->doorbells;
    doorbells->doorbells = doorbell;
    bf_lock_release(&doorbells->lock);
    *out = doorbell;
    return VK_SUCCESS;
}

/* Gives the queue its doorbell, in place of the one it has. Errors: VK_ERROR_UNKNOWN,
 * VK_NOT_READY. */
static VkResult queue_set_doorbell(struct bf_hw_queue *hw, struct bf_doorbell *doorbell)
{
    if (!bf_hw_queue_enter(hw))
        return VK_ERROR_DEVICE_LOST;
    struct bf_doorbell *before = atomic_load(&hw->doorbell);
    VkResult result = VK_SUCCESS;
    if (hw->ended)
        result = VK_ERROR_UNKNOWN;
    else if (before && atomic_load(&hw->suspended) &&
             bf_ring_written(before->ring) != atomic_load(&before->read))
        result = VK_NOT_READY; /* it comes first, and can't come now */
    if (result != VK_SUCCESS) {
        bf_lock_release(&hw->lock);
        return result;
    }
    if (before) /* whoever suspends the queue from here on */
        bf_doorbell_retire(before, BF_ABORT_REASON_RETIRED, true);
    if (hw->ended) { /* by what was still in that ring */
        bf_lock_release(&hw->lock);
        return VK_ERROR_UNKNOWN;
    }
    bf_lock_acquire(&hw->thread->lock);
    atomic_store(&doorbell->page.suspended, atomic_load(&hw->suspended) != 0);
    atomic_store(&hw->doorbell, doorbell);
    bf_lock_release(&hw->thread->lock);
    bf_lock_release(&hw->lock);
    return VK_SUCCESS;
}

static void doorbell_unlist(struct bf_doorbell *doorbell)
{
    struct bf_doorbells *doorbells = doorbell->thread->scheduler->doorbells;
    bf_lock_acquire(&doorbells->lock);
    struct bf_doorbell **link = &doorbells->doorbells;
    while (*link != doorbell)
        link = &(*link)->next;
    *link = doorbell->next;
    bf_lock_release(&doorbells->lock);
}

VkResult bfCreateDoorbell(BfCreateDoorbell *info)
{
    if (!doorbell_info_check(info))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_hw_queue *hw = bf_kmt_check(info->hHwQueue, BF_KMT_QUEUE, __func__, "hHwQueue");
    if (!hw)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bool resizes = info->flags & BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT;
    if (resizes != (atomic_load(&hw->doorbell) != NULL)) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateDoorbell: the queue%s %s", BF_LABEL(hw->queue),
                   resizes
                       ? "has no doorbell whose ring could be resized"
                       : "has a doorbell (BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT)");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (bf_scheduler_is_lost(hw->queue->base.scheduler))
        return bf_scheduler_settle(hw->queue->base.scheduler);
    struct bf_ring *ring = doorbell_ring(info, hw);
    if (!ring)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbell *doorbell;
    VkResult result = doorbell_create(hw, ring, &doorbell);
    if (result != VK_SUCCESS) {
        atomic_store(&ring->taken, false);
        return result;
    }
    result = queue_set_doorbell(hw, doorbell);
    if (result != VK_SUCCESS) {
        doorbell_unlist(doorbell);
        doorbell_free(doorbell);
        atomic_store(&ring->taken, false);
        return result;
    }
    info->doorbellCPUVirtualAddress = doorbell->page.doorbell;
    info->doorbellSecondaryCPUVirtualAddress = NULL;
    info->doorbellStatusCPUVirtualAddress = doorbell->page.status;
    info->hwQueueProgressFenceLastQueuedValueCPUVirtualAddress = doorbell->page.last_queued;
    info->hDoorbell = doorbell->handle;
    return VK_SUCCESS;
}

/* The doorbell of a call; flags must be 0. */
static struct bf_doorbell *doorbell_of(BfKmtHandle handle, uint32_t flags, const char *call)
{
    if (flags) {
        bf_message(BF_MESSAGE_ERROR, "%s: flags 0x%x", call, flags);
        return NULL;
    }
    return bf_kmt_check(handle, BF_KMT_DOORBELL, call, "hDoorbell");
}

VkResult bfConnectDoorbell(const BfConnectDoorbell *info)
{
    struct bf_doorbell *doorbell =
        info ? doorbell_of(info->hDoorbell, info->flags, __func__) : NULL;
    if (!doorbell)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_scheduler *scheduler = doorbell->thread->scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    if (atomic_load(&doorbell->reason))
        return VK_ERROR_UNKNOWN;
    VkResult result = bf_doorbell_page_connect(&scheduler->doorbells->pages, &doorbell->page);
    bf_doorbell_power_wake(doorbell->thread);
    if (result == VK_SUCCESS && !atomic_exchange(&doorbell->traced, true))
        bf_trace_ring(scheduler->gpu.trace, doorbell->trace_id, BF_TRACE_RING_CONNECTED, 0, 0);
    if (bf_scheduler_is_lost(scheduler)) /* perhaps after its doorbells had been told */
        doorbells_lost(scheduler);
    else if (result != VK_ERROR_DEVICE_LOST)
        return result;
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_ERROR_UNKNOWN;
}

VkResult bfNotifyWorkSubmission(const BfNotifyWorkSubmission *info)
{
    struct bf_doorbell *doorbell =
        info ? doorbell_of(info->hDoorbell, info->flags, __func__) : NULL;
    if (!doorbell)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_doorbell_page_mark(&doorbell->page);
    bf_watch_notice(doorbell->thread->scheduler->watch);
    bf_trace_ring(doorbell->thread->scheduler->gpu.trace, doorbell->trace_id,
                  BF_TRACE_RING_NOTIFIED, 0, 0);
    return VK_SUCCESS;
}

VkResult bfDestroyDoorbell(const BfDestroyDoorbell *info)
{
    struct bf_doorbell *doorbell = info ? doorbell_of(info->hDoorbell, 0, __func__) : NULL;
    if (!doorbell)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_hw_queue *hw = bf_doorbell_hold_queue(doorbell);
    const bool entered = hw && bf_hw_queue_enter(hw);
    if (entered) {
        if (atomic_load(&hw->doorbell) == doorbell)
            bf_doorbell_retire(doorbell, BF_ABORT_REASON_RETIRED, atomic_load(&hw->suspended) == 0);
        bf_lock_release(&hw->lock);
    }
    if (hw)
        bf_doorbell_release_queue(hw);
    if (hw && !entered) { /* it stays until the device ends */
        bf_kmt_remove(doorbell->handle);
        doorbell->handle = 0;
        return VK_SUCCESS;
    }
    doorbell_unlist(doorbell);
    doorbell_free(doorbell);
    return VK_SUCCESS;
}

VkResult bfGetAbortReason(BfKmtHandle handle, BfAbortReason *reason, uint64_t *entry)
{
    struct bf_doorbell *doorbell = doorbell_of(handle, 0, __func__);
    if (!doorbell)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    uint32_t found = atomic_load(&doorbell->reason);
    if (!found && bf_scheduler_is_lost(doorbell->thread->scheduler))
        found = BF_ABORT_REASON_DEVICE_LOST;
    if (reason)
        *reason = (BfAbortReason)found;
    if (entry)
        *entry = atomic_load(&doorbell->entry);
    return VK_SUCCESS;
}

/* -------------------------------------------------------------------------------- Features -- */

VkResult bfGetUserModeSubmissionCaps(BfDevice device, BfUserModeSubmissionCaps *caps)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(device, __func__);
    if (scheduler && !caps)
        bf_message(BF_MESSAGE_ERROR, "bfGetUserModeSubmissionCaps: pCaps is NULL");
    if (!scheduler || !caps)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbells *doorbells;
    VkResult result = bf_doorbells_of(scheduler, &doorbells);
    if (result == VK_SUCCESS)
        *caps =
            (BfUserModeSubmissionCaps){.doorbellSizeInBytes = (uint32_t)doorbells->pages.page_size};
    return result;
}

VkResult bfGetNodeMetadata(BfDevice device, BfCommandListType type, BfNodeMetadataFlags *flags)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(device, __func__);
    bool known = type == BF_COMMAND_LIST_TYPE_DIRECT || type == BF_COMMAND_LIST_TYPE_COMPUTE ||
                 type == BF_COMMAND_LIST_TYPE_COPY;
    if (scheduler && (!known || !flags))
        bf_message(BF_MESSAGE_ERROR, "bfGetNodeMetadata: type %d, pFlags %p", (int)type,
                   (void *)flags);
    if (!scheduler || !known || !flags)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbells *doorbells;
    *flags = bf_doorbells_of(scheduler, &doorbells) == VK_SUCCESS
                 ? BF_NODE_METADATA_USER_MODE_SUBMISSION_BIT
                 : 0;
    return VK_SUCCESS;
}
