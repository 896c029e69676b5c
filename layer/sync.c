/* SPDX-License-Identifier: MIT */
/* Semaphores and fences: the scheduler is told what happens to them; their payloads are the
 * driver's. */
#include "layer/layer.h"

#include <string.h>

#include "layer/chain.h"
#include "scheduler/deferral.h"
#include "scheduler/driver_wait.h"
#include "scheduler/host_call.h"

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateSemaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSemaphore *semaphore)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkCreateSemaphore(device, info, allocator, semaphore);
    const VkSemaphoreTypeCreateInfo *type =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    const VkExportSemaphoreCreateInfo *exported =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    bool timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    allocator = bf_semaphore_allocator(d->scheduler, timeline, allocator);
    VkResult result = d->vk.vkCreateSemaphore(device, info, allocator, semaphore);
    if (result != VK_SUCCESS)
        return result;
    bool external = exported && exported->handleTypes;
    result = bf_semaphore_register(d->scheduler, *semaphore, timeline, external,
                                   timeline ? type->initialValue : 0);
    if (result != VK_SUCCESS) {
        d->vk.vkDestroySemaphore(device, *semaphore, allocator);
        *semaphore = VK_NULL_HANDLE;
    } else if (external) {
        bf_deferral_end(d->scheduler);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroySemaphore(VkDevice device, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_standstill_name(d->standstill, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, NULL);
    if (d->runtime && semaphore)
        bf_semaphore_destroy(d->scheduler, semaphore, allocator);
    else
        d->vk.vkDestroySemaphore(device, semaphore, allocator);
}

/* The driver is called first: a packet that the signal releases may be handed over at once, and its
 * wait must find the value. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkSignalSemaphore(VkDevice device,
                                                       const VkSemaphoreSignalInfo *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime && bf_upper_layers_hear_signal(d->gpu, info->semaphore))
        return VK_SUCCESS;
    VkResult result = d->runtime ? bf_semaphore_signal_driver(d->scheduler, info)
                                 : d->vk.vkSignalSemaphore(device, info);
    if (result == VK_SUCCESS && d->runtime)
        bf_semaphore_host_signal(d->scheduler, info->semaphore, info->value);
    return result;
}

/* The driver signals the semaphore, when it wants the program's next frame to begin: neither a call
 * nor a submission of the program's does. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkLatencySleepNV(VkDevice device, VkSwapchainKHR swapchain,
                                                      const void *info)
{
    struct layer_device *d = layer_device_of(device);
    struct {
        VkStructureType sType;
        const void *pNext;
        VkSemaphore semaphore;
        uint64_t value;
    } sleep; /* VkLatencySleepInfoNV */
    memcpy(&sleep, info, sizeof(sleep));
    if (d->runtime)
        bf_semaphore_set_external(d->scheduler, sleep.semaphore);
    return d->more.vkLatencySleepNV(device, swapchain, info);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkLatencySleepLegacyNV(VkDevice device, VkSemaphore semaphore,
                                                            uint64_t value)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime)
        bf_semaphore_set_external(d->scheduler, semaphore);
    return d->more.vkLatencySleepLegacyNV(device, semaphore, value);
}

/* A wait on the host for a value that nothing submitted signals is legal, so the driver does it. On
 * a lost device the signal may have been in a dropped packet: then the driver is not called. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkWaitSemaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime && bf_scheduler_is_lost(d->scheduler))
        return bf_scheduler_settle(d->scheduler);
    if (!d->runtime)
        return d->vk.vkWaitSemaphores(device, info, timeout);
    struct bf_watched_call *call = bf_host_call_wait_semaphores(d->scheduler, info, timeout);
    VkResult result = bf_driver_wait_semaphores(d->scheduler, info, timeout);
    bf_host_call_end(call, result);
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(d->scheduler, "vkWaitSemaphores");
    if (bf_scheduler_is_lost(d->scheduler))
        return bf_scheduler_settle(d->scheduler);
    return result;
}

/* A sync file is a copy of a pending signal operation, so a held signal must be handed over
 * first. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetSemaphoreFdKHR(VkDevice device,
                                                         const VkSemaphoreGetFdInfoKHR *info,
                                                         int *fd)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime) {
        if (info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT) {
            VkResult result = bf_semaphore_flush(d->scheduler, info->semaphore);
            if (result != VK_SUCCESS)
                return result;
        }
        bf_semaphore_set_external(d->scheduler, info->semaphore);
    }
    return d->vk.vkGetSemaphoreFdKHR(device, info, fd);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkImportSemaphoreFdKHR(VkDevice device,
                                                            const VkImportSemaphoreFdInfoKHR *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime)
        bf_last_submission_drop_semaphore(d->scheduler, info->semaphore);
    VkResult result = d->vk.vkImportSemaphoreFdKHR(device, info);
    if (result == VK_SUCCESS && d->runtime)
        bf_semaphore_imported(d->scheduler, info->semaphore);
    return result;
}

/* Of a call that asks how far the GPU is. If the driver reports a lost device, the scheduler
 * declares it lost, so that threads which wait for held packets return; if Belfry has declared it
 * lost, of which the driver may know nothing, what was dropped neither has run nor ever will
 * (L-5). */
