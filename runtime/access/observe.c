/* SPDX-License-Identifier: MIT */
/* The check as an observer of a device: passes every report on to the functions of access.h and
 * vulkan.h. */
#include "access/observe.h"

#include "access/model.h"
#include "access/vulkan.h"

static struct bf_access *access_of(struct bf_observer *observer)
{
    return (struct bf_access *)observer;
}

static struct bf_access_queue *access_queue_of(struct bf_observed_queue *queue)
{
    return (struct bf_access_queue *)queue;
}

static struct bf_access_fence *access_fence_of(struct bf_observed_fence *fence)
{
    return (struct bf_access_fence *)fence;
}

static struct bf_observed_fence *observed_fence_of(struct bf_access_fence *fence)
{
    return (struct bf_observed_fence *)fence;
}

/* The type class of a queue with these abilities. [ME 6] */
static enum bf_access_class class_of_flags(VkQueueFlags flags)
{
    if (flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT))
        return BF_ACCESS_COMPUTE_3D;
    bool copies = (flags & VK_QUEUE_TRANSFER_BIT) && !(flags & VK_QUEUE_VIDEO_DECODE_BIT_KHR);
    return copies ? BF_ACCESS_COPY : BF_ACCESS_NO_CLASS;
}

static void observe_stop(struct bf_observer *observer, const char *why)
{
    bf_access_stop(access_of(observer), why);
}

static bool observe_has_stopped(struct bf_observer *observer)
{
    return bf_access_has_ended(access_of(observer));
}

static void observe_vkqueue_add(struct bf_observer *observer, VkQueue queue, const char *name,
                                VkQueueFlags flags)
{
    bf_access_vkqueue_add(access_of(observer), queue, name, class_of_flags(flags));
}

static void observe_vkqueue_submit2(struct bf_observer *observer, VkQueue queue, uint32_t count,
                                    const VkSubmitInfo2 *infos, VkFence fence)
{
    bf_access_vkqueue_submit2(access_of(observer), queue, count, infos, fence);
}

static void observe_ran(struct bf_observer *observer)
{
    bf_access_ran(access_of(observer));
}

static struct bf_observed_queue *observe_queue_add(struct bf_observer *observer, const char *name,
                                                   VkQueueFlags flags)
{
    return (struct bf_observed_queue *)bf_access_queue_add(access_of(observer), name,
                                                           class_of_flags(flags));
}

static void observe_queue_name(struct bf_observed_queue *queue, const char *name)
{
    bf_access_queue_name(access_queue_of(queue), name);
}

static void observe_queue_remove(struct bf_observed_queue *queue)
{
    bf_access_queue_remove(access_queue_of(queue));
}

static void observe_queue_execute(struct bf_observed_queue *queue, uint32_t count,
                                  const VkCommandBuffer *buffers)
{
    bf_access_queue_execute(access_queue_of(queue), count, buffers);
}

static void observe_queue_signal(struct bf_observed_queue *queue, struct bf_observed_fence *fence,
                                 uint64_t value)
{
    bf_access_queue_signal(access_queue_of(queue), access_fence_of(fence), value);
}

static void observe_queue_wait(struct bf_observed_queue *queue, struct bf_observed_fence *fence,
                               uint64_t value)
{
    bf_access_queue_wait(access_queue_of(queue), access_fence_of(fence), value);
}

static VkResult observe_queue_uses(struct bf_observed_queue *queue, uint32_t count,
                                   const BfResourceUse *uses)
{
    return bf_access_queue_uses(access_queue_of(queue), count, uses);
}

static bool observe_knows_buffer(struct bf_observer *observer, VkBuffer buffer)
{
    return bf_access_knows_buffer(access_of(observer), buffer);
}

static VkDeviceSize observe_buffer_size(struct bf_observer *observer, VkBuffer buffer)
{
    return bf_access_buffer_size(access_of(observer), buffer);
}

