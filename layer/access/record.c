/* SPDX-License-Identifier: MIT */
/* The check 'access': command buffers, and the barriers and render passes in them. */
#include "layer/access/access.h"

#include <stdlib.h>

#include "layer/chain.h"
#include "gpu/command_buffer.h"

/* --------------------------------------------------------------------------- Command buffers -- */

/* The command buffers of a pool, which are freed with it. Externally synchronised, as the pool
 * is. */
struct pool {
    uint32_t count, room;
    VkCommandBuffer *buffers;
};

static uint64_t buffer_key(VkCommandBuffer handle)
{
    return (uint64_t)(uintptr_t)handle;
}

static void recording_forget(struct layer_access *access, VkCommandBuffer handle)
{
    struct layer_recording *recording =
        handle ? bf_map_remove(&access->recordings, buffer_key(handle)) : NULL;
    if (recording)
        bf_access_recording_destroy(recording->uses);
    free(recording);
}

static bool pool_reserve(struct pool *pool, uint32_t more)
{
    if (pool->count + more <= pool->room)
        return true;
    uint32_t room = 2 * (pool->count + more);
    VkCommandBuffer *grown = realloc(pool->buffers, room * sizeof(*grown));
    if (!grown)
        return false;
    pool->buffers = grown;
    pool->room = room;
    return true;
}

