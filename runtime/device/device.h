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
#include "settings/settings.h"
#include "standstill/standstill.h"
#include "standstill/tdr.h"

struct bf_device {
    struct bf_scheduler scheduler;    /* first */
    struct bf_standstill *standstill; /* the watchdog; NULL: none */
    struct bf_tdr *tdr;               /* NULL: none */
    bool summary;                     /* attached: print a summary of its trace at the end */
    struct bf_device *next_left;      /* once a thread has been left in the driver */
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
    /* Hung engines; of an attached device, all engines' work is witnessed, since it is there for
     * command queues (WD-2). Off for drivers that compute on the CPU, where a healthy dispatch may
     * take long. */
    struct bf_tdr_info tdr;
    bool cpu, attached;
    bool at_interrupt; /* it tells when a signal ends the program */
    bool summary;      /* of the trace, at that time */
};

static inline struct bf_doorbell_info bf_doorbell_info_of(const struct bf_settings *settings)
{
    return (struct bf_doorbell_info){
        .physical = settings->doorbells,
        .global = settings->doorbell_model == BF_DOORBELL_MODEL_GLOBAL,
        .idle_ms = settings->doorbell_idle,
        .submits = settings->submit == BF_SUBMIT_DOORBELL,
    };
}

static inline struct bf_tdr_info bf_tdr_info_of(const struct bf_settings *settings)
{
    return (struct bf_tdr_info){
        .level = settings->tdr_level,
        .delay_ms = settings->tdr_delay,
        .ddi_ms = settings->tdr_ddi_delay,
        .limit_ms = settings->tdr_limit_time,
        .limit = settings->tdr_limit_count,
        .debug_mode = settings->tdr_debug_mode,
    };
}

/*
 * The VkDevice must have been created with timelineSemaphore and synchronization2 enabled. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is
 * missing), and those of vkCreateSemaphore and vkCreateCommandPool.
 */
VkResult bf_device_create(const struct bf_device_info *info, struct bf_device **device);

/* The program has waited for everything, as vkDestroyDevice demands. Ends and joins all threads.
 * False: one of them hasn't left the driver (L-7): the VkDevice must not be destroyed. */
bool bf_device_destroy(struct bf_device *device);

#endif
