/* SPDX-License-Identifier: MIT */
/*
 * Creating, destroying and changing command queues: on which engine a new queue is placed, its
 * priority, its progress fence.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "fence/native.h"
#include "log/log.h"
#include "queue/command_queue.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

/* How well a family with these flags suits the type: 0 not at all, since there is work of the type
 * that it can't do, else the more specialised the better. Families need not nest: one that draws
 * may not compute. Copies are implied by both. */
static int family_fitness(BfCommandListType type, VkQueueFlags flags)
{
    const VkQueueFlags graphics = VK_QUEUE_GRAPHICS_BIT, compute = VK_QUEUE_COMPUTE_BIT;
    /* Video and optical-flow engines can copy, too, but for work of their own. */
    const VkQueueFlags special = VK_QUEUE_VIDEO_DECODE_BIT_KHR | 0x40u | /* encode */
                                 VK_QUEUE_OPTICAL_FLOW_BIT_NV;
    switch (type) {
    case BF_COMMAND_LIST_TYPE_DIRECT:
        return (flags & graphics) && (flags & compute);
    case BF_COMMAND_LIST_TYPE_COMPUTE:
        return !(flags & compute) ? 0 : flags & graphics ? 1 : 2;
    default:
        if (flags & special)
            return 0;
        if (flags & graphics)
            return 1;
        if (flags & compute)
            return 2;
        return flags & VK_QUEUE_TRANSFER_BIT ? 3 : 0;
    }
}

static int engine_fitness(const struct bf_engine *engine, BfCommandListType type)
{
    return engine->base.copies_whole ? 0 : family_fitness(type, engine->base.family_flags);
}

/* A present may block whoever shares the VkQueue. Has it presented, or is it the one that the
 * program uses first, where command queues have a spare to be on? */
static bool engine_may_present(const struct bf_scheduler *scheduler, const struct bf_engine *engine)
{
    bool spare = false;
    for (uint32_t i = 0; i < scheduler->engine_count && engine->base.index == 0; i++)
        spare |= scheduler->engines[i].base.spare &&
                 scheduler->engines[i].base.family == engine->base.family;
    return spare || atomic_load(&engine->has_presented);
}

