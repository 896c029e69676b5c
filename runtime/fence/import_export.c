/* SPDX-License-Identifier: MIT */
/* Imported and exported fences: bfImportFenceFromSemaphore, bfExportFenceToSemaphore, and the
 * signals between fence and semaphore. */
#include "fence/import_export.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "fence/shared.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"
#include "scheduler/watcher.h"
#include "scheduler/window.h"

/* In how many steps an exported semaphore follows its fence. */
#define SIGNAL_STEPS 64

void bf_export_applied(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (!fence->exported || value <= fence->exported_wanted)
        return;
    fence->exported_wanted = value;
    if (fence->exported_listed)
        return;
    fence->exported_listed = true;
    bf_fence_reference(fence);
    fence->next_exported = effects->exported;
    effects->exported = fence;
}

bool bf_export_watches(const struct bf_fence *fence, uint64_t value)
{
    return fence->exported && value > fence->exported_wanted;
}

void bf_fence_announce(struct bf_fence *fence, uint64_t value)
{
    VkSemaphore named = (VkSemaphore)atomic_load(&fence->named);
    if (!named)
        return;
    bf_lock_acquire(&fence->announce_lock);
    if (value > fence->announced) {
        VkSemaphore semaphore = fence->imported ? fence->imported->handle : fence->exported;
        fence->announced = value;
        bf_upper_layers_announce(&fence->scheduler->gpu, named, semaphore, value);
    }
    bf_lock_release(&fence->announce_lock);
}

/* The exported semaphore's lock is held. No wait for it can be further away than one of the
 * driver's differences. */
static VkResult exported_semaphore_signal(struct bf_fence *fence, uint64_t wanted)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    if (!fence->exported || wanted <= fence->exported_signalled)
        return VK_SUCCESS;
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = fence->exported,
    };
    const uint64_t most = scheduler->gpu.timeline_difference;
    VkResult result = VK_SUCCESS;
    for (int step = 0; step < SIGNAL_STEPS && result == VK_SUCCESS; step++) {
        const uint64_t now = fence->exported_signalled;
        if (now == wanted)
            return result;
        info.value = wanted - now > most ? now + most : wanted;
        result = scheduler->gpu.vk.vkSignalSemaphore(scheduler->gpu.handle, &info);
        if (result == VK_SUCCESS)
            fence->exported_signalled = info.value;
    }
    if (result == VK_SUCCESS && fence->exported_signalled < wanted && wanted != UINT64_MAX &&
        !atomic_exchange(&scheduler->told_difference, true))
        bf_message(BF_MESSAGE_WARNING,
                   "an exported semaphore stays at %llu, though its fence is at %llu: the driver's "
                   "maxTimelineSemaphoreValueDifference is %llu",
                   (unsigned long long)fence->exported_signalled, (unsigned long long)wanted,
                   (unsigned long long)most);
    return result;
}

void bf_export_signal(struct bf_fence *fence)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_pending *pending = &scheduler->pending;
    bf_lock_acquire(&fence->exported_lock);
    bf_lock_acquire(&pending->lock);
    uint64_t wanted = fence->exported_wanted;
    VkSemaphore exported = fence->exported;
    fence->exported_listed = false;
    bf_lock_release(&pending->lock);
    VkResult result = exported ? exported_semaphore_signal(fence, wanted) : VK_SUCCESS;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        result = exported_semaphore_signal(fence, wanted);
    uint64_t engines = 0;
    if (result == VK_SUCCESS && exported)
        engines = bf_semaphore_host_signalled(scheduler, exported, fence->exported_signalled);
    bf_lock_release(&fence->exported_lock);
    bf_engines_pump(scheduler, engines);
    if (result != VK_SUCCESS) { /* nothing else would ever signal it */
        bf_scheduler_lose_by(scheduler, result, "signalling an exported semaphore");
        bf_scheduler_settle(scheduler);
    }
    bf_lock_acquire(&pending->lock);
    bf_fence_release(fence);
    bf_lock_release(&pending->lock);
}

VkResult bf_import_observe(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    uint64_t value;
    atomic_fetch_add_explicit(&scheduler->gpu.counters.counter_queries, 1, memory_order_relaxed);
    VkResult result = scheduler->gpu.vk.vkGetSemaphoreCounterValue(scheduler->gpu.handle,
                                                                   fence->imported->handle, &value);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&scheduler->pending.lock);
    if (value > atomic_load(&fence->value))
        bf_fence_apply(fence, value, effects);
    bf_lock_release(&scheduler->pending.lock);
    return VK_SUCCESS;
}

