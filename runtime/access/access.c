/* SPDX-License-Identifier: MIT */
/* The functions of access.h: each takes the lock and calls the model. */
#include "access/access.h"

#include <stdlib.h>
#include <string.h>

#include "access/model.h"

/* Of NULL, NULL: the check is off. */
static struct bf_access *of_queue(const struct bf_access_queue *queue)
{
    return queue ? queue->access : NULL;
}

static struct bf_access *of_fence(const struct bf_access_fence *fence)
{
    return fence ? fence->access : NULL;
}

struct bf_access_queue *bf_access_queue_add(struct bf_access *access, const char *name,
                                            enum bf_access_class type_class)
{
    if (!bf_access_enter(access))
        return NULL;
    struct bf_access_queue *queue = bf_model_queue_add(access, name, type_class);
    bf_access_leave(access);
    return queue;
}

void bf_access_queue_remove(struct bf_access_queue *queue)
{
    struct bf_access *access = of_queue(queue);
    if (!bf_access_enter(access))
        return;
    bf_model_queue_remove(queue);
    bf_access_leave(access);
}

void bf_access_queue_name(struct bf_access_queue *queue, const char *name)
{
    if (!bf_access_enter(of_queue(queue)))
        return;
    strncpy(queue->name, name, sizeof(queue->name) - 1);
    bf_access_leave(queue->access);
}

void bf_access_queue_execute(struct bf_access_queue *queue, uint32_t count,
                             const VkCommandBuffer *command_buffers)
{
    if (!bf_access_enter(of_queue(queue)))
        return;
    bf_model_queue_execute_buffers(queue, count, command_buffers);
    bf_access_leave(queue->access);
}

void bf_access_queue_signal(struct bf_access_queue *queue, struct bf_access_fence *fence,
                            uint64_t value)
{
    if (!fence || !bf_access_enter(of_queue(queue)))
        return;
    struct bf_access *access = queue->access;
    bool idle = bf_model_queue_is_idle(queue);
    bf_model_queue_signal(queue, fence, value);
    if (idle)
        bf_model_cpu_learn(access,
                           bf_clock_advance(&access->clocks, NULL, queue->id, queue->packet));
    bf_access_leave(access);
}

void bf_access_queue_wait(struct bf_access_queue *queue, struct bf_access_fence *fence,
                          uint64_t value)
{
    if (!fence || !bf_access_enter(of_queue(queue)))
        return;
    bf_model_queue_wait(queue, fence, value);
    bf_access_leave(queue->access);
}

void bf_access_queue_begin(struct bf_access_queue *queue)
{
    if (!bf_access_enter(of_queue(queue)))
        return;
    bf_model_queue_begin(queue);
    bf_access_leave(queue->access);
}

void bf_access_queue_end(struct bf_access_queue *queue)
{
    if (!bf_access_enter(of_queue(queue)))
        return;
    bf_model_queue_end(queue);
    bf_access_leave(queue->access);
}

VkResult bf_access_queue_uses(struct bf_access_queue *queue, uint32_t count,
                              const BfResourceUse *uses)
{
    struct bf_access *access = of_queue(queue);
    if (!count || !access || atomic_load(&access->off))
        return VK_SUCCESS;
    struct bf_access_block *block = bf_access_block_from_uses(access, count, uses);
    if (!block)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = VK_SUCCESS;
    if (!bf_access_enter(access)) {
        bf_access_block_release(block);
        return VK_SUCCESS;
    }
    if (queue->hint_count == queue->hint_room) {
        uint32_t room = queue->hint_room ? 2 * queue->hint_room : 4;
        struct bf_access_block **grown = realloc(queue->hints, room * sizeof(*grown));
        if (grown) {
            queue->hints = grown;
            queue->hint_room = room;
        }
    }
    if (queue->hint_count < queue->hint_room) {
        queue->hints[queue->hint_count++] = block;
    } else {
        bf_access_block_release(block);
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    bf_access_leave(access);
    return result;
}

void bf_access_queue_idle(struct bf_access_queue *queue)
{
    struct bf_access *access = of_queue(queue);
    if (!bf_access_enter(access))
        return;
    bf_model_queue_idle(queue);
    bf_access_leave(access);
}

void bf_access_idle(struct bf_access *access)
{
    if (!bf_access_enter(access))
        return;
    bf_model_idle(access);
    bf_access_leave(access);
}

void bf_access_ran(struct bf_access *access)
{
    if (!bf_access_enter(access))
        return;
    bf_model_ran(access);
    bf_access_leave(access);
}

struct bf_access_fence *bf_access_fence_add(struct bf_access *access, uint64_t value)
{
    if (!bf_access_enter(access))
        return NULL;
    struct bf_access_fence *fence = bf_model_fence_add(access, value);
    bf_access_leave(access);
    return fence;
}

void bf_access_fence_remove(struct bf_access_fence *fence)
{
    struct bf_access *access = of_fence(fence);
    if (!bf_access_enter(access))
        return;
    bf_model_fence_remove(fence);
    bf_access_leave(access);
}

void bf_access_fence_reference(struct bf_access_fence *fence)
{
    if (!bf_access_enter(of_fence(fence)))
        return;
    bf_model_fence_reference(fence);
    bf_access_leave(fence->access);
}

void bf_access_fence_release(struct bf_access_fence *fence)
{
    struct bf_access *access = of_fence(fence);
    if (!bf_access_enter(access))
        return;
    bf_model_fence_release(fence);
    bf_access_leave(access);
}

void bf_access_fence_external(struct bf_access_fence *fence)
{
    if (!bf_access_enter(of_fence(fence)))
        return;
    bf_model_fence_external(fence);
    bf_access_leave(fence->access);
}

void bf_access_fence_mapped(struct bf_access_fence *fence)
{
    if (!bf_access_enter(of_fence(fence)))
        return;
    bf_model_fence_mapped(fence);
    bf_access_leave(fence->access);
}

void bf_access_fence_signal(struct bf_access_fence *fence, uint64_t value)
{
    if (!bf_access_enter(of_fence(fence)))
        return;
    bf_model_fence_signal(fence, value);
    bf_access_leave(fence->access);
}

static void fence_see(struct bf_access_fence *fence, uint64_t value, enum bf_access_match match)
{
    if (!bf_access_enter(of_fence(fence)))
        return;
    struct bf_access *access = fence->access;
    bf_model_fence_see(fence, value, match);
    bf_access_leave(access);
}

void bf_access_fence_reached(struct bf_access_fence *fence, uint64_t value)
{
    fence_see(fence, value, BF_ACCESS_AT_LEAST);
}

void bf_access_fence_read(struct bf_access_fence *fence, uint64_t value)
{
    fence_see(fence, value, BF_ACCESS_EXACTLY);
}
