/* SPDX-License-Identifier: MIT */
/*
 * The scheduler of a device: its engines, the queues on them, and the state of its semaphores and
 * fences.
 *
 *  L-1  The program is told that the device is lost only when nothing is held any more: from then
 *       on it may destroy what the held packets referred to. Proven by tests/layer (devices lost at
 *       every submission of a program).
 *  L-2  By then every fence reads UINT64_MAX and every event registered with one is set. Proven by
 *       tests/scheduler (loss_midway.c).
 *  L-3  A call of the driver's that is stuck delays that by STUCK_NS (loss.c) at most. What is held
 *       is dropped meanwhile, whoever has the engine's lock, and who waits for that goes on without
 *       it, and does nothing: he is told of the loss. Of what the call itself was given,
 *       semaphores, fences, command buffers, and a bind's buffers, images and memory stay until the
 *       device's end when the program destroys them: of command buffers all, by their pools. (On
 *       attached devices pools, buffers, images and memory are the program's own.) Proven by
 *       tests/layer (acceptance.c, stuck_calls.c).
 *  L-4  What is known of a loss is reported once, by the first who is told of it, before he is: how
 *       far the engines were, what the driver has to say (gpu/fault.h); and the trace so far goes
 *       to its file. Nobody else waits for that. Proven by tests/scheduler (loss.c).
 *  L-5  Who waits for held work or for a lock that is held over calls of the driver's, or asks for
 *       it, learns of a loss that no other call has met: he asks the driver, once a millisecond at
 *       most, and ten times a second while he sleeps; so does who waits for a BfFence that work
 *       might signal which was held when he began. Of a loss that Belfry has declared, and the
 *       driver may know nothing of, who polls is told as well: what was dropped will never have
 *       run. Proven by tests/layer (acceptance.c, stuck_calls.c, removed.c) and tests/scheduler
 *       (loss.c).
 *  L-6  Where Belfry may declare the device lost on its own, no wait of the program's in the driver
 *       outlasts that by more than SLICE_NS (driver_wait.c), save for work that is none of a
 *       command queue's, and for calls that Vulkan gives no time-out. Proven by tests/standstill
 *       (tdr.c) and tests/layer (removed.c).
 *  L-7  Nobody waits for ever for a thread of Belfry's whose wait the driver doesn't end, though
 *       its time is over: after 'leave_ns' the thread is left there, and what it was given stays,
 *       with the device (bf_scheduler_join). When it returns it touches nothing else. Proven by
 *       tests/scheduler (left.c).
 */
#ifndef BELFRY_SCHEDULER_SCHEDULER_H
#define BELFRY_SCHEDULER_SCHEDULER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "base/map.h"
#include "belfry/belfry.h"
#include "gpu/gpu.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/pending.h"
#include "scheduler/queue.h"
#include "scheduler/retired.h"

struct bf_execute_observer;
struct bf_fence_extension;
struct bf_fences;
struct bf_observer;
struct bf_peer_extension;
struct bf_device_watch;
struct bf_doorbell_extension;
struct bf_doorbells;
struct bf_thread;
struct bf_watcher;

/* A semaphore, fence or command pool that outlives its destruction by the program (L-3): a call
 * that is stuck in the driver on a lost device may have been given it. It goes with the device,
 * since no drain of the engine can end before that call has. A list of its own beside retired
 * timelines (scheduler/retired.h): those are objects that the scheduler tracks, on one driver, and
 * go when their engines have been drained; of fences and binary semaphores there is nothing to
 * link. */
struct bf_retained {
    struct bf_retained *next;
    VkSemaphore semaphore; /* or */
    VkFence fence;         /* or */
    VkCommandPool pool;    /* or */
    VkBuffer buffer;       /* or */
    VkImage image;         /* or */
    VkDeviceMemory memory; /* or */
    VkQueryPool queries;
};

/* How many doorbells the GPU is to have (the settings 'doorbells' and 'doorbell_model'). */
struct bf_doorbell_info {
    uint32_t physical;
    bool global;      /* all queues share one */
    uint32_t idle_ms; /* until an idle engine goes to F1 (setting 'doorbell_idle'); 0: never */
    bool submits;     /* the program's VkQueues have some, too (setting 'submit') */
};

struct bf_scheduler {
    struct bf_gpu gpu; /* first */
    struct bf_label_calls label_calls;

