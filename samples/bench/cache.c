/* SPDX-License-Identifier: MIT */
/* A cache folder of the benchmark's own, and its end. */
#include "cache.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "VK_BELFRY_MULTI_ENGINE_CACHE"

bool bench_cache_make(char folder[BENCH_CACHE], struct bench_found *found)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, BENCH_CACHE, "%.40s/belfry-bench.XXXXXX",
             base && *base && strlen(base) <= 40 ? base : "/tmp");
    if (!mkdtemp(folder)) {
        folder[0] = '\0';
        bench_found_nothing(found, "no folder for the layer's cache");
        return false;
    }
    setenv(VARIABLE, folder, 1);
    return true;
}

static int entry_remove(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void bench_cache_remove(const char *folder)
{
    unsetenv(VARIABLE);
    if (*folder)
        (void)nftw(folder, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}
