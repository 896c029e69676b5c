#include "fence/store.h"

#include <stdlib.h>

#include "device/commands.h"
#include "device/device.h"
#include "shaders/store.comp.h"

#define CHUNK 32 /* stores that are made at a time */

struct bf_store_chunk {
    struct bf_store_chunk *next;
    struct bf_buffer slots;
    VkCommandBuffer commands[CHUNK];
    struct bf_store stores[CHUNK];
};

bool bf_engine_stores_atomically(const struct bf_engine *engine)
{
    return engine->device->stores_words && (engine->family_flags & VK_QUEUE_COMPUTE_BIT);
}

bool bf_engine_can_store(const struct bf_engine *engine)
{
    return engine->family_flags &
           (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
}

VkResult bf_store_pipeline_ensure(struct bf_device *device)
{
    const struct VolkDeviceTable *vk = &device->vk;
    struct bf_store_pipeline *p = &device->store_pipeline;
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    if (!device->stores_words)
        return VK_SUCCESS;
    bf_lock_acquire(&p->lock);
    if (!p->layout) {
        const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};
        const VkPipelineLayoutCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &range,
        };
        result = vk->vkCreatePipelineLayout(device->handle, &info, NULL, &p->layout);
    }
    if (result == VK_SUCCESS && !p->pipeline) {
        const VkShaderModuleCreateInfo code = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = sizeof(store_comp),
            .pCode = store_comp,
        };
        result = vk->vkCreateShaderModule(device->handle, &code, NULL, &module);
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
            result = vk->vkCreateComputePipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                  &p->pipeline);
        if (result != VK_SUCCESS)
            p->pipeline = VK_NULL_HANDLE;
        vk->vkDestroyShaderModule(device->handle, module, NULL);
    }
    bf_lock_release(&p->lock);
    return result;
}

void bf_store_pipeline_finish(struct bf_device *device)
{
    struct bf_store_pipeline *p = &device->store_pipeline;
    if (p->pipeline)
        device->vk.vkDestroyPipeline(device->handle, p->pipeline, NULL);
    if (p->layout)
        device->vk.vkDestroyPipelineLayout(device->handle, p->layout, NULL);
}

