/* SPDX-License-Identifier: MIT */
/* Engines: what command queues need of one, adding and removing them, and the lock for callers that
 * don't pump. */
#include "scheduler/engine.h"

#include <stdlib.h>

#include "base/clock.h"
#include "gpu/commands.h"
#include "gpu/made.h"
#include "scheduler/command_queue.h"
#include "scheduler/driver.h"
#include "scheduler/driver_wait.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"

/* How long a use of the logs waits before it tries the lock again. */
#define LOGS_SLICE_NS UINT64_C(500000)

bool bf_engine_enter(struct bf_engine *engine)
{
    if (bf_lock_try(&engine->lock))
        return true;
    atomic_fetch_add(&engine->takers, 1);
    bool has = bf_scheduler_acquire(engine->scheduler, &engine->lock);
    atomic_fetch_sub(&engine->takers, 1);
    if (!has)
        bf_engine_recheck(engine, 0); /* a pump may have counted on this taker */
    return has;
}

void bf_engine_leave(struct bf_engine *engine, uint64_t mask)
{
    bf_lock_release(&engine->lock);
    bf_engines_pump(engine->scheduler, mask | bf_engine_bit(engine));
}

VkResult bf_engine_wait_by_fence(struct bf_engine *engine)
{
    struct bf_gpu *gpu = &engine->scheduler->gpu;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    VkResult result = BF_MADE(gpu->vk.vkCreateFence(gpu->handle, &info, NULL, &fence), &fence);
    if (result != VK_SUCCESS)
        return result;
    if (!bf_engine_enter(engine)) {
        gpu->vk.vkDestroyFence(gpu->handle, fence, NULL);
        return VK_ERROR_DEVICE_LOST;
    }
    result = bf_driver_submit(engine, 0, NULL, fence);
    bf_engine_leave(engine, 0);
    bool pending = result == VK_SUCCESS;
    if (pending)
        result = bf_driver_wait_fences(engine->scheduler, 1, &fence, VK_TRUE, UINT64_MAX);
    /* No memory for the wait, or a loss, perhaps by Belfry alone (L-6): the driver still has it. */
    if ((pending && result != VK_SUCCESS) || result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_retain(engine->scheduler, (struct bf_retained){.fence = fence}, false);
    else
        gpu->vk.vkDestroyFence(gpu->handle, fence, NULL);
    return result;
}

VkResult bf_engine_mark(struct bf_engine *engine, VkCommandBuffer commands, const char *label,
                        uint64_t *epoch)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    VkSemaphoreSubmitInfo signal;
    *epoch = atomic_load(&engine->base.accepted_epoch) + 1;
    bf_gpu_engine_epoch_signal(&engine->base, *epoch, &signal);
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = commands ? 1 : 0,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    struct bf_trace *trace = engine->scheduler->gpu.trace;
    struct bf_trace_packet packet = {0};
    const struct bf_trace_contents contents = {.count = info.commandBufferInfoCount,
                                               .label = label};
    if (trace)
        bf_trace_packet_queued_with(trace, &packet,
                                    bf_trace_own_queue(trace, engine->base.trace_id),
                                    BF_TRACE_EXECUTE, &contents);
    atomic_store(&engine->base.issued_epoch, *epoch);
    VkResult result = bf_driver_submit(engine, 1, &info, VK_NULL_HANDLE);
    if (result == VK_SUCCESS) {
        bf_trace_packet_handed_over(trace, &packet, 0, NULL, 0, NULL);
        atomic_store(&engine->base.accepted_epoch, *epoch);
        return VK_SUCCESS;
    }
    bf_trace_packet_dropped(trace, &packet);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lose(engine->scheduler, "vkQueueSubmit2");
    return result;
}

