/* SPDX-License-Identifier: MIT */
/* The public side of preemption: what is promised, requests, and what has become of them. */
#include "belfry/preemption.h"

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "fence/fence.h"
#include "scheduler/command_queue.h"
#include "scheduler/preempt.h"
#include "scheduler/scheduler.h"

VkResult bfGetPreemptionCaps(BfDevice handle, BfPreemptionCaps *caps)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler ||
        !bf_structure_check(caps, BF_STRUCTURE_TYPE_PREEMPTION_CAPS, __func__, "pCaps"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bool on = scheduler->preemption && !atomic_load(&scheduler->seen_outside);
    caps->graphicsPreemptionGranularity =
        on ? BF_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY : BF_GRAPHICS_PREEMPTION_NONE;
    caps->computePreemptionGranularity =
        on ? BF_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY : BF_COMPUTE_PREEMPTION_NONE;
    caps->schedulingCaps = BF_SCHEDULING_CAPS_MULTI_ENGINE_AWARE_BIT |
                           BF_SCHEDULING_CAPS_NO_DMA_PATCHING_BIT |
                           (on ? BF_SCHEDULING_CAPS_PREEMPTION_AWARE_BIT : 0);
    return VK_SUCCESS;
}

static VkResult engine_make_fence(struct bf_engine *engine)
{
    struct bf_fence *fence;
    VkResult result = bf_fence_create(engine->scheduler, 0, BF_SYNC_OBJECT_NO_SIGNAL_BIT, &fence);
    if (result != VK_SUCCESS)
        return result;
    fence->queue_owned = true;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    bool first = entry != BF_ENGINE_LOST && !atomic_load(&engine->preempt.fence);
    if (first)
        atomic_store(&engine->preempt.fence, fence);
    bf_engine_leave_beside(engine, entry);
    if (!first)
        bf_fence_destroy(fence);
    return entry == BF_ENGINE_LOST ? bf_scheduler_settle(engine->scheduler) : VK_SUCCESS;
}

/* The live queue, of whatever kind, whose engine has all that requests need. */
static VkResult queue_prepare_requests(BfCommandQueue handle, const char *call,
                                       struct bf_command_queue **queue)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *queue = (struct bf_command_queue *)handle;
    if (!(*queue)->base.scheduler->preemption) {
        bf_message(BF_MESSAGE_ERROR, "%s: the setting preemption is off", call);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    struct bf_engine *engine = (*queue)->base.engine;
    VkResult result = bf_preempt_prepare(engine);
    if (result == VK_SUCCESS && !atomic_load(&engine->preempt.fence))
        result = engine_make_fence(engine);
    return result;
}

VkResult bfRequestPreemption(BfCommandQueue handle, uint64_t *number)
{
    struct bf_command_queue *queue;
    uint64_t unused;
    VkResult result = queue_prepare_requests(handle, __func__, &queue);
    return result == VK_SUCCESS ? bf_preempt_request(queue, number ? number : &unused) : result;
}

VkResult bfGetPreemptionFence(BfCommandQueue handle, BfFence *fence)
{
    struct bf_command_queue *queue;
    if (!fence) {
        bf_message(BF_MESSAGE_ERROR, "%s: pFence is NULL", __func__);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = queue_prepare_requests(handle, __func__, &queue);
    if (result == VK_SUCCESS)
        *fence = (BfFence)atomic_load(&queue->base.engine->preempt.fence);
    return result;
}

VkResult bfGetPreemptionStatus(BfCommandQueue handle, BfPreemptionStatus *status)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue") ||
        !bf_structure_check(status, BF_STRUCTURE_TYPE_PREEMPTION_STATUS, __func__, "pStatus"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const struct bf_engine *engine = ((struct bf_command_queue *)handle)->base.engine;
    const struct bf_preempt *preempt = &engine->preempt;
    struct bf_lock *lock = &engine->scheduler->pending.lock;
    bf_lock_acquire(lock);
    *status = (BfPreemptionStatus){
        .sType = status->sType,
        .pNext = status->pNext,
        .preemptionFenceId = preempt->completed,
        .lastCompletedFenceId = preempt->completed_epoch,
        .nodeOrdinal = engine->base.family,
        .engineOrdinal = engine->base.index,
        .requestCount = preempt->requested,
        .heldPacketCount = preempt->held,
        .latencyNs = preempt->latency_ns,
        .greatestLatencyNs = preempt->greatest_latency_ns,
        .sumOfLatenciesNs = preempt->sum_of_latencies_ns,
    };
    bf_lock_release(lock);
    return VK_SUCCESS;
}
