/* SPDX-License-Identifier: MIT */
/* Integers that a request's shaders ask for: a check feeds them (CK-23, specialize/check/check.h).
 * For one thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_NAMES_H
#define BELFRY_SPECIALIZE_HELPER_NAMES_H

#include "specialize/isolate/wire.h"

/* Fills in 'named' with what is folded, what selects a case of the general pipeline, and constants
 * that it compares with: of 2 to 65,535 each once, the first BF_WIRE_NAMED. Any words are survived.
 * Returns how many there are. */
uint32_t helper_names_find(struct bf_wire_check *wanted);

#endif
