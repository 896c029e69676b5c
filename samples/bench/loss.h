/* SPDX-License-Identifier: MIT */
/*
 * How late a program hears that its device is lost while another thread's present is stuck in the
 * driver, on the VkQueue of both.
 */
#ifndef BENCH_LOSS_H
#define BENCH_LOSS_H

#include "part.h"

#define LOSS_ROW_ASKS  "device lost beside a stuck present, until vkGetFenceStatus has told"
#define LOSS_ROW_WAITS "the same, until a submission that waits for that VkQueue has (Belfry alone)"

/* All of them, for a list. */
#define LOSS_ROWS LOSS_ROW_ASKS, LOSS_ROW_WAITS

/* Adds the rows; they are measured on the test driver. */
void loss_rows(struct bench_report *report);

/* The part, of one side: of each repetition how long who asks has taken, and behind these of each
 * repetition how long who has submitted, in ms; the latter of Belfry's side alone. */
void loss_run(const struct bench_options *options, enum bench_side side, struct bench_found *found);

#endif
