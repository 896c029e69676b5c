/* SPDX-License-Identifier: MIT */
/* Peer timelines: signals and waits on them, and the release of waits whose signaller has ended. */
#include "fence/peer_timeline.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/message.h"
#include "fence/shared.h"
#include "fence/shared_watch.h"
#include "scheduler/command_queue.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

/* The last point of a peer timeline: drivers limit how far ahead of the counter a signal may be. */
#define LAST_POINT (UINT64_MAX / 2)

/* The number of checks without a signaller after which it counts as ended: the kernel may still be
 * ending its GPU work. */
#define MISSES 2

struct bf_peer_timelines *bf_peer_timelines_create(struct bf_scheduler *scheduler)
{
    struct bf_peer_timelines *peer_timelines = calloc(1, sizeof(*peer_timelines));
    if (!peer_timelines)
        return NULL;
    peer_timelines->scheduler = scheduler;
    peer_timelines->memory.fd = peer_timelines->far = -1;
    return peer_timelines;
}

void bf_peer_timelines_free(struct bf_peer_timelines *peer_timelines)
{
    if (!peer_timelines)
        return;
    struct bf_pending *pending = &peer_timelines->scheduler->pending;
    peer_timelines->next = atomic_load(&peer_timelines->scheduler->fences->spent_peer_timelines);
    while (!atomic_compare_exchange_weak(&pending->scheduler->fences->spent_peer_timelines,
                                         &peer_timelines->next, peer_timelines)) {
    }
    atomic_store(&pending->to_sweep, true);
}

void bf_peer_timelines_sweep(struct bf_scheduler *scheduler)
{
    atomic_store(&scheduler->pending.to_sweep, false);
    struct bf_peer_timelines *next =
        atomic_exchange(&scheduler->fences->spent_peer_timelines, NULL);
    while (next) {
        struct bf_peer_timelines *peer_timelines = next;
        next = peer_timelines->next;
        for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
            struct bf_peer_timeline *c = &peer_timelines->timelines[i];
            if ((peer_timelines->memory.claimed & UINT32_C(1) << i) &&
                bf_peer_memory_is_applied(&peer_timelines->memory, i, c->point))
                bf_peer_memory_unclaim(&peer_timelines->memory, i);
            if (!c->sem)
                continue;
            bf_retired_add(scheduler, c->sem, UINT64_MAX);
        }
        bf_peer_memory_leave(&peer_timelines->memory);
        if (peer_timelines->far != -1)
            close(peer_timelines->far);
        free(peer_timelines);
    }
}

void bf_peer_timelines_lose(struct bf_peer_timelines *peer_timelines)
{
    if (peer_timelines)
        bf_peer_memory_abandon(&peer_timelines->memory);
}

static struct bf_peer_timelines *fence_peer_timelines(const struct bf_fence *fence)
{
    return fence->shared ? fence->shared->peer_timelines : NULL;
}

/* --- Signals -----------------------------------------------------------------------------------*/

static struct bf_peer_timelines *update_peer_timelines(const struct bf_update *update,
                                                       uint32_t *peer_timeline)
{
    *peer_timeline = update->peer_timeline - 1;
    return fence_peer_timelines(update->fence);
}

/* The peer timeline that the queue has claimed, or one that no process has. The pending lock is
 * held. BF_PEER_MEMORY_TIMELINES: there is none. *fresh: it has just been claimed. */
static uint32_t peer_timelines_find_free(struct bf_peer_timelines *peer_timelines,
                                         const struct bf_command_queue *queue, bool *fresh)
{
    uint32_t idle = BF_PEER_MEMORY_TIMELINES;
    *fresh = false;
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
        const struct bf_peer_timeline *c = &peer_timelines->timelines[i];
        if (!(peer_timelines->memory.claimed & UINT32_C(1) << i) || c->spent)
            continue;
        if (c->queue == queue)
            return i;
        if (c->outstanding == 0)
            idle = i;
    }
    if (idle < BF_PEER_MEMORY_TIMELINES)
        return idle;
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
        *fresh = !(peer_timelines->memory.claimed & UINT32_C(1) << i) &&
                 bf_peer_memory_claim(&peer_timelines->memory, i);
        if (*fresh)
            return i;
    }
    return BF_PEER_MEMORY_TIMELINES;
}

