#include "fence/fence.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/device.h"
#include "fence/import_export.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "fence/native.h"
#include "fence/shared.h"
#include "fence/wait.h"
#include "base/handle.h"
#include "base/message.h"
#include "queue/command_queue.h"

static struct bf_wait *wait_of(struct bf_heap_node *node)
{
    return (struct bf_wait *)node; /* its first member */
}

struct bf_fence *bf_fence_of(BfFence handle, const char *call)
{
    return bf_handle_check(handle, BF_HANDLE_FENCE, call, "fence") ? (struct bf_fence *)handle
                                                                   : NULL;
}

void bf_fence_reference(struct bf_fence *fence)
{
    fence->references++;
}

void bf_fence_release(struct bf_fence *fence)
{
    if (--fence->references)
        return;
    struct bf_pending *pending = &fence->device->pending;
    if (fence->previous)
        fence->previous->next = fence->next;
    else
        pending->fences = fence->next;
    if (fence->next)
        fence->next->previous = fence->previous;
    bf_semaphore_release(fence->imported);
    if (fence->native)
        bf_native_free(fence);
    bf_shared_free(fence->shared);
    free(fence);
}

static void monitor_anew(struct bf_fence *fence)
{
    /* A CPU wait for 0 is satisfied when it is armed: the least key is at least 1. */
    fence->monitored = fence->cpu_waits.root ? fence->cpu_waits.root->key - 1 : UINT64_MAX;
    if (fence->native)
        bf_native_monitored(fence);
    bf_shared_publish(fence);
}

/* Its queue stands at it no longer; returns the engine to pump, as a mask. */
static uint64_t unblock(struct bf_wait *wait)
{
    if (!wait->blocks)
        return 0;
    struct bf_wait **link = &wait->fence->blocked;
    while (*link != wait)
        link = &(*link)->next_blocked;
    *link = wait->next_blocked;
    uint64_t engine = bf_command_queue_unblocked(wait->blocks);
    wait->blocks = NULL;
    return engine;
}

/* One of a group's waits is satisfied. */
static void count_down(struct bf_device *device, struct bf_group *group, struct bf_effects *effects)
{
    if (group->missing == 0)
        return; /* ANY: another was first */
    if (--group->missing)
        return;
    for (uint32_t i = 0; i < group->count; i++)
        bf_fence_disarm(&group->waits[i]);
    bf_group_tell(device, group);
    group->next_fired = effects->fired;
    effects->fired = group;
}

static void satisfy(struct bf_heap *heap, struct bf_wait *wait, struct bf_effects *effects)
{
    bf_heap_remove(heap, &wait->node);
    wait->satisfied = true;
    if (wait->group && bf_shared_is_orphaned(wait->fence))
        wait->group->orphaned = true;
    if (wait->group)
        count_down(wait->fence->device, wait->group, effects);
    else
        effects->engines |= unblock(wait);
}

static void satisfy_up_to(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    struct bf_heap *heaps[] = {&fence->queue_waits, &fence->cpu_waits};
    bf_peer_waits_reached(fence, value);
    for (int i = 0; i < 2; i++) {
        while (heaps[i]->root && heaps[i]->root->key <= value)
            satisfy(heaps[i], wait_of(heaps[i]->root), effects);
    }
    monitor_anew(fence);
}

void bf_fence_apply(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (fence->device->pending.lost || fence->always_signaled || !bf_shared_set(fence, value) ||
        fence->destroyed)
        return;
    bf_fence_set_value(fence, value, effects);
}

void bf_fence_set_value(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    /* The last of its waits may hold the last reference. */
    bf_fence_reference(fence);
    atomic_fetch_add(&fence->pending, 1); /* F-4 */
    atomic_store(&fence->value, value);
    satisfy_up_to(fence, value, effects);
    bf_export_applied(fence, value, effects);
    bf_shared_publish(fence); /* what the exported semaphore has been told */
    atomic_fetch_sub(&fence->pending, 1);
    bf_fence_release(fence);
}

