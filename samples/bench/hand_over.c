/* SPDX-License-Identifier: MIT */
/* Measures work that passes from one queue to another and back, in several ways. */
#include "hand_over.h"

/* The bursts of one way in a repetition take about two milliseconds each. The shortest counts,
 * because other load on the machine can only add to it. */
#define BURSTS 16
/* The duration of a piece decides how much a barrier matters. */
#define CALIBRATION_BURSTS 64

/* The device that all ways share. */
struct table {
    struct side *side;
    struct attached attached;
    uint32_t engines, count;
    VkCommandBuffer piece, barrier, empty;
    VkCommandPool pool;          /* the command buffer pool of the barrier */
    VkSemaphore semaphores[3];   /* forth, back, and the progress of the way with barriers */
    uint64_t value, alone_value; /* of the first two, and of the third */
    uint64_t fence_value;
    struct bench_found *found;
};

static VkSemaphoreSubmitInfo at(VkSemaphore semaphore, uint64_t value)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

/* `first` may be null. */
static VkResult submit(struct table *t, uint32_t engine, VkCommandBuffer first,
                       const VkSemaphoreSubmitInfo *wait, const VkSemaphoreSubmitInfo *signal)
{
    const VkCommandBufferSubmitInfo buffers[2] = {
        {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = first},
        {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = t->piece},
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait != NULL,
        .pWaitSemaphoreInfos = wait,
        .commandBufferInfoCount = first ? 2 : 1,
        .pCommandBufferInfos = first ? buffers : buffers + 1,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = signal,
    };
    return t->side->vk.vkQueueSubmit2(t->side->queues[engine], 1, &info, VK_NULL_HANDLE);
}

static VkResult by_semaphores(struct table *t, VkCommandBuffer first)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < t->count && result >= 0; ++i) {
        const VkSemaphoreSubmitInfo wait = at(t->semaphores[(i + 1) % 2], t->value);
        t->value += i % 2 == 0;
        const VkSemaphoreSubmitInfo signal = at(t->semaphores[i % 2], t->value);
        result = submit(t, i % t->engines, first, &wait, &signal);
    }
    return result;
}

static VkResult by_barriers(struct table *t)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < t->count && result >= 0; ++i) {
        const VkSemaphoreSubmitInfo signal = at(t->semaphores[2], ++t->alone_value);
        result = submit(t, 0, t->barrier, NULL, &signal);
    }
    return result;
}

static VkResult by_belfry(struct table *t)
{
    const struct attached *a = &t->attached;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < t->count && result >= 0; ++i) {
        BfCommandQueue queue = a->queues[i % 2];
        result = bfQueueWait(queue, a->fences[(i + 1) % 2], t->fence_value);
        t->fence_value += i % 2 == 0;
        if (result >= 0)
            result = bfQueueExecute(queue, 1, &t->piece);
        if (result >= 0)
            result = bfQueueSignal(queue, a->fences[i % 2], t->fence_value);
    }
    return result;
}

/* Locks the VkQueues if the device is attached. */
static VkResult lock(struct table *t)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; t->attached.device && i < t->engines && result >= 0; ++i)
        result = bfLockVkQueue(t->attached.device, t->side->queues[i]);
    return result;
}

static void unlock(struct table *t)
{
    for (uint32_t i = 0; t->attached.device && i < t->engines; ++i)
        bfUnlockVkQueue(t->attached.device, t->side->queues[i]);
}

/* What the benchmark itself submits is submitted between lock and unlock, once for a burst. */
static double burst(struct table *t, enum hand_over_way way)
{
    bool by_hand = way != HAND_OVER_BELFRY;
    VkResult result = by_hand ? lock(t) : VK_SUCCESS;
    uint64_t begin = bench_now();
    if (result >= 0)
        result = way == HAND_OVER_BELFRY ? by_belfry(t)
                 : way == HAND_OVER_BARRIER
                     ? by_barriers(t)
                     : by_semaphores(t, way == HAND_OVER_EMPTY_MORE ? t->empty : VK_NULL_HANDLE);
    if (result >= 0 && !by_hand)
        result = lock(t);
    for (uint32_t i = 0; i < t->engines && result >= 0; ++i)
        result = t->side->vk.vkQueueWaitIdle(t->side->queues[i]);
    double took = (double)(bench_now() - begin);
    if (result >= 0)
        unlock(t);
    return bench_worked(result, "hand-overs", t->found) ? took / t->count : 0;
}

