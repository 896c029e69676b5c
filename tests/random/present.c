/* SPDX-License-Identifier: MIT */
/* Presents, behind submits of a program and on their VkQueues, on the test driver: no part of a
 * plan, since nothing waits for them; but like a window's they may find the driver blocking. Some
 * wait for all that was submitted to their queue (plan.h), by a batch of their own that signals a
 * binary semaphore; the driver says if such a wait comes before its signal. Under the layer they
 * may even wait for what somebody outside has yet to signal, if no call waits for the GPU until he
 * has. Each thread has a
 * swapchain: two would have to take turns, and one may be waiting for what the other is to
 * submit. */
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

static VkResult presenter_create(struct bench *bench, struct presenter *p)
{
    const VkHeadlessSurfaceCreateInfoEXT surface = {VK_TYPE(HEADLESS_SURFACE_CREATE_INFO_EXT)};
    const VkFenceCreateInfo fence = {VK_TYPE(FENCE_CREATE_INFO)};
    const VkSemaphoreCreateInfo semaphore = {VK_TYPE(SEMAPHORE_CREATE_INFO)};
    VkSwapchainCreateInfoKHR swapchain = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR),
                                          .minImageCount = PRESENT_IMAGES,
                                          .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                          .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
                                          .imageExtent = {16, 16},
                                          .imageArrayLayers = 1,
                                          .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                          .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                          .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                          .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    VkResult result = vkCreateHeadlessSurfaceEXT(bench->instance, &surface, NULL, &p->surface);
    swapchain.surface = p->surface;
    if (result == VK_SUCCESS)
        result = bench->vk.vkCreateSwapchainKHR(bench->device, &swapchain, NULL, &p->swapchain);
    if (result == VK_SUCCESS)
        result = bench->vk.vkCreateFence(bench->device, &fence, NULL, &p->fence);
    for (int i = 0; i < PRESENT_IMAGES && result == VK_SUCCESS; i++)
        result = bench->vk.vkCreateSemaphore(bench->device, &semaphore, NULL, &p->drawn[i]);
    return result;
}

VkResult present_create(struct bench *bench)
{
    VkResult result = VK_SUCCESS;
    for (int t = 0; t < PLAN_THREADS && result == VK_SUCCESS; t++)
        result = presenter_create(bench, &bench->presenters[t]);
    return result;
}

void present_destroy(struct bench *bench)
{
    for (int t = 0; t < PLAN_THREADS; t++) {
        struct presenter *p = &bench->presenters[t];
        for (int i = 0; i < PRESENT_IMAGES; i++)
            bench->vk.vkDestroySemaphore(bench->device, p->drawn[i], NULL);
        bench->vk.vkDestroyFence(bench->device, p->fence, NULL);
        if (p->swapchain)
            bench->vk.vkDestroySwapchainKHR(bench->device, p->swapchain, NULL);
        if (p->surface)
            vkDestroySurfaceKHR(bench->instance, p->surface, NULL);
        *p = (struct presenter){0};
    }
}

/* An image and its present; an image there may be none, since earlier ones stand behind work that
 * waits. That it comes again means that its last present is over, and what that waited for
 * consumed. */
static VkResult present_one(struct run *run, struct presenter *p, VkQueue queue, bool waits)
{
    struct bench *bench = run->bench;
    uint32_t image;
    VkResult result = bench->vk.vkAcquireNextImageKHR(bench->device, p->swapchain, 0,
                                                      VK_NULL_HANDLE, p->fence, &image);
    if (result == VK_NOT_READY)
        return VK_SUCCESS;
    atomic_fetch_add(&run->presents, 1);
    atomic_fetch_add(&run->presents_that_wait, waits);
    if (result == VK_SUCCESS)
        result = bench->vk.vkWaitForFences(bench->device, 1, &p->fence, VK_TRUE, UINT64_MAX);
    if (result == VK_SUCCESS)
        result = bench->vk.vkResetFences(bench->device, 1, &p->fence);
    const VkSubmitInfo drawn = {VK_TYPE(SUBMIT_INFO), .signalSemaphoreCount = 1,
                                .pSignalSemaphores = &p->drawn[image]};
    const VkPresentInfoKHR info = {VK_TYPE(PRESENT_INFO_KHR),           .waitSemaphoreCount = waits,
                                   .pWaitSemaphores = &p->drawn[image], .swapchainCount = 1,
                                   .pSwapchains = &p->swapchain,        .pImageIndices = &image};
    /* On an attached device both are calls past Belfry. */
    if (result == VK_SUCCESS && bench->attach)
        result = bench->bf.LockVkQueue(bench->bf_device, queue);
    if (result == VK_SUCCESS && waits)
        result = bench->vk.vkQueueSubmit(queue, 1, &drawn, VK_NULL_HANDLE);
    if (result == VK_SUCCESS)
        result = bench->vk.vkQueuePresentKHR(queue, &info);
    if (result == VK_SUCCESS && bench->attach)
        result = bench->bf.UnlockVkQueue(bench->bf_device, queue);
    return result;
}

