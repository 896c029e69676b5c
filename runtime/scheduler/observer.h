/* SPDX-License-Identifier: MIT */
/*
 * Observers: structs of functions that the runtime calls to report what a program does with queues,
 * fences and events. The check 'access' (runtime/access) is one, and this header is all that
 * connects it with the runtime.
 *
 * The creator of a device passes the observer to it, and keeps it until the device is destroyed. An
 * observer returns an object for every queue and fence; with a NULL one (no observer, or it has no
 * memory) each function here returns at once.
 *
 * Operations on a queue or a fence are reported before they are done; what the CPU has read or
 * waited for, after it has happened. (Otherwise a thread could see a signal of which the observer
 * has not been told.)
 *
 * Thread-safety: safe. An observer's functions take no lock but their own, call nothing of the
 * runtime but base/, and don't block: they may be called under any lock.
 */
#ifndef BELFRY_SCHEDULER_OBSERVER_H
#define BELFRY_SCHEDULER_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"

struct bf_observer_calls;

/* The first members of an observer's own structs. */
struct bf_observer {
    const struct bf_observer_calls *calls;
    struct bf_observer *next; /* in the list of observers of events */
};

struct bf_observed_queue {
    const struct bf_observer_calls *calls;
};

struct bf_observed_fence {
    const struct bf_observer_calls *calls;
};

struct bf_observer_calls {
    /* Observing ends: the device is lost, or a call has failed that had been reported. */
    void (*stop)(struct bf_observer *observer, const char *why);
    bool (*has_stopped)(struct bf_observer *observer);

    /* A VkQueue of the program's. 'flags' are what it can do, as for a queue family. */
    void (*vkqueue_add)(struct bf_observer *observer, VkQueue queue, const char *name,
                        VkQueueFlags flags);
    void (*vkqueue_submit2)(struct bf_observer *observer, VkQueue queue, uint32_t count,
                            const VkSubmitInfo2 *infos, VkFence fence);
    /* The CPU may have waited for anything that can have run. */
    void (*ran)(struct bf_observer *observer);

    /* Command queues. 'flags' as above; the name is copied. */
    struct bf_observed_queue *(*queue_add)(struct bf_observer *observer, const char *name,
                                           VkQueueFlags flags);
    void (*queue_name)(struct bf_observed_queue *queue, const char *name); /* copied */
    void (*queue_remove)(struct bf_observed_queue *queue);
    void (*queue_execute)(struct bf_observed_queue *queue, uint32_t count,
                          const VkCommandBuffer *buffers);
    void (*queue_signal)(struct bf_observed_queue *queue, struct bf_observed_fence *fence,
                         uint64_t value);
    void (*queue_wait)(struct bf_observed_queue *queue, struct bf_observed_fence *fence,
                       uint64_t value);
    /* bfQueueUses, of valid uses. Errors: VK_ERROR_OUT_OF_HOST_MEMORY (none was added). */
    VkResult (*queue_uses)(struct bf_observed_queue *queue, uint32_t count,
                           const BfResourceUse *uses);
    /* Has the layer reported this resource, and not its end? */
    bool (*knows_buffer)(struct bf_observer *observer, VkBuffer buffer);
    bool (*knows_image)(struct bf_observer *observer, VkImage image);
    /* VK_WHOLE_SIZE: not known. */
    VkDeviceSize (*buffer_size)(struct bf_observer *observer, VkBuffer buffer);

    struct bf_observed_fence *(*fence_add)(struct bf_observer *observer, uint64_t value);
    void (*fence_remove)(struct bf_observed_fence *fence);
    /* References, for those who may report of the fence after it was removed. */
    void (*fence_reference)(struct bf_observed_fence *fence);
    void (*fence_release)(struct bf_observed_fence *fence);
    /* From now on others may signal it and wait for it, unobserved. */
    void (*fence_external)(struct bf_observed_fence *fence);
    /* From now on the CPU may read its value unobserved. */
    void (*fence_mapped)(struct bf_observed_fence *fence);
    void (*fence_signal)(struct bf_observed_fence *fence, uint64_t value); /* by the CPU */
    /* The CPU has waited until the fence reached the value; the CPU has read exactly this value. */
    void (*fence_reached)(struct bf_observed_fence *fence, uint64_t value);
    void (*fence_read)(struct bf_observed_fence *fence, uint64_t value);
    /* bfImportFenceFromSemaphore: the fence of a timeline semaphore, to be removed like one of
     * fence_add. bfExportFenceToSemaphore: the semaphore follows the fence from now on. */
    struct bf_observed_fence *(*semaphore_import)(struct bf_observer *observer, VkSemaphore sem);
    void (*semaphore_export)(struct bf_observer *observer, VkSemaphore semaphore,
                             struct bf_observed_fence *fence);

    /* An event, identified by its address, has been set because the fence has reached the value.
     * 'unseen': who waits for the event may do so unobserved, by its file descriptor. */
    void (*event_set)(struct bf_observed_fence *fence, uint64_t value, const void *event,
                      bool unseen);
    /* Events belong to the process, so every observer is told. */
    void (*event_seen)(struct bf_observer *observer, const void *event);
    void (*event_remove)(struct bf_observer *observer, const void *event);
};

