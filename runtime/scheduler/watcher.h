/* SPDX-License-Identifier: MIT */
/*
 * Watchers: one thread for each semaphore whose payload others may signal (exported, imported),
 * only while a held packet waits for it. Nobody tells us of such a signal, and the wait may not be
 * given to a shared engine, so somebody has to sleep on it.
 *
 * W-1  A watcher ends before its semaphore or its device does, and keeps what is known of the
 *      semaphore while it runs.
 */
#ifndef BELFRY_SCHEDULER_WATCHER_H
#define BELFRY_SCHEDULER_WATCHER_H

struct bf_scheduler;
struct bf_semaphore;

/* Starts the semaphore's watcher unless it has one. Thread-safety: safe. */
void bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins it, if there is one. */
void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem);

/* Ends and joins all. */
void bf_watchers_finish(struct bf_scheduler *scheduler);

#endif
