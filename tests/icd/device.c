/* SPDX-License-Identifier: MIT */
/* Devices: creation, queues, calibrated time, private data, and the leak check at the end. */
#include "icd.h"

#include <sched.h>

#include <time.h>

static VkResult extensions_enable(struct icd_device *device, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        const char *name = info->ppEnabledExtensionNames[i];
        if (strcmp(name, device->config->hollow) == 0) {
            device->enabled_hollow = true;
            continue;
        }
        int e = ICD_INSTANCE_EXTENSIONS_END;
        while (e < ICD_EXTENSION_COUNT && strcmp(name, icd_extension_properties[e].extensionName))
            e++;
        if (e == ICD_EXTENSION_COUNT ||
            !icd_extension_offered(device->config, (enum icd_extension)e)) {
            fprintf(stderr, "belfry test driver: vkCreateDevice: no extension %s here\n", name);
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
        device->enabled[e] = true;
    }
    return VK_SUCCESS;
}

static VkQueueGlobalPriorityKHR global_priority(const VkDeviceQueueCreateInfo *q)
{
    for (const VkBaseInStructure *s = q->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR)
            return ((const VkDeviceQueueGlobalPriorityCreateInfoKHR *)s)->globalPriority;
    return 0;
}

/* A queue's priority may be refused; VkDeviceQueueGlobalPriorityCreateInfoKHR says when. All of a
 * family's queues have the same (VUID-VkDeviceCreateInfo-pQueueCreateInfos-06654). */
static VkResult priorities_check(const struct icd_config *config, const VkDeviceCreateInfo *info,
                                 const VkDeviceQueueCreateInfo *q)
{
    VkQueueGlobalPriorityKHR asked = global_priority(q);
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *other = &info->pQueueCreateInfos[i];
        if (other->queueFamilyIndex == q->queueFamilyIndex && global_priority(other) != asked) {
            fprintf(stderr,
                    "belfry test driver: vkCreateDevice: family %u with global priorities %d and "
                    "%d\n",
                    q->queueFamilyIndex, (int)asked, (int)global_priority(other));
            return VK_ERROR_UNKNOWN;
        }
    }
    if (asked >= VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR && !config->realtime)
        return VK_ERROR_NOT_PERMITTED_KHR;
    if (asked == VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR ? config->low == 0 : config->low == 2)
        return VK_ERROR_NOT_PERMITTED_KHR;
    if (asked == VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR && config->high != 1)
        return config->high ? VK_ERROR_INITIALIZATION_FAILED : VK_ERROR_NOT_PERMITTED_KHR;
    return VK_SUCCESS;
}

/* A family's queues may be of both kinds. */
static uint32_t queues_of(const VkDeviceCreateInfo *info, uint32_t family)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
        if (info->pQueueCreateInfos[i].queueFamilyIndex == family)
            count += info->pQueueCreateInfos[i].queueCount;
    return count;
}

/* The flags that a queue of the family may be created with. */
static VkDeviceQueueCreateFlags queue_flags(const struct icd_config *config, uint32_t family,
                                            const VkDeviceCreateInfo *info)
{
    VkDeviceQueueCreateFlags flags = 0;
    if (config->shape.families[family].flags & VK_QUEUE_PROTECTED_BIT)
        flags |= VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == ICD_INTERNAL_QUEUES_FEATURES && *(const VkBool32 *)(s + 1))
            flags |= ICD_INTERNAL_QUEUE;
    return flags;
}

static VkResult queues_check(const struct icd_config *config, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *q = &info->pQueueCreateInfos[i];
        if (q->queueFamilyIndex >= config->shape.n_families ||
            queues_of(info, q->queueFamilyIndex) >
                config->shape.families[q->queueFamilyIndex].count ||
            (q->flags & ~queue_flags(config, q->queueFamilyIndex, info))) {
            fprintf(
                stderr,
                "belfry test driver: vkCreateDevice: no %u queues with flags %#x in family %u\n",
                q->queueCount, q->flags, q->queueFamilyIndex);
            return VK_ERROR_INITIALIZATION_FAILED;
        }
        VkResult result = priorities_check(config, info, q);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

static bool process_is_modest(void)
{
    cpu_set_t allowed;
    return sched_getscheduler(0) == SCHED_IDLE &&
           sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) == 1;
}

