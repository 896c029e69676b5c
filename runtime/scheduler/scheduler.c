/* SPDX-License-Identifier: MIT */
/* A device's scheduler: created, waited for, destroyed. */
#include "scheduler/scheduler.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "gpu/registry.h"
#include "scheduler/command_queue.h"
#include "scheduler/deferral.h"
#include "scheduler/driver.h"
#include "scheduler/driver_wait.h"
#include "scheduler/observer.h"
#include "scheduler/packet_time.h"
#include "scheduler/queue_log.h"
#include "scheduler/semaphore.h"
#include "scheduler/vkfence.h"
#include "scheduler/watch.h"
#include "scheduler/watcher.h"
#include "scheduler/waker.h"
#include "trace/stamps.h"

/* The interval at which a query is asked for while held work may still produce its result. */
#define QUERY_SLICE_NS UINT64_C(500000)

static VkResult scheduler_init_engine(struct bf_scheduler *scheduler,
                                      const struct bf_scheduler_info *info, uint32_t number)
{
    const struct bf_engine_info *from = &info->engines[number];
    struct bf_engine *engine = &scheduler->engines[number];
    engine->scheduler = scheduler;
    engine->base.gpu = &scheduler->gpu;
    bf_gpu_add_family(&scheduler->gpu, from->family);
    engine->base.handle = from->handle;
    engine->base.number = number;
    engine->base.family = from->family;
    engine->base.index = from->index;
    engine->base.flags = from->flags;
    engine->base.family_flags = from->family_flags;
    engine->base.timestamp_bits = from->timestamp_bits;
    engine->base.copies_whole = from->copies_whole;
    engine->base.global_priority = from->global_priority;
    engine->base.queue_priority = from->queue_priority;
    engine->base.least = from->least;
    engine->base.reserved = from->reserved;
    engine->base.spare = from->spare;

    uint32_t count = 0;
    for (uint32_t i = 0; i < info->queue_count; i++)
        count += info->queues[i].engine == number;
    engine->queues = calloc(count ? count : 1, sizeof(*engine->queues));
    if (!engine->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (count > 1)
        bf_engine_share(engine);

    char name[64];
    snprintf(name, sizeof(name), "engine %u:%u", engine->base.family, engine->base.index);
    engine->base.trace_id = bf_trace_add_engine(info->gpu.trace, name);
    if (count > 1 || info->gpu.trace || scheduler->watches_all) {
        VkResult result = bf_gpu_engine_create_epoch(&engine->base);
        if (result != VK_SUCCESS)
            return result;
    }
    return info->gpu.trace ? bf_packet_time_begin(engine) : VK_SUCCESS;
}

static const char *queue_type_name(VkQueueFlags flags)
{
    if (flags & VK_QUEUE_GRAPHICS_BIT)
        return "3D";
    if (flags & VK_QUEUE_COMPUTE_BIT)
        return "compute";
    return "copy";
}

static void scheduler_init_queue(struct bf_scheduler *scheduler,
                                 const struct bf_scheduler_info *info, uint32_t number)
{
    const struct bf_queue_info *from = &info->queues[number];
    struct bf_queue *queue = &scheduler->queues[number];
    struct bf_engine *engine = &scheduler->engines[from->engine];
    queue->scheduler = scheduler;
    queue->engine = engine;
    queue->family = from->family;
    queue->index = from->index;
    queue->flags = from->flags;
    queue->family_flags = from->family_flags;
    queue->level = from->level ? from->level : bf_level_of_global(engine->base.global_priority);
    engine->queues[engine->queue_count++] = queue;
    engine->vkqueues++;
    bf_window_join(engine, queue->level);
    char name[64];
    snprintf(name, sizeof(name), "%s queue %u:%u", queue_type_name(from->family_flags),
             queue->family, queue->index);
    queue->trace_id =
        info->gpu.trace ? bf_trace_add_queue(info->gpu.trace, engine->base.trace_id, name) : number;
}

/* Reports the program's VkQueues to the observer, by the program's handles. */
static void scheduler_init_observer(struct bf_scheduler *scheduler,
                                    const struct bf_scheduler_info *info)
{
    scheduler->observer = info->observer;
    bf_observer_list(scheduler->observer);
    for (uint32_t i = 0; scheduler->observer && i < scheduler->queue_count; i++) {
        struct bf_queue *queue = &scheduler->queues[i];
        char name[64];
        snprintf(name, sizeof(name), "%s queue %u:%u", queue_type_name(queue->family_flags),
                 queue->family, queue->index);
        bf_observe_vkqueue_add(scheduler->observer,
                               info->layer ? (VkQueue)queue : queue->engine->base.handle, name,
                               queue->family_flags);
    }
}

/* Sets the loader's dispatch pointer of the queues: the program's VkQueue handles point to them. */
static VkResult scheduler_set_loader_data(struct bf_scheduler *scheduler)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0;
         scheduler->gpu.set_loader_data && result == VK_SUCCESS && i < scheduler->queue_count; i++)
        result = scheduler->gpu.set_loader_data(scheduler->gpu.handle, &scheduler->queues[i]);
    return result;
}

