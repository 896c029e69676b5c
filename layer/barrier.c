/* SPDX-License-Identifier: MIT */
/*
 * Barriers and the queue family ownership transfers in them.
 *
 * B-1  A transfer between two shown families that are backed by the same real family is no transfer
 *      for the driver: in both halves, release and acquire, the families become
 *      VK_QUEUE_FAMILY_IGNORED. The layout change that both halves name must happen once; it
 *      happens in the release, whose first scope is the program's real one, and the acquire becomes
 *      a memory barrier. (An acquire with equal layouts would not do: equal layouts switch
 *      synchronization2's rule "layouts are ignored" on, and the layout may be one that a barrier
 *      may not name.) Vulkan ignores the second scope of a release and the first scope of an
 *      acquire, so programs may write anything there; Belfry clears those access masks, and widens
 *      the source stages of an acquire to ALL_COMMANDS, so that it comes after the semaphore wait
 *      before it.
 *
 * B-2  What there is no memory for is left out of a command buffer, and vkEndCommandBuffer says so:
 *      it returns VK_ERROR_OUT_OF_HOST_MEMORY, as Vulkan has it for commands that return nothing.
 *
 * B-3  A resource that is CONCURRENT among families of one real family is EXCLUSIVE for the driver.
 *      Where the program hands it to somebody outside, or takes it back, it names IGNORED beside
 *      EXTERNAL or FOREIGN, which is right for a CONCURRENT resource; the driver is told the real
 *      family instead (VUID-VkImageMemoryBarrier-image-04071 and 04072, and those of buffers).
 *
 * The family of the command buffer's pool tells whether a barrier is a release or an acquire.
 * Proven by tests/layer/ownership.c and barrier_memory.c.
 */
#include "layer/layer.h"

#include <stdlib.h>

#include "base/message.h"
#include "gpu/command_buffer.h"

/* The number of barriers of each kind that a command may have without an allocation being
 * needed. */
#define STACK_BARRIERS 16

static bool is_transfer(const struct bf_family_map *map, uint32_t src, uint32_t dst)
{
    return src != dst && bf_family_same_real(map, src, dst);
}

static bool is_outside(uint32_t family)
{
    return family == VK_QUEUE_FAMILY_EXTERNAL || family == VK_QUEUE_FAMILY_FOREIGN_EXT;
}

/* The real family that has to stand for IGNORED (B-3); IGNORED: there is nothing to do. */
static uint32_t owner_of(struct bf_map *narrowed, uint64_t handle, uint32_t src, uint32_t dst)
{
    if (!(src == VK_QUEUE_FAMILY_IGNORED && is_outside(dst)) &&
        !(dst == VK_QUEUE_FAMILY_IGNORED && is_outside(src)))
        return VK_QUEUE_FAMILY_IGNORED;
    return (uint32_t)(uintptr_t)bf_map_find(narrowed, handle) - 1; /* none: 0, and so IGNORED */
}

/* Do the real families differ from the program's pair, or is the transfer none for the driver? */
static bool pair_changes(const struct bf_family_map *map, uint32_t src, uint32_t dst)
{
    return bf_family_real(map, src) != src || bf_family_real(map, dst) != dst ||
           is_transfer(map, src, dst);
}

static bool is_release(struct layer_device *d, VkCommandBuffer buffer, uint32_t src)
{
    uint32_t family;
    VkCommandBufferLevel level;
    return d->runtime && bf_command_buffer_find(d->gpu, buffer, &family, &level) && family == src;
}

/* 'owner' is that of owner_of. */
static void translate_pair(const struct bf_family_map *map, uint32_t owner, uint32_t *src,
                           uint32_t *dst)
{
    if (owner != VK_QUEUE_FAMILY_IGNORED) {
        *(is_outside(*src) ? dst : src) = owner;
        return;
    }
    if (is_transfer(map, *src, *dst)) {
        *src = *dst = VK_QUEUE_FAMILY_IGNORED;
    } else {
        *src = bf_family_real(map, *src);
        *dst = bf_family_real(map, *dst);
    }
}

static VkMemoryBarrier memory_of_acquire1(const VkImageMemoryBarrier *image)
{
    return (VkMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .dstAccessMask = image->dstAccessMask,
    };
}

static VkMemoryBarrier2 memory_of_acquire2(const VkImageMemoryBarrier2 *image)
{
    return (VkMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstStageMask = image->dstStageMask,
        .dstAccessMask = image->dstAccessMask,
    };
}

