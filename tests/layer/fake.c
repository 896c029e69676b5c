/* SPDX-License-Identifier: MIT */
/* The layer alone, opened as the loader opens it, over a driver of the test's own. */
#include "fake.h"

#include <dlfcn.h>

struct fake fake;

/* Dispatchable objects: the first word is the key by which layers find what belongs to them. */
struct object {
    const void *key;
    uint64_t kind;
};
static struct object instance_object, physical_object, device_object;
static struct object queue_objects[FAKE_FAMILIES][2][FAKE_QUEUES];
static char instance_key;

VkQueue fake_queue(uint32_t family, VkDeviceQueueCreateFlags flags, uint32_t index)
{
    return (VkQueue)&queue_objects[family][flags != 0][index];
}

/* The driver -------------------------------------------------------------------------------- */

static VkResult drv_CreateInstance(const VkInstanceCreateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkInstance *instance)
{
    fake.instance_tries++;
    fake.instance_extension_count = info->enabledExtensionCount;
    bool known = true;
    for (uint32_t i = 0; i < info->enabledExtensionCount && i < 8; i++) {
        const char *name = info->ppEnabledExtensionNames[i];
        snprintf(fake.instance_extensions[i], sizeof(fake.instance_extensions[i]), "%s", name);
        known &= (!fake.driver.no_properties2 && !fake.driver.no_properties2_extension) ||
                 strcmp(name, VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME) != 0;
    }
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        const VkLayerInstanceCreateInfo *link = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
            link->function == VK_LAYER_LINK_INFO)
            assert_null(link->u.pLayerInfo); /* moved on to us */
    }
    if (!known)
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    if (fake.driver.instance_result != VK_SUCCESS)
        return fake.driver.instance_result;
    *instance = (VkInstance)&instance_object;
    return VK_SUCCESS;
}

static void drv_DestroyInstance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    assert_ptr_equal(instance, &instance_object);
    fake.instances_destroyed++;
}

static VkResult drv_EnumeratePhysicalDevices(VkInstance instance, uint32_t *count,
                                             VkPhysicalDevice *devices)
{
    if (devices)
        *devices = (VkPhysicalDevice)&physical_object;
    *count = 1;
    return VK_SUCCESS;
}

static void drv_GetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                            VkPhysicalDeviceProperties *properties)
{
    assert_ptr_equal(physical, &physical_object);
    *properties = (VkPhysicalDeviceProperties){
        .apiVersion = fake.driver.api_version,
        .deviceType =
            fake.driver.gpu ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_CPU,
        .deviceName = "fake",
        .limits.timestampPeriod = 1.0f};
}

static void drv_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice physical,
                                                  VkPhysicalDeviceMemoryProperties *properties)
{
    assert_ptr_equal(physical, &physical_object);
    *properties = (VkPhysicalDeviceMemoryProperties){0};
}

static void drv_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physical, uint32_t *count,
                                                       VkQueueFamilyProperties *properties)
{
    assert_ptr_equal(physical, &physical_object);
    if (!properties) {
        *count = fake.driver.family_count;
        return;
    }
    if (*count > fake.driver.family_count)
        *count = fake.driver.family_count;
    for (uint32_t i = 0; i < *count; i++)
        properties[i] = fake.driver.families[i];
}

/* Which of a command's two names may be called: the core's where instance and device have it, the
 * extension's where that is enabled. */
static void assert_callable(bool core)
{
    bool enabled = false;
    for (uint32_t i = 0; i < fake.instance_extension_count && i < 8; i++)
        enabled |= strcmp(fake.instance_extensions[i],
                          VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME) == 0;
    if (core)
        assert_true(fake.instance_version >= VK_API_VERSION_1_1 &&
                    fake.driver.api_version >= VK_API_VERSION_1_1);
    else
        assert_true(enabled);
}

/* Marks what it fills, so that a test sees whose answer a struct holds. */
static void fill_families2(VkPhysicalDevice physical, uint32_t *count,
                           VkQueueFamilyProperties2 *properties)
{
    assert_ptr_equal(physical, &physical_object);
    if (!properties) {
        *count = fake.driver.family_count;
        return;
    }
    if (*count > fake.driver.family_count)
        *count = fake.driver.family_count;
    for (uint32_t i = 0; i < *count; i++) {
        assert_int_equal(properties[i].sType, VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2);
        properties[i].queueFamilyProperties = fake.driver.families[i];
        for (VkBaseOutStructure *s = properties[i].pNext; s; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR)
                ((VkQueueFamilyGlobalPriorityPropertiesKHR *)s)->priorityCount = i + 1;
            if (s->sType == FAKE_TRANSFERS) /* from family 1 to family 0 nothing is transferred */
                ((struct fake_transfers *)s)->mask = i == 1;
            if (s->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_CHECKPOINT_PROPERTIES_NV)
                ((VkQueueFamilyCheckpointPropertiesNV *)s)->checkpointExecutionStageMask = 10 + i;
        }
    }
}