void bf_scheduler_see_ends(struct bf_scheduler *scheduler)
{
    struct bf_effects effects = {0};
    if (bf_scheduler_is_lost(scheduler))
        return;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        if (!bf_lock_try_briefly(&scheduler->engines[i].lock))
            continue;
        bf_engine_collect(&scheduler->engines[i]);
        bf_lock_release(&scheduler->engines[i].lock);
    }
    if (!scheduler->pending.engines)
        return;
    bf_pending_retire(&scheduler->pending, &effects);
    effects.engines = 0;
    bf_effects_run(scheduler, &effects);
}

static void ends_see(void *scheduler)
{
    bf_scheduler_see_ends(scheduler);
}

VkResult bf_scheduler_init(struct bf_scheduler *scheduler, const struct bf_scheduler_info *info)
{
    scheduler->preemption = info->preemption;
    scheduler->measures_costs = info->preemption && info->gpu.host_query_reset && !info->cpu;
    if (info->serialize_submits)
        scheduler->submit_lock = &scheduler->submit_lock_storage;
    scheduler->seen_outside = info->shares_memory;
    scheduler->splits = info->layer;
    scheduler->fence_extension = info->fence_extension;
    scheduler->doorbell_extension = info->doorbell_extension;
    scheduler->doorbell_info = info->doorbell_info;
    /* On an attached device the program asks the driver itself about its fences. */
    scheduler->submits_ring = info->layer && info->doorbell_info.submits;
    scheduler->peer_extension = info->peer_extension;
    scheduler->engines =
        calloc(info->engine_count ? info->engine_count : 1, sizeof(*scheduler->engines));
    scheduler->queues =
        calloc(info->queue_count ? info->queue_count : 1, sizeof(*scheduler->queues));
    if (!scheduler->engines || !scheduler->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = bf_gpu_init(&scheduler->gpu, &info->gpu);
    if (result != VK_SUCCESS)
        return result;
    scheduler->watches_all = info->watched;
    scheduler->sliced = info->timed;
    scheduler->leave_ns = (uint64_t)info->leave_ms * 1000000;
    if ((info->watched || info->timed) && !(scheduler->watch = bf_watch_create(info->engine_count)))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    scheduler->label_calls = bf_label_calls_of(info->gpu.handle, info->gpu.get_proc_addr);
    for (uint32_t i = 0; i < info->engine_count && result == VK_SUCCESS; i++) {
        scheduler->engine_count = i + 1;
        result = scheduler_init_engine(scheduler, info, i);
    }
    if (result != VK_SUCCESS)
        return result;
    scheduler->queue_count = info->queue_count;
    for (uint32_t i = 0; i < info->queue_count; i++)
        scheduler_init_queue(scheduler, info, i);
    result = scheduler_set_loader_data(scheduler);
    if (result != VK_SUCCESS)
        return result;
    scheduler_init_observer(scheduler, info);
    result = bf_pending_init(&scheduler->pending, scheduler);
    if (result == VK_SUCCESS)
        bf_trace_tell_at_end(scheduler->gpu.trace, ends_see, scheduler);
    return result;
}

static void semaphores_release_one(void *value, void *context)
{
    (void)context;
    bf_semaphore_release(value);
}

static void vkfences_release_one(void *value, void *context)
{
    (void)context;
    bf_vkfence_release(value);
}

void bf_scheduler_stop(struct bf_scheduler *scheduler)
{
    atomic_store(&scheduler->stopping, true);
    bf_trace_tell_at_end(scheduler->gpu.trace, NULL, NULL);
    bf_wakers_stop(scheduler);
    bf_watchers_finish(scheduler);
    bf_preempters_stop(scheduler);
    /* Applies signals that are complete, for which other processes may wait. Here nothing is
     * started any more. */
    struct bf_effects effects = {0};
    if (scheduler->pending.engines && !bf_scheduler_is_lost(scheduler))
        bf_pending_retire(&scheduler->pending, &effects);
    effects.engines = 0;
    bf_effects_run(scheduler, &effects);
}

static void engine_finish(struct bf_engine *engine)
{
    struct bf_gpu *gpu = engine->base.gpu;
    uint64_t completed = 0;
    bool known = engine->base.epoch &&
                 gpu->vk.vkGetSemaphoreCounterValue(gpu->handle, engine->base.epoch, &completed) ==
                     VK_SUCCESS;
    if (engine->base.stamps && known)
        bf_stamps_collect(engine->base.stamps, completed);
    bf_queue_logs_finish(engine, completed);
    bf_stamps_destroy(engine->base.stamps);
    if (engine->base.epoch)
        gpu->vk.vkDestroySemaphore(gpu->handle, engine->base.epoch, NULL);
    if (engine->barrier_pool)
        gpu->vk.vkDestroyCommandPool(gpu->handle, engine->barrier_pool, NULL);
    bf_gpu_writes_finish(&engine->base);
    bf_label_release(engine->labels);
    bf_waker_free(engine);
    bf_preempt_free(engine);
    free(engine->joined);
    free(engine->waited);
    free(engine->queues);
}

void bf_scheduler_finish(struct bf_scheduler *scheduler)
{
    bf_retired_finish(scheduler); /* engines' epochs are the driver's to look at late, too */
    bf_scheduler_destroy_retained(scheduler);
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        bf_outside_drop(&scheduler->engines[i]);
    bf_command_queues_finish(scheduler);
    bf_pending_finish(&scheduler->pending);
    for (uint32_t i = 0; i < scheduler->queue_count; i++)
        bf_queue_free_packets(&scheduler->queues[i]);
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        engine_finish(&scheduler->engines[i]);
    bf_map_finish(&scheduler->semaphores, semaphores_release_one, NULL);
    bf_map_finish(&scheduler->vkfences, vkfences_release_one, NULL);
    bf_observer_unlist(scheduler->observer);
    bf_gpu_finish(&scheduler->gpu);
    bf_watch_destroy(scheduler->watch, scheduler->engine_count);
    free(scheduler->queues);
    free(scheduler->engines);
}

struct bf_scheduler *bf_scheduler_of(BfDevice handle, const char *call)
{
    return (struct bf_scheduler *)bf_gpu_of(handle, call); /* its first member */
}

struct bf_queue *bf_scheduler_find_queue(struct bf_scheduler *scheduler, uint32_t family,
                                         uint32_t index, VkDeviceQueueCreateFlags flags)
{
    for (uint32_t i = 0; i < scheduler->queue_count; i++) {
        struct bf_queue *q = &scheduler->queues[i];
        if (q->family == family && q->index == index && q->flags == flags)
            return q;
    }
    return NULL;
}

struct bf_queue *bf_scheduler_queue_on(const struct bf_scheduler *scheduler, VkQueue handle)
{
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        const struct bf_engine *engine = &scheduler->engines[i];
        if (engine->base.handle == handle && engine->vkqueues)
            return engine->queues[0];
    }
    return NULL;
}

