/* SPDX-License-Identifier: MIT */
/*
 * How long after the time that the setting watchdog gives it a standstill is told of: a signal that
 * nobody has submitted, two queues that wait for each other, and a GPU that doesn't get on.
 */
#ifndef BENCH_TOLD_H
#define BENCH_TOLD_H

#include "part.h"

#define TOLD_ROW_MISSING "a missing signal, until it is told, after the set time (worst)"
#define TOLD_ROW_CIRCLE  "the same, a circle of two queues"
#define TOLD_ROW_BUSY    "the same, a GPU that doesn't get on"

/* All of them, for a list. */
#define TOLD_ROWS TOLD_ROW_MISSING, TOLD_ROW_CIRCLE, TOLD_ROW_BUSY

/* Adds the rows; they are measured on the test driver, of Belfry alone. */
void told_rows(struct bench_report *report);

/* The part, of Belfry's side: of each repetition of each kind how late it was told, in ms. */
void told_run(const struct bench_options *options, enum bench_side side, struct bench_found *found);

#endif