static void drv_GetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice physical, uint32_t *count,
                                                        VkQueueFamilyProperties2 *properties)
{
    assert_callable(true);
    fill_families2(physical, count, properties);
}

static void drv_GetPhysicalDeviceQueueFamilyProperties2KHR(VkPhysicalDevice physical,
                                                           uint32_t *count,
                                                           VkQueueFamilyProperties2 *properties)
{
    assert_callable(false);
    fill_families2(physical, count, properties);
}

static void fill_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *features)
{
    assert_ptr_equal(physical, &physical_object);
    for (VkBaseOutStructure *s = features->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)
            ((VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore =
                !fake.driver.no_timeline;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES)
            ((VkPhysicalDeviceSynchronization2Features *)s)->synchronization2 =
                !fake.driver.no_sync2;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES)
            ((VkPhysicalDeviceHostQueryResetFeatures *)s)->hostQueryReset =
                !fake.driver.no_host_reset;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            ((VkPhysicalDeviceBufferDeviceAddressFeatures *)s)->bufferDeviceAddress =
                fake.driver.writes_values;
        if (s->sType == (VkStructureType)1000504000)
            *(VkBool32 *)(s + 1) = fake.driver.internal_queues;
    }
    features->features.shaderInt64 = fake.driver.writes_values;
}

static void drv_GetPhysicalDeviceProperties2(VkPhysicalDevice physical,
                                             VkPhysicalDeviceProperties2 *properties)
{
    assert_ptr_equal(physical, &physical_object);
    for (VkBaseOutStructure *s = properties->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)
            ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)s)
                ->minImportedHostPointerAlignment = 4096;
    }
}

static void
drv_GetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice physical,
                                                 const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                 VkExternalSemaphoreProperties *properties)
{
    const VkSemaphoreTypeCreateInfo *type = info->pNext;
    assert_ptr_equal(physical, &physical_object);
    bool timeline = type && type->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO &&
                    type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    properties->externalSemaphoreFeatures =
        timeline && !fake.driver.shares
            ? VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT /* which isn't enough */
            : VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT |
                  VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

static void drv_GetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                           VkPhysicalDeviceFeatures2 *features)
{
    assert_callable(true);
    fill_features2(physical, features);
}

static void drv_GetPhysicalDeviceFeatures2KHR(VkPhysicalDevice physical,
                                              VkPhysicalDeviceFeatures2 *features)
{
    assert_callable(false);
    fill_features2(physical, features);
}

static VkResult drv_EnumerateDeviceExtensionProperties(VkPhysicalDevice physical, const char *layer,
                                                       uint32_t *count,
                                                       VkExtensionProperties *properties)
{
    assert_ptr_equal(physical, &physical_object);
    if (layer)
        return VK_ERROR_LAYER_NOT_PRESENT;
    uint32_t n = 0;
    while (fake.driver.extensions && fake.driver.extensions[n])
        n++;
    if (!properties) {
        *count = n;
        return VK_SUCCESS;
    }
    uint32_t given = *count < n ? *count : n;
    for (uint32_t i = 0; i < given; i++)
        snprintf(properties[i].extensionName, sizeof(properties[i].extensionName), "%s",
                 fake.driver.extensions[i]);
    *count = given;
    return given < n ? VK_INCOMPLETE : VK_SUCCESS;
}

/* Takes a feature down; a second struct that says something about it is a fault of the layer. */
static void feature_seen(int *known, VkBool32 value)
{
    assert_int_equal(*known, -1);
    *known = value != 0;
}