static bool observe_knows_image(struct bf_observer *observer, VkImage image)
{
    return bf_access_knows_image(access_of(observer), image);
}

static struct bf_observed_fence *observe_fence_add(struct bf_observer *observer, uint64_t value)
{
    return observed_fence_of(bf_access_fence_add(access_of(observer), value));
}

static void observe_fence_remove(struct bf_observed_fence *fence)
{
    bf_access_fence_remove(access_fence_of(fence));
}

static void observe_fence_reference(struct bf_observed_fence *fence)
{
    bf_access_fence_reference(access_fence_of(fence));
}

static void observe_fence_release(struct bf_observed_fence *fence)
{
    bf_access_fence_release(access_fence_of(fence));
}

static void observe_fence_external(struct bf_observed_fence *fence)
{
    bf_access_fence_external(access_fence_of(fence));
}

static void observe_fence_mapped(struct bf_observed_fence *fence)
{
    bf_access_fence_mapped(access_fence_of(fence));
}

static void observe_fence_signal(struct bf_observed_fence *fence, uint64_t value)
{
    bf_access_fence_signal(access_fence_of(fence), value);
}

static void observe_fence_reached(struct bf_observed_fence *fence, uint64_t value)
{
    bf_access_fence_reached(access_fence_of(fence), value);
}

static void observe_fence_read(struct bf_observed_fence *fence, uint64_t value)
{
    bf_access_fence_read(access_fence_of(fence), value);
}

static struct bf_observed_fence *observe_semaphore_import(struct bf_observer *observer,
                                                          VkSemaphore semaphore)
{
    return observed_fence_of(bf_access_semaphore_import(access_of(observer), semaphore));
}

static void observe_semaphore_export(struct bf_observer *observer, VkSemaphore semaphore,
                                     struct bf_observed_fence *fence)
{
    bf_access_semaphore_export(access_of(observer), semaphore, access_fence_of(fence));
}

static void observe_event_set(struct bf_observed_fence *fence, uint64_t value, const void *event,
                              bool unseen)
{
    bf_access_event_set(event, unseen, access_fence_of(fence), value);
}

static void observe_event_seen(struct bf_observer *observer, const void *event)
{
    bf_access_event_seen(access_of(observer), event);
}

static void observe_event_remove(struct bf_observer *observer, const void *event)
{
    bf_access_event_remove(access_of(observer), event);
}

const struct bf_observer_calls bf_access_observer_calls = {
    .stop = observe_stop,
    .has_stopped = observe_has_stopped,
    .vkqueue_add = observe_vkqueue_add,
    .vkqueue_submit2 = observe_vkqueue_submit2,
    .ran = observe_ran,
    .queue_add = observe_queue_add,
    .queue_name = observe_queue_name,
    .queue_remove = observe_queue_remove,
    .queue_execute = observe_queue_execute,
    .queue_signal = observe_queue_signal,
    .queue_wait = observe_queue_wait,
    .queue_uses = observe_queue_uses,
    .knows_buffer = observe_knows_buffer,
    .knows_image = observe_knows_image,
    .buffer_size = observe_buffer_size,
    .fence_add = observe_fence_add,
    .fence_remove = observe_fence_remove,
    .fence_reference = observe_fence_reference,
    .fence_release = observe_fence_release,
    .fence_external = observe_fence_external,
    .fence_mapped = observe_fence_mapped,
    .fence_signal = observe_fence_signal,
    .fence_reached = observe_fence_reached,
    .fence_read = observe_fence_read,
    .semaphore_import = observe_semaphore_import,
    .semaphore_export = observe_semaphore_export,
    .event_set = observe_event_set,
    .event_seen = observe_event_seen,
    .event_remove = observe_event_remove,
};

struct bf_observer *bf_access_observer(struct bf_access *access)
{
    return access ? &access->observer : NULL;
}

struct bf_access *bf_access_of_observer(struct bf_observer *observer)
{
    return observer && observer->calls == &bf_access_observer_calls ? access_of(observer) : NULL;
}
