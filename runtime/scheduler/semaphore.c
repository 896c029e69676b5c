/* SPDX-License-Identifier: MIT */
/* The scheduler's records of VkSemaphores: counting accepted operations, and releasing the queues
 * that wait for them. */
#include "scheduler/semaphore.h"

#include <stdlib.h>

#include "gpu/driver_bug.h"
#include "scheduler/acceptance.h"
#include "scheduler/deferral.h"
#include "scheduler/outside.h"
#include "scheduler/retired.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"
#include "scheduler/watcher.h"

/* How often one that drops packets looks whether the signals of a semaphore may be made. */
#define SIGNAL_TRIES 1000

VkResult bf_semaphore_register(struct bf_scheduler *scheduler, VkSemaphore handle, bool timeline,
                               bool external, uint64_t initial_value)
{
    struct bf_semaphore *sem = calloc(1, sizeof(*sem));
    if (!sem)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    sem->handle = handle;
    sem->timeline = timeline;
    sem->log_handle = atomic_fetch_add(&scheduler->gpu.log_handles, 1) + 1;
    sem->external = external;
    sem->references = 1;
    if (timeline)
        sem->reached[BF_FOR_WAIT] = initial_value;
    if (!bf_map_insert(&scheduler->semaphores, (uint64_t)handle, sem)) {
        free(sem);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (timeline)
        bf_trace_add_semaphore(scheduler->gpu.trace, (uint64_t)handle, initial_value);
    return VK_SUCCESS;
}

struct bf_semaphore *bf_semaphore_create_unknown(VkSemaphore handle)
{
    struct bf_semaphore *sem = calloc(1, sizeof(*sem));
    if (!sem)
        return NULL;
    sem->handle = handle;
    sem->timeline = true;
    sem->references = 1;
    return sem;
}

/* Returns it with the map's reference, or NULL. */
static struct bf_semaphore *semaphore_remove(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    struct bf_semaphore *sem = bf_map_remove(&scheduler->semaphores, (uint64_t)handle);
    if (!sem)
        return NULL;
    bf_watcher_stop(scheduler, sem);
    bf_last_submission_drop_semaphore(scheduler, handle);
    atomic_store(&sem->forgotten, true);
    bf_trace_forget_semaphore(scheduler->gpu.trace, (uint64_t)handle);
    return sem;
}

void bf_semaphore_forget(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    bf_semaphore_release(semaphore_remove(scheduler, handle));
}

void bf_semaphore_destroy(struct bf_scheduler *scheduler, VkSemaphore handle,
                          const VkAllocationCallbacks *allocator)
{
    struct bf_semaphore *sem = semaphore_remove(scheduler, handle);
    if (sem) {
        bf_lock_acquire(&sem->lock); /* who looks at its value has the lock */
        atomic_store(&sem->destroyed, true);
        bf_lock_release(&sem->lock);
        /* What still waits for it is in an engine's list, and over. */
        bf_engines_pump(scheduler, bf_semaphore_look_again(sem));
        bf_watcher_stop(scheduler, sem);
    }
    allocator = bf_semaphore_allocator(scheduler, sem && sem->timeline, allocator);
    if (sem && (atomic_load(&scheduler->stuck) || bf_scheduler_was_left(scheduler)) &&
        atomic_load(&sem->references) > 1) {
        bf_scheduler_retain(scheduler, (struct bf_retained){.semaphore = handle}, allocator);
    } else if (sem && sem->timeline && atomic_load(&sem->used_on)) {
        bf_retired_add(scheduler, sem, atomic_load(&sem->used_on));
        bf_retired_drain_if_many(scheduler);
        return;
    } else {
        scheduler->gpu.vk.vkDestroySemaphore(scheduler->gpu.handle, handle, allocator);
    }
    bf_semaphore_release(sem);
}

const VkAllocationCallbacks *bf_semaphore_allocator(struct bf_scheduler *scheduler, bool timeline,
                                                    const VkAllocationCallbacks *allocator)
{
    bool outlives = scheduler->gpu.driver_bugs & BF_DRIVER_BUG_LATE_WAIT_POINTS;
    return timeline && outlives ? NULL : allocator;
}

void bf_semaphore_reference(struct bf_semaphore *sem)
{
    if (sem)
        atomic_fetch_add_explicit(&sem->references, 1, memory_order_relaxed);
}

void bf_semaphore_release(struct bf_semaphore *sem)
{
    if (sem && atomic_fetch_sub(&sem->references, 1) == 1)
        free(sem);
}

struct bf_semaphore *bf_semaphore_find(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    return bf_map_find(&scheduler->semaphores, (uint64_t)handle);
}

struct bf_semaphore *bf_semaphore_find_living(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    bf_lock_acquire(&scheduler->semaphores.lock); /* nothing is removed meanwhile */
    struct bf_semaphore *sem = bf_map_find(&scheduler->semaphores, (uint64_t)handle);
    bf_semaphore_reference(sem);
    bf_lock_release(&scheduler->semaphores.lock);
    return sem;
}

void bf_semaphore_set_external(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, handle);
    if (!sem)
        return;
    atomic_store(&sem->external, true);
    atomic_store(&sem->outside, true);
    bf_deferral_end(scheduler);
    bf_engines_pump(scheduler, bf_semaphore_look_again(sem)); /* who waits for it is to watch it */
}

