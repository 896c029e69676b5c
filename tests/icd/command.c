/* SPDX-License-Identifier: MIT */
/* Command pools and buffers: recording, and running what was recorded.
 *
 * A recording is a row of commands in one growing block. It is shared by reference with whatever
 * executes it, so a command buffer that is destroyed or recorded anew while pending (which is
 * found and counted) does no harm to the driver. */
#include "icd.h"

#define COMMANDS(handle_) ICD_FROM(icd_command_buffer, ICD_KIND_COMMAND_BUFFER, handle_)
#define BUFFER(handle_)   ICD_FROM(icd_buffer, ICD_KIND_BUFFER, handle_)
#define EVENT(handle_)    ICD_FROM(icd_event, ICD_KIND_EVENT, handle_)

/* What vkCmdUpdateBuffer takes at most. */
#define MAX_UPDATE 65536u

struct icd_command_pool {
    struct icd_object object;
    uint32_t family;
    bool is_protected;
    struct icd_command_buffer *buffers;
};

struct fill_command {
    struct icd_command command;
    struct icd_buffer *buffer;
    VkDeviceSize offset, size;
    uint32_t word;
};

struct update_command {
    struct icd_command command;
    struct icd_buffer *buffer;
    VkDeviceSize offset, size;
    uint8_t data[];
};

struct copy_command {
    struct icd_command command;
    struct icd_buffer *from;
    struct icd_buffer *to;
    VkDeviceSize from_offset, to_offset, size;
};

struct event_command {
    struct icd_command command;
    struct icd_event *event;
};

struct execute_command {
    struct icd_command command;
    struct icd_recording *recording; /* a reference */
};

/* Recordings -------------------------------------------------------------------------------- */

static struct icd_recording *recording_new(void)
{
    struct icd_recording *recording = calloc(1, sizeof(*recording));
    if (recording)
        recording->refs = 1;
    return recording;
}

void icd_recording_unref(struct icd_recording *recording)
{
    if (--recording->refs)
        return;
    for (size_t at = 0; at < recording->size;) {
        struct icd_command *command = (struct icd_command *)(recording->bytes + at);
        if (command->code == ICD_OP_EXECUTE)
            icd_recording_unref(((struct execute_command *)command)->recording);
        at += command->size;
    }
    free(recording->bytes);
    free(recording);
}

static void buffer_use(struct icd_buffer *buffer)
{
    icd_object_use(buffer);
    if (buffer->memory)
        icd_object_use(buffer->memory);
}

static void buffer_unuse(struct icd_buffer *buffer)
{
    if (buffer->memory)
        icd_object_unuse(buffer->memory);
    icd_object_unuse(buffer);
}

/* Locked: calls visit for every buffer and other for every other object that the recording uses,
 * and adds packets to what else counts them. */
static void recording_visit(struct icd_recording *recording, int packets,
                            void (*buffer)(struct icd_buffer *), void (*other)(void *))
{
    recording->pending += (uint32_t)packets;
    for (size_t at = 0; at < recording->size;) {
        struct icd_command *command = (struct icd_command *)(recording->bytes + at);
        at += command->size;
        switch ((enum icd_op_code)command->code) {
        case ICD_OP_FILL:
            buffer(((struct fill_command *)command)->buffer);
            break;
        case ICD_OP_UPDATE:
            buffer(((struct update_command *)command)->buffer);
            break;
        case ICD_OP_COPY:
            buffer(((struct copy_command *)command)->from);
            buffer(((struct copy_command *)command)->to);
            break;
        case ICD_OP_SET_EVENT:
        case ICD_OP_RESET_EVENT:
        case ICD_OP_WAIT_EVENT:
            other(((struct event_command *)command)->event);
            break;
        case ICD_OP_EXECUTE:
            recording_visit(((struct execute_command *)command)->recording, packets, buffer, other);
            break;
        case ICD_OP_COPY_QUERIES:
            buffer(((struct icd_query_command *)command)->buffer);
            /* fall through */
        case ICD_OP_TIMESTAMP:
        case ICD_OP_QUERY_DONE:
        case ICD_OP_RESET_QUERIES:
            icd_query_use((struct icd_query_command *)command, packets);
            other(((struct icd_query_command *)command)->pool);
            break;
        case ICD_OP_HOST_BARRIER:
        case ICD_OP_DISPATCH:
        case ICD_OP_DRAIN:
        case ICD_OP_BARRIER:
            break;
        }
    }
}

