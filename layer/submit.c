/* SPDX-License-Identifier: MIT */
/* vkQueueSubmit, which is converted to vkQueueSubmit2's structs, vkQueueSubmit2, and
 * vkQueueBindSparse. */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

#include "layer/chain.h"
#include "base/message.h"
#include "scheduler/chained.h"
#include "scheduler/packet.h"

/* The size of a converted vkQueueSubmit that needs no allocation. */
#define SCRATCH 4096

/* The structs chained to a VkSubmitInfo that a VkSubmitInfo2 can express. */
struct chained {
    const VkTimelineSemaphoreSubmitInfo *timeline;
    const VkDeviceGroupSubmitInfo *group;
    const VkProtectedSubmitInfo *protected_submit;
    const VkPerformanceQuerySubmitInfoKHR *performance;
    const struct bf_submission_present_id *present_id;
    const struct bf_frame_boundary *boundary;
    VkStructureType unknown; /* the type of one that it can't express; 0: none */
};

static struct chained read_chain(const VkSubmitInfo *info)
{
    struct chained c = {0};
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        switch ((int)s->sType) {
        case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
            c.timeline = (const void *)s;
            break;
        case VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO:
            c.group = (const void *)s;
            break;
        case VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO:
            c.protected_submit = (const void *)s;
            break;
        case VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR:
            c.performance = (const void *)s;
            break;
        case BF_STRUCTURE_TYPE_SUBMISSION_PRESENT_ID:
            c.present_id = (const void *)s;
            break;
        case BF_STRUCTURE_TYPE_FRAME_BOUNDARY:
            c.boundary = (const void *)s;
            break;
        default:
            c.unknown = s->sType;
            break;
        }
    }
    return c;
}

static uint64_t timeline_value_at(const uint64_t *values, uint32_t count, uint32_t i)
{
    return values && i < count ? values[i] : 0;
}

/* Memory for the arrays of a converted submission; it is large enough for all of them. */
struct arena {
    char *at;
};

static void *arena_take(struct arena *arena, size_t size)
{
    void *p = arena->at;
    arena->at += (size + 15) & ~(size_t)15;
    return p;
}

static size_t converted_size(uint32_t count, const VkSubmitInfo *infos)
{
    size_t size = count * sizeof(VkSubmitInfo2) + 16;
    for (uint32_t i = 0; i < count; i++)
        size += (infos[i].waitSemaphoreCount + infos[i].signalSemaphoreCount) *
                    sizeof(VkSemaphoreSubmitInfo) +
                infos[i].commandBufferCount * sizeof(VkCommandBufferSubmitInfo) + 48 +
                sizeof(VkPerformanceQuerySubmitInfoKHR) + sizeof(struct bf_frame_boundary) +
                sizeof(struct bf_submission_present_id) + 48;
    return size;
}

