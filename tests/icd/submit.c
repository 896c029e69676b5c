/* SPDX-License-Identifier: MIT */
/* The calls on a VkQueue: submit, bind sparse, present, wait idle. */
#include "icd.h"

#include <sys/syscall.h>

#define QUEUE(handle_)     ICD_FROM(icd_queue, ICD_KIND_QUEUE, handle_)
#define SEMAPHORE(handle_) ICD_FROM(icd_semaphore, ICD_KIND_SEMAPHORE, handle_)
#define FENCE(handle_)     ICD_FROM(icd_fence, ICD_KIND_FENCE, handle_)
#define COMMANDS(handle_)  ICD_FROM(icd_command_buffer, ICD_KIND_COMMAND_BUFFER, handle_)

/* Room for a packet on the stack: what free mode runs without an allocation. */
#define STACK_PACKET 1024

/* The n infos of a submit call, in the words of either version; the other pointer is NULL. */
struct batch {
    const char *call;
    uint32_t n;
    const VkSubmitInfo *v1;
    const VkSubmitInfo2 *v2;
};

static void batch_shape(const struct batch *batch, uint32_t i, struct icd_packet *shape)
{
    *shape = (struct icd_packet){0};
    if (i >= batch->n) /* the packet of a call with nothing but a fence */
        return;
    if (batch->v2) {
        shape->n_waits = batch->v2[i].waitSemaphoreInfoCount;
        shape->n_signals = batch->v2[i].signalSemaphoreInfoCount;
        shape->n_recordings = batch->v2[i].commandBufferInfoCount;
    } else {
        shape->n_waits = batch->v1[i].waitSemaphoreCount;
        shape->n_signals = batch->v1[i].signalSemaphoreCount;
        shape->n_recordings = batch->v1[i].commandBufferCount;
    }
}

/* A wait takes a temporarily imported payload along; who calls settles that only once the packet
 * can't fail any more. */
static struct icd_payload *wait_payload(struct icd_semaphore *semaphore)
{
    return semaphore->temporary ? semaphore->temporary : semaphore->payload;
}

static void batch_fill(const struct batch *batch, uint32_t i, struct icd_packet *packet)
{
    if (i >= batch->n)
        return;
    if (batch->v2) {
        const VkSubmitInfo2 *info = &batch->v2[i];
        for (uint32_t k = 0; k < packet->n_waits; k++) {
            const VkSemaphoreSubmitInfo *wait = &info->pWaitSemaphoreInfos[k];
            packet->waits[k].payload = wait_payload(SEMAPHORE(wait->semaphore));
            packet->waits[k].value = wait->value;
        }
        for (uint32_t k = 0; k < packet->n_recordings; k++)
            packet->recordings[k] = COMMANDS(info->pCommandBufferInfos[k].commandBuffer)->recording;
        for (uint32_t k = 0; k < packet->n_signals; k++) {
            const VkSemaphoreSubmitInfo *signal = &info->pSignalSemaphoreInfos[k];
            packet->signals[k].payload = SEMAPHORE(signal->semaphore)->payload;
            packet->signals[k].value = signal->value;
        }
        return;
    }
    const VkSubmitInfo *info = &batch->v1[i];
    const VkTimelineSemaphoreSubmitInfo *values = NULL;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            values = (const VkTimelineSemaphoreSubmitInfo *)s;
    for (uint32_t k = 0; k < packet->n_waits; k++) {
        packet->waits[k].payload = wait_payload(SEMAPHORE(info->pWaitSemaphores[k]));
        packet->waits[k].value =
            values && k < values->waitSemaphoreValueCount ? values->pWaitSemaphoreValues[k] : 0;
    }
    for (uint32_t k = 0; k < packet->n_recordings; k++)
        packet->recordings[k] = COMMANDS(info->pCommandBuffers[k])->recording;
    for (uint32_t k = 0; k < packet->n_signals; k++) {
        packet->signals[k].payload = SEMAPHORE(info->pSignalSemaphores[k])->payload;
        packet->signals[k].value =
            values && k < values->signalSemaphoreValueCount ? values->pSignalSemaphoreValues[k] : 0;
    }
}

static void temporary_drop(struct icd_semaphore *semaphore)
{
    if (!semaphore->temporary)
        return;
    icd_payload_unref(semaphore->temporary);
    semaphore->temporary = NULL;
}

