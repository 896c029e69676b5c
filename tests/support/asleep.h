/* SPDX-License-Identifier: MIT */
/* Whether a thread of the process sleeps: what a test waits for instead of sleeping itself. */
#ifndef BELFRY_TESTS_SUPPORT_ASLEEP_H
#define BELFRY_TESTS_SUPPORT_ASLEEP_H

#include <stdbool.h>

/* The state letter of proc(5)'s stat, which follows the name in parentheses; also of another
 * process's first thread. 'X': there is none. */
char thread_state(int id);

/* Whether the thread has come to rest where a wait rests, and not at a lock on its way there: a
 * lock's futex is waited for by FUTEX_WAIT or, if it is Belfry's (base/lock.h), with 2 expected;
 * all that waits for more does so by FUTEX_WAIT_BITSET or in another call. */
bool thread_waits(int id);
/* Do all threads of the process but the caller's sleep at one instant? Then none is on its way: who
 * has a lock that another one waits for would be awake. The second returns when they do. */
bool other_threads_wait(void);
void other_threads_await_sleep(void);

#endif
