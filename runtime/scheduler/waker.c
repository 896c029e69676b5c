/* SPDX-License-Identifier: MIT */
/* The threads that wait until a window has room again. */
#include "scheduler/waker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/thread.h"
#include "scheduler/driver_wait.h"
#include "scheduler/scheduler.h"

/* Nobody tells the second thread of a deadline while it is in the driver. */
#define EXPRESS_SLICE_NS (BF_WINDOW_OVERDUE_NS / 10)

enum { FIRST, EXPRESS, THREADS };

struct bf_waker {
    struct bf_scheduler *scheduler;
    struct bf_engine *engine;
    _Atomic bool stop;
    struct bf_lock lock;             /* leaf lock */
    uint64_t completed;              /* the last epoch that a thread has seen */
    uint64_t wanted[BF_MAX_ENGINES]; /* epoch, by the engine that wants it; 0: none */
    uint64_t deadlines[BF_MAX_ENGINES];
    struct waker_thread {
        struct bf_waker *waker;
        struct bf_thread thread;
        _Atomic bool started;
        _Atomic uint32_t turn; /* counts wishes that it hears of */
        _Atomic bool parked;
        /* Under the lock: what it waits for. */
        uint64_t epoch;       /* 0: it isn't in the driver */
        uint64_t deadline_ns; /* that it knows of; 0: it is parked, or deciding */
    } threads[THREADS];
};

/* The least epoch that is wanted, and the first deadline; false: none is. The lock is held. */
static bool waker_find_first(const struct bf_waker *waker, uint64_t *epoch, uint64_t *deadline_ns)
{
    uint32_t count = waker->scheduler->engine_count;
    *epoch = *deadline_ns = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (waker->wanted[i] && waker->wanted[i] < *epoch)
            *epoch = waker->wanted[i];
        if (waker->wanted[i] && waker->deadlines[i] < *deadline_ns)
            *deadline_ns = waker->deadlines[i];
    }
    return *epoch != UINT64_MAX;
}

/* Does the first thread wait for something later? The lock is held. */
static bool waker_is_later(const struct bf_waker *waker, uint64_t epoch)
{
    return waker->threads[FIRST].epoch > epoch;
}

static bool waker_is_overdue(const struct bf_waker *waker, uint64_t deadline_ns)
{
    return waker->threads[FIRST].epoch && waker->threads[FIRST].deadline_ns > deadline_ns;
}

/* Decides what the thread waits for next, of which 'completed' has been seen: an epoch until a
 * time, or (0) that time alone; false: for nothing. */
static bool waker_thread_decide(struct waker_thread *thread, uint64_t completed, uint64_t *epoch,
                                uint64_t *until_ns)
{
    struct bf_waker *waker = thread->waker;
    const bool express = thread == &waker->threads[EXPRESS];
    uint64_t deadline_ns;
    bf_lock_acquire(&waker->lock);
    bool waits = waker_find_first(waker, epoch, &deadline_ns);
    if (express) {
        const bool later = waits && waker_is_later(waker, *epoch);
        waits = later || (waits && waker_is_overdue(waker, deadline_ns));
        *epoch = later ? completed + 1 : 0;
    }
    if (waker->completed < completed)
        waker->completed = completed;
    thread->epoch = waits ? *epoch : 0;
    thread->deadline_ns = waits ? deadline_ns : 0;
    bf_lock_release(&waker->lock);
    const uint64_t slice_end_ns =
        !*epoch ? UINT64_MAX : bf_now_ns() + (express ? EXPRESS_SLICE_NS : BF_WINDOW_OVERDUE_NS);
    *until_ns = deadline_ns < slice_end_ns ? deadline_ns : slice_end_ns;
    return waits;
}

/* The thread decides anew: it isn't to be told any more of what comes before. */
static void waker_thread_return(struct waker_thread *thread)
{
    bf_lock_acquire(&thread->waker->lock);
    thread->epoch = thread->deadline_ns = 0;
    bf_lock_release(&thread->waker->lock);
}

/* The engines whose wish has come true; with 'all', every one that has a wish. */
static uint64_t waker_take(struct bf_waker *waker, uint64_t completed, uint64_t now_ns, bool all)
{
    uint64_t engines = 0;
    bf_lock_acquire(&waker->lock);
    for (uint32_t i = 0; i < waker->scheduler->engine_count; i++) {
        if (!waker->wanted[i] ||
            !(all || waker->wanted[i] <= completed || waker->deadlines[i] <= now_ns))
            continue;
        waker->wanted[i] = 0;
        atomic_store(&waker->scheduler->engines[i].dirty, 1);
        engines |= UINT64_C(1) << i;
    }
    bf_lock_release(&waker->lock);
    return engines;
}

static void waker_thread_park(struct waker_thread *thread, uint32_t turn, uint64_t until_ns)
{
    const struct timespec until = bf_timespec(until_ns);
    atomic_store(&thread->parked, true);
    if (!atomic_load(&thread->waker->stop))
        bf_futex_wait(&thread->turn, turn, until_ns == UINT64_MAX ? NULL : &until);
    atomic_store(&thread->parked, false);
}

