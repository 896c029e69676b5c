/* SPDX-License-Identifier: MIT */
/* A cache folder of the test's own, and what has programs specialized and reported. */
#include "support/cache.h"

#include <stdio.h>
#include <stdlib.h>

char cache_folder[64];

void cache_set(const char *folder)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE", "on", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_REPORT", "on", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_CACHE", folder, 1);
}

int cache_setup(void **state)
{
    (void)state;
    snprintf(cache_folder, sizeof(cache_folder), "/tmp/belfry-cache-XXXXXX");
    if (!mkdtemp(cache_folder))
        return -1;
    cache_set(cache_folder);
    return 0;
}

int cache_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", cache_folder);
    return system(command);
}
