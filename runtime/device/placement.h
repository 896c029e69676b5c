/* SPDX-License-Identifier: MIT */
/*
 * The placement of queues: which real VkQueues are opened for the queues that a program asks for,
 * and which queue is backed by which. It is decided once, when the device is created.
 *
 *  PL-1  Besides the VkQueues that the program's queues are on, at most two are opened on a family:
 *        a spare, for command queues and for what Belfry itself runs; and where all of the
 *        program's queues on the family have priorities below 1.0, one of priority 1.0, for command
 *        queues of HIGH priority alone. They are ones that the family has left, and take no struct
 *        that the program chains to its queues but a global priority that is not raised. The spare
 *        has the highest priority of the program's queues on the family, so that a command queue is
 *        not behind any of them for where it is.
 *  PL-2  A program never sees a spare, nor which VkQueues the driver synchronizes for Belfry, and
 *        no device fails for either: what the driver refuses with them is asked for again without.
 *
 *  PL-3  Where the most suitable family has a spare, the first command queue is placed on it, and
 *        none on the VkQueue that the program uses first, which it presumably presents on; what
 *        Belfry itself runs is placed on no VkQueue of the program's.
 *
 *  PL-4  The program's queues share a VkQueue only with queues of the same priority, as long as
 *        there are as many VkQueues as priorities; else those of the lowest ones share one.
 *
 *  PL-5  What the driver gives high priority, by global priority or by queue priority, is for
 *        command queues of that priority: others are placed there only if the program has asked for
 *        no other VkQueue that can do their work, and never on one that Belfry has added for it. A
 *        global priority holds for all queues of a family (VUID-VkDeviceCreateInfo-
 *        pQueueCreateInfos-06654), so Belfry adds one only on a family of which the program has no
 *        queue. No device fails for it, and one line says that it was refused; what the program
 *        asked for is asked for all the same, and so is a priority that was asked for, or might
 *        have been, together with another one that is refused.
 *
 *  PL-6  What the shown families allow can be had, whatever flags the program asks for. Where a
 *        family has fewer VkQueues than kinds of queues are asked for on it, queues share that
 *        differ in who synchronizes them, and if that isn't enough, protected ones with others: a
 *        VkQueue that is protected, or internally synchronized, does all that another one does. A
 *        queue stays what it was asked for: only those of the flag may be used by several threads,
 *        or be given protected work.
 *
 * Proven by tests/device (placement.c) and tests/layer (create.c, beside_present.c).
 */
#ifndef BELFRY_DEVICE_PLACEMENT_H
#define BELFRY_DEVICE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "belfry/belfry.h"
#include "device/device.h"
#include "device/family.h"

/* At most so many VkQueues are reserved: of the global priorities HIGH and REALTIME. */
#define BF_PLACEMENT_RESERVED 2

struct bf_placement {
    /* For the driver's vkCreateDevice; priorities and array are the placement's own, pNext the
     * program's. */
    uint32_t request_count;
    VkDeviceQueueCreateInfo *requests;
    /* Engines without handles, in the order of the requests. */
    uint32_t engine_count;
    struct bf_engine_info *engines;
    /* All queues of the program, in the order in which it asked. */
    uint32_t queue_count;
    struct bf_queue_info *queues;
    uint32_t spare_count; /* of the engines; they are behind those of the program's queues */
    bool synchronized; /* VkQueues were made internally synchronized that the program asked plain */
    /* So many of the last requests and engines are for no queue of the program's (PL-5). */
    uint32_t reserved;
    VkDeviceQueueGlobalPriorityCreateInfoKHR chains[BF_PLACEMENT_RESERVED];
    void *memory;
};

/*
 * Requests of one real family with the same flags are merged, where need be also with different
 * ones (PL-6). Each gets as many VkQueues as queues were asked for, or as the family has; further
 * queues share them in turn (PL-4). A VkQueue has the highest priority of its queues. If merged
 * requests chain different structs, those of the first are used; but a real family can have only
 * one global priority, so if shown families backed by the same real one ask for several, the
 * structs with the highest are used for all: no queue gets a lower priority than it asked for.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED (one line) for a family or a
 * count that was never shown. Thread-safety: pure.
 */
VkResult bf_placement_init(const struct bf_family_map *map, uint32_t count,
                           const VkDeviceQueueCreateInfo *asked, struct bf_placement *placement);
void bf_placement_finish(struct bf_placement *placement);

/* Gives the queues levels (scheduler/window.h) by their queue priorities, but those whose family
 * asks for a global priority other than MEDIUM. 'asked' is what bf_placement_init was given. */
void bf_placement_take_priorities(struct bf_placement *placement, uint32_t count,
                                  const VkDeviceQueueCreateInfo *asked);

/* Adds the spares (PL-1) to the requests. To be called before VkQueues are reserved. */
void bf_placement_add_spares(const struct bf_family_map *map, struct bf_placement *placement);

/* Has the driver synchronize VkQueues that command queues or queues of the program's may share:
 * those of requests without flags that have no spare. Nothing changes for what the program
 * asks for by its own flags. To be called before VkQueues are reserved. */
void bf_placement_synchronize(struct bf_placement *placement);

/* Takes both back. */
void bf_placement_drop_spares(struct bf_placement *placement);

/* A real family that supports compute, is in the mask 'able', and of which no queue was asked for;
 * one without graphics is preferred. UINT32_MAX: there is none, or no more engines are allowed. */
uint32_t bf_placement_spare_family(const struct bf_placement *placement,
                                   const VkQueueFamilyProperties *real, uint32_t count,
                                   uint32_t able);

/* Adds a VkQueue of that global priority of such a family, for command queues of 'least' and above;
 * there are BF_PLACEMENT_RESERVED of them at most. The placement must not be moved afterwards: the
 * request points into it. */
void bf_placement_reserve(struct bf_placement *placement, uint32_t family,
                          VkQueueGlobalPriorityKHR priority, BfCommandQueuePriority least);
/* Takes the last one back; none: nothing happens. */
void bf_placement_drop_reserved(struct bf_placement *placement);
/* Once the device has been created: that reserved engine is left out, since it has no handle. */
void bf_placement_forget_reserved(struct bf_placement *placement, uint32_t engine);

#endif