static void submit_convert(struct arena *arena, const VkSubmitInfo *from, const struct chained *c,
                           VkSubmitInfo2 *to)
{
    VkSemaphoreSubmitInfo *waits = arena_take(arena, from->waitSemaphoreCount * sizeof(*waits));
    VkCommandBufferSubmitInfo *buffers =
        arena_take(arena, from->commandBufferCount * sizeof(*buffers));
    VkSemaphoreSubmitInfo *signals =
        arena_take(arena, from->signalSemaphoreCount * sizeof(*signals));
    const VkTimelineSemaphoreSubmitInfo none = {0};
    const VkTimelineSemaphoreSubmitInfo *t = c->timeline ? c->timeline : &none;
    const VkDeviceGroupSubmitInfo no_group = {0};
    const VkDeviceGroupSubmitInfo *g = c->group ? c->group : &no_group;
    for (uint32_t i = 0; i < from->waitSemaphoreCount; i++)
        waits[i] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = from->pWaitSemaphores[i],
            .value = timeline_value_at(t->pWaitSemaphoreValues, t->waitSemaphoreValueCount, i),
            .stageMask = from->pWaitDstStageMask[i],
            .deviceIndex = i < g->waitSemaphoreCount ? g->pWaitSemaphoreDeviceIndices[i] : 0,
        };
    for (uint32_t i = 0; i < from->commandBufferCount; i++)
        buffers[i] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
            .commandBuffer = from->pCommandBuffers[i],
            .deviceMask = i < g->commandBufferCount ? g->pCommandBufferDeviceMasks[i] : 0,
        };
    for (uint32_t i = 0; i < from->signalSemaphoreCount; i++)
        signals[i] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = from->pSignalSemaphores[i],
            .value = timeline_value_at(t->pSignalSemaphoreValues, t->signalSemaphoreValueCount, i),
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .deviceIndex = i < g->signalSemaphoreCount ? g->pSignalSemaphoreDeviceIndices[i] : 0,
        };
    *to = (VkSubmitInfo2){
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .flags = c->protected_submit && c->protected_submit->protectedSubmit
                     ? VK_SUBMIT_PROTECTED_BIT
                     : 0,
        .waitSemaphoreInfoCount = from->waitSemaphoreCount,
        .pWaitSemaphoreInfos = waits,
        .commandBufferInfoCount = from->commandBufferCount,
        .pCommandBufferInfos = buffers,
        .signalSemaphoreInfoCount = from->signalSemaphoreCount,
        .pSignalSemaphoreInfos = signals,
    };
    if (c->boundary) {
        struct bf_frame_boundary *boundary = arena_take(arena, sizeof(*boundary));
        *boundary = *c->boundary;
        boundary->pNext = NULL;
        to->pNext = boundary;
    }
    if (c->present_id) {
        struct bf_submission_present_id *id = arena_take(arena, sizeof(*id));
        *id = *c->present_id;
        id->pNext = to->pNext;
        to->pNext = id;
    }
    if (c->performance) {
        VkPerformanceQuerySubmitInfoKHR *performance = arena_take(arena, sizeof(*performance));
        *performance = *c->performance;
        performance->pNext = to->pNext;
        to->pNext = performance;
    }
}

/* The first struct of the chain that Belfry doesn't know, to be named in the message. */
static VkStructureType chain_unknown_type(const void *chain)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        switch ((int)s->sType) {
        case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
        case VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO:
        case VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR:
        case BF_STRUCTURE_TYPE_SUBMISSION_PRESENT_ID:
        case BF_STRUCTURE_TYPE_FRAME_BOUNDARY:
            break;
        default:
            return s->sType;
        }
    }
    return (VkStructureType)0;
}

/* Submits structs that Belfry doesn't know, and so can't copy. They go to the driver as the program
 * made them, once the operations that 'fill' lists (at most 'room' waits and 'room' signals) are
 * ready, or are refused. */
static VkResult submit_raw(struct bf_queue *queue, uint32_t room,
                           void (*fill)(const struct bf_queue *queue, const void *infos,
                                        uint32_t count, struct bf_raw_submit *raw),
                           const void *infos, uint32_t count, VkStructureType unknown,
                           struct bf_raw_submit raw)
{
    struct bf_sync *syncs = calloc(2 * ((size_t)room + 1), sizeof(*syncs));
    if (!syncs)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    char what[64];
    snprintf(what, sizeof(what), "a chained struct of type %d", (int)unknown);
    raw.what = what;
    raw.waits = syncs;
    raw.signals = syncs + room;
    fill(queue, infos, count, &raw);
    VkResult result = bf_queue_submit_raw(queue, &raw);
    free(syncs);
    return result;
}

static uint32_t submit_room(const VkSubmitInfo2 *infos, uint32_t count)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < count; i++)
        room += infos[i].waitSemaphoreInfoCount + infos[i].signalSemaphoreInfoCount;
    return room;
}

