/* SPDX-License-Identifier: MIT */
/* The doorbell thread of an engine: which of its queues' doorbells have been rung, and whose ring
 * it reads next. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "doorbell/doorbell.h"
#include "scheduler/engine.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"
#include "trace/trace.h"

/* Has something been deferred that is this thread's to hand over (DT-6)? */
static bool thread_finds_deferred(struct bf_doorbell_thread *thread, bool rung, bool thoroughly)
{
    if (!atomic_load_explicit(&thread->vkqueues_ring, memory_order_relaxed))
        return false;
    bool taken = rung && bf_doorbell_page_take(&thread->vkqueues);
    if (taken || thoroughly)
        thread->vkqueues_look = atomic_load(&thread->engine->dirty);
    return thread->vkqueues_look && atomic_load(&thread->engine->dirty) &&
           atomic_load(&thread->engine->lock.word) == 0;
}

/* A doorbell that loses its page is marked (DB-2): it is told of when that is found. */
static void doorbell_trace(struct bf_doorbell *doorbell)
{
    if (bf_doorbell_page_state(&doorbell->page) > BF_DOORBELL_CONNECTED_NOTIFY &&
        atomic_exchange(&doorbell->traced, false))
        bf_trace_ring(doorbell->thread->scheduler->gpu.trace, doorbell->trace_id,
                      BF_TRACE_RING_DISCONNECTED, 0, 0);
}

/* Marks the queues whose doorbells have been rung; with 'thoroughly' also those whose write
 * pointers have moved. Returns whether a ring is to be read. */
static bool thread_has_work(void *owner, bool thoroughly)
{
    struct bf_doorbell_thread *thread = owner;
    bool found = false;
    bf_lock_acquire(&thread->lock);
    bool rung = bf_doorbell_group_poll(&thread->scheduler->doorbells->pages, &thread->group);
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
        struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
        if (doorbell && rung && bf_doorbell_page_take(&doorbell->page)) {
            hw->look = true;
            doorbell_trace(doorbell);
        }
        if (doorbell && thoroughly && !atomic_load(&doorbell->reason) &&
            bf_ring_written(doorbell->ring) != atomic_load(&doorbell->read))
            hw->look = true;
        if (doorbell && thoroughly)
            atomic_store(&doorbell->page.idle, !hw->look); /* DB-5 */
        found = found || (hw->look && atomic_load(&hw->suspended) == 0);
    }
    bool deferred = thread_finds_deferred(thread, rung, thoroughly);
    bf_lock_release(&thread->lock);
    return deferred || (found && !atomic_load(&thread->scheduler->doorbells->asleep));
}

static void thread_set_notify(void *owner, bool notify)
{
    struct bf_doorbell_thread *thread = owner;
    if (notify) { /* who has nothing to do gives his doorbell first */
        bf_lock_acquire(&thread->lock);
        for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
            struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
            if (doorbell)
                atomic_store(&doorbell->page.idle, !hw->look);
        }
        atomic_store(&thread->vkqueues.idle, true);
        bf_lock_release(&thread->lock);
    }
    bf_doorbell_group_notify(&thread->scheduler->doorbells->pages, &thread->group, notify);
}

static const struct bf_park_owner park_owner = {
    .has_work = thread_has_work,
    .set_notify = thread_set_notify,
    .idle = bf_doorbell_power_idle,
};

/* The queue can't be freed while somebody is about to use it. The thread's lock is held. */
static void queue_leave(struct bf_doorbell_thread *thread, struct bf_hw_queue *hw)
{
    if (--hw->readers == 0)
        bf_signpost_announce(&thread->readers);
}

struct bf_hw_queue *bf_doorbell_hold_queue(struct bf_doorbell *doorbell)
{
    struct bf_doorbell_thread *thread = doorbell->thread;
    bf_lock_acquire(&thread->lock);
    struct bf_hw_queue *hw = doorbell->hw;
    if (hw)
        hw->readers++;
    bf_lock_release(&thread->lock);
    return hw;
}

void bf_doorbell_release_queue(struct bf_hw_queue *hw)
{
    struct bf_doorbell_thread *thread = hw->thread;
    bf_lock_acquire(&thread->lock);
    queue_leave(thread, hw);
    bf_lock_release(&thread->lock);
}

/* Hands over what has been deferred; then reads each ring that is to be read, in turn, a part of
 * it. */
static void thread_read(struct bf_doorbell_thread *thread)
{
    bf_lock_acquire(&thread->lock);
    if (thread->vkqueues_look) {
        thread->vkqueues_look = false;
        bf_lock_release(&thread->lock);
        bf_engines_pump(thread->scheduler, bf_engine_bit(thread->engine));
        bf_park_worked(&thread->park);
        bf_lock_acquire(&thread->lock);
    }
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
        if (!hw->look || hw->leaving || atomic_load(&hw->suspended))
            continue;
        hw->look = false;
        hw->readers++;
        bf_lock_release(&thread->lock);
        bool some, more = bf_hw_queue_read(hw, &some);
        if (some) {
            bf_park_worked(&thread->park);
            bf_watch_notice(thread->scheduler->watch);
        }
        bf_lock_acquire(&thread->lock);
        hw->look = hw->look || more;
        queue_leave(thread, hw);
    }
    bf_lock_release(&thread->lock);
}

