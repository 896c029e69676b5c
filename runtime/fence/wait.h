/* SPDX-License-Identifier: MIT */
/*
 * The CPU's waits: one value, or all or any of several, by an event or by a sleeping thread.
 *
 *  G-1  A group fires once: 'missing' reaches 0 under the pending lock, and whoever brought it
 *       there takes the group off every fence, tells it, and wakes who sleeps on it after the lock
 *       has been released.
 *  G-2  A group is freed by the last of the two who know it: who fires it, and the thread that
 *       sleeps on it.
 *
 * Proven by tests/fence (multiple.c, threads.c, lifetime.c), under ThreadSanitizer and
 * AddressSanitizer.
 */
#ifndef BELFRY_FENCE_WAIT_H
#define BELFRY_FENCE_WAIT_H

struct bf_scheduler;
struct bf_group;

/* It has come to pass: sets its event (and counts that), or lets its thread go. Never blocks; under the pending lock
 * wherever a value's being applied has brought it about (F-4). */
void bf_group_tell(struct bf_scheduler *scheduler, struct bf_group *group);

/* Wakes its thread, and lets go of it. No lock but an engine's may be held. */
void bf_group_fire(struct bf_group *group);

#endif