static bool barrier_record(struct table *t)
{
    const struct VolkDeviceTable *vk = &t->side->vk;
    VkDevice device = t->side->device;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = t->side->family,
    };
    VkResult result = vk->vkCreateCommandPool(device, &pool, NULL, &t->pool);
    if (result >= 0) {
        const VkCommandBufferAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = t->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        result = vk->vkAllocateCommandBuffers(device, &info, &t->barrier);
    }
    if (result >= 0) {
        const VkCommandBufferBeginInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
        };
        result = vk->vkBeginCommandBuffer(t->barrier, &info);
    }
    if (result >= 0) {
        const VkMemoryBarrier2 everything = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        };
        const VkDependencyInfo info = {
            .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
            .memoryBarrierCount = 1,
            .pMemoryBarriers = &everything,
        };
        vk->vkCmdPipelineBarrier2(t->barrier, &info);
        result = vk->vkEndCommandBuffer(t->barrier);
    }
    return bench_worked(result, "recording a barrier", t->found);
}

/* Measures the ways in turn; each way is at each position once. */
static void repeat(struct table *t, uint32_t ways, uint32_t repetition,
                   struct hand_over_found *found)
{
    for (uint32_t b = 0; b < BURSTS; ++b) {
        for (uint32_t i = 0; i < HAND_OVER_WAYS && !t->found->reason[0]; ++i) {
            uint32_t turn = b % 2 ? HAND_OVER_WAYS - 1 - i : i;
            uint32_t way = (turn + repetition + b / 2) % HAND_OVER_WAYS;
            if (!(ways & 1u << way))
                continue;
            double ns = burst(t, (enum hand_over_way)way);
            double *least = &found->ns[way][repetition];
            if (*least == 0 || ns < *least)
                *least = ns;
        }
    }
}

uint32_t hand_over_fills(struct side *side, uint64_t nanoseconds, struct bench_found *found)
{
    uint32_t fills = side_filler_times(side, nanoseconds, found);
    struct side_filler filler = {0};
    struct table t = {.side = side, .engines = 1, .count = 8, .found = found};
    bool open = fills && side_filler_create_shared(side, fills, &filler, found);
    t.piece = filler.commands;
    for (int i = 0; open && i < 2; ++i) {
        t.semaphores[i] = side_timeline(side, found);
        open = t.semaphores[i] != VK_NULL_HANDLE;
    }
    double least = 0;
    for (int i = 0; open && i < CALIBRATION_BURSTS; ++i) {
        double ns = burst(&t, HAND_OVER_SEMAPHORES);
        open = ns > 0;
        least = least == 0 || ns < least ? ns : least;
    }
    double wanted = open ? fills * (double)nanoseconds / least + 0.5 : 0;
    side->vk.vkDeviceWaitIdle(side->device);
    side_filler_destroy(side, &filler);
    for (int i = 0; i < 2; ++i)
        side->vk.vkDestroySemaphore(side->device, t.semaphores[i], NULL);
    if (!open)
        return 0;
    return wanted < 1                        ? 1
           : wanted > SIDE_FILLER_TIMES_MOST ? SIDE_FILLER_TIMES_MOST
                                             : (uint32_t)wanted;
}

void hand_over_compare(struct side *side, uint32_t engines, uint32_t fills, uint32_t count,
                       uint32_t ways, uint32_t repetitions, struct hand_over_found *found)
{
    *found = (struct hand_over_found){0};
    struct side_filler filler = {0};
    struct table t = {
        .side = side,
        .engines = engines,
        .count = count,
        .empty = side->commands,
        .found = &found->nothing,
    };
    bool open = side_filler_create_shared(side, fills, &filler, t.found) && barrier_record(&t);
    t.piece = filler.commands;
    for (int i = 0; open && i < 3; ++i) {
        t.semaphores[i] = side_timeline(side, t.found);
        open = t.semaphores[i] != VK_NULL_HANDLE;
    }
    open = open && attached_open(&t.attached, side, engines, t.found);
    BfDeviceCounters before = {.sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS}, after = before;
    if (open)
        bfGetDeviceCounters(t.attached.device, &before);
    for (uint32_t i = 0; open && i < repetitions && !t.found->reason[0]; ++i)
        repeat(&t, ways, i, found);
    if (open && !t.found->reason[0]) {
        bfGetDeviceCounters(t.attached.device, &after);
        double all = (double)count * BURSTS * repetitions;
        found->driver_calls = (double)(after.driverCalls - before.driverCalls) / all;
        found->barriers = (double)(after.barriers - before.barriers) / all;
        found->looks = (double)(after.counterQueries - before.counterQueries) / all;
        found->semaphore_waits = (double)(after.semaphoreWaits - before.semaphoreWaits) / all;
    }
    attached_close(&t.attached);
    side->vk.vkDeviceWaitIdle(side->device);
    side_filler_destroy(side, &filler);
    side->vk.vkDestroyCommandPool(side->device, t.pool, NULL);
    for (int i = 0; i < 3; ++i)
        side->vk.vkDestroySemaphore(side->device, t.semaphores[i], NULL);
}
