/* SPDX-License-Identifier: MIT */
/* Resources: which queue uses which part of them, and in which state they were left. */
#include "access/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"

/* --------------------------------------------------------------------------------- By handle -- */

static struct bf_map *resource_map(struct bf_access *access, bool image)
{
    return image ? &access->images : &access->buffers;
}

static struct bf_access_resource *resource_make(bool image, uint64_t handle)
{
    struct bf_access_resource *resource = calloc(1, sizeof(*resource));
    if (!resource)
        return NULL;
    resource->references = 1;
    resource->image = image;
    resource->handle = handle;
    resource->size = VK_WHOLE_SIZE;
    return resource;
}

void bf_access_resource_reference(struct bf_access_resource *resource)
{
    atomic_fetch_add_explicit(&resource->references, 1, memory_order_relaxed);
}

void bf_access_resource_release(struct bf_access_resource *resource)
{
    if (atomic_fetch_sub(&resource->references, 1) != 1)
        return;
    free(resource->cells);
    free(resource->said);
    free(resource);
}

struct bf_access_resource *bf_access_resource_of(struct bf_access *access, bool image,
                                                 uint64_t handle)
{
    struct bf_map *map = resource_map(access, image);
    struct bf_access_resource *resource = bf_map_find(map, handle);
    if (!resource) {
        bf_lock_acquire(&access->lock);
        resource = bf_map_find(map, handle);
        if (!resource) {
            resource = resource_make(image, handle);
            if (resource && !bf_map_insert(map, handle, resource)) {
                free(resource);
                resource = NULL;
            }
        }
        bf_lock_release(&access->lock);
    }
    if (resource)
        bf_access_resource_reference(resource);
    return resource;
}

static void resource_remove(struct bf_access *access, bool image, uint64_t handle)
{
    if (!access || !handle)
        return;
    bf_lock_acquire(&access->lock);
    struct bf_access_resource *resource = bf_map_remove(resource_map(access, image), handle);
    bf_lock_release(&access->lock);
    if (resource)
        bf_access_resource_release(resource);
}

static void resource_add(struct bf_access *access, bool image, uint64_t handle, VkDeviceSize size,
                         const struct bf_access_image_info *info)
{
    if (!access || atomic_load(&access->off))
        return;
    /* A resource that has the same handle was destroyed unnoticed. */
    resource_remove(access, image, handle);
    struct bf_access_resource *resource = resource_make(image, handle);
    if (resource) {
        resource->size = size;
        resource->known = true;
        if (info)
            resource->info = *info;
    }
    if (!resource || !bf_map_insert(resource_map(access, image), handle, resource)) {
        free(resource);
        bf_access_fail(access);
    }
}

void bf_access_buffer_add(struct bf_access *access, VkBuffer buffer, VkDeviceSize size)
{
    resource_add(access, false, (uint64_t)buffer, size, NULL);
}

void bf_access_image_add(struct bf_access *access, VkImage image,
                         const struct bf_access_image_info *info)
{
    resource_add(access, true, (uint64_t)image, VK_WHOLE_SIZE, info);
}

static bool knows_resource(struct bf_access *access, bool image, uint64_t handle)
{
    const struct bf_access_resource *resource =
        handle ? bf_map_find(resource_map(access, image), handle) : NULL;
    return resource && resource->known;
}

bool bf_access_knows_buffer(struct bf_access *access, VkBuffer buffer)
{
    return knows_resource(access, false, (uint64_t)buffer);
}

VkDeviceSize bf_access_buffer_size(struct bf_access *access, VkBuffer buffer)
{
    const struct bf_access_resource *resource =
        bf_map_find(resource_map(access, false), (uint64_t)buffer);
    return resource && resource->known ? resource->size : VK_WHOLE_SIZE;
}

bool bf_access_knows_image(struct bf_access *access, VkImage image)
{
    return knows_resource(access, true, (uint64_t)image);
}

void bf_access_buffer_remove(struct bf_access *access, VkBuffer buffer)
{
    resource_remove(access, false, (uint64_t)buffer);
}

void bf_access_image_remove(struct bf_access *access, VkImage image)
{
    resource_remove(access, true, (uint64_t)image);
}

