/* SPDX-License-Identifier: MIT */
/* Opens the build helper's device. */
#include "specialize/isolate/helper_device.h"
#include "specialize/isolate/helper_wait.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool extension_is_listed(const char *name, const VkExtensionProperties *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(name, all[i].extensionName) == 0)
            return true;
    return false;
}

/* The program's instance extensions and those that device extensions require, as far as they are
 * available. Malloc'ed. */
static const char **instance_extensions(PFN_vkGetInstanceProcAddr get_proc,
                                        const struct bf_wire_device *wanted, uint32_t *count)
{
    static const char *const common[] = {"VK_KHR_surface", "VK_KHR_get_surface_capabilities2",
                                         "VK_EXT_surface_maintenance1"};
    const uint32_t n_common = sizeof(common) / sizeof(common[0]);
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)get_proc(
            NULL, "vkEnumerateInstanceExtensionProperties");
    uint32_t n = 0;
    *count = 0;
    if (!enumerate || enumerate(NULL, &n, NULL))
        return NULL;
    VkExtensionProperties *all = calloc(n + 1, sizeof(*all));
    const char **names = calloc(wanted->instance_extension_count + n_common, sizeof(*names));
    if (!all || !names || enumerate(NULL, &n, all) < 0)
        n = 0;
    for (uint32_t i = 0; n && i < wanted->instance_extension_count + n_common; i++) {
        const char *name = i < n_common ? common[i] : wanted->instance_extensions[i - n_common];
        bool twice = false;
        for (uint32_t k = 0; k < *count; k++)
            twice |= strcmp(names[k], name) == 0;
        if (!twice && extension_is_listed(name, all, n))
            names[(*count)++] = name;
    }
    free(all);
    return names;
}

static VkResult instance_open(struct helper_device *d, const struct bf_wire_device *wanted)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader)
        return VK_ERROR_INITIALIZATION_FAILED;
    d->get_proc = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
    if (!d->get_proc)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)d->get_proc(NULL, "vkCreateInstance");
    PFN_vkEnumerateInstanceVersion version_of =
        (PFN_vkEnumerateInstanceVersion)d->get_proc(NULL, "vkEnumerateInstanceVersion");
    uint32_t version = wanted->api_version, most = VK_API_VERSION_1_0;
    if (!create || !version_of || version_of(&most) || most < VK_API_VERSION_1_1)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    if (version < VK_API_VERSION_1_2)
        version = most < VK_API_VERSION_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_2;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    if (wanted->application)
        application = *wanted->application;
    application.apiVersion = version;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    const char **names = instance_extensions(d->get_proc, wanted, &info.enabledExtensionCount);
    info.ppEnabledExtensionNames = names;
    /* Else the loader shows the program's device to nobody, if it is of such a driver. */
    for (uint32_t i = 0; i < info.enabledExtensionCount; i++)
        if (strcmp(names[i], VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0)
            info.flags |= wanted->instance_flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    VkResult result = create(&info, NULL, &d->instance);
    free(names);
    return result;
}

/* A function of the instance's. */
#define GET(d_, name_) ((PFN_##name_)(d_)->get_proc((d_)->instance, #name_))

/* Of two versions of a driver any of these may be the same. [IS-15] */
static bool is_wanted_driver(const struct bf_wire_device *wanted,
                             const VkPhysicalDeviceProperties *properties,
                             const VkPhysicalDeviceIDProperties *id,
                             const VkPhysicalDeviceDriverProperties *driver)
{
    const bool told = wanted->driver_info && properties->apiVersion >= VK_API_VERSION_1_2;
    return memcmp(id->driverUUID, wanted->driver_uuid, VK_UUID_SIZE) == 0 &&
           memcmp(properties->pipelineCacheUUID, wanted->cache_uuid, VK_UUID_SIZE) == 0 &&
           properties->driverVersion == wanted->driver_version &&
           (!told || ((uint32_t)driver->driverID == wanted->driver_id &&
                      strcmp(driver->driverInfo, wanted->driver_info) == 0));
}

