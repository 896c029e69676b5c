/* SPDX-License-Identifier: MIT */
/* Fences and events. */
#include "icd.h"

#define FENCE(handle_) ICD_FROM(icd_fence, ICD_KIND_FENCE, handle_)
#define EVENT(handle_) ICD_FROM(icd_event, ICD_KIND_EVENT, handle_)

/* Fences ------------------------------------------------------------------------------------ */

static VkResult icd_CreateFence(VkDevice device_, const VkFenceCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkFence *pFence)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pFence, device);
    struct icd_fence *fence = icd_object_new(device, ICD_KIND_FENCE, sizeof(*fence));
    if (!fence)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    fence->refs = 1;
    fence->signalled = pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT;
    *pFence = ICD_HANDLE(VkFence, fence);
    return VK_SUCCESS;
}

void icd_fence_unref(struct icd_fence *fence)
{
    if (--fence->refs == 0)
        free(fence);
}

static void icd_DestroyFence(VkDevice device_, VkFence fence_,
                             const VkAllocationCallbacks *pAllocator)
{
    if (!fence_)
        return;
    struct icd_fence *fence = FENCE(fence_);
    icd_lock();
    if (fence->pending)
        icd_violation(BELFRY_ICD_DESTROY_PENDING, "a fence is destroyed while pending");
    icd_object_uncount(fence);
    fence->object.kind = 0;
    icd_fence_unref(fence);
    icd_unlock();
}

void icd_fence_submit(struct icd_fence *fence, const char *call)
{
    if (fence->pending || fence->signalled)
        icd_violation(BELFRY_ICD_FENCE_BUSY, "%s gets a fence that is %s", call,
                      fence->pending ? "pending" : "signalled");
    fence->pending = true;
    fence->refs++;
}

void icd_fence_signal(struct icd_fence *fence)
{
    fence->signalled = true;
    fence->pending = false;
    if (fence->host_waiters)
        pthread_cond_broadcast(&icd_world.host);
}

static VkResult icd_ResetFences(VkDevice device_, uint32_t fenceCount, const VkFence *pFences)
{
    struct icd_device *device = ICD_DEV(device_);
    /* Only out of device memory may be returned here: no fault. */
    icd_lock();
    for (uint32_t i = 0; i < fenceCount; i++) {
        struct icd_fence *fence = FENCE(pFences[i]);
        icd_device_seen(device, fence, "vkResetFences");
        if (fence->pending)
            icd_violation(BELFRY_ICD_FENCE_BUSY, "a fence is reset while pending");
        fence->signalled = false;
    }
    icd_unlock();
    return VK_SUCCESS;
}

static VkResult icd_GetFenceStatus(VkDevice device_, VkFence fence)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    icd_device_seen(device, FENCE(fence), "vkGetFenceStatus");
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    return FENCE(fence)->signalled ? VK_SUCCESS : VK_NOT_READY;
}

static bool fences_signalled(uint32_t n, const VkFence *fences, bool all)
{
    for (uint32_t i = 0; i < n; i++)
        if (FENCE(fences[i])->signalled != all)
            return !all;
    return all;
}

static VkResult icd_WaitForFences(VkDevice device_, uint32_t fenceCount, const VkFence *pFences,
                                  VkBool32 waitAll, uint64_t timeout)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    for (uint32_t i = 0; i < fenceCount; i++)
        icd_device_seen(device, FENCE(pFences[i]), "vkWaitForFences");
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    bool all = waitAll || fenceCount == 1;
    if (fences_signalled(fenceCount, pFences, all))
        return VK_SUCCESS;
    if (timeout == 0)
        return VK_TIMEOUT;

    uint64_t deadline = icd_deadline(timeout);
    VkResult result;
    icd_lock();
    icd_world.watchers++;
    for (uint32_t i = 0; i < fenceCount; i++)
        FENCE(pFences[i])->host_waiters++;
    for (bool in_time = true;; in_time = icd_host_sleep(deadline)) {
        result = device->lost                                 ? VK_ERROR_DEVICE_LOST
                 : fences_signalled(fenceCount, pFences, all) ? VK_SUCCESS
                                                              : VK_TIMEOUT;
        if (result != VK_TIMEOUT || !in_time)
            break;
    }
    for (uint32_t i = 0; i < fenceCount; i++)
        FENCE(pFences[i])->host_waiters--;
    icd_world.watchers--;
    icd_unlock();
    icd_block(__func__, true);
    return result;
}

/* Events ------------------------------------------------------------------------------------ */

static VkResult icd_CreateEvent(VkDevice device_, const VkEventCreateInfo *pCreateInfo,
                                const VkAllocationCallbacks *pAllocator, VkEvent *pEvent)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pEvent, device);
    struct icd_event *event = icd_object_new(device, ICD_KIND_EVENT, sizeof(*event));
    if (!event)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *pEvent = ICD_HANDLE(VkEvent, event);
    return VK_SUCCESS;
}

static void icd_DestroyEvent(VkDevice device_, VkEvent event,
                             const VkAllocationCallbacks *pAllocator)
{
    if (event)
        icd_object_destroy(EVENT(event), icd_object_free);
}

static VkResult icd_GetEventStatus(VkDevice device_, VkEvent event)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    return EVENT(event)->set ? VK_EVENT_SET : VK_EVENT_RESET;
}

static VkResult icd_SetEvent(VkDevice device_, VkEvent event)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    icd_lock();
    EVENT(event)->set = true;
    icd_wake_any();
    icd_unlock();
    return VK_SUCCESS;
}

static VkResult icd_ResetEvent(VkDevice device_, VkEvent event)
{
    EVENT(event)->set = false;
    return VK_SUCCESS;
}

const struct icd_entry icd_fence_entries[] = {ICD_CORE(ICD_DEVICE, 0, CreateFence),
                                              ICD_CORE(ICD_DEVICE, 0, DestroyFence),
                                              ICD_CORE(ICD_DEVICE, 0, ResetFences),
                                              ICD_CORE(ICD_DEVICE, 0, GetFenceStatus),
                                              ICD_CORE(ICD_DEVICE, 0, WaitForFences),
                                              ICD_CORE(ICD_DEVICE, 0, CreateEvent),
                                              ICD_CORE(ICD_DEVICE, 0, DestroyEvent),
                                              ICD_CORE(ICD_DEVICE, 0, GetEventStatus),
                                              ICD_CORE(ICD_DEVICE, 0, SetEvent),
                                              ICD_CORE(ICD_DEVICE, 0, ResetEvent),
                                              ICD_END};
