/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's table of functions for native, shared, imported and exported fences, its table
 * for signals of other processes, and fence/'s part of a device.
 */
#include <stdlib.h>

#include "fence/fence.h"
#include "fence/import_export.h"
#include "fence/native.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "fence/shared_watch.h"
#include "fence/wait.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/semaphore.h"

static void fence_applied(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    bf_export_applied(fence, value, effects);
    bf_shared_publish(fence); /* the value that the exported semaphore needs may have changed */
}

static void fence_signalled(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (fence->native)
        bf_native_signalled(fence, value, effects);
}

static void fence_monitored(struct bf_fence *fence)
{
    if (fence->native)
        bf_native_monitored(fence);
    bf_shared_publish(fence);
}

static bool fence_watches(const struct bf_fence *fence, uint64_t value)
{
    return bf_export_watches(fence, value) || bf_shared_watches(fence) ||
           (fence->native && fence->native->raced);
}

static void fence_update_begins(struct bf_fence *fence, const struct bf_command_queue *queue,
                                struct bf_effects *effects)
{
    if (fence->native)
        bf_native_update_begins(fence, queue, effects);
}

static void fence_update_applied(struct bf_fence *fence, const struct bf_command_queue *queue,
                                 uint64_t value)
{
    if (fence->native)
        bf_native_update_applied(fence, queue, value);
    if (fence->shared)
        bf_shared_update_applied(fence);
}

static void fence_lost(struct bf_fence *fence)
{
    if (fence->native)
        bf_native_settled(fence);
}

static void fence_released(struct bf_fence *fence)
{
    bf_semaphore_release(fence->imported);
    if (fence->native)
        bf_native_free(fence);
    bf_shared_free(fence->shared);
}

const struct bf_fence_extension bf_fence_extension = {
    .taking = bf_shared_set,
    .applied = fence_applied,
    .signalled = fence_signalled,
    .monitored = fence_monitored,
    .watches = fence_watches,
    .update_begins = fence_update_begins,
    .update_applied = fence_update_applied,
    .losing = bf_shared_lose,
    .lost = fence_lost,
    .released = fence_released,
    .tell = bf_group_tell,
    .fire = bf_group_fire,
    .signal_exported = bf_export_signal,
    .observe_imported = bf_import_observe,
};

const struct bf_peer_extension bf_peer_extension = {
    .resolve = bf_peer_timelines_resolve,
    .want = bf_peer_timelines_want,
    .number = bf_peer_timeline_number,
    .publish = bf_peer_timeline_publish,
    .begin = bf_peer_timeline_begin,
    .apply = bf_peer_timeline_apply,
    .put = bf_peer_timeline_put,
    .is_applied = bf_peer_timelines_are_applied,
    .expect = bf_peer_timelines_expect,
    .watch = bf_shared_watch_peer_waits,
    .sweep = bf_peer_timelines_sweep,
};

VkResult bf_fences_create(struct bf_scheduler *scheduler)
{
    scheduler->fences = calloc(1, sizeof(*scheduler->fences));
    return scheduler->fences ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* A fence that still uses semaphores of the program's, with a reference; or NULL. */
static struct bf_fence *fence_reference_next_to_stop(struct bf_pending *pending)
{
    bf_lock_acquire(&pending->lock);
    struct bf_fence *fence = pending->fences;
    while (fence && !fence->sleeper && !fence->exported && !fence->registered &&
           (!fence->shared || fence->shared->left))
        fence = fence->next;
    if (fence)
        bf_fence_reference(fence);
    bf_lock_release(&pending->lock);
    return fence;
}

void bf_fences_stop(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    if (scheduler->fences)
        bf_shared_watch_stop(scheduler);
    bf_pending_stop(pending);
    /* Fences that the program did not destroy; sleepers of other fences may still be at work. */
    struct bf_fence *fence;
    while ((fence = fence_reference_next_to_stop(pending)) != NULL) {
        bf_shared_leave(fence);
        bf_import_export_stop(fence, false);
        bf_lock_acquire(&pending->lock);
        bf_fence_release(fence);
        bf_lock_release(&pending->lock);
    }
}

void bf_fences_destroy(struct bf_scheduler *scheduler)
{
    if (scheduler->fences)
        bf_peer_timelines_sweep(scheduler);
    free(scheduler->fences);
    scheduler->fences = NULL;
}