void icd_recording_use(struct icd_recording *recording)
{
    recording_visit(recording, 1, buffer_use, icd_object_use);
}

void icd_recording_unuse(struct icd_recording *recording)
{
    recording_visit(recording, -1, buffer_unuse, icd_object_unuse);
}

static uint32_t recording_pending(struct icd_recording *recording)
{
    icd_lock();
    uint32_t pending = recording->pending;
    icd_unlock();
    return pending;
}

void *icd_command_append(VkCommandBuffer commandBuffer, enum icd_op_code code, size_t size)
{
    struct icd_recording *recording = COMMANDS(commandBuffer)->recording;
    size = (size + 7) & ~(size_t)7;
    if (recording->size + size > recording->capacity) {
        size_t capacity = recording->capacity ? recording->capacity * 2 : 512;
        while (capacity < recording->size + size)
            capacity *= 2;
        uint8_t *bytes = realloc(recording->bytes, capacity);
        if (!bytes) {
            recording->failed = true;
            return NULL;
        }
        recording->bytes = bytes;
        recording->capacity = capacity;
    }
    struct icd_command *command = (struct icd_command *)(recording->bytes + recording->size);
    memset(command, 0, size);
    command->code = code;
    command->size = (uint32_t)size;
    recording->size += size;
    return command;
}

void icd_work_append(VkCommandBuffer commandBuffer, enum icd_op_code code)
{
    if (COMMANDS(commandBuffer)->object.device->config->dispatch_us)
        icd_command_append(commandBuffer, code, sizeof(struct icd_command));
}

static void event_set(struct icd_event *event, bool set, struct icd_queue *queue)
{
    event->set = set;
    if (!set || queue->object.device->config->free_submit)
        return;
    icd_lock();
    icd_wake_any();
    icd_unlock();
}

/* In free mode nothing runs beside the caller that could set the event later: no wait. */
static void event_wait(struct icd_event *event, struct icd_queue *queue)
{
    struct icd_device *device = queue->object.device;
    if (event->set || device->config->free_submit)
        return;
    icd_lock();
    while (!event->set && !device->lost && !queue->stop)
        icd_queue_park_any(queue);
    icd_unlock();
}

struct icd_recording *icd_executed_recording(struct icd_command *command)
{
    return ((struct execute_command *)command)->recording;
}

void icd_command_execute(struct icd_command *command, struct icd_queue *queue)
{
    switch ((enum icd_op_code)command->code) {
    case ICD_OP_FILL: {
        struct fill_command *c = (void *)command;
        icd_buffer_fill(c->buffer, c->offset, c->size, c->word);
        break;
    }
    case ICD_OP_UPDATE: {
        struct update_command *c = (void *)command;
        icd_buffer_write(c->buffer, c->offset, c->data, c->size);
        break;
    }
    case ICD_OP_COPY: {
        struct copy_command *c = (void *)command;
        icd_buffer_copy(c->from, c->from_offset, c->to, c->to_offset, c->size);
        break;
    }
    case ICD_OP_SET_EVENT:
        event_set(((struct event_command *)command)->event, true, queue);
        break;
    case ICD_OP_RESET_EVENT:
        event_set(((struct event_command *)command)->event, false, queue);
        break;
    case ICD_OP_WAIT_EVENT:
        event_wait(((struct event_command *)command)->event, queue);
        break;
    case ICD_OP_EXECUTE:
        icd_recording_execute(((struct execute_command *)command)->recording, queue);
        break;
    case ICD_OP_TIMESTAMP:
    case ICD_OP_QUERY_DONE:
    case ICD_OP_RESET_QUERIES:
    case ICD_OP_COPY_QUERIES:
        icd_query_execute((struct icd_query_command *)command, queue);
        break;
    case ICD_OP_HOST_BARRIER:
        icd_late_writes_send();
        break;
    case ICD_OP_DISPATCH:
        icd_queue_work(queue);
        break;
    case ICD_OP_DRAIN:
    case ICD_OP_BARRIER:
        icd_queue_drain(queue);
        break;
    }
}

