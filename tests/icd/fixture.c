/* SPDX-License-Identifier: MIT */
/* What the test driver's own tests stand on. */
#include "fixture.h"

static void physical_choose(struct fixture *f, uint32_t ordinal)
{
    assert_true(ordinal < f->n_physicals);
    device_choose(&f->base, f->physicals[ordinal]);
}

static void instance_open(struct fixture *f, const char *environment, bool validate)
{
    static const char *const extensions[] = {
        VK_KHR_SURFACE_EXTENSION_NAME, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
        VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
        /* older drivers have little without it */
        VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME, NULL};
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    static const VkValidationFeaturesEXT features = {VK_TYPE(VALIDATION_FEATURES_EXT),
                                                     .enabledValidationFeatureCount = 1,
                                                     .pEnabledValidationFeatures = enables};
    const struct device_instance what = {.environment = environment,
                                         .layers = validate ? "VK_LAYER_KHRONOS_validation" : NULL,
                                         .extensions = extensions,
                                         .listens = validate,
                                         .next = validate ? &features : NULL};
    *f = (struct fixture){0};
    VkResult result = device_open_instance(&f->base, &what);
    if (validate && result == VK_ERROR_LAYER_NOT_PRESENT)
        skip();
    assert_success(result);
    assert_true(f->icd.library);

    f->n_physicals = FIXTURE_DEVICES;
    VkPhysicalDevice physicals[FIXTURE_DEVICES];
    assert_success(vkEnumeratePhysicalDevices(f->instance, &f->n_physicals, physicals));
    for (uint32_t i = 0; i < f->n_physicals; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(physicals[i], &properties);
        assert_in_range(properties.deviceID, 1, f->n_physicals);
        f->physicals[properties.deviceID - 1] = physicals[i];
    }
    physical_choose(f, 0);
}

void fixture_open_instance(struct fixture *f, const char *environment)
{
    instance_open(f, environment, false);
}

VkResult fixture_open_device(struct fixture *f, const void *next)
{
    static const char *const wanted[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME,
        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}; /* not always there */
    VkDeviceQueueCreateInfo queues[DEVICE_FAMILIES];
    const char *names[4];
    uint32_t name_count;
    for (uint32_t i = 0; i < f->family_count; i++)
        f->queue_counts[i] = f->families[i].queueCount;
    VkResult result = vulkan_device_extensions(f->physical, wanted, 4, names, &name_count);
    if (result != VK_SUCCESS)
        return result;
    VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                            .pNext = (void *)(uintptr_t)next,
                                            .synchronization2 = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {
        VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .pNext = &v13, .timelineSemaphore = VK_TRUE,
        .hostQueryReset = VK_TRUE, .bufferDeviceAddress = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2)};
    vkGetPhysicalDeviceFeatures2(f->physical, &features);
    features.pNext = &v12;
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO),
                                     .pNext = &features,
                                     .queueCreateInfoCount = device_queue_infos(&f->base, queues),
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = name_count,
                                     .ppEnabledExtensionNames = names};
    return device_create(&f->base, &info);
}

static void device_open(struct fixture *f)
{
    assert_success(fixture_open_device(f, NULL));
    device_open_words(&f->base, FIXTURE_WORDS, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                      VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
}

void fixture_open_beside(struct fixture *f, const struct fixture *first, uint32_t ordinal)
{
    *f = (struct fixture){
        .instance = first->instance, .n_physicals = first->n_physicals, .icd = first->icd};
    memcpy(f->physicals, first->physicals, sizeof(f->physicals));
    physical_choose(f, ordinal);
    device_open(f);
}

void fixture_open(struct fixture *f, const char *environment)
{
    instance_open(f, environment, false);
    device_open(f);
}

void fixture_open_validated(struct fixture *f, const char *environment)
{
    instance_open(f, environment, true);
    device_open(f);
}

void fixture_open_validated_instance(struct fixture *f, const char *environment)
{
    instance_open(f, environment, true);
}

void fixture_close(struct fixture *f)
{
    device_close(&f->base);
    vulkan_expect(&f->icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_int_equal(f->messages, 0);
    device_close_instance(&f->base);
}
