/* SPDX-License-Identifier: MIT */
/* The loss of a device: declared once, told when nothing is held and nobody waits any more, and
 * what a call that is stuck in the driver keeps beyond it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "base/thread.h"
#include "gpu/fault.h"
#include "scheduler/command_queue.h"
#include "scheduler/observer.h"
#include "scheduler/scheduler.h"

/* How long the loss of a device may be kept from the program while a call of the driver's may still
 * return (L-3). */
#define STUCK_NS UINT64_C(100000000)

/* How often the driver is asked of a loss at most (L-5). */
#define ASK_NS UINT64_C(1000000)

static void scheduler_lose(struct bf_scheduler *scheduler, BfDeviceRemovedReason reason, bool below,
                           const char *where)
{
    if (atomic_exchange(&scheduler->lost, true))
        return;
    scheduler->lost_below = below;
    char line[256];
    snprintf(line, sizeof(line), "device%s lost (%s): what is held is dropped, waits end",
             BF_LABEL(scheduler), where);
    bf_message(BF_MESSAGE_ERROR, "%s", line);
    bf_trace_device_lost(scheduler->gpu.trace, line);
    scheduler->removed_reason = reason;
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        atomic_store(&scheduler->engines[i].dirty, 1);
    if (scheduler->doorbell_extension)
        scheduler->doorbell_extension->lost(scheduler);
    bf_pending_lose(&scheduler->pending);
    bf_observe_stop(scheduler->observer, "the device is lost");
    atomic_store(&scheduler->loss_announced, true);
    bf_signpost_announce(&scheduler->progress);
}

VkResult bf_scheduler_lose(struct bf_scheduler *scheduler, const char *where)
{
    scheduler_lose(scheduler, BF_DEVICE_REMOVED_REASON_REMOVED, true, where);
    return VK_ERROR_DEVICE_LOST;
}

VkResult bf_scheduler_lose_for(struct bf_scheduler *scheduler, BfDeviceRemovedReason reason,
                               const char *where)
{
    scheduler_lose(scheduler, reason, false, where);
    return VK_ERROR_DEVICE_LOST;
}

VkResult bf_scheduler_lose_by(struct bf_scheduler *scheduler, VkResult result, const char *where)
{
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lose(scheduler, where);
    bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return bf_scheduler_lose_for(scheduler,
                                 memory ? BF_DEVICE_REMOVED_REASON_OUT_OF_MEMORY
                                        : BF_DEVICE_REMOVED_REASON_DRIVER_INTERNAL_ERROR,
                                 where);
}

VkResult bf_scheduler_lost(struct bf_scheduler *scheduler, const char *where)
{
    bf_scheduler_lose(scheduler, where);
    return bf_scheduler_settle(scheduler);
}

/* By a wait for an epoch that nothing has been submitted for, without a timeout: Vulkan wants waits
 * to tell of a loss, and Mesa's drivers ask the kernel in them, but not in vkGetFenceStatus and
 * vkGetSemaphoreCounterValue. Held fences themselves may be in a submit of another thread's by
 * then. */
static bool scheduler_ask_driver(struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_gpu_engine *engine = &scheduler->engines[i].base;
        if (!engine->epoch)
            continue;
        const uint64_t next = atomic_load(&engine->accepted_epoch) + 1;
        return bf_gpu_wait_timeline(&scheduler->gpu, engine->epoch, next, 0) ==
               VK_ERROR_DEVICE_LOST;
    }
    return false;
}

bool bf_scheduler_ask_lost(struct bf_scheduler *scheduler)
{
    uint64_t now = bf_now_ns(), asked = atomic_load(&scheduler->asked_ns);
    if (!bf_scheduler_is_lost(scheduler) && now - asked >= ASK_NS &&
        atomic_compare_exchange_strong(&scheduler->asked_ns, &asked, now) &&
        scheduler_ask_driver(scheduler))
        bf_scheduler_lose(scheduler, "found while the program waits for held work");
    return bf_scheduler_is_lost(scheduler);
}

bool bf_scheduler_acquire(struct bf_scheduler *scheduler, struct bf_lock *lock)
{
    while (!bf_lock_try(lock)) {
        const struct timespec until = bf_timespec(bf_now_ns() + BF_SCHEDULER_LOOK_NS);
        if (bf_lock_acquire_until(lock, &until))
            return true;
        if (bf_scheduler_ask_lost(scheduler)) /* nobody tells of it who waits for the lock */
            return bf_lock_try(lock);
    }
    return true;
}