bool bf_access_image_get(struct bf_access *access, VkImage image, struct bf_access_image_info *info)
{
    struct bf_access_resource *resource = bf_map_find(&access->images, (uint64_t)image);
    if (!resource || !resource->known)
        return false;
    *info = resource->info;
    return true;
}

static void resource_name(struct bf_access *access, bool image, uint64_t handle, const char *name)
{
    if (!access || atomic_load(&access->off) || !handle)
        return;
    struct bf_access_resource *resource = bf_access_resource_of(access, image, handle);
    if (!resource) {
        bf_access_fail(access);
        return;
    }
    bf_lock_acquire(&access->lock);
    strncpy(resource->name, name ? name : "", sizeof(resource->name) - 1);
    bf_lock_release(&access->lock);
    bf_access_resource_release(resource);
}

void bf_access_buffer_name(struct bf_access *access, VkBuffer buffer, const char *name)
{
    resource_name(access, false, (uint64_t)buffer, name);
}

void bf_access_image_name(struct bf_access *access, VkImage image, const char *name)
{
    resource_name(access, true, (uint64_t)image, name);
}

/* -------------------------------------------------------------------------------------- Uses -- */

void bf_access_group_free(struct bf_access_group *group)
{
    struct bf_access_queue *queue = group->queue;
    struct bf_access_resource *resource = group->slice->resource;
    if (group->previous_of_queue)
        group->previous_of_queue->next_of_queue = group->next_of_queue;
    else
        queue->oldest = group->next_of_queue;
    if (group->next_of_queue)
        group->next_of_queue->previous_of_queue = group->previous_of_queue;
    else
        queue->newest = group->previous_of_queue;
    if (group->previous)
        group->previous->next = group->next;
    else
        resource->first = group->next;
    if (group->next)
        group->next->previous = group->previous;
    else
        resource->last = group->previous;
    queue->access->group_count--;
    bf_access_block_release(group->block);
    free(group);
}

/* a queue that adds a use forgets its own oldest ones first. */
static void groups_make_room(struct bf_access_queue *queue)
{
    struct bf_access *access = queue->access;
    if (access->group_count < BF_ACCESS_MAX_USES)
        return;
    if (!access->forgot)
        bf_message(
            BF_MESSAGE_WARNING,
            "access: the CPU has not waited for %u uses of resources: the oldest are forgotten",
            BF_ACCESS_MAX_USES);
    access->forgot = true;
    struct bf_access_queue *victim = queue;
    for (struct bf_access_queue *q = access->queues; q && !victim->oldest; q = q->next)
        victim = q;
    bf_access_group_free(victim->oldest);
}

static void group_append(struct bf_access_queue *queue, uint64_t packet,
                         struct bf_access_block *block, const struct bf_access_slice *slice)
{
    groups_make_room(queue);
    struct bf_access_group *group = calloc(1, sizeof(*group));
    if (!group) {
        queue->access->clocks.failed = true;
        return;
    }
    struct bf_access_resource *resource = slice->resource;
    bf_access_block_reference(block);
    group->queue = queue;
    group->packet = packet;
    group->block = block;
    group->slice = slice;
    group->previous_of_queue = queue->newest;
    if (queue->newest)
        queue->newest->next_of_queue = group;
    else
        queue->oldest = group;
    queue->newest = group;
    group->previous = resource->last;
    if (resource->last)
        resource->last->next = group;
    else
        resource->first = group;
    resource->last = group;
    queue->access->group_count++;
}

static bool slice_writes(const struct bf_access_slice *slice)
{
    return slice->uses[BF_ACCESS_WRITE].count || slice->uses[BF_ACCESS_WRITE_SOME].count;
}

static bool slice_reads(const struct bf_access_slice *slice)
{
    return slice->uses[BF_ACCESS_READ].count || slice->uses[BF_ACCESS_READ_SOME].count;
}

/* Does the newer use cover the older one, in the same way? Then everything that is unordered with
 * the older one is unordered with the newer one as well, and reported there. */
