/* SPDX-License-Identifier: MIT */
/*
 * The check 'access': submissions, semaphores, fences and presentation. The check is told of a
 * signal or a submission before the call is made, and of a wait by the CPU after it has ended
 * (access/access.h).
 */
#include "layer/access/access.h"

#include "layer/chain.h"

/* The check was told of a call in advance; if that has failed, the check ends. */
static VkResult check_result(struct layer_device *d, VkResult result, const char *why)
{
    if (result != VK_SUCCESS && d->access)
        bf_access_stop(d->access->check, why);
    return result;
}

/* ------------------------------------------------------------------------------- Submissions -- */

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                          const VkSubmitInfo *infos, VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->access)
        bf_access_vkqueue_submit(d->access->check, queue, count, infos, fence);
    return check_result(d, layer_vkQueueSubmit(queue, count, infos, fence),
                        "vkQueueSubmit has failed");
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                                           const VkSubmitInfo2 *infos,
                                                           VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->access)
        bf_access_vkqueue_submit2(d->access->check, queue, count, infos, fence);
    return check_result(d, layer_vkQueueSubmit2(queue, count, infos, fence),
                        "vkQueueSubmit2 has failed");
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkQueueBindSparse(VkQueue queue, uint32_t count,
                                                              const VkBindSparseInfo *infos,
                                                              VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->access)
        bf_access_vkqueue_bind(d->access->check, queue, count, infos, fence);
    return check_result(d, layer_vkQueueBindSparse(queue, count, infos, fence),
                        "vkQueueBindSparse has failed");
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkQueueWaitIdle(VkQueue queue)
{
    struct layer_device *d = layer_device_of(queue);
    VkResult result = layer_vkQueueWaitIdle(queue);
    if (result == VK_SUCCESS && d->access)
        bf_access_vkqueue_idle(d->access->check, queue);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkDeviceWaitIdle(VkDevice device)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkDeviceWaitIdle(device);
    if (result == VK_SUCCESS && d->access)
        bf_access_idle(d->access->check);
    return result;
}

/* A present that fails has in most cases waited for its semaphores all the same; if it has not, the
 * program can't use them again either. */
VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkQueuePresentKHR(VkQueue queue,
                                                              const VkPresentInfoKHR *info)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->access)
        bf_access_present(d->access->check, info);
    return layer_vkQueuePresentKHR(queue, info);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkAcquireNextImageKHR(VkDevice device,
                                                                  VkSwapchainKHR swapchain,
                                                                  uint64_t timeout,
                                                                  VkSemaphore semaphore,
                                                                  VkFence fence, uint32_t *index)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result =
        layer_vkAcquireNextImageKHR(device, swapchain, timeout, semaphore, fence, index);
    if ((result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) && d->access)
        bf_access_acquire(d->access->check, swapchain, semaphore, fence);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkAcquireNextImage2KHR(
    VkDevice device, const VkAcquireNextImageInfoKHR *info, uint32_t *index)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkAcquireNextImage2KHR(device, info, index);
    if ((result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR) && d->access)
        bf_access_acquire(d->access->check, info->swapchain, info->semaphore, info->fence);
    return result;
}

/* -------------------------------------------------------------------------------- Semaphores -- */

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkSemaphore *semaphore)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkCreateSemaphore(device, info, allocator, semaphore);
    if (result != VK_SUCCESS || !d->access)
        return result;
    const VkSemaphoreTypeCreateInfo *type =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    bool timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    bf_access_semaphore_add(d->access->check, *semaphore, timeline,
                            timeline ? type->initialValue : 0);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroySemaphore(VkDevice device, VkSemaphore semaphore,
                                                           const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_semaphore_remove(d->access->check, semaphore);
    layer_vkDestroySemaphore(device, semaphore, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkSignalSemaphore(VkDevice device,
                                                              const VkSemaphoreSignalInfo *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access && !bf_upper_layers_hear_signal(d->gpu, info->semaphore))
        bf_access_semaphore_signal(d->access->check, info->semaphore, info->value);
    return check_result(d, layer_vkSignalSemaphore(device, info), "vkSignalSemaphore has failed");
}

/* A wait for any of several semaphores doesn't tell which one was signalled, so nothing is
 * recorded. */
VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkWaitSemaphores(VkDevice device,
                                                             const VkSemaphoreWaitInfo *info,
                                                             uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkWaitSemaphores(device, info, timeout);
    bool any = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) && info->semaphoreCount > 1;
    for (uint32_t i = 0; result == VK_SUCCESS && d->access && !any && i < info->semaphoreCount; i++)
        bf_access_semaphore_reached(d->access->check, info->pSemaphores[i], info->pValues[i]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkGetSemaphoreCounterValue(VkDevice device,
                                                                       VkSemaphore semaphore,
                                                                       uint64_t *value)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkGetSemaphoreCounterValue(device, semaphore, value);
    if (result == VK_SUCCESS && d->access)
        bf_access_semaphore_read(d->access->check, semaphore, *value);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkGetSemaphoreFdKHR(VkDevice device,
                                                                const VkSemaphoreGetFdInfoKHR *info,
                                                                int *fd)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_semaphore_external(d->access->check, info->semaphore);
    return layer_vkGetSemaphoreFdKHR(device, info, fd);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkImportSemaphoreFdKHR(VkDevice device, const VkImportSemaphoreFdInfoKHR *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_semaphore_external(d->access->check, info->semaphore);
    return layer_vkImportSemaphoreFdKHR(device, info);
}

/* ------------------------------------------------------------------------------------ Fences -- */

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkWaitForFences(VkDevice device, uint32_t count,
                                                            const VkFence *fences, VkBool32 all,
                                                            uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkWaitForFences(device, count, fences, all, timeout);
    bool told_all = result == VK_SUCCESS && d->access && (all || count == 1);
    for (uint32_t i = 0; told_all && i < count; i++)
        bf_access_vkfence_seen(d->access->check, fences[i]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkGetFenceStatus(device, fence);
    if (result == VK_SUCCESS && d->access)
        bf_access_vkfence_seen(d->access->check, fence);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkResetFences(VkDevice device, uint32_t count,
                                                          const VkFence *fences)
{
    struct layer_device *d = layer_device_of(device);
    for (uint32_t i = 0; d->access && i < count; i++)
        bf_access_vkfence_reset(d->access->check, fences[i]);
    return layer_vkResetFences(device, count, fences);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyFence(VkDevice device, VkFence fence,
                                                       const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_vkfence_reset(d->access->check, fence);
    layer_vkDestroyFence(device, fence, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkImportFenceFdKHR(VkDevice device,
                                                               const VkImportFenceFdInfoKHR *info)
{
    struct layer_device *d = layer_device_of(device);
    if (d->access)
        bf_access_vkfence_external(d->access->check, info->fence);
    return layer_vkImportFenceFdKHR(device, info);
}
