/* SPDX-License-Identifier: MIT */
/*
 * Do batches that may overlap still do so while they are traced? A part that runs in a child, on
 * the test driver with dispatches that take LOG_OVERLAP_US.
 */
#ifndef BENCH_LOG_OVERLAP_H
#define BENCH_LOG_OVERLAP_H

#include "part.h"

#define LOG_OVERLAP_US 4000

/* us until two submissions to one VkQueue are over, under the layer without a trace and with
 * one. */
void log_overlap(const struct bench_options *options, enum bench_side side,
                 struct bench_found *found);

#endif
