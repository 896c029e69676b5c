/* SPDX-License-Identifier: MIT */
/* bfWaitFences and bfSetEventOnMultipleFenceCompletion: groups of waits, with an event or a
 * sleeping thread. */
#include "fence/wait.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "fence/event.h"
#include "fence/fence.h"
#include "fence/import_export.h"
#include "fence/shared.h"
#include "scheduler/observer.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

static void group_release(struct bf_group *group)
{
    if (atomic_fetch_sub(&group->references, 1) == 1) {
        bf_event_release(group->event);
        for (uint32_t i = 0; i < group->count; i++)
            bf_observe_fence_release(group->waits[i].observed);
        free(group);
    }
}

void bf_group_tell(struct bf_scheduler *scheduler, struct bf_group *group)
{
    if (!group->event) {
        atomic_store(&group->done, 1);
        return;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        struct bf_wait *wait = &group->waits[i];
        if (wait->observed && wait->satisfied)
            bf_observe_event_set(wait->observed, wait->node.key, group->event,
                                 bf_event_is_polled(group->event));
    }
    atomic_fetch_add_explicit(&scheduler->gpu.counters.events_set, 1, memory_order_relaxed);
    bf_event_set(group->event);
}

void bf_group_fire(struct bf_group *group)
{
    if (!group->event)
        bf_futex_wake(&group->done, 1);
    group_release(group);
}

/* Checks the fences and values; returns their device, or NULL with a line. */
static struct bf_scheduler *fence_wait_check(const char *call, uint32_t count,
                                             const BfFence *fences, const uint64_t *values,
                                             BfFenceWaitFlags flags)
{
    struct bf_scheduler *scheduler = NULL;
    if (count == 0 || !fences || !values || (flags & ~(VkFlags)BF_FENCE_WAIT_ANY_BIT)) {
        bf_message(BF_MESSAGE_ERROR, "%s: count %u, pFences %p, pValues %p, flags 0x%x", call,
                   count, (const void *)fences, (const void *)values, flags);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct bf_fence *fence = bf_fence_of(fences[i], call);
        if (!fence)
            return NULL;
        if ((scheduler && scheduler != fence->scheduler) ||
            !bf_fence_cpu_may(fence, BF_SYNC_OBJECT_NO_WAIT_BIT)) {
            bf_message(BF_MESSAGE_ERROR, "%s: pFences[%u]%s %s", call, i, BF_LABEL(fence),
                       scheduler && scheduler != fence->scheduler
                           ? "belongs to another device"
                           : "may not be waited for by the CPU");
            return NULL;
        }
        scheduler = fence->scheduler;
    }
    return scheduler;
}

/* Disarms all of the group's waits; false: it has fired, or is about to. The lock is held. */
static bool group_cancel(struct bf_group *group)
{
    if (group->missing == 0)
        return false;
    group->missing = 0;
    for (uint32_t i = 0; i < group->count; i++)
        bf_fence_disarm(&group->waits[i]);
    return true;
}

/* Arms the group. Returns true if it is satisfied at once: then no wait of it is armed, and it has
 * not been fired. */
static bool group_arm(struct bf_scheduler *scheduler, struct bf_group *group, const BfFence *fences,
                      BfFenceWaitFlags flags, struct bf_effects *effects)
{
    struct bf_pending *pending = &scheduler->pending;
    uint32_t count = group->count; /* once the lock is released it may fire and be gone */
    group->missing = flags & BF_FENCE_WAIT_ANY_BIT ? 1 : count;
    for (uint32_t i = 0; i < count && scheduler->observer; i++) {
        group->waits[i].observed = ((struct bf_fence *)fences[i])->observed;
        bf_observe_fence_reference(group->waits[i].observed);
    }
    bf_lock_acquire(&pending->lock);
    for (uint32_t i = 0; i < count; i++) /* on account of the waits before (SH-2) */
        bf_fence_look_outside((struct bf_fence *)fences[i], effects);
    for (uint32_t i = 0; i < count && group->missing; i++) {
        if (bf_fence_arm((struct bf_fence *)fences[i], &group->waits[i]))
            group->missing--;
    }
    bool satisfied = group->missing == 0;
    if (satisfied) {
        group->missing = 1;
        group_cancel(group);
    }
    for (uint32_t i = 0; i < count && !satisfied; i++)
        bf_pending_monitor(pending, (struct bf_fence *)fences[i], effects);
    for (uint32_t i = 0; i < count && !satisfied; i++) /* on account of these */
        bf_fence_look_outside((struct bf_fence *)fences[i], effects);
    /* Once the lock is released, the wait may end and the program destroy the fences. */
    for (uint32_t i = 0; i < count && !satisfied; i++)
        bf_sleeper_kick_locked(((struct bf_fence *)fences[i])->sleeper);
    bf_lock_release(&pending->lock);
    return satisfied;
}

/* Before the group is armed: ensures the threads that will notice signals, and retires what is
 * complete. */
