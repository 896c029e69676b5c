/* SPDX-License-Identifier: MIT */
/* A part of `specialize`: how long frames last while shaders are checked that no check comes to
 * terms with. */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include "part.h"

/* Adds the rows: 'plain' is the layer with specialize=off, 'belfry' with specialize=exact. */
void frames_rows(const struct bench_options *options, struct bench_report *report);

/* In a child: sends the time in µs that 999 of 1000 frames don't exceed, and the longest. */
void frames_hostile(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

#endif