uint64_t bf_import_value(struct bf_fence *fence)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_effects effects = {0};
    VkResult result =
        bf_scheduler_is_lost(scheduler) ? VK_SUCCESS : bf_import_observe(fence, &effects);
    bf_effects_run(scheduler, &effects);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "bfGetFenceCompletedValue");
    return atomic_load(&fence->value);
}

VkResult bf_import_may_signal(struct bf_fence *fence, uint64_t value, uint64_t *before,
                              const char *call)
{
    struct bf_semaphore *sem = fence->imported;
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_effects effects = {0};
    bf_import_observe(fence, &effects);
    bf_effects_run(fence->scheduler, &effects);
    bf_lock_acquire(&pending->lock);
    uint64_t least = atomic_load(&fence->value);
    if (least < bf_semaphore_accepted(sem))
        least = bf_semaphore_accepted(sem);
    if (least < atomic_load(&sem->queued[BF_FOR_WAIT]))
        least = atomic_load(&sem->queued[BF_FOR_WAIT]);
    *before = atomic_load(&sem->queued[BF_FOR_WAIT]);
    bool lost = pending->lost; /* then its value is the last one there is */
    if (value > least && !lost)
        atomic_store(&sem->queued[BF_FOR_WAIT], value);
    bf_lock_release(&pending->lock);
    if (lost)
        return bf_scheduler_settle(fence->scheduler);
    if (value > least)
        return VK_SUCCESS;
    bf_message(
        BF_MESSAGE_ERROR,
        "%s: value %llu: an imported fence takes only more than %llu, which it has or will have",
        call, (unsigned long long)value, (unsigned long long)least);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

void bf_import_will_not_signal(struct bf_fence *fence, uint64_t value, uint64_t before)
{
    /* Does nothing if a larger signal has been asked for since. */
    atomic_compare_exchange_strong(&fence->imported->queued[BF_FOR_WAIT], &value, before);
}

/* Of all who signal the semaphore by fences one at a time: nobody else comes between the comparison
 * and the signal. */
static VkResult import_signal_once(struct bf_fence *fence, uint64_t value)
{
    struct bf_semaphore *sem = fence->imported;
    const struct bf_gpu *gpu = &fence->scheduler->gpu;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = sem->handle,
        .value = value,
    };
    uint64_t now = 0;
    bf_lock_acquire(&sem->signal_lock);
    VkResult result = gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, sem->handle, &now);
    const uint64_t queued = atomic_load(&sem->queued[BF_FOR_WAIT]);
    const bool below = value > now && (value < queued || queued <= now);
    if (result == VK_SUCCESS && below)
        result = gpu->vk.vkSignalSemaphore(gpu->handle, &info);
    bf_lock_release(&sem->signal_lock);
    if (result != VK_SUCCESS || below)
        return result;
    bf_message(
        BF_MESSAGE_ERROR,
        "bfSignalFence: value %llu: an imported fence takes only more than its %llu, and less "
        "than the %llu that a queue is to signal (0: none)",
        (unsigned long long)value, (unsigned long long)now,
        (unsigned long long)(queued > now ? queued : 0));
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bf_import_signal(struct bf_fence *fence, uint64_t value)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_effects effects = {0};
    VkResult result = bf_import_observe(fence, &effects);
    uint64_t now = atomic_load(&fence->value);
    if (result == VK_SUCCESS && bf_scheduler_is_lost(scheduler))
        result = VK_ERROR_DEVICE_LOST; /* 'now' may be what that has left */
    if (result == VK_SUCCESS && value <= now) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfSignalFence: value %llu: an imported fence takes only more than its %llu",
                   (unsigned long long)value, (unsigned long long)now);
        result = VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (result == VK_SUCCESS) {
        bf_fence_announce(fence, value);
        bf_observe_fence_signal(fence->observed, value);
        result = import_signal_once(fence, value);
    }
    if (result == VK_SUCCESS) {
        bf_semaphore_host_signal(scheduler, fence->imported->handle, value);
        bf_lock_acquire(&scheduler->pending.lock);
        if (value > atomic_load(&fence->value))
            bf_fence_apply(fence, value, &effects);
        bf_lock_release(&scheduler->pending.lock);
    }
    bf_effects_run(scheduler, &effects);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "bfSignalFence") : result;
}

