/* SPDX-License-Identifier: MIT */
/* Makes the driver's calls: submit, sparse bind, present, and the waits for idleness. */
#include "scheduler/driver.h"

#include "base/clock.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"

/* Around each call: for the watchdog. */
static void call_begin(struct bf_engine *engine, enum bf_watched_command command)
{
    struct bf_device_watch *watch = engine->scheduler->watch;
    if (watch)
        bf_watch_begin_call(watch, &watch->engines[engine->base.number].call, command);
}

static void call_end(struct bf_engine *engine)
{
    struct bf_device_watch *watch = engine->scheduler->watch;
    if (watch)
        bf_watch_end_call(&watch->engines[engine->base.number].call);
}

/* The setting serialize_submits: one thread of the device at a time is in such a call. False: the
 * device is lost, and another thread stuck there. */
static bool submit_begin(struct bf_engine *engine, enum bf_watched_command command)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    if (scheduler->submit_lock && !bf_scheduler_acquire(scheduler, scheduler->submit_lock))
        return false;
    call_begin(engine, command);
    return true;
}

static void submit_end(struct bf_engine *engine)
{
    call_end(engine);
    if (engine->scheduler->submit_lock)
        bf_lock_release(engine->scheduler->submit_lock);
}

/* Does it signal the engine's epoch? That is the last of its signals then. */
static bool is_numbered(const struct bf_engine *engine, const VkSubmitInfo2 *info)
{
    const uint32_t count = info->signalSemaphoreInfoCount;
    return count && engine->base.epoch &&
           info->pSignalSemaphoreInfos[count - 1].semaphore == engine->base.epoch;
}

VkResult bf_driver_submit(struct bf_engine *engine, uint32_t count, const VkSubmitInfo2 *infos,
                          VkFence fence)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    for (uint32_t i = 0; bf_retired_notes(engine) && i < count; i++) {
        for (uint32_t k = 0; k < infos[i].waitSemaphoreInfoCount; k++)
            bf_retired_note(engine, infos[i].pWaitSemaphoreInfos[k].semaphore);
        for (uint32_t k = 0; k < infos[i].signalSemaphoreInfoCount; k++)
            bf_retired_note(engine, infos[i].pSignalSemaphoreInfos[k].semaphore);
    }
    if (!submit_begin(engine, BF_WATCHED_SUBMIT))
        return VK_ERROR_DEVICE_LOST;
    VkResult result = scheduler->gpu.vk.vkQueueSubmit2(engine->base.handle, count, infos, fence);
    submit_end(engine);
    if (count && result == VK_SUCCESS)
        engine->unnumbered = !is_numbered(engine, &infos[count - 1]);
    return result;
}

VkResult bf_driver_bind_sparse(struct bf_engine *engine, const VkBindSparseInfo *info,
                               VkFence fence)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    for (uint32_t i = 0; bf_retired_notes(engine) && i < info->waitSemaphoreCount; i++)
        bf_retired_note(engine, info->pWaitSemaphores[i]);
    for (uint32_t i = 0; bf_retired_notes(engine) && i < info->signalSemaphoreCount; i++)
        bf_retired_note(engine, info->pSignalSemaphores[i]);
    if (!submit_begin(engine, BF_WATCHED_BIND_SPARSE))
        return VK_ERROR_DEVICE_LOST;
    VkResult result = scheduler->gpu.vk.vkQueueBindSparse(engine->base.handle, 1, info, fence);
    submit_end(engine);
    /* (An epoch of its own tells of nothing before it: that is for submissions.) */
    const uint32_t count = info->signalSemaphoreCount;
    if (result == VK_SUCCESS &&
        !(count && engine->base.epoch && info->pSignalSemaphores[count - 1] == engine->base.epoch))
        engine->unnumbered = true;
    return result;
}

