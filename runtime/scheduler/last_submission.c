/* SPDX-License-Identifier: MIT */
/* Whether a queue's last submission is complete: setting its completion signal, and waiting for
 * it. */
#include "scheduler/last_submission.h"

#include "scheduler/driver_wait.h"
#include "scheduler/scheduler.h"

/* The longest time for which a wait for an object of the program's holds the lock. Who waits for
 * the lock meanwhile has seen such an object signalled, which ends the wait. */
#define SLICE_NS UINT64_C(10000000)

static void signal_set(struct bf_completion_signal *signal, VkFence fence, VkSemaphore semaphore,
                       uint64_t value, uint64_t epoch)
{
    atomic_store_explicit(&signal->fence, fence, memory_order_relaxed);
    atomic_store_explicit(&signal->semaphore, semaphore, memory_order_relaxed);
    signal->value = value;
    signal->epoch = epoch;
}

void bf_last_submission_set(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore,
                            uint64_t value, uint64_t epoch)
{
    struct bf_last_submission *last = &queue->last_submission;
    bf_lock_acquire(&last->lock);
    signal_set(&last->signal, fence, semaphore, value, epoch);
    last->signless = bf_signless_begun(&queue->submitted);
    bf_lock_release(&last->lock);
    /* When this is over, so is what was before it. */
    bf_signless_end_all(&queue->presented);
}

/* Waits for that long for each of the program's objects, and then for the epoch. The lock isn't
 * held. */
static VkResult signal_wait(struct bf_queue *queue, const struct bf_completion_signal *signal,
                            uint64_t objects_ns, uint64_t epoch_ns)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_last_submission *last = &queue->last_submission;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&last->lock);
    VkFence fence = atomic_load_explicit(&signal->fence, memory_order_relaxed);
    VkSemaphore semaphore = atomic_load_explicit(&signal->semaphore, memory_order_relaxed);
    const uint64_t epoch = signal->epoch;
    if (fence)
        result = scheduler->gpu.vk.vkWaitForFences(scheduler->gpu.handle, 1, &fence, VK_TRUE,
                                                   objects_ns);
    if (semaphore && result == VK_SUCCESS)
        result = bf_driver_wait_timeline(scheduler, semaphore, signal->value, objects_ns);
    bf_lock_release(&last->lock);
    if (epoch && result == VK_SUCCESS) /* Belfry's own: the program can't destroy it */
        result = bf_driver_wait_timeline(scheduler, queue->engine->base.epoch, epoch, epoch_ns);
    return result;
}

VkResult bf_last_submission_wait(struct bf_queue *queue)
{
    VkResult result;
    do
        result = signal_wait(queue, &queue->last_submission.signal, SLICE_NS, UINT64_MAX);
    while (result == VK_TIMEOUT && !bf_scheduler_is_lost(queue->scheduler));
    return result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result;
}

bool bf_last_submission_is_reached(struct bf_queue *queue)
{
    return signal_wait(queue, &queue->last_submission.signal, 0, 0) == VK_SUCCESS;
}

bool bf_last_submission_tells_all(struct bf_queue *queue)
{
    struct bf_last_submission *last = &queue->last_submission;
    bf_lock_acquire(&last->lock);
    const bool all = last->signless == bf_signless_begun(&queue->submitted);
    bf_lock_release(&last->lock);
    return all || !bf_signless_is(&queue->submitted);
}

void bf_last_submission_keep(struct bf_queue *queue)
{
    struct bf_last_submission *last = &queue->last_submission;
    bf_lock_acquire(&last->lock);
    signal_set(&last->kept, atomic_load_explicit(&last->signal.fence, memory_order_relaxed),
               atomic_load_explicit(&last->signal.semaphore, memory_order_relaxed),
               last->signal.value, last->signal.epoch);
    bf_lock_release(&last->lock);
}

VkResult bf_last_submission_wait_kept(struct bf_queue *queue, uint64_t timeout_ns)
{
    return signal_wait(queue, &queue->last_submission.kept,
                       timeout_ns < SLICE_NS ? timeout_ns : SLICE_NS, timeout_ns);
}

static void signal_forget(struct bf_completion_signal *signal, VkFence fence, VkSemaphore semaphore)
{
    if (fence && atomic_load_explicit(&signal->fence, memory_order_relaxed) == fence)
        atomic_store_explicit(&signal->fence, VK_NULL_HANDLE, memory_order_relaxed);
    if (semaphore && atomic_load_explicit(&signal->semaphore, memory_order_relaxed) == semaphore)
        atomic_store_explicit(&signal->semaphore, VK_NULL_HANDLE, memory_order_relaxed);
}

static bool signal_has(const struct bf_completion_signal *signal, VkFence fence,
                       VkSemaphore semaphore)
{
    return (fence && atomic_load_explicit(&signal->fence, memory_order_relaxed) == fence) ||
           (semaphore &&
            atomic_load_explicit(&signal->semaphore, memory_order_relaxed) == semaphore);
}

/* The object is about to be reset or destroyed: it has been signalled, or the program could not do
 * so. Reading without the lock is enough: who may reset or destroy an object knows that its
 * submission is complete, and that submission's call had set the completion signal before. */
static void last_submission_forget(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore)
{
    struct bf_last_submission *last = &queue->last_submission;
    if (!signal_has(&last->signal, fence, semaphore) && !signal_has(&last->kept, fence, semaphore))
        return;
    bf_lock_acquire(&last->lock);
    signal_forget(&last->signal, fence, semaphore);
    signal_forget(&last->kept, fence, semaphore);
    bf_lock_release(&last->lock);
}

void bf_last_submission_drop_fences(struct bf_scheduler *scheduler, uint32_t count,
                                    const VkFence *fences)
{
    for (uint32_t q = 0; atomic_load(&scheduler->was_shared) && q < scheduler->queue_count; q++) {
        for (uint32_t i = 0; i < count; i++)
            last_submission_forget(&scheduler->queues[q], fences[i], VK_NULL_HANDLE);
    }
}

void bf_last_submission_drop_semaphore(struct bf_scheduler *scheduler, VkSemaphore semaphore)
{
    for (uint32_t q = 0; atomic_load(&scheduler->was_shared) && q < scheduler->queue_count; q++)
        last_submission_forget(&scheduler->queues[q], VK_NULL_HANDLE, semaphore);
}