/* The device is being destroyed, which is a normal end: what its program wrote still goes down.
 * [UMS 10] */
static void queue_read_last(struct bf_hw_queue *hw, void *unused)
{
    bool some = false, more = atomic_load(&hw->suspended) == 0;
    (void)unused;
    while (more)
        more = bf_hw_queue_read(hw, &some);
}

static void doorbell_thread_run(void *argument)
{
    struct bf_doorbell_thread *thread = argument;
    while (bf_park_wait(&thread->park))
        thread_read(thread);
    if (!bf_scheduler_is_lost(thread->scheduler))
        bf_doorbells_each_of(thread, queue_read_last, NULL);
}

static void group_wake(struct bf_doorbell_group *group)
{
    bf_park_notify(&((struct bf_doorbell_thread *)group)->park);
}

static VkResult thread_begin(struct bf_doorbells *doorbells, uint32_t engine)
{
    struct bf_doorbell_thread *thread =
        aligned_alloc(_Alignof(struct bf_doorbell_thread), sizeof(*thread));
    if (!thread)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *thread = (struct bf_doorbell_thread){
        .group.wake = group_wake,
        .scheduler = doorbells->scheduler,
        .engine = &doorbells->scheduler->engines[engine],
    };
    bf_park_init(&thread->park, &park_owner, thread, BF_PARK_SPIN_NS);
    thread->park.idle_ns = doorbells->scheduler->doorbell_info.idle_ms * UINT64_C(1000000);
    bf_doorbell_group_add(&doorbells->pages, &thread->group);
    bf_doorbell_group_notify(&doorbells->pages, &thread->group, true);
    if (!bf_thread_start(&thread->thread, "belfry doorbell", doorbell_thread_run, thread)) {
        bf_doorbell_group_remove(&doorbells->pages, &thread->group);
        free(thread);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_store(&doorbells->threads[engine], thread);
    return VK_SUCCESS;
}

/* How far its rings have been read. */
static uint64_t thread_moved(struct bf_doorbell_thread *thread)
{
    uint64_t moved = 0;
    bf_lock_acquire(&thread->lock);
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next)
        moved += atomic_load(&hw->moved);
    bf_lock_release(&thread->lock);
    return moved;
}

bool bf_doorbell_thread_stop(struct bf_doorbells *doorbells, uint32_t engine)
{
    struct bf_doorbell_thread *thread = atomic_load(&doorbells->threads[engine]);
    if (!thread)
        return true;
    bf_park_stop(&thread->park);
    uint64_t moved;
    do /* what is left in the rings is read, however much that is (DT-7) */
        moved = thread_moved(thread);
    while (!bf_thread_wait(&thread->thread, bf_now_ns() + doorbells->scheduler->leave_ns) &&
           moved != thread_moved(thread));
    return bf_scheduler_join(doorbells->scheduler, &thread->thread);
}

void bf_doorbell_thread_free(struct bf_doorbells *doorbells, uint32_t engine)
{
    struct bf_doorbell_thread *thread = atomic_load(&doorbells->threads[engine]);
    if (!thread)
        return;
    bf_doorbell_page_destroy(&doorbells->pages, &thread->vkqueues);
    bf_doorbell_group_remove(&doorbells->pages, &thread->group);
    atomic_store(&doorbells->threads[engine], NULL);
    free(thread);
}

/* The engine's thread, begun if it isn't there. The doorbells' lock is held. */
static VkResult thread_of(struct bf_doorbells *doorbells, uint32_t engine,
                          struct bf_doorbell_thread **thread)
{
    VkResult result = VK_SUCCESS;
    if (!atomic_load(&doorbells->threads[engine]))
        result = thread_begin(doorbells, engine);
    *thread = atomic_load(&doorbells->threads[engine]);
    return result;
}

VkResult bf_doorbell_thread_add(struct bf_doorbells *doorbells, struct bf_hw_queue *hw)
{
    struct bf_doorbell_thread *thread;
    bf_lock_acquire(&doorbells->lock);
    VkResult result = thread_of(doorbells, hw->queue->base.engine->base.number, &thread);
    bf_lock_release(&doorbells->lock);
    if (result != VK_SUCCESS)
        return result;
    hw->thread = thread;
    bf_lock_acquire(&thread->lock);
    hw->next = thread->queues;
    if (hw->next)
        hw->next->previous = hw;
    thread->queues = hw;
    bf_lock_release(&thread->lock);
    return VK_SUCCESS;
}

