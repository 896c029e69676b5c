/* SPDX-License-Identifier: MIT */
/* Power states: engines that disconnect the doorbells of their queues while there is nothing to do
 * (F1), and devices that read no ring (D3). Connecting a doorbell wakes both. [UMS 6, 7] */
#include "base/handle.h"
#include "base/message.h"
#include "doorbell/doorbell.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"

static void engine_power_down(struct bf_doorbell_thread *thread)
{
    atomic_store(&thread->low_power, true);
    bf_doorbell_group_disconnect(&thread->scheduler->doorbells->pages, &thread->group,
                                 BF_DOORBELL_DISCONNECTED_RETRY);
}

static void queue_is_unfinished(struct bf_hw_queue *hw, void *unfinished)
{
    if (!bf_hw_queue_is_idle(hw))
        *(bool *)unfinished = true;
}

static void queue_is_busy(struct bf_hw_queue *hw, void *busy)
{
    if (atomic_load(&hw->suspended) == 0)
        queue_is_unfinished(hw, busy);
}

static void threads_wake(struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_doorbell_thread *thread = atomic_load(&scheduler->doorbells->threads[i]);
        if (thread)
            bf_park_notify(&thread->park);
    }
}

/* DT-5: who has loaded CONNECTED has done so before the disconnection's barrier: what he wrote can
 * be seen behind it. 'look' says of a queue that it keeps the device awake. */
static VkResult device_sleep(struct bf_scheduler *scheduler,
                             void (*look)(struct bf_hw_queue *hw, void *busy))
{
    struct bf_doorbells *doorbells = scheduler->doorbells;
    bool busy = false;
    bf_lock_acquire(&doorbells->power_lock);
    atomic_store(&doorbells->asleep, true);
    bf_doorbell_pages_disconnect(&doorbells->pages, BF_DOORBELL_DISCONNECTED_RETRY);
    bf_doorbells_each(scheduler, look, &busy);
    if (busy) {
        atomic_store(&doorbells->asleep, false);
        threads_wake(scheduler);
    }
    bf_lock_release(&doorbells->power_lock);
    return busy ? VK_NOT_READY : VK_SUCCESS;
}

static void device_wake(struct bf_scheduler *scheduler)
{
    if (atomic_exchange(&scheduler->doorbells->asleep, false))
        threads_wake(scheduler);
}

void bf_doorbell_engine_wake(struct bf_doorbell_thread *thread)
{
    if (!atomic_exchange(&thread->low_power, false))
        return;
    bf_park_worked(&thread->park); /* it may go to sleep again, whether work comes or not */
    bf_park_notify(&thread->park);
}

void bf_doorbell_power_wake(struct bf_doorbell_thread *thread)
{
    bf_doorbell_engine_wake(thread);
    device_wake(thread->scheduler);
}

bool bf_doorbell_power_idle(void *argument)
{
    struct bf_doorbell_thread *thread = argument;
    struct bf_scheduler *scheduler = thread->scheduler;
    bool busy = false;
    bf_doorbells_each_of(thread, queue_is_busy, &busy);
    if (busy)
        return false;
    engine_power_down(thread);
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_doorbell_thread *other = atomic_load(&scheduler->doorbells->threads[i]);
        if (other && !atomic_load(&other->low_power))
            return true;
    }
    /* Who resumes a queue needn't ring for what is in its ring: it must find the device awake. What
     * ends that, a batch that is done or a doorbell that is destroyed, tells nobody: it is looked
     * for, and first, since to try takes every doorbell away. */
    bf_doorbells_each(scheduler, queue_is_unfinished, &busy);
    return !busy && device_sleep(scheduler, queue_is_unfinished) == VK_SUCCESS;
}

/* The thread of the queue's engine, or NULL with a line. */
static struct bf_doorbell_thread *power_thread_of(BfCommandQueue handle, const char *call)
{
    struct bf_hw_queue *hw = bf_hw_queue_of(handle, call);
    return hw ? hw->thread : NULL;
}

VkResult bfSetEngineState(BfCommandQueue queue, BfEngineState state)
{
    struct bf_doorbell_thread *thread = power_thread_of(queue, __func__);
    if (!thread)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    switch (state) {
    case BF_ENGINE_STATE_ACTIVE:
        bf_doorbell_engine_wake(thread);
        return VK_SUCCESS;
    case BF_ENGINE_STATE_TRANSITION_TO_F1:
        engine_power_down(thread);
        return VK_SUCCESS;
    case BF_ENGINE_STATE_HUNG:
        bf_scheduler_lose_for(thread->scheduler, BF_DEVICE_REMOVED_REASON_HUNG, __func__);
        bf_scheduler_settle(thread->scheduler);
        return VK_SUCCESS;
    default:
        bf_message(BF_MESSAGE_ERROR, "bfSetEngineState: state %d: unknown", (int)state);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
}

VkResult bfGetEngineState(BfCommandQueue queue, BfEngineState *state)
{
    struct bf_doorbell_thread *thread = power_thread_of(queue, __func__);
    if (thread && !state)
        bf_message(BF_MESSAGE_ERROR, "bfGetEngineState: pState is NULL");
    if (!thread || !state)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *state = bf_scheduler_is_lost(thread->scheduler) ? BF_ENGINE_STATE_HUNG
             : atomic_load(&thread->low_power)       ? BF_ENGINE_STATE_TRANSITION_TO_F1
                                                     : BF_ENGINE_STATE_ACTIVE;
    return VK_SUCCESS;
}

VkResult bfSetDevicePowerState(BfDevice device, BfDevicePowerState state)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(device, __func__);
    bool known = state == BF_DEVICE_POWER_STATE_D0 || state == BF_DEVICE_POWER_STATE_D3;
    if (scheduler && !known)
        bf_message(BF_MESSAGE_ERROR, "bfSetDevicePowerState: state %d: unknown", (int)state);
    if (!scheduler || !known)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbells *doorbells;
    VkResult result = bf_doorbells_of(scheduler, &doorbells);
    if (result != VK_SUCCESS)
        return result;
    if (state == BF_DEVICE_POWER_STATE_D3)
        return device_sleep(scheduler, queue_is_busy);
    device_wake(scheduler);
    return VK_SUCCESS;
}

VkResult bfGetDevicePowerState(BfDevice device, BfDevicePowerState *state)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(device, __func__);
    if (scheduler && !state)
        bf_message(BF_MESSAGE_ERROR, "bfGetDevicePowerState: pState is NULL");
    if (!scheduler || !state)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbells *doorbells = atomic_load(&scheduler->doorbells);
    *state = BF_DEVICE_POWER_STATE_D0;
    if (!doorbells)
        return VK_SUCCESS;
    bf_lock_acquire(&doorbells->power_lock); /* while it is decided it isn't asleep yet */
    if (atomic_load(&doorbells->asleep))
        *state = BF_DEVICE_POWER_STATE_D3;
    bf_lock_release(&doorbells->power_lock);
    return VK_SUCCESS;
}
