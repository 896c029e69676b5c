/* SPDX-License-Identifier: MIT */
/* A layer that stands beside Belfry, above or below: it wraps nothing, asks for queues as soon as
 * there is a device, and writes down what passes through it. Two libraries are built from it, with
 * BYSTANDER_NAME "above" and "below".
 *
 * A program finds what was written down by dlsym in the library that the loader has loaded. */
#include "../support/std.h"

#include "bystander.h"
#include "support/loader_layer.h"

EXPORT struct bystander bystander_seen;

static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueSubmit2 next_submit2;

static VkResult VKAPI_CALL create_instance_seen(const VkInstanceCreateInfo *info,
                                                const VkAllocationCallbacks *allocator,
                                                VkInstance *instance)
{
    bystander_seen.instances++;
    return create_instance(info, allocator, instance);
}

static VkResult VKAPI_CALL create_device_seen(VkPhysicalDevice physical,
                                              const VkDeviceCreateInfo *info,
                                              const VkAllocationCallbacks *allocator,
                                              VkDevice *device)
{
    bystander_seen.devices++;
    VkResult result = create_device(physical, info, allocator, device);
    if (result != VK_SUCCESS)
        return result;
    next_submit = (PFN_vkQueueSubmit)next_gdpa(*device, "vkQueueSubmit");
    next_submit2 = (PFN_vkQueueSubmit2)next_gdpa(*device, "vkQueueSubmit2");
    /* Directly, as overlays and profilers do: no loader's trampoline in between. */
    PFN_vkGetDeviceQueue get = (PFN_vkGetDeviceQueue)next_gdpa(*device, "vkGetDeviceQueue");
    bystander_seen.queue_count = 0;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *q = &info->pQueueCreateInfos[i];
        for (uint32_t k = 0; k < q->queueCount; k++) {
            VkQueue queue = VK_NULL_HANDLE;
            get(*device, q->queueFamilyIndex, k, &queue);
            if (!queue)
                bystander_seen.bad_queues++;
            /* The layer below has set the dispatch pointer; a driver leaves that to whoever asks.
             */
            if (queue && *(void **)queue != *(void **)*device)
                bystander_seen.unset_queues++;
            if (bystander_seen.queue_count < BYSTANDER_QUEUES)
                bystander_seen.queues[bystander_seen.queue_count++] = queue;
        }
    }
    /* And uses one. */
    if (bystander_seen.queue_count && next_submit &&
        next_submit(bystander_seen.queues[0], 0, NULL, VK_NULL_HANDLE) != VK_SUCCESS)
        bystander_seen.bad_queues++;
    return VK_SUCCESS;
}

static void queue_seen(VkQueue queue)
{
    for (uint32_t i = 0; i < bystander_seen.queue_count; i++)
        if (bystander_seen.queues[i] == queue)
            return;
    bystander_seen.bad_queues++;
}

static VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                  VkFence fence)
{
    queue_seen(queue);
    bystander_seen.submits++;
    return next_submit(queue, count, infos, fence);
}

static VkResult VKAPI_CALL submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                   VkFence fence)
{
    queue_seen(queue);
    bystander_seen.submits++;
    return next_submit2(queue, count, infos, fence);
}

static PFN_vkVoidFunction find_command(const char *name)
{
    if (strcmp(name, "vkCreateInstance") == 0)
        return (PFN_vkVoidFunction)create_instance_seen;
    if (strcmp(name, "vkCreateDevice") == 0)
        return (PFN_vkVoidFunction)create_device_seen;
    if (strcmp(name, "vkQueueSubmit") == 0)
        return (PFN_vkVoidFunction)submit;
    if (strcmp(name, "vkQueueSubmit2") == 0)
        return (PFN_vkVoidFunction)submit2;
    return NULL;
}
