/* SPDX-License-Identifier: MIT */
/*
 * Stores: 64-bit values that an engine writes to words (gpu/value_memory.h) in its own order, after
 * everything that its VkQueue was given before.
 *
 * A store is a command buffer: a barrier behind all earlier commands, the store, and a barrier
 * before all later ones and the host. Engines that run compute shaders store the value in one piece
 * through its address: their command buffers are recorded once, and fetch address and value from
 * the store's slot. Others copy it, 8 bytes to an aligned place, by a command buffer that is
 * recorded for each use: drivers write such a copy in one piece, but Vulkan doesn't promise it.
 *
 *  ST-1  A slot and its command buffer are used again only when the epoch of the submission that
 *        carried them has been reached.
 *  ST-2  Taking a store is what may fail; once taken, it needs nothing more.
 *
 * Proven by tests/fence (native.c, native_races.c, native_memory.c).
 */
#ifndef BELFRY_GPU_WRITE_H
#define BELFRY_GPU_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/memory.h"
#include "gpu/value_memory.h"
#include "base/lock.h"

struct bf_gpu;
struct bf_gpu_engine;

/* What the shader reads. */
struct bf_gpu_write_slot {
    uint64_t address;
    uint64_t value;
};

struct bf_gpu_write {
    struct bf_gpu_write *next;
    VkCommandBuffer commands;
    struct bf_gpu_write_slot *slot; /* mapped */
    VkBuffer slot_buffer;
    VkDeviceSize slot_offset; /* bytes */
    uint64_t epoch;           /* of the submission that carried it */
    bool spared;              /* the loss of the device leaves its fence's value */
};

struct bf_gpu_write_chunk;

/* An engine's; zeroed is empty. */
struct bf_gpu_writes {
    struct bf_lock lock; /* a leaf but for driver calls on its own pool */
    VkCommandPool pool;
    struct bf_gpu_write_chunk *chunks;
    struct bf_gpu_write *free;
    struct bf_gpu_write *first, *last; /* on their way, in order of submission */
};

/* The pipeline that all engines' stores use. */
struct bf_gpu_write_pipeline {
    struct bf_lock lock; /* making it */
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Does the engine store words in one piece, as Vulkan promises it? */
bool bf_gpu_write_is_atomic(const struct bf_gpu_engine *engine);

/* Can the engine's command buffers write to memory at all? */
bool bf_gpu_write_is_possible(const struct bf_gpu_engine *engine);

/* What all engines need for stores, before the first. Errors: those of vkCreateShaderModule,
 * vkCreatePipelineLayout and vkCreateComputePipelines. Thread-safety: safe. */
VkResult bf_gpu_write_pipeline_ensure(struct bf_gpu *gpu);
void bf_gpu_write_pipeline_finish(struct bf_gpu *gpu);

/* A store of the value, to be submitted once on this engine. Errors: VK_ERROR_OUT_OF_HOST_MEMORY,
 * those of bf_buffer_create and of recording. Thread-safety: safe. */
VkResult bf_gpu_write_take(struct bf_gpu_engine *engine, const struct bf_value_memory *memory,
                           uint64_t value, bool spared, struct bf_gpu_write **write);
/* The device is lost, perhaps in our eyes alone: what is yet to be stored becomes UINT64_MAX, as the
 * fences have. Thread-safety: safe. */
void bf_gpu_writes_lose(struct bf_gpu_engine *engine);

/* It was accepted with this epoch; or never will be. Thread-safety: safe. */
void bf_gpu_write_accepted(struct bf_gpu_engine *engine, struct bf_gpu_write *write,
                           uint64_t epoch);
void bf_gpu_write_drop(struct bf_gpu_engine *engine, struct bf_gpu_write *write);

/* The engine is idle. */
void bf_gpu_writes_finish(struct bf_gpu_engine *engine);

#endif
