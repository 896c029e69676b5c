/* SPDX-License-Identifier: MIT */
/* Commands that say something of a whole VkQueue, or of the ids by which a driver tells submissions
 * and presents of a frame: what arrives is recorded, and nothing comes of it. Newer than the oldest
 * headers. */
#include "icd.h"

#define QUEUE(handle_) ICD_FROM(icd_queue, ICD_KIND_QUEUE, handle_)

/* VkOutOfBandQueueTypeInfoNV, VkPerfHintInfoQCOM */
struct said {
    VkStructureType sType;
    const void *pNext;
    uint32_t word, scale;
};

struct external_queue_info {
    VkStructureType sType;
    const void *pNext;
    VkQueue preferred;
};

struct sleep_info {
    VkStructureType sType;
    const void *pNext;
    VkSemaphore semaphore;
    uint64_t value;
};

uint64_t icd_id(const void *chain)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == (VkStructureType)1000505005) /* VkLatencySubmissionPresentIdNV */
            return *(const uint64_t *)(s + 1);
        if (s->sType == VK_STRUCTURE_TYPE_PRESENT_ID_KHR)
            return ((const VkPresentIdKHR *)s)->pPresentIds[0];
    }
    return 0;
}

/* On a VkQueue that is the driver's own, and that no other call is on. */
static void hear(VkQueue handle, const char *call, uint64_t id)
{
    struct icd_queue *queue = QUEUE(handle);
    struct belfry_icd_record record = {.call = BELFRY_ICD_CALL_TOLD,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .label = call,
                                       .id = id};
    icd_queue_enter(queue, call);
    icd_lock();
    icd_record(&record);
    icd_unlock();
    icd_queue_leave(queue);
}

static void icd_QueueNotifyOutOfBandNV(VkQueue queue, const struct said *pQueueTypeInfo)
{
    hear(queue, "vkQueueNotifyOutOfBandNV", pQueueTypeInfo->word);
}

static void icd_QueueNotifyOutOfBandLegacyNV(VkQueue queue, uint32_t queueType)
{
    hear(queue, "vkQueueNotifyOutOfBandLegacyNV", queueType);
}

static VkResult icd_QueueSetPerfHintQCOM(VkQueue queue, const struct said *pPerfHintInfo)
{
    hear(queue, "vkQueueSetPerfHintQCOM", pPerfHintInfo->word);
    return VK_SUCCESS;
}

static VkResult icd_CreateExternalComputeQueueNV(VkDevice device,
                                                 const struct external_queue_info *pCreateInfo,
                                                 const VkAllocationCallbacks *pAllocator,
                                                 void **pExternalQueue)
{
    ICD_FAULT_MAKING(pExternalQueue, ICD_DEV(device));
    hear(pCreateInfo->preferred, "vkCreateExternalComputeQueueNV", 0);
    *pExternalQueue =
        icd_object_new(ICD_DEV(device), ICD_KIND_EXTERNAL_QUEUE, sizeof(struct icd_object));
    return *pExternalQueue ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyExternalComputeQueueNV(VkDevice device, void *externalQueue,
                                              const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(ICD_FROM(icd_object, ICD_KIND_EXTERNAL_QUEUE, externalQueue));
}

/* The next frame may begin at once. */
static VkResult icd_LatencySleepLegacyNV(VkDevice device, VkSemaphore signalSemaphore,
                                         uint64_t value)
{
    const VkSemaphoreSignalInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, NULL,
                                        signalSemaphore, value};
    return icd_SignalSemaphore(device, &info);
}

static VkResult icd_LatencySleepNV(VkDevice device, VkSwapchainKHR swapchain,
                                   const struct sleep_info *pSleepInfo)
{
    return icd_LatencySleepLegacyNV(device, pSleepInfo->semaphore, pSleepInfo->value);
}

/* What no VkQueue has a part in: sleep modes, markers, timings. */
static VkResult icd_SetLatencySleepModeNV(VkDevice device, VkSwapchainKHR swapchain,
                                          const void *pInfo)
{
    ICD_FAULT(ICD_DEV(device));
    return VK_SUCCESS;
}

static void icd_SetLatencyMarkerNV(VkDevice device, VkSwapchainKHR swapchain, const void *pInfo)
{
    ICD_DEV(device);
}

#define NEW(extension_, name_, function_)                                                          \
    {                                                                                              \
        "vk" #name_, (PFN_vkVoidFunction)icd_##function_, ICD_DEVICE, 0, extension_                \
    }

const struct icd_entry icd_latency_entries[] = {
    NEW(ICD_NV_LOW_LATENCY_2, QueueNotifyOutOfBandNV, QueueNotifyOutOfBandNV),
    NEW(ICD_NV_LOW_LATENCY_2, LatencySleepNV, LatencySleepNV),
    NEW(ICD_NV_LOW_LATENCY_2, SetLatencySleepModeNV, SetLatencySleepModeNV),
    NEW(ICD_NV_LOW_LATENCY_2, SetLatencyMarkerNV, SetLatencyMarkerNV),
    NEW(ICD_NV_LOW_LATENCY_2, GetLatencyTimingsNV, SetLatencyMarkerNV),
    NEW(ICD_NV_LOW_LATENCY, QueueNotifyOutOfBandLegacyNV, QueueNotifyOutOfBandLegacyNV),
    NEW(ICD_NV_LOW_LATENCY, LatencySleepLegacyNV, LatencySleepLegacyNV),
    NEW(ICD_QCOM_QUEUE_PERF_HINT, QueueSetPerfHintQCOM, QueueSetPerfHintQCOM),
    NEW(ICD_NV_EXTERNAL_COMPUTE_QUEUE, CreateExternalComputeQueueNV, CreateExternalComputeQueueNV),
    NEW(ICD_NV_EXTERNAL_COMPUTE_QUEUE, DestroyExternalComputeQueueNV,
        DestroyExternalComputeQueueNV),
    ICD_END,
};