void bf_engine_begin_present(struct bf_engine *engine, uint64_t *engines)
{
    if (bf_engine_synchronizes(engine)) {
        atomic_fetch_add(&engine->presents_beside, 1);
        bf_engine_leave(engine, *engines);
        *engines = 0;
        return;
    }
    bf_lock_acquire(&engine->present_lock);
    atomic_store(&engine->presenting, true);
    bf_lock_release(&engine->present_lock);
    bf_signpost_announce(&engine->progress);
}

void bf_engine_end_present(struct bf_engine *engine)
{
    if (bf_engine_synchronizes(engine)) {
        atomic_fetch_sub(&engine->presents_beside, 1);
        bf_signpost_announce(&engine->progress);
        return;
    }
    bf_lock_acquire(&engine->present_lock);
    atomic_store(&engine->presenting, false);
    bf_lock_release(&engine->present_lock);
}

enum bf_engine_entry bf_engine_enter_beside(struct bf_engine *engine)
{
    if (bf_lock_try_briefly(&engine->lock))
        return BF_ENGINE_LOCKED;
    enum bf_engine_entry entry = BF_ENGINE_LOCKED;
    bool timed_out = false;
    uint64_t look_ns = bf_now_ns() + BF_SCHEDULER_LOOK_NS;
    atomic_fetch_add(&engine->takers, 1);
    uint32_t ticket = bf_signpost_enter(&engine->progress);
    for (;;) {
        bf_lock_acquire(&engine->present_lock);
        if (atomic_load(&engine->presenting)) {
            entry = BF_ENGINE_BESIDE_PRESENT;
            break;
        }
        bf_lock_release(&engine->present_lock);
        if (bf_lock_try(&engine->lock))
            break;
        if (bf_now_ns() >= look_ns) { /* who has it had that long to go on */
            if (bf_scheduler_ask_lost(engine->scheduler)) {
                entry = BF_ENGINE_LOST;
                break;
            }
            look_ns = bf_now_ns() + BF_SCHEDULER_LOOK_NS;
        }
        /* The beginning of a present is announced; the release of the lock is not. */
        const struct timespec until = bf_timespec(bf_now_ns() + LOGS_SLICE_NS);
        ticket = bf_signpost_sleep(&engine->progress, ticket, &until, &timed_out);
    }
    bf_signpost_leave(&engine->progress);
    atomic_fetch_sub(&engine->takers, 1);
    if (entry == BF_ENGINE_LOST)
        bf_engine_recheck(engine, 0); /* a pump may have counted on this taker */
    return entry;
}

void bf_engine_leave_beside(struct bf_engine *engine, enum bf_engine_entry entry)
{
    if (entry == BF_ENGINE_LOCKED) {
        bf_engine_leave(engine, 0);
    } else if (entry == BF_ENGINE_BESIDE_PRESENT) {
        bf_lock_release(&engine->present_lock);
        bf_engine_recheck(engine, 0); /* a pump may have counted on this taker */
    }
}

static VkResult engine_record_barrier(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    const struct VolkDeviceTable *vk = &scheduler->gpu.vk;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = engine->base.family,
    };
    VkResult result = BF_MADE(
        vk->vkCreateCommandPool(scheduler->gpu.handle, &pool_info, NULL, &engine->barrier_pool),
        &engine->barrier_pool);
    if (result != VK_SUCCESS)
        return result;
    result = bf_commands_allocate(&scheduler->gpu, engine->barrier_pool, 1, &engine->barrier);
    if (result != VK_SUCCESS)
        return result;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    result = vk->vkBeginCommandBuffer(engine->barrier, &begin);
    if (result != VK_SUCCESS)
        return result;
    bf_commands_put_barrier(&scheduler->gpu, engine->barrier, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    return vk->vkEndCommandBuffer(engine->barrier);
}

