/* SPDX-License-Identifier: MIT */
/*
 * Which real VkQueues are opened for the queues that a program asks for, and which queue goes to
 * which of them. Decided once, when the device is created.
 */
#ifndef BELFRY_DEVICE_PLACEMENT_H
#define BELFRY_DEVICE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "device/device.h"
#include "device/family.h"

struct bf_placement {
    /* For vkCreateDevice below; priorities and array are the placement's own, pNext the program's.
     */
    uint32_t request_count;
    VkDeviceQueueCreateInfo *requests;
    /* Engines without handles, in the order of the requests. */
    uint32_t engine_count;
    struct bf_engine_info *engines;
    /* All queues of the program, in the order in which it asked. */
    uint32_t queue_count;
    struct bf_queue_info *queues;
    bool reserved; /* the last request and the last engine are nobody's */
    VkDeviceQueueGlobalPriorityCreateInfoKHR realtime;
    void *memory;
};

/*
 * Requests of one real family with the same flags are merged. Each gets as many VkQueues as queues
 * were asked for, or as the family has; queues beyond that share in turn. A VkQueue has the highest
 * priority of its queues. Where merged requests chain different structs, the first one's are kept;
 * but a real family can have one global priority, and where families that are one below ask for
 * several, the structs of the highest are taken for all: no queue is lowered.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED (one line) for a family or a
 * count that was never shown. Thread-safety: pure.
 */
VkResult bf_placement_init(const struct bf_family_map *map, uint32_t count,
                           const VkDeviceQueueCreateInfo *asked, struct bf_placement *placement);
void bf_placement_finish(struct bf_placement *placement);

/* A real family that can compute, is in the mask 'able', and of which nothing was asked: one
 * without graphics before others. UINT32_MAX: there is none, or no engine more is allowed. */
uint32_t bf_placement_spare_family(const struct bf_placement *placement,
                                   const VkQueueFamilyProperties *real, uint32_t count,
                                   uint32_t able);

/* One VkQueue more, of global priority REALTIME, on such a family; once. The placement must stay
 * where it is from now on: the request points into it. */
void bf_placement_reserve_realtime(struct bf_placement *placement, uint32_t family);
void bf_placement_drop_reserved(struct bf_placement *placement);

#endif
