/* SPDX-License-Identifier: MIT */
/*
 * Which instructions of a module some conditions decide over: whether they run, how often, or from
 * where they are come to. Those are the blocks of selections, up to the phis behind them; what lies
 * in selections and loops that a decided branch leaves, or in loops that it begins anew; and what
 * comes after a decided return. It may be more than that, never less.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_DECIDED_H
#define BELFRY_SPECIALIZE_DECIDED_H

#include "specialize/shader/module.h"

struct bf_construct {
    uint32_t begin;  /* instruction: a loop's label, or a selection's branch */
    uint32_t end;    /* the first behind the phis behind it */
    uint32_t around; /* index + 1 of the one that it lies in; 0: none */
    bool decided;
};

struct bf_decided {
    uint32_t *depth;   /* [instructions]: in how many decided ranges it lies; 0: in none */
    int32_t *steps;    /* [instructions + 1] */
    uint32_t *leads;   /* [bound]: a label that ends a construct, or begins it anew: index + 1 */
    uint32_t *return_; /* [functions]: the first decided return; UINT32_MAX: there is none */
    struct bf_construct *constructs;
    uint32_t construct_count;
};

/* Nothing is decided yet. False: out of memory. Finish it in any case. */
bool bf_decided_init(struct bf_decided *d, const struct bf_module *m);
void bf_decided_finish(struct bf_decided *d);

/* Conditions are those that have one of the bits in 'value' [bound], and were before. True: more is
 * decided than was. */
bool bf_decided_find(struct bf_decided *d, const struct bf_module *m, const uint8_t *value,
                     uint8_t bits);

#endif