struct bf_queue *bf_scheduler_vkqueue(BfDevice handle, VkQueue queue, const char *call)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, call);
    for (uint32_t i = 0; scheduler && i < scheduler->queue_count; i++) {
        struct bf_queue *q = &scheduler->queues[i];
        if ((scheduler->gpu.attached ? q->engine->base.handle : (VkQueue)q) == queue)
            return q;
    }
    if (scheduler)
        bf_message(BF_MESSAGE_ERROR, "%s: queue %p is no attached VkQueue", call, (void *)queue);
    return NULL;
}

void bf_scheduler_observe_executes(struct bf_scheduler *scheduler,
                                   const struct bf_execute_observer *observer)
{
    scheduler->execute_observer = observer;
}

uint64_t bf_scheduler_dirty_engines(struct bf_scheduler *scheduler)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        if (atomic_load(&scheduler->engines[i].dirty))
            engines |= bf_engine_bit(&scheduler->engines[i]);
    }
    return engines;
}

bool bf_scheduler_has_backlog(struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->queue_count; i++) {
        if (bf_queue_has_backlog(&scheduler->queues[i]))
            return true;
    }
    return bf_command_queues_have_backlog(scheduler);
}

static void engines_leave(struct bf_scheduler *scheduler, uint32_t locked)
{
    while (locked-- > 0)
        bf_lock_release(&scheduler->engines[locked].lock);
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        bf_engine_recheck(&scheduler->engines[i], 0);
}

/* Takes the engines' locks, in order, with nothing under way behind a wait for outside; returns how
 * many: fewer than there are when the device is lost. */
