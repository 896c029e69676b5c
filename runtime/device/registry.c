/*
 * The devices of the process that Belfry schedules, by their handles, and what a program does with
 * their VkQueues through the C API.
 */
#include "device/copies.h"
#include "device/device.h"
#include "base/message.h"

/* All devices of the process that Belfry schedules. */
static struct bf_lock registry_lock;
static struct bf_device *registry;

struct bf_device *bf_device_find(VkDevice handle)
{
    bf_lock_acquire(&registry_lock);
    struct bf_device *device = registry;
    while (device && device->handle != handle)
        device = device->next_registered;
    bf_lock_release(&registry_lock);
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
    struct bf_device *device = bf_device_find(handle);
    if (!device)
        bf_copies_tell(__func__);
    if (!device || device->attached)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    *out = (BfDevice)device;
    return VK_SUCCESS;
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
                   bf_upper_layers_excuse(device, VK_OBJECT_TYPE_SEMAPHORE));
        return false;
    }
    return true;
}

/* On an attached device, or where the program has no vkQueueSubmit2 to go by: then the handles have
 * to be those that Belfry knows. */
static VkResult submit_here(struct bf_queue *queue, VkQueue vk_queue, uint32_t count,
                            const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_observer *observer = queue->device->observer;
    for (uint32_t i = 0; i < count; i++) {
        if (!check_semaphores(queue->device, infos[i].pWaitSemaphoreInfos,
                              infos[i].waitSemaphoreInfoCount) ||
            !check_semaphores(queue->device, infos[i].pSignalSemaphoreInfos,
                              infos[i].signalSemaphoreInfoCount))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_observe_vkqueue_submit2(observer, vk_queue, count, infos, fence);
    VkResult result = bf_queue_submit(queue, count, infos, fence);
    if (result != VK_SUCCESS)
        bf_observe_stop(observer, "bfVkQueueSubmit has failed");
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
    PFN_vkQueueSubmit2 submit2 = bf_upper_layers_submit2(queue->device);
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
        atomic_store(&queue->completion_unknown, true); /* whatever went in there */
        bf_engine_leave(queue->engine, 0);
        bf_observe_idle(queue->device->observer); /* it may have been a wait */
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
