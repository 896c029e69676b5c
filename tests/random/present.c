/* SPDX-License-Identifier: MIT */
/* Presents, behind submits of a program and on their VkQueues: no part of a plan, since nothing
 * waits for them and they wait for nothing; but like a window's they may find the driver blocking.
 * All are of one swapchain, on the test driver. */
#include "run.h"
#include "../support/type.h"

static const char *const instance_extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                                  VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME};

VkResult present_create_instance(VkInstanceCreateInfo *info, struct bench *bench)
{
    /* With the extensions, if somebody has them. */
    info->enabledExtensionCount = 2;
    info->ppEnabledExtensionNames = instance_extensions;
    VkResult result = vkCreateInstance(info, NULL, &bench->instance);
    if (result != VK_ERROR_EXTENSION_NOT_PRESENT)
        return result;
    info->enabledExtensionCount = 0;
    return vkCreateInstance(info, NULL, &bench->instance);
}

VkResult present_create(struct bench *bench)
{
    struct presenter *p = &bench->presenter;
    const VkHeadlessSurfaceCreateInfoEXT surface = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    const VkFenceCreateInfo fence = {VK_TYPE(FENCE_CREATE_INFO)};
    VkSwapchainCreateInfoKHR swapchain = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
                                          .minImageCount = 3,
                                          .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                          .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
                                          .imageExtent = {16, 16},
                                          .imageArrayLayers = 1,
                                          .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                          .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                          .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                          .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    pthread_mutex_init(&p->lock, NULL);
    VkResult result = vkCreateHeadlessSurfaceEXT(bench->instance, &surface, NULL, &p->surface);
    swapchain.surface = p->surface;
    if (result == VK_SUCCESS)
        result = bench->vk.vkCreateSwapchainKHR(bench->device, &swapchain, NULL, &p->swapchain);
    if (result == VK_SUCCESS)
        result = bench->vk.vkCreateFence(bench->device, &fence, NULL, &p->fence);
    return result;
}

void present_destroy(struct bench *bench)
{
    struct presenter *p = &bench->presenter;
    bench->vk.vkDestroyFence(bench->device, p->fence, NULL);
    if (p->swapchain)
        bench->vk.vkDestroySwapchainKHR(bench->device, p->swapchain, NULL);
    if (p->surface)
        vkDestroySurfaceKHR(bench->instance, p->surface, NULL);
    *p = (struct presenter){0};
}

/* An image and its present; an image there may be none, since earlier ones stand behind work that
 * waits. */
static VkResult present_one(struct run *run, VkQueue queue)
{
    struct bench *bench = run->bench;
    struct presenter *p = &bench->presenter;
    uint32_t image;
    VkResult result = bench->vk.vkAcquireNextImageKHR(bench->device, p->swapchain, 0,
                                                      VK_NULL_HANDLE, p->fence, &image);
    if (result == VK_NOT_READY)
        return VK_SUCCESS;
    atomic_fetch_add(&run->presents, 1);
    if (result == VK_SUCCESS)
        result = bench->vk.vkWaitForFences(bench->device, 1, &p->fence, VK_TRUE, UINT64_MAX);
    if (result == VK_SUCCESS)
        result = bench->vk.vkResetFences(bench->device, 1, &p->fence);
    const VkPresentInfoKHR info = {VK_TYPE(PRESENT_INFO_KHR), .swapchainCount = 1,
                                   .pSwapchains = &p->swapchain, .pImageIndices = &image};
    if (result == VK_SUCCESS && bench->attach)
        result = bench->bf.LockVkQueue(bench->bf_device, queue);
    if (result == VK_SUCCESS)
        result = bench->vk.vkQueuePresentKHR(queue, &info);
    if (result == VK_SUCCESS && bench->attach)
        result = bench->bf.UnlockVkQueue(bench->bf_device, queue);
    return result;
}

void present_after(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    struct bench *bench = run->bench;
    struct rng rng = {plan->seed ^ ((uint64_t)op << 32)};
    const struct plan_queue *queue = &plan->queues[plan->ops[op].queue];
    if (!bench->presenter.swapchain || queue->bf || !rng_percent(&rng, plan->present_percent))
        return;
    const struct machine_queue *m = &bench->machine.queues[queue->machine_queue];
    VkBool32 supported = VK_FALSE;
    run_must(run, op,
             vkGetPhysicalDeviceSurfaceSupportKHR(bench->physical, m->family,
                                                  bench->presenter.surface, &supported),
             "vkGetPhysicalDeviceSurfaceSupportKHR");
    if (!supported)
        return;
    pthread_mutex_lock(&bench->presenter.lock);
    VkResult result = present_one(run, bench->queues[queue->machine_queue]);
    pthread_mutex_unlock(&bench->presenter.lock);
    run_must(run, op, result, "a present behind it");
}
