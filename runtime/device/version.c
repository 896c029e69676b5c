/* SPDX-License-Identifier: MIT */
/* bfGetVersion. */
#include "belfry/belfry.h"

uint32_t bfGetVersion(void)
{
    return ((uint32_t)BF_VERSION_MAJOR << 22) | ((uint32_t)BF_VERSION_MINOR << 12) |
           (uint32_t)BF_VERSION_PATCH;
}
