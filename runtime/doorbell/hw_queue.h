/* SPDX-License-Identifier: MIT */
/*
 * A queue for user-mode submission: what its ring's entries may name, and the reader of the ring,
 * which does what they say by the same functions that calls on other queues use.
 *
 *  HQ-1  Each entry below the write pointer is read once and carried out once, in order, however
 *        often the doorbell was rung, taken away or connected: how far the reader has come is known
 *        from its own counter alone, which only it moves, under the lock.
 *  HQ-2  What follows each other without a wait, a signal or a barrier between goes to the driver
 *  as
 *        one execution. The progress value of the last of these entries that has one is signalled
 *        behind it, and before any wait that follows: so a value doesn't wait for what comes after
 *        its entry.
 *  HQ-3  Nothing that the program writes to a ring has an effect beyond its queue: an entry that
 *        can't be carried out ends the queue, once. What came before it runs; then the progress
 *        fence gets UINT64_MAX, so that nobody waits for what won't come. Where there is no memory
 *        for that, the device is lost.
 *  HQ-4  A registered fence that the program destroys or unregisters, and a command buffer that it
 *        frees, resets (under the layer), begins anew (likewise) or unregisters, is not used any
 *        more once that call has returned: it waits for who reads the ring, and so perhaps for the
 *        driver. No other fence or command buffer does.
 *  HQ-5  Who destroys or unregisters waits no longer for one call of the driver's than the setting
 *        tdr_ddi_delay says (L-7): then the device is lost, and what the reader was given stays
 *        until it ends. He waits for no more entries than the reader is carrying out, but where
 *        what is in the ring goes first.
 *
 * Proven by tests/doorbell (entries.c, stuck.c).
 */
#ifndef BELFRY_DOORBELL_HW_QUEUE_H
#define BELFRY_DOORBELL_HW_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/map.h"
#include "belfry/user_mode_submission.h"
#include "doorbell/page.h"

struct bf_command_queue;
struct bf_doorbell;
struct bf_doorbell_thread;
struct bf_fence;
struct bf_map;

struct bf_ring_buffer {
    VkCommandBuffer handle; /* NULL: no such number */
    /* The next number of the same command buffer, or the next free one, plus 1; 0: there is
     * none. */
    uint32_t next;
    bool simultaneous;
    uint64_t batch; /* the last that it went with; 0: none */
};

/* What the watchdog remembers of a ring that is outstanding (standstill/rings.h). */
struct bf_hw_queue_watched {
    uint64_t since_ns, read, carried;
    bool told;
};

struct bf_hw_queue {
    struct bf_command_queue *queue;
    BfKmtHandle handle;
    struct bf_doorbell_thread *thread;
    struct bf_hw_queue *next, *previous; /* of the thread, under its lock */
    bool leaving;
    bool look;        /* its ring is to be read; under the thread's lock */
    uint32_t readers; /* threads about to read it; under the thread's lock */

    /* Suspensions (bfSuspendCommandQueue); read without a lock. */
    _Atomic uint32_t suspended;

    /* Held over reading the ring, and so over the driver's calls with what is read; taken before
     * any engine's lock, with no other lock held. */
    struct bf_lock lock;
    _Atomic uint32_t wanted; /* threads that wait for it, the reader aside */
    _Atomic uint64_t moved;  /* how often the reader has come so far that it calls the driver */
    struct bf_doorbell *_Atomic doorbell; /* the ring's; NULL: none */
    struct bf_lock names_lock;            /* leaf lock: what entries may name */
    uint32_t buffer_count, fence_count;
    struct bf_ring_buffer *buffers;
    uint32_t free_buffers;        /* the first free number, plus 1 */
    struct bf_map buffer_numbers; /* command buffer → the first of its numbers, plus 1 */
    bool twins;                   /* some have had several */
    struct bf_fence **fences;     /* referenced; NULL: no such number */
    struct bf_fence *progress;    /* the program's to wait for */
    struct bf_fence *done;        /* Belfry's own: the number of the last batch that is complete */
    uint64_t batches;             /* executions so far */
    _Atomic uint64_t progressed;  /* the greatest progress value of an entry so far */
    bool ended;                   /* an entry has ended it (HQ-3) */
    struct bf_hw_queue_watched watched;
};

struct bf_hw_queue_seen {
    uint64_t queued;        /* the last-queued value: whatever the program says */
    uint64_t carried;       /* 'progressed' */
    uint64_t completed;     /* of 'carried', as far as somebody has asked */
    uint64_t written, read; /* entries */
    enum bf_doorbell_state state;
};

/* queue_begins and queue_ends of struct bf_doorbell_extension. False: who reads its ring doesn't
 * return from the driver, and the queue stays until the device ends (HQ-5). */
VkResult bf_hw_queue_begin(struct bf_command_queue *queue);
bool bf_hw_queue_end(struct bf_command_queue *queue);

/* Takes the lock. False: HQ-5. */
bool bf_hw_queue_enter(struct bf_hw_queue *hw);

/* The queue with that handle; NULL and a line: it isn't for user-mode submission. */
struct bf_hw_queue *bf_hw_queue_of(BfCommandQueue handle, const char *call);

/* The program destroys them. */
void bf_hw_queue_forget_fence(struct bf_hw_queue *hw, struct bf_fence *fence);
/* Or resets it; NULL: all whose handles are keys of the map. */
void bf_hw_queue_forget_buffers(struct bf_hw_queue *hw, VkCommandBuffer buffer,
                                struct bf_map *pool);

/* Reads what has been written to the ring, a part of it if there is much: returns whether there is
 * more; *some, whether there was any. The lock is not held. */
bool bf_hw_queue_read(struct bf_hw_queue *hw, bool *some);

/* The same until nothing is left; the lock is held. */
void bf_hw_queue_drain(struct bf_hw_queue *hw);

/* For the watchdog: waits for nobody who is in the driver. False: nothing is to be read of it now,
 * since it has no doorbell, is suspended or ended, or the device sleeps. */
bool bf_hw_queue_see(struct bf_hw_queue *hw, struct bf_hw_queue_seen *seen);

/* Is what it has read so far complete, and has everything been read? The driver is asked, but
 * nobody is waited for (DT-2): while the lock is held by another, it isn't. */
bool bf_hw_queue_is_idle(struct bf_hw_queue *hw);

/* Ends the queue (HQ-3), the first time; the lock is held. 'entry': the number of the entry that
 * did it. */
void bf_hw_queue_abort(struct bf_hw_queue *hw, BfAbortReason reason, uint64_t entry);

#endif
