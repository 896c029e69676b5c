/* SPDX-License-Identifier: MIT */
/* The queues that checks run on, their submissions, and the time that each took. */
#include "specialize/check/checker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/made.h"
#include "specialize/check/check_state.h"

#define PATIENCE_NS   UINT64_C(10000000000)
#define LIMIT_NS      UINT64_C(200000000)
#define DOUBLE_NS     UINT64_C(1000000)  /* a dry run that takes less is doubled */
#define DOUBLE_CPU_NS UINT64_C(20000000) /* on a CPU: there nobody's frame waits for it */

VkResult bf_lane_open(struct bf_checker *checker, uint32_t index)
{
    struct bf_lane *lane = &checker->lanes[index];
    struct bf_gpu *gpu = checker->place.gpu;
    if (!lane->queue.handle)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = lane->queue.family,
    };
    const VkQueryPoolCreateInfo stamps = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    VkResult result = VK_SUCCESS;
    if (!lane->pool)
        result = BF_MADE(gpu->vk.vkCreateCommandPool(gpu->handle, &pool, NULL, &lane->pool),
                         &lane->pool);
    if (result == VK_SUCCESS && !lane->stamps && lane->queue.timestamp_bits && !checker->cpu)
        result = BF_MADE(gpu->vk.vkCreateQueryPool(gpu->handle, &stamps, NULL, &lane->stamps),
                         &lane->stamps);
    return result;
}

VkResult bf_checker_create(const struct bf_checker_info *info, struct bf_checker **out)
{
    struct bf_checker *checker = calloc(1, sizeof(*checker));
    if (!checker)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_gpu *gpu = info->gpu;
    checker->place = (struct bf_test_place){
        .gpu = gpu,
        .physical = info->physical,
        .formats = (PFN_vkGetPhysicalDeviceFormatProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceFormatProperties"),
        .image_formats = (PFN_vkGetPhysicalDeviceImageFormatProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceImageFormatProperties"),
        .properties = (PFN_vkGetPhysicalDeviceProperties2)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceProperties2"),
        .robust = info->robust,
        .robust_enabled = info->robust_enabled,
    };
    checker->patience_ns = info->patience_ns ? info->patience_ns : PATIENCE_NS;
    checker->limit_ns = info->limit_ns ? info->limit_ns : LIMIT_NS;
    checker->lanes[BF_LANE_COMPUTE].queue = info->compute;
    checker->lanes[BF_LANE_DIRECT].queue = info->direct;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    const PFN_vkGetPhysicalDeviceProperties describe =
        (PFN_vkGetPhysicalDeviceProperties)info->get_instance_proc_addr(
            info->instance, "vkGetPhysicalDeviceProperties");
    if (checker->place.formats && checker->place.image_formats && describe) {
        VkPhysicalDeviceProperties properties;
        describe(info->physical, &properties);
        checker->cpu = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
        checker->period_ns = (double)properties.limits.timestampPeriod;
        checker->double_ns = info->double_ns ? info->double_ns
                             : checker->cpu  ? DOUBLE_CPU_NS
                                             : DOUBLE_NS;
        result = BF_MADE(gpu->vk.vkCreateFence(gpu->handle, &fence, NULL, &checker->fence),
                         &checker->fence);
    }
    if (result == VK_SUCCESS && !checker->cpu)
        result = BF_MADE(gpu->vk.vkCreateEvent(gpu->handle, &event, NULL, &checker->begun),
                         &checker->begun);
    if (result == VK_SUCCESS)
        result = bf_lane_open(checker, BF_LANE_COMPUTE);
    if (result != VK_SUCCESS) {
        bf_checker_destroy(checker);
        return result;
    }
    *out = checker;
    return VK_SUCCESS;
}

void bf_checker_destroy(struct bf_checker *checker)
{
    if (!checker)
        return;
    struct bf_gpu *gpu = checker->place.gpu;
    for (uint32_t i = 0; checker->forlorn && i < BF_LANES; i++) {
        if (checker->lanes[i].queue.handle)
            gpu->vk.vkQueueWaitIdle(checker->lanes[i].queue.handle);
    }
    if (checker->forlorn)
        bf_check_free(checker->forlorn);
    for (uint32_t i = 0; i < BF_LANES; i++) {
        if (checker->lanes[i].stamps)
            gpu->vk.vkDestroyQueryPool(gpu->handle, checker->lanes[i].stamps, NULL);
        if (checker->lanes[i].pool)
            gpu->vk.vkDestroyCommandPool(gpu->handle, checker->lanes[i].pool, NULL);
    }
    if (checker->begun)
        gpu->vk.vkDestroyEvent(gpu->handle, checker->begun, NULL);
    if (checker->fence)
        gpu->vk.vkDestroyFence(gpu->handle, checker->fence, NULL);
    free(checker);
}

enum bf_hang bf_checker_hang(const struct bf_checker *checker)
{
    return checker->hang;
}

void bf_lane_record_first(const struct bf_checker *checker, VkCommandBuffer commands)
{
    if (checker->begun)
        checker->place.gpu->vk.vkCmdSetEvent(commands, checker->begun,
                                             VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
}

static enum bf_hang hang_of(const struct bf_checker *checker)
{
    const struct bf_gpu *gpu = checker->place.gpu;
    return checker->begun && gpu->vk.vkGetEventStatus(gpu->handle, checker->begun) == VK_EVENT_RESET
               ? BF_HANG_QUEUED
               : BF_HANG_WORK;
}

VkResult bf_lane_execute(struct bf_checker *checker, const struct bf_lane *lane,
                         VkCommandBuffer commands)
{
    struct bf_gpu *gpu = checker->place.gpu;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    VkResult result = gpu->vk.vkResetFences(gpu->handle, 1, &checker->fence);
    if (result == VK_SUCCESS && checker->begun)
        result = gpu->vk.vkResetEvent(gpu->handle, checker->begun);
    if (result == VK_SUCCESS)
        result = gpu->vk.vkQueueSubmit(lane->queue.handle, 1, &info, checker->fence);
    if (result != VK_SUCCESS)
        return result;
    result =
        gpu->vk.vkWaitForFences(gpu->handle, 1, &checker->fence, VK_TRUE, checker->patience_ns);
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST && result != VK_TIMEOUT)
        result = gpu->vk.vkQueueWaitIdle(lane->queue.handle); /* no memory to wait with */
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST)
        checker->hang = hang_of(checker);
    return result;
}

void bf_lane_record_begin(const struct bf_checker *checker, const struct bf_lane *lane,
                          VkCommandBuffer commands)
{
    struct bf_gpu *gpu = checker->place.gpu;
    if (!lane->stamps)
        return;
    gpu->vk.vkCmdResetQueryPool(commands, lane->stamps, 0, 2);
    gpu->vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, lane->stamps, 0);
}

