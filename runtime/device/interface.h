/* SPDX-License-Identifier: MIT */
/*
 * The part of the layer's interface (interface/interface.h) that is device/'s: devices, and
 * the families that a program is shown.
 */
#ifndef BELFRY_DEVICE_INTERFACE_H
#define BELFRY_DEVICE_INTERFACE_H

#include "device/device.h"
#include "device/family.h"
#include "device/placement.h"
#include "device/tell.h"

/* clang-format off: it takes these for expressions */
#define BF_DEVICE_INTERFACE(F)                                                                     \
    F(VkResult, bf_device_create, (const struct bf_device_info *info, struct bf_device **device),  \
      (info, device))                                                                              \
    F(bool, bf_device_destroy, (struct bf_device * device), (device))                              \
    F(void, bf_device_tell, (const struct bf_device_tell *tell), (tell))                           \
    F(void, bf_family_map_init,                                                                    \
      (const VkQueueFamilyProperties *real, uint32_t count, enum bf_queues_mode mode,              \
       uint32_t queues_per_family, struct bf_family_map *map),                                     \
      (real, count, mode, queues_per_family, map))                                                 \
    F(uint32_t, bf_family_real, (const struct bf_family_map *map, uint32_t shown), (map, shown))   \
    F(bool, bf_family_copies_whole, (const VkQueueFamilyProperties *family), (family))             \
    F(bool, bf_family_same_real, (const struct bf_family_map *map, uint32_t a, uint32_t b),        \
      (map, a, b))                                                                                 \
    F(void, bf_placement_add_spares,                                                               \
      (const struct bf_family_map *map, struct bf_placement *placement), (map, placement))         \
    F(void, bf_placement_drop_reserved, (struct bf_placement * placement), (placement))            \
    F(void, bf_placement_drop_spares, (struct bf_placement * placement), (placement))              \
    F(void, bf_placement_finish, (struct bf_placement * placement), (placement))                   \
    F(void, bf_placement_forget_reserved, (struct bf_placement * placement, uint32_t engine),      \
      (placement, engine))                                                                         \
    F(VkResult, bf_placement_init,                                                                 \
      (const struct bf_family_map *map, uint32_t count, const VkDeviceQueueCreateInfo *asked,      \
       struct bf_placement *placement),                                                            \
      (map, count, asked, placement))                                                              \
    F(void, bf_placement_reserve,                                                                  \
      (struct bf_placement * placement, uint32_t family, VkQueueGlobalPriorityKHR priority,        \
       BfCommandQueuePriority least),                                                              \
      (placement, family, priority, least))                                                        \
    F(uint32_t, bf_placement_spare_family,                                                         \
      (const struct bf_placement *placement, const VkQueueFamilyProperties *real, uint32_t count,  \
       uint32_t able),                                                                             \
      (placement, real, count, able))                                                              \
    F(void, bf_placement_synchronize, (struct bf_placement * placement), (placement))              \
    F(void, bf_placement_take_priorities,                                                          \
      (struct bf_placement * placement, uint32_t count, const VkDeviceQueueCreateInfo *asked),     \
      (placement, count, asked))
/* clang-format on */

#endif