/* The last point that others have signalled on it. */
static uint64_t peer_timeline_find_start(struct bf_peer_timelines *peer_timelines,
                                         uint32_t peer_timeline)
{
    struct bf_scheduler *scheduler = peer_timelines->scheduler;
    uint64_t counter, last = bf_peer_memory_last_point(&peer_timelines->memory, peer_timeline);
    if (scheduler->gpu.vk.vkGetSemaphoreCounterValue(
            scheduler->gpu.handle, peer_timelines->timelines[peer_timeline].sem->handle,
            &counter) != VK_SUCCESS)
        return UINT64_MAX;
    return counter > last ? counter : last;
}

void bf_peer_timelines_take(struct bf_command_queue *queue, struct bf_execution *what)
{
    struct bf_update *update = what->update;
    struct bf_pending *pending = &queue->base.scheduler->pending;
    bf_lock_acquire(&pending->lock);
    struct bf_peer_timelines *peer_timelines =
        pending->lost ? NULL : fence_peer_timelines(update->fence);
    bf_lock_release(&pending->lock);
    if (!peer_timelines)
        return;
    bf_lock_acquire(&peer_timelines->claim_lock);
    bool fresh = false;
    bf_lock_acquire(&pending->lock);
    uint32_t peer_timeline = pending->lost
                                 ? BF_PEER_MEMORY_TIMELINES
                                 : peer_timelines_find_free(peer_timelines, queue, &fresh);
    bf_lock_release(&pending->lock);
    if (peer_timeline < BF_PEER_MEMORY_TIMELINES) {
        struct bf_peer_timeline *c = &peer_timelines->timelines[peer_timeline];
        uint64_t start = fresh ? peer_timeline_find_start(peer_timelines, peer_timeline) : 0;
        bf_lock_acquire(&pending->lock);
        if (fresh)
            c->point = start;
        c->spent = c->point >= LAST_POINT;
        if (!c->spent) {
            c->queue = queue;
            c->outstanding++;
            update->peer_timeline = peer_timeline + 1;
            what->signal = c->sem;
            what->signals_peers = true;
        }
        bf_lock_release(&pending->lock);
    }
    bf_lock_release(&peer_timelines->claim_lock);
}

void bf_peer_timeline_number(struct bf_packet *packet)
{
    uint32_t peer_timeline;
    struct bf_peer_timelines *peer_timelines =
        update_peer_timelines(packet->update, &peer_timeline);
    uint64_t point = ++peer_timelines->timelines[peer_timeline].point;
    packet->update->point = point;
    packet->signals[0].target = packet->signals[0].ordinal = point;
    ((VkSemaphoreSubmitInfo *)packet->submit.pSignalSemaphoreInfos)[0].value = point;
}

void bf_peer_timeline_publish(struct bf_update *update)
{
    uint32_t peer_timeline;
    struct bf_peer_timelines *peer_timelines = update_peer_timelines(update, &peer_timeline);
    if (!update->fence->scheduler->pending.lost)
        bf_peer_memory_publish(&peer_timelines->memory, &update->fence->shared->view, peer_timeline,
                               update->point, update->value);
}

void bf_peer_timeline_begin(struct bf_update *update)
{
    uint32_t peer_timeline;
    struct bf_peer_timelines *peer_timelines = update_peer_timelines(update, &peer_timeline);
    if (!update->fence->scheduler->pending.lost)
        bf_peer_memory_begin(&peer_timelines->memory, peer_timeline, update->point);
}

void bf_peer_timeline_apply(struct bf_update *update)
{
    uint32_t peer_timeline;
    struct bf_peer_timelines *peer_timelines = update_peer_timelines(update, &peer_timeline);
    if (!update->fence->scheduler->pending.lost)
        bf_peer_memory_apply(&peer_timelines->memory, &update->fence->shared->view, peer_timeline,
                             update->point);
}

