/* SPDX-License-Identifier: MIT */
/*
 * Peer waits: they keep the CPU of this process from running ahead of another process's.
 *
 * A queue's wait for another process's signal that was given to the driver (fence/peer_timeline.h)
 * is an execution with an epoch of its own. Once the epoch is reached, so is what was waited for;
 * but the process that signals may not have noticed yet, so that its fence has not taken the value.
 * If updates after the wait applied here first, others could see the effect before its cause, and a
 * rewind be undone by what it followed.
 *
 *  SH-20 Each such epoch is a peer wait of its engine, and holds back the engine's completed epoch:
 *        that stays below it until the other process has applied the signal ('applied' in the peer
 *        memory, after the value). So E-3 holds across processes: by induction on causes, whatever
 *        precedes an update, in whichever process, is applied before it. Work behind a peer wait on
 *        its engine is behind the wait on the GPU, too, so nothing else is delayed.
 *  SH-21 A sleeper whose engine is held back by a peer wait parks, and is woken when the wait is
 *        over. For that the other process wakes the listener of the fence's object (SH-1's order:
 *        'waits_for_peer' is written, then 'applied' is read); the thread that watches for ended
 *        processes checks as well.
 *
 * Guarded by the pending lock. Proven by tests/fence (shared_trusted*.c).
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

/* A peer wait. Allocated with the wait's packet, which may not come to need it. */
struct bf_peer_wait {
    struct bf_peer_wait *next;          /* of its engine, in order of epochs */
    struct bf_peer_wait *next_of_fence; /* of the fence */
    struct bf_packet *packet;           /* until the driver has accepted it; or NULL */
    struct bf_fence *fence;             /* referenced; NULL: the wait has not become an execution */
    uint32_t peer_timeline;
    uint32_t engine;
    uint64_t point; /* of the peer timeline: what the driver waits for */
    uint64_t value; /* what the program waits for */
    uint64_t epoch;
    bool satisfied;  /* the fence has reached the value */
    bool holds_back; /* the epoch is complete, but not counted as reached yet */
    bool released;   /* the process that promised the point has ended (SH-18) */
    uint32_t misses; /* consecutive checks that found no signaller */
};

/*
 * Signals of other processes, and the timeline semaphores that these signal (fence/peer_timeline.h
 * gives this table). Called under the pending lock except where it says otherwise.
 */
struct bf_peer_extension {
    /* Turns a wait that is at the head of its queue and unsatisfied into an execution that waits
     * for another process's signal, if there is one that reaches the value. The packet has a peer
     * wait. */
    bool (*resolve)(struct bf_packet *packet);
    /* The queue is about to block at the wait, and will be released when another process announces
     * a fitting signal. False: there is one already. */
    bool (*want)(struct bf_packet *packet);
    /* For an update whose execution signals a peer timeline: the execution is about to be handed
     * over, and this signal gets its point; the driver has accepted it; the update is about to
     * apply; it has been applied; it is freed. */
    void (*number)(struct bf_packet *packet);
    void (*publish)(struct bf_update *update);
    void (*begin)(struct bf_update *update);
    void (*apply)(struct bf_update *update);
    void (*put)(struct bf_update *update);
    /* Has the other process applied what the wait is for? */
    bool (*is_applied)(const struct bf_peer_wait *peer_wait);
    /* Begins or ends waiting for the other processes to apply what peer waits of the fence are
     * for. */
    void (*expect)(struct bf_fence *fence, bool expected);
    /* There are peer waits: from now on a thread checks for ended processes. No lock is held. */
    void (*watch)(struct bf_scheduler *scheduler);
    /* Frees what must be freed without a lock. No lock is held. */
    void (*sweep)(struct bf_scheduler *scheduler);
};

/* Adds the peer wait of an execution that is about to be handed to the driver. */
void bf_peer_wait_add(struct bf_pending *pending, struct bf_peer_wait *peer_wait, uint32_t engine,
                      uint64_t epoch);
/* The driver has refused the execution. */
void bf_peer_wait_withdraw(struct bf_pending *pending, struct bf_peer_wait *peer_wait);
/* Frees one that is not in the lists (bf_peer_wait_add); NULL is allowed. */
void bf_peer_wait_free(struct bf_peer_wait *peer_wait);

/* The epoch up to which the engine counts as complete, given that 'epoch' was seen complete. */
uint64_t bf_peer_waits_limit(const struct bf_pending_engine *engine, uint64_t epoch);
/* Does a peer wait hold back the engine's completed epoch? */
bool bf_peer_waits_hold_back(const struct bf_pending_engine *engine);
/* Removes the peer waits that are over, and wakes the sleepers of their engines. Were there any? */
bool bf_peer_waits_remove_over(struct bf_pending *pending);
/* The fence has reached the value: its peer waits for it are satisfied. */
void bf_peer_waits_reached(struct bf_fence *fence, uint64_t value);
/* The device is lost or destroyed: removes all of them. */
void bf_peer_waits_drop(struct bf_pending *pending);

#endif
