/* SPDX-License-Identifier: MIT */
/* bfQueueDispatchSliced: a dispatch as several, each a submission of its own. */
#include "base/map.h"
#include "base/message.h"
#include "base/structure.h"
#include "queue/command_queue.h"

/* Slices of a dispatch whose info has been checked. */
static uint32_t slice_count(const BfSlicedDispatchInfo *info)
{
    return (info->groupCount[info->axis] - 1) / info->groupsPerSlice + 1;
}

static bool sliced_info_check(struct bf_command_queue *queue, const BfSlicedDispatchInfo *info)
{
    const char *call = "bfQueueDispatchSliced";
    if (!bf_structure_check(info, BF_STRUCTURE_TYPE_SLICED_DISPATCH_INFO, call, "pInfo"))
        return false;
    if (queue->type == BF_COMMAND_LIST_TYPE_COPY) {
        bf_message(BF_MESSAGE_ERROR, "%s: a copy queue dispatches nothing", call);
        return false;
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (info->groupCount[i] == 0 || info->groupCount[i] > UINT32_MAX - info->baseGroup[i]) {
            bf_message(BF_MESSAGE_ERROR, "%s: %u groups from group %u on, on axis %u", call,
                       info->groupCount[i], info->baseGroup[i], i);
            return false;
        }
    }
    if (info->axis > 2 || info->groupsPerSlice == 0 || !info->pfnBind) {
        bf_message(BF_MESSAGE_ERROR, "%s: axis %u, groupsPerSlice %u%s", call, info->axis,
                   info->groupsPerSlice, info->pfnBind ? "" : ", pfnBind is NULL");
        return false;
    }
    uint32_t count = slice_count(info);
    if (info->commandBufferCount < count || !info->pCommandBuffers) {
        bf_message(BF_MESSAGE_ERROR, "%s: %u slices, commandBufferCount %u, pCommandBuffers %p",
                   call, count, info->commandBufferCount, (const void *)info->pCommandBuffers);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_command_queue_takes_buffer(queue, info->pCommandBuffers[i], call, i))
            return false;
    }
    return true;
}

/* Each slice has a command buffer of its own: one that is given twice would be begun while it is
 * pending. */
static VkResult sliced_buffers_check(const BfSlicedDispatchInfo *info)
{
    struct bf_map seen = {.used = 0};
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < slice_count(info) && result == VK_SUCCESS; i++) {
        VkCommandBuffer buffer = info->pCommandBuffers[i];
        if (bf_map_find(&seen, (uintptr_t)buffer)) {
            bf_message(BF_MESSAGE_ERROR,
                       "bfQueueDispatchSliced: pCommandBuffers[%u] is given twice", i);
            result = VK_ERROR_VALIDATION_FAILED_EXT;
        } else if (!bf_map_insert(&seen, (uintptr_t)buffer, buffer)) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    bf_map_finish(&seen, NULL, NULL);
    return result;
}

/* Records the slices, as the program would: each command goes through all of its layers. */
static VkResult slices_record(const struct bf_upper_layers_recording *commands,
                              const BfSlicedDispatchInfo *info)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    BfDispatchSlice slice = {.sliceCount = slice_count(info)};
    VkResult result = VK_SUCCESS;
    for (; slice.index < slice.sliceCount && result == VK_SUCCESS; slice.index++) {
        VkCommandBuffer buffer = info->pCommandBuffers[slice.index];
        uint32_t axis = info->axis, skipped = slice.index * info->groupsPerSlice;
        uint32_t left = info->groupCount[axis] - skipped;
        for (uint32_t i = 0; i < 3; i++) {
            slice.baseGroup[i] = info->baseGroup[i];
            slice.groupCount[i] = info->groupCount[i];
        }
        slice.baseGroup[axis] += skipped;
        slice.groupCount[axis] = left < info->groupsPerSlice ? left : info->groupsPerSlice;
        result = commands->begin(buffer, &begin);
        if (result != VK_SUCCESS)
            break;
        info->pfnBind(buffer, &slice, info->pUserData);
        commands->dispatch_base(buffer, slice.baseGroup[0], slice.baseGroup[1], slice.baseGroup[2],
                                slice.groupCount[0], slice.groupCount[1], slice.groupCount[2]);
        result = commands->end(buffer);
    }
    return result;
}

VkResult bfQueueDispatchSliced(BfCommandQueue handle, const BfSlicedDispatchInfo *info)
{
    struct bf_command_queue *queue = bf_command_queue_from_handle(handle, __func__);
    struct bf_upper_layers_recording commands;
    if (!queue || !sliced_info_check(queue, info))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    VkResult result = sliced_buffers_check(info);
    if (result != VK_SUCCESS)
        return result;
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    if (!bf_upper_layers_find_recording(&scheduler->gpu, &commands)) {
        bf_message(BF_MESSAGE_ERROR, "%s: the device has no vkCmdDispatchBase", __func__);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    result = slices_record(&commands, info);
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(scheduler, __func__);
    if (result != VK_SUCCESS)
        return result;
    struct bf_fence *progress = atomic_load(&queue->progress);
    return bf_command_queue_execute_buffers(queue, slice_count(info), info->pCommandBuffers,
                                            progress, 0, progress != NULL, true, __func__);
}
