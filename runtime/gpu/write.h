/* SPDX-License-Identifier: MIT */
/*
 * GPU writes: an engine writes a 64-bit value to memory (gpu/value_memory.h) behind everything that
 * its VkQueue was given before.
 *
 * A GPU write is a command buffer: a barrier, the write, and a barrier, each from all earlier
 * commands to all later ones and the host. Engines that run compute shaders write the value
 * atomically through its device address; their command buffers are recorded once, and read address
 * and value from the write's slot. Other engines copy the 8 aligned bytes, with a command buffer
 * that is recorded for each use: drivers do such a copy atomically, but Vulkan doesn't promise it.
 *
 *  ST-1  A slot and its command buffer are used again only when the epoch of the submission that
 *        contained them has been reached.
 *  ST-2  Only preparing a write (bf_gpu_write_take) can fail; afterwards it needs no further
 *        resource.
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

/* What the shader reads (shaders/gpu_write.comp). */
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
    uint64_t epoch;           /* of the submission that contained it */
    bool spared;              /* when the device is lost, its fence keeps its value */
};

struct bf_gpu_write_chunk;

/* The GPU writes of an engine. A zeroed struct is empty. */
struct bf_gpu_writes {
    struct bf_lock lock; /* a leaf lock; driver calls on the pool are made under it */
    VkCommandPool pool;
    struct bf_gpu_write_chunk *chunks;
    struct bf_gpu_write *free;
    struct bf_gpu_write *first, *last; /* submitted, in order */
};

/* The compute pipeline that the writes of all engines use. */
struct bf_gpu_write_pipeline {
    struct bf_lock lock; /* held while it is created */
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Does the engine write values atomically by Vulkan's own rules? */
bool bf_gpu_write_is_atomic(const struct bf_gpu_engine *engine);

/* Can the engine's command buffers write to memory at all? */
bool bf_gpu_write_is_possible(const struct bf_gpu_engine *engine);

/* Creates the pipeline, before the first write. Errors: those of vkCreateShaderModule,
 * vkCreatePipelineLayout and vkCreateComputePipelines. Thread-safety: safe. */
VkResult bf_gpu_write_pipeline_ensure(struct bf_gpu *gpu);
void bf_gpu_write_pipeline_finish(struct bf_gpu *gpu);

/* Prepares a write of the value, to be submitted once, on this engine. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, those of bf_buffer_create and of recording. Thread-safety: safe. */
VkResult bf_gpu_write_take(struct bf_gpu_engine *engine, const struct bf_value_memory *memory,
                           uint64_t value, bool spared, struct bf_gpu_write **write);
/* The device is lost, perhaps by Belfry's decision alone while its GPU runs on: writes that have
 * not happened yet become UINT64_MAX, as the fences' values have. Thread-safety: safe. */
void bf_gpu_writes_lose(struct bf_gpu_engine *engine);

/* The driver has accepted the write in the submission of this epoch; or the write will never be
 * submitted. Thread-safety: safe. */
void bf_gpu_write_accepted(struct bf_gpu_engine *engine, struct bf_gpu_write *write,
                           uint64_t epoch);
void bf_gpu_write_drop(struct bf_gpu_engine *engine, struct bf_gpu_write *write);

/* The engine is idle. */
void bf_gpu_writes_finish(struct bf_gpu_engine *engine);

#endif
