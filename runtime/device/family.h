/* SPDX-License-Identifier: MIT */
/*
 * Which queue families a program sees, and which real family backs each.
 *
 * Real families keep their indices; families of the D3D12 types (3D, compute, copy) get more
 * queues; where a type has no family of its own, one is appended behind the real ones.
 */
#ifndef BELFRY_DEVICE_FAMILY_H
#define BELFRY_DEVICE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "settings/settings.h"

/* VkQueueFamilyOwnershipTransferPropertiesKHR and others hold families as bits of 32. */
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
 * 'queues_per_family' is a minimum for the families it applies to, the real count the other.
 * With BF_QUEUES_NATIVE, and with more real families than fit, the map is the identity (families
 * beyond BF_MAX_FAMILIES stay as they are: they are not in the map and pass untranslated).
 * Thread-safety: pure.
 */
void bf_family_map_init(const VkQueueFamilyProperties *real, uint32_t count,
                        enum bf_queues_mode mode, uint32_t queues_per_family,
                        struct bf_family_map *map);

/* The real index for one that a program names; sentinels (IGNORED, EXTERNAL, FOREIGN) and indices
 * outside the map come back unchanged. */
uint32_t bf_family_real(const struct bf_family_map *map, uint32_t shown);

/* Two shown families that are one below: an ownership transfer between them is none. */
bool bf_family_same_real(const struct bf_family_map *map, uint32_t a, uint32_t b);

/* Anything to translate at all? */
static inline bool bf_family_map_is_identity(const struct bf_family_map *map)
{
    return map->shown_count == map->real_count;
}

#endif
