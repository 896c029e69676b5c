/* SPDX-License-Identifier: MIT */
/* The specialiser's functions for command buffers and command pools: begin and reset, binding, push
 * constants and queries. Each calls the driver with the program's arguments. The recording
 * (runtime/specialize/recording.h) is told before that, or afterwards if the command may fail. */
#include "layer/specialize/recording.h"

#include <stdlib.h>

#include "specialize/pipeline/pipeline.h"

_Thread_local struct layer_last_recording layer_last_recording;
_Atomic uint64_t layer_recording_generation = 1;

struct layer_recorder {
    struct bf_recorder *shared;
    struct bf_map pools; /* of struct recorded_pool */
    /* a set of query pools whose results depend on which pipeline is bound */
    struct bf_map queries;
};

/* Externally synchronised, as Vulkan's pool is. */
struct recorded_pool {
    uint32_t blocks;         /* enum bf_recording_block, for all command buffers of the pool */
    uint32_t timestamp_bits; /* timestampValidBits of the pool's family */
    struct bf_recording *first;
};

static uint64_t command_buffer_key(VkCommandBuffer buffer)
{
    return (uint64_t)(uintptr_t)buffer;
}

struct bf_recording *layer_recording_look_up(VkCommandBuffer buffer)
{
    /* The generation is read before the look-up, so that a command buffer freed after it is
     * noticed. */
    uint64_t generation = atomic_load(&layer_recording_generation);
    struct layer_specializer *s = layer_device_of(buffer)->specializer;
    struct bf_recording *recording =
        s ? bf_map_find(&s->recordings, command_buffer_key(buffer)) : NULL;
    if (recording)
        layer_last_recording = (struct layer_last_recording){buffer, generation, recording};
    return recording;
}

/* State of a device ---------------------------------------------------------------------------- */

bool layer_recorder_create(struct layer_specializer *s)
{
    struct layer_recorder *r = calloc(1, sizeof(*r));
    if (!r)
        return false;
    r->shared = bf_specializer_recorder(s->model);
    s->recorder = r;
    return true;
}

static void destroy_recording(void *recording, void *context)
{
    (void)context;
    bf_recording_destroy(recording);
}

static void recorded_pool_free(void *pool, void *context)
{
    (void)context;
    free(pool);
}

void layer_recorder_destroy(struct layer_specializer *s)
{
    struct layer_recorder *r = s->recorder;
    atomic_fetch_add(&layer_recording_generation, 1);
    bf_map_finish(&s->recordings, destroy_recording, NULL);
    bf_map_finish(&r->pools, recorded_pool_free, NULL);
    bf_map_finish(&r->queries, NULL, NULL);
    free(r);
}

/* Command pools -------------------------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                     const VkAllocationCallbacks *allocator, VkCommandPool *handle)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkCreateCommandPool(device, info, allocator, handle);
    struct recorded_pool *pool =
        result == VK_SUCCESS && d->specializer ? calloc(1, sizeof(*pool)) : NULL;
    if (!pool)
        return result; /* the pool's command buffers stay unknown */
    if (info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT)
        pool->blocks = BF_RECORDING_PROTECTED;
    uint32_t family = bf_family_real(&d->physical->map, info->queueFamilyIndex);
    if (family < d->physical->family_count)
        pool->timestamp_bits = d->physical->families[family].timestampValidBits;
    if (!bf_map_insert(&d->specializer->recorder->pools, (uint64_t)*handle, pool))
        free(pool);
    return result;
}

static void add_recording(struct layer_device *d, struct recorded_pool *pool,
                          VkCommandBuffer buffer, VkCommandBufferLevel level)
{
    struct bf_recording *r =
        bf_recording_create(d->specializer->recorder->shared, buffer, level, pool->blocks);
    if (r && !bf_map_insert(&d->specializer->recordings, command_buffer_key(buffer), r)) {
        bf_recording_destroy(r);
        r = NULL;
    }
    if (!r)
        return;
    r->timestamp_bits = pool->timestamp_bits;
    r->next = pool->first;
    r->link = &pool->first;
    if (r->next)
        r->next->link = &r->next;
    pool->first = r;
}

