/* SPDX-License-Identifier: MIT */
/*
 * What Belfry costs a process apart from its calls. Each function is a part that runs in a child,
 * and leaves one number in found->plain[0].
 */
#ifndef BENCH_FOOTPRINT_H
#define BENCH_FOOTPRINT_H

#include "part.h"

#define FOOTPRINT_RELEASES 1500u

/* On the test driver: the number of releases after which the driver lacked the held packet when the
 * call returned. */
void footprint_late(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

/* Context switches of all other threads in a second in which the caller sleeps. */
double footprint_second_idle(void);

/* The same of a process that has submitted work. */
void footprint_idle(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

/* The same with a watchdog whose period is half a second: with a packet held, and when nothing is
 * left, and nothing has begun for longer than a period. */
void footprint_watched(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found);
void footprint_rest(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

/* MiB of private dirty memory after a thousand submissions on up to sixteen queues. */
void footprint_memory(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found);

/* MiB of private dirty memory of vkcube on lavapipe, in an Xvfb: the most that was measured while
 * it drew. */
void footprint_vkcube(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found);

#endif
