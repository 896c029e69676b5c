/* SPDX-License-Identifier: MIT */
/* Notes the program's waits in the driver for the watchdog. */
#include "scheduler/host_call.h"

#include "scheduler/scheduler.h"

/* The place that the thread had last; of another device's watch it is anybody's. In the static TLS
 * block, as in background/worker_pool.c. */
static _Thread_local struct {
    uint64_t serial;
    struct bf_watched_call *place;
} last __attribute__((tls_model("initial-exec")));

/* The thread's own place, or another one. */
static struct bf_watched_call *place_take(struct bf_device_watch *watch)
{
    const uint32_t thread = bf_watch_thread();
    if (last.serial == watch->serial && last.place && !atomic_exchange(&last.place->taken, true)) {
        if (atomic_load(&last.place->owner) == thread)
            return last.place;
        atomic_store(&last.place->taken, false);
    }
    last.serial = watch->serial;
    last.place = bf_watch_take_place(&watch->device_call, thread);
    return last.place;
}

/* 'wait': NULL: it waits for neither fences nor semaphores. */
static struct bf_watched_call *host_call_note(struct bf_scheduler *scheduler,
                                              enum bf_watched_command command,
                                              const struct bf_watched_wait *wait)
{
    struct bf_watched_call *call = place_take(scheduler->watch);
    if (call && wait)
        bf_watch_note_wait(call, wait);
    if (call)
        bf_watch_begin_call(scheduler->watch, call, command);
    return call;
}

struct bf_watched_call *bf_host_call_begin(struct bf_scheduler *scheduler,
                                           enum bf_watched_command command)
{
    return scheduler->watches_all ? host_call_note(scheduler, command, NULL) : NULL;
}

struct bf_watched_call *bf_host_call_wait_fences(struct bf_scheduler *scheduler, uint32_t count,
                                                 const VkFence *fences, VkBool32 all,
                                                 uint64_t timeout_ns)
{
    if (!scheduler->watches_all || timeout_ns == 0 || count == 0)
        return NULL;
    const struct bf_watched_wait wait = {
        .handle = (uint64_t)fences[0], .more = count - 1, .any = !all && count > 1};
    return host_call_note(scheduler, BF_WATCHED_WAIT_FENCES, &wait);
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
    const struct bf_watched_wait wait = {
        .handle = (uint64_t)info->pSemaphores[first],
        .value = info->pValues[first],
        .more = info->semaphoreCount - 1,
        .any = info->flags & VK_SEMAPHORE_WAIT_ANY_BIT && info->semaphoreCount > 1,
    };
    return host_call_note(scheduler, BF_WATCHED_WAIT_SEMAPHORES, &wait);
}

void bf_host_call_end(struct bf_watched_call *call, VkResult result)
{
    if (call && result == VK_SUCCESS)
        bf_watch_wait_anew(call);
    bf_watch_end_beside(call);
}