    uint32_t engine_count, queue_count;
    struct bf_engine *engines;
    struct bf_queue *queues; /* the program's VkQueues */
    _Atomic uint32_t shared; /* engines that several queues share */
    _Atomic bool was_shared; /* one has been: last submissions may name objects */

    struct bf_map semaphores, vkfences;
    struct bf_retired retired;
    _Atomic bool external_fences;     /* there has been one */
    _Atomic uint32_t deferred_fences; /* VkFences of held packets */
    struct bf_signpost
        progress; /* announced when held packets have been handed over, or the device is lost */
    _Atomic uint64_t released; /* queues and engines set free so far (AC-2) */
    /* It has semaphores, fences or memory that others may look at: what it hands over can be seen
     * from outside (AC-2). Never cleared. */
    _Atomic bool seen_outside;
    /* The device is attached, and a fence has been a semaphore of the program's, too, which it may
     * wait for past Belfry (AC-2, PW-7). Never cleared. */
    _Atomic bool names_fences;
    _Atomic bool defers;       /* packets may have been deferred (scheduler/deferral.h) */
    _Atomic uint32_t flushes;  /* of what has been, under way */
    _Atomic bool submits_ring; /* packets of the program's VkQueues are, and a doorbell is rung */
    _Atomic uint32_t windows;  /* engines with windows, and preemption requests (PW-7, PE-1) */
    /* There have been some; set before 'windows' grows, and for good. What they held may still be
     * going when there are none, and its engine is 'dirty' by then (PW-7, bf_windows_flush). */
    _Atomic bool had_windows;
    /* The recording of its command buffers is seen, and nothing has spanned two of them: packets
     * may be split (PE-6). Set at creation; false for good once it is. */
    _Atomic bool splits;
    _Atomic bool costs_frozen; /* nothing more is learnt of what packets cost */
    _Atomic bool lost;
    BfDeviceRemovedReason removed_reason; /* set before loss_announced */
    bool lost_below;                      /* the driver has said so; likewise */
    _Atomic bool reported;                /* L-4 */
    _Atomic bool loss_announced;          /* the fences and their waiters have been told */
    _Atomic uint64_t asked_ns;            /* when the driver was asked last (L-5) */
    _Atomic bool told_difference;         /* */
    _Atomic bool stuck; /* a call of the driver's did not return when the device was lost (L-3) */
    struct bf_lock pass_lock;     /* over marking what goes with a present (OW-5); level 1 */
    struct bf_lock retained_lock; /* leaf lock: the list */
    struct bf_retained *retained; /* what that call has and the program has destroyed */

    uint64_t leave_ns;                /* L-7 */
    _Atomic(struct bf_thread *) left; /* those threads */

    bool preemption;             /* the setting */
    _Atomic bool known;          /* the program has asked for its BfDevice (PE-4) */
    bool measures_costs;         /* with windows: the GPU's timestamps are cheap (PW-8) */
    struct bf_lock *submit_lock; /* setting serialize_submits; NULL: off */
    struct bf_lock submit_lock_storage;

    /* It is being destroyed: no wakers or watchers are made, whoever still pumps. Set before those
     * there are end; looked at under the lock that makes them. */
    _Atomic bool stopping;
    struct bf_lock watch_lock; /* leaf lock: the list of watchers */
    struct bf_watcher *watchers;

    struct bf_device_watch *watch; /* scheduler/watch.h; NULL: no watchdog */
    bool watches_all;              /* WD-2: not only engines that take command queues */
    /* The device may be declared lost while the driver knows of nothing (standstill/tdr.h): waits
     * in the driver are made in slices, or else nothing would end them (L-6). */
    bool sliced;
    struct bf_observer *observer; /* NULL: nobody observes; not owned */
    /* NULL: none. Set while the program has no queue yet. */
    const struct bf_execute_observer *execute_observer;

    struct bf_pending pending; /* signals of fences that have not applied yet */
    const struct bf_fence_extension *fence_extension;       /* scheduler/fence.h; NULL: none */
    const struct bf_peer_extension *peer_extension;         /* scheduler/peer_wait.h; NULL: none */
    struct bf_fences *fences;                               /* fence/ owns it */
    const struct bf_doorbell_extension *doorbell_extension; /* NULL: none */
    struct bf_doorbells *_Atomic doorbells;                 /* doorbell/ owns it; NULL: none yet */
    struct bf_doorbell_info doorbell_info;
    _Atomic uint32_t command_queues_made, fences_made; /* numbers in their names */
};

