/* SPDX-License-Identifier: MIT */
/* layer_probe [native]: says on one line what a program finds: whether the loader lists the layer,
 * which file of it is in the process, and what the first GPU shows. Makes a device with a queue of
 * the last family on the way. With 'native', asks the layer for that by VK_EXT_layer_settings. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#define LAYER "VK_LAYER_BELFRY_multi_engine"

static PFN_vkGetInstanceProcAddr get;
#define GET(instance, name) PFN_##name name = (PFN_##name)get(instance, #name)

static int library_find(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const char *name = strrchr(info->dlpi_name, '/');
    if (name && strcmp(name, "/libVkLayer_belfry.so") == 0)
        snprintf(data, PATH_MAX, "%s", info->dlpi_name);
    return 0;
}

static bool layer_is_listed(void)
{
    GET(NULL, vkEnumerateInstanceLayerProperties);
    VkLayerProperties layers[64];
    uint32_t count = 64;
    bool listed = false;
    vkEnumerateInstanceLayerProperties(&count, layers);
    for (uint32_t i = 0; i < count; i++)
        listed |= strcmp(layers[i].layerName, LAYER) == 0;
    return listed;
}

static int device_try(VkInstance instance, VkPhysicalDevice gpu, uint32_t family)
{
    GET(instance, vkCreateDevice);
    GET(instance, vkGetDeviceQueue);
    GET(instance, vkQueueSubmit);
    GET(instance, vkQueueWaitIdle);
    GET(instance, vkDestroyDevice);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue_info,
    };
    VkDevice device;
    VkResult result = vkCreateDevice(gpu, &info, NULL, &device);
    if (result != VK_SUCCESS) {
        printf("vkCreateDevice: %d\n", result);
        return 1;
    }
    VkQueue queue = VK_NULL_HANDLE;
    vkGetDeviceQueue(device, family, 0, &queue);
    result = queue ? vkQueueSubmit(queue, 0, NULL, VK_NULL_HANDLE) : VK_ERROR_UNKNOWN;
    if (result == VK_SUCCESS)
        result = vkQueueWaitIdle(queue);
    vkDestroyDevice(device, NULL);
    if (result != VK_SUCCESS) {
        printf("queue of family %u: %d\n", family, result);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library) {
        printf("skipped: there is no libvulkan.so.1\n");
        return 77;
    }
    get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    GET(NULL, vkCreateInstance);

    const char *native = "native";
    const struct {
        const char *layer, *key;
        int type;
        uint32_t count;
        const void *values;
    } setting = {LAYER, "queues", 7, 1, &native};
    const struct {
        VkStructureType type;
        const void *next;
        uint32_t count;
        const void *settings;
    } settings = {(VkStructureType)1000496000, NULL, 1, &setting};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = argc > 1 && strcmp(argv[1], "native") == 0 ? &settings : NULL,
    };
    VkInstance instance;
    VkResult result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS) {
        printf("vkCreateInstance: %d\n", result);
        return result == VK_ERROR_INCOMPATIBLE_DRIVER ? 77 : 1;
    }
    char loaded[PATH_MAX] = "none";
    dl_iterate_phdr(library_find, loaded);

    GET(instance, vkDestroyInstance);
    GET(instance, vkEnumeratePhysicalDevices);
    GET(instance, vkGetPhysicalDeviceQueueFamilyProperties);
    VkPhysicalDevice gpu;
    uint32_t count = 1;
    int code = 77;
    result = vkEnumeratePhysicalDevices(instance, &count, &gpu);
    if (result >= VK_SUCCESS && count == 1) {
        VkQueueFamilyProperties families[32];
        uint32_t family_count;
        /* SwiftShader leaves a count as it was that is too large. */
        vkGetPhysicalDeviceQueueFamilyProperties(gpu, &family_count, NULL);
        vkGetPhysicalDeviceQueueFamilyProperties(gpu, &family_count, families);
        code = device_try(instance, gpu, family_count - 1);
        printf("listed=%d families=%u queues=%u layer=%s\n", layer_is_listed(), family_count,
               families[0].queueCount, loaded);
    } else {
        printf("skipped: there is no device\n");
    }
    vkDestroyInstance(instance, NULL);
    dlclose(library);
    return code;
}
