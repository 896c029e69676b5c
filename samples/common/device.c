/* SPDX-License-Identifier: MIT */
/* Chooses a GPU and creates instance and device for a sample. */
#include "device.h"

#include <errno.h> /* for program_invocation_short_name */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define FAMILIES_MOST 32

/* What is known of one GPU while the best one is chosen. */
struct candidate {
    VkPhysicalDevice gpu;
    VkPhysicalDeviceProperties properties;
    /* UINT32_MAX: there is none */
    uint32_t graphics_family, compute_family, compute_index, copy_family;
    uint32_t rank;     /* by device type; 0 is best */
    const char *lacks; /* why it can't be used; NULL: it can */
    bool second_queue; /* it lacks nothing but a second queue */
};

static bool extension_find(const VkExtensionProperties *extensions, uint32_t count,
                           const char *name)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (!strcmp(extensions[i].extensionName, name))
            return true;
    }
    return false;
}

static bool instance_extension_find(const char *name)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) < 0)
        return false;
    VkExtensionProperties *extensions = calloc(count ? count : 1, sizeof *extensions);
    bool found = extensions &&
                 vkEnumerateInstanceExtensionProperties(NULL, &count, extensions) >= 0 &&
                 extension_find(extensions, count, name);
    free(extensions);
    return found;
}

int sample_instance_create(struct sample_device *device, const char *application,
                           const char *const *extensions, uint32_t extension_count)
{
    const char *names[16];
    uint32_t count = 0;

    if (volkInitialize() != VK_SUCCESS) {
        sample_complain("no Vulkan loader on this machine (libvulkan.so.1)");
        return SAMPLE_EXIT_NO_DEVICE;
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
        sample_complain("the Vulkan loader is older than 1.1");
        return SAMPLE_EXIT_NO_DEVICE;
    }
    for (; count < extension_count && count < 15; ++count)
        names[count] = extensions[count];
    device->named = instance_extension_find(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (device->named)
        names[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;

    VkResult result = vkCreateInstance(
        &(VkInstanceCreateInfo){
            .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
            .pApplicationInfo =
                &(VkApplicationInfo){
                    .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                    .pApplicationName = application,
                    .apiVersion = VK_API_VERSION_1_3,
                },
            .enabledExtensionCount = count,
            .ppEnabledExtensionNames = names,
        },
        NULL, &device->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        sample_complain("no Vulkan driver on this machine");
        return SAMPLE_EXIT_NO_DEVICE;
    }
    if (sample_check(result, "vkCreateInstance") < 0)
        return SAMPLE_EXIT_FAILED;
    volkLoadInstanceOnly(device->instance);
    return SAMPLE_EXIT_DONE;
}

static uint32_t type_rank(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    default:
        return 3;
    }
}

/* Chooses a queue for compute. Best is a family without graphics: on hardware that is an engine of
 * its own. Next best is a second family with graphics; last, a second queue of the graphics
 * family. */
static bool compute_queue_choose(struct candidate *candidate,
                                 const VkQueueFamilyProperties *families, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t f = 0; f < count; ++f) {
        uint32_t score = 0;
        if (!(families[f].queueFlags & VK_QUEUE_COMPUTE_BIT) || !families[f].queueCount)
            continue;
        if (!(families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT))
            score = 3;
        else if (f != candidate->graphics_family)
            score = 2;
        else if (families[f].queueCount > 1)
            score = 1;
        if (score > best) {
            best = score;
            candidate->compute_family = f;
            candidate->compute_index = score == 1 ? 1 : 0;
        }
    }
    return best > 0;
}

/* Finds the families that are engines of their own: compute without graphics, and copy without
 * compute. */
static void engines_choose(struct candidate *candidate, const VkQueueFamilyProperties *families,
                           uint32_t count)
{
    for (uint32_t f = 0; f < count; ++f) {
        VkQueueFlags flags = families[f].queueFlags;
        if (flags & VK_QUEUE_GRAPHICS_BIT || !families[f].queueCount)
            continue;
        if (flags & VK_QUEUE_COMPUTE_BIT && candidate->compute_family == UINT32_MAX)
            candidate->compute_family = f;
        /* Video families also support transfers, but are not copy engines. */
        if ((flags & (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT | 0x60 /* video */)) ==
                VK_QUEUE_TRANSFER_BIT &&
            candidate->copy_family == UINT32_MAX)
            candidate->copy_family = f;
    }
}