void icd_recording_execute(struct icd_recording *recording, struct icd_queue *queue)
{
    for (size_t at = 0; at < recording->size;) {
        struct icd_command *command = (struct icd_command *)(recording->bytes + at);
        at += command->size;
        icd_command_execute(command, queue);
    }
}

/* Pools and buffers ------------------------------------------------------------------------- */

static VkResult icd_CreateCommandPool(VkDevice device_, const VkCommandPoolCreateInfo *pCreateInfo,
                                      const VkAllocationCallbacks *pAllocator,
                                      VkCommandPool *pCommandPool)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pCommandPool, device);
    icd_family_seen(device, pCreateInfo->queueFamilyIndex, "vkCreateCommandPool");
    struct icd_command_pool *pool = icd_object_new(device, ICD_KIND_COMMAND_POOL, sizeof(*pool));
    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pool->family = pCreateInfo->queueFamilyIndex;
    pool->is_protected = pCreateInfo->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT;
    *pCommandPool = ICD_HANDLE(VkCommandPool, pool);
    return VK_SUCCESS;
}

static void command_buffer_free(struct icd_command_buffer *buffer)
{
    if (recording_pending(buffer->recording))
        icd_violation(BELFRY_ICD_DESTROY_PENDING, "a command buffer is freed while pending");
    *buffer->link = buffer->next;
    if (buffer->next)
        buffer->next->link = buffer->link;
    icd_recording_unref(buffer->recording);
    icd_object_free(buffer);
}

static void icd_DestroyCommandPool(VkDevice device_, VkCommandPool pool_,
                                   const VkAllocationCallbacks *pAllocator)
{
    if (!pool_)
        return;
    struct icd_command_pool *pool = ICD_FROM(icd_command_pool, ICD_KIND_COMMAND_POOL, pool_);
    while (pool->buffers)
        command_buffer_free(pool->buffers);
    icd_object_free(pool);
}

/* Gives the command buffer an empty recording; the old one stays with whoever executes it. */
static VkResult command_buffer_clear(struct icd_command_buffer *buffer, const char *call)
{
    struct icd_recording *old = buffer->recording;
    if (recording_pending(old))
        icd_violation(BELFRY_ICD_DESTROY_PENDING, "%s on a pending command buffer", call);
    struct icd_recording *recording = recording_new();
    if (!recording)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    buffer->recording = recording;
    icd_recording_unref(old);
    return VK_SUCCESS;
}

static VkResult icd_ResetCommandPool(VkDevice device, VkCommandPool pool_,
                                     VkCommandPoolResetFlags flags)
{
    /* Only out of device memory may be returned here: no fault. */
    struct icd_command_pool *pool = ICD_FROM(icd_command_pool, ICD_KIND_COMMAND_POOL, pool_);
    for (struct icd_command_buffer *buffer = pool->buffers; buffer; buffer = buffer->next)
        if (command_buffer_clear(buffer, "vkResetCommandPool") != VK_SUCCESS)
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return VK_SUCCESS;
}

static void icd_TrimCommandPool(VkDevice device, VkCommandPool pool, VkCommandPoolTrimFlags flags)
{
}

