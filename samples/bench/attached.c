/* SPDX-License-Identifier: MIT */
/* Attaches the plain side's device to Belfry, and creates two queues with a fence each. */
#include "attached.h"

bool attached_open(struct attached *a, struct side *side, uint32_t engines,
                   struct bench_found *found)
{
    BfAttachQueue queues[2];
    *a = (struct attached){.side = side};
    for (uint32_t i = 0; i < engines; ++i)
        queues[i] = (BfAttachQueue){
            .queue = side->queues[i], .queueFamilyIndex = side->family, .queueIndex = i};
    const BfAttachInfo info = {
        .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = side->instance,
        .physicalDevice = side->gpu,
        .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
        .device = side->device,
        .queueCount = engines,
        .pQueues = queues,
    };
    if (!bench_worked(bfAttachDevice(&info, &a->device), "bfAttachDevice", found))
        return false;
    for (int i = 0; i < 2; ++i) {
        /* The second of two equal queues is placed on the engine with fewer queues. */
        const BfCommandQueueCreateInfo queue = {.sType =
                                                    BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                                .type = BF_COMMAND_LIST_TYPE_DIRECT};
        const BfFenceCreateInfo fence = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        if (!bench_worked(bfCreateCommandQueue(a->device, &queue, &a->queues[i]),
                          "bfCreateCommandQueue", found) ||
            !bench_worked(bfCreateFence(a->device, &fence, &a->fences[i]), "bfCreateFence", found))
            return false;
    }
    return true;
}

void attached_close(struct attached *a)
{
    if (!a->device)
        return;
    a->side->vk.vkDeviceWaitIdle(a->side->device);
    for (int i = 0; i < 2; ++i) {
        bfDestroyCommandQueue(a->queues[i]);
        bfDestroyFence(a->fences[i]);
    }
    a->side->vk.vkDeviceWaitIdle(a->side->device);
    bfDetachDevice(a->device);
    *a = (struct attached){0};
}
