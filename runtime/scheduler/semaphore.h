/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler knows of a VkSemaphore of the program's: which of its signals and waits the
 * driver has accepted. The semaphore itself is the driver's; nothing here waits for the GPU.
 *
 * Three counters per semaphore say what has been *accepted* (the driver's submit call has returned,
 * or the host signal has), and what of it is *grounded*, which needs nobody outside to come about
 * (scheduler/outside.h):
 *   reached[BF_FOR_WAIT]    timeline: the highest value whose signal is grounded; binary: the
 *                           number of the last signal that is
 *   ahead                   the same of accepted signals, where that is more
 *   reached[BF_FOR_SIGNAL]  binary only: waits accepted, since a binary signal may not overtake
 *                           the wait that consumes the one before
 * A binary operation's target is fixed when the program submits it: a wait needs all signals
 * submitted before it, a signal all waits. Payloads that arrive by other ways (an acquired image,
 * an import) need no bookkeeping: they leave nothing outstanding.
 *
 * S-1  reached[] and 'ahead' only grow (except by an import, which needs that nothing is
 *      outstanding), and only after the driver has accepted what they count.
 * S-2  A queue blocked on a counter is either on the waiter list or has been released: a waiter
 *      registers and then looks again, who raises a counter looks for waiters afterwards, both
 *      seq_cst (waiter_count, and reached[] and 'ahead').
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

struct bf_engine;
struct bf_scheduler;
struct bf_queue;

enum bf_side {
    BF_FOR_WAIT,
    BF_FOR_SIGNAL,
};

/* Which signals let a wait go to the driver. */
enum bf_wait_rule {
    BF_WAIT_GROUNDED, /* grounded ones, and values that have been seen */
    BF_WAIT_ACCEPTED, /* accepted ones, too */
    BF_WAIT_NATIVE,   /* these, and a wait for outside goes as it came */
    BF_WAIT_COMPLETE, /* of a timeline, only values that have been seen (PW-4) */
};

/* A blocked queue; embedded in it, since only its first packet can be blocked. Or an engine whose
 * list of what isn't grounded is watched. */
struct bf_waiter {
    struct bf_waiter *next;
    struct bf_queue *queue; /* or */
    struct bf_engine *engine;
    bool accepted; /* accepted signals end its wait, grounded or not */
    bool complete; /* its wait ends when the value has been seen */
    struct bf_semaphore *sem;
    enum bf_side side;
    uint64_t target;
};

struct bf_semaphore {
    VkSemaphore handle;
    bool timeline;
    uint32_t log_handle; /* in logs; 0: it is not logged */
    /* Its payload may be signalled without Belfry's knowledge (exportable, imported, or known to
     * Belfry by a fence alone); others have it (exported, imported). */
    _Atomic bool external, outside;
    _Atomic bool forgotten; /* the program has destroyed it, or the fences that registered it */
    _Atomic bool destroyed; /* the program has; changes under the lock */
    _Atomic bool watched;   /* its watcher thread is running (scheduler/watcher.h) */
    _Atomic uint64_t reached[2];
    _Atomic uint64_t ahead;
    _Atomic uint64_t seen;         /* timeline: the largest value that was read for PW-4 */
    _Atomic uint64_t signalled_on; /* engines that were given signals */
    /* Binary: the epoch, times BF_MAX_ENGINES, and the engine's number, of the last accepted signal
     * whose packet had an epoch; 0: none. Until its wait has been accepted no other signal is.
     * Stored before reached[BF_FOR_WAIT] counts the signal, loaded behind a load of that. */
    _Atomic uint64_t signalled_at;
    /* Timeline: queued[BF_FOR_WAIT] is the highest value that a command queue will signal. */
    _Atomic uint64_t queued[2];  /* binary: operations the program has submitted */
    uint32_t fence_count;        /* fences that have registered it; 0: the layer has */
    _Atomic uint32_t fences;     /* imported from it or exported to it */
    _Atomic uint32_t references; /* the program's handle, and one for each packet's operation */
    _Atomic uint32_t waiter_count;
    struct bf_signpost
        *_Atomic followed; /* who has followed it looks again when that is announced (OW-5) */
    /* Held over vkSignalSemaphore, so that values grow; whoever waits for it has no other
     * lock. */
    struct bf_lock signal_lock;
    struct bf_lock lock; /* leaf lock: the waiter list, and of watchers (W-2): */
    struct bf_waiter *waiters;
    uint64_t watched_value; /* which the first waits for, or 0 */
    _Atomic bool expressed; /* there is a second one */