VkResult bf_import_prepare_wait(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&fence->exported_lock); /* so that one thread creates it */
    struct bf_sleeper *sleeper = fence->sleeper;
    if (!sleeper) {
        sleeper = bf_sleeper_create_for(fence);
        bf_lock_acquire(&pending->lock);
        fence->sleeper = sleeper;
        bf_lock_release(&pending->lock);
    }
    bf_lock_release(&fence->exported_lock);
    return sleeper ? bf_import_observe(fence, effects) : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_import_release_queues(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    /* A pump that began before the fence was marked may still be using its semaphore. */
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        if (!atomic_load(&engine->takes_queues))
            continue;
        const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
        bf_engine_leave_beside(engine, entry);
        if (entry == BF_ENGINE_LOST) /* then it has it as long as it is stuck (L-3) */
            bf_scheduler_settle(scheduler);
    }
    effects->engines |= bf_semaphore_look_again(fence->imported);
}

void bf_import_export_stop(struct bf_fence *fence, bool device_stays)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    bf_lock_acquire(&scheduler->pending.lock);
    struct bf_sleeper *sleeper = fence->sleeper;
    fence->sleeper = NULL;
    bf_lock_release(&scheduler->pending.lock);
    bf_sleeper_destroy(sleeper);
    if (fence->exported) {
        bf_lock_acquire(&fence->exported_lock); /* nobody is signalling it */
        bf_lock_acquire(&scheduler->pending.lock);
        fence->exported = VK_NULL_HANDLE;
        bf_lock_release(&scheduler->pending.lock);
        bf_lock_release(&fence->exported_lock);
    }
    uint64_t engines = 0;
    bf_lock_acquire(&scheduler->fences->registered_lock);
    struct bf_semaphore *counted = fence->counted;
    fence->counted = NULL;
    if (counted)
        atomic_fetch_sub(&counted->fences, 1);
    struct bf_semaphore *known =
        fence->registered ? bf_semaphore_find(scheduler, fence->registered) : NULL;
    if (known && --known->fence_count == 0) {
        bf_semaphore_reference(known);
        bf_semaphore_forget(scheduler, fence->registered);
        if (device_stays && atomic_load(&known->waiter_count))
            bf_watcher_start(scheduler, known);
        bf_semaphore_release(known);
    } else if (counted && device_stays) {
        /* What waited for a signal of the fence's may wait for outside now. */
        engines = bf_semaphore_look_again(counted);
    }
    bf_semaphore_release(counted);
    fence->registered = VK_NULL_HANDLE;
    bf_lock_release(&scheduler->fences->registered_lock);
    bf_engines_pump(scheduler, engines);
}

/* The handle by which Belfry knows the program's timeline semaphore; VK_NULL_HANDLE and one line if
 * it can't be a fence. */
static VkSemaphore fence_semaphore_find(struct bf_scheduler *scheduler, VkSemaphore named,
                                        const char *call)
{
    VkSemaphore semaphore = bf_upper_layers_semaphore(&scheduler->gpu, named);
    const struct bf_semaphore *known = semaphore ? bf_semaphore_find(scheduler, semaphore) : NULL;
    bool ours = known || (scheduler->gpu.attached && semaphore);
    if (!ours)
        bf_message(BF_MESSAGE_ERROR, "%s: semaphore 0x%llx is none of this device's%s", call,
                   (unsigned long long)named,
                   bf_upper_layers_excuse(&scheduler->gpu, VK_OBJECT_TYPE_SEMAPHORE));
    else if (known && !known->timeline)
        bf_message(BF_MESSAGE_ERROR, "%s: semaphore 0x%llx is a binary one", call,
                   (unsigned long long)named);
    return ours && (!known || known->timeline) ? semaphore : VK_NULL_HANDLE;
}

/* Finds the scheduler's record of the semaphore. The layer has one for every semaphore; on attached
 * devices it is created now, for a semaphore that may be signalled without Belfry's knowledge. */
static VkResult fence_semaphore_find_or_register(struct bf_fence *fence, VkSemaphore semaphore,
                                                 bool external, uint64_t *counter)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_semaphore *known;
    VkResult result =
        scheduler->gpu.vk.vkGetSemaphoreCounterValue(scheduler->gpu.handle, semaphore, counter);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&scheduler->fences->registered_lock);
    known = bf_semaphore_find(scheduler, semaphore);
    if (!known) {
        result = bf_semaphore_register(scheduler, semaphore, true, external, *counter);
        known = bf_semaphore_find(scheduler, semaphore);
        if (result == VK_SUCCESS)
            known->fence_count = 1;
    } else if (known->fence_count) {
        known->fence_count++;
    }
    if (result == VK_SUCCESS && known->fence_count)
        fence->registered = semaphore;
    if (result == VK_SUCCESS) {
        bf_semaphore_reference(known);
        fence->counted = known;
        atomic_fetch_add(&known->fences, 1);
    }
    bf_lock_release(&scheduler->fences->registered_lock);
    if (result == VK_SUCCESS && scheduler->gpu.attached)
        atomic_store(&scheduler->names_fences, true);
    return result;
}