void bf_semaphore_imported(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, handle);
    uint64_t value = 0;
    if (!sem)
        return;
    atomic_store(&sem->external, true);
    atomic_store(&sem->outside, true);
    bf_deferral_end(scheduler);
    if (sem->timeline && scheduler->gpu.vk.vkGetSemaphoreCounterValue(scheduler->gpu.handle, handle,
                                                                      &value) == VK_SUCCESS)
        atomic_store(&sem->reached[BF_FOR_WAIT], value);
    atomic_store(&sem->ahead, 0);
    atomic_store(&sem->seen, 0);
}

uint64_t bf_semaphore_accepted(struct bf_semaphore *sem)
{
    uint64_t ahead = atomic_load(&sem->ahead), reached = atomic_load(&sem->reached[BF_FOR_WAIT]);
    return ahead > reached ? ahead : reached;
}

bool bf_semaphore_is_outside(const struct bf_semaphore *sem)
{
    return atomic_load(&sem->outside) && atomic_load(&sem->fences) == 0;
}

static bool semaphore_is_seen(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                              uint64_t target)
{
    uint64_t value;
    return atomic_load(&sem->seen) >= target || atomic_load(&sem->destroyed) ||
           (bf_semaphore_counter(scheduler, sem, &value) && value >= target);
}

bool bf_semaphore_ready(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule)
{
    if (rule == BF_WAIT_COMPLETE && side == BF_FOR_WAIT && sem->timeline)
        return semaphore_is_seen(scheduler, sem, target);
    if (atomic_load(&sem->reached[side]) >= target)
        return true;
    if (side == BF_FOR_WAIT && rule != BF_WAIT_GROUNDED && atomic_load(&sem->ahead) >= target)
        return true;
    if (atomic_load(&sem->destroyed))
        return true; /* what is left of its waits is over */
    if (!sem->timeline || !atomic_load_explicit(&sem->external, memory_order_relaxed))
        return false;
    if (rule == BF_WAIT_NATIVE && bf_semaphore_is_outside(sem))
        return true;
    uint64_t value;
    return bf_semaphore_counter(scheduler, sem, &value) && value >= target;
}

bool bf_semaphore_counter(struct bf_scheduler *scheduler, struct bf_semaphore *sem, uint64_t *value)
{
    bf_lock_acquire(&sem->lock); /* bf_semaphore_destroy waits, so that the handle is valid */
    bool known = !atomic_load(&sem->destroyed) &&
                 scheduler->gpu.vk.vkGetSemaphoreCounterValue(scheduler->gpu.handle, sem->handle,
                                                              value) == VK_SUCCESS;
    bf_lock_release(&sem->lock);
    return known;
}

static bool waiter_is_over(struct bf_semaphore *sem, const struct bf_waiter *waiter)
{
    if (waiter->complete)
        return atomic_load(&sem->seen) >= waiter->target;
    return atomic_load(&sem->reached[waiter->side]) >= waiter->target ||
           (waiter->accepted && atomic_load(&sem->ahead) >= waiter->target);
}

