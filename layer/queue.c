/* SPDX-License-Identifier: MIT */
/* Getting queues, waiting for idleness, presenting, labels, names and private data of queues. */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "scheduler/driver_wait.h"
#include "scheduler/engine.h"
#include "scheduler/host_call.h"
#include "scheduler/label.h"

VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info,
                                                   VkQueue *queue)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime) {
        d->vk.vkGetDeviceQueue2(device, info, queue);
        return;
    }
    *queue = (VkQueue)bf_scheduler_find_queue(d->scheduler, info->queueFamilyIndex,
                                              info->queueIndex, info->flags);
}

/* vkGetDeviceQueue only returns queues that were created without flags. */
VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index,
                                                  VkQueue *queue)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime) {
        d->vk.vkGetDeviceQueue(device, family, index, queue);
        return;
    }
    const VkDeviceQueueInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
        .queueFamilyIndex = family,
        .queueIndex = index,
    };
    layer_vkGetDeviceQueue2(device, &info, queue);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueWaitIdle(VkQueue queue)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime)
        return d->vk.vkQueueWaitIdle(queue);
    return bf_queue_wait_idle(layer_queue(queue));
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkDeviceWaitIdle(VkDevice device)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkDeviceWaitIdle(device);
    return bf_scheduler_wait_idle(d->scheduler);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime || !layer_device_has((PFN_vkVoidFunction)d->vk.vkQueuePresentKHR))
        return d->vk.vkQueuePresentKHR(queue, info);
    return bf_queue_present(layer_queue(queue), info);
}

/* Of a call that waits for the presentation engine: Belfry may declare a loss of which that knows
 * nothing, so it is made in slices (L-6). Otherwise only a lost device is noted. */
static bool present_wait_is_over(struct layer_device *d, VkResult *result, uint64_t deadline,
                                 const char *call)
{
    if (!d->runtime)
        return true;
    if (!bf_driver_slice_was_last(d->scheduler, result, deadline))
        return false;
    if (*result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(d->scheduler, call);
    return true;
}

/* For the watchdog: of a hidden window, such a call may last for ever. */
static struct bf_watched_call *present_wait_begin(const struct layer_device *d,
                                                  enum bf_watched_command command, uint64_t timeout)
{
    return d->runtime && timeout ? bf_host_call_begin(d->scheduler, command) : NULL;
}

static uint64_t present_wait_ns(const struct layer_device *d, uint64_t timeout, uint64_t deadline)
{
    return d->runtime && d->scheduler->sliced ? bf_driver_slice_ns(d->scheduler, deadline)
                                              : timeout;
}

/* An acquired image changes nothing that the scheduler tracks. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkAcquireNextImageKHR(VkDevice device,
                                                           VkSwapchainKHR swapchain,
                                                           uint64_t timeout, VkSemaphore semaphore,
                                                           VkFence fence, uint32_t *index)
{
    struct layer_device *d = layer_device_of(device);
    const uint64_t deadline = bf_deadline_ns(timeout);
    struct bf_watched_call *call = present_wait_begin(d, BF_WATCHED_ACQUIRE, timeout);
    VkResult result;
    do
        result = d->vk.vkAcquireNextImageKHR(
            device, swapchain, present_wait_ns(d, timeout, deadline), semaphore, fence, index);
    while (!present_wait_is_over(d, &result, deadline, "vkAcquireNextImageKHR"));
    bf_host_call_end(call, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkAcquireNextImage2KHR(VkDevice device,
                                                            const VkAcquireNextImageInfoKHR *info,
                                                            uint32_t *index)
{
    struct layer_device *d = layer_device_of(device);
    const uint64_t deadline = bf_deadline_ns(info->timeout);
    VkAcquireNextImageInfoKHR slice = *info;
    struct bf_watched_call *call = present_wait_begin(d, BF_WATCHED_ACQUIRE, info->timeout);
    VkResult result;
    do {
        slice.timeout = present_wait_ns(d, info->timeout, deadline);
        result = d->vk.vkAcquireNextImage2KHR(device, &slice, index);
    } while (!present_wait_is_over(d, &result, deadline, "vkAcquireNextImage2KHR"));
    bf_host_call_end(call, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkWaitForPresentKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                         uint64_t present, uint64_t timeout)
{
    struct layer_device *d = layer_device_of(device);
    const uint64_t deadline = bf_deadline_ns(timeout);
    struct bf_watched_call *call = present_wait_begin(d, BF_WATCHED_WAIT_FOR_PRESENT, timeout);
    VkResult result;
    do
        result = d->vk.vkWaitForPresentKHR(device, swapchain, present,
                                           present_wait_ns(d, timeout, deadline));
    while (!present_wait_is_over(d, &result, deadline, "vkWaitForPresentKHR"));
    bf_host_call_end(call, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkWaitForPresent2KHR(VkDevice device, VkSwapchainKHR swapchain,
                                                          const void *info)
{
    struct layer_device *d = layer_device_of(device);
    struct {
        VkStructureType sType;
        const void *pNext;
        uint64_t present, timeout;
    } slice; /* VkPresentWait2InfoKHR */
    memcpy(&slice, info, sizeof(slice));
    const uint64_t timeout = slice.timeout, deadline = bf_deadline_ns(timeout);
    struct bf_watched_call *call = present_wait_begin(d, BF_WATCHED_WAIT_FOR_PRESENT, timeout);
    VkResult result;
    do {
        slice.timeout = present_wait_ns(d, timeout, deadline);
        result = d->more.vkWaitForPresent2KHR(device, swapchain, &slice);
    } while (!present_wait_is_over(d, &result, deadline, "vkWaitForPresent2KHR"));
    bf_host_call_end(call, result);
    return result;
}

