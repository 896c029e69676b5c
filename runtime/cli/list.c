/* SPDX-License-Identifier: MIT */
/*
 * 'belfry list': each GPU's queue families as the driver has them, and as a program sees them under
 * the layer. The loader is opened at run time, so that the program starts without one.
 */
#include "cli/cli.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"
#include "device/tell.h"
#include "gpu/driver_name.h"
#include "settings/settings.h"

/* The functions of the loader that are needed. */
struct vulkan {
    void *library;
    VkInstance instance;
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    PFN_vkDestroyInstance DestroyInstance;
    PFN_vkEnumeratePhysicalDevices EnumeratePhysicalDevices;
    PFN_vkGetPhysicalDeviceProperties GetPhysicalDeviceProperties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties GetPhysicalDeviceQueueFamilyProperties;
    PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties;
    PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2 GetPhysicalDeviceQueueFamilyProperties2;
};

/* Keeps the layer out of this process, so that the driver's own families are listed. */
static void layer_keep_out(void)
{
    unsetenv("BELFRY");
    setenv("DISABLE_BELFRY", "1", 1);
    unsetenv("VK_LOADER_LAYERS_ENABLE");
    const char *list = getenv("VK_INSTANCE_LAYERS");
    char *others = cli_format("%s", "");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length != strlen(BF_LAYER_NAME) || memcmp(list, BF_LAYER_NAME, length) != 0) {
            char *longer = cli_format("%s%s%.*s", others, *others ? ":" : "", (int)length, list);
            free(others);
            others = longer;
        }
        list += length + (list[length] == ':');
    }
    setenv("VK_INSTANCE_LAYERS", others, 1);
    free(others);
}

static PFN_vkVoidFunction vulkan_function(const struct vulkan *vulkan, const char *name)
{
    return vulkan->GetInstanceProcAddr(vulkan->instance, name);
}

static void vulkan_close(struct vulkan *vulkan)
{
    if (vulkan->instance) {
        vulkan->DestroyInstance(vulkan->instance, NULL);
    }
    if (vulkan->library) {
        dlclose(vulkan->library);
    }
}

static bool extension_listed(const VkExtensionProperties *extensions, uint32_t count,
                             const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(extensions[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Drivers of Vulkan 1.0 have the extensions that the layer needs only beside this one. */
static bool instance_has_properties2(const struct vulkan *vulkan)
{
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)vulkan_function(
            vulkan, "vkEnumerateInstanceExtensionProperties");
    uint32_t count = 0;
    if (!enumerate || enumerate(NULL, &count, NULL) != VK_SUCCESS) {
        return false;
    }
    VkExtensionProperties *extensions = calloc(count ? count : 1, sizeof(*extensions));
    bool found =
        extensions && enumerate(NULL, &count, extensions) >= VK_SUCCESS &&
        extension_listed(extensions, count, VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME);
    free(extensions);
    return found;
}

static int vulkan_open(struct vulkan *vulkan)
{
    *vulkan = (struct vulkan){0};
    vulkan->library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!vulkan->library) {
        cli_warn("no Vulkan loader: %s", dlerror());
        return CLI_NO_DEVICE;
    }
    vulkan->GetInstanceProcAddr =
        (PFN_vkGetInstanceProcAddr)dlsym(vulkan->library, "vkGetInstanceProcAddr");
    if (!vulkan->GetInstanceProcAddr) {
        cli_warn("libvulkan.so.1 is no Vulkan loader: %s", dlerror());
        goto fail;
    }

    /* Absent in loaders of Vulkan 1.0, which refuse any other version. */
    PFN_vkEnumerateInstanceVersion enumerate_version =
        (PFN_vkEnumerateInstanceVersion)vulkan_function(vulkan, "vkEnumerateInstanceVersion");
    uint32_t version = VK_API_VERSION_1_0;
    if (enumerate_version) {
        enumerate_version(&version);
    }
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "belfry list",
        .apiVersion = version < VK_API_VERSION_1_1 ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3,
    };
    static const char *const properties2 = VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME;
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledExtensionCount = instance_has_properties2(vulkan) ? 1 : 0,
        .ppEnabledExtensionNames = &properties2,
    };
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)vulkan_function(vulkan, "vkCreateInstance");
    VkResult result = create ? create(&info, NULL, &vulkan->instance) : VK_ERROR_UNKNOWN;
    if (result != VK_SUCCESS) {
        vulkan->instance = VK_NULL_HANDLE;
        cli_warn("vkCreateInstance failed (%d)%s", result,
                 result == VK_ERROR_INCOMPATIBLE_DRIVER ? ": there is no Vulkan driver" : "");
        goto fail;
    }
