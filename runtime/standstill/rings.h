/* SPDX-License-Identifier: MIT */
/*
 * The watchdog's look at rings.
 *
 *  SS-8  A ring is outstanding while it has entries that haven't been read, or while its program
 *        says by the last-queued value that it has queued more than any entry has carried. If
 *        nothing of it has been read for the time, that is told, once. Suspended and ended queues,
 *        and those of a device in D3, aren't watched. (What a program stores without a call, and
 *        without a thread that spins, wakes nobody: a watchdog that rests sees it when it looks
 *        next.)
 *
 * Proven by tests/doorbell (watched.c).
 */
#ifndef BELFRY_STANDSTILL_RINGS_H
#define BELFRY_STANDSTILL_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct bf_names;
struct bf_scheduler;

/* Tells of rings that have stood for 'least_ns' (0: of none), and returns whether any is
 * outstanding. For the watchdog alone, one look at a time. */
bool bf_rings_look(struct bf_scheduler *scheduler, struct bf_names *names, uint64_t now_ns,
                   uint64_t least_ns);

#endif
