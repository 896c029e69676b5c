/* SPDX-License-Identifier: MIT */
/* A queue whose signals may be logged, and its submissions. */
#include "logged.h"

#include <stdlib.h>
#include <string.h>

#define LOG_VARIABLE    "VK_BELFRY_MULTI_ENGINE_LOG"
#define NATIVE_VARIABLE "VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES"
#define FOREVER         UINT64_MAX
#define RECORDS         64
#define READ_NS         UINT64_C(5000000000)

/* --- opening --- */

static bool attach(struct logged *l, struct bench_found *found)
{
    const BfAttachQueue queue = {.queue = l->side.queues[0], .queueFamilyIndex = l->side.family};
    const BfAttachInfo info = {
        .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = l->side.instance,
        .physicalDevice = l->side.gpu,
        .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
        .device = l->side.device,
        .queueCount = 1,
        .pQueues = &queue,
        .nativeFences = !l->options.native_off,
    };
    const BfCommandQueueCreateInfo type = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                           .type = BF_COMMAND_LIST_TYPE_DIRECT};
    const BfFenceCreateInfo fence = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const BfNativeFenceCreateInfo native = {.sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO};
    return bench_worked(bfAttachDevice(&info, &l->device), "bfAttachDevice", found) &&
           bench_worked(bfCreateCommandQueue(l->device, &type, &l->queue), "bfCreateCommandQueue",
                        found) &&
           (l->options.queue == LOGGED_NATIVE
                ? bench_worked(bfCreateNativeFence(l->device, &native, &l->fence),
                               "bfCreateNativeFence", found)
                : bench_worked(bfCreateFence(l->device, &fence, &l->fence), "bfCreateFence",
                               found));
}

static bool open_queue(struct logged *l, const char *gpu, struct bench_found *found)
{
    bool layered = l->options.queue == LOGGED_LAYERED;
    if (!side_open(&l->side, layered ? BENCH_BELFRY : BENCH_PLAIN, gpu, 1, found))
        return false;
    l->work = l->side.commands;
    if (l->options.queue >= LOGGED_FENCE)
        return attach(l, found);
    l->semaphore = side_timeline(&l->side, found);
    if (l->options.second)
        l->second = side_timeline(&l->side, found);
    return l->semaphore && (l->second || !l->options.second) &&
           (!layered ||
            bench_worked(bfGetDevice(l->side.device, &l->device), "bfGetDevice", found));
}

/* Records what a log entry needs: a stamp, the payload, the copy of the stamp, the value, and a
 * barrier before and after. */
static void record_as_log(struct logged *l)
{
    struct VolkDeviceTable *vk = &l->side.vk;
    const VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
    };
    const VkDependencyInfo barrier = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &memory,
    };
    const VkBufferCopy payload = {0, 4096, 40}, word = {40, 8192, 8};
    const VkQueryResultFlags results = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT;
    VkBuffer buffer = l->scratch.buffer;
    vk->vkCmdResetQueryPool(l->more, l->queries, 0, 1);
    vk->vkCmdWriteTimestamp2(l->more, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, l->queries, 0);
    vk->vkCmdCopyBuffer(l->more, buffer, buffer, 1, &payload);
    vk->vkCmdCopyQueryPoolResults(l->more, l->queries, 0, 1, buffer, 4136, 8, results);
    vk->vkCmdCopyQueryPoolResults(l->more, l->queries, 0, 1, buffer, 12288, 8, results);
    vk->vkCmdPipelineBarrier2(l->more, &barrier);
    vk->vkCmdCopyBuffer(l->more, buffer, buffer, 1, &word);
    vk->vkCmdPipelineBarrier2(l->more, &barrier);
}

/* Records the command buffers that each submission has in addition. */
static bool record_more(struct logged *l, struct bench_found *found)
{
    struct side *side = &l->side;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = side->family};
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 1};
    if (!bench_worked(side->vk.vkCreateCommandPool(side->device, &pool, NULL, &l->pool),
                      "vkCreateCommandPool", found) ||
        !bench_worked(side->vk.vkCreateQueryPool(side->device, &queries, NULL, &l->queries),
                      "vkCreateQueryPool", found) ||
        !side_filler_create(side, 1, &l->scratch, found))
        return false;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = l->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    if (!bench_worked(side->vk.vkAllocateCommandBuffers(side->device, &info, &l->more),
                      "vkAllocateCommandBuffers", found) ||
        !bench_worked(side->vk.vkBeginCommandBuffer(l->more, &begin), "vkBeginCommandBuffer",
                      found))
        return false;
    if (l->options.as_log)
        record_as_log(l);
    return bench_worked(side->vk.vkEndCommandBuffer(l->more), "vkEndCommandBuffer", found);
}

