/* SPDX-License-Identifier: MIT */
/*
 * Wakers: threads that open priority windows again. An engine gets one when a window first holds a
 * packet that waits for an epoch of the engine; its first thread waits for the least epoch that is
 * wanted, pumps the engines that want it, and is parked on a futex while none is.
 *
 * A driver's wait can't be interrupted: it is made in slices of BF_WINDOW_OVERDUE_NS, which are
 * shorter where a packet is overdue before. What is wished meanwhile, and comes before what that
 * wait is for, is a second thread's, as with sleepers (scheduler/sleeper.h).
 *
 *  WK-1  While a wish stands, a thread waits for an epoch no later than the wished one, and looks
 *        at the clock no later than at its deadline, or if an epoch is what it waits for, in the
 *        driver, a tenth of BF_WINDOW_OVERDUE_NS behind; or it decides what it waits for, once it
 *        has pumped. Whoever wishes looks, under the waker's lock, at what the first thread waits
 *        for, which it has decided under that lock; where that is later, the second one decides
 *        anew. It waits for epoch after epoch, from one that it has seen complete: so that the next
 *        wish, for an earlier one still, is no later than what it waits for. Who wishes for what a
 *        thread has seen complete meanwhile, and was not when he asked, is told: the second thread
 *        waits for the next one.
 *
 * (A semaphore of Belfry's own that the host signals, beside the epoch in one wait for any of the
 * two, would take one thread; but such a wait keeps a processor busy where a driver has to make it
 * of several, as lavapipe does.)
 *
 * Proven by tests/scheduler (nearer.c, waker.c).
 */
#ifndef BELFRY_SCHEDULER_WAKER_H
#define BELFRY_SCHEDULER_WAKER_H

#include <stdbool.h>
#include <stdint.h>

struct bf_engine;
struct bf_scheduler;

/* Makes the engine's waker, if it has none. False: no memory, or no thread, or the device is being
 * destroyed. */
bool bf_waker_ensure(struct bf_engine *engine);

/* Engine 'wisher' is pumped once the epoch of 'engine', which has a waker, has been reached, or at
 * that time (UINT64_MAX: none). Takes the place of what it wished before, but for wishes of
 * another engine, which several of its queues may have: then the earliest stays. (Of its own the
 * pump wishes anew.) False: the epoch has been reached by now, and nobody may see to it (WK-1). */
bool bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns);

/* Ends and joins all of a device's, which is 'stopping': no other is made. One that stays in the
 * driver is left there (L-7). Other threads that pump may still tell them their wishes. */
void bf_wakers_stop(struct bf_scheduler *scheduler);

/* After that, and after all threads that pump. */
void bf_waker_free(struct bf_engine *engine);

#endif
