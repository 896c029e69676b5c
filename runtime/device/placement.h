/*
 * Which real VkQueues are opened for the queues that a program asks for, and which queue goes to
 * which of them. Decided once, when the device is created.
 */
#ifndef BELFRY_DEVICE_PLACEMENT_H
#define BELFRY_DEVICE_PLACEMENT_H

#include <stdint.h>

#include <vulkan/vulkan.h>

#include "device/device.h"
#include "device/family.h"
#include "os/export.h"

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
    void *memory;
};

/*
 * Requests of one real family with the same flags are merged. Each gets as many VkQueues as queues
 * were asked for, or as the family has; queues beyond that share in turn. A VkQueue has the highest
 * priority of its queues. Where merged requests chain different structs, the first one's is kept.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED (one line) for a family or a
 * count that was never shown. Thread-safety: pure.
 */
BF_SHARED VkResult bf_placement_init(const struct bf_family_map *map, uint32_t count,
                                     const VkDeviceQueueCreateInfo *asked,
                                     struct bf_placement *placement);
BF_SHARED void bf_placement_finish(struct bf_placement *placement);

#endif
