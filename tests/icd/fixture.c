#include "fixture.h"

#include <string.h>

#define PREFIX "BELFRY_ICD_"

/* Sets (or unsets) the variables of "NAME=value NAME=value". */
static void environment_apply(const char *environment, bool set)
{
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", environment ? environment : "");
    char *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        char name[128];
        snprintf(name, sizeof(name), PREFIX "%s", word);
        if (set)
            setenv(name, value, 1);
        else
            unsetenv(name);
    }
}

/* What Debian 12's validation layer says falsely, by exact message id: nothing so far. */
static const char *const false_messages[] = {NULL};

static VkBool32 message_seen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                             VkDebugUtilsMessageTypeFlagsEXT types,
                             const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity;
    (void)types;
    struct fixture *f = user;
    for (size_t i = 0; false_messages[i]; i++)
        if (data->pMessageIdName && !strcmp(data->pMessageIdName, false_messages[i]))
            return VK_FALSE;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    f->messages++;
    return VK_FALSE;
}

static void physical_choose(struct fixture *f, uint32_t ordinal)
{
    assert_true(ordinal < f->n_physicals);
    f->physical = f->physicals[ordinal];
    f->n_families = FIXTURE_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(f->physical, &f->n_families, f->families);
}

static void instance_open(struct fixture *f, const char *environment, bool validate)
{
    *f = (struct fixture){0};
    assert_success(volkInitialize());
    environment_apply(environment, true);

    static const char *const extensions[] = {
        VK_KHR_SURFACE_EXTENSION_NAME, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
        VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
        /* older drivers have little without it */
        VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME};
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = message_seen,
        .pUserData = f,
    };
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enables,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = sizeof(extensions) / sizeof(extensions[0]),
        .ppEnabledExtensionNames = extensions,
    };
    /* Counts begin with this instance; a driver that isn't loaded yet has none. */
    if (belfry_icd_control_load(&f->icd)) {
        f->icd.resume(); /* a test that has failed may have left it paused */
        f->icd.hold_before_signals(false);
        f->icd.reset_counters();
    }
    belfry_icd_control_unload(&f->icd);
    VkResult result = vkCreateInstance(&info, NULL, &f->instance);
    environment_apply(environment, false);
    if (validate && result == VK_ERROR_LAYER_NOT_PRESENT)
        skip();
    assert_success(result);
    volkLoadInstance(f->instance);
    if (validate)
        assert_success(
            vkCreateDebugUtilsMessengerEXT(f->instance, &messenger, NULL, &f->messenger));
    assert_true(belfry_icd_control_load(&f->icd));

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

static VkResult extension_find(VkPhysicalDevice physical, const char *name, bool *found)
{
    VkExtensionProperties all[64];
    uint32_t n = 64;
    *found = false;
    VkResult result = vkEnumerateDeviceExtensionProperties(physical, NULL, &n, all);
    for (uint32_t i = 0; result == VK_SUCCESS && i < n; i++)
        *found |= !strcmp(all[i].extensionName, name);
    return result;
}

bool fixture_extension(VkPhysicalDevice physical, const char *name)
{
    bool found;
    assert_success(extension_find(physical, name, &found));
    return found;
}

VkResult fixture_open_device(struct fixture *f, const void *next)
{
    float priorities[FIXTURE_QUEUES] = {0};
    VkDeviceQueueCreateInfo queues[FIXTURE_FAMILIES];
    for (uint32_t i = 0; i < f->n_families; i++)
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = i,
            .queueCount = f->families[i].queueCount,
            .pQueuePriorities = priorities,
        };
    static const char *const extensions[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME,
        VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME,
        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
        /* the last: not always there */
        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
    };
    bool host_memory;
    VkResult result =
        extension_find(f->physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, &host_memory);
    if (result != VK_SUCCESS)
        return result;
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .pNext = (void *)(uintptr_t)next,
        .synchronization2 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &v13,
        .timelineSemaphore = VK_TRUE,
        .hostQueryReset = VK_TRUE,
        .bufferDeviceAddress = VK_TRUE,
    };
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    vkGetPhysicalDeviceFeatures2(f->physical, &features);
    features.pNext = &v12;
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = f->n_families,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = host_memory ? 4 : 3,
        .ppEnabledExtensionNames = extensions,
    };
    result = vkCreateDevice(f->physical, &info, NULL, &f->device);
    if (result != VK_SUCCESS)
        return result;
    for (uint32_t i = 0; i < f->n_families; i++)
        for (uint32_t k = 0; k < f->families[i].queueCount; k++)
            vkGetDeviceQueue(f->device, i, k, &f->queues[i][k]);
    return VK_SUCCESS;
}