void bf_doorbell_thread_remove(struct bf_hw_queue *hw)
{
    struct bf_doorbell_thread *thread = hw->thread;
    bool unused = false;
    uint32_t ticket = bf_signpost_enter(&thread->readers);
    bf_lock_acquire(&thread->lock);
    hw->leaving = true;
    while (hw->readers) {
        bf_lock_release(&thread->lock);
        ticket = bf_signpost_sleep(&thread->readers, ticket, NULL, &unused);
        bf_lock_acquire(&thread->lock);
    }
    bf_signpost_leave(&thread->readers);
    if (hw->previous)
        hw->previous->next = hw->next;
    else
        thread->queues = hw->next;
    if (hw->next)
        hw->next->previous = hw->previous;
    bf_lock_release(&thread->lock);
}

bool bf_doorbell_thread_suspend(struct bf_hw_queue *hw, bool suspend)
{
    struct bf_doorbell_thread *thread = hw->thread;
    bf_lock_acquire(&thread->lock);
    uint32_t count = atomic_load(&hw->suspended);
    bool can = suspend ? count < UINT32_MAX : count > 0;
    if (can)
        atomic_store(&hw->suspended, suspend ? count + 1 : count - 1);
    struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
    if (doorbell)
        atomic_store(&doorbell->page.suspended, atomic_load(&hw->suspended) != 0);
    bool resumed = can && atomic_load(&hw->suspended) == 0;
    hw->look = hw->look || resumed; /* what was rung meanwhile */
    bool unread = doorbell && bf_ring_written(doorbell->ring) != atomic_load(&doorbell->read);
    bf_lock_release(&thread->lock);
    if (resumed && unread)
        bf_doorbell_engine_wake(thread);
    if (resumed)
        bf_park_notify(&thread->park);
    return can;
}

void bf_doorbells_each_of(struct bf_doorbell_thread *thread,
                          void (*visit)(struct bf_hw_queue *hw, void *what), void *what)
{
    bf_lock_acquire(&thread->lock);
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
        if (hw->leaving)
            continue;
        hw->readers++;
        bf_lock_release(&thread->lock);
        visit(hw, what);
        bf_lock_acquire(&thread->lock);
        queue_leave(thread, hw);
    }
    bf_lock_release(&thread->lock);
}

void bf_doorbells_each(struct bf_scheduler *scheduler,
                       void (*visit)(struct bf_hw_queue *hw, void *what), void *what)
{
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_doorbell_thread *thread = atomic_load(&scheduler->doorbells->threads[i]);
        if (thread)
            bf_doorbells_each_of(thread, visit, what);
    }
}

/* --------------------------------------------------------------------------- submit=doorbell -- */

/* Gives the engine's VkQueues their doorbell. */
static VkResult vkqueues_begin(struct bf_engine *engine)
{
    struct bf_doorbells *doorbells;
    struct bf_doorbell_thread *thread;
    VkResult result = bf_doorbells_of(engine->scheduler, &doorbells);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&doorbells->lock);
    result = thread_of(doorbells, engine->base.number, &thread);
    if (result == VK_SUCCESS && !atomic_load(&thread->vkqueues_ring)) {
        bf_lock_acquire(&thread->lock);
        result = bf_doorbell_page_create(&doorbells->pages, &thread->group, &thread->vkqueues);
        bf_lock_release(&thread->lock);
        atomic_store(&thread->vkqueues_ring, result == VK_SUCCESS);
    }
    bf_lock_release(&doorbells->lock);
    return result;
}

/* The engine's thread, or NULL: it can't have one, and nothing is deferred any more. */
static struct bf_doorbell_thread *vkqueues_thread(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    for (;;) {
        struct bf_doorbells *doorbells = atomic_load(&scheduler->doorbells);
        struct bf_doorbell_thread *thread =
            doorbells ? atomic_load(&doorbells->threads[engine->base.number]) : NULL;
        if (thread && atomic_load(&thread->vkqueues_ring))
            return thread;
        VkResult result = vkqueues_begin(engine);
        if (result == VK_SUCCESS)
            continue;
        if (atomic_exchange(&scheduler->submits_ring, false) && !bf_scheduler_is_lost(scheduler))
            bf_message(
                BF_MESSAGE_WARNING,
                "device%s: submit=doorbell: no doorbell (VkResult %d): submissions go inline",
                BF_LABEL(scheduler), result);
        return NULL;
    }
}

/* In the order of doorbell/park.h. */
bool bf_doorbell_ring_vkqueues(struct bf_engine *engine)
{
    struct bf_doorbell_thread *thread = vkqueues_thread(engine);
    while (thread) {
        struct bf_doorbell_page *page = &thread->vkqueues;
        __atomic_store_n(page->doorbell, 1, __ATOMIC_RELEASE);
        atomic_signal_fence(memory_order_seq_cst);
        switch (bf_doorbell_page_state(page)) {
        case BF_DOORBELL_CONNECTED:
            return true;
        case BF_DOORBELL_CONNECTED_NOTIFY:
            bf_park_notify(&thread->park);
            return true;
        case BF_DOORBELL_DISCONNECTED_RETRY:
            if (bf_doorbell_page_connect(&thread->scheduler->doorbells->pages, page) != VK_SUCCESS)
                return false;
            bf_doorbell_power_wake(thread);
            break;
        case BF_DOORBELL_DISCONNECTED_ABORT:
            return false;
        }
    }
    return false;
}
