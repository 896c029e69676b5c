/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of Belfry, through the Vulkan loader. */
#include "world.h"

bool world_without_debug_utils;
const char *world_layers;

bool world_has_layer(const char *name)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    VkLayerProperties list[64];
    uint32_t n = 64;
    assert_success(volkInitialize());
    assert_true(vkEnumerateInstanceLayerProperties(&n, list) >= 0);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].layerName, name) == 0)
            return true;
    return false;
#endif
}

VkResult world_instance(struct device *w, const char *environment)
{
    const char *const extensions[] = {
        VK_KHR_SURFACE_EXTENSION_NAME, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
        world_without_debug_utils ? NULL : VK_EXT_DEBUG_UTILS_EXTENSION_NAME, NULL};
    const struct device_instance what = {.environment = environment,
                                         .layers = world_layers,
                                         .extensions = extensions,
                                         .listens = !world_without_debug_utils};
    VkResult result = device_open_instance(w, &what);
    if (result != VK_SUCCESS)
        return result;
    uint32_t n = 1;
    VkPhysicalDevice physical;
    result = vkEnumeratePhysicalDevices(w->instance, &n, &physical);
    if (result < 0)
        return result;
    assert_int_equal(n, 1);
    device_choose(w, physical);
    return VK_SUCCESS;
}

VkResult world_device(struct device *w, const uint32_t *counts, const void *next)
{
    VkDeviceQueueCreateInfo queues[DEVICE_FAMILIES];
    memset(w->queue_counts, 0, sizeof(w->queue_counts));
    for (uint32_t f = 0; counts[f] != WORLD_END; f++) {
        assert_true(f < w->family_count && counts[f] <= w->families[f].queueCount);
        w->queue_counts[f] = counts[f];
    }
    VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                            .pNext = (void *)(uintptr_t)next,
                                            .synchronization2 = VK_TRUE, .privateData = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
                                            .pNext = &v13, .timelineSemaphore = VK_TRUE,
                                            .hostQueryReset = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2)};
    vkGetPhysicalDeviceFeatures2(w->physical, &features);
    features.features =
        (VkPhysicalDeviceFeatures){.sparseBinding = features.features.sparseBinding};
    features.pNext = &v12;

    static const char *const wanted[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME,
                                         VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
    const char *names[2];
    uint32_t names_count;
    VkResult result = vulkan_device_extensions(w->physical, wanted, 2, names, &names_count);
    if (result < 0)
        return result;
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO),
                                     .pNext = &features,
                                     .queueCreateInfoCount = device_queue_infos(w, queues),
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = names_count,
                                     .ppEnabledExtensionNames = names};
    return device_create(w, &info);
}

void world_open(struct device *w, const char *environment, const uint32_t *counts)
{
    assert_success(world_instance(w, environment));
    assert_success(world_device(w, counts, NULL));
    device_open_words(w, WORLD_WORDS, 0, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
}

void world_close(struct device *w)
{
    device_close(w);
    if (w->icd.library)
        vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_int_equal(w->messages, 0);
    device_close_instance(w);
}

uint64_t world_accepted(struct device *w)
{
    struct belfry_icd_counters c = vulkan_counters(&w->icd);
    return c.submit_calls + c.bind_sparse_calls + c.presents;
}
