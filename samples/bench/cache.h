/* SPDX-License-Identifier: MIT */
/* A folder for the layer's cache that is the benchmark's own: what an earlier run has learnt would
 * be no measurement. */
#ifndef BENCH_CACHE_H
#define BENCH_CACHE_H

#include "part.h"

#define BENCH_CACHE 64

/* A new folder, for bench_cache_remove, and for the setting 'cache' of devices that are created
 * while the environment names it. False: the reason is in `found`, and `folder` is "". */
bool bench_cache_make(char folder[BENCH_CACHE], struct bench_found *found);
/* With all that is in it; "" is allowed. The environment names none from then on. */
void bench_cache_remove(const char *folder);

#endif
