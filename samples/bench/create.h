/* SPDX-License-Identifier: MIT */
/*
 * The parts of `record` that create pipelines, and wait for many command buffers: 'plain' is the
 * layer with specialize=off, 'belfry' with specialize=exact.
 */
#ifndef BENCH_CREATE_H
#define BENCH_CREATE_H

#include "part.h"

/* Modules without push constants, of 19 and 350 KB. On the test driver; the last two on a driver
 * that compiles them. */
void create_small(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);
void create_large(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);
void create_small_compiled(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found);
void create_large_compiled(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found);
/* Modules of 19 KB with push constants, each of its own. */
void create_watched(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);
void create_watched_fresh(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found);
/* The wait for a fence over 256 command buffers, each with four different push constants. */
void wait_many(const struct bench_options *options, enum bench_side side,
               struct bench_found *found);

#endif
