/* SPDX-License-Identifier: MIT */
/* Records what a command buffer uses, and makes the block of uses that the model runs. */
#include "access/record.h"

#include <stdlib.h>
#include <string.h>

#include "access/model.h"

/* How many ranges of a command are recorded one by one; more are recorded as some bytes of one
 * range. */
#define MAX_STEPS 1024

struct use {
    struct bf_access_resource *resource; /* referenced */
    enum bf_access_use use;
    struct bf_access_region region;
};

struct bf_access_recording {
    struct bf_access *access;
    VkCommandBuffer command_buffer; /* VK_NULL_HANDLE: none */
    uint32_t use_count, use_room;
    struct use *uses;
    uint32_t transition_count, transition_room;
    struct bf_access_transition *transitions;
    bool failed, blind;
    struct bf_access_block *block; /* once closed */
};

static uint64_t recording_key(VkCommandBuffer command_buffer)
{
    return (uint64_t)(uintptr_t)command_buffer;
}

/* Ends the check; the layer notices by the missing block. */
static void recording_fail(struct bf_access_recording *recording)
{
    recording->failed = true;
    bf_access_fail(recording->access);
}

static bool is_off(const struct bf_access_recording *recording)
{
    return !recording || recording->failed || recording->blind ||
           atomic_load_explicit(&recording->access->off, memory_order_relaxed);
}

struct bf_access_recording *bf_access_recording_create(struct bf_access *access,
                                                       VkCommandBuffer command_buffer)
{
    if (!access || atomic_load(&access->off))
        return NULL;
    struct bf_access_recording *recording = calloc(1, sizeof(*recording));
    if (!recording ||
        !bf_map_insert(&access->recordings, recording_key(command_buffer), recording)) {
        free(recording);
        bf_access_fail(access);
        return NULL;
    }
    recording->access = access;
    recording->command_buffer = command_buffer;
    return recording;
}

static void recording_clear(struct bf_access_recording *recording)
{
    for (uint32_t i = 0; i < recording->use_count; i++)
        bf_access_resource_release(recording->uses[i].resource);
    for (uint32_t i = 0; i < recording->transition_count; i++)
        bf_access_resource_release(recording->transitions[i].resource);
    recording->use_count = recording->transition_count = 0;
}

void bf_access_recording_reset(struct bf_access_recording *recording)
{
    if (!recording)
        return;
    recording_clear(recording);
    bf_access_block_release(recording->block);
    recording->block = NULL;
    recording->blind = false;
}

static void recording_finish(struct bf_access_recording *recording)
{
    bf_access_recording_reset(recording);
    free(recording->uses);
    free(recording->transitions);
}

void bf_access_recording_destroy(struct bf_access_recording *recording)
{
    if (!recording)
        return;
    bf_map_remove(&recording->access->recordings, recording_key(recording->command_buffer));
    recording_finish(recording);
    free(recording);
}

static void recording_free(void *value, void *context)
{
    (void)context;
    recording_finish(value);
    free(value);
}

void bf_access_recordings_finish(struct bf_access *access)
{
    bf_map_finish(&access->recordings, recording_free, NULL);
}

void bf_access_record_blind(struct bf_access_recording *recording)
{
    if (is_off(recording))
        return;
    recording_clear(recording);
    recording->blind = true;
}