/* Releases the waiters whose target has been reached, or all: their queues may be scanned again. */
static uint64_t semaphore_release_waiters(struct bf_semaphore *sem, bool all)
{
    struct bf_signpost *followed = atomic_load(&sem->followed);
    if (followed)
        bf_signpost_announce(followed);
    if (atomic_load(&sem->waiter_count) == 0)
        return 0;
    uint64_t engines = 0;
    bf_lock_acquire(&sem->lock);
    struct bf_waiter **link = &sem->waiters;
    while (*link) {
        struct bf_waiter *waiter = *link;
        if (!all && !waiter_is_over(sem, waiter)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        atomic_fetch_sub(&sem->waiter_count, 1);
        struct bf_engine *engine = waiter->queue ? waiter->queue->engine : waiter->engine;
        /* From here on the engine may use the waiter for another wait. */
        atomic_store(waiter->queue ? &waiter->queue->blocked : &engine->outside.blocked, false);
        atomic_store(&engine->dirty, 1);
        bf_engine_count_released(engine);
        engines |= bf_engine_bit(engine);
    }
    bf_lock_release(&sem->lock);
    return engines;
}

static uint64_t semaphore_raise(struct bf_semaphore *sem, _Atomic uint64_t *counter, uint64_t value)
{
    uint64_t known = atomic_load(counter);
    while (known < value) {
        if (atomic_compare_exchange_weak(counter, &known, value))
            return semaphore_release_waiters(sem, false);
    }
    return 0;
}

uint64_t bf_semaphore_reach(struct bf_semaphore *sem, uint64_t value)
{
    return semaphore_raise(sem, &sem->reached[BF_FOR_WAIT], value);
}

uint64_t bf_semaphore_accept(struct bf_semaphore *sem, uint64_t value)
{
    return semaphore_raise(sem, &sem->ahead, value);
}

uint64_t bf_semaphore_see(struct bf_semaphore *sem, uint64_t value)
{
    return semaphore_raise(sem, &sem->seen, value);
}

uint64_t bf_semaphore_count(struct bf_semaphore *sem)
{
    atomic_fetch_add(&sem->reached[BF_FOR_SIGNAL], 1);
    return semaphore_release_waiters(sem, false);
}

uint64_t bf_semaphore_look_again(struct bf_semaphore *sem)
{
    return semaphore_release_waiters(sem, true);
}

/* 'like' is the waiter's contents, 'blocked' its owner's. */
static bool semaphore_add_waiter(struct bf_scheduler *scheduler, struct bf_waiter *waiter,
                                 const struct bf_waiter *like, _Atomic bool *blocked,
                                 uint64_t *engines)
{
    struct bf_semaphore *sem = like->sem;
    bf_lock_acquire(&sem->lock);
    atomic_fetch_add(&sem->waiter_count, 1); /* S-2: register, then look again */
    if (waiter_is_over(sem, like) || atomic_load(&sem->destroyed)) {
        atomic_fetch_sub(&sem->waiter_count, 1);
        bf_lock_release(&sem->lock);
        return false;
    }
    *waiter = *like;
    waiter->next = sem->waiters;
    sem->waiters = waiter;
    atomic_store(blocked, true);
    bf_lock_release(&sem->lock);
    if (sem->timeline && (like->complete || atomic_load(&sem->external))) {
        if (!bf_watcher_start(scheduler, sem) && like->complete)
            *engines |= bf_semaphore_see(sem, like->target); /* then it goes as it is */
    } else if (like->side == BF_FOR_WAIT && atomic_load(&sem->ahead) >= like->target)
        *engines |= bf_outside_watch(scheduler); /* OW-3 */
    return true;
}

bool bf_semaphore_block(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule, struct bf_queue *queue,
                        uint64_t *engines)
{
    const struct bf_waiter waiter = {
        .queue = queue,
        .accepted = side == BF_FOR_WAIT && rule != BF_WAIT_GROUNDED,
        .complete = side == BF_FOR_WAIT && rule == BF_WAIT_COMPLETE,
        .sem = sem,
        .side = side,
        .target = target,
    };
    return semaphore_add_waiter(scheduler, &queue->waiter, &waiter, &queue->blocked, engines);
}

bool bf_semaphore_block_engine(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target, struct bf_engine *engine, uint64_t *engines)
{
    const struct bf_waiter waiter = {
        .engine = engine, .sem = sem, .side = BF_FOR_WAIT, .target = target};
    return semaphore_add_waiter(scheduler, &engine->outside.waiter, &waiter,
                                &engine->outside.blocked, engines);
}

void bf_semaphore_unblock(struct bf_queue *queue)
{
    if (!atomic_load(&queue->blocked))
        return;
    struct bf_semaphore *sem = queue->waiter.sem; /* alive: the packet that waits refers to it */
    bf_lock_acquire(&sem->lock);
    for (struct bf_waiter **link = &sem->waiters; *link; link = &(*link)->next) {
        if (*link == &queue->waiter) {
            *link = queue->waiter.next;
            atomic_fetch_sub(&sem->waiter_count, 1);
            atomic_store(&queue->blocked, false);
            break;
        }
    }
    bf_lock_release(&sem->lock);
}

VkResult bf_semaphore_signal_driver(struct bf_scheduler *scheduler,
                                    const VkSemaphoreSignalInfo *info)
{
    const struct bf_gpu *gpu = &scheduler->gpu;
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, info->semaphore);
    uint64_t now = 0;
    if (!sem)
        return gpu->vk.vkSignalSemaphore(gpu->handle, info);
    bf_lock_acquire(&sem->signal_lock);
    bool there = bf_scheduler_is_lost(scheduler) &&
                 gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, sem->handle, &now) == VK_SUCCESS &&
                 now >= info->value;
    VkResult result = there ? VK_SUCCESS : gpu->vk.vkSignalSemaphore(gpu->handle, info);
    bf_lock_release(&sem->signal_lock);
    return result;
}

