/* SPDX-License-Identifier: MIT */
#ifndef BELFRY_TESTS_SUPPORT_ARGUMENTS_H
#define BELFRY_TESTS_SUPPORT_ARGUMENTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number behind that argument of the program's ("--seed"), or the other one. */
static inline uint64_t argument(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return strtoull(argv[i + 1], NULL, 10);
    return otherwise;
}

#endif