/* VK_NULL_HANDLE: there is no such device; *other: but one of another driver. */
static VkPhysicalDevice physical_find(struct helper_device *d, const struct bf_wire_device *wanted,
                                      bool *other)
{
    PFN_vkEnumeratePhysicalDevices enumerate = GET(d, vkEnumeratePhysicalDevices);
    PFN_vkGetPhysicalDeviceProperties of = GET(d, vkGetPhysicalDeviceProperties);
    PFN_vkGetPhysicalDeviceProperties2 of2 = GET(d, vkGetPhysicalDeviceProperties2);
    VkPhysicalDevice all[64], found = VK_NULL_HANDLE;
    uint32_t count = sizeof(all) / sizeof(all[0]);
    if (!enumerate || !of || !of2 || enumerate(d->instance, &count, all) < 0)
        return VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count && !found; i++) {
        /* Zeroes where the device can't say, and so has one size alone. */
        VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
        VkPhysicalDeviceDriverProperties driver = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                           .pNext = &sizes};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
        of(all[i], &properties.properties);
        if (properties.properties.apiVersion < VK_API_VERSION_1_1)
            continue;
        if (properties.properties.apiVersion >= VK_API_VERSION_1_2)
            sizes.pNext = &driver;
        of2(all[i], &properties);
        if (memcmp(id.deviceUUID, wanted->device_uuid, VK_UUID_SIZE) != 0)
            continue;
        *other = !is_wanted_driver(wanted, &properties.properties, &id, &driver);
        if (!*other) {
            found = all[i];
            d->subgroup_sizes = sizes.minSubgroupSize != sizes.maxSubgroupSize;
            d->cpu = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
            d->driver = driver;
            d->driver_version = properties.properties.driverVersion;
        }
    }
    return found;
}

/* The family that does no more than is needed, so that it is the farthest from where frames are
 * drawn. UINT32_MAX: there is none. */
static uint32_t family_choose(const VkQueueFamilyProperties *families, uint32_t count,
                              VkQueueFlags needed)
{
    uint32_t best = UINT32_MAX;
    int least = INT_MAX;
    for (uint32_t i = 0; i < count; i++) {
        VkQueueFlags flags = families[i].queueFlags;
        int more = __builtin_popcount(flags & ~needed);
        if (families[i].queueCount && (flags & needed) == needed && more < least) {
            best = i;
            least = more;
        }
    }
    return best;
}

/* The struct in which the program enabled features: the info's or the chain's. NULL: it enabled
 * none. */
static VkPhysicalDeviceFeatures *features_find(const struct bf_wire_device *wanted)
{
    for (VkBaseOutStructure *s = wanted->features; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            return &((VkPhysicalDeviceFeatures2 *)s)->features;
    }
    return wanted->enabled_features;
}

/* The first of those extensions that the device has. NULL: it has none. */
static const char *device_extension_find(const struct helper_device *d, const char *const *names,
                                         uint32_t name_count)
{
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        GET(d, vkEnumerateDeviceExtensionProperties);
    const char *found = NULL;
    uint32_t count = 0;
    if (!enumerate || enumerate(d->physical, NULL, &count, NULL))
        return NULL;
    VkExtensionProperties *all = calloc(count + 1, sizeof(*all));
    if (all && enumerate(d->physical, NULL, &count, all) >= 0) {
        for (uint32_t i = 0; i < name_count && !found; i++)
            found = extension_is_listed(names[i], all, count) ? names[i] : NULL;
    }
    free(all);
    return found;
}

static const char *const priority_extensions[] = {"VK_KHR_global_priority",
                                                  "VK_EXT_global_priority"};
static const char *const robust_extension = "VK_EXT_robustness2";

/* 'names' has room for one more. */
static void extension_add(const char **names, uint32_t *count, const char *name)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return;
    names[(*count)++] = name;
}