void bf_peer_timeline_put(struct bf_update *update)
{
    uint32_t peer_timeline;
    struct bf_peer_timelines *peer_timelines = update_peer_timelines(update, &peer_timeline);
    peer_timelines->timelines[peer_timeline].outstanding--;
    update->peer_timeline = 0;
}

/* --- Waits -------------------------------------------------------------------------------------*/

bool bf_peer_timelines_resolve(struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    struct bf_peer_timelines *peer_timelines =
        packet->peer_wait ? fence_peer_timelines(fence) : NULL;
    uint32_t peer_timeline;
    uint64_t point;
    if (!peer_timelines || fence->destroyed || fence->orphaned ||
        !bf_peer_memory_find(&peer_timelines->memory, packet->wait.node.key, &peer_timeline,
                             &point))
        return false;
    struct bf_semaphore *sem = peer_timelines->timelines[peer_timeline].sem;
    struct bf_peer_wait *peer_wait = packet->peer_wait;
    peer_wait->fence = fence;
    bf_fence_reference(fence);
    peer_wait->peer_timeline = peer_timeline;
    peer_wait->point = point;
    peer_wait->value = packet->wait.node.key;
    peer_wait->packet = packet;
    packet->kind = BF_PACKET_EXECUTE;
    packet->wait_count = packet->submit.waitSemaphoreInfoCount = 1;
    bf_semaphore_reference(sem);
    packet->waits[0] = (struct bf_sync){sem, point, point};
    ((VkSemaphoreSubmitInfo *)packet->submit.pWaitSemaphoreInfos)[0] = (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = sem->handle,
        .value = point,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    bf_semaphore_reach(sem, point); /* S-1: another process's driver has accepted it (SH-17) */
    bf_fence_disarm(&packet->wait);
    return true;
}

bool bf_peer_timelines_want(struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    struct bf_peer_timelines *peer_timelines =
        packet->peer_wait ? fence_peer_timelines(fence) : NULL;
    uint64_t least = packet->wait.node.key;
    if (!peer_timelines)
        return true;
    for (const struct bf_wait *w = fence->blocked; w; w = w->next_blocked) {
        if (w->node.key < least)
            least = w->node.key;
    }
    bf_peer_memory_want(&peer_timelines->memory, &fence->shared->view, least - 1);
    uint32_t peer_timeline;
    uint64_t point;
    return !bf_peer_memory_find(&peer_timelines->memory, packet->wait.node.key, &peer_timeline,
                                &point);
}

void bf_peer_timelines_look(struct bf_fence *fence, struct bf_effects *effects)
{
    struct bf_peer_timelines *peer_timelines = fence_peer_timelines(fence);
    uint64_t value, least = UINT64_MAX;
    if (!peer_timelines || fence->shared->left)
        return;
    if (fence->blocked && bf_peer_memory_largest(&peer_timelines->memory, &value))
        bf_fence_unblock_queues(fence, value, effects);
    for (const struct bf_wait *w = fence->blocked; w; w = w->next_blocked) {
        if (w->node.key - 1 < least)
            least = w->node.key - 1;
    }
    bf_peer_memory_want(&peer_timelines->memory, &fence->shared->view, least);
}

/* --- Who has gone ------------------------------------------------------------------------------*/

/* The first peer wait whose signaller has ended, its fence referenced; NULL: none. The lock is
 * held. */
static struct bf_peer_wait *peer_wait_find_dead(struct bf_pending *pending)
{
    for (uint32_t i = 0; i < pending->engine_count && !pending->lost; i++) {
        for (struct bf_peer_wait *g = pending->engines[i].peer_waits; g; g = g->next) {
            const struct bf_peer_memory_view *memory = &fence_peer_timelines(g->fence)->memory;
            if (g->released || bf_peer_memory_is_claimed(memory, g->peer_timeline) ||
                (memory->claimed & UINT32_C(1) << g->peer_timeline) ||
                bf_peer_memory_is_applied(memory, g->peer_timeline, g->point)) {
                g->misses = 0;
                continue;
            }
            if (g->misses >= MISSES) {
                bf_fence_reference(g->fence);
                return g;
            }
        }
    }
    return NULL;
}

static void peer_waits_count_misses(struct bf_pending *pending)
{
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        for (struct bf_peer_wait *g = pending->engines[i].peer_waits; g; g = g->next)
            g->misses++;
    }
}