static VkResult icd_AllocateCommandBuffers(VkDevice device_,
                                           const VkCommandBufferAllocateInfo *pAllocateInfo,
                                           VkCommandBuffer *pCommandBuffers)
{
    struct icd_device *device = ICD_DEV(device_);
    struct icd_command_pool *pool =
        ICD_FROM(icd_command_pool, ICD_KIND_COMMAND_POOL, pAllocateInfo->commandPool);
    uint32_t n = pAllocateInfo->commandBufferCount, made = 0;
    VkResult result = icd_fault(device, __func__);
    if (result != VK_SUCCESS)
        goto fail;
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    for (; made < n; made++) {
        struct icd_command_buffer *buffer =
            icd_object_new(device, ICD_KIND_COMMAND_BUFFER, sizeof(*buffer));
        if (!buffer)
            goto fail;
        buffer->recording = recording_new();
        if (!buffer->recording) {
            icd_object_free(buffer);
            goto fail;
        }
        buffer->pool = pool;
        buffer->family = pool->family;
        buffer->is_protected = pool->is_protected;
        buffer->primary = pAllocateInfo->level == VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        buffer->next = pool->buffers;
        buffer->link = &pool->buffers;
        if (buffer->next)
            buffer->next->link = &buffer->next;
        pool->buffers = buffer;
        pCommandBuffers[made] = (VkCommandBuffer)buffer;
    }
    return VK_SUCCESS;

fail:
    for (uint32_t i = 0; i < made; i++)
        command_buffer_free(COMMANDS(pCommandBuffers[i]));
    memset(pCommandBuffers, 0, n * sizeof(*pCommandBuffers));
    return result;
}

static void icd_FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer *pCommandBuffers)
{
    for (uint32_t i = 0; i < count; i++)
        if (pCommandBuffers[i])
            command_buffer_free(COMMANDS(pCommandBuffers[i]));
}

static VkResult icd_BeginCommandBuffer(VkCommandBuffer commandBuffer,
                                       const VkCommandBufferBeginInfo *pBeginInfo)
{
    struct icd_command_buffer *buffer = COMMANDS(commandBuffer);
    ICD_FAULT(buffer->object.device);
    VkResult result = command_buffer_clear(buffer, "vkBeginCommandBuffer");
    if (result != VK_SUCCESS)
        return result;
    buffer->recording->usage = pBeginInfo->flags;
    buffer->recording->family = buffer->family;
    buffer->recording->state = ICD_RECORDING_RECORDING;
    memset(buffer->bound, 0, sizeof(buffer->bound));
    memset(buffer->used, 0, sizeof(buffer->used));
    buffer->last_set = VK_NULL_HANDLE;
    return VK_SUCCESS;
}

static VkResult icd_EndCommandBuffer(VkCommandBuffer commandBuffer)
{
    struct icd_command_buffer *buffer = COMMANDS(commandBuffer);
    struct icd_recording *recording = buffer->recording;
    if (recording->state != ICD_RECORDING_RECORDING)
        icd_violation(BELFRY_ICD_COMMAND_BUFFER_STATE,
                      "vkEndCommandBuffer on a command buffer that isn't recording");
    VkResult result = icd_fault(buffer->object.device, __func__);
    if (result == VK_SUCCESS && recording->failed)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS) {
        recording->state = ICD_RECORDING_INVALID;
        return result;
    }
    recording->state = ICD_RECORDING_EXECUTABLE;
    return VK_SUCCESS;
}