/* Called before the driver frees it: another thread may get the same handle at once. */
static void remove_recording(struct layer_device *d, VkCommandBuffer buffer)
{
    struct bf_recording *r = bf_map_remove(&d->specializer->recordings, command_buffer_key(buffer));
    if (!r)
        return;
    atomic_fetch_add(&layer_recording_generation, 1);
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
    bf_recording_destroy(r);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyCommandPool(
    VkDevice device, VkCommandPool handle, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    struct recorded_pool *pool =
        handle && d->specializer ? bf_map_remove(&d->specializer->recorder->pools, (uint64_t)handle)
                                 : NULL;
    while (pool && pool->first)
        remove_recording(d, pool->first->handle);
    free(pool);
    layer_vkDestroyCommandPool(device, handle, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkResetCommandPool(VkDevice device,
                                                                   VkCommandPool handle,
                                                                   VkCommandPoolResetFlags flags)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkResetCommandPool(device, handle, flags);
    struct recorded_pool *pool =
        result == VK_SUCCESS && d->specializer
            ? bf_map_find(&d->specializer->recorder->pools, (uint64_t)handle)
            : NULL;
    for (struct bf_recording *r = pool ? pool->first : NULL; r; r = r->next)
        bf_recording_reset(r);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkAllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkAllocateCommandBuffers(device, info, buffers);
    struct recorded_pool *pool =
        result == VK_SUCCESS && d->specializer
            ? bf_map_find(&d->specializer->recorder->pools, (uint64_t)info->commandPool)
            : NULL;
    for (uint32_t i = 0; pool && i < info->commandBufferCount; i++)
        add_recording(d, pool, buffers[i], info->level);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkFreeCommandBuffers(VkDevice device,
                                                                 VkCommandPool pool, uint32_t count,
                                                                 const VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    for (uint32_t i = 0; d->specializer && i < count; i++) {
        if (buffers[i])
            remove_recording(d, buffers[i]);
    }
    layer_vkFreeCommandBuffers(device, pool, count, buffers);
}

/* Command buffers ------------------------------------------------------------------------------ */

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkBeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    VkResult result = layer_vkBeginCommandBuffer(buffer, info);
    struct bf_recording *r = result == VK_SUCCESS ? layer_recording_find(buffer) : NULL;
    if (!r)
        return result;
    bf_specializer_collect(d->specializer->model);
    bf_recording_reset(r);
    bf_recording_measure(r, info->flags);
    if (r->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY && info->pInheritanceInfo &&
        info->pInheritanceInfo->pipelineStatistics)
        bf_recording_query(r, true); /* a query may be active in any primary that executes it */
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_specialize_vkEndCommandBuffer(VkCommandBuffer buffer)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        bf_recording_end(r);
    return layer_vkEndCommandBuffer(buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags)
{
    struct bf_recording *r = layer_recording_find(buffer);
    VkResult result = layer_vkResetCommandBuffer(buffer, flags);
    if (result == VK_SUCCESS && r)
        bf_recording_reset(r);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdExecuteCommands(VkCommandBuffer buffer,
                                                                 uint32_t count,
                                                                 const VkCommandBuffer *executed)
{
    struct bf_recording *r = layer_recording_find(buffer);
    struct layer_device *d = layer_device_of(buffer);
    for (uint32_t i = 0; r && i < count; i++)
        bf_recording_execute(
            r, bf_map_find(&d->specializer->recordings, command_buffer_key(executed[i])));
    d->vk.vkCmdExecuteCommands(buffer, count, executed);
}

/* Bound pipelines ------------------------------------------------------------------------------ */

static bool bind_point_counts(VkPipelineBindPoint point)
{
    return point == VK_PIPELINE_BIND_POINT_GRAPHICS || point == VK_PIPELINE_BIND_POINT_COMPUTE;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBindPipeline(VkCommandBuffer buffer,
                                                              VkPipelineBindPoint point,
                                                              VkPipeline pipeline)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r && bind_point_counts(point) && !bf_recording_bind_again(r, point, pipeline))
        bf_recording_bind(r, point, pipeline, bf_pipelines_find(r->recorder->pipelines, pipeline));
    layer_recording_table(r, buffer)->vkCmdBindPipeline(buffer, point, pipeline);
}

/* A pipeline's shader group has no variants. */
VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBindPipelineShaderGroupNV(
    VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline pipeline, uint32_t group)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        bf_pipelines_pin(r->recorder->pipelines, pipeline);
    if (r && bind_point_counts(point))
        bf_recording_forget_bound(r, point);
    layer_recording_table(r, buffer)->vkCmdBindPipelineShaderGroupNV(buffer, point, pipeline,
                                                                     group);
}

/* Shader objects replace the pipeline of the bind point. */
VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBindShadersEXT(VkCommandBuffer buffer,
                                                                uint32_t count,
                                                                const VkShaderStageFlagBits *stages,
                                                                const uint64_t *shaders)
{
    struct layer_device *d = layer_device_of(buffer);
    struct bf_recording *r = layer_recording_find(buffer);
    for (uint32_t i = 0; r && i < count; i++)
        bf_recording_forget_bound(r, stages[i] == VK_SHADER_STAGE_COMPUTE_BIT
                                         ? VK_PIPELINE_BIND_POINT_COMPUTE
                                         : VK_PIPELINE_BIND_POINT_GRAPHICS);
    d->more.vkCmdBindShadersEXT(buffer, count, stages, shaders);
}

/* Generated commands --------------------------------------------------------------------------- */

/* Binds the program's own pipelines, which device-generated commands must use. */
static void restore(VkCommandBuffer buffer)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (!r)
        return;
    bf_recording_restore(r, VK_PIPELINE_BIND_POINT_GRAPHICS);
    bf_recording_restore(r, VK_PIPELINE_BIND_POINT_COMPUTE);
}

/* Forgets what is bound and pushed: device-generated commands may change it. */
static void forget_all(VkCommandBuffer buffer)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (!r)
        return;
    bf_recording_forget_push(r);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_GRAPHICS);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_COMPUTE);
}