VkResult bf_driver_present(struct bf_engine *engine, const VkPresentInfoKHR *info)
{
    PFN_vkQueuePresentKHR present = engine->scheduler->gpu.vk.vkQueuePresentKHR;
    struct bf_device_watch *watch = engine->scheduler->watch;
    bool beside = bf_engine_synchronizes(engine); /* without the lock: in nobody's way */
    struct bf_watched_call *call = NULL;
    if (!beside)
        call_begin(engine, BF_WATCHED_PRESENT);
    else if (watch && (call = bf_watch_take_place(&watch->engines[engine->base.number].call, 0)))
        bf_watch_begin_call(watch, call, BF_WATCHED_PRESENT);
    VkResult result = present(engine->base.handle, info);
    if (!beside)
        call_end(engine);
    else if (watch)
        bf_watch_end_beside(call);
    return result;
}

bool bf_driver_await_presents(struct bf_engine *engine)
{
    if (!atomic_load(&engine->presents_beside))
        return true;
    uint32_t ticket = bf_signpost_enter(&engine->progress);
    bool lost = false;
    while (atomic_load(&engine->presents_beside) && !lost) {
        const struct timespec until = bf_timespec(bf_now_ns() + BF_SCHEDULER_LOOK_NS);
        bool timed_out = false;
        ticket = bf_signpost_sleep(&engine->progress, ticket, &until, &timed_out);
        lost = timed_out && bf_scheduler_ask_lost(engine->scheduler); /* L-5 */
    }
    bf_signpost_leave(&engine->progress);
    return !atomic_load(&engine->presents_beside);
}

VkResult bf_driver_queue_wait_idle(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_semaphore *retired = bf_retired_take(scheduler);
    call_begin(engine, BF_WATCHED_QUEUE_WAIT_IDLE);
    VkResult result = scheduler->gpu.vk.vkQueueWaitIdle(engine->base.handle);
    call_end(engine);
    if (result == VK_SUCCESS)
        engine->unnumbered = false;
    bf_retired_drained(scheduler, retired, result == VK_SUCCESS ? bf_engine_bit(engine) : 0);
    return result;
}

VkResult bf_driver_submit_raw(struct bf_engine *engine, const struct bf_raw_submit *raw)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    VkQueue handle = engine->base.handle;
    VkResult result = VK_ERROR_UNKNOWN;
    for (uint32_t i = 0; bf_retired_notes(engine) && i < raw->wait_count; i++) {
        if (raw->waits[i].sem)
            bf_retired_note(engine, raw->waits[i].sem->handle);
    }
    for (uint32_t i = 0; bf_retired_notes(engine) && i < raw->signal_count; i++) {
        if (raw->signals[i].sem)
            bf_retired_note(engine, raw->signals[i].sem->handle);
    }
    if (!submit_begin(engine,
                      raw->command == BF_RAW_BIND ? BF_WATCHED_BIND_SPARSE : BF_WATCHED_SUBMIT))
        return VK_ERROR_DEVICE_LOST;
    switch (raw->command) {
    case BF_RAW_SUBMIT:
        result = scheduler->gpu.vk.vkQueueSubmit(handle, raw->count, raw->infos, raw->fence);
        break;
    case BF_RAW_SUBMIT2:
        result = scheduler->gpu.vk.vkQueueSubmit2(handle, raw->count, raw->infos, raw->fence);
        break;
    case BF_RAW_BIND:
        result = scheduler->gpu.vk.vkQueueBindSparse(handle, raw->count, raw->infos, raw->fence);
        break;
    }
    submit_end(engine);
    if (result == VK_SUCCESS)
        engine->unnumbered = true;
    return result;
}

VkResult bf_driver_device_wait_idle(struct bf_scheduler *scheduler)
{
    struct bf_semaphore *retired = bf_retired_take(scheduler);
    struct bf_device_watch *watch = scheduler->watch;
    if (watch)
        bf_watch_begin_call(watch, &watch->device_call, BF_WATCHED_DEVICE_WAIT_IDLE);
    VkResult result = scheduler->gpu.vk.vkDeviceWaitIdle(scheduler->gpu.handle);
    if (watch)
        bf_watch_end_call(&watch->device_call);
    bf_retired_drained(scheduler, retired, result == VK_SUCCESS ? UINT64_MAX : 0);
    return result;
}