static bool stands_for(const struct bf_access_slice *newer, const struct bf_access_slice *older)
{
    if (newer == older)
        return true;
    bool writing = slice_writes(older);
    if (writing ? slice_reads(older) : slice_writes(newer))
        return false;
    enum bf_access_use use = writing ? BF_ACCESS_WRITE : BF_ACCESS_READ,
                       some = writing ? BF_ACCESS_WRITE_SOME : BF_ACCESS_READ_SOME;
    if (newer->uses[use].count != 1 || older->uses[some].count)
        return false;
    for (uint32_t i = 0; i < older->uses[use].count; i++) {
        if (!bf_access_region_covers(newer->resource->image, newer->uses[use].regions,
                                     &older->uses[use].regions[i]))
            return false;
    }
    return true;
}

struct meeting {
    const struct bf_access_region *a, *b;
};

/* The first two regions of these kinds that overlap. */
static bool kinds_meet(const struct bf_access_slice *a, enum bf_access_use use_a,
                       const struct bf_access_slice *b, enum bf_access_use use_b,
                       struct meeting *meeting)
{
    bool image = a->resource->image;
    /* Exact ranges of bytes are sorted and disjoint, so their ends are sorted, too: a region that
     * lies before one of them lies before all that follow. */
    bool sorted = !image && use_a <= BF_ACCESS_READ && use_b <= BF_ACCESS_READ;
    uint32_t start = 0, count_b = b->uses[use_b].count;
    for (uint32_t i = 0; i < a->uses[use_a].count; i++) {
        const struct bf_access_region *left = &a->uses[use_a].regions[i];
        while (sorted && start < count_b &&
               b->uses[use_b].regions[start].bytes.end <= left->bytes.begin)
            start++;
        for (uint32_t j = start; j < count_b; j++) {
            const struct bf_access_region *right = &b->uses[use_b].regions[j];
            if (bf_access_region_meets(image, left, right)) {
                *meeting = (struct meeting){left, right};
                return true;
            }
            if (sorted)
                break;
        }
    }
    return false;
}

static bool slices_meet(const struct bf_access_slice *a, bool write_a,
                        const struct bf_access_slice *b, bool write_b, struct meeting *meeting)
{
    enum bf_access_use exact_a = write_a ? BF_ACCESS_WRITE : BF_ACCESS_READ,
                       some_a = write_a ? BF_ACCESS_WRITE_SOME : BF_ACCESS_READ_SOME,
                       exact_b = write_b ? BF_ACCESS_WRITE : BF_ACCESS_READ,
                       some_b = write_b ? BF_ACCESS_WRITE_SOME : BF_ACCESS_READ_SOME;
    return kinds_meet(a, exact_a, b, exact_b, meeting) ||
           kinds_meet(a, exact_a, b, some_b, meeting) || kinds_meet(a, some_a, b, exact_b, meeting);
}

static const struct bf_access_region *first_write(const struct bf_access_slice *slice)
{
    return slice->uses[BF_ACCESS_WRITE].count ? slice->uses[BF_ACCESS_WRITE].regions
                                              : slice->uses[BF_ACCESS_WRITE_SOME].regions;
}

/* The two uses are unordered: do the rules allow that? [ME 6] */
static void group_compare(const struct bf_access_group *earlier, struct bf_access_queue *queue,
                          uint64_t packet, const struct bf_access_slice *slice)
{
    const struct bf_access_slice *before = earlier->slice;
    struct meeting m = {0};
    bool write_before = slice_writes(before), write_now = slice_writes(slice), overlap;
    if (write_before && write_now) {
        overlap = slices_meet(before, true, slice, true, &m);
        if (!overlap)
            m = (struct meeting){first_write(before), first_write(slice)};
    } else if (write_before) {
        overlap = slices_meet(before, true, slice, false, &m);
    } else {
        overlap = write_now && slices_meet(before, false, slice, true, &m);
    }
    if (!overlap && !(write_before && write_now))
        return;
    const struct bf_access_finding finding = {
        .fault = write_before && write_now ? BF_ACCESS_TWO_WRITERS : BF_ACCESS_WRITE_BESIDE_READ,
        .overlap = overlap,
        .resource = slice->resource,
        .earlier = {earlier->queue->id, earlier->queue->type_class, earlier->packet, write_before,
                    m.a, BF_RESOURCE_STATE_UNKNOWN, m.a->what},
        .later = {queue->id, queue->type_class, packet, write_now, m.b, BF_RESOURCE_STATE_UNKNOWN,
                  m.b->what},
    };
    bf_access_say(queue->access, &finding);
}

