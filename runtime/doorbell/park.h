/* SPDX-License-Identifier: MIT */
/*
 * How the doorbell thread of an engine waits for doorbells to be rung: it spins as long as that
 * pays, then it parks, that is, it has the programs call bfNotifyWorkSubmission, and sleeps.
 *
 * A program rings in this order, which is the document's, without a fence anywhere:
 *
 *     the ring's entry
 *     the progress fence's last queued value
 *     the write pointer            release: who sees it sees the entry
 *     the doorbell                 release: who sees it sees the write pointer
 *     atomic_signal_fence(seq_cst) the compiler keeps the order that the processor needn't keep
 *     load the status              CONNECTED_NOTIFY: bfNotifyWorkSubmission;
 *                                  DISCONNECTED_RETRY: connect, and ring again (never append again)
 *
 * A processor may do that load before others see the stores. So the thread, when it parks, asks for
 * notifies first, then has every thread of the process pass a barrier (base/membarrier.h), then
 * looks once more. Whoever loads the status behind that barrier sees CONNECTED_NOTIFY; what anybody
 * stored in front of it, the look sees. (Two releases cost nothing on x86; on Arm they are what
 * lets the look trust a doorbell.) Taking a doorbell away pairs in the same way: status, barrier,
 * remap, write pointer.
 *
 * What holds, with the test of each in docs/guarantees.md:
 *
 * DP-1  No wake-up is lost: what was rung is seen before the thread sleeps, or who rang it wakes
 *       the thread.
 * DP-2  A notify to a thread that is awake is one exchange, and no system call. One with nothing
 *       behind it does no harm.
 * DP-3  A parked thread sleeps without a timeout: with nothing queued it uses no processor.
 * DP-4  Where there is no membarrier, CONNECTED_NOTIFY stays, and DP-1 holds. Where a filter of
 *       system calls takes it away later, the first sleeps are short ones: those that rang before
 *       may still be on their way, and nothing but time tells when they have arrived.
 * DP-5  The thread spins at most spin_ns after the last work, and not at all as long as work
 *       doesn't come so soon: then it leaves CONNECTED_NOTIFY where it is, and needs no barrier
 *       either.
 * DP-6  A stop is heard at any moment.
 * DP-7  Where idle_ns is set, the owner is told that a parked thread has had nothing to do for so
 *       long, until it takes that; then not again before bf_park_worked, which counts also while it
 *       is being told. Else sleeps have no end.
 */
#ifndef BELFRY_DOORBELL_PARK_H
#define BELFRY_DOORBELL_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How long the thread spins after the last work, at most. */
#define BF_PARK_SPIN_NS 50000u

/* What the thread's owner is asked, always on the thread. */
struct bf_park_owner {
    /* Whether there is something to do. 'thoroughly' is asked before a sleep and after it: then
     * every write pointer is to be looked at, else the doorbells alone. Rings that are suspended
     * don't count. It is asked all the time while the thread spins. */
    bool (*has_work)(void *owner, bool thoroughly);

    /* Writes CONNECTED_NOTIFY (else CONNECTED) into the status of all that is connected, under the
     * lock under which doorbells are connected, and keeps it for those that will be. At first it is
     * CONNECTED_NOTIFY. */
    void (*set_notify)(void *owner, bool notify);

    /* Nothing has come for idle_ns (DP-7); false: to be asked again after as long. NULL where that
     * is 0. */
    bool (*idle)(void *owner);
};

struct bf_park {
    /* Any thread's. */
    _Alignas(64) _Atomic uint32_t state;
    _Atomic uint64_t woken_ns; /* when the last sleep was ended */

    /* The doorbell thread's, which looks at 'stop' all the time: notifies don't touch its line. */
    _Alignas(64) _Atomic bool stop;
    const struct bf_park_owner *functions;
    void *owner;
    uint64_t spin_ns;
    uint64_t idle_ns;      /* 0: it is never told; to be set before the thread begins */
    _Atomic bool idled;    /* the owner has taken that nothing has come, or is being told */
    bool notify;           /* the statuses say CONNECTED_NOTIFY */
    bool unfenced;         /* there is no membarrier */
    unsigned short_sleeps; /* that many are left */
    unsigned soon;         /* how often work has come within spin_ns lately, of BF_PARK_ALWAYS */

    /* For figures: how often it slept, was on its way to sleep from CONNECTED, and how often it was
     * woken for nothing. */
    _Atomic uint64_t sleeps, barriers, spurious;
};

/* 'soon' is moved by a quarter towards what happened; spinning pays from the half on. */
#define BF_PARK_ALWAYS 256u

/* Before the thread begins. On a single processor nothing is spun for. */
void bf_park_init(struct bf_park *park, const struct bf_park_owner *functions, void *owner,
                  uint64_t spin_ns);

/* The doorbell thread alone: returns true when there is work, false once it has been stopped. */
bool bf_park_wait(struct bf_park *park);

/* Any thread: there was work indeed, or there may be (DP-7). */
void bf_park_worked(struct bf_park *park);

/* Any thread: what bfNotifyWorkSubmission does, and whoever makes work without a doorbell (who
 * resumes a ring, or takes a doorbell away and finds its write pointer moved), after having made
 * it. */
void bf_park_notify(struct bf_park *park);

/* Any thread: bf_park_wait returns false from now on. */
void bf_park_stop(struct bf_park *park);

#endif
