/* SPDX-License-Identifier: MIT */
/*
 * One side of a comparison: an instance and a device of the plain driver, or the same under
 * Belfry's layer. Both can be open in one process, on the same GPU.
 */
#ifndef BENCH_SIDE_H
#define BENCH_SIDE_H

#include <volk.h>

#include "part.h"

#define SIDE_QUEUES 16

struct side {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    struct VolkDeviceTable vk; /* the device's functions, from vkGetDeviceProcAddr */
    uint32_t family;           /* of all queues: the first with graphics or compute */
    uint32_t queue_count;
    VkQueue queues[SIDE_QUEUES];
    VkCommandPool pool;
    VkCommandBuffer commands; /* empty; may be submitted several times at once */
};

/* Loads Vulkan and opens `side` with `queues` queues of one family, or fewer if the family has
 * fewer. False: the reason is in `found`, and `side` is closed. */
bool side_open(struct side *side, enum bench_side which, const char *gpu, uint32_t queues,
               struct bench_found *found);

/* The same on the first device, which can present to headless surfaces. */
bool side_open_presenting(struct side *side, enum bench_side which, uint32_t queues,
                          struct bench_found *found);

/* The same on the first device with `gpu` in its name, which can link pipelines from libraries,
 * with dynamic rendering. */
bool side_open_linking(struct side *side, enum bench_side which, const char *gpu,
                       struct bench_found *found);

/* Waits for the device; accepts a zeroed side. */
void side_close(struct side *side);

/* What is measured gets its memory from what the process has had already: on some machines the
 * first use of a page takes longer than all else. */
void side_warm_heap(void);

/* A timeline semaphore with the value 0. VK_NULL_HANDLE: the reason is in `found`. */
VkSemaphore side_timeline(struct side *side, struct bench_found *found);

VkResult side_wait(struct side *side, VkSemaphore semaphore, uint64_t value);

/* Work that keeps the device busy for some time: the same buffer is filled several times. */
struct side_filler {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkCommandBuffer commands;
    VkCommandPool pool;
};

#define SIDE_FILLER_TIMES_MOST 4096

/* Records `times` fills. False: the reason is in `found`; it must be destroyed all the same. */
bool side_filler_create(struct side *side, uint32_t times, struct side_filler *filler,
                        struct bench_found *found);
/* The same, with commands that may be submitted several times at once. */
bool side_filler_create_shared(struct side *side, uint32_t times, struct side_filler *filler,
                               struct bench_found *found);
void side_filler_destroy(struct side *side, struct side_filler *filler);

/* The number of fills that takes about `nanoseconds`; 0: the reason is in `found`. */
uint32_t side_filler_times(struct side *side, uint64_t nanoseconds, struct bench_found *found);

#endif
