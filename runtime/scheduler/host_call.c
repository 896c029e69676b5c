/* SPDX-License-Identifier: MIT */
/* Notes the program's waits in the driver for the watchdog. */
#include "scheduler/host_call.h"

#include "scheduler/scheduler.h"

/* A place for a call; NULL: it isn't to be noted. */
static struct bf_watched_call *place_take(struct bf_scheduler *scheduler)
{
    return scheduler->watches_all ? bf_watch_take_place(&scheduler->watch->device_call) : NULL;
}

struct bf_watched_call *bf_host_call_begin(struct bf_scheduler *scheduler,
                                           enum bf_watched_command command)
{
    struct bf_watched_call *call = place_take(scheduler);
    if (call)
        bf_watch_begin_call(scheduler->watch, call, command);
    return call;
}

static struct bf_watched_call *wait_begin(struct bf_scheduler *scheduler,
                                          enum bf_watched_command command, uint64_t handle,
                                          uint64_t value, uint32_t count, bool any)
{
    struct bf_watched_call *call = place_take(scheduler);
    if (!call)
        return NULL;
    atomic_store_explicit(&call->wait_handle, handle, memory_order_relaxed);
    atomic_store_explicit(&call->wait_value, value, memory_order_relaxed);
    atomic_store_explicit(&call->wait_more, count - 1, memory_order_relaxed);
    atomic_store_explicit(&call->wait_any, any && count > 1, memory_order_relaxed);
    bf_watch_begin_call(scheduler->watch, call, command);
    return call;
}

struct bf_watched_call *bf_host_call_wait_fences(struct bf_scheduler *scheduler, uint32_t count,
                                                 const VkFence *fences, VkBool32 all,
                                                 uint64_t timeout_ns)
{
    if (!scheduler->watches_all || timeout_ns == 0 || count == 0)
        return NULL;
    return wait_begin(scheduler, BF_WATCHED_WAIT_FENCES, (uint64_t)fences[0], 0, count, !all);
}

struct bf_watched_call *bf_host_call_wait_semaphores(struct bf_scheduler *scheduler,
                                                     const VkSemaphoreWaitInfo *info,
                                                     uint64_t timeout_ns)
{
    uint32_t first = 0;
    if (!scheduler->watches_all || timeout_ns == 0 || info->semaphoreCount == 0)
        return NULL;
    for (uint32_t i = 0; i < info->semaphoreCount && info->semaphoreCount > 1; i++) {
        struct bf_semaphore *sem = bf_semaphore_find(scheduler, info->pSemaphores[i]);
        first = i;
        if (sem && bf_semaphore_accepted(sem) < info->pValues[i])
            break;
    }
    return wait_begin(scheduler, BF_WATCHED_WAIT_SEMAPHORES, (uint64_t)info->pSemaphores[first],
                      info->pValues[first], info->semaphoreCount,
                      info->flags & VK_SEMAPHORE_WAIT_ANY_BIT);
}

void bf_host_call_end(struct bf_watched_call *call, VkResult result)
{
    if (call && result == VK_SUCCESS)
        atomic_fetch_add_explicit(&call->wait_turn, 1, memory_order_relaxed);
    bf_watch_end_beside(call);
}
