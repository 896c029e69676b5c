/* SPDX-License-Identifier: MIT */
/*
 * The parts of `record` that run in processes of their own.
 */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "part.h"

void record_off(const struct bench_options *options, enum bench_side side,
                struct bench_found *found);
void record_plain(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);
void record_watched(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

#endif
