/* SPDX-License-Identifier: MIT */
/*
 * One real VkQueue, as far as it can be told without a scheduler: what it is, how far its epochs are, and
 * the GPU writes that it executes. An engine's epochs are its own count of submissions, the counter of
 * one timeline semaphore.
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

struct bf_gpu_engine {
    struct bf_gpu *gpu;
    VkQueue handle;
    uint32_t number; /* its bit in the masks */
    uint32_t family; /* real */
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags;
    uint32_t timestamp_bits;
    VkQueueGlobalPriorityKHR global_priority; /* 0: none was asked for */
    bool reserved;                            /* no VkQueue of the program is on it */
    uint32_t trace_id;

    VkSemaphore epoch; /* VK_NULL_HANDLE: not counted */
    _Atomic uint64_t accepted_epoch;
    _Atomic uint64_t issued_epoch; /* the driver has been called with it, or is about to be */
    _Atomic uint64_t seen_epoch;   /* the largest that the counter was seen to have */
    struct bf_stamps *stamps;      /* NULL: no timeline, or no timestamps */
    struct bf_gpu_writes writes;   /* of native fences' values */
};

/* Makes the engine's semaphore. Errors: those of vkCreateSemaphore. */
VkResult bf_gpu_engine_create_epoch(struct bf_gpu_engine *engine);

/* How far the engine's epochs are. Errors: those of vkGetSemaphoreCounterValue. Thread-safety:
 * safe. */
VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *engine, uint64_t *epoch);

/* Has the epoch been reached? By what has been seen already, else by the counter. Errors count as no.
 * Thread-safety: safe. */
bool bf_gpu_engine_is_over(struct bf_gpu_engine *engine, uint64_t epoch);

/* What a batch signals when all of its commands are complete. */
static inline VkSemaphoreSubmitInfo bf_gpu_engine_epoch_signal(const struct bf_gpu_engine *engine,
                                                               uint64_t epoch)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = engine->epoch,
        .value = epoch,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

#endif