static void candidate_judge(struct candidate *candidate, enum sample_queues queues,
                            VkSurfaceKHR surface)
{
    VkQueueFamilyProperties families[FAMILIES_MOST] = {
        0}; /* SwiftShader leaves the count as it is */
    uint32_t count = FAMILIES_MOST;
    bool graphics = false, presents = false;

    candidate->compute_family = candidate->copy_family = UINT32_MAX;
    vkGetPhysicalDeviceProperties(candidate->gpu, &candidate->properties);
    candidate->rank = type_rank(candidate->properties.deviceType);
    if (candidate->properties.apiVersion < VK_API_VERSION_1_3) {
        candidate->lacks = "has no Vulkan 1.3";
        return;
    }

    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(candidate->gpu, &features);
    if (!features.largePoints) {
        candidate->lacks = "lacks the feature largePoints";
        return;
    }

    vkGetPhysicalDeviceQueueFamilyProperties(candidate->gpu, &count, families);
    for (uint32_t f = 0; f < count && !presents; ++f) {
        VkBool32 can_present = surface == VK_NULL_HANDLE;
        if (!(families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT) || !families[f].queueCount)
            continue;
        graphics = true;
        if (!can_present)
            vkGetPhysicalDeviceSurfaceSupportKHR(candidate->gpu, f, surface, &can_present);
        if (can_present) {
            presents = true;
            candidate->graphics_family = f;
        }
    }
    if (!presents) {
        candidate->lacks =
            graphics ? "cannot present to this display; try --headless" : "has no graphics queue";
        return;
    }
    if (queues == SAMPLE_QUEUES_ENGINES) {
        engines_choose(candidate, families, count);
    } else if (!compute_queue_choose(candidate, families, count)) {
        candidate->second_queue = true;
        candidate->lacks = "has one queue for graphics and compute";
    }
}

static bool candidate_better(const struct candidate *left, const struct candidate *right)
{
    if (!right)
        return true;
    if (!left->lacks != !right->lacks)
        return !left->lacks;
    return left->rank < right->rank;
}

static int gpu_choose(const struct sample_device *device, enum sample_queues queues,
                      const char *gpu_name, VkSurfaceKHR surface, struct candidate *chosen)
{
    int exit_code = SAMPLE_EXIT_FAILED;
    uint32_t count = 0;
    const struct candidate *best = NULL;

    if (sample_check(vkEnumeratePhysicalDevices(device->instance, &count, NULL),
                     "vkEnumeratePhysicalDevices") < 0)
        return SAMPLE_EXIT_FAILED;
    VkPhysicalDevice *gpus = calloc(count + 1, sizeof *gpus);
    struct candidate *candidates = calloc(count + 1, sizeof *candidates);
    if (!gpus || !candidates) {
        sample_complain("out of memory");
        goto done;
    }
    if (sample_check(vkEnumeratePhysicalDevices(device->instance, &count, gpus),
                     "vkEnumeratePhysicalDevices") < 0)
        goto done;

    for (uint32_t i = 0; i < count; ++i) {
        candidates[i].gpu = gpus[i];
        candidate_judge(&candidates[i], queues, surface);
        if (gpu_name && !strcasestr(candidates[i].properties.deviceName, gpu_name))
            continue;
        if (candidate_better(&candidates[i], best))
            best = &candidates[i];
    }

    exit_code = SAMPLE_EXIT_NO_DEVICE;
    if (!count) {
        sample_complain("no Vulkan device on this machine");
    } else if (!best) {
        sample_complain("no Vulkan device has '%s' in its name; the first of %u is '%s'", gpu_name,
                        count, candidates[0].properties.deviceName);
    } else if (best->second_queue) {
        sample_complain("%s %s, and this sample needs two: run it as 'belfry run -- %s'",
                        best->properties.deviceName, best->lacks, program_invocation_short_name);
    } else if (best->lacks) {
        sample_complain("%s %s", best->properties.deviceName, best->lacks);
    } else {
        *chosen = *best;
        exit_code = SAMPLE_EXIT_DONE;
    }

done:
    free(candidates);
    free(gpus);
    return exit_code;
}

/* A device may have only one create-info per family: two queues of one family are requested
 * together. */
struct queue_requests {
    VkDeviceQueueCreateInfo infos[3];
    uint32_t count;
};

static void queue_request(struct queue_requests *requests, uint32_t family, uint32_t index)
{
    static const float priorities[2] = {1.0f, 1.0f};

    for (uint32_t i = 0; i < requests->count; ++i) {
        if (requests->infos[i].queueFamilyIndex == family) {
            if (requests->infos[i].queueCount <= index)
                requests->infos[i].queueCount = index + 1;
            return;
        }
    }
    requests->infos[requests->count++] = (VkDeviceQueueCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = index + 1,
        .pQueuePriorities = priorities,
    };
}

static void queue_fetch(struct sample_device *device, struct sample_queue *queue, const char *name)
{
    if (queue->family == UINT32_MAX)
        return;
    vkGetDeviceQueue(device->handle, queue->family, queue->index, &queue->handle);
    sample_name(device, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)queue->handle, "%s", name);
    sample_device_family_add(device, queue->family);
}

