/* SPDX-License-Identifier: MIT */
/*
 * Why nothing moves: from a graph to the causes. What waits for something that itself waits is no
 * cause.
 *
 *  SS-1  Each held queue that has stood for the time has a cause among the cases, or waits for an
 *        engine whose call or work is one, or would be once it has lasted as long. What waits for a
 *        signal is looked at again before it is told of (bf_snapshot_stands).
 *  SS-2  A circle is certain only if nobody can end it: it stays, whatever the host may legally
 *        signal and whatever is signalled from outside. The host may signal a timeline to values
 *        below those of the signals on their way (VUID-VkSemaphoreSignalInfo-value-03259), and a
 *        BfFence to any. Where the host can end it, signals are named that do, and none that could
 *        be left out: one, where one is enough. (Found by trying it out; of more than
 *        BF_CASE_TRIED waits or signals nothing is claimed, of more than BF_CASE_SHORTENED not that
 *        each is needed.)
 *  SS-3  A case's key changes when the answer does: other members, another packet, another wait.
 *
 * Proven by tests/standstill (diagnosis.c; random programs with a planted standstill).
 */
#ifndef BELFRY_STANDSTILL_DIAGNOSIS_H
#define BELFRY_STANDSTILL_DIAGNOSIS_H

#include <stddef.h>

#include "standstill/graph.h"

enum bf_case_kind {
    BF_CASE_CIRCLE,    /* queues that wait for each other */
    BF_CASE_MISSING,   /* a queue waits for a signal that nobody has submitted */
    BF_CASE_BUSY,      /* the GPU has been busy with one submission */
    BF_CASE_OUTSIDE,   /* a queue's packet waits on the GPU for a signal from outside */
    BF_CASE_CALL,      /* a call has been in the driver */
    BF_CASE_TAKEN,     /* a packet could go, but somebody has the VkQueue to himself */
    BF_CASE_SUSPENDED, /* queues wait for one that the program has suspended */
};

#define BF_CASE_MEMBERS   8
#define BF_CASE_UNLESS    4
#define BF_CASE_TRIED     512
#define BF_CASE_SHORTENED 64 /* waits; of more, signals may be named that could be left out */

struct bf_case {
    enum bf_case_kind kind;
    uint64_t key;    /* SS-3 */
    uint64_t age_ns; /* of a circle, of its youngest member */
    uint32_t engine; /* BUSY, OUTSIDE, TAKEN */
    uint32_t call;   /* CALL; its key means nothing */
    uint32_t queue;  /* MISSING, TAKEN, SUSPENDED, OUTSIDE: if it isn't NONE, the node */
    /* CIRCLE: queues, each with the signal that it waits for, which is the next one's (of the last,
     * the first's). Of a larger one, the first few. */
    uint32_t member_count, more_members;
    struct {
        uint32_t queue, signal;
    } members[BF_CASE_MEMBERS];
    bool certain; /* SS-2 */
    /* Else: waits that the host can satisfy to end it; of many, the first few, and it does more. */
    uint32_t unless[BF_CASE_UNLESS], unless_count;
    bool does_more;
    bool outside;    /* only somebody outside can end it */
    uint32_t behind; /* other queues that wait because of it */
};

/* Writes the cases that have lasted for 'least_ns', up to 'room', and returns how many. Allocates;
 * out of memory: 0. */
size_t bf_diagnose(const struct bf_graph *graph, uint64_t least_ns, struct bf_case *cases,
                   size_t room);

#endif