static void chain_seen(struct fake_request *r, const VkBaseInStructure *s)
{
    for (uint32_t i = 0; i < r->chain_count; i++)
        assert_int_not_equal(r->chain[i], s->sType); /* each struct at most once */
    assert_true(r->chain_count < FAKE_CHAIN);
    r->chain[r->chain_count] = s->sType;
    r->chain_at[r->chain_count++] = s;
    switch ((int)s->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
        feature_seen(&r->timeline, ((VkPhysicalDeviceVulkan12Features *)s)->timelineSemaphore);
        feature_seen(&r->host_reset, ((VkPhysicalDeviceVulkan12Features *)s)->hostQueryReset);
        feature_seen(&r->addresses, ((VkPhysicalDeviceVulkan12Features *)s)->bufferDeviceAddress);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
        feature_seen(&r->sync2, ((VkPhysicalDeviceVulkan13Features *)s)->synchronization2);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
        feature_seen(&r->timeline,
                     ((VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
        feature_seen(&r->sync2, ((VkPhysicalDeviceSynchronization2Features *)s)->synchronization2);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES:
        feature_seen(&r->host_reset, ((VkPhysicalDeviceHostQueryResetFeatures *)s)->hostQueryReset);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
        feature_seen(&r->addresses,
                     ((VkPhysicalDeviceBufferDeviceAddressFeatures *)s)->bufferDeviceAddress);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
        r->features2 = *(const VkPhysicalDeviceFeatures2 *)s;
        break;
    default:
        break;
    }
}

static VkResult drv_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkDevice *device)
{
    assert_ptr_equal(physical, &physical_object);
    assert_ptr_equal(*device, &device_object); /* what the loader left there comes through */
    assert_true(fake.device_tries < FAKE_TRIES);
    struct fake_request *r = &fake.requests[fake.device_tries];
    *r = (struct fake_request){.timeline = -1, .sync2 = -1, .host_reset = -1, .addresses = -1};
    r->extension_count = info->enabledExtensionCount;
    assert_true(r->extension_count <= 32);
    for (uint32_t i = 0; i < r->extension_count; i++)
        snprintf(r->extensions[i], sizeof(r->extensions[i]), "%s",
                 info->ppEnabledExtensionNames[i]);
    r->queue_count = info->queueCreateInfoCount;
    assert_true(r->queue_count <= FAKE_FAMILIES);
    for (uint32_t i = 0; i < r->queue_count; i++) {
        const VkDeviceQueueCreateInfo *q = &info->pQueueCreateInfos[i];
        assert_int_equal(q->sType, VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        r->queues[i] = (struct fake_queue_request){.next = q->pNext,
                                                   .flags = q->flags,
                                                   .family = q->queueFamilyIndex,
                                                   .count = q->queueCount};
        for (const VkBaseInStructure *s = q->pNext; s; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR)
                r->queues[i].global_priority =
                    ((const VkDeviceQueueGlobalPriorityCreateInfoKHR *)s)->globalPriority;
        }
        assert_true(q->queueFamilyIndex < fake.driver.family_count);
        assert_true(q->queueCount <= fake.driver.families[q->queueFamilyIndex].queueCount);
        memcpy(r->queues[i].priorities, q->pQueuePriorities, q->queueCount * sizeof(float));
    }
    r->features = info->pEnabledFeatures;
    if (r->features)
        r->features_then = *r->features;
    uint32_t links = 0;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        const VkLayerDeviceCreateInfo *link = (const void *)s;
        if (s->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO) {
            chain_seen(r, s);
        } else if (link->function == VK_LAYER_LINK_INFO) {
            links++;
            /* Moved on to us: a layer here would else find itself once more. */
            assert_null(link->u.pLayerInfo);
        }
    }
    assert_int_equal(links, 1);
    VkResult result = fake.driver.create_results[fake.device_tries++];
    if (result == VK_SUCCESS)
        *device = (VkDevice)&device_object;
    return result;
}

static void drv_DestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator)
{
    assert_ptr_equal(device, &device_object);
    fake.devices_destroyed++;
}

static void drv_GetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue *queue)
{
    assert_ptr_equal(device, &device_object);
    *queue = fake_queue(family, 0, index);
}

static void drv_GetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *queue)
{
    assert_ptr_equal(device, &device_object);
    *queue = fake_queue(info->queueFamilyIndex, info->flags, info->queueIndex);
}

static PFN_vkVoidFunction drv_GetDeviceProcAddr(VkDevice device, const char *name);
static PFN_vkVoidFunction drv_GetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
static PFN_vkVoidFunction drv_GetInstanceProcAddr(VkInstance instance, const char *name);

#define PHYSICAL(name)                                                                             \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)(1 ? drv_##name : (PFN_vk##name)0)                         \
    }
