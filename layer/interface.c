/*
 * Loader plumbing only: how the loader finds the layer, and how it and the layers above find our
 * functions (Vulkan-Loader, LoaderLayerInterface).
 */
#include "layer/layer.h"

#include <string.h>

#include "layer/access/access.h"
#include "layer/commands.h"
#include "layer/specialize/interface.h"

/* The instance table: the layer's only global state. */
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

static bool add(struct bf_map *map, const void *dispatchable, void *object)
{
    bf_lock_acquire(&table_lock);
    bool added = bf_map_insert(map, layer_key(dispatchable), object);
    bf_lock_release(&table_lock);
    return added;
}

/* An empty table is freed, so that nothing is left when the layer is unloaded: look-ups need a live
 * object, and there is none. */
static void take(struct bf_map *map, const void *dispatchable)
{
    bf_lock_acquire(&table_lock);
    bf_map_remove(map, layer_key(dispatchable));
    if (map->live == 0)
        bf_map_finish(map, NULL, NULL);
    bf_lock_release(&table_lock);
}

bool layer_instance_add(struct layer_instance *instance)
{
    return add(&instances, instance->handle, instance);
}

void layer_instance_remove(struct layer_instance *instance)
{
    take(&instances, instance->handle);
}

bool layer_device_add(struct layer_device *device)
{
    return add(&devices, device->handle, device);
}

void layer_device_remove(struct layer_device *device)
{
    take(&devices, device->handle);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance,
                                                                       const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device,
                                                                     const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_physical_device_proc_addr(VkInstance instance,
                                                                              const char *name);

struct command {
    const char *name;
    PFN_vkVoidFunction function;
};

#define COMMAND(name)                 {#name, (PFN_vkVoidFunction)layer_##name},
#define COMMAND_ALIAS(name, stand_in) {#name, (PFN_vkVoidFunction)layer_##stand_in},
static const struct command global_commands[] = {LAYER_GLOBAL_COMMANDS(COMMAND){NULL, NULL}};
static const struct command instance_commands[] = {LAYER_INSTANCE_COMMANDS(COMMAND){NULL, NULL}};
static const struct command physical_commands[] = {
    LAYER_PHYSICAL_COMMANDS(COMMAND_ALIAS){NULL, NULL}};
static const struct command device_commands[] = {LAYER_DEVICE_COMMANDS(COMMAND_ALIAS){NULL, NULL}};
static const struct command scheduled_commands[] = {
    LAYER_SCHEDULED_COMMANDS(COMMAND_ALIAS){NULL, NULL}};
static const struct command traced_commands[] = {LAYER_TRACED_COMMANDS(COMMAND_ALIAS){NULL, NULL}};
static const struct command translated_commands[] = {
    LAYER_TRANSLATED_COMMANDS(COMMAND_ALIAS){NULL, NULL}};

static PFN_vkVoidFunction find(const struct command *commands, const char *name)
{
    for (; commands->name; commands++) {
        if (strcmp(commands->name, name) == 0)
            return commands->function;
    }
    return NULL;
}

static PFN_vkVoidFunction find_physical(const char *name)
{
    return find(physical_commands, name);
}

static PFN_vkVoidFunction get_device_proc_addr(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    struct layer_device *d = layer_device_of(device);
    PFN_vkVoidFunction next = d->next(device, name);
    /* A device that is passed through has the driver's own queues: nothing need be hidden. */
    if (!next || (d->runtime && layer_command_is_hidden(name)) ||
        layer_command_is_of(name, d->added))
        return NULL;
    PFN_vkVoidFunction ours = d->specializer ? layer_specialize_find(name) : NULL;
    if (!ours && d->trace)
        ours = find(traced_commands, name);
    if (!ours && d->access)
        ours = layer_access_find(name);
    if (!ours)
        ours = find(device_commands, name);
    if (!ours && d->runtime)
        ours = find(scheduled_commands, name);
    if (!ours && d->translates)
        ours = find(translated_commands, name);
    if (!ours && d->specializer)
        layer_specialize_asked(d, name);
    return ours ? ours : next;
}

static PFN_vkVoidFunction get_physical_device_proc_addr(VkInstance instance, const char *name)
{
    struct layer_instance *i = layer_instance_of(instance);
    PFN_vkVoidFunction next =
        i->next_physical ? i->next_physical(instance, name) : i->next(instance, name);
    PFN_vkVoidFunction ours = find_physical(name);
    if (ours)
        return next || strcmp(name, "vkCreateDevice") == 0 ? ours : NULL;
    /* Without a function of that kind below, only what is known to be a physical device's
     * command may be answered here. */
    return i->next_physical ? next : NULL;
}

static PFN_vkVoidFunction get_instance_proc_addr(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc_addr;
    if (strcmp(name, "vk_layerGetPhysicalDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_physical_device_proc_addr;
    PFN_vkVoidFunction ours = find(global_commands, name);
    if (ours)
        return ours;
    /* vkCreateDevice is an instance's command, but some layers above, Mesa's overlay for one, ask
     * for it without an instance, as most layers and drivers let them. */
    if (!instance)
        return strcmp(name, "vkCreateDevice") == 0 ? find_physical(name) : NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc_addr;
    struct layer_instance *i = layer_instance_of(instance);
    PFN_vkVoidFunction next = i->next(instance, name);
    if (!next || layer_command_is_hidden(name))
        return NULL;
    /* Devices of this instance that are passed through call these too: each one asks. */
    ours = find(instance_commands, name);
    if (!ours && i->settings.specialize != BF_SPECIALIZE_OFF &&
        i->settings.check != BF_CHECK_ACCESS)
        ours = layer_specialize_find_recording(name);
    if (!ours && (i->settings.trace || i->settings.summary))
        ours = find(traced_commands, name);
    if (!ours && i->settings.check == BF_CHECK_ACCESS)
        ours = layer_access_find(name);
    if (!ours)
        ours = find_physical(name);
    if (!ours)
        ours = find(device_commands, name);
    if (!ours)
        ours = find(scheduled_commands, name);
    if (!ours)
        ours = find(translated_commands, name);
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
    negotiation->pfnGetInstanceProcAddr = get_instance_proc_addr;
    negotiation->pfnGetDeviceProcAddr = get_device_proc_addr;
    negotiation->pfnGetPhysicalDeviceProcAddr = get_physical_device_proc_addr;
    return VK_SUCCESS;
}
