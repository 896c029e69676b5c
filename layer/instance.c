/* SPDX-License-Identifier: MIT */
/* Instances, and what the layer queries of their physical devices. */
#include "layer/layer.h"
#include "layer/specialize/interface.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "belfry/belfry.h"
#include "layer/chain.h"
#include "layer/commands.h"
#include "base/message.h"
#include "trace/session.h"

#define GPDP2 VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME

static VkLayerInstanceCreateInfo *find_link(const VkInstanceCreateInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)s;
        if (s->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
            link->function == VK_LAYER_LINK_INFO)
            return link;
    }
    return NULL;
}

static bool has_name(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/*
 * On a device of Vulkan 1.0, the extensions that the scheduler needs depend on the instance
 * extension VK_KHR_get_physical_device_properties2, whatever the program's version. Which devices
 * there are is known only when the instance exists. So the extension is added to every instance, in
 * a copy of the program's create-info, and left out if the instance can't be created with it.
 *
 * The extension's commands are passed on to programs even if they didn't enable it. Once the Vulkan
 * loader has seen the extension in the call that reaches it, it returns its own functions for these
 * names, and makes the core commands call them: if the layer hid them, a program's
 * vkGetPhysicalDeviceFeatures2 would call NULL.
 */
static VkResult instance_create_below(const VkInstanceCreateInfo *info,
                                      const VkAllocationCallbacks *allocator, VkInstance *instance,
                                      VkLayerInstanceCreateInfo *link, bool *with_properties2)
{
    *with_properties2 = true;
    VkLayerInstanceLink *below = link->u.pLayerInfo;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)below->pfnNextGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance");
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    link->u.pLayerInfo = below->pNext;
    uint32_t count = info->enabledExtensionCount;
    if (has_name(info->ppEnabledExtensionNames, count, GPDP2))
        return create(info, allocator, instance);

    const char **names = malloc((count + 1) * sizeof(*names));
    if (!names)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (count)
        memcpy(names, info->ppEnabledExtensionNames, count * sizeof(*names));
    names[count] = GPDP2;
    VkInstanceCreateInfo copy = *info;
    copy.enabledExtensionCount = count + 1;
    copy.ppEnabledExtensionNames = names;
    VkResult result = create(&copy, allocator, instance);
    free(names);
    if (result == VK_ERROR_EXTENSION_NOT_PRESENT) {
        *with_properties2 = false;
        link->u.pLayerInfo = below->pNext; /* the lower layers have advanced it */
        result = create(info, allocator, instance);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance)
{
    VkLayerInstanceCreateInfo *link = find_link(info);
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct layer_instance *i = calloc(1, sizeof(*i));
    if (!i)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    i->next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    i->api_version = info->pApplicationInfo && info->pApplicationInfo->apiVersion
                         ? info->pApplicationInfo->apiVersion
                         : VK_API_VERSION_1_0;
    VkResult result = bf_settings_load(info, environ, bf_settings_is_privileged(),
                                       bf_settings_is_implicit(info, environ), false, &i->settings);
    if (result != VK_SUCCESS)
        goto fail_settings;
    bf_message_set_level(i->settings.messages);
    layer_specialize_instance_create(i, info);

    result = instance_create_below(info, allocator, instance, link, &i->properties2);
    if (result != VK_SUCCESS)
        goto fail_create;
    i->handle = *instance;
    layer_instance_calls_load(i);
    if (!layer_instance_add(i)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto fail_add;
    }
    bf_trace_session_expect(&i->settings);
    return VK_SUCCESS;

fail_add:
    if (i->vk->vkDestroyInstance)
        i->vk->vkDestroyInstance(*instance, allocator);
    *instance = VK_NULL_HANDLE;
fail_create:
    layer_specialize_instance_destroy(i);
    bf_settings_finish(&i->settings);
fail_settings:
    free(i);
    return result;
}

static void free_physical(void *value, void *context)
{
    (void)context;
    struct layer_physical *physical = value;
    free(physical->families);
    free(physical);
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyInstance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator)
{
    if (!instance)
        return;
    struct layer_instance *i = layer_instance_of(instance);
    layer_instance_remove(i);
    i->vk->vkDestroyInstance(instance, allocator);
    layer_messengers_finish(i);
    bf_map_finish(&i->physical_devices, free_physical, NULL);
    layer_specialize_instance_destroy(i);
    bf_settings_finish(&i->settings);
    free(i);
}

static bool list_has_extension(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

/* Finds the families that may have a VkQueue of global priority REALTIME, or HIGH: those for which
 * the driver reports it, or all if the driver can't be asked. */
static void find_global_priorities(struct layer_physical *p, const VkExtensionProperties *list,
                                   uint32_t count)
{
    bool core = p->api_version >= VK_MAKE_API_VERSION(0, 1, 4, 0);
    bool khr = list_has_extension(list, count, VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME);
    if (khr)
        p->global_priority_extension = VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME;
    else if (list_has_extension(list, count, VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME))
        p->global_priority_extension = VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME;
    else if (!core)
        return;
    p->realtime_families = p->high_families = UINT32_MAX;
    if (!p->vk->vkGetPhysicalDeviceQueueFamilyProperties2 ||
        (!core && !khr &&
         !list_has_extension(list, count, VK_EXT_GLOBAL_PRIORITY_QUERY_EXTENSION_NAME)))
        return;
    VkQueueFamilyProperties2 families[BF_MAX_FAMILIES];
    VkQueueFamilyGlobalPriorityPropertiesKHR able[BF_MAX_FAMILIES];
    uint32_t n = p->family_count < BF_MAX_FAMILIES ? p->family_count : BF_MAX_FAMILIES;
    for (uint32_t f = 0; f < n; f++) {
        able[f] = (VkQueueFamilyGlobalPriorityPropertiesKHR){
            .sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR};
        families[f] = (VkQueueFamilyProperties2){
            .sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2, .pNext = &able[f]};
    }
    p->vk->vkGetPhysicalDeviceQueueFamilyProperties2(p->handle, &n, families);
    p->realtime_families = p->high_families = 0;
    for (uint32_t f = 0; f < n; f++) {
        for (uint32_t k = 0; k < able[f].priorityCount && k < VK_MAX_GLOBAL_PRIORITY_SIZE_KHR;
             k++) {
            if (able[f].priorities[k] == VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR)
                p->realtime_families |= UINT32_C(1) << f;
            if (able[f].priorities[k] == VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR)
                p->high_families |= UINT32_C(1) << f;
        }
    }
}

/* Finds out whether the device has what the scheduler needs, by core version or by extension:
 * timeline semaphores and synchronization2. Also what it uses if present: calibrated timestamps (to
 * show CPU and GPU on one time axis), host query reset (for traces, and to learn what packets
 * cost), buffer device addresses with 64-bit integers and imported host memory (for native fences),
 * and exportable timeline semaphores (for shared fences). */
static VkResult find_capabilities(struct layer_physical *p)
{
    struct layer_instance *i = p->instance;
    uint32_t count = 0;
    VkResult result = i->vk->vkEnumerateDeviceExtensionProperties(p->handle, NULL, &count, NULL);
    if (result != VK_SUCCESS)
        return result;
    VkExtensionProperties *list = calloc(count + 1, sizeof(*list));
    if (!list)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = i->vk->vkEnumerateDeviceExtensionProperties(p->handle, NULL, &count, list);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        free(list);
        return result;
    }
    bool core12 = p->api_version >= VK_API_VERSION_1_2,
         core13 = p->api_version >= VK_API_VERSION_1_3;
    bool timeline_extension =
        list_has_extension(list, count, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
    bool sync2_extension = list_has_extension(list, count, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
    bool reset_extension = list_has_extension(list, count, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME);
    if (list_has_extension(list, count, "VK_KHR_calibrated_timestamps"))
        p->calibrated_extension = "VK_KHR_calibrated_timestamps";
    else if (list_has_extension(list, count, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME))
        p->calibrated_extension = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    if (i->settings.realtime || i->settings.high_priority)
        find_global_priorities(p, list, count);
    bool host_memory = p->api_version >= VK_API_VERSION_1_1 && i->settings.native_fences &&
                       list_has_extension(list, count, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    bool device_fault = p->api_version >= VK_API_VERSION_1_1 &&
                        list_has_extension(list, count, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    p->driver_properties =
        p->vk->vkGetPhysicalDeviceProperties2 &&
        (p->api_version >= VK_API_VERSION_1_1 || i->properties2) &&
        (core12 || list_has_extension(list, count, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME));
    bool internal_queues = p->api_version >= VK_API_VERSION_1_1 &&
                           list_has_extension(list, count, LAYER_INTERNAL_QUEUES_EXTENSION);
    bool semaphore_fd =
        p->api_version >= VK_API_VERSION_1_1 &&
        list_has_extension(list, count, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    free(list);
    bool askable = p->vk->vkGetPhysicalDeviceFeatures2 &&
                   (p->api_version >= VK_API_VERSION_1_1 || i->properties2);
    if (!askable || (!core12 && !timeline_extension) || (!core13 && !sync2_extension))
        return VK_SUCCESS;

    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceSynchronization2Features sync2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
        .pNext = &timeline,
    };
    VkPhysicalDeviceHostQueryResetFeatures reset = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
        .pNext = &sync2,
    };
    bool may_reset = core12 || reset_extension;
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .pNext = may_reset ? (void *)&reset : (void *)&sync2,
    };
    VkPhysicalDeviceFaultFeaturesEXT fault = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
        .pNext = core12 ? &addresses : addresses.pNext,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = device_fault ? &fault : fault.pNext,
    };
    struct layer_internal_queues internal = {.sType = LAYER_INTERNAL_QUEUES_FEATURES,
                                             .pNext = features.pNext};
    if (internal_queues)
        features.pNext = &internal;
    p->vk->vkGetPhysicalDeviceFeatures2(p->handle, &features);
    p->device_fault = device_fault && fault.deviceFault;
    p->internal_queues = internal.on && !i->settings.serialize_submits;
    if (i->settings.native_fences) {
        p->buffer_addresses = core12 && addresses.bufferDeviceAddress;
        p->shader_int64 = features.features.shaderInt64;
    }
    if (host_memory && p->vk->vkGetPhysicalDeviceProperties2) {
        VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
        p->vk->vkGetPhysicalDeviceProperties2(p->handle, &properties);
        p->host_pointer_alignment = host.minImportedHostPointerAlignment;
    }
    if (semaphore_fd)
        bf_sharing_ask(i->next, i->handle, p->handle, &p->sharing);
    p->timeline_by_extension = !core12;
    p->sync2_by_extension = !core13;
    p->host_reset_by_extension = !core12;
    p->host_query_reset = may_reset && reset.hostQueryReset;
    p->capable = timeline.timelineSemaphore && sync2.synchronization2;
    return VK_SUCCESS;
}

static void find_driver(struct layer_physical *p, const VkPhysicalDeviceProperties *properties)
{
    VkPhysicalDeviceTimelineSemaphoreProperties timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES};
    VkPhysicalDeviceProperties2 properties2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &p->driver,
    };
    p->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    p->driver.pNext = p->capable ? &timelines : NULL;
    if (p->driver_properties)
        p->vk->vkGetPhysicalDeviceProperties2(p->handle, &properties2);
    p->driver.pNext = NULL;
    p->timeline_difference = timelines.maxTimelineSemaphoreValueDifference;
    bf_driver_describe(properties, &p->driver, p->driver_text);
}