static const struct entry {
    const char *name;
    PFN_vkVoidFunction function;
} entries[] = {
    PHYSICAL(CreateInstance),
    PHYSICAL(DestroyInstance),
    PHYSICAL(EnumeratePhysicalDevices),
    PHYSICAL(GetPhysicalDeviceMemoryProperties),
    PHYSICAL(GetPhysicalDeviceProperties2),
    PHYSICAL(GetPhysicalDeviceExternalSemaphoreProperties),
    PHYSICAL(GetPhysicalDeviceProperties),
    PHYSICAL(GetPhysicalDeviceQueueFamilyProperties),
    PHYSICAL(GetPhysicalDeviceQueueFamilyProperties2),
    PHYSICAL(GetPhysicalDeviceQueueFamilyProperties2KHR),
    PHYSICAL(GetPhysicalDeviceFeatures2),
    PHYSICAL(GetPhysicalDeviceFeatures2KHR),
    PHYSICAL(EnumerateDeviceExtensionProperties),
    PHYSICAL(CreateDevice),
    PHYSICAL(DestroyDevice),
    PHYSICAL(GetDeviceQueue),
    PHYSICAL(GetDeviceQueue2),
    PHYSICAL(GetDeviceProcAddr),
    {"vk_layerGetPhysicalDeviceProcAddr", (PFN_vkVoidFunction)drv_GetPhysicalDeviceProcAddr},
};

static bool is_lacking(const char *name)
{
    if (fake.driver.no_properties2 && strstr(name, "vkGetPhysicalDevice") && strchr(name, '2'))
        return true;
    if (fake.driver.no_physical_proc_addr && strcmp(name, "vk_layerGetPhysicalDeviceProcAddr") == 0)
        return true;
    return fake.driver.lacks && fake.driver.lacks(name);
}

static PFN_vkVoidFunction look_up(const char *name)
{
    if (is_lacking(name))
        return NULL;
    PFN_vkVoidFunction shared = fake_find(name);
    if (shared)
        return shared;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].function;
    return fake_stub();
}

static PFN_vkVoidFunction drv_GetInstanceProcAddr(VkInstance instance, const char *name)
{
    /* Strict neighbours know the instance, and know nothing without one but how to make it. */
    if (!instance)
        return strcmp(name, "vkCreateInstance") == 0 ? look_up(name) : NULL;
    assert_ptr_equal(instance, &instance_object);
    return look_up(name);
}

static PFN_vkVoidFunction drv_GetDeviceProcAddr(VkDevice device, const char *name)
{
    assert_ptr_equal(device, &device_object);
    return look_up(name);
}

static PFN_vkVoidFunction drv_GetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    assert_ptr_equal(instance, &instance_object);
    return strncmp(name, "vkGetPhysicalDevice", 19) == 0 ||
                   strncmp(name, "vkEnumeratePhysicalDevice", 25) == 0 ||
                   strncmp(name, "vkEnumerateDevice", 17) == 0 ||
                   strcmp(name, "vkCreateDevice") == 0
               ? look_up(name)
               : NULL;
}

/* The loader -------------------------------------------------------------------------------- */

void fake_load(const struct fake_driver *driver)
{
    fake = (struct fake){.driver = driver ? *driver : (struct fake_driver){0}};
    if (!fake.driver.api_version)
        fake.driver.api_version = VK_API_VERSION_1_3;
    if (!fake.driver.family_count) {
        fake.driver.family_count = 1;
        fake.driver.families[0] = (VkQueueFamilyProperties){
            .queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
            .queueCount = 1,
            .timestampValidBits = 64,
            .minImageTransferGranularity = {1, 1, 1}};
    }
    instance_object.key = physical_object.key = &instance_key;
    device_object.key = &fake_key;
    char path[4096];
    const char *build = getenv("BELFRY_TEST_BUILD"), *libraries = getenv("LD_LIBRARY_PATH");
    if (build && libraries && strncmp(libraries, build, strlen(build)) == 0) /* a broken copy's */
        snprintf(path, sizeof(path), "%s/libVkLayer_belfry.so", libraries);
    else
        snprintf(path, sizeof(path), "%s/lib/%s", build ? build : ".",
                 fake.driver.layer ? fake.driver.layer : "libVkLayer_belfry.so");
    fake.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!fake.library)
        fail_msg("%s", dlerror());
    PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate =
        (PFN_vkNegotiateLoaderLayerInterfaceVersion)dlsym(fake.library,
                                                          "vkNegotiateLoaderLayerInterfaceVersion");
    assert_non_null(negotiate);
    VkNegotiateLayerInterface interface = {.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
                                           .loaderLayerInterfaceVersion = 2};
    assert_success(negotiate(&interface));
    fake.gipa = interface.pfnGetInstanceProcAddr;
    fake.gdpa = interface.pfnGetDeviceProcAddr;
    fake.gpdpa = interface.pfnGetPhysicalDeviceProcAddr;
}

