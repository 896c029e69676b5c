/* SPDX-License-Identifier: MIT */
/* The threads of sleepers: which value a thread waits for next, and what it does then. */
#include "scheduler/sleeper.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/thread.h"
#include "scheduler/driver_wait.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

/* A wait for an epoch is made in slices, in case a driver never wakes its waiters when a device is
 * lost; a wait for a semaphore of the program's, so that the fence can be destroyed. */
#define EPOCH_SLICE_NS  UINT64_C(2000000000)
#define IMPORT_SLICE_NS UINT64_C(20000000)

enum { FIRST, EXPRESS, THREADS };

struct bf_sleeper {
    struct bf_scheduler *scheduler;
    struct bf_engine *engine; /* or */
    struct bf_fence *fence;   /* an imported one */
    bool stop;                /* under the pending lock, as are 'waits' and 'target' */
    struct sleeper_thread {
        struct bf_sleeper *sleeper;
        struct bf_thread thread;
        _Atomic bool started;
        _Atomic uint32_t turn; /* counts kicks */
        _Atomic bool parked;
        bool waits; /* for 'target', which may be any value */
        uint64_t target;
    } threads[THREADS];
};

/* The least value that is needed, and the last one reached; false: none is needed. (0 may be: by an
 * update that depends on no work and only has to be retired.) The lock is held. */
static bool sleeper_needed_value(struct bf_sleeper *sleeper, uint64_t *completed, uint64_t *least)
{
    struct bf_pending *pending = &sleeper->scheduler->pending;
    if (sleeper->fence) {
        const struct bf_heap_node *first = sleeper->fence->cpu_waits.root;
        *completed = atomic_load(&sleeper->fence->value);
        *least = first ? first->key : 0;
        return first;
    }
    struct bf_pending_engine *e = &pending->engines[sleeper->engine->base.number];
    *completed = e->completed;
    if (bf_peer_waits_hold_back(e)) /* SH-21: the other process will wake the sleeper */
        return false;
    struct bf_update *update;
    while ((update = bf_pending_least_need(e)) != NULL) {
        *least = update->need.key;
        if (bf_pending_is_watched(update))
            return true;
        bf_heap_remove(&e->needs, &update->need); /* nobody waits for it any more */
    }
    return false;
}

/* The value that the thread waits for next; false: it parks. The lock is held. */
static bool sleeper_thread_next_target(struct sleeper_thread *thread, uint64_t *target)
{
    const struct sleeper_thread *first = &thread->sleeper->threads[FIRST];
    uint64_t completed, least;
    if (!sleeper_needed_value(thread->sleeper, &completed, &least))
        return false;
    *target = least;
    if (thread == first)
        return true;
    if (least > completed) /* else it only has to be retired */
        *target = completed + 1;
    return first->waits && least < first->target;
}

static VkResult sleeper_wait_for(struct bf_sleeper *sleeper, uint64_t value)
{
    const struct bf_gpu *gpu = &sleeper->scheduler->gpu;
    const uint64_t leave = sleeper->scheduler->leave_ns / 2;
    return sleeper->fence
               ? bf_gpu_wait_timeline(gpu, sleeper->fence->imported->handle, value, IMPORT_SLICE_NS)
               : bf_gpu_wait_timeline(gpu, sleeper->engine->base.epoch, value,
                                      leave < EPOCH_SLICE_NS ? leave : EPOCH_SLICE_NS);
}

/* L-7: after a wait, which may have returned when everything else had gone. */
static bool sleeper_is_to_stop(struct bf_sleeper *sleeper)
{
    struct bf_pending *pending = &sleeper->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bool stop = sleeper->stop;
    bf_lock_release(&pending->lock);
    return stop;
}

static VkResult sleeper_look(struct bf_sleeper *sleeper)
{
    struct bf_scheduler *scheduler = sleeper->scheduler;
    struct bf_effects effects = {0};
    VkResult result = sleeper->fence
                          ? scheduler->fence_extension->observe_imported(sleeper->fence, &effects)
                          : bf_pending_retire(&scheduler->pending, &effects);
    bf_effects_run(scheduler, &effects);
    return result;
}

static void sleeper_thread_run(void *argument)
{
    struct sleeper_thread *thread = argument;
    struct bf_sleeper *sleeper = thread->sleeper;
    struct bf_scheduler *scheduler = sleeper->scheduler;
    struct bf_pending *pending = &scheduler->pending;
    for (;;) {
        bf_lock_acquire(&pending->lock);
        bool stop = sleeper->stop;
        /* A lost device has satisfied all waits. */
        uint64_t target = 0;
        bool waits = !stop && !pending->lost && sleeper_thread_next_target(thread, &target);
        thread->waits = waits;
        thread->target = target;
        uint32_t turn = atomic_load(&thread->turn);
        bf_lock_release(&pending->lock);
        if (stop)
            return;
        if (!waits) {
            atomic_store(&thread->parked, true);
            bf_futex_wait(&thread->turn, turn, NULL);
            atomic_store(&thread->parked, false);
            continue;
        }
        VkResult result = sleeper_wait_for(sleeper, target);
        if (sleeper_is_to_stop(sleeper))
            return;
        if (result == VK_SUCCESS) {
            atomic_fetch_add_explicit(&scheduler->gpu.counters.sleeper_wakeups, 1,
                                      memory_order_relaxed);
            result = sleeper_look(sleeper);
        }
        bf_driver_wait_judge(scheduler, result, &thread->turn, turn, "waiting for the GPU");
    }
}