#define LOAD(name) vulkan->name = (PFN_vk##name)vulkan_function(vulkan, "vk" #name)
    LOAD(DestroyInstance);
    LOAD(EnumeratePhysicalDevices);
    LOAD(GetPhysicalDeviceProperties);
    LOAD(GetPhysicalDeviceQueueFamilyProperties);
    LOAD(EnumerateDeviceExtensionProperties);
    LOAD(GetPhysicalDeviceProperties2);
    LOAD(GetPhysicalDeviceQueueFamilyProperties2);
    if (!vulkan->GetPhysicalDeviceProperties2 && info.enabledExtensionCount) {
        vulkan->GetPhysicalDeviceProperties2 = (PFN_vkGetPhysicalDeviceProperties2)vulkan_function(
            vulkan, "vkGetPhysicalDeviceProperties2KHR");
    }
#undef LOAD
    return CLI_DONE;

fail:
    vulkan_close(vulkan);
    return CLI_NO_DEVICE;
}

static bool device_has_extension(const struct vulkan *vulkan, VkPhysicalDevice device,
                                 const char *name)
{
    uint32_t count = 0;
    if (vulkan->EnumerateDeviceExtensionProperties(device, NULL, &count, NULL) != VK_SUCCESS) {
        return false;
    }
    VkExtensionProperties *extensions = calloc(count ? count : 1, sizeof(*extensions));
    bool found = extensions &&
                 vulkan->EnumerateDeviceExtensionProperties(device, NULL, &count, extensions) >=
                     VK_SUCCESS &&
                 extension_listed(extensions, count, name);
    free(extensions);
    return found;
}

/* The first feature or extension that the layer needs and the device lacks; NULL: it has them
 * all. */
static const char *device_lacks(const struct vulkan *vulkan, VkPhysicalDevice device,
                                uint32_t version)
{
    if (version < VK_API_VERSION_1_2 &&
        !device_has_extension(vulkan, device, "VK_KHR_timeline_semaphore")) {
        return "timeline semaphores";
    }
    if (version < VK_API_VERSION_1_3 &&
        !device_has_extension(vulkan, device, "VK_KHR_synchronization2")) {
        return "VK_KHR_synchronization2";
    }
    return NULL;
}

static const char *list_plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* The global priorities that the driver says a family has, where it can say it. */
static void priorities_print(const struct vulkan *vulkan, VkPhysicalDevice device, uint32_t version,
                             uint32_t count)
{
    static const struct {
        VkQueueGlobalPriorityKHR value;
        const char *name;
    } names[] = {
        {VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR, "low"},
        {VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR, "medium"},
        {VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR, "high"},
        {VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR, "realtime"},
    };
    if (!vulkan->GetPhysicalDeviceQueueFamilyProperties2 || count > BF_MAX_FAMILIES ||
        (version < VK_MAKE_API_VERSION(0, 1, 4, 0) &&
         !device_has_extension(vulkan, device, VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME) &&
         !device_has_extension(vulkan, device, VK_EXT_GLOBAL_PRIORITY_QUERY_EXTENSION_NAME))) {
        return;
    }
    VkQueueFamilyProperties2 families[BF_MAX_FAMILIES];
    VkQueueFamilyGlobalPriorityPropertiesKHR able[BF_MAX_FAMILIES];
    for (uint32_t i = 0; i < count; i++) {
        able[i] = (VkQueueFamilyGlobalPriorityPropertiesKHR){
            .sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR};
        families[i] = (VkQueueFamilyProperties2){
            .sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2, .pNext = &able[i]};
    }
    vulkan->GetPhysicalDeviceQueueFamilyProperties2(device, &count, families);
    printf("  Global priorities that may be asked for, given the privilege:\n");
    for (uint32_t i = 0; i < count; i++) {
        printf("    %2u ", i);
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            for (uint32_t n = 0; n < able[i].priorityCount; n++) {
                if (able[i].priorities[n] == names[k].value) {
                    printf(" %s", names[k].name);
                }
            }
        }
        printf("\n");
    }
}

static void real_print(const VkQueueFamilyProperties *families, uint32_t count)
{
    printf("  The driver's queue families:\n");
    for (uint32_t i = 0; i < count; i++) {
        char flags[128];
        char timestamps[32] = "no timestamps";
        const VkQueueFamilyProperties *f = &families[i];
        if (f->timestampValidBits) {
            snprintf(timestamps, sizeof(timestamps), "%u-bit timestamps", f->timestampValidBits);
        }
        printf("    %2u  %-34s %2u queue%-1s  %s, copies in steps of %ux%ux%u\n", i,
               bf_family_flags_text(f->queueFlags, flags, sizeof(flags)), f->queueCount,
               list_plural(f->queueCount), timestamps, f->minImageTransferGranularity.width,
               f->minImageTransferGranularity.height, f->minImageTransferGranularity.depth);
    }
}

static void shown_print(const struct bf_family_map *map)
{
    uint32_t engines = 0;
    uint32_t queues = 0;
    printf("  What a program sees with the layer:\n");
    for (uint32_t i = 0; i < map->shown_count; i++) {
        const struct bf_family *family = &map->shown[i];
        uint32_t real = map->real_queues[family->real];
        char flags[128];
        char how[128] = "native";
        if (family->appended) {
            snprintf(how, sizeof(how), "emulated: appended, runs on family %u", family->real);
        } else if (family->count > real) {
            snprintf(how, sizeof(how), "%u native, %u more share %s", real, family->count - real,
                     real == 1 ? "it" : "them");
        }
        printf("    %2u  %-34s %2u queue%-1s  %s\n", i,
               bf_family_flags_text(family->flags, flags, sizeof(flags)), family->count,
               list_plural(family->count), how);
        queues += family->count;
        engines += family->appended ? 0 : real;
    }
    printf("  Emulated: ");
    if (queues == engines) {
        printf("nothing; every queue is the driver's own.\n");
    } else {
        printf("%u of %u queues; Belfry runs them all on the driver's %u queue%s.\n",
               queues - engines, queues, engines, list_plural(engines));
    }
}

