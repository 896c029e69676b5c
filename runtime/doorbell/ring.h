/* SPDX-License-Identifier: MIT */
/*
 * A ring: entries that the program writes, and the two pointers, in memory that it can neither
 * shrink nor free while Belfry looks at it.
 *
 *  RB-1  The program may write anywhere in it at any time. So an entry is copied out, word by word,
 *        and only the copy is checked and used; how far Belfry has read is known from a counter of
 *        its own, of which the program sees a copy.
 *  RB-2  It stays mapped, for both, until the program has destroyed it and no doorbell refers to
 *        it.
 *
 * Proven by tests/doorbell (ring.c).
 */
#ifndef BELFRY_DOORBELL_RING_H
#define BELFRY_DOORBELL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "belfry/user_mode_submission.h"

struct bf_doorbells;
struct bf_scheduler;

#define BF_RING_MIN_ENTRIES 64
#define BF_RING_MAX_ENTRIES 65536

struct bf_ring {
    struct bf_scheduler *scheduler;
    struct bf_ring *next, *previous; /* of those that the program hasn't destroyed */
    _Atomic uint32_t references;     /* the program's, and its doorbell's */
    _Atomic bool taken;              /* a doorbell refers to it, or did */
    BfKmtHandle buffer, control;     /* its handles */
    uint32_t entry_count;
    size_t size;        /* bytes of each mapping */
    void *program;      /* the program's mapping */
    BfRingControl *own; /* Belfry's */
};

void bf_ring_reference(struct bf_ring *ring);
void bf_ring_release(struct bf_ring *ring);

/* The device is being destroyed, and the program's rings with it. [UMS 4] */
void bf_rings_release(struct bf_doorbells *doorbells);

/* The write pointer; entries before it can be copied. */
uint64_t bf_ring_written(const struct bf_ring *ring);
void bf_ring_copy(const struct bf_ring *ring, uint64_t number, BfRingEntry *entry);
/* The places of all entries before this one are free. */
void bf_ring_set_read(struct bf_ring *ring, uint64_t number);

/* Unknown flags, or reserved bytes that aren't 0? */
bool bf_ring_entry_is_valid(const BfRingEntry *entry);

#endif
