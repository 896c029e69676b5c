/* SPDX-License-Identifier: MIT */
/* bfCreateFence, bfGetFenceCreationFlags, bfDestroyFence, bfGetFenceCompletedValue and
 * bfSignalFence. */
#include "fence/fence.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/shared.h"
#include "fence/wait.h"
#include "scheduler/acceptance.h"
#include "scheduler/command_queue.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

void bf_fence_look_outside(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_shared_absorb(fence, effects);
    if (fence->native)
        bf_native_sample(fence, effects);
}

bool bf_fence_cpu_may(const struct bf_fence *fence, BfSyncObjectFlags bit)
{
    if (bit == BF_SYNC_OBJECT_NO_SIGNAL_BIT)
        bit |= BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
    return !(fence->flags & bit) &&
           !(fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU);
}

#define SHARED (BF_SYNC_OBJECT_SHARED_BIT | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT)

/* D3D12's flags and the DDI's, as the DDI's. Errors, with a line: bfCreateFence's of its info. */
static VkResult fence_flags(const BfFenceCreateInfo *info, BfSyncObjectFlags *flags)
{
    const void *chained;
    if (!bf_structure_check_extended(info, BF_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     BF_STRUCTURE_TYPE_SYNC_OBJECT_CREATE_INFO, &chained,
                                     "bfCreateFence", "pInfo"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const BfSyncObjectCreateInfo *more = chained;
    *flags = more ? more->flags : BF_SYNC_OBJECT_FLAGS_NONE;
    if (info->flags & BF_FENCE_SHARED_BIT)
        *flags |= BF_SYNC_OBJECT_SHARED_BIT;
    if (info->flags & BF_FENCE_SHARED_CROSS_ADAPTER_BIT)
        *flags |= BF_SYNC_OBJECT_CROSS_ADAPTER_BIT;
    if (info->flags & BF_FENCE_NON_MONITORED_BIT) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfCreateFence: flags: BF_FENCE_NON_MONITORED_BIT: every fence "
                   "is monitored here");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    const BfFenceFlags d3d12 = BF_FENCE_SHARED_BIT | BF_FENCE_SHARED_CROSS_ADAPTER_BIT;
    const VkFlags known = *flags & SHARED ? BF_FENCE_FLAGS | BF_FENCE_SHARED_FLAGS : BF_FENCE_FLAGS;
    if (!(info->flags & ~d3d12) && !(*flags & ~known))
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR, "bfCreateFence: flags: 0x%x, 0x%x: %s", info->flags,
               more ? more->flags : 0,
               *flags & SHARED ? "unknown bits" : "unknown bits, or those of a shared fence alone");
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bfCreateFence(BfDevice handle, const BfFenceCreateInfo *info, BfFence *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    BfSyncObjectFlags flags;
    VkResult result = fence_flags(info, &flags);
    if (result != VK_SUCCESS)
        return result;
    if (!out) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateFence: pFence is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_fence *fence;
    result = bf_fence_create(scheduler, info->initialValue, flags, &fence);
    if (result != VK_SUCCESS)
        return result;
    if (flags & SHARED)
        result = bf_shared_create(fence, flags & BF_FENCE_SHARED_FLAGS);
    if (result == VK_SUCCESS)
        *out = (BfFence)fence;
    else
        bfDestroyFence((BfFence)fence);
    return result;
}

BfFenceFlags bfGetFenceCreationFlags(BfFence handle)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return BF_FENCE_FLAGS_NONE;
    /* An object that was opened has its fence's flags from the descriptor. */
    BfSyncObjectFlags flags = fence->flags | (fence->shared ? fence->shared->flags : 0);
    return (flags & BF_SYNC_OBJECT_SHARED_BIT ? BF_FENCE_SHARED_BIT : 0) |
           (flags & BF_SYNC_OBJECT_CROSS_ADAPTER_BIT ? BF_FENCE_SHARED_CROSS_ADAPTER_BIT : 0);
}

void bfDestroyFence(BfFence handle)
{
    if (!handle)
        return;
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (fence && fence->queue_owned)
        bf_message(BF_MESSAGE_ERROR, "bfDestroyFence: the fence is its queue's, and goes with it");
    else if (fence)
        bf_fence_destroy(fence);
}

