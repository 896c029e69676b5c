/* SPDX-License-Identifier: MIT */
/* Belfry's threads. Those that wait in a driver, which may never let them go, are waited for until
 * a time, and left alone then (struct bf_thread). */
#ifndef BELFRY_BASE_THREAD_H
#define BELFRY_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Creates a thread of this name (NULL: the program's). It blocks all signals, whose handlers are
 * the program's threads' business, but for those that its own faults raise. Returns 0, or
 * pthread_create's error. */
int bf_thread_create(pthread_t *id, const char *name, void *(*run)(void *argument), void *argument);

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
