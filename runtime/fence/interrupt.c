/* SPDX-License-Identifier: MIT */
/* bfNotifyFencesSignaled: examines the fences that may have been signalled. */
#include "fence/interrupt.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "belfry/native_fence.h"
#include "fence/native.h"
#include "log/log.h"
#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

/* Entries of a log that are read at a time. */
#define AT_ONCE 32

/* Examines what others than Belfry's queues may have signalled: all native fences, or all
 * others. */
static void interrupt_look_at_all(struct bf_scheduler *scheduler, bool native,
                                  struct bf_effects *effects)
{
    struct bf_pending *pending = &scheduler->pending;
    struct bf_fence *next;
    bf_lock_acquire(&pending->lock);
    for (struct bf_fence *fence = pending->fences; fence; fence = next) {
        bf_fence_reference(fence);
        if (native && fence->native)
            bf_fence_look_outside(fence, effects);
        else if (!native && !fence->native)
            bf_fence_look_again(fence, effects);
        next = fence->next;
        bf_fence_release(fence);
    }
    bf_lock_release(&pending->lock);
}

static void interrupt_look_at_fences(struct bf_scheduler *scheduler, uint32_t count,
                                     struct bf_fence *const *fences, struct bf_effects *effects)
{
    bf_lock_acquire(&scheduler->pending.lock);
    for (uint32_t i = 0; i < count; i++) {
        if (fences[i]->native)
            bf_fence_look_outside(fences[i], effects);
        else
            bf_fence_look_again(fences[i], effects);
    }
    bf_lock_release(&scheduler->pending.lock);
}

/* Marks all of the queue's pending signals. */
static void queue_name_all(struct bf_command_queue *queue)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    bf_lock_acquire(&pending->lock);
    for (struct bf_update *u = queue->first_update; u; u = u->next)
        u->named = true;
    bf_lock_release(&pending->lock);
}

/* Marks the queue's pending signals that the entries name. An entry whose signal has been applied
 * may mark a later one of the same value, which is then looked at in vain. */
static void queue_name_updates(struct bf_command_queue *queue, const struct bf_log_item *items,
                               uint32_t count)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    bf_lock_acquire(&pending->lock);
    for (struct bf_update *u = queue->first_update; u; u = u->next) {
        for (uint32_t i = 0; i < count && !u->named; i++)
            u->named = items[i].fence == u->fence->log_handle && items[i].value == u->value;
    }
    bf_lock_release(&pending->lock);
}

static bool queue_has_timed_log(const struct bf_command_queue *queue)
{
    return bf_log_is_enabled(queue->base.log) &&
           queue->base.scheduler->gpu.fence_log != BF_FENCE_LOG_UNTIMED;
}

/* Reads the queue's log of signals since the last interrupt, and marks what it names. False: it
 * doesn't tell (IN-4). The engine's lock is held. */
static bool queue_read_log(struct bf_command_queue *queue)
{
    struct bf_log *log = queue->base.log;
    uint32_t count = AT_ONCE;
    uint64_t lost = 0;
    bool known = true;
    /* It has just been switched off; or the host writes it, perhaps after the GPU has signalled
     * (LG-6). */
    if (!queue_has_timed_log(queue) || bf_log_is_by_host(log))
        return false;
    bf_log_flush(log);
    struct bf_log_cursor *cursor = log->interrupts;
    if (cursor && !bf_log_cursor_is_current(cursor)) {
        bf_log_cursor_close(cursor); /* it was switched off meanwhile */
        bf_log_cursor_open(log, BF_LOG_SIGNALS, cursor);
        known = false;
    } else if (!cursor) {
        known = false; /* signals from before are not known */
        log->interrupts = malloc(sizeof(*log->interrupts));
        if (log->interrupts)
            bf_log_cursor_open(log, BF_LOG_SIGNALS, log->interrupts);
    }
    while (known && count == AT_ONCE) {
        struct bf_log_item items[AT_ONCE];
        count = 0;
        known =
            bf_log_cursor_read(log->interrupts, items, AT_ONCE, &count, &lost) == BF_LOG_READ_OK &&
            lost == 0;
        queue_name_updates(queue, items, count);
    }
    return known;
}

static bool interrupt_read_log(struct bf_command_queue *queue)
{
    struct bf_engine *engine = queue->base.engine;
    if (!queue_has_timed_log(queue))
        return false;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    bool known = entry != BF_ENGINE_LOST && queue_read_log(queue);
    bf_engine_leave_beside(engine, entry);
    return known;
}

/* The same of all of the engine's queues; where a log doesn't tell, all that is its queue's is
 * marked. */
static void engine_read_logs(struct bf_engine *engine)
{
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    for (uint32_t i = 0; entry != BF_ENGINE_LOST && i < engine->queue_count; i++) {
        struct bf_command_queue *queue = (struct bf_command_queue *)engine->queues[i];
        if (queue->base.is_command_queue && !queue_read_log(queue))
            queue_name_all(queue);
    }
    bf_engine_leave_beside(engine, entry);
}

static bool choose_all(const struct bf_update *update, const void *context)
{
    (void)update, (void)context;
    return true;
}