static VkResult icd_CreateDevice(VkPhysicalDevice physicalDevice,
                                 const VkDeviceCreateInfo *pCreateInfo,
                                 const VkAllocationCallbacks *pAllocator, VkDevice *pDevice)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    struct icd_instance *instance = physical->instance;
    if (icd_oom(instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;

    if (physical->config.modest && !process_is_modest())
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = icd_features_check(&physical->config, pCreateInfo);
    if (result == VK_SUCCESS)
        result = queues_check(&physical->config, pCreateInfo);
    if (result != VK_SUCCESS)
        return result;

    struct icd_device *device = icd_object_new(NULL, ICD_KIND_DEVICE, sizeof(*device));
    if (!device)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    device->instance = instance;
    device->config = &physical->config;
    result = extensions_enable(device, pCreateInfo);
    if (result != VK_SUCCESS)
        goto free_device;

    uint32_t n = 0;
    for (uint32_t i = 0; i < pCreateInfo->queueCreateInfoCount; i++)
        n += pCreateInfo->pQueueCreateInfos[i].queueCount;
    device->queues = calloc(n ? n : 1, sizeof(*device->queues));
    if (!device->queues) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto free_device;
    }
    for (uint32_t i = 0; i < pCreateInfo->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *q = &pCreateInfo->pQueueCreateInfos[i];
        for (uint32_t k = 0; k < q->queueCount; k++) {
            struct icd_queue *queue = &device->queues[device->n_queues++];
            icd_queue_init(queue, device, q->queueFamilyIndex, k, q->flags);
            queue->global_priority = global_priority(q);
            queue->priority = q->pQueuePriorities[k];
        }
    }
    device->process = getpid();
    icd_lock();
    device->next = icd_world.devices;
    icd_world.devices = device;
    icd_unlock();
    *pDevice = (VkDevice)device;
    return VK_SUCCESS;

free_device:
    icd_object_free(device);
    return result;
}

static void icd_DestroyDevice(VkDevice device_, const VkAllocationCallbacks *pAllocator)
{
    if (!device_)
        return;
    struct icd_device *device = ICD_DEV(device_);
    if (device->process != getpid())
        return; /* there is nobody to wait for */

    icd_lock();
    for (uint32_t i = 0; i < device->n_queues; i++) {
        struct icd_queue *queue = &device->queues[i];
        if (queue->accepted != queue->finished && !device->lost)
            icd_violation(BELFRY_ICD_DESTROY_PENDING,
                          "the device is destroyed while queue %u:%u has work", queue->family,
                          queue->index);
    }
    icd_unlock();
    for (uint32_t i = 0; i < device->n_queues; i++)
        icd_queue_finish(&device->queues[i]);

    for (int i = 0; i < ICD_KIND_COUNTED; i++)
        for (int64_t n = device->live[i]; n > 0; n--)
            icd_violation(BELFRY_ICD_LEAK, "%s, %lld of %lld, is alive at vkDestroyDevice",
                          icd_kind_name((enum icd_kind)(ICD_KIND_FIRST_COUNTED + i)),
                          (long long)(device->live[i] - n + 1), (long long)device->live[i]);

    icd_lock();
    for (uint32_t i = 0; i < device->n_queues; i++)
        icd_keep_counts(&device->queues[i]);
    struct icd_device **link = &icd_world.devices;
    while (*link != device)
        link = &(*link)->next;
    *link = device->next;
    icd_unlock();
    free(device->queues);
    icd_object_free(device);
}

/* Queues ------------------------------------------------------------------------------------ */

void icd_family_seen(struct icd_device *device, uint32_t family, const char *call)
{
    if (family < device->config->shape.n_families || family == VK_QUEUE_FAMILY_IGNORED ||
        family == VK_QUEUE_FAMILY_EXTERNAL || family == VK_QUEUE_FAMILY_FOREIGN_EXT)
        return;
    icd_violation(BELFRY_ICD_UNKNOWN_FAMILY, "%s names queue family %u of %u", call, family,
                  device->config->shape.n_families);
}

void icd_device_seen(const struct icd_device *device, const void *object_, const char *call)
{
    const struct icd_object *object = object_;
    if (object->device == device)
        return;
    icd_violation(BELFRY_ICD_FOREIGN_OBJECT, "%s on physical device %u gets a %s of another device",
                  call, device->config->ordinal, icd_kind_name(object->kind));
}

static VkQueue queue_find(struct icd_device *device, uint32_t family, uint32_t index,
                          VkDeviceQueueCreateFlags flags)
{
    if (family == device->config->null_family && index == device->config->null_index)
        return VK_NULL_HANDLE;
    for (uint32_t i = 0; i < device->n_queues; i++) {
        struct icd_queue *queue = &device->queues[i];
        if (queue->family == family && queue->index == index && queue->flags == flags)
            return (VkQueue)queue;
    }
    return VK_NULL_HANDLE;
}

static void icd_GetDeviceQueue(VkDevice device, uint32_t queueFamilyIndex, uint32_t queueIndex,
                               VkQueue *pQueue)
{
    *pQueue = queue_find(ICD_DEV(device), queueFamilyIndex, queueIndex, 0);
}

static void icd_GetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *pInfo, VkQueue *pQueue)
{
    *pQueue = queue_find(ICD_DEV(device), pInfo->queueFamilyIndex, pInfo->queueIndex, pInfo->flags);
}