/* Makes room for one more element. */
static bool array_reserve(void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = *room ? 2 * *room : 16;
    void *grown = wanted > count ? realloc(*array, wanted * size) : NULL;
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* A command often continues where the one before ended: then the two ranges are joined. */
static bool goes_on(const struct use *last, const struct bf_access_resource *resource,
                    enum bf_access_use use, const struct bf_access_region *region)
{
    return last->resource == resource && last->use == use && !resource->image && !region->some &&
           last->region.what == region->what && region->bytes.begin >= last->region.bytes.begin &&
           region->bytes.begin <= last->region.bytes.end;
}

/* Takes over the reference to the resource. */
static void recording_add_use(struct bf_access_recording *recording,
                              struct bf_access_resource *resource, enum bf_access_use use,
                              struct bf_access_region region)
{
    region.some = use == BF_ACCESS_WRITE_SOME || use == BF_ACCESS_READ_SOME;
    struct use *last = recording->use_count ? &recording->uses[recording->use_count - 1] : NULL;
    if (last && goes_on(last, resource, use, &region)) {
        if (last->region.bytes.end < region.bytes.end)
            last->region.bytes.end = region.bytes.end;
        bf_access_resource_release(resource);
        return;
    }
    if (!array_reserve((void **)&recording->uses, recording->use_count, &recording->use_room,
                       sizeof(*recording->uses))) {
        bf_access_resource_release(resource);
        recording_fail(recording);
        return;
    }
    recording->uses[recording->use_count++] = (struct use){resource, use, region};
}

static struct bf_access_resource *recording_find(struct bf_access_recording *recording, bool image,
                                                 uint64_t handle)
{
    if (!handle)
        return NULL;
    struct bf_access_resource *resource = bf_access_resource_of(recording->access, image, handle);
    if (!resource)
        recording_fail(recording);
    return resource;
}

static uint64_t saturated_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

void bf_access_record_bytes(struct bf_access_recording *recording, VkBuffer buffer,
                            VkDeviceSize offset, VkDeviceSize size, enum bf_access_use use,
                            const char *what)
{
    if (is_off(recording) || !size)
        return;
    struct bf_access_resource *resource = recording_find(recording, false, (uint64_t)buffer);
    if (!resource)
        return;
    struct bf_access_region region = {.what = what};
    region.bytes.begin = offset;
    region.bytes.end = size == VK_WHOLE_SIZE ? resource->size : saturated_sum(offset, size);
    if (region.bytes.begin < region.bytes.end)
        recording_add_use(recording, resource, use, region);
    else
        bf_access_resource_release(resource);
}

void bf_access_record_steps(struct bf_access_recording *recording, VkBuffer buffer,
                            VkDeviceSize offset, VkDeviceSize size, VkDeviceSize stride,
                            uint64_t count, enum bf_access_use use, const char *what)
{
    if (!count)
        return;
    if (count == 1 || stride <= size || count > MAX_STEPS) {
        bool gaps = count > 1 && stride > size;
        uint64_t steps = count - 1, length = stride && steps > (UINT64_MAX - size) / stride
                                                 ? UINT64_MAX - 1
                                                 : steps * stride + size;
        if (gaps)
            use = use == BF_ACCESS_WRITE ? BF_ACCESS_WRITE_SOME : BF_ACCESS_READ_SOME;
        bf_access_record_bytes(recording, buffer, offset, length, use, what);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        bf_access_record_bytes(recording, buffer, saturated_sum(offset, i * stride), size, use,
                               what);
}

/* Has an image of this format planes? (Of some that have none, too: no one names their planes.) */
static bool format_is_planar(VkFormat format)
{
    return (format >= VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM &&
            format <= VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM) ||
           (format >= VK_FORMAT_G8_B8R8_2PLANE_444_UNORM &&
            format <= VK_FORMAT_G16_B16R16_2PLANE_444_UNORM);
}

/* The aspect COLOR of a planar image stands for all its planes. */
static struct bf_access_area area_with_planes(const struct bf_access_resource *resource,
                                              const struct bf_access_area *area)
{
    struct bf_access_area whole = *area;
    if ((area->aspects & VK_IMAGE_ASPECT_COLOR_BIT) && resource->known &&
        format_is_planar(resource->info.format))
        whole.aspects |=
            VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT | VK_IMAGE_ASPECT_PLANE_2_BIT;
    return whole;
}

void bf_access_record_area(struct bf_access_recording *recording, VkImage image,
                           const struct bf_access_area *area, enum bf_access_use use,
                           const char *what)
{
    if (is_off(recording))
        return;
    struct bf_access_resource *resource = recording_find(recording, true, (uint64_t)image);
    if (resource)
        recording_add_use(
            recording, resource, use,
            (struct bf_access_region){.what = what, .area = area_with_planes(resource, area)});
}

void bf_access_record_transition(struct bf_access_recording *recording, VkImage image,
                                 const struct bf_access_area *area, BfResourceState before,
                                 BfResourceState after, const char *what)
{
    if (is_off(recording))
        return;
    struct bf_access_resource *resource = recording_find(recording, true, (uint64_t)image);
    if (!resource)
        return;
    struct bf_access_transition t = {resource, area_with_planes(resource, area), before, after,
                                     what};
    /* Repeated transitions of one command are recorded once. */
    struct bf_access_transition *last =
        recording->transition_count ? &recording->transitions[recording->transition_count - 1]
                                    : NULL;
    bool same = last && last->resource == resource && last->before == before &&
                last->after == after && before == after &&
                memcmp(&last->area, &t.area, sizeof(t.area)) == 0;
    if (same || !array_reserve((void **)&recording->transitions, recording->transition_count,
                               &recording->transition_room, sizeof(*recording->transitions))) {
        bf_access_resource_release(resource);
        if (!same)
            recording_fail(recording);
        return;
    }
    recording->transitions[recording->transition_count++] = t;
}

void bf_access_record_secondary(struct bf_access_recording *recording, VkCommandBuffer secondary)
{
    if (is_off(recording))
        return;
    struct bf_access_block *block = bf_access_block_of(recording->access, secondary);
    for (uint32_t i = 0; block && i < block->slice_count; i++) {
        const struct bf_access_slice *slice = &block->slices[i];
        for (uint32_t use = 0; use < BF_ACCESS_USE_COUNT; use++) {
            for (uint32_t j = 0; j < slice->uses[use].count; j++) {
                bf_access_resource_reference(slice->resource);
                recording_add_use(recording, slice->resource, use, slice->uses[use].regions[j]);
            }
        }
    }
    for (uint32_t i = 0; block && i < block->transition_count; i++) {
        const struct bf_access_transition *t = &block->transitions[i];
        bf_access_record_transition(recording, (VkImage)t->resource->handle, &t->area, t->before,
                                    t->after, t->what);
    }
    bf_access_block_release(block);
}

/* Compares by resource, kind and range. */
static int compare_uses(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    if (a->resource != b->resource)
        return (uintptr_t)a->resource < (uintptr_t)b->resource ? -1 : 1;
    if (a->use != b->use)
        return a->use < b->use ? -1 : 1;
    return bf_access_region_compare(a->resource->image, &a->region, &b->region);
}

/* Fills the block with slices of the sorted uses. */
static void block_fill(struct bf_access_block *block, struct bf_access_region *regions,
                       const struct use *uses, uint32_t count)
{
    struct bf_access_slice *slice = NULL;
    struct bf_access_region *last = NULL; /* the range before it, of the same slice and kind */
    for (uint32_t i = 0; i < count; i++) {
        const struct use *u = &uses[i];
        if (!slice || slice->resource != u->resource) {
            slice = &block->slices[block->slice_count++];
            *slice = (struct bf_access_slice){.resource = u->resource};
            bf_access_resource_reference(u->resource);
        }
        if (!slice->uses[u->use].count) {
            slice->uses[u->use].regions = regions;
            last = NULL;
        }
        /* Two inexact ranges are not joined, unless they are equal. */
        bool image = u->resource->image,
             covered = last && bf_access_region_covers(image, last, &u->region) &&
                       (!u->region.some || bf_access_region_covers(image, &u->region, last));
        if (covered)
            continue;
        if (last && !image && !u->region.some && u->region.bytes.begin <= last->bytes.end) {
            last->bytes.end = u->region.bytes.end;
            continue;
        }
        last = regions++;
        *last = u->region;
        slice->uses[u->use].count++;
    }
}

static struct bf_access_block *make_block(struct bf_access_recording *recording)
{
    uint32_t count = recording->use_count, resources = 0;
    if (count)
        qsort(recording->uses, count, sizeof(*recording->uses), compare_uses);
    for (uint32_t i = 0; i < count; i++)
        resources += i == 0 || recording->uses[i].resource != recording->uses[i - 1].resource;
    struct bf_access_block *block =
        malloc(sizeof(*block) + resources * sizeof(*block->slices) +
               recording->transition_count * sizeof(*block->transitions) +
               count * sizeof(struct bf_access_region));
    if (!block)
        return NULL;
    block->references = 1;
    block->slice_count = 0;
    block->slices = (struct bf_access_slice *)(block + 1);
    block->transition_count = recording->transition_count;
    block->transitions = (struct bf_access_transition *)(block->slices + resources);
    for (uint32_t i = 0; i < recording->transition_count; i++) {
        block->transitions[i] = recording->transitions[i];
        bf_access_resource_reference(block->transitions[i].resource);
    }
    block_fill(block, (struct bf_access_region *)(block->transitions + block->transition_count),
               recording->uses, count);
    return block;
}

void bf_access_recording_close(struct bf_access_recording *recording)
{
    if (is_off(recording))
        return;
    struct bf_access_block *block = make_block(recording);
    if (!block) {
        recording_fail(recording);
        return;
    }
    recording_clear(recording);
    bf_access_block_release(recording->block);
    recording->block = block;
}

void bf_access_block_reference(struct bf_access_block *block)
{
    atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
}

void bf_access_block_release(struct bf_access_block *block)
{
    if (!block || atomic_fetch_sub(&block->references, 1) != 1)
        return;
    for (uint32_t i = 0; i < block->slice_count; i++)
        bf_access_resource_release(block->slices[i].resource);
    for (uint32_t i = 0; i < block->transition_count; i++)
        bf_access_resource_release(block->transitions[i].resource);
    free(block);
}

struct bf_access_block *bf_access_block_of(struct bf_access *access, VkCommandBuffer command_buffer)
{
    struct bf_access_recording *recording =
        bf_map_find(&access->recordings, recording_key(command_buffer));
    if (!recording || !recording->block)
        return NULL;
    bf_access_block_reference(recording->block);
    return recording->block;
}

struct bf_access_block *bf_access_block_from_uses(struct bf_access *access, uint32_t count,
                                                  const BfResourceUse *uses)
{
    /* Memory is allocated first, so that nothing below ends the check. */
    struct bf_access_recording recording = {.access = access};
    struct bf_access_block *block = NULL;
    recording.uses = calloc(count, sizeof(*recording.uses));
    recording.transitions = calloc(count, sizeof(*recording.transitions));
    if (!recording.uses || !recording.transitions)
        goto done;
    recording.use_room = recording.transition_room = count;
    for (uint32_t i = 0; i < count; i++) {
        const BfResourceUse *u = &uses[i];
        bool image = u->image != VK_NULL_HANDLE;
        struct bf_access_resource *resource =
            bf_access_resource_of(access, image, image ? (uint64_t)u->image : (uint64_t)u->buffer);
        if (!resource)
            goto done;
        struct bf_access_region region = {.what = "bfQueueUses"};
        if (image) {
            region.area = bf_access_area_all;
        } else {
            region.bytes.begin = u->offset;
            region.bytes.end =
                u->size == VK_WHOLE_SIZE ? resource->size : saturated_sum(u->offset, u->size);
        }
        if (u->state != BF_RESOURCE_STATE_UNKNOWN) {
            bf_access_resource_reference(resource);
            recording.transitions[recording.transition_count++] = (struct bf_access_transition){
                resource, bf_access_area_all, u->state, u->state, region.what};
        }
        recording_add_use(&recording, resource, u->write ? BF_ACCESS_WRITE : BF_ACCESS_READ,
                          region);
    }
    block = make_block(&recording);
done:
    recording_finish(&recording);
    return block;
}