static VkResult poll_result(struct layer_device *d, VkResult result, const char *call)
{
    if (!d->runtime)
        return result;
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(d->scheduler, call);
    return bf_scheduler_is_lost(d->scheduler) ? bf_scheduler_settle(d->scheduler) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetSemaphoreCounterValue(VkDevice device,
                                                                VkSemaphore semaphore,
                                                                uint64_t *value)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime &&
        bf_upper_layers_hear(d->gpu, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, value))
        return VK_ERROR_OUT_OF_HOST_MEMORY; /* an error that the command may return */
    VkResult result = d->vk.vkGetSemaphoreCounterValue(device, semaphore, value);
    return poll_result(d, result, "vkGetSemaphoreCounterValue");
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetEventStatus(VkDevice device, VkEvent event)
{
    struct layer_device *d = layer_device_of(device);
    return poll_result(d, d->vk.vkGetEventStatus(device, event), "vkGetEventStatus");
}

/* A fence whose payload another process or API may change can't be used to tell when a submission
 * has finished (scheduler/last_submission.h). */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateFence(VkDevice device, const VkFenceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkFence *fence)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkCreateFence(device, info, allocator, fence);
    const VkExportFenceCreateInfo *exported =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO);
    if (result != VK_SUCCESS || !d->runtime || !exported || !exported->handleTypes)
        return result;
    result = bf_vkfence_set_external(d->scheduler, *fence);
    if (result != VK_SUCCESS) {
        d->vk.vkDestroyFence(device, *fence, allocator);
        *fence = VK_NULL_HANDLE;
    }
    return result;
}

/* Of memory that others have, a driver may let them see when what uses it was submitted. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkAllocateMemory(VkDevice device,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkDeviceMemory *memory)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkAllocateMemory(device, info, allocator, memory);
    const VkExportMemoryAllocateInfo *exported =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    const VkImportMemoryFdInfoKHR *imported =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
    if (result == VK_SUCCESS && d->runtime &&
        ((exported && exported->handleTypes) || (imported && imported->handleType)))
        bf_deferral_end(d->scheduler);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkImportFenceFdKHR(VkDevice device,
                                                        const VkImportFenceFdInfoKHR *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime) {
        bf_last_submission_drop_fences(d->scheduler, 1, &info->fence);
        VkResult result = bf_vkfence_set_external(d->scheduler, info->fence);
        if (result != VK_SUCCESS)
            return result;
    }
    return d->vk.vkImportFenceFdKHR(device, info);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkWaitForFences(VkDevice device, uint32_t count,
                                                     const VkFence *fences, VkBool32 all,
                                                     uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkWaitForFences(device, count, fences, all, timeout);
    struct bf_watched_call *call =
        bf_host_call_wait_fences(d->scheduler, count, fences, all, timeout);
    VkResult result = bf_vkfence_wait(d->scheduler, count, fences, all, timeout);
    bf_host_call_end(call, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkGetFenceStatus(device, fence);
    return bf_vkfence_status(d->scheduler, fence);
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyFence(VkDevice device, VkFence fence,
                                                const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_standstill_name(d->standstill, VK_OBJECT_TYPE_FENCE, (uint64_t)fence, NULL);
    if (d->runtime && fence) {
        bf_last_submission_drop_fences(d->scheduler, 1, &fence);
        if (!bf_vkfence_forget(d->scheduler, fence, allocator))
            return; /* as above */
    }
    d->vk.vkDestroyFence(device, fence, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkResetFences(VkDevice device, uint32_t count,
                                                   const VkFence *fences)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime)
        bf_last_submission_drop_fences(d->scheduler, count, fences);
    return d->vk.vkResetFences(device, count, fences);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetFenceFdKHR(VkDevice device,
                                                     const VkFenceGetFdInfoKHR *info, int *fd)
{
    struct layer_device *d = layer_device_of(device);
    if (d->runtime && info->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT) {
        VkResult result = bf_vkfence_flush(d->scheduler, info->fence);
        if (result != VK_SUCCESS)
            return result;
    }
    return d->vk.vkGetFenceFdKHR(device, info, fd);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkGetQueryPoolResults(VkDevice device, VkQueryPool pool,
                                                           uint32_t first, uint32_t count,
                                                           size_t size, void *data,
                                                           VkDeviceSize stride,
                                                           VkQueryResultFlags flags)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkGetQueryPoolResults(device, pool, first, count, size, data, stride, flags);
    return bf_scheduler_query_results(d->scheduler, pool, first, count, size, data, stride, flags);
}