void bf_fence_destroy(struct bf_fence *fence)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_effects effects = {0};
    if (atomic_load(&fence->in_rings))
        scheduler->doorbell_extension->fence_ends(fence);
    bf_handle_remove(fence);
    bf_trace_forget_semaphore(scheduler->gpu.trace, (uintptr_t)fence);
    bf_lock_acquire(&scheduler->pending.lock);
    bf_observe_fence_remove(fence->observed);
    bool lingers = bf_shared_linger(fence, &effects);
    if (lingers) {
        bf_fence_reference(fence); /* its waiters may be gone before this call is */
    } else {
        fence->destroyed = true;
        bf_fence_satisfy_all(fence, &effects);
    }
    bf_lock_release(&scheduler->pending.lock);
    if (fence->imported)
        bf_import_release_queues(fence, &effects);
    if (!lingers)
        bf_shared_leave(fence);
    bf_import_export_stop(fence, true);
    bf_lock_acquire(&scheduler->pending.lock);
    bf_fence_release(fence);
    bf_lock_release(&scheduler->pending.lock);
    bf_effects_run(scheduler, &effects);
}

/* May the GPU have set it to a value that isn't known yet? Of a shared one, also by another object
 * on this device. */
static bool fence_may_be_behind(const struct bf_fence *fence)
{
    return atomic_load(&fence->pending) ||
           (fence->shared && atomic_load(&fence->scheduler->pending.count));
}

static uint64_t fence_get_value(struct bf_fence *fence)
{
    if (fence->imported)
        return bf_import_value(fence);
    bf_shared_look(fence);
    if (fence->native && bf_native_is_program_written(fence))
        bf_native_look(fence);
    uint64_t value = atomic_load(&fence->value);
    if (!fence_may_be_behind(fence))
        return value;
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&scheduler->pending, &effects);
    bf_effects_run(scheduler, &effects);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "bfGetFenceCompletedValue");
    bf_shared_look(fence);
    bf_lock_acquire(&scheduler->pending.lock);
    value = atomic_load(&fence->value);
    bf_lock_release(&scheduler->pending.lock);
    return value;
}

uint64_t bfGetFenceCompletedValue(BfFence handle)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (fence && fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfGetFenceCompletedValue: the fence%s is one that the CPU doesn't read",
                   BF_LABEL(fence));
        fence = NULL;
    }
    if (!fence)
        return UINT64_MAX;
    uint64_t value = fence_get_value(fence);
    bf_observe_fence_read(fence->observed, value);
    return value;
}

VkResult bfSignalFence(BfFence handle, uint64_t value)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_scheduler *scheduler = fence->scheduler;
    const uint64_t before = atomic_load(&scheduler->released);
    struct bf_effects effects = {0};
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    if (!bf_fence_cpu_may(fence, BF_SYNC_OBJECT_NO_SIGNAL_BIT)) {
        bf_message(BF_MESSAGE_ERROR, "bfSignalFence: the fence%s may not be signalled by the CPU",
                   BF_LABEL(fence));
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (fence->imported)
        return bf_import_signal(fence, value);
    VkResult result = bf_shared_check(fence);
    if (result != VK_SUCCESS)
        return result;
    /* What the GPU has done by now comes before this signal. */
    if (fence_may_be_behind(fence) &&
        bf_pending_retire(&scheduler->pending, &effects) == VK_ERROR_DEVICE_LOST) {
        bf_effects_run(scheduler, &effects);
        return bf_scheduler_lost(scheduler, __func__);
    }
    bf_fence_announce(fence, value);
    bf_observe_fence_signal(fence->observed, value);
    bf_lock_acquire(&scheduler->pending.lock);
    bf_fence_signal(fence, value, &effects);
    bf_lock_release(&scheduler->pending.lock);
    bf_trace_host_signal(scheduler->gpu.trace, (struct bf_trace_sync){(uintptr_t)fence, value});
    bf_effects_run(scheduler, &effects);
    bf_scheduler_wait_released(scheduler, before);
    return VK_SUCCESS;
}