static void batch_consume_temporary(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        if (batch->v2)
            for (uint32_t k = 0; k < batch->v2[i].waitSemaphoreInfoCount; k++)
                temporary_drop(SEMAPHORE(batch->v2[i].pWaitSemaphoreInfos[k].semaphore));
        else
            for (uint32_t k = 0; k < batch->v1[i].waitSemaphoreCount; k++)
                temporary_drop(SEMAPHORE(batch->v1[i].pWaitSemaphores[k]));
    }
}

/* What the call names, looked at for objects of another device. */
static void semaphores_seen(const struct icd_queue *queue, uint32_t n,
                            const VkSemaphore *semaphores, const char *call)
{
    for (uint32_t i = 0; i < n; i++)
        icd_device_seen(queue->object.device, SEMAPHORE(semaphores[i]), call);
}

static void protection_seen(const struct icd_queue *queue, bool is_protected,
                            VkCommandBuffer handle, const char *call)
{
    bool buffer = COMMANDS(handle)->is_protected;
    if (buffer != is_protected)
        icd_violation(
            BELFRY_ICD_PROTECTION,
            "%s on queue %u:%u: a batch that is %sprotected has a command buffer that is%s", call,
            queue->family, queue->index, is_protected ? "" : "not ", buffer ? "" : "n't");
}

static void protected_seen(const struct icd_queue *queue, bool is_protected, const char *call)
{
    if (is_protected && !(queue->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT))
        icd_violation(BELFRY_ICD_PROTECTION, "%s on queue %u:%u: it takes no protected batches",
                      call, queue->family, queue->index);
}

static bool is_protected_v1(const VkSubmitInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO)
            return ((const VkProtectedSubmitInfo *)s)->protectedSubmit;
    return false;
}

static void batch_seen(const struct batch *batch, const struct icd_queue *queue,
                       const struct icd_fence *fence)
{
    const struct icd_device *device = queue->object.device;
    for (uint32_t i = 0; batch->v1 && i < batch->n; i++) {
        const VkSubmitInfo *info = &batch->v1[i];
        semaphores_seen(queue, info->waitSemaphoreCount, info->pWaitSemaphores, batch->call);
        semaphores_seen(queue, info->signalSemaphoreCount, info->pSignalSemaphores, batch->call);
        bool is_protected = is_protected_v1(info);
        protected_seen(queue, is_protected, batch->call);
        for (uint32_t k = 0; k < info->commandBufferCount; k++) {
            icd_device_seen(device, COMMANDS(info->pCommandBuffers[k]), batch->call);
            protection_seen(queue, is_protected, info->pCommandBuffers[k], batch->call);
        }
    }
    for (uint32_t i = 0; batch->v2 && i < batch->n; i++) {
        const VkSubmitInfo2 *info = &batch->v2[i];
        for (uint32_t k = 0; k < info->waitSemaphoreInfoCount; k++)
            semaphores_seen(queue, 1, &info->pWaitSemaphoreInfos[k].semaphore, batch->call);
        for (uint32_t k = 0; k < info->signalSemaphoreInfoCount; k++)
            semaphores_seen(queue, 1, &info->pSignalSemaphoreInfos[k].semaphore, batch->call);
        bool is_protected = info->flags & VK_SUBMIT_PROTECTED_BIT;
        protected_seen(queue, is_protected, batch->call);
        for (uint32_t k = 0; k < info->commandBufferInfoCount; k++) {
            VkCommandBuffer commands = info->pCommandBufferInfos[k].commandBuffer;
            icd_device_seen(device, COMMANDS(commands), batch->call);
            protection_seen(queue, is_protected, commands, batch->call);
        }
    }
    if (fence)
        icd_device_seen(device, fence, batch->call);
}

/* Counts the batch and fills the record's sums. */
static void batch_count(const struct batch *batch, struct icd_queue *queue, bool fence,
                        struct belfry_icd_record *record)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        struct icd_packet shape;
        batch_shape(batch, i, &shape);
        record->waits += shape.n_waits;
        record->signals += shape.n_signals;
        record->command_buffers += shape.n_recordings;
        uint64_t id = icd_id(batch->v2 ? batch->v2[i].pNext : batch->v1[i].pNext);
        record->id = id ? id : record->id;
        if (shape.n_recordings)
            continue;
        icd_bump(&queue->counts.infos_without_command_buffer, 1);
        if (!shape.n_waits && !shape.n_signals && !fence)
            icd_violation(BELFRY_ICD_EMPTY_INFO,
                          "%s on queue %u:%u: info %u has neither command buffers nor semaphores, "
                          "and there is no fence",
                          batch->call, queue->family, queue->index, i);
    }
    icd_bump(&queue->counts.submit_infos, batch->n);
    icd_bump(&queue->counts.waits, record->waits);
    icd_bump(&queue->counts.signals, record->signals);
    if (!batch->n)
        icd_bump(fence ? &queue->counts.fence_only_calls : &queue->counts.empty_calls, 1);
}

