/* SPDX-License-Identifier: MIT */
/*
 * Watchers: a thread for each semaphore whose payload others may signal (exported, imported), which
 * runs only while a held packet waits for it. Nobody reports such a signal to Belfry, and the wait
 * may not be given to a shared engine, so a thread has to wait for it.
 *
 * W-1  A watcher ends before its semaphore or its device is destroyed, and has a reference to the
 *      semaphore's record while it runs. Once its device is being destroyed none is started, and
 *      no waker (scheduler/waker.h), by whichever thread still looks at what is held.
 */
#ifndef BELFRY_SCHEDULER_WATCHER_H
#define BELFRY_SCHEDULER_WATCHER_H

#include <stdbool.h>

struct bf_scheduler;
struct bf_semaphore;

/* Starts the semaphore's watcher unless it has one. False: no memory, or no thread; one line says
 * so. Thread-safety: safe. */
bool bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins it, if there is one. */
void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins all of a device's, which is 'stopping': no other is started. */
void bf_watchers_finish(struct bf_scheduler *scheduler);

#endif