static void device_open(struct fixture *f)
{
    assert_success(fixture_open_device(f, NULL));

    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    assert_success(vkCreateCommandPool(f->device, &pool, NULL, &f->pool));
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = FIXTURE_WORDS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
    };
    assert_success(vkCreateBuffer(f->device, &buffer, NULL, &f->buffer));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(f->device, f->buffer, &requirements);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = requirements.size};
    assert_success(vkAllocateMemory(f->device, &memory, NULL, &f->memory));
    assert_success(vkBindBufferMemory(f->device, f->buffer, f->memory, 0));
    assert_success(vkMapMemory(f->device, f->memory, 0, VK_WHOLE_SIZE, 0, (void **)&f->words));
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

void fixture_close_device(struct fixture *f)
{
    if (!f->device)
        return;
    vkDestroyCommandPool(f->device, f->pool, NULL);
    vkDestroyBuffer(f->device, f->buffer, NULL);
    vkFreeMemory(f->device, f->memory, NULL);
    vkDestroyDevice(f->device, NULL);
    f->device = VK_NULL_HANDLE;
    f->pool = VK_NULL_HANDLE;
    f->buffer = VK_NULL_HANDLE;
    f->memory = VK_NULL_HANDLE;
}

void fixture_close(struct fixture *f)
{
    fixture_close_device(f);
    fixture_expect_none(f);
    assert_int_equal(f->messages, 0);
    if (f->messenger)
        vkDestroyDebugUtilsMessengerEXT(f->instance, f->messenger, NULL);
    vkDestroyInstance(f->instance, NULL);
    belfry_icd_control_unload(&f->icd);
}

struct belfry_icd_counters fixture_counters(struct fixture *f)
{
    struct belfry_icd_counters counters;
    f->icd.get_counters(&counters);
    return counters;
}

void fixture_expect(struct fixture *f, enum belfry_icd_violation kind, uint64_t n)
{
    struct belfry_icd_counters counters = fixture_counters(f);
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++) {
        uint64_t expected = i == (int)kind ? n : 0;
        if (counters.violations[i] != expected)
            fail_msg("%s: %llu counted, %llu expected",
                     f->icd.violation_name((enum belfry_icd_violation)i),
                     (unsigned long long)counters.violations[i], (unsigned long long)expected);
    }
    f->icd.reset_counters();
}

void fixture_expect_none(struct fixture *f)
{
    fixture_expect(f, BELFRY_ICD_VIOLATION_COUNT, 0);
}

VkSemaphore fixture_timeline(struct fixture *f, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(f->device, &info, NULL, &semaphore));
    return semaphore;
}

VkSemaphore fixture_binary(struct fixture *f)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(f->device, &info, NULL, &semaphore));
    return semaphore;
}

VkFence fixture_fence(struct fixture *f)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    assert_success(vkCreateFence(f->device, &info, NULL, &fence));
    return fence;
}

uint64_t fixture_value(struct fixture *f, VkSemaphore semaphore)
{
    uint64_t value;
    assert_success(vkGetSemaphoreCounterValue(f->device, semaphore, &value));
    return value;
}

void fixture_signal(struct fixture *f, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_success(vkSignalSemaphore(f->device, &info));
}

void fixture_wait(struct fixture *f, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    assert_success(vkWaitSemaphores(f->device, &info, UINT64_MAX));
}

VkCommandBuffer fixture_begin(struct fixture *f, VkCommandBufferUsageFlags usage)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = f->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = usage};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(f->device, &info, &commands));
    assert_success(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

VkCommandBuffer fixture_store(struct fixture *f, uint32_t index, uint32_t word)
{
    VkCommandBuffer commands = fixture_begin(f, 0);
    vkCmdFillBuffer(commands, f->buffer, index * sizeof(word), sizeof(word), word);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

VkResult fixture_submit(VkQueue queue, struct submit s)
{
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = s.wait,
                                        .value = s.wait_value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = s.signal,
                                          .value = s.signal_value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = s.commands};
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = s.wait ? 1 : 0,
        .pWaitSemaphoreInfos = &wait,
        .commandBufferInfoCount = s.commands ? 1 : 0,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = s.signal ? 1 : 0,
        .pSignalSemaphoreInfos = &signal,
    };
    return vkQueueSubmit2(queue, 1, &info, s.fence);
}

VkResult fixture_submit1(VkQueue queue, struct submit s)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = s.wait ? 1 : 0,
        .pWaitSemaphoreValues = &s.wait_value,
        .signalSemaphoreValueCount = s.signal ? 1 : 0,
        .pSignalSemaphoreValues = &s.signal_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = s.wait ? 1 : 0,
        .pWaitSemaphores = &s.wait,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = s.commands ? 1 : 0,
        .pCommandBuffers = &s.commands,
        .signalSemaphoreCount = s.signal ? 1 : 0,
        .pSignalSemaphores = &s.signal,
    };
    return vkQueueSubmit(queue, 1, &info, s.fence);
}
