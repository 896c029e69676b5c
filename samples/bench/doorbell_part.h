/* SPDX-License-Identifier: MIT */
/*
 * The parts of the benchmark `doorbell`: one program that submits by a ring, and the same with
 * vkQueueSubmit2 on the plain driver, each with a device of its own.
 *
 * Where a part says nothing else, `plain` and `belfry` of what it finds are the two programs.
 */
#ifndef BENCH_DOORBELL_PART_H
#define BENCH_DOORBELL_PART_H

#include "part.h"

#define DOORBELL_REPETITIONS 15u
#define DOORBELL_BURST       64u

/* A submission's cost to its caller in ns: medians of bursts, in which the thread drains the
 * ring. */
void doorbell_caller(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found);
/* The same of single submissions: what 99 of 100 don't exceed. */
void doorbell_tail(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* The same of a submission after a millisecond without one, which has to wake the thread. */
void doorbell_edge(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* Submissions per second until all are complete, in thousands. */
void doorbell_rate(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* CPU time of 1,000 submissions in us: of the plain caller; of the doorbell thread. */
void doorbell_cpu(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);
/* From the doorbell to the driver's vkQueueSubmit2 in ns: `plain`, the thread sleeps; `belfry`, it
 * is awake. */
void doorbell_hand_over(const struct bench_options *options, enum bench_side side,
                        struct bench_found *found);
/* In ns: bfConnectDoorbell of a doorbell while a physical one is free, in `plain`. */
void doorbell_connect(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found);
/* In ns: `plain`, bfConnectDoorbell that takes another queue's; `belfry`, a submission that finds
 * its doorbell taken, takes it back, and rings again. */
void doorbell_victim(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found);
/* Context switches of all other threads in a second in which nothing is queued: `plain[0]`. */
void doorbell_idle(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);

#endif
