/*
 * How a program gets at Belfry's side of its device: where the layer has attached it, or by
 * attaching it itself.
 */
#include <stdlib.h>
#include <unistd.h>

#include "access/vulkan.h"
#include "device/device.h"
#include "device/timeline.h"
#include "fence/ledger.h"
#include "base/message.h"
#include "settings/settings.h"

/* All devices of the process that Belfry schedules. */
static struct bf_lock registry_lock;
static struct bf_device *registry;

static struct bf_device *find_device(VkDevice handle)
{
    struct bf_device *device = registry;
    while (device && device->handle != handle)
        device = device->next_registered;
    return device;
}

void bf_device_register(struct bf_device *device)
{
    bf_lock_acquire(&registry_lock);
    device->next_registered = registry;
    registry = device;
    bf_lock_release(&registry_lock);
}

void bf_device_unregister(struct bf_device *device)
{
    bf_lock_acquire(&registry_lock);
    struct bf_device **link = &registry;
    while (*link && *link != device)
        link = &(*link)->next_registered;
    if (*link)
        *link = device->next_registered;
    bf_lock_release(&registry_lock);
}

struct bf_device *bf_device_of(BfDevice handle, const char *call)
{
    bf_lock_acquire(&registry_lock);
    struct bf_device *device = registry;
    while (device && device != (struct bf_device *)handle)
        device = device->next_registered;
    bf_lock_release(&registry_lock);
    if (!device)
        bf_message(BF_MESSAGE_ERROR, "%s: device is no live device: %p", call, (void *)handle);
    return device;
}

