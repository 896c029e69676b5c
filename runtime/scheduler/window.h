/* SPDX-License-Identifier: MIT */
/*
 * Priority windows: how much of lower queues' work an engine has in flight while a queue of higher
 * priority is on it. What the driver has accepted can't be taken back, so the window stands before
 * there is any contention: a higher queue's packet then waits for what is in flight, and for
 * nothing that is held.
 *
 * A queue has a level: a command queue's comes from its priority, a VkQueue's from its global
 * priority. The engine has windows while queues of several levels are on it; those below the
 * highest are its lower queues. A destroyed queue is on it until its packets have gone (C-4), since
 * they are as urgent as they were: one that waits for ever keeps its level there until the device's
 * end. In flight means accepted and not seen complete.
 *
 *  PW-1  In flight of lower queues there is no more than BF_WINDOW_ACTIVE_NS of estimated GPU time
 *        while a higher queue has submitted within BF_WINDOW_RECENT_NS, be it behind a wait, or
 *        something of its has gone to the driver within that; and no more than BF_WINDOW_NS while
 *        there is one (what it submitted before there were windows, or at another level, doesn't
 *        count); but always one packet that runs and one behind it. A packet of which nothing is
 *        known (scheduler/cost.h) goes alone. A packet that would exceed this is held by the
 *        window; its queue is marked 'windowed', which AC-1 accepts.
 *  PW-2  Each packet of a lower queue that goes to the driver has an epoch. Where it is held by a
 *        window at least one such epoch isn't complete: so its time comes
 *        (Lemma: the GPU finishes what it has been given, Q-1).
 *  PW-3  Nobody misses that. A pump that leaves packets held by a window has the engine's waker
 *        wait for an epoch that isn't complete, before it releases the engine's lock; the waker
 *        marks the engine dirty once the epoch has been reached and pumps. Before the first
 *        packet is held, the waker is there: without a thread there is no window. A pump that
 *        stops at its bound leaves the engine dirty.
 *  PW-4  A packet of a lower queue goes when its waits are satisfied, not merely grounded, so that
 *        none blocks the VkQueue: the values of timelines that other engines or others signal are
 *        waited for by a watcher (scheduler/watcher.h), the epochs of other engines by their
 *        wakers. A binary semaphore's payload can't be asked for: the epoch of the packet that
 *        signals it is waited for. Where there is none, grounded must do: of signals from before
 *        there were windows, and of what others signal (an acquired image, which the present behind
 *        it lets go in any case, PW-7). What windows limit no more, goes at once.
 *  PW-5  Higher queues aren't held by windows, and are gathered first, one packet of PW-6 aside.
 *  PW-6  Lower queues of one level that have packets which may go share the GPU's time evenly: the
 *        one that has had the least of it goes first. A packet counts as its queue's packets have
 *        taken of late, in the mean: not as the window takes them for (scheduler/cost.h), which is
 *        less where they vary. Who comes, or comes back, is taken to have had as much as who was
 *        served last; and who can't be served for a while falls behind by BF_WINDOW_NS at most.
 *        Nobody starves: of those that have been held for BF_WINDOW_OVERDUE_NS, one packet goes in
 *        each such time whatever is in flight, of the one that has been held longest. Behind a
 *        batch that was full before it was the lower queues' turn, which holds them too, that
 *        packet goes before the higher ones'. So of N queues
 *        each gets one to the driver within N times BF_WINDOW_OVERDUE_NS, the time for which the
 *        waker and a packet that runs take it on the CPU aside.
 *  PW-7  What a higher queue waits for counts as the higher queue's own (scheduler/inherit.h), and
 *        so does what a present, an export, a sparse bind, or a wait for idleness of a VkQueue or
 *        the device depends on; and, since that isn't known, all that is held before a submission
 *        that can't be copied; whether there are windows by then or come later (IH-5).
 *        (bfQueueWaitIdle is a wait for a fence, as in D3D12.) So does, on attached devices, what
 *        signals a semaphore that a fence has been imported from or exported to, and what its queue
 *        has before it, from the call on that submits it: the program may give a VkQueue a wait for
 *        it, past Belfry. While somebody outside of the device can tell
 *        (bf_scheduler.seen_outside), no window holds anything; nor, on attached devices, what goes
 *        to VkQueues, since the program's own calls of the driver can tell.
 *
 * With one level on an engine there is no window: submitting reads one flag.
 *
 * Proven by tests/scheduler (window.c) and tests/random.
 */