/* Is it for protected work alone? Where it is the only VkQueue of its family, it isn't (PL-6). */
static bool engine_is_protected(const struct bf_scheduler *scheduler,
                                const struct bf_engine *engine)
{
    bool shared = !(engine->base.flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
    for (uint32_t i = 0; i < scheduler->queue_count && !shared; i++)
        shared = scheduler->queues[i].engine == engine &&
                 !(scheduler->queues[i].flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
    return !shared;
}

/* How much the driver prefers the engine's work: by its global priority above all. */
static float engine_preference(const struct bf_engine *engine)
{
    VkQueueGlobalPriorityKHR global = engine->base.global_priority;
    return (float)(global ? global : VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR) +
           engine->base.queue_priority;
}

/* The more the better for that queue, and of two numbers only the earlier that differs counts. */
struct suitability {
    bool not_outside; /* nothing there waits for somebody outside (OW-6) */
    bool unraised;    /* it isn't for a global priority that the queue doesn't have (PL-5) */
    int fitness;
    bool no_present;
    float preference; /* for who has high priority */
    uint32_t load;    /* the less the better */
    bool spare;
};

static bool suits_better(const struct suitability *a, const struct suitability *b)
{
    return a->not_outside != b->not_outside ? a->not_outside
           : a->unraised != b->unraised     ? a->unraised
           : a->fitness != b->fitness       ? a->fitness > b->fitness
           : a->no_present != b->no_present ? a->no_present
           : a->preference != b->preference ? a->preference > b->preference
           : a->load != b->load             ? a->load < b->load
                                            : a->spare && !b->spare;
}

/* Chooses the engine for a new queue (PL-3, PL-5): of the most suitable family, one that isn't
 * taken to present, for a queue of high priority one that the driver prefers, and of these the one
 * with the fewest queues, the program's VkQueues among them; of equals the spare, else the first.
 * Behind work that waits for somebody outside it is placed only where there is no other (OW-6). A
 * queue of high priority avoids others of normal one. A realtime queue is placed on a realtime
 * engine or nowhere. */
static struct bf_engine *scheduler_choose_engine(struct bf_scheduler *scheduler,
                                                 const BfCommandQueueCreateInfo *info)
{
    struct bf_engine *best = NULL;
    struct suitability best_suits = {0};
    bool wants_realtime = info->priority == BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME;
    bool wants_high = info->priority == BF_COMMAND_QUEUE_PRIORITY_HIGH;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        VkQueueGlobalPriorityKHR global = engine->base.global_priority;
        bool realtime = global == VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR;
        struct suitability suits = {
            .not_outside = !atomic_load(&engine->outside.count),
            .unraised = wants_realtime || global <= VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR ||
                        (wants_high && !realtime),
            .fitness = engine_fitness(engine, info->type),
            .no_present = !engine_may_present(scheduler, engine),
            .preference = wants_high ? engine_preference(engine) : 0,
            .load = engine->vkqueues + atomic_load(&engine->command_queues),
            .spare = engine->base.spare,
        };
        if (suits.fitness == 0 || engine_is_protected(scheduler, engine) ||
            (wants_realtime && !realtime) || (uint32_t)info->priority < engine->base.least)
            continue;
        if (wants_high)
            suits.load += atomic_load(&engine->command_queues) - atomic_load(&engine->preferred);
        if (!best || suits_better(&suits, &best_suits)) {
            best = engine;
            best_suits = suits;
        }
    }
    return best;
}

/* The family by which the program knows the engine's: of those whose queues it asked for, the most
 * suitable for the type. */
static uint32_t engine_shown_family(const struct bf_scheduler *scheduler,
                                    const struct bf_engine *engine, BfCommandListType type)
{
    uint32_t family = engine->base.family;
    int best = 0;
    for (uint32_t i = 0; i < scheduler->queue_count; i++) {
        const struct bf_queue *queue = &scheduler->queues[i];
        int fit = queue->engine->base.family == engine->base.family
                      ? family_fitness(type, queue->family_flags)
                      : 0;
        if (fit > best) {
            best = fit;
            family = queue->family;
        }
    }
    return family;
}

static bool queue_priority_is_known(BfCommandQueuePriority priority)
{
    return priority == BF_COMMAND_QUEUE_PRIORITY_NORMAL ||
           priority == BF_COMMAND_QUEUE_PRIORITY_HIGH ||
           priority == BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME;
}

static bool queue_create_info_check(const BfCommandQueueCreateInfo *info)
{
    const VkFlags known =
        BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT | BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT |
        BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT | BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT |
        BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT;
    if (info->type != BF_COMMAND_LIST_TYPE_DIRECT && info->type != BF_COMMAND_LIST_TYPE_COMPUTE &&
        info->type != BF_COMMAND_LIST_TYPE_COPY) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateCommandQueue: type %d: %s", (int)info->type,
                   info->type == BF_COMMAND_LIST_TYPE_BUNDLE ? "no queue consumes bundles"
                                                             : "unknown");
        return false;
    }
    if (!queue_priority_is_known(info->priority) || (info->flags & ~known) || info->nodeMask > 1) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateCommandQueue: priority %d, flags 0x%x, nodeMask 0x%x",
                   (int)info->priority, info->flags, info->nodeMask);
        return false;
    }
    if ((info->flags & BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT) &&
        !(info->flags & BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT)) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfCreateCommandQueue: BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT is for "
                   "queues with BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT");
        return false;
    }
    return true;
}

void bf_command_queue_name(const struct bf_command_queue *queue, char name[BF_QUEUE_NAME])
{
    static const char *const names[] = {[BF_COMMAND_LIST_TYPE_DIRECT] = "3D",
                                        [BF_COMMAND_LIST_TYPE_COMPUTE] = "compute",
                                        [BF_COMMAND_LIST_TYPE_COPY] = "copy"};
    snprintf(name, BF_QUEUE_NAME, "%s command queue %u", names[queue->type], queue->base.index);
}

/* Makes the queue known to the trace and the observer. */
static void command_queue_introduce(struct bf_command_queue *queue, bool own)
{
    static const VkQueueFlags abilities[] = {[BF_COMMAND_LIST_TYPE_DIRECT] = VK_QUEUE_GRAPHICS_BIT,
                                             [BF_COMMAND_LIST_TYPE_COMPUTE] = VK_QUEUE_COMPUTE_BIT,
                                             [BF_COMMAND_LIST_TYPE_COPY] = VK_QUEUE_TRANSFER_BIT};
    struct bf_scheduler *scheduler = queue->base.scheduler;
    char name[BF_QUEUE_NAME];
    bf_command_queue_name(queue, name);
    struct bf_trace *trace = scheduler->gpu.trace;
    uint32_t engine = queue->base.engine->base.trace_id;
    queue->base.trace_id = !trace ? scheduler->queue_count + queue->base.index
                           : own  ? bf_trace_own_queue(trace, engine)
                                  : bf_trace_add_queue(trace, engine, name);
    queue->observed = bf_observe_queue_add(scheduler->observer, name, abilities[queue->type]);
}

