/* SPDX-License-Identifier: MIT */
/*
 * What logs cost a thread that submits. Each function is a part that runs in a child, on the test
 * driver, whose submissions run inside their calls and cost next to nothing.
 */
#ifndef BENCH_LOG_CALLER_H
#define BENCH_LOG_CALLER_H

#include "part.h"

/* With the settings for native fences and logs off, compared with their defaults, unused. */
void log_caller_off_vk(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found);
void log_caller_off_bf(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found);

/* Without a reader of the log, compared with one. The driver's cost of commands like those of the
 * log is added to the former. */
void log_caller_on_vk(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found);
void log_caller_on_fence(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found);
void log_caller_on_native(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found);

/* Off against on: a watchdog, of a VkQueue's submission; TDR, of a BfCommandQueue's execution and
 * signal. */
void watchdog_caller(const struct bench_options *options, enum bench_side side,
                     struct bench_found *found);
void tdr_caller(const struct bench_options *options, enum bench_side side,
                struct bench_found *found);

#endif