static struct layer_physical *make_physical(struct layer_instance *i, VkPhysicalDevice handle)
{
    struct layer_physical *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->handle = handle;
    p->instance = i;
    VkPhysicalDeviceProperties properties;
    i->vk->vkGetPhysicalDeviceProperties(handle, &properties);
    p->api_version =
        properties.apiVersion < i->api_version ? properties.apiVersion : i->api_version;
    p->vk = layer_instance_calls_of(i, p->api_version);
    memcpy(p->name, properties.deviceName, sizeof(p->name));
    p->driver_version = properties.driverVersion;
    p->cpu = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    p->timestamp_period = properties.limits.timestampPeriod;

    i->vk->vkGetPhysicalDeviceMemoryProperties(handle, &p->memory);
    i->vk->vkGetPhysicalDeviceQueueFamilyProperties(handle, &p->family_count, NULL);
    p->families = calloc(p->family_count + 1, sizeof(*p->families));
    if (!p->families || find_capabilities(p) != VK_SUCCESS) {
        free_physical(p, NULL);
        return NULL;
    }
    find_driver(p, &properties);
    /* llvmpipe, the driver also called lavapipe, compares every access with the bound range. */
    p->checks_bounds = p->driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    i->vk->vkGetPhysicalDeviceQueueFamilyProperties(handle, &p->family_count, p->families);
    if (!p->capable)
        bf_message(
            BF_MESSAGE_WARNING,
            "%s has no timeline semaphores or no synchronization2: it is passed through as it is",
            p->name);
    bf_family_map_init(p->families, p->family_count,
                       p->capable ? i->settings.queues : BF_QUEUES_NATIVE,
                       i->settings.queues_per_family, &p->map);
    return p;
}