VkResult bf_engine_take_queues(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    if (atomic_load(&engine->takes_queues))
        return VK_SUCCESS;
    VkResult result = VK_SUCCESS;
    if (!engine->waited)
        engine->waited = calloc(scheduler->engine_count, sizeof(*engine->waited));
    if (!engine->waited)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!engine->base.epoch)
        result = bf_gpu_engine_create_epoch(&engine->base);
    if (result == VK_SUCCESS)
        result = engine_record_barrier(engine);
    if (result != VK_SUCCESS) {
        /* Frees the command buffer too; the epoch may stay for the next try. */
        if (engine->barrier_pool)
            scheduler->gpu.vk.vkDestroyCommandPool(scheduler->gpu.handle, engine->barrier_pool,
                                                   NULL);
        engine->barrier_pool = VK_NULL_HANDLE;
        engine->barrier = VK_NULL_HANDLE;
        return result;
    }
    const struct bf_device_watch *watch = scheduler->watch;
    if (watch && !scheduler->watches_all &&
        atomic_load(&watch->engines[engine->base.number].call.count))
        bf_watch_unwitnessed(engine);
    atomic_store(&engine->takes_queues, true);
    return VK_SUCCESS;
}

void bf_engine_share(struct bf_engine *engine)
{
    if (atomic_exchange(&engine->shared, true))
        return;
    atomic_store(&engine->scheduler->was_shared, true);
    atomic_fetch_add(&engine->scheduler->shared, 1);
}

/* The VkQueue that has the engine to itself again submits as if no other queue had been there: its
 * idleness is the driver's, and what it submits from now on is unknown to whoever shares it
 * next. */
static void engine_unshare(struct bf_engine *engine)
{
    if (atomic_load(&engine->command_queues) || engine->vkqueues > 1 ||
        !atomic_exchange(&engine->shared, false))
        return;
    atomic_fetch_sub(&engine->scheduler->shared, 1);
    /* What it holds for somebody outside may go now (OW-1). */
    bf_lock_acquire(&engine->batch_lock);
    for (uint32_t i = 0; i < engine->queue_count; i++)
        bf_semaphore_unblock(engine->queues[i]);
    bf_lock_release(&engine->batch_lock);
    atomic_store(&engine->dirty, 1);
}

VkResult bf_engine_add_queue(struct bf_engine *engine, struct bf_queue *queue)
{
    bf_lock_acquire(&engine->batch_lock);
    struct bf_queue **queues = realloc(engine->queues, (engine->queue_count + 1) * sizeof(*queues));
    if (!queues) {
        bf_lock_release(&engine->batch_lock);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    engine->queues = queues;
    /* VkQueues that had the engine to themselves have no completion signal of what they
     * submitted. */
    for (uint32_t i = 0; i < engine->queue_count && !atomic_load(&engine->shared); i++)
        bf_signless_begin(&queues[i]->submitted);
    queues[engine->queue_count++] = queue;
    bf_lock_release(&engine->batch_lock);
    bf_engine_share(engine);
    bf_window_join(engine, atomic_load(&queue->level));
    atomic_fetch_add(&engine->command_queues, 1);
    atomic_fetch_add(&engine->preferred, bf_command_queue_is_preferred(queue));
    return VK_SUCCESS;
}

void bf_engine_remove_queue(struct bf_engine *engine, struct bf_queue *queue)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    bf_lock_acquire(&engine->batch_lock);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i] == queue) {
            engine->queues[i] = engine->queues[--engine->queue_count];
            break;
        }
    }
    bf_lock_release(&engine->batch_lock);
    bf_window_leave(engine, queue);
    bf_watch_forget_queue(engine, queue);
    bf_log_leave(queue->log);
    atomic_fetch_sub(&engine->command_queues, 1);
    atomic_fetch_sub(&engine->preferred, bf_command_queue_is_preferred(queue));
    engine_unshare(engine);
    bf_lock_acquire(&pending->lock);
    bf_command_queue_of(queue)->gone = true;
    bf_command_queue_reap(bf_command_queue_of(queue));
    bf_lock_release(&pending->lock);
}