    _Atomic uint64_t used_on; /* shared engines that were given operations (scheduler/retired.h) */
    uint64_t kept_by;         /* once it is retired: of these, those not yet drained */
    struct bf_semaphore *next_retired;
};

/* A packet's operation on a semaphore; sem is NULL for one that isn't registered, whose operations
 * are passed on as they are. */
struct bf_sync {
    struct bf_semaphore *sem;
    uint64_t target;  /* timeline: the value; binary: see above */
    uint64_t ordinal; /* for the trace: timeline value, or the number of the binary signal */
};

/* Of a signal, what its semaphore counts: the value of a timeline, the number of a binary one. */
static inline uint64_t bf_sync_signalled(const struct bf_sync *signal)
{
    return signal->sem->timeline ? signal->target : signal->ordinal;
}

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. The caller goes on with bf_deferral_end, once it holds no
 * lock, if others than the program may signal it or wait for it. Thread-safety: safe. */
VkResult bf_semaphore_register(struct bf_scheduler *scheduler, VkSemaphore handle, bool timeline,
                               bool external, uint64_t initial_value);
/* A timeline semaphore of Belfry's own: it can't be found by its handle, isn't logged, and is freed
 * with its last reference; NULL: out of memory. */
struct bf_semaphore *bf_semaphore_create_unknown(VkSemaphore handle);
void bf_semaphore_forget(struct bf_scheduler *scheduler, VkSemaphore handle);
/* vkDestroySemaphore: forgets it, and hands it to the driver, at once or later: when a stuck call
 * of a lost device has been given it (L-3), and when the driver may look at it late
 * (scheduler/retired.h). The caller holds no lock. */
void bf_semaphore_destroy(struct bf_scheduler *scheduler, VkSemaphore handle,
                          const VkAllocationCallbacks *allocator);
/* The program's allocator, or NULL: the driver is to create the semaphore without, since it may be
 * destroyed when the allocator has gone. */
const VkAllocationCallbacks *bf_semaphore_allocator(struct bf_scheduler *scheduler, bool timeline,
                                                    const VkAllocationCallbacks *allocator);
struct bf_semaphore *bf_semaphore_find(struct bf_scheduler *scheduler, VkSemaphore handle);
/* The same for who can't say that the program doesn't destroy it at this moment: with a
 * reference. */
struct bf_semaphore *bf_semaphore_find_living(struct bf_scheduler *scheduler, VkSemaphore handle);

/* S-3. Both accept NULL. */
void bf_semaphore_reference(struct bf_semaphore *sem);
void bf_semaphore_release(struct bf_semaphore *sem);

/* May others signal it, and is no fence here on it? A fence's values may come from work that is
 * held, or from the CPU. */
bool bf_semaphore_is_outside(const struct bf_semaphore *sem);

/* May a wait (BF_FOR_WAIT) or a signal (BF_FOR_SIGNAL) with this target go to the driver? */
bool bf_semaphore_ready(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule);

/* The value of a timeline that others may signal, from the driver; false: it is unknown, or the
 * program has destroyed the semaphore. Thread-safety: safe, while the caller has a reference. */
bool bf_semaphore_counter(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                          uint64_t *value);

/* The highest value, or the number of the last signal, that the driver has accepted. */
uint64_t bf_semaphore_accepted(struct bf_semaphore *sem);

