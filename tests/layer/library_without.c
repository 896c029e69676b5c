/* SPDX-License-Identifier: MIT */
/* A libbelfry that has never heard of the layer. */
#include "belfry/belfry.h"

uint32_t bfGetVersion(void)
{
    return 0;
}