/* Is one timeline alone signalled from outside, and can it be told what this device has to bring it
 * to? Of several it can't: by one may depend whether another is signalled from here. */
static bool outside_is_clear(const struct plan *plan)
{
    int outside = 0;
    bool commands = false;
    for (int q = 0; q < plan->queue_count; q++)
        commands |= plan->queues[q].bf;
    for (int s = 0; s < plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        outside += semaphore->outside;
        for (int k = 0; semaphore->outside && commands && k < semaphore->signal_count; k++)
            if (plan->events[semaphore->signals[k]].batch >= 0)
                return false;
    }
    return outside == 1;
}

/* May the call wait for the GPU? */
static bool op_waits(const struct plan *plan, const struct plan_op *op)
{
    return run_op_may_block(plan, op) &&
           (op->kind != OP_SUBMIT || plan_has_face(plan, FACE_EXPORTED) ||
            plan_has_face(plan, FACE_IMPORTED));
}

/* OW-6: is a command queue's work before the last one? It hands over nothing behind what waits for
 * somebody outside. */
static bool commands_come_before(const struct plan *plan, const struct plan_event *last)
{
    for (int e = 0; e < plan->event_count; e++) {
        const struct plan_event *event = &plan->events[e];
        if (plan_set_has(last->live, e) && event->queue >= 0 && plan->queues[event->queue].bf)
            return true;
    }
    return false;
}

/* OW-5: once somebody outside has yet to signal that event, whatever is submitted beside the
 * present may stand behind it. So no call that may wait for the GPU is beside it, or behind it and
 * not behind the signal. */
static bool present_may_pass(const struct plan *plan, int op, int signal)
{
    const struct plan_semaphore *semaphore = &plan->semaphores[plan->events[signal].semaphore];
    const int signalled = plan_node_end(plan->events[signal].op);
    if (!semaphore->outside || semaphore->face != FACE_SEMAPHORE) /* a fence's may come from here */
        return false;
    for (int i = 0; i < plan->op_count; i++) {
        if (op_waits(plan, &plan->ops[i]) &&
            !plan_before(plan, plan_node_end(i), plan_node_start(op)) &&
            !plan_before(plan, signalled, plan_node_start(i)))
            return false;
    }
    return true;
}

/* Whether a present may wait for the queue's last batch (plan.h). *passes: before what is to be
 * signalled from outside. */
static bool present_may_wait(const struct run *run, int op, bool *passes)
{
    const struct plan *plan = run->plan;
    const struct plan_op *o = &plan->ops[op];
    *passes = false;
    if (!plan_has_followers(plan))
        return o->closed;
    if (!o->batch_count)
        return false;
    const struct plan_event *last =
        &plan->events[plan->batches[o->batches[o->batch_count - 1]].event];
    for (int e = 0; e < plan->event_count; e++) {
        const struct plan_event *event = &plan->events[e];
        if (!plan_set_has(last->live, e) || event->op == op ||
            plan_before(plan, plan_node_end(event->op), plan_node_start(op)))
            continue;
        if (event->kind != EVENT_SIGNAL || !run->layer || !present_may_pass(plan, op, e))
            return false;
        *passes = true;
    }
    return !*passes || (outside_is_clear(plan) && !commands_come_before(plan, last));
}

void present_after(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    struct bench *bench = run->bench;
    struct rng rng = {plan->seed ^ ((uint64_t)op << 32)};
    const struct plan_queue *queue = &plan->queues[plan->ops[op].queue];
    struct presenter *presenter = &bench->presenters[plan->ops[op].thread];
    if (!presenter->swapchain || queue->bf || !rng_percent(&rng, plan->present_percent))
        return;
    const struct machine_queue *m = &bench->machine.queues[queue->machine_queue];
    VkBool32 supported = VK_FALSE;
    run_must(run, op,
             vkGetPhysicalDeviceSurfaceSupportKHR(bench->physical, m->family, presenter->surface,
                                                  &supported),
             "vkGetPhysicalDeviceSurfaceSupportKHR");
    if (!supported)
        return;
    bool passes, waits = rng_percent(&rng, 70) && present_may_wait(run, op, &passes);
    if (waits && passes)
        atomic_fetch_add(&run->presents_that_pass, 1);
    VkResult result = present_one(run, presenter, bench->queues[queue->machine_queue], waits);
    run_must(run, op, result, "a present behind it");
}
