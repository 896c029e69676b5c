/* SPDX-License-Identifier: MIT */
/* Devices: creating their parts in the order of the folders, and destroying them in the reverse
 * order. */
#include "device/device.h"

#include <stdlib.h>

#include "background/public.h"
#include "background/worker_pool.h"
#include "base/message.h"
#include "base/structure.h"
#include "device/copies.h"
#include "doorbell/doorbell.h"
#include "fence/fence.h"
#include "gpu/registry.h"
#include "scheduler/observer.h"
#include "standstill/live_page.h"

/* Devices that stay, since threads of theirs haven't left the driver (L-7). They are kept in sight,
 * as a tool that looks for leaks sees them. */
static _Atomic(struct bf_device *) devices_left;

/* How long a thread has at least to leave the driver. */
#define LEAST_LEAVE_MS 100

static void pool_see(struct bf_live_pool *pool)
{
    struct bf_pool_seen seen;
    if (bf_worker_pool_see(&seen))
        *pool = (struct bf_live_pool){.known = 1,
                                      .limit = seen.limit,
                                      .running = seen.running,
                                      .boosted = seen.boosted,
                                      .waiting = seen.waiting,
                                      .accepted = seen.accepted};
}

VkResult bf_device_create(const struct bf_device_info *info, struct bf_device **out)
{
    struct bf_device *device = calloc(1, sizeof(*device));
    if (!device)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_scheduler *scheduler = &device->scheduler;
    struct bf_scheduler_info scheduler_info = info->scheduler;
    scheduler_info.fence_extension = &bf_fence_extension;
    scheduler_info.peer_extension = &bf_peer_extension;
    scheduler_info.doorbell_extension = &bf_doorbell_extension;
    scheduler_info.cpu = info->cpu;
    scheduler_info.timed = info->tdr.level > 0 && !info->cpu;
    scheduler_info.leave_ms = info->tdr.ddi_ms > LEAST_LEAVE_MS ? info->tdr.ddi_ms : LEAST_LEAVE_MS;
    scheduler_info.watched = info->watchdog_ms > 0 || (scheduler_info.timed && info->attached);
    VkResult result = bf_fences_create(scheduler);
    if (result == VK_SUCCESS)
        result = bf_scheduler_init(scheduler, &scheduler_info);
    if (result == VK_SUCCESS)
        result = bf_background_begin(&scheduler->gpu, info->background_tasks, info->developer_mode,
                                     &scheduler->costs_frozen);
    if (result != VK_SUCCESS) {
        bf_device_destroy(device);
        return result;
    }
    scheduler->gpu.attached = info->attached;
    device->summary = info->summary;
    if (!bf_gpu_register(&scheduler->gpu)) {
        bf_device_destroy(device);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (scheduler_info.timed)
        device->tdr = bf_tdr_create(scheduler, &info->tdr);
    if (scheduler->watch) {
        struct bf_standstill_info standstill = {
            .watchdog_ms = info->watchdog_ms,
            .at_interrupt = info->at_interrupt,
            .summary = info->summary,
            .see_pool = pool_see,
        };
        if (device->tdr) {
            standstill.check_ms = bf_tdr_period_ms(&info->tdr);
            standstill.check = bf_tdr_check(device->tdr);
        }
        device->standstill = bf_standstill_create(scheduler, &standstill);
    }
    *out = device;
    return VK_SUCCESS;
}

bool bf_device_destroy(struct bf_device *device)
{
    if (!device)
        return true;
    struct bf_scheduler *scheduler = &device->scheduler;
    /* Background tasks that are running may still use the device, and queue more. */
    bf_background_end(&scheduler->gpu);
    bf_gpu_unregister(&scheduler->gpu);
    if (device->standstill && bf_scheduler_has_backlog(scheduler))
        bf_standstill_report(device->standstill);
    bf_standstill_destroy(device->standstill);
    bf_tdr_destroy(device->tdr);
    bf_doorbells_stop(scheduler);
    bf_scheduler_stop(scheduler);
    bf_fences_stop(scheduler);
    if (bf_scheduler_was_left(scheduler)) {
        bf_observer_unlist(scheduler->observer);
        device->next_left = atomic_load(&devices_left);
        while (!atomic_compare_exchange_weak(&devices_left, &device->next_left, device)) {
        }
        return false;
    }
    bf_scheduler_finish(scheduler);
    bf_fences_destroy(scheduler);
    free(device);
    return true;
}

VkResult bfGetDevice(VkDevice handle, BfDevice *out)
{
    if (!handle || !out) {
        bf_message(BF_MESSAGE_ERROR, "bfGetDevice: device or pDevice is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bool attached;
    struct bf_gpu *gpu = bf_gpu_find(handle, &attached);
    if (!gpu)
        bf_copies_tell(__func__);
    if (!gpu || attached)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    *out = (BfDevice)gpu;
    atomic_store(&bf_scheduler_of(*out, __func__)->known, true);
    return VK_SUCCESS;
}

VkResult bfGetDeviceCounters(BfDevice handle, BfDeviceCounters *out)
{
    struct bf_gpu *gpu = bf_gpu_of(handle, __func__);
    if (!gpu || !bf_structure_check(out, BF_STRUCTURE_TYPE_DEVICE_COUNTERS, __func__, "pCounters"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_counters *c = &gpu->counters;
    *out = (BfDeviceCounters){
        .sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS,
        .sleeperWakeups = atomic_load(&c->sleeper_wakeups),
        .sleeperThreads = atomic_load(&c->sleeper_threads),
        .submissions = atomic_load(&c->submissions),
        .driverCalls = atomic_load(&c->driver_calls),
        .blockedWaits = atomic_load(&c->blocked_waits),
        .semaphoreWaits = atomic_load(&c->semaphore_waits),
        .barriers = atomic_load(&c->barriers),
        .counterQueries = atomic_load(&c->counter_queries),
        .eventsSet = atomic_load(&c->events_set),
        .sharedWakeups = atomic_load(&c->shared_wakeups),
        .peerWaits = atomic_load(&c->peer_waits),
    };
    return VK_SUCCESS;
}

VkResult bfGetDeviceRemovedReason(BfDevice handle, BfDeviceRemovedReason *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    VkResult result = bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_SUCCESS;
    if (out)
        *out = result == VK_SUCCESS ? BF_DEVICE_REMOVED_REASON_NONE : scheduler->removed_reason;
    return result;
}

/* How long one submission of a removed device may take to end. */
#define REMOVE_NS UINT64_C(1000000000)

VkResult bfRemoveDevice(BfDevice handle)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_scheduler_lose_for(scheduler, BF_DEVICE_REMOVED_REASON_REMOVED, __func__);
    bf_scheduler_settle(scheduler);
    bf_scheduler_await_accepted(scheduler, REMOVE_NS);
    return VK_SUCCESS;
}
