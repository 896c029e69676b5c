/* SPDX-License-Identifier: MIT */
/*
 * The measure of what a call may cost: the test driver's free vkQueueSubmit2 on this machine, in
 * this run. A limit in nanoseconds would say more of the machine than of Belfry.
 */
#ifndef BELFRY_BENCH_REFERENCE_H
#define BELFRY_BENCH_REFERENCE_H

#include "part.h"

/* The reference, in nanoseconds, with a note of it in the report unless that is NULL; NAN: it can't
 * be had, and no limit in it is met. Measured once in a run. */
double bench_reference(struct bench_report *report);

#endif
