/* SPDX-License-Identifier: MIT */
/*
 * A small lock whose trylock and unlock are sequentially consistent, and a condition to sleep on.
 *
 * The scheduler needs the following (guarantee Q-3, scheduler/engine.h): a thread that fails to
 * take the lock must be sure that the lock's holder will see what the thread published before the
 * attempt. A pthread_mutex_trylock that fails doesn't promise that. So the lock word is accessed by
 * seq_cst operations only.
 */
#ifndef BELFRY_BASE_LOCK_H
#define BELFRY_BASE_LOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* timeout is absolute on CLOCK_MONOTONIC, NULL for ever. Returns false when it ran out. */
static inline bool bf_futex_wait(_Atomic uint32_t *word, uint32_t expected,
                                 const struct timespec *timeout)
{
    long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, timeout, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    return !(r == -1 && errno == ETIMEDOUT);
}

static inline void bf_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* The same on a word that several processes may have mapped. */
static inline bool bf_futex_wait_shared(_Atomic uint32_t *word, uint32_t expected,
                                        const struct timespec *timeout)
{
    long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, timeout, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    return !(r == -1 && errno == ETIMEDOUT);
}

static inline void bf_futex_wake_shared(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* 0 free, 1 held, 2 held with sleepers. Zero-initialised is free. */
struct bf_lock {
    _Atomic uint32_t word;
};

static inline bool bf_lock_try(struct bf_lock *lock)
{
    uint32_t expected = 0;
    return atomic_compare_exchange_strong(&lock->word, &expected, 1);
}

/* Between two looks at a word that another thread is about to change. */
static inline void bf_lock_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* As bf_lock_try, but tries again for as long as a short critical section may take, which is much
 * less than it takes to be woken. */
static inline bool bf_lock_try_briefly(struct bf_lock *lock)
{
    for (int i = 0; i < 64; i++) {
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 && bf_lock_try(lock))
            return true;
        bf_lock_pause();
    }
    return bf_lock_try(lock);
}

/* For who must not wait until it is free: its holder may be in the driver. Tries so many times, and
 * lets others run in between. */
static inline bool bf_lock_try_for(struct bf_lock *lock, uint32_t tries)
{
    for (uint32_t i = 0; i < tries; i++) {
        if (bf_lock_try_briefly(lock))
            return true;
        sched_yield();
    }
    return false;
}

static inline void bf_lock_acquire(struct bf_lock *lock)
{
    if (bf_lock_try(lock))
        return;
    while (atomic_exchange(&lock->word, 2) != 0)
        bf_futex_wait(&lock->word, 2, NULL);
}

/* False: the absolute time on CLOCK_MONOTONIC has come. */
static inline bool bf_lock_acquire_until(struct bf_lock *lock, const struct timespec *deadline)
{
    if (bf_lock_try(lock))
        return true;
    bool waits = true;
    while (atomic_exchange(&lock->word, 2) != 0) {
        if (!waits)
            return false;
        waits = bf_futex_wait(&lock->word, 2, deadline);
    }
    return true;
}

/* For locks that everybody holds for some instructions alone, where a system call costs more than
 * to wait that long. */
static inline void bf_lock_acquire_short(struct bf_lock *lock)
{
    if (!bf_lock_try_briefly(lock))
        bf_lock_acquire(lock);
}

static inline void bf_lock_release(struct bf_lock *lock)
{
    if (atomic_exchange(&lock->word, 0) == 2)
        bf_futex_wake(&lock->word, 1);
}

/* A condition that many threads may wait for without polling. A waiter takes a ticket, checks what
 * it waits for, and sleeps only if nothing was announced since. Announcing costs one load when
 * nobody waits. Both sides are seq_cst: either the announcer sees the waiter, or the waiter, having
 * registered, sees what was published before the announcement. */
struct bf_signpost {
    _Atomic uint32_t turn;
    _Atomic uint32_t waiters;
};

static inline void bf_signpost_announce(struct bf_signpost *post)
{
    if (atomic_load(&post->waiters) == 0)
        return;
    atomic_fetch_add(&post->turn, 1);
    bf_futex_wake(&post->turn, INT32_MAX);
}

static inline uint32_t bf_signpost_enter(struct bf_signpost *post)
{
    atomic_fetch_add(&post->waiters, 1);
    return atomic_load(&post->turn);
}

/* Returns the next ticket; *timed_out is set when the deadline has passed. */
static inline uint32_t bf_signpost_sleep(struct bf_signpost *post, uint32_t ticket,
                                         const struct timespec *deadline, bool *timed_out)
{
    if (!bf_futex_wait(&post->turn, ticket, deadline))
        *timed_out = true;
    return atomic_load(&post->turn);
}

static inline void bf_signpost_leave(struct bf_signpost *post)
{
    atomic_fetch_sub(&post->waiters, 1);
}

#endif