void bf_fence_signal(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (fence->always_signaled)
        return;
    bf_fence_reference(fence);
    bf_fence_apply(fence, value, effects);
    if (fence->native && !bf_shared_is_orphaned(fence))
        bf_native_signalled(fence, value, effects);
    bf_fence_release(fence);
}

void bf_fence_look_outside(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_shared_absorb(fence, effects);
    if (fence->native)
        bf_native_sample(fence, effects);
}

void bf_fence_look_again(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    satisfy_up_to(fence, atomic_load(&fence->value), effects);
    bf_fence_release(fence);
}

/* Events are left alone: the fence isn't signalled by the loss. */
static void satisfy_but_events(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_heap events = {0};
    bf_fence_satisfy_queues(fence, effects);
    while (fence->cpu_waits.root) {
        struct bf_wait *wait = wait_of(fence->cpu_waits.root);
        if (!wait->group->event) {
            satisfy(&fence->cpu_waits, wait, effects);
            continue;
        }
        bf_heap_remove(&fence->cpu_waits, &wait->node);
        bf_heap_insert(&events, &wait->node);
    }
    fence->cpu_waits = events;
    monitor_anew(fence);
}

void bf_fence_lose(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    atomic_fetch_add(&fence->pending, 1); /* F-4 */
    if (fence->flags & BF_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT) {
        satisfy_but_events(fence, effects);
    } else {
        atomic_store(&fence->value, UINT64_MAX);
        bf_fence_satisfy_all(fence, effects);
    }
    if (fence->native)
        bf_native_settled(fence);
    atomic_fetch_sub(&fence->pending, 1);
    bf_fence_release(fence);
}

bool bf_fence_cpu_may(const struct bf_fence *fence, BfFenceFlags bit)
{
    if (bit == BF_FENCE_NO_SIGNAL_BIT)
        bit |= BF_FENCE_PROGRAM_WRITTEN_BIT;
    return !(fence->flags & bit) &&
           !(fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU);
}

void bf_fence_pass_value(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    satisfy_up_to(fence, value, effects);
    bf_export_applied(fence, value, effects);
    bf_shared_publish(fence);
    bf_fence_release(fence);
}

void bf_fence_satisfy_all(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    satisfy_up_to(fence, UINT64_MAX, effects);
    bf_fence_release(fence);
}

void bf_fence_satisfy_queues(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    while (fence->queue_waits.root)
        satisfy(&fence->queue_waits, wait_of(fence->queue_waits.root), effects);
    bf_fence_release(fence);
}

bool bf_fence_arm(struct bf_fence *fence, struct bf_wait *wait)
{
    wait->fence = fence;
    bf_fence_reference(fence);
    wait->satisfied = fence->destroyed ||
                      atomic_load_explicit(&fence->value, memory_order_relaxed) >= wait->node.key;
    if (wait->satisfied) {
        if (wait->group && bf_shared_is_orphaned(fence))
            wait->group->orphaned = true;
        return true;
    }
    bf_heap_insert(wait->group ? &fence->cpu_waits : &fence->queue_waits, &wait->node);
    if (wait->group || fence->shared || fence->native)
        monitor_anew(fence);
    return false;
}

void bf_fence_disarm(struct bf_wait *wait)
{
    struct bf_fence *fence = wait->fence;
    if (!fence)
        return;
    bf_heap_remove(wait->group ? &fence->cpu_waits : &fence->queue_waits, &wait->node);
    if (wait->group || fence->shared || fence->native)
        monitor_anew(fence);
    unblock(wait); /* on a device that has just been lost: who drops it goes on by itself */
    wait->fence = NULL;
    bf_fence_release(fence);
}

void bf_fence_block(struct bf_wait *wait, struct bf_command_queue *queue)
{
    wait->blocks = queue;
    wait->next_blocked = wait->fence->blocked;
    wait->fence->blocked = wait;
}

