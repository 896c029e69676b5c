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
    _Atomic bool stop;
};

/* The least value that a held packet waits for; false when none does. */
static bool semaphore_wanted_value(struct bf_semaphore *sem, uint64_t *value)
{
    bool any = false;
    bf_lock_acquire(&sem->lock);
    for (struct bf_waiter *w = sem->waiters; w; w = w->next) {
        if (w->side == BF_FOR_WAIT && (!any || w->target < *value)) {
            *value = w->target;
            any = true;
        }
    }
    if (!any)
        atomic_store(&sem->watched,
                     false); /* under the lock, so that the next waiter starts a new watcher */
    bf_lock_release(&sem->lock);
    return any;
}

static void watcher_run(void *argument)
{
    struct bf_watcher *watcher = argument;
    struct bf_scheduler *scheduler = watcher->scheduler;
    struct bf_semaphore *sem = watcher->sem;
    uint64_t value = 0;
    while (!atomic_load(&watcher->stop) && semaphore_wanted_value(sem, &value)) {
        VkResult result = bf_gpu_wait_timeline(&scheduler->gpu, sem->handle, value, SLICE_NS);
        if (atomic_load(&watcher->stop)) /* L-7: only the watcher itself may be left */
            return;
        if (result == VK_SUCCESS)
            bf_engines_pump(scheduler,
                            bf_semaphore_reach(sem, value) | bf_semaphore_see(sem, value));
        else if (result != VK_TIMEOUT) {
            /* Without waiting until the loss is settled: whoever settles it may join this
             * thread. */
            bf_scheduler_lose_by(scheduler, result, "waiting for an external semaphore");
            bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
            break;
        }
    }
}

/* Takes the semaphore's watchers (all with NULL) off the list; an ended one may still be there when
 * its successor runs. */
static struct bf_watcher *watcher_list_take(struct bf_scheduler *scheduler,
                                            struct bf_semaphore *sem)
{
    struct bf_watcher *taken = NULL;
    bf_lock_acquire(&scheduler->watch_lock);
    struct bf_watcher **link = &scheduler->watchers;
    while (*link) {
        struct bf_watcher *watcher = *link;
        if (sem && watcher->sem != sem) {
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

bool bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    if (atomic_exchange(&sem->watched, true))
        return true;
    /* an old watcher without a waiter is about to return */
    watcher_list_join(scheduler, watcher_list_take(scheduler, sem));
    struct bf_watcher *watcher = calloc(1, sizeof(*watcher));
    if (!watcher)
        goto fail;
    watcher->scheduler = scheduler;
    watcher->sem = sem;
    bf_lock_acquire(&scheduler->watch_lock);
    const bool stopping = atomic_load(&scheduler->stopping);
    if (stopping || !bf_thread_start(&watcher->thread, NULL, watcher_run, watcher)) {
        bf_lock_release(&scheduler->watch_lock);
        if (!stopping)
            goto fail;
        free(watcher);
        return false;
    }
    bf_semaphore_reference(sem);
    watcher->next = scheduler->watchers;
    scheduler->watchers = watcher;
    bf_lock_release(&scheduler->watch_lock);
    return true;

fail:
    free(watcher);
    atomic_store(&sem->watched, false);
    bf_message(BF_MESSAGE_ERROR,
               "can't start a thread to watch external semaphore 0x%llx: what waits for "
               "it is looked at again with the next submission only",
               (unsigned long long)(uint64_t)sem->handle);
    return false;
}

void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    watcher_list_join(scheduler, watcher_list_take(scheduler, sem));
    atomic_store(&sem->watched, false);
}

void bf_watchers_finish(struct bf_scheduler *scheduler)
{
    watcher_list_join(scheduler, watcher_list_take(scheduler, NULL));
}
