/* SPDX-License-Identifier: MIT */
/*
 * Doorbells, and doorbell/'s part of a device: one thread per engine that has queues for user-mode
 * submission, which looks at the doorbells of its queues, and reads the rings of those that have
 * been rung.
 *
 *  DT-1  What was rung while its doorbell's status was CONNECTED, or notified, is read, without any
 *        further call (DB-2, DB-3, DP-1).
 *  DT-2  One engine's thread waits for no other engine: a call of the driver's that is stuck keeps
 *        back the rings of its engine alone, and those of the engine whose thread is in it, for
 *        what it had set free there. To connect a doorbell, to take one away, to notify, to
 *        suspend, to resume and to change power states wait for no thread that is in the driver.
 *  DT-3  While nothing is queued, or all that is belongs to suspended queues, no thread runs
 *        (DP-3), but for the looks of DT-5.
 *  DT-4  On a lost device every doorbell is ABORT before a fence is told of the loss.
 *  DT-5  What was in a ring when its program last loaded CONNECTED is read before the device sleeps
 *        (D3); else it doesn't fall asleep. To connect a doorbell wakes engine and device. A device
 *        doesn't go to sleep by itself while a suspended queue has work in its ring; once every
 *        engine is idle, it looks after each further 'doorbell_idle' whether that is over.
 *
 *  DT-6  With submit=doorbell the thread also hands over what the program's VkQueues have deferred
 *        (scheduler/deferral.h), asleep or not. While another thread has the engine's lock it waits
 *        for nothing: that thread looks at 'dirty' when it has released the lock.
 *  DT-7  What is in a ring when its device is destroyed is read before, and what of it the driver
 *        has accepted is waited for, unless the queue is suspended; a lost device drops it.
 *
 *  DT-8  What they have deferred on one engine goes down in the order of the calls, as it does
 *  inline,
 *        but for what a wait holds and where priorities have windows (scheduler/window.h): so
 *        nobody's work comes to stand behind a command buffer that stalls the VkQueue for an event
 *        of the host's, and was submitted later.
 *
 * Proven by tests/doorbell and tests/layer (acceptance.c).
 */
#ifndef BELFRY_DOORBELL_DOORBELL_H
#define BELFRY_DOORBELL_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/thread.h"
#include "doorbell/hw_queue.h"
#include "doorbell/page.h"
#include "doorbell/park.h"
#include "doorbell/ring.h"

struct bf_engine;
struct bf_gpu;
struct bf_map;
struct bf_scheduler;

struct bf_doorbell {
    struct bf_doorbell_page page;
    struct bf_doorbell_thread *thread;
    /* Changed under its lock and the thread's; NULL: it has another one, or has been destroyed. */
    struct bf_hw_queue *hw;
    struct bf_ring *ring; /* referenced */
    BfKmtHandle handle;
    uint32_t trace_id;        /* its queue's */
    _Atomic bool traced;      /* as connected */
    _Atomic uint64_t read;    /* entries that have been read; changed under the queue's lock */
    _Atomic uint32_t reason;  /* BfAbortReason */
    _Atomic uint64_t entry;   /* that ended the queue */
    struct bf_doorbell *next; /* of the device */
};

struct bf_doorbell_thread {
    struct bf_doorbell_group group; /* first */
    struct bf_park park;
    struct bf_scheduler *scheduler;
    struct bf_thread thread;
    _Atomic bool low_power; /* F1 */
    struct bf_lock lock;    /* the list of queues, and over looking at their doorbells */
    struct bf_hw_queue *queues;
    /* Of the program's VkQueues on the engine: rung when a packet of theirs has been deferred.
     * Their lists of packets stand for the ring, and the engine's 'dirty' for its write pointer. */
    struct bf_engine *engine;
    struct bf_doorbell_page vkqueues;
    _Atomic bool vkqueues_ring;
    bool vkqueues_look;
    struct bf_signpost readers; /* announced when 'readers' of a queue has become 0 */
};

/* doorbell/'s part of a device; made at the first queue for user-mode submission. */
struct bf_doorbells {
    struct bf_scheduler *scheduler;
    struct bf_doorbell_pages pages;
    struct bf_lock power_lock; /* one at a time decides whether the device sleeps */
    _Atomic bool asleep;       /* D3 */
    _Atomic bool left;         /* a reader of a ring has not come back from the driver (HQ-5) */
    struct bf_lock lock;       /* over making threads; the lists */
    struct bf_doorbell *doorbells;
    struct bf_ring *rings;                        /* that the program hasn't destroyed */
    struct bf_doorbell_thread *_Atomic threads[]; /* by engine; NULL: none yet */
};

/* What is told to doorbell/ by those below it. */
extern const struct bf_doorbell_extension bf_doorbell_extension;

/* The device is being destroyed: the threads end, and what the program left goes. */
void bf_doorbells_stop(struct bf_scheduler *scheduler);

/* The device's part, made if it isn't there. Errors: bf_doorbell_pages_init's. */
VkResult bf_doorbells_of(struct bf_scheduler *scheduler, struct bf_doorbells **doorbells);

/* buffers_end of struct bf_gpu, from the first queue on. */
void bf_doorbells_buffers_end(struct bf_gpu *gpu, VkCommandBuffer buffer, struct bf_map *pool);

/* Adds a queue to its engine's thread, which is begun if it isn't there; removes it, after which
 * nobody reads its ring any more. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_doorbell_thread_add(struct bf_doorbells *doorbells, struct bf_hw_queue *hw);
void bf_doorbell_thread_remove(struct bf_hw_queue *hw);
/* bf_doorbell_extension.ring. */
bool bf_doorbell_ring_vkqueues(struct bf_engine *engine);
/* Stops the engine's thread, if it has one. False: the driver doesn't let it go, and what it uses
 * stays (L-7). Once none of its queues is left, it is freed. */
bool bf_doorbell_thread_stop(struct bf_doorbells *doorbells, uint32_t engine);
void bf_doorbell_thread_free(struct bf_doorbells *doorbells, uint32_t engine);

/* Calls the function for every queue for user-mode submission, without a lock; none is freed
 * meanwhile. */
void bf_doorbells_each(struct bf_scheduler *scheduler,
                       void (*visit)(struct bf_hw_queue *hw, void *what), void *what);
/* The same for those of one engine. */
void bf_doorbells_each_of(struct bf_doorbell_thread *thread,
                          void (*visit)(struct bf_hw_queue *hw, void *what), void *what);

/* bfSuspendCommandQueue and bfResumeCommandQueue. False: there are as many as can be, or none. */
bool bf_doorbell_thread_suspend(struct bf_hw_queue *hw, bool suspend);

/* F-states and D-states (power.c). [UMS 6, 7] The owner's 'idle' of an engine's thread; a doorbell
 * of the engine is being connected, or what is in its ring read; the engine alone has work. */
bool bf_doorbell_power_idle(void *thread);
void bf_doorbell_power_wake(struct bf_doorbell_thread *thread);
void bf_doorbell_engine_wake(struct bf_doorbell_thread *thread);

/* The doorbell's queue, or NULL; until it is released it isn't freed. */
struct bf_hw_queue *bf_doorbell_hold_queue(struct bf_doorbell *doorbell);
void bf_doorbell_release_queue(struct bf_hw_queue *hw);

/* Takes the doorbell off its queue, for good; 'drain': what has been written is read first, unless
 * the queue has been ended. The queue's lock is held. */
void bf_doorbell_retire(struct bf_doorbell *doorbell, BfAbortReason reason, bool drain);

#endif