static void slice_run(struct bf_access_queue *queue, uint64_t packet, struct bf_access_block *block,
                      const struct bf_access_slice *slice)
{
    struct bf_access_group *next;
    for (struct bf_access_group *g = slice->resource->first; g; g = next) {
        next = g->next;
        if (g->queue == queue) {
            if (stands_for(slice, g->slice))
                bf_access_group_free(g);
        } else if (bf_clock_at(queue->clock, g->queue->id) < g->packet) {
            group_compare(g, queue, packet, slice);
        }
    }
    group_append(queue, packet, block, slice);
}

/* ------------------------------------------------------------------------------------ States -- */

/* The states of images with more subresources are not tracked. */
#define MAX_CELLS 262144

static const VkImageAspectFlags plane_aspects[BF_ACCESS_PLANES] = {
    VK_IMAGE_ASPECT_COLOR_BIT | VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_PLANE_0_BIT,
    VK_IMAGE_ASPECT_STENCIL_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT,
    VK_IMAGE_ASPECT_PLANE_2_BIT,
};

static void cell_run(struct bf_access_queue *queue, uint64_t packet,
                     const struct bf_access_transition *t, struct bf_access_cell *cell,
                     bool *reported)
{
    bool crosses =
        cell->state != BF_RESOURCE_STATE_UNKNOWN && t->before != BF_RESOURCE_STATE_UNKNOWN &&
        cell->type_class != queue->type_class && cell->type_class != BF_ACCESS_NO_CLASS &&
        queue->type_class != BF_ACCESS_NO_CLASS;
    /* COMMON leads from one class to the other. Every other state belongs to the class of the queue
     * that left the resource in it; the two copy states exist in both classes. */
    bool fault =
        crosses && cell->state != BF_RESOURCE_STATE_COMMON && t->before != BF_RESOURCE_STATE_COMMON;
    if (fault && !*reported) {
        const struct bf_access_finding finding = {
            .fault = BF_ACCESS_STATE,
            .resource = t->resource,
            .earlier = {cell->queue, cell->type_class, cell->packet, false, NULL, cell->state,
                        NULL},
            .later = {queue->id, queue->type_class, packet, false, NULL, t->before, t->what},
        };
        bf_access_say(queue->access, &finding);
        *reported = true;
    }
    *cell =
        (struct bf_access_cell){(uint8_t)t->after, (uint8_t)queue->type_class, queue->id, packet};
}

static void transition_run(struct bf_access_queue *queue, uint64_t packet,
                           const struct bf_access_transition *t)
{
    struct bf_access_resource *resource = t->resource;
    bool parts = resource->image && resource->known;
    uint64_t mips = parts && resource->info.mips ? resource->info.mips : 1,
             layers = parts && resource->info.layers ? resource->info.layers : 1;
    if (mips * layers * BF_ACCESS_PLANES > MAX_CELLS)
        return;
    if (!resource->cells) {
        resource->cells = calloc(mips * layers * BF_ACCESS_PLANES, sizeof(*resource->cells));
        if (!resource->cells) {
            queue->access->clocks.failed = true;
            return;
        }
    }
    uint64_t mip_end = t->area.mips[1] < mips ? t->area.mips[1] : mips,
             layer_end = t->area.layers[1] < layers ? t->area.layers[1] : layers,
             mip_begin = parts ? t->area.mips[0] : 0, layer_begin = parts ? t->area.layers[0] : 0;
    bool reported = false;
    for (uint32_t plane = 0; plane < BF_ACCESS_PLANES; plane++) {
        if (!(t->area.aspects & plane_aspects[plane]))
            continue;
        for (uint64_t mip = mip_begin; mip < mip_end; mip++) {
            for (uint64_t layer = layer_begin; layer < layer_end; layer++)
                cell_run(queue, packet, t, &resource->cells[(plane * mips + mip) * layers + layer],
                         &reported);
        }
    }
}

void bf_access_block_run(struct bf_access_queue *queue, uint64_t packet,
                         struct bf_access_block *block)
{
    for (uint32_t i = 0; i < block->slice_count; i++)
        slice_run(queue, packet, block, &block->slices[i]);
    for (uint32_t i = 0; i < block->transition_count; i++)
        transition_run(queue, packet, &block->transitions[i]);
}