void bf_semaphore_signal_dropped(struct bf_scheduler *scheduler, const struct bf_sync *sync)
{
    const struct bf_gpu *gpu = &scheduler->gpu;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = sync->sem->handle,
        .value = sync->target,
    };
    uint64_t now;
    if (!bf_lock_try_for(&sync->sem->signal_lock, SIGNAL_TRIES))
        return;
    if (gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, info.semaphore, &now) == VK_SUCCESS &&
        now < info.value)
        gpu->vk.vkSignalSemaphore(gpu->handle, &info);
    bf_lock_release(&sync->sem->signal_lock);
}

uint64_t bf_semaphore_host_signalled(struct bf_scheduler *scheduler, VkSemaphore handle,
                                     uint64_t value)
{
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, handle);
    if (!sem)
        return 0;
    bf_trace_host_signal(scheduler->gpu.trace, (struct bf_trace_sync){(uint64_t)handle, value});
    return bf_semaphore_reach(sem, value);
}

void bf_semaphore_host_signal(struct bf_scheduler *scheduler, VkSemaphore handle, uint64_t value)
{
    const uint64_t before = atomic_load(&scheduler->released);
    bf_engines_pump(scheduler, bf_semaphore_host_signalled(scheduler, handle, value));
    if (scheduler->watches_all) /* a thread may wait for more (standstill/calls.h) */
        bf_watch_notice(scheduler->watch);
    bf_scheduler_wait_released(scheduler, before);
}

VkResult bf_semaphore_flush(struct bf_scheduler *scheduler, VkSemaphore handle)
{
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, handle);
    if (!sem || sem->timeline)
        return VK_SUCCESS;
    uint64_t target = atomic_load(&sem->queued[BF_FOR_WAIT]);
    if (atomic_load(&sem->reached[BF_FOR_WAIT]) >= target)
        return VK_SUCCESS;
    bf_outside_pass_semaphore(scheduler, sem, target);
    /* Everything that may go has been handed over or is being handed over by some thread: sleep
     * until then. By Rule M's order this ends whenever the program's own order does. */
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    while (bf_semaphore_accepted(sem) < target && !bf_scheduler_is_lost(scheduler))
        ticket = bf_scheduler_sleep(scheduler, ticket, UINT64_MAX, &timed_out); /* L-5 */
    bf_signpost_leave(&scheduler->progress);
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_SUCCESS;
}