static bool open_reader(struct logged *l, struct bench_found *found)
{
    const BfFenceLogReaderCreateInfo info = {
        .sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
        .queue = l->queue,
        .vkQueue = l->queue ? VK_NULL_HANDLE : l->side.queues[0],
        .type = BF_FENCE_LOG_TYPE_SIGNALS,
    };
    return bench_worked(bfCreateFenceLogReader(l->device, &info, &l->reader),
                        "bfCreateFenceLogReader", found);
}

bool logged_open(struct logged *l, const struct logged_options *options, const char *gpu,
                 struct bench_found *found)
{
    *l = (struct logged){.options = *options};
    if (options->log)
        setenv(LOG_VARIABLE, options->log, 1);
    if (options->native_off)
        setenv(NATIVE_VARIABLE, "off", 1);
    if (options->variable)
        setenv(options->variable, options->value, 1);
    bool open = open_queue(l, gpu, found);
    if (options->variable)
        unsetenv(options->variable);
    unsetenv(LOG_VARIABLE);
    unsetenv(NATIVE_VARIABLE);
    return open && (!options->extra || record_more(l, found)) &&
           (!options->read || open_reader(l, found));
}

void logged_close(struct logged *l)
{
    struct side *side = &l->side;
    if (!side->device)
        return;
    side->vk.vkDeviceWaitIdle(side->device);
    bfDestroyFenceLogReader(l->reader);
    bfDestroyCommandQueue(l->queue);
    bfDestroyFence(l->fence);
    if (l->options.queue >= LOGGED_FENCE && l->device)
        bfDetachDevice(l->device);
    side->vk.vkDestroySemaphore(side->device, l->semaphore, NULL);
    side->vk.vkDestroySemaphore(side->device, l->second, NULL);
    side->vk.vkDestroyQueryPool(side->device, l->queries, NULL);
    side->vk.vkDestroyCommandPool(side->device, l->pool, NULL);
    side_filler_destroy(side, &l->scratch);
    side_close(side);
    *l = (struct logged){0};
}

/* --- submitting and reading --- */

static VkResult submit_vk(struct logged *l, double *nanoseconds)
{
    VkCommandBufferSubmitInfo commands[LOGGED_EXTRA + 1];
    uint32_t count = 1 + l->options.extra;
    for (uint32_t i = 0; i < count; ++i)
        commands[i] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
            .commandBuffer = i ? l->more : l->work,
        };
    VkSemaphoreSubmitInfo signals[2] = {{
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = l->semaphore,
        .value = l->value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    }};
    signals[1] = signals[0];
    signals[1].semaphore = l->second;
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = count,
        .pCommandBufferInfos = commands,
        .signalSemaphoreInfoCount = l->second ? 2 : 1,
        .pSignalSemaphoreInfos = signals,
    };
    PFN_vkQueueSubmit2 submit = l->side.vk.vkQueueSubmit2;
    uint64_t begin = bench_now();
    VkResult result = submit(l->side.queues[0], 1, &info, VK_NULL_HANDLE);
    *nanoseconds = (double)(bench_now() - begin);
    return result;
}

static VkResult submit_bf(struct logged *l, double *nanoseconds)
{
    uint64_t begin = bench_now();
    VkResult result = bfQueueExecute(l->queue, 1, &l->work);
    if (result >= 0)
        result = bfQueueSignal(l->queue, l->fence, l->value);
    *nanoseconds = (double)(bench_now() - begin);
    return result;
}

VkResult logged_submit(struct logged *l, double *nanoseconds)
{
    ++l->value;
    return l->queue ? submit_bf(l, nanoseconds) : submit_vk(l, nanoseconds);
}

static VkResult wait(struct logged *l)
{
    if (!l->queue)
        return side_wait(&l->side, l->semaphore, l->value);
    return bfWaitFences(1, &l->fence, &l->value, BF_FENCE_WAIT_ALL, FOREVER);
}

/* Reads all entries that can be read now. */
static VkResult read_log(struct logged *l, uint64_t *lost)
{
    BfFenceLogRecord records[RECORDS];
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        uint32_t count = 0;
        uint64_t more = 0;
        result = bfReadFenceLog(l->reader, RECORDS, records, &count, &more);
        l->logged += count;
        *lost += more;
    }
    return result;
}

bool logged_finish(struct logged *l, struct bench_found *found)
{
    uint64_t lost = 0;
    if (!bench_worked(wait(l), "waiting for submissions", found))
        return false;
    /* A driver may signal before its vkQueueSubmit2 returns, and so before Belfry knows of the
     * entry. */
    uint64_t until = bench_now() + READ_NS;
    while (l->reader && l->logged < l->value && !lost && bench_now() < until) {
        if (!bench_worked(read_log(l, &lost), "bfReadFenceLog", found))
            return false;
    }
    if (!l->reader || l->logged == l->value)
        return true;
    bench_found_nothing(found, "of %llu signals %llu were logged, %llu lost",
                        (unsigned long long)l->value, (unsigned long long)l->logged,
                        (unsigned long long)lost);
    return false;
}
