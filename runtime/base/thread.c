/* SPDX-License-Identifier: MIT */
/* Creates, starts and joins threads; one that doesn't end in time is left alone. */
#include "base/thread.h"

#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>

#include "base/clock.h"
#include "base/lock.h"

/* The processors that the process was given; it may bind threads of its own to some of them. */
static cpu_set_t processors;

__attribute__((constructor)) static void processors_note(void)
{
    if (sched_getaffinity(0, sizeof(processors), &processors))
        CPU_ZERO(&processors);
}

uint32_t bf_thread_processors(void)
{
    int count = CPU_COUNT(&processors);
    return count > 0 ? (uint32_t)count : 1;
}

/* pthread_create, of a thread that inherits nothing but the process's. */
static int thread_create(pthread_t *id, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t own;
    int error = pthread_attr_init(&own);
    if (error)
        return error;
    if (CPU_COUNT(&processors) > 0)
        error = pthread_attr_setaffinity_np(&own, sizeof(processors), &processors);
    fenv_t floats;
    fegetenv(&floats);
    fesetenv(FE_DFL_ENV);
    if (!error)
        error = pthread_create(id, &own, run, argument);
    if (error == EINVAL) /* those processors are the process's no more */
        error = pthread_create(id, NULL, run, argument);
    fesetenv(&floats);
    pthread_attr_destroy(&own);
    return error;
}

int bf_thread_create(pthread_t *id, const char *name, void *(*run)(void *argument), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t most, before;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int error = thread_create(id, run, argument);
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
