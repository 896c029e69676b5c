/* SPDX-License-Identifier: MIT */
/* The core of a fence: its value, and the waits that are armed on it. What native, shared, imported
 * and exported fences do besides is in struct bf_fence_extension. */
#include "scheduler/fence.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "scheduler/command_queue.h"
#include "scheduler/observer.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "trace/interning.h"

/* Of a fence's name in traces, its end included. */
#define TRACE_NAME_SIZE 91

/* The extension of a native, shared, imported or exported fence; NULL for a plain one. */
static const struct bf_fence_extension *fence_extension_of(const struct bf_fence *fence)
{
    return fence->extended ? fence->scheduler->fence_extension : NULL;
}

static struct bf_wait *wait_of_node(struct bf_heap_node *node)
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
    struct bf_pending *pending = &fence->scheduler->pending;
    if (fence->previous)
        fence->previous->next = fence->next;
    else
        pending->fences = fence->next;
    if (fence->next)
        fence->next->previous = fence->previous;
    if (fence_extension_of(fence))
        fence_extension_of(fence)->released(fence);
    free(fence);
}

static void fence_update_monitored(struct bf_fence *fence)
{
    /* A CPU wait for 0 is satisfied when it is armed: the least key is at least 1. */
    fence->monitored = fence->cpu_waits.root ? fence->cpu_waits.root->key - 1 : UINT64_MAX;
    if (fence_extension_of(fence))
        fence_extension_of(fence)->monitored(fence);
}

/* Releases the queue that is blocked at the wait; returns the engine to pump, as a mask. */
static uint64_t wait_unblock_queue(struct bf_wait *wait)
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

/* A wait of the group is satisfied. */
static void group_count_down(struct bf_scheduler *scheduler, struct bf_group *group,
                             struct bf_effects *effects)
{
    if (group->missing == 0)
        return; /* BF_FENCE_WAIT_ANY: another wait was first */
    if (--group->missing)
        return;
    for (uint32_t i = 0; i < group->count; i++)
        bf_fence_disarm(&group->waits[i]);
    scheduler->fence_extension->tell(scheduler, group);
    group->next_fired = effects->fired;
    effects->fired = group;
}

static void wait_satisfy(struct bf_heap *heap, struct bf_wait *wait, struct bf_effects *effects)
{
    bf_heap_remove(heap, &wait->node);
    wait->satisfied = true;
    if (wait->group && wait->fence->orphaned)
        wait->group->orphaned = true;
    if (wait->group)
        group_count_down(wait->fence->scheduler, wait->group, effects);
    else
        effects->engines |= wait_unblock_queue(wait);
}

static void fence_satisfy_up_to(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    struct bf_heap *heaps[] = {&fence->queue_waits, &fence->cpu_waits};
    bf_peer_waits_reached(fence, value);
    for (int i = 0; i < 2; i++) {
        while (heaps[i]->root && heaps[i]->root->key <= value)
            wait_satisfy(heaps[i], wait_of_node(heaps[i]->root), effects);
    }
    fence_update_monitored(fence);
}

/* Whether the fence can take the value, which then is where others look for it. */
static bool fence_takes(struct bf_fence *fence, uint64_t value)
{
    const struct bf_fence_extension *extension = fence_extension_of(fence);
    return !fence->scheduler->pending.lost && !fence->always_signaled &&
           (!extension || extension->taking(fence, value)) && !fence->destroyed;
}

/* A fence has its value; once its word in memory has it, too, fence_tell follows. */
static void fence_take(struct bf_fence *fence, uint64_t value)
{
    /* A wait may hold the last reference. */
    bf_fence_reference(fence);
    atomic_fetch_add(&fence->pending, 1); /* F-4 */
    atomic_store(&fence->value, value);
}

static void fence_tell(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    fence_satisfy_up_to(fence, value, effects);
    if (fence_extension_of(fence))
        fence_extension_of(fence)->applied(fence, value, effects);
    atomic_fetch_sub(&fence->pending, 1);
    bf_fence_release(fence);
}

void bf_fence_apply(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (!fence_takes(fence, value))
        return;
    fence_take(fence, value);
    fence_tell(fence, value, effects);
}

void bf_fence_apply_update(struct bf_fence *fence, const struct bf_command_queue *queue,
                           uint64_t value, struct bf_effects *effects)
{
    const struct bf_fence_extension *extension = fence_extension_of(fence);
    const bool takes = fence_takes(fence, value);
    if (takes)
        fence_take(fence, value);
    if (extension)
        extension->update_applied(fence, queue, value);
    if (takes)
        fence_tell(fence, value, effects);
}

void bf_fence_set_value(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    fence_take(fence, value);
    if (fence_extension_of(fence))
        fence_extension_of(fence)->signalled(fence, value, effects);
    fence_tell(fence, value, effects);
}

void bf_fence_signal(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (fence_takes(fence, value))
        bf_fence_set_value(fence, value, effects);
}

void bf_fence_look_again(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    fence_satisfy_up_to(fence, atomic_load(&fence->value), effects);
    bf_fence_release(fence);
}

/* Satisfies all waits but those with events: the loss does not signal this fence. */
static void fence_satisfy_all_but_events(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_heap events = {0};
    bf_fence_satisfy_queues(fence, effects);
    while (fence->cpu_waits.root) {
        struct bf_wait *wait = wait_of_node(fence->cpu_waits.root);
        if (!wait->group->event) {
            wait_satisfy(&fence->cpu_waits, wait, effects);
            continue;
        }
        bf_heap_remove(&fence->cpu_waits, &wait->node);
        bf_heap_insert(&events, &wait->node);
    }
    fence->cpu_waits = events;
    fence_update_monitored(fence);
}

