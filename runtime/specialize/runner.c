/* SPDX-License-Identifier: MIT */
/* The runner: a thread of normal priority on which background threads have calls made that take
 * locks of the program's threads. */
#include "specialize/runner.h"

#include <stddef.h>

#include "base/thread.h"

struct bf_runner_call {
    struct bf_runner_call *next;
    void (*function)(void *context);
    void *context;
    bool done;
};

static void *runner_run(void *argument)
{
    struct bf_runner *runner = argument;
    pthread_mutex_lock(&runner->lock);
    for (;;) {
        while (!runner->first && !runner->stopping)
            pthread_cond_wait(&runner->asked, &runner->lock);
        struct bf_runner_call *call = runner->first;
        if (!call)
            break;
        runner->first = call->next;
        if (!runner->first)
            runner->last = NULL;
        pthread_mutex_unlock(&runner->lock);
        call->function(call->context);
        pthread_mutex_lock(&runner->lock);
        call->done = true;
        pthread_cond_broadcast(&runner->done);
    }
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

void bf_runner_start(struct bf_runner *runner)
{
    pthread_mutex_init(&runner->lock, NULL);
    pthread_cond_init(&runner->asked, NULL);
    pthread_cond_init(&runner->done, NULL);
    runner->started = bf_thread_create(&runner->thread, NULL, runner_run, runner) == 0;
    if (!runner->started) {
        pthread_cond_destroy(&runner->done);
        pthread_cond_destroy(&runner->asked);
        pthread_mutex_destroy(&runner->lock);
    }
}

void bf_runner_stop(struct bf_runner *runner)
{
    if (!runner->started)
        return;
    pthread_mutex_lock(&runner->lock);
    runner->stopping = true;
    pthread_cond_signal(&runner->asked);
    pthread_mutex_unlock(&runner->lock);
    pthread_join(runner->thread, NULL);
    pthread_cond_destroy(&runner->done);
    pthread_cond_destroy(&runner->asked);
    pthread_mutex_destroy(&runner->lock);
    runner->started = false;
    runner->stopping = false;
}

void bf_runner_do(struct bf_runner *runner, void (*function)(void *context), void *context)
{
    if (!runner->started) {
        function(context);
        return;
    }
    struct bf_runner_call call = {.function = function, .context = context};
    pthread_mutex_lock(&runner->lock);
    if (runner->last)
        runner->last->next = &call;
    else
        runner->first = &call;
    runner->last = &call;
    pthread_cond_signal(&runner->asked);
    while (!call.done)
        pthread_cond_wait(&runner->done, &runner->lock);
    pthread_mutex_unlock(&runner->lock);
}
