/* SPDX-License-Identifier: MIT */
/*
 * Belfry's threads. Those that wait in a driver, which may never let them go, are waited for until
 * a time, and left alone then (struct bf_thread).
 *
 *  TH-1  A thread inherits nothing that the program's thread which makes it has set for itself. It
 *        blocks all signals, whose handlers are the program's threads' business, but for those that
 *        its own faults raise; floats are rounded and trap as at a program's start, since what a
 *        driver computes there would differ from what the helper process has checked; and it may
 *        run where the process could when the library was loaded.
 *
 * Proven by tests/base (thread.c).
 */
#ifndef BELFRY_BASE_THREAD_H
#define BELFRY_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Creates a thread of this name (NULL: the program's). Returns 0, or pthread_create's error. */
int bf_thread_create(pthread_t *id, const char *name, void *(*run)(void *argument), void *argument);

/* On how many processors such a thread may run; at least 1. */
uint32_t bf_thread_processors(void);

struct bf_thread {
    struct bf_thread *next; /* the caller's, once it has been left alone */
    void (*run)(void *argument);
    void *argument;
    pthread_t id;
    _Atomic uint32_t over;
};

bool bf_thread_start(struct bf_thread *thread, const char *name, void (*run)(void *argument),
                     void *argument);

/* Waits for its end until that time; true: it has come, and is to be joined. */
bool bf_thread_wait(struct bf_thread *thread, uint64_t deadline_ns);

/* Joins it. False: it is still running at that time. Then it has been detached, and what it uses
 * has to stay for ever, this struct too. */
bool bf_thread_join(struct bf_thread *thread, uint64_t deadline_ns);

#endif
