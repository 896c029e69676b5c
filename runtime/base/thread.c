/* SPDX-License-Identifier: MIT */
/* Starts and joins threads; one that doesn't end in time is left alone. */
#include "base/thread.h"

#include <signal.h>

#include "base/clock.h"
#include "base/lock.h"

static void *thread_run(void *argument)
{
    struct bf_thread *thread = argument;
    thread->run(thread->argument);
    atomic_store(&thread->over, 1);
    bf_futex_wake(&thread->over, 1); /* it is there until this thread has been joined */
    return NULL;
}

bool bf_thread_start(struct bf_thread *thread, void (*run)(void *argument), void *argument)
{
    sigset_t all, before;
    thread->run = run;
    thread->argument = argument;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread->id, NULL, thread_run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool bf_thread_wait(struct bf_thread *thread, uint64_t deadline_ns)
{
    const struct timespec until = bf_timespec(deadline_ns);
    while (!atomic_load(&thread->over) && bf_remaining_ns(deadline_ns) > 0)
        bf_futex_wait(&thread->over, 0, &until);
    return atomic_load(&thread->over);
}

bool bf_thread_join(struct bf_thread *thread, uint64_t deadline_ns)
{
    if (!bf_thread_wait(thread, deadline_ns)) {
        pthread_detach(thread->id);
        return false;
    }
    pthread_join(thread->id, NULL);
    return true;
}