#ifndef BELFRY_SCHEDULER_WINDOW_H
#define BELFRY_SCHEDULER_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_engine;
struct bf_packet;
struct bf_queue;
struct bf_scheduler;
struct bf_semaphore;
struct bf_sync;
struct bf_waker;

#define BF_WINDOW_ACTIVE_NS  UINT64_C(500000)
#define BF_WINDOW_NS         UINT64_C(4000000)
#define BF_WINDOW_RECENT_NS  UINT64_C(100000000)
#define BF_WINDOW_OVERDUE_NS UINT64_C(50000000)

/* Submissions of lower queues in flight of which an engine keeps count at once. */
#define BF_WINDOW_ENTRIES 128

enum bf_level {
    BF_LEVEL_NONE,
    BF_LEVEL_LOW,
    BF_LEVEL_NORMAL,
    BF_LEVEL_HIGH,
    BF_LEVEL_REALTIME,
    BF_LEVELS,
    BF_LEVEL_PASSES = 255, /* of a packet: no window holds it */
};

/* A submission of a lower queue that was in flight when it was looked at last. */
struct bf_window_entry {
    struct bf_queue *queue; /* NULL: it has left the engine */
    uint64_t epoch;
    uint64_t begun_ns; /* before the driver's call: behind it the GPU may be done already */
    uint64_t cost_ns;  /* what it was taken to cost, or BF_COST_UNKNOWN */
    uint32_t packets;
};

/* Of each engine; under its lock. */
struct bf_window {
    /* The highest level of its queues; BF_LEVEL_NONE: there are no windows. Read without the
     * lock, to tell whether a queue is a lower one. */
    _Atomic uint8_t top;
    _Atomic uint8_t submitted;     /* levels that have since the last look, as bits; no lock */
    uint32_t queues[BF_LEVELS];    /* on the engine, by their levels */
    uint64_t active_ns[BF_LEVELS]; /* when the level's submitted or went last; 0: never */
    uint64_t served_ns[BF_LEVELS]; /* PW-6: the most that a queue had had when it was served */

    struct bf_window_entry entries[BF_WINDOW_ENTRIES]; /* a ring, in the order of epochs */
    uint32_t first, count;
    uint32_t packets, unknown;    /* in them */
    uint64_t sum_ns;              /* of what is known */
    uint64_t seen_epoch, seen_ns; /* the last epoch that was seen complete, and when */

    /* The batch that is being gathered. */
    uint64_t gathers; /* counts them: a queue's level may fall while it is looked at */
    uint64_t now_ns;
    bool full;          /* a packet has been held: those behind it in turn are, too */
    bool held;          /* by the window */
    uint8_t held_level; /* of the packet that was held first */
    uint32_t batch_packets, batch_unknown;
    uint64_t batch_sum_ns;
    uint64_t run_ns;          /* of the queue that is looked at */
    struct bf_queue *overdue; /* goes next, whatever is in flight; or NULL */
    uint64_t overdue_ns;      /* when the last one did */
    bool passed_over;         /* the last batch was full before it was the lower queues' turn */

    struct bf_waker *_Atomic waker; /* NULL: nothing has been held yet */
};

/* A queue joins the engine or leaves it, or its level changes; the lock is held. */
void bf_window_join(struct bf_engine *engine, uint8_t level);
void bf_window_leave(struct bf_engine *engine, struct bf_queue *queue);
void bf_window_change(struct bf_engine *engine, struct bf_queue *queue, uint8_t level);

