/* SPDX-License-Identifier: MIT */
/* Who signals a program's timelines from outside: a device of another instance, which has no
 * layers, imports them and signals by handles of its own, as another process or API does. Nobody
 * between the program and the driver sees it. */
#include "bench.h"
#include "../support/type.h"

static const char LAYERS[] = "VK_INSTANCE_LAYERS";

/* No other thread is there yet. */
static VkResult instance_create(VkInstance *instance)
{
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                           .pApplicationName = "belfry-random, outside",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO),
                                       .pApplicationInfo = &application};
    char *layers = getenv(LAYERS) ? strdup(getenv(LAYERS)) : NULL;
    unsetenv(LAYERS);
    VkResult result = vkCreateInstance(&info, NULL, instance);
    if (layers)
        setenv(LAYERS, layers, 1);
    free(layers);
    return result;
}

static void device_uuid(VkPhysicalDevice device, uint8_t uuid[VK_UUID_SIZE])
{
    VkPhysicalDeviceIDProperties id = {VK_TYPE(PHYSICAL_DEVICE_ID_PROPERTIES)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &id};
    vkGetPhysicalDeviceProperties2(device, &properties);
    memcpy(uuid, id.deviceUUID, VK_UUID_SIZE);
}

static VkPhysicalDevice device_find(VkInstance instance, VkPhysicalDevice same)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    uint8_t wanted[VK_UUID_SIZE], uuid[VK_UUID_SIZE];
    device_uuid(same, wanted);
    if (vkEnumeratePhysicalDevices(instance, &count, devices) < VK_SUCCESS)
        return VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count; i++) {
        device_uuid(devices[i], uuid);
        if (!memcmp(uuid, wanted, VK_UUID_SIZE))
            return devices[i];
    }
    return VK_NULL_HANDLE;
}

bool outsider_open(struct bench *bench)
{
    struct outsider *outsider = &bench->outsider;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    if (instance_create(&outsider->instance) == VK_SUCCESS)
        physical = device_find(outsider->instance, bench->physical);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES), .timelineSemaphore = VK_TRUE};
    const char *extensions[] = {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
                                VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO),
                                     .pNext = &timeline,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = bench->timeline_core ? 1 : 2,
                                     .ppEnabledExtensionNames = extensions};
    if (physical && vkCreateDevice(physical, &info, NULL, &outsider->device) == VK_SUCCESS) {
        volkLoadDeviceTable(&outsider->vk, outsider->device);
        return true;
    }
    fputs("belfry-random: nobody outside can open the device\n", stderr);
    return false;
}

void outsider_close(struct bench *bench)
{
    struct outsider *outsider = &bench->outsider;
    if (outsider->device)
        outsider->vk.vkDestroyDevice(outsider->device, NULL);
    if (outsider->instance)
        vkDestroyInstance(outsider->instance, NULL);
    *outsider = (struct outsider){0};
}

VkResult outsider_import(struct bench *bench, VkSemaphore semaphore, VkSemaphore *imported)
{
    struct outsider *outsider = &bench->outsider;
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = semaphore,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportSemaphoreFdInfoKHR import = {VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR),
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    VkResult result = bench->vk.vkGetSemaphoreFdKHR(bench->device, &get, &import.fd);
    if (result == VK_SUCCESS)
        result = outsider->vk.vkCreateSemaphore(outsider->device, &info, NULL, imported);
    import.semaphore = *imported;
    if (result == VK_SUCCESS)
        result = outsider->vk.vkImportSemaphoreFdKHR(outsider->device, &import);
    return result;
}

VkResult outsider_signal(struct bench *bench, VkSemaphore imported, uint64_t value)
{
    const struct outsider *outsider = &bench->outsider;
    const VkSemaphoreSignalInfo info = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = imported,
                                        .value = value};
    return bench->timeline_core ? outsider->vk.vkSignalSemaphore(outsider->device, &info)
                                : outsider->vk.vkSignalSemaphoreKHR(outsider->device, &info);
}
