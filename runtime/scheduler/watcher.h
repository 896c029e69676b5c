/* SPDX-License-Identifier: MIT */
/*
 * Watchers: a thread for each semaphore whose payload others may signal (exported, imported), which
 * runs only while a held packet waits for it. Nobody reports such a signal to Belfry, and the wait
 * may not be given to a shared engine, so a thread has to wait for it. The same for a timeline of
 * which a packet waits for a value to be seen (PW-4).
 *
 * W-1  A watcher ends before its semaphore or its device is destroyed, and has a reference to the
 *      semaphore's record while it runs. Once its device is being destroyed none is started, and
 *      no waker (scheduler/waker.h), by whichever thread still looks at what is held.
 * W-2  While a packet waits for a value of a watched semaphore, a thread waits for that value or a
 *      lesser one. A watcher waits for the least one that is wanted when its wait begins, which
 *      can't be interrupted; where a lesser one is wanted later, a second watcher, an express,
 *      waits for change after change of the semaphore until that is no longer so. Whoever has come
 *      to wait looks, under the semaphore's lock, at what the watcher waits for, which it has
 *      decided under that lock. What an express has seen it has counted as reached before it waits
 *      for the next change: nobody comes to wait for that any more (S-2).
 *
 * (scheduler/waker.h says why it isn't one wait for any of two semaphores.)
 *
 * Proven by tests/layer (outside.c) and tests/scheduler (nearer.c).
 */
#ifndef BELFRY_SCHEDULER_WATCHER_H
#define BELFRY_SCHEDULER_WATCHER_H

#include <stdbool.h>

struct bf_scheduler;
struct bf_semaphore;

/* Somebody is on the semaphore's list of waiters: starts its watcher unless it has one, and else an
 * express where W-2 demands one. False: no memory, or no thread, for a watcher; one line says so.
 * Thread-safety: safe. */
bool bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins it, if there is one. */
void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins all of a device's, which is 'stopping': no other is started. */
void bf_watchers_finish(struct bf_scheduler *scheduler);

#endif
