/* SPDX-License-Identifier: MIT */
/*
 * The live page of a device (standstill/live_page.h), as its watchdog writes it.
 *
 *  LV-1  Nobody looking costs nothing: nothing is written, nobody is woken, and the page's view has
 *        no memory before somebody asks.
 *  LV-2  Whatever is written to the page, the watchdog goes on, and the device can be destroyed.
 *        (A wake-up may get lost: of a watchdog that rests, to whose page somebody writes back what
 *        it read, the next signal or the device's end wakes it.)
 *
 * Proven by tests/standstill (live.c). Thread-safety: for the watchdog's thread alone, but for
 * create and destroy, while there is none.
 */
#ifndef BELFRY_STANDSTILL_LIVE_H
#define BELFRY_STANDSTILL_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "standstill/live_page.h"

struct bf_device_watch;
struct bf_live;
struct bf_names;
struct bf_scheduler;
struct bf_standstill_engine;

/* Puts the watch's bell into the page. NULL: no memory or no descriptor, with a line: nobody can
 * look at the device. */
struct bf_live *bf_live_create(struct bf_device_watch *watch);
/* NULL is allowed here and below. */
void bf_live_destroy(struct bf_live *live);

/* Has a reader asked since the last answer? */
bool bf_live_is_asked(const struct bf_live *live);

/* The thread was woken, and not by Belfry. Closes the page where that is too often (LP-3). */
void bf_live_woken(struct bf_live *live);

/* Writes the view, and wakes who waits for it. 'engines' are what the watchdog sees of them now;
 * what has stood for 'least_ns' is reported. */
void bf_live_answer(struct bf_live *live, struct bf_scheduler *scheduler, struct bf_names *names,
                    const struct bf_standstill_engine *engines, uint64_t now_ns, uint64_t least_ns,
                    void (*see_pool)(struct bf_live_pool *pool));

#endif
