/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's scheduling class.
 */
#ifndef BELFRY_BACKGROUND_IDLE_H
#define BELFRY_BACKGROUND_IDLE_H

/* SCHED_IDLE and the idle I/O class, for the rest of the thread's life. Where a sandbox refuses the
 * former, the thread gets the highest nice value, and one line says so. */
void bf_thread_make_idle(void);

/* Out of a real-time class: the pool may be created by a real-time thread, whose class its threads
 * would inherit. */
void bf_thread_make_normal(void);

#endif