/* Time -------------------------------------------------------------------------------------- */

static VkResult icd_GetCalibratedTimestampsEXT(VkDevice device_, uint32_t timestampCount,
                                               const VkCalibratedTimestampInfoEXT *pInfos,
                                               uint64_t *pTimestamps, uint64_t *pMaxDeviation)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    /* As wide as the widest family's timestamps: what they can be compared with. */
    uint32_t bits = 0;
    for (uint32_t i = 0; i < device->config->shape.n_families; i++)
        if (device->config->shape.families[i].timestamp_bits > bits)
            bits = device->config->shape.families[i].timestamp_bits;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    uint64_t begin = icd_now();
    for (uint32_t i = 0; i < timestampCount; i++) {
        struct timespec t;
        switch (pInfos[i].timeDomain) {
        case VK_TIME_DOMAIN_DEVICE_EXT:
            pTimestamps[i] = icd_ticks(device->config, icd_now()) & mask;
            break;
        case VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT:
            pTimestamps[i] = icd_now();
            break;
        default:
            clock_gettime(CLOCK_MONOTONIC_RAW, &t);
            pTimestamps[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
            break;
        }
    }
    /* One device tick may lie between the device's clock and ours, and this call's length. */
    const struct icd_shape *shape = &device->config->shape;
    *pMaxDeviation = icd_now() - begin + shape->per_ns / shape->ticks + 1;
    return VK_SUCCESS;
}

/* What a lost device tells ------------------------------------------------------------------- */

/* Vulkan lets nobody ask before. */
static void lost_check(const struct icd_device *device, const char *call)
{
    if (device->lost)
        return;
    fprintf(stderr, "belfry test driver: %s: the device isn't lost\n", call);
    abort();
}

static VkResult icd_GetDeviceFaultInfoEXT(VkDevice device, VkDeviceFaultCountsEXT *pCounts,
                                          VkDeviceFaultInfoEXT *pInfo)
{
    lost_check(ICD_DEV(device), "vkGetDeviceFaultInfoEXT");
    pCounts->addressInfoCount = pCounts->vendorInfoCount = 1;
    pCounts->vendorBinarySize = 0;
    if (!pInfo)
        return VK_SUCCESS;
    snprintf(pInfo->description, sizeof(pInfo->description), "lost on demand");
    pInfo->pAddressInfos[0] = (VkDeviceFaultAddressInfoEXT){
        VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0xbad000, 4096};
    pInfo->pVendorInfos[0] = (VkDeviceFaultVendorInfoEXT){"no vendor", 7, 8};
    return VK_SUCCESS;
}

static void icd_GetQueueCheckpointDataNV(VkQueue queue, uint32_t *pCount, VkCheckpointDataNV *pData)
{
    lost_check(ICD_FROM(icd_queue, ICD_KIND_QUEUE, queue)->object.device,
               "vkGetQueueCheckpointDataNV");
    *pCount = 1;
    if (pData) {
        pData->stage = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
        pData->pCheckpointMarker = (void *)(uintptr_t)0xc0;
    }
}

/* Device groups of one ---------------------------------------------------------------------- */

static void icd_GetDeviceGroupPeerMemoryFeatures(VkDevice device, uint32_t heapIndex,
                                                 uint32_t localDeviceIndex,
                                                 uint32_t remoteDeviceIndex,
                                                 VkPeerMemoryFeatureFlags *pFeatures)
{
    *pFeatures = VK_PEER_MEMORY_FEATURE_COPY_SRC_BIT | VK_PEER_MEMORY_FEATURE_COPY_DST_BIT |
                 VK_PEER_MEMORY_FEATURE_GENERIC_SRC_BIT | VK_PEER_MEMORY_FEATURE_GENERIC_DST_BIT;
}

const struct icd_entry icd_device_entries[] = {
    ICD_CORE(ICD_PHYSICAL, 0, CreateDevice),
    ICD_CORE(ICD_DEVICE, 0, DestroyDevice),
    ICD_CORE(ICD_DEVICE, 0, GetDeviceQueue),
    ICD_CORE(ICD_DEVICE, 1, GetDeviceQueue2),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_DEVICE_GROUP, GetDeviceGroupPeerMemoryFeatures),
    ICD_EXTRA(ICD_DEVICE, ICD_EXT_CALIBRATED_TIMESTAMPS, GetCalibratedTimestampsEXT,
              GetCalibratedTimestampsEXT),
    ICD_EXTRA(ICD_DEVICE, ICD_EXT_DEVICE_FAULT, GetDeviceFaultInfoEXT, GetDeviceFaultInfoEXT),
    ICD_EXTRA(ICD_DEVICE, ICD_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS, GetQueueCheckpointDataNV,
              GetQueueCheckpointDataNV),
    ICD_END};
