/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of Belfry, through the Vulkan loader. */
#include "support/world.h"

bool world_without_debug_utils;
const char *world_extension;
const char *world_layers;
static const void *world_next; /* of the instance's chain */

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
        world_without_debug_utils ? world_extension : VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
        world_without_debug_utils ? NULL : world_extension, NULL};
    const struct device_instance what = {.environment = environment,
                                         .layers = world_layers,
                                         .extensions = extensions,
                                         .listens = !world_without_debug_utils,
                                         .next = world_next};
    VkResult result = device_open_instance(w, &what);
    if (result != VK_SUCCESS)
        return result;
    VkPhysicalDevice physicals[DEVICE_PHYSICALS];
    w->physical_count = DEVICE_PHYSICALS;
    result = vkEnumeratePhysicalDevices(w->instance, &w->physical_count, physicals);
    if (result < 0)
        return result;
    assert_true(w->physical_count);
    for (uint32_t i = 0; i < w->physical_count; i++) {
        VkPhysicalDeviceProperties properties = {.deviceID = i + 1};
        if (w->icd.library)
            vkGetPhysicalDeviceProperties(physicals[i], &properties);
        assert_in_range(properties.deviceID, 1, w->physical_count);
        w->physicals[properties.deviceID - 1] = physicals[i];
    }
    device_choose(w, w->physicals[0]);
    return VK_SUCCESS;
}

void world_validated_instance(struct device *w, const char *environment)
{
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    static const VkValidationFeaturesEXT features = {VK_TYPE(VALIDATION_FEATURES_EXT),
                                                     .enabledValidationFeatureCount = 1,
                                                     .pEnabledValidationFeatures = enables};
    world_layers = "VK_LAYER_KHRONOS_validation";
    world_next = &features;
    VkResult result = world_instance(w, environment);
    world_layers = NULL;
    world_next = NULL;
    TEST_NEEDS(result != VK_ERROR_LAYER_NOT_PRESENT, "VK_LAYER_KHRONOS_validation");
    assert_success(result);
}

VkResult world_device(struct device *w, const uint32_t *counts, const void *next)
{
    VkDeviceQueueCreateInfo queues[DEVICE_FAMILIES];
    memset(w->queue_counts, 0, sizeof(w->queue_counts));
    for (uint32_t f = 0; counts ? counts[f] != WORLD_END : f < w->family_count; f++) {
        w->queue_counts[f] = counts ? counts[f] : w->families[f].queueCount;
        assert_true(f < w->family_count && w->queue_counts[f] <= w->families[f].queueCount);
    }
    VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                            .pNext = (void *)(uintptr_t)next,
                                            .synchronization2 = VK_TRUE, .privateData = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {
        VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .pNext = &v13, .timelineSemaphore = VK_TRUE,
        .hostQueryReset = VK_TRUE, .bufferDeviceAddress = !counts};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2)};
    vkGetPhysicalDeviceFeatures2(w->physical, &features);
    if (counts)
        features.features =
            (VkPhysicalDeviceFeatures){.sparseBinding = features.features.sparseBinding};
    features.pNext = &v12;

    static const char *const wanted[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
        /* BELFRY_ICD_LATENCY */
        "VK_NV_low_latency2", "VK_NV_low_latency", "VK_KHR_present_id", "VK_QCOM_queue_perf_hint",
        "VK_NV_external_compute_queue",
        /* with WORLD_ALL */
        VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
    const char *names[9];
    uint32_t names_count;
    VkResult result =
        vulkan_device_extensions(w->physical, wanted, counts ? 7 : 9, names, &names_count);
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

static void open_device(struct device *w, const uint32_t *counts)
{
    assert_success(world_device(w, counts, NULL));
    device_open_words(w, WORLD_WORDS, counts ? 0 : VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                      VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
}

void world_open(struct device *w, const char *environment, const uint32_t *counts)
{
    assert_success(world_instance(w, environment));
    open_device(w, counts);
}

void world_open_validated(struct device *w, const char *environment)
{
    world_validated_instance(w, environment);
    open_device(w, WORLD_ALL);
}

void world_open_beside(struct device *w, const struct device *first, uint32_t ordinal)
{
    *w = (struct device){.instance = first->instance, .icd = first->icd};
    assert_true(ordinal < first->physical_count);
    device_choose(w, first->physicals[ordinal]);
    open_device(w, WORLD_ALL);
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

VkSemaphore world_exportable(struct device *w)
{
    const VkExportSemaphoreCreateInfo exported = {
        VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO), .pNext = &exported,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(w->device, &info, NULL, &semaphore));
    return semaphore;
}

VkSemaphore world_import_of(struct device *w, VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = semaphore,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    assert_success(vkGetSemaphoreFdKHR(w->device, &get, &fd));
    VkSemaphore copy = vulkan_timeline(w->device, 0);
    const VkImportSemaphoreFdInfoKHR import = {
        VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = copy,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, .fd = fd};
    assert_success(vkImportSemaphoreFdKHR(w->device, &import));
    return copy;
}
