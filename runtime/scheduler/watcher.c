/* SPDX-License-Identifier: MIT */
/* The threads that wait for external semaphores. */
#include "scheduler/watcher.h"

#include <stdlib.h>

#include "base/message.h"
#include "base/thread.h"
#include "scheduler/scheduler.h"

/* A driver's wait can't be interrupted, and the host may not signal another process's semaphore to
 * end it. So the wait is made in slices: stopping a watcher takes one at most. */
#define SLICE_NS UINT64_C(20000000)

struct bf_watcher {
    struct bf_watcher *next;
    struct bf_scheduler *scheduler;
    struct bf_semaphore *sem;
    struct bf_thread thread;
    bool express;
    _Atomic bool stop;
    _Atomic bool ended; /* nothing is left for it: it is about to return */
};

/* The least value that a held packet waits for; false when none does. The lock is held. */
static bool semaphore_wanted_value(const struct bf_semaphore *sem, uint64_t *value)
{
    bool any = false;
    for (const struct bf_waiter *w = sem->waiters; w; w = w->next) {
        if (w->side == BF_FOR_WAIT && (!any || w->target < *value)) {
            *value = w->target;
            any = true;
        }
    }
    return any;
}

/* What the watcher, which has seen 'seen', waits for next; false: it is to end. */
static bool watcher_decide(struct bf_watcher *watcher, uint64_t seen, uint64_t *value)
{
    struct bf_semaphore *sem = watcher->sem;
    bf_lock_acquire(&sem->lock);
    bool waits = semaphore_wanted_value(sem, value);
    if (watcher->express) {
        waits = waits && *value < sem->watched_value;
        *value = seen + 1;
    } else {
        sem->watched_value = waits ? *value : 0;
    }
    if (!waits) {
        atomic_store(&watcher->ended, true);
        /* under the lock, so that the next waiter starts a new watcher */
        atomic_store(watcher->express ? &sem->expressed : &sem->watched, false);
    }
    bf_lock_release(&sem->lock);
    return waits;
}

static uint64_t semaphore_seen(struct bf_semaphore *sem, uint64_t value)
{
    return bf_semaphore_reach(sem, value) | bf_semaphore_see(sem, value);
}

static void watcher_run(void *argument)
{
    struct bf_watcher *watcher = argument;
    struct bf_scheduler *scheduler = watcher->scheduler;
    struct bf_semaphore *sem = watcher->sem;
    uint64_t seen = 0, value;
    while (!atomic_load(&watcher->stop)) {
        if (watcher->express && bf_semaphore_counter(scheduler, sem, &value)) {
            seen = value;
            bf_engines_pump(scheduler, semaphore_seen(sem, seen));
        }
        if (!watcher_decide(watcher, seen, &value))
            return;
        VkResult result = bf_gpu_wait_timeline(&scheduler->gpu, sem->handle, value, SLICE_NS);
        if (atomic_load(&watcher->stop)) /* L-7: only the watcher itself may be left */
            return;
        if (result == VK_SUCCESS) {
            seen = value;
            bf_engines_pump(scheduler, semaphore_seen(sem, seen));
        } else if (result != VK_TIMEOUT) {
            /* Without waiting until the loss is settled: whoever settles it may join this
             * thread. */
            bf_scheduler_lose_by(scheduler, result, "waiting for an external semaphore");
            bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
            return;
        }
    }
}

/* Takes the semaphore's watchers (all with NULL) off the list, or those that have ended: such a one
 * may still be there when its successor runs. */
static struct bf_watcher *watcher_list_take(struct bf_scheduler *scheduler,
                                            struct bf_semaphore *sem, bool ended)
{
    struct bf_watcher *taken = NULL;
    bf_lock_acquire(&scheduler->watch_lock);
    struct bf_watcher **link = &scheduler->watchers;
    while (*link) {
        struct bf_watcher *watcher = *link;
        if ((sem && watcher->sem != sem) || (ended && !atomic_load(&watcher->ended))) {
            link = &watcher->next;
            continue;
        }
        *link = watcher->next;
        watcher->next = taken;
        taken = watcher;
    }
    bf_lock_release(&scheduler->watch_lock);
    return taken;
}

static void watcher_list_join(struct bf_scheduler *scheduler, struct bf_watcher *watcher)
{
    for (struct bf_watcher *w = watcher; w; w = w->next)
        atomic_store(&w->stop, true);
    while (watcher) {
        struct bf_watcher *next = watcher->next;
        if (bf_scheduler_join(scheduler, &watcher->thread)) {
            bf_semaphore_release(watcher->sem);
            free(watcher);
        }
        watcher = next;
    }
}

/* False: 'stopping', or no memory or thread. */
static bool watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem, bool express,
                          bool *stopping)
{
    watcher_list_join(scheduler, watcher_list_take(scheduler, sem, true));
    *stopping = false;
    struct bf_watcher *watcher = calloc(1, sizeof(*watcher));
    if (!watcher)
        return false;
    watcher->scheduler = scheduler;
    watcher->sem = sem;
    watcher->express = express;
    bf_lock_acquire(&scheduler->watch_lock);
    *stopping = atomic_load(&scheduler->stopping);
    const bool started =
        !*stopping && bf_thread_start(&watcher->thread, NULL, watcher_run, watcher);
    if (started) {
        bf_semaphore_reference(sem);
        watcher->next = scheduler->watchers;
        scheduler->watchers = watcher;
    }
    bf_lock_release(&scheduler->watch_lock);
    if (!started)
        free(watcher);
    return started;
}

/* W-2, of a semaphore that has a watcher. */
static void watcher_express(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    uint64_t value = 0;
    bool stopping;
    bf_lock_acquire(&sem->lock);
    const bool starts = !atomic_load(&sem->expressed) && semaphore_wanted_value(sem, &value) &&
                        value < sem->watched_value;
    if (starts)
        atomic_store(&sem->expressed, true);
    bf_lock_release(&sem->lock);
    if (!starts || watcher_start(scheduler, sem, true, &stopping))
        return;
    atomic_store(&sem->expressed, false);
    if (!stopping)
        bf_message(BF_MESSAGE_WARNING, "no thread for an earlier wait: it will be late");
}

bool bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    bool stopping;
    if (atomic_exchange(&sem->watched, true)) {
        watcher_express(scheduler, sem);
        return true;
    }
    if (watcher_start(scheduler, sem, false, &stopping))
        return true;
    if (stopping)
        return false;
    atomic_store(&sem->watched, false);
    bf_message(BF_MESSAGE_ERROR,
               "can't start a thread to watch external semaphore 0x%llx: what waits for "
               "it is looked at again with the next submission only",
               (unsigned long long)(uint64_t)sem->handle);
    return false;
}

void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    watcher_list_join(scheduler, watcher_list_take(scheduler, sem, false));
    bf_lock_acquire(&sem->lock);
    sem->watched_value = 0;
    atomic_store(&sem->expressed, false);
    atomic_store(&sem->watched, false);
    bf_lock_release(&sem->lock);
}

void bf_watchers_finish(struct bf_scheduler *scheduler)
{
    watcher_list_join(scheduler, watcher_list_take(scheduler, NULL, false));
}
