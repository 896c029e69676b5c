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

#endif
