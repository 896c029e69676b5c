/* SPDX-License-Identifier: MIT */
/* An engine's epochs: the timeline semaphore that counts them, and the last one reached. */
#include "gpu/engine.h"

#include "gpu/gpu.h"
#include "gpu/made.h"

VkResult bf_gpu_engine_create_epoch(struct bf_gpu_engine *engine)
{
    struct bf_gpu *gpu = engine->gpu;
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    return BF_MADE(gpu->vk.vkCreateSemaphore(gpu->handle, &info, NULL, &engine->epoch),
                   &engine->epoch);
}

/* Keeps the largest value that any thread has read: the counter only grows. */
static void note_seen_epoch(struct bf_gpu_engine *engine, uint64_t epoch)
{
    uint64_t seen = atomic_load_explicit(&engine->seen_epoch, memory_order_relaxed);
    while (seen < epoch && !atomic_compare_exchange_weak(&engine->seen_epoch, &seen, epoch))
        ;
}

VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *engine, uint64_t *epoch)
{
    struct bf_gpu *gpu = engine->gpu;
    *epoch = 0;
    if (atomic_load(&engine->issued_epoch) == 0) /* there may be no semaphore yet */
        return VK_SUCCESS;
    atomic_fetch_add_explicit(&gpu->counters.counter_queries, 1, memory_order_relaxed);
    VkResult result = gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, engine->epoch, epoch);
    if (result != VK_SUCCESS)
        return result;
    /* Some drivers return this value for a lost device. */
    if (*epoch == UINT64_MAX)
        return VK_ERROR_DEVICE_LOST;
    note_seen_epoch(engine, *epoch);
    return VK_SUCCESS;
}

bool bf_gpu_engine_is_over(struct bf_gpu_engine *engine, uint64_t epoch)
{
    uint64_t completed;
    return epoch <= atomic_load(&engine->seen_epoch) ||
           (bf_gpu_engine_completed_epoch(engine, &completed) == VK_SUCCESS && epoch <= completed);
}
