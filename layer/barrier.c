/*
 * Barriers, with their queue family ownership transfers.
 *
 * B-1  A transfer between two families that are one real family is none below: both halves lose
 *      their families. The layout change that both of them name happens once, in the acquiring
 * half; the releasing half keeps its memory dependency as a global memory barrier. (A barrier with
 * equal layouts would not do: its image may be in a layout that no barrier may name as new, and
 * equal families switch synchronization2's "layouts are ignored" rule on.)
 *
 * Which half it is follows from the family of the command buffer's pool. Proven by
 * tests/layer/ownership.c.
 */
#include "layer.h"

#include <stdlib.h>

#include "os/log.h"

/* Barriers of one command that need no allocation. */
#define STACK_BARRIERS 16

static bool is_transfer(const struct bf_family_map *map, uint32_t src, uint32_t dst)
{
    return src != dst && bf_family_same_real(map, src, dst);
}

/* Does the pair mean anything else below? */
static bool pair_changes(const struct bf_family_map *map, uint32_t src, uint32_t dst)
{
    return bf_family_real(map, src) != src || bf_family_real(map, dst) != dst ||
           is_transfer(map, src, dst);
}

static bool is_release(struct layer_device *d, VkCommandBuffer buffer, uint32_t src)
{
    void *family = bf_map_find(&d->command_buffers, (uint64_t)(uintptr_t)buffer);
    return family && (uint32_t)(uintptr_t)family - 1 == src;
}

static void translate_pair(const struct bf_family_map *map, uint32_t *src, uint32_t *dst)
{
    if (is_transfer(map, *src, *dst)) {
        *src = *dst = VK_QUEUE_FAMILY_IGNORED;
    } else {
        *src = bf_family_real(map, *src);
        *dst = bf_family_real(map, *dst);
    }
}

/* The two generations of barriers differ in their structs' names and in how a memory barrier is
 * made of an image barrier. */