static void packets_free(struct icd_packet *first)
{
    while (first) {
        struct icd_packet *next = first->next;
        free(first);
        first = next;
    }
}

static VkResult batch_queue(const struct batch *batch, struct icd_queue *queue,
                            struct icd_fence *fence)
{
    uint32_t n = batch->n ? batch->n : fence ? 1 : 0;
    struct icd_packet *first = NULL;
    struct icd_packet **link = &first;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < n; i++) {
        struct icd_packet shape;
        batch_shape(batch, i, &shape);
        struct icd_packet *packet = icd_packet_new(&shape);
        if (!packet) {
            packets_free(first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        batch_fill(batch, i, packet);
        packet->fence_only = batch->n == 0;
        if (i + 1 == n)
            packet->fence = fence;
        *link = packet;
        link = &packet->next;
    }

    struct belfry_icd_record record = {.call = BELFRY_ICD_CALL_SUBMIT,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .infos = batch->n,
                                       .fence = (uint64_t)(uintptr_t)fence};
    icd_lock();
    if (queue->object.device->lost)
        result = VK_ERROR_DEVICE_LOST;
    else
        result = icd_queue_start(queue);
    if (result != VK_SUCCESS)
        goto fail;
    batch_count(batch, queue, fence, &record);
    while (first) {
        struct icd_packet *packet = first;
        first = packet->next;
        icd_packet_accept(packet, queue, batch->call);
        icd_queue_append(queue, packet);
    }
    batch_consume_temporary(batch);
    icd_record(&record);
    icd_unlock();
    return VK_SUCCESS;

fail:
    icd_unlock();
    packets_free(first);
    return result;
}

/* Chains a packet that can't run yet, or lies behind one. */
static VkResult free_chain(const struct icd_packet *packet, struct icd_queue *queue,
                           const char *call)
{
    struct icd_packet *copy = icd_packet_new(packet);
    if (!copy)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copy->waits, packet->waits, packet->n_waits * sizeof(*packet->waits));
    memcpy(copy->signals, packet->signals, packet->n_signals * sizeof(*packet->signals));
    memcpy(copy->recordings, packet->recordings,
           packet->n_recordings * sizeof(*packet->recordings));
    memcpy(copy->bindings, packet->bindings, packet->n_bindings * sizeof(*packet->bindings));
    memcpy(copy->showings, packet->showings, packet->n_showings * sizeof(*packet->showings));
    copy->fence = packet->fence;
    icd_lock();
    icd_packet_accept(copy, queue, call);
    /* Before looking at the values once more, so that who changes them without the lock either
     * sees the watcher or is seen. */
    icd_world.watchers++;
    icd_queue_append(queue, copy);
    icd_free_pump();
    icd_unlock();
    return VK_SUCCESS;
}

static VkResult batch_free(const struct batch *batch, struct icd_queue *queue,
                           struct icd_fence *fence)
{
    uint32_t n = batch->n ? batch->n : fence ? 1 : 0;
    struct belfry_icd_record record = {.call = BELFRY_ICD_CALL_SUBMIT,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .infos = batch->n,
                                       .fence = (uint64_t)(uintptr_t)fence};
    batch_count(batch, queue, fence, &record);
    icd_record_free(&record);
    for (uint32_t i = 0; i < n; i++) {
        struct icd_packet shape;
        batch_shape(batch, i, &shape);
        _Alignas(16) uint8_t room[STACK_PACKET];
        bool fits = icd_packet_size(&shape) <= sizeof(room);
        struct icd_packet *packet = fits ? icd_packet_place(room, &shape) : icd_packet_new(&shape);
        if (!packet)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        batch_fill(batch, i, packet);
        if (i + 1 == n)
            packet->fence = fence;
        VkResult result = VK_SUCCESS;
        if (!icd_packet_execute_free(packet, queue))
            result = free_chain(packet, queue, batch->call);
        if (!fits)
            free(packet);
        if (result != VK_SUCCESS)
            return result;
    }
    batch_consume_temporary(batch);
    return VK_SUCCESS;
}

