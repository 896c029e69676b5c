/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler knows of a program's VkSemaphore: how far the driver has been told of its
 * signals. The semaphores themselves stay the driver's; nothing here ever waits on the GPU.
 *
 * Two counters per semaphore say what has been *accepted* (the driver's submit call has returned,
 * or the host signal has):
 *   reached[BF_FOR_WAIT]    timeline: the highest value signalled; binary: signals accepted
 *   reached[BF_FOR_SIGNAL]  binary only: waits accepted, since a binary signal may not overtake
 *                           the wait that consumes the one before
 * A binary operation's target is fixed when the program submits it: a wait needs all signals
 * submitted before it, a signal all waits. Payloads that arrive by other ways (an acquired image,
 * an import) need no bookkeeping: they leave nothing outstanding.
 *
 * S-1  reached[] only grows (save for an import, with nothing outstanding), and only after the
 *      driver has accepted what it counts.
 * S-2  A queue blocked on a counter is either on the waiter list or has been released: a waiter
 *      registers and then looks again, who raises a counter looks for waiters afterwards, both
 *      seq_cst (waiter_count and reached[]).
 * S-3  A packet's semaphores outlive it: the GPU may finish a held packet, and the program destroy
 *      its semaphore, before the thread that handed the packet over has counted its operations.
 *
 * Proven by tests/random (every program), S-2's race by tests/scheduler/semaphore.c.
 */
#ifndef BELFRY_SCHEDULER_SEMAPHORE_H
#define BELFRY_SCHEDULER_SEMAPHORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_scheduler;
struct bf_queue;

enum bf_side {
    BF_FOR_WAIT,
    BF_FOR_SIGNAL,
};

/* A queue that stands blocked; embedded in it, since only its first packet can be the reason. */
struct bf_waiter {
    struct bf_waiter *next;
    struct bf_queue *queue;
    struct bf_semaphore *sem;
    enum bf_side side;
    uint64_t target;
};

struct bf_semaphore {
    VkSemaphore handle;
    bool timeline;
    uint32_t log_handle; /* what logs call it; 0: they don't */
    /* Its payload may be signalled where nobody tells us (exported, imported). */
    _Atomic bool external;
    _Atomic bool forgotten; /* the program has destroyed it */
    _Atomic bool watched;   /* an external semaphore's watcher thread is running */
    _Atomic uint64_t reached[2];
    /* Timeline: queued[BF_FOR_WAIT] is the highest value that a command queue will signal. */
    _Atomic uint64_t queued[2]; /* binary: operations the program has submitted */
    uint32_t fence_count; /* fences on whose account alone it is known (fence/import_export.c) */
    _Atomic uint32_t references; /* the program's handle, and one for each packet's operation */
    _Atomic uint32_t waiter_count;
    struct bf_lock lock; /* leaf lock: the waiter list */
    struct bf_waiter *waiters;
};

/* A packet's operation on a semaphore; sem is NULL for one that Belfry was never told of, which is
 * passed on as it is. */
struct bf_sync {
    struct bf_semaphore *sem;
    uint64_t target;  /* timeline: the value waited for or signalled; binary: see above */
    uint64_t ordinal; /* for the trace: timeline value, or the number of the binary signal */
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. Thread-safety: safe. */
VkResult bf_semaphore_register(struct bf_scheduler *scheduler, VkSemaphore handle, bool timeline,
                               bool external, uint64_t initial_value);
/* A timeline that nobody finds, that logs leave out, and that goes with its last reference; NULL: out
 * of memory. */
struct bf_semaphore *bf_semaphore_create_unknown(VkSemaphore handle);
void bf_semaphore_forget(struct bf_scheduler *scheduler, VkSemaphore handle);
struct bf_semaphore *bf_semaphore_find(struct bf_scheduler *scheduler, VkSemaphore handle);

/* S-3. Both accept NULL. */
void bf_semaphore_reference(struct bf_semaphore *sem);
void bf_semaphore_release(struct bf_semaphore *sem);

/* May a wait (BF_FOR_WAIT) or a signal (BF_FOR_SIGNAL) with this target go to the driver? */
bool bf_semaphore_ready(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target);

/* Raise a counter to 'value' (timeline) or by one (binary). The queues this sets free are marked,
 * their engines returned as a mask to be pumped once no engine lock is held. */
uint64_t bf_semaphore_reach(struct bf_semaphore *sem, uint64_t value);
uint64_t bf_semaphore_count(struct bf_semaphore *sem, enum bf_side side);

/* Puts the queue on the waiter list unless the target has been reached meanwhile (false). */
bool bf_semaphore_block(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, struct bf_queue *queue);

/* All who wait look again whether they still have to: an obstacle of theirs may have gone without
 * its target being reached. Returns the engines to pump. No lock is held. */
uint64_t bf_semaphore_look_again(struct bf_semaphore *sem);

/* Takes the queue off the list it may be on: its first packet is to be dropped. The caller holds
 * the lock of the queue's engine. */
void bf_semaphore_unblock(struct bf_queue *queue);

/* The host signalled: call after the driver's vkSignalSemaphore has returned. Releases what waited,
 * on the caller's thread. Thread-safety: safe. */
void bf_semaphore_host_signal(struct bf_scheduler *scheduler, VkSemaphore handle, uint64_t value);

/* Blocks until the driver has accepted every signal of the semaphore that the program has
 * submitted (export, present). Errors: VK_ERROR_DEVICE_LOST. Thread-safety: safe. */
VkResult bf_semaphore_flush(struct bf_scheduler *scheduler, VkSemaphore handle);

/* The payload may from now on be changed by others. */
void bf_semaphore_set_external(struct bf_scheduler *scheduler, VkSemaphore handle);

/* Another payload has been imported: what the old one had reached says nothing about it. No
 * operation of the semaphore is outstanding, as vkImportSemaphoreFdKHR asks. */
void bf_semaphore_imported(struct bf_scheduler *scheduler, VkSemaphore handle);

#endif
