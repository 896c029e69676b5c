/* SPDX-License-Identifier: MIT */
/*
 * Peer waits: what keeps the CPU of this process from running ahead of another's.
 *
 * A queue's wait that the driver has, for another process's signal (fence/peer_timeline.h), is an
 * execution with an epoch of its own. Once that is complete, so is what was waited for; but the
 * process that signals may not have seen it yet, and its fence not have taken the value. If what
 * comes after the wait applied here first, others could see the effect before its cause, and a
 * rewind be undone by what it followed.
 *
 *  SH-20 Each such epoch is a peer wait of its engine: the engine isn't counted as having reached it
 *        before the other process has applied the signal ('applied' in the peer memory, after the value).
 *        So E-3 holds over processes: by induction on cause, whatever precedes an update, in
 *        whichever process, is applied before it. What lies behind a peer wait on its engine is behind
 *        the wait on the GPU, too: nothing else is held up.
 *  SH-21 A sleeper that finds a peer wait shut parks, and is kicked when it opens. The other process
 *        wakes the object's listener for that (SH-1's order: 'gated' is written, then 'applied' is
 *        read); the thread that watches for ends looks as well.
 *
 * The pending lock guards it all. Proven by tests/fence (shared_trusted*.c).
 */
#ifndef BELFRY_SCHEDULER_PEER_WAIT_H
#define BELFRY_SCHEDULER_PEER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct bf_effects;
struct bf_fence;
struct bf_pending;
struct bf_pending_engine;
struct bf_packet;
struct bf_scheduler;
struct bf_update;

/* Made with the wait's packet, which may have no use for it. */
struct bf_peer_wait {
    struct bf_peer_wait *next;          /* of its engine, by epochs */
    struct bf_peer_wait *next_of_fence; /* of the object's peer timelines */
    struct bf_packet *packet; /* whose wait it is, until the driver has accepted it; or NULL */
    struct bf_fence *fence;   /* referenced; NULL: the wait goes another way */
    uint32_t peer_timeline;
    uint32_t engine;
    uint64_t point; /* of the peer timeline, that the driver waits for */
    uint64_t value; /* that the program waits for */
    uint64_t epoch;
    bool satisfied;  /* the fence has taken the value */
    bool holds_back; /* the epoch is complete: somebody here may be waiting */
    bool released;   /* who promised the point has gone (SH-18) */
    uint32_t misses; /* looks in a row that have found nobody */
};

/*
 * Who knows of signals in other processes, and of timeline semaphores that these signal (fence/
 * peer_timeline.h). Called under the pending lock but where it says otherwise.
 */
struct bf_peer_extension {
    /* Makes a wait, at the head of its queue and unsatisfied, an execution that waits for another
     * process's signal, where there is one that reaches it. The packet has a peer wait. */
    bool (*resolve)(struct bf_packet *packet);
    /* The queue is about to be put to sleep on it: it is woken when there is one. False: there is. */
    bool (*want)(struct bf_packet *packet);
    /* An update whose execution signals a peer timeline: that is put together with this one's signal
     * first; has been accepted; applies; has been applied; goes. */
    void (*number)(struct bf_packet *packet);
    void (*publish)(struct bf_update *update);
    void (*begin)(struct bf_update *update);
    void (*apply)(struct bf_update *update);
    void (*put)(struct bf_update *update);
    /* Has the other process applied what the wait is for? */
    bool (*is_applied)(const struct bf_peer_wait *peer_wait);
    /* Somebody here waits for that of the fence's peer waits, or no longer does. */
    void (*expect)(struct bf_fence *fence, bool expected);
    /* There are peer waits: somebody has to look now and then who has gone. No lock is held. */
    void (*watch)(struct bf_scheduler *scheduler);
    /* Frees what has been handed over to be freed without a lock. No lock is held. */
    void (*sweep)(struct bf_scheduler *scheduler);
};

/* The driver is about to be called with the wait. */
void bf_peer_wait_add(struct bf_pending *pending, struct bf_peer_wait *peer_wait, uint32_t engine,
                      uint64_t epoch);
/* It has refused it. */
void bf_peer_wait_withdraw(struct bf_pending *pending, struct bf_peer_wait *peer_wait);
/* Frees one that isn't with the pending signals; NULL is allowed. */
void bf_peer_wait_free(struct bf_peer_wait *peer_wait);

/* How far the engine counts as having come that was seen at 'epoch'. */
uint64_t bf_peer_waits_limit(const struct bf_pending_engine *engine, uint64_t epoch);
/* Is it a peer wait that the engine stands at? */
bool bf_peer_waits_hold_back(const struct bf_pending_engine *engine);
/* Takes away those that are open, and kicks the sleepers of their engines. Were there any? */
bool bf_peer_waits_remove_over(struct bf_pending *pending);
/* The fence has taken the value. */
void bf_peer_waits_reached(struct bf_fence *fence, uint64_t value);
/* The device is lost, or ends: there are none any more. */
void bf_peer_waits_drop(struct bf_pending *pending);

#endif
