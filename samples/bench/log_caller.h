/* SPDX-License-Identifier: MIT */
/*
 * What logs cost whoever submits. Each is a part that runs in a child, on the test driver, whose
 * submissions run inside their calls and cost next to nothing.
 */
#ifndef BENCH_LOG_CALLER_H
#define BENCH_LOG_CALLER_H

#include "part.h"

/* Settings: native fences and logs off, against both as they are by themselves, and not used. */
void log_caller_off_vk(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found);
void log_caller_off_bf(const struct bench_options *options, enum bench_side side,
                       struct bench_found *found);

/* Without a reader, against with one. To the former is added what the driver takes for commands
 * like those of the log. */
void log_caller_on_vk(const struct bench_options *options, enum bench_side side,
                      struct bench_found *found);
void log_caller_on_fence(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found);
void log_caller_on_native(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found);

#endif
