/* SPDX-License-Identifier: MIT */
/* The dispatcher and the workers of background processing: their threads, and who gets which
 * item. */
#include "background/worker_pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "background/internal.h"
#include "background/idle.h"
#include "background/trace_events.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/thread.h"

/* How long to wait after the system refused to create a thread. */
#define SPAWN_RETRY_NS UINT64_C(100000000)

struct bf_background_process bf_background_process;

/* In the static TLS block: thread-local storage that is allocated for a library which is unloaded
 * again confuses LeakSanitizer. */
static _Thread_local struct bf_slot *current __attribute__((tls_model("initial-exec")));

struct bf_slot *bf_slot_current(void)
{
    return current;
}

void bf_worker_pool_wake(struct bf_worker_pool *pool)
{
    if (!pool)
        return;
    atomic_fetch_add(&pool->turn, 1);
    if (atomic_load(&pool->asleep))
        bf_futex_wake(&pool->turn, 1);
}

/* ----------------------------------------------------------------------------------- Workers -- */

static void *worker_main(void *argument)
{
    struct bf_slot *slot = argument;
    current = slot;
    if (!slot->boost)
        bf_thread_make_idle();
    for (;;) {
        uint32_t state = atomic_load(&slot->state);
        if (state == BF_SLOT_QUIT)
            return NULL;
        if (state != BF_SLOT_BUSY) {
            bf_futex_wait(&slot->state, state, NULL);
            continue;
        }
        slot->begin_ns = bf_now_ns();
        atomic_store(&slot->begun, true);
        if (slot->traced)
            bf_worker_pool_wake(slot->pool);
        if (slot->task) {
            bf_background_probe_begin(slot->owner, slot->task);
            slot->task->callback(slot->task->context);
            bf_background_probe_end(slot->owner, slot->task);
        } else {
            bf_background_prepare(slot->owner);
        }
        slot->end_ns = bf_now_ns();
        atomic_store(&slot->state, BF_SLOT_DONE);
        bf_worker_pool_wake(slot->pool);
    }
}

/* The lock is held; it is let go meanwhile. False: the system has no thread for us. */
static bool worker_spawn(struct bf_worker_pool *pool, struct bf_slot *slot)
{
    slot->pool = pool;
    slot->boost = slot >= &pool->slots[BF_TASKS_MOST];
    atomic_store(&slot->state, BF_SLOT_REST);
    bf_lock_release(&bf_background_process.lock);
    int error =
        bf_thread_create(&slot->thread, slot->boost ? "bf-boost" : "bf-idle", worker_main, slot);
    bf_lock_acquire(&bf_background_process.lock);
    if (!error)
        return true;
    atomic_store(&slot->state, BF_SLOT_NONE);
    if (!pool->spawn_warned)
        bf_message(BF_MESSAGE_WARNING, "background work waits: no thread can be created (error %d)",
                   error);
    pool->spawn_warned = true;
    return false;
}

/* --------------------------------------------------------------------- Items that have ended -- */

/* Frees the slot of an item that has ended. The lock is held, and released around everything that
 * takes another lock. */
static void slot_retire(struct bf_worker_pool *pool, struct bf_slot *slot)
{
    struct bf_background *b = slot->owner;
    struct bf_task *task = slot->task;
    bf_lock_release(&bf_background_process.lock);
    bf_background_trace_end(b, slot);
    bf_lock_acquire(&bf_background_process.lock);
    slot->task = NULL;
    struct bf_commit *done = NULL;
    if (task) {
        done = bf_background_done_commits(b, pool);
    } else {
        b->preparing = false;
        b->unprepared = bf_background_is_unprepared(b);
    }
    bf_lock_release(&bf_background_process.lock);
    free(task);
    bf_background_finish_commits(b, done);
    bf_lock_acquire(&bf_background_process.lock);
    slot->owner = NULL;
    atomic_store(&slot->state, BF_SLOT_REST);
    bf_background_leave(b);
}

/* Handles what workers have left in their slots and in the lists of deferred trace events. The lock
 * is held. Returns whether it was released meanwhile. */
static bool dispatch_finished(struct bf_worker_pool *pool)
{
    bool any = false;
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        struct bf_slot *slot = &pool->slots[i];
        if (!slot->owner)
            continue;
        if (slot->traced && !slot->begin_traced && atomic_load(&slot->begun)) {
            bf_lock_release(&bf_background_process.lock);
            bf_background_trace_begin(slot->owner, slot);
            bf_lock_acquire(&bf_background_process.lock);
            slot->begin_traced = true;
            bf_signpost_announce(&slot->owner->rest);
            any = true;
        }
        if (atomic_load(&slot->state) == BF_SLOT_DONE) {
            slot_retire(pool, slot);
            any = true;
        }
    }
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        if (!atomic_load(&b->deferred))
            continue;
        b->running++; /* keeps the device while the lock is released */
        bf_lock_release(&bf_background_process.lock);
        bf_background_trace_deferred(b);
        bf_lock_acquire(&bf_background_process.lock);
        bf_background_leave(b);
        return true; /* the list of devices may have changed */
    }
    return any;
}

