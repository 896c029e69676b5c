/* SPDX-License-Identifier: MIT */
/* A program with semaphores that somebody outside signals. */
#ifndef LAYER_OUTSIDE_H
#define LAYER_OUTSIDE_H

#include "screen.h"

/* A program with queues beside each other, some alone on their VkQueue, and a semaphore that
 * somebody outside signals by another handle. */
struct outside {
    VkSemaphore mine, theirs, t, binary;
    uint64_t before;
};

static inline struct outside outside_begin(struct device *w)
{
    struct outside o = {world_exportable(w), VK_NULL_HANDLE, vulkan_timeline(w->device, 0),
                        vulkan_binary(w->device), vulkan_counters(&w->icd).submit_infos};
    o.theirs = world_import_of(w, o.mine);
    return o;
}

static inline void outside_end(struct device *w, struct outside *o)
{
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, o->mine, o->theirs, o->t, o->binary);
}

static inline void submit(VkQueue queue, struct vulkan_batch batch)
{
    assert_success(vulkan_submit(queue, batch));
}

/* How many batches the driver has accepted since the beginning. */
static inline void assert_accepted(struct device *w, const struct outside *o, uint64_t count)
{
    assert_int_equal(vulkan_counters(&w->icd).submit_infos, o->before + count);
}

/* Five queues on four VkQueues: SHARED and BESIDE share one, the others are alone. */
enum { SHARED, ALONE, ALSO_ALONE, BESIDE = 4 };
static const uint32_t five[] = {5, WORLD_END};

#endif