VkResult bfGetDevice(VkDevice handle, BfDevice *out)
{
    if (!handle || !out) {
        bf_message(BF_MESSAGE_ERROR, "bfGetDevice: device or pDevice is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_lock_acquire(&registry_lock);
    struct bf_device *device = find_device(handle);
    bf_lock_release(&registry_lock);
    if (!device || device->attached)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    *out = (BfDevice)device;
    return VK_SUCCESS;
}

struct attachment {
    VkQueueFamilyProperties *families;
    uint32_t family_count;
    struct bf_engine_info *engines;
    struct bf_queue_info *queues;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    struct bf_sharing sharing;
};

static void attachment_finish(struct attachment *a)
{
    free(a->families);
    free(a->engines);
    free(a->queues);
}

static VkResult ask_instance(const BfAttachInfo *info, struct attachment *a)
{
#define GET(name) PFN_##name name = (PFN_##name)info->pfnGetInstanceProcAddr(info->instance, #name)
    GET(vkGetPhysicalDeviceProperties);
    GET(vkGetPhysicalDeviceQueueFamilyProperties);
    GET(vkGetPhysicalDeviceMemoryProperties);
#undef GET
    if (!vkGetPhysicalDeviceProperties || !vkGetPhysicalDeviceQueueFamilyProperties ||
        !vkGetPhysicalDeviceMemoryProperties)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    vkGetPhysicalDeviceMemoryProperties(info->physicalDevice, &a->memory);
    vkGetPhysicalDeviceProperties(info->physicalDevice, &a->properties);
    if (info->externalSemaphoreFd && a->properties.apiVersion >= VK_API_VERSION_1_1)
        bf_sharing_ask(info->pfnGetInstanceProcAddr, info->instance, info->physicalDevice,
                       &a->sharing);
    vkGetPhysicalDeviceQueueFamilyProperties(info->physicalDevice, &a->family_count, NULL);
    a->families = calloc(a->family_count ? a->family_count : 1, sizeof(*a->families));
    a->engines = calloc(info->queueCount, sizeof(*a->engines));
    a->queues = calloc(info->queueCount, sizeof(*a->queues));
    if (!a->families || !a->engines || !a->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    vkGetPhysicalDeviceQueueFamilyProperties(info->physicalDevice, &a->family_count, a->families);
    return VK_SUCCESS;
}

/* Each VkQueue is an engine, with one queue for what the program submits to it. */
static VkResult list_queues(const BfAttachInfo *info, struct attachment *a)
{
    for (uint32_t i = 0; i < info->queueCount; i++) {
        const BfAttachQueue *q = &info->pQueues[i];
        bool twice = false;
        for (uint32_t j = 0; j < i; j++)
            twice = twice || info->pQueues[j].queue == q->queue;
        if (!q->queue || twice || q->queueFamilyIndex >= a->family_count) {
            bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: pQueues[%u]: queue %p%s, family %u of %u",
                       i, (void *)q->queue, twice ? " (a second time)" : "", q->queueFamilyIndex,
                       a->family_count);
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        const VkQueueFamilyProperties *family = &a->families[q->queueFamilyIndex];
        a->engines[i] = (struct bf_engine_info){
            .handle = q->queue,
            .family = q->queueFamilyIndex,
            .index = q->queueIndex,
            .flags = q->flags,
            .family_flags = family->queueFlags,
            .timestamp_bits = family->timestampValidBits,
            .global_priority = q->globalPriority,
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

static bool check_info(const BfAttachInfo *info, const BfDevice *out)
{
    if (!info || !out || info->pNext || !info->pfnGetInstanceProcAddr ||
        !info->pfnGetDeviceProcAddr || !info->instance || !info->physicalDevice || !info->device ||
        !info->pQueues || info->queueCount == 0 || info->queueCount > BF_MAX_ENGINES) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: a member is NULL, pNext is not, or queueCount is not 1 to %d",
                   BF_MAX_ENGINES);
        return false;
    }
    bf_lock_acquire(&registry_lock);
    const struct bf_device *known = find_device(info->device);
    bf_lock_release(&registry_lock);
    if (known)
        bf_message(BF_MESSAGE_ERROR, "bfAttachDevice: device %p is attached already%s",
                   (void *)info->device, known->attached ? "" : ", by the layer: use bfGetDevice");
    return !known;
}

VkResult bfAttachDevice(const BfAttachInfo *info, BfDevice *out)
{
    if (!check_info(info, out))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_settings settings;
    struct attachment a = {0};
    VkResult result =
        bf_settings_load(NULL, environ, bf_settings_is_privileged(), false, stderr, &settings);
    if (result != VK_SUCCESS)
        return result;
    if (info->nativeFences && !settings.native_fences) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfAttachDevice: nativeFences is set, and the setting native_fences is off");
        bf_settings_finish(&settings);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    result = ask_instance(info, &a);
    if (result == VK_SUCCESS)
        result = list_queues(info, &a);
    struct bf_device *device = NULL;
    struct bf_trace *trace = NULL;
    if (result == VK_SUCCESS) {
        bf_message_set_level(settings.messages);
        trace = bf_timeline_open(&settings, a.properties.deviceName, a.properties.driverVersion);
        const struct bf_device_info device_info = {
            .handle = info->device,
            .get_proc_addr = info->pfnGetDeviceProcAddr,
            .engine_count = info->queueCount,
            .queue_count = info->queueCount,
            .engines = a.engines,
            .queues = a.queues,
            .serialize_submits = settings.serialize_submits,
            .check_access = settings.check == BF_CHECK_ACCESS,
            .background_tasks = settings.background_tasks,
            .developer_mode = settings.developer_mode,
            .trace = trace,
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
        };
        result = bf_device_create(&device_info, &device);
    }
    const bool summary = settings.summary;
    attachment_finish(&a);
    bf_settings_finish(&settings);
    if (result != VK_SUCCESS) {
        bf_timeline_close(trace, false);
        return result;
    }
    device->attached = true;
    device->summary = summary;
    *out = (BfDevice)device;
    return VK_SUCCESS;
}

void bfDetachDevice(BfDevice handle)
{
    struct bf_device *device = handle ? bf_device_of(handle, __func__) : NULL;
    if (!device)
        return;
    if (!device->attached) {
        bf_message(BF_MESSAGE_ERROR, "bfDetachDevice: the device is the layer's");
        return;
    }
    struct bf_trace *trace = device->trace;
    bool summary = device->summary;
    bf_device_destroy(device);
    bf_timeline_close(trace, summary);
}

struct bf_queue *bf_device_vkqueue(BfDevice handle, VkQueue queue, const char *call)
{
    struct bf_device *device = bf_device_of(handle, call);
    for (uint32_t i = 0; device && i < device->queue_count; i++) {
        struct bf_queue *q = &device->queues[i];
        if ((device->attached ? q->engine->handle : (VkQueue)q) == queue)
            return q;
    }
    if (device)
        bf_message(BF_MESSAGE_ERROR, "%s: queue %p is no attached VkQueue", call, (void *)queue);
    return NULL;
}

static bool check_semaphores(struct bf_device *device, const VkSemaphoreSubmitInfo *list,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count && !device->attached; i++) {
        if (bf_semaphore_find(device, list[i].semaphore))
            continue;
        bf_message(BF_MESSAGE_ERROR, "bfVkQueueSubmit: semaphore 0x%llx is none of this device's%s",
                   (unsigned long long)list[i].semaphore,
                   bf_above_excuse(device, VK_OBJECT_TYPE_SEMAPHORE));
        return false;
    }
    return true;
}

/* On an attached device, or where the program has no vkQueueSubmit2 to go by: then the handles have
 * to be those that Belfry knows. */
static VkResult submit_here(struct bf_queue *queue, VkQueue vk_queue, uint32_t count,
                            const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_access *access = queue->device->access;
    for (uint32_t i = 0; i < count; i++) {
        if (!check_semaphores(queue->device, infos[i].pWaitSemaphoreInfos,
                              infos[i].waitSemaphoreInfoCount) ||
            !check_semaphores(queue->device, infos[i].pSignalSemaphoreInfos,
                              infos[i].signalSemaphoreInfoCount))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_access_vkqueue_submit2(access, vk_queue, count, infos, fence);
    VkResult result = bf_queue_submit(queue, count, infos, fence);
    if (result != VK_SUCCESS)
        bf_access_stop(access, "bfVkQueueSubmit has failed");
    return result;
}

VkResult bfVkQueueSubmit(BfDevice handle, VkQueue vk_queue, uint32_t count,
                         const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_queue *queue = bf_device_vkqueue(handle, vk_queue, __func__);
    if (queue && count && !infos)
        bf_message(BF_MESSAGE_ERROR, "bfVkQueueSubmit: pSubmits is NULL");
    if (!queue || (count && !infos))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_packet_can_copy_submit(&infos[i])) {
            bf_message(BF_MESSAGE_ERROR,
                       "bfVkQueueSubmit: pSubmits[%u] has a struct chained to it that "
                       "can't be copied",
                       i);
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    PFN_vkQueueSubmit2 submit2 = bf_above_submit2(queue->device);
    if (!submit2)
        return submit_here(queue, vk_queue, count, infos, fence);
    bf_lock_acquire(&queue->calls_lock);
    VkResult result = submit2(vk_queue, count, infos, fence);
    bf_lock_release(&queue->calls_lock);
    return result;
}

VkResult bfLockVkQueue(BfDevice handle, VkQueue vk_queue)
{
    struct bf_queue *queue = bf_device_vkqueue(handle, vk_queue, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (queue->device->attached)
        bf_engine_enter(queue->engine);
    else
        bf_lock_acquire(&queue->calls_lock);
    return VK_SUCCESS;
}

VkResult bfUnlockVkQueue(BfDevice handle, VkQueue vk_queue)
{
    struct bf_queue *queue = bf_device_vkqueue(handle, vk_queue, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (queue->device->attached) {
        atomic_store(&queue->unwitnessed, true); /* whatever went in there */
        bf_engine_leave(queue->engine, 0);
        bf_access_idle(queue->device->access); /* it may have been a wait */
    } else {
        bf_lock_release(&queue->calls_lock);
    }
    return VK_SUCCESS;
}

VkResult bfGetDeviceCounters(BfDevice handle, BfDeviceCounters *out)
{
    struct bf_device *device = bf_device_of(handle, __func__);
    if (device && !out)
        bf_message(BF_MESSAGE_ERROR, "bfGetDeviceCounters: pCounters is NULL");
    if (!device || !out)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_counters *c = &device->counters;
    *out = (BfDeviceCounters){
        .sleeperWakeups = atomic_load(&c->sleeper_wakeups),
        .sleeperThreads = atomic_load(&c->sleeper_threads),
        .submissions = atomic_load(&c->submissions),
        .driverCalls = atomic_load(&c->driver_calls),
        .blockedWaits = atomic_load(&c->blocked_waits),
        .semaphoreWaits = atomic_load(&c->semaphore_waits),
        .barriers = atomic_load(&c->barriers),
        .counterQueries = atomic_load(&c->counter_queries),
        .eventsSet = atomic_load(&c->events_set),
        .sharedWakeups = atomic_load(&c->shared_wakeups),
        .peerWaits = atomic_load(&c->peer_waits),
    };
    return VK_SUCCESS;
}