/* VkBufferMemoryBarrier has no stages: vkCmdPipelineBarrier has them for all its barriers. */
static void widen_acquire1(VkBufferMemoryBarrier *buffer)
{
    buffer->srcAccessMask = 0;
}

static void widen_acquire2(VkBufferMemoryBarrier2 *buffer)
{
    buffer->srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    buffer->srcAccessMask = 0;
}

/* Barriers of Vulkan 1.0 and of synchronization2 differ in the names of their structs, and in where
 * their stages are. */
#define DEFINE_BARRIERS(suffix, MemoryBarrier, BufferBarrier, ImageBarrier)                        \
    struct barriers##suffix {                                                                      \
        uint32_t memory_count, buffer_count, image_count;                                          \
        const MemoryBarrier *memory;                                                               \
        const BufferBarrier *buffers;                                                              \
        const ImageBarrier *images;                                                                \
    };                                                                                             \
                                                                                                   \
    /* The memory for a translated copy. */                                                        \
    struct room##suffix {                                                                          \
        MemoryBarrier memory[2 * STACK_BARRIERS];                                                  \
        BufferBarrier buffers[STACK_BARRIERS];                                                     \
        ImageBarrier images[STACK_BARRIERS];                                                       \
        void *heap;                                                                                \
        bool acquires; /* at least one of the barriers was an acquire */                           \
    };                                                                                             \
                                                                                                   \
    static bool barriers_change##suffix(struct layer_device *d, const struct barriers##suffix *b)  \
    {                                                                                              \
        const struct bf_family_map *map = &d->physical->map;                                       \
        for (uint32_t i = 0; i < b->buffer_count; i++) {                                           \
            const BufferBarrier *buffer = &b->buffers[i];                                          \
            uint32_t src = buffer->srcQueueFamilyIndex, dst = buffer->dstQueueFamilyIndex;         \
            if (pair_changes(map, src, dst) ||                                                     \
                owner_of(&d->narrowed_buffers, (uint64_t)buffer->buffer, src, dst) !=              \
                    VK_QUEUE_FAMILY_IGNORED)                                                       \
                return true;                                                                       \
        }                                                                                          \
        for (uint32_t i = 0; i < b->image_count; i++) {                                            \
            const ImageBarrier *image = &b->images[i];                                             \
            uint32_t src = image->srcQueueFamilyIndex, dst = image->dstQueueFamilyIndex;           \
            if (pair_changes(map, src, dst) ||                                                     \
                owner_of(&d->narrowed_images, (uint64_t)image->image, src, dst) !=                 \
                    VK_QUEUE_FAMILY_IGNORED)                                                       \
                return true;                                                                       \
        }                                                                                          \
        return false;                                                                              \
    }                                                                                              \
                                                                                                   \
    /* Replaces 'b' with a translated copy. False: out of memory, and 'b' is unchanged. */         \
    static bool translate##suffix(struct layer_device *d, VkCommandBuffer command_buffer,          \
                                  struct barriers##suffix *b, struct room##suffix *room)           \
    {                                                                                              \
        const struct bf_family_map *map = &d->physical->map;                                       \
        MemoryBarrier *memory = room->memory;                                                      \
        BufferBarrier *buffers = room->buffers;                                                    \
        ImageBarrier *images = room->images;                                                       \
        uint32_t memory_room = b->memory_count + b->image_count;                                   \
        room->heap = NULL;                                                                         \
        room->acquires = false;                                                                    \
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
            const BufferBarrier *buffer = &b->buffers[i];                                          \
            uint32_t src = buffer->srcQueueFamilyIndex, dst = buffer->dstQueueFamilyIndex;         \
            buffers[i] = *buffer;                                                                  \
            if (is_transfer(map, src, dst) && is_release(d, command_buffer, src)) {                \
                buffers[i].dstAccessMask = 0;                                                      \
            } else if (is_transfer(map, src, dst)) {                                               \
                widen_acquire##suffix(&buffers[i]);                                                \
                room->acquires = true;                                                             \
            }                                                                                      \
            translate_pair(map,                                                                    \
                           owner_of(&d->narrowed_buffers, (uint64_t)buffer->buffer, src, dst),     \
                           &buffers[i].srcQueueFamilyIndex, &buffers[i].dstQueueFamilyIndex);      \
        }                                                                                          \
        for (uint32_t i = 0; i < b->image_count; i++) {                                            \
            const ImageBarrier *image = &b->images[i];                                             \
            uint32_t src = image->srcQueueFamilyIndex, dst = image->dstQueueFamilyIndex;           \
            if (is_transfer(map, src, dst) && !is_release(d, command_buffer, src)) {               \
                memory[memory_count++] = memory_of_acquire##suffix(image);                         \
                room->acquires = true;                                                             \
                continue;                                                                          \
            }                                                                                      \
            images[image_count] = *image;                                                          \
            if (is_transfer(map, src, dst))                                                        \
                images[image_count].dstAccessMask = 0;                                             \
            translate_pair(map, owner_of(&d->narrowed_images, (uint64_t)image->image, src, dst),   \
                           &images[image_count].srcQueueFamilyIndex,                               \
                           &images[image_count].dstQueueFamilyIndex);                              \
            image_count++;                                                                         \
        }                                                                                          \
        *b = (struct barriers##suffix){memory_count, b->buffer_count, image_count,                 \
                                       memory,       buffers,         images};                     \
        return true;                                                                               \
    }