#define DEFINE_BARRIERS(suffix, MemoryBarrier, BufferBarrier, ImageBarrier, memory_of_image)       \
    struct barriers##suffix {                                                                      \
        uint32_t memory_count, buffer_count, image_count;                                          \
        const MemoryBarrier *memory;                                                               \
        const BufferBarrier *buffers;                                                              \
        const ImageBarrier *images;                                                                \
    };                                                                                             \
                                                                                                   \
    /* Room for a translated copy. */                                                              \
    struct room##suffix {                                                                          \
        MemoryBarrier memory[2 * STACK_BARRIERS];                                                  \
        BufferBarrier buffers[STACK_BARRIERS];                                                     \
        ImageBarrier images[STACK_BARRIERS];                                                       \
        void *heap;                                                                                \
    };                                                                                             \
                                                                                                   \
    static bool barriers_change##suffix(const struct bf_family_map *map,                           \
                                        const struct barriers##suffix *b)                          \
    {                                                                                              \
        for (uint32_t i = 0; i < b->buffer_count; i++) {                                           \
            if (pair_changes(map, b->buffers[i].srcQueueFamilyIndex,                               \
                             b->buffers[i].dstQueueFamilyIndex))                                   \
                return true;                                                                       \
        }                                                                                          \
        for (uint32_t i = 0; i < b->image_count; i++) {                                            \
            if (pair_changes(map, b->images[i].srcQueueFamilyIndex,                                \
                             b->images[i].dstQueueFamilyIndex))                                    \
                return true;                                                                       \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
                                                                                                   \
    /* Replaces 'b' by a translated copy. False: out of memory, 'b' is as it was. */               \
    static bool translate##suffix(struct layer_device *d, VkCommandBuffer command_buffer,          \
                                  struct barriers##suffix *b, struct room##suffix *room)           \
    {                                                                                              \
        const struct bf_family_map *map = &d->physical->map;                                       \
        MemoryBarrier *memory = room->memory;                                                      \
        BufferBarrier *buffers = room->buffers;                                                    \
        ImageBarrier *images = room->images;                                                       \
        uint32_t memory_room = b->memory_count + b->image_count;                                   \
        room->heap = NULL;                                                                         \
        if (memory_room > 2 * STACK_BARRIERS || b->buffer_count > STACK_BARRIERS ||                \
            b->image_count > STACK_BARRIERS) {                                                     \
            room->heap =                                                                           \
                malloc(memory_room * sizeof(*memory) + b->buffer_count * sizeof(*buffers) +        \
                       b->image_count * sizeof(*images));                                          \
            if (!room->heap)                                                                       \
                return false;                                                                      \
            memory = room->heap;                                                                   \
            buffers = (BufferBarrier *)(memory + memory_room);                                     \
            images = (ImageBarrier *)(buffers + b->buffer_count);                                  \
        }                                                                                          \
        uint32_t memory_count = b->memory_count, image_count = 0;                                  \
        for (uint32_t i = 0; i < b->memory_count; i++)                                             \
            memory[i] = b->memory[i];                                                              \
        for (uint32_t i = 0; i < b->buffer_count; i++) {                                           \
            buffers[i] = b->buffers[i];                                                            \
            translate_pair(map, &buffers[i].srcQueueFamilyIndex, &buffers[i].dstQueueFamilyIndex); \
        }                                                                                          \
        for (uint32_t i = 0; i < b->image_count; i++) {                                            \
            const ImageBarrier *image = &b->images[i];                                             \
            uint32_t src = image->srcQueueFamilyIndex, dst = image->dstQueueFamilyIndex;           \
            if (is_transfer(map, src, dst) && is_release(d, command_buffer, src)) {                \
                memory[memory_count++] = memory_of_image(image);                                   \
                continue;                                                                          \
            }                                                                                      \
            images[image_count] = *image;                                                          \
            translate_pair(map, &images[image_count].srcQueueFamilyIndex,                          \
                           &images[image_count].dstQueueFamilyIndex);                              \
            image_count++;                                                                         \
        }                                                                                          \
        *b = (struct barriers##suffix){memory_count, b->buffer_count, image_count,                 \
                                       memory,       buffers,         images};                     \
        return true;                                                                               \
    }

static VkMemoryBarrier memory_of_image1(const VkImageMemoryBarrier *image)
{
    return (VkMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = image->srcAccessMask,
        .dstAccessMask = image->dstAccessMask,
    };
}

static VkMemoryBarrier2 memory_of_image2(const VkImageMemoryBarrier2 *image)
{
    return (VkMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = image->srcStageMask,
        .srcAccessMask = image->srcAccessMask,
        .dstStageMask = image->dstStageMask,
        .dstAccessMask = image->dstAccessMask,
    };
}

DEFINE_BARRIERS(1, VkMemoryBarrier, VkBufferMemoryBarrier, VkImageMemoryBarrier, memory_of_image1)
DEFINE_BARRIERS(2, VkMemoryBarrier2, VkBufferMemoryBarrier2, VkImageMemoryBarrier2,
                memory_of_image2)

static void say_out_of_memory(const char *command)
{
    bf_log(BF_LOG_ERROR, "%s: out of memory: its barriers are left out of the command buffer",
           command);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdPipelineBarrier(
    VkCommandBuffer command_buffer, VkPipelineStageFlags src, VkPipelineStageFlags dst,
    VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images)
{
    struct layer_device *d = layer_device_of(command_buffer);
    struct barriers1 b = {memory_count, buffer_count, image_count, memory, buffers, images};
    struct room1 room;
    room.heap = NULL;
    if (d->translates && barriers_change1(&d->physical->map, &b) &&
        !translate1(d, command_buffer, &b, &room)) {
        say_out_of_memory("vkCmdPipelineBarrier");
        return;
    }
    d->vk.vkCmdPipelineBarrier(command_buffer, src, dst, flags, b.memory_count, b.memory,
                               b.buffer_count, b.buffers, b.image_count, b.images);
    free(room.heap);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdWaitEvents(
    VkCommandBuffer command_buffer, uint32_t event_count, const VkEvent *events,
    VkPipelineStageFlags src, VkPipelineStageFlags dst, uint32_t memory_count,
    const VkMemoryBarrier *memory, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    struct layer_device *d = layer_device_of(command_buffer);
    struct barriers1 b = {memory_count, buffer_count, image_count, memory, buffers, images};
    struct room1 room;
    room.heap = NULL;
    if (d->translates && barriers_change1(&d->physical->map, &b) &&
        !translate1(d, command_buffer, &b, &room)) {
        say_out_of_memory("vkCmdWaitEvents");
        return;
    }
    d->vk.vkCmdWaitEvents(command_buffer, event_count, events, src, dst, b.memory_count, b.memory,
                          b.buffer_count, b.buffers, b.image_count, b.images);
    free(room.heap);
}

/* A dependency with its barriers translated, and the room that holds them. */
struct dependency {
    VkDependencyInfo info;
    struct room2 room;
};

static bool translate_dependency(struct layer_device *d, VkCommandBuffer command_buffer,
                                 const VkDependencyInfo *from, struct dependency *to)
{
    to->info = *from;
    to->room.heap = NULL;
    struct barriers2 b = {
        from->memoryBarrierCount, from->bufferMemoryBarrierCount, from->imageMemoryBarrierCount,
        from->pMemoryBarriers,    from->pBufferMemoryBarriers,    from->pImageMemoryBarriers,
    };
    if (!d->translates || !barriers_change2(&d->physical->map, &b))
        return true;
    if (!translate2(d, command_buffer, &b, &to->room))
        return false;
    to->info.memoryBarrierCount = b.memory_count;
    to->info.pMemoryBarriers = b.memory;
    to->info.pBufferMemoryBarriers = b.buffers;
    to->info.imageMemoryBarrierCount = b.image_count;
    to->info.pImageMemoryBarriers = b.images;
    return true;
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdPipelineBarrier2(VkCommandBuffer command_buffer,
                                                       const VkDependencyInfo *info)
{
    struct layer_device *d = layer_device_of(command_buffer);
    struct dependency dependency;
    if (!translate_dependency(d, command_buffer, info, &dependency)) {
        say_out_of_memory("vkCmdPipelineBarrier2");
        return;
    }
    PFN_vkCmdPipelineBarrier2 next =
        d->vk.vkCmdPipelineBarrier2 ? d->vk.vkCmdPipelineBarrier2 : d->vk.vkCmdPipelineBarrier2KHR;
    next(command_buffer, &dependency.info);
    free(dependency.room.heap);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdSetEvent2(VkCommandBuffer command_buffer, VkEvent event,
                                                const VkDependencyInfo *info)
{
    struct layer_device *d = layer_device_of(command_buffer);
    struct dependency dependency;
    if (!translate_dependency(d, command_buffer, info, &dependency)) {
        say_out_of_memory("vkCmdSetEvent2");
        return;
    }
    PFN_vkCmdSetEvent2 next = d->vk.vkCmdSetEvent2 ? d->vk.vkCmdSetEvent2 : d->vk.vkCmdSetEvent2KHR;
    next(command_buffer, event, &dependency.info);
    free(dependency.room.heap);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdWaitEvents2(VkCommandBuffer command_buffer, uint32_t count,
                                                  const VkEvent *events,
                                                  const VkDependencyInfo *infos)
{
    struct layer_device *d = layer_device_of(command_buffer);
    PFN_vkCmdWaitEvents2 next =
        d->vk.vkCmdWaitEvents2 ? d->vk.vkCmdWaitEvents2 : d->vk.vkCmdWaitEvents2KHR;
    if (!d->translates) {
        next(command_buffer, count, events, infos);
        return;
    }
    struct dependency *dependencies = calloc(count + 1, sizeof(*dependencies));
    VkDependencyInfo *copies = calloc(count + 1, sizeof(*copies));
    bool translated = dependencies && copies;
    for (uint32_t i = 0; translated && i < count; i++) {
        translated = translate_dependency(d, command_buffer, &infos[i], &dependencies[i]);
        copies[i] = dependencies[i].info;
    }
    if (translated)
        next(command_buffer, count, events, copies);
    else
        say_out_of_memory("vkCmdWaitEvents2");
    for (uint32_t i = 0; dependencies && i < count; i++)
        free(dependencies[i].room.heap);
    free(copies);
    free(dependencies);
}