/* The copy's word may be any; the shader's is named by the slot. */
static VkResult record(struct bf_engine *engine, struct bf_store *store, const struct bf_word *word)
{
    struct bf_device *device = engine->device;
    const struct VolkDeviceTable *vk = &device->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult result = vk->vkBeginCommandBuffer(store->commands, &begin);
    if (result != VK_SUCCESS)
        return result;
    bf_commands_put_barrier(device, store->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    if (!word) {
        const struct bf_store_pipeline *p = &device->store_pipeline;
        const uint64_t slot =
            device->buffer_address(
                device->handle,
                &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = store->slot_buffer}) +
            store->slot_offset;
        vk->vkCmdBindPipeline(store->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
        vk->vkCmdPushConstants(store->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               sizeof(slot), &slot);
        vk->vkCmdDispatch(store->commands, 1, 1, 1);
    } else {
        const VkBufferCopy copy = {
            .srcOffset = store->slot_offset + offsetof(struct bf_store_slot, value),
            .dstOffset = word->offset,
            .size = sizeof(uint64_t),
        };
        vk->vkCmdCopyBuffer(store->commands, store->slot_buffer, word->pages->buffer.handle, 1,
                            &copy);
    }
    bf_commands_put_barrier(device, store->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
    return vk->vkEndCommandBuffer(store->commands);
}

static VkResult create_pool(struct bf_engine *engine)
{
    struct bf_device *device = engine->device;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = engine->family,
    };
    return device->vk.vkCreateCommandPool(device->handle, &info, NULL, &engine->stores.pool);
}

static void chunk_destroy(struct bf_engine *engine, struct bf_store_chunk *chunk)
{
    struct bf_device *device = engine->device;
    if (chunk->commands[0])
        device->vk.vkFreeCommandBuffers(device->handle, engine->stores.pool, CHUNK,
                                        chunk->commands);
    bf_buffer_destroy(device, &chunk->slots);
    free(chunk);
}

/* The lock is held. */
static VkResult add_chunk(struct bf_engine *engine)
{
    struct bf_device *device = engine->device;
    struct bf_stores *stores = &engine->stores;
    VkResult result = stores->pool ? VK_SUCCESS : create_pool(engine);
    if (result != VK_SUCCESS)
        return result;
    struct bf_store_chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    result = bf_buffer_create(device, CHUNK * sizeof(struct bf_store_slot), BF_BUFFER_HOST,
                              &chunk->slots);
    if (result != VK_SUCCESS)
        goto fail;
    result = bf_commands_allocate(device, stores->pool, CHUNK, chunk->commands);
    if (result != VK_SUCCESS) {
        chunk->commands[0] = NULL;
        goto fail;
    }
    for (uint32_t i = 0; i < CHUNK; i++) {
        struct bf_store *store = &chunk->stores[i];
        *store = (struct bf_store){
            .commands = chunk->commands[i],
            .slot = (struct bf_store_slot *)chunk->slots.mapped + i,
            .slot_buffer = chunk->slots.handle,
            .slot_offset = i * sizeof(struct bf_store_slot),
        };
        if (bf_engine_stores_atomically(engine))
            result = record(engine, store, NULL);
        if (result != VK_SUCCESS)
            goto fail;
    }
    for (uint32_t i = 0; i < CHUNK; i++) {
        chunk->stores[i].next = stores->free;
        stores->free = &chunk->stores[i];
    }
    chunk->next = stores->chunks;
    stores->chunks = chunk;
    return VK_SUCCESS;

fail:
    chunk_destroy(engine, chunk);
    return result;
}

/* ST-1. The lock is held. */
static void take_back(struct bf_engine *engine, uint64_t completed)
{
    struct bf_stores *stores = &engine->stores;
    if (completed == UINT64_MAX)
        return; /* the device is lost: what has really come back nobody knows */
    while (stores->first && stores->first->epoch <= completed) {
        struct bf_store *store = stores->first;
        stores->first = store->next;
        store->next = stores->free;
        stores->free = store;
    }
    if (!stores->first)
        stores->last = NULL;
}

VkResult bf_store_take(struct bf_engine *engine, const struct bf_word *word, uint64_t value,
                       bool spared, struct bf_store **out)
{
    struct bf_stores *stores = &engine->stores;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&stores->lock);
    if (!stores->free)
        take_back(engine, engine->device->ledger.engines[engine->number].completed);
    if (!stores->free) {
        uint64_t completed;
        if (bf_engine_completed_epoch(engine, &completed) == VK_SUCCESS)
            take_back(engine, completed);
    }
    if (!stores->free)
        result = add_chunk(engine);
    struct bf_store *store = stores->free;
    if (result == VK_SUCCESS) {
        stores->free = store->next;
        store->next = NULL;
        *store->slot = (struct bf_store_slot){bf_word_address(word), value};
        store->spared = spared;
        if (!bf_engine_stores_atomically(engine))
            result = record(engine, store, word);
        if (result == VK_SUCCESS) {
            *out = store;
        } else {
            store->next = stores->free;
            stores->free = store;
        }
    }
    bf_lock_release(&stores->lock);
    return result;
}

void bf_stores_lose(struct bf_engine *engine)
{
    struct bf_stores *stores = &engine->stores;
    bf_lock_acquire(&stores->lock);
    for (struct bf_store_chunk *chunk = stores->chunks; chunk; chunk = chunk->next) {
        for (uint32_t i = 0; i < CHUNK; i++) {
            /* The GPU may be fetching it. */
            if (!chunk->stores[i].spared)
                __atomic_store_n(&chunk->stores[i].slot->value, UINT64_MAX, __ATOMIC_RELAXED);
        }
    }
    bf_lock_release(&stores->lock);
}

void bf_store_accepted(struct bf_engine *engine, struct bf_store *store, uint64_t epoch)
{
    struct bf_stores *stores = &engine->stores;
    bf_lock_acquire(&stores->lock);
    store->epoch = epoch;
    store->next = NULL;
    if (stores->last)
        stores->last->next = store;
    else
        stores->first = store;
    stores->last = store;
    bf_lock_release(&stores->lock);
}

void bf_store_drop(struct bf_engine *engine, struct bf_store *store)
{
    struct bf_stores *stores = &engine->stores;
    bf_lock_acquire(&stores->lock);
    store->next = stores->free;
    stores->free = store;
    bf_lock_release(&stores->lock);
}

void bf_stores_finish(struct bf_engine *engine)
{
    struct bf_stores *stores = &engine->stores;
    while (stores->chunks) {
        struct bf_store_chunk *next = stores->chunks->next;
        chunk_destroy(engine, stores->chunks);
        stores->chunks = next;
    }
    if (stores->pool)
        engine->device->vk.vkDestroyCommandPool(engine->device->handle, stores->pool, NULL);
}
