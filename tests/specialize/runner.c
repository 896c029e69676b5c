/* SPDX-License-Identifier: MIT */
/* Calls that idle threads have run for them: one at a time, in order, elsewhere. */

#include "support/test.h"

#include "specialize/runner.h"

#define THREADS 4
#define CALLS   200

static struct bf_runner runner;
static _Atomic uint32_t inside, ran;
static pthread_t elsewhere;

static void work(void *context)
{
    assert_int_equal(atomic_fetch_add(&inside, 1), 0); /* one at a time */
    if (context)
        elsewhere = pthread_self();
    sched_yield();
    atomic_fetch_add(&ran, 1);
    atomic_fetch_sub(&inside, 1);
}

static void *ask(void *argument)
{
    for (int i = 0; i < CALLS; i++) {
        uint32_t before = atomic_load(&ran);
        bf_runner_do(&runner, work, argument);
        if (atomic_load(&ran) == before)
            return argument ? argument : &runner; /* it returned before it had run */
    }
    return NULL;
}

TEST(calls_of_many_threads_run_one_at_a_time)
{
    bf_runner_start(&runner);
    assert_true(runner.started);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(atomic_load(&ran), THREADS * CALLS);
    bf_runner_do(&runner, work, &runner);
    assert_false(pthread_equal(elsewhere, pthread_self()));
    bf_runner_stop(&runner);
}

TEST(without_a_thread_they_run_here)
{
    bf_runner_do(&runner, work, &runner);
    assert_true(pthread_equal(elsewhere, pthread_self()));
    bf_runner_stop(&runner);
    bf_runner_start(&runner); /* and it can be had again */
    bf_runner_do(&runner, work, &runner);
    assert_false(pthread_equal(elsewhere, pthread_self()));
    bf_runner_stop(&runner);
}
