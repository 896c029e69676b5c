/* SPDX-License-Identifier: MIT */
/* GPU writes: recording their command buffers, and handing them out and taking them back. */
#include "gpu/write.h"

#include <stdlib.h>

#include "gpu/commands.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "gpu/made.h"
#include "shaders/gpu_write.comp.h"

#define CHUNK 32 /* writes that are allocated at a time */

struct bf_gpu_write_chunk {
    struct bf_gpu_write_chunk *next;
    struct bf_buffer slots;
    VkCommandBuffer commands[CHUNK];
    struct bf_gpu_write writes[CHUNK];
};

bool bf_gpu_write_is_atomic(const struct bf_gpu_engine *engine)
{
    return engine->gpu->writes_values && (engine->family_flags & VK_QUEUE_COMPUTE_BIT);
}

bool bf_gpu_write_is_possible(const struct bf_gpu_engine *engine)
{
    return engine->family_flags &
           (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
}

VkResult bf_gpu_write_pipeline_ensure(struct bf_gpu *gpu)
{
    const struct VolkDeviceTable *vk = &gpu->vk;
    struct bf_gpu_write_pipeline *p = &gpu->write_pipeline;
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    if (!gpu->writes_values)
        return VK_SUCCESS;
    bf_lock_acquire(&p->lock);
    if (!p->layout) {
        const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};
        const VkPipelineLayoutCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &range,
        };
        result =
            BF_MADE(vk->vkCreatePipelineLayout(gpu->handle, &info, NULL, &p->layout), &p->layout);
    }
    if (result == VK_SUCCESS && !p->pipeline) {
        const VkShaderModuleCreateInfo code = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = sizeof(gpu_write_comp),
            .pCode = gpu_write_comp,
        };
        result = BF_MADE(vk->vkCreateShaderModule(gpu->handle, &code, NULL, &module), &module);
        const VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage =
                {
                    .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                    .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                    .module = module,
                    .pName = "main",
                },
            .layout = p->layout,
        };
        if (result == VK_SUCCESS)
            result = vk->vkCreateComputePipelines(gpu->handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                  &p->pipeline);
        if (result != VK_SUCCESS)
            p->pipeline = VK_NULL_HANDLE;
        vk->vkDestroyShaderModule(gpu->handle, module, NULL);
    }
    bf_lock_release(&p->lock);
    return result;
}

void bf_gpu_write_pipeline_finish(struct bf_gpu *gpu)
{
    struct bf_gpu_write_pipeline *p = &gpu->write_pipeline;
    if (p->pipeline)
        gpu->vk.vkDestroyPipeline(gpu->handle, p->pipeline, NULL);
    if (p->layout)
        gpu->vk.vkDestroyPipelineLayout(gpu->handle, p->layout, NULL);
}

/* Records the write's commands: a copy to 'memory'; or, with NULL, the shader, which finds the
 * address in the slot. */
