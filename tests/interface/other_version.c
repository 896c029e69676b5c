/* SPDX-License-Identifier: MIT */
/* What a libbelfry of a version to come would say it is. */
#include "belfry/belfry.h"

uint32_t bfGetVersion(void)
{
    return (9u << 22) | (9u << 12) | 9u;
}
