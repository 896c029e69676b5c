/* SPDX-License-Identifier: MIT */
/*
 * A whole device: its scheduler, whose first member is struct bf_gpu, and the parts above it. It is
 * built and destroyed here; each subject owns its part.
 */
#ifndef BELFRY_DEVICE_DEVICE_H
#define BELFRY_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/scheduler.h"
#include "standstill/standstill.h"

struct bf_device {
    struct bf_scheduler scheduler;    /* first */
    struct bf_standstill *standstill; /* the watchdog; NULL: none */
    bool summary;                     /* attached: print a summary of its trace at the end */
};

/* The parts of a device, for callers that are to know nothing else of it. Valid as long as it. */
static inline struct bf_scheduler *bf_device_scheduler(struct bf_device *device)
{
    return &device->scheduler;
}

static inline struct bf_gpu *bf_device_gpu(struct bf_device *device)
{
    return &device->scheduler.gpu;
}

static inline struct bf_standstill *bf_device_standstill(struct bf_device *device)
{
    return device->standstill;
}

struct bf_device_info {
    struct bf_scheduler_info scheduler; /* its extensions are filled in here */
    uint32_t background_tasks;
    bool developer_mode;
    uint32_t watchdog_ms; /* 0: no watchdog */
};

/*
 * The VkDevice must have been created with timelineSemaphore and synchronization2 enabled. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is
 * missing), and those of vkCreateSemaphore and vkCreateCommandPool.
 */
VkResult bf_device_create(const struct bf_device_info *info, struct bf_device **device);

/* The program has waited for everything, as vkDestroyDevice demands. Ends and joins all threads. */
void bf_device_destroy(struct bf_device *device);

#endif