void bf_fence_lose(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    const bool signals = !(fence->flags & BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT);
    atomic_fetch_add(&fence->pending, 1); /* F-4 */
    if (signals)
        atomic_store(&fence->value, UINT64_MAX);
    if (fence_extension_of(fence))
        fence_extension_of(fence)->lost(fence);
    if (signals)
        bf_fence_satisfy_all(fence, effects);
    else
        fence_satisfy_all_but_events(fence, effects);
    atomic_fetch_sub(&fence->pending, 1);
    bf_fence_release(fence);
}

void bf_fence_satisfy_overwritten(struct bf_fence *fence, uint64_t value,
                                  struct bf_effects *effects)
{
    bf_fence_reference(fence);
    fence_satisfy_up_to(fence, value, effects);
    if (fence_extension_of(fence))
        fence_extension_of(fence)->applied(fence, value, effects);
    bf_fence_release(fence);
}

void bf_fence_satisfy_all(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    fence_satisfy_up_to(fence, UINT64_MAX, effects);
    bf_fence_release(fence);
}

void bf_fence_satisfy_queues(struct bf_fence *fence, struct bf_effects *effects)
{
    bf_fence_reference(fence);
    while (fence->queue_waits.root)
        wait_satisfy(&fence->queue_waits, wait_of_node(fence->queue_waits.root), effects);
    bf_fence_release(fence);
}

bool bf_fence_arm(struct bf_fence *fence, struct bf_wait *wait)
{
    wait->fence = fence;
    bf_fence_reference(fence);
    wait->satisfied = fence->destroyed ||
                      atomic_load_explicit(&fence->value, memory_order_relaxed) >= wait->node.key;
    if (wait->satisfied) {
        if (wait->group && fence->orphaned)
            wait->group->orphaned = true;
        return true;
    }
    bf_heap_insert(wait->group ? &fence->cpu_waits : &fence->queue_waits, &wait->node);
    if (wait->group || fence->extended)
        fence_update_monitored(fence);
    return false;
}

void bf_fence_disarm(struct bf_wait *wait)
{
    struct bf_fence *fence = wait->fence;
    if (!fence)
        return;
    bf_heap_remove(wait->group ? &fence->cpu_waits : &fence->queue_waits, &wait->node);
    if (wait->group || fence->extended)
        fence_update_monitored(fence);
    wait_unblock_queue(
        wait); /* blocked only on a lost device; who drops its packets pumps anyway */
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

/* Searches from both ends where pending values only grow: a wait is mostly for the newest signal or
 * for the oldest, and there may be many in between. */
struct bf_update *bf_fence_update_reaching(const struct bf_fence *fence, uint64_t value)
{
    struct bf_update *front = fence->first_update, *back = fence->last_update, *found = NULL;
    while (front && (front->value < value || front->packet)) {
        if (fence->descents == 0) {
            if (back->value < value)
                return found; /* all updates before it are lower, too */
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
            effects->engines |= wait_unblock_queue(wait);
    }
}

VkResult bf_fence_create(struct bf_scheduler *scheduler, uint64_t value, BfSyncObjectFlags flags,
                         struct bf_fence **out)
{
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    struct bf_fence *fence = calloc(1, sizeof(*fence));
    if (!fence || !bf_handle_add(fence, BF_HANDLE_FENCE)) {
        free(fence);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    fence->scheduler = scheduler;
    fence->flags = flags;
    fence->log_handle = atomic_fetch_add(&scheduler->gpu.log_handles, 1) + 1;
    fence->observed = bf_observe_fence_add(scheduler->observer, value);
    fence->value = value;
    fence->references = 1;
    fence->monitored = UINT64_MAX;
    struct bf_pending *pending = &scheduler->pending;
    bf_lock_acquire(&pending->lock);
    if (pending->lost)
        atomic_store(&fence->value, UINT64_MAX);
    fence->next = pending->fences;
    if (fence->next)
        fence->next->previous = fence;
    pending->fences = fence;
    bf_lock_release(&pending->lock);
    if (scheduler->gpu.trace)
        fence->number = atomic_fetch_add(&scheduler->fences_made, 1);
    bf_trace_add_semaphore(scheduler->gpu.trace, (uintptr_t)fence, value);
    bf_fence_name_in_trace(fence, NULL);
    *out = fence;
    return VK_SUCCESS;
}

VkResult bf_fence_create_own(struct bf_scheduler *scheduler, struct bf_fence **fence)
{
    VkResult result = bf_fence_create(scheduler, 0, BF_SYNC_OBJECT_FLAGS_NONE, fence);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&scheduler->pending.lock);
    (*fence)->log_handle = 0;
    bf_lock_release(&scheduler->pending.lock);
    return VK_SUCCESS;
}

void bf_fence_name_in_trace(struct bf_fence *fence, const char *name)
{
    struct bf_trace *trace = fence->scheduler->gpu.trace;
    if (!trace)
        return;
    /* There is room for the number behind it, and no character is cut in two. */
    char shown[BF_HANDLE_LABEL + 32], cut[TRACE_NAME_SIZE];
    bf_name_copy(cut, sizeof(cut), name ? name : "");
    if (cut[0])
        snprintf(shown, sizeof(shown), "%s (fence %u)", cut, fence->number);
    else
        snprintf(shown, sizeof(shown), "fence %u", fence->number);
    bf_trace_name_semaphore(trace, (uintptr_t)fence, shown);
}