uint32_t bf_scheduler_sleep(struct bf_scheduler *scheduler, uint32_t ticket, uint64_t deadline_ns,
                            bool *timed_out)
{
    const uint64_t look = bf_now_ns() + BF_SCHEDULER_LOOK_NS;
    const struct timespec until = bf_timespec(look < deadline_ns ? look : deadline_ns);
    bool over = false;
    ticket = bf_signpost_sleep(&scheduler->progress, ticket, &until, &over);
    *timed_out |= over && deadline_ns <= look;
    if (over)
        bf_scheduler_ask_lost(scheduler);
    return ticket;
}

/* To the trace, before it goes to its file. Where a call has the engine, they stay behind. */
static void engine_report_logs(struct bf_engine *engine)
{
    uint64_t completed;
    if (!engine->base.epoch || !bf_lock_try_briefly(&engine->lock))
        return;
    if (bf_gpu_engine_completed_epoch(&engine->base, &completed) != VK_SUCCESS)
        completed = atomic_load(&engine->base.seen_epoch);
    for (uint32_t i = 0; i < engine->queue_count; i++)
        if (engine->queues[i]->log)
            bf_log_collect(engine->queues[i]->log, completed);
    bf_lock_release(&engine->lock);
    bf_engine_recheck(engine, 0);
}

/* L-4. The driver may be asked of a loss only if it knows of it. */
static void scheduler_report_loss(struct bf_scheduler *scheduler)
{
    struct bf_gpu *gpu = &scheduler->gpu;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        uint64_t accepted = atomic_load(&engine->base.accepted_epoch);
        uint64_t seen = atomic_load(&engine->base.seen_epoch);
        if (accepted > seen)
            bf_message(BF_MESSAGE_INFO,
                       "device%s: engine %u:%u: of %llu submissions %llu were seen complete",
                       BF_LABEL(scheduler), engine->base.family, engine->base.index,
                       (unsigned long long)accepted, (unsigned long long)seen);
        if (scheduler->lost_below)
            bf_gpu_engine_tell_checkpoints(&engine->base);
        if (gpu->trace)
            engine_report_logs(engine);
    }
    if (scheduler->lost_below)
        bf_gpu_fault_tell(gpu);
    bf_trace_flush(gpu->trace);
}

VkResult bf_scheduler_settle(struct bf_scheduler *scheduler)
{
    bf_engines_pump(scheduler, bf_scheduler_dirty_engines(scheduler));
    /* What is in a call of the driver's is dropped by who made the call, and announced. */
    const uint64_t deadline = bf_now_ns() + STUCK_NS;
    const struct timespec until = bf_timespec(deadline);
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    for (;;) {
        for (uint32_t i = 0; i < scheduler->engine_count; i++)
            bf_engine_drop_held(&scheduler->engines[i]);
        if (atomic_load(&scheduler->loss_announced) && !bf_scheduler_has_backlog(scheduler))
            break;
        if (bf_remaining_ns(deadline) == 0 && !atomic_exchange(&scheduler->stuck, true))
            bf_message(
                BF_MESSAGE_WARNING,
                "device%s lost: a call of the driver has not returned for %u ms; what it was "
                "given stays until the device is destroyed",
                BF_LABEL(scheduler), (unsigned)(STUCK_NS / 1000000));
        if (atomic_load(&scheduler->loss_announced) && atomic_load(&scheduler->stuck))
            break;
        ticket = bf_signpost_sleep(&scheduler->progress, ticket, &until, &timed_out);
    }
    bf_signpost_leave(&scheduler->progress);
    if (!atomic_exchange(&scheduler->reported, true))
        scheduler_report_loss(scheduler);
    return VK_ERROR_DEVICE_LOST;
}

void bf_scheduler_retain(struct bf_scheduler *scheduler, struct bf_retained what,
                         bool own_callbacks)
{
    struct bf_retained *object = own_callbacks ? NULL : malloc(sizeof(*object));
    if (!object)
        return;
    bf_lock_acquire(&scheduler->retained_lock);
    *object = what;
    object->next = scheduler->retained;
    scheduler->retained = object;
    bf_lock_release(&scheduler->retained_lock);
}

bool bf_scheduler_keeps(struct bf_scheduler *scheduler, const struct bf_retained *object,
                        bool own_callbacks)
{
    /* A thread that was left in a wait, on a device that isn't lost, has no memory. */
    bool left = bf_scheduler_was_left(scheduler) &&
                (!object || object->pool || bf_scheduler_is_lost(scheduler));
    if (!atomic_load(&scheduler->stuck) && !left)
        return false;
    if (object)
        bf_scheduler_retain(scheduler, *object, own_callbacks);
    return true;
}

