/* SPDX-License-Identifier: MIT */
/*
 * Told at the end: a program that is ended by SIGINT or SIGTERM, or that exits, while something
 * waits, tells first what that is.
 *
 *  IT-1  A handler is installed for a signal only where the setting at_interrupt asks for it, and
 *        only if the signal has its default action when the first device is created. The program's
 *        own, installed later, takes its place. With the last device the default comes back, if the
 *        handler is still there.
 *  IT-2  The handler writes a word, wakes the watchdog, and waits for 200 ms at most, no more; the
 *        watchdog's thread tells, has the trace written, restores the default and sends the signal
 *        again. So the program ends as by the signal: it doesn't go on from a call that the signal
 *        has interrupted. (It does after that time, in case the thread holds what is needed to
 *        tell.)
 *  IT-3  A second signal, and one in a forked child, which has no watchdog, has its default action
 *        at once.
 *
 * Proven by tests/standstill (interrupt.c).
 */
#ifndef BELFRY_STANDSTILL_INTERRUPT_H
#define BELFRY_STANDSTILL_INTERRUPT_H

#include <stdbool.h>

struct bf_standstill;

/* Registers the watchdog of a device; 'signals': IT-1. Thread-safety: safe, as below. */
void bf_interrupt_add(struct bf_standstill *standstill, bool signals);
void bf_interrupt_remove(struct bf_standstill *standstill);

/* To be called by the watchdog's thread when it has been woken: after a signal it tells of all
 * devices, and the process ends. */
void bf_interrupt_check(void);

#endif
