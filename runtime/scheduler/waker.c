/* SPDX-License-Identifier: MIT */
/* The threads that wait until a window has room again. */
#include "scheduler/waker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/thread.h"
#include "scheduler/driver_wait.h"
#include "scheduler/scheduler.h"

struct bf_waker {
    struct bf_scheduler *scheduler;
    struct bf_engine *engine;
    struct bf_thread thread;
    _Atomic bool stop;
    _Atomic uint32_t turn; /* counts wishes */
    _Atomic bool parked;
    struct bf_lock lock;             /* leaf lock */
    uint64_t wanted[BF_MAX_ENGINES]; /* epoch, by the engine that wants it; 0: none */
    uint64_t deadlines[BF_MAX_ENGINES];
};

/* The least epoch that is wanted, and the first deadline; false: none is. */
static bool waker_next(struct bf_waker *waker, uint64_t *epoch, uint64_t *deadline_ns)
{
    uint32_t count = waker->scheduler->engine_count;
    *epoch = *deadline_ns = UINT64_MAX;
    bf_lock_acquire(&waker->lock);
    for (uint32_t i = 0; i < count; i++) {
        if (waker->wanted[i] && waker->wanted[i] < *epoch)
            *epoch = waker->wanted[i];
        if (waker->wanted[i] && waker->deadlines[i] < *deadline_ns)
            *deadline_ns = waker->deadlines[i];
    }
    bf_lock_release(&waker->lock);
    return *epoch != UINT64_MAX;
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

static void waker_run(void *argument)
{
    struct bf_waker *waker = argument;
    struct bf_scheduler *scheduler = waker->scheduler;
    uint64_t epoch, deadline_ns;
    while (!atomic_load(&waker->stop)) {
        uint32_t turn = atomic_load(&waker->turn);
        if (!waker_next(waker, &epoch, &deadline_ns)) {
            atomic_store(&waker->parked, true);
            if (!atomic_load(&waker->stop))
                bf_futex_wait(&waker->turn, turn, NULL);
            atomic_store(&waker->parked, false);
            continue;
        }
        uint64_t now = bf_now_ns();
        uint64_t slice = deadline_ns <= now ? 0 : deadline_ns - now;
        if (slice > BF_WINDOW_OVERDUE_NS)
            slice = BF_WINDOW_OVERDUE_NS;
        VkResult result =
            bf_gpu_wait_timeline(&scheduler->gpu, waker->engine->base.epoch, epoch, slice);
        if (atomic_load(&waker->stop)) /* L-7: only the waker itself may be left */
            return;
        bf_driver_wait_judge(scheduler, result, &waker->turn, turn,
                             "waiting for a priority window");
        bf_engines_pump(scheduler, waker_take(waker, result == VK_SUCCESS ? epoch : 0, bf_now_ns(),
                                              bf_scheduler_is_lost(scheduler)));
    }
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
        if (!bf_thread_start(&waker->thread, NULL, waker_run, waker)) {
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

void bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns)
{
    struct bf_waker *waker = atomic_load(&engine->window.waker);
    bf_lock_acquire(&waker->lock);
    uint64_t *wanted = &waker->wanted[wisher->base.number];
    if (wisher == engine || *wanted == 0 || epoch < *wanted)
        *wanted = epoch;
    waker->deadlines[wisher->base.number] = deadline_ns;
    bf_lock_release(&waker->lock);
    atomic_fetch_add(&waker->turn, 1);
    if (atomic_load(&waker->parked))
        bf_futex_wake(&waker->turn, 1);
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
        atomic_fetch_add(&waker->turn, 1);
        bf_futex_wake(&waker->turn, 1);
        bf_scheduler_join(scheduler, &waker->thread);
    }
}

void bf_waker_free(struct bf_engine *engine)
{
    free(atomic_load(&engine->window.waker));
}
