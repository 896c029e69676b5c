/* SPDX-License-Identifier: MIT */
/*
 * Background processing: work that runs beside a program without disturbing it, and that the
 * program can see, time, steer and switch off.
 *
 * Where clauses are named, [BP x] is the section x of Microsoft's "D3D12 Background Processing"
 * specification. What belfry.h says is common to all functions holds here too, except that a lost
 * device changes nothing: items that were queued run, and see the loss in their own calls.
 *
 * The pool
 *
 *  - It belongs to the process: all devices share it. It has no thread before the first item is
 *    queued, none after the last device is gone, and none awake while nothing is queued.
 *  - Items of one device are given to threads in the order they were queued in, and among devices
 *    the one that was queued first comes first. At most two run at a time in the process (setting
 *    'background_tasks'; where devices differ, the least of them), on threads of SCHED_IDLE and the
 *    idle I/O class. Threads that an item creates, or that a library or a driver creates in it,
 *    inherit both for good: an unprivileged process can't raise them again.
 *  - Such a thread is never promoted. The boost
 *    (BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, or in developer mode a wait for a
 *    commit, see bfSetBackgroundProcessingMode) runs items that have not begun yet on other
 *    threads, of normal priority; an item that has begun ends on its own thread. The pool's threads
 *    are created by the thread that queues the process' first item: if that thread is itself
 *    SCHED_IDLE, or has a raised nice value, so has the boost.
 *  - While memory is short (less than a tenth of it is available, or more than a tenth of the time
 *    is lost to waiting for it, as the kernel counts) no item begins. The first time a message says
 *    so.
 *  - After fork() the pool is the parent's: in the child the devices that it inherited can't be
 *    used (no object of Vulkan can), and bfQueueProcessingWork and bfSetBackgroundProcessingMode
 *    refuse them; devices of its own have a pool of their own.
 */
#ifndef BELFRY_BACKGROUND_H
#define BELFRY_BACKGROUND_H

#include <belfry/belfry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* D3D12_BACKGROUND_PROCESSING_MODE, by the same numbers. [BP API] */
typedef enum BfBackgroundProcessingMode {
    BF_BACKGROUND_PROCESSING_MODE_ALLOWED = 0, /* what a device begins with */
    BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS = 1,
    BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK = 2,     /* developer mode */
    BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM = 3, /* developer mode */
} BfBackgroundProcessingMode;

/* D3D12_MEASUREMENTS_ACTION, by the same numbers. [BP API] */
typedef enum BfMeasurementsAction {
    BF_MEASUREMENTS_ACTION_KEEP_ALL = 0,
    BF_MEASUREMENTS_ACTION_COMMIT_RESULTS = 1,
    BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY = 2, /* developer mode */
    BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS = 3,
} BfMeasurementsAction;

/* The callback of an item, which does its work, or its cancel function. */
typedef void (*PFN_bfProcessingWork)(void *pContext);

/*
 * Queues one item of work (QueueProcessingWorkCb). [BP DDI] For each call that returns VK_SUCCESS
 * exactly one of the two is called, once, with the context: the callback on a thread of the pool,
 * or pfnCancel (may be NULL: then nothing is called), on the destroying thread if the device is
 * destroyed before the item began; or, if background work is disabled, on the calling thread before
 * this returns. No lock of Belfry's is held over either: they may queue more, and destroy other
 * objects. An item must not be needed for a correct result, and must end: destroying the device
 * waits for those that have begun. (If an item destroys its own device, that waits for the other
 * items only; and if it was the last device, the pool's threads end after the item.)
 *
 * Takes no lock and, while the pool is busy, makes no system call. The first call in a process
 * creates a thread.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY (also if no thread can be created; neither function is
 * called), VK_ERROR_VALIDATION_FAILED_EXT (pfnCallback is NULL; a device from before a fork).
 * Thread-safety: safe.
 */
BF_API VkResult bfQueueProcessingWork(BfDevice device, PFN_bfProcessingWork pfnCallback,
                                      PFN_bfProcessingWork pfnCancel, void *pContext);

