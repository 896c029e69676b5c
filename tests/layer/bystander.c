/* SPDX-License-Identifier: MIT */
/* A layer that stands beside Belfry, above or below: it wraps nothing, asks for queues as soon as
 * there is a device, and writes down what passes through it. Two libraries are built from it, with
 * BYSTANDER_NAME "above" and "below".
 *
 * A program finds what was written down by dlsym in the library that the loader has loaded. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

#include "bystander.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct bystander bystander_seen;

/* One instance and one device at a time are enough to bear witness. */
static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance the_instance;
static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueSubmit2 next_submit2;

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkInstance *instance)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)(uintptr_t)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    bystander_seen.instances++;
    VkResult result =
        ((PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance"))(info, allocator, instance);
    the_instance = result == VK_SUCCESS ? *instance : VK_NULL_HANDLE;
    return result;
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)(uintptr_t)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkGetInstanceProcAddr gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    bystander_seen.devices++;
    VkResult result = ((PFN_vkCreateDevice)gipa(the_instance, "vkCreateDevice"))(physical, info,
                                                                                 allocator, device);
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
    for (uint32_t i = 0; i < bystander_seen.queue_count; i++) {
        if (bystander_seen.queues[i] == queue)
            return;
    }
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

static PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name);

static PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    PFN_vkVoidFunction next = next_gdpa(device, name);
    if (!next)
        return NULL;
    if (strcmp(name, "vkQueueSubmit") == 0)
        return (PFN_vkVoidFunction)submit;
    if (strcmp(name, "vkQueueSubmit2") == 0)
        return (PFN_vkVoidFunction)submit2;
    return next;
}

static PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (strcmp(name, "vkCreateInstance") == 0)
        return (PFN_vkVoidFunction)create_instance;
    if (strcmp(name, "vkCreateDevice") == 0)
        return (PFN_vkVoidFunction)create_device;
    if (!instance)
        return NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    return next_gipa(instance, name);
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation);

VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation)
{
    negotiation->loaderLayerInterfaceVersion = 2;
    negotiation->pfnGetInstanceProcAddr = get_instance_proc_addr;
    negotiation->pfnGetDeviceProcAddr = get_device_proc_addr;
    negotiation->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
