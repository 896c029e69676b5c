/* SPDX-License-Identifier: MIT */
/* The doorbell thread's wait: when it spins, and the protocol by which it parks. */
#include "doorbell/park.h"

#include <sched.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/membarrier.h"

enum { AWAKE, PARKED };

/* While the thread spins, the clock is read after so many looks. */
#ifndef PARK_LOOKS
#define PARK_LOOKS 64
#endif
/* The sleeps after a membarrier that failed (DP-4). A processor's stores arrive within
 * microseconds. */
#define SHORT_SLEEPS   4
#define SHORT_SLEEP_NS 1000000u

void bf_park_init(struct bf_park *park, const struct bf_park_owner *functions, void *owner,
                  uint64_t spin_ns)
{
    cpu_set_t processors;
    bool single =
        sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 1;
    *park = (struct bf_park){
        .functions = functions,
        .owner = owner,
        .spin_ns = single ? 0 : spin_ns,
        .notify = true,
        .unfenced = !bf_membarrier_available(),
    };
}

/* The state is changed by exchanges alone, by everybody: of a notify and the thread's own change to
 * PARKED one comes after the other, and sees what was done before it. */
void bf_park_notify(struct bf_park *park)
{
    if (atomic_exchange(&park->state, AWAKE) == AWAKE)
        return;
    atomic_store_explicit(&park->woken_ns, bf_now_ns(), memory_order_relaxed);
    bf_futex_wake(&park->state, 1);
}

void bf_park_stop(struct bf_park *park)
{
    atomic_store(&park->stop, true);
    bf_park_notify(park);
}

static bool park_is_stopped(struct bf_park *park)
{
    return atomic_load_explicit(&park->stop, memory_order_relaxed);
}

static bool park_has_end(struct bf_park *park, bool thoroughly)
{
    return park_is_stopped(park) || park->functions->has_work(park->owner, thoroughly);
}

static bool park_spins(const struct bf_park *park)
{
    return park->soon >= BF_PARK_ALWAYS / 2;
}

static void park_set_notify(struct bf_park *park, bool notify)
{
    if (park->notify == notify || (park->unfenced && !notify))
        return;
    park->functions->set_notify(park->owner, notify);
    park->notify = notify;
}

/* Work has come so long after the last one. */
static void park_came(struct bf_park *park, uint64_t after_ns)
{
    if (after_ns <= park->spin_ns)
        park->soon += (BF_PARK_ALWAYS - park->soon + 3) / 4;
    else
        park->soon -= (park->soon + 3) / 4;
    if (park_spins(park))
        park_set_notify(park, false);
}

static bool park_spin(struct bf_park *park, uint64_t since_ns)
{
    do {
        for (int i = 0; i < PARK_LOOKS; i++) {
            if (park_has_end(park, false))
                return true;
            bf_lock_pause();
        }
    } while (bf_now_ns() - since_ns < park->spin_ns);
    return false;
}

/* Asks for notifies. From then on who rings wakes the thread, or has rung already (DP-1). */
static void park_announce(struct bf_park *park)
{
    atomic_exchange(&park->state, PARKED);
    if (park->notify)
        return;
    park_set_notify(park, true);
    atomic_fetch_add_explicit(&park->barriers, 1, memory_order_relaxed);
    if (bf_membarrier())
        return;
    park->unfenced = true;
    park->short_sleeps = SHORT_SLEEPS;
}

/* Until when the thread may sleep before something is to be done without work; NULL: for ever. */
static const struct timespec *park_timeout(struct bf_park *park, uint64_t since_ns,
                                           struct timespec *time)
{
    bool idles = park->idle_ns && !atomic_load(&park->idled);
    if (park->short_sleeps == 0 && !idles)
        return NULL;
    *time =
        bf_timespec(park->short_sleeps ? bf_now_ns() + SHORT_SLEEP_NS : since_ns + park->idle_ns);
    return time;
}

/* DP-7. Somebody may call bf_park_worked while the owner is told: that has the last word. */
static void park_tell(struct bf_park *park)
{
    atomic_store(&park->idled, true);
    if (!park->functions->idle(park->owner))
        atomic_store(&park->idled, false);
}

static void park_sleep(struct bf_park *park, uint64_t since_ns)
{
    struct timespec soon;
    const struct timespec *timeout = park_timeout(park, since_ns, &soon);
    bool shortly = park->short_sleeps > 0, over = false;
    park->short_sleeps -= shortly;
    atomic_fetch_add_explicit(&park->sleeps, 1, memory_order_relaxed);
    while (atomic_load(&park->state) == PARKED)
        if (!bf_futex_wait(&park->state, PARKED, timeout)) {
            atomic_exchange(&park->state, AWAKE);
            over = !shortly;
        }
    if (over)
        park_tell(park);
}

void bf_park_worked(struct bf_park *park)
{
    atomic_store(&park->idled, false);
}

bool bf_park_wait(struct bf_park *park)
{
    if (park_has_end(park, false)) {
        park_came(park, 0);
        return !park_is_stopped(park);
    }
    uint64_t since_ns = bf_now_ns();
    if (park_spins(park) && park_spin(park, since_ns)) {
        park_came(park, 0);
        return !park_is_stopped(park);
    }
    uint64_t idle_ns = since_ns;
    for (;;) {
        park_announce(park);
        if (park_has_end(park, true)) {
            atomic_exchange(&park->state, AWAKE);
            park_came(park, bf_now_ns() - since_ns);
            break;
        }
        park_sleep(park, idle_ns);
        idle_ns = bf_now_ns();
        if (park_has_end(park, true)) {
            /* Being woken takes longer than many a wait: what counts is when the notify came. */
            uint64_t woken_ns = atomic_load_explicit(&park->woken_ns, memory_order_relaxed);
            park_came(park, (woken_ns > since_ns ? woken_ns : bf_now_ns()) - since_ns);
            break;
        }
        atomic_fetch_add_explicit(&park->spurious, 1, memory_order_relaxed);
    }
    return !park_is_stopped(park);
}