static VkResult gpu_write_record(struct bf_gpu_engine *engine, struct bf_gpu_write *write,
                                 const struct bf_value_memory *memory)
{
    struct bf_gpu *gpu = engine->gpu;
    const struct VolkDeviceTable *vk = &gpu->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult result = vk->vkBeginCommandBuffer(write->commands, &begin);
    if (result != VK_SUCCESS)
        return result;
    /* Who polls the value on the CPU must find there what was written before it. */
    bf_commands_put_barrier(gpu, write->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
    if (!memory) {
        const struct bf_gpu_write_pipeline *p = &gpu->write_pipeline;
        const uint64_t slot =
            gpu->vk.vkGetBufferDeviceAddress(
                gpu->handle,
                &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = write->slot_buffer}) +
            write->slot_offset;
        vk->vkCmdBindPipeline(write->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
        vk->vkCmdPushConstants(write->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               sizeof(slot), &slot);
        vk->vkCmdDispatch(write->commands, 1, 1, 1);
    } else {
        const VkBufferCopy copy = {
            .srcOffset = write->slot_offset + offsetof(struct bf_gpu_write_slot, value),
            .dstOffset = memory->offset,
            .size = sizeof(uint64_t),
        };
        vk->vkCmdCopyBuffer(write->commands, write->slot_buffer, memory->pages->buffer.handle, 1,
                            &copy);
    }
    bf_commands_put_barrier(gpu, write->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
    return vk->vkEndCommandBuffer(write->commands);
}

static VkResult gpu_writes_create_pool(struct bf_gpu_engine *engine)
{
    struct bf_gpu *gpu = engine->gpu;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = engine->family,
    };
    return BF_MADE(gpu->vk.vkCreateCommandPool(gpu->handle, &info, NULL, &engine->writes.pool),
                   &engine->writes.pool);
}

static void gpu_write_chunk_destroy(struct bf_gpu_engine *engine, struct bf_gpu_write_chunk *chunk)
{
    struct bf_gpu *gpu = engine->gpu;
    if (chunk->commands[0])
        gpu->vk.vkFreeCommandBuffers(gpu->handle, engine->writes.pool, CHUNK, chunk->commands);
    bf_buffer_destroy(gpu, &chunk->slots);
    free(chunk);
}

/* The lock is held. */
static VkResult gpu_writes_add_chunk(struct bf_gpu_engine *engine)
{
    struct bf_gpu *gpu = engine->gpu;
    struct bf_gpu_writes *writes = &engine->writes;
    VkResult result = writes->pool ? VK_SUCCESS : gpu_writes_create_pool(engine);
    if (result != VK_SUCCESS)
        return result;
    struct bf_gpu_write_chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = bf_buffer_create(gpu, CHUNK * sizeof(struct bf_gpu_write_slot), BF_BUFFER_HOST,
                              &chunk->slots);
    if (result != VK_SUCCESS)
        goto fail;
    result = bf_commands_allocate(gpu, writes->pool, CHUNK, chunk->commands);
    if (result != VK_SUCCESS) {
        chunk->commands[0] = NULL;
        goto fail;
    }
    for (uint32_t i = 0; i < CHUNK; i++) {
        struct bf_gpu_write *write = &chunk->writes[i];
        *write = (struct bf_gpu_write){
            .commands = chunk->commands[i],
            .slot = (struct bf_gpu_write_slot *)chunk->slots.mapped + i,
            .slot_buffer = chunk->slots.handle,
            .slot_offset = i * sizeof(struct bf_gpu_write_slot),
        };
        if (bf_gpu_write_is_atomic(engine))
            result = gpu_write_record(engine, write, NULL);
        if (result != VK_SUCCESS)
            goto fail;
    }
    for (uint32_t i = 0; i < CHUNK; i++) {
        chunk->writes[i].next = writes->free;
        writes->free = &chunk->writes[i];
    }
    chunk->next = writes->chunks;
    writes->chunks = chunk;
    return VK_SUCCESS;

fail:
    gpu_write_chunk_destroy(engine, chunk);
    return result;
}

/* ST-1: writes up to the epoch are free again. The lock is held. */
static void gpu_writes_take_back(struct bf_gpu_engine *engine, uint64_t completed)
{
    struct bf_gpu_writes *writes = &engine->writes;
    if (completed == UINT64_MAX)
        return; /* the device is lost: which writes are really complete is unknown */
    while (writes->first && writes->first->epoch <= completed) {
        struct bf_gpu_write *write = writes->first;
        writes->first = write->next;
        write->next = writes->free;
        writes->free = write;
    }
    if (!writes->first)
        writes->last = NULL;
}

VkResult bf_gpu_write_take(struct bf_gpu_engine *engine, const struct bf_value_memory *memory,
                           uint64_t value, bool spared, struct bf_gpu_write **out)
{
    struct bf_gpu_writes *writes = &engine->writes;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&writes->lock);
    if (!writes->free)
        gpu_writes_take_back(engine, atomic_load(&engine->seen_epoch));
    if (!writes->free) {
        uint64_t completed;
        if (bf_gpu_engine_completed_epoch(engine, &completed) == VK_SUCCESS)
            gpu_writes_take_back(engine, completed);
    }
    if (!writes->free)
        result = gpu_writes_add_chunk(engine);
    struct bf_gpu_write *write = writes->free;
    if (result == VK_SUCCESS) {
        writes->free = write->next;
        write->next = NULL;
        *write->slot = (struct bf_gpu_write_slot){bf_value_memory_address(memory), value};
        write->spared = spared;
        if (!bf_gpu_write_is_atomic(engine))
            result = gpu_write_record(engine, write, memory);
        if (result == VK_SUCCESS) {
            *out = write;
        } else {
            write->next = writes->free;
            writes->free = write;
        }
    }
    bf_lock_release(&writes->lock);
    return result;
}

void bf_gpu_writes_lose(struct bf_gpu_engine *engine)
{
    struct bf_gpu_writes *writes = &engine->writes;
    bf_lock_acquire(&writes->lock);
    for (struct bf_gpu_write_chunk *chunk = writes->chunks; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < CHUNK; i++) {
            /* The GPU may be reading the slot at this moment. */
            if (!chunk->writes[i].spared)
                __atomic_store_n(&chunk->writes[i].slot->value, UINT64_MAX, __ATOMIC_RELAXED);
        }
    }
    bf_lock_release(&writes->lock);
}

void bf_gpu_write_accepted(struct bf_gpu_engine *engine, struct bf_gpu_write *write, uint64_t epoch)
{
    struct bf_gpu_writes *writes = &engine->writes;
    bf_lock_acquire(&writes->lock);
    write->epoch = epoch;
    write->next = NULL;
    if (writes->last)
        writes->last->next = write;
    else
        writes->first = write;
    writes->last = write;
    bf_lock_release(&writes->lock);
}

void bf_gpu_write_drop(struct bf_gpu_engine *engine, struct bf_gpu_write *write)
{
    struct bf_gpu_writes *writes = &engine->writes;
    bf_lock_acquire(&writes->lock);
    write->next = writes->free;
    writes->free = write;
    bf_lock_release(&writes->lock);
}

void bf_gpu_writes_finish(struct bf_gpu_engine *engine)
{
    struct bf_gpu_writes *writes = &engine->writes;
    while (writes->chunks) {
        struct bf_gpu_write_chunk *next = writes->chunks->next;
        gpu_write_chunk_destroy(engine, writes->chunks);
        writes->chunks = next;
    }
    if (writes->pool)
        engine->gpu->vk.vkDestroyCommandPool(engine->gpu->handle, writes->pool, NULL);
}