/* With queues whose work yields to that of all processes; where they can't be had, with others. */
static VkResult device_create(const struct helper_device *d, const struct bf_wire_device *wanted,
                              const VkDeviceCreateInfo *info, VkDevice *device)
{
    PFN_vkCreateDevice create = GET(d, vkCreateDevice);
    if (!create)
        return VK_ERROR_INITIALIZATION_FAILED;
    uint32_t count = wanted->extension_count;
    const char **names = calloc(count + 2, sizeof(*names));
    if (!names)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        names[i] = wanted->extensions[i];
    if (d->robust2)
        extension_add(names, &count, robust_extension);
    VkDeviceCreateInfo with = *info;
    with.enabledExtensionCount = count;
    with.ppEnabledExtensionNames = names;
    const char *priority = device_extension_find(d, priority_extensions, 2);
    VkResult result = VK_ERROR_NOT_PERMITTED_KHR;
    if (priority) {
        const VkDeviceQueueGlobalPriorityCreateInfoKHR low = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR,
            .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR};
        VkDeviceQueueCreateInfo queues[2];
        for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
            queues[i] = info->pQueueCreateInfos[i];
            queues[i].pNext = &low;
        }
        with.pQueueCreateInfos = queues;
        extension_add(names, &with.enabledExtensionCount, priority);
        result = create(d->physical, &with, NULL, device);
        with.pQueueCreateInfos = info->pQueueCreateInfos;
        with.enabledExtensionCount = count;
    }
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) /* [IS-12] */
        result = create(d->physical, &with, NULL, device);
    free(names);
    return result;
}

/* What robustness2 has, put at the head of the program's features, or into its own struct of it. */
static void *robustness_enable(const struct helper_device *d, const struct bf_wire_device *wanted,
                               VkPhysicalDeviceRobustness2FeaturesEXT *features,
                               VkPhysicalDeviceRobustness2FeaturesEXT **own)
{
    *own = NULL;
    for (VkBaseOutStructure *s = wanted->features; s; s = s->pNext) {
        if (s->sType == features->sType)
            *own = (VkPhysicalDeviceRobustness2FeaturesEXT *)s;
    }
    features->pNext = *own ? (*own)->pNext : wanted->features;
    features->robustBufferAccess2 = d->robust2;
    features->robustImageAccess2 = d->robust_images2;
    features->nullDescriptor = *own && (*own)->nullDescriptor;
    if (!*own)
        return features;
    VkPhysicalDeviceRobustness2FeaturesEXT programs = **own;
    **own = *features;
    *features = programs;
    return wanted->features;
}

static VkResult queues_open(struct helper_device *d, const struct bf_wire_device *wanted)
{
    PFN_vkGetPhysicalDeviceQueueFamilyProperties of =
        GET(d, vkGetPhysicalDeviceQueueFamilyProperties);
    VkQueueFamilyProperties families[32];
    uint32_t family_count = 32;
    if (!of)
        return VK_ERROR_INITIALIZATION_FAILED;
    of(d->physical, &family_count, families);
    const uint32_t chosen[2] = {
        family_choose(families, family_count, VK_QUEUE_COMPUTE_BIT),
        /* Samples are read back by shaders, on the queue that has drawn them. */
        family_choose(families, family_count, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT),
    };
    VkPhysicalDeviceFeatures *where = features_find(wanted);
    VkPhysicalDeviceRobustness2FeaturesEXT robust2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceRobustness2FeaturesEXT *own_robust2 = NULL;
    void *chain = wanted->features;
    const float priority = 0;
    VkDeviceQueueCreateInfo queues[2];
    uint32_t queue_count = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (chosen[i] != UINT32_MAX && (i == 0 || chosen[0] != chosen[i]))
            queues[queue_count++] =
                (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = chosen[i],
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
    }
    if (d->robust2)
        chain = robustness_enable(d, wanted, &robust2, &own_robust2);
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = chain,
                                     .queueCreateInfoCount = queue_count,
                                     .pQueueCreateInfos = queues,
                                     .pEnabledFeatures =
                                         where ? wanted->enabled_features : &d->features};
    VkDevice device;
    const VkPhysicalDeviceFeatures programs = where ? *where : d->features;
    if (where)
        *where = d->features;
    VkResult result = device_create(d, wanted, &info, &device);
    if (where)
        *where = programs;
    if (own_robust2)
        *own_robust2 = robust2;
    if (result != VK_SUCCESS)
        return result;
    struct bf_gpu_info gpu = {
        .handle = device,
        .get_proc_addr = GET(d, vkGetDeviceProcAddr),
        .api_version = wanted->api_version,
        .driver = &d->driver,
        .driver_version = d->driver_version,
    };
    PFN_vkGetPhysicalDeviceMemoryProperties memory = GET(d, vkGetPhysicalDeviceMemoryProperties);
    if (!gpu.get_proc_addr || !memory)
        return VK_ERROR_INITIALIZATION_FAILED;
    memory(d->physical, &gpu.memory);
    result = bf_gpu_init(&d->gpu, &gpu);
    helper_wait_take(&d->gpu, d->cpu);
    struct bf_check_queue *const to[2] = {&d->compute, &d->direct};
    for (uint32_t i = 0; result == VK_SUCCESS && i < 2; i++) {
        if (chosen[i] == UINT32_MAX)
            continue;
        *to[i] = (struct bf_check_queue){
            .family = chosen[i],
            .flags = families[chosen[i]].queueFlags,
            .timestamp_bits = families[chosen[i]].timestampValidBits,
        };
        d->gpu.vk.vkGetDeviceQueue(device, chosen[i], 0, &to[i]->handle);
        bf_gpu_add_family(&d->gpu, chosen[i]);
    }
    return result;
}

