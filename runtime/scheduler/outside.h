/* SPDX-License-Identifier: MIT */
/*
 * Waits for outside: for a timeline semaphore that another process or API may signal. Such a wait
 * goes to the driver as it came where no other queue shares the engine; what the engine has
 * accepted behind it can then complete only when somebody outside has signalled.
 *
 * A signal is *accepted* when the driver's call with it has returned, and *grounded* when it will
 * come about without anybody outside: its submission, and each one before it on its engine, waits
 * for grounded signals only, or for values that have been seen. bf_semaphore.reached counts
 * grounded signals, bf_semaphore.ahead accepted ones (scheduler/semaphore.h).
 *
 *  OW-1  On an engine that queues share, a packet goes to the driver only when each of its waits is
 *        grounded; so nobody's VkQueue stands still for a neighbour's wait for outside, and Rule
 *        M's induction is over grounded work alone. On an engine that a VkQueue has to
 *        itself, a packet goes when its waits are accepted, or for outside.
 *  OW-2  What an engine has accepted that isn't grounded, and all that it accepts behind it, is in
 *        the engine's list in the order of acceptance. The first of the list leaves it when its
 *        waits are grounded, and its signals are counted as grounded then. A destroyed semaphore's
 *        wait is over: the program may not destroy it before.
 *  OW-3  Nobody misses it. Whoever is blocked by a signal that is accepted and not grounded has the
 *        engines with lists watched: he adds himself to the semaphore's waiters and then looks at
 *        'ahead', who lists a packet counts it, raises 'ahead' and then looks for waiters, all
 *        seq_cst. A watched list's first packet is a waiter of the semaphore that it waits for,
 *        which has a watcher if it is signalled from outside (scheduler/watcher.h).
 *  OW-4  Where nobody is blocked, a list costs no thread: it is looked through when its engine is
 *        pumped. One that has become long is watched.
 *  OW-5  What a present depends on, or an export of a signal that is pending, is handed over on
 *        shared engines, too: such a call returns without anybody outside. Of this, waits for
 *        outside go to the driver as they came, and neighbours on the VkQueue wait behind them; but
 *        never before a signal of this device, which has been submitted by then (vkQueuePresentKHR
 *        demands it). That signal is the least that is held, unless a lesser one has been accepted;
 *        and it has come when its own packet has been accepted: larger values may have been before,
 *        on other VkQueues, where they wait for outside. A packet goes along, and the present
 *        itself goes, once nothing that is held brings about what it waits for, directly or through
 *        accepted ones, whose waits may have gone for outside. Its thread sees to that: it looks
 *        again whenever something has been accepted or reached, until the present's signal and what
 *        that depends on have been accepted. Where both sides may signal a timeline, it is this
 *        device's signal that is waited for: for certain if it is of the very value, since values
 *        grow; else unless it comes behind the value itself, as when a batch waits for one value
 *        and signals the next. (That is followed through this device's queues as far as it is
 *        certain: beyond, such a present waits until it is known who came, and so may for somebody
 *        outside; likewise where a binary semaphore is signalled anew, and who waited for it before
 *        is held by a wait for outside.) The driver's waits for idleness, which are made under
 *        engines' locks, begin when what isn't grounded is over; until then they are waited for
 *        outside of the lock, so that nobody waits for somebody outside to get an engine's lock.
 *        What has been let go before the lock is had is seen by 'listed', which grows under it.
 *  OW-6  Command queues hand over nothing behind what isn't grounded: their epochs, and the values
 *        of fences that rest on them, always are. A new one is placed on an engine with a list only
 *        where there is no other.
 *
 * Lists are guarded by the engine's batch lock; packets are added with the engine's lock held, too.
 *
 * Proven by tests/layer (outside.c) and tests/random (programs with a signaller from outside).
 */
#ifndef BELFRY_SCHEDULER_OUTSIDE_H
#define BELFRY_SCHEDULER_OUTSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "scheduler/packet.h"

struct bf_engine;
struct bf_queue;
struct bf_scheduler;

/* Of each engine. */
struct bf_outside {
    struct bf_packet *first, *last; /* accepted, not grounded */
    _Atomic uint32_t count;
    _Atomic uint64_t listed; /* packets that ever were in it (OW-5) */
    _Atomic bool watched;
    bool in_batch; /* the batch being gathered has a packet that isn't grounded; under the lock */
    _Atomic bool blocked;
    struct bf_waiter waiter; /* for the first packet of a watched list */
};

/* By which rule the packet's waits let it go (OW-1, OW-5). */
enum bf_wait_rule bf_outside_rule(const struct bf_queue *queue, const struct bf_packet *packet);

/* Lists a packet that the driver has accepted, if it isn't grounded or is behind such packets; then
 * the list owns it. The engine's lock and batch lock are held. */
bool bf_outside_list(struct bf_engine *engine, struct bf_packet *packet, uint64_t *engines);

/* May command queues hand something over on the engine (OW-6)? Else the queue is blocked, unless
 * what isn't grounded is in the batch in hand. The engine's lock and batch lock are held. */
bool bf_outside_may_go(struct bf_engine *engine, struct bf_queue *queue, uint64_t *engines);

/* Removes from the list what has become grounded; returns the engines to pump. The caller holds no
 * lock but the engine's. */
uint64_t bf_outside_settle(struct bf_engine *engine);

/* Somebody is blocked by what isn't grounded: has the lists watched, once the engines that it
 * returns are pumped. */
uint64_t bf_outside_watch(struct bf_scheduler *scheduler);

/* Marks the held packets on which a signal of the semaphore, up to 'target', or the fence depends,
 * and lets them go, in turn (OW-5): blocks until they have been accepted, or the device is lost.
 * The caller holds no lock. Thread-safety: safe. */
void bf_outside_pass_semaphore(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target);
void bf_outside_pass_fence(struct bf_scheduler *scheduler, const struct bf_vkfence *fence);

/* Is the least signal that brings the timeline to 'target' held? Larger ones may have been accepted
 * on other VkQueues, where they wait for outside. */
bool bf_outside_signal_is_held(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                               uint64_t target);

/* Before the driver's wait for idleness: waits until what the engine has accepted is over, if it
 * isn't grounded. What fails here fails there again, or is done there. The caller holds no lock.
 * Then, with the engine's lock: is it so still? A present may have let more go, before that lock
 * was taken. */
uint64_t bf_outside_wait_over(struct bf_engine *engine);
bool bf_outside_is_over(const struct bf_engine *engine, uint64_t listed);

/* The device is lost or destroyed: empties the list. The batch lock is held, or nobody else uses
 * the engine any more. */
uint64_t bf_outside_drop(struct bf_engine *engine);

#endif
