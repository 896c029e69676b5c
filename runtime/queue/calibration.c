/* SPDX-License-Identifier: MIT */
/*
 * A command queue's clock: the frequency of its timestamps, and their value at a CPU time.
 */
#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "gpu/commands.h"
#include "gpu/made.h"
#include "queue/command_queue.h"
#include "scheduler/driver.h"
#include "scheduler/scheduler.h"
#include "trace/clock_reading.h"

static struct bf_command_queue *queue_with_timestamps(BfCommandQueue handle, const char *call,
                                                      VkResult *result)
{
    *result = VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue"))
        return NULL;
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    *result = VK_ERROR_FEATURE_NOT_PRESENT;
    if (queue->base.engine->base.timestamp_bits)
        return queue;
    bf_message(BF_MESSAGE_WARNING, "%s: queue family %u has no timestamps", call,
               queue->base.family);
    return NULL;
}

VkResult bfGetCommandQueueTimestampFrequency(BfCommandQueue handle, uint64_t *frequency)
{
    VkResult result;
    struct bf_command_queue *queue = queue_with_timestamps(handle, __func__, &result);
    if (!queue)
        return result;
    if (!frequency) {
        bf_message(BF_MESSAGE_ERROR, "bfGetCommandQueueTimestampFrequency: pFrequency is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *frequency = (uint64_t)(1e9 / queue->base.scheduler->gpu.timestamp_period_ns + 0.5);
    return VK_SUCCESS;
}

static uint64_t engine_valid_ticks(const struct bf_engine *engine, uint64_t ticks)
{
    return engine->base.timestamp_bits < 64
               ? ticks & ((UINT64_C(1) << engine->base.timestamp_bits) - 1)
               : ticks;
}

static VkResult queue_calibrate(struct bf_command_queue *queue, uint64_t *ticks, uint64_t *cpu_ns)
{
    struct bf_gpu *gpu = &queue->base.scheduler->gpu;
    struct bf_clock_reading now;
    VkResult result = bf_clock_reading_take(gpu->handle, gpu->get_calibrated_timestamps,
                                            BF_CLOCK_READING_TRIES, &now);
    if (result != VK_SUCCESS)
        return result;
    *ticks = engine_valid_ticks(queue->base.engine, now.ticks);
    *cpu_ns = now.ns;
    return VK_SUCCESS;
}

struct probe {
    VkQueryPool queries;
    VkCommandPool pool;
    VkCommandBuffer buffer;
    BfCommandQueue queue; /* of its own: held packets of the program's queue don't delay it */
};

static VkResult probe_record(struct bf_command_queue *queue, struct probe *probe)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    const struct VolkDeviceTable *vk = &scheduler->gpu.vk;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 1,
    };
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = queue->base.engine->base.family,
    };
    VkResult result =
        BF_MADE(vk->vkCreateQueryPool(scheduler->gpu.handle, &queries, NULL, &probe->queries),
                &probe->queries);
    if (result == VK_SUCCESS)
        result = BF_MADE(vk->vkCreateCommandPool(scheduler->gpu.handle, &pool, NULL, &probe->pool),
                         &probe->pool);
    if (result != VK_SUCCESS)
        return result;
    result = bf_commands_allocate(&scheduler->gpu, probe->pool, 1, &probe->buffer);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (result == VK_SUCCESS)
        result = vk->vkBeginCommandBuffer(probe->buffer, &begin);
    if (result != VK_SUCCESS)
        return result;
    /* Transfer-only families can't reset queries on the GPU; the host does it, if it can. */
    if (queue->base.engine->base.family_flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT))
        vk->vkCmdResetQueryPool(probe->buffer, probe->queries, 0, 1);
    else if (scheduler->gpu.host_query_reset)
        vk->vkResetQueryPool(scheduler->gpu.handle, probe->queries, 0, 1);
    else
        return VK_ERROR_FEATURE_NOT_PRESENT;
    vk->vkCmdWriteTimestamp2(probe->buffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, probe->queries,
                             0);
    return vk->vkEndCommandBuffer(probe->buffer);
}

/* Measures with a timestamp on the queue's engine and the CPU's clock after it. */
static VkResult queue_measure_clock(struct bf_command_queue *queue, uint64_t *ticks,
                                    uint64_t *cpu_ns)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    const struct VolkDeviceTable *vk = &scheduler->gpu.vk;
    struct probe probe = {0};
    const BfCommandQueueCreateInfo info = {
        .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
        .type = queue->type,
        .priority = (BfCommandQueuePriority)atomic_load(&queue->priority),
    };
    VkResult result = probe_record(queue, &probe);
    if (result == VK_SUCCESS)
        result = bf_command_queue_create_on(queue->base.engine, &info, true, &probe.queue);
    if (result == VK_SUCCESS)
        result = bfQueueExecute(probe.queue, 1, &probe.buffer);
    bool under_way = result == VK_SUCCESS;
    if (result == VK_SUCCESS)
        result = bfQueueWaitIdle(probe.queue);
    if (under_way && result != VK_SUCCESS) {
        /* No memory for a fence; waiting by the driver needs none. */
        bf_engine_pump_taking_over(queue->base.engine);
        if (bf_engine_enter(queue->base.engine)) {
            bf_driver_queue_wait_idle(queue->base.engine);
            bf_engine_leave(queue->base.engine, 0);
        }
    }
    if (result == VK_SUCCESS) {
        *cpu_ns = bf_now_ns();
        result =
            vk->vkGetQueryPoolResults(scheduler->gpu.handle, probe.queries, 0, 1, sizeof(*ticks),
                                      ticks, sizeof(*ticks), VK_QUERY_RESULT_64_BIT);
    }
    bfDestroyCommandQueue(probe.queue);
    const struct bf_retained pool = {.pool = probe.pool}, queries = {.queries = probe.queries};
    if (!bf_scheduler_keeps(scheduler, &pool, false))
        vk->vkDestroyCommandPool(scheduler->gpu.handle, probe.pool, NULL);
    if (!bf_scheduler_keeps(scheduler, &queries, false))
        vk->vkDestroyQueryPool(scheduler->gpu.handle, probe.queries, NULL);
    return result == VK_NOT_READY ? VK_ERROR_UNKNOWN : result;
}

VkResult bfGetCommandQueueClockCalibration(BfCommandQueue handle, uint64_t *ticks, uint64_t *cpu_ns)
{
    VkResult result;
    struct bf_command_queue *queue = queue_with_timestamps(handle, __func__, &result);
    if (!queue)
        return result;
    if (!ticks || !cpu_ns) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfGetCommandQueueClockCalibration: pGpuTicks or pCpuNs is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    result = scheduler->gpu.get_calibrated_timestamps ? queue_calibrate(queue, ticks, cpu_ns)
                                                      : queue_measure_clock(queue, ticks, cpu_ns);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
}
