/* SPDX-License-Identifier: MIT */
/*
 * Waits by the CPU: for one value, or for all or any of several, with an event or a sleeping
 * thread.
 *
 *  G-1  A group fires once: 'missing' reaches 0 under the pending lock, and the thread that caused
 *       it disarms all of the group's waits, sets the event or 'done', and wakes the sleeping
 *       thread after the lock has been released.
 *  G-2  A group is freed by the last of the two threads that use it: the one that fires it, and the
 *       one that sleeps on it.
 *
 * Proven by tests/fence (multiple.c, threads.c, lifetime.c), under ThreadSanitizer and
 * AddressSanitizer.
 */
#ifndef BELFRY_FENCE_WAIT_H
#define BELFRY_FENCE_WAIT_H

struct bf_scheduler;
struct bf_group;

/* The group is satisfied: sets its event (and counts that), or 'done'. Never blocks; called under
 * the pending lock where an applied value is the cause (F-4). */
void bf_group_tell(struct bf_scheduler *scheduler, struct bf_group *group);

/* Wakes the group's thread, and releases the group. No lock but an engine's may be held. */
void bf_group_fire(struct bf_group *group);

#endif
