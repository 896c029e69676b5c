/* SPDX-License-Identifier: MIT */
/* A layer of the tests' own as the loader sees it, for the layer's one file: how it hears of an
 * instance and a device, one of each at a time, and what is next in the chain. The file defines
 * find_command: what it stands in for, NULL for all else. */
#ifndef BELFRY_TESTS_SUPPORT_LOADER_LAYER_H
#define BELFRY_TESTS_SUPPORT_LOADER_LAYER_H

#include <string.h>

#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

#define EXPORT __attribute__((visibility("default")))

static PFN_vkVoidFunction find_command(const char *name);

static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance the_instance;
static VkDevice the_device;

/* Finds the loader's link for this layer, of either kind; NULL: there is none. */
#define LOADER_LINK(Kind, KIND, info_)                                                             \
    VkLayer##Kind##CreateInfo *link = (VkLayer##Kind##CreateInfo *)(uintptr_t)(info_)->pNext;      \
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_##KIND##_CREATE_INFO &&               \
                     link->function == VK_LAYER_LINK_INFO))                                        \
    link = (VkLayer##Kind##CreateInfo *)(uintptr_t)link->pNext

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkInstance *instance)
{
    LOADER_LINK(Instance, INSTANCE, info);
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result =
        ((PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance"))(info, allocator, instance);
    the_instance = result == VK_SUCCESS ? *instance : VK_NULL_HANDLE;
    return result;
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkDevice *device)
{
    LOADER_LINK(Device, DEVICE, info);
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkGetInstanceProcAddr gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = ((PFN_vkCreateDevice)gipa(the_instance, "vkCreateDevice"))(physical, info,
                                                                                 allocator, device);
    the_device = result == VK_SUCCESS ? *device : VK_NULL_HANDLE;
    return result;
}

static PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    PFN_vkVoidFunction next = next_gdpa(device, name), ours = find_command(name);
    return next && ours ? ours : next;
}

static PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction ours = find_command(name);
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (strcmp(name, "vkCreateInstance") == 0)
        return ours ? ours : (PFN_vkVoidFunction)create_instance;
    if (strcmp(name, "vkCreateDevice") == 0)
        return ours ? ours : (PFN_vkVoidFunction)create_device;
    if (!instance)
        return NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    PFN_vkVoidFunction next = next_gipa(instance, name);
    return next && ours ? ours : next;
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

#endif
