/* SPDX-License-Identifier: MIT */
/*
 * The process's threads for background items, and the list of devices that they serve.
 *
 * A pool has one dispatcher thread, with the scheduling priority of the thread that queued the
 * first item. It moves items from the devices' inboxes to workers, and does everything for the
 * workers that needs a lock (BG-7). There are two kinds of workers: those of SCHED_IDLE, and those
 * of the boost, which are normal threads. Each worker has a slot, through which it gets its item
 * and hands it back. Threads are created when they are first needed, sleep when there is nothing to
 * do, and are joined when the last device is destroyed.
 *
 *  CR-1  No push is missed. Before it sleeps, the dispatcher sets 'wants_items' and then looks into
 *        the inboxes once more; whoever pushes an item reads 'wants_items' after the push, and
 *        wakes the dispatcher if it is set. A dispatcher that could not start an item anyway leaves
 *        'wants_items' clear: it looks again when a worker has finished.
 *  CR-2  At most 'background_tasks' slots of SCHED_IDLE workers are in use, however many devices
 *        there are; and as many are, whoever waits for a thread of the boost.
 *  CR-3  Only the dispatcher assigns and frees slots. A device with an assigned slot is alive: the
 *        slot counts as running until the dispatcher has finished with the item.
 *  CR-4  A pool ends when the last device is destroyed. It has been removed from
 *        bf_background_process by then, so a device created meanwhile gets a new pool.
 *  CR-5  In the child of a fork, bf_background_process is as in a new process: the parent's lock,
 *        list and threads are forgotten, and its devices belong to an earlier generation.
 *
 * The lock of bf_background_process is a leaf, held over memory accesses and futex wakes only.
 */
#ifndef BELFRY_BACKGROUND_WORKER_POOL_H
#define BELFRY_BACKGROUND_WORKER_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "background/background.h"
#include "background/pressure.h"
#include "base/lock.h"

#define BF_TASKS_MOST 16
#define BF_BOOST_MOST 8

struct bf_task {
    struct bf_task *next;
    PFN_bfProcessingWork callback, cancel;
    void *context;
    uint64_t arrival; /* its number among the items of all devices, which traces show */
    uint64_t number;  /* among those of its device, from 1, in the order in which they begin */
};

enum bf_slot_state {
    BF_SLOT_NONE, /* there is no thread */
    BF_SLOT_REST, /* the worker sleeps */
    BF_SLOT_BUSY,
    BF_SLOT_DONE, /* the item has ended; the dispatcher frees the slot */
    BF_SLOT_QUIT, /* the worker ends */
};

struct bf_slot {
    _Atomic uint32_t state; /* a futex */
    _Atomic bool begun;     /* the worker has started on the item */
    bool boost;
    bool traced; /* the item's begin and end go to a trace */
    bool begin_traced;
    struct bf_worker_pool *pool;
    struct bf_background *owner; /* NULL: free */
    struct bf_task *task;        /* NULL with an owner: the owner's drivers are prepared */
    uint64_t begin_ns, end_ns;
    pthread_t thread;
};

struct bf_worker_pool {
    pthread_t dispatcher;
    _Atomic uint32_t turn; /* the futex that the dispatcher sleeps on: counts wake-ups */
    _Atomic bool asleep;
    _Atomic bool wants_items; /* CR-1 */
    bool quit;                /* under the process's lock */
    bool owns_itself;         /* under the process's lock: the dispatcher frees it, nobody joins */
    bool spawn_warned;
    uint32_t boost_limit;
    struct bf_pressure pressure;                         /* the dispatcher's own */
    struct bf_slot slots[BF_TASKS_MOST + BF_BOOST_MOST]; /* of idle workers first */
};

/* What the process has one of. */
struct bf_background_process {
    struct bf_lock lock;
    struct bf_background *devices;
    _Atomic(struct bf_worker_pool *) workers; /* NULL: no item was ever queued */
    _Atomic uint64_t arrivals;
    uint32_t generation;
    bool forks_handled;
};
extern struct bf_background_process bf_background_process;

/* The slot of the calling thread; NULL for threads that are not the pool's workers. */
struct bf_slot *bf_slot_current(void);

/* Creates the process's pool unless there is one. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_worker_pool_ensure(void);

/* Wakes the dispatcher, which then looks at everything once more. NULL is allowed. */
void bf_worker_pool_wake(struct bf_worker_pool *pool);

/* To be called after an item was pushed (CR-1). */
static inline void bf_worker_pool_pushed(struct bf_worker_pool *pool)
{
    if (atomic_load(&pool->wants_items) && atomic_exchange(&pool->wants_items, false))
        bf_worker_pool_wake(pool);
}

/* Joins the threads of a pool that bf_background_process no longer has and whose 'quit' is set. */
void bf_worker_pool_end(struct bf_worker_pool *pool);

/* What the pool does at this moment, of all devices; 'limit' and 'running' are of the threads of
 * SCHED_IDLE, 'boosted' of the boost's. False: it can't be looked at now. Thread-safety: safe, and
 * waits for nobody. */
struct bf_pool_seen {
    uint32_t limit, running, boosted;
    uint64_t waiting, accepted; /* items that have not begun, and all so far */
};
bool bf_worker_pool_see(struct bf_pool_seen *seen);

/* To be called before a device is added; the first call in a process registers the fork handler. */
void bf_background_handle_forks(void);

#endif