void bf_lane_record_end(const struct bf_checker *checker, const struct bf_lane *lane,
                        VkCommandBuffer commands)
{
    if (lane->stamps)
        checker->place.gpu->vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                                   lane->stamps, 1);
}

/* By the queue's own clock. UINT64_MAX: it says nothing. */
static uint64_t time_stamped(const struct bf_checker *checker, const struct bf_lane *lane)
{
    const struct bf_gpu *gpu = checker->place.gpu;
    const uint32_t bits = lane->queue.timestamp_bits;
    uint64_t stamps[2];
    if (!lane->stamps ||
        gpu->vk.vkGetQueryPoolResults(gpu->handle, lane->stamps, 0, 2, sizeof(stamps), stamps,
                                      sizeof(stamps[0]), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return UINT64_MAX;
    const uint64_t ticks =
        (stamps[1] - stamps[0]) & (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
    const double ns = (double)ticks * checker->period_ns;
    return ns > 0 && ns < (double)INT64_MAX ? (uint64_t)ns + 1 : UINT64_MAX;
}

/* A queue or processor that is busy has work of little priority wait, mostly: that isn't the work's
 * time. */
static uint64_t time_taken(const struct bf_checker *checker, const struct bf_lane *lane,
                           uint64_t waited_ns, uint64_t computed_ns)
{
    const uint64_t own_ns = checker->cpu ? computed_ns : time_stamped(checker, lane);
    return own_ns < waited_ns ? own_ns : waited_ns;
}

VkResult bf_lane_execute_timed(struct bf_checker *checker, const struct bf_lane *lane,
                               VkCommandBuffer commands, uint64_t *took_ns)
{
    const uint64_t begin = bf_now_ns(), computed = bf_process_ns();
    VkResult result = bf_lane_execute(checker, lane, commands);
    const uint64_t waited_ns = bf_now_ns() - begin;
    *took_ns = waited_ns;
    if (result == VK_SUCCESS)
        *took_ns = time_taken(checker, lane, waited_ns, bf_process_ns() - computed);
    return result;
}
