/* SPDX-License-Identifier: MIT */
/* A program's Vulkan device, through the loader: the part that all fixtures have. */
#include "support/device.h"

VkResult device_open_instance(struct device *d, const struct device_instance *what)
{
    *d = (struct device){0};
    assert_success(volkInitialize());
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                           .apiVersion = VK_API_VERSION_1_3};
    const char *names[8], *layer_names[8];
    uint32_t name_count = 0, layer_count = 0;
    for (const char *const *name = what->extensions; *name; name++)
        if (vulkan_has_instance_extension(*name))
            names[name_count++] = *name;
    char layers[512];
    snprintf(layers, sizeof(layers), "%s", what->layers ? what->layers : "");
    char *rest = layers;
    for (char *name; layer_count < 8 && (name = strtok_r(rest, ":", &rest));)
        layer_names[layer_count++] = name;
    VkDebugUtilsMessengerCreateInfoEXT messenger = vulkan_messenger(&d->messages);
    messenger.pNext = what->next;
    const VkInstanceCreateInfo info = {
        VK_TYPE(INSTANCE_CREATE_INFO),      .pNext = what->listens ? &messenger : what->next,
        .pApplicationInfo = &application,   .enabledLayerCount = layer_count,
        .ppEnabledLayerNames = layer_names, .enabledExtensionCount = name_count,
        .ppEnabledExtensionNames = names};
    /* Counts begin with this instance; a driver that isn't loaded yet has none. */
    if (belfry_icd_control_load(&d->icd)) {
        d->icd.resume(); /* a test that has failed may have left it paused */
        d->icd.hold_before_signals(false);
        d->icd.reset_counters();
    }
    belfry_icd_control_unload(&d->icd);
    struct environment saved;
    environment_set(&saved, what->environment);
    VkResult result = vkCreateInstance(&info, NULL, &d->instance);
    environment_restore(&saved);
    if (result != VK_SUCCESS)
        return result;
    volkLoadInstance(d->instance);
    messenger.pNext = NULL;
    if (what->listens && vkCreateDebugUtilsMessengerEXT)
        assert_success(
            vkCreateDebugUtilsMessengerEXT(d->instance, &messenger, NULL, &d->messenger));
    belfry_icd_control_load(&d->icd);
    return VK_SUCCESS;
}

void device_choose(struct device *d, VkPhysicalDevice physical)
{
    d->physical = physical;
    /* SwiftShader leaves a count as it was that is too large. */
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &d->family_count, NULL);
    if (d->family_count > DEVICE_FAMILIES)
        d->family_count = DEVICE_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &d->family_count, d->families);
}

const float *device_priorities;

uint32_t device_queue_infos(const struct device *d, VkDeviceQueueCreateInfo *infos)
{
    static const float none[DEVICE_QUEUES] = {0};
    const float *priorities = device_priorities ? device_priorities : none;
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->family_count; i++) {
        assert_true(d->queue_counts[i] <= DEVICE_QUEUES);
        if (d->queue_counts[i])
            infos[n++] = (VkDeviceQueueCreateInfo){
                VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = i,
                .queueCount = d->queue_counts[i], .pQueuePriorities = priorities};
    }
    return n;
}

VkResult device_create(struct device *d, const VkDeviceCreateInfo *info)
{
    VkResult result = vkCreateDevice(d->physical, info, NULL, &d->device);
    for (uint32_t i = 0; result == VK_SUCCESS && i < d->family_count; i++)
        for (uint32_t k = 0; k < d->queue_counts[i]; k++)
            vkGetDeviceQueue(d->device, i, k, &d->queues[i][k]);
    return result;
}

void device_open_words(struct device *d, uint32_t words, VkBufferUsageFlags usage,
                       VkCommandPoolCreateFlags pool_flags)
{
    uint32_t used[DEVICE_FAMILIES], n = 0;
    for (uint32_t i = 0; i < d->family_count; i++) {
        if (!d->queue_counts[i])
            continue;
        used[n++] = i;
        const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                              .flags = pool_flags, .queueFamilyIndex = i};
        assert_success(vkCreateCommandPool(d->device, &pool, NULL, &d->pools[i]));
    }
    const VkBufferCreateInfo info = {
        VK_TYPE(BUFFER_CREATE_INFO),
        .size = words * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | usage,
        .sharingMode = n > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = n,
        .pQueueFamilyIndices = used};
    d->buffer = vulkan_buffer(d->physical, d->device, &info, &d->memory, (void **)&d->words);
    memset(d->words, 0, words * sizeof(uint32_t));
}

void device_close_words(struct device *d)
{
    for (uint32_t i = 0; i < DEVICE_FAMILIES; i++) {
        vkDestroyCommandPool(d->device, d->pools[i], NULL);
        d->pools[i] = VK_NULL_HANDLE;
    }
    vulkan_destroy(d->device, d->buffer, d->memory);
    d->buffer = VK_NULL_HANDLE;
    d->memory = VK_NULL_HANDLE;
}

void device_close(struct device *d)
{
    if (!d->device)
        return;
    device_close_words(d);
    vkDestroyDevice(d->device, NULL);
    d->device = VK_NULL_HANDLE;
}

void device_close_instance(struct device *d)
{
    if (d->messenger)
        vkDestroyDebugUtilsMessengerEXT(d->instance, d->messenger, NULL);
    vkDestroyInstance(d->instance, NULL);
    belfry_icd_control_unload(&d->icd);
}

VkCommandBuffer device_begin(struct device *d, uint32_t family, VkCommandBufferUsageFlags usage)
{
    return vulkan_begin(d->device, d->pools[family], VK_COMMAND_BUFFER_LEVEL_PRIMARY, usage);
}

VkCommandBuffer device_store(struct device *d, uint32_t family, uint32_t index, uint32_t word)
{
    VkCommandBuffer commands = device_begin(d, family, 0);
    vkCmdFillBuffer(commands, d->buffer, index * sizeof(word), sizeof(word), word);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}
