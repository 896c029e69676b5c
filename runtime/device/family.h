/* SPDX-License-Identifier: MIT */
/*
 * Which queue families a program sees, and which real family backs each.
 *
 * Real families keep their indices and counts; where a D3D12 type (3D, compute, copy) has no family
 * of its own, one of two queues is appended behind the real ones. Programs draw conclusions from
 * counts, so only who asks for it gets more queues in a family than the GPU has.
 */
#ifndef BELFRY_DEVICE_FAMILY_H
#define BELFRY_DEVICE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "settings/settings.h"

/* VkQueueFamilyOwnershipTransferPropertiesKHR and others have 32-bit masks of families. */
#define BF_MAX_FAMILIES 32

struct bf_family {
    uint32_t real;      /* index of the real family behind it */
    VkQueueFlags flags; /* what the program is told; never more than the real family can */
    uint32_t count;     /* queues the program may ask for */
    bool appended;
};

struct bf_family_map {
    uint32_t real_count;
    uint32_t shown_count;
    struct bf_family shown[BF_MAX_FAMILIES];
    uint32_t real_queues[BF_MAX_FAMILIES]; /* queueCount of each real family */
};

/*
 * 'queues_per_family' is the least number of queues of families of the D3D12 types; 0: as many as
 * the GPU has, and two in appended ones. With BF_QUEUES_NATIVE, and with more real families than
 * fit, the map is the identity (families beyond BF_MAX_FAMILIES are not in the map and are passed
 * on untranslated). Thread-safety: pure.
 */
void bf_family_map_init(const VkQueueFamilyProperties *real, uint32_t count,
                        enum bf_queues_mode mode, uint32_t queues_per_family,
                        struct bf_family_map *map);

/* Does the family copy whole mip levels of images, and nothing less? Pure. */
bool bf_family_copies_whole(const VkQueueFamilyProperties *family);

/* The real index for one that a program names; sentinels (IGNORED, EXTERNAL, FOREIGN) and indices
 * outside the map come back unchanged. */
uint32_t bf_family_real(const struct bf_family_map *map, uint32_t shown);

/* Are both families backed by the same real one? Then an ownership transfer between them is no
 * transfer for the driver. */
bool bf_family_same_real(const struct bf_family_map *map, uint32_t a, uint32_t b);

/* Is there nothing to translate? */
static inline bool bf_family_map_is_identity(const struct bf_family_map *map)
{
    return map->shown_count == map->real_count;
}

/* Does a program see families or queues that the GPU hasn't? */
static inline bool bf_family_map_adds(const struct bf_family_map *map)
{
    bool adds = !bf_family_map_is_identity(map);
    for (uint32_t i = 0; i < map->real_count; i++)
        adds |= map->shown[i].count > map->real_queues[i];
    return adds;
}

#endif