/* A label applies to the packets of one queue: the runtime begins and ends it around them, since
 * other queues may share the VkQueue. */
VKAPI_ATTR void VKAPI_CALL layer_vkQueueBeginDebugUtilsLabelEXT(VkQueue queue,
                                                                const VkDebugUtilsLabelEXT *label)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->runtime)
        bf_label_begin(layer_queue(queue), label);
    else
        d->more.vkQueueBeginDebugUtilsLabelEXT(queue, label);
}

VKAPI_ATTR void VKAPI_CALL layer_vkQueueEndDebugUtilsLabelEXT(VkQueue queue)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->runtime)
        bf_label_end(layer_queue(queue));
    else
        d->more.vkQueueEndDebugUtilsLabelEXT(queue);
}

VKAPI_ATTR void VKAPI_CALL layer_vkQueueInsertDebugUtilsLabelEXT(VkQueue queue,
                                                                 const VkDebugUtilsLabelEXT *label)
{
    struct layer_device *d = layer_device_of(queue);
    if (d->runtime)
        bf_label_insert(layer_queue(queue), label);
    else
        d->more.vkQueueInsertDebugUtilsLabelEXT(queue, label);
}

/* The driver keeps checkpoints per VkQueue: queues that share one get each other's as well. */
struct checkpoints {
    const struct layer_device *device;
    uint32_t *count;
    void *data;
};

static VkResult get_checkpoints(VkQueue handle, void *context)
{
    struct checkpoints *c = context;
    c->device->vk.vkGetQueueCheckpointDataNV(handle, c->count, c->data);
    return VK_SUCCESS;
}

