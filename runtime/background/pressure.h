/*
 * Whether memory is short: then no background item is begun.
 *
 * Two signs, either of which suffices: less than a tenth of the memory is available (MemAvailable of
 * MemTotal), or some thread of the machine has waited for memory for more than a tenth of the last
 * ten seconds (/proc/pressure/memory). What can't be read is no sign. Pressure on the CPU is none:
 * any other idle thread looks like it; nor on I/O: the disk may be another's.
 *
 * Thread-safety: none.
 */
#ifndef BELFRY_BACKGROUND_PRESSURE_H
#define BELFRY_BACKGROUND_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

/* How long an answer holds. */
#define BF_PRESSURE_NS UINT64_C(500000000)

struct bf_pressure {
    uint64_t read_ns; /* 0: never */
    bool high;
    bool told;
};

/* Reads the two files below 'proc' ("/proc"); says so in one line when memory is short for the
 * first time. */
void bf_pressure_read(struct bf_pressure *pressure, const char *proc, uint64_t now_ns);

#endif