static void waker_thread_run(void *argument)
{
    struct waker_thread *thread = argument;
    struct bf_waker *waker = thread->waker;
    struct bf_scheduler *scheduler = waker->scheduler;
    uint64_t completed = 0, epoch, until_ns;
    while (!atomic_load(&waker->stop)) {
        const uint32_t turn = atomic_load(&thread->turn);
        if (thread == &waker->threads[EXPRESS] &&
            bf_gpu_engine_completed_epoch(&waker->engine->base, &epoch) == VK_SUCCESS)
            completed = epoch;
        bf_engines_pump(scheduler,
                        waker_take(waker, completed, bf_now_ns(), bf_scheduler_is_lost(scheduler)));
        if (!waker_thread_decide(thread, completed, &epoch, &until_ns)) {
            waker_thread_park(thread, turn, UINT64_MAX);
        } else if (!epoch) {
            waker_thread_park(thread, turn, until_ns);
        } else {
            VkResult result = bf_gpu_wait_timeline(&scheduler->gpu, waker->engine->base.epoch,
                                                   epoch, bf_remaining_ns(until_ns));
            if (atomic_load(&waker->stop)) /* L-7: only the waker itself may be left */
                return;
            waker_thread_return(thread);
            if (result == VK_SUCCESS)
                completed = epoch;
            bf_driver_wait_judge(scheduler, result, &thread->turn, turn,
                                 "waiting for a priority window");
        }
    }
}

/* The sleeper lock is held. */
static bool waker_thread_start(struct waker_thread *thread)
{
    if (!atomic_load(&thread->started))
        atomic_store(&thread->started,
                     bf_thread_start(&thread->thread, NULL, waker_thread_run, thread));
    return atomic_load(&thread->started);
}

bool bf_waker_ensure(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    if (atomic_load(&engine->window.waker))
        return true;
    if (!engine->base.epoch)
        return false;
    bf_lock_acquire(&scheduler->pending.sleeper_lock);
    const bool stopping = atomic_load(&scheduler->stopping);
    struct bf_waker *waker = atomic_load(&engine->window.waker);
    if (!waker && !stopping && (waker = calloc(1, sizeof(*waker))) != NULL) {
        waker->scheduler = scheduler;
        waker->engine = engine;
        for (int i = 0; i < THREADS; i++)
            waker->threads[i].waker = waker;
        if (!waker_thread_start(&waker->threads[FIRST])) {
            free(waker);
            waker = NULL;
        }
        atomic_store(&engine->window.waker, waker);
    }
    bf_lock_release(&scheduler->pending.sleeper_lock);
    if (!waker && !stopping)
        bf_message(BF_MESSAGE_WARNING, "no thread for a priority window: there is none");
    return waker;
}

static void waker_thread_kick(struct waker_thread *thread)
{
    atomic_fetch_add(&thread->turn, 1);
    if (atomic_load(&thread->parked))
        bf_futex_wake(&thread->turn, 1);
}

/* The second thread decides anew, and is there if it can be. */
static void waker_kick_express(struct bf_waker *waker)
{
    struct bf_scheduler *scheduler = waker->scheduler;
    struct waker_thread *express = &waker->threads[EXPRESS];
    bool started = atomic_load(&express->started);
    if (!started) {
        bf_lock_acquire(&scheduler->pending.sleeper_lock);
        const bool stopping = atomic_load(&scheduler->stopping);
        started = stopping || waker_thread_start(express);
        bf_lock_release(&scheduler->pending.sleeper_lock);
    }
    if (!started)
        bf_message(BF_MESSAGE_WARNING, "no thread for an earlier wait: it will be late");
    waker_thread_kick(express);
}

bool bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns)
{
    struct bf_waker *waker = atomic_load(&engine->window.waker);
    const struct waker_thread *express = &waker->threads[EXPRESS];
    bf_lock_acquire(&waker->lock);
    uint64_t *wanted = &waker->wanted[wisher->base.number];
    if (wisher == engine || *wanted == 0 || epoch < *wanted)
        *wanted = epoch;
    waker->deadlines[wisher->base.number] = deadline_ns;
    const bool later = waker_is_later(waker, epoch);
    const bool knows =
        express->deadline_ns && express->deadline_ns <= deadline_ns && (express->epoch || !later);
    const bool over = epoch <= waker->completed;
    const bool inverted = later || waker_is_overdue(waker, deadline_ns);
    bf_lock_release(&waker->lock);
    waker_thread_kick(&waker->threads[FIRST]);
    if (inverted && !knows)
        waker_kick_express(waker);
    return !over;
}

void bf_wakers_stop(struct bf_scheduler *scheduler)
{
    /* Whoever was making one has made it. */
    bf_lock_acquire(&scheduler->pending.sleeper_lock);
    bf_lock_release(&scheduler->pending.sleeper_lock);
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_waker *waker = atomic_load(&scheduler->engines[i].window.waker);
        if (!waker || atomic_exchange(&waker->stop, true))
            continue;
        for (int k = 0; k < THREADS; k++) {
            if (!atomic_load(&waker->threads[k].started))
                continue;
            waker_thread_kick(&waker->threads[k]);
            bf_scheduler_join(scheduler, &waker->threads[k].thread);
        }
    }
}

void bf_waker_free(struct bf_engine *engine)
{
    free(atomic_load(&engine->window.waker));
}
