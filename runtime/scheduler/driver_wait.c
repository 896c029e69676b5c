/* SPDX-License-Identifier: MIT */
/* Waits in the driver, in slices where Belfry may declare the device lost on its own. */
#include "scheduler/driver_wait.h"

#include "base/clock.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"

#define SLICE_NS UINT64_C(100000000)

/* The pause after a wait for which the driver had no memory. */
#define MEMORY_SLICE_NS UINT64_C(1000000)

uint64_t bf_driver_slice_ns(const struct bf_scheduler *scheduler, uint64_t deadline_ns)
{
    uint64_t left = bf_remaining_ns(deadline_ns);
    return scheduler->sliced && left > SLICE_NS ? SLICE_NS : left;
}

bool bf_driver_slice_was_last(struct bf_scheduler *scheduler, VkResult *result,
                              uint64_t deadline_ns)
{
    if (*result != VK_TIMEOUT)
        return true;
    if (scheduler->sliced && bf_scheduler_is_lost(scheduler))
        *result = VK_ERROR_DEVICE_LOST;
    return *result != VK_TIMEOUT || bf_remaining_ns(deadline_ns) == 0;
}

VkResult bf_driver_wait_fences(struct bf_scheduler *scheduler, uint32_t count,
                               const VkFence *fences, VkBool32 all, uint64_t timeout_ns)
{
    const struct bf_gpu *gpu = &scheduler->gpu;
    if (!scheduler->sliced)
        return gpu->vk.vkWaitForFences(gpu->handle, count, fences, all, timeout_ns);
    const uint64_t deadline = bf_deadline_ns(timeout_ns);
    VkResult result;
    do
        result = gpu->vk.vkWaitForFences(gpu->handle, count, fences, all,
                                         bf_driver_slice_ns(scheduler, deadline));
    while (!bf_driver_slice_was_last(scheduler, &result, deadline));
    return result;
}

VkResult bf_driver_wait_semaphores(struct bf_scheduler *scheduler, const VkSemaphoreWaitInfo *info,
                                   uint64_t timeout_ns)
{
    const struct bf_gpu *gpu = &scheduler->gpu;
    if (!scheduler->sliced)
        return gpu->vk.vkWaitSemaphores(gpu->handle, info, timeout_ns);
    const uint64_t deadline = bf_deadline_ns(timeout_ns);
    VkResult result;
    do
        result =
            gpu->vk.vkWaitSemaphores(gpu->handle, info, bf_driver_slice_ns(scheduler, deadline));
    while (!bf_driver_slice_was_last(scheduler, &result, deadline));
    return result;
}

VkResult bf_driver_wait_timeline(struct bf_scheduler *scheduler, VkSemaphore semaphore,
                                 uint64_t value, uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo info = bf_gpu_timeline_wait(&semaphore, &value);
    return bf_driver_wait_semaphores(scheduler, &info, timeout_ns);
}

VkResult bf_driver_wait_epochs(struct bf_engine *engine)
{
    const uint64_t accepted = atomic_load(&engine->base.accepted_epoch);
    if (!engine->scheduler->sliced || accepted == 0)
        return VK_SUCCESS;
    return bf_driver_wait_timeline(engine->scheduler, engine->base.epoch, accepted, UINT64_MAX);
}

void bf_driver_wait_judge(struct bf_scheduler *scheduler, VkResult result, _Atomic uint32_t *turn,
                          uint32_t was, const char *where)
{
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
        struct timespec until = bf_timespec(bf_now_ns() + MEMORY_SLICE_NS);
        bf_futex_wait(turn, was, &until);
    } else if (result != VK_SUCCESS && result != VK_TIMEOUT) {
        bf_scheduler_lose_by(scheduler, result, where);
        bf_scheduler_settle(scheduler);
    }
}