/* ---------------------------------------------------------------------------- Items to begin -- */

/* The device whose first item is the oldest that a worker of the boost (or of SCHED_IDLE) may begin
 * now. The lock is held. */
static struct bf_background *device_of_oldest_item(bool boost)
{
    struct bf_background *found = NULL;
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        if (!b->first || b->unprepared || (b->first->number <= b->hastened) != boost)
            continue;
        if (!found || b->first->arrival < found->first->arrival)
            found = b;
    }
    return found;
}

static uint32_t idle_limit(void)
{
    uint32_t limit = BF_TASKS_MOST;
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        if (b->info.tasks < limit)
            limit = b->info.tasks;
    }
    return limit;
}

/* A free slot. The lock is held, and released where a thread has to be created. NULL: as many slots
 * are in use as may be, or no thread can be created (*none). */
static struct bf_slot *slot_find(struct bf_worker_pool *pool, bool boost, bool *none)
{
    struct bf_slot *slots = boost ? &pool->slots[BF_TASKS_MOST] : pool->slots;
    uint32_t limit = boost ? pool->boost_limit : idle_limit();
    uint32_t taken = 0;
    struct bf_slot *rest = NULL, *empty = NULL;
    for (uint32_t i = 0; i < (boost ? BF_BOOST_MOST : BF_TASKS_MOST); i++) {
        taken += slots[i].owner != NULL;
        uint32_t state = atomic_load(&slots[i].state);
        if (state == BF_SLOT_REST && !rest)
            rest = &slots[i];
        if (state == BF_SLOT_NONE && !empty)
            empty = &slots[i];
    }
    if (taken >= limit)
        return NULL;
    if (rest || !empty)
        return rest;
    if (worker_spawn(pool, empty))
        return empty;
    *none = true;
    return NULL;
}

/* The lock is held. */
static void slot_give(struct bf_slot *slot, struct bf_background *b, struct bf_task *task)
{
    slot->owner = b;
    slot->task = task;
    slot->traced = task && b->info.trace;
    slot->begin_traced = false;
    b->running++;
    atomic_store(&slot->begun, false);
    atomic_store(&slot->state, BF_SLOT_BUSY);
    bf_futex_wake(&slot->state, 1);
}

/* Begins one item, or the preparation of one device's drivers. The lock is held. False: nothing can
 * begin now. */
static bool begin_one(struct bf_worker_pool *pool, bool *none)
{
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        if (!b->first || !b->unprepared || b->preparing)
            continue;
        b->preparing = true;
        b->running++; /* keeps the device while a thread is created */
        struct bf_slot *slot = slot_find(pool, true, none);
        if (slot)
            slot_give(slot, b, NULL);
        else
            b->preparing = false;
        bf_background_leave(b);
        if (slot)
            return true;
        break; /* but what has been prepared needs no boost */
    }
    for (int boost = 1; boost >= 0; boost--) {
        if (!device_of_oldest_item(boost))
            continue;
        struct bf_slot *slot = slot_find(pool, boost, none);
        struct bf_background *b =
            device_of_oldest_item(boost); /* the lock was released meanwhile */
        if (!slot || !b)
            continue;
        slot_give(slot, b, bf_background_take(b));
        return true;
    }
    return false;
}

/* The lock is held. */
static bool anything_to_begin(const char **proc)
{
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        if (b->first) {
            *proc = b->info.proc;
            return true;
        }
    }
    return false;
}

static bool inboxes_collect(void)
{
    bool any = false;
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next)
        any |= bf_background_collect(b, 0, 0);
    return any;
}

static uint64_t tasks_count(const struct bf_task *task)
{
    uint64_t count = 0;
    for (; task; task = task->next)
        count++;
    return count;
}

bool bf_worker_pool_see(struct bf_pool_seen *seen)
{
    struct bf_background_process *process = &bf_background_process;
    *seen = (struct bf_pool_seen){.accepted = atomic_load(&process->arrivals)};
    if (!bf_lock_try_briefly(&process->lock))
        return false;
    const struct bf_worker_pool *pool = atomic_load(&process->workers);
    for (uint32_t i = 0; pool && i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        if (pool->slots[i].owner)
            (*(i < BF_TASKS_MOST ? &seen->running : &seen->boosted))++;
    }
    seen->limit = idle_limit();
    for (const struct bf_background *b = process->devices; b; b = b->next) {
        /* Nobody takes anything out of either. */
        uintptr_t inbox = atomic_load(&b->inbox) & ~BF_INBOX_FLAGS;
        seen->waiting += tasks_count(b->first) + tasks_count((const struct bf_task *)inbox);
    }
    bf_lock_release(&process->lock);
    return true;
}

/* -------------------------------------------------------------------------------- Dispatcher -- */

static bool pool_is_busy(const struct bf_worker_pool *pool)
{
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        if (pool->slots[i].owner)
            return true;
    }
    return false;
}

/* One round of the dispatcher. The lock is held. True: the lock was released meanwhile, so the
 * dispatcher has to look at everything again; else it may sleep until *until_ns (0: for ever). */
