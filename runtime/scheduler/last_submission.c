/* SPDX-License-Identifier: MIT */
/* Whether a queue's last submission is complete: setting its completion signal, and waiting for
 * it. */
#include "scheduler/last_submission.h"

#include "scheduler/driver_wait.h"
#include "scheduler/scheduler.h"

/* The longest time for which a wait for an object of the program's holds the lock. Who waits for
 * the lock meanwhile has seen such an object signalled, which ends the wait. */
#define SLICE_NS UINT64_C(10000000)

void bf_last_submission_set(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore,
                            uint64_t value, uint64_t epoch)
{
    struct bf_last_submission *last = &queue->last_submission;
    bf_lock_acquire(&last->lock);
    atomic_store_explicit(&last->fence, fence, memory_order_relaxed);
    atomic_store_explicit(&last->semaphore, semaphore, memory_order_relaxed);
    last->value = value;
    last->epoch = epoch;
    bf_lock_release(&last->lock);
    /* When this is over, so is what was before it. */
    bf_signless_end_all(&queue->presented);
}

VkResult bf_last_submission_wait(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_last_submission *last = &queue->last_submission;
    VkResult result;
    do {
        bf_lock_acquire(&last->lock);
        VkFence fence = atomic_load_explicit(&last->fence, memory_order_relaxed);
        VkSemaphore semaphore = atomic_load_explicit(&last->semaphore, memory_order_relaxed);
        uint64_t epoch = last->epoch;
        result = VK_SUCCESS;
        if (fence)
            result = scheduler->gpu.vk.vkWaitForFences(scheduler->gpu.handle, 1, &fence, VK_TRUE,
                                                       SLICE_NS);
        if (semaphore && result == VK_SUCCESS)
            result = bf_driver_wait_timeline(scheduler, semaphore, last->value, SLICE_NS);
        bf_lock_release(&last->lock);
        if (epoch && result == VK_SUCCESS) /* Belfry's own: the program can't destroy it */
            result =
                bf_driver_wait_timeline(scheduler, queue->engine->base.epoch, epoch, UINT64_MAX);
    } while (result == VK_TIMEOUT && !bf_scheduler_is_lost(scheduler));
    return result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result;
}

bool bf_last_submission_is_reached(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_last_submission *last = &queue->last_submission;
    uint64_t completed = 0;
    if (!bf_lock_try(&last->lock)) /* somebody waits for it */
        return false;
    VkFence fence = atomic_load_explicit(&last->fence, memory_order_relaxed);
    VkSemaphore semaphore = atomic_load_explicit(&last->semaphore, memory_order_relaxed);
    uint64_t epoch = last->epoch;
    bool reached =
        !fence || scheduler->gpu.vk.vkGetFenceStatus(scheduler->gpu.handle, fence) == VK_SUCCESS;
    if (semaphore && reached)
        reached = bf_driver_wait_timeline(scheduler, semaphore, last->value, 0) == VK_SUCCESS;
    bf_lock_release(&last->lock);
    return reached && (!epoch || (bf_gpu_engine_completed_epoch(&queue->engine->base, &completed) ==
                                      VK_SUCCESS &&
                                  epoch <= completed));
}

/* The object is about to be reset or destroyed: it has been signalled, or the program could not do
 * so. */
static void last_submission_forget_if(struct bf_queue *queue, VkFence fence, VkSemaphore semaphore)
{
    struct bf_last_submission *last = &queue->last_submission;
    bf_lock_acquire(&last->lock);
    if (fence && atomic_load_explicit(&last->fence, memory_order_relaxed) == fence)
        atomic_store_explicit(&last->fence, VK_NULL_HANDLE, memory_order_relaxed);
    if (semaphore && atomic_load_explicit(&last->semaphore, memory_order_relaxed) == semaphore)
        atomic_store_explicit(&last->semaphore, VK_NULL_HANDLE, memory_order_relaxed);
    bf_lock_release(&last->lock);
}

/* Reading without the lock is enough: who may reset or destroy an object knows that its submission
 * is complete, and that submission's call had set the completion signal before. */
void bf_last_submission_drop_fences(struct bf_scheduler *scheduler, uint32_t count,
                                    const VkFence *fences)
{
    for (uint32_t q = 0; atomic_load(&scheduler->was_shared) && q < scheduler->queue_count; q++) {
        VkFence last_submission =
            atomic_load_explicit(&scheduler->queues[q].last_submission.fence, memory_order_relaxed);
        for (uint32_t i = 0; last_submission && i < count; i++) {
            if (fences[i] == last_submission)
                last_submission_forget_if(&scheduler->queues[q], last_submission, VK_NULL_HANDLE);
        }
    }
}

void bf_last_submission_drop_semaphore(struct bf_scheduler *scheduler, VkSemaphore semaphore)
{
    for (uint32_t q = 0; atomic_load(&scheduler->was_shared) && q < scheduler->queue_count; q++) {
        if (atomic_load_explicit(&scheduler->queues[q].last_submission.semaphore,
                                 memory_order_relaxed) == semaphore)
            last_submission_forget_if(&scheduler->queues[q], VK_NULL_HANDLE, semaphore);
    }
}