bool bf_fence_only_grows(const struct bf_fence *fence)
{
    return fence->descents == 0 &&
           (!fence->first_update || fence->first_update->value >=
                                        atomic_load_explicit(&fence->value, memory_order_relaxed));
}

/* From both ends at once, where values only grow on their way: who waits mostly waits for the newest
 * signal or for the oldest, and there may be many between. */
struct bf_update *bf_fence_update_reaching(const struct bf_fence *fence, uint64_t value)
{
    struct bf_update *front = fence->first_update, *back = fence->last_update, *found = NULL;
    while (front && (front->value < value || front->packet)) {
        if (fence->descents == 0) {
            if (back->value < value)
                return found; /* as all before it */
            if (!back->packet)
                found = back;
            back = back->previous_of_fence;
        }
        front = front->next_of_fence;
    }
    return front;
}

void bf_fence_unblock_queues(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    struct bf_wait *next;
    for (struct bf_wait *wait = fence->blocked; wait; wait = next) {
        next = wait->next_blocked;
        if (wait->node.key <= value)
            effects->engines |= unblock(wait);
    }
}

VkResult bfCreateFence(BfDevice handle, const BfFenceCreateInfo *info, BfFence *out)
{
    struct bf_device *device = bf_device_of(handle, __func__);
    if (!device)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!info || !out || info->pNext) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateFence: %s",
                   !info || !out ? "pInfo or pFence is NULL" : "pNext is not NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bool shared = info->flags & (BF_FENCE_SHARED_BIT | BF_FENCE_CROSS_ADAPTER_BIT);
    if (info->flags &
        ~(VkFlags)(shared ? BF_FENCE_FLAGS | BF_FENCE_SHARED_FLAGS : BF_FENCE_FLAGS)) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateFence: flags: 0x%x: %s", info->flags,
                   shared ? "unknown bits" : "unknown bits, or those of a shared fence alone");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_fence *fence;
    VkResult result = bf_fence_create(device, info->initialValue, info->flags, &fence);
    if (result != VK_SUCCESS)
        return result;
    if (shared)
        result = bf_shared_create(fence, info->flags & BF_FENCE_SHARED_FLAGS);
    if (result == VK_SUCCESS)
        *out = (BfFence)fence;
    else
        bfDestroyFence((BfFence)fence);
    return result;
}

