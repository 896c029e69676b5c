/* SPDX-License-Identifier: MIT */
/* bfAttachDevice and bfDetachDevice, for programs that attach their own device: from the program's
 * description of the device and the settings of its environment, they create Belfry's device, its
 * trace session and its check of accesses. */
#include <stdlib.h>
#include <unistd.h>

#include "access/observe.h"
#include "base/message.h"
#include "base/structure.h"
#include "device/device.h"
#include "device/tell.h"
#include "gpu/driver_name.h"
#include "gpu/registry.h"
#include "settings/settings.h"
#include "trace/session.h"

struct attachment {
    VkQueueFamilyProperties *families;
    uint32_t family_count;
    struct bf_engine_info *engines;
    struct bf_queue_info *queues;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkPhysicalDeviceDriverProperties driver; /* zero: not known */
    uint64_t timeline_difference;            /* likewise */
    struct bf_sharing sharing;
};

static void attachment_finish(struct attachment *a)
{
    free(a->families);
    free(a->engines);
    free(a->queues);
}

static VkResult attachment_ask_instance(const BfAttachInfo *info, struct attachment *a)
{
    /* volk.h declares globals of the commands' own names, which no variable here may shadow. */
#define GET(name, command)                                                                         \
    PFN_##command name = (PFN_##command)info->pfnGetInstanceProcAddr(info->instance, #command)
    GET(get_properties, vkGetPhysicalDeviceProperties);
    GET(get_families, vkGetPhysicalDeviceQueueFamilyProperties);
    GET(get_memory, vkGetPhysicalDeviceMemoryProperties);
    GET(get_properties2, vkGetPhysicalDeviceProperties2); /* NULL: an instance of version 1.0 */
#undef GET
    if (!get_properties || !get_families || !get_memory)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    get_memory(info->physicalDevice, &a->memory);
    get_properties(info->physicalDevice, &a->properties);
    if (get_properties2 && a->properties.apiVersion >= VK_API_VERSION_1_2) {
        a->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        VkPhysicalDeviceTimelineSemaphoreProperties timelines = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES,
            .pNext = &a->driver};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &timelines};
        get_properties2(info->physicalDevice, &properties);
        a->timeline_difference = timelines.maxTimelineSemaphoreValueDifference;
    }
    if (info->externalSemaphoreFd && a->properties.apiVersion >= VK_API_VERSION_1_1)
        bf_sharing_ask(info->pfnGetInstanceProcAddr, info->instance, info->physicalDevice,
                       &a->sharing);
    get_families(info->physicalDevice, &a->family_count, NULL);
    a->families = calloc(a->family_count ? a->family_count : 1, sizeof(*a->families));
    a->engines = calloc(info->queueCount, sizeof(*a->engines));
    a->queues = calloc(info->queueCount, sizeof(*a->queues));
    if (!a->families || !a->engines || !a->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    get_families(info->physicalDevice, &a->family_count, a->families);
    return VK_SUCCESS;
}

static bool global_priority_is_known(VkQueueGlobalPriorityKHR priority)
{
    return priority == 0 || priority == VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR ||
           priority == VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR ||
           priority == VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR ||
           priority == VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR;
}

/* What a VkQueue can't have been created with is refused, with a line. */
static bool attach_queue_check(const BfAttachInfo *info, uint32_t i, const struct attachment *a)
{
    const VkDeviceQueueCreateFlags known =
        VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT | BF_QUEUE_INTERNALLY_SYNCHRONIZED;
    const BfAttachQueue *q = &info->pQueues[i];
    bool twice = false;
    for (uint32_t j = 0; j < i; j++) {
        const BfAttachQueue *other = &info->pQueues[j];
        /* Protected ones of a family are counted by themselves (vkGetDeviceQueue2). */
        bool same_place = other->queueFamilyIndex == q->queueFamilyIndex &&
                          other->queueIndex == q->queueIndex &&
                          !((other->flags ^ q->flags) & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
        twice = twice || other->queue == q->queue || same_place;
    }
    if (!q->queue || twice || q->queueFamilyIndex >= a->family_count) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: pQueues[%u]: queue %p%s, queueIndex %u, family %u of %u", i,
                   (void *)q->queue, twice ? " (a second time)" : "", q->queueIndex,
                   q->queueFamilyIndex, a->family_count);
        return false;
    }
    const uint32_t count = a->families[q->queueFamilyIndex].queueCount;
    if (q->queueIndex >= count) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: pQueues[%u]: queueIndex %u, of %u in family %u", i,
                   q->queueIndex, count, q->queueFamilyIndex);
        return false;
    }
    if (q->flags & ~known) {
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: pQueues[%u]: flags 0x%x: unknown bits", i,
                   q->flags);
        return false;
    }
    if (!global_priority_is_known(q->globalPriority)) {
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: pQueues[%u]: globalPriority %d is none", i,
                   (int)q->globalPriority);
        return false;
    }
    if (!(q->queuePriority >= 0 && q->queuePriority <= 1)) { /* nor NaN */
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: pQueues[%u]: queuePriority %g isn't 0 to 1",
                   i, (double)q->queuePriority);
        return false;
    }
    return true;
}

