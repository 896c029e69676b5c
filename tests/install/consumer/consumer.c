/* SPDX-License-Identifier: MIT */
#include <belfry/belfry.h>

int main(void)
{
    return bfGetVersion() >> 22 == BF_VERSION_MAJOR ? 0 : 1;
}
