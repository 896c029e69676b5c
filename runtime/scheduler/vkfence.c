/* SPDX-License-Identifier: MIT */
/* VkFences of held packets: which are deferred, and the waits and queries that Belfry answers for
 * them. */
#include "scheduler/vkfence.h"

#include <stdlib.h>

#include "base/clock.h"
#include "scheduler/deferral.h"
#include "scheduler/driver_wait.h"
#include "scheduler/scheduler.h"

/* A wait for *any* fence that mixes fences which the driver has with deferred ones checks both
 * kinds in turn, in slices. */
#define SLICE_NS UINT64_C(500000)

static struct bf_vkfence *vkfence_record_of(struct bf_scheduler *scheduler, VkFence handle)
{
    struct bf_vkfence *fence = bf_map_find(&scheduler->vkfences, (uint64_t)handle);
    if (fence)
        return fence;
    fence = calloc(1, sizeof(*fence));
    if (!fence)
        return NULL;
    fence->handle = handle;
    fence->references = 1;
    if (!bf_map_insert(&scheduler->vkfences, (uint64_t)handle, fence)) {
        free(fence);
        return NULL;
    }
    return fence;
}

VkResult bf_vkfence_set_external(struct bf_scheduler *scheduler, VkFence handle)
{
    struct bf_vkfence *fence = vkfence_record_of(scheduler, handle);
    if (!fence)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    atomic_store(&fence->external, true);
    atomic_store(&scheduler->external_fences, true);
    bf_deferral_end(scheduler);
    return VK_SUCCESS;
}

bool bf_vkfence_is_external(struct bf_scheduler *scheduler, VkFence handle)
{
    if (!atomic_load_explicit(&scheduler->external_fences, memory_order_relaxed))
        return false;
    struct bf_vkfence *fence = bf_map_find(&scheduler->vkfences, (uint64_t)handle);
    return fence && atomic_load(&fence->external);
}

struct bf_vkfence *bf_vkfence_defer(struct bf_scheduler *scheduler, VkFence handle)
{
    struct bf_vkfence *fence = vkfence_record_of(scheduler, handle);
    if (!fence)
        return NULL;
    atomic_fetch_add(&fence->references, 1);
    atomic_store(&fence->deferred, 1);
    atomic_fetch_add(&scheduler->deferred_fences, 1);
    return fence;
}

void bf_vkfence_handed_over(struct bf_scheduler *scheduler, struct bf_vkfence *fence)
{
    atomic_store(&fence->deferred, 0);
    atomic_fetch_sub(&scheduler->deferred_fences, 1);
    bf_vkfence_release(fence);
}

void bf_vkfence_release(struct bf_vkfence *fence)
{
    if (fence && atomic_fetch_sub(&fence->references, 1) == 1)
        free(fence);
}

static bool vkfence_is_deferred(struct bf_scheduler *scheduler, VkFence handle)
{
    if (atomic_load(&scheduler->deferred_fences) == 0)
        return false;
    struct bf_vkfence *fence = bf_map_find(&scheduler->vkfences, (uint64_t)handle);
    return fence && atomic_load(&fence->deferred);
}

/* Sleeps until none of the fences is deferred ('all'), or not all of them are. */
static VkResult vkfences_wait_handed_over(struct bf_scheduler *scheduler, uint32_t count,
                                          const VkFence *fences, bool all, uint64_t deadline_ns)
{
    VkResult result = VK_SUCCESS;
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    for (;;) {
        uint32_t deferred = 0;
        for (uint32_t i = 0; i < count; i++)
            deferred += vkfence_is_deferred(scheduler, fences[i]);
        if (bf_scheduler_is_lost(scheduler)) {
            result = VK_ERROR_DEVICE_LOST;
            break;
        }
        if (all ? deferred == 0 : deferred < count)
            break;
        if (timed_out || bf_remaining_ns(deadline_ns) == 0) {
            result = VK_TIMEOUT;
            break;
        }
        ticket = bf_scheduler_sleep(scheduler, ticket, deadline_ns, &timed_out);
    }
    bf_signpost_leave(&scheduler->progress);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_settle(scheduler) : result;
}

/* Waits for any of the fences that the driver has, leaving out deferred ones; for a slice at most
 * while there are such. */
static VkResult vkfences_wait_any(struct bf_scheduler *scheduler, uint32_t count,
                                  const VkFence *fences, uint64_t deadline_ns)
{
    VkFence stack[32], *known = count <= 32 ? stack : malloc(count * sizeof(*known));
    if (!known)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result;
    do {
        result = vkfences_wait_handed_over(scheduler, count, fences, false, deadline_ns);
        if (result != VK_SUCCESS)
            break;
        uint32_t n = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!vkfence_is_deferred(scheduler, fences[i]))
                known[n++] = fences[i];
        }
        uint64_t timeout = bf_remaining_ns(deadline_ns);
        if (n < count && timeout > SLICE_NS)
            timeout = SLICE_NS;
        result = bf_driver_wait_fences(scheduler, n, known, VK_FALSE, timeout);
        if (result == VK_TIMEOUT && n == count)
            break;
    } while (result == VK_TIMEOUT && bf_remaining_ns(deadline_ns) > 0);
    if (known != stack)
        free(known);
    return result;
}

VkResult bf_vkfence_wait(struct bf_scheduler *scheduler, uint32_t count, const VkFence *fences,
                         VkBool32 all, uint64_t timeout_ns)
{
    bool any_deferred = false;
    for (uint32_t i = 0; i < count && !any_deferred; i++)
        any_deferred = vkfence_is_deferred(scheduler, fences[i]);
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    VkResult result;
    if (!any_deferred) {
        result = bf_driver_wait_fences(scheduler, count, fences, all, timeout_ns);
    } else {
        uint64_t deadline = bf_deadline_ns(timeout_ns);
        if (all || count == 1) {
            result = vkfences_wait_handed_over(scheduler, count, fences, true, deadline);
            if (result == VK_SUCCESS)
                result =
                    bf_driver_wait_fences(scheduler, count, fences, all, bf_remaining_ns(deadline));
        } else {
            result = vkfences_wait_any(scheduler, count, fences, deadline);
        }
    }
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "vkWaitForFences")
                                          : result;
}

VkResult bf_vkfence_status(struct bf_scheduler *scheduler, VkFence handle)
{
    if (vkfence_is_deferred(scheduler, handle))
        return bf_scheduler_ask_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_NOT_READY;
    VkResult result = scheduler->gpu.vk.vkGetFenceStatus(scheduler->gpu.handle, handle);
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(scheduler, "vkGetFenceStatus");
    return result == VK_NOT_READY && bf_scheduler_is_lost(scheduler)
               ? bf_scheduler_settle(scheduler)
               : result;
}

bool bf_vkfence_forget(struct bf_scheduler *scheduler, VkFence handle, bool own_callbacks)
{
    bool stays = atomic_load(&scheduler->stuck) && vkfence_is_deferred(scheduler, handle);
    bf_vkfence_release(bf_map_remove(&scheduler->vkfences, (uint64_t)handle));
    if (stays)
        bf_scheduler_retain(scheduler, (struct bf_retained){.fence = handle}, own_callbacks);
    return !stays;
}

VkResult bf_vkfence_flush(struct bf_scheduler *scheduler, VkFence handle)
{
    if (!vkfence_is_deferred(scheduler, handle))
        return VK_SUCCESS;
    bf_outside_pass_fence(scheduler, bf_map_find(&scheduler->vkfences, (uint64_t)handle));
    return vkfences_wait_handed_over(scheduler, 1, &handle, true, UINT64_MAX);
}
