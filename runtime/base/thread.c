/* SPDX-License-Identifier: MIT */
/* Creates, starts and joins threads; one that doesn't end in time is left alone. */
#include "base/thread.h"

#include <signal.h>

#include "base/clock.h"
#include "base/lock.h"

int bf_thread_create(pthread_t *id, const char *name, void *(*run)(void *argument), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t most, before;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int error = pthread_create(id, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error && name)
        pthread_setname_np(*id, name);
    return error;
}

static void *thread_run(void *argument)
{
    struct bf_thread *thread = argument;
    thread->run(thread->argument);
    atomic_store(&thread->over, 1);
    bf_futex_wake(&thread->over, 1); /* it is there until this thread has been joined */
    return NULL;
}

bool bf_thread_start(struct bf_thread *thread, const char *name, void (*run)(void *argument),
                     void *argument)
{
    thread->run = run;
    thread->argument = argument;
    return bf_thread_create(&thread->id, name, thread_run, thread) == 0;
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