/* Finds out whether Belfry's timelines can use the device's calibrated timestamps and host query
 * reset. (Families that only copy can't reset queries on the GPU.) */
static void timing_look(struct sample_device *device)
{
    VkExtensionProperties extensions[512];
    uint32_t count = sizeof extensions / sizeof *extensions;
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &features12,
    };

    vkGetPhysicalDeviceFeatures2(device->gpu, &features);
    device->resets_queries = features12.hostQueryReset;
    if (vkEnumerateDeviceExtensionProperties(device->gpu, NULL, &count, extensions) < 0)
        return;
    for (uint32_t i = 0; i < count; ++i) {
        if (!strcmp(extensions[i].extensionName, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME))
            device->calibrated = true;
    }
}

int sample_device_create(struct sample_device *device, enum sample_queues queues,
                         const char *gpu_name, VkSurfaceKHR surface)
{
    struct candidate chosen = {0};
    struct queue_requests requests = {0};
    const char *extensions[2];
    uint32_t extension_count = 0;

    int exit_code = gpu_choose(device, queues, gpu_name, surface, &chosen);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;

    device->gpu = chosen.gpu;
    device->properties = chosen.properties;
    device->graphics.family = chosen.graphics_family;
    device->compute.family = chosen.compute_family;
    device->compute.index = chosen.compute_index;
    device->copy.family = chosen.copy_family;
    vkGetPhysicalDeviceMemoryProperties(device->gpu, &device->memory);

    timing_look(device);
    if (surface)
        extensions[extension_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    if (device->calibrated)
        extensions[extension_count++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;

    queue_request(&requests, device->graphics.family, 0);
    if (device->compute.family != UINT32_MAX)
        queue_request(&requests, device->compute.family, device->compute.index);
    if (device->copy.family != UINT32_MAX)
        queue_request(&requests, device->copy.family, 0);
    /* Vulkan 1.3 requires all of these; largePoints was checked when the GPU was chosen.
     * maintenance4 is needed by fragment shaders that don't read all outputs of the vertex
     * shader. */
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .dynamicRendering = VK_TRUE,
        .maintenance4 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .timelineSemaphore = VK_TRUE,
        .hostQueryReset = device->resets_queries,
    };
    VkResult result =
        vkCreateDevice(device->gpu,
                       &(VkDeviceCreateInfo){
                           .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                           .pNext = &features12,
                           .queueCreateInfoCount = requests.count,
                           .pQueueCreateInfos = requests.infos,
                           .enabledExtensionCount = extension_count,
                           .ppEnabledExtensionNames = extensions,
                           .pEnabledFeatures = &(VkPhysicalDeviceFeatures){.largePoints = VK_TRUE},
                       },
                       NULL, &device->handle);
    if (sample_check(result, "vkCreateDevice") < 0)
        return SAMPLE_EXIT_FAILED;

    volkLoadDevice(device->handle);
    queue_fetch(device, &device->graphics, "graphics");
    queue_fetch(device, &device->compute, "compute");
    queue_fetch(device, &device->copy, "copy");
    return SAMPLE_EXIT_DONE;
}

void sample_device_destroy(struct sample_device *device)
{
    if (device->handle) {
        vkDeviceWaitIdle(device->handle);
        vkDestroyDevice(device->handle, NULL);
    }
    if (device->instance)
        vkDestroyInstance(device->instance, NULL);
    memset(device, 0, sizeof *device);
}

void sample_device_family_add(struct sample_device *device, uint32_t family)
{
    for (uint32_t i = 0; i < device->family_count; ++i) {
        if (device->families[i] == family)
            return;
    }
    if (device->family_count < sizeof device->families / sizeof *device->families)
        device->families[device->family_count++] = family;
}

void sample_name(const struct sample_device *device, VkObjectType type, uint64_t handle,
                 const char *format, ...)
{
    char name[64];
    va_list arguments;

    if (!device->named)
        return;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    /* A name that can't be set is no reason to stop. */
    (void)vkSetDebugUtilsObjectNameEXT(
        device->handle, &(VkDebugUtilsObjectNameInfoEXT){
                            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                            .objectType = type,
                            .objectHandle = handle,
                            .pObjectName = name,
                        });
}

void sample_label_begin(const struct sample_device *device, VkCommandBuffer commands,
                        const char *format, ...)
{
    char name[64];
    va_list arguments;

    if (!device->named)
        return;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    vkCmdBeginDebugUtilsLabelEXT(commands, &(VkDebugUtilsLabelEXT){
                                               .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                               .pLabelName = name,
                                           });
}

void sample_label_end(const struct sample_device *device, VkCommandBuffer commands)
{
    if (device->named)
        vkCmdEndDebugUtilsLabelEXT(commands);
}