/* sleeper_lock is held. */
static bool sleeper_thread_start(struct sleeper_thread *thread)
{
    if (atomic_load(&thread->started))
        return true;
    bool started = bf_thread_start(&thread->thread, NULL, sleeper_thread_run, thread);
    if (started) {
        atomic_store(&thread->started, true);
        atomic_fetch_add(&thread->sleeper->scheduler->gpu.counters.sleeper_threads, 1);
    }
    return started;
}

static struct bf_sleeper *sleeper_create(struct bf_scheduler *scheduler, struct bf_engine *engine,
                                         struct bf_fence *fence)
{
    struct bf_sleeper *sleeper = calloc(1, sizeof(*sleeper));
    if (!sleeper)
        return NULL;
    sleeper->scheduler = scheduler;
    sleeper->engine = engine;
    sleeper->fence = fence;
    for (int i = 0; i < THREADS; i++)
        sleeper->threads[i].sleeper = sleeper;
    if (!sleeper_thread_start(&sleeper->threads[FIRST])) {
        free(sleeper);
        return NULL;
    }
    return sleeper;
}

static VkResult sleeper_ensure_for_engine(struct bf_scheduler *scheduler, uint32_t engine)
{
    struct bf_pending *pending = &scheduler->pending;
    if (!atomic_load(&scheduler->engines[engine].takes_queues) || pending->engines[engine].sleeper)
        return VK_SUCCESS;
    struct bf_sleeper *sleeper = sleeper_create(scheduler, &scheduler->engines[engine], NULL);
    if (!sleeper)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    /* whoever wakes it has read the pointer under the lock, or later */
    bf_lock_acquire(&pending->lock);
    pending->engines[engine].sleeper = sleeper;
    bf_lock_release(&pending->lock);
    return VK_SUCCESS;
}

VkResult bf_sleepers_ensure(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    if (atomic_load(&pending->cpu_waits))
        return VK_SUCCESS;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&pending->sleeper_lock);
    for (uint32_t i = 0; i < pending->engine_count && result == VK_SUCCESS; i++)
        result = sleeper_ensure_for_engine(scheduler, i);
    if (result == VK_SUCCESS)
        atomic_store(&pending->cpu_waits, true);
    bf_lock_release(&pending->sleeper_lock);
    return result;
}

VkResult bf_sleepers_ensure_engine(struct bf_scheduler *scheduler, uint32_t engine)
{
    struct bf_pending *pending = &scheduler->pending;
    bf_lock_acquire(&pending->sleeper_lock);
    VkResult result = atomic_load(&pending->cpu_waits)
                          ? sleeper_ensure_for_engine(scheduler, engine)
                          : VK_SUCCESS;
    bf_lock_release(&pending->sleeper_lock);
    return result;
}

struct bf_sleeper *bf_sleeper_create_for(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&pending->sleeper_lock);
    struct bf_sleeper *sleeper = sleeper_create(fence->scheduler, NULL, fence);
    /* Both threads are started now, so that waking them later can't fail. */
    bool complete = sleeper && sleeper_thread_start(&sleeper->threads[EXPRESS]);
    bf_lock_release(&pending->sleeper_lock);
    if (complete)
        return sleeper;
    bf_sleeper_destroy(sleeper);
    return NULL;
}

static void sleeper_thread_kick(struct sleeper_thread *thread)
{
    atomic_fetch_add(&thread->turn, 1);
    if (atomic_load(&thread->parked))
        bf_futex_wake(&thread->turn, 1);
}

void bf_sleeper_kick(struct bf_sleeper *sleeper)
{
    if (!sleeper)
        return;
    struct bf_pending *pending = &sleeper->scheduler->pending;
    sleeper_thread_kick(&sleeper->threads[FIRST]);
    bf_lock_acquire(&pending->lock);
    uint64_t target;
    bool inverted = sleeper_thread_next_target(&sleeper->threads[EXPRESS], &target);
    bf_lock_release(&pending->lock);
    if (!inverted)
        return;
    bf_lock_acquire(&pending->sleeper_lock);
    if (!sleeper->stop && !sleeper_thread_start(&sleeper->threads[EXPRESS]))
        bf_message(BF_MESSAGE_WARNING, "no thread for an earlier wait: it will be late");
    bf_lock_release(&pending->sleeper_lock);
    sleeper_thread_kick(&sleeper->threads[EXPRESS]);
}

void bf_sleeper_kick_locked(struct bf_sleeper *sleeper)
{
    for (int i = 0; sleeper && i < THREADS; i++)
        sleeper_thread_kick(&sleeper->threads[i]);
}

void bf_sleeper_destroy(struct bf_sleeper *sleeper)
{
    if (!sleeper)
        return;
    struct bf_pending *pending = &sleeper->scheduler->pending;
    bf_lock_acquire(&pending->sleeper_lock);
    bf_lock_acquire(&pending->lock);
    sleeper->stop = true;
    bf_lock_release(&pending->lock);
    bf_lock_release(&pending->sleeper_lock);
    bool joined = true;
    for (int i = 0; i < THREADS; i++) {
        if (!atomic_load(&sleeper->threads[i].started))
            continue;
        sleeper_thread_kick(&sleeper->threads[i]);
        joined &= bf_scheduler_join(sleeper->scheduler, &sleeper->threads[i].thread);
    }
    if (joined)
        free(sleeper);
}