VkResult fake_instance(uint32_t version, uint32_t extension_count, const char *const *extensions)
{
    VkLayerInstanceLink next = {.pfnNextGetInstanceProcAddr = drv_GetInstanceProcAddr,
                                .pfnNextGetPhysicalDeviceProcAddr = drv_GetPhysicalDeviceProcAddr};
    VkLayerInstanceCreateInfo link = {VK_TYPE(LOADER_INSTANCE_CREATE_INFO),
                                      .function = VK_LAYER_LINK_INFO, .u.pLayerInfo = &next};
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO), .apiVersion = version};
    const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO), .pNext = &link,
                                       .pApplicationInfo = version ? &application : NULL,
                                       .enabledExtensionCount = extension_count,
                                       .ppEnabledExtensionNames = extensions};
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)fake.gipa(VK_NULL_HANDLE, "vkCreateInstance");
    assert_non_null(create);
    fake.instance_version = version ? version : VK_API_VERSION_1_0;
    VkInstance instance = VK_NULL_HANDLE;
    VkResult result = create(&info, NULL, &instance);
    if (result != VK_SUCCESS)
        return result;
    fake.instance = instance;
    uint32_t n = 1;
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)fake.gipa(instance, "vkEnumeratePhysicalDevices");
    assert_success(enumerate(instance, &n, &fake.physical));
    return VK_SUCCESS;
}

static VkResult set_device_data(VkDevice device, void *object)
{
    *(void **)object = *(void **)device;
    return VK_SUCCESS;
}

VkResult fake_device(const VkDeviceCreateInfo *program)
{
    VkLayerDeviceLink next = {.pfnNextGetInstanceProcAddr = drv_GetInstanceProcAddr,
                              .pfnNextGetDeviceProcAddr = drv_GetDeviceProcAddr};
    VkLayerDeviceCreateInfo data = {VK_TYPE(LOADER_DEVICE_CREATE_INFO), .pNext = program->pNext,
                                    .function = VK_LOADER_DATA_CALLBACK,
                                    .u.pfnSetDeviceLoaderData = set_device_data};
    VkLayerDeviceCreateInfo link = {VK_TYPE(LOADER_DEVICE_CREATE_INFO), .pNext = &data,
                                    .function = VK_LAYER_LINK_INFO, .u.pLayerInfo = &next};
    VkDeviceCreateInfo info = *program;
    info.pNext = &link;
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)fake.gipa(fake.instance, "vkCreateDevice");
    assert_non_null(create);
    fake.device_tries = 0;
    VkDevice device = (VkDevice)&device_object;
    VkResult result = create(fake.physical, &info, NULL, &device);
    assert_ptr_equal(device, &device_object);
    if (result == VK_SUCCESS)
        fake.device = device;
    return result;
}

void fake_start(const struct fake_driver *driver)
{
    fake_load(driver);
    assert_success(fake_instance(VK_API_VERSION_1_3, 0, NULL));
}

void fake_open(const struct fake_driver *driver, const uint32_t *counts)
{
    fake_start(driver);
    fake_open_device(counts);
}

void fake_open_device(const uint32_t *counts)
{
    static const float priorities[FAKE_QUEUES];
    VkDeviceQueueCreateInfo queues[FAKE_FAMILIES];
    uint32_t n = 0;
    for (; counts[n]; n++)
        queues[n] =
            (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = n,
                                      .queueCount = counts[n], .pQueuePriorities = priorities};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = n,
                                     .pQueueCreateInfos = queues};
    assert_success(fake_device(&info));
}

PFN_vkVoidFunction fake_command(const char *name)
{
    PFN_vkVoidFunction function = fake.gdpa(fake.device, name);
    if (!function)
        fail_msg("%s is not there", name);
    return function;
}

void fake_close_device(void)
{
    if (!fake.device)
        return;
    uint32_t destroyed = fake.devices_destroyed;
    FAKE_CALL(vkDestroyDevice, fake.device, NULL);
    assert_int_equal(fake.devices_destroyed, destroyed + 1);
    fake.device = VK_NULL_HANDLE;
}

void fake_close(void)
{
    fake_close_device();
    if (fake.instance) {
        PFN_vkDestroyInstance destroy =
            (PFN_vkDestroyInstance)fake.gipa(fake.instance, "vkDestroyInstance");
        destroy(fake.instance, NULL);
        assert_int_equal(fake.instances_destroyed, 1);
    }
    dlclose(fake.library);
    fake_reset();
    fake = (struct fake){0};
}
