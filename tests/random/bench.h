/* SPDX-License-Identifier: MIT */
/* The Vulkan device on which random programs run: queues of every family it shows, one host-visible
 * buffer in which command buffers leave their marks, and command buffers to record. */
#ifndef BELFRY_RANDOM_BENCH_H
#define BELFRY_RANDOM_BENCH_H

#include <pthread.h>
#include <volk.h>

#include "bf.h"
#include "plan.h"

enum { BENCH_FAMILIES = 16 };

struct bench_family {
    VkQueueFlags flags;
    uint32_t count;       /* queues that the device offers */
    uint32_t used;        /* queues that we have */
    VkCommandPool pool;   /* VK_NULL_HANDLE where no commands are possible */
    VkCommandBuffer *cbs; /* allocated so far, reset together */
    uint32_t cb_count;
    uint32_t cb_next; /* first that the program has not taken */
};

struct outsider {
    VkInstance instance;
    VkDevice device; /* VK_NULL_HANDLE: there is none */
    struct VolkDeviceTable vk;
};

enum { PRESENT_IMAGES = 3 };

/* What presents of one thread go to; zeroed where there are none. */
struct presenter {
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkFence fence;
    VkSemaphore drawn[PRESENT_IMAGES]; /* for which the image's present waits, if it does */
};

struct bench {
    VkInstance instance;
    VkPhysicalDevice physical;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    uint32_t api_version; /* of the device, at most 1.3 */
    bool sync2_core, sync2_extension, timeline_core;
    bool exportable; /* timelines can be exported as opaque file descriptors */

    struct outsider outsider;
    bool presents; /* the device has swapchains */
    struct presenter presenters[PLAN_THREADS];
    struct bf_api bf;
    bool attach;    /* by bfAttachDevice, not by the layer */
    bool bf_wanted; /* programs use Belfry's API, where it is there */

    VkDevice device;
    BfDevice bf_device;                /* NULL: there is none */
    uint64_t bf_submissions, bf_rings; /* what its counters may have counted by now */
    /* At most so many more: what destroyed queues of the last two programs were still to submit. */
    uint64_t bf_late[2];
    struct VolkDeviceTable vk;
    struct machine machine;
    VkQueue queues[PLAN_MACHINE_QUEUES];
    struct bench_family families[BENCH_FAMILIES];
    uint32_t family_count;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words; /* the buffer, mapped and coherent */
};

/* Where things are in the buffer, in words of 32 bits. */
enum {
    WORD_SLOT = 0,                      /* one per command buffer: its mark */
    WORD_TAIL = PLAN_CBS,               /* one per queue: the mark of its newest command buffer */
    WORD_SEEN = PLAN_CBS + PLAN_QUEUES, /* per command buffer: what it saw, then the tail */
    SEEN_STRIDE = PLAN_SEE + 1,
    BENCH_WORDS = WORD_SEEN + PLAN_CBS * SEEN_STRIDE,
};

/* bench_open: an instance; Belfry's API, which 'attach' asks for and 'vulkan_only' leaves alone;
 * and the first device whose name contains 'wanted' (NULL: the first) and that has timeline
 * semaphores. Returns 0, or 2 or 77 after a line on stderr. */
int bench_open(struct bench *bench, const char *wanted, bool attach, bool vulkan_only);
void bench_close(struct bench *bench);

/* bench_create_device: a device with queues and priorities that depend on 'variant' alone. There
 * must be none. Returns false after a line on stderr; nothing is left behind then. */
bool bench_create_device(struct bench *bench, uint64_t variant);
/* Takes a bench without device. Nothing may be running on it. */
void bench_destroy_device(struct bench *bench);

/* bench_timeline: a timeline semaphore; an exportable one where 'exportable' and the device allow
 * it: what others might do to it must not confuse who watches it. */
VkResult bench_timeline(struct bench *bench, uint64_t initial, bool exportable,
                        VkSemaphore *semaphore);

/* bench_record: records all command buffers of a plan into cbs[], for the families of its queues;
 * those of the program before must have ended. Marks are 'tag' plus the command buffer's number. */
VkResult bench_record(struct bench *bench, const struct plan *plan, uint32_t tag,
                      const uint32_t families[PLAN_QUEUES], VkCommandBuffer cbs[PLAN_CBS]);

/* outsider.c: who signals timelines that are exportable from outside, by handles of its own. */
bool outsider_open(struct bench *bench); /* false after a line on stderr */
void outsider_close(struct bench *bench);
/* A handle of the outsider's of the program's semaphore; the outsider's device destroys it. */
VkResult outsider_import(struct bench *bench, VkSemaphore semaphore, VkSemaphore *imported);
VkResult outsider_signal(struct bench *bench, VkSemaphore imported, uint64_t value);

/* present.c: the instance, with what presents need if it has it; and that of the device. */
VkResult present_create_instance(VkInstanceCreateInfo *info, struct bench *bench);
VkResult present_create(struct bench *bench);
void present_destroy(struct bench *bench);

VkResult bench_submit2(struct bench *bench, VkQueue queue, uint32_t count,
                       const VkSubmitInfo2 *infos, VkFence fence);
/* Waits until nothing runs on the device any more; all that was submitted must be able to end. */
VkResult bench_idle(struct bench *bench);
/* Belfry's counters as they are now count from here on: readers of logs may have added to them. */
VkResult bench_recount(struct bench *bench, uint64_t late);

#endif
