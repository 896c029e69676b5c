/* SPDX-License-Identifier: MIT */
/*
 * What the contracting driver makes of a module: each product of 32-bit floats and the sum that it
 * goes into are computed as one, which is rounded once, unless one of them is NoContraction.
 */
#ifndef BELFRY_TESTS_CONTRACTING_FUSE_H
#define BELFRY_TESTS_CONTRACTING_FUSE_H

#include "support/reduce.h"

/* Of a module without calls and variables. False: out of memory. */
bool fuse_module(const struct reduced *in, struct reduced *out);

#endif
