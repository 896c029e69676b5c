/* SPDX-License-Identifier: MIT */
/* Which queue families a program sees: the real ones, and those appended for types without a
 * family. */
#include "device/family.h"

#include <string.h>

/* VK_QUEUE_OPTICAL_FLOW_BIT_NV is newer than the oldest headers Belfry builds with. */
#define OPTICAL_FLOW_BIT 0x00000100u
#define VIDEO_BITS       (0x00000020u | 0x00000040u) /* decode, encode */

/* The least number of queues of an appended family. */
#define APPENDED_QUEUES 2

static const VkQueueFlags work_bits = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;

static bool family_is_3d(const VkQueueFamilyProperties *f)
{
    return (f->queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
}

/* All that a D3D12 type asks for: the 3D type dispatches, too. */
static bool family_is_universal(const VkQueueFamilyProperties *f)
{
    return (f->queueFlags & work_bits) == work_bits;
}

static bool family_is_compute(const VkQueueFamilyProperties *f)
{
    return (f->queueFlags & work_bits) == VK_QUEUE_COMPUTE_BIT;
}

/* A granularity of (0,0,0), which is not enough for a D3D12 copy engine. */
bool bf_family_copies_whole(const VkQueueFamilyProperties *f)
{
    const VkExtent3D g = f->minImageTransferGranularity;
    return !(f->queueFlags & work_bits) && !g.width && !g.height && !g.depth;
}

/* Video and optical-flow families report TRANSFER for moving their own pictures. */
static bool family_is_copy(const VkQueueFamilyProperties *f)
{
    return (f->queueFlags & VK_QUEUE_TRANSFER_BIT) &&
           !(f->queueFlags & (work_bits | VIDEO_BITS | OPTICAL_FLOW_BIT)) &&
           !bf_family_copies_whole(f);
}

static uint32_t family_find_real(const VkQueueFamilyProperties *real, uint32_t count,
                                 bool (*matches)(const VkQueueFamilyProperties *))
{
    for (uint32_t i = 0; i < count; i++) {
        if (real[i].queueCount && matches(&real[i]))
            return i;
    }
    return UINT32_MAX;
}

static void family_map_append(struct bf_family_map *map, uint32_t host, VkQueueFlags flags,
                              uint32_t count)
{
    map->shown[map->shown_count++] =
        (struct bf_family){.real = host, .flags = flags, .count = count, .appended = true};
}

void bf_family_map_init(const VkQueueFamilyProperties *real, uint32_t count,
                        enum bf_queues_mode mode, uint32_t queues_per_family,
                        struct bf_family_map *map)
{
    memset(map, 0, sizeof(*map));
    if (count > BF_MAX_FAMILIES - 2) {
        mode = BF_QUEUES_NATIVE;
        if (count > BF_MAX_FAMILIES)
            count = BF_MAX_FAMILIES;
    }
    map->real_count = count;
    map->shown_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bool typed =
            family_is_3d(&real[i]) || family_is_compute(&real[i]) || family_is_copy(&real[i]);
        uint32_t shown = real[i].queueCount;
        if (mode == BF_QUEUES_APPEND && typed && shown && shown < queues_per_family)
            shown = queues_per_family;
        map->real_queues[i] = real[i].queueCount;
        map->shown[i] = (struct bf_family){.real = i, .flags = real[i].queueFlags, .count = shown};
    }
    if (mode == BF_QUEUES_NATIVE)
        return;

    uint32_t queues = queues_per_family > APPENDED_QUEUES ? queues_per_family : APPENDED_QUEUES;
    uint32_t graphics = family_find_real(real, count, family_is_3d);
    uint32_t compute = family_find_real(real, count, family_is_compute);
    uint32_t copy = family_find_real(real, count, family_is_copy);
    const VkQueueFlags kept = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;

    /* A graphics family need not support compute; one that doesn't can't back the compute type. */
    uint32_t universal = family_find_real(real, count, family_is_universal);
    if (compute == UINT32_MAX && universal != UINT32_MAX)
        family_map_append(map, universal,
                          VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT |
                              (real[universal].queueFlags & kept),
                          queues);
    if (copy == UINT32_MAX) {
        uint32_t host = compute != UINT32_MAX ? compute : graphics;
        if (host != UINT32_MAX)
            family_map_append(map, host, VK_QUEUE_TRANSFER_BIT | (real[host].queueFlags & kept),
                              queues);
    }
}

uint32_t bf_family_real(const struct bf_family_map *map, uint32_t shown)
{
    return shown < map->shown_count ? map->shown[shown].real : shown;
}

bool bf_family_same_real(const struct bf_family_map *map, uint32_t a, uint32_t b)
{
    return a < map->shown_count && b < map->shown_count && map->shown[a].real == map->shown[b].real;
}
