/* SPDX-License-Identifier: MIT */
/*
 * Priority inheritance: what a higher queue waits for is as urgent as the higher queue.
 *
 *  IH-1  While a queue's first packet waits for a value that a held packet of a lower queue will
 *        signal, that packet and those before it in its queue have the first queue's level; and so
 *        has, in turn, what they wait for. No window holds them then (PW-7).
 *  IH-2  It is found on whichever side comes last: when a queue is blocked, for what is held
 *        already; when a lower queue's packet is appended, for the queues that are blocked; and for
 *        these, when levels change or windows come.
 *  IH-3  A packet keeps what it has inherited: who has waited may be satisfied otherwise, or gone,
 *        and so many packets aren't held that might be.
 *  IH-4  Who waits for a semaphore that a fence was exported to waits for the fence's signals.
 *  IH-5  What a call marks as let through (PW-7) it marks where there is no window, too: what is
 *        held by its waits then isn't held by windows and requests that come later, nor is what it
 *        waits for, by IH-2.
 *
 * Semaphores and fences are compared, not looked into: of what has gone meanwhile an address may be
 * another's, which then is urgent too early.
 *
 * Proven by tests/scheduler (inherited.c, inherit.c).
 */
#ifndef BELFRY_SCHEDULER_INHERIT_H
#define BELFRY_SCHEDULER_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

struct bf_packet;
struct bf_queue;
struct bf_scheduler;
struct bf_semaphore;

/* The queue has just been blocked, or what it waits for may be held now. Adds engines to *engines
 * that are to be pumped. Engines' locks may be held. */
void bf_inherit_from(struct bf_scheduler *scheduler, struct bf_queue *queue, uint64_t *engines);

/* Packets that signal something have been appended to the queue: are they what a blocked higher
 * queue waits for? Returns the engines to pump. */
uint64_t bf_inherit_appended(struct bf_queue *queue);

/* Levels have changed, or there may be the first windows: what do queues that have been blocked
 * since before wait for? Returns the engines to pump. */
uint64_t bf_inherit_anew(struct bf_scheduler *scheduler);

/* No window holds what the queue (NULL: any queue) has by now, nor what that depends on. Returns
 * the engines to pump. No lock is held. */
uint64_t bf_inherit_flush(struct bf_scheduler *scheduler, struct bf_queue *queue);

/* The same of what the queue has by now (NULL: each, of what signals a semaphore that a fence was
 * imported from or exported to); the engines that have any of it, or of what that depends on. */
uint64_t bf_inherit_flush_named(struct bf_scheduler *scheduler, struct bf_queue *queue);

/* Does one of the packets, which aren't on a list yet, signal such a semaphore? No lock is held. */
bool bf_inherit_names(struct bf_scheduler *scheduler, const struct bf_packet *first);

/* The same of what will signal the semaphore: the engines are dirty. */
uint64_t bf_inherit_flush_signal(struct bf_scheduler *scheduler, const struct bf_semaphore *sem,
                                 uint64_t target);

#endif
