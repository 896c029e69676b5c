/* SPDX-License-Identifier: MIT */
/*
 * Whoever wants to follow what a program does with queues, fences and events: a struct of functions
 * that the runtime calls. The check 'access' (runtime/access) is one, and it hangs on the runtime by
 * this header alone.
 *
 * Who creates a device passes the observer to it, and keeps it until the device is destroyed. An
 * observer hands out an object for every queue and fence; a NULL one (no observer, or it has no
 * memory) makes each function here return at once.
 *
 * What adds to a queue or a fence is reported before it is done; what the CPU has seen, after it has
 * seen it. (Else a thread could see a signal that the observer hasn't heard of.)
 *
 * Thread-safety: safe. An observer's functions take their own lock at most, call nothing of the
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
    struct bf_observer *next; /* in the list of observers that hear of events */
};

struct bf_observed_queue {
    const struct bf_observer_calls *calls;
};

struct bf_observed_fence {
    const struct bf_observer_calls *calls;
};

struct bf_observer_calls {
    /* The observed program does what can't be followed: the device is lost, a call has failed that
     * was reported. */
    void (*stop)(struct bf_observer *observer, const char *why);
    bool (*has_stopped)(struct bf_observer *observer);

    /* A VkQueue of the program. 'flags' say what it can do, as for a queue family. */
    void (*vkqueue_add)(struct bf_observer *observer, VkQueue queue, const char *name,
                        VkQueueFlags flags);
    void (*vkqueue_submit2)(struct bf_observer *observer, VkQueue queue, uint32_t count,
                            const VkSubmitInfo2 *infos, VkFence fence);
    /* The CPU may have waited until the device was idle. */
    void (*idle)(struct bf_observer *observer);

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

    struct bf_observed_fence *(*fence_add)(struct bf_observer *observer, uint64_t value);
    void (*fence_remove)(struct bf_observed_fence *fence);
    /* For whoever may report of it after it was removed. */
    void (*fence_reference)(struct bf_observed_fence *fence);
    void (*fence_release)(struct bf_observed_fence *fence);
    /* From now on others signal it and wait for it as well, unobserved. */
    void (*fence_external)(struct bf_observed_fence *fence);
    void (*fence_signal)(struct bf_observed_fence *fence, uint64_t value); /* by the CPU */
    /* The CPU has waited until it reached the value; has read exactly this value. */
    void (*fence_reached)(struct bf_observed_fence *fence, uint64_t value);
    void (*fence_read)(struct bf_observed_fence *fence, uint64_t value);
    /* bfImportFence: the fence of a timeline semaphore, to be removed like one of fence_add.
     * bfExportFence: the semaphore follows the fence from now on. */
    struct bf_observed_fence *(*semaphore_import)(struct bf_observer *observer, VkSemaphore sem);
    void (*semaphore_export)(struct bf_observer *observer, VkSemaphore semaphore,
                             struct bf_observed_fence *fence);

    /* An event, known by its address, has been set because the fence has reached the value.
     * 'unseen': whoever waits for it may do so unobserved, by its file descriptor. */
    void (*event_set)(struct bf_observed_fence *fence, uint64_t value, const void *event,
                      bool unseen);
    /* Events belong to the process: each observer is asked. */
    void (*event_seen)(struct bf_observer *observer, const void *event);
    void (*event_remove)(struct bf_observer *observer, const void *event);
};

/* From now on, until now, the observer hears of events. NULL is allowed. */
void bf_observer_list(struct bf_observer *observer);
void bf_observer_unlist(struct bf_observer *observer);

/* To all observers: the CPU has seen the event set; the event is destroyed. */
void bf_observe_event_seen(const void *event);
void bf_observe_event_remove(const void *event);

static inline void bf_observe_stop(struct bf_observer *observer, const char *why)
{
    if (observer)
        observer->calls->stop(observer, why);
}

static inline void bf_observe_idle(struct bf_observer *observer)
{
    if (observer)
        observer->calls->idle(observer);
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

/* ------------------------------------------------------------------------------ Executions alone -- */

/* What wants to know which command buffers command queues execute, and nothing else (the layer's
 * specialiser). Any thread calls, with no lock held. */
struct bf_execute_observer {
    void *context;
    /* Before they are handed over. Returns a number for 'failed'. */
    uint64_t (*begins)(void *context, const void *queue, uint32_t count,
                       const VkCommandBuffer *buffers);
    void (*failed)(void *context, uint64_t call);   /* nothing was handed over */
    void (*idle)(void *context, const void *queue); /* all that was executed there is over */
};

#endif