struct bf_engine_info {
    VkQueue handle;
    uint32_t family, index; /* real */
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags;
    uint32_t timestamp_bits;
    bool copies_whole;                        /* whole mip levels of images, and nothing less */
    VkQueueGlobalPriorityKHR global_priority; /* 0: none was asked for */
    float queue_priority;                     /* 0: unknown */
    uint32_t least; /* BfCommandQueuePriority, of command queues that may come here */
    bool reserved;  /* no queue of the program's is on it */
    bool spare;     /* nor on this one, which is for command queues and Belfry's own */
};

struct bf_queue_info {
    uint32_t family, index; /* as shown */
    VkQueueFlags family_flags;
    VkDeviceQueueCreateFlags flags;
    uint32_t engine;
    uint8_t level; /* enum bf_level; BF_LEVEL_NONE: by the engine's global priority */
};

struct bf_scheduler_info {
    struct bf_gpu_info gpu;
    uint32_t engine_count, queue_count;
    const struct bf_engine_info *engines;
    const struct bf_queue_info *queues;
    bool serialize_submits;
    bool preemption;              /* the setting */
    bool cpu;                     /* the driver is a CPU's: its timestamps aren't cheap (PW-8) */
    bool shares_memory;           /* memory may be exported or imported unseen (AC-2) */
    bool watched;                 /* a watchdog is to see what is outstanding */
    bool timed;                   /* it ends what hangs on command queues' engines */
    uint32_t leave_ms;            /* L-7 */
    bool layer;                   /* under the layer: VkQueue handles are struct bf_queue */
    struct bf_observer *observer; /* NULL: none; stays until the device is destroyed */
    const struct bf_fence_extension *fence_extension;
    const struct bf_peer_extension *peer_extension;
    const struct bf_doorbell_extension *doorbell_extension;
    struct bf_doorbell_info doorbell_info;
};

/* Initialises a zeroed struct; bf_scheduler_finish is to be called after an error, too. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_FEATURE_NOT_PRESENT (a function that Belfry needs is
 * missing), and those of vkCreateSemaphore, vkCreateQueryPool and vkCreateCommandPool. */
VkResult bf_scheduler_init(struct bf_scheduler *scheduler, const struct bf_scheduler_info *info);

/* The device is being destroyed, and the program has waited for everything, as vkDestroyDevice
 * demands. bf_scheduler_stop ends and joins the watchers; between the two calls, fence/ ends what
 * it has for the device's fences. */
void bf_scheduler_stop(struct bf_scheduler *scheduler);
void bf_scheduler_finish(struct bf_scheduler *scheduler);

/* The scheduler of a live device, else NULL and one line that names the call. */
struct bf_scheduler *bf_scheduler_of(BfDevice handle, const char *call);

/* The queue that the program knows by these, or NULL. */
struct bf_queue *bf_scheduler_find_queue(struct bf_scheduler *scheduler, uint32_t family,
                                         uint32_t index, VkDeviceQueueCreateFlags flags);

/* The first of the program's queues on that VkQueue of the driver's, or NULL. */
struct bf_queue *bf_scheduler_queue_on(const struct bf_scheduler *scheduler, VkQueue handle);

/* The queue with the program's handle: the layer's own, or on attached devices the driver's; else
 * NULL and one line that names the call. */
struct bf_queue *bf_scheduler_vkqueue(BfDevice handle, VkQueue queue, const char *call);

/* To be called while the program has no queue yet, or none any more. NULL: no observer. */
void bf_scheduler_observe_executes(struct bf_scheduler *scheduler,
                                   const struct bf_execute_observer *observer);

/* vkDeviceWaitIdle. Errors: VK_ERROR_DEVICE_LOST, out of memory from the driver. */
VkResult bf_scheduler_wait_idle(struct bf_scheduler *scheduler);

/* vkGetQueryPoolResults. With VK_QUERY_RESULT_WAIT_BIT it may wait for work that is still held, for
 * which the driver must not be asked to wait. */
VkResult bf_scheduler_query_results(struct bf_scheduler *scheduler, VkQueryPool pool,
                                    uint32_t first, uint32_t count, size_t size, void *data,
                                    VkDeviceSize stride, VkQueryResultFlags flags);

/* Declares the device lost, the first time: says where, marks every engine so that its next pump
 * drops what is held, and wakes every waiter. Returns VK_ERROR_DEVICE_LOST. Callers that hold no
 * engine's lock use bf_scheduler_lost, which pumps as well. */
