/* SPDX-License-Identifier: MIT */
/* bfQueueUses: the program declares which resources the queue is going to use. */
#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "queue/command_queue.h"
#include "scheduler/observer.h"
#include "scheduler/scheduler.h"

static bool resource_use_check(uint32_t i, const BfResourceUse *use)
{
    if (!use->buffer == !use->image) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueUses: pUses[%u]: %s of buffer and image is set", i,
                   use->buffer ? "each" : "none");
        return false;
    }
    if (use->buffer && use->size == 0) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueUses: pUses[%u].size is 0", i);
        return false;
    }
    if ((int)use->state < BF_RESOURCE_STATE_UNKNOWN || use->state > BF_RESOURCE_STATE_OTHER) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueUses: pUses[%u].state is none: %d", i,
                   (int)use->state);
        return false;
    }
    return true;
}

/* Are the bytes the buffer's? */
static bool resource_use_check_bytes(struct bf_observer *observer, uint32_t i,
                                     const BfResourceUse *use)
{
    const VkDeviceSize all = observer->calls->buffer_size(observer, use->buffer);
    if (all == VK_WHOLE_SIZE ||
        (use->offset < all && (use->size == VK_WHOLE_SIZE || use->size <= all - use->offset)))
        return true;
    bf_message(BF_MESSAGE_ERROR,
               "bfQueueUses: pUses[%u]: offset %llu, size %llu, of a buffer of %llu bytes", i,
               (unsigned long long)use->offset, (unsigned long long)use->size,
               (unsigned long long)all);
    return false;
}

/* The layer sees every buffer and image created; on attached devices nobody does. */
static bool resource_use_find(struct bf_scheduler *scheduler, uint32_t i, BfResourceUse *use)
{
    if (scheduler->gpu.attached)
        return true;
    struct bf_observer *observer = scheduler->observer;
    bool image = use->image != VK_NULL_HANDLE, known;
    uint64_t named = image ? (uint64_t)use->image : (uint64_t)use->buffer;
    if (image) {
        use->image = bf_upper_layers_image(&scheduler->gpu, use->image);
        known = observer->calls->knows_image(observer, use->image);
    } else {
        use->buffer = bf_upper_layers_buffer(&scheduler->gpu, use->buffer);
        known = observer->calls->knows_buffer(observer, use->buffer);
    }
    if (known && !image)
        return resource_use_check_bytes(observer, i, use);
    if (known || observer->calls->has_stopped(observer))
        return true;
    VkObjectType type = image ? VK_OBJECT_TYPE_IMAGE : VK_OBJECT_TYPE_BUFFER;
    bf_message(BF_MESSAGE_ERROR, "bfQueueUses: pUses[%u]: %s 0x%llx is none of this device's%s", i,
               image ? "image" : "buffer", (unsigned long long)named,
               bf_upper_layers_excuse(&scheduler->gpu, type));
    return false;
}

VkResult bfQueueUses(BfCommandQueue handle, uint32_t count, const BfResourceUse *uses)
{
    if (!bf_handle_check(handle, BF_HANDLE_QUEUE, __func__, "queue"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (count && !uses) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueUses: pUses is NULL, count is %u", count);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!resource_use_check(i, &uses[i]))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_command_queue *queue = (struct bf_command_queue *)handle;
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (!count || !queue->observed || scheduler->observer->calls->has_stopped(scheduler->observer))
        return VK_SUCCESS;
    BfResourceUse *found = malloc(count * sizeof(*found));
    if (!found)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        found[i] = uses[i];
        if (!resource_use_find(scheduler, i, &found[i]))
            result = VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (result == VK_SUCCESS)
        result = queue->observed->calls->queue_uses(queue->observed, count, found);
    free(found);
    return result;
}
