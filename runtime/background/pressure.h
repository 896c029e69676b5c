/* SPDX-License-Identifier: MIT */
/*
 * Whether memory is short: while it is, no background item begins.
 *
 * Two signs, either of which suffices: less than a tenth of the memory is available (MemAvailable
 * of MemTotal), or some thread of the machine has waited for memory for more than a tenth of the
 * last ten seconds (/proc/pressure/memory). A file that can't be read counts as no sign. Pressure
 * on the CPU isn't considered, since any other SCHED_IDLE thread causes it; nor on I/O, since it
 * may concern another disk.
 *
 * Thread-safety: none.
 */
#ifndef BELFRY_BACKGROUND_PRESSURE_H
#define BELFRY_BACKGROUND_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

/* For how long one reading is used. */
#define BF_PRESSURE_NS UINT64_C(500000000)

struct bf_pressure {
    uint64_t read_ns; /* 0: never */
    bool high;
    bool warned;
};

/* Reads the two files below 'proc' ("/proc"). The first time that memory is short, one line says
 * so. */
void bf_pressure_read(struct bf_pressure *pressure, const char *proc, uint64_t now_ns);

#endif