/* Each VkQueue is an engine, with one queue for what the program submits to it. */
static VkResult attachment_list_queues(const BfAttachInfo *info, struct attachment *a)
{
    for (uint32_t i = 0; i < info->queueCount; i++) {
        const BfAttachQueue *q = &info->pQueues[i];
        if (!attach_queue_check(info, i, a))
            return VK_ERROR_VALIDATION_FAILED_EXT;
        const VkQueueFamilyProperties *family = &a->families[q->queueFamilyIndex];
        a->engines[i] = (struct bf_engine_info){
            .handle = q->queue,
            .family = q->queueFamilyIndex,
            .index = q->queueIndex,
            .flags = q->flags,
            .family_flags = family->queueFlags,
            .timestamp_bits = family->timestampValidBits,
            .copies_whole = bf_family_copies_whole(family),
            .global_priority = q->globalPriority,
            .queue_priority = q->queuePriority,
        };
        a->queues[i] = (struct bf_queue_info){
            .family = q->queueFamilyIndex,
            .index = q->queueIndex,
            .family_flags = family->queueFlags,
            .flags = q->flags,
            .engine = i,
        };
    }
    return VK_SUCCESS;
}

static void attachment_tell_known(VkDevice device, bool attached)
{
    bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: device %p is attached already%s", (void *)device,
               attached ? "" : ", by the layer: use bfGetDevice");
}

static bool attach_info_check(const BfAttachInfo *info, const BfDevice *out)
{
    if (!bf_structure_check(info, BF_STRUCTURE_TYPE_ATTACH_INFO, "bfAttachDevice", "pInfo"))
        return false;
    if (!out || !info->pfnGetInstanceProcAddr || !info->pfnGetDeviceProcAddr || !info->instance ||
        !info->physicalDevice || !info->device || !info->pQueues || info->queueCount == 0 ||
        info->queueCount > BF_MAX_ENGINES) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: pDevice or a member is NULL, or queueCount (%u) is not 1 to %d",
                   info->queueCount, BF_MAX_ENGINES);
        return false;
    }
    if (info->hostPointerAlignment & (info->hostPointerAlignment - 1)) {
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: hostPointerAlignment %llu is no power of two",
                   (unsigned long long)info->hostPointerAlignment);
        return false;
    }
    for (uint32_t i = 0; i < info->settingCount; i++) {
        if (info->pSettings && info->pSettings[i].pKey && info->pSettings[i].pValue)
            continue;
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: pSettings is %s at %u of %u settings",
                   info->pSettings ? "without a key or a value" : "NULL", i, info->settingCount);
        return false;
    }
    bool attached, known = bf_gpu_find(info->device, &attached) != NULL;
    if (known)
        attachment_tell_known(info->device, attached);
    return !known;
}

/* NULL: the settings ask for no check of accesses, or there is no memory for one; the device goes
 * without. */
static struct bf_access *attachment_create_access_check(const struct bf_settings *settings)
{
    struct bf_access *check = NULL;
    if (settings->check == BF_CHECK_ACCESS &&
        bf_access_create(&(struct bf_access_info){.layer = false}, &check) != VK_SUCCESS)
        bf_message(BF_MESSAGE_WARNING, "access: nothing is checked: out of memory");
    return check;
}