/*
 * Sets which background work is permitted from now on, and what is done with the measurements so
 * far (ID3D12Device6::SetBackgroundProcessingMode). [BP API] If nothing uses background processing
 * it succeeds and changes nothing. It doesn't wait for the GPU.
 *
 *  - ALLOWED and ALLOW_INTRUSIVE_MEASUREMENTS accept items. The latter says that smooth frames
 *    don't matter now.
 *  - DISABLE_BACKGROUND_WORK: items queued before it run, later ones are cancelled.
 *    DISABLE_PROFILING_BY_SYSTEM also stops all adaptation of Belfry to what it has measured.
 *  - COMMIT_RESULTS: drivers (bfAddBackgroundDriver) now queue the work that the measurements
 *    suggest. Their items are accepted whatever the mode was and is: a disable takes effect when
 *    this returns. All items of the device that are queued or running at that moment are the
 *    commit's set. 'event' (may be NULL) is set when they have ended: at once if there are none,
 *    and also if the device is destroyed before.
 *  - COMMIT_RESULTS_HIGH_PRIORITY: the same, and the items of the set that have not begun run on
 *    several threads of normal priority, until all of them have ended. In developer mode a
 *    bfWaitForEvents that blocks on the event of a commit has the same effect for that commit, so
 *    that no thread of normal priority waits for idle threads to begin. (Polling the event's
 *    descriptor has none, nor has any wait elsewhere.)
 *  - DISCARD_PREVIOUS: earlier measurements don't count any more. Queued items stay queued.
 *
 * *pFurtherMeasurementsDesired (may be NULL): VK_TRUE while items or verdicts of drivers are
 * outstanding, and while more measurements are desired: by a driver, or because items were queued
 * since the program last asked. A round is the time between two calls that ask. After four rounds
 * that began with nothing outstanding, such a desire is ignored, until a call finds none, or
 * DISCARD_PREVIOUS. So a loop that asks ends, with commits and without.
 *
 * Errors, all of which change nothing: VK_ERROR_NOT_PERMITTED_KHR (a mode or an action of developer
 * mode, and the setting developer_mode is off), VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_VALIDATION_FAILED_EXT (an event without one of the COMMIT actions; values outside the
 * enumerations; called by an item, or by a driver's pfnOnMode for its own device; a device from
 * before a fork). Thread-safety: safe; calls for one device take turns.
 */
BF_API VkResult bfSetBackgroundProcessingMode(BfDevice device, BfBackgroundProcessingMode mode,
                                              BfMeasurementsAction action, BfEvent event,
                                              VkBool32 *pFurtherMeasurementsDesired);

/* D3D12_FEATURE_DATA_D3D12_OPTIONS6::BackgroundProcessingSupported, and what this device permits.
 * [BP Support Query] */
typedef struct BfBackgroundProcessingProperties {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES */
    void *pNext;
    VkBool32 backgroundProcessingSupported; /* some driver uses it */
    VkBool32 developerMode;                 /* the setting developer_mode */
    uint32_t backgroundTasks;               /* the setting background_tasks */
} BfBackgroundProcessingProperties;

/* Errors: VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe. */
BF_API VkResult bfGetBackgroundProcessingProperties(BfDevice device,
                                                    BfBackgroundProcessingProperties *pProperties);

/* ------------------------------------------------------------------------- The driver's side -- */

/* Would a driver measure more? */
typedef enum BfMeasurementsState {
    BF_MEASUREMENTS_SETTLED = 0,     /* no: the workload is measured and has nothing new */
    BF_MEASUREMENTS_DESIRED = 1,     /* yes */
    BF_MEASUREMENTS_OUTSTANDING = 2, /* a verdict on something that is in use is still due */
} BfMeasurementsState;

typedef struct BfBackgroundModeInfo {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_BACKGROUND_MODE_INFO */
    const void *pNext;
    BfBackgroundProcessingMode mode;
    BfMeasurementsAction action;
    /* The number of DISCARD_PREVIOUS actions of the device: measurements made at a lower number are
     * void. */
    uint64_t epoch;
} BfBackgroundModeInfo;

/*
 * A source of background work: in D3D12 the user-mode driver, here any part of Belfry or of the
 * program that optimises by measurements. Any of the functions may be NULL. None is called with a
 * lock of Belfry's held.
 */
typedef struct BfBackgroundDriver {
    BfStructureType sType; /* BF_STRUCTURE_TYPE_BACKGROUND_DRIVER */
    const void *pNext;
    void *pContext;
    /* Called once, before the first item of the device begins, on a thread of normal priority: to
     * start threads that must not be SCHED_IDLE for good, such as those of a Vulkan driver's
     * compiler. */
    void (*pfnPrepare)(void *pContext);
    /* Called by every bfSetBackgroundProcessingMode of the device that succeeds, one at a time, on
     * its caller's thread. Items that it queues are part of a commit. */
    void (*pfnOnMode)(void *pContext, const BfBackgroundModeInfo *pInfo);
    /* Called after pfnOnMode, if the program asks. */
    BfMeasurementsState (*pfnFurtherMeasurementsDesired)(void *pContext);
} BfBackgroundDriver;

/*
 * Adds a driver to the device, until that is destroyed: no function of it is called thereafter. The
 * struct is copied.
 *
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_VALIDATION_FAILED_EXT. Thread-safety: safe.
 */
BF_API VkResult bfAddBackgroundDriver(BfDevice device, const BfBackgroundDriver *pDriver);

#ifdef __cplusplus
}
#endif

#endif
