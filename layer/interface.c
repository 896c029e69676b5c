/* SPDX-License-Identifier: MIT */
/*
 * The layer's entry points: the negotiation with the loader, and vkGet*ProcAddr for the loader and
 * for upper layers (Vulkan-Loader, LoaderLayerInterface).
 */
#include "layer/layer.h"

#include <string.h>

#include "layer/commands.h"
#include "layer/library.h"
#include "layer/passthrough.h"
#include "layer/specialize/interface.h"

/* The tables of instances and devices: the layer's only global state. */
static struct bf_map instances, devices;
static struct bf_lock table_lock;

struct layer_instance *layer_instance_of(const void *dispatchable)
{
    return bf_map_find(&instances, layer_key(dispatchable));
}

struct layer_device *layer_device_of(const void *dispatchable)
{
    return bf_map_find(&devices, layer_key(dispatchable));
}

static bool table_add(struct bf_map *map, const void *dispatchable, void *object)
{
    bf_lock_acquire(&table_lock);
    bool added = bf_map_insert(map, layer_key(dispatchable), object);
    bf_lock_release(&table_lock);
    return added;
}

/* An empty table is freed, so that the layer leaves no memory when it is unloaded. Nobody looks an
 * object up at the time: there is none left. */
static void table_remove(struct bf_map *map, const void *dispatchable)
{
    bf_lock_acquire(&table_lock);
    bf_map_remove(map, layer_key(dispatchable));
    if (map->live == 0)
        bf_map_finish(map, NULL, NULL);
    bf_lock_release(&table_lock);
}

bool layer_instance_add(struct layer_instance *instance)
{
    return table_add(&instances, instance->handle, instance);
}

void layer_instance_remove(struct layer_instance *instance)
{
    table_remove(&instances, instance->handle);
}

bool layer_device_add(struct layer_device *device)
{
    return table_add(&devices, device->handle, device);
}

void layer_device_remove(struct layer_device *device)
{
    table_remove(&devices, device->handle);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance,
                                                                       const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device,
                                                                     const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_physical_device_proc_addr(VkInstance instance,
                                                                              const char *name);

/* The layer's function for a command of a physical device. */
static PFN_vkVoidFunction find_physical(const struct layer_command *command)
{
    return command && command->level == LAYER_LEVEL_PHYSICAL ? command->own : NULL;
}

static PFN_vkVoidFunction get_device_proc_addr(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    struct layer_device *d = layer_device_of(device);
    PFN_vkVoidFunction next = d->next(device, name), ours = NULL;
    const struct layer_command *command = layer_command_find(name);
    /* A device that is passed through has the driver's own queues, so no command need be hidden. A
     * program can't have commands of extensions that the layer enabled for itself. */
    if (!next || (command && ((d->runtime && command->hidden) || (command->added & d->added))))
        return NULL;
    if (command && command->level == LAYER_LEVEL_DEVICE) {
        unsigned wanted = LAYER_FOR_ALWAYS | (d->runtime ? LAYER_FOR_SUBMITS : 0) |
                          (d->translates ? LAYER_FOR_FAMILIES : 0) |
                          (d->trace || d->standstill ? LAYER_FOR_TRACE : 0) |
                          (d->access ? LAYER_FOR_ACCESS : 0) |
                          (d->specializer ? LAYER_FOR_SPECIALIZE : 0);
        ours = layer_command_stand_in(command, wanted);
    }
    if (!ours && d->specializer)
        layer_specialize_asked(d, name);
    return ours ? ours : next;
}

static PFN_vkVoidFunction get_physical_device_proc_addr(VkInstance instance, const char *name)
{
    struct layer_instance *i = layer_instance_of(instance);
    PFN_vkVoidFunction next =
        i->next_physical ? i->next_physical(instance, name) : i->next(instance, name);
    PFN_vkVoidFunction ours = find_physical(layer_command_find(name));
    if (ours)
        return next || strcmp(name, "vkCreateDevice") == 0 ? ours : NULL;
    /* If the next layer has no vk_layerGetPhysicalDeviceProcAddr, 'next' may be a command of
     * another level: only commands that are known to be a physical device's may be returned. */
    return i->next_physical ? next : NULL;
}

static PFN_vkVoidFunction get_instance_proc_addr(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (strcmp(name, "vk_layerGetPhysicalDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_physical_device_proc_addr;
    const struct layer_command *command = layer_command_find(name);
    if (command && command->level == LAYER_LEVEL_GLOBAL)
        return command->own;
    /* vkCreateDevice is an instance-level command, but some upper layers, Mesa's overlay for one,
     * query it with a NULL instance, which most layers and drivers permit. */
    if (!instance)
        return strcmp(name, "vkCreateDevice") == 0 ? find_physical(command) : NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    struct layer_instance *i = layer_instance_of(instance);
    PFN_vkVoidFunction next = i->next(instance, name);
    if (!next || !command)
        return next;
    if (command->hidden)
        return NULL;
    /* Passed-through devices of this instance get the same functions: each function checks its
     * device. */
    bool checked = i->settings.check == BF_CHECK_ACCESS;
    bool specialized =
        i->settings.specialize != BF_SPECIALIZE_OFF && !checked && !command->specialize_by_device;
    unsigned wanted =
        LAYER_FOR_ALWAYS | LAYER_FOR_SUBMITS | LAYER_FOR_FAMILIES |
        (i->settings.trace || i->settings.summary || i->settings.watchdog ? LAYER_FOR_TRACE : 0) |
        (checked ? LAYER_FOR_ACCESS : 0) | (specialized ? LAYER_FOR_SPECIALIZE : 0);
    PFN_vkVoidFunction ours = layer_command_stand_in(command, wanted);
    return ours ? ours : next;
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation);

VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation)
{
    if (negotiation->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        negotiation->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    negotiation->loaderLayerInterfaceVersion = 2;
    if (!layer_library_open()) {
        negotiation->pfnGetInstanceProcAddr = layer_passthrough_instance;
        negotiation->pfnGetDeviceProcAddr = layer_passthrough_device;
        negotiation->pfnGetPhysicalDeviceProcAddr = NULL;
        return VK_SUCCESS;
    }
    negotiation->pfnGetInstanceProcAddr = get_instance_proc_addr;
    negotiation->pfnGetDeviceProcAddr = get_device_proc_addr;
    negotiation->pfnGetPhysicalDeviceProcAddr = get_physical_device_proc_addr;
    return VK_SUCCESS;
}
