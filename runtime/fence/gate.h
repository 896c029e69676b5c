/*
 * Gates: what keeps the CPU of this process from running ahead of another's.
 *
 * A queue's wait that the driver has, for another process's signal (fence/shared_carrier.h), is an
 * execution with an epoch of its own. Once that is complete, so is what was waited for; but the
 * process that signals may not have seen it yet, and its fence not have taken the value. If what
 * comes after the wait applied here first, others could see the effect before its cause, and a
 * rewind be undone by what it followed.
 *
 *  SH-20 Each such epoch is a gate of its engine: the engine isn't counted as having reached it
 *        before the other process has applied the signal ('applied' in the area, after the value).
 *        So E-3 holds over processes: by induction on cause, whatever precedes an update, in
 *        whichever process, is applied before it. What lies behind a gate on its engine is behind
 *        the wait on the GPU, too: nothing else is held up.
 *  SH-21 A sleeper that finds a gate shut parks, and is kicked when it opens. The other process
 *        wakes the object's listener for that (SH-1's order: 'gated' is written, then 'applied' is
 *        read); the thread that watches for ends looks as well.
 *
 * The ledger's lock guards it all. Proven by tests/fence (shared_trusted*.c).
 */
#ifndef BELFRY_FENCE_GATE_H
#define BELFRY_FENCE_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct bf_fence;
struct bf_ledger;
struct bf_ledger_engine;
struct bf_packet;

/* Made with the wait's packet, which may have no use for it. */
struct bf_gate {
    struct bf_gate *next;          /* of its engine, by epochs */
    struct bf_gate *next_of_fence; /* of the object's carriers */
    struct bf_packet *packet;      /* whose wait it is, until the driver has accepted it; or NULL */
    struct bf_fence *fence;        /* referenced; NULL: the wait goes another way */
    uint32_t carrier;
    uint32_t engine;
    uint64_t point; /* of the carrier, that the driver waits for */
    uint64_t value; /* that the program waits for */
    uint64_t epoch;
    bool satisfied;  /* the fence has taken the value */
    bool shut;       /* the epoch is complete: somebody here may be waiting */
    bool released;   /* who promised the point has gone (SH-18) */
    uint32_t misses; /* looks in a row that have found nobody */
};

/* The driver is about to be called with the wait. */
void bf_gate_add(struct bf_ledger *ledger, struct bf_gate *gate, uint32_t engine, uint64_t epoch);
/* It has refused it. */
void bf_gate_withdraw(struct bf_ledger *ledger, struct bf_gate *gate);
/* Frees one that isn't with the ledger; NULL is allowed. */
void bf_gate_free(struct bf_gate *gate);

/* How far the engine counts as having come that was seen at 'epoch'. */
uint64_t bf_gates_limit(const struct bf_ledger_engine *engine, uint64_t epoch);
/* Is it a gate that the engine stands at? */
bool bf_gates_are_shut(const struct bf_ledger_engine *engine);
/* Takes away those that are open, and kicks the sleepers of their engines. Were there any? */
bool bf_gates_open(struct bf_ledger *ledger);
/* The fence has taken the value. */
void bf_gates_reached(struct bf_fence *fence, uint64_t value);
/* The device is lost, or ends: there are none any more. */
void bf_gates_drop(struct bf_ledger *ledger);

#endif