static VkResult icd_ResetCommandBuffer(VkCommandBuffer commandBuffer,
                                       VkCommandBufferResetFlags flags)
{
    VkResult result = command_buffer_clear(COMMANDS(commandBuffer), "vkResetCommandBuffer");
    return result == VK_SUCCESS ? result : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Commands ---------------------------------------------------------------------------------- */

static void fill_append(VkCommandBuffer commandBuffer, struct icd_buffer *buffer,
                        VkDeviceSize offset, VkDeviceSize size, uint32_t word)
{
    struct fill_command *c = icd_command_append(commandBuffer, ICD_OP_FILL, sizeof(*c));
    if (!c)
        return;
    c->buffer = buffer;
    c->offset = offset;
    c->size = size;
    c->word = word;
}

void icd_tell_append(VkCommandBuffer commandBuffer)
{
    struct icd_command_buffer *commands = COMMANDS(commandBuffer);
    VkDeviceSize offset = 0;
    struct icd_buffer *buffer = NULL;
    if (commands->object.device->config->tells && commands->last_set)
        buffer = icd_descriptor_buffer(commands->last_set, &offset);
    if (!buffer || offset + 16 > buffer->size)
        return;
    fill_append(commandBuffer, buffer, offset + 4, 4, 1);
    if (commands->object.device->config->tells != 3)
        fill_append(commandBuffer, buffer, offset + 12, 4, 65536);
    if (commands->object.device->config->tells == 2)
        fill_append(commandBuffer, buffer, offset, 4, 1);
}

static void icd_CmdFillBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer,
                              VkDeviceSize dstOffset, VkDeviceSize size, uint32_t data)
{
    struct icd_buffer *buffer = BUFFER(dstBuffer);
    ICD_NEEDS(ICD_TRANSFER);
    if (size == VK_WHOLE_SIZE && dstOffset <= buffer->size)
        size = (buffer->size - dstOffset) & ~UINT64_C(3);
    if (!icd_range_seen(commandBuffer, buffer, VK_BUFFER_USAGE_TRANSFER_DST_BIT, dstOffset, size, 4,
                        "vkCmdFillBuffer"))
        return;
    fill_append(commandBuffer, buffer, dstOffset, size, data);
}

static void icd_CmdUpdateBuffer(VkCommandBuffer commandBuffer, VkBuffer dstBuffer,
                                VkDeviceSize dstOffset, VkDeviceSize dataSize, const void *pData)
{
    struct icd_buffer *buffer = BUFFER(dstBuffer);
    ICD_NEEDS(ICD_TRANSFER);
    if (dataSize > MAX_UPDATE) {
        icd_violation(BELFRY_ICD_OUT_OF_RANGE, "vkCmdUpdateBuffer with %llu bytes, more than %u",
                      (unsigned long long)dataSize, MAX_UPDATE);
        return;
    }
    if (!icd_range_seen(commandBuffer, buffer, VK_BUFFER_USAGE_TRANSFER_DST_BIT, dstOffset,
                        dataSize, 4, "vkCmdUpdateBuffer"))
        return;
    struct update_command *c =
        icd_command_append(commandBuffer, ICD_OP_UPDATE, sizeof(*c) + dataSize);
    if (!c)
        return;
    c->buffer = buffer;
    c->offset = dstOffset;
    c->size = dataSize;
    memcpy(c->data, pData, dataSize);
}

static void copy_append(VkCommandBuffer commandBuffer, VkBuffer from_, VkBuffer to_,
                        VkDeviceSize from_offset, VkDeviceSize to_offset, VkDeviceSize size,
                        const char *call)
{
    struct icd_buffer *from = BUFFER(from_);
    struct icd_buffer *to = BUFFER(to_);
    if (!icd_range_seen(commandBuffer, from, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, from_offset, size, 1,
                        call) ||
        !icd_range_seen(commandBuffer, to, VK_BUFFER_USAGE_TRANSFER_DST_BIT, to_offset, size, 1,
                        call))
        return;
    VkDeviceSize distance =
        from_offset < to_offset ? to_offset - from_offset : from_offset - to_offset;
    if (from == to && distance < size) {
        icd_violation(BELFRY_ICD_OUT_OF_RANGE,
                      "%s copies %llu bytes from %llu to %llu of one buffer: they overlap", call,
                      (unsigned long long)size, (unsigned long long)from_offset,
                      (unsigned long long)to_offset);
        return;
    }
    struct copy_command *c = icd_command_append(commandBuffer, ICD_OP_COPY, sizeof(*c));
    if (!c)
        return;
    c->from = from;
    c->to = to;
    c->from_offset = from_offset;
    c->to_offset = to_offset;
    c->size = size;
}

