/* SPDX-License-Identifier: MIT */
/*
 * The parts of the benchmark `doorbell` with a program that knows nothing of Belfry: its
 * vkQueueSubmit2 on the plain driver, and under the layer with the setting submit=doorbell, in
 * turns.
 */
#ifndef BENCH_DOORBELL_PROGRAM_H
#define BENCH_DOORBELL_PROGRAM_H

#include "part.h"

/* A submission's cost to its caller in ns: medians of bursts that the doorbell thread is awake
 * for. */
void doorbell_program_caller(const struct bench_options *options, enum bench_side side,
                             struct bench_found *found);
/* The same of a submission after a millisecond without one. */
void doorbell_program_edge(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found);
/* Submissions per second until all are complete, in thousands. */
void doorbell_program_rate(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found);

#endif
