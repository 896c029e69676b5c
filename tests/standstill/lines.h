/* SPDX-License-Identifier: MIT */
/* The lines of the watchdog, by the callback for messages. */
#ifndef BELFRY_TESTS_STANDSTILL_LINES_H
#define BELFRY_TESTS_STANDSTILL_LINES_H

#include <stdbool.h>

/* Between the two, lines are kept. told_end fails the test if one came that nobody expected. */
void told_begin(void);
void told_end(void);

/* Waits for the next line, and fails the test if it doesn't match the pattern. Of work and calls
 * that are only slow, because the machine has other things to do, lines may come at any time: they
 * are passed over, unless they match. */
void told_expect(const char *pattern);

/* The program is complete: what was true before, while it was being submitted, may have been
 * told. */
void told_settle(void);

/* Returns once the watchdog's thread sleeps: without a time-out at rest, else with one. */
void told_await_sleep(bool rests);

/* The line that was expected last, without "standstill: ". */
extern char told_line[1024];

#endif