/* Lets what waits for the point on any GPU continue. False: another process is doing so. */
static bool peer_timeline_release_waiters(struct bf_peer_timelines *peer_timelines,
                                          uint32_t peer_timeline, uint64_t point)
{
    struct bf_scheduler *scheduler = peer_timelines->scheduler;
    VkSemaphore semaphore = peer_timelines->timelines[peer_timeline].sem->handle;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = point,
    };
    uint64_t counter = 0;
    if (!bf_peer_memory_begin_release(&peer_timelines->memory, peer_timeline))
        return false;
    VkResult result =
        scheduler->gpu.vk.vkGetSemaphoreCounterValue(scheduler->gpu.handle, semaphore, &counter);
    if (result == VK_SUCCESS && counter < point)
        result = scheduler->gpu.vk.vkSignalSemaphore(scheduler->gpu.handle, &info);
    bf_peer_memory_end_release(&peer_timelines->memory, peer_timeline);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "releasing what waits for another process");
    return true;
}

/* Ends the fence's peer waits on that peer timeline, up to that point. Was one of them in vain? The
 * lock is held. */
static bool fence_release_peer_waits(struct bf_fence *fence, uint32_t peer_timeline, uint64_t point)
{
    bool vain = false;
    for (struct bf_peer_wait *g = fence->peer_waits; g; g = g->next_of_fence) {
        if (g->peer_timeline != peer_timeline || g->point > point || g->released)
            continue;
        g->released = true;
        vain = vain || !g->satisfied;
    }
    return vain;
}

void bf_peer_timelines_watch(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    struct bf_peer_wait *dead;
    bool again = true;
    bf_lock_acquire(&pending->lock);
    peer_waits_count_misses(pending);
    while (again && (dead = peer_wait_find_dead(pending)) != NULL) {
        struct bf_effects effects = {0};
        struct bf_fence *fence = dead->fence;
        uint32_t peer_timeline = dead->peer_timeline;
        uint64_t point = dead->point;
        bool over = false;
        bf_lock_release(&pending->lock);
        again = peer_timeline_release_waiters(fence_peer_timelines(fence), peer_timeline, point);
        bf_lock_acquire(&pending->lock);
        if (again) {
            bf_shared_absorb(fence, &effects);
            if (fence_release_peer_waits(fence, peer_timeline, point))
                over = bf_shared_abandoned(fence, &effects);
        }
        bf_lock_release(&pending->lock);
        if (over)
            bf_shared_release_ended(fence);
        bf_lock_acquire(&pending->lock);
        bf_fence_release(fence);
        bf_lock_release(&pending->lock);
        bf_effects_run(scheduler, &effects);
        bf_lock_acquire(&pending->lock);
    }
    bf_lock_release(&pending->lock);
    struct bf_effects effects = {0};
    if (bf_pending_retire(pending, &effects) == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "waiting for another process");
    bf_effects_run(scheduler, &effects);
}

bool bf_peer_timelines_are_applied(const struct bf_peer_wait *peer_wait)
{
    return bf_peer_memory_is_applied(&fence_peer_timelines(peer_wait->fence)->memory,
                                     peer_wait->peer_timeline, peer_wait->point);
}

void bf_peer_timelines_expect(struct bf_fence *fence, bool expected)
{
    bf_peer_memory_expect_applied(&fence_peer_timelines(fence)->memory, &fence->shared->view,
                                  expected);
}