/* The faults of a submit call; anything but VK_SUCCESS is its result. */
static VkResult submit_fault(struct icd_device *device, const char *call)
{
    struct icd_instance *instance = device->instance;
    const struct icd_config *config = device->config;
    if (device->lost)
        return VK_ERROR_DEVICE_LOST;
    if (config->lose_at_submit || config->oom_at_submit) {
        uint32_t n = atomic_fetch_add(&instance->submits, 1) + 1;
        if (n == config->lose_at_submit) {
            icd_lock();
            icd_device_lose(device);
            icd_unlock();
            return VK_ERROR_DEVICE_LOST;
        }
        if (n == config->oom_at_submit)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return icd_fault(device, call);
}

/* What the call costs its caller, who is busy meanwhile, as in a driver that is. */
static void batch_take_time(const struct batch *batch, const struct icd_config *config)
{
    if (!config->submit_us && !config->buffer_us)
        return;
    uint64_t us = config->submit_us;
    for (uint32_t i = 0; i < batch->n; i++)
        us += (uint64_t)config->buffer_us *
              (batch->v2 ? batch->v2[i].commandBufferInfoCount : batch->v1[i].commandBufferCount);
    const uint64_t end = icd_now() + 1000 * us;
    while (icd_now() < end)
        ;
}

static VkResult batch_submit(const struct batch *batch, struct icd_queue *queue, VkFence fence_)
{
    struct icd_device *device = queue->object.device;
    struct icd_fence *fence = fence_ ? FENCE(fence_) : NULL;
    icd_queue_enter(queue, batch->call);
    icd_bump(&queue->counts.submit_calls, 1);
    icd_block(batch->call, false);
    batch_seen(batch, queue, fence);
    batch_take_time(batch, device->config);
    VkResult result = submit_fault(device, batch->call);
    if (result == VK_SUCCESS)
        result = device->config->free_submit ? batch_free(batch, queue, fence)
                                             : batch_queue(batch, queue, fence);
    icd_block(batch->call, true);
    icd_queue_leave(queue);
    return result;
}

static VkResult icd_QueueSubmit(VkQueue queue, uint32_t submitCount, const VkSubmitInfo *pSubmits,
                                VkFence fence)
{
    struct batch batch = {.call = "vkQueueSubmit", .n = submitCount, .v1 = pSubmits};
    return batch_submit(&batch, QUEUE(queue), fence);
}

static VkResult icd_QueueSubmit2(VkQueue queue, uint32_t submitCount, const VkSubmitInfo2 *pSubmits,
                                 VkFence fence)
{
    struct batch batch = {.call = "vkQueueSubmit2", .n = submitCount, .v2 = pSubmits};
    return batch_submit(&batch, QUEUE(queue), fence);
}

/* Sparse binds ------------------------------------------------------------------------------ */

static void bind_shape(const VkBindSparseInfo *info, struct icd_packet *shape)
{
    *shape = (struct icd_packet){.n_waits = info->waitSemaphoreCount,
                                 .n_signals = info->signalSemaphoreCount};
    for (uint32_t i = 0; i < info->bufferBindCount; i++)
        shape->n_bindings += info->pBufferBinds[i].bindCount;
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++)
        shape->n_bindings += info->pImageOpaqueBinds[i].bindCount;
    for (uint32_t i = 0; i < info->imageBindCount; i++)
        shape->n_bindings += info->pImageBinds[i].bindCount;
}

static void bind_fill(const VkBindSparseInfo *info, struct icd_packet *packet)
{
    const VkTimelineSemaphoreSubmitInfo *values = NULL;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            values = (const VkTimelineSemaphoreSubmitInfo *)s;
    for (uint32_t k = 0; k < packet->n_waits; k++) {
        packet->waits[k].payload = wait_payload(SEMAPHORE(info->pWaitSemaphores[k]));
        packet->waits[k].value =
            values && k < values->waitSemaphoreValueCount ? values->pWaitSemaphoreValues[k] : 0;
    }
    for (uint32_t k = 0; k < packet->n_signals; k++) {
        packet->signals[k].payload = SEMAPHORE(info->pSignalSemaphores[k])->payload;
        packet->signals[k].value =
            values && k < values->signalSemaphoreValueCount ? values->pSignalSemaphoreValues[k] : 0;
    }
    struct icd_binding *to = packet->bindings;
    for (uint32_t i = 0; i < info->bufferBindCount; i++) {
        const VkSparseBufferMemoryBindInfo *b = &info->pBufferBinds[i];
        for (uint32_t k = 0; k < b->bindCount; k++)
            *to++ = (struct icd_binding){.buffer = ICD_FROM(icd_buffer, ICD_KIND_BUFFER, b->buffer),
                                         .resource = (uint64_t)(uintptr_t)b->buffer,
                                         .bind = b->pBinds[k]};
    }
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++) {
        const VkSparseImageOpaqueMemoryBindInfo *b = &info->pImageOpaqueBinds[i];
        for (uint32_t k = 0; k < b->bindCount; k++)
            *to++ = (struct icd_binding){.resource = (uint64_t)(uintptr_t)b->image,
                                         .bind = b->pBinds[k]};
    }
    for (uint32_t i = 0; i < info->imageBindCount; i++) {
        const VkSparseImageMemoryBindInfo *b = &info->pImageBinds[i];
        for (uint32_t k = 0; k < b->bindCount; k++)
            *to++ = (struct icd_binding){
                .resource = (uint64_t)(uintptr_t)b->image,
                .bind = {.memory = b->pBinds[k].memory, .memoryOffset = b->pBinds[k].memoryOffset}};
    }
}