VkResult bf_fence_create(struct bf_device *device, uint64_t value, BfFenceFlags flags,
                         struct bf_fence **out)
{
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    struct bf_fence *fence = calloc(1, sizeof(*fence));
    if (!fence || !bf_handle_add(fence, BF_HANDLE_FENCE)) {
        free(fence);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    fence->device = device;
    fence->flags = flags;
    fence->log_handle = atomic_fetch_add(&device->log_handles, 1) + 1;
    fence->observed = bf_observe_fence_add(device->observer, value);
    fence->value = value;
    fence->references = 1;
    fence->monitored = UINT64_MAX;
    struct bf_pending *pending = &device->pending;
    bf_lock_acquire(&pending->lock);
    if (pending->lost)
        atomic_store(&fence->value, UINT64_MAX);
    fence->next = pending->fences;
    if (fence->next)
        fence->next->previous = fence;
    pending->fences = fence;
    bf_lock_release(&pending->lock);
    if (device->trace)
        fence->number = atomic_fetch_add(&device->fences_made, 1);
    bf_fence_name_in_trace(fence, NULL);
    *out = fence;
    return VK_SUCCESS;
}

void bf_fence_name_in_trace(struct bf_fence *fence, const char *name)
{
    struct bf_trace *trace = fence->device->trace;
    if (!trace)
        return;
    char shown[BF_HANDLE_LABEL + 32];
    if (name && name[0])
        snprintf(shown, sizeof(shown), "%.90s (fence %u)", name, fence->number);
    else
        snprintf(shown, sizeof(shown), "fence %u", fence->number);
    bf_trace_name_semaphore(trace, (uintptr_t)fence, shown);
}

void bfDestroyFence(BfFence handle)
{
    if (!handle)
        return;
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (fence && fence->queue_owned)
        bf_message(BF_MESSAGE_ERROR, "bfDestroyFence: the fence is its queue's, and goes with it");
    else if (fence)
        bf_fence_destroy(fence);
}

void bf_fence_destroy(struct bf_fence *fence)
{
    struct bf_device *device = fence->device;
    struct bf_effects effects = {0};
    bf_handle_remove(fence);
    bf_trace_name_semaphore(device->trace, (uintptr_t)fence, NULL);
    bf_lock_acquire(&device->pending.lock);
    bf_observe_fence_remove(fence->observed);
    bool lingers = bf_shared_linger(fence, &effects);
    if (lingers) {
        bf_fence_reference(fence); /* its waiters may be gone before this call is */
    } else {
        fence->destroyed = true;
        bf_fence_satisfy_all(fence, &effects);
    }
    bf_lock_release(&device->pending.lock);
    if (fence->imported)
        bf_import_release_queues(fence, &effects);
    if (!lingers)
        bf_shared_leave(fence);
    bf_import_export_stop(fence, true);
    bf_lock_acquire(&device->pending.lock);
    bf_fence_release(fence);
    bf_lock_release(&device->pending.lock);
    bf_effects_run(device, &effects);
}

static uint64_t get_value(struct bf_fence *fence)
{
    if (fence->imported)
        return bf_import_value(fence);
    bf_shared_look(fence);
    if (fence->native && bf_native_is_program_written(fence))
        bf_native_look(fence);
    uint64_t value = atomic_load(&fence->value);
    if (!atomic_load(&fence->pending))
        return value;
    struct bf_device *device = fence->device;
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&device->pending, &effects);
    bf_effects_run(device, &effects);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_device_lost(device, "bfGetFenceValue");
    bf_lock_acquire(&device->pending.lock);
    value = atomic_load(&fence->value);
    bf_lock_release(&device->pending.lock);
    return value;
}

uint64_t bfGetFenceValue(BfFence handle)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (fence && fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfGetFenceValue: the fence%s is one that the CPU doesn't read",
                   BF_LABEL(fence));
        fence = NULL;
    }
    if (!fence)
        return UINT64_MAX;
    uint64_t value = get_value(fence);
    bf_observe_fence_read(fence->observed, value);
    return value;
}

VkResult bfSignalFence(BfFence handle, uint64_t value)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_device *device = fence->device;
    struct bf_effects effects = {0};
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    if (!bf_fence_cpu_may(fence, BF_FENCE_NO_SIGNAL_BIT)) {
        bf_message(BF_MESSAGE_ERROR, "bfSignalFence: the fence%s may not be signalled by the CPU",
                   BF_LABEL(fence));
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (fence->imported)
        return bf_import_signal(fence, value);
    VkResult result = bf_shared_check(fence);
    if (result != VK_SUCCESS)
        return result;
    /* What the GPU has done by now comes before this signal. */
    if (atomic_load(&fence->pending) &&
        bf_pending_retire(&device->pending, &effects) == VK_ERROR_DEVICE_LOST) {
        bf_effects_run(device, &effects);
        return bf_device_lost(device, __func__);
    }
    bf_fence_announce(fence, value);
    bf_observe_fence_signal(fence->observed, value);
    bf_lock_acquire(&device->pending.lock);
    bf_fence_signal(fence, value, &effects);
    bf_lock_release(&device->pending.lock);
    bf_trace_host_signal(device->trace, (struct bf_trace_sync){(uintptr_t)fence, value});
    bf_effects_run(device, &effects);
    return VK_SUCCESS;
}