DEFINE_BARRIERS(1, VkMemoryBarrier, VkBufferMemoryBarrier, VkImageMemoryBarrier)
DEFINE_BARRIERS(2, VkMemoryBarrier2, VkBufferMemoryBarrier2, VkImageMemoryBarrier2)

/* B-2. On a device with appended families every command buffer is registered (resource.c). */
static void lose_barriers(struct layer_device *d, VkCommandBuffer command_buffer,
                          const char *command)
{
    bf_command_buffer_mark(d->gpu, command_buffer, true);
    atomic_store_explicit(&d->barriers_lost, true, memory_order_relaxed);
    bf_message(BF_MESSAGE_ERROR,
               "%s: out of memory: its barriers are left out, and vkEndCommandBuffer will fail",
               command);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkEndCommandBuffer(VkCommandBuffer command_buffer)
{
    struct layer_device *d = layer_device_of(command_buffer);
    VkResult result = d->vk.vkEndCommandBuffer(command_buffer);
    if (result == VK_SUCCESS && atomic_load_explicit(&d->barriers_lost, memory_order_relaxed) &&
        bf_command_buffer_is_incomplete(d->gpu, command_buffer))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return result;
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
    room.acquires = false;
    if (d->translates && barriers_change1(d, &b) && !translate1(d, command_buffer, &b, &room)) {
        lose_barriers(d, command_buffer, "vkCmdPipelineBarrier");
        return;
    }
    if (room.acquires)
        src |= VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
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
    room.acquires = false;
    if (d->translates && barriers_change1(d, &b) && !translate1(d, command_buffer, &b, &room)) {
        lose_barriers(d, command_buffer, "vkCmdWaitEvents");
        return;
    }
    d->vk.vkCmdWaitEvents(command_buffer, event_count, events, src, dst, b.memory_count, b.memory,
                          b.buffer_count, b.buffers, b.image_count, b.images);
    free(room.heap);
}

/* A VkDependencyInfo with translated barriers, and the memory that holds them. */
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
    if (!d->translates || !barriers_change2(d, &b))
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
        lose_barriers(d, command_buffer, "vkCmdPipelineBarrier2");
        return;
    }
    d->vk.vkCmdPipelineBarrier2(command_buffer, &dependency.info);
    free(dependency.room.heap);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdSetEvent2(VkCommandBuffer command_buffer, VkEvent event,
                                                const VkDependencyInfo *info)
{
    struct layer_device *d = layer_device_of(command_buffer);
    struct dependency dependency;
    if (!translate_dependency(d, command_buffer, info, &dependency)) {
        lose_barriers(d, command_buffer, "vkCmdSetEvent2");
        return;
    }
    d->vk.vkCmdSetEvent2(command_buffer, event, &dependency.info);
    free(dependency.room.heap);
}

VKAPI_ATTR void VKAPI_CALL layer_vkCmdWaitEvents2(VkCommandBuffer command_buffer, uint32_t count,
                                                  const VkEvent *events,
                                                  const VkDependencyInfo *infos)
{
    struct layer_device *d = layer_device_of(command_buffer);
    PFN_vkCmdWaitEvents2 next = d->vk.vkCmdWaitEvents2;
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
        lose_barriers(d, command_buffer, "vkCmdWaitEvents2");
    for (uint32_t i = 0; dependencies && i < count; i++)
        free(dependencies[i].room.heap);
    free(copies);
    free(dependencies);
}