static bool dispatch(struct bf_worker_pool *pool, uint64_t *until_ns)
{
    const char *proc = NULL;
    bool none = false;
    *until_ns = 0;
    if (dispatch_finished(pool))
        return true;
    if (pool->quit || atomic_load(&bf_background_process.workers) != pool)
        return false; /* not the process's pool any more, or not yet */
    inboxes_collect();
    bool wanted = anything_to_begin(&proc);
    if (wanted) {
        uint64_t now = bf_now_ns();
        if (!pool->pressure.read_ns || now - pool->pressure.read_ns >= BF_PRESSURE_NS) {
            bf_lock_release(&bf_background_process.lock);
            bf_pressure_read(&pool->pressure, proc, now);
            bf_lock_acquire(&bf_background_process.lock);
            return true;
        }
        if (pool->pressure.high) {
            *until_ns = pool->pressure.read_ns + BF_PRESSURE_NS;
            return false;
        }
        if (begin_one(pool, &none))
            return true;
        if (none)
            *until_ns = now + SPAWN_RETRY_NS;
    }
    uint32_t taken = 0;
    for (uint32_t i = 0; i < BF_TASKS_MOST; i++)
        taken += pool->slots[i].owner != NULL;
    if (taken >= idle_limit())
        return false;
    atomic_store(&pool->wants_items, true);
    return inboxes_collect();
}

static void workers_join(struct bf_worker_pool *pool)
{
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        struct bf_slot *slot = &pool->slots[i];
        if (atomic_load(&slot->state) == BF_SLOT_NONE)
            continue;
        atomic_store(&slot->state, BF_SLOT_QUIT);
        bf_futex_wake(&slot->state, 1);
        pthread_join(slot->thread, NULL);
    }
}

static void *dispatcher_main(void *argument)
{
    struct bf_worker_pool *pool = argument;
    bf_thread_make_normal();
    bf_lock_acquire(&bf_background_process.lock);
    for (;;) {
        uint32_t turn = atomic_load(&pool->turn);
        uint64_t until_ns;
        if (dispatch(pool, &until_ns))
            continue;
        if (pool->quit && !pool_is_busy(pool))
            break;
        bf_lock_release(&bf_background_process.lock);
        struct timespec until = bf_timespec(until_ns);
        atomic_store(&pool->asleep, true);
        bf_futex_wait(&pool->turn, turn, until_ns ? &until : NULL);
        atomic_store(&pool->asleep, false);
        bf_lock_acquire(&bf_background_process.lock);
    }
    bool owns_itself = pool->owns_itself;
    bf_lock_release(&bf_background_process.lock);
    workers_join(pool);
    if (owns_itself)
        free(pool);
    return NULL;
}

/* One core is left to the program; but a boost has at least two threads. */
static uint32_t boost_limit(void)
{
    uint32_t count = bf_thread_processors();
    return count <= 3 ? 2 : count > BF_BOOST_MOST ? BF_BOOST_MOST : count - 1;
}

VkResult bf_worker_pool_ensure(void)
{
    if (atomic_load(&bf_background_process.workers))
        return VK_SUCCESS;
    struct bf_worker_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pool->boost_limit = boost_limit();
    if (bf_thread_create(&pool->dispatcher, "bf-dispatcher", dispatcher_main, pool)) {
        free(pool);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    bf_lock_acquire(&bf_background_process.lock);
    bool first = !atomic_load(&bf_background_process.workers);
    if (first)
        atomic_store(&bf_background_process.workers, pool);
    else
        pool->quit = true; /* another thread was faster */
    bf_lock_release(&bf_background_process.lock);
    if (first)
        bf_worker_pool_wake(pool);
    else
        bf_worker_pool_end(pool);
    return VK_SUCCESS;
}

void bf_worker_pool_end(struct bf_worker_pool *pool)
{
    bf_lock_acquire(&bf_background_process.lock);
    bool own = current && current->pool == pool;
    pool->owns_itself = own;
    pthread_t dispatcher = pool->dispatcher;
    if (own)
        pthread_detach(dispatcher); /* it waits for the item that has called this */
    bf_lock_release(&bf_background_process.lock);
    bf_worker_pool_wake(pool);
    if (own)
        return;
    pthread_join(dispatcher, NULL);
    free(pool);
}

/* ------------------------------------------------------------------------------------- Forks -- */

/* Runs in the child of a fork, which has one thread (CR-5). */
static void forget_parent_threads(void)
{
    uint32_t generation = bf_background_process.generation + 1;
    memset(&bf_background_process, 0, sizeof(bf_background_process));
    bf_background_process.generation = generation;
    bf_background_process.forks_handled = true;
    current = NULL;
}

void bf_background_handle_forks(void)
{
    bf_lock_acquire(&bf_background_process.lock);
    /* Where this fails for want of memory, a child inherits the parent's state as it is. */
    if (!bf_background_process.forks_handled)
        bf_background_process.forks_handled = !pthread_atfork(NULL, NULL, forget_parent_threads);
    bf_lock_release(&bf_background_process.lock);
}