static VkResult fence_wait_prepare(struct bf_scheduler *scheduler, uint32_t count,
                                   const BfFence *fences, struct bf_effects *effects)
{
    bool pending = false;
    VkResult result = bf_sleepers_ensure(scheduler);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
        struct bf_fence *fence = (struct bf_fence *)fences[i];
        pending = pending || atomic_load(&fence->pending);
        if (fence->imported)
            result = bf_import_prepare_wait(fence, effects);
        else
            result = bf_shared_listen(fence);
    }
    if (result == VK_SUCCESS && pending)
        result = bf_pending_retire(&scheduler->pending, effects);
    return result;
}

static struct bf_group *group_create(uint32_t count, const uint64_t *values)
{
    struct bf_group *group = calloc(1, sizeof(*group) + count * sizeof(group->waits[0]));
    if (!group)
        return NULL;
    group->references = 1;
    group->count = count;
    for (uint32_t i = 0; i < count; i++) {
        group->waits[i].group = group;
        group->waits[i].node.key = values[i];
    }
    return group;
}

static VkResult group_set_event(const char *call, uint32_t count, const BfFence *fences,
                                const uint64_t *values, BfFenceWaitFlags flags, BfEvent handle)
{
    struct bf_scheduler *scheduler = fence_wait_check(call, count, fences, values, flags);
    struct bf_event *event = scheduler ? bf_event_of(handle, call) : NULL;
    if (!event)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_effects effects = {0};
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_group *group = group_create(count, values);
    if (!group) {
        bf_event_release(event);
        return result;
    }
    group->event = event;
    result = fence_wait_prepare(scheduler, count, fences, &effects);
    if (result == VK_ERROR_DEVICE_LOST) {
        bf_effects_run(scheduler, &effects);
        bf_scheduler_lost(scheduler, call); /* now every value is reached */
        result = VK_SUCCESS;
    }
    if (result != VK_SUCCESS) {
        group_release(group);
    } else if (group_arm(scheduler, group, fences, flags, &effects)) {
        bf_group_tell(scheduler, group);
        bf_group_fire(group);
    }
    bf_effects_run(scheduler, &effects);
    return result;
}

VkResult bfSetEventOnFenceCompletion(BfFence fence, uint64_t value, BfEvent event)
{
    return group_set_event(__func__, 1, &fence, &value, BF_FENCE_WAIT_ALL, event);
}

VkResult bfSetEventOnMultipleFenceCompletion(uint32_t count, const BfFence *fences,
                                             const uint64_t *values, BfFenceWaitFlags flags,
                                             BfEvent event)
{
    return group_set_event(__func__, count, fences, values, flags, event);
}

/* Sleeps until the group fires or the time is up. The group stays the thread's to release. */
static VkResult group_sleep(struct bf_scheduler *scheduler, struct bf_group *group,
                            uint64_t timeout_ns)
{
    uint64_t deadline = bf_deadline_ns(timeout_ns);
    bool in_time = true;
    while (!atomic_load(&group->done) && in_time) {
        bool looks = bf_scheduler_has_backlog(scheduler); /* L-5 */
        uint64_t look = looks ? bf_deadline_ns(BF_SCHEDULER_LOOK_NS) : UINT64_MAX;
        uint64_t next = look < deadline ? look : deadline;
        struct timespec until = bf_timespec(next);
        in_time = bf_futex_wait(&group->done, 0, next == UINT64_MAX ? NULL : &until);
        if (!in_time && next < deadline)
            in_time = !bf_scheduler_ask_lost(scheduler);
    }
    VkResult result = VK_SUCCESS;
    if (!atomic_load(&group->done)) {
        bf_lock_acquire(&scheduler->pending.lock);
        bool cancelled = group_cancel(group);
        bf_lock_release(&scheduler->pending.lock);
        if (cancelled) {
            result = VK_TIMEOUT;
            group_release(group); /* nobody will fire it */
        }
    }
    return result;
}

VkResult bfWaitFences(uint32_t count, const BfFence *fences, const uint64_t *values,
                      BfFenceWaitFlags flags, uint64_t timeout_ns)
{
    struct bf_scheduler *scheduler = fence_wait_check(__func__, count, fences, values, flags);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    struct bf_group *group = group_create(count, values);
    if (!group)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_effects effects = {0};
    VkResult result = fence_wait_prepare(scheduler, count, fences, &effects);
    if (result != VK_SUCCESS) {
        group_release(group);
        bf_effects_run(scheduler, &effects);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
    }
    atomic_store(&group->references, 2);
    bool satisfied = group_arm(scheduler, group, fences, flags, &effects);
    bf_effects_run(scheduler, &effects);
    bf_trace_flush(scheduler->gpu.trace);
    if (satisfied)
        group_release(group); /* nobody else knows it */
    else
        result = group_sleep(scheduler, group, timeout_ns);
    /* Which one of several has come is not told, so nothing follows from it. The fences themselves
     * may be gone by now: that, too, ends a wait. */
    if (result == VK_SUCCESS && group->orphaned)
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    bool all_reached = result == VK_SUCCESS && (count == 1 || !(flags & BF_FENCE_WAIT_ANY_BIT));
    for (uint32_t i = 0; all_reached && i < count; i++)
        bf_observe_fence_reached(group->waits[i].observed, values[i]);
    group_release(group);
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : result;
}