/* After a queue has joined an engine, or its level has changed, or a request for preemption may
 * hold packets: IH-2. No lock is held. */
void bf_windows_changed(struct bf_scheduler *scheduler);

/* The level of a VkQueue with that global priority (0: none was asked for), or of a command queue
 * with that BfCommandQueuePriority. */
static inline uint8_t bf_level_of_global(VkQueueGlobalPriorityKHR priority)
{
    switch (priority) {
    case VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR:
        return BF_LEVEL_LOW;
    case VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR:
        return BF_LEVEL_HIGH;
    case VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR:
        return BF_LEVEL_REALTIME;
    default:
        return BF_LEVEL_NORMAL;
    }
}

uint8_t bf_level_of_priority(uint32_t priority);

/* A queue of the level has been given something, before it is on the list: whether that may go or
 * not. Who pumps behind it notes when. Without windows it reads one flag; no lock is needed. */
static inline void bf_window_submitted(struct bf_window *window, uint8_t level)
{
    const uint8_t bit = (uint8_t)(1u << level);
    if (atomic_load_explicit(&window->top, memory_order_relaxed) &&
        !(atomic_load(&window->submitted) & bit))
        atomic_fetch_or(&window->submitted, bit);
}

/* For the pump: before a batch is gathered, when it is ('full': others might have gone, too), and
 * when nothing more is. The lock is held. */
void bf_window_look(struct bf_engine *engine);
void bf_window_gathered(struct bf_engine *engine, bool full);
void bf_window_arm(struct bf_engine *engine);

/* Where there are windows: the queue that is to be gathered before all others (PW-6), or NULL. */
struct bf_queue *bf_window_first(struct bf_engine *engine);

/* Where there are windows, of a queue that hasn't been in this batch: is it of the highest level,
 * or has its first packet inherited that? Then it is gathered before the others. */
bool bf_window_is_highest(struct bf_engine *engine, struct bf_queue *queue);

/* The queue that is to be gathered next: of those that haven't been in this batch, and have a
 * packet, one of the highest level, and of these the one that has been served least; or NULL. */
struct bf_queue *bf_window_next(struct bf_engine *engine);

/* May the packet, whose waits let it go, go as far as windows are concerned? */
bool bf_window_admits(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet);

/* PW-4: the wait because of which the packet has to wait though it is grounded, or NULL. */
struct bf_sync *bf_window_obstacle(struct bf_engine *engine, struct bf_queue *queue,
                                   struct bf_packet *packet);

/* What waits because of that, and windows limit no more, since its level has risen or that of the
 * engine has fallen, waits as others do. The batch lock is held. */
void bf_window_release(struct bf_engine *engine);

/* The queue has had its share of this batch. */
bool bf_window_run_is_over(struct bf_engine *engine, const struct bf_packet *packet);

/* The driver has accepted the packet; the lock is held. */
void bf_window_accepted(struct bf_engine *engine, struct bf_queue *queue,
                        const struct bf_packet *packet);

/* Something of a higher level has been handed over; the lock is held. */
void bf_window_note(struct bf_engine *engine, uint8_t level);

/* The packet's level: its queue's, or what it has inherited; BF_LEVEL_PASSES by PW-7. */
uint8_t bf_window_packet_level(const struct bf_queue *queue, const struct bf_packet *packet);

/* No window holds what the queue has by now, nor what that depends on. Returns the engines to
 * pump. */
uint64_t bf_windows_flush_queue(struct bf_queue *queue);

/* Hands over all that is held by windows now, on all engines. The caller holds no lock. */
void bf_windows_flush(struct bf_scheduler *scheduler);

/* Hands over what the queue has by now, or of each (NULL) what signals a semaphore of the program's
 * that is a fence, too; and what that depends on, unless a wait holds it. The caller holds no
 * lock. */
void bf_windows_flush_named(struct bf_scheduler *scheduler, struct bf_queue *queue);

#endif