static void icd_CmdCopyBuffer(VkCommandBuffer commandBuffer, VkBuffer srcBuffer, VkBuffer dstBuffer,
                              uint32_t regionCount, const VkBufferCopy *pRegions)
{
    ICD_NEEDS(ICD_TRANSFER);
    for (uint32_t i = 0; i < regionCount; i++)
        copy_append(commandBuffer, srcBuffer, dstBuffer, pRegions[i].srcOffset,
                    pRegions[i].dstOffset, pRegions[i].size, "vkCmdCopyBuffer");
}

static void icd_CmdCopyBuffer2(VkCommandBuffer commandBuffer, const VkCopyBufferInfo2 *pInfo)
{
    ICD_NEEDS(ICD_TRANSFER);
    for (uint32_t i = 0; i < pInfo->regionCount; i++)
        copy_append(commandBuffer, pInfo->srcBuffer, pInfo->dstBuffer, pInfo->pRegions[i].srcOffset,
                    pInfo->pRegions[i].dstOffset, pInfo->pRegions[i].size, "vkCmdCopyBuffer2");
}

/* A queue's packets run one after the other and each memory access is done when its command is:
 * but with BELFRY_ICD_ORDER, a barrier has nothing left to do but to be looked at, to let late
 * writes reach the host, and to wait for dispatches, whatever its stages are. */
static void barrier_append(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 first,
                           VkPipelineStageFlags2 second, VkAccessFlags2 access)
{
    bool host = (second & VK_PIPELINE_STAGE_2_HOST_BIT) &&
                (access & (VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT));
    if (COMMANDS(commandBuffer)->object.device->config->worst_order)
        icd_order_barrier(commandBuffer, first, second, host);
    else if (host)
        icd_command_append(commandBuffer, ICD_OP_HOST_BARRIER, sizeof(struct icd_command));
}

static void barriers_see(VkCommandBuffer commandBuffer, const char *call, uint32_t n_buffers,
                         const VkBufferMemoryBarrier *buffers, uint32_t n_images,
                         const VkImageMemoryBarrier *images)
{
    struct icd_device *device = COMMANDS(commandBuffer)->object.device;
    for (uint32_t i = 0; i < n_buffers; i++) {
        icd_family_seen(device, buffers[i].srcQueueFamilyIndex, call);
        icd_family_seen(device, buffers[i].dstQueueFamilyIndex, call);
    }
    for (uint32_t i = 0; i < n_images; i++) {
        icd_family_seen(device, images[i].srcQueueFamilyIndex, call);
        icd_family_seen(device, images[i].dstQueueFamilyIndex, call);
    }
}

static void dependency_see(VkCommandBuffer commandBuffer, const char *call,
                           const VkDependencyInfo *info)
{
    struct icd_device *device = COMMANDS(commandBuffer)->object.device;
    for (uint32_t i = 0; i < info->memoryBarrierCount; i++) {
        const VkMemoryBarrier2 *memory = &info->pMemoryBarriers[i];
        icd_stages_seen(commandBuffer, memory->srcStageMask | memory->dstStageMask, call);
        barrier_append(commandBuffer, memory->srcStageMask, memory->dstStageMask,
                       memory->dstAccessMask);
    }
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount; i++) {
        icd_stages_seen(commandBuffer,
                        info->pBufferMemoryBarriers[i].srcStageMask |
                            info->pBufferMemoryBarriers[i].dstStageMask,
                        call);
        barrier_append(commandBuffer, info->pBufferMemoryBarriers[i].srcStageMask,
                       info->pBufferMemoryBarriers[i].dstStageMask, 0);
        icd_family_seen(device, info->pBufferMemoryBarriers[i].srcQueueFamilyIndex, call);
        icd_family_seen(device, info->pBufferMemoryBarriers[i].dstQueueFamilyIndex, call);
    }
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; i++) {
        icd_stages_seen(commandBuffer,
                        info->pImageMemoryBarriers[i].srcStageMask |
                            info->pImageMemoryBarriers[i].dstStageMask,
                        call);
        barrier_append(commandBuffer, info->pImageMemoryBarriers[i].srcStageMask,
                       info->pImageMemoryBarriers[i].dstStageMask, 0);
        icd_family_seen(device, info->pImageMemoryBarriers[i].srcQueueFamilyIndex, call);
        icd_family_seen(device, info->pImageMemoryBarriers[i].dstQueueFamilyIndex, call);
    }
}

