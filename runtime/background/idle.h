/*
 * The calling thread's scheduling class.
 */
#ifndef BELFRY_BACKGROUND_IDLE_H
#define BELFRY_BACKGROUND_IDLE_H

/* SCHED_IDLE and the idle I/O class, for good. Where a sandbox refuses the former it is the highest
 * nice value, with one line. */
void bf_thread_make_idle(void);

/* Whoever creates the pool may be a real-time thread, and what it creates inherits that. */
void bf_thread_make_normal(void);

#endif