static const char *driver_text(const struct vulkan *vulkan, VkPhysicalDevice device,
                               const VkPhysicalDeviceProperties *properties, char *text)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    if (vulkan->GetPhysicalDeviceProperties2 &&
        (properties->apiVersion >= VK_API_VERSION_1_2 ||
         device_has_extension(vulkan, device, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))) {
        vulkan->GetPhysicalDeviceProperties2(device, &properties2);
    }
    bf_driver_describe(properties, &driver, text);
    return text;
}

static void device_print(const struct vulkan *vulkan, uint32_t number, VkPhysicalDevice device,
                         const struct bf_settings *settings)
{
    static const char *const types[] = {"other", "integrated", "discrete", "virtual", "CPU"};
    VkPhysicalDeviceProperties properties;
    vulkan->GetPhysicalDeviceProperties(device, &properties);
    uint32_t version = properties.apiVersion;
    uint32_t type = properties.deviceType;
    char driver[BF_DRIVER_NAME_SIZE];
    printf("GPU %u: %s (%s), Vulkan %u.%u.%u, %s\n", number, properties.deviceName,
           type < sizeof(types) / sizeof(types[0]) ? types[type] : "other",
           VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
           VK_API_VERSION_PATCH(version), driver_text(vulkan, device, &properties, driver));

    uint32_t count = 0;
    vulkan->GetPhysicalDeviceQueueFamilyProperties(device, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count ? count : 1, sizeof(*families));
    if (!families) {
        cli_warn("out of memory");
        return;
    }
    vulkan->GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    real_print(families, count);
    priorities_print(vulkan, device, version, count);

    const char *lacks = device_lacks(vulkan, device, version);
    if (lacks) {
        printf("  The driver lacks %s: the layer passes everything through.\n", lacks);
    } else {
        struct bf_family_map map;
        bf_family_map_init(families, count, settings->queues, settings->queues_per_family, &map);
        shown_print(&map);
    }
    free(families);
}

static int list_main(int argc, char **argv)
{
    if (argc > 1) {
        return cli_usage("list", "it takes no arguments, not '%s'", argv[1]);
    }
    struct bf_settings settings;
    if (bf_settings_load(NULL, environ, bf_settings_is_privileged(), false, false, &settings) !=
        VK_SUCCESS) {
        cli_warn("out of memory");
        return CLI_FAILED;
    }

    layer_keep_out();
    struct vulkan vulkan;
    VkPhysicalDevice *devices = NULL;
    uint32_t count = 0;
    int result = vulkan_open(&vulkan);
    if (result != CLI_DONE) {
        goto finish_settings;
    }
    if (vulkan.EnumeratePhysicalDevices(vulkan.instance, &count, NULL) != VK_SUCCESS || !count) {
        cli_warn("there is no GPU with a Vulkan driver");
        result = CLI_NO_DEVICE;
        goto close;
    }
    devices = calloc(count, sizeof(*devices));
    if (!devices) {
        cli_warn("out of memory");
        result = CLI_FAILED;
        goto close;
    }
    if (vulkan.EnumeratePhysicalDevices(vulkan.instance, &count, devices) < VK_SUCCESS) {
        cli_warn("vkEnumeratePhysicalDevices failed");
        result = CLI_FAILED;
        goto free_devices;
    }

    for (uint32_t i = 0; i < count; i++) {
        if (i) {
            printf("\n");
        }
        device_print(&vulkan, i, devices[i], &settings);
    }
    char mode[16];
    printf("\nWith queues=%s, queues_per_family=%" PRIu32 "; see 'belfry settings'.\n",
           bf_settings_value(&settings, BF_KEY_QUEUES, mode, sizeof(mode)),
           settings.queues_per_family);

free_devices:
    free(devices);
close:
    vulkan_close(&vulkan);
finish_settings:
    bf_settings_finish(&settings);
    return result;
}

const struct cli_command cli_list = {
    .name = "list",
    .arguments = "",
    .summary = "shows each GPU's queues, and those a program sees with the layer",
    .details =
        "Shows the queue families of each GPU as its driver has them: what they can do, how many\n"
        "queues they have, how many bits of a timestamp count, and in what steps of texels they\n"
        "copy images. Then what a program sees with the layer under the present settings, and\n"
        "which of that is emulated: appended families run on a family of the driver's, and queues\n"
        "beyond the driver's share them.\n\n"
        "Exits with 0, or 77 if there is no Vulkan driver or no GPU.\n",
    .main = list_main,
};
