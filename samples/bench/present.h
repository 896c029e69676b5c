/* SPDX-License-Identifier: MIT */
/*
 * A present that blocks in the driver, and what that costs a neighbour: a thread that submits at
 * random times, on the same VkQueue or on another one.
 */
#ifndef BENCH_PRESENT_H
#define BENCH_PRESENT_H

#include "part.h"

/* Adds the rows; each part runs on the test driver, whose presents block for 16 ms. */
void present_rows(struct bench_report *report);

/* The part: of each repetition the mean of the neighbour's calls, and behind these of each
 * repetition the longest one, in us. */
void present_run(const struct bench_options *options, enum bench_side side,
                 struct bench_found *found);

/* The same where Belfry's neighbour is a command queue beside the program's one VkQueue. */
void present_commands_run(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found);

#endif