struct layer_physical *layer_physical_of(VkPhysicalDevice handle)
{
    struct layer_instance *i = layer_instance_of(handle);
    struct layer_physical *p = bf_map_find(&i->physical_devices, (uint64_t)(uintptr_t)handle);
    if (p)
        return p;
    bf_lock_acquire(&i->lock);
    p = bf_map_find(&i->physical_devices, (uint64_t)(uintptr_t)handle);
    if (!p) {
        p = make_physical(i, handle);
        if (p && !bf_map_insert(&i->physical_devices, (uint64_t)(uintptr_t)handle, p)) {
            free_physical(p, NULL);
            p = NULL;
        }
    }
    bf_lock_release(&i->lock);
    return p;
}

static const VkLayerProperties own_properties = {
    .layerName = BF_LAYER_NAME,
    .specVersion = VK_HEADER_VERSION_COMPLETE,
    .implementationVersion = 1,
    .description = "D3D12's queues on whatever VkQueues a GPU has",
};

/* The two-call idiom for an array in memory. */
static VkResult enumerate(const void *source, uint32_t available, size_t size, uint32_t *count,
                          void *target)
{
    if (!target) {
        *count = available;
        return VK_SUCCESS;
    }
    uint32_t n = *count < available ? *count : available;
    if (n)
        memcpy(target, source, n * size);
    *count = n;
    return n < available ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *properties)
{
    return enumerate(&own_properties, 1, sizeof(own_properties), count, properties);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkEnumerateDeviceLayerProperties(VkPhysicalDevice physical,
                                                                      uint32_t *count,
                                                                      VkLayerProperties *properties)
{
    (void)physical;
    return enumerate(&own_properties, 1, sizeof(own_properties), count, properties);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkEnumerateInstanceExtensionProperties(
    const char *layer, uint32_t *count, VkExtensionProperties *properties)
{
    static const VkExtensionProperties settings = {"VK_EXT_layer_settings", 2};
    if (!layer || strcmp(layer, BF_LAYER_NAME) != 0)
        return VK_ERROR_LAYER_NOT_PRESENT;
    return enumerate(&settings, 1, sizeof(settings), count, properties);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physical, const char *layer,
                                           uint32_t *count, VkExtensionProperties *properties)
{
    if (layer && strcmp(layer, BF_LAYER_NAME) == 0)
        return enumerate(NULL, 0, sizeof(*properties), count, properties);
    struct layer_instance *i = layer_instance_of(physical);
    if (layer)
        return i->vk->vkEnumerateDeviceExtensionProperties(physical, layer, count, properties);
    struct layer_physical *p = layer_physical_of(physical);
    if (!p)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!p->capable)
        return i->vk->vkEnumerateDeviceExtensionProperties(physical, NULL, count, properties);
    uint32_t available = 0;
    VkResult result = i->vk->vkEnumerateDeviceExtensionProperties(physical, NULL, &available, NULL);
    if (result != VK_SUCCESS)
        return result;
    VkExtensionProperties *list = calloc(available + 1, sizeof(*list));
    if (!list)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = i->vk->vkEnumerateDeviceExtensionProperties(physical, NULL, &available, list);
    if (result == VK_SUCCESS) {
        available = layer_filter_extensions(list, available, !bf_family_map_is_identity(&p->map));
        result = enumerate(list, available, sizeof(*list), count, properties);
    }
    free(list);
    return result;
}

/* DV-2. False: out of memory. */
static bool group_stays(const VkPhysicalDeviceGroupProperties *group, bool *stays)
{
    *stays = true;
    for (uint32_t n = 0; group->physicalDeviceCount > 1 && n < group->physicalDeviceCount; n++) {
        const struct layer_physical *p = layer_physical_of(group->physicalDevices[n]);
        if (!p)
            return false;
        *stays = *stays && !bf_family_map_adds(&p->map);
    }
    return true;
}

/* The group as it is, or that one of its devices alone. */
static void group_show(const VkPhysicalDeviceGroupProperties *group, bool stays, uint32_t device,
                       VkPhysicalDeviceGroupProperties *shown)
{
    uint32_t count = stays ? group->physicalDeviceCount : 1;
    shown->physicalDeviceCount = count;
    memcpy(shown->physicalDevices, &group->physicalDevices[device],
           count * sizeof(*shown->physicalDevices));
    shown->subsetAllocation = stays && group->subsetAllocation;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkEnumeratePhysicalDeviceGroups(
    VkInstance instance, uint32_t *count, VkPhysicalDeviceGroupProperties *shown)
{
    struct layer_instance *i = layer_instance_of(instance);
    PFN_vkEnumeratePhysicalDeviceGroups next =
        layer_instance_calls_of(i, i->api_version)->vkEnumeratePhysicalDeviceGroups;
    uint32_t below = 0, room = shown ? *count : UINT32_MAX, available = 0;
    VkResult result = next(instance, &below, NULL);
    if (result != VK_SUCCESS)
        return result;
    VkPhysicalDeviceGroupProperties *groups = calloc(below + 1, sizeof(*groups));
    if (!groups)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t g = 0; g < below; g++)
        groups[g].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES;
    result = next(instance, &below, groups);
    for (uint32_t g = 0; g < below && result >= 0; g++) {
        bool stays;
        if (!group_stays(&groups[g], &stays)) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
            break;
        }
        uint32_t parts = stays ? 1 : groups[g].physicalDeviceCount;
        for (uint32_t n = 0; n < parts; n++, available++) {
            if (shown && available < room)
                group_show(&groups[g], stays, n, &shown[available]);
        }
    }
    free(groups);
    if (result < 0)
        return result;
    *count = available < room ? available : room;
    return available > room ? VK_INCOMPLETE : result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetPhysicalDeviceToolProperties(
    VkPhysicalDevice physical, uint32_t *count, VkPhysicalDeviceToolProperties *properties)
{
    static const VkPhysicalDeviceToolProperties own = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES,
        .name = "Belfry",
        .version = "0.1.0",
        .purposes = VK_TOOL_PURPOSE_PROFILING_BIT | VK_TOOL_PURPOSE_TRACING_BIT |
                    VK_TOOL_PURPOSE_ADDITIONAL_FEATURES_BIT,
        .description = "D3D12's queues on whatever VkQueues a GPU has",
        .layer = BF_LAYER_NAME,
    };
    struct layer_instance *i = layer_instance_of(physical);
    struct layer_physical *p = layer_physical_of(physical);
    PFN_vkGetPhysicalDeviceToolProperties next =
        (p ? p->vk : i->vk)->vkGetPhysicalDeviceToolProperties;
    if (!properties) {
        uint32_t below = 0;
        VkResult result = next ? next(physical, &below, NULL) : VK_SUCCESS;
        *count = below + 1;
        return result;
    }
    if (*count == 0)
        return VK_INCOMPLETE;
    void *chain = properties[0].pNext;
    properties[0] = own;
    properties[0].pNext = chain;
    uint32_t below = *count - 1;
    VkResult result = VK_SUCCESS;
    /* With room for no element, a driver returns VK_INCOMPLETE if it has any. */
    if (next)
        result = next(physical, &below, properties + 1);
    else
        below = 0;
    *count = below + 1;
    return result;
}