/* A signal is grounded, or accepted without that: the value of a timeline, the number of a binary
 * signal. bf_semaphore_count: a binary wait has been accepted. The queues that this releases are
 * marked, and their engines returned as a mask, to be pumped once no engine's lock is held. */
uint64_t bf_semaphore_reach(struct bf_semaphore *sem, uint64_t value);
uint64_t bf_semaphore_accept(struct bf_semaphore *sem, uint64_t value);
uint64_t bf_semaphore_count(struct bf_semaphore *sem);
/* The engine, a bit, has been given a signal of the semaphore: to be called before the signal is
 * reached. */
static inline void bf_semaphore_signalled_on(struct bf_semaphore *sem, uint64_t engine)
{
    if (!(atomic_load_explicit(&sem->signalled_on, memory_order_relaxed) & engine))
        atomic_fetch_or(&sem->signalled_on, engine);
}

/* A value of a timeline has been seen (BF_WAIT_COMPLETE). */
uint64_t bf_semaphore_see(struct bf_semaphore *sem, uint64_t value);

/* Adds the queue to the waiter list; false: the target has been reached meanwhile. Adds engines to
 * *engines that are to be pumped once no lock is held. */
bool bf_semaphore_block(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule, struct bf_queue *queue,
                        uint64_t *engines);
/* The same for the first packet of an engine's list (scheduler/outside.h), whose batch lock is
 * held. */
bool bf_semaphore_block_engine(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target, struct bf_engine *engine, uint64_t *engines);

/* All waiters check again whether they still have to wait: the reason may be gone without the
 * target being reached. Returns the engines to pump. No lock is held. */
uint64_t bf_semaphore_look_again(struct bf_semaphore *sem);

/* Removes the queue from the waiter list, if it is on one: its first packet is to be dropped. The
 * caller holds the batch lock of the queue's engine. */
void bf_semaphore_unblock(struct bf_queue *queue);

/* The driver's vkSignalSemaphore for a program under the layer. Of a lost device, one whose dropped
 * packets have brought the semaphore to the value or above is as it should be. Errors: the
 * driver's. Thread-safety: safe; the caller holds no lock. */
VkResult bf_semaphore_signal_driver(struct bf_scheduler *scheduler,
                                    const VkSemaphoreSignalInfo *info);
/* A packet that was to signal the timeline is dropped with the lost device: what waits for that
 * elsewhere must end, too, and the driver itself may not consider the device lost. */
void bf_semaphore_signal_dropped(struct bf_scheduler *scheduler, const struct bf_sync *sync);

/* The host has signalled; to be called after the driver's vkSignalSemaphore has returned. Releases
 * the waiters on the caller's thread, who holds no lock; returns when AC-2 holds
 * (scheduler/acceptance.h). Thread-safety: safe. */
void bf_semaphore_host_signal(struct bf_scheduler *scheduler, VkSemaphore handle, uint64_t value);
/* The same, but the caller pumps the engines that are returned. */
uint64_t bf_semaphore_host_signalled(struct bf_scheduler *scheduler, VkSemaphore handle,
                                     uint64_t value);

/* Blocks until the driver has accepted every signal of the semaphore that the program has
 * submitted (export, present), for which nobody outside is waited for (OW-5). Errors:
 * VK_ERROR_DEVICE_LOST. Thread-safety: safe. */
VkResult bf_semaphore_flush(struct bf_scheduler *scheduler, VkSemaphore handle);

/* From now on others may change the payload. No lock is held. */
void bf_semaphore_set_external(struct bf_scheduler *scheduler, VkSemaphore handle);

/* Another payload has been imported, for which the old values mean nothing. No operation of the
 * semaphore is outstanding, as vkImportSemaphoreFdKHR demands. */
void bf_semaphore_imported(struct bf_scheduler *scheduler, VkSemaphore handle);

#endif