static bool recording_remember(struct layer_access *access, VkCommandPool handle, uint32_t count,
                               const VkCommandBuffer *buffers)
{
    struct pool *pool = bf_map_find(&access->pools, (uint64_t)handle);
    if (!pool) {
        pool = calloc(1, sizeof(*pool));
        if (!pool || !bf_map_insert(&access->pools, (uint64_t)handle, pool)) {
            free(pool);
            return false;
        }
    }
    if (!pool_reserve(pool, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct layer_recording *recording = calloc(1, sizeof(*recording));
        if (!recording || !bf_map_insert(&access->recordings, buffer_key(buffers[i]), recording)) {
            free(recording);
            return false;
        }
        recording->handle = buffers[i];
        recording->pool = handle;
        recording->uses = bf_access_recording_create(access->check, buffers[i]);
        pool->buffers[pool->count++] = buffers[i];
    }
    return true;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkAllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = layer_vkAllocateCommandBuffers(device, info, buffers);
    if (result == VK_SUCCESS && d->access &&
        !recording_remember(d->access, info->commandPool, info->commandBufferCount, buffers))
        bf_access_stop(d->access->check, "out of memory");
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkFreeCommandBuffers(VkDevice device, VkCommandPool handle,
                                                             uint32_t count,
                                                             const VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    struct pool *pool = d->access ? bf_map_find(&d->access->pools, (uint64_t)handle) : NULL;
    for (uint32_t i = 0; pool && i < count; i++) {
        recording_forget(d->access, buffers[i]);
        for (uint32_t k = 0; k < pool->count; k++) {
            if (pool->buffers[k] == buffers[i])
                pool->buffers[k] = pool->buffers[--pool->count];
        }
    }
    layer_vkFreeCommandBuffers(device, handle, count, buffers);
}

static void pool_free(void *value, void *context)
{
    struct pool *pool = value;
    (void)context;
    free(pool->buffers);
    free(pool);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkDestroyCommandPool(VkDevice device, VkCommandPool handle,
                                                             const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    struct pool *pool =
        d->access && handle ? bf_map_remove(&d->access->pools, (uint64_t)handle) : NULL;
    for (uint32_t i = 0; pool && i < pool->count; i++)
        recording_forget(d->access, pool->buffers[i]);
    if (pool)
        pool_free(pool, NULL);
    layer_vkDestroyCommandPool(device, handle, allocator);
}

void layer_access_pools_finish(struct layer_access *access)
{
    bf_map_finish(&access->pools, pool_free, NULL);
}

/* Binds nothing, whatever was bound when the command buffer was last recorded. */
static void recording_reset(struct layer_recording *recording)
{
    struct bf_access_recording *uses = recording->uses;
    *recording = (struct layer_recording){
        .handle = recording->handle, .pool = recording->pool, .uses = uses};
    bf_access_recording_reset(uses);
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkBeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    struct layer_recording *recording = layer_recording_of(d, buffer);
    if (recording)
        recording_reset(recording);
    return d->vk.vkBeginCommandBuffer(buffer, info);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_access_vkEndCommandBuffer(VkCommandBuffer buffer)
{
    struct layer_device *d = layer_device_of(buffer);
    VkResult result = layer_vkEndCommandBuffer(buffer);
    if (result == VK_SUCCESS)
        bf_access_recording_close(layer_uses_of(d, buffer));
    return result;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdExecuteCommands(VkCommandBuffer buffer, uint32_t count,
                                                             const VkCommandBuffer *secondaries)
{
    struct layer_device *d = layer_device_of(buffer);
    for (uint32_t i = 0; i < count; i++)
        bf_access_record_secondary(layer_uses_of(d, buffer), secondaries[i]);
    d->vk.vkCmdExecuteCommands(buffer, count, secondaries);
}

/* ------------------------------------------------------------------------------------- Areas -- */

static void range_span(uint32_t to[2], uint32_t first, uint32_t count)
{
    to[0] = first;
    /* VK_REMAINING_MIP_LEVELS and VK_REMAINING_ARRAY_LAYERS are UINT32_MAX. */
    to[1] = count > UINT32_MAX - first ? UINT32_MAX : first + count;
}

struct bf_access_area layer_area_of_range(const VkImageSubresourceRange *range)
{
    struct bf_access_area area = bf_access_area_all;
    area.aspects = range->aspectMask;
    range_span(area.mips, range->baseMipLevel, range->levelCount);
    range_span(area.layers, range->baseArrayLayer, range->layerCount);
    return area;
}

BfResourceState layer_state_of_layout(VkImageLayout layout)
{
    switch ((int)layout) {
    case VK_IMAGE_LAYOUT_UNDEFINED:
    case VK_IMAGE_LAYOUT_PREINITIALIZED:
        return BF_RESOURCE_STATE_UNKNOWN;
    case VK_IMAGE_LAYOUT_GENERAL:
    case VK_IMAGE_LAYOUT_PRESENT_SRC_KHR: /* D3D12's state PRESENT is COMMON */
    case VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR:
        return BF_RESOURCE_STATE_COMMON;
    case VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL:
        return BF_RESOURCE_STATE_COPY_SOURCE;
    case VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL:
        return BF_RESOURCE_STATE_COPY_DEST;
    default:
        return BF_RESOURCE_STATE_OTHER;
    }
}

void layer_record_image(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                        VkImageLayout layout, const struct bf_access_area *area,
                        enum bf_access_use use, const char *what)
{
    struct bf_access_recording *uses = layer_uses_of(d, buffer);
    BfResourceState state = layer_state_of_layout(layout);
    bf_access_record_area(uses, image, area, use, what);
    if (state != BF_RESOURCE_STATE_UNKNOWN)
        bf_access_record_transition(uses, image, area, state, state, what);
}

/* ---------------------------------------------------------------------------------- Barriers -- */

/*
 * Records an image barrier. A layout stands for a D3D12 state, if D3D12's rules treat it
 * differently from others, and changing it is a write. A queue family ownership transfer is
 * Vulkan's counterpart of a transition by way of COMMON: the release leaves the image in COMMON,
 * and the acquire finds it in that state.
 */
static void record_barrier(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                           const VkImageSubresourceRange *range, VkImageLayout old_layout,
                           VkImageLayout new_layout, uint32_t from, uint32_t to, const char *what)
{
    struct bf_access_recording *uses = layer_uses_of(d, buffer);
    struct bf_access_area area = layer_area_of_range(range);
    BfResourceState before = layer_state_of_layout(old_layout),
                    after = layer_state_of_layout(new_layout);
    if (!uses)
        return;
    if (from != to) {
        uint32_t family;
        VkCommandBufferLevel level;
        bool releases =
            bf_command_buffer_find(d->gpu, buffer, &family, &level) ? family == from : false;
        if (releases)
            after = BF_RESOURCE_STATE_COMMON;
        else
            before = BF_RESOURCE_STATE_UNKNOWN;
    }
    if (old_layout != new_layout)
        bf_access_record_area(uses, image, &area, BF_ACCESS_WRITE, what);
    if (after != BF_RESOURCE_STATE_UNKNOWN)
        bf_access_record_transition(uses, image, &area, before, after, what);
}

#define BARRIERS(d, buffer, count, barriers, what)                                                 \
    for (uint32_t b_ = 0; b_ < (count); b_++)                                                      \
    record_barrier(d, buffer, (barriers)[b_].image, &(barriers)[b_].subresourceRange,              \
                   (barriers)[b_].oldLayout, (barriers)[b_].newLayout,                             \
                   (barriers)[b_].srcQueueFamilyIndex, (barriers)[b_].dstQueueFamilyIndex, what)

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdPipelineBarrier(
    VkCommandBuffer buffer, VkPipelineStageFlags src, VkPipelineStageFlags dst,
    VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images)
{
    struct layer_device *d = layer_device_of(buffer);
    BARRIERS(d, buffer, image_count, images, "vkCmdPipelineBarrier");
    PFN_vkCmdPipelineBarrier next =
        d->translates ? layer_vkCmdPipelineBarrier : d->vk.vkCmdPipelineBarrier;
    next(buffer, src, dst, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdPipelineBarrier2(VkCommandBuffer buffer,
                                                              const VkDependencyInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    BARRIERS(d, buffer, info->imageMemoryBarrierCount, info->pImageMemoryBarriers,
             "vkCmdPipelineBarrier2");
    PFN_vkCmdPipelineBarrier2 next =
        d->translates ? layer_vkCmdPipelineBarrier2 : d->vk.vkCmdPipelineBarrier2;
    next(buffer, info);
}

/* With the source stage HOST the host signals the events, in an order that the check can't
 * follow. */
VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdWaitEvents(
    VkCommandBuffer buffer, uint32_t event_count, const VkEvent *events, VkPipelineStageFlags src,
    VkPipelineStageFlags dst, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images)
{
    struct layer_device *d = layer_device_of(buffer);
    if (src & VK_PIPELINE_STAGE_HOST_BIT)
        bf_access_record_blind(layer_uses_of(d, buffer));
    BARRIERS(d, buffer, image_count, images, "vkCmdWaitEvents");
    PFN_vkCmdWaitEvents next = d->translates ? layer_vkCmdWaitEvents : d->vk.vkCmdWaitEvents;
    next(buffer, event_count, events, src, dst, memory_count, memory, buffer_count, buffers,
         image_count, images);
}

static bool has_host_stage(const VkDependencyInfo *info)
{
    VkPipelineStageFlags2 stages = 0;
    for (uint32_t i = 0; i < info->memoryBarrierCount; i++)
        stages |= info->pMemoryBarriers[i].srcStageMask;
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount; i++)
        stages |= info->pBufferMemoryBarriers[i].srcStageMask;
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; i++)
        stages |= info->pImageMemoryBarriers[i].srcStageMask;
    return stages & VK_PIPELINE_STAGE_2_HOST_BIT;
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdWaitEvents2(VkCommandBuffer buffer, uint32_t count,
                                                         const VkEvent *events,
                                                         const VkDependencyInfo *infos)
{
    struct layer_device *d = layer_device_of(buffer);
    for (uint32_t i = 0; i < count; i++) {
        if (has_host_stage(&infos[i]))
            bf_access_record_blind(layer_uses_of(d, buffer));
        BARRIERS(d, buffer, infos[i].imageMemoryBarrierCount, infos[i].pImageMemoryBarriers,
                 "vkCmdWaitEvents2");
    }
    PFN_vkCmdWaitEvents2 next = d->translates ? layer_vkCmdWaitEvents2 : d->vk.vkCmdWaitEvents2;
    next(buffer, count, events, infos);
}

/* ----------------------------------------------------------------------------- Render passes -- */

/* The part of a view that a render area covers. */
static struct bf_access_area view_clip(const struct layer_view *view, const VkRect2D *rect)
{
    struct bf_access_area area = view->area;
    if (area.mips[1] - area.mips[0] != 1)
        return area;
    area.low[0] = rect->offset.x > 0 ? (uint32_t)rect->offset.x : 0;
    area.low[1] = rect->offset.y > 0 ? (uint32_t)rect->offset.y : 0;
    area.high[0] = area.low[0] + rect->extent.width;
    area.high[1] = area.low[1] + rect->extent.height;
    return area;
}

static void record_begin_pass(struct layer_device *d, VkCommandBuffer buffer,
                              const VkRenderPassBeginInfo *info, const char *what)
{
    struct bf_access_recording *uses = layer_uses_of(d, buffer);
    if (!uses)
        return;
    const struct layer_pass *pass = bf_map_find(&d->access->passes, (uint64_t)info->renderPass);
    const struct layer_framebuffer *framebuffer =
        bf_map_find(&d->access->framebuffers, (uint64_t)info->framebuffer);
    const VkRenderPassAttachmentBeginInfo *late =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
    const VkImageView *views = late                                ? late->pAttachments
                               : framebuffer && framebuffer->count ? framebuffer->views
                                                                   : NULL;
    uint32_t count = late ? late->attachmentCount : framebuffer ? framebuffer->count : 0;
    for (uint32_t i = 0; pass && views && i < pass->count && i < count; i++) {
        const struct layer_view *view = bf_map_find(&d->access->views, (uint64_t)views[i]);
        const struct layer_attachment *a = &pass->attachments[i];
        if (!view)
            continue;
        struct bf_access_area area = view_clip(view, &info->renderArea);
        /* A layout transition affects the whole view. */
        const struct bf_access_area *written = a->initial != a->final ? &view->area : &area;
        if (a->reads)
            bf_access_record_area(uses, view->image, &area, BF_ACCESS_READ, what);
        if (a->writes)
            bf_access_record_area(uses, view->image, written, BF_ACCESS_WRITE, what);
        if (a->reads || a->writes)
            bf_access_record_transition(uses, view->image, &view->area,
                                        layer_state_of_layout(a->initial),
                                        layer_state_of_layout(a->final), what);
    }
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBeginRenderPass(VkCommandBuffer buffer,
                                                             const VkRenderPassBeginInfo *info,
                                                             VkSubpassContents contents)
{
    struct layer_device *d = layer_device_of(buffer);
    record_begin_pass(d, buffer, info, "vkCmdBeginRenderPass");
    d->vk.vkCmdBeginRenderPass(buffer, info, contents);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBeginRenderPass2(VkCommandBuffer buffer,
                                                              const VkRenderPassBeginInfo *info,
                                                              const VkSubpassBeginInfo *subpass)
{
    struct layer_device *d = layer_device_of(buffer);
    record_begin_pass(d, buffer, info, "vkCmdBeginRenderPass2");
    d->vk.vkCmdBeginRenderPass2(buffer, info, subpass);
}

/* The view of a depth attachment may have stencil, too, which isn't touched; and the other way
 * round. */
static void begin_attachment(struct layer_device *d, VkCommandBuffer buffer,
                             const VkRenderingAttachmentInfo *a, VkImageAspectFlags aspects,
                             const VkRect2D *rect)
{
    const char *what = "vkCmdBeginRendering";
    const struct layer_view *view =
        a && a->imageView ? bf_map_find(&d->access->views, (uint64_t)a->imageView) : NULL;
    if (!view)
        return;
    struct bf_access_area area = view_clip(view, rect);
    area.aspects &= aspects;
    bool loads = a->loadOp == VK_ATTACHMENT_LOAD_OP_LOAD,
         keeps = loads || a->loadOp == VK_ATTACHMENT_LOAD_OP_NONE_EXT;
    if (loads)
        layer_record_image(d, buffer, view->image, a->imageLayout, &area, BF_ACCESS_READ, what);
    if (!keeps || !layer_layout_is_read_only(a->imageLayout, aspects))
        layer_record_image(d, buffer, view->image, a->imageLayout, &area, BF_ACCESS_WRITE, what);
    const struct layer_view *resolved =
        a->resolveMode && a->resolveImageView
            ? bf_map_find(&d->access->views, (uint64_t)a->resolveImageView)
            : NULL;
    if (resolved) {
        area = view_clip(resolved, rect);
        area.aspects &= aspects;
        layer_record_image(d, buffer, resolved->image, a->resolveImageLayout, &area,
                           BF_ACCESS_WRITE, what);
    }
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBeginRendering(VkCommandBuffer buffer,
                                                            const VkRenderingInfo *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (layer_uses_of(d, buffer)) {
        for (uint32_t i = 0; i < info->colorAttachmentCount; i++)
            begin_attachment(d, buffer, &info->pColorAttachments[i], ~0u, &info->renderArea);
        begin_attachment(d, buffer, info->pDepthAttachment, VK_IMAGE_ASPECT_DEPTH_BIT,
                         &info->renderArea);
        begin_attachment(d, buffer, info->pStencilAttachment, VK_IMAGE_ASPECT_STENCIL_BIT,
                         &info->renderArea);
    }
    layer_rendering_begins(d, info);
    d->vk.vkCmdBeginRendering(buffer, info);
}