VkResult bfImportFenceFromSemaphore(BfDevice handle, VkSemaphore semaphore, BfFence *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!semaphore || !out) {
        bf_message(BF_MESSAGE_ERROR, "bfImportFenceFromSemaphore: semaphore or pFence is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const VkSemaphore named = semaphore;
    semaphore = fence_semaphore_find(scheduler, named, __func__);
    if (!semaphore)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_fence *fence;
    uint64_t counter;
    VkResult result = bf_fence_create(scheduler, 0, BF_SYNC_OBJECT_FLAGS_NONE, &fence);
    if (result != VK_SUCCESS)
        return result;
    result = fence_semaphore_find_or_register(fence, semaphore, true, &counter);
    if (result != VK_SUCCESS) {
        bfDestroyFence((BfFence)fence);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
    }
    bf_lock_acquire(&scheduler->pending.lock);
    atomic_store(&scheduler->pending.observes_unseen_causes, true);
    fence->extended = true;
    fence->imported = bf_semaphore_find(scheduler, semaphore);
    bf_semaphore_reference(fence->imported);
    if (!scheduler->pending.lost)
        atomic_store(&fence->value, counter);
    bf_lock_release(&scheduler->pending.lock);
    fence->announced = counter;
    bf_trace_semaphore_value(scheduler->gpu.trace, (uintptr_t)fence, counter);
    atomic_store(&fence->named, (uint64_t)named);
    bf_observe_fence_remove(fence->observed);
    fence->observed = bf_observe_semaphore_import(scheduler->observer, semaphore);
    *out = (BfFence)fence;
    return VK_SUCCESS;
}

VkResult bfExportFenceToSemaphore(BfFence handle, VkSemaphore semaphore)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_scheduler *scheduler = fence->scheduler;
    const VkSemaphore named = semaphore;
    if (semaphore && !fence->imported)
        semaphore = fence_semaphore_find(scheduler, named, __func__);
    if (named && !fence->imported && !semaphore)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    /* From here on it is this thread's to export, or to leave as it was. */
    if (!semaphore || fence->imported || atomic_exchange(&fence->exporting, true)) {
        bf_message(BF_MESSAGE_ERROR, "bfExportFenceToSemaphore: %s",
                   !semaphore ? "semaphore is NULL"
                              : "the fence is imported, or has been exported already");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = bf_sleepers_ensure(scheduler);
    uint64_t counter = 0;
    if (result == VK_SUCCESS)
        result = bf_shared_listen(fence);
    if (result == VK_SUCCESS)
        result = fence_semaphore_find_or_register(fence, semaphore, false, &counter);
    if (result == VK_SUCCESS && counter > bfGetFenceCompletedValue(handle)) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfExportFenceToSemaphore: the semaphore's counter, %llu, is above the fence",
                   (unsigned long long)counter);
        result = VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (result != VK_SUCCESS) {
        bf_import_export_stop(fence, true);
        atomic_store(&fence->exporting, false);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
    }
    struct bf_effects effects = {0};
    bf_observe_semaphore_export(scheduler->observer, semaphore, fence->observed);
    bf_lock_acquire(&scheduler->pending.lock);
    fence->extended = true;
    fence->exported = semaphore;
    fence->exported_wanted = fence->exported_signalled = counter;
    bf_shared_publish(fence);
    bf_shared_absorb(fence, &effects);
    bf_export_applied(fence, atomic_load(&fence->value), &effects);
    bf_pending_monitor(&scheduler->pending, fence, &effects);
    fence->announced = counter;
    bf_lock_release(&scheduler->pending.lock);
    atomic_store(&fence->named, (uint64_t)named);
    bf_fence_announce(fence, bfGetFenceCompletedValue(handle));
    bf_effects_run(scheduler, &effects);
    if (scheduler->gpu.attached)
        bf_windows_flush_named(scheduler, NULL);
    return VK_SUCCESS;
}