static bool choose_named(const struct bf_update *update, const void *context)
{
    (void)context;
    return update->named;
}

static bool choose_named_of_engine(const struct bf_update *update, const void *engine)
{
    return update->named && update->queue->base.engine == engine;
}

/* Those of the array; without one all native ones; with 'legacy' those that aren't. */
static bool choose_reported(const struct bf_update *update, const void *context)
{
    const struct bf_interrupt *interrupt = context;
    bool native = update->fence->native != NULL;
    bool reported = native && !interrupt->queue && !interrupt->engine && !interrupt->count;
    for (uint32_t i = 0; i < interrupt->count && !reported; i++)
        reported = interrupt->fences[i] == update->fence;
    return reported || (interrupt->legacy && !native);
}

VkResult bf_interrupt_handle(struct bf_scheduler *scheduler, const struct bf_interrupt *interrupt,
                             struct bf_effects *effects)
{
    struct bf_pending *pending = &scheduler->pending;
    VkResult result = VK_SUCCESS;
    /* Signals of Belfry's queues apply first, in their order (IN-3). */
    if (interrupt->queue)
        result = bf_pending_retire_chosen(
            pending, interrupt->queue,
            interrupt_read_log(interrupt->queue) ? choose_named : choose_all, NULL, effects);
    if (interrupt->engine) {
        engine_read_logs(interrupt->engine);
        result = bf_pending_retire_chosen(pending, NULL, choose_named_of_engine, interrupt->engine,
                                          effects);
    }
    bool found = interrupt->queue || interrupt->engine;
    if (result == VK_SUCCESS && (!found || interrupt->legacy))
        result = bf_pending_retire_chosen(pending, NULL, choose_reported, interrupt, effects);
    if (result != VK_SUCCESS)
        return result;
    if (interrupt->count)
        interrupt_look_at_fences(scheduler, interrupt->count, interrupt->fences, effects);
    else if (!found)
        interrupt_look_at_all(scheduler, true, effects);
    if (interrupt->legacy)
        interrupt_look_at_all(scheduler, false, effects);
    return VK_SUCCESS;
}

/* The engine that the interrupt names; NULL, with a line, where there is none. */
static struct bf_engine *interrupt_engine(struct bf_scheduler *scheduler,
                                          const BfFenceNotification *notification,
                                          const BfFenceNotificationEngine *named)
{
    const struct bf_command_queue *queue = (const struct bf_command_queue *)notification->queue;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        if (engine->base.family == named->nodeOrdinal &&
            engine->base.index == named->engineOrdinal && !notification->signaledFenceCount &&
            (!queue || queue->base.engine == engine))
            return engine;
    }
    bf_message(BF_MESSAGE_ERROR,
               "bfNotifyFencesSignaled: nodeOrdinal %u, engineOrdinal %u: there is no such engine, "
               "it isn't the queue's, or there are fences",
               named->nodeOrdinal, named->engineOrdinal);
    return NULL;
}

VkResult bfNotifyFencesSignaled(BfDevice handle, const BfFenceNotification *notification)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const BfFenceNotifyFlags known = BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT;
    const void *chained;
    if (!bf_structure_check_extended(notification, BF_STRUCTURE_TYPE_FENCE_NOTIFICATION,
                                     BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE, &chained,
                                     __func__, "pNotification"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if ((notification->flags & ~known) ||
        (notification->signaledFenceCount &&
         (notification->queue || !notification->pSignaledFences))) {
        bf_message(BF_MESSAGE_ERROR, "bfNotifyFencesSignaled: %s",
                   notification->signaledFenceCount && !notification->pSignaledFences
                       ? "signaledFenceCount isn't 0, and pSignaledFences is NULL"
                   : notification->queue ? "there are fences as well as a queue, or an unknown flag"
                                         : "a flag is not known");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    /* No array: all. */
    uint32_t count = notification->pSignaledFences ? notification->signaledFenceCount : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bf_fence *fence = bf_fence_of(notification->pSignaledFences[i], __func__);
        if (fence && fence->scheduler != scheduler)
            bf_message(BF_MESSAGE_ERROR,
                       "bfNotifyFencesSignaled: pSignaledFences[%u] belongs to another "
                       "device",
                       i);
        if (!fence || fence->scheduler != scheduler)
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_command_queue *queue = (struct bf_command_queue *)notification->queue;
    if (queue && !bf_handle_check(queue, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (queue && queue->base.scheduler != scheduler) {
        bf_message(BF_MESSAGE_ERROR, "bfNotifyFencesSignaled: the queue belongs to another device");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_engine *engine = chained ? interrupt_engine(scheduler, notification, chained) : NULL;
    if (chained && !engine)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    const struct bf_interrupt interrupt = {
        .count = count,
        .fences = (struct bf_fence *const *)notification->pSignaledFences,
        .queue = queue,
        .engine = queue ? NULL : engine,
        .legacy = notification->flags & BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT,
    };
    struct bf_effects effects = {0};
    VkResult result = bf_interrupt_handle(scheduler, &interrupt, &effects);
    bf_effects_run(scheduler, &effects);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
}
