/* SPDX-License-Identifier: MIT */
/* What the fence logs of an engine's queues say last: which waits were over, and which signals
 * executed, before it hung. */
#ifndef BELFRY_STANDSTILL_LAST_ENTRIES_H
#define BELFRY_STANDSTILL_LAST_ENTRIES_H

#include <stdint.h>

struct bf_names;
struct bf_scheduler;

/* A line for each entry, by names; none for queues without logs. The device has been declared lost,
 * so nothing is handed to the driver behind this; where a call has the engine's lock, it says that
 * it can't look. */
void bf_last_entries_tell(struct bf_scheduler *scheduler, struct bf_names *names, uint32_t engine);

#endif