/* Hands packets over that are not a submit's; takes them, whatever happens. */
static VkResult packets_hand_over(struct icd_packet *first, struct icd_queue *queue,
                                  const char *call, struct belfry_icd_record *record)
{
    icd_lock();
    VkResult result = queue->object.device->lost ? VK_ERROR_DEVICE_LOST : icd_queue_start(queue);
    if (result != VK_SUCCESS) {
        icd_unlock();
        packets_free(first);
        return result;
    }
    icd_bump(&queue->counts.waits, record->waits);
    icd_bump(&queue->counts.signals, record->signals);
    while (first) {
        struct icd_packet *packet = first;
        first = packet->next;
        icd_packet_accept(packet, queue, call);
        if (queue->object.device->config->free_submit)
            icd_world.watchers++;
        icd_queue_append(queue, packet);
    }
    icd_free_pump();
    icd_record(record);
    icd_unlock();
    return VK_SUCCESS;
}

static VkResult bind_sparse(struct icd_queue *queue, uint32_t n, const VkBindSparseInfo *infos,
                            struct icd_fence *fence)
{
    struct icd_packet *first = NULL;
    struct icd_packet **link = &first;
    struct belfry_icd_record record = {.call = BELFRY_ICD_CALL_BIND_SPARSE,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .infos = n,
                                       .fence = (uint64_t)(uintptr_t)fence};
    for (uint32_t i = 0; i < n; i++) {
        semaphores_seen(queue, infos[i].waitSemaphoreCount, infos[i].pWaitSemaphores,
                        "vkQueueBindSparse");
        semaphores_seen(queue, infos[i].signalSemaphoreCount, infos[i].pSignalSemaphores,
                        "vkQueueBindSparse");
    }
    uint32_t packets = n ? n : fence ? 1 : 0;
    for (uint32_t i = 0; i < packets; i++) {
        struct icd_packet shape = {0};
        if (n)
            bind_shape(&infos[i], &shape);
        struct icd_packet *packet = icd_packet_new(&shape);
        if (!packet) {
            packets_free(first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        if (n)
            bind_fill(&infos[i], packet);
        record.waits += shape.n_waits;
        record.signals += shape.n_signals;
        if (i + 1 == packets)
            packet->fence = fence;
        *link = packet;
        link = &packet->next;
    }
    VkResult result = packets_hand_over(first, queue, "vkQueueBindSparse", &record);
    if (result == VK_SUCCESS)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; k++)
                temporary_drop(SEMAPHORE(infos[i].pWaitSemaphores[k]));
    return result;
}

static VkResult icd_QueueBindSparse(VkQueue queue_, uint32_t bindInfoCount,
                                    const VkBindSparseInfo *pBindInfo, VkFence fence)
{
    struct icd_queue *queue = QUEUE(queue_);
    icd_queue_enter(queue, "vkQueueBindSparse");
    icd_bump(&queue->counts.bind_sparse_calls, 1);
    icd_block(__func__, false);
    VkResult result = icd_fault(queue->object.device, __func__);
    if (result == VK_SUCCESS)
        result = bind_sparse(queue, bindInfoCount, pBindInfo, fence ? FENCE(fence) : NULL);
    icd_block(__func__, true);
    icd_queue_leave(queue);
    return result;
}

/* Presents ---------------------------------------------------------------------------------- */

static VkResult present(struct icd_queue *queue, const VkPresentInfoKHR *info)
{
    struct icd_packet shape = {.n_waits = info->waitSemaphoreCount,
                               .n_showings = info->swapchainCount};
    struct icd_packet *packet = icd_packet_new(&shape);
    if (!packet)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < packet->n_waits; i++) {
        semaphores_seen(queue, 1, &info->pWaitSemaphores[i], "vkQueuePresentKHR");
        packet->waits[i].payload = wait_payload(SEMAPHORE(info->pWaitSemaphores[i]));
        packet->waits[i].value = 0;
    }
    for (uint32_t i = 0; i < packet->n_showings; i++) {
        packet->showings[i].swapchain = icd_object_check(
            (const void *)(uintptr_t)info->pSwapchains[i], ICD_KIND_SWAPCHAIN, "vkQueuePresentKHR");
        packet->showings[i].image = info->pImageIndices[i];
    }
    struct belfry_icd_record record = {.call = BELFRY_ICD_CALL_PRESENT,
                                       .device = queue->object.device->config->ordinal,
                                       .family = queue->family,
                                       .index = queue->index,
                                       .labels = queue->labels,
                                       .infos = info->swapchainCount,
                                       .waits = info->waitSemaphoreCount,
                                       .id = icd_id(info->pNext)};
    VkResult result = packets_hand_over(packet, queue, "vkQueuePresentKHR", &record);
    if (result == VK_SUCCESS)
        for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
            temporary_drop(SEMAPHORE(info->pWaitSemaphores[i]));
    return result;
}

