/* SPDX-License-Identifier: MIT */
/*
 * An engine's part that needs no scheduler: one real VkQueue, its properties, its epochs, and the
 * GPU writes submitted to it. An epoch is the number of a submission to this VkQueue that somebody
 * may wait for; the engine's one timeline semaphore counts them.
 */
#ifndef BELFRY_GPU_ENGINE_H
#define BELFRY_GPU_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/write.h"

struct bf_gpu;
struct bf_stamps;

/* VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR, newer than the oldest headers. */
#define BF_QUEUE_INTERNALLY_SYNCHRONIZED 0x4u

struct bf_gpu_engine {
    struct bf_gpu *gpu;
    VkQueue handle;
    uint32_t number; /* index of its bit in masks of engines */
    uint32_t family; /* real */
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags;
    uint32_t timestamp_bits;
    bool copies_whole;                        /* whole mip levels of images, and nothing less */
    VkQueueGlobalPriorityKHR global_priority; /* 0: none was asked for */
    float queue_priority;                     /* of pQueuePriorities; 0: unknown */
    uint32_t least; /* only command queues of this BfCommandQueuePriority and above come here */
    bool reserved;  /* no VkQueue of the program's is backed by it */
    bool spare;     /* nor by this one, which is for command queues and Belfry's own (PL-1) */
    uint32_t trace_id;

    VkSemaphore epoch; /* the timeline semaphore; VK_NULL_HANDLE: epochs are not counted */
    _Atomic uint64_t accepted_epoch;
    _Atomic uint64_t issued_epoch; /* largest one passed to the driver, or about to be */
    _Atomic uint64_t seen_epoch;   /* the largest value of the counter that was read */
    struct bf_stamps *stamps;      /* NULL: no trace, or no timestamps */
    struct bf_gpu_writes writes;   /* of native fences' values */
};

/* Creates the timeline semaphore of the engine's epochs. Errors: those of vkCreateSemaphore. */
VkResult bf_gpu_engine_create_epoch(struct bf_gpu_engine *engine);

/* Reads the last epoch that has been reached. Errors: those of vkGetSemaphoreCounterValue.
 * Thread-safety: safe. */
VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *engine, uint64_t *epoch);

/* Has the epoch been reached? Reads the counter only if the largest value seen so far is below it.
 * Errors count as no. Thread-safety: safe. */
bool bf_gpu_engine_is_over(struct bf_gpu_engine *engine, uint64_t epoch);

/* The signal operation that gives a batch its epoch: once all of its commands are complete. (Member
 * by member, for each submission: a literal is cleared and copied by string instructions.) */
static inline void bf_gpu_engine_epoch_signal(const struct bf_gpu_engine *engine, uint64_t epoch,
                                              VkSemaphoreSubmitInfo *signal)
{
    signal->sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    signal->pNext = NULL;
    signal->semaphore = engine->epoch;
    signal->value = epoch;
    signal->stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    signal->deviceIndex = 0;
}

#endif