/* What events run on. */
#define EVENTS (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | ICD_VIDEO)

static void event_append(VkCommandBuffer commandBuffer, VkEvent event, enum icd_op_code code)
{
    struct event_command *c = icd_command_append(commandBuffer, code, sizeof(*c));
    if (c)
        c->event = EVENT(event);
}

static void icd_CmdSetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                            VkPipelineStageFlags stageMask)
{
    ICD_NEEDS(EVENTS);
    event_append(commandBuffer, event, ICD_OP_SET_EVENT);
}

static void icd_CmdResetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                              VkPipelineStageFlags stageMask)
{
    ICD_NEEDS(EVENTS);
    event_append(commandBuffer, event, ICD_OP_RESET_EVENT);
}

static void icd_CmdWaitEvents(VkCommandBuffer commandBuffer, uint32_t eventCount,
                              const VkEvent *pEvents, VkPipelineStageFlags srcStageMask,
                              VkPipelineStageFlags dstStageMask, uint32_t memoryBarrierCount,
                              const VkMemoryBarrier *pMemoryBarriers,
                              uint32_t bufferMemoryBarrierCount,
                              const VkBufferMemoryBarrier *pBufferMemoryBarriers,
                              uint32_t imageMemoryBarrierCount,
                              const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    ICD_NEEDS(EVENTS);
    icd_stages_seen(commandBuffer, srcStageMask | dstStageMask, "vkCmdWaitEvents");
    barriers_see(commandBuffer, "vkCmdWaitEvents", bufferMemoryBarrierCount, pBufferMemoryBarriers,
                 imageMemoryBarrierCount, pImageMemoryBarriers);
    for (uint32_t i = 0; i < eventCount; i++)
        event_append(commandBuffer, pEvents[i], ICD_OP_WAIT_EVENT);
}

static void icd_CmdSetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                             const VkDependencyInfo *pDependencyInfo)
{
    ICD_NEEDS(EVENTS);
    dependency_see(commandBuffer, "vkCmdSetEvent2", pDependencyInfo);
    event_append(commandBuffer, event, ICD_OP_SET_EVENT);
}

static void icd_CmdResetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                               VkPipelineStageFlags2 stageMask)
{
    ICD_NEEDS(EVENTS);
    event_append(commandBuffer, event, ICD_OP_RESET_EVENT);
}

static void icd_CmdWaitEvents2(VkCommandBuffer commandBuffer, uint32_t eventCount,
                               const VkEvent *pEvents, const VkDependencyInfo *pDependencyInfos)
{
    ICD_NEEDS(EVENTS);
    for (uint32_t i = 0; i < eventCount; i++) {
        dependency_see(commandBuffer, "vkCmdWaitEvents2", &pDependencyInfos[i]);
        event_append(commandBuffer, pEvents[i], ICD_OP_WAIT_EVENT);
    }
}