static void fill_submits(const struct bf_queue *queue, const void *source, uint32_t count,
                         struct bf_raw_submit *raw)
{
    const VkSubmitInfo2 *infos = source;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w < infos[i].waitSemaphoreInfoCount; w++)
            bf_raw_submit_wait(queue, raw, infos[i].pWaitSemaphoreInfos[w].semaphore,
                               infos[i].pWaitSemaphoreInfos[w].value);
        for (uint32_t s = 0; s < infos[i].signalSemaphoreInfoCount; s++)
            bf_raw_submit_signal(queue, raw, infos[i].pSignalSemaphoreInfos[s].semaphore,
                                 infos[i].pSignalSemaphoreInfos[s].value);
    }
}

static void fill_binds(const struct bf_queue *queue, const void *source, uint32_t count,
                       struct bf_raw_submit *raw)
{
    const VkBindSparseInfo *infos = source;
    const VkTimelineSemaphoreSubmitInfo none = {0};
    for (uint32_t i = 0; i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *t =
            layer_chain_find(infos[i].pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        if (!t)
            t = &none;
        for (uint32_t w = 0; w < infos[i].waitSemaphoreCount; w++)
            bf_raw_submit_wait(
                queue, raw, infos[i].pWaitSemaphores[w],
                timeline_value_at(t->pWaitSemaphoreValues, t->waitSemaphoreValueCount, w));
        for (uint32_t s = 0; s < infos[i].signalSemaphoreCount; s++)
            bf_raw_submit_signal(
                queue, raw, infos[i].pSignalSemaphores[s],
                timeline_value_at(t->pSignalSemaphoreValues, t->signalSemaphoreValueCount, s));
    }
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueSubmit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *infos, VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime)
        return d->vk.vkQueueSubmit(queue, count, infos, fence);
    char scratch[SCRATCH];
    size_t size = converted_size(count, infos);
    struct arena arena = {size <= sizeof(scratch) ? scratch : malloc(size)};
    char *memory = arena.at;
    if (!memory)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    arena.at = (char *)(((uintptr_t)arena.at + 15) & ~(uintptr_t)15);
    VkSubmitInfo2 *converted = arena_take(&arena, count * sizeof(*converted));
    VkStructureType unknown = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct chained c = read_chain(&infos[i]);
        if (c.unknown)
            unknown = c.unknown;
        submit_convert(&arena, &infos[i], &c, &converted[i]);
    }
    VkResult result;
    if (unknown)
        result = submit_raw(
            layer_queue(queue), submit_room(converted, count), fill_submits, converted, count,
            unknown,
            (struct bf_raw_submit){
                .command = BF_RAW_SUBMIT, .count = count, .infos = infos, .fence = fence});
    else
        result = bf_queue_submit(layer_queue(queue), count, converted, fence);
    if (memory != scratch)
        free(memory);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                                    const VkSubmitInfo2 *infos, VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime) {
        return d->vk.vkQueueSubmit2(queue, count, infos, fence);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_packet_can_copy_submit(&infos[i]))
            return submit_raw(
                layer_queue(queue), submit_room(infos, count), fill_submits, infos, count,
                chain_unknown_type(infos[i].pNext),
                (struct bf_raw_submit){
                    .command = BF_RAW_SUBMIT2, .count = count, .infos = infos, .fence = fence});
    }
    return bf_queue_submit(layer_queue(queue), count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkQueueBindSparse(VkQueue queue, uint32_t count,
                                                       const VkBindSparseInfo *infos, VkFence fence)
{
    struct layer_device *d = layer_device_of(queue);
    if (!d->runtime)
        return d->vk.vkQueueBindSparse(queue, count, infos, fence);
    uint32_t room = 0;
    const VkBaseInStructure *unknown = NULL;
    for (uint32_t i = 0; i < count; i++) {
        room += infos[i].waitSemaphoreCount + infos[i].signalSemaphoreCount;
        if (!bf_packet_can_copy_bind(&infos[i]))
            unknown = infos[i].pNext;
    }
    if (unknown)
        return submit_raw(
            layer_queue(queue), room, fill_binds, infos, count, chain_unknown_type(unknown),
            (struct bf_raw_submit){
                .command = BF_RAW_BIND, .count = count, .infos = infos, .fence = fence});
    return bf_queue_bind_sparse(layer_queue(queue), count, infos, fence);
}
