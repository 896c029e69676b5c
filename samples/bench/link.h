/* SPDX-License-Identifier: MIT */
/*
 * The parts of `record` that link graphics pipelines from libraries, on the first device: 'plain'
 * is the layer with specialize=off, 'belfry' with specialize=exact. In µs: one link, without
 * link-time optimisation.
 */
#ifndef BENCH_LINK_H
#define BENCH_LINK_H

#include "part.h"

void link_plain(const struct bench_options *options, enum bench_side side,
                struct bench_found *found);
void link_watched(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);

#endif
