#include "world.h"

#include <string.h>

#define PREFIX "BELFRY_ICD_"

bool world_without_debug_utils;
const char *world_layers;

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

bool world_has_layer(const char *name)
{
#ifdef __SANITIZE_THREAD__
    (void)name;
    return false;
#else
    VkLayerProperties list[64];
    uint32_t n = 64;
    assert_success(volkInitialize());
    assert_true(vkEnumerateInstanceLayerProperties(&n, list) >= 0);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(list[i].layerName, name) == 0)
            return true;
    }
    return false;
#endif
}

static bool has_instance_extension(const char *name)
{
    VkExtensionProperties list[64];
    uint32_t n = 64;
    vkEnumerateInstanceExtensionProperties(NULL, &n, list);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

static VkBool32 VKAPI_CALL message_seen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *user)
{
    (void)severity, (void)types;
    struct world *w = user;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    w->messages++;
    return VK_FALSE;
}

VkResult world_instance(struct world *w, const char *environment)
{
    *w = (struct world){0};
    assert_success(volkInitialize());
    environment_apply(environment, true);
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const char *names[4];
    uint32_t n = 0;
    static const char *const wanted[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                         VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
                                         VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    for (size_t i = 0; i < (world_without_debug_utils ? 2 : 3); i++) {
        if (has_instance_extension(wanted[i]))
            names[n++] = wanted[i];
    }
    char layers[512];
    const char *layer_names[8];
    uint32_t layer_count = 0;
    snprintf(layers, sizeof(layers), "%s", world_layers ? world_layers : "");
    char *rest = layers;
    for (char *name; layer_count < 8 && (name = strtok_r(rest, ":", &rest));)
        layer_names[layer_count++] = name;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = message_seen,
        .pUserData = w,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = world_without_debug_utils ? NULL : &messenger,
        .pApplicationInfo = &application,
        .enabledLayerCount = layer_count,
        .ppEnabledLayerNames = layer_names,
        .enabledExtensionCount = n,
        .ppEnabledExtensionNames = names,
    };
    /* Counts begin with this instance; a driver that isn't loaded yet has none. */
    if (belfry_icd_control_load(&w->icd))
        w->icd.reset_counters();
    belfry_icd_control_unload(&w->icd);
    VkResult result = vkCreateInstance(&info, NULL, &w->instance);
    environment_apply(environment, false);
    if (result != VK_SUCCESS)
        return result;
    volkLoadInstance(w->instance);
    if (vkCreateDebugUtilsMessengerEXT && !world_without_debug_utils)
        vkCreateDebugUtilsMessengerEXT(w->instance, &messenger, NULL, &w->messenger);
    belfry_icd_control_load(&w->icd);
    n = 1;
    result = vkEnumeratePhysicalDevices(w->instance, &n, &w->physical);
    if (result < 0)
        return result;
    assert_int_equal(n, 1);
    w->family_count = WORLD_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(w->physical, &w->family_count, w->families);
    return VK_SUCCESS;
}