static uint32_t engines_enter_over(struct bf_scheduler *scheduler)
{
    uint64_t listed[BF_MAX_ENGINES];
    for (;;) {
        uint32_t locked = 0;
        bool over = true;
        for (uint32_t i = 0; i < scheduler->engine_count; i++)
            listed[i] = bf_outside_wait_over(&scheduler->engines[i]);
        while (locked < scheduler->engine_count && bf_engine_enter(&scheduler->engines[locked])) {
            over = over && bf_outside_is_over(&scheduler->engines[locked], listed[locked]);
            locked++;
        }
        if (over || locked < scheduler->engine_count)
            return locked;
        engines_leave(scheduler, locked);
    }
}

VkResult bf_scheduler_wait_idle(struct bf_scheduler *scheduler)
{
    bf_trace_flush(scheduler->gpu.trace);
    bf_deferral_hand_over(scheduler);
    bf_windows_flush(scheduler);
    for (uint32_t i = 0; i < scheduler->queue_count; i++) {
        VkResult result = bf_queue_wait_handed_over(&scheduler->queues[i]);
        if (result != VK_SUCCESS)
            return result;
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < scheduler->engine_count && result == VK_SUCCESS; i++)
        result = bf_driver_wait_epochs(&scheduler->engines[i]);
    if (result != VK_SUCCESS)
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "vkWaitSemaphores")
                                              : result;
    /* vkDeviceWaitIdle counts as access to every VkQueue, so all engines are locked; packets
     * appended meanwhile are pumped afterwards. */
    uint32_t locked = engines_enter_over(scheduler);
    bool all = locked == scheduler->engine_count;
    for (uint32_t i = 0; all && i < scheduler->engine_count; i++)
        all = bf_driver_await_presents(&scheduler->engines[i]);
    result = all ? bf_driver_device_wait_idle(scheduler) : VK_ERROR_DEVICE_LOST;
    for (uint32_t i = 0; i < scheduler->queue_count && result == VK_SUCCESS; i++) {
        struct bf_queue *queue = &scheduler->queues[i];
        bf_signless_end_all(&queue->submitted);
        bf_signless_end_all(&queue->presented);
    }
    for (uint32_t i = 0; i < scheduler->engine_count && result == VK_SUCCESS; i++)
        scheduler->engines[i].unnumbered = false;
    engines_leave(scheduler, locked);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "vkDeviceWaitIdle")
                                          : result;
}

VkResult bf_scheduler_query_results(struct bf_scheduler *scheduler, VkQueryPool pool,
                                    uint32_t first, uint32_t count, size_t size, void *data,
                                    VkDeviceSize stride, VkQueryResultFlags flags)
{
    const VkQueryResultFlags wait = VK_QUERY_RESULT_WAIT_BIT;
    /* Without WAIT, PARTIAL would make the driver return an unfinished result. */
    const VkQueryResultFlags asking = flags & ~(wait | VK_QUERY_RESULT_PARTIAL_BIT);
    VkResult result;
    /* A driver that waits for work it hasn't been given may never return. Which packet ends the
     * query is unknown, so the result is asked for again and again. */
    while ((flags & wait) && (scheduler->sliced || bf_scheduler_has_backlog(scheduler))) {
        uint32_t ticket = bf_signpost_enter(&scheduler->progress);
        bool timed_out = false;
        result = scheduler->gpu.vk.vkGetQueryPoolResults(scheduler->gpu.handle, pool, first, count,
                                                         size, data, stride, asking);
        if (result == VK_NOT_READY && !bf_scheduler_is_lost(scheduler)) {
            bool held = bf_scheduler_has_backlog(scheduler);
            struct timespec until =
                bf_timespec(bf_now_ns() + (held ? QUERY_SLICE_NS : QUERY_SLICE_NS / 10));
            bf_signpost_sleep(&scheduler->progress, ticket, &until, &timed_out);
        }
        bf_signpost_leave(&scheduler->progress);
        if (result == VK_ERROR_DEVICE_LOST)
            return bf_scheduler_lost(scheduler, "vkGetQueryPoolResults");
        if (result != VK_NOT_READY)
            return result;
        if (bf_scheduler_is_lost(scheduler))
            return bf_scheduler_settle(scheduler);
    }
    result = scheduler->gpu.vk.vkGetQueryPoolResults(scheduler->gpu.handle, pool, first, count,
                                                     size, data, stride, flags);
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(scheduler, "vkGetQueryPoolResults");
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : result; /* L-5 */
}