static struct bf_command_queue *command_queue_allocate(struct bf_scheduler *scheduler,
                                                       struct bf_engine *engine,
                                                       const BfCommandQueueCreateInfo *info)
{
    struct bf_command_queue *queue =
        calloc(1, sizeof(*queue) + scheduler->engine_count * sizeof(queue->frontier[0]));
    if (!queue)
        return NULL;
    queue->base.scheduler = scheduler;
    queue->base.engine = engine;
    queue->base.is_command_queue = true;
    queue->base.family = engine_shown_family(scheduler, engine, info->type);
    queue->base.index = atomic_fetch_add(&scheduler->command_queues_made, 1);
    queue->type = info->type;
    queue->flags = info->flags;
    queue->priority = (uint32_t)info->priority;
    queue->base.level = bf_level_of_priority((uint32_t)info->priority);
    return queue;
}

static void command_queue_list(struct bf_pending *pending, struct bf_command_queue *queue)
{
    bf_lock_acquire(&pending->lock);
    queue->next = pending->queues;
    if (queue->next)
        queue->next->previous = queue;
    pending->queues = queue;
    bf_lock_release(&pending->lock);
}

VkResult bf_command_queue_create_on(struct bf_engine *engine, const BfCommandQueueCreateInfo *info,
                                    bool own, BfCommandQueue *out)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_command_queue *queue = command_queue_allocate(scheduler, engine, info);
    if (!queue)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!bf_handle_add(queue, BF_HANDLE_QUEUE))
        goto fail_handle;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    result = entry == BF_ENGINE_LOST ? VK_ERROR_DEVICE_LOST : bf_engine_take_queues(engine);
    if (result == VK_SUCCESS)
        result = bf_sleepers_ensure_engine(scheduler, engine->base.number);
    if (result == VK_SUCCESS)
        result = bf_engine_add_queue(engine, &queue->base);
    if (result == VK_SUCCESS) {
        command_queue_list(&scheduler->pending, queue);
        command_queue_introduce(queue, own);
    }
    bf_engine_leave_beside(engine, entry);
    if (result != VK_SUCCESS)
        goto fail_engine;
    bf_windows_changed(scheduler);
    if (!own)
        bf_queue_log_trace(&queue->base);
    *out = (BfCommandQueue)queue;
    return VK_SUCCESS;

fail_engine:
    bf_handle_remove(queue);
fail_handle:
    free(queue);
    return result;
}

VkResult bfCreateCommandQueue(BfDevice handle, const BfCommandQueueCreateInfo *info,
                              BfCommandQueue *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_structure_check(info, BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO, __func__, "pInfo"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!out) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateCommandQueue: pQueue is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!queue_create_info_check(info))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    for (uint32_t i = 0; i < scheduler->engine_count; i++)
        bf_engines_pump(scheduler, bf_outside_settle(&scheduler->engines[i]));
    struct bf_engine *engine = scheduler_choose_engine(scheduler, info);
    if (!engine) {
        bool realtime = info->priority == BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME;
        bf_message(BF_MESSAGE_WARNING, "bfCreateCommandQueue: no VkQueue of this device %s",
                   realtime ? "has the global priority REALTIME (setting realtime=on)"
                            : "can do the type's work");
        return realtime ? VK_ERROR_NOT_PERMITTED_KHR : VK_ERROR_FEATURE_NOT_PRESENT;
    }
    VkResult result = bf_command_queue_create_on(engine, info, false, out);
    if (result == VK_SUCCESS && (info->flags & BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT)) {
        result = scheduler->doorbell_extension->queue_begins((struct bf_command_queue *)*out);
        if (result != VK_SUCCESS)
            bfDestroyCommandQueue(*out);
    }
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
}