VkResult bf_scheduler_lose(struct bf_scheduler *scheduler, const char *where);
/* By Belfry's decision: the driver may know nothing of it. */
VkResult bf_scheduler_lose_for(struct bf_scheduler *scheduler, BfDeviceRemovedReason reason,
                               const char *where);
/* The driver's result of a call that may not fail: for memory, by decision, or by the driver. */
VkResult bf_scheduler_lose_by(struct bf_scheduler *scheduler, VkResult result, const char *where);
VkResult bf_scheduler_lost(struct bf_scheduler *scheduler, const char *where);

/* Packets of the engine have been set free, and 'dirty' is set (AC-2). Who has read 'released'
 * before he did what led to this finds the engine's number greater: it is read here after that, and
 * the engine has it before it is counted. */
static inline void bf_engine_count_released(struct bf_engine *engine)
{
    uint64_t number = atomic_load(&engine->scheduler->released) + 1;
    uint64_t known = atomic_load(&engine->released);
    while (known < number && !atomic_compare_exchange_weak(&engine->released, &known, number)) {
    }
    atomic_fetch_add(&engine->scheduler->released, 1);
}

/* How often who sleeps until held work is over has the driver asked of a loss (L-5). */
#define BF_SCHEDULER_LOOK_NS UINT64_C(100000000)

/* Whether the device is lost; the driver is asked, but for calls that follow another one at once
 * (L-5). */
bool bf_scheduler_ask_lost(struct bf_scheduler *scheduler);
/* Takes a lock that is held over calls of the driver's. False: it isn't taken; the device is lost,
 * and who has it may be stuck (L-3). */
bool bf_scheduler_acquire(struct bf_scheduler *scheduler, struct bf_lock *lock);
/* bf_signpost_sleep on 'progress', for so long at most that a loss is noticed that nobody else
 * tells of. */
uint32_t bf_scheduler_sleep(struct bf_scheduler *scheduler, uint32_t ticket, uint64_t deadline_ns,
                            bool *timed_out);

/* For every place that tells the program of the loss: returns VK_ERROR_DEVICE_LOST once L-1 and L-2
 * hold. The caller holds no engine's lock. */
VkResult bf_scheduler_settle(struct bf_scheduler *scheduler);

/* Waits for the GPU's work that has epochs, as all of command queues' has, until an engine has
 * finished nothing for so long, and the driver's waits have been given time to return (L-7);
 * without memory or a thread for it, not at all. The driver goes on with a device that Belfry has
 * declared lost, and what was made of it is to stay until then. */
void bf_scheduler_await_accepted(struct bf_scheduler *scheduler, uint64_t timeout_ns);

/* Keeps one object until the device's end; without memory for that, or with the program's own
 * allocation callbacks, which may be gone by then, for ever. Thread-safety: safe. */
void bf_scheduler_retain(struct bf_scheduler *scheduler, struct bf_retained what,
                         bool own_callbacks);
/* L-3: whether a stuck call may have what the program destroys, that object (none: command buffers
 * that it frees or resets, which then stay with their pool as they are). If so, it is kept, and not
 * to be destroyed. Thread-safety: safe. */
bool bf_scheduler_keeps(struct bf_scheduler *scheduler, const struct bf_retained *object,
                        bool own_callbacks);
void bf_scheduler_destroy_retained(struct bf_scheduler *scheduler);

/* L-7: joins a thread that has been told to stop. False: it hasn't left the driver; what it uses
 * stays. Thread-safety: safe. */
bool bf_scheduler_join(struct bf_scheduler *scheduler, struct bf_thread *thread);
/* So somebody has been left: the device stays, too. */
static inline bool bf_scheduler_was_left(struct bf_scheduler *scheduler)
{
    return atomic_load(&scheduler->left) != NULL;
}

/* The engines with packets appended since their last pump, as a mask. */
uint64_t bf_scheduler_dirty_engines(struct bf_scheduler *scheduler);

static inline bool bf_scheduler_is_lost(struct bf_scheduler *scheduler)
{
    return atomic_load(&scheduler->lost);
}

/* Is any packet held, or being handed to the driver? */
bool bf_scheduler_has_backlog(struct bf_scheduler *scheduler);

/* The process may end: what has been completed is seen once more, though nobody has asked for it,
 * so that fences, logs and timelines know. It waits for nobody: of an engine that somebody uses
 * nothing is seen. Nothing is handed over. The caller holds no lock. Thread-safety: safe. */
void bf_scheduler_see_ends(struct bf_scheduler *scheduler);

#endif
