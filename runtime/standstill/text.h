/* SPDX-License-Identifier: MIT */
/* A case in words: one line. */
#ifndef BELFRY_STANDSTILL_TEXT_H
#define BELFRY_STANDSTILL_TEXT_H

#include <stddef.h>

#include "standstill/diagnosis.h"

/* Room for the longest line that a message can have. */
#define BF_CASE_TEXT 1000

void bf_case_write(const struct bf_graph *graph, const struct bf_case *found,
                   char text[BF_CASE_TEXT]);

/* What a queue stands at, without its name: "packet 2 waits for semaphore 'frame' to reach 7 (has
 * 0) for 1.0 s, which packet 4 of 3D queue 0:1 would signal"; "" for one that has nothing. What an
 * engine's GPU is busy with, and the call of the driver's on it; "": nothing, none. */
void bf_wait_write(const struct bf_graph *graph, uint32_t queue, char text[BF_CASE_TEXT]);
void bf_submission_write(const struct bf_graph_engine *engine, char text[BF_CASE_TEXT]);
void bf_call_write(const struct bf_graph *graph, uint32_t engine, char text[BF_CASE_TEXT]);

#endif