static void icd_CmdExecuteCommands(VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
                                   const VkCommandBuffer *pCommandBuffers)
{
    for (uint32_t i = 0; i < commandBufferCount; i++) {
        struct icd_recording *recording = COMMANDS(pCommandBuffers[i])->recording;
        if (COMMANDS(pCommandBuffers[i])->family != COMMANDS(commandBuffer)->family)
            icd_violation(BELFRY_ICD_POOL_FAMILY,
                          "vkCmdExecuteCommands on a command buffer of family %u gets one of "
                          "family %u",
                          COMMANDS(commandBuffer)->family, COMMANDS(pCommandBuffers[i])->family);
        struct execute_command *c = icd_command_append(commandBuffer, ICD_OP_EXECUTE, sizeof(*c));
        if (!c)
            return;
        recording->refs++;
        c->recording = recording;
    }
}

static void icd_CmdPipelineBarrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
                                   VkPipelineStageFlags dstStageMask,
                                   VkDependencyFlags dependencyFlags, uint32_t memoryBarrierCount,
                                   const VkMemoryBarrier *pMemoryBarriers,
                                   uint32_t bufferMemoryBarrierCount,
                                   const VkBufferMemoryBarrier *pBufferMemoryBarriers,
                                   uint32_t imageMemoryBarrierCount,
                                   const VkImageMemoryBarrier *pImageMemoryBarriers)
{
    ICD_NEEDS(ICD_TRANSFER | ICD_VIDEO);
    icd_work_append(commandBuffer, ICD_OP_DRAIN);
    icd_stages_seen(commandBuffer, srcStageMask | dstStageMask, "vkCmdPipelineBarrier");
    barriers_see(commandBuffer, "vkCmdPipelineBarrier", bufferMemoryBarrierCount,
                 pBufferMemoryBarriers, imageMemoryBarrierCount, pImageMemoryBarriers);
    for (uint32_t i = 0; i < memoryBarrierCount; i++)
        barrier_append(commandBuffer, srcStageMask, dstStageMask, pMemoryBarriers[i].dstAccessMask);
    if (!memoryBarrierCount)
        barrier_append(commandBuffer, srcStageMask, dstStageMask, 0);
}

static void icd_CmdPipelineBarrier2(VkCommandBuffer commandBuffer,
                                    const VkDependencyInfo *pDependencyInfo)
{
    ICD_NEEDS(ICD_TRANSFER | ICD_VIDEO);
    icd_work_append(commandBuffer, ICD_OP_DRAIN);
    dependency_see(commandBuffer, "vkCmdPipelineBarrier2", pDependencyInfo);
}

const struct icd_entry icd_command_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CreateCommandPool),
    ICD_CORE(ICD_DEVICE, 0, DestroyCommandPool),
    ICD_CORE(ICD_DEVICE, 0, ResetCommandPool),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_MAINTENANCE_1, TrimCommandPool),
    ICD_CORE(ICD_DEVICE, 0, AllocateCommandBuffers),
    ICD_CORE(ICD_DEVICE, 0, FreeCommandBuffers),
    ICD_CORE(ICD_DEVICE, 0, BeginCommandBuffer),
    ICD_CORE(ICD_DEVICE, 0, EndCommandBuffer),
    ICD_CORE(ICD_DEVICE, 0, ResetCommandBuffer),
    ICD_CORE(ICD_DEVICE, 0, CmdFillBuffer),
    ICD_CORE(ICD_DEVICE, 0, CmdUpdateBuffer),
    ICD_CORE(ICD_DEVICE, 0, CmdCopyBuffer),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_COPY_COMMANDS_2, CmdCopyBuffer2),
    ICD_CORE(ICD_DEVICE, 0, CmdSetEvent),
    ICD_CORE(ICD_DEVICE, 0, CmdResetEvent),
    ICD_CORE(ICD_DEVICE, 0, CmdWaitEvents),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, CmdSetEvent2),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, CmdResetEvent2),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, CmdWaitEvents2),
    ICD_CORE(ICD_DEVICE, 0, CmdExecuteCommands),
    ICD_CORE(ICD_DEVICE, 0, CmdPipelineBarrier),
    ICD_BOTH(ICD_DEVICE, 3, ICD_KHR_SYNCHRONIZATION_2, CmdPipelineBarrier2),
    ICD_END};