VkResult world_device(struct world *w, const uint32_t *counts, const void *next)
{
    static const float priorities[WORLD_QUEUES] = {0};
    VkDeviceQueueCreateInfo queues[WORLD_FAMILIES];
    uint32_t n = 0;
    memset(w->queue_counts, 0, sizeof(w->queue_counts));
    for (uint32_t f = 0; counts[f] != WORLD_END; f++) {
        assert_true(f < w->family_count && counts[f] <= w->families[f].queueCount);
        w->queue_counts[f] = counts[f];
        if (counts[f])
            queues[n++] =
                (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = f,
                                          .queueCount = counts[f],
                                          .pQueuePriorities = priorities};
    }
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .pNext = (void *)(uintptr_t)next,
        .synchronization2 = VK_TRUE,
        .privateData = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &v13,
        .timelineSemaphore = VK_TRUE,
        .hostQueryReset = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    vkGetPhysicalDeviceFeatures2(w->physical, &features);
    features.features =
        (VkPhysicalDeviceFeatures){.sparseBinding = features.features.sparseBinding};
    features.pNext = &v12;

    VkExtensionProperties list[256];
    uint32_t available = 256, names_count = 0;
    VkResult result = vkEnumerateDeviceExtensionProperties(w->physical, NULL, &available, list);
    if (result < 0)
        return result;
    static const char *const wanted[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME,
                                         VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
    const char *names[2];
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < available; k++) {
            if (strcmp(list[k].extensionName, wanted[i]) == 0)
                names[names_count++] = wanted[i];
        }
    }
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = n,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = names_count,
        .ppEnabledExtensionNames = names,
    };
    result = vkCreateDevice(w->physical, &info, NULL, &w->device);
    for (uint32_t f = 0; result == VK_SUCCESS && f < w->family_count; f++) {
        for (uint32_t i = 0; i < w->queue_counts[f]; i++)
            vkGetDeviceQueue(w->device, f, i, &w->queues[f][i]);
    }
    return result;
}

/* Memory that the host sees without flushing. */
static uint32_t memory_type(struct world *w, uint32_t bits)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(w->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if ((bits & 1u << i) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    fail_msg("no host-visible memory");
    return 0;
}

void world_open(struct world *w, const char *environment, const uint32_t *counts)
{
    assert_success(world_instance(w, environment));
    assert_success(world_device(w, counts, NULL));
    uint32_t used[WORLD_FAMILIES], n = 0;
    for (uint32_t f = 0; f < w->family_count; f++) {
        if (!w->queue_counts[f])
            continue;
        used[n++] = f;
        const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .flags =
                                                  VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                              .queueFamilyIndex = f};
        assert_success(vkCreateCommandPool(w->device, &info, NULL, &w->pools[f]));
    }
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = WORLD_WORDS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = n > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = n,
        .pQueueFamilyIndices = used};
    assert_success(vkCreateBuffer(w->device, &buffer, NULL, &w->buffer));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(w->device, w->buffer, &requirements);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = requirements.size,
                                         .memoryTypeIndex =
                                             memory_type(w, requirements.memoryTypeBits)};
    assert_success(vkAllocateMemory(w->device, &memory, NULL, &w->memory));
    assert_success(vkBindBufferMemory(w->device, w->buffer, w->memory, 0));
    assert_success(vkMapMemory(w->device, w->memory, 0, VK_WHOLE_SIZE, 0, (void **)&w->words));
    memset(w->words, 0, WORLD_WORDS * sizeof(uint32_t));
}

void world_close_device(struct world *w)
{
    if (!w->device)
        return;
    for (uint32_t f = 0; f < WORLD_FAMILIES; f++) {
        vkDestroyCommandPool(w->device, w->pools[f], NULL);
        w->pools[f] = VK_NULL_HANDLE;
    }
    vkDestroyBuffer(w->device, w->buffer, NULL);
    vkFreeMemory(w->device, w->memory, NULL);
    vkDestroyDevice(w->device, NULL);
    w->device = VK_NULL_HANDLE;
    w->buffer = VK_NULL_HANDLE;
    w->memory = VK_NULL_HANDLE;
}

void world_close(struct world *w)
{
    world_close_device(w);
    if (w->icd.library)
        world_expect(w, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_int_equal(w->messages, 0);
    if (w->messenger)
        vkDestroyDebugUtilsMessengerEXT(w->instance, w->messenger, NULL);
    vkDestroyInstance(w->instance, NULL);
    belfry_icd_control_unload(&w->icd);
}

struct belfry_icd_counters world_counters(struct world *w)
{
    struct belfry_icd_counters counters;
    w->icd.get_counters(&counters);
    return counters;
}

uint64_t world_accepted(struct world *w)
{
    struct belfry_icd_counters c = world_counters(w);
    return c.submit_calls + c.bind_sparse_calls + c.presents;
}

void world_expect(struct world *w, enum belfry_icd_violation kind, uint64_t n)
{
    struct belfry_icd_counters counters = world_counters(w);
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++) {
        uint64_t expected = i == (int)kind ? n : 0;
        if (counters.violations[i] != expected)
            fail_msg("%s: %llu counted, %llu expected",
                     w->icd.violation_name((enum belfry_icd_violation)i),
                     (unsigned long long)counters.violations[i], (unsigned long long)expected);
    }
    w->icd.reset_counters();
}

