/* SPDX-License-Identifier: MIT */
/* The functions the layer hands out if libbelfry can't be used: each passes calls on to the next
 * layer or driver. */
#include "layer/passthrough.h"

#include <stdlib.h>
#include <string.h>

#include "belfry/belfry.h"
#include "layer/layer.h"

/* The next layer's or driver's functions, by the dispatch key of an instance or a device. Functions
 * that are called here are queried while the instance is created: later the loader answers for some
 * names with the top of the chain. */
struct next {
    VkInstance instance;
    PFN_vkGetInstanceProcAddr instance_functions;
    PFN_vkDestroyInstance destroy;
    PFN_vkEnumerateDeviceExtensionProperties device_extensions;
    PFN_vkGetDeviceProcAddr device_functions;
};

static struct bf_map instances, devices;
static struct bf_lock table_lock;

static struct next *next_of(struct bf_map *map, const void *dispatchable)
{
    return bf_map_find(map, layer_key(dispatchable));
}

static bool passthrough_table_add(struct bf_map *map, const void *dispatchable, struct next *next)
{
    bf_lock_acquire(&table_lock);
    bool added = bf_map_insert(map, layer_key(dispatchable), next);
    bf_lock_release(&table_lock);
    return added;
}

/* An empty table is freed, so that the layer leaves no memory when it is unloaded. */
static struct next *passthrough_table_remove(struct bf_map *map, const void *dispatchable)
{
    bf_lock_acquire(&table_lock);
    struct next *next = bf_map_remove(map, layer_key(dispatchable));
    if (map->live == 0)
        bf_map_finish(map, NULL, NULL);
    bf_lock_release(&table_lock);
    return next;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
                    link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct next *next = calloc(1, sizeof(*next));
    if (!next)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    next->instance_functions = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next->instance_functions(VK_NULL_HANDLE, "vkCreateInstance");
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = create ? create(info, allocator, instance) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS)
        goto fail;
    next->instance = *instance;
    next->destroy = (PFN_vkDestroyInstance)next->instance_functions(*instance, "vkDestroyInstance");
    next->device_extensions = (PFN_vkEnumerateDeviceExtensionProperties)next->instance_functions(
        *instance, "vkEnumerateDeviceExtensionProperties");
    if (passthrough_table_add(&instances, *instance, next))
        return VK_SUCCESS;
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    next->destroy(*instance, allocator);
fail:
    free(next);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    if (!instance)
        return;
    struct next *next = passthrough_table_remove(&instances, instance);
    next->destroy(instance, allocator);
    free(next);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *device)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
                    link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct next *next = calloc(1, sizeof(*next));
    if (!next)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    next->device_functions = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(
        next_of(&instances, physical)->instance, "vkCreateDevice");
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result =
        create ? create(physical, info, allocator, device) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS)
        goto fail;
    if (passthrough_table_add(&devices, *device, next))
        return VK_SUCCESS;
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    ((PFN_vkDestroyDevice)next->device_functions(*device, "vkDestroyDevice"))(*device, allocator);
fail:
    free(next);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *allocator)
{
    if (!device)
        return;
    struct next *next = passthrough_table_remove(&devices, device);
    ((PFN_vkDestroyDevice)next->device_functions(device, "vkDestroyDevice"))(device, allocator);
    free(next);
}

/* Only the layer itself can list its own device extensions: it has none. */
static VKAPI_ATTR VkResult VKAPI_CALL enumerate_device_extensions(VkPhysicalDevice physical,
                                                                  const char *layer,
                                                                  uint32_t *count,
                                                                  VkExtensionProperties *list)
{
    if (layer && strcmp(layer, BF_LAYER_NAME) == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    return next_of(&instances, physical)->device_extensions(physical, layer, count, list);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_device(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)layer_passthrough_device;
    if (strcmp(name, "vkDestroyDevice") == 0)
        return (PFN_vkVoidFunction)destroy_device;
    return next_of(&devices, device)->device_functions(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_instance(VkInstance instance,
                                                                    const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)layer_passthrough_instance},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkEnumerateInstanceExtensionProperties",
         (PFN_vkVoidFunction)layer_vkEnumerateInstanceExtensionProperties},
        {"vkEnumerateInstanceLayerProperties",
         (PFN_vkVoidFunction)layer_vkEnumerateInstanceLayerProperties},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)layer_passthrough_device},
        {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance},
        {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)enumerate_device_extensions},
    };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(name, own[i].name) == 0)
            return own[i].function;
    }
    return instance ? next_of(&instances, instance)->instance_functions(instance, name) : NULL;
}