void bfDestroyCommandQueue(BfCommandQueue handle)
{
    if (!handle || !bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    struct bf_engine *engine = queue->base.engine;
    struct bf_fence *progress = atomic_load(&queue->progress);
    bool ended = !queue->hw || queue->base.scheduler->doorbell_extension->queue_ends(queue);
    bf_handle_remove(queue);
    if (!ended)
        return; /* its device takes it along */
    bf_observe_queue_remove(queue->observed);
    if (progress)
        bf_fence_destroy(progress);
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    if (entry != BF_ENGINE_LOST) {               /* else its device takes it along */
        atomic_store(&queue->base.suspended, 0); /* CS-4 */
        queue->leaving = true;
        engine->leaving = true;
        atomic_store(&engine->dirty, 1);
    }
    bf_engine_leave_beside(engine, entry); /* the pump removes it (C-4) */
}

VkResult bfGetCommandQueueProgressFence(BfCommandQueue handle, BfFence *out)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_engine *engine = queue->base.engine;
    if (out && queue->ring_progress) {
        *out = (BfFence)queue->ring_progress;
        return VK_SUCCESS;
    }
    if (!out) {
        bf_message(BF_MESSAGE_ERROR, "bfGetCommandQueueProgressFence: pFence is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_fence *fence = atomic_load(&queue->progress), *unused = NULL;
    if (!fence) {
        VkResult result = bf_native_create_progress(scheduler, __func__, &fence);
        if (result != VK_SUCCESS)
            return result;
        /* Executions that are packets already, or handed over, are not counted. */
        const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
        struct bf_fence *other = atomic_load(&queue->progress);
        if (entry == BF_ENGINE_LOST) {
            unused = fence;
        } else if (other) {
            unused = fence;
            fence = other;
        } else {
            atomic_store(&queue->progress, fence);
        }
        bf_engine_leave_beside(engine, entry);
        if (unused)
            bf_fence_destroy(unused);
        if (entry == BF_ENGINE_LOST)
            return bf_scheduler_settle(scheduler);
    }
    *out = (BfFence)fence;
    return VK_SUCCESS;
}

VkResult bfGetCommandQueueInfo(BfCommandQueue handle, BfCommandQueueCreateInfo *info)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue") ||
        !bf_structure_check(info, BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO, __func__, "pInfo"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    *info = (BfCommandQueueCreateInfo){
        .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
        .type = queue->type,
        .priority = (BfCommandQueuePriority)atomic_load(&queue->priority),
        .flags = queue->flags,
        .nodeMask = 1,
    };
    return VK_SUCCESS;
}

uint32_t bfGetCommandQueueFamilyIndex(BfCommandQueue handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return UINT32_MAX;
    return ((struct bf_command_queue *)handle)->base.family;
}

VkResult bfSetCommandQueuePriority(BfCommandQueue handle, BfCommandQueuePriority priority)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    struct bf_engine *engine = queue->base.engine;
    if (!queue_priority_is_known(priority)) {
        bf_message(BF_MESSAGE_ERROR, "bfSetCommandQueuePriority: priority %d: unknown",
                   (int)priority);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!(queue->flags & BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT)) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfSetCommandQueuePriority: the queue%s was created without "
                   "BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT",
                   BF_LABEL(queue));
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    uint32_t before = atomic_load(&queue->priority);
    if (before != (uint32_t)priority && (before == BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME ||
                                         priority == BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME)) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfSetCommandQueuePriority: GLOBAL_REALTIME is fixed at creation");
        return VK_ERROR_NOT_PERMITTED_KHR;
    }
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    if (entry == BF_ENGINE_LOST)
        return bf_scheduler_settle(engine->scheduler);
    bool was = atomic_load(&queue->priority) > BF_COMMAND_QUEUE_PRIORITY_NORMAL;
    atomic_store(&queue->priority, (uint32_t)priority);
    bool is = priority > BF_COMMAND_QUEUE_PRIORITY_NORMAL;
    if (is && !was)
        atomic_fetch_add(&engine->preferred, 1);
    else if (was && !is)
        atomic_fetch_sub(&engine->preferred, 1);
    bf_window_change(engine, &queue->base, bf_level_of_priority((uint32_t)priority));
    bf_engine_leave_beside(engine, entry);
    bf_windows_changed(engine->scheduler);
    return VK_SUCCESS;
}

VkResult bfGetCommandQueueDriverPriority(BfCommandQueue handle, VkQueueGlobalPriorityKHR *global,
                                         float *priority)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const struct bf_engine *engine = ((struct bf_command_queue *)handle)->base.engine;
    if (global)
        *global = engine->base.global_priority ? engine->base.global_priority
                                               : VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
    if (priority)
        *priority = engine->base.queue_priority;
    return VK_SUCCESS;
}