VkSemaphore world_timeline(struct world *w, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(w->device, &info, NULL, &semaphore));
    return semaphore;
}

VkSemaphore world_binary(struct world *w)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(w->device, &info, NULL, &semaphore));
    return semaphore;
}

VkFence world_fence(struct world *w, bool signalled)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                    .flags = signalled ? VK_FENCE_CREATE_SIGNALED_BIT : 0};
    VkFence fence;
    assert_success(vkCreateFence(w->device, &info, NULL, &fence));
    return fence;
}

uint64_t world_value(struct world *w, VkSemaphore semaphore)
{
    uint64_t value;
    assert_success(vkGetSemaphoreCounterValue(w->device, semaphore, &value));
    return value;
}

void world_signal(struct world *w, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_success(vkSignalSemaphore(w->device, &info));
}

void world_wait(struct world *w, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    assert_success(vkWaitSemaphores(w->device, &info, UINT64_MAX));
}

VkCommandBuffer world_begin(struct world *w, uint32_t family)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = w->pools[family],
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(w->device, &info, &commands));
    assert_success(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

VkCommandBuffer world_store(struct world *w, uint32_t family, uint32_t index, uint32_t word)
{
    VkCommandBuffer commands = world_begin(w, family);
    vkCmdFillBuffer(commands, w->buffer, index * sizeof(word), sizeof(word), word);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

VkResult world_submit(VkQueue queue, struct batch b)
{
    struct {
        VkSubmitInfo2 info;
        VkSemaphoreSubmitInfo wait, signal;
        VkCommandBufferSubmitInfo commands;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    m->wait = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                      .semaphore = b.wait,
                                      .value = b.wait_value,
                                      .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    m->signal = (VkSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = b.signal,
                                        .value = b.signal_value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    m->commands = (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = b.commands};
    m->info = (VkSubmitInfo2){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                              .waitSemaphoreInfoCount = b.wait ? 1 : 0,
                              .pWaitSemaphoreInfos = &m->wait,
                              .commandBufferInfoCount = b.commands ? 1 : 0,
                              .pCommandBufferInfos = &m->commands,
                              .signalSemaphoreInfoCount = b.signal ? 1 : 0,
                              .pSignalSemaphoreInfos = &m->signal};
    VkResult result = vkQueueSubmit2(queue, 1, &m->info, b.fence);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}

VkResult world_submit1(VkQueue queue, struct batch b)
{
    struct {
        VkSubmitInfo info;
        VkTimelineSemaphoreSubmitInfo values;
        VkPipelineStageFlags stage;
        struct batch batch;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    m->batch = b;
    m->stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    m->values =
        (VkTimelineSemaphoreSubmitInfo){.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                        .waitSemaphoreValueCount = b.wait ? 1 : 0,
                                        .pWaitSemaphoreValues = &m->batch.wait_value,
                                        .signalSemaphoreValueCount = b.signal ? 1 : 0,
                                        .pSignalSemaphoreValues = &m->batch.signal_value};
    m->info = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &m->values,
                             .waitSemaphoreCount = b.wait ? 1 : 0,
                             .pWaitSemaphores = &m->batch.wait,
                             .pWaitDstStageMask = &m->stage,
                             .commandBufferCount = b.commands ? 1 : 0,
                             .pCommandBuffers = &m->batch.commands,
                             .signalSemaphoreCount = b.signal ? 1 : 0,
                             .pSignalSemaphores = &m->batch.signal};
    VkResult result = vkQueueSubmit(queue, 1, &m->info, b.fence);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}
