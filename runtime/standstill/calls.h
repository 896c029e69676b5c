/* SPDX-License-Identifier: MIT */
/*
 * Calls of the driver's that are under way, as the watchdog sees them from look to look: for how
 * long each has lasted, and what a thread that waits on the host waits for.
 *
 *  CW-1  A wait lasts as long as its thread asks for the same at each look, with time-outs or
 *        without (HC-1). Of a thread that has been told of, and has gone on, the next wait has to
 *        last twice as long as it was told after, and so on: what merely pauses is told of ever
 *        less often.
 *  CW-2  While what is waited for moves, though it isn't enough yet, nothing stands.
 *  CW-3  A wait that has been told of keeps nobody awake; who may change it rings
 *        (bf_semaphore_host_signal), and so does whatever is submitted.
 *
 * Proven by tests/standstill (told.c). Under the watchdog's lock.
 */
#ifndef BELFRY_STANDSTILL_CALLS_H
#define BELFRY_STANDSTILL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/watch.h"

struct bf_scheduler;
struct bf_semaphore;

/* Looks at those of an engine, or at the device's, from 'first' on; how they stand is in their
 * 'look'. *active: there is a reason to look again in a period. True: one has lasted for 'least_ns'
 * (0: none ever does). */
bool bf_calls_watch(struct bf_scheduler *scheduler, struct bf_watched_call *first, uint64_t now_ns,
                    uint64_t least_ns, bool *active);

/* The semaphore that a thread waits for, with a reference; NULL: it isn't known. */
struct bf_semaphore *bf_calls_semaphore(struct bf_scheduler *scheduler,
                                        const struct bf_call_seen *call);

#endif
