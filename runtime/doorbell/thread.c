/* SPDX-License-Identifier: MIT */
/* The doorbell thread of an engine: which of its queues' doorbells have been rung, and whose ring it
 * reads next. */
#include <stdlib.h>

#include "base/message.h"
#include "doorbell/doorbell.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"

/* Marks the queues whose doorbells have been rung; with 'thoroughly' also those whose write pointers
 * have moved. Returns whether a ring is to be read. */
static bool thread_has_work(void *owner, bool thoroughly)
{
    struct bf_doorbell_thread *thread = owner;
    bool found = false;
    bf_lock_acquire(&thread->lock);
    bool rung = bf_doorbell_group_poll(&thread->scheduler->doorbells->pages, &thread->group);
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
        struct bf_doorbell *doorbell = atomic_load(&hw->doorbell);
        if (doorbell && rung && bf_doorbell_page_take(&doorbell->page))
            hw->look = true;
        if (doorbell && thoroughly && !atomic_load(&doorbell->reason) &&
            bf_ring_written(doorbell->ring) != atomic_load(&doorbell->read))
            hw->look = true;
        found = found || (hw->look && atomic_load(&hw->suspended) == 0);
    }
    bf_lock_release(&thread->lock);
    return found && !atomic_load(&thread->scheduler->doorbells->asleep);
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

/* Reads each ring that is to be read, in turn, a part of it. */
static void thread_read(struct bf_doorbell_thread *thread)
{
    bf_lock_acquire(&thread->lock);
    for (struct bf_hw_queue *hw = thread->queues; hw; hw = hw->next) {
        if (!hw->look || hw->leaving || atomic_load(&hw->suspended))
            continue;
        hw->look = false;
        hw->readers++;
        bf_lock_release(&thread->lock);
        bool some, more = bf_hw_queue_read(hw, &some);
        if (some)
            bf_park_worked(&thread->park);
        bf_lock_acquire(&thread->lock);
        hw->look = hw->look || more;
        queue_leave(thread, hw);
    }
    bf_lock_release(&thread->lock);
}

static void thread_run(void *argument)
{
    struct bf_doorbell_thread *thread = argument;
    while (bf_park_wait(&thread->park))
        thread_read(thread);
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
    };
    bf_park_init(&thread->park, &park_owner, thread, BF_PARK_SPIN_NS);
    thread->park.idle_ns = doorbells->scheduler->doorbell_info.idle_ms * UINT64_C(1000000);
    bf_doorbell_group_add(&doorbells->pages, &thread->group);
    bf_doorbell_group_notify(&doorbells->pages, &thread->group, true);
    if (!bf_thread_start(&thread->thread, thread_run, thread)) {
        bf_doorbell_group_remove(&doorbells->pages, &thread->group);
        free(thread);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    pthread_setname_np(thread->thread.id, "belfry doorbell");
    atomic_store(&doorbells->threads[engine], thread);
    return VK_SUCCESS;
}

bool bf_doorbell_thread_stop(struct bf_doorbells *doorbells, uint32_t engine)
{
    struct bf_doorbell_thread *thread = atomic_load(&doorbells->threads[engine]);
    if (!thread)
        return true;
    bf_park_stop(&thread->park);
    return bf_scheduler_join(doorbells->scheduler, &thread->thread);
}

void bf_doorbell_thread_free(struct bf_doorbells *doorbells, uint32_t engine)
{
    struct bf_doorbell_thread *thread = atomic_load(&doorbells->threads[engine]);
    if (!thread)
        return;
    bf_doorbell_group_remove(&doorbells->pages, &thread->group);
    atomic_store(&doorbells->threads[engine], NULL);
    free(thread);
}

VkResult bf_doorbell_thread_add(struct bf_doorbells *doorbells, struct bf_hw_queue *hw)
{
    const uint32_t engine = hw->queue->base.engine->base.number;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&doorbells->lock);
    if (!atomic_load(&doorbells->threads[engine]))
        result = thread_begin(doorbells, engine);
    struct bf_doorbell_thread *thread = atomic_load(&doorbells->threads[engine]);
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
    bf_lock_release(&thread->lock);
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