/* Begins and ends reporting events to the observer. NULL is allowed. */
void bf_observer_list(struct bf_observer *observer);
void bf_observer_unlist(struct bf_observer *observer);

/* Reports to all observers: the CPU has seen the event set; the event is destroyed. */
void bf_observe_event_seen(const void *event);
void bf_observe_event_remove(const void *event);

static inline void bf_observe_stop(struct bf_observer *observer, const char *why)
{
    if (observer)
        observer->calls->stop(observer, why);
}

static inline void bf_observe_ran(struct bf_observer *observer)
{
    if (observer)
        observer->calls->ran(observer);
}

static inline void bf_observe_vkqueue_add(struct bf_observer *observer, VkQueue queue,
                                          const char *name, VkQueueFlags flags)
{
    if (observer)
        observer->calls->vkqueue_add(observer, queue, name, flags);
}

static inline void bf_observe_vkqueue_submit2(struct bf_observer *observer, VkQueue queue,
                                              uint32_t count, const VkSubmitInfo2 *infos,
                                              VkFence fence)
{
    if (observer)
        observer->calls->vkqueue_submit2(observer, queue, count, infos, fence);
}

static inline struct bf_observed_queue *bf_observe_queue_add(struct bf_observer *observer,
                                                             const char *name, VkQueueFlags flags)
{
    return observer ? observer->calls->queue_add(observer, name, flags) : NULL;
}

static inline void bf_observe_queue_name(struct bf_observed_queue *queue, const char *name)
{
    if (queue)
        queue->calls->queue_name(queue, name);
}

static inline void bf_observe_queue_remove(struct bf_observed_queue *queue)
{
    if (queue)
        queue->calls->queue_remove(queue);
}

static inline void bf_observe_queue_execute(struct bf_observed_queue *queue, uint32_t count,
                                            const VkCommandBuffer *buffers)
{
    if (queue)
        queue->calls->queue_execute(queue, count, buffers);
}

static inline void bf_observe_queue_signal(struct bf_observed_queue *queue,
                                           struct bf_observed_fence *fence, uint64_t value)
{
    if (queue)
        queue->calls->queue_signal(queue, fence, value);
}

static inline void bf_observe_queue_wait(struct bf_observed_queue *queue,
                                         struct bf_observed_fence *fence, uint64_t value)
{
    if (queue)
        queue->calls->queue_wait(queue, fence, value);
}

static inline struct bf_observed_fence *bf_observe_fence_add(struct bf_observer *observer,
                                                             uint64_t value)
{
    return observer ? observer->calls->fence_add(observer, value) : NULL;
}

static inline void bf_observe_fence_remove(struct bf_observed_fence *fence)
{
    if (fence)
        fence->calls->fence_remove(fence);
}

static inline void bf_observe_fence_reference(struct bf_observed_fence *fence)
{
    if (fence)
        fence->calls->fence_reference(fence);
}

static inline void bf_observe_fence_release(struct bf_observed_fence *fence)
{
    if (fence)
        fence->calls->fence_release(fence);
}

static inline void bf_observe_fence_external(struct bf_observed_fence *fence)
{
    if (fence)
        fence->calls->fence_external(fence);
}

static inline void bf_observe_fence_mapped(struct bf_observed_fence *fence)
{
    if (fence)
        fence->calls->fence_mapped(fence);
}

static inline void bf_observe_fence_signal(struct bf_observed_fence *fence, uint64_t value)
{
    if (fence)
        fence->calls->fence_signal(fence, value);
}

static inline void bf_observe_fence_reached(struct bf_observed_fence *fence, uint64_t value)
{
    if (fence)
        fence->calls->fence_reached(fence, value);
}

static inline void bf_observe_fence_read(struct bf_observed_fence *fence, uint64_t value)
{
    if (fence)
        fence->calls->fence_read(fence, value);
}

static inline struct bf_observed_fence *bf_observe_semaphore_import(struct bf_observer *observer,
                                                                    VkSemaphore semaphore)
{
    return observer ? observer->calls->semaphore_import(observer, semaphore) : NULL;
}

static inline void bf_observe_semaphore_export(struct bf_observer *observer, VkSemaphore semaphore,
                                               struct bf_observed_fence *fence)
{
    if (observer)
        observer->calls->semaphore_export(observer, semaphore, fence);
}

static inline void bf_observe_event_set(struct bf_observed_fence *fence, uint64_t value,
                                        const void *event, bool unseen)
{
    if (fence)
        fence->calls->event_set(fence, value, event, unseen);
}

/* --------------------------------------------------------------------------- Executions alone --*/

/* An observer of the command buffers that command queues execute, and of nothing else (the layer's
 * specialiser). It is called on any thread, with no lock held. */
struct bf_execute_observer {
    void *context;
    /* Before they are handed over. Returns a number for 'failed'. */
    uint64_t (*begins)(void *context, const void *queue, uint32_t count,
                       const VkCommandBuffer *buffers);
    void (*failed)(void *context, uint64_t call);   /* the call has failed */
    void (*idle)(void *context, const void *queue); /* all executions of the queue are complete */
};

#endif