VkResult helper_device_open(struct helper_device *d, const struct bf_wire_device *wanted)
{
    VkResult result = instance_open(d, wanted);
    if (result != VK_SUCCESS)
        return result;
    d->robust = wanted->robust;
    bool other = false;
    d->physical = physical_find(d, wanted, &other);
    const VkPhysicalDeviceFeatures *features = features_find(wanted);
    if (features)
        d->features = *features;
    return d->physical ? queues_open(d, wanted)
           : other     ? BF_WIRE_OTHER_DRIVER
                       : VK_ERROR_INCOMPATIBLE_DRIVER;
}

/* As far as the device has it: the bounds are then those of what is bound, to the byte. */
static void robustness_ask(struct helper_device *dry)
{
    VkPhysicalDeviceRobustness2FeaturesEXT has = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &has};
    PFN_vkGetPhysicalDeviceFeatures2 of = GET(dry, vkGetPhysicalDeviceFeatures2);
    if (!of || !device_extension_find(dry, &robust_extension, 1))
        return;
    of(dry->physical, &all);
    dry->robust2 = has.robustBufferAccess2;
    dry->robust_images2 = has.robustBufferAccess2 && has.robustImageAccess2;
}

VkResult helper_device_open_dry(const struct helper_device *d, const struct bf_wire_device *wanted,
                                struct helper_device *dry)
{
    PFN_vkGetPhysicalDeviceFeatures of = GET(d, vkGetPhysicalDeviceFeatures);
    VkPhysicalDeviceFeatures all;
    of(d->physical, &all);
    if (!all.robustBufferAccess)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    *dry = (struct helper_device){
        .get_proc = d->get_proc,
        .instance = d->instance,
        .physical = d->physical,
        .cpu = d->cpu,
        .robust = d->robust,
        .borrowed = true,
        .driver = d->driver,
        .driver_version = d->driver_version,
        .features = d->features,
    };
    robustness_ask(dry);
    dry->features.robustBufferAccess = VK_TRUE;
    dry->features.fragmentStoresAndAtomics = all.fragmentStoresAndAtomics;
    dry->features.vertexPipelineStoresAndAtomics = all.vertexPipelineStoresAndAtomics;
    VkResult result = queues_open(dry, wanted);
    if (result != VK_SUCCESS) { /* it may have come some way */
        helper_device_close(dry);
        *dry = (struct helper_device){0};
    }
    return result;
}

void helper_device_close(struct helper_device *d)
{
    helper_wait_give_back(&d->gpu);
    if (d->gpu.handle && d->gpu.vk.vkDestroyDevice) {
        bf_gpu_finish(&d->gpu);
        d->gpu.vk.vkDestroyDevice(d->gpu.handle, NULL);
    }
    PFN_vkDestroyInstance destroy = d->instance && !d->borrowed ? GET(d, vkDestroyInstance) : NULL;
    if (destroy)
        destroy(d->instance, NULL);
}