static VkResult get_checkpoints2(VkQueue handle, void *context)
{
    struct checkpoints *c = context;
    c->device->vk.vkGetQueueCheckpointData2NV(handle, c->count, c->data);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetQueueCheckpointDataNV(VkQueue queue, uint32_t *count,
                                                            VkCheckpointDataNV *data)
{
    struct layer_device *d = layer_device_of(queue);
    struct checkpoints c = {d, count, data};
    if (!d->runtime)
        d->vk.vkGetQueueCheckpointDataNV(queue, count, data);
    else if (bf_queue_call(layer_queue(queue), get_checkpoints, &c) != VK_SUCCESS)
        *count = 0;
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetQueueCheckpointData2NV(VkQueue queue, uint32_t *count,
                                                             VkCheckpointData2NV *data)
{
    struct layer_device *d = layer_device_of(queue);
    struct checkpoints c = {d, count, data};
    if (!d->runtime)
        d->vk.vkGetQueueCheckpointData2NV(queue, count, data);
    else if (bf_queue_call(layer_queue(queue), get_checkpoints2, &c) != VK_SUCCESS)
        *count = 0;
}

struct performance {
    const struct layer_device *device;
    VkPerformanceConfigurationINTEL configuration;
};

static VkResult set_performance(VkQueue handle, void *context)
{
    const struct performance *p = context;
    return p->device->vk.vkQueueSetPerformanceConfigurationINTEL(handle, p->configuration);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueSetPerformanceConfigurationINTEL(
    VkQueue queue, VkPerformanceConfigurationINTEL configuration)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime)
        return d->vk.vkQueueSetPerformanceConfigurationINTEL(queue, configuration);
    struct performance p = {d, configuration};
    return bf_queue_call(layer_queue(queue), set_performance, &p);
}

/*
 * Commands that say something of a whole VkQueue, and that nothing depends on. The driver isn't
 * told where several queues share the VkQueue, since they would be meant too.
 */
struct notice {
    const struct bf_queue *queue;
    const char *command;
    PFN_vkVoidFunction function;
    const void *info;
    uint32_t type; /* in place of 'info' */
};

static bool is_alone(const struct notice *n)
{
    if (!atomic_load(&n->queue->engine->shared))
        return true;
    bf_message(BF_MESSAGE_INFO, "%s: queue %u:%u shares its VkQueue: the driver isn't told",
               n->command, n->queue->family, n->queue->index);
    return false;
}

static VkResult notify(VkQueue handle, void *context)
{
    const struct notice *n = context;
    if (is_alone(n))
        ((PFN_layer_notify_queue)n->function)(handle, n->info);
    return VK_SUCCESS;
}

static VkResult notify_type(VkQueue handle, void *context)
{
    const struct notice *n = context;
    if (is_alone(n))
        ((PFN_layer_notify_queue_type)n->function)(handle, n->type);
    return VK_SUCCESS;
}

static VkResult hint(VkQueue handle, void *context)
{
    const struct notice *n = context;
    return is_alone(n) ? ((PFN_layer_hint_queue)n->function)(handle, n->info) : VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL layer_vkQueueNotifyOutOfBandNV(VkQueue queue, const void *info)
{
    struct layer_device *d = layer_device_of(queue);
    struct notice n = {.command = "vkQueueNotifyOutOfBandNV",
                       .function = (PFN_vkVoidFunction)d->more.vkQueueNotifyOutOfBandNV,
                       .info = info};
    if (!d->runtime) {
        d->more.vkQueueNotifyOutOfBandNV(queue, info);
        return;
    }
    n.queue = layer_queue(queue);
    bf_queue_call(layer_queue(queue), notify, &n);
}

VKAPI_ATTR void VKAPI_CALL layer_vkQueueNotifyOutOfBandLegacyNV(VkQueue queue, uint32_t type)
{
    struct layer_device *d = layer_device_of(queue);
    struct notice n = {.command = "vkQueueNotifyOutOfBandLegacyNV",
                       .function = (PFN_vkVoidFunction)d->more.vkQueueNotifyOutOfBandLegacyNV,
                       .type = type};
    if (!d->runtime) {
        d->more.vkQueueNotifyOutOfBandLegacyNV(queue, type);
        return;
    }
    n.queue = layer_queue(queue);
    bf_queue_call(layer_queue(queue), notify_type, &n);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueSetPerfHintQCOM(VkQueue queue, const void *info)
{
    struct layer_device *d = layer_device_of(queue);
    struct notice n = {.command = "vkQueueSetPerfHintQCOM",
                       .function = (PFN_vkVoidFunction)d->more.vkQueueSetPerfHintQCOM,
                       .info = info};
    if (!d->runtime)
        return d->more.vkQueueSetPerfHintQCOM(queue, info);
    n.queue = layer_queue(queue);
    return bf_queue_call(layer_queue(queue), hint, &n);
}

/* VkExternalComputeQueueCreateInfoNV names the queue beside which outside work runs best. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateExternalComputeQueueNV(
    VkDevice device, const void *info, const VkAllocationCallbacks *allocator, void *external)
{
    struct layer_device *d = layer_device_of(device);
    struct {
        VkStructureType sType;
        const void *pNext;
        VkQueue preferred;
    } copy;
    memcpy(&copy, info, sizeof(copy));
    if (d->runtime && copy.preferred)
        copy.preferred = bf_queue_handle(layer_queue(copy.preferred));
    return d->more.vkCreateExternalComputeQueueNV(device, &copy, allocator, external);
}

/* ------------------------------------------------------------------------ Names and tags -- */

/* The driver's handle of a queue that a program passes as an integer. */
static uint64_t real_queue(uint64_t handle)
{
    return (uint64_t)(uintptr_t)bf_queue_handle(layer_queue((VkQueue)(uintptr_t)handle));
}

/* What names and tags are told by: of a queue it is a call on its VkQueue, which is externally
 * synchronized. */
typedef VkResult(VKAPI_PTR *PFN_layer_tell)(VkDevice, const void *);
struct telling {
    PFN_layer_tell function;
    VkDevice device;
    const void *info;
};

static VkResult tell(VkQueue handle, void *context)
{
    const struct telling *t = context;
    (void)handle; /* 'info' has it */
    return t->function(t->device, t->info);
}

static VkResult tell_of_queue(struct layer_device *d, uint64_t queue, PFN_vkVoidFunction function,
                              const void *info)
{
    struct telling t = {(PFN_layer_tell)function, d->handle, info};
    VkResult result = bf_queue_call(layer_queue((VkQueue)(uintptr_t)queue), tell, &t);
    return result == VK_ERROR_DEVICE_LOST ? VK_SUCCESS : result; /* no result of these commands */
}

/* Kept for timelines and for the watchdog is what they speak of. */
static void name_note(struct layer_device *d, VkObjectType type, uint64_t handle, const char *name)
{
    if (type != VK_OBJECT_TYPE_QUEUE && type != VK_OBJECT_TYPE_SEMAPHORE &&
        type != VK_OBJECT_TYPE_COMMAND_BUFFER && type != VK_OBJECT_TYPE_FENCE)
        return;
    bf_standstill_name(d->standstill, type, handle, name);
    if (!d->trace || type == VK_OBJECT_TYPE_FENCE)
        return;
    if (type == VK_OBJECT_TYPE_QUEUE)
        bf_trace_name_queue(d->trace, bf_queue_trace_id(layer_queue((VkQueue)(uintptr_t)handle)),
                            name);
    else if (type == VK_OBJECT_TYPE_SEMAPHORE)
        bf_trace_name_semaphore(d->trace, handle, name);
    else
        bf_trace_name_command_buffer(d->trace, (VkCommandBuffer)(uintptr_t)handle, name);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkSetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->more.vkSetDebugUtilsObjectNameEXT(device, info);
    name_note(d, info->objectType, info->objectHandle, info->pObjectName);
    if (info->objectType != VK_OBJECT_TYPE_QUEUE)
        return d->more.vkSetDebugUtilsObjectNameEXT(device, info);
    VkDebugUtilsObjectNameInfoEXT copy = *info;
    copy.objectHandle = real_queue(info->objectHandle);
    return tell_of_queue(d, info->objectHandle,
                         (PFN_vkVoidFunction)d->more.vkSetDebugUtilsObjectNameEXT, &copy);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkSetDebugUtilsObjectTagEXT(VkDevice device, const VkDebugUtilsObjectTagInfoEXT *info)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime || info->objectType != VK_OBJECT_TYPE_QUEUE)
        return d->more.vkSetDebugUtilsObjectTagEXT(device, info);
    VkDebugUtilsObjectTagInfoEXT copy = *info;
    copy.objectHandle = real_queue(info->objectHandle);
    return tell_of_queue(d, info->objectHandle,
                         (PFN_vkVoidFunction)d->more.vkSetDebugUtilsObjectTagEXT, &copy);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkDebugMarkerSetObjectNameEXT(VkDevice device, const VkDebugMarkerObjectNameInfoEXT *info)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkDebugMarkerSetObjectNameEXT(device, info);
    /* VkDebugReportObjectTypeEXT and VkObjectType have the same values for these types. */
    name_note(d, (VkObjectType)info->objectType, info->object, info->pObjectName);
    if (info->objectType != VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT)
        return d->vk.vkDebugMarkerSetObjectNameEXT(device, info);
    VkDebugMarkerObjectNameInfoEXT copy = *info;
    copy.object = real_queue(info->object);
    return tell_of_queue(d, info->object, (PFN_vkVoidFunction)d->vk.vkDebugMarkerSetObjectNameEXT,
                         &copy);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkDebugMarkerSetObjectTagEXT(VkDevice device, const VkDebugMarkerObjectTagInfoEXT *info)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime || info->objectType != VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT)
        return d->vk.vkDebugMarkerSetObjectTagEXT(device, info);
    VkDebugMarkerObjectTagInfoEXT copy = *info;
    copy.object = real_queue(info->object);
    return tell_of_queue(d, info->object, (PFN_vkVoidFunction)d->vk.vkDebugMarkerSetObjectTagEXT,
                         &copy);
}

/* A queue's private data is kept here, because several queues may share one VkQueue. */
static struct layer_queue_data **find_data(struct layer_device *d, const void *queue, uint64_t slot)
{
    struct layer_queue_data **link = &d->queue_data;
    while (*link && ((*link)->queue != queue || (*link)->slot != slot))
        link = &(*link)->next;
    return link;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkSetPrivateData(VkDevice device, VkObjectType type,
                                                      uint64_t object, VkPrivateDataSlot slot,
                                                      uint64_t value)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime || type != VK_OBJECT_TYPE_QUEUE) {
        return d->vk.vkSetPrivateData(device, type, object, slot, value);
    }
    const void *queue = (const void *)(uintptr_t)object;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&d->queue_data_lock);
    struct layer_queue_data **link = find_data(d, queue, (uint64_t)slot);
    if (!*link) {
        *link = calloc(1, sizeof(**link));
        if (*link) {
            (*link)->queue = queue;
            (*link)->slot = (uint64_t)slot;
        } else {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (*link)
        (*link)->value = value;
    bf_lock_release(&d->queue_data_lock);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetPrivateData(VkDevice device, VkObjectType type,
                                                  uint64_t object, VkPrivateDataSlot slot,
                                                  uint64_t *value)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime || type != VK_OBJECT_TYPE_QUEUE) {
        d->vk.vkGetPrivateData(device, type, object, slot, value);
        return;
    }
    bf_lock_acquire(&d->queue_data_lock);
    struct layer_queue_data *data = *find_data(d, (const void *)(uintptr_t)object, (uint64_t)slot);
    *value = data ? data->value : 0;
    bf_lock_release(&d->queue_data_lock);
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyPrivateDataSlot(VkDevice device, VkPrivateDataSlot slot,
                                                          const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    bf_lock_acquire(&d->queue_data_lock);
    struct layer_queue_data **link = &d->queue_data;
    while (*link) {
        struct layer_queue_data *data = *link;
        if (data->slot != (uint64_t)slot) {
            link = &data->next;
            continue;
        }
        *link = data->next;
        free(data);
    }
    bf_lock_release(&d->queue_data_lock);
    d->vk.vkDestroyPrivateDataSlot(device, slot, allocator);
}