void bf_scheduler_destroy_retained(struct bf_scheduler *scheduler)
{
    while (scheduler->retained) {
        struct bf_retained *object = scheduler->retained;
        scheduler->retained = object->next;
        scheduler->gpu.vk.vkDestroySemaphore(scheduler->gpu.handle, object->semaphore, NULL);
        scheduler->gpu.vk.vkDestroyFence(scheduler->gpu.handle, object->fence, NULL);
        scheduler->gpu.vk.vkDestroyCommandPool(scheduler->gpu.handle, object->pool, NULL);
        scheduler->gpu.vk.vkDestroyBuffer(scheduler->gpu.handle, object->buffer, NULL);
        scheduler->gpu.vk.vkDestroyImage(scheduler->gpu.handle, object->image, NULL);
        scheduler->gpu.vk.vkFreeMemory(scheduler->gpu.handle, object->memory, NULL);
        scheduler->gpu.vk.vkDestroyQueryPool(scheduler->gpu.handle, object->queries, NULL);
        free(object);
    }
}

/* Once one has been left, the device isn't coming back: no other gets as much time. */
#define LEAVE_AGAIN_NS UINT64_C(100000000)

bool bf_scheduler_join(struct bf_scheduler *scheduler, struct bf_thread *thread)
{
    const uint64_t begin = bf_now_ns();
    uint64_t most = scheduler->leave_ns;
    if (bf_scheduler_was_left(scheduler) && most > LEAVE_AGAIN_NS)
        most = LEAVE_AGAIN_NS;
    if (bf_thread_join(thread, begin + most))
        return true;
    thread->next = atomic_load(&scheduler->left);
    while (!atomic_compare_exchange_weak(&scheduler->left, &thread->next, thread)) {
    }
    bf_gpu_pin_driver(&scheduler->gpu);
    bf_message(BF_MESSAGE_ERROR,
               "device%s: a wait in the driver, of a thread of Belfry's, has not returned for %llu "
               "ms (setting tdr_ddi_delay): the thread is left there, and the device stays, "
               "leaked, with all that it has",
               BF_LABEL(scheduler), (unsigned long long)((bf_now_ns() - begin) / 1000000));
    return false;
}

/* The thread that awaits what a removed device has been given: the driver's waits are its own. */
struct awaiter {
    struct bf_thread thread;
    struct bf_scheduler *scheduler;
    uint64_t timeout_ns; /* for each submission */
    _Atomic bool stop;
};

/* The engine's submissions one by one. L-7: one that was left touches nothing when it returns. */
static void awaiter_await_engine(struct awaiter *awaiter, struct bf_engine *engine)
{
    const uint64_t accepted = atomic_load(&engine->base.accepted_epoch);
    uint64_t value = 0;
    while (!atomic_load(&awaiter->stop) &&
           bf_gpu_engine_completed_epoch(&engine->base, &value) == VK_SUCCESS && value < accepted &&
           bf_gpu_wait_timeline(engine->base.gpu, engine->base.epoch, value + 1,
                                awaiter->timeout_ns) == VK_SUCCESS)
        ;
}

static void awaiter_run(void *argument)
{
    struct awaiter *awaiter = argument;
    struct bf_scheduler *scheduler = awaiter->scheduler;
    for (uint32_t i = 0; !atomic_load(&awaiter->stop) && i < scheduler->engine_count; i++)
        awaiter_await_engine(awaiter, &scheduler->engines[i]);
}

static uint64_t scheduler_seen(const struct bf_scheduler *scheduler)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        seen += atomic_load(&scheduler->engines[i].base.seen_epoch);
    return seen;
}

void bf_scheduler_await_accepted(struct bf_scheduler *scheduler, uint64_t timeout_ns)
{
    struct awaiter *awaiter = calloc(1, sizeof(*awaiter));
    if (!awaiter)
        return;
    awaiter->scheduler = scheduler;
    awaiter->timeout_ns = timeout_ns;
    if (!bf_thread_start(&awaiter->thread, NULL, awaiter_run, awaiter)) {
        free(awaiter);
        return;
    }
    uint64_t seen;
    do
        seen = scheduler_seen(scheduler);
    while (!bf_thread_wait(&awaiter->thread, bf_now_ns() + timeout_ns) &&
           seen != scheduler_seen(scheduler));
    atomic_store(&awaiter->stop, true);
    if (bf_scheduler_join(scheduler, &awaiter->thread))
        free(awaiter);
}
