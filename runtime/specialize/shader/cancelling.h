/* SPDX-License-Identifier: MIT */
/*
 * Whether what folding makes a constant is met twice where a compiler may take the one for the
 * other: added and taken away again, (x + k) - k, which is x; a factor of both terms of a sum,
 * x * k + y * k; added to one side of a comparison and the other, x + k < k. A driver may simplify
 * that in the general pipeline, where k is no constant, as with k for one; but not where the
 * arithmetic is NoContraction, as the program may have made it itself.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_CANCELLING_H
#define BELFRY_SPECIALIZE_CANCELLING_H

#include "specialize/shader/module.h"

/* 'value' [bound] has 'bit' for what may be a constant that folding has made; 'keys' [bound] says
 * of folded loads which words they have. *cancels may be true where nothing cancels, since
 * different values may have the same key; it is never false where something does so at once, but
 * for what goes through memory outside of the invocation. False: out of memory. */
bool bf_cancelling_find(struct bf_module *m, const uint8_t *value, uint8_t bit,
                        const uint64_t *keys, bool *cancels);

#endif
