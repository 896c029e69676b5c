/* SPDX-License-Identifier: MIT */
/*
 * Wakers: threads that open priority windows again. An engine gets one when a window first holds a
 * packet that waits for an epoch of the engine; it waits for the least epoch that is wanted, pumps
 * the engines that want it, and is parked on a futex while none is.
 *
 * A driver's wait can't be interrupted: it is made in slices of BF_WINDOW_OVERDUE_NS, which are
 * shorter where a packet is overdue before. A wish for an earlier epoch, after a window has become
 * wider, is late by a slice at most, and the GPU has work meanwhile: the epoch that is waited for.
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
 * pump wishes anew.) */
void bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns);

/* Ends and joins all of a device's, which is 'stopping': no other is made. One that stays in the
 * driver is left there (L-7). Other threads that pump may still tell them their wishes. */
void bf_wakers_stop(struct bf_scheduler *scheduler);

/* After that, and after all threads that pump. */
void bf_waker_free(struct bf_engine *engine);

#endif
