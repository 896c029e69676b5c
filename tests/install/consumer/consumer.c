/* SPDX-License-Identifier: MIT */
/* A program in C that is built against what was installed. */
#include <belfry/belfry.h>

int main(void)
{
    return bfGetVersion() >> 22 == BF_VERSION_MAJOR ? 0 : 1;
}