VkResult bfAttachDevice(const BfAttachInfo *info, BfDevice *out)
{
    if (!attach_info_check(info, out))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_settings settings;
    struct attachment a = {0};
    VkResult result = bf_settings_load_attached(info->settingCount, info->pSettings, environ,
                                                bf_settings_is_privileged(), false, &settings);
    if (result != VK_SUCCESS)
        return result;
    if (info->nativeFences && !settings.native_fences) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: nativeFences is set, and the setting native_fences is off");
        bf_settings_finish(&settings);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    result = attachment_ask_instance(info, &a);
    if (result == VK_SUCCESS)
        result = attachment_list_queues(info, &a);
    struct bf_device *device = NULL;
    struct bf_trace *trace = NULL;
    struct bf_access *check = NULL;
    if (result == VK_SUCCESS) {
        bf_message_set_level(settings.messages);
        char driver[BF_DRIVER_NAME_SIZE];
        bf_driver_describe(&a.properties, &a.driver, driver);
        struct bf_family_map families;
        bf_family_map_init(a.families, a.family_count, BF_QUEUES_NATIVE, 0, &families);
        bf_device_tell(&(struct bf_device_tell){
            .call = "bfAttachDevice",
            .device = a.properties.deviceName,
            .driver = driver,
            .engine_count = info->queueCount,
            .map = &families,
            .settings = &settings,
        });
        trace = bf_trace_session_open(&settings, a.properties.deviceName, driver);
        check = attachment_create_access_check(&settings);
        const struct bf_device_info device_info = {
            .scheduler =
                {
                    .gpu =
                        {
                            .handle = info->device,
                            .get_proc_addr = info->pfnGetDeviceProcAddr,
                            .trace = trace,
                            .driver = &a.driver,
                            .driver_version = a.properties.driverVersion,
                            .timestamp_period_ns = a.properties.limits.timestampPeriod,
                            .host_query_reset = info->hostQueryReset,
                            .calibrated_timestamps = info->calibratedTimestamps,
                            .memory = a.memory,
                            .native_fences = info->nativeFences,
                            .buffer_addresses = info->bufferDeviceAddress,
                            .shader_int64 = info->shaderInt64,
                            .host_pointer_alignment = info->hostPointerAlignment,
                            .fence_log = settings.fence_log,
                            .sharing = a.sharing,
                            .timeline_difference = a.timeline_difference,
                            .device_fault = info->deviceFault,
                            .checkpoints = info->diagnosticCheckpoints,
                        },
                    .engine_count = info->queueCount,
                    .queue_count = info->queueCount,
                    .engines = a.engines,
                    .queues = a.queues,
                    .serialize_submits = settings.serialize_submits,
                    .preemption = settings.preemption,
                    .doorbell_info = bf_doorbell_info_of(&settings),
                    .shares_memory = !info->sharesNothing,
                    .observer = bf_access_observer(check),
                },
            .background_tasks = settings.background_tasks,
            .developer_mode = settings.developer_mode,
            .watchdog_ms = settings.watchdog,
            .tdr = bf_tdr_info_of(&settings),
            .cpu = a.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
            .attached = true,
            .at_interrupt = settings.at_interrupt,
            .summary = settings.summary,
        };
        result = bf_device_create(&device_info, &device);
        if (result == VK_ERROR_VALIDATION_FAILED_EXT) /* another thread's call was faster (RG-1) */
            attachment_tell_known(info->device, true);
    }
    attachment_finish(&a);
    bf_settings_finish(&settings);
    if (result != VK_SUCCESS) {
        bf_access_destroy(check);
        bf_trace_session_close(trace, false);
        return result;
    }
    *out = (BfDevice)device;
    return VK_SUCCESS;
}

void bfDetachDevice(BfDevice handle)
{
    struct bf_device *device = handle ? (struct bf_device *)bf_gpu_of(handle, __func__) : NULL;
    if (!device)
        return;
    if (!device->scheduler.gpu.attached) {
        bf_message(BF_MESSAGE_ERROR, "bfDetachDevice: the device is the layer's");
        return;
    }
    struct bf_trace *trace = device->scheduler.gpu.trace;
    struct bf_access *check = bf_access_of_observer(device->scheduler.observer);
    bool summary = device->summary;
    bf_device_destroy(device);
    bf_access_destroy(check);
    bf_trace_session_close(trace, summary);
}
