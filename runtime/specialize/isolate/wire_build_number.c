/* SPDX-License-Identifier: MIT */
/* Which build this is: a file of its own, since the number changes with every source. */
#include "specialize/isolate/build_number.h" /* made: cmake/number_of_sources.cmake */
#include "specialize/isolate/wire.h"

uint32_t bf_wire_build_number(void)
{
    return BF_WIRE_BUILD_NUMBER;
}