static VkResult icd_QueuePresentKHR(VkQueue queue_, const VkPresentInfoKHR *pPresentInfo)
{
    struct icd_queue *queue = QUEUE(queue_);
    icd_queue_enter(queue, "vkQueuePresentKHR");
    icd_bump(&queue->counts.presents, 1);
    icd_block(__func__, false);
    VkResult result = icd_fault(queue->object.device, __func__);
    if (result == VK_SUCCESS)
        result = present(queue, pPresentInfo);
    if (pPresentInfo->pResults)
        for (uint32_t i = 0; i < pPresentInfo->swapchainCount; i++)
            pPresentInfo->pResults[i] = result;
    icd_block(__func__, true);
    icd_queue_leave(queue);
    return result;
}

/* Waiting ----------------------------------------------------------------------------------- */

/* Locked. */
static VkResult queue_wait_finished(struct icd_queue *queue)
{
    uint64_t target = queue->accepted;
    queue->host_waiters++;
    while (!queue->object.device->lost && queue->finished < target)
        icd_host_sleep(UINT64_MAX);
    queue->host_waiters--;
    icd_queue_let_go(queue);
    return queue->object.device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

static VkResult icd_QueueWaitIdle(VkQueue queue_)
{
    struct icd_queue *queue = QUEUE(queue_);
    ICD_FAULT(queue->object.device);
    icd_queue_enter(queue, "vkQueueWaitIdle");
    icd_bump(&queue->counts.wait_idles, 1);
    icd_block(__func__, false);
    icd_lock();
    VkResult result = queue_wait_finished(queue);
    icd_unlock();
    icd_block(__func__, true);
    icd_queue_leave(queue);
    return result;
}

static VkResult icd_DeviceWaitIdle(VkDevice device_)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT(device);
    icd_count(ICD_COUNT_DEVICE_WAIT_IDLE, 1);
    for (uint32_t i = 0; i < device->n_queues; i++)
        icd_queue_enter(&device->queues[i], "vkDeviceWaitIdle");
    icd_block(__func__, false);
    VkResult result = VK_SUCCESS;
    icd_lock();
    for (uint32_t i = 0; i < device->n_queues && result == VK_SUCCESS; i++)
        result = queue_wait_finished(&device->queues[i]);
    if (device->lost)
        result = VK_ERROR_DEVICE_LOST;
    icd_unlock();
    icd_block(__func__, true);
    for (uint32_t i = 0; i < device->n_queues; i++)
        icd_queue_leave(&device->queues[i]);
    return result;
}

const struct icd_entry icd_queue_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, QueueSubmit),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, QueueSubmit2),
    ICD_CORE(ICD_DEVICE, 0, QueueBindSparse),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_SWAPCHAIN, QueuePresentKHR, QueuePresentKHR),
    ICD_CORE(ICD_DEVICE, 0, QueueWaitIdle),
    ICD_CORE(ICD_DEVICE, 0, DeviceWaitIdle),
    ICD_END};