static void recording_pin(VkCommandBuffer buffer, VkPipeline pipeline)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r && pipeline)
        bf_pipelines_pin(r->recorder->pipelines, pipeline);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdExecuteGeneratedCommandsNV(
    VkCommandBuffer buffer, VkBool32 preprocessed, const VkGeneratedCommandsInfoNV *info)
{
    restore(buffer);
    recording_pin(buffer, info->pipeline);
    layer_device_of(buffer)->vk.vkCmdExecuteGeneratedCommandsNV(buffer, preprocessed, info);
    forget_all(buffer);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPreprocessGeneratedCommandsNV(
    VkCommandBuffer buffer, const VkGeneratedCommandsInfoNV *info)
{
    restore(buffer);
    recording_pin(buffer, info->pipeline);
    layer_device_of(buffer)->vk.vkCmdPreprocessGeneratedCommandsNV(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdExecuteGeneratedCommandsEXT(VkCommandBuffer buffer,
                                                                             VkBool32 preprocessed,
                                                                             const void *info)
{
    struct layer_device *d = layer_device_of(buffer);
    restore(buffer);
    d->more.vkCmdExecuteGeneratedCommandsEXT(buffer, preprocessed, info);
    forget_all(buffer);
}

/* These commands run with the state of another command buffer. */
VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPreprocessGeneratedCommandsEXT(
    VkCommandBuffer buffer, const void *info, VkCommandBuffer state)
{
    struct layer_device *d = layer_device_of(buffer);
    restore(state);
    d->more.vkCmdPreprocessGeneratedCommandsEXT(buffer, info, state);
}

/* Push constants ------------------------------------------------------------------------------- */

static inline void recording_push(struct bf_recording *r, VkPipelineLayout layout, uint32_t offset,
                                  uint32_t size, const void *values)
{
    if (r->layout != layout) {
        r->layout = layout;
        r->layout_id = layout ? bf_pipelines_push_id(r->recorder->pipelines, layout) : 0;
    }
    bf_recording_push(r, r->layout_id, offset, size, values);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushConstants(VkCommandBuffer buffer,
                                                               VkPipelineLayout layout,
                                                               VkShaderStageFlags stages,
                                                               uint32_t offset, uint32_t size,
                                                               const void *values)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        recording_push(r, layout, offset, size, values);
    layer_recording_table(r, buffer)->vkCmdPushConstants(buffer, layout, stages, offset, size,
                                                         values);
}

/* VkPushConstantsInfo. If the layout's ranges are chained instead, they are not read: all push
 * constants become unknown. */
struct push_constants_info {
    VkStructureType sType;
    const void *pNext;
    VkPipelineLayout layout;
    VkShaderStageFlags stages;
    uint32_t offset, size;
    const void *values;
};

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushConstants2(VkCommandBuffer buffer,
                                                                const void *told)
{
    const struct push_constants_info *info = told;
    struct layer_device *d = layer_device_of(buffer);
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        recording_push(r, info->layout, info->offset, info->size, info->values);
    d->more.vkCmdPushConstants2(buffer, told);
}

/* Data for descriptor heaps shares its storage with push constants. */
VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdPushDataEXT(VkCommandBuffer buffer,
                                                             const void *info)
{
    struct layer_device *d = layer_device_of(buffer);
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        bf_recording_forget_push(r);
    d->more.vkCmdPushDataEXT(buffer, info);
}

/* Queries whose results depend on the bound pipeline, and transform feedback
 * --------------------- */

VKAPI_ATTR VkResult VKAPI_CALL
layer_specialize_vkCreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkQueryPool *pool)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->translates ? layer_vkCreateQueryPool(device, info, allocator, pool)
                                    : d->vk.vkCreateQueryPool(device, info, allocator, pool);
    bool tells = info->queryType == VK_QUERY_TYPE_PIPELINE_STATISTICS ||
                 info->queryType == VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR ||
                 info->queryType == VK_QUERY_TYPE_PERFORMANCE_QUERY_INTEL;
    /* Out of memory: these queries couldn't be recognised later, so no variants are bound any
     * more. */
    if (result == VK_SUCCESS && d->specializer && tells &&
        !bf_map_insert(&d->specializer->recorder->queries, (uint64_t)*pool, d->specializer))
        atomic_store(&d->specializer->recorder->shared->stopped, true);
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkDestroyQueryPool(
    VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    if (pool && d->specializer)
        bf_map_remove(&d->specializer->recorder->queries, (uint64_t)pool);
    d->vk.vkDestroyQueryPool(device, pool, allocator);
}

static struct layer_device *recording_query(VkCommandBuffer buffer, VkQueryPool pool, bool begins)
{
    struct layer_device *d = layer_device_of(buffer);
    struct bf_recording *r = layer_recording_find(buffer);
    if (r && bf_map_find(&d->specializer->recorder->queries, (uint64_t)pool))
        bf_recording_query(r, begins);
    return d;
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginQuery(VkCommandBuffer buffer,
                                                            VkQueryPool pool, uint32_t number,
                                                            VkQueryControlFlags flags)
{
    recording_query(buffer, pool, true)->vk.vkCmdBeginQuery(buffer, pool, number, flags);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndQuery(VkCommandBuffer buffer, VkQueryPool pool,
                                                          uint32_t number)
{
    recording_query(buffer, pool, false)->vk.vkCmdEndQuery(buffer, pool, number);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginQueryIndexedEXT(VkCommandBuffer buffer,
                                                                      VkQueryPool pool,
                                                                      uint32_t number,
                                                                      VkQueryControlFlags flags,
                                                                      uint32_t index)
{
    recording_query(buffer, pool, true)
        ->vk.vkCmdBeginQueryIndexedEXT(buffer, pool, number, flags, index);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndQueryIndexedEXT(VkCommandBuffer buffer,
                                                                    VkQueryPool pool,
                                                                    uint32_t number, uint32_t index)
{
    recording_query(buffer, pool, false)->vk.vkCmdEndQueryIndexedEXT(buffer, pool, number, index);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginTransformFeedbackEXT(
    VkCommandBuffer buffer, uint32_t first, uint32_t count, const VkBuffer *counters,
    const VkDeviceSize *offsets)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        bf_recording_feedback(r, true);
    layer_recording_table(r, buffer)->vkCmdBeginTransformFeedbackEXT(buffer, first, count, counters,
                                                                     offsets);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndTransformFeedbackEXT(
    VkCommandBuffer buffer, uint32_t first, uint32_t count, const VkBuffer *counters,
    const VkDeviceSize *offsets)
{
    struct bf_recording *r = layer_recording_find(buffer);
    if (r)
        bf_recording_feedback(r, false);
    layer_recording_table(r, buffer)->vkCmdEndTransformFeedbackEXT(buffer, first, count, counters,
                                                                   offsets);
}
