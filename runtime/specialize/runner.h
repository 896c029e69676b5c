/* SPDX-License-Identifier: MIT */
/*
 * A thread of normal priority that does for idle ones what takes locks which a program's threads
 * take too: submitting work and waiting for it. (An idle thread that was put aside while it held an
 * engine's lock would hold up the program: background/background.h, BG-7.)
 *
 *  RU-1  Calls run one at a time, in the order in which they came, each to its end; whoever asked
 *        sleeps until then.
 *  RU-2  The thread exists from bf_runner_start to bf_runner_stop, and sleeps while nothing is
 *        asked of it. Stopped, or never started for want of memory, it runs calls on the asking
 *        thread.
 *
 * Proven by tests/specialize/runner.c.
 */
#ifndef BELFRY_SPECIALIZE_RUNNER_H
#define BELFRY_SPECIALIZE_RUNNER_H

#include <pthread.h>
#include <stdbool.h>

struct bf_runner_call;

/* Zero-initialised is stopped. */
struct bf_runner {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    struct bf_runner_call *first, *last;
    pthread_t thread;
    bool started, stopping;
};

/* From a thread of normal priority, which the new one inherits. */
void bf_runner_start(struct bf_runner *runner);
/* No call is in progress. */
void bf_runner_stop(struct bf_runner *runner);

/* Runs 'function' there. Thread-safety: safe. */
void bf_runner_do(struct bf_runner *runner, void (*function)(void *context), void *context);

#endif
